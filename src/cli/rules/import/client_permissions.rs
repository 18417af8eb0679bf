//! The `permissions` of Claude Code's settings: `deny` and `ask`.
//!
//! What an entry means was measured on the client: a path is a pattern of .gitignore, `./` in front of it means nothing,
//! and one for `Edit` also holds for commands that delete or move the file. A command with `:*`, ` *` or `*` at its end
//! may go on; otherwise it is the whole command. `allow` is not imported, because a rule never allows anything.

use serde_json::Value;

use super::command_text::{Rest, read_command};
use super::{DraftedRule, ImportResult, RuleExample};

pub(super) fn read(settings: &Value, result: &mut ImportResult) {
    let permissions = &settings["permissions"];
    for (list, action, reason) in
        [("deny", "deny", "the permissions deny it"), ("ask", "ask", "the permissions ask about it")]
    {
        for entry in permissions[list].as_array().into_iter().flatten() {
            let Some(text) = entry.as_str() else {
                result.leave_out(entry.to_string(), "it is not a text");
                continue;
            };
            let mut rule = DraftedRule { action: Some((action, reason.into())), ..DraftedRule::default() };
            match read_entry(text, &mut rule, result) {
                Ok(()) => {
                    rule.name = format!("{list}-{}", text.to_lowercase());
                    result.add(rule);
                }
                Err(why) => result.leave_out(text, why),
            }
        }
        if settings[list].is_array() {
            result.leave_out(list, "it stands outside of `permissions`, where the client ignores it");
        }
    }
    result.leave_out_fields("permissions", permissions, &["deny", "ask", "allow"]);
    if permissions["allow"].as_array().is_some_and(|allow| !allow.is_empty()) {
        result.leave_out("permissions.allow", "a rule never allows anything");
    }
}

/// A path with one slash counts from a place that this command does not know.
fn note_anchor(text: &str, path: &str, result: &mut ImportResult) {
    if path.starts_with('/') && !path.starts_with("//") {
        result.differ(
            text,
            "the path counts from the project's root; in settings of a user it counts from their directory",
        );
    }
}

fn read_entry(text: &str, rule: &mut DraftedRule, result: &mut ImportResult) -> Result<(), String> {
    let (tool, detail) = match text.split_once('(') {
        Some((tool, rest)) => {
            (tool.trim(), Some(rest.strip_suffix(')').ok_or("the parenthesis is not closed")?.trim()))
        }
        None => (text.trim(), None),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*' | '.');
    if tool.is_empty() || !tool.chars().all(is_name) {
        return Err("it is not the name of a tool".into());
    }
    if detail == Some("") {
        return Err("the client ignores it, because nothing stands in the parentheses".into());
    }
    let detail = detail.filter(|detail| *detail != "*");
    let Some(detail) = detail else {
        // The name of an MCP server stands for all its tools.
        let is_server = tool.starts_with("mcp__") && tool.matches("__").count() == 1;
        let pattern = if is_server { format!("{tool}__*") } else { tool.to_owned() };
        rule.patterns.push(("uses", vec![pattern]));
        return Ok(());
    };
    match tool {
        "Bash" => {
            let long = detail.strip_suffix(":*").or_else(|| detail.strip_suffix(" *"));
            let rest = if long.is_some() || detail.ends_with('*') { Rest::Anything } else { Rest::Nothing };
            let command = read_command(long.unwrap_or(detail), rest)?;
            if let Some(how) = command.difference {
                result.differ(text, how);
            }
            rule.matching.push(RuleExample::Line(command.line));
            rule.patterns.push(("runs", vec![command.pattern]));
        }
        "Read" => {
            let pattern = read_path(detail)?;
            note_anchor(text, detail, result);
            result.differ_once("Read", "the client also refuses to edit these files with its own tools");
            if is_plain(&pattern) {
                rule.matching.push(RuleExample::Read(pattern.clone()));
            }
            rule.patterns.push(("reads", vec![pattern]));
        }
        "Edit" | "Write" => {
            let pattern = read_path(detail)?;
            note_anchor(text, detail, result);
            if tool == "Write" {
                let how = "the client ignores its path, and has `Edit(…)` for all changes";
                result.differ_once("Write", how);
            }
            if is_plain(&pattern) {
                rule.matching.push(RuleExample::Write(pattern.clone()));
            }
            rule.patterns.push(("changes", vec![pattern]));
        }
        "Agent" | "Task" => rule.patterns.push(("delegates", vec![detail.to_owned()])),
        "WebFetch" => {
            return Err(
                "a rule does not look at the address of a fetch; `uses = \"WebFetch\"` means all".into()
            );
        }
        _ => return Err("a rule looks at the name of this tool only, and not at its input".into()),
    }
    Ok(())
}

/// The client's anchors: `//x` is absolute, `/x` counts from the settings' project, and all others are as in a
/// .gitignore of the current directory.
fn read_path(path: &str) -> Result<String, String> {
    if path.contains(['|', '!', '{', '<']) {
        return Err("the path has a character that means something else in a rule".into());
    }
    if path.split('/').any(|part| part == "..") {
        return Err("`..` is not allowed in a pattern".into());
    }
    Ok(match (path.strip_prefix("//"), path.strip_prefix('/')) {
        (Some(rest), _) => format!("/{rest}"),
        (None, Some(rest)) => format!("./{rest}"),
        (None, None) => path.strip_prefix("./").unwrap_or(path).to_owned(),
    })
}

fn is_plain(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '[']) && !pattern.ends_with('/')
}

//! `.conclaude.yaml`: commands before the end of a turn, files that are not edited, and checks of tool calls.
//!
//! Its patterns are globs over a whole text, in which `*` also goes over `/` and blanks. A path pattern is compared with
//! the path from the project's root and with the absolute path.

use serde_json::Value;

use super::command_text::{Rest, read_command};
use super::{DraftedRule, ImportResult, RuleExample};
use crate::text::quote_for_shell;

/// Makes the example of a path.
type MakeExample = fn(String) -> RuleExample;

/// How long a command may take that has no limit of its own: as long as the client waits for a hook.
const CLIENT_LIMIT: i64 = 600;

pub(super) fn read(config: &Value, result: &mut ImportResult) -> Result<(), String> {
    let Some(config) = config.as_object() else { return Err("it is not a table".into()) };
    for (name, section) in config {
        match name.as_str() {
            "stop" => read_stop(section, result),
            "preToolUse" | "rules" => {
                for (name, value) in section.as_object().into_iter().flatten() {
                    read_section(name, value, result);
                }
            }
            name => read_section(name, section, result),
        }
    }
    Ok(())
}

fn read_section(name: &str, value: &Value, result: &mut ImportResult) {
    let entries = || value.as_array().into_iter().flatten();
    match name {
        "uneditableFiles" => entries().for_each(|entry| read_uneditable(entry, result)),
        "toolUsageValidation" => entries().for_each(|entry| read_tool_check(entry, result)),
        "preventRootAdditions" if *value == Value::Bool(true) => {
            result.leave_out(name, "a rule cannot hold for new files only");
        }
        _ if is_empty(value) => {}
        name => result.leave_out(name, "there is no rule for it"),
    }
}

/// Whether a setting switches nothing on.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.values().all(is_empty),
        _ => false,
    }
}

fn read_stop(section: &Value, result: &mut ImportResult) {
    for (name, value) in section.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("run", Value::String(script)) => add_commands(script, &Value::Null, result),
            ("commands", Value::Array(commands)) => {
                for command in commands {
                    match command["run"].as_str().or(command.as_str()) {
                        Some(script) => add_commands(script, command, result),
                        None => result.leave_out("stop.commands", "an entry has no `run`"),
                    }
                }
            }
            (_, value) if is_empty(value) => {}
            (name, _) => result.leave_out(format!("stop.{name}"), "there is no rule for it"),
        }
    }
}

/// Each line of a script is a command of its own.
fn add_commands(script: &str, entry: &Value, result: &mut ImportResult) {
    let is_command = |line: &&str| !line.is_empty() && !line.starts_with('#');
    for line in script.lines().map(str::trim).filter(is_command) {
        result.leave_out_fields(line, entry, &["run", "message", "timeout"]);
        result
            .differ_once("stop", "a turn is stopped at most 3 times in a row, then it ends and you are told");
        result.add(DraftedRule {
            name: format!("stop-{line}"),
            stop_check: Some((for_sh(line), entry["timeout"].as_i64().or(Some(CLIENT_LIMIT)))),
            fix: entry["message"].as_str().map(str::to_owned),
            ..DraftedRule::default()
        });
    }
}

/// A command of `bash`. Provost runs its commands by `sh`.
fn for_sh(line: &str) -> String {
    const OF_BASH: &[&str] = &["[[", "<(", ">(", "<<<", "=(", "&>", "|&", "pipefail", "source ", "shopt "];
    if OF_BASH.iter().any(|sign| line.contains(sign)) {
        format!("bash -c {}", quote_for_shell(line))
    } else {
        line.to_owned()
    }
}

fn read_uneditable(entry: &Value, result: &mut ImportResult) {
    let Some(pattern) = entry["pattern"].as_str().or(entry.as_str()) else {
        return result.leave_out("uneditableFiles", "an entry has no `pattern`");
    };
    if let Some(field) = find_other_field(entry, &["pattern", "message"]) {
        return result.leave_out(pattern, format!("there is no rule for its field `{field}`"));
    }
    match read_path(pattern) {
        Ok(patterns) => result.add(DraftedRule {
            name: format!("uneditable-{pattern}"),
            matching: list_examples(pattern, RuleExample::Write),
            patterns: vec![("writes", patterns)],
            action: Some((
                "deny",
                entry["message"].as_str().unwrap_or("the file is not to be edited").to_owned(),
            )),
            ..DraftedRule::default()
        }),
        Err(why) => result.leave_out(pattern, why),
    }
}

fn find_other_field<'e>(entry: &'e Value, known: &[&str]) -> Option<&'e str> {
    entry.as_object()?.keys().map(String::as_str).find(|name| !known.contains(name))
}

/// A path without a wildcard is an example of its own.
fn list_examples(pattern: &str, make: fn(String) -> RuleExample) -> Vec<RuleExample> {
    if pattern.contains(['*', '?', '[']) { Vec::new() } else { vec![make(pattern.to_owned())] }
}

/// A glob over a whole path as patterns of .gitignore.
fn read_path(pattern: &str) -> Result<Vec<String>, String> {
    if pattern.is_empty() || pattern.contains(['{', '}', '|', '!', '<']) {
        return Err("the pattern has a character that means something else in a rule".into());
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    if pattern.split('/').any(|part| part == "..") {
        return Err("`..` is not allowed in a pattern".into());
    }
    let mut paths = vec![String::new()];
    let parts: Vec<&str> = pattern.split('/').collect();
    for (at, part) in parts.iter().enumerate() {
        let (is_first, is_last) = (at == 0, at + 1 == parts.len());
        // A star at the end of the last part goes over everything below.
        let choices = match part {
            &"*" | &"**" => vec!["**".to_owned()],
            part => spread_stars(part, is_first, is_last),
        };
        let slash = if is_first { "" } else { "/" };
        let join = |start: &str, choice: &str| match choice.strip_prefix("**/") {
            Some(rest) if start.ends_with("**") => format!("{start}{slash}{rest}"),
            _ => format!("{start}{slash}{choice}"),
        };
        paths =
            paths.iter().flat_map(|start| choices.iter().map(move |choice| join(start, choice))).collect();
        if paths.len() > 8 {
            return Err("the pattern leaves too much of the path open".into());
        }
    }
    let anchor = |path: String| {
        let is_anywhere = path.starts_with(['/', '*', '~']);
        if is_anywhere { path } else { format!("./{path}") }
    };
    Ok(paths.into_iter().map(anchor).collect())
}

/// The choices for a part of a path whose stars go over `/`.
fn spread_stars(part: &str, is_first: bool, is_last: bool) -> Vec<String> {
    let inner = part.trim_start_matches('*');
    let starts_open = inner.len() < part.len();
    let stem = inner.trim_end_matches('*');
    // Within a part, one star stands for both.
    let mut choices = vec![part.to_owned()];
    if stem.contains('*') {
        choices.push(part.replacen(stem, &stem.replacen('*', "*/**/*", 1), 1));
    }
    if starts_open && !is_first {
        choices = choices.into_iter().map(|choice| format!("**/{choice}")).collect();
    }
    if inner.len() > stem.len() && !is_last {
        choices = choices.into_iter().map(|choice| format!("{choice}/**")).collect();
    }
    choices
}

fn read_tool_check(entry: &Value, result: &mut ImportResult) {
    let text = |name: &str| entry[name].as_str();
    let shown = text("commandPattern").or(text("pattern")).filter(|pattern| !pattern.is_empty());
    let shown = shown.unwrap_or("toolUsageValidation").to_owned();
    match text("action") {
        Some("block") => {}
        Some("allow") => {
            return result.leave_out(shown, "it blocks what does not match, which a rule cannot say");
        }
        _ => return result.leave_out(shown, "it has no `action` that is known"),
    }
    let known = ["tool", "commandPattern", "pattern", "matchMode", "action", "message"];
    if let Some(field) = find_other_field(entry, &known) {
        return result.leave_out(shown, format!("there is no rule for its field `{field}`"));
    }
    let reason = text("message").unwrap_or("a check of conclaude blocks it").to_owned();
    let rule = DraftedRule {
        name: format!("block-{shown}"),
        action: Some(("deny", reason)),
        ..DraftedRule::default()
    };
    let tool = text("tool").unwrap_or("*");
    if let Some(pattern) = text("commandPattern").filter(|pattern| !pattern.is_empty()) {
        if !["Bash", "*"].contains(&tool) {
            return result.leave_out(shown, "only the tool `Bash` has a command");
        }
        return match read_command_pattern(pattern, text("matchMode") == Some("prefix"), rule, result) {
            Ok(()) => {}
            Err(why) => result.leave_out(shown, why),
        };
    }
    let pattern = text("pattern").filter(|pattern| !matches!(*pattern, "" | "*" | "**" | "**/*"));
    let Some(pattern) = pattern else {
        if tool == "*" {
            return result.leave_out(shown, "it would block every tool");
        }
        return result.add(DraftedRule { patterns: vec![("uses", vec![tool.to_owned()])], ..rule });
    };
    let patterns = match read_path(pattern) {
        Ok(patterns) => patterns,
        Err(why) => return result.leave_out(shown, why),
    };
    let keys: &[(&str, MakeExample)] = match tool {
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => &[("writes", RuleExample::Write)],
        "Read" => &[("reads", RuleExample::Read)],
        "*" => &[("writes", RuleExample::Write), ("reads", RuleExample::Read)],
        _ => return result.leave_out(shown, "a rule does not look at the path of this tool"),
    };
    result.differ(shown.as_str(), "the rule holds for every way to do the same to the file");
    for (key, example) in keys {
        result.add(DraftedRule {
            patterns: vec![(key, patterns.clone())],
            matching: list_examples(pattern, *example),
            ..rule.clone()
        });
    }
}

/// A glob over the whole command, or over its first words.
fn read_command_pattern(
    pattern: &str,
    is_prefix: bool,
    mut rule: DraftedRule,
    result: &mut ImportResult,
) -> Result<(), String> {
    if pattern.contains(['?', '[', ']']) {
        return Err("a rule has no wildcard but `*`".into());
    }
    let shown = pattern;
    let (text, needs_more) = pattern.strip_suffix(" *").map_or((pattern, false), |text| (text, true));
    let goes_on = is_prefix || needs_more || pattern.ends_with('*');
    let command = read_command(text, if goes_on { Rest::Anything } else { Rest::Nothing })?;
    if needs_more {
        result.differ(shown, "the rule also matches the command without more words");
    }
    if let Some(how) = command.difference {
        result.differ(shown, how);
    }
    rule.matching.push(RuleExample::Line(command.line));
    rule.patterns.push(("runs", vec![command.pattern]));
    result.add(rule);
    Ok(())
}

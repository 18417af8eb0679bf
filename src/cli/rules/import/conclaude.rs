//! `.conclaude.yaml`: commands before the end of a turn, files that are not edited, and checks of tool calls.

use serde_json::Value;

use super::command_text::{describe_difference, read_command};
use super::{ImportResult, ImportedRule};

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
    match name {
        "uneditableFiles" => {
            for entry in value.as_array().into_iter().flatten() {
                read_uneditable(entry, result);
            }
        }
        "toolUsageValidation" => {
            for entry in value.as_array().into_iter().flatten() {
                read_tool_check(entry, result);
            }
        }
        "preventRootAdditions" if *value == Value::Bool(true) => {
            result.leave_out(name, "a rule cannot hold for new files only");
        }
        "preventRootAdditions" => {}
        name => result.leave_out(name, "there is no rule for it"),
    }
}

fn read_stop(section: &Value, result: &mut ImportResult) {
    for (name, value) in section.as_object().into_iter().flatten() {
        if name != "commands" {
            result.leave_out(format!("stop.{name}"), "there is no rule for it");
            continue;
        }
        for command in value.as_array().into_iter().flatten() {
            let line = command["run"].as_str().or(command.as_str());
            let Some(line) = line else {
                result.leave_out("stop.commands", "an entry has no `run`");
                continue;
            };
            result.leave_out_fields(line, command, &["run", "message", "timeout"]);
            result.add(ImportedRule {
                name: format!("stop-{line}"),
                stop_check: Some((line.to_owned(), command["timeout"].as_i64())),
                fix: command["message"].as_str().map(str::to_owned),
                ..ImportedRule::default()
            });
        }
    }
}

fn read_uneditable(entry: &Value, result: &mut ImportResult) {
    let Some(pattern) = entry["pattern"].as_str().or(entry.as_str()) else {
        return result.leave_out("uneditableFiles", "an entry has no `pattern`");
    };
    if pattern.contains(['{', '|', '!', '<']) {
        return result.leave_out(pattern, "the pattern has a character that means something else in a rule");
    }
    result.leave_out_fields(pattern, entry, &["pattern", "message"]);
    result.add(ImportedRule {
        name: format!("uneditable-{pattern}"),
        patterns: vec![("writes", vec![pattern.to_owned()])],
        action: Some((
            "deny",
            entry["message"].as_str().unwrap_or("the file is not to be edited").to_owned(),
        )),
        ..ImportedRule::default()
    });
}

fn read_tool_check(entry: &Value, result: &mut ImportResult) {
    let text = |name: &str| entry[name].as_str();
    let shown = text("commandPattern").or(text("pattern")).filter(|pattern| !pattern.is_empty());
    let shown = shown.unwrap_or("toolUsageValidation").to_owned();
    if text("action") != Some("block") {
        return result.leave_out(shown, "a rule never allows anything");
    }
    let known = ["tool", "commandPattern", "pattern", "matchMode", "action", "message"];
    result.leave_out_fields(&shown, entry, &known);
    let reason = text("message").unwrap_or("a check of conclaude blocks it").to_owned();
    let mut rule = ImportedRule {
        name: format!("block-{shown}"),
        action: Some(("deny", reason)),
        ..ImportedRule::default()
    };
    match (text("tool"), text("commandPattern"), text("pattern")) {
        (Some("Bash" | "*"), Some(pattern), _) => {
            let is_prefix = text("matchMode") == Some("prefix");
            // `git push*` also means `git pushx`, which is no program's word.
            let pattern = pattern
                .strip_suffix('*')
                .map_or(pattern.to_owned(), |start| format!("{} *", start.trim_end()));
            match read_command(&pattern) {
                Ok(command) => {
                    let is_prefix = is_prefix || command.is_prefix;
                    if let Some(how) = describe_difference(&command.pattern, is_prefix) {
                        result.differ(shown.as_str(), how);
                    }
                    rule.matching.push(super::ImportedExample::Line(command.line));
                    rule.patterns.push(("runs", vec![command.pattern]));
                }
                Err(why) => return result.leave_out(shown, why),
            }
        }
        (Some("Write" | "Edit" | "MultiEdit" | "NotebookEdit"), None, Some(pattern))
            if !pattern.contains(['{', '|', '!', '<']) =>
        {
            rule.patterns.push(("writes", vec![pattern.to_owned()]));
            result.differ(shown.as_str(), "the rule holds for every way to write the file");
        }
        (Some("Read"), None, Some(pattern)) if !pattern.contains(['{', '|', '!', '<']) => {
            rule.patterns.push(("reads", vec![pattern.to_owned()]));
            result.differ(shown.as_str(), "the rule holds for every way to read the file");
        }
        (Some(tool), None, None | Some("*" | "**" | "**/*")) if tool != "*" => {
            rule.patterns.push(("uses", vec![tool.to_owned()]));
        }
        _ => return result.leave_out(shown, "a rule does not look at these fields of this tool"),
    }
    result.add(rule);
}

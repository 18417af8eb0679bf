//! The custom rules of `cc-safety-net`: a command, a subcommand, and the arguments that are blocked.

use serde_json::Value;

use super::command_text::join_words;
use super::{ImportResult, ImportedExample, ImportedRule};

pub(super) fn read(config: &Value, result: &mut ImportResult) -> Result<(), String> {
    let rules = config["rules"].as_array().ok_or("`rules` is not a list")?;
    for rule in rules {
        let text = |name: &str| rule[name].as_str().map(str::trim).filter(|text| !text.is_empty());
        let name = text("name").unwrap_or("safety-net");
        result.leave_out_fields(name, rule, &["name", "command", "subcommand", "block_args", "reason"]);
        let Some(command) = text("command") else {
            result.leave_out(name, "it has no `command`");
            continue;
        };
        let blocked: Vec<String> = rule["block_args"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(String::from)
            .collect();
        let mut words = vec![vec![command.to_owned()]];
        words.extend(text("subcommand").map(|word| vec![word.to_owned()]));
        let line = |last: Option<&String>| {
            let words = words.iter().map(|word| word[0].as_str()).chain(last.map(String::as_str));
            words.collect::<Vec<_>>().join(" ")
        };
        let lines: Vec<String> = match blocked.as_slice() {
            [] => vec![line(None)],
            blocked => blocked.iter().map(|word| line(Some(word))).collect(),
        };
        // An operand that is blocked counts wherever it stands, and the last word of a pattern only as the next one.
        if let Some(operand) = blocked.iter().find(|word| !word.starts_with('-')) {
            result.differ(
                name,
                format!("the rule matches `{operand}` only if no other operand stands before it"),
            );
        }
        if !blocked.is_empty() {
            words.push(blocked);
        }
        match join_words(&words) {
            Ok(pattern) => result.add(ImportedRule {
                name: name.to_owned(),
                patterns: vec![("runs", vec![pattern])],
                action: Some(("deny", text("reason").unwrap_or("a rule of safety-net blocks it").to_owned())),
                matching: lines.into_iter().map(ImportedExample::Line).collect(),
                ..ImportedRule::default()
            }),
            Err(why) => result.leave_out(name, why),
        }
    }
    Ok(())
}

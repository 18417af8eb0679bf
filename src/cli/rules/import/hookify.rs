//! The rule files of hookify: front matter with an event and patterns, and a message below it.
//!
//! Its patterns are regular expressions over the text of a call. Only those that name a program and its words, the end
//! of a path, or the new text of a file can be said.

use serde_json::Value;

use super::command_text::join_words;
use super::{ImportResult, ImportedRule, yaml};

/// One condition of a rule.
struct Condition {
    field: String,
    operator: String,
    pattern: String,
}

pub(super) fn read(text: &str, result: &mut ImportResult) -> Result<(), String> {
    let rest = text.strip_prefix("---").ok_or("it has no front matter")?;
    let (front, body) = rest.split_once("\n---").ok_or("its front matter does not end")?;
    let front = yaml::parse(front.trim_start_matches(['\r', '\n']))?;
    let text = |name: &str| front[name].as_str().map(str::to_owned);
    let name = text("name").ok_or("it has no `name`")?;
    if front["enabled"] == Value::Bool(false) {
        result.leave_out(name, "it is not enabled");
        return Ok(());
    }
    let known = ["name", "enabled", "event", "pattern", "conditions", "action"];
    result.leave_out_fields(&name, &front, &known);
    let event = text("event").unwrap_or_else(|| "all".into());
    let action = if text("action").as_deref() == Some("block") { "deny" } else { "warn" };
    let conditions = match (front["conditions"].as_array(), text("pattern")) {
        (Some(list), _) => list.iter().map(read_condition).collect(),
        (None, Some(pattern)) => {
            let field = match event.as_str() {
                "bash" => "command",
                "file" => "new_text",
                _ => "content",
            };
            Some(vec![Condition { field: field.into(), operator: "regex_match".into(), pattern }])
        }
        (None, None) => None,
    };
    let Some(conditions) = conditions.filter(|conditions| !conditions.is_empty()) else {
        result.leave_out(name, "its conditions cannot be read");
        return Ok(());
    };
    let mut rule = ImportedRule { name: name.clone(), ..ImportedRule::default() };
    let said = match event.as_str() {
        "bash" => say_command(&conditions, &mut rule),
        "file" => say_file(&conditions, &mut rule),
        "stop" => {
            Err("a rule about the end of a turn needs evidence: write `stops = true` with `need`".into())
        }
        other => Err(format!("there is no rule for the event `{other}`")),
    };
    match said {
        Ok(difference) => {
            rule.action = Some((action, read_reason(body, &name)));
            result.differ(name, difference);
            result.add(rule);
        }
        Err(why) => result.leave_out(name, why),
    }
    Ok(())
}

fn read_condition(value: &Value) -> Option<Condition> {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let operator = text("operator").unwrap_or_else(|| "regex_match".into());
    Some(Condition { field: text("field")?, operator, pattern: text("pattern")? })
}

fn say_command(conditions: &[Condition], rule: &mut ImportedRule) -> Result<&'static str, String> {
    let [Condition { field, operator, pattern }] = conditions else {
        return Err("several conditions about one command cannot be said".into());
    };
    if field != "command" {
        return Err(format!("there is no rule for the field `{field}`"));
    }
    let words = match operator.as_str() {
        "regex_match" => read_simple_regex(pattern)?,
        "contains" | "starts_with" => pattern.split_whitespace().map(|word| vec![word.to_owned()]).collect(),
        other => return Err(format!("there is no rule for the operator `{other}`")),
    };
    rule.patterns.push(("runs", vec![join_words(&words)?]));
    Ok("the rule looks at the program that is started, and not at text anywhere in the line")
}

fn say_file(conditions: &[Condition], rule: &mut ImportedRule) -> Result<&'static str, String> {
    let (mut writes, mut adds) = (Vec::new(), None);
    for Condition { field, operator, pattern } in conditions {
        match (field.as_str(), operator.as_str()) {
            ("file_path", "regex_match") => writes.push(read_path_end(pattern)?),
            ("file_path", "ends_with") => writes.push(format!("*{}", check_plain(pattern)?)),
            ("new_text" | "content", "regex_match") if adds.is_none() => adds = Some(pattern.clone()),
            ("new_text" | "content", "contains") if adds.is_none() => adds = Some(escape_regex(pattern)),
            _ => return Err(format!("there is no rule for `{field}` with `{operator}`")),
        }
    }
    if writes.len() > 1 {
        return Err("several conditions about one path cannot be said".into());
    }
    if let Some(path) = writes.pop() {
        rule.patterns.push(("writes", vec![path]));
    }
    if let Some(regex) = adds {
        if regex.contains("(?=") || regex.contains("(?!") || regex.contains("(?<") {
            return Err("the regular expression looks around, which a rule cannot".into());
        }
        rule.patterns.push(("adds", vec![regex]));
    }
    Ok("the rule holds for every way to write a file, and looks only at lines that are new")
}

/// The words of a regular expression that is made of words, blanks and choices of words only.
fn read_simple_regex(regex: &str) -> Result<Vec<Vec<String>>, String> {
    let cannot = || format!("the regular expression `{regex}` says more than the words of a command");
    let text = regex.trim_start_matches('^').trim_start_matches("\\b").trim_end_matches("\\b");
    let mut words = vec![String::new()];
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('s') => {
                    if rest.next_if(|c| *c == '+').is_none() {
                        return Err(cannot());
                    }
                    words.push(String::new());
                }
                Some(c @ ('.' | '-' | '/')) => words.last_mut().ok_or_else(cannot)?.push(c),
                _ => return Err(cannot()),
            },
            ' ' => words.push(String::new()),
            '(' => {
                let group: String = rest.by_ref().take_while(|c| *c != ')').collect();
                let group = group.strip_prefix("?:").unwrap_or(&group).to_owned();
                let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '|' | '_');
                let is_whole = words.last().is_some_and(String::is_empty)
                    && matches!(rest.peek(), None | Some('\\' | ' '));
                if !is_whole || !group.chars().all(is_word) {
                    return Err(cannot());
                }
                words.last_mut().ok_or_else(cannot)?.push_str(&group);
            }
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '=' | ':' | '@') => {
                words.last_mut().ok_or_else(cannot)?.push(c);
            }
            _ => return Err(cannot()),
        }
    }
    if words.iter().any(String::is_empty) {
        return Err(cannot());
    }
    Ok(words.iter().map(|word| word.split('|').map(str::to_owned).collect()).collect())
}

/// `\.env$` as `*.env`.
fn read_path_end(regex: &str) -> Result<String, String> {
    let cannot = || format!("the regular expression `{regex}` says more than the end of a path");
    let text = regex.strip_suffix('$').ok_or_else(cannot)?;
    let text = text.trim_start_matches(".*").replace("\\.", ".").replace("\\/", "/");
    let has_signs = regex.replace("\\.", "").trim_start_matches(".*").contains('.');
    check_plain(&text).ok().filter(|_| !has_signs).map(|text| format!("*{text}")).ok_or_else(cannot)
}

fn check_plain(text: &str) -> Result<&str, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if text.is_empty() || !text.chars().all(is_plain) {
        return Err(format!("`{text}` is not the end of a file's name"));
    }
    Ok(text)
}

fn escape_regex(text: &str) -> String {
    let is_sign = |c: char| r"\.+*?()|[]{}^$#&-~".contains(c);
    text.chars().flat_map(|c| is_sign(c).then_some('\\').into_iter().chain([c])).collect()
}

/// The first sentence of the message.
fn read_reason(body: &str, name: &str) -> String {
    let lines = body.lines().map(|line| line.trim_matches(['#', '*', ' ', '-', '>', '\r']));
    let line = lines.into_iter().find(|line| line.contains(char::is_alphabetic));
    line.map_or_else(|| format!("the rule `{name}` of hookify says so"), |line| line.replace("**", ""))
}

//! The rule files of hookify: front matter with an event and patterns, and a message below it.
//!
//! Its patterns are regular expressions over the text of a call, without regard to upper and lower case. Those that
//! name the words of a command, a part of a path or the new text of a file can be said.

use serde_json::{Map, Value};

use super::command_text::join_with;
use super::text_pattern::{Alternative, Piece, parse_regex, parse_text, to_command_words, to_path_patterns};
use super::{DraftedRule, ImportResult, escape_regex, front_matter};
use crate::rules::FETCHED_CODE;

const LOOKS_AT_PROGRAM: &str =
    "the rule looks at the program that is started, and not at text anywhere in the line";

/// One condition of a rule.
struct Condition {
    field: String,
    operator: String,
    pattern: String,
}

pub(super) fn read(text: &str, result: &mut ImportResult) -> Result<(), String> {
    let (fields, message) = front_matter::split(text).ok_or("it has no front matter")?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let name = text("name").unwrap_or("unnamed").to_owned();
    if fields.get("enabled") == Some(&Value::Bool(false)) {
        result.leave_out(name, "it is not enabled");
        return Ok(());
    }
    let known = ["name", "enabled", "event", "pattern", "conditions", "action"];
    if let Some(field) = fields.keys().find(|field| !known.contains(&field.as_str())) {
        result.leave_out(format!("{name}: {field}"), "there is no rule for this field");
        return Ok(());
    }
    let mut rule = DraftedRule { name: name.clone(), ..DraftedRule::default() };
    let said = read_conditions(&fields).and_then(|conditions| {
        let event = text("event").unwrap_or("all");
        match event {
            "stop" => {
                Err("a rule about the end of a turn needs evidence: write `stops = true` with `need`".into())
            }
            "bash" | "file" | "all" if conditions.iter().all(|condition| condition.field == "command") => {
                if event == "file" {
                    Err("a file has no `command`".into())
                } else {
                    say_command(&conditions, &mut rule)
                }
            }
            "file" | "all" => say_file(&conditions, &mut rule),
            "bash" => Err("there is no rule for its fields".into()),
            other => Err(format!("there is no rule for the event `{other}`")),
        }
    });
    match said {
        Ok(differences) => {
            let action = if text("action") == Some("block") { "deny" } else { "warn" };
            rule.action = Some((action, read_reason(message, &name)));
            for difference in differences {
                result.differ(name.clone(), difference);
            }
            result.add(rule);
        }
        Err(why) => result.leave_out(name, why),
    }
    Ok(())
}

fn read_conditions(fields: &Map<String, Value>) -> Result<Vec<Condition>, String> {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let list = fields.get("conditions").and_then(Value::as_array).filter(|list| !list.is_empty());
    let conditions: Vec<Condition> = match (list, fields.get("pattern").and_then(Value::as_str)) {
        (Some(list), _) => list
            .iter()
            .map(|value| Condition {
                field: text(value, "field"),
                operator: value["operator"].as_str().unwrap_or("regex_match").to_owned(),
                pattern: text(value, "pattern"),
            })
            .collect(),
        (None, Some(pattern)) => {
            let field = match fields.get("event").and_then(Value::as_str) {
                Some("bash") => "command",
                Some("file") => "new_text",
                _ => "content",
            };
            vec![Condition {
                field: field.into(),
                operator: "regex_match".into(),
                pattern: pattern.to_owned(),
            }]
        }
        (None, None) => Vec::new(),
    };
    if conditions.is_empty() || conditions.iter().any(|one| one.field.is_empty() || one.pattern.is_empty()) {
        return Err("its conditions cannot be read".into());
    }
    Ok(conditions)
}

/// What a condition finds in a text: the alternatives of its expression.
fn read_alternatives(condition: &Condition) -> Result<Vec<Alternative>, String> {
    let mut text = parse_text(&condition.pattern);
    match condition.operator.as_str() {
        "regex_match" => return parse_regex(&condition.pattern),
        "contains" => {}
        "starts_with" => text.insert(0, Piece::Start),
        "ends_with" => text.push(Piece::End),
        "equals" => {
            text.insert(0, Piece::Start);
            text.push(Piece::End);
        }
        other => return Err(format!("there is no rule for the operator `{other}`")),
    }
    Ok(vec![text])
}

/// The keys for an expression that names a word behind others without its position: `git push.*main`. What it finds
/// between a fetch and a shell, `curl.*\|.*sh`, is code from the network.
fn find_argument(alternatives: &[Alternative]) -> Option<Vec<(&'static str, Vec<String>)>> {
    let (mut heads, mut tails, mut is_fetch) = (Vec::new(), Vec::new(), true);
    for alternative in alternatives {
        let at = alternative.iter().rposition(|piece| *piece == Piece::Any)?;
        let (head, tail) = (&alternative[..at], &alternative[at + 1..]);
        let words = to_command_words(head).ok()?;
        let text: String = tail
            .iter()
            .filter(|piece| **piece != Piece::Boundary)
            .map(|piece| read_plain_piece(*piece))
            .collect::<Option<_>>()?;
        let shell = text.trim_start_matches(['|', ' ']);
        is_fetch &= text.starts_with('|')
            && matches!(&*words[0], "curl" | "wget")
            && matches!(shell, "sh" | "bash" | "zsh" | "sudo");
        heads.push(words);
        tails.push(text);
    }
    if is_fetch && !tails.is_empty() {
        return Some(vec![("runs", vec![FETCHED_CODE.to_owned()])]);
    }
    tails.sort_unstable();
    tails.dedup();
    heads.dedup();
    let is_word = |text: &String| {
        !text.starts_with('-') && text.chars().all(|c| c.is_alphanumeric() || "._-/:@".contains(c))
    };
    let [head] = heads.as_slice() else { return None };
    if tails.iter().any(String::is_empty) || !tails.iter().all(is_word) {
        return None;
    }
    let words: Vec<Vec<String>> = head.iter().map(|word| vec![word.clone()]).collect();
    let tails: Vec<String> = tails.iter().map(|text| escape_regex(text)).collect();
    let runs = join_with(&words, &['*']).ok()?;
    Some(vec![("runs", vec![runs]), ("argument", vec![format!("(?i){}", tails.join("|"))])])
}

fn read_plain_piece(piece: Piece) -> Option<char> {
    match piece {
        Piece::Char(c) => Some(c),
        Piece::Blank => Some(' '),
        _ => None,
    }
}

/// The words of a command for each program that its first word stands for: `mkfs` also stands for `mkfs.ext4`.
fn list_programs(words: Vec<String>) -> Vec<Vec<String>> {
    const FILE_SYSTEMS: &[&str] =
        &["mkfs", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mkfs.vfat", "mkfs.fat"];
    if words[0] != "mkfs" {
        return vec![words];
    }
    FILE_SYSTEMS.iter().map(|name| [&[(*name).to_owned()], &words[1..]].concat()).collect()
}

/// Says what the rule looks at, and returns how it differs from its source.
fn say_command(conditions: &[Condition], rule: &mut DraftedRule) -> Result<Vec<String>, String> {
    if let [condition] = conditions
        && condition.operator == "regex_match"
        && let Some(patterns) = find_argument(&parse_regex(&condition.pattern)?)
    {
        rule.patterns.extend(patterns);
        return Ok(vec![LOOKS_AT_PROGRAM.to_owned()]);
    }
    let mut left_out = Vec::new();
    let mut differences = vec![LOOKS_AT_PROGRAM.to_owned()];
    let mut runs: Vec<Vec<String>> = Vec::new();
    let (except, wanted): (Vec<&Condition>, Vec<&Condition>) =
        conditions.iter().partition(|condition| condition.operator == "not_contains");
    for (number, condition) in wanted.into_iter().enumerate() {
        if condition.operator == "ends_with" {
            return Err("a rule cannot say how a command line ends".into());
        }
        let mut found = Vec::new();
        for alternative in read_alternatives(condition)? {
            match to_command_words(&alternative) {
                Ok(words) => found.extend(list_programs(words)),
                Err(why) if conditions.len() == 1 => left_out.push(why),
                Err(why) => return Err(why),
            }
        }
        if number == 0 {
            runs = found;
            continue;
        }
        // Options hold at any place; of other words, the order is not known.
        let options: Option<Vec<&[String]>> =
            found.iter().map(|words| words.strip_prefix(&["*".to_owned()])).collect();
        let options = options.ok_or("several conditions about one command cannot be said")?;
        runs = runs
            .iter()
            .flat_map(|words| options.iter().map(|more| [words.as_slice(), more].concat()))
            .collect();
    }
    let merged = merge_alternatives(&runs);
    let patterns = merged.iter().map(|words| join_with(words, &['*'])).collect::<Result<Vec<_>, _>>()?;
    if patterns.is_empty() {
        return Err(left_out.pop().unwrap_or_else(|| "a rule cannot say only what a command has not".into()));
    }
    differences.extend(left_out.iter().map(|why| format!("an alternative is left out: {why}")));
    let mut exceptions = Vec::new();
    for text in except.iter().map(|condition| condition.pattern.as_str()) {
        if !text.starts_with('-') || text.contains(char::is_whitespace) {
            return Err(format!("a rule cannot say that the command has no `{text}`"));
        }
        let star = if text.starts_with("--") { "*" } else { "" };
        for words in &runs {
            let words = words.iter().cloned().chain([format!("{text}{star}")]);
            exceptions.push(join_with(&words.map(|word| vec![word]).collect::<Vec<_>>(), &['*'])?);
        }
    }
    rule.patterns.push(("runs", patterns));
    if !exceptions.is_empty() {
        rule.patterns.push(("except", exceptions));
    }
    Ok(differences)
}

/// Joins rows of words that differ in one word into one row with alternatives.
fn merge_alternatives(rows: &[Vec<String>]) -> Vec<Vec<Vec<String>>> {
    let mut merged: Vec<Vec<Vec<String>>> = Vec::new();
    for row in rows {
        let row: Vec<Vec<String>> = row.iter().map(|word| vec![word.clone()]).collect();
        let place = merged.iter_mut().find_map(|known| {
            let is_alike = known.len() == row.len();
            let different: Vec<usize> =
                (0..row.len()).filter(|at| is_alike && known[*at] != row[*at]).collect();
            let others_are_single =
                |at: usize| known.iter().enumerate().all(|(other, words)| other == at || words.len() == 1);
            match different[..] {
                [at] if is_alike && others_are_single(at) => Some((known, at)),
                _ => None,
            }
        });
        match place {
            Some((known, at)) => known[at].extend(row[at].iter().cloned()),
            None => merged.push(row),
        }
    }
    merged
}

/// Says which files and texts the rule looks at, and returns how it differs from its source.
fn say_file(conditions: &[Condition], rule: &mut DraftedRule) -> Result<Vec<String>, String> {
    let (mut writes, mut except, mut adds) = (Vec::new(), Vec::new(), None);
    for condition in conditions {
        let Condition { field, operator, pattern } = condition;
        match (field.as_str(), operator.as_str()) {
            ("file_path", "not_contains") => {
                except
                    .extend(to_path_patterns(&[parse_text(pattern)]).map_err(|why| describe(pattern, &why))?);
            }
            ("file_path", _) if writes.is_empty() => {
                let found = read_alternatives(condition).and_then(|all| to_path_patterns(&all));
                writes = found.map_err(|why| describe(pattern, &why))?;
            }
            ("file_path", _) => return Err("several conditions about one path cannot be said".into()),
            ("new_text" | "content" | "new_string", "regex_match") if adds.is_none() => {
                adds = Some(if pattern.starts_with("(?i)") {
                    pattern.clone()
                } else {
                    format!("(?i){pattern}")
                });
            }
            ("new_text" | "content" | "new_string", "contains") if adds.is_none() => {
                adds = Some(escape_regex(pattern));
            }
            _ => return Err(format!("there is no rule for `{field}` with `{operator}`")),
        }
    }
    if writes.is_empty() && !except.is_empty() {
        writes = vec!["**".into()];
    }
    if !writes.is_empty() {
        rule.patterns.push(("writes", writes));
    }
    if !except.is_empty() {
        rule.patterns.push(("except", except));
    }
    let what = if let Some(regex) = adds {
        rule.patterns.push(("adds", vec![regex]));
        "the rule holds for every way to write a file, and looks only at lines that are new"
    } else {
        "the rule holds for every way to write a file"
    };
    Ok(vec![what.into()])
}

fn describe(pattern: &str, why: &str) -> String {
    if why.contains(pattern) { why.to_owned() } else { format!("`{pattern}`: {why}") }
}

/// The first sentence of the message.
fn read_reason(message: &str, name: &str) -> String {
    let lines = message.lines().map(|line| line.trim_matches(['#', '*', ' ', '-', '>', '\r']));
    let line = lines.into_iter().find(|line| line.contains(char::is_alphabetic));
    line.map_or_else(|| format!("the rule `{name}` of hookify says so"), |line| line.replace("**", ""))
}

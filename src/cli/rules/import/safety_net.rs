//! The custom rules of `cc-safety-net`: a command, a subcommand, and the arguments that are blocked.
//!
//! It compares each argument with those that are blocked, wherever it stands, and the letters of `-vA` one by one. So
//! options become words of `runs`, and operands an `argument`. The older `.safety-net.json` and a `rulebook.json` of
//! version 1 have the same rules; one of version 2 names whole words with `match`. A rulebook may have examples.

use serde_json::Value;

use super::command_text::join_words;
use super::{DraftedRule, ImportResult, RuleExample, escape_regex};
use crate::text::quote_for_shell;

/// The fields of a rule, and of the file, that are read or have no effect on decisions.
const RULE_FIELDS: &[&str] = &["name", "command", "subcommand", "block_args", "match", "reason", "intent"];
const MATCH_FIELDS: &[&str] = &["command_path", "any_args", "exclude_args"];
#[rustfmt::skip]
const FILE_FIELDS: &[&str] = &[
    "$schema", "version", "rulebook_version", "name", "description", "author", "allowed_commands", "rules", "tests",
    "migrated_from",
];

pub(super) fn read(config: &Value, result: &mut ImportResult) -> Result<(), String> {
    let rules = config["rules"].as_array().ok_or("`rules` is not a list")?;
    let tests: Vec<&Value> = config["tests"].as_array().into_iter().flatten().collect();
    result.leave_out_fields("the file", config, FILE_FIELDS);
    for rule in rules {
        let name = rule["name"].as_str().unwrap_or("safety-net");
        if let Err(why) = read_rule(name, rule, &tests, result) {
            result.leave_out(name, why);
        }
    }
    Ok(())
}

fn read_rule(name: &str, rule: &Value, tests: &[&Value], result: &mut ImportResult) -> Result<(), String> {
    let text = |name: &str| rule[name].as_str().map(str::trim).filter(|text| !text.is_empty());
    if let Some(field) =
        rule.as_object().and_then(|rule| rule.keys().find(|key| !RULE_FIELDS.contains(&&***key)))
    {
        return Err(format!("there is no rule for its field `{field}`"));
    }
    let command = text("command").ok_or("it has no `command`")?;
    let reason = text("reason").unwrap_or("a rule of safety-net blocks it").to_owned();
    let is_own = |test: &&&Value| test["rule"].as_str().is_none_or(|rule| rule == name);
    let list_tests = |expected: &str| -> Vec<RuleExample> {
        let wanted = tests.iter().filter(is_own).filter(|test| test["expect"] == expected);
        let lines = wanted.filter_map(|test| test["command"].as_str());
        lines.map(|line| RuleExample::Line(line.to_owned())).collect()
    };
    let common = DraftedRule {
        name: name.to_owned(),
        action: Some(("deny", reason)),
        not_matching: list_tests("allowed"),
        ..DraftedRule::default()
    };
    if !rule["match"].is_null() {
        let drafted = read_match(command, &rule["match"], common)?;
        result.add(DraftedRule { matching: list_tests("blocked"), ..drafted });
        return Ok(());
    }
    let blocked = read_texts(rule, "block_args")?.filter(|list| !list.is_empty());
    let blocked = blocked.ok_or("it has no `block_args`")?;
    let (options, operands): (Vec<&str>, Vec<&str>) =
        blocked.into_iter().partition(|word| word.len() > 1 && word.starts_with('-') && *word != "--");
    let mut words = vec![vec![command.to_owned()]];
    words.extend(text("subcommand").map(|word| vec![word.to_owned()]));
    let start: Vec<&str> = words.iter().map(|word| word[0].as_str()).collect();
    let line = |last: &str| {
        let words = start.iter().chain([&last]).map(|word| quote_for_shell(word));
        RuleExample::Line(words.collect::<Vec<_>>().join(" "))
    };
    let pattern = join_words(&words)?;
    let mut rules = Vec::new();
    if !options.is_empty() {
        let mut words = words.clone();
        words.push(options.iter().map(|word| (*word).to_owned()).collect());
        rules.push(DraftedRule {
            patterns: vec![("runs", vec![join_words(&words)?])],
            matching: options.iter().map(|word| line(word)).collect(),
            ..common.clone()
        });
    }
    if !operands.is_empty() {
        rules.push(DraftedRule {
            patterns: vec![("runs", vec![pattern]), ("argument", vec![match_one(&operands)])],
            matching: operands.iter().map(|word| line(word)).collect(),
            ..common
        });
    }
    let blocked = list_tests("blocked");
    if let [only] = rules.as_mut_slice() {
        only.matching.extend(blocked);
    } else if !blocked.is_empty() {
        result.differ(name, "it became two rules, so its `tests` that are blocked are left out");
    }
    for rule in rules {
        result.add(rule);
    }
    Ok(())
}

/// A rule of version 2: words of the command in a row, and arguments that are compared as a whole.
fn read_match(command: &str, wanted: &Value, common: DraftedRule) -> Result<DraftedRule, String> {
    let fields = wanted.as_object().ok_or("its `match` is not an object")?;
    if let Some(field) = fields.keys().find(|key| !MATCH_FIELDS.contains(&&***key)) {
        return Err(format!("there is no rule for its field `match.{field}`"));
    }
    let path = read_texts(wanted, "command_path")?.filter(|list| !list.is_empty());
    let path = path.ok_or("it has no `command_path`")?;
    let words: Vec<Vec<String>> =
        [command].iter().chain(&path).map(|word| vec![(*word).to_owned()]).collect();
    let mut patterns = vec![("runs", vec![join_words(&words)?])];
    if let Some(any) = read_texts(wanted, "any_args")? {
        patterns.push(("argument", vec![match_one(&any)]));
    }
    if let Some(excluded) = read_texts(wanted, "exclude_args")? {
        if let Some(word) = excluded.iter().find(|word| !word.starts_with('-') || word.len() < 2) {
            return Err(format!("an exception cannot name `{word}` wherever it stands"));
        }
        let excluded = vec![vec![command.to_owned()], excluded.into_iter().map(str::to_owned).collect()];
        patterns.push(("except", vec![join_words(&excluded)?]));
    }
    Ok(DraftedRule { patterns, ..common })
}

/// The texts of a list, or `None` without the field.
fn read_texts<'v>(rule: &'v Value, field: &str) -> Result<Option<Vec<&'v str>>, String> {
    if rule[field].is_null() {
        return Ok(None);
    }
    let texts = rule[field].as_array().and_then(|list| list.iter().map(Value::as_str).collect());
    texts.map(Some).ok_or_else(|| format!("its `{field}` is not a list of texts"))
}

/// A regular expression for one of some whole texts.
fn match_one(texts: &[&str]) -> String {
    let alternatives: Vec<String> = texts.iter().map(|word| escape_regex(word)).collect();
    match alternatives.as_slice() {
        [one] => format!("^{one}$"),
        several => format!("^({})$", several.join("|")),
    }
}

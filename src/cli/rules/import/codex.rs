//! The `.rules` files of Codex: `prefix_rule(pattern = […], decision = "…", match = […], not_match = […])`.
//!
//! A rule of Codex compares the first words of a command, one by one. Codex refuses a whole file with one call that it
//! does not understand, so an import that reports such a call has left out what Codex would not use either.

use super::command_text::{describe_difference, join_words};
use super::starlark::{self, Call, Literal, Statement};
use super::{DraftedRule, ImportResult, RuleExample};
use crate::text::quote_for_shell;

/// The arguments of `prefix_rule`, in the order of their positions.
const ARGUMENTS: &[&str] = &["pattern", "decision", "match", "not_match", "justification"];
/// The most commands of one pattern that are tried.
const MOST_PROBES: usize = 16;

pub(super) fn read(text: &str, result: &mut ImportResult) -> Result<(), String> {
    for statement in starlark::parse(text)? {
        match statement {
            Statement::Call(call) if call.name == "prefix_rule" => {
                if let Err((what, why)) = read_rule(&call, result) {
                    result.leave_out(what, why);
                }
            }
            Statement::Call(call) => result.leave_out(describe_call(&call), "there is no rule for it"),
            Statement::Other(word) => {
                result.leave_out(word, "only calls at the top with literal arguments are read");
            }
        }
    }
    Ok(())
}

fn describe_call(call: &Call) -> String {
    let texts = call.arguments.iter().filter_map(|(_, value)| as_text(value));
    format!("{}({})", call.name, texts.collect::<Vec<_>>().join(", "))
}

fn read_rule(call: &Call, result: &mut ImportResult) -> Result<(), (String, String)> {
    let fail = |what: &str, why: &str| Err((what.to_owned(), why.to_owned()));
    let mut values: Vec<Option<&Literal>> = vec![None; ARGUMENTS.len()];
    for (position, (name, value)) in call.arguments.iter().enumerate() {
        let found = match name {
            Some(name) => ARGUMENTS.iter().position(|known| known == name),
            None => Some(position),
        };
        match found.and_then(|at| values.get_mut(at)) {
            Some(place) => *place = Some(value).filter(|value| **value != Literal::None),
            None => return fail(&describe_call(call), "it has an argument that Codex does not know"),
        }
    }
    let &[pattern, decision, matching, not_matching, justification] = values.as_slice() else {
        return fail("prefix_rule", "its arguments cannot be read");
    };
    let words = match pattern {
        Some(Literal::List(words)) => words.iter().map(read_alternatives).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    let Some(words) = words.filter(|words| words.iter().all(|word| !word.is_empty())) else {
        return fail("prefix_rule", "its `pattern` is not a list of texts");
    };
    let shown = words.iter().map(|word| word.join("|")).collect::<Vec<_>>().join(" ");
    let action = match decision.map(as_text) {
        Some(Some("forbidden")) => "deny",
        Some(Some("prompt")) => "ask",
        None | Some(Some("allow")) => return fail(&shown, "a rule never allows anything"),
        Some(Some(other)) => return fail(&shown, &format!("`{other}` is an unknown decision")),
        Some(None) => return fail(&shown, "its decision is not a literal text"),
    };
    let pattern = join_words(&words).map_err(|why| (shown.clone(), why))?;
    if let Some(how) = describe_difference(&pattern) {
        result.differ(shown.as_str(), how);
    }
    let reason = justification.and_then(as_text).filter(|text| !text.trim().is_empty());
    let reason = reason.map_or_else(
        || format!("a rule of Codex {}", if action == "ask" { "asks about it" } else { "forbids it" }),
        str::to_owned,
    );
    let examples = |value: Option<&Literal>| -> Vec<RuleExample> {
        let Some(Literal::List(list)) = value else { return Vec::new() };
        list.iter().filter_map(read_example).map(RuleExample::Line).collect()
    };
    let (matching, not_matching) = (examples(matching), examples(not_matching));
    result.add(DraftedRule {
        name: shown,
        patterns: vec![("runs", vec![pattern])],
        action: Some((action, reason)),
        matching,
        not_matching,
        certain: list_commands(&words).into_iter().map(RuleExample::Line).collect(),
        ..DraftedRule::default()
    });
    Ok(())
}

fn as_text(value: &Literal) -> Option<&str> {
    if let Literal::Text(text) = value { Some(text) } else { None }
}

fn read_alternatives(word: &Literal) -> Option<Vec<String>> {
    match word {
        Literal::Text(text) => Some(vec![text.clone()]),
        Literal::List(list) => list.iter().map(|item| as_text(item).map(str::to_owned)).collect(),
        _ => None,
    }
}

/// An example is a line, or the list of its words.
fn read_example(example: &Literal) -> Option<String> {
    match example {
        Literal::Text(line) => Some(line.clone()),
        list @ Literal::List(_) => Some(quote_words(&read_alternatives(list)?)),
        _ => None,
    }
}

fn quote_words(words: &[String]) -> String {
    words.iter().map(|word| quote_for_shell(word)).collect::<Vec<_>>().join(" ")
}

/// The commands that consist of the words of a pattern.
fn list_commands(words: &[Vec<String>]) -> Vec<String> {
    let mut commands: Vec<Vec<String>> = vec![Vec::new()];
    for alternatives in words {
        let longer = commands.iter().flat_map(|command| {
            alternatives.iter().map(|word| [command.as_slice(), std::slice::from_ref(word)].concat())
        });
        commands = longer.take(MOST_PROBES).collect();
    }
    commands.iter().map(|command| quote_words(command)).collect()
}

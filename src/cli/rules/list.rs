//! `provost rules`: every rule, its layer, its mode, what it does, and how often it matched.

use std::collections::HashMap;
use std::io::Write;

use serde_json::{Value, json};

use crate::cli::screen::{self, DIM, RED, paint};
use crate::cli::{CommandResult, CurrentProject, Exit};
use crate::config::ConfigLayer;
use crate::journal::lines::JournalLine;
use crate::rules::{BASELINE_NAME, RULE_PREFIX, Rule, read_baseline};
use crate::text::make_one_line;
use provost_files::byte_search::find_part;

/// A rule that exists here.
struct ListedRule<'a> {
    rule: &'a Rule,
    /// `enforce`, `watch` or `off`.
    mode: &'static str,
    matched: u64,
}

pub(super) fn run(is_json: bool) -> CommandResult {
    let here = CurrentProject::locate()?;
    let mut counts = HashMap::new();
    here.visit_journal(|line| count_matches(line, &mut counts))?;
    let set = &here.config.rules;
    let watches_all = here.config.is_guard_watched(crate::registry::RULES, crate::registry::RULES);
    let listed =
        set.rules.iter().map(|rule| (rule, if rule.is_watched || watches_all { "watch" } else { "enforce" }));
    let listed = listed.chain(set.off.iter().map(|rule| (rule, "off")));
    let listed: Vec<ListedRule<'_>> = listed
        .map(|(rule, mode)| {
            let matched = counts.get(&rule.full_name()).copied().unwrap_or(0);
            ListedRule { rule, mode, matched }
        })
        .collect();
    let mistakes = here.config.list_all_problems();
    let uses_baseline = set.rules.iter().chain(&set.off).any(|rule| rule.origin.is_built_in);
    let available = if uses_baseline { 0 } else { read_baseline(ConfigLayer::default(), None).len() };
    let mut out = anstream::stdout().lock();
    let exit = if mistakes.is_empty() { Exit::Done } else { Exit::Problem };
    if is_json {
        let rules: Vec<Value> = listed.iter().map(as_json).collect();
        let sets = json!([{"name": BASELINE_NAME, "used": uses_baseline}]);
        let mistakes: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        screen::print_json(&mut out, &json!({"rules": rules, "sets": sets, "mistakes": mistakes}))?;
        return Ok(exit);
    }
    for mistake in &mistakes {
        writeln!(out, "{} {}", paint(RED, "mistake"), make_one_line(&mistake.to_string()))?;
    }
    if !mistakes.is_empty() {
        writeln!(out)?;
    }
    if listed.is_empty() {
        writeln!(out, "there are no rules here yet")?;
    } else {
        let mut rows = vec![["RULE", "LAYER", "MODE", "DOES", "MATCHED"].map(String::from).to_vec()];
        rows.extend(listed.iter().map(as_row));
        screen::print_table(&mut out, &rows)?;
        writeln!(out)?;
        let note = "matched: how often, in the journal of this project. `provost rules show NAME` shows a whole rule.";
        writeln!(out, "{}", paint(DIM, &screen::wrap_for_terminal(note, 0)))?;
    }
    if available > 0 {
        let note = format!(
            "The built-in set `{BASELINE_NAME}` ({available} rules) is not used; `provost rules add {BASELINE_NAME}` adds it."
        );
        writeln!(out, "{}", paint(DIM, &screen::wrap_for_terminal(&note, 0)))?;
    }
    Ok(exit)
}

/// Counts how often a line of the journal says that each rule matched.
fn count_matches(line: &[u8], counts: &mut HashMap<String, u64>) {
    if find_part(line, RULE_PREFIX.as_bytes()).is_none() {
        return;
    }
    let mut add = |name: &str, count: u64| {
        if name.starts_with(RULE_PREFIX) {
            *counts.entry(name.to_owned()).or_insert(0) += count;
        }
    };
    match JournalLine::parse(line) {
        JournalLine::Silent(silent) => silent.guard_names().for_each(|name| add(name, 1)),
        JournalLine::Record(record) => record.guards().for_each(|guard| add(guard.text("guard"), 1)),
        JournalLine::Totals(totals) => totals.guards.iter().for_each(|(name, count)| add(name, *count)),
        JournalLine::Header(_) | JournalLine::Broken => {}
    }
}

fn as_row(listed: &ListedRule<'_>) -> Vec<String> {
    let ListedRule { rule, mode, matched } = listed;
    vec![
        make_one_line(&rule.name),
        rule.origin.layer.name().into(),
        (*mode).into(),
        rule.action.name().into(),
        matched.to_string(),
    ]
}

fn as_json(listed: &ListedRule<'_>) -> Value {
    let ListedRule { rule, mode, matched } = listed;
    json!({
        "name": rule.full_name(),
        "layer": rule.origin.layer.name(),
        "built_in": rule.origin.is_built_in,
        "file": rule.origin.file.to_string_lossy(),
        "line": rule.origin.line,
        "mode": mode,
        "does": rule.action.name(),
        "matched": matched,
    })
}

//! A rule that is printed for the user to put into a `provost.toml`: imported from another tool, or suggested.
//!
//! Its examples come from the source. One that the rule does not judge as the source says is left out and reported.

use std::path::Path;

use toml_edit::{Array, InlineTable, Table, value};

use super::add::list_or_text;
use super::example_run::ExampleReport;
use crate::config::{Config, ConfigLayer};
use crate::registry::guard_settings;
use crate::workspace::Workspace;

#[derive(Clone, Default)]
pub(super) struct DraftedRule {
    pub(super) name: String,
    /// Keys with patterns.
    pub(super) patterns: Vec<(&'static str, Vec<String>)>,
    /// `deny`, `ask` or `warn`, with the reason; empty if it needs a check.
    pub(super) action: Option<(&'static str, String)>,
    /// A command that must succeed before a turn ends, and its seconds.
    pub(super) stop_check: Option<(String, Option<i64>)>,
    pub(super) fix: Option<String>,
    pub(super) matching: Vec<RuleExample>,
    pub(super) not_matching: Vec<RuleExample>,
    /// What the source matches for certain. It is only checked.
    pub(super) certain: Vec<RuleExample>,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum RuleExample {
    Line(String),
    Read(String),
    Write(String),
    /// A call of a tool by its name.
    Tool(String),
}

/// A name with the characters that a rule's name may have.
pub(super) fn make_name(text: &str, otherwise: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches(['-', '.', '_']));
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    let name: String = name.chars().take(60).collect();
    if name.is_empty() { otherwise.into() } else { name.trim_end_matches('-').to_owned() }
}

/// Gives a rule a name that no other has.
pub(super) fn add_unique(rules: &mut Vec<DraftedRule>, mut rule: DraftedRule) {
    let wanted = rule.name.clone();
    let mut number = 2;
    while rules.iter().any(|other| other.name == rule.name) {
        rule.name = format!("{wanted}-{number}");
        number += 1;
    }
    rules.push(rule);
}

impl RuleExample {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Line(line) => format!("`{line}`"),
            Self::Read(path) => format!("a read of `{path}`"),
            Self::Write(path) => format!("a write to `{path}`"),
            Self::Tool(name) => format!("a call of `{name}`"),
        }
    }
}

impl RuleExample {
    fn render(&self) -> toml_edit::Value {
        let (key, text) = match self {
            Self::Line(line) => return line.as_str().into(),
            Self::Read(path) => ("read", path),
            Self::Write(path) => ("write", path),
            Self::Tool(name) => ("tool", name),
        };
        let mut table = InlineTable::new();
        table.insert(key, text.as_str().into());
        table.into()
    }
}

impl DraftedRule {
    /// Removes the examples that the rule judges otherwise.
    pub(super) fn drop_failing_examples(&mut self, workspace: &Workspace) {
        let examples = [std::mem::take(&mut self.matching), std::mem::take(&mut self.not_matching)];
        for (is_match, examples) in [true, false].into_iter().zip(examples) {
            for example in examples {
                if self.judges(&example, is_match, workspace) {
                    self.push_example(example, is_match);
                }
            }
        }
    }

    pub(super) fn find_mistake(&self) -> Option<String> {
        self.read_config().list_all_problems().first().map(|problem| problem.text.clone())
    }

    /// Whether the rule judges an example as the source does.
    pub(super) fn judges(&self, example: &RuleExample, is_match: bool, workspace: &Workspace) -> bool {
        let mut probe = self.clone();
        probe.push_example(example.clone(), is_match);
        ExampleReport::judge_layers(&probe.read_config(), workspace).failures.is_empty()
    }

    pub(super) fn push_example(&mut self, example: RuleExample, is_match: bool) {
        if is_match { self.matching.push(example) } else { self.not_matching.push(example) }
    }

    fn read_config(&self) -> Config {
        let text = format!("[[rule]]\n{}", self.render());
        Config::read_text(ConfigLayer::Project, Path::new("provost.toml"), &text, guard_settings)
    }

    pub(super) fn render(&self) -> Table {
        let mut table = Table::new();
        table.insert("name", value(self.name.as_str()));
        for (key, patterns) in &self.patterns {
            table.insert(key, list_or_text(patterns));
        }
        if let Some((check, seconds)) = &self.stop_check {
            table.insert("stops", value(true));
            let mut need = InlineTable::new();
            need.insert("check", check.as_str().into());
            if let Some(seconds) = seconds {
                need.insert("seconds", (*seconds).into());
            }
            table.insert("need", value(need));
        }
        if let Some((key, reason)) = &self.action {
            table.insert(key, value(reason.as_str()));
        }
        if let Some(fix) = &self.fix {
            table.insert("fix", value(fix.as_str()));
        }
        for (key, examples) in [("match", &self.matching), ("not_match", &self.not_matching)] {
            if examples.is_empty() {
                continue;
            }
            let mut list = Array::new();
            for example in examples {
                list.push(example.render());
            }
            table.insert(key, value(list));
        }
        table
    }
}

//! `provost rules import`: turns the rules of other tools into rules of Provost.
//!
//! The rules go to standard output. What cannot be said exactly goes to standard error, and is never guessed. Each
//! rule is judged on the examples of its source, and an example that Provost judges otherwise is listed too.

mod client_permissions;
mod codex;
mod command_text;
mod conclaude;
mod hookify;
mod safety_net;
mod yaml;

use std::io::Write;
use std::path::PathBuf;

use toml_edit::{Array, InlineTable, Table, value};

use super::add::list_or_text;
use super::example_run::ExampleReport;
use crate::cli::file_change::read_text;
use crate::cli::screen::{text_width, wrap};
use crate::cli::{CommandError, CommandResult, Exit, open_current_workspace};
use crate::config::{Config, ConfigLayer};
use crate::registry::guard_settings;
use crate::text::{make_one_line, shorten_line};

/// Turn the rules of another tool into rules of Provost, on standard output
///
/// Reads the `permissions` of Claude Code's settings, rule files of hookify, `.conclaude.yaml`, `.safety-net.json` and
/// the `.rules` files of Codex. What cannot be said exactly is listed on standard error, and never guessed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost rules import ~/.codex/rules/default.rules
  provost rules import .safety-net.json >> provost.toml

Exit codes: 0 done; 1 a file has an unknown format, or cannot be read.")]
pub(super) struct Import {
    /// The files to read
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// What came of the files.
#[derive(Default)]
pub(super) struct ImportResult {
    rules: Vec<ImportedRule>,
    /// What could not be said, and why.
    unsaid: Vec<(String, String)>,
    /// Where a rule decides otherwise than its source.
    differences: Vec<(String, String)>,
}

/// A rule that was read from another tool.
#[derive(Default)]
pub(super) struct ImportedRule {
    name: String,
    /// Keys with patterns.
    patterns: Vec<(&'static str, Vec<String>)>,
    /// `deny`, `ask` or `warn`, with the reason; empty if it needs a check.
    action: Option<(&'static str, String)>,
    /// A command that must succeed before a turn ends, and its seconds.
    stop_check: Option<(String, Option<i64>)>,
    fix: Option<String>,
    matching: Vec<ImportedExample>,
    not_matching: Vec<ImportedExample>,
}

pub(super) enum ImportedExample {
    Line(String),
    Read(String),
    Write(String),
}

impl ImportResult {
    fn leave_out(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.unsaid.push((what.into(), why.into()));
    }

    /// Lists the fields of an entry that no rule can say.
    fn leave_out_fields(&mut self, what: &str, entry: &serde_json::Value, known: &[&str]) {
        let unread =
            entry.as_object().into_iter().flatten().filter(|(name, _)| !known.contains(&name.as_str()));
        for (name, _) in unread {
            self.leave_out(format!("{what}: {name}"), "there is no rule for this field");
        }
    }

    fn differ(&mut self, what: impl Into<String>, how: impl Into<String>) {
        self.differences.push((what.into(), how.into()));
    }

    /// Adds a rule under a name that no other has.
    fn add(&mut self, mut rule: ImportedRule) {
        let wanted = make_name(&rule.name);
        let is_taken = |name: &str| self.rules.iter().any(|rule| rule.name == name);
        rule.name.clone_from(&wanted);
        let mut number = 2;
        while is_taken(&rule.name) {
            rule.name = format!("{wanted}-{number}");
            number += 1;
        }
        self.rules.push(rule);
    }
}

/// A name with the characters that a rule's name may have.
fn make_name(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches(['-', '.', '_']));
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    let name: String = name.chars().take(60).collect();
    if name.is_empty() { "imported".into() } else { name.trim_end_matches('-').to_owned() }
}

impl Import {
    pub(super) fn run(self) -> CommandResult {
        let mut result = ImportResult::default();
        let mut exit = Exit::Done;
        for path in &self.files {
            let named = path.display().to_string();
            let text = match read_text(path) {
                Ok(Some(text)) => text,
                Ok(None) => {
                    report(&format!("{named} does not exist"));
                    exit = Exit::Problem;
                    continue;
                }
                Err(why) => {
                    return Err(CommandError::Io(make_one_line(&format!("{named} cannot be read: {why}"))));
                }
            };
            if let Err(why) = read_source(&named, text.trim_start_matches('\u{feff}'), &mut result) {
                report(&format!("{named} is not imported: {why}"));
                exit = Exit::Problem;
            }
        }
        drop_failing_examples(&mut result)?;
        let mut out = anstream::stdout().lock();
        for rule in &result.rules {
            write!(out, "[[rule]]\n{}\n", rule.render())?;
        }
        for (what, how) in &result.differences {
            report(&format!("`{}` differs: {how}", shorten_line(what, 120)));
        }
        for (what, why) in &result.unsaid {
            report(&format!("`{}` is not imported: {why}", shorten_line(what, 120)));
        }
        Ok(exit)
    }
}

fn report(text: &str) {
    eprintln!("{}", wrap(&make_one_line(&format!("[provost] {text}")), 0, text_width()));
}

/// Reads a file by its format. The error says why it has none.
fn read_source(name: &str, text: &str, result: &mut ImportResult) -> Result<(), String> {
    let file_name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let extension = file_name.rsplit('.').next().unwrap_or_default();
    match extension {
        "rules" => codex::read(text, result),
        "md" => hookify::read(text, result),
        "yaml" | "yml" => conclaude::read(&yaml::parse(text)?, result),
        _ => {
            let value: serde_json::Value =
                serde_json::from_str(text).map_err(|error| format!("it is not JSON ({error})"))?;
            if value.get("permissions").is_some() {
                client_permissions::read(&value, result);
                Ok(())
            } else if value.get("rules").is_some() {
                safety_net::read(&value, result)
            } else {
                Err("it has neither `permissions` nor `rules`".into())
            }
        }
    }
}

/// Removes the examples that Provost judges otherwise than the source, and lists them.
fn drop_failing_examples(result: &mut ImportResult) -> Result<(), CommandError> {
    let (_, workspace) = open_current_workspace()?;
    let mut found = Vec::new();
    for rule in &mut result.rules {
        for is_match in [true, false] {
            let examples = std::mem::take(if is_match { &mut rule.matching } else { &mut rule.not_matching });
            for example in examples {
                let list = |rule: &mut ImportedRule, example| {
                    if is_match { rule.matching.push(example) } else { rule.not_matching.push(example) }
                };
                let shown = example.describe();
                let mut probe = rule.copy();
                list(&mut probe, example);
                let text = format!("[[rule]]\n{}", probe.render());
                let path = PathBuf::from("provost.toml");
                let config = Config::read_text(ConfigLayer::Project, &path, &text, guard_settings);
                if ExampleReport::judge_layers(&config, &workspace).failures.is_empty() {
                    let kept = probe.matching.pop().or_else(|| probe.not_matching.pop());
                    if let Some(example) = kept {
                        list(rule, example);
                    }
                } else {
                    let how = if is_match { "does not match" } else { "matches" };
                    found.push((
                        rule.name.clone(),
                        format!("the rule {how} {shown}, so the example is left out"),
                    ));
                }
            }
        }
    }
    result.differences.extend(found);
    Ok(())
}

impl ImportedExample {
    fn describe(&self) -> String {
        match self {
            Self::Line(line) => format!("`{line}`"),
            Self::Read(path) => format!("a read of `{path}`"),
            Self::Write(path) => format!("a write to `{path}`"),
        }
    }
}

impl ImportedRule {
    /// The rule without its examples.
    fn copy(&self) -> Self {
        Self {
            name: self.name.clone(),
            patterns: self.patterns.clone(),
            action: self.action.clone(),
            stop_check: self.stop_check.clone(),
            fix: self.fix.clone(),
            ..Self::default()
        }
    }

    fn render(&self) -> Table {
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
                let of = |key: &str, path: &str| {
                    let mut table = InlineTable::new();
                    table.insert(key, path.into());
                    toml_edit::Value::from(table)
                };
                list.push(match example {
                    ImportedExample::Line(line) => line.as_str().into(),
                    ImportedExample::Read(path) => of("read", path),
                    ImportedExample::Write(path) => of("write", path),
                });
            }
            table.insert(key, value(list));
        }
        table
    }
}

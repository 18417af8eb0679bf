//! `provost rules import`: turns the rules of other tools into rules of Provost.
//!
//! The rules go to standard output. What cannot be said exactly goes to standard error, and is never guessed. Each
//! rule is judged on the examples of its source, and an example that Provost judges otherwise is listed too.

mod client_permissions;
mod codex;
mod command_text;
mod conclaude;
mod front_matter;
mod hookify;
mod safety_net;
mod starlark;
mod text_pattern;
mod verification;

use std::io::Write;
use std::path::PathBuf;

use super::drafted_rule::{DraftedRule, RuleExample, add_unique, make_name};
use crate::cli::file_change::read_text;
use crate::cli::screen::{text_width, wrap};
use crate::cli::{CommandError, CommandResult, Exit};
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
    rules: Vec<DraftedRule>,
    /// What could not be said, and why.
    unsaid: Vec<(String, String)>,
    /// Where a rule decides otherwise than its source.
    differences: Vec<(String, String)>,
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

    fn differ_once(&mut self, what: &str, how: &str) {
        let difference = (what.to_owned(), how.to_owned());
        if !self.differences.contains(&difference) {
            self.differences.push(difference);
        }
    }

    /// Adds a rule under a name that no other has.
    fn add(&mut self, rule: DraftedRule) {
        let name = make_name(&rule.name, "imported");
        add_unique(&mut self.rules, DraftedRule { name, ..rule });
    }
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
        verification::verify(&mut result)?;
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
        "yaml" | "yml" => conclaude::read(&crate::yaml::parse(text)?, result),
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

/// A text as a regular expression that matches only this text.
fn escape_regex(text: &str) -> String {
    let is_sign = |c: char| r"\.+*?()|[]{}^$#&-~".contains(c);
    text.chars().flat_map(|c| is_sign(c).then_some('\\').into_iter().chain([c])).collect()
}

//! `provost rules test`: judges every example of every rule.

use std::io::Write;

use serde_json::{Value, json};

use super::example_run::{ExampleFailure, ExampleReport};
use crate::cli::screen::{BOLD, GREEN, RED, paint, print_json, wrap_for_terminal};
use crate::cli::{CommandResult, Exit, open_current_workspace};
use crate::text::make_one_line;

/// Judge the examples in all rules: `match` and `not_match`
///
/// Judges every example of all layers and of the built-in rules, as the hook would judge the call, but without a look
/// at the disk: every file exists, nothing is a link, and every branch is possible. `{ write = "path", new = true }`
/// and `{ run = "git commit", branch = "main", agent = "reviewer" }` say otherwise.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost rules test
  provost rules test --json | jq '.failures[]'

Exit codes: 0 all pass; 1 an example fails, or a rule has a mistake.")]
pub(super) struct Test {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Test {
    pub(super) fn run(self) -> CommandResult {
        let (_, workspace) = open_current_workspace()?;
        let mistakes = workspace.config.list_all_problems();
        let mut report = ExampleReport::judge_layers(&workspace.config, &workspace);
        let (own_examples, own_rules) = (report.judged, report.rules);
        report.judge_baseline(&workspace);
        let is_fine = mistakes.is_empty() && report.failures.is_empty();
        let mut out = anstream::stdout().lock();
        if self.json {
            let value = json!({
                "rules": report.rules,
                "examples": report.judged,
                "failures": report.failures.iter().map(as_json).collect::<Vec<_>>(),
                "mistakes": mistakes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            });
            print_json(&mut out, &value)?;
        } else {
            for mistake in &mistakes {
                writeln!(out, "{} {}", paint(RED, "mistake"), make_one_line(&mistake.to_string()))?;
            }
            for failure in &report.failures {
                writeln!(out, "{} {failure}", paint(RED, "failed "))?;
            }
            let text = match report.failures.len() {
                0 if own_examples == 0 => format!(
                    "no rule of yours has examples; all {} of the {} built-in rules pass",
                    report.judged, report.rules
                ),
                0 => format!(
                    "every {}example passes: {} in {} of yours, {} in {} built-in ones",
                    if mistakes.is_empty() { "" } else { "other " },
                    own_examples,
                    count_of(own_rules, "rule"),
                    report.judged - own_examples,
                    report.rules - own_rules,
                ),
                failed => format!("{failed} of {} examples fail", report.judged),
            };
            writeln!(out, "{}", paint(if is_fine { GREEN } else { BOLD }, &wrap_for_terminal(&text, 0)))?;
        }
        Ok(if is_fine { Exit::Done } else { Exit::Problem })
    }
}

fn count_of(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn as_json(failure: &ExampleFailure) -> Value {
    let (line, column) = failure.place;
    json!({"rule": failure.rule, "file": failure.file.to_string_lossy(), "line": line, "column": column,
        "example": failure.example, "expected": failure.expected, "got": failure.got})
}

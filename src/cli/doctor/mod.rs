//! `provost doctor`: whether the guards would be asked, tried instead of believed.
//!
//! A client says nothing about a hook that it cannot start, an answer that it cannot read, a file that it
//! drops. So every hook that calls Provost is started as the client would start it, with recorded events,
//! on a stage where nothing can be harmed, and the answer is read as the client reads it. Around that, all
//! is checked that is known to make guards silent. Each finding has an id that stays, and a way to mend it.

mod configuration;
mod coverage;
mod programs;
mod registered;
mod report;
mod stage;
mod state;
mod subject;
mod trial;
mod trouble;

use std::io::{ErrorKind, Write};

use serde_json::{Value, json};

use super::screen::{BOLD, painted};
use super::{Exit, Here, Outcome, Trouble, current_directory};
use crate::reviewer;
use crate::text::one_line;
use crate::workspace::resolve;
use report::{Group, Severity};
use stage::Stage;
use subject::Subject;

/// Try every hook as the client would, and say what keeps guards from being asked
///
/// Every registered hook that calls Provost is started with recorded events, as the client starts it, and
/// its answer is checked: a denial where one must come, silence where none may. That happens in a
/// temporary project with a state directory of its own, so nothing is recorded, no review is started and
/// nothing changes. Hooks of others are listed; `--all` runs them too, and they may do anything.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost doctor
  provost doctor --all           run the hooks of others too
  provost doctor --fix           mend the rights of Provost's own files
  provost doctor --json | jq -r '.findings[].id'

Exit codes: 0 no error, maybe warnings; 1 at least one error; 74 interrupted.")]
pub(crate) struct Doctor {
    /// Run the hooks of others too; they are given the same events, and may do anything
    #[arg(long)]
    all: bool,
    /// Mend what is safe to mend: the rights of Provost's own files
    #[arg(long)]
    fix: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(self) -> Outcome {
        // A hook that hangs must end with us.
        reviewer::heed_interruptions();
        let cwd = current_directory()?;
        let subject = Subject::of(Here::find()?, &resolve(&cwd));
        let stage = Stage::set(&subject);
        let trial = match &stage {
            Ok(stage) => trial::hold(&subject, stage, self.all).map_err(|error| match error.kind() {
                ErrorKind::Interrupted => Trouble::Io("interrupted; what was started has been ended".into()),
                _ => Trouble::from(error),
            })?,
            Err(error) => trial::Trial::impossible(error),
        };
        let stage = stage.ok();
        let mut groups = vec![
            registered::check(&subject),
            coverage::check(&subject),
            trial.group,
            programs::check(&subject, stage.as_ref()),
            configuration::check(&subject),
            state::check(&subject),
        ];
        drop(stage);
        if self.fix {
            let findings = groups.iter_mut().flat_map(|group| &mut group.findings);
            findings.for_each(|finding| state::repair(finding, &subject));
        }
        let errors = report::count(&groups, Severity::Error);
        let mut out = anstream::stdout().lock();
        if self.json {
            crate::cli::screen::json(&mut out, &as_json(&subject, &groups, &trial.runs, &trial.not_run))?;
        } else {
            let title = format!("Provost {} in {}", env!("CARGO_PKG_VERSION"), subject.project.display());
            writeln!(out, "{}", painted(BOLD, &one_line(&title)))?;
            writeln!(out)?;
            report::print(&mut out, &groups)?;
        }
        Ok(if errors == 0 { Exit::Done } else { Exit::Found })
    }
}

fn as_json(subject: &Subject, groups: &[Group], runs: &[Value], not_run: &[Value]) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "project": subject.project.to_string_lossy(),
        "errors": report::count(groups, Severity::Error),
        "warnings": report::count(groups, Severity::Warning),
        "findings": report::findings_as_json(groups),
        "checked": groups.iter().map(|group| json!({"group": group.name, "text": group.checked})).collect::<Vec<_>>(),
        "runs": runs,
        "not_run": not_run,
    })
}

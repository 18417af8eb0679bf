//! `provost doctor`: checks whether the client really asks the guards.
//!
//! A client says nothing about a hook that it cannot start, an answer that it cannot read, or a file that it ignores.
//! So the doctor starts every hook that calls Provost as the client would, with recorded events, in a sandbox where
//! nothing can be harmed, and reads the answer as the client does. It also checks everything else that is known to
//! silence guards. Each finding has a stable id and a fix.

mod configuration;
mod coverage;
mod hook_failure;
mod programs;
mod registration;
mod report;
mod sandbox;
mod state;
mod trial;

use std::io::{ErrorKind, Write};

use serde_json::json;

use super::overview::Overview;
use super::screen::{self, BOLD, paint};
use super::{CommandError, CommandResult, Exit};
use crate::cli::client::require;
use crate::cli::current_client;
use crate::signals;
use crate::text::make_one_line;
use report::Severity;
use sandbox::DoctorSandbox;

/// Test every hook as the client would run it, and show what keeps guards from being asked
///
/// The doctor starts every hook that calls Provost with recorded events, as the client does, and checks the answer: a
/// denial where there must be one, silence everywhere else. It uses a temporary project with its own state directory,
/// so nothing is recorded, no review starts and nothing changes. Hooks of other tools are only listed; `--all` runs
/// them too, and they may do anything.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost doctor
  provost doctor --all           run the hooks of other tools too
  provost doctor --fix           fix the permissions of Provost's own files
  provost doctor --json | jq -r '.findings[].id'

Exit codes: 0 no error, maybe warnings; 1 at least one error; 74 interrupted.")]
pub(crate) struct Doctor {
    /// Run the hooks of other tools too; they get the same events, and may do anything
    #[arg(long)]
    all: bool,
    /// Fix what is safe to fix: the permissions of Provost's own files
    #[arg(long)]
    fix: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(self) -> CommandResult {
        require(current_client().health.as_ref(), "doctor")?;
        // A hook that hangs must end with this process.
        signals::watch_signals();
        let overview = Overview::open_here()?;
        let sandbox = DoctorSandbox::create(&overview);
        let trial = match &sandbox {
            Ok(sandbox) => trial::run(&overview, sandbox, self.all).map_err(|error| match error.kind() {
                ErrorKind::Interrupted => {
                    CommandError::Io("interrupted; all started hooks have ended".into())
                }
                _ => CommandError::from(error),
            })?,
            Err(error) => trial::TrialResult::impossible(error),
        };
        let sandbox = sandbox.ok();
        let mut groups = vec![
            registration::check(&overview),
            coverage::check(&overview),
            trial.group,
            programs::check(&overview, sandbox.as_ref()),
            configuration::check(&overview),
            state::check(&overview),
        ];
        drop(sandbox);
        if self.fix {
            let findings = groups.iter_mut().flat_map(|group| &mut group.findings);
            findings.for_each(|finding| state::repair(finding, &overview));
        }
        let errors = report::count(&groups, Severity::Error);
        let version = env!("CARGO_PKG_VERSION");
        let project = &overview.settings_root;
        let mut out = anstream::stdout().lock();
        if self.json {
            let checked = groups.iter().map(|group| json!({"group": group.name, "text": group.checked}));
            let value = json!({
                "version": version,
                "project": project.to_string_lossy(),
                "errors": errors,
                "warnings": report::count(&groups, Severity::Warning),
                "findings": report::findings_as_json(&groups),
                "checked": checked.collect::<Vec<_>>(),
                "runs": trial.runs,
                "not_run": trial.not_run,
            });
            screen::print_json(&mut out, &value)?;
        } else {
            let title = make_one_line(&format!("Provost {version} in {}", project.display()));
            writeln!(out, "{}\n", paint(BOLD, &title))?;
            report::print(&mut out, &groups)?;
        }
        Ok(if errors == 0 { Exit::Done } else { Exit::Problem })
    }
}

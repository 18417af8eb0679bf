//! `provost compat`: replaces the hook scripts that the workflows used before Provost.
//!
//! Each script is a line in [`SCRIPTS`]. From input to answer it takes the path of `provost hook`, with the same
//! deadline, failure modes and journal. Only the form of input and answer differs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;

use crate::cli::current_client;
use crate::clients::{BLOCK_EXIT_CODE, Dialect, scripts};
use crate::config::settings;
use crate::environment::open_workspace;
use crate::event::{Event, EventKind};
use crate::hook;
use crate::opinion::{Opinion, Verdict};
use crate::planner::plan_output;
use crate::review_loop::stop;

/// Replace a hook script, with the same exit codes and output (called by hooks)
///
/// Reads the event as JSON from standard input. Exit code 0 without output allows the call. Exit code 2 blocks it, with
/// the reason on standard error. A script judges every caller, so register it only where it should apply, for
/// example in the frontmatter of an agent. `provost hook` checks by itself which agent calls.
#[derive(clap::Args)]
#[command(after_help = "Scripts:
  planner-bash-guard     before a shell call: only listed programs, only reading, output only to
                         /dev/null and planning/
  validate-plan-output   at a stop: requires a recent plan in planning/ with the required sections
  post_tool_use          after a write in plan mode: records the plan's hashes and verdict
  pre_tool_use           before leaving plan mode: requires an assessed plan; trusts the agent's own
                         verdict, as the document prescribes
  stop-hook              at a stop: runs the review that is due for the plan that was changed last,
                         or checks its ground rules; answers with JSON, or with exit code 2 if the
                         input is not JSON

Scripts of the phases, each registered for one event; they allow what they cannot read. Scripts that
block answer with JSON; the three that only warn write to standard error:
  before a call          iteration-corridor, skill-validator, phase-loop-controller, plan-surfacer,
                         phase-sequence-guard, gate-blocker, constitution-validator, branch-guard
  after a call           log-skill-usage, menu-tracker, skill-delegation-enforcer, test-watcher,
                         review-reminder; warnings: state-write-validator, walkthrough-tracker,
                         discover-menu-guard
  at a stop              delegation-gate

Examples:
  provost compat planner-bash-guard < call.json
  provost compat validate-plan-output < stop.json
  provost compat validate-plan-output planning/login.md")]
pub(crate) struct Compat {
    /// The script to replace
    #[arg(value_parser = PossibleValuesParser::new(SCRIPTS.iter().map(|(name, ..)| name)))]
    script: String,
    /// For validate-plan-output: check this plan, however old, and read no event
    file: Option<PathBuf>,
}

/// A script: its name, the guards that judge in its place, the form of its input and answer, and the settings that make
/// the guards judge as the script did.
type Script =
    (&'static str, &'static [&'static str], &'static Dialect, &'static [(&'static str, &'static str)]);

static SCRIPTS: &[Script] = &[
    ("planner-bash-guard", &["planner-bash-guard"], &scripts::SHELL, &[]),
    (VALIDATOR, &["plan-output-validator"], &scripts::STOP, &[]),
    ("post_tool_use", &["plan-keeper"], &scripts::WRITE, PLAN_GATE_SETTINGS),
    ("pre_tool_use", &["plan-gate"], &scripts::EXIT, PLAN_GATE_SETTINGS),
    ("stop-hook", &["review-loop"], &scripts::REVIEW_LOOP, REVIEW_LOOP_SETTINGS),
    ("iteration-corridor", &["iteration-corridor", RECORDS], &scripts::BEFORE, &[]),
    ("skill-validator", &["skill-validator"], &scripts::BEFORE, &[]),
    ("phase-loop-controller", &["phase-loop-controller"], &scripts::BEFORE, &[]),
    ("plan-surfacer", &["plan-surfacer"], &scripts::BEFORE, &[]),
    ("phase-sequence-guard", &["phase-sequence-guard"], &scripts::BEFORE, &[]),
    ("gate-blocker", &["gate-blocker", RECORDS], &scripts::BEFORE, &[]),
    ("constitution-validator", &["constitution-validator", RECORDS], &scripts::BEFORE, &[]),
    ("branch-guard", &["branch-guard"], &scripts::BEFORE, &[]),
    ("state-write-validator", &["state-write-validator"], &scripts::WARNING, &[]),
    ("log-skill-usage", &["log-skill-usage", RECORDS], &scripts::AFTER, &[]),
    ("menu-tracker", &["menu-tracker", RECORDS], &scripts::AGENT_ANSWER, &[]),
    ("walkthrough-tracker", &["walkthrough-tracker"], &scripts::WARNING, &[]),
    ("discover-menu-guard", &["discover-menu-guard"], &scripts::WARNING, &[]),
    ("skill-delegation-enforcer", &["skill-delegation-enforcer", RECORDS], &scripts::AFTER, &[]),
    ("test-watcher", &["test-watcher", RECORDS], &scripts::AFTER, &[]),
    ("review-reminder", &["review-reminder"], &scripts::AFTER_SHELL, &[]),
    ("delegation-gate", &["delegation-gate", RECORDS], &scripts::END, &[]),
];

/// The guard that records what the guards of the phases report.
const RECORDS: &str = "phase-records";

/// Makes the guard judge as the review loop's document prescribes.
const REVIEW_LOOP_SETTINGS: &[(&str, &str)] = &[
    (settings::REVIEW_LOOP_PLAN, "newest"),
    (settings::REVIEW_LOOP_REPORT, stop::BY_DOCUMENT),
    (settings::REVIEW_LOOP_STATE, "believed"),
];

/// Makes the guards judge as the plan gate's documents prescribe.
const PLAN_GATE_SETTINGS: &[(&str, &str)] = &[
    (settings::PLAN_GATE_WITNESS, "off"),
    (settings::PLAN_GATE_PREREQUISITES, "off"),
    (settings::PLAN_GATE_ASSESS, "skill"),
];

const VALIDATOR: &str = "validate-plan-output";

/// Answers for a known script, without an argument parser. `None` leaves the command line to the parser, which
/// reports what is wrong with it.
pub(super) fn start(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let name = arguments.next()?;
    let (script, guards, dialect, settings) = SCRIPTS.iter().find(|(script, ..)| name == *script)?;
    match arguments.next() {
        Some(file) if *script == VALIDATOR => Some(check_plan(Path::new(&file))),
        _ => Some(hook::run_script(dialect, guards, settings)),
    }
}

/// Checks one plan, for `provost compat validate-plan-output FILE`.
fn check_plan(file: &Path) -> ExitCode {
    let cwd = std::env::current_dir().unwrap_or_default();
    let event = Event::new(String::new(), EventKind::Other, cwd);
    let workspace = open_workspace(current_client(), &event);
    let reason =
        match plan_output::check_plan(&event.make_absolute(file), &file.display().to_string(), &workspace) {
            Ok(Opinion { verdict: Verdict::Deny(denial), .. }) => denial.to_string(),
            Ok(_) => return ExitCode::SUCCESS,
            Err(fault) => {
                format!("[provost] the plan cannot be read: {fault}. To fix: name a plan that is there.")
            }
        };
    eprintln!("{}", crate::text::make_printable(reason.trim_start_matches("[provost] ")));
    ExitCode::from(BLOCK_EXIT_CODE)
}

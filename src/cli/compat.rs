//! `provost compat`: stands in for the hook scripts that people have registered by hand.
//!
//! Each script is a line in [`SCRIPTS`]: its name, the guard that judges, and the client's way of
//! speaking to scripts. The way from the input to the answer is the one of `provost hook`, with its
//! deadline, failure modes and journal; there is no second logic here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;

use crate::clients::{self, BLOCK, Client};
use crate::config::settings;
use crate::decision::{Opinion, Verdict};
use crate::event::{Event, Kind};
use crate::hook;
use crate::planner::plan_output;
use crate::review_loop::stop;
use crate::workspace::Workspace;

/// Stand in for a hook script, with its exit codes and streams (called by hooks)
///
/// Reads the event as JSON from standard input. Exit code 0 without a word: go on; exit code 2: blocked,
/// with the reason on standard error. A script judges whoever calls it, so it is registered only where
/// it is wanted, for example in the frontmatter of an agent; `provost hook` looks at the agent itself.
#[derive(clap::Args)]
#[command(after_help = "Scripts:
  planner-bash-guard     before a shell call: only listed programs, only reading, output only to
                         /dev/null and planning/
  validate-plan-output   at a stop: a recent plan in planning/ with the required sections
  post_tool_use          after a write in plan mode: the plan's hashes and verdict are kept
  pre_tool_use           before plan mode is left: only with a plan that was assessed; the agent's
                         own word for a pass is believed, as the document has it
  stop-hook              at a stop: the review that is due for the plan that was changed last, or else
                         its ground rules; answers by JSON, and by exit code 2 where the input is no JSON

Scripts of the phases, each registered for one event; what they cannot read goes on. Those that hold
something back answer by JSON, the three that only warn write to standard error:
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
    /// The script to stand in for
    #[arg(value_parser = PossibleValuesParser::new(SCRIPTS.iter().map(|script| script.name)))]
    script: String,
    /// For validate-plan-output: the plan to check, whenever it was changed; no event is read
    file: Option<PathBuf>,
}

struct Script {
    name: &'static str,
    guards: &'static [&'static str],
    client: &'static Client,
    /// Settings that make the guard what the script was.
    settings: &'static [(&'static str, &'static str)],
}

static SCRIPTS: &[Script] = &[
    Script {
        name: "planner-bash-guard",
        guards: &["planner-bash-guard"],
        client: clients::SHELL_SCRIPT,
        settings: &[],
    },
    Script {
        name: VALIDATOR,
        guards: &["plan-output-validator"],
        client: clients::STOP_SCRIPT,
        settings: &[],
    },
    Script {
        name: "post_tool_use",
        guards: &["plan-keeper"],
        client: clients::WRITE_SCRIPT,
        settings: BELIEVING,
    },
    Script {
        name: "pre_tool_use",
        guards: &["plan-gate"],
        client: clients::EXIT_SCRIPT,
        settings: BELIEVING,
    },
    Script { name: "stop-hook", guards: &["review-loop"], client: clients::LOOP_SCRIPT, settings: UNIFIED },
    Script {
        name: "iteration-corridor",
        guards: &["iteration-corridor", RECORDS],
        client: clients::BEFORE_SCRIPT,
        settings: &[],
    },
    Script {
        name: "skill-validator",
        guards: &["skill-validator"],
        client: clients::BEFORE_SCRIPT,
        settings: &[],
    },
    Script {
        name: "phase-loop-controller",
        guards: &["phase-loop-controller"],
        client: clients::BEFORE_SCRIPT,
        settings: &[],
    },
    Script {
        name: "plan-surfacer",
        guards: &["plan-surfacer"],
        client: clients::BEFORE_SCRIPT,
        settings: &[],
    },
    Script {
        name: "phase-sequence-guard",
        guards: &["phase-sequence-guard"],
        client: clients::BEFORE_SCRIPT,
        settings: &[],
    },
    Script {
        name: "gate-blocker",
        guards: &["gate-blocker", RECORDS],
        client: clients::BEFORE_SCRIPT,
        settings: &[],
    },
    Script {
        name: "constitution-validator",
        guards: &["constitution-validator", RECORDS],
        client: clients::BEFORE_SCRIPT,
        settings: &[],
    },
    Script { name: "branch-guard", guards: &["branch-guard"], client: clients::BEFORE_SCRIPT, settings: &[] },
    Script {
        name: "state-write-validator",
        guards: &["state-write-validator"],
        client: clients::REMARK_SCRIPT,
        settings: &[],
    },
    Script {
        name: "log-skill-usage",
        guards: &["log-skill-usage", RECORDS],
        client: clients::AFTER_SCRIPT,
        settings: &[],
    },
    Script {
        name: "menu-tracker",
        guards: &["menu-tracker", RECORDS],
        client: clients::ANSWER_SCRIPT,
        settings: &[],
    },
    Script {
        name: "walkthrough-tracker",
        guards: &["walkthrough-tracker"],
        client: clients::REMARK_SCRIPT,
        settings: &[],
    },
    Script {
        name: "discover-menu-guard",
        guards: &["discover-menu-guard"],
        client: clients::REMARK_SCRIPT,
        settings: &[],
    },
    Script {
        name: "skill-delegation-enforcer",
        guards: &["skill-delegation-enforcer", RECORDS],
        client: clients::AFTER_SCRIPT,
        settings: &[],
    },
    Script {
        name: "test-watcher",
        guards: &["test-watcher", RECORDS],
        client: clients::AFTER_SCRIPT,
        settings: &[],
    },
    Script {
        name: "review-reminder",
        guards: &["review-reminder"],
        client: clients::AFTER_SHELL_SCRIPT,
        settings: &[],
    },
    Script {
        name: "delegation-gate",
        guards: &["delegation-gate", RECORDS],
        client: clients::END_SCRIPT,
        settings: &[],
    },
];

/// Writes down what the guard of a script of the phases notes.
const RECORDS: &str = "phase-records";

/// As the document of the review loop has it.
const UNIFIED: &[(&str, &str)] = &[
    (settings::REVIEW_LOOP_PLAN, "newest"),
    (settings::REVIEW_LOOP_REPORT, stop::BY_DOCUMENT),
    (settings::REVIEW_LOOP_STATE, "believed"),
];

/// As the documents of the plan gate have it.
const BELIEVING: &[(&str, &str)] = &[
    (settings::PLAN_GATE_WITNESS, "off"),
    (settings::PLAN_GATE_FLOOR, "off"),
    (settings::PLAN_GATE_ASSESS, "skill"),
];

const VALIDATOR: &str = "validate-plan-output";

/// Answers for a known script, before any argument parser is set up; `None` leaves the command line
/// to the parser, which says what is wrong with it.
pub(super) fn start(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let name = arguments.next()?;
    let script = SCRIPTS.iter().find(|script| name == script.name)?;
    match arguments.next() {
        Some(file) if script.name == VALIDATOR => Some(check(Path::new(&file))),
        _ => Some(hook::run_script(script.client, script.guards, script.settings)),
    }
}

/// Checks one plan for whoever asks.
fn check(file: &Path) -> ExitCode {
    let cwd = std::env::current_dir().unwrap_or_default();
    let event = Event::new(String::new(), Kind::Other, cwd);
    let workspace = Workspace::of(clients::DEFAULT, &event);
    let reason = match plan_output::check(&event.absolute(file), &file.display().to_string(), &workspace) {
        Ok(Opinion { verdict: Verdict::Deny(denial), .. }) => denial.to_string(),
        Ok(_) => return ExitCode::SUCCESS,
        Err(fault) => {
            format!("[provost] the plan cannot be read: {fault}. To fix: name a plan that is there.")
        }
    };
    eprintln!("{}", crate::text::printable(reason.trim_start_matches("[provost] ")));
    ExitCode::from(BLOCK)
}

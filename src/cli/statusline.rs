//! `provost statusline`: the state of the project, in one line of the client's screen.
//!
//! The client runs it several times a minute and shows what it prints. It starts without an argument parser, as
//! the hook does, and never fails: for every input there is a line and exit code 0.

use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::overview::Overview;
use super::overview::activation::HookState;
use super::overview::instances::{ApprovalState, RootReport};
use super::overview::journal_tail::{MOST_READ, WatchedVerdict};
use crate::cli::current_client;
use crate::clients::StatusLineSession;
use crate::engine;
use crate::places::resolve_path;
use crate::registry::GUARDS;
use crate::review_loop::transition::{CLEAN_NEEDED, StopAnswer};
use crate::text::{make_one_line, truncate_utf16};
use provost_files::faults;

/// Print one line for the client's status line
///
/// Reads a JSON object on standard input that names the session and its directory; without it, the current
/// directory counts. The line shows only what applies: the review round, the phase and what its gate misses, the
/// plan of this session, recent denials of this session.
#[derive(clap::Args)]
#[command(after_help = help())]
pub(crate) struct Statusline {}

fn help() -> String {
    format!(
        "Examples:\n  provost statusline < /dev/null\n\n{}\n\nExit codes: always 0.",
        current_client().status_line().example
    )
}

const LARGEST_INPUT: usize = 1 << 20;
/// How long to wait for input, so that there is a line even if the client never closes it.
const PATIENCE: Duration = Duration::from_millis(300);
/// The maximum length of a name in the line.
const LONGEST_NAME: usize = 48;

pub(crate) fn start() -> ExitCode {
    engine::silence_panics();
    let line = engine::catch_panic(|| format_line(&(current_client().status_line().parse)(&read_input())));
    let line = line.unwrap_or_else(|_| "provost · internal error".into());
    // The client may have closed the pipe.
    let _ = writeln!(io::stdout(), "{line}");
    ExitCode::SUCCESS
}

/// The client's input, as far as it arrives in time. An error counts as its end.
fn read_input() -> Vec<u8> {
    let mut bytes = Vec::new();
    if io::stdin().is_terminal() {
        return bytes;
    }
    let (sender, parts) = mpsc::channel();
    // The thread ends with the process: a read from an open pipe cannot be cancelled.
    thread::spawn(move || {
        let mut part = [0; 8192];
        while let Ok(count @ 1..) = io::stdin().read(&mut part)
            && sender.send(part[..count].to_vec()).is_ok()
        {}
    });
    let end = Instant::now() + faults::extend_limit(PATIENCE);
    while bytes.len() < LARGEST_INPUT
        && let Ok(part) = parts.recv_timeout(end.saturating_duration_since(Instant::now()))
    {
        bytes.extend(part);
    }
    bytes
}

fn format_line(input: &StatusLineSession) -> String {
    let is_directory = |path: &&PathBuf| path.is_dir();
    let start = input.start.as_ref().filter(is_directory);
    let cwd = input.cwd.as_ref().filter(is_directory).or(start).cloned();
    let Some(cwd) = cwd.or_else(|| std::env::current_dir().ok()) else {
        return "provost · no directory".into();
    };
    let overview = Overview::open(&resolve_path(start.unwrap_or(&cwd)), &resolve_path(&cwd));
    let session = input.session.as_deref();
    match overview.hook_state() {
        HookState::OnlyInJournal if session.is_some_and(|session| !overview.has_called(session)) => {
            return "provost · no hook entry calls it".into();
        }
        HookState::Missing => return "provost · no hook calls it".into(),
        HookState::SwitchedOff => return "provost · hooks are switched off".into(),
        HookState::Rejected => return "provost · the client rejects its hooks".into(),
        HookState::Active | HookState::OnlyInJournal => {}
    }
    let parts = [
        describe_review(&overview),
        describe_phase(&overview),
        describe_instance(&overview),
        session.and_then(|session| describe_plan(&overview, session)),
        session.and_then(|session| count_denials(&overview, session)),
        session.and_then(|session| count_watched(&overview, session)),
        describe_configuration(&overview),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "provost · on".into() } else { format!("provost · {}", parts.join(" · ")) }
}

fn describe_review(overview: &Overview) -> Option<String> {
    let Ok(review) = overview.review() else { return Some("review: unreadable".into()) };
    let review = review.as_ref()?;
    // Without a state, no reviews have begun.
    let cycle = review.cycle.as_ref().ok().filter(|cycle| cycle.state.is_in_loop())?;
    let max = cycle.state.max_reviews;
    let round = match (&cycle.answer, cycle.round()) {
        (StopAnswer::Limit(_), _) => format!("all {max} done"),
        (_, Some(number)) => format!("{number}/{max}"),
        (_, None) => return None,
    };
    let running = review.running.as_ref().map(|running| {
        running.seconds().map_or(" running".into(), |seconds| format!(" running {seconds} s"))
    });
    Some(format!("review {round}{}, clean {}/{CLEAN_NEEDED}", running.unwrap_or_default(), cycle.state.clean))
}

fn describe_phase(overview: &Overview) -> Option<String> {
    let Ok(workflow) = overview.workflow() else { return Some("phase: state unreadable".into()) };
    let active = workflow.as_ref()?.active.as_ref()?;
    let current = make_one_line(&truncate_utf16(active.current.as_deref()?, LONGEST_NAME));
    Some(match active.missing().as_slice() {
        [] => format!("phase {current}"),
        missing => format!("phase {current} (gate: {} missing)", missing.join(", ")),
    })
}

/// The change, feature, spec or story that governs the work.
fn describe_instance(overview: &Overview) -> Option<String> {
    let reports = overview.instances();
    if reports.iter().any(|report| report.fault.is_some()) {
        return Some("workflow: unreadable".into());
    }
    let instance = reports.iter().find_map(RootReport::find_governing)?;
    let name = make_one_line(&truncate_utf16(&instance.name, LONGEST_NAME));
    Some(match &instance.approval {
        approval if approval.allows_work() => {
            format!("{name} {}/{} tasks", instance.tasks.0, instance.tasks.1)
        }
        ApprovalState::Void(..) => format!("{name}: changed, not approved"),
        _ => format!("{name}: not approved"),
    })
}

/// Plans belong to the user and not to the project, so only the plan of this session counts.
fn describe_plan(overview: &Overview, session: &str) -> Option<String> {
    let plan = overview.plan().as_ref().ok()?.as_ref()?;
    (plan.session.as_deref() == Some(session)).then(|| format!("plan: {}", plan.summary()))
}

fn count_denials(overview: &Overview, session: &str) -> Option<String> {
    let denials = &overview.journal().as_ref().ok()?.as_ref()?.denials;
    let count = denials.iter().filter(|denial| denial.session == session).count();
    let more = if denials.len() == MOST_READ { "+" } else { "" };
    (count > 0).then(|| format!("{count}{more} denied"))
}

/// How many calls of this session watched guards and rules would have denied.
fn count_watched(overview: &Overview, session: &str) -> Option<String> {
    let calls = &overview.journal().as_ref().ok()?.as_ref()?.watched;
    let would_deny = |call: &&Vec<WatchedVerdict>| {
        call.iter().any(|verdict| verdict.session == session && verdict.opinion == "would deny")
    };
    let count = calls.iter().filter(would_deny).count();
    (count > 0).then(|| format!("{count} would be denied"))
}

fn describe_configuration(overview: &Overview) -> Option<String> {
    let problems = overview.config_problems();
    let first = || {
        let file = problems.first()?.file.file_name()?.to_string_lossy().into_owned();
        let place = problems.iter().find_map(|problem| problem.place);
        Some(match place {
            Some((line, column)) => format!(" ({}:{line}:{column})", make_one_line(&file)),
            None => format!(" ({})", make_one_line(&file)),
        })
    };
    match overview.guards_off().len() {
        off if off == GUARDS.len() => Some("off".into()),
        _ if problems.len() == 1 => {
            Some(format!("1 mistake in its configuration{}", first().unwrap_or_default()))
        }
        _ if problems.len() > 1 => {
            Some(format!("{} mistakes in its configuration{}", problems.len(), first().unwrap_or_default()))
        }
        1 => Some("1 guard off".into()),
        off if off > 1 => Some(format!("{off} guards off")),
        _ => None,
    }
}

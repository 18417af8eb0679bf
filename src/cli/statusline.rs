//! `provost statusline`: where everything stands, in one line of the client's screen.
//!
//! The client runs it several times a minute and shows what it prints, so it starts without an argument
//! parser, as the hook does, and never fails: whatever comes in, there is a line and exit code 0.

use std::io::{self, IsTerminal, Read, StdinLock, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::status::{Called, MOST_LOOKED_AT, Summary, missing};
use crate::clients::{self, Seat};
use crate::engine;
use crate::faults;
use crate::registry::GUARDS;
use crate::review_loop::transition::{Answer, ENOUGH};
use crate::text::{bounded, one_line};
use crate::workspace::resolve;

/// Print one line for the client's status line
///
/// The client gives a JSON object on standard input that names the session and its directory; without, the
/// current directory counts. Shown is only what applies: the review round, the phase and what its gate misses,
/// the plan of this session, what was denied lately in this session.
#[derive(clap::Args)]
#[command(after_help = help())]
pub(crate) struct Statusline {}

fn help() -> String {
    format!(
        "Examples:\n  provost statusline < /dev/null\n\n{}\n\nExit codes: always 0.",
        clients::DEFAULT.status_line_entry
    )
}

/// No client tells more than this.
const LARGEST_INPUT: usize = 1 << 20;
/// A client that never ends its input still gets a line.
const PATIENCE: Duration = Duration::from_millis(300);
/// As much as any part of the line has.
const LONGEST: usize = 48;

pub(crate) fn start() -> ExitCode {
    engine::quiet_panics();
    let line = engine::caught(|| line(&(clients::DEFAULT.status_line)(&input())));
    let line = line.unwrap_or_else(|_| "provost · its state cannot be told".into());
    // Nobody may be there to read it.
    let _ = writeln!(io::stdout(), "{line}");
    ExitCode::SUCCESS
}

/// What the client says, as far as it comes in time. What cannot be read was not said.
fn input() -> Vec<u8> {
    let mut stdin = io::stdin().lock();
    let mut bytes = Vec::new();
    let mut part = [0; 8192];
    let end = Instant::now() + faults::extend_limit(PATIENCE);
    while !stdin.is_terminal() && bytes.len() < LARGEST_INPUT && is_ready(&stdin, end) {
        match stdin.read(&mut part) {
            Ok(0) | Err(_) => break,
            Ok(count) => bytes.extend(&part[..count]),
        }
    }
    bytes
}

/// Whether there is something to read before this moment.
#[cfg(unix)]
fn is_ready(stdin: &StdinLock<'_>, end: Instant) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let left = Timespec::try_from(end.saturating_duration_since(Instant::now())).ok();
    let mut watched = [PollFd::new(stdin, PollFlags::IN)];
    poll(&mut watched, left.as_ref()).is_ok_and(|ready| ready > 0)
}

#[cfg(not(unix))]
fn is_ready(_: &StdinLock<'_>, end: Instant) -> bool {
    Instant::now() < end
}

fn line(seat: &Seat) -> String {
    let is_there = |path: &&PathBuf| path.is_dir();
    let here = || std::env::current_dir().ok();
    let cwd = seat.cwd.as_ref().filter(is_there).or(seat.start.as_ref().filter(is_there)).cloned();
    let Some(cwd) = cwd.or_else(here) else { return "provost · no directory".into() };
    let start = seat.start.as_ref().filter(is_there).unwrap_or(&cwd);
    let summary = Summary::of(&resolve(start), &resolve(&cwd));
    let parts = [
        review(&summary),
        phase(&summary),
        plan(&summary, seat.session.as_deref()),
        denied(&summary, seat.session.as_deref()),
        switches(&summary),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let is_unheard = |session: &String| !summary.sessions.contains(session);
    match summary.called {
        // It may have been given its plugins on the command line; then the journal knows it.
        Called::Formerly if seat.session.as_ref().is_some_and(is_unheard) => {
            return "provost · no hook entry calls it".into();
        }
        Called::No => return "provost · no hook calls it".into(),
        Called::Off => return "provost · hooks are switched off".into(),
        Called::Dropped => return "provost · the client drops its hooks".into(),
        Called::Yes | Called::Formerly => {}
    }
    if parts.is_empty() { "provost · on".into() } else { format!("provost · {}", parts.join(" · ")) }
}

fn review(summary: &Summary) -> Option<String> {
    let rounds = match &summary.rounds {
        Ok(rounds) => rounds.as_ref()?,
        Err(_) => return Some("review: unreadable".into()),
    };
    // A plan without a state is one that no loop has begun for.
    let standing = rounds.standing.as_ref().ok()?;
    let state = &standing.state;
    if !state.is_in_loop() {
        return None;
    }
    let max = state.max_reviews;
    let round = match (&standing.answer, standing.round()) {
        (Answer::Limit(_), _) => format!("all {max} made"),
        (_, Some(number)) => format!("{number}/{max}"),
        (_, None) => return None,
    };
    let running = match &rounds.running {
        None => String::new(),
        Some(running) => {
            running.seconds().map_or(" running".into(), |seconds| format!(" running {seconds} s"))
        }
    };
    Some(format!("review {round}{running}, clean {}/{ENOUGH}", state.clean))
}

fn phase(summary: &Summary) -> Option<String> {
    let workflow = match &summary.workflow {
        Ok(workflow) => workflow.as_ref()?,
        Err(_) => return Some("phase: state unreadable".into()),
    };
    let standing = workflow.workflow.as_ref()?;
    let current = shortened(standing.current.as_deref()?);
    Some(match missing(standing).as_slice() {
        [] => format!("phase {current}"),
        missing => format!("phase {current} (gate: {} missing)", missing.join(", ")),
    })
}

/// Plans lie with the person, not with the project: only that of this very session is of interest.
fn plan(summary: &Summary, session: Option<&str>) -> Option<String> {
    let plan = summary.plan.as_ref().ok()?.as_ref()?;
    (session.is_some() && plan.session.as_deref() == session).then(|| format!("plan: {}", plan.shortly()))
}

fn denied(summary: &Summary, session: Option<&str>) -> Option<String> {
    let denials = summary.denials.as_ref().ok()?.as_ref()?;
    let count = denials.iter().filter(|denied| Some(denied.session.as_str()) == session).count();
    let more = if denials.len() == MOST_LOOKED_AT { "+" } else { "" };
    (count > 0).then(|| format!("{count}{more} denied"))
}

fn switches(summary: &Summary) -> Option<String> {
    let mistakes = summary.mistakes.len();
    match summary.guards_off.len() {
        off if off == GUARDS.len() => Some("off".into()),
        _ if mistakes == 1 => Some("1 mistake in its configuration".into()),
        _ if mistakes > 1 => Some(format!("{mistakes} mistakes in its configuration")),
        1 => Some("1 guard off".into()),
        off if off > 1 => Some(format!("{off} guards off")),
        _ => None,
    }
}

fn shortened(text: &str) -> String {
    one_line(&bounded(text, LONGEST))
}

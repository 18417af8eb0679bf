//! `provost hook`: one event in, one answer out, in time.
//!
//! This path runs before any argument parser is set up. The main thread reads the event, asks the guards, answers and
//! writes the journal. A watchdog thread answers in its place if the input never ends or a guard hangs: a guard that
//! has not answered at the deadline counts by its failure mode. The thread that claims the answer first gives it;
//! there is never a second one.

mod agent_messages;
mod command_line;
mod deadline;
mod hook_call;
mod shared_answer;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::clients::{self, BLOCK_EXIT_CODE, Client, Dialect, HookAnswer, HookInput, Unreadable};
use crate::decision::{Decision, Finding};
use crate::engine;
use crate::opinion::Fault;
use crate::overrides;
use crate::places::CHILD_MARK;
use crate::signals;
use command_line::CommandLine;
use deadline::Deadline;
use hook_call::{HookCall, describe_mistakes, placeholder_event};
use provost_files::faults;
use shared_answer::SharedAnswer;

/// The largest event that is read. A larger one cannot be judged.
const LARGEST_INPUT: u64 = 48 << 20;
/// How long the input and the configuration may take to arrive.
const READING: Duration = Duration::from_secs(5);
/// Nearly all events take less. Only for a longer one does the watchdog prepare for SIGTERM.
const SOON: Duration = Duration::from_millis(50);
/// How long the configuration and the journal may take once the deadline has passed.
const GRACE: Duration = Duration::from_millis(500);
/// The exit code for wrong usage.
const USAGE_EXIT_CODE: u8 = 64;
const UNENDING: &str = "the input did not end";

/// Answers an event on standard input. Several clients call the program of a hook entry without its arguments.
pub fn run_bare() -> ExitCode {
    start(CommandLine::bare())
}

pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    start(CommandLine::parse(arguments))
}

/// Runs some guards in the place of a script, in a client's dialect. `fixed_settings` override all configuration files.
pub fn run_script(
    dialect: &'static Dialect,
    guards: &'static [&'static str],
    fixed_settings: &'static [(&'static str, &'static str)],
) -> ExitCode {
    start(CommandLine::for_script(dialect, guards, fixed_settings))
}

fn start(line: CommandLine) -> ExitCode {
    if std::env::var_os(CHILD_MARK).is_some() {
        return ExitCode::SUCCESS;
    }
    let began = Instant::now();
    engine::silence_panics();
    // Both threads use it until the process ends.
    let deadline: &Deadline = Box::leak(Box::new(Deadline::new(began + faults::extend_limit(READING))));
    let watchdog_line = line.clone();
    // Without a thread there is no deadline, but still an answer.
    let _ = thread::Builder::new().spawn(move || end_at_deadline(deadline, &watchdog_line, began));
    let code = engine::catch_panic(|| run_call(line.clone(), began, deadline));
    ExitCode::from(code.unwrap_or_else(|panic| {
        // If the answer is printed, only the work after it has failed.
        deadline
            .exit_code()
            .unwrap_or_else(|| answer_unreadable(deadline, line, format!("internal error ({panic})"), began))
    }))
}

/// Shows a text to the user and allows the event.
pub fn show_message(client: &Client, text: &str) -> u8 {
    notify_user(&client.dialect, text)
}

fn notify_user(dialect: &Dialect, text: &str) -> u8 {
    let decision = Decision { to_user: vec![text.to_owned()], ..Decision::default() };
    print(&(dialect.render)(&decision, &placeholder_event()), &decision)
}

/// Reads the event, asks its guards and answers. Returns the exit code.
fn run_call(mut line: CommandLine, began: Instant, deadline: &Deadline) -> u8 {
    let parsed = read_input().and_then(|input| {
        if line.is_client_named {
            return (line.dialect.parse)(input);
        }
        let (client, event) = clients::parse_from_any(input);
        (line.client, line.dialect) = (client, &client.dialect);
        event
    });
    let event = match parsed {
        Ok(event) => event,
        Err(Unreadable::Empty | Unreadable::NotJson(_))
            if line.is_bare && deadline.claim_answer(USAGE_EXIT_CODE) =>
        {
            return crate::cli::answer_missing_command();
        }
        // Another client's input is no reason to block: the entry has a mistake, and the user reads about that.
        Err(_) if !line.is_client_known && deadline.claim_answer(0) => {
            return notify_user(line.dialect, &describe_mistakes(&line.mistakes));
        }
        Err(why) => return answer_unreadable(deadline, line, why.to_string(), began),
    };
    deadline.lock().is_input_read = true;
    let concerned = line.selection.select_concerned(&event);
    if concerned.is_empty() && line.mistakes.is_empty() {
        return 0;
    }
    let call: &HookCall = Box::leak(Box::new(HookCall::new(event, line, concerned, began)));
    if call.is_idle() {
        return 0;
    }
    deadline.lock().call = Some(call);
    call.ask_guards(deadline);
    answer(deadline, call, call.findings(&Fault::Error("not asked".into())), shared_answer::PATIENCE)
}

fn answer_unreadable(deadline: &Deadline, line: CommandLine, why: String, began: Instant) -> u8 {
    let call = HookCall::unreadable(line, why.clone(), began);
    answer(deadline, &call, call.findings(&Fault::Error(why)), Duration::ZERO)
}

/// Answers, unless the other thread has begun to: that one then ends the process. `patience` is how long to wait for
/// another process that answers the same event.
fn answer(deadline: &Deadline, call: &HookCall, mut findings: Vec<Finding>, patience: Duration) -> u8 {
    overrides::lift_permitted_denials(&mut findings, &call.event, &call.workspace);
    let mut decision = Decision::fold(&findings);
    let mut shared = SharedAnswer::open(call, &findings, patience);
    // What another process has said is not repeated, but still decides.
    // INVARIANT: every process that denies the event says so, with its reason. The client passes on one reason of
    // several, and it is unknown whether the other process's answer counts.
    let is_repeated = shared.as_mut().is_some_and(|shared| shared.remove_repeated(&mut findings));
    if is_repeated {
        decision = Decision {
            ruling: decision.ruling,
            agent_prompt: decision.agent_prompt,
            ..Decision::fold(&findings)
        };
    }
    let mut answer = call.render_answer(&mut decision);
    if !deadline.claim_answer(code_before_printing(&decision)) {
        thread::sleep(faults::extend_limit(GRACE) * 2);
        return deadline.exit_code().unwrap_or(BLOCK_EXIT_CODE);
    }
    let is_unchecked = call.unreadable.is_none()
        && decision.stop_reason().is_none()
        && findings.iter().any(|finding| finding.outcome.is_err());
    if is_unchecked {
        answer = call.render_fault(&findings, &mut decision);
    }
    let code = print(&answer, &decision);
    deadline.lock().exit_code = Some(code);
    signals::restore_default_sigterm();
    agent_messages::store(call, &decision);
    if !is_unchecked {
        if is_repeated {
            decision = Decision::fold(&findings);
        }
        // The answer is given: an error cannot change it any more.
        let _ = call.write_journal(&findings, &decision);
    }
    if let Some(shared) = shared {
        shared.save();
    }
    call.compact_journal();
    code
}

/// The watchdog. It ends the process at the deadline, with an answer if there is none yet.
fn end_at_deadline(deadline: &'static Deadline, line: &CommandLine, began: Instant) {
    // Preparing for SIGTERM costs as much as a short event does.
    while deadline.is_open_after(SOON) {
        let progress = deadline.lock();
        if let Some(call) = progress.call {
            // INVARIANT: no thread answers while `progress` is locked, so a given answer is not changed.
            if progress.exit_code.is_none() && call.has_closed_guard() {
                signals::deny_if_ended(BLOCK_EXIT_CODE);
            }
            break;
        }
    }
    let progress = deadline.wait_until_passed();
    if let Some(code) = progress.exit_code {
        // The main thread prints to a reader that does not read, or the journal is late. Neither may keep the client
        // waiting until it gives up and allows the event.
        if code == BLOCK_EXIT_CODE {
            let _ = writeln!(io::stderr(), "[provost] denied, but the answer could not be printed in time");
        }
        std::process::exit(code.into());
    }
    let (call, is_input_read, limit) = (progress.call, progress.is_input_read, progress.deadline - began);
    drop(progress);
    let fault = if is_input_read { Fault::Deadline(limit) } else { Fault::Error(UNENDING.into()) };
    let (why, unread_line) = (fault.to_string(), line.clone());
    let open_unreadable = move || &*Box::leak(Box::new(HookCall::unreadable(unread_line, why, began)));
    let Some(call) = call.or_else(|| run_in_time(open_unreadable)) else {
        // Not even the configuration can be read: the command line alone decides.
        let failed = |guard| Finding::for_guard(guard, Err(fault.clone()), 0);
        let decision =
            Decision::fold(&line.selection.list_candidates().into_iter().map(failed).collect::<Vec<_>>());
        if deadline.claim_answer(code_before_printing(&decision)) {
            let answer = (line.dialect.render)(&decision, &placeholder_event());
            let code = print(&answer, &decision);
            deadline.lock().exit_code = Some(code);
        }
        std::process::exit(deadline.exit_code().unwrap_or(BLOCK_EXIT_CODE).into());
    };
    let findings = call.findings(&fault);
    let fallback = code_before_printing(&Decision::fold(&findings));
    let code = run_in_time(move || answer(deadline, call, findings, Duration::ZERO));
    std::process::exit(code.or_else(|| deadline.exit_code()).unwrap_or(fallback).into());
}

/// The result of `work`, if it is ready within the grace time.
fn run_in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (send, receive) = mpsc::channel();
    thread::Builder::new().spawn(move || send.send(work())).ok()?;
    receive.recv_timeout(faults::extend_limit(GRACE)).ok()
}

fn read_input() -> Result<HookInput, Unreadable> {
    let input = HookInput::read(io::stdin().lock(), LARGEST_INPUT);
    let input = input.map_err(|error| Unreadable::Io(error.to_string()))?;
    input.ok_or(Unreadable::TooLarge(LARGEST_INPUT))
}

fn code_before_printing(decision: &Decision) -> u8 {
    if decision.stop_reason().is_some() { BLOCK_EXIT_CODE } else { 0 }
}

/// Prints the answer, and returns the exit code. A denial that cannot be printed still denies by its exit code.
fn print(answer: &HookAnswer, decision: &Decision) -> u8 {
    let mut code = answer.code;
    let mut error_text = answer.stderr.as_str();
    if !answer.stdout.is_empty() {
        let mut out = io::stdout().lock();
        let printed = out.write_all(answer.stdout.as_bytes()).and_then(|()| out.flush());
        if let Some(reason) = decision.stop_reason()
            && (printed.is_err() || is_discarded(&out))
        {
            code = BLOCK_EXIT_CODE;
            error_text = reason;
        }
    }
    if !error_text.is_empty() {
        let _ = writeln!(io::stderr(), "{error_text}");
    }
    code
}

/// Whether a stream leads to the null device. So does a stream that was closed when this process began: the runtime
/// opens the null device in its place.
#[cfg(unix)]
fn is_discarded(stream: &impl std::os::fd::AsFd) -> bool {
    use rustix::fs::{FileType, Stat, fstat, stat};
    // In a sandbox, `/dev/null` may be a regular file, which has the same device number as a pipe.
    let device = |stat: Stat| {
        (FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice).then_some(stat.st_rdev)
    };
    let stream = fstat(stream).ok().and_then(device);
    stream.is_some() && stream == stat("/dev/null").ok().and_then(device)
}

#[cfg(not(unix))]
fn is_discarded<T>(_: &T) -> bool {
    false
}

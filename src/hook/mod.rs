//! `provost hook`: one event in, one answer out, in time.
//!
//! This path is taken before any argument parser is set up. The main thread reads, judges, answers
//! and keeps the journal. A watchdog sleeps beside it and answers in its place when the input never
//! ends or a guard hangs: what is still open at the deadline counts by its guard's failure mode.
//! Whoever claims the answer first gives it; there is never a second one.

mod agent_messages;
mod case;
mod command_line;
mod shared_answer;
mod watch;

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::clients::{Answer, BLOCK, Client, Input, Unreadable};
use crate::decision::{Decision, Fault, Finding};
use crate::engine;
use crate::faults;
use crate::overrides;
use crate::reviewer;
use crate::workspace::CHILD_MARK;
use case::{Case, mistakes_text, nothing_known};
use command_line::CommandLine;
use shared_answer::SharedAnswer;
use watch::Watch;

/// The largest event that is read. Larger ones cannot be judged.
const LARGEST_INPUT: u64 = 48 << 20;
/// How long the input and the configuration may take to arrive.
const READING: Duration = Duration::from_secs(5);
/// How long an event takes at most as a rule. One that takes longer is prepared to be ended.
const SOON: Duration = Duration::from_millis(50);
/// How long the configuration and the journal may take once the deadline has passed.
const GRACE: Duration = Duration::from_millis(500);
const UNENDING: &str = "the input did not end";

pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    start(CommandLine::read(arguments))
}

/// The same for a call that stands in for a script: some guards, with a client's way of speaking.
/// `insistences` are settings that hold whatever the files say.
pub fn run_script(
    client: &'static Client,
    guards: &'static [&'static str],
    insistences: &'static [(&'static str, &'static str)],
) -> ExitCode {
    start(CommandLine::script(client, guards, insistences))
}

fn start(line: CommandLine) -> ExitCode {
    if std::env::var_os(CHILD_MARK).is_some() {
        return ExitCode::SUCCESS;
    }
    let began = Instant::now();
    engine::quiet_panics();
    // What both threads see is never given back: the process ends with it.
    let watch: &Watch = Box::leak(Box::new(Watch::until(began + faults::extend_limit(READING))));
    let late = line.clone();
    // Without a thread there is no deadline, but still an answer.
    let _ = thread::Builder::new().spawn(move || end_at_deadline(watch, &late, began));
    let code = engine::caught(|| work(line.clone(), began, watch));
    ExitCode::from(code.unwrap_or_else(|panic| {
        // If the answer is out, only what comes after it has failed.
        watch.answered().unwrap_or_else(|| {
            answer_unread(watch, &Case::unreadable(line, format!("internal error ({panic})"), began))
        })
    }))
}

/// Tells the person something and lets the event go on.
pub fn tell_person(client: &Client, text: &str) -> ExitCode {
    ExitCode::from(tell(client, text))
}

fn tell(client: &Client, text: &str) -> u8 {
    let decision = Decision { to_person: vec![text.to_owned()], ..Decision::default() };
    print(&(client.render)(&decision, &nothing_known()), &decision)
}

/// From bytes to an answer, then the journal.
fn work(line: CommandLine, began: Instant, watch: &Watch) -> u8 {
    let event = match read_input().and_then(|input| (line.client.parse)(input)) {
        Ok(event) => event,
        // Another client's words are no reason to block; its entry has a mistake, and that is told.
        Err(_) if !line.speaks && watch.claim(0) => return tell(line.client, &mistakes_text(&line.mistakes)),
        Err(why) => return answer_unread(watch, &Case::unreadable(line, why.to_string(), began)),
    };
    watch.progress().read = true;
    let concerned = line.concerned(&event);
    if concerned.is_empty() && line.mistakes.is_empty() {
        return 0;
    }
    let case: &Case = Box::leak(Box::new(Case::new(event, line, concerned, began)));
    if case.concerns_nobody() {
        return 0;
    }
    watch.progress().case = Some(case);
    // Guards that run a reviewer have a limit of their own, and their time is not the others'.
    let common = Cell::new(began + case.limit());
    let mut heard = Vec::with_capacity(case.guards.len());
    engine::ask(
        &case.guards,
        &case.event,
        &case.workspace,
        |guard| watch.move_deadline(case.own_limit(guard).map_or(common.get(), |own| Instant::now() + own)),
        |finding| {
            if case.own_limit(finding.guard).is_some() {
                common.set(common.get() + Duration::from_micros(finding.micros));
            }
            watch.progress().findings.push(finding.clone());
            heard.push(finding);
        },
    );
    let findings = case.complete(heard, &Fault::Error("not asked".into()));
    answer(watch, case, findings, shared_answer::PATIENCE)
}

fn answer_unread(watch: &Watch, case: &Case) -> u8 {
    let fault = Fault::Error(case.unreadable.clone().unwrap_or_default());
    answer(watch, case, case.complete(Vec::new(), &fault), Duration::ZERO)
}

/// Answers, unless the other thread has begun to: that one then ends the process. Another process that answers
/// the same event is waited for as long as `patience`.
fn answer(watch: &Watch, case: &Case, mut findings: Vec<Finding>, patience: Duration) -> u8 {
    overrides::apply(&mut findings, &case.event, &case.workspace);
    let mut shared = SharedAnswer::open(case, &findings, patience);
    let repeated = shared.as_mut().map(|shared| shared.take_repeated(&mut findings)).unwrap_or_default();
    let (mut answer, mut decision) = case.conclude(&findings, &repeated);
    if !watch.claim(code_before_printing(&decision)) {
        thread::sleep(faults::extend_limit(GRACE) * 2);
        return watch.answered().unwrap_or(BLOCK);
    }
    let has_failed_open = case.unreadable.is_none()
        && decision.reason().is_none()
        && findings.iter().any(|finding| finding.outcome.is_err());
    if has_failed_open {
        (answer, decision) = case.conclude_fault(&findings, decision);
    }
    let code = print(&answer, &decision);
    watch.printed(code);
    reviewer::end_as_ever();
    agent_messages::keep(case, &decision);
    if !has_failed_open {
        if !repeated.is_empty() {
            decision = Decision::fold(&findings);
        }
        // An answer that is given cannot be changed any more.
        let _ = case.keep(&findings, &decision);
    }
    if let Some(shared) = shared {
        shared.close();
    }
    code
}

/// The watchdog. It ends the process at the deadline, with an answer if there is none yet.
fn end_at_deadline(watch: &'static Watch, line: &CommandLine, began: Instant) {
    // Preparing costs as much as a short event does, so only long ones are prepared.
    while watch.is_open_after(SOON) {
        let progress = watch.progress();
        if let Some(case) = &progress.case {
            // INVARIANT: nobody answers while this is held, so that an answer which is given stays as it is.
            if progress.answered().is_none() && case.has_closed_guard() {
                reviewer::deny_if_ended(BLOCK);
            }
            break;
        }
    }
    let mut progress = watch.wait_for_deadline();
    if let Some(code) = progress.answered() {
        // The main thread is printing to somebody who does not read, or the journal is late.
        // Neither may keep the client waiting until it gives up and goes on.
        if code == BLOCK {
            let _ = writeln!(io::stderr(), "[provost] denied, but the answer could not be printed in time");
        }
        std::process::exit(code.into());
    }
    let heard = std::mem::take(&mut progress.findings);
    let (case, read, limit) = (progress.case, progress.read, progress.deadline - began);
    drop(progress);
    let fault = if read { Fault::Deadline(limit) } else { Fault::Error(UNENDING.into()) };
    let remark = fault.to_string();
    let late = line.clone();
    let case = case.or_else(|| in_time(move || &*Box::leak(Box::new(Case::unreadable(late, remark, began)))));
    let Some(case) = case else {
        // Not even the configuration can be read: the command line alone decides.
        let failed = |guard| Finding { guard, outcome: Err(fault.clone()), micros: 0 };
        let decision = Decision::fold(&line.guards().into_iter().map(failed).collect::<Vec<_>>());
        if watch.claim(code_before_printing(&decision)) {
            let answer = (line.client.render)(&decision, &nothing_known());
            watch.printed(print(&answer, &decision));
        }
        std::process::exit(watch.answered().unwrap_or(BLOCK).into());
    };
    let findings = case.complete(heard, &fault);
    let otherwise = code_before_printing(&Decision::fold(&findings));
    let code = in_time(move || answer(watch, case, findings, Duration::ZERO)).or_else(|| watch.answered());
    std::process::exit(code.unwrap_or(otherwise).into());
}

/// What `work` gives, if it gives it within the grace time.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (send, receive) = mpsc::channel();
    thread::Builder::new().spawn(move || send.send(work())).ok()?;
    receive.recv_timeout(faults::extend_limit(GRACE)).ok()
}

fn read_input() -> Result<Input, Unreadable> {
    let input = Input::read(io::stdin().lock(), LARGEST_INPUT);
    let input = input.map_err(|error| Unreadable::Io(error.to_string()))?;
    input.ok_or(Unreadable::TooLarge(LARGEST_INPUT))
}

fn code_before_printing(decision: &Decision) -> u8 {
    if decision.reason().is_some() { BLOCK } else { 0 }
}

/// Prints the answer. If a denial cannot be printed, it is still one by its exit code.
fn print(answer: &Answer, decision: &Decision) -> u8 {
    let mut code = answer.code;
    let mut complaint = answer.stderr.as_str();
    if !answer.stdout.is_empty() {
        let mut out = io::stdout().lock();
        let printed = out.write_all(answer.stdout.as_bytes()).and_then(|()| out.flush());
        if let Some(reason) = decision.reason()
            && (printed.is_err() || leads_nowhere(&out))
        {
            code = BLOCK;
            complaint = reason;
        }
    }
    if !complaint.is_empty() {
        let _ = writeln!(io::stderr(), "{complaint}");
    }
    code
}

/// Whether what is printed is thrown away. A stream that was closed when this process began is also such
/// a one: the runtime puts the null device in its place.
#[cfg(unix)]
fn leads_nowhere(stream: &impl std::os::fd::AsFd) -> bool {
    use rustix::fs::{FileType, Stat, fstat, stat};
    // In a sandbox, `/dev/null` may be a file; what is no device has the same number as a pipe.
    let device = |stat: Stat| {
        (FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice).then_some(stat.st_rdev)
    };
    let stream = fstat(stream).ok().and_then(device);
    stream.is_some() && stream == stat("/dev/null").ok().and_then(device)
}

#[cfg(not(unix))]
fn leads_nowhere<T>(_: &T) -> bool {
    false
}

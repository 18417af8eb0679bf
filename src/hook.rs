//! `provost hook`: one event in, one answer out, in time.
//!
//! This path is taken before any argument parser is set up. The main thread reads, judges, answers
//! and keeps the journal. A watchdog sleeps beside it and answers in its place when the input never
//! ends or a guard hangs: what is still open at the deadline counts by its guard's failure mode.
//!
//! A mistake on the command line never looks like a block: whatever is unknown in it is stepped
//! over and told to the person, and what is known still works.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::clients::{self, Answer, Client, Unreadable};
use crate::decision::{Decision, Fault, Finding};
use crate::engine::{self, micros};
use crate::event::{Event, Kind};
use crate::journal;
use crate::registry::{self, Guard, PACKS};
use crate::workspace::Workspace;

/// A client that Provost starts itself carries this mark, and every hook in it is silent.
pub const CHILD_MARK: &str = "PROVOST_CHILD";

/// The largest event that is read. Larger ones cannot be judged.
const LARGEST_INPUT: u64 = 48 << 20;
/// How long the input and the configuration may take to arrive.
const READING: Duration = Duration::from_secs(5);
/// The exit code that clients read as "blocked".
const BLOCK: u8 = 2;
const UNENDING: &str = "the input did not end";
/// How long the configuration and the journal may take once the deadline has passed.
const GRACE: Duration = Duration::from_millis(500);

/// What stands behind `provost hook`.
#[derive(Clone)]
struct CommandLine {
    client: &'static Client,
    packs: Vec<String>,
    mistakes: Vec<String>,
}

/// One event and all that is needed to answer it.
struct Case {
    event: Event,
    /// Why the input could not be read; the event then only stands in for it.
    unreadable: Option<String>,
    workspace: Workspace,
    guards: Vec<&'static Guard>,
    mistakes: Vec<String>,
    began: Instant,
}

/// How far the main thread has come, for the watchdog to see.
struct Progress {
    deadline: Instant,
    case: Option<Arc<Case>>,
    findings: Vec<Finding>,
    /// Once a thread has taken it upon itself to answer: the exit code, should the process have
    /// to end now.
    answered: Option<u8>,
}

/// What both threads look at, and what wakes the watchdog when the deadline comes nearer.
struct Shared {
    progress: Mutex<Progress>,
    nearer: Condvar,
}

type Watch = Arc<Shared>;

pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    if std::env::var_os(CHILD_MARK).is_some() {
        return ExitCode::SUCCESS;
    }
    let began = Instant::now();
    engine::quiet_panics();
    let line = CommandLine::read(arguments);
    let progress = Progress { deadline: began + READING, case: None, findings: Vec::new(), answered: None };
    let watch = Arc::new(Shared { progress: Mutex::new(progress), nearer: Condvar::new() });
    let watchdog = (Arc::clone(&watch), line.clone());
    // Without a thread there is no deadline, but still an answer.
    let _ = thread::Builder::new().spawn(move || guard_deadline(&watchdog.0, &watchdog.1, began));
    let code = engine::caught(|| work(line.clone(), began, &watch));
    ExitCode::from(code.unwrap_or_else(|panic| {
        let case = Arc::new(Case::unreadable(line, format!("internal error ({panic})"), began));
        answer(&watch, &case, &case.all_failed())
    }))
}

impl CommandLine {
    fn read(mut arguments: impl Iterator<Item = OsString>) -> Self {
        let mut line = Self { client: clients::DEFAULT, packs: Vec::new(), mistakes: Vec::new() };
        while let Some(argument) = arguments.next() {
            let argument = argument.to_string_lossy().into_owned();
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (argument.clone(), None),
            };
            if name != "--client" && name != "--pack" {
                line.mistakes.push(format!("unknown argument `{argument}`"));
                continue;
            }
            let value = value.or_else(|| arguments.next().map(|value| value.to_string_lossy().into_owned()));
            let Some(value) = value else {
                line.mistakes.push(format!("`{name}` needs a value"));
                continue;
            };
            if name == "--client" {
                match clients::find(&value) {
                    Some(client) => line.client = client,
                    None => line.mistakes.push(format!("unknown client `{value}`")),
                }
            } else {
                if !PACKS.iter().any(|pack| pack.name == value) {
                    line.mistakes.push(format!("unknown pack `{value}`"));
                }
                // An unknown pack is kept: it names no guard, and must not widen the entry to all.
                line.packs.push(value);
            }
        }
        line
    }
}

/// From bytes to an answer, then the journal.
fn work(line: CommandLine, began: Instant, watch: &Watch) -> u8 {
    let case = match read_input().and_then(|bytes| (line.client.parse)(&bytes)) {
        Ok(event) => {
            let concerned: Vec<_> =
                registry::of_packs(&line.packs).filter(|guard| registry::concerns(guard, &event)).collect();
            if concerned.is_empty() && line.mistakes.is_empty() {
                return 0;
            }
            Case::new(event, line, concerned, began)
        }
        Err(why) => Case::unreadable(line, why.to_string(), began),
    };
    let case = Arc::new(case);
    if case.unreadable.is_some() {
        return answer(watch, &case, &case.all_failed());
    }
    {
        let mut progress = lock(watch);
        let deadline = began + case.limit();
        if deadline < progress.deadline {
            watch.nearer.notify_one();
        }
        progress.deadline = deadline;
        progress.case = Some(Arc::clone(&case));
    }
    let mut findings = Vec::with_capacity(case.guards.len());
    engine::ask(&case.guards, &case.event, &case.workspace, |finding| {
        lock(watch).findings.push(finding.clone());
        findings.push(finding);
    });
    answer(watch, &case, &findings)
}

/// Answers, unless the other thread has already begun to: then that one ends the process.
fn answer(watch: &Watch, case: &Case, findings: &[Finding]) -> u8 {
    let (answer, decision) = case.conclude(findings);
    {
        let mut progress = lock(watch);
        if progress.answered.is_some() {
            drop(progress);
            loop {
                thread::sleep(GRACE);
            }
        }
        // Until it is printed, a denial is one by its exit code alone.
        progress.answered = Some(if decision.holds_back() { BLOCK } else { 0 });
    }
    let code = print(&answer, decision.holds_back());
    lock(watch).answered = Some(code);
    case.keep(findings, &decision);
    code
}

/// The watchdog. It ends the process at the deadline, with an answer if there is none yet.
fn guard_deadline(watch: &Watch, line: &CommandLine, began: Instant) {
    let (case, mut findings, limit) = loop {
        let progress = lock(watch);
        let left = progress.deadline.saturating_duration_since(Instant::now());
        let waited = watch.nearer.wait_timeout(progress, left);
        let (mut progress, _) = waited.unwrap_or_else(PoisonError::into_inner);
        // Woken early, or the deadline has moved away in the meantime.
        if Instant::now() < progress.deadline {
            continue;
        }
        if let Some(code) = progress.answered {
            // Only the journal is late, and it may not keep the client waiting.
            std::process::exit(code.into());
        }
        let findings = std::mem::take(&mut progress.findings);
        break (progress.case.clone(), findings, progress.deadline - began);
    };
    let fault = match case {
        Some(_) => Fault::Deadline(limit),
        None => Fault::Error(UNENDING.into()),
    };
    let failed = |&guard: &&'static Guard| Finding {
        guard,
        outcome: Err(fault.clone()),
        micros: micros(began.elapsed()),
    };
    let late = line.clone();
    let case = case.or_else(|| in_time(move || Arc::new(Case::unreadable(late, UNENDING.into(), began))));
    let Some(case) = case else {
        // Not even the configuration can be read: the command line alone decides.
        let findings: Vec<_> = registry::of_packs(&line.packs).map(|guard| failed(&guard)).collect();
        let decision = Decision::fold(&findings);
        let answer = (line.client.render)(&decision, &nothing_known());
        std::process::exit(print(&answer, decision.holds_back()).into());
    };
    findings.extend(case.guards.iter().skip(findings.len()).map(failed));
    let otherwise = if Decision::fold(&findings).holds_back() { BLOCK } else { 0 };
    let answering = Arc::clone(watch);
    let code = in_time(move || answer(&answering, &case, &findings)).or_else(|| lock(watch).answered);
    std::process::exit(code.unwrap_or(otherwise).into());
}

/// What `work` gives, if it gives it within the grace time.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (send, receive) = mpsc::channel();
    thread::Builder::new().spawn(move || send.send(work())).ok()?;
    receive.recv_timeout(GRACE).ok()
}

fn lock(watch: &Watch) -> MutexGuard<'_, Progress> {
    watch.progress.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Case {
    fn new(event: Event, line: CommandLine, concerned: Vec<&'static Guard>, began: Instant) -> Self {
        let workspace = Workspace::of(line.client, &event);
        let guards = registry::switched_on(concerned, &workspace.config);
        Self { event, unreadable: None, workspace, guards, mistakes: line.mistakes, began }
    }

    /// An input that cannot be read may be any event.
    // INVARIANT: every guard of the command line counts as failed, so the most protective of
    // their failure modes decides.
    fn unreadable(line: CommandLine, why: String, began: Instant) -> Self {
        let all = registry::of_packs(&line.packs).collect();
        Self { unreadable: Some(why), ..Self::new(nothing_known(), line, all, began) }
    }

    fn all_failed(&self) -> Vec<Finding> {
        let fault = Fault::Error(self.unreadable.clone().unwrap_or_default());
        self.guards.iter().map(|&guard| Finding { guard, outcome: Err(fault.clone()), micros: 0 }).collect()
    }

    fn limit(&self) -> Duration {
        let own = self.guards.iter().filter_map(|guard| guard.deadline);
        own.fold(self.workspace.config.deadline(), Duration::max)
    }

    fn conclude(&self, findings: &[Finding]) -> (Answer, Decision) {
        let mut decision = Decision::fold(findings);
        if let Some(mistakes) = self.mistakes() {
            decision.to_person.push(format!(
                "[provost] the hook entry has a mistake: {mistakes}. To fix: correct the entry in \
                 the settings file; `provost guards` lists what there is."
            ));
        }
        ((self.workspace.client.render)(&decision, &self.event), decision)
    }

    fn mistakes(&self) -> Option<String> {
        (!self.mistakes.is_empty()).then(|| self.mistakes.join(", "))
    }

    fn keep(&self, findings: &[Finding], decision: &Decision) {
        let Workspace { client, project, places, config } = &self.workspace;
        let Some(state) = places.project_state(project) else { return };
        if !config.journal_is_on() {
            return;
        }
        let remark = self.unreadable.clone().or_else(|| self.mistakes());
        let entry = journal::Entry {
            client: client.name,
            project,
            event: self.unreadable.is_none().then_some(&self.event),
            findings,
            decision,
            micros: micros(self.began.elapsed()),
            remark: remark.as_deref(),
        };
        // A journal that cannot be written must not change an answer; `doctor` looks at it.
        let _ = journal::append(&state, &entry, config.journal_limit());
    }
}

fn read_input() -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::with_capacity(4096);
    let mut input = io::stdin().lock().take(LARGEST_INPUT + 1);
    input.read_to_end(&mut bytes).map_err(|error| Unreadable::Io(error.to_string()))?;
    if bytes.len() as u64 > LARGEST_INPUT {
        return Err(Unreadable::TooLarge(LARGEST_INPUT));
    }
    Ok(bytes)
}

/// Stands in for an event that could not be read.
fn nothing_known() -> Event {
    Event::new(String::new(), Kind::Other, std::env::current_dir().unwrap_or_default())
}

/// Prints the answer. If a denial cannot be printed, it is still a denial by its exit code.
fn print(answer: &Answer, holds_back: bool) -> u8 {
    let mut code = answer.code;
    if !answer.stdout.is_empty() {
        let mut out = io::stdout().lock();
        let printed = out.write_all(answer.stdout.as_bytes()).and_then(|()| out.flush());
        if printed.is_err() && holds_back {
            code = BLOCK;
        }
    }
    if !answer.stderr.is_empty() {
        let _ = writeln!(io::stderr(), "{}", answer.stderr);
    }
    code
}

//! Replays sessions on several threads, and joins what they found.
//!
//! The result does not depend on the number of threads: what counts is decided when all are done, and decisions are
//! sorted.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::claims::{ClaimKind, ClaimTable};
use super::judge::{ConfigSource, Judge};
use super::result::{PastDecision, ReplayResult};
use super::selection::Selection;
use super::session_run::{Findings, SessionRun, SharedState, count_unjudged};
use crate::clients::Client;
use crate::engine;
use crate::places::Places;

/// More threads only wait for the disk.
const MOST_THREADS: usize = 16;

const FAILED: &str = "rest of a session after an internal error";

/// What to replay.
pub struct ReplayRequest<'a> {
    pub client: &'static Client,
    pub places: &'a Places,
    pub selection: &'a Selection,
    /// The configuration, and one to compare with.
    pub configs: &'a [ConfigSource],
    /// Milliseconds since 1970. Earlier events are left out.
    pub since: Option<u64>,
}

/// How far a replay is.
#[derive(Default)]
pub struct Progress {
    bytes: AtomicU64,
    files: AtomicUsize,
    is_done: AtomicBool,
    is_interrupted: AtomicBool,
}

impl Progress {
    pub(super) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn add_file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// How many files are read.
    pub fn files(&self) -> usize {
        self.files.load(Ordering::Relaxed)
    }

    pub fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }

    /// Ends the replay soon, with what it has by then.
    pub fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }
}

/// Replays the selected sessions.
pub fn run(request: &ReplayRequest<'_>, progress: &Progress) -> ReplayResult {
    let Some(past) = &request.client.past_sessions else { return ReplayResult::default() };
    let claims = ClaimTable::default();
    let tools = Mutex::default();
    let shared = SharedState { past, claims: &claims, progress, since: request.since, tools };
    // The largest first, so that no thread is left alone with one at the end.
    let sessions = &request.selection.sessions;
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(sessions[*at].bytes()));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut judge = Judge::new(request.client, request.configs, request.places);
        let (mut findings, mut tool_numbers) = (Findings::default(), BTreeMap::new());
        while let Some(at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            if progress.is_interrupted() {
                break;
            }
            let mut run = SessionRun {
                shared: &shared,
                judge: &mut judge,
                findings: &mut findings,
                tool_numbers: &mut tool_numbers,
            };
            if engine::catch_panic(|| run.run(&sessions[*at])).is_err() {
                *findings.skipped.entry(FAILED).or_default() += 1;
            }
        }
        findings
    };
    engine::silence_panics();
    let threads =
        thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS).min(sessions.len());
    let found: Vec<Findings> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        others.into_iter().filter_map(|other| other.join().ok()).chain([own]).collect()
    });
    let tools = shared.tools.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut result = join(found, claims, &tools);
    let selection = request.selection;
    result.files = selection.files;
    result.bytes = selection.bytes;
    for (why, count) in &selection.skipped {
        *result.skipped.entry(why).or_default() += count;
    }
    result.interrupted_after = progress.is_interrupted().then(|| progress.files());
    progress.is_done.store(true, Ordering::Release);
    result
}

fn join(found: Vec<Findings>, claims: ClaimTable, tools: &[String]) -> ReplayResult {
    let mut result = ReplayResult::default();
    let mut sessions = std::collections::BTreeSet::new();
    let settled = claims.settle();
    let counts = |key, file| settled.is_owner(key, file);
    let mut all: Vec<(u32, PastDecision)> = Vec::new();
    for findings in found {
        result.records += findings.records;
        for (why, count) in findings.skipped {
            *result.skipped.entry(why).or_default() += count;
        }
        sessions.extend(findings.sessions);
        result.times = match (result.times, findings.times) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (times, other) => times.or(other),
        };
        let decisions = findings.decisions.into_iter().filter(|(key, file, _)| counts(*key, *file));
        all.extend(decisions.map(|(_, file, decision)| (file, decision)));
        for (key, file, name, why) in findings.unjudged {
            if counts(key, file) {
                count_unjudged(&mut result.unjudged, name, why);
            }
        }
    }
    for kind in settled.kinds() {
        match kind {
            ClaimKind::Call { tool, was_asked, in_agent } => {
                result.calls += 1;
                result.asked_calls += usize::from(was_asked);
                result.agent_calls += usize::from(in_agent);
                let tool = tools.get(tool as usize).cloned().unwrap_or_default();
                *result.calls_by_tool.entry(tool).or_default() += 1;
            }
            ClaimKind::Prompt => result.prompts += 1,
            ClaimKind::Notification => result.notifications += 1,
            ClaimKind::Stop => result.stops += 1,
            ClaimKind::AgentStop => {}
        }
    }
    result.sessions = sessions.len();
    // Newest first. The rest of the key only makes the order the same each time.
    all.sort_by(|(file_a, a), (file_b, b)| {
        let key =
            |file: &u32, decision: &PastDecision| (*file, decision.call.clone(), decision.judge.clone());
        b.time.cmp(&a.time).then_with(|| key(file_a, a).cmp(&key(file_b, b)))
    });
    result.decisions = all.into_iter().map(|(_, decision)| decision).collect();
    result
}

//! Replays one session: counts its events, and judges its calls and the ends of its turns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::Skipped;
use super::claims::{ClaimKey, ClaimKind, ClaimTable, FileRank};
use super::judge::{Judge, Judgement};
use super::result::{PastDecision, Unjudged};
use super::selection::{SessionFiles, UNREADABLE};
use super::session_reader::{SessionItem, SessionReader};
use super::workers::Progress;
use crate::clients::past::{CallFate, FileSummary, PastEvent, PastEventKind, PastSessions};

const UNREADABLE_CALL: &str =
    "call that is counted and not judged: its input is missing, broken or too large";

/// What all threads share.
pub(super) struct SharedState<'a> {
    pub(super) past: &'static PastSessions,
    pub(super) claims: &'a ClaimTable,
    pub(super) progress: &'a Progress,
    /// Earlier events only prepare for later ones.
    pub(super) since: Option<u64>,
    /// The names of tools, in the order of their numbers in claims.
    pub(super) tools: Mutex<Vec<String>>,
}

/// What one thread has found.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) records: u64,
    pub(super) skipped: Skipped,
    pub(super) sessions: BTreeSet<Arc<str>>,
    pub(super) times: Option<(u64, u64)>,
    /// Each counts only if its file has the claim.
    pub(super) decisions: Vec<(ClaimKey, u32, PastDecision)>,
    pub(super) unjudged: Vec<(ClaimKey, u32, Arc<str>, &'static str)>,
}

pub(super) struct SessionRun<'a> {
    pub(super) shared: &'a SharedState<'a>,
    pub(super) judge: &'a mut Judge,
    pub(super) findings: &'a mut Findings,
    pub(super) tool_numbers: &'a mut BTreeMap<String, u32>,
}

impl SessionRun<'_> {
    /// Reads a session to its end, unless the user interrupts.
    pub(super) fn run(&mut self, session: &SessionFiles) {
        let reader =
            SessionReader::new(self.shared.past, session, self.judge.detail(), self.judge.needs_evidence);
        let mut has_begun = false;
        for item in reader {
            match item {
                SessionItem::Event(event, file) => {
                    if !std::mem::replace(&mut has_begun, true) {
                        self.judge.begin_session(&event);
                    }
                    self.read_event(&event, file);
                }
                SessionItem::Progress(bytes) => {
                    self.shared.progress.add_bytes(bytes);
                    if self.shared.progress.is_interrupted() {
                        return;
                    }
                }
                SessionItem::End(summary, file) => self.end_file(summary, file),
                SessionItem::Unreadable => {
                    *self.findings.skipped.entry(UNREADABLE).or_default() += 1;
                    self.shared.progress.add_file();
                }
            }
        }
    }

    fn end_file(&mut self, summary: FileSummary, file: u32) {
        self.findings.records += summary.records;
        for (why, count) in summary.skipped {
            *self.findings.skipped.entry(why).or_default() += count;
        }
        let rank = FileRank { began: summary.start.time, is_fork: summary.is_fork };
        self.shared.claims.rank_file(file, rank);
        if let Some(session) = summary.start.session.filter(|_| self.shared.since.is_none()) {
            self.findings.sessions.insert(session.into());
        }
        self.shared.progress.add_file();
    }

    fn read_event(&mut self, event: &PastEvent, file: u32) {
        let is_counted = match (event.time, self.shared.since) {
            (Some(time), Some(since)) => time >= since,
            _ => true,
        };
        if is_counted {
            self.note_event(event);
        }
        match &event.kind {
            PastEventKind::Call(call, fate) => {
                let was_asked = *fate != CallFate::NeverAsked;
                let judgement = was_asked.then(|| self.judge.judge_call(event, call, *fate));
                if is_counted {
                    let tool = self.number_tool(&call.tool);
                    let kind = ClaimKind::Call { tool, was_asked, in_agent: event.agent.is_some() };
                    let key = self.claim("call", event, file, kind);
                    self.keep(key, file, event, judgement.as_deref());
                }
            }
            PastEventKind::Finished(..) => self.judge.record(event),
            PastEventKind::Prompt(_) => {
                self.read_prompt(event, file, is_counted.then_some(ClaimKind::Prompt));
            }
            PastEventKind::TaskEnd { is_prompt, .. } => {
                let kind = (is_counted && *is_prompt).then_some(ClaimKind::Notification);
                self.read_prompt(event, file, kind);
            }
            PastEventKind::Stop { .. } => {
                let judgement = self.judge.judge_event(event);
                if is_counted {
                    let kind = if event.agent.is_some() { ClaimKind::AgentStop } else { ClaimKind::Stop };
                    let key = self.claim("stop", event, file, kind);
                    self.keep(key, file, event, Some(&judgement));
                }
            }
            PastEventKind::Interruption => {}
        }
    }

    fn note_event(&mut self, event: &PastEvent) {
        if let Some(session) = &event.session
            && !self.findings.sessions.contains(session)
        {
            self.findings.sessions.insert(session.clone());
        }
        if let Some(time) = event.time {
            let (first, last) = self.findings.times.unwrap_or((time, time));
            self.findings.times = Some((first.min(time), last.max(time)));
        }
    }

    fn read_prompt(&mut self, event: &PastEvent, file: u32, kind: Option<ClaimKind>) {
        self.judge.record(event);
        if let Some(kind) = kind {
            self.claim("prompt", event, file, kind);
        }
    }

    /// Claims an event; `None` if the file has it twice.
    fn claim(&self, what: &str, event: &PastEvent, file: u32, kind: ClaimKind) -> Option<ClaimKey> {
        let claims = self.shared.claims;
        let key = match &event.id {
            Some(id) => claims.key(what, id),
            // Without an id, nothing tells that another file repeats it.
            None => claims.key(what, &format!("{file} {:?} {}", event.time, self.findings.records)),
        };
        (!claims.claim(key, file, kind)).then_some(key)
    }

    fn keep(&mut self, key: Option<ClaimKey>, file: u32, event: &PastEvent, judgement: Option<&Judgement>) {
        let (Some(key), Some(judgement)) = (key, judgement) else { return };
        if judgement.is_unreadable {
            *self.findings.skipped.entry(UNREADABLE_CALL).or_default() += 1;
        }
        self.findings.decisions.extend(judgement.decisions(event).map(|decision| (key, file, decision)));
        let unjudged = judgement.unjudged.iter();
        self.findings.unjudged.extend(unjudged.map(|(name, why)| (key, file, name.clone(), *why)));
    }

    fn number_tool(&mut self, tool: &str) -> u32 {
        /// A longer name is nobody's.
        const LONGEST: usize = 200;
        if let Some(number) = self.tool_numbers.get(tool) {
            return *number;
        }
        let name: String = tool.chars().take(LONGEST).collect();
        let mut tools = self.shared.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let at = tools.iter().position(|known| *known == name).unwrap_or_else(|| {
            tools.push(name);
            tools.len() - 1
        });
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        self.tool_numbers.insert(tool.to_owned(), number);
        number
    }
}

/// Adds an event that could not be judged.
pub(super) fn count_unjudged(all: &mut BTreeMap<Arc<str>, Unjudged>, name: Arc<str>, why: &'static str) {
    all.entry(name).or_insert(Unjudged { why, events: 0 }).events += 1;
}

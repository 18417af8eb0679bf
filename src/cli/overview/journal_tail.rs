//! What the end of the journal shows: denials, and the sessions that have called Provost.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::OverviewPart;
use crate::journal::{self, JournalRecord};
use crate::registry::GUARDS;
use crate::text::{make_one_line, truncate_utf16};
use crate::workspace::Workspace;
use provost_files::byte_search;

/// The most denials that are read.
pub(crate) const MOST_READ: usize = 20;
/// The length of a shown reason; `provost explain` shows all of it.
const LONGEST: usize = 200;
/// A line is parsed only if it contains one of these: the others are silence.
const MARKS: &[&[u8]] = &[b"\"deny", b"\"plan-"];
/// What a line contains if a guard or rule that is only watched had something to say.
const WATCHED_MARK: &[u8] = b"\"would ";
/// The most such lines that are read.
const MOST_WATCHED: usize = 200;

/// A denied call.
pub(crate) struct PastDenial {
    pub(crate) id: String,
    pub(crate) time: String,
    pub(crate) session: String,
    pub(crate) guard: String,
    pub(crate) what: String,
    pub(crate) why: String,
}

/// What one guard or rule that is only watched would have done with a call.
pub(crate) struct WatchedVerdict {
    pub(crate) session: String,
    pub(crate) guard: String,
    /// `would deny`, for example.
    pub(crate) opinion: String,
}

#[derive(Default)]
pub(crate) struct JournalTail {
    pub(crate) sessions: BTreeSet<String>,
    /// The newest first.
    pub(crate) denials: Vec<PastDenial>,
    /// What watched guards and rules would have done, for each call.
    pub(crate) watched: Vec<Vec<WatchedVerdict>>,
    /// Whether a guard of the plan gate was asked, so that some hook entry must name the pack.
    pub(crate) has_plan_gate: bool,
}

impl JournalTail {
    pub(super) fn read(workspace: &Workspace) -> OverviewPart<Self> {
        let Some(state) = workspace.places.project_state_directory(&workspace.project) else {
            return Ok(None);
        };
        let mut tail = Self::default();
        let read = journal::visit_last_lines(&state, |line| {
            tail.sessions.insert(find_session(line));
            let has = |mark: &[u8]| byte_search::find_part(line, mark).is_some();
            let is_denial = tail.denials.len() < MOST_READ && MARKS.iter().any(|mark| has(mark));
            let is_watched = tail.watched.len() < MOST_WATCHED && has(WATCHED_MARK);
            if (is_denial || is_watched)
                && let Some(record) = JournalRecord::parse_bytes(line).map(JournalRecord::masked)
            {
                if is_denial {
                    tail.add(&record);
                }
                if is_watched {
                    tail.add_watched(&record);
                }
            }
            ControlFlow::Continue(())
        });
        read.map(|()| Some(tail))
            .map_err(|error| make_one_line(&format!("the journal cannot be read: {error}")))
    }

    fn add_watched(&mut self, record: &JournalRecord) {
        let shorten = |text: &str| make_one_line(&truncate_utf16(text, LONGEST));
        let watched = record.guards().filter(|guard| guard.text("opinion").starts_with("would "));
        let verdicts: Vec<WatchedVerdict> = watched
            .map(|guard| WatchedVerdict {
                session: shorten(record.text("session")),
                guard: shorten(guard.text("guard")),
                opinion: shorten(guard.text("opinion")),
            })
            .collect();
        if !verdicts.is_empty() {
            self.watched.push(verdicts);
        }
    }

    /// How many calls would have got this opinion, and how many of them from each guard or rule, the most frequent
    /// first.
    pub(crate) fn count_watched(&self, opinion: &str) -> (usize, Vec<(&str, usize)>) {
        let mut by_guard: Vec<(&str, usize)> = Vec::new();
        let mut calls = 0;
        for call in &self.watched {
            let matching: Vec<&WatchedVerdict> =
                call.iter().filter(|verdict| verdict.opinion == opinion).collect();
            calls += usize::from(!matching.is_empty());
            for verdict in matching {
                match by_guard.iter_mut().find(|(name, _)| *name == verdict.guard) {
                    Some((_, count)) => *count += 1,
                    None => by_guard.push((&verdict.guard, 1)),
                }
            }
        }
        by_guard.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        (calls, by_guard)
    }

    fn add(&mut self, record: &JournalRecord) {
        let is_of_plan_gate =
            |name: &str| GUARDS.iter().any(|guard| guard.name == name && guard.pack == "plan-gate");
        self.has_plan_gate |= record.guards().any(|opinion| is_of_plan_gate(opinion.text("guard")));
        let opinion = record.first_speaking_guard();
        // The review loop denies a stop to hand over a review. The reviews have a line of their own.
        let is_review = opinion.as_ref().is_some_and(|opinion| opinion.text("guard") == "review-loop");
        if !record.is_denial() || is_review {
            return;
        }
        let shorten = |text: &str| make_one_line(&truncate_utf16(text, LONGEST));
        let field =
            |name: &str| opinion.as_ref().map_or(String::new(), |opinion| shorten(opinion.text(name)));
        self.denials.push(PastDenial {
            id: shorten(record.text("id")),
            time: shorten(record.text("time")),
            session: shorten(record.text("session")),
            guard: field("guard"),
            what: field("what"),
            why: field("why"),
        });
    }
}

impl PastDenial {
    pub(crate) fn as_json(&self) -> Value {
        json!({"id": self.id, "time": self.time, "session": self.session, "guard": self.guard, "what": self.what,
            "why": self.why})
    }
}

/// The session of a line, without parsing the line; empty if it names none.
fn find_session(line: &[u8]) -> String {
    const NAME: &[u8] = b"\"session\":\"";
    let rest = byte_search::find_part(line, NAME).map_or(&[][..], |at| &line[at + NAME.len()..]);
    let end = byte_search::find_byte(rest, b'"').unwrap_or(0);
    String::from_utf8_lossy(&rest[..end]).into_owned()
}

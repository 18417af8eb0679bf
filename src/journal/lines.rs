//! What one line of the journal is: a decision that said something, a silent one, or a part of the archive.
//!
//! A line counts as silent only if this version understands all of it. So a line of another version, with fields that mean
//! something there, is kept as it is when the others become totals.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::archive::ArchiveHeader;
use super::day_totals::{DayTotals, EventFacts};
use super::records::JournalRecord;
use crate::clients::{self, DEFAULT_CLIENT};
use crate::clock;
use crate::places::fnv1a;

/// A line, parsed.
pub enum JournalLine<'a> {
    /// No guard said anything.
    Silent(SilentLine<'a>),
    /// Any other decision.
    Record(JournalRecord),
    /// The first line of a file of the archive.
    Header(ArchiveHeader),
    /// Silent decisions of one day.
    Totals(DayTotals),
    Broken,
}

/// A line about which there is nothing to say.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SilentLine<'a> {
    #[serde(borrow, rename = "id")]
    _id: Cow<'a, str>,
    #[serde(borrow)]
    time: Cow<'a, str>,
    #[serde(borrow, default, rename = "version")]
    _version: Cow<'a, str>,
    #[serde(borrow, default)]
    client: Cow<'a, str>,
    #[serde(borrow, default)]
    pub project: Cow<'a, str>,
    #[serde(borrow, default)]
    event: Cow<'a, str>,
    #[serde(borrow, default)]
    session: Cow<'a, str>,
    #[serde(default, rename = "turn")]
    _turn: IgnoredAny,
    #[serde(default, rename = "agent")]
    _agent: IgnoredAny,
    #[serde(borrow, default)]
    tool: Cow<'a, str>,
    #[serde(default, rename = "call")]
    _call: IgnoredAny,
    #[serde(default, rename = "mode")]
    _mode: IgnoredAny,
    #[serde(borrow, default)]
    subject_hash: Cow<'a, str>,
    #[serde(borrow)]
    guards: Vec<SilentGuard<'a>>,
    #[serde(borrow)]
    decision: Cow<'a, str>,
    micros: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SilentGuard<'a> {
    #[serde(borrow)]
    guard: Cow<'a, str>,
    #[serde(borrow)]
    opinion: Cow<'a, str>,
    #[serde(default, rename = "evidence")]
    _evidence: IgnoredAny,
    #[serde(rename = "micros")]
    _micros: u64,
}

/// What makes two tool calls the same: the session, the tool, and what the call is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallKey {
    session: u64,
    tool: u64,
    subject_hash: String,
}

impl<'a> JournalLine<'a> {
    pub fn parse(line: &'a [u8]) -> Self {
        if line.starts_with(b"{\"archive\":") {
            return serde_json::from_slice(line).map_or(Self::Broken, Self::Header);
        }
        if line.starts_with(b"{\"day\":") {
            return match serde_json::from_slice::<DayTotals>(line) {
                Ok(totals) if is_day(&totals.day) => Self::Totals(totals),
                _ => Self::Broken,
            };
        }
        match serde_json::from_slice::<SilentLine<'_>>(line) {
            Ok(silent) if silent.is_silent() && find_day(&silent.time).is_some() => Self::Silent(silent),
            _ => JournalRecord::parse_bytes(line).map_or(Self::Broken, Self::Record),
        }
    }
}

impl SilentLine<'_> {
    fn is_silent(&self) -> bool {
        self.decision == "silence" && self.guards.iter().all(|guard| guard.opinion == "silence")
    }

    pub fn facts(&self) -> EventFacts<'_> {
        EventFacts {
            time: &self.time,
            session: &self.session,
            event: &self.event,
            is_before_call: is_before_call(&self.subject_hash, &self.client, &self.event),
            micros: self.micros,
        }
    }

    pub fn guard_names(&self) -> impl Iterator<Item = &str> {
        self.guards.iter().map(|guard| &*guard.guard)
    }

    /// The call that was allowed; `None` if the line does not say which.
    pub fn allowed_call(&self) -> Option<CallKey> {
        CallKey::new(&self.session, &self.tool, &self.subject_hash)
    }
}

impl JournalRecord {
    pub fn facts(&self) -> EventFacts<'_> {
        EventFacts {
            time: self.text("time"),
            session: self.text("session"),
            event: self.text("event"),
            is_before_call: is_before_call(
                self.text("subject_hash"),
                self.text("client"),
                self.text("event"),
            ),
            micros: self.micros(),
        }
    }

    /// The call that a tool was about to make; `None` for other events, and if the line does not say which.
    pub fn call_key(&self) -> Option<CallKey> {
        if !self.facts().is_before_call {
            return None;
        }
        let hash = match (self.text("subject_hash"), self.text("subject")) {
            // An older version recorded no subject.
            ("", "") => return None,
            ("", subject) => hash_subject(subject),
            (hash, _) => hash.to_owned(),
        };
        CallKey::new(self.text("session"), self.text("tool"), &hash)
    }
}

impl CallKey {
    fn new(session: &str, tool: &str, subject_hash: &str) -> Option<Self> {
        let is_known = !session.is_empty() && !tool.is_empty() && !subject_hash.is_empty();
        is_known.then(|| Self {
            session: fnv1a(session.as_bytes()),
            tool: fnv1a(tool.as_bytes()),
            subject_hash: subject_hash.to_owned(),
        })
    }
}

/// A short digest of what a call is about, as the journal would show it. It only says whether two calls are the same.
pub fn hash_subject(shown_subject: &str) -> String {
    let digest = fnv1a(shown_subject.as_bytes());
    format!("{:08x}", (digest >> 32) ^ (digest & 0xffff_ffff))
}

/// Whether a tool was about to run. Only lines about such events have the hash of a subject; older versions wrote none.
fn is_before_call(subject_hash: &str, client: &str, event: &str) -> bool {
    let client = || clients::find_client(client).unwrap_or(DEFAULT_CLIENT);
    !subject_hash.is_empty() || client().events_before_call.contains(&event)
}

/// The day of a time like `2026-11-17T20:09:46.411Z`; `None` for other forms.
pub fn find_day(time: &str) -> Option<&str> {
    let day = time.get(..10).filter(|day| is_day(day))?;
    clock::parse_utc(time).map(|_| day)
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && clock::parse_utc(&format!("{text}T00:00:00Z")).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The client's name of the event before a tool runs.
    const BEFORE: &str = DEFAULT_CLIENT.events_before_call[0];

    fn silent() -> String {
        let line = r#"{"id":"1k0jabtrqr402","time":"2026-11-18T20:09:46.411Z","version":"0.1.0","client":"claude","project":"/p","event":"BEFORE","session":"s","turn":"t","tool":"Read","call":"c","mode":"default","guards":[{"guard":"self-guard","opinion":"silence","evidence":["e"],"micros":79}],"decision":"silence","micros":114815}"#;
        line.replace("BEFORE", BEFORE)
    }

    fn kind(line: &str) -> &'static str {
        match JournalLine::parse(line.as_bytes()) {
            JournalLine::Silent(_) => "silent",
            JournalLine::Record(_) => "record",
            JournalLine::Header(_) => "header",
            JournalLine::Totals(_) => "totals",
            JournalLine::Broken => "broken",
        }
    }

    #[test]
    fn only_a_line_that_is_understood_in_full_is_silent() {
        assert_eq!(kind(&silent()), "silent");
        for (from, to) in [
            ("\"decision\":\"silence\"", "\"decision\":\"deny\""),
            ("\"opinion\":\"silence\"", "\"opinion\":\"note\""),
            ("\"mode\":\"default\"", "\"remark\":\"odd\""),
            ("\"mode\":\"default\"", "\"field_of_tomorrow\":1"),
            ("\"micros\":79", "\"micros\":79,\"review\":{}"),
            ("\"micros\":114815", "\"micros\":\"long\""),
            ("2026-11-18T", "yesterday "),
        ] {
            let line = silent().replace(from, to);
            assert_ne!(line, silent());
            assert_eq!(kind(&line), "record", "{line}");
        }
        for broken in
            ["", "[]", "null", "{", "\u{1}\u{2}", "{\"day\":1}", "{\"day\":\"x\"}", "{\"archive\":\"x\"}"]
        {
            assert_eq!(kind(broken), "broken", "{broken}");
        }
    }

    #[test]
    fn a_line_of_an_older_version_says_by_its_event_that_a_tool_was_about_to_run() {
        let text = silent();
        let JournalLine::Silent(line) = JournalLine::parse(text.as_bytes()) else { panic!() };
        assert!(line.facts().is_before_call && line.allowed_call().is_none());
        let text = silent().replace(BEFORE, "AnotherEvent");
        let JournalLine::Silent(line) = JournalLine::parse(text.as_bytes()) else { panic!() };
        assert!(!line.facts().is_before_call);
    }

    #[test]
    fn a_denied_call_is_the_allowed_one_if_all_of_it_is_the_same() {
        let hash = hash_subject("ls");
        let allowed = silent().replace("\"mode\"", &format!("\"subject_hash\":\"{hash}\",\"mode\""));
        let JournalLine::Silent(allowed) = JournalLine::parse(allowed.as_bytes()) else { panic!() };
        let denied = |subject: &str, event: &str| {
            let line = silent().replace("\"decision\":\"silence\"", "\"decision\":\"deny\"");
            let line = line.replace("\"mode\"", &format!("\"subject\":\"{subject}\",\"mode\""));
            JournalRecord::parse(&line.replace(BEFORE, event)).unwrap().call_key()
        };
        assert_eq!(denied("ls", BEFORE), allowed.allowed_call());
        assert_ne!(denied("ls -l", BEFORE), allowed.allowed_call());
        assert_eq!([denied("ls", "AnotherEvent"), denied("", BEFORE)], [None, None]);
        assert!(hash.len() == 8 && hash != hash_subject(""));
    }
}

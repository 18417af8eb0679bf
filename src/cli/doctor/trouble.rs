//! What is wrong with a hook, judged by its answer to one event.

use std::io;
use std::time::Duration;

use super::report::Severity;
use super::subject::Entry;
use crate::clients::{Heard, Sample};
use crate::text::one_line;

/// Trouble with a hook. What it is goes on with the entries that have it.
pub(super) struct Trouble {
    pub(super) id: &'static str,
    pub(super) severity: Severity,
    pub(super) what: &'static str,
    pub(super) why: String,
    pub(super) fix: String,
    /// It is the same with every event.
    pub(super) is_for_all: bool,
}

/// An answer in few words.
pub(super) fn in_words(heard: &Heard) -> String {
    match heard {
        Heard { denied: Some(_), .. } => "denied".into(),
        Heard { unreadable: Some(why), .. } => format!("not read: {}", one_line(why)),
        Heard { failed: Some(code), .. } => format!("exit code {code}"),
        Heard { rewrites: true, .. } => "rewritten".into(),
        Heard { allows: true, .. } => "allowed".into(),
        Heard { asks: true, .. } => "asked".into(),
        Heard { remark: Some(_), .. } => "a remark".into(),
        _ => "silence".into(),
    }
}

impl Trouble {
    fn error(id: &'static str, what: &'static str, why: String, fix: &str) -> Self {
        Self { id, severity: Severity::Error, what, why, fix: fix.to_owned(), is_for_all: false }
    }

    fn warning(id: &'static str, what: &'static str, why: String, fix: &str) -> Self {
        Self { severity: Severity::Warning, ..Self::error(id, what, why, fix) }
    }

    /// A program that is not there.
    pub(super) fn missing(is_own: bool, why: String) -> Self {
        let trouble = if is_own {
            let fix = "install Provost there, or run `provost init`";
            Self::error("program-missing", "no guard is asked by", why, fix)
        } else {
            Self::warning("other-fails", "nothing is done by", why, "install it, or take the entry out")
        };
        Self { is_for_all: true, ..trouble }
    }

    pub(super) fn not_started(entry: &Entry<'_>, error: &io::Error) -> Self {
        let program = one_line(&entry.hook.command);
        let why = match error.kind() {
            io::ErrorKind::NotFound => format!("there is no program `{program}`"),
            _ => format!("`{program}` cannot be started ({error})"),
        };
        Self::missing(entry.hook.calls_provost, why)
    }

    pub(super) fn too_slow(is_own: bool, limit: Duration) -> Self {
        let limit = limit.as_secs_f64();
        let why = format!("it did not answer within {limit} s, and then the client goes on without it");
        let (what, fix) = ("no answer comes from", "run the command by hand to see what it waits for");
        let trouble = if is_own {
            Self::error("too-slow", what, why, fix)
        } else {
            Self::warning("other-slow", what, why, fix)
        };
        Self { is_for_all: true, ..trouble }
    }

    /// Whether no answer came in time.
    pub(super) fn is_slow(&self) -> bool {
        matches!(self.id, "too-slow" | "other-slow")
    }

    /// What is wrong with an answer, if anything is.
    pub(super) fn of(entry: &Entry<'_>, sample: &Sample, heard: &Heard) -> Option<Self> {
        let is_own = entry.hook.calls_provost;
        if let Some(code @ (126 | 127)) = heard.failed {
            let said = heard.remark.as_ref().map(|said| format!(": {}", one_line(said))).unwrap_or_default();
            let why = format!("its command ends with code {code}, as one that is not there{said}");
            return Some(Self::missing(is_own, why));
        }
        if is_own { Self::of_own(sample, heard) } else { Self::of_other(heard) }
    }

    fn of_own(sample: &Sample, heard: &Heard) -> Option<Self> {
        let event = sample.name;
        let said = heard.remark.as_deref().map(one_line).unwrap_or_default();
        if let Some(why) = &heard.unreadable {
            let fix = "have nothing but Provost's answer on standard output; `provost hook` needs no script \
                       around it";
            let what = "the client does not take the answer of";
            return Some(Self::error("answer-unreadable", what, one_line(why), fix));
        }
        if let Some(code) = heard.failed {
            let why = format!("it ends with code {code}, for which the client goes on: {said}");
            let fix = "run the command by hand to see what fails";
            return Some(Self::error("hook-fails", "no guard is heard from", why, fix));
        }
        let by_provost = |text: &String| text.contains("[provost]") || text.contains("[RODIN]");
        let somebody_else = |answer: &str| {
            let why = format!("to the event `{event}` the answer was: {answer}");
            let fix = "call Provost directly: run `provost init`";
            Some(Self::error("wrong-answer", "somebody else answers for Provost in", why, fix))
        };
        match (sample.denied_by, &heard.denied) {
            (Some(_), Some(text)) if by_provost(text) => None,
            (Some(_), Some(text)) => somebody_else(&one_line(text)),
            (None, None) if heard.allows || heard.rewrites || heard.asks => somebody_else(&in_words(heard)),
            (Some(guard), None) => {
                let answer = in_words(heard);
                let why =
                    format!("the event `{event}` must be denied by `{guard}`, and the answer was: {answer}");
                let fix = "run `provost init`, and look at what the command does with its input";
                Some(Self::error("no-denial", "nothing is held back by", why, fix))
            }
            (None, Some(text)) => {
                let why = format!("the event `{event}` concerns no guard, and it said: {}", one_line(text));
                let fix = "do what it says, or run `provost init`";
                Some(Self::error("not-silent", "everyday work is held back by", why, fix))
            }
            (None, None) if heard.remark.is_some() && !sample.may_remark => {
                let why = format!("it said: {said}");
                Some(Self::warning("not-silent", "a remark on every call comes from", why, "do what it says"))
            }
            (None, None) => None,
        }
    }

    fn of_other(heard: &Heard) -> Option<Self> {
        if heard.rewrites {
            let why = "hooks run side by side, so Provost judges the call as it was, and another one is made";
            let fix = "take the entry out, or have it deny what it does not like";
            return Some(Self::error("other-rewrites", "calls are rewritten by", why.into(), fix));
        }
        if heard.allows {
            let why = "what it allows is not shown to the person any more; only a denial is stronger";
            let fix =
                "have it say nothing where it has nothing against a call, and allow by the client's rules";
            return Some(Self::warning(
                "other-allows",
                "the person's approval is skipped by",
                why.into(),
                fix,
            ));
        }
        if let Some(why) = &heard.unreadable {
            let (what, fix) = (
                "the client does not take the answer of",
                "have nothing but the answer on its standard output",
            );
            return Some(Self::warning("other-fails", what, one_line(why), fix));
        }
        let code = heard.failed?;
        let why = format!("it ends with code {code}, for which the client goes on");
        Some(Self::warning("other-fails", "nothing is done by", why, "run it by hand to see what fails"))
    }
}

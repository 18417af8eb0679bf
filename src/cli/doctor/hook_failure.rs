//! What is wrong with a hook, judged by its answer to one event.

use std::io;
use std::time::Duration;

use super::report::DoctorFinding;
use crate::cli::overview::registrations::LocatedHook;
use crate::clients::{HookReply, SampleEvent};
use crate::text::make_one_line;

/// A failure of a hook. The entries that have it are added to `finding.what`.
pub(super) struct HookFailure {
    pub(super) finding: DoctorFinding,
    /// Every event would fail in the same way.
    pub(super) is_for_all: bool,
}

pub(super) fn describe_answer(answer: &HookReply) -> String {
    match answer {
        HookReply { denied: Some(_), .. } => "denied".into(),
        HookReply { ignored_because: Some(why), .. } => format!("rejected: {}", make_one_line(why)),
        HookReply { failed: Some(code), .. } => format!("exit code {code}"),
        HookReply { rewrites: true, .. } => "rewritten".into(),
        HookReply { allows: true, .. } => "allowed".into(),
        HookReply { asks: true, .. } => "asked".into(),
        HookReply { message: Some(_), .. } => "a message".into(),
        _ => "silence".into(),
    }
}

impl HookFailure {
    pub(super) fn missing_program(is_own: bool, why: String) -> Self {
        let finding = if is_own {
            let fix = "install Provost there, or run `provost init`";
            DoctorFinding::error("program-missing", "no guard is asked by", why, fix)
        } else {
            DoctorFinding::warning(
                "other-fails",
                "nothing is done by",
                why,
                "install it, or remove the entry",
            )
        };
        Self { finding, is_for_all: true }
    }

    pub(super) fn not_started(entry: &LocatedHook<'_>, error: &io::Error) -> Self {
        let program = make_one_line(&entry.hook.command);
        let why = match error.kind() {
            io::ErrorKind::NotFound => format!("there is no program `{program}`"),
            _ => format!("`{program}` cannot be started ({error})"),
        };
        Self::missing_program(entry.hook.calls_provost, why)
    }

    pub(super) fn too_slow(is_own: bool, limit: Duration) -> Self {
        let limit = limit.as_secs_f64();
        let why = format!("it did not answer within {limit} s, and then the client continues without it");
        let (what, fix) = ("no answer comes from", "run the command by hand to see what it waits for");
        let finding = if is_own {
            DoctorFinding::error("too-slow", what, why, fix)
        } else {
            DoctorFinding::warning("other-slow", what, why, fix)
        };
        Self { finding, is_for_all: true }
    }

    /// Whether no answer came in time.
    pub(super) fn is_slow(&self) -> bool {
        matches!(self.finding.id, "too-slow" | "other-slow")
    }

    /// What is wrong with an answer; `None`: nothing.
    pub(super) fn find(entry: &LocatedHook<'_>, sample: &SampleEvent, answer: &HookReply) -> Option<Self> {
        let is_own = entry.hook.calls_provost;
        if let Some(code @ (126 | 127)) = answer.failed {
            let message = answer.message.as_ref().map(|message| format!(": {}", make_one_line(message)));
            let why = format!(
                "its command ends with code {code}, as if a program were missing{}",
                message.unwrap_or_default()
            );
            return Some(Self::missing_program(is_own, why));
        }
        let finding = if is_own { find_own(sample, answer) } else { find_other(answer) };
        finding.map(|finding| Self { finding, is_for_all: false })
    }
}

/// What is wrong with an answer of Provost.
fn find_own(sample: &SampleEvent, answer: &HookReply) -> Option<DoctorFinding> {
    let event = sample.name;
    let message = answer.message.as_deref().map(make_one_line).unwrap_or_default();
    if let Some(why) = &answer.ignored_because {
        let fix =
            "print nothing but Provost's answer to standard output; `provost hook` needs no script around it";
        let what = "the client rejects the answer of";
        return Some(DoctorFinding::error("answer-unreadable", what, make_one_line(why), fix));
    }
    if let Some(code) = answer.failed {
        let why = format!("it ends with code {code}, and then the client continues: {message}");
        let fix = "run the command by hand to see what fails";
        return Some(DoctorFinding::error("hook-fails", "no guard answers in", why, fix));
    }
    let is_by_provost = |text: &String| text.contains("[provost]") || text.contains("[RODIN]");
    let other_program = |answer: &str| {
        let why = format!("to the event `{event}` the answer was: {answer}");
        let fix = "call Provost directly: run `provost init`";
        Some(DoctorFinding::error("wrong-answer", "another program answers for Provost in", why, fix))
    };
    match (sample.denied_by, &answer.denied) {
        (Some(_), Some(text)) if is_by_provost(text) => None,
        (Some(_), Some(text)) => other_program(&make_one_line(text)),
        (None, None) if answer.allows || answer.rewrites || answer.asks => {
            other_program(&describe_answer(answer))
        }
        (Some(guard), None) => {
            let answer = describe_answer(answer);
            let why = format!("`{guard}` must deny the event `{event}`, and the answer was: {answer}");
            let fix = "run `provost init`, and check what the command does with its input";
            Some(DoctorFinding::error("no-denial", "nothing is blocked by", why, fix))
        }
        (None, Some(text)) => {
            let why = format!("the event `{event}` concerns no guard, and it said: {}", make_one_line(text));
            let fix = "do what it says, or run `provost init`";
            Some(DoctorFinding::error("not-silent", "everyday work is blocked by", why, fix))
        }
        (None, None) if answer.message.is_some() && !sample.may_have_message => {
            let why = format!("it said: {message}");
            Some(DoctorFinding::warning(
                "not-silent",
                "a message on every call comes from",
                why,
                "do what it says",
            ))
        }
        (None, None) => None,
    }
}

/// What is wrong with an answer of another tool's hook. It may deny; it may not get in Provost's way.
fn find_other(answer: &HookReply) -> Option<DoctorFinding> {
    if answer.rewrites {
        let why = "hooks run side by side, so Provost judges the call as it was before";
        let fix = "remove the entry, or let it deny instead";
        return Some(DoctorFinding::error("other-rewrites", "calls are rewritten by", why, fix));
    }
    if answer.allows {
        let why =
            "the client does not ask the user about a call that a hook allows; only a denial is stronger";
        let fix = "let it say nothing instead, and allow calls with the client's own rules";
        return Some(DoctorFinding::warning("other-allows", "the user's approval is skipped by", why, fix));
    }
    if let Some(why) = &answer.ignored_because {
        let fix = "print nothing but the answer to its standard output";
        let what = "the client rejects the answer of";
        return Some(DoctorFinding::warning("other-fails", what, make_one_line(why), fix));
    }
    let why = format!("it ends with code {}, and then the client continues", answer.failed?);
    Some(DoctorFinding::warning("other-fails", "nothing is done by", why, "run it by hand to see what fails"))
}

//! Every hook is started as the client would start it, with recorded events, and its answer is judged.
//!
//! Hooks of others are run only when the person asks for it, because a hook may do anything. Theirs is
//! the right to deny; what is told is what gets in Provost's way, or never answers.

use std::io;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::report::{Finding, Group, Severity, counted};
use super::stage::Stage;
use super::subject::{Entry, Subject, listed};
use crate::clients::{Heard, Program, Sample};
use crate::registry::Guard;
use crate::text::one_line;

/// Provost answers within its own deadline, and no sample has a reviewer started.
const PATIENCE: Duration = Duration::from_secs(15);
/// Others may run a linter.
const PATIENCE_WITH_OTHERS: Duration = Duration::from_secs(30);
/// All runs together.
const LONGEST: Duration = Duration::from_mins(4);

pub(super) struct Trial {
    pub(super) group: Group,
    /// What each hook was given and answered.
    pub(super) runs: Vec<Value>,
    pub(super) not_run: Vec<Value>,
}

/// What is wrong with a hook, before it is merged with the same trouble of others.
struct Trouble {
    id: &'static str,
    severity: Severity,
    what: String,
    why: String,
    fix: String,
    /// It is the same with every event.
    is_for_all: bool,
}

pub(super) fn hold(subject: &Subject, stage: &Stage, all: bool) -> io::Result<Trial> {
    let began = Instant::now();
    let mut tried: Vec<Entry<'_>> = Vec::new();
    let mut runs = Vec::new();
    let mut not_run = Vec::new();
    let mut troubles: Vec<(Trouble, Entry<'_>, Vec<String>)> = Vec::new();
    let mut others = 0;
    for entry in subject.entries() {
        // Of equal entries for one event the client runs one.
        if tried.iter().any(|known| {
            known.hook.event == entry.hook.event
                && known.hook.matcher == entry.hook.matcher
                && known.is_same(&entry)
        }) {
            continue;
        }
        let is_own = entry.hook.calls_provost;
        let samples: Vec<Sample> = samples(&entry, subject, stage);
        let skipped = if entry.hook.kind != "command" {
            Some("only commands can be tried")
        } else if !is_own && !all {
            others += 1;
            Some("a hook of others; `--all` runs it")
        } else if samples.is_empty() {
            Some("there is no event for it")
        } else if began.elapsed() > LONGEST {
            Some("the time for all hooks is over")
        } else {
            None
        };
        if let Some(why) = skipped {
            not_run.push(json!({"place": subject.place(entry.source), "entry": entry.title(), "command": entry.command(), "why": why}));
            continue;
        }
        tried.push(entry);
        let mut worst: Option<Trouble> = missing_behind(&entry, subject);
        // A script around a missing program would only be misread.
        let samples = if worst.is_some() { Vec::new() } else { samples };
        for sample in samples {
            let (trouble, run) = one(&entry, &sample, subject, stage)?;
            runs.push(run);
            let is_mild = |known: &Trouble| known.severity == Severity::Warning;
            if worst
                .as_ref()
                .is_none_or(|known| is_mild(known) && trouble.as_ref().is_some_and(|new| !is_mild(new)))
            {
                worst = trouble.or(worst);
            }
            // One that hangs or is not there does so with every event.
            if worst.as_ref().is_some_and(|trouble| trouble.is_for_all) {
                break;
            }
        }
        let Some(trouble) = worst else { continue };
        let is_known = |(known, other, _): &&mut (Trouble, Entry<'_>, Vec<String>)| {
            known.id == trouble.id && known.why == trouble.why && other.source.file == entry.source.file
        };
        match troubles.iter_mut().find(is_known) {
            Some((_, _, titles)) => titles.push(entry.title()),
            None => troubles.push((trouble, entry, vec![entry.title()])),
        }
    }
    let findings =
        troubles.into_iter().map(|(trouble, entry, titles)| told(trouble, &entry, &titles, subject));
    let findings = findings.collect();
    let mut checked = format!(
        "{} started as the client does, with {}",
        counted(tried.len(), "entry"),
        counted(runs.len(), "event")
    );
    if others > 0 {
        checked += &format!("; {} of others not run (`--all` runs them)", counted(others, "hook"));
    }
    Ok(Trial { group: Group { name: "answers", checked, findings }, runs, not_run })
}

/// The events for a hook. Where it does not have the guard asked that would deny one, that goes on.
fn samples(entry: &Entry<'_>, subject: &Subject, stage: &Stage) -> Vec<Sample> {
    let mut samples = (subject.client.health.samples)(entry.hook, &stage.project, &stage.home);
    if entry.hook.calls_provost {
        let packs = subject.packs_of(entry.hook);
        let is_asked = |name: &str| {
            Guard::find(name)
                .is_some_and(|guard| packs.contains(&guard.pack) && subject.config.guard_is_on(name))
        };
        for sample in &mut samples {
            sample.denied_by = sample.denied_by.filter(|guard| is_asked(guard));
        }
    }
    samples
}

fn one(
    entry: &Entry<'_>,
    sample: &Sample,
    subject: &Subject,
    stage: &Stage,
) -> io::Result<(Option<Trouble>, Value)> {
    let is_own = entry.hook.calls_provost;
    let patience = if is_own { PATIENCE } else { PATIENCE_WITH_OTHERS };
    let given = entry.hook.seconds.unwrap_or_else(|| (subject.client.health.seconds)(&entry.hook.event));
    let given = Duration::try_from_secs_f64(given.clamp(0.0, 1e6)).unwrap_or(patience);
    let limit = given.min(patience);
    let began = Instant::now();
    let played = stage.play(entry, sample, subject, limit);
    let took = began.elapsed();
    let (trouble, outcome) = match played {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
        Err(error) => (Some(not_started(entry, &error)), format!("not started: {error}")),
        Ok(None) => (Some(too_slow(is_own, limit)), "no answer in time".to_owned()),
        Ok(Some(output)) => {
            let (stdout, stderr) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            let heard =
                (subject.client.health.heard)(&entry.hook.event, output.status.code(), &stdout, &stderr);
            let outcome = words(&heard);
            (judged(entry, sample, &heard), outcome)
        }
    };
    let json = json!({
        "place": subject.place(entry.source),
        "entry": entry.title(),
        "command": entry.command(),
        "event": sample.name,
        "answer": outcome,
        "milliseconds": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "as_expected": trouble.is_none(),
    });
    Ok((trouble, json))
}

/// An answer in few words.
fn words(heard: &Heard) -> String {
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

fn not_started(entry: &Entry<'_>, error: &io::Error) -> Trouble {
    let why = match error.kind() {
        io::ErrorKind::NotFound => format!("there is no program `{}`", one_line(&entry.hook.command)),
        _ => format!("`{}` cannot be started ({error})", one_line(&entry.hook.command)),
    };
    missing(entry.hook.calls_provost, why)
}

/// A script around Provost that does not find it: what it answers then is not Provost's.
fn missing_behind(entry: &Entry<'_>, subject: &Subject) -> Option<Trouble> {
    let scope = &entry.source.scope;
    let program = (subject.client.health.program)(entry.hook, scope, &subject.project, &subject.places);
    match program.filter(|_| entry.hook.calls_provost) {
        Some(Program::Missing(name)) if entry.hook.command != name => {
            let place = if name.contains('/') { "" } else { " on the PATH" };
            let why = format!("there is no program `{}`{place}", one_line(&name));
            Some(missing(true, why))
        }
        _ => None,
    }
}

fn missing(is_own: bool, why: String) -> Trouble {
    if is_own {
        let fix = "install Provost there, or run `provost init`".to_owned();
        let what = "no guard is asked by".to_owned();
        return Trouble {
            id: "program-missing",
            severity: Severity::Error,
            what,
            why,
            fix,
            is_for_all: true,
        };
    }
    Trouble {
        id: "other-fails",
        severity: Severity::Warning,
        what: "nothing is done by".into(),
        why,
        fix: "install it, or take the entry out".into(),
        is_for_all: true,
    }
}

fn too_slow(is_own: bool, limit: Duration) -> Trouble {
    let why =
        format!("it did not answer within {} s, and then the client goes on without it", limit.as_secs_f64());
    let (id, severity) =
        if is_own { ("too-slow", Severity::Error) } else { ("other-slow", Severity::Warning) };
    let fix = "run the command by hand to see what it waits for".into();
    Trouble { id, severity, what: "no answer comes from".into(), why, fix, is_for_all: true }
}

fn judged(entry: &Entry<'_>, sample: &Sample, heard: &Heard) -> Option<Trouble> {
    let is_own = entry.hook.calls_provost;
    if let Some(code @ (126 | 127)) = heard.failed {
        let said = heard.remark.as_ref().map(|said| format!(": {}", one_line(said))).unwrap_or_default();
        return Some(missing(
            is_own,
            format!("its command ends with code {code}, as one that is not there{said}"),
        ));
    }
    if is_own { own_judged(sample, heard) } else { other_judged(heard) }
}

fn own_judged(sample: &Sample, heard: &Heard) -> Option<Trouble> {
    let error = |id, what: &str, why: String, fix: &str| {
        Some(Trouble {
            id,
            severity: Severity::Error,
            what: what.into(),
            why,
            fix: fix.into(),
            is_for_all: false,
        })
    };
    let said = |text: &Option<String>| text.as_deref().map(one_line).unwrap_or_default();
    if let Some(why) = &heard.unreadable {
        let fix =
            "have nothing but Provost's answer on standard output; `provost hook` needs no script around it";
        return error("answer-unreadable", "the client does not take the answer of", one_line(why), fix);
    }
    if let Some(code) = heard.failed {
        let why = format!("it ends with code {code}, for which the client goes on: {}", said(&heard.remark));
        let fix = "run the command by hand to see what fails";
        return error("hook-fails", "no guard is heard from", why, fix);
    }
    let by_provost = |text: &String| text.contains("[provost]") || text.contains("[RODIN]");
    match (sample.denied_by, &heard.denied) {
        (Some(_), Some(text)) if by_provost(text) => None,
        (Some(_), Some(text)) => {
            let why = format!("to the event `{}` it said: {}", sample.name, one_line(text));
            error(
                "wrong-answer",
                "somebody else answers for Provost in",
                why,
                "call Provost directly: run `provost init`",
            )
        }
        (Some(guard), None) => {
            let why = format!(
                "the event `{}` must be denied by `{guard}`, and the answer was: {}",
                sample.name,
                words(heard)
            );
            error(
                "no-denial",
                "nothing is held back by",
                why,
                "run `provost init`, and look at what the command does with its input",
            )
        }
        (None, Some(text)) => {
            let why =
                format!("the event `{}` concerns no guard, and it said: {}", sample.name, one_line(text));
            error(
                "not-silent",
                "everyday work is held back by",
                why,
                "do what it says, or run `provost init`",
            )
        }
        (None, None) if heard.allows || heard.rewrites || heard.asks => {
            let why = format!("to the event `{}` the answer was: {}", sample.name, words(heard));
            error(
                "wrong-answer",
                "somebody else answers for Provost in",
                why,
                "call Provost directly: run `provost init`",
            )
        }
        (None, None) if heard.remark.is_some() && !sample.may_remark => Some(Trouble {
            id: "not-silent",
            severity: Severity::Warning,
            what: "a remark on every call comes from".into(),
            why: format!("it said: {}", said(&heard.remark)),
            fix: "do what it says".into(),
            is_for_all: false,
        }),
        (None, None) => None,
    }
}

fn other_judged(heard: &Heard) -> Option<Trouble> {
    let trouble = |id, severity, what: &str, why: String, fix: &str| {
        Some(Trouble { id, severity, what: what.into(), why, fix: fix.into(), is_for_all: false })
    };
    if heard.rewrites {
        let why = "hooks are run side by side, so Provost judges the call as it was, and another one is made";
        let fix = "take the entry out, or have it deny what it does not like";
        return trouble("other-rewrites", Severity::Error, "calls are rewritten by", why.into(), fix);
    }
    if heard.allows {
        let why = "what it allows is not shown to the person any more; only a denial of Provost is stronger";
        let fix = "have it say nothing where it has nothing against a call, and allow by rules of the client";
        return trouble(
            "other-allows",
            Severity::Warning,
            "the person's approval is skipped by",
            why.into(),
            fix,
        );
    }
    if let Some(why) = &heard.unreadable {
        let fix = "have nothing but the answer on its standard output";
        return trouble(
            "other-fails",
            Severity::Warning,
            "the client does not take the answer of",
            one_line(why),
            fix,
        );
    }
    if let Some(code) = heard.failed {
        let why = format!("it ends with code {code}, for which the client goes on");
        return trouble(
            "other-fails",
            Severity::Warning,
            "nothing is done by",
            why,
            "run it by hand to see what fails",
        );
    }
    None
}

fn told(trouble: Trouble, entry: &Entry<'_>, titles: &[String], subject: &Subject) -> Finding {
    const MOST: usize = 3;
    let mut shown: Vec<String> = titles.iter().take(MOST).cloned().collect();
    if titles.len() > MOST {
        shown.push(format!("{} more", titles.len() - MOST));
    }
    let word = if titles.len() == 1 { "entry" } else { "entries" };
    let Trouble { id, severity, what, why, fix, .. } = trouble;
    let what = format!("{what} the {word} {} of {}", listed(&shown), subject.place(entry.source));
    Finding { severity, ..Finding::error(id, what, why, fix) }
}

//! Every hook is started as the client would start it, with recorded events, and its answer is judged.
//!
//! Hooks of others are run only when the person asks for it, because a hook may do anything. Theirs is
//! the right to deny; what is told is what gets in Provost's way, or never answers.

use std::io;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::report::{Finding, Group, counted};
use super::stage::Stage;
use super::subject::{Entry, Subject, listed};
use super::trouble::{Trouble, in_words};
use crate::clients::{Program, Sample};
use crate::registry::Guard;
use crate::text::{bounded, one_line};

/// Provost answers within its own deadline, and no sample has a reviewer started.
const PATIENCE: Duration = Duration::from_secs(15);
/// Others may run a linter.
const PATIENCE_WITH_OTHERS: Duration = Duration::from_secs(30);
/// A command that did not answer for so many entries is not waited for any more.
const ENOUGH: usize = 2;
/// All runs together.
const LONGEST: Duration = Duration::from_mins(4);

pub(super) struct Trial {
    pub(super) group: Group,
    /// What each hook was given and answered.
    pub(super) runs: Vec<Value>,
    pub(super) not_run: Vec<Value>,
}

impl Trial {
    /// Without a stage nothing is tried; everything else can still be checked.
    pub(super) fn impossible(error: &io::Error) -> Self {
        let finding = Finding::error(
            "not-tried",
            "no hook was tried".into(),
            format!("no project for it can be made in {} ({error})", std::env::temp_dir().display()),
            "let `TMPDIR` name a directory that you can write to, and run this again".into(),
        );
        let checked = "no entry started".to_owned();
        let group = Group { name: "answers", checked, findings: vec![finding], is_skipped: true };
        Self { group, runs: Vec::new(), not_run: Vec::new() }
    }
}

/// The same trouble of one or more entries of one place.
struct Case<'a> {
    trouble: Trouble,
    first: Entry<'a>,
    titles: Vec<String>,
}

pub(super) fn hold(subject: &Subject, stage: &Stage, all: bool) -> io::Result<Trial> {
    let began = Instant::now();
    let mut tried: Vec<Entry<'_>> = Vec::new();
    let mut runs = Vec::new();
    let mut not_run = Vec::new();
    let mut cases: Vec<Case<'_>> = Vec::new();
    let mut silent: Vec<Entry<'_>> = Vec::new();
    let (mut started, mut others) = (0, 0);
    for entry in subject.entries() {
        // Of equal entries for one event the client runs one.
        let is_known = |known: &Entry<'_>| {
            let (known_hook, hook) = (known.hook, entry.hook);
            known_hook.event == hook.event && known_hook.matcher == hook.matcher && known.is_same(&entry)
        };
        if tried.iter().any(is_known) {
            continue;
        }
        let samples: Vec<Sample> = samples(&entry, subject, stage);
        let is_silent = silent.iter().filter(|known| known.is_same(&entry)).count() >= ENOUGH;
        let skipped = if entry.hook.kind != "command" {
            Some("only commands can be tried")
        } else if !entry.hook.calls_provost && !all {
            others += 1;
            Some("a hook of others; `--all` runs it")
        } else if samples.is_empty() {
            Some("there is no event for it")
        } else if is_silent {
            Some("the same command did not answer for other events")
        } else if began.elapsed() > LONGEST {
            Some("the time for all hooks is over")
        } else {
            None
        };
        if let Some(why) = skipped {
            not_run.push(json!({
                "place": subject.place(entry.source),
                "entry": entry.title(),
                "command": entry.command(),
                "why": why,
            }));
            continue;
        }
        tried.push(entry);
        let before = runs.len();
        let found = worst(&entry, &samples, subject, stage, &mut runs)?;
        started += usize::from(runs.len() > before);
        let Some(trouble) = found else { continue };
        if trouble.is_slow() {
            silent.push(entry);
        }
        let is_same = |case: &&mut Case<'_>| {
            let of_place = case.first.source.file == entry.source.file;
            let of_program = entry.hook.calls_provost || case.first.hook.command == entry.hook.command;
            case.trouble.id == trouble.id && case.trouble.why == trouble.why && of_place && of_program
        };
        match cases.iter_mut().find(is_same) {
            Some(case) => case.titles.push(entry.title()),
            None => cases.push(Case { trouble, first: entry, titles: vec![entry.title()] }),
        }
    }
    let findings = cases.into_iter().map(|case| case.told(subject)).collect();
    let (entries, events) = (counted(started, "entry"), counted(runs.len(), "event"));
    let mut checked = format!("{entries} started as the client does, with {events}");
    if others > 0 {
        checked += &format!("; {} of others not run (`--all` runs them)", counted(others, "hook"));
    }
    if not_run.len() > others {
        checked +=
            &format!("; {} cannot be tried (`--json` says why)", counted(not_run.len() - others, "hook"));
    }
    let group = Group { name: "answers", checked, findings, is_skipped: started == 0 };
    Ok(Trial { group, runs, not_run })
}

impl Case<'_> {
    fn told(self, subject: &Subject) -> Finding {
        const MOST: usize = 3;
        let Trouble { id, severity, what, why, fix, .. } = self.trouble;
        let count = self.titles.len();
        let word = if count == 1 { "entry" } else { "entries" };
        let mut titles = self.titles;
        titles.truncate(MOST);
        if count > MOST {
            titles.push(format!("{} more", count - MOST));
        }
        let place = subject.place(self.first.source);
        let mut what = format!("{what} the {word} {} of {place}", listed(&titles));
        // Provost is known by its name; others stand in one list.
        if !self.first.hook.calls_provost {
            what += &format!(" (`{}`)", bounded(&self.first.command(), 60).replace('`', "'"));
        }
        Finding { severity, ..Finding::error(id, what, why, fix) }
    }
}

/// Gives an entry its events, and says the worst that came of it.
fn worst(
    entry: &Entry<'_>,
    samples: &[Sample],
    subject: &Subject,
    stage: &Stage,
    runs: &mut Vec<Value>,
) -> io::Result<Option<Trouble>> {
    // A script around a missing program would only be misread.
    if let Some(missing) = missing_behind(entry, subject) {
        return Ok(Some(missing));
    }
    let mut worst: Option<Trouble> = None;
    for sample in samples {
        let (trouble, run) = one(entry, sample, subject, stage)?;
        runs.push(run);
        let Some(trouble) = trouble else { continue };
        // One that hangs or is not there does so with every event.
        if trouble.is_for_all {
            return Ok(Some(trouble));
        }
        if worst.as_ref().is_none_or(|known| known.severity < trouble.severity) {
            worst = Some(trouble);
        }
    }
    Ok(worst)
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
        Err(error) => (Some(Trouble::not_started(entry, &error)), format!("not started: {error}")),
        Ok(None) => (Some(Trouble::too_slow(is_own, limit)), "no answer in time".to_owned()),
        Ok(Some(output)) => {
            let (stdout, stderr) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            let heard =
                (subject.client.health.heard)(&entry.hook.event, output.status.code(), &stdout, &stderr);
            (Trouble::of(entry, sample, &heard), in_words(&heard))
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

/// A script around Provost that does not find it: what it answers then is not Provost's.
fn missing_behind(entry: &Entry<'_>, subject: &Subject) -> Option<Trouble> {
    let scope = &entry.source.scope;
    let program = (subject.client.health.program)(entry.hook, scope, &subject.project, &subject.places);
    match program.filter(|_| entry.hook.calls_provost) {
        Some(Program::Missing(name)) if entry.hook.command != name => {
            let place = if name.contains('/') { "" } else { " on the PATH" };
            Some(Trouble::missing(true, format!("there is no program `{}`{place}", one_line(&name))))
        }
        _ => None,
    }
}

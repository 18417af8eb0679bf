//! Starts every hook as the client would, with recorded events, and judges its answer.
//!
//! Hooks of other tools run only with `--all`, because a hook may do anything. They may deny; a finding says what gets
//! in Provost's way, or never answers.

use std::io;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::hook_failure::{HookFailure, describe_answer};
use super::report::{CheckGroup, DoctorFinding, format_count, join_words};
use super::sandbox::DoctorSandbox;
use crate::cli::overview::Overview;
use crate::cli::overview::registrations::LocatedHook;
use crate::clients::{HookProgram, SampleEvent};
use crate::registry::{find_guard, is_switched_on};
use crate::text::{make_one_line, truncate_utf16};

/// Provost answers within its own deadline, and no sample starts a reviewer.
const PATIENCE: Duration = Duration::from_secs(15);
/// Other hooks may run a linter.
const PATIENCE_WITH_OTHERS: Duration = Duration::from_secs(30);
/// A command that did not answer for this many entries is not started again.
const MOST_SILENT: usize = 2;
/// The limit for all runs together.
const LONGEST: Duration = Duration::from_mins(4);

/// A test of all hooks.
struct Trial<'a> {
    overview: &'a Overview,
    sandbox: &'a DoctorSandbox,
    runs: Vec<Value>,
}

pub(super) struct TrialResult {
    pub(super) group: CheckGroup,
    /// What each hook got and answered.
    pub(super) runs: Vec<Value>,
    pub(super) not_run: Vec<Value>,
}

impl TrialResult {
    /// Without a sandbox no hook can run; the other checks still can.
    pub(super) fn impossible(error: &io::Error) -> Self {
        let finding = DoctorFinding::error(
            "not-tried",
            "no hook was tested",
            format!("no temporary project can be created in {} ({error})", std::env::temp_dir().display()),
            "set `TMPDIR` to a directory that you can write to, and run this again",
        );
        let group = CheckGroup {
            is_skipped: true,
            ..CheckGroup::new("answers", "no entry started".into(), vec![finding])
        };
        Self { group, runs: Vec::new(), not_run: Vec::new() }
    }
}

/// A failure that one or more entries have in common.
struct SharedFailure<'a> {
    failure: HookFailure,
    first: LocatedHook<'a>,
    titles: Vec<String>,
}

pub(super) fn run(overview: &Overview, sandbox: &DoctorSandbox, all: bool) -> io::Result<TrialResult> {
    let began = Instant::now();
    let mut tried: Vec<LocatedHook<'_>> = Vec::new();
    let mut silent: Vec<LocatedHook<'_>> = Vec::new();
    let mut failures: Vec<SharedFailure<'_>> = Vec::new();
    let mut trial = Trial { overview, sandbox, runs: Vec::new() };
    let mut not_run = Vec::new();
    let (mut started, mut others) = (0, 0);
    for entry in overview.entries() {
        // The client runs equal entries for one event only once.
        let key = |entry: &LocatedHook<'_>| (entry.hook.event.clone(), entry.hook.matcher.clone());
        if tried.iter().any(|known| key(known) == key(&entry) && known.is_same(&entry)) {
            continue;
        }
        let samples = trial.make_samples(&entry);
        let is_silent = silent.iter().filter(|known| known.is_same(&entry)).count() >= MOST_SILENT;
        let skipped = if entry.hook.kind != "command" {
            Some("only commands can be tested")
        } else if !entry.hook.calls_provost && !all {
            others += 1;
            Some("a hook of another tool; `--all` runs it")
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
                "place": overview.name_source(entry.source),
                "entry": entry.title(),
                "command": entry.short_command(),
                "why": why,
            }));
            continue;
        }
        tried.push(entry);
        let before = trial.runs.len();
        let failure = trial.find_worst(&entry, &samples)?;
        started += usize::from(trial.runs.len() > before);
        let Some(failure) = failure else { continue };
        if failure.is_slow() {
            silent.push(entry);
        }
        match failures.iter_mut().find(|known| known.is_same(&entry, &failure)) {
            Some(known) => known.titles.push(entry.title()),
            None => failures.push(SharedFailure { failure, first: entry, titles: vec![entry.title()] }),
        }
    }
    let findings = failures.into_iter().map(|failure| failure.into_finding(overview)).collect();
    let (entries, events) = (format_count(started, "entry"), format_count(trial.runs.len(), "event"));
    let mut checked = format!("{entries} started as the client does, with {events}");
    if others > 0 {
        checked += &format!("; {} of other tools not run (`--all` runs them)", format_count(others, "hook"));
    }
    if not_run.len() > others {
        let untested = format_count(not_run.len() - others, "hook");
        checked += &format!("; {untested} cannot be tested (`--json` says why)");
    }
    let group = CheckGroup { is_skipped: started == 0, ..CheckGroup::new("answers", checked, findings) };
    Ok(TrialResult { group, runs: trial.runs, not_run })
}

impl SharedFailure<'_> {
    fn is_same(&self, entry: &LocatedHook<'_>, other: &HookFailure) -> bool {
        let is_same_command = entry.hook.calls_provost || self.first.hook.command == entry.hook.command;
        let (own, other) = (&self.failure.finding, &other.finding);
        let is_same_place = self.first.source.file == entry.source.file;
        own.id == other.id && own.why == other.why && is_same_place && is_same_command
    }

    fn into_finding(self, overview: &Overview) -> DoctorFinding {
        const MOST: usize = 3;
        let Self { failure, first, mut titles } = self;
        let count = titles.len();
        let noun = if count == 1 { "entry" } else { "entries" };
        titles.truncate(MOST);
        if count > MOST {
            titles.push(format!("{} more", count - MOST));
        }
        let place = overview.name_source(first.source);
        let mut what = format!("{} the {noun} {} of {place}", failure.finding.what, join_words(&titles));
        // Entries of other tools differ in their commands only.
        if !first.hook.calls_provost {
            what += &format!(" (`{}`)", truncate_utf16(&first.short_command(), 60).replace('`', "'"));
        }
        DoctorFinding { what, ..failure.finding }
    }
}

impl Trial<'_> {
    /// Gives an entry its events, and returns the worst failure.
    fn find_worst(
        &mut self,
        entry: &LocatedHook<'_>,
        samples: &[SampleEvent],
    ) -> io::Result<Option<HookFailure>> {
        // What a script answers without its program would be misread.
        if let Some(missing) = find_missing_program(entry, self.overview) {
            return Ok(Some(missing));
        }
        let mut worst: Option<HookFailure> = None;
        for sample in samples {
            let Some(failure) = self.run_sample(entry, sample)? else { continue };
            if failure.is_for_all {
                return Ok(Some(failure));
            }
            if worst.as_ref().is_none_or(|known| known.finding.severity < failure.finding.severity) {
                worst = Some(failure);
            }
        }
        Ok(worst)
    }

    /// The events for a hook. A denial is expected only if the hook asks the guard that denies.
    fn make_samples(&self, entry: &LocatedHook<'_>) -> Vec<SampleEvent> {
        let Self { overview, sandbox, .. } = self;
        let mut samples =
            (overview.client.health().list_samples)(entry.hook, &sandbox.project, &sandbox.home);
        if entry.hook.calls_provost {
            let packs = overview.packs_of_hook(entry.hook);
            let config = &overview.workspace.config;
            let is_asked = |name: &str| {
                find_guard(name).is_some_and(|guard| {
                    packs.contains(&guard.pack)
                        && is_switched_on(guard, config)
                        && !config.is_guard_watched(guard.name, guard.pack)
                })
            };
            for sample in &mut samples {
                sample.denied_by = sample.denied_by.filter(|guard| is_asked(guard));
            }
        }
        samples
    }

    fn run_sample(
        &mut self,
        entry: &LocatedHook<'_>,
        sample: &SampleEvent,
    ) -> io::Result<Option<HookFailure>> {
        let (hook, health) = (entry.hook, self.overview.client.health());
        let patience = if hook.calls_provost { PATIENCE } else { PATIENCE_WITH_OTHERS };
        let given = hook.seconds.unwrap_or_else(|| (health.default_timeout)(&hook.event));
        let given = Duration::try_from_secs_f64(given.clamp(0.0, 1e6)).unwrap_or(patience);
        let limit = given.min(patience);
        let began = Instant::now();
        let output = self.sandbox.run_hook(entry, sample, self.overview, limit);
        let took = began.elapsed();
        let (failure, text) = match output {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => (Some(HookFailure::not_started(entry, &error)), format!("not started: {error}")),
            Ok(None) => {
                (Some(HookFailure::too_slow(hook.calls_provost, limit)), "no answer in time".to_owned())
            }
            Ok(Some(output)) => {
                let [stdout, stderr] =
                    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
                let answer = (health.parse_answer)(&hook.event, output.status.code(), &stdout, &stderr);
                (HookFailure::find(entry, sample, &answer), describe_answer(&answer))
            }
        };
        self.runs.push(json!({
            "place": self.overview.name_source(entry.source),
            "entry": entry.title(),
            "command": entry.short_command(),
            "event": sample.name,
            "answer": text,
            "milliseconds": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            "as_expected": failure.is_none(),
        }));
        Ok(failure)
    }
}

/// The failure of a script that calls Provost and does not find it.
fn find_missing_program(entry: &LocatedHook<'_>, overview: &Overview) -> Option<HookFailure> {
    if !entry.hook.calls_provost {
        return None;
    }
    match overview.find_program(entry)? {
        HookProgram::Missing(name) if entry.hook.command != name => {
            let place = if name.contains('/') { "" } else { " on the PATH" };
            let why = format!("there is no program `{}`{place}", make_one_line(&name));
            Some(HookFailure::missing_program(true, why))
        }
        _ => None,
    }
}

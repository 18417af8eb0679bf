//! Whether the guards of the packs in use are asked about all that they judge, and have the time for it.

use std::time::Duration;

use super::report::{Finding, Group, Severity};
use super::subject::{Entry, Subject, listed};
use crate::clients::Input;
use crate::registry::{self, FailureMode, Guard};
use crate::text::short;

/// What a process needs beside its guards: to start, to answer, to keep the journal.
const MARGIN: Duration = Duration::from_secs(1);
/// No sample is larger.
const LARGEST: u64 = 1 << 20;

pub(super) fn check(subject: &Subject) -> Group {
    let own = subject.own_entries();
    let packs = subject.packs_in_use();
    let mut findings = Vec::new();
    // Without any entry there is one thing to say, and it has been said.
    if !own.is_empty() {
        let mut hidden = Vec::new();
        for pack in &packs {
            findings.extend(uncovered(pack, &own, subject, &mut hidden));
        }
        findings.extend(hidden.into_iter().map(Hidden::told));
        findings.extend(useless(&own, subject, &findings));
        findings.extend(too_short(&own, &packs, subject));
        findings.extend(open_gate(&own, &packs, subject));
    }
    let names: Vec<String> = packs.iter().map(|pack| format!("`{pack}`")).collect();
    let checked = format!("events, matchers and time limits for {}", listed(&names));
    Group { name: "coverage", checked, findings, is_skipped: own.is_empty() }
}

/// Calls that guards do not see, because entries are limited to others.
struct Hidden {
    packs: Vec<String>,
    tools: Vec<String>,
    /// An agent may use them to get around a guard at any time, and not only by chance.
    severity: Severity,
    why: String,
}

impl Hidden {
    fn told(self) -> Finding {
        let some = if self.severity == Severity::Error { "" } else { "some tools, such as " };
        let what = format!(
            "the guards of {} are not asked about {some}{}",
            listed(&self.packs),
            listed(&self.tools)
        );
        let fix = "run `provost init`, or give the entry the matcher `*`".to_owned();
        Finding { severity: self.severity, ..Finding::error("matcher", what, self.why, fix) }
    }
}

/// The events that the guards of a pack are not told. Calls that they do not see are added to the hidden
/// ones; other packs may miss them for the same reason.
fn uncovered(pack: &str, own: &[Entry<'_>], subject: &Subject, hidden: &mut Vec<Hidden>) -> Option<Finding> {
    let health = &subject.client.health;
    let mut missing: Vec<&str> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for needed in (subject.client.needed)(&[pack], false) {
        if seen.contains(&needed.event) {
            continue;
        }
        seen.push(needed.event);
        let reaches = |entry: &&Entry<'_>| {
            entry.hook.event == needed.event && subject.packs_of(entry.hook).contains(&pack)
        };
        let entries: Vec<&Entry<'_>> = own.iter().filter(reaches).collect();
        if entries.is_empty() {
            missing.push(needed.event);
            continue;
        }
        let is_seen =
            |tool: &str| entries.iter().any(|entry| (health.lets_through)(entry.hook, tool) != Some(false));
        let unseen = |tools: &[&str]| -> Vec<String> {
            tools.iter().filter(|tool| !is_seen(tool)).map(|tool| format!("`{tool}`")).collect()
        };
        let (tools, seldom) = (health.tools)(needed.event, pack);
        let (tools, severity) = match unseen(tools) {
            none if none.is_empty() => (unseen(seldom), Severity::Warning),
            tools => (tools, Severity::Error),
        };
        if tools.is_empty() {
            continue;
        }
        let matchers = entries.iter().filter_map(|entry| entry.hook.matcher.as_ref());
        let matchers: Vec<String> = matchers.map(|matcher| format!("`{}`", short(matcher))).collect();
        let why = format!(
            "the {} entries are limited to {}, which the client reads letter by letter",
            needed.event,
            listed(&matchers)
        );
        let pack = format!("`{pack}`");
        match hidden.iter_mut().find(|known| known.why == why && known.severity == severity) {
            Some(known) => {
                known.packs.push(pack);
                let new = tools.into_iter().filter(|tool| !known.tools.contains(tool)).collect::<Vec<_>>();
                known.tools.extend(new);
            }
            None => hidden.push(Hidden { packs: vec![pack], tools, severity, why }),
        }
    }
    if missing.is_empty() {
        return None;
    }
    // What the own pack does beside its judgement of calls is a help, and no guarantee of a workflow.
    let is_help = pack == "self" && !missing.iter().any(|event| is_judged(event, subject));
    let severity = if is_help { Severity::Warning } else { Severity::Error };
    let events: Vec<String> = missing.iter().map(|event| format!("`{event}`")).collect();
    let what = format!("the guards of `{pack}` are not asked about all that they judge");
    let why = format!("no entry is registered for {}", listed(&events));
    let fix = "run `provost init`".to_owned();
    Some(Finding { severity, ..Finding::error("event-missing", what, why, fix) })
}

/// Whether calls of tools are judged at this event.
fn is_judged(event: &str, subject: &Subject) -> bool {
    !(subject.client.health.tools)(event, "self").0.is_empty()
}

/// Entries whose matcher lets nothing through, where others do their work.
fn useless(own: &[Entry<'_>], subject: &Subject, found: &[Finding]) -> Vec<Finding> {
    let health = &subject.client.health;
    let is_useless = |entry: &&Entry<'_>| {
        let packs = registry::PACKS.iter().map(|pack| (health.tools)(&entry.hook.event, pack.name));
        let mut tools = packs.flat_map(|(tools, seldom)| tools.iter().chain(seldom)).peekable();
        tools.peek().is_some() && tools.all(|tool| (health.lets_through)(entry.hook, tool) == Some(false))
    };
    if found.iter().any(|finding| finding.id == "matcher") {
        return Vec::new();
    }
    let useless = own.iter().filter(is_useless).map(|entry| {
        Finding::warning(
            "matcher",
            format!("the {} entry of {} asks no guard", entry.title(), subject.place(entry.source)),
            "its matcher is the name of no tool that a guard judges; names are read letter by letter".into(),
            "correct the matcher, or take the entry out".into(),
        )
    });
    useless.collect()
}

/// The guards in use that an entry has asked about its samples.
fn asked(entry: &Entry<'_>, packs: &[&str], subject: &Subject) -> Vec<&'static Guard> {
    let samples = (subject.client.health.samples)(entry.hook, &subject.project, &subject.project);
    let mut guards: Vec<&'static Guard> = Vec::new();
    for sample in samples {
        let Ok(Some(input)) = Input::read(sample.event.as_bytes(), LARGEST) else { continue };
        let Ok(event) = (subject.client.parse)(input) else { continue };
        let reached = registry::of_packs(&entry.hook.packs).filter(|guard| registry::concerns(guard, &event));
        let on = registry::switched_on(reached.collect(), &entry.hook.packs, &subject.config);
        guards.extend(on.into_iter().filter(|guard| packs.contains(&guard.pack)));
    }
    guards
}

/// Entries that the client ends before Provost would answer by itself.
fn too_short(own: &[Entry<'_>], packs: &[&str], subject: &Subject) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in own {
        let limit = |guard: &&Guard| guard.deadline.and_then(|limit| limit(&subject.config));
        let guards = asked(entry, packs, subject);
        let needs = guards.iter().map(|guard| limit(guard).unwrap_or_else(|| subject.config.deadline()));
        let Some(needs) = needs.max().map(|needs| needs + MARGIN) else { continue };
        let given = entry.hook.seconds.unwrap_or_else(|| (subject.client.health.seconds)(&entry.hook.event));
        if given >= needs.as_secs_f64() {
            continue;
        }
        let is_closed = guards.iter().any(|guard| guard.failure == FailureMode::Closed);
        let lost = if is_closed { "the call goes on unjudged" } else { "its work is lost without a word" };
        findings.push(Finding::error(
            "timeout-short",
            format!("the {} entry of {} has too little time", entry.title(), subject.place(entry.source)),
            format!(
                "the client ends it after {given} s, Provost may need {} s, and then {lost}",
                needs.as_secs()
            ),
            format!("give the entry a timeout of at least {}, or run `provost init`", needs.as_secs()),
        ));
    }
    findings
}

/// A gate that lets everything through where Provost cannot be run.
fn open_gate(own: &[Entry<'_>], packs: &[&str], subject: &Subject) -> Option<Finding> {
    const GATE: &str = "plan-gate";
    let asks = |entry: &&&Entry<'_>| asked(entry, packs, subject).iter().any(|guard| guard.name == GATE);
    let entries: Vec<&Entry<'_>> = own.iter().collect();
    let gates: Vec<&&Entry<'_>> = entries.iter().filter(asks).collect();
    let first = gates.first()?;
    if gates.iter().any(|entry| entry.hook.blocks_on_failure) {
        return None;
    }
    Some(Finding::warning(
        "fails-open",
        "a plan leaves plan mode unassessed where Provost cannot be run".into(),
        format!(
            "the {} entry of {} does not block when it fails",
            first.title(),
            subject.place(first.source)
        ),
        format!("run `provost init`, or add `{}` to the entry", subject.client.health.block_on_failure),
    ))
}

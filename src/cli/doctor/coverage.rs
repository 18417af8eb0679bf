//! Whether the hook entries call the guards of all packs in use for everything that these judge, with enough time.

use std::time::Duration;

use super::report::{CheckGroup, DoctorFinding, Severity, join_words};
use crate::cli::overview::activation::{PLAN_GATE, SELF};
use crate::cli::overview::registrations::LocatedHook;
use crate::cli::overview::{Overview, add_new};
use crate::clients::HookInput;
use crate::registry::{self, FailureMode, Guard, GuardSelection};
use crate::text::shorten_name;

/// What a process needs besides its guards: to start, to answer, to write the journal.
const MARGIN: Duration = Duration::from_secs(1);
const LARGEST_SAMPLE: u64 = 1 << 20;

pub(super) fn check(overview: &Overview) -> CheckGroup {
    let entries = overview.provost_entries();
    let packs = overview.packs_in_use();
    let mut findings = Vec::new();
    // Without any entry, the registration has its own finding.
    if !entries.is_empty() {
        let mut unseen = Vec::new();
        for pack in &packs {
            findings.extend(find_missing_events(pack, &entries, overview, &mut unseen));
        }
        let is_covered = unseen.is_empty();
        findings.extend(unseen.into_iter().map(UnseenTools::into_finding));
        if is_covered {
            findings.extend(find_useless_entries(&entries, overview));
        }
        findings.extend(find_short_timeouts(&entries, &packs, overview));
        findings.extend(find_open_gate(&entries, &packs, overview));
    }
    let names: Vec<String> = packs.iter().map(|pack| format!("`{pack}`")).collect();
    let checked = format!("events, matchers and time limits for {}", join_words(&names));
    CheckGroup { is_skipped: entries.is_empty(), ..CheckGroup::new("coverage", checked, findings) }
}

/// Tools that guards do not see, because of the matchers of the entries.
struct UnseenTools {
    packs: Vec<String>,
    tools: Vec<String>,
    /// An error if agents use these tools every day, so that they get around a guard by chance.
    severity: Severity,
    why: String,
}

impl UnseenTools {
    fn into_finding(self) -> DoctorFinding {
        let limit = if self.severity == Severity::Error { "" } else { "some tools, such as " };
        let what = format!(
            "the guards of {} are not asked about {limit}{}",
            join_words(&self.packs),
            join_words(&self.tools)
        );
        let fix = "run `provost init`, or give the entry the matcher `*`";
        DoctorFinding { severity: self.severity, ..DoctorFinding::error("matcher", what, self.why, fix) }
    }
}

/// The events of a pack that have no entry. Adds the tools that its guards do not see to those of other packs with
/// the same matchers.
fn find_missing_events(
    pack: &str,
    own: &[LocatedHook<'_>],
    overview: &Overview,
    unseen: &mut Vec<UnseenTools>,
) -> Option<DoctorFinding> {
    let health = overview.client.health();
    let mut missing: Vec<&str> = Vec::new();
    let mut events: Vec<&str> = Vec::new();
    for needed in
        (overview.client.installation().list_needed_entries)(&registry::list_guards_in(&[pack]), false)
    {
        if events.contains(&needed.event) {
            continue;
        }
        events.push(needed.event);
        let asks_pack = |entry: &&LocatedHook<'_>| {
            entry.hook.event == needed.event && overview.packs_of_hook(entry.hook).contains(&pack)
        };
        let entries: Vec<&LocatedHook<'_>> = own.iter().filter(asks_pack).collect();
        if entries.is_empty() {
            missing.push(needed.event);
            continue;
        }
        let is_seen =
            |tool: &str| entries.iter().any(|entry| (health.matches_tool)(entry.hook, tool) != Some(false));
        let find_unseen = |tools: &[&str]| -> Vec<String> {
            tools.iter().filter(|tool| !is_seen(tool)).map(|tool| format!("`{tool}`")).collect()
        };
        let (everyday, rare) = (health.list_judged_tools)(needed.event, pack);
        let (tools, severity) = match find_unseen(everyday) {
            none if none.is_empty() => (find_unseen(rare), Severity::Warning),
            tools => (tools, Severity::Error),
        };
        if tools.is_empty() {
            continue;
        }
        let matchers = entries.iter().filter_map(|entry| entry.hook.matcher.as_ref());
        let matchers: Vec<String> = matchers.map(|matcher| format!("`{}`", shorten_name(matcher))).collect();
        let why = format!(
            "the {} entries are limited to {}, and the client compares names exactly",
            needed.event,
            join_words(&matchers)
        );
        let packs = vec![format!("`{pack}`")];
        match unseen.iter_mut().find(|known| known.why == why && known.severity == severity) {
            None => unseen.push(UnseenTools { packs, tools, severity, why }),
            Some(known) => {
                known.packs.extend(packs);
                add_new(&mut known.tools, tools);
            }
        }
    }
    if missing.is_empty() {
        return None;
    }
    // No workflow depends on the events of `self`, except on tool calls.
    let is_for_tools = |event: &&str| !(health.list_judged_tools)(event, SELF).0.is_empty();
    let is_optional = pack == SELF && !missing.iter().any(is_for_tools);
    let severity = if is_optional { Severity::Warning } else { Severity::Error };
    let events: Vec<String> = missing.iter().map(|event| format!("`{event}`")).collect();
    let what = format!("the guards of `{pack}` are not asked about everything that they judge");
    let why = format!("no entry is registered for {}", join_words(&events));
    Some(DoctorFinding { severity, ..DoctorFinding::error("event-missing", what, why, "run `provost init`") })
}

/// Entries whose matcher fits no tool that a guard judges.
fn find_useless_entries(own: &[LocatedHook<'_>], overview: &Overview) -> Vec<DoctorFinding> {
    let health = overview.client.health();
    let is_useless = |entry: &&LocatedHook<'_>| {
        let packs =
            registry::PACKS.iter().map(|pack| (health.list_judged_tools)(&entry.hook.event, pack.name));
        let mut tools = packs.flat_map(|(everyday, rare)| everyday.iter().chain(rare)).peekable();
        tools.peek().is_some() && tools.all(|tool| (health.matches_tool)(entry.hook, tool) == Some(false))
    };
    let useless = own.iter().filter(is_useless).map(|entry| {
        DoctorFinding::warning(
            "matcher",
            format!("{} asks no guard", overview.name_entry(entry)),
            "its matcher names no tool that a guard judges, and the client compares names exactly",
            "correct the matcher, or remove the entry",
        )
    });
    useless.collect()
}

/// The guards in use that an entry asks, and how long each may take.
fn find_asked_guards(
    entry: &LocatedHook<'_>,
    packs: &[&str],
    overview: &Overview,
) -> Vec<(&'static Guard, Duration)> {
    let config = &overview.workspace.config;
    let root = &overview.settings_root;
    let mut guards = Vec::new();
    for sample in (overview.client.health().list_samples)(entry.hook, root, root) {
        let Ok(Some(input)) = HookInput::read(sample.event.as_bytes(), LARGEST_SAMPLE) else { continue };
        let Ok(event) = (overview.client.dialect.parse)(input) else { continue };
        let selection = GuardSelection { packs: entry.hook.packs.clone(), script: None };
        let on = selection.select_switched_on(selection.select_concerned(&event), config);
        let in_use = on.into_iter().filter(|guard| packs.contains(&guard.pack));
        guards.extend(
            in_use.map(|guard| {
                (guard, guard.own_time_limit(&event, config).unwrap_or_else(|| config.deadline()))
            }),
        );
    }
    guards
}

/// Entries that the client ends before Provost would answer by itself.
fn find_short_timeouts(own: &[LocatedHook<'_>], packs: &[&str], overview: &Overview) -> Vec<DoctorFinding> {
    let mut findings = Vec::new();
    for entry in own {
        let guards = find_asked_guards(entry, packs, overview);
        let Some(needed) = guards.iter().map(|(_, limit)| *limit).max().map(|limit| limit + MARGIN) else {
            continue;
        };
        let given = entry
            .hook
            .seconds
            .unwrap_or_else(|| (overview.client.health().default_timeout)(&entry.hook.event));
        if given >= needed.as_secs_f64() {
            continue;
        }
        let is_closed = guards.iter().any(|(guard, _)| guard.failure_mode == FailureMode::Closed);
        let lost = if is_closed { "the call continues unchecked" } else { "its work is lost silently" };
        let needed = needed.as_secs();
        findings.push(DoctorFinding::error(
            "timeout-short",
            format!("{} has too little time", overview.name_entry(entry)),
            format!("the client ends it after {given} s, Provost may need {needed} s, and then {lost}"),
            format!("give the entry a timeout of at least {needed}, or run `provost init`"),
        ));
    }
    findings
}

/// A plan gate that is open if Provost cannot run.
fn find_open_gate(own: &[LocatedHook<'_>], packs: &[&str], overview: &Overview) -> Option<DoctorFinding> {
    let asks_gate = |entry: &&LocatedHook<'_>| {
        find_asked_guards(entry, packs, overview).iter().any(|(guard, _)| guard.name == PLAN_GATE)
    };
    let gates: Vec<&LocatedHook<'_>> = own.iter().filter(asks_gate).collect();
    let first = gates.first()?;
    if gates.iter().any(|entry| entry.hook.blocks_on_failure) {
        return None;
    }
    Some(DoctorFinding::warning(
        "fails-open",
        "a plan leaves plan mode without an assessment if Provost cannot run",
        format!("{} does not block when it fails", overview.name_entry(first)),
        format!("run `provost init`, or add `{}` to the entry", overview.client.health().block_on_failure),
    ))
}

//! Lets a planner stop only with a plan: a recent one, with the sections that the next agents need,
//! and without refactoring, which those agents plan themselves.
//!
//! A planner is held once a turn, because the next stop of the same turn passes. So the denial names
//! everything that is wrong. A Markdown parser reads the plan ([`super::plan_outline`]), so that an
//! example in a code fence is neither a section nor a leak.

use crate::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::plan_outline::PlanOutline;
use super::planning::PlanningDirectory;
use provost_core::config::{Config, settings};
use provost_core::event::{Event, EventKind};
use provost_core::opinion::{Denial, Fault, Opinion, Verdict};
use provost_core::text::{self, make_one_line};
use provost_core::workspace::Workspace;

/// Only this many bytes of a plan are read.
const LONGEST_PLAN: u64 = 1 << 20;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let (EventKind::Stop(stopping) | EventKind::SubagentStop(stopping)) = &event.kind else {
        return Ok(Opinion::silent());
    };
    let opinion = judge_plan(event, workspace)?;
    match &opinion.verdict {
        // The planner was held once and stops again. The user learns that the plan is not valid.
        Verdict::Deny(denial) if stopping.has_been_blocked => Ok(Opinion {
            to_user: Some(describe_end(event, denial)),
            evidence: opinion.evidence,
            ..Opinion::default()
        }),
        _ if stopping.has_been_blocked => Ok(Opinion::silent()),
        _ => Ok(opinion),
    }
}

/// The message to the user about a planner that stops without a valid plan.
fn describe_end(event: &Event, denial: &Denial) -> String {
    let kind = event.agent.as_ref().and_then(|agent| agent.kind.as_deref()).unwrap_or("the planner");
    format!(
        "[provost] {} ended without a valid plan: {}. To fix: ask it for the plan again.",
        text::quote_for_model(kind),
        denial.what
    )
}

fn judge_plan(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let config = &workspace.config;
    let planning = PlanningDirectory::new(event, workspace);
    let newest = planning.find_newest_plan();
    let minutes = config.number(settings::PLANNER_PLAN_MINUTES);
    match newest {
        Some((plan, age)) if age <= Duration::from_secs(minutes * 60) => {
            check_plan(&plan, &planning.shorten_path(&plan), workspace)
        }
        _ if !config.is_switched_on(settings::PLANNER_REQUIRE_PLAN) => Ok(Opinion::silent()),
        newest => Ok(deny_missing_plan(&planning, newest, minutes, config)),
    }
}

/// Judges one plan of any age. `shown` is its name in the reason.
pub fn check_plan(plan: &Path, shown: &str, workspace: &Workspace) -> Result<Opinion, Fault> {
    let (text, whole) = workspace.read_start(plan, LONGEST_PLAN)?;
    let config = &workspace.config;
    let outline = PlanOutline::parse(&text);
    let required = [
        ("Feature-Analysis", config.words(settings::PLANNER_ANALYSIS_HEADINGS)),
        ("Test-Specification/Slices", config.words(settings::PLANNER_SLICE_HEADINGS)),
    ];
    let missing: Vec<_> = required
        .iter()
        .filter(|(_, names)| !names.is_empty() && !names.iter().any(|name| outline.has_heading(name)))
        .collect();
    let shown = make_one_line(shown);
    let (mut what, mut why, mut fix) = (Vec::new(), Vec::new(), Vec::new());
    if !missing.is_empty() {
        let sections: Vec<&str> = missing.iter().map(|(section, _)| *section).collect();
        what.push(format!("Plan file {shown} is missing required sections: {}", sections.join(" ")));
        for (section, names) in missing {
            why.push(format!("no heading of level 1 to 3 for {section} has {} in it", join_names(names)));
            fix.push(format!("add a heading with {}", join_names(names)));
        }
    }
    if !outline.leaks.is_empty() {
        what.push(format!("REFACTORING LEAK in {shown}"));
        let hits: Vec<_> =
            outline.leaks.iter().map(|leak| format!("line {} has \"{}\"", leak.line, leak.phrase)).collect();
        why.push(format!("{}, and refactoring is planned where the code is written", hits.join(", ")));
        fix.push("take the refactoring out of the plan".into());
    }
    if what.is_empty() {
        return Ok(Opinion { evidence: vec![format!("{shown} is complete")], ..Opinion::default() });
    }
    if !whole {
        why.push(format!("only its first {} MiB were read", LONGEST_PLAN >> 20));
    }
    let evidence = what.clone();
    Ok(Opinion::deny(
        Denial { what: what.join("; "), why: why.join("; "), fix: fix.join("; "), document_wording: None },
        evidence,
    ))
}

fn deny_missing_plan(
    planning: &PlanningDirectory<'_>,
    newest: Option<(PathBuf, Duration)>,
    minutes: u64,
    config: &Config,
) -> Opinion {
    let directory = &planning.name;
    let first = |key| config.words(key).into_iter().next().unwrap_or_default();
    let (why, fix) = match newest {
        None => (
            "a planner's work is its plan, and there is none".to_owned(),
            format!(
                "write the plan to {directory}/NAME.md, with headings for \"{}\" and \"{}\"",
                first(settings::PLANNER_ANALYSIS_HEADINGS),
                first(settings::PLANNER_SLICE_HEADINGS)
            ),
        ),
        Some((plan, age)) => (
            format!(
                "the newest plan, {}, was changed {} minutes ago, so it is not the one just made",
                make_one_line(&planning.shorten_path(&plan)),
                age.as_secs() / 60
            ),
            format!("write the new plan to {directory}/NAME.md, or bring the old one up to date"),
        ),
    };
    let denial = Denial {
        what: format!("No plan file found in {directory}/ (modified in last {minutes} minutes)"),
        why,
        fix,
        document_wording: None,
    };
    let evidence = vec![denial.why.clone()];
    Opinion::deny(denial, evidence)
}

/// Joins names to one phrase: "a" or "b".
fn join_names(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{}\"", make_one_line(name))).collect::<Vec<_>>().join(" or ")
}

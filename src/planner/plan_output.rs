//! A planner stops with a plan: a recent one, with the sections that the next agents need, and
//! without the refactoring that is theirs.
//!
//! A turn is held once; everything that is wrong is told at once, because the next stop of the same
//! turn passes. The document is read by a Markdown parser ([`super::plan_document`]), so that an
//! example in a code fence is neither a section nor a leak.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::plan_document::PlanDocument;
use super::planning::Planning;
use crate::config::{Config, settings};
use crate::decision::{Denial, Fault, Opinion, Verdict};
use crate::event::{Event, Kind};
use crate::text::{self, one_line};
use crate::workspace::Workspace;

/// No plan is longer; what stands behind it is not read.
const LONGEST_PLAN: u64 = 1 << 20;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let (Kind::Stop(stopping) | Kind::SubagentStop(stopping)) = &event.kind else {
        return Ok(Opinion::silence());
    };
    let opinion = judge_plan(event, workspace)?;
    match &opinion.verdict {
        // It was held once, and goes on to stop: the user is told what it leaves behind.
        Verdict::Deny(denial) if stopping.held_before => Ok(Opinion {
            to_person: Some(ended(event, denial)),
            evidence: opinion.evidence,
            ..Opinion::default()
        }),
        _ if stopping.held_before => Ok(Opinion::silence()),
        _ => Ok(opinion),
    }
}

/// What the user reads when a planner stops although its plan is missing or incomplete.
fn ended(event: &Event, denial: &Denial) -> String {
    let kind = event.agent.as_ref().and_then(|agent| agent.kind.as_deref()).unwrap_or("the planner");
    format!(
        "[provost] {} ended without a valid plan: {}. To fix: ask it for the plan again.",
        text::quoted(kind),
        denial.what
    )
}

fn judge_plan(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let config = &workspace.config;
    let planning = Planning::of(event, workspace);
    let newest = planning.newest_plan(workspace);
    let minutes = config.number(settings::PLANNER_MINUTES);
    match newest {
        Some((plan, age)) if age <= Duration::from_secs(minutes * 60) => {
            check(&plan, &planning.shown(&plan), workspace)
        }
        _ if !config.switch(settings::PLANNER_REQUIRE) => Ok(Opinion::silence()),
        newest => Ok(no_plan(&planning, newest, minutes, config)),
    }
}

/// The opinion on one plan, whenever it was changed. `shown`: its name in the reason.
pub fn check(plan: &Path, shown: &str, workspace: &Workspace) -> Result<Opinion, Fault> {
    let (text, whole) = workspace.read_start(plan, LONGEST_PLAN)?;
    let config = &workspace.config;
    let document = PlanDocument::read(&text);
    let required = [
        ("Feature-Analysis", config.words(settings::PLANNER_ANALYSIS)),
        ("Test-Specification/Slices", config.words(settings::PLANNER_SLICES)),
    ];
    let missing: Vec<_> = required
        .iter()
        .filter(|(_, names)| !names.is_empty() && !names.iter().any(|name| document.has_heading(name)))
        .collect();
    let shown = one_line(shown);
    let (mut what, mut why, mut fix) = (Vec::new(), Vec::new(), Vec::new());
    if !missing.is_empty() {
        let sections: Vec<&str> = missing.iter().map(|(section, _)| *section).collect();
        what.push(format!("Plan file {shown} is missing required sections: {}", sections.join(" ")));
        for (section, names) in missing {
            why.push(format!("no heading of level 1 to 3 for {section} has {} in it", either(names)));
            fix.push(format!("add a heading with {}", either(names)));
        }
    }
    if !document.leaks.is_empty() {
        what.push(format!("REFACTORING LEAK in {shown}"));
        let hits: Vec<_> =
            document.leaks.iter().map(|leak| format!("line {} has \"{}\"", leak.line, leak.phrase)).collect();
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
        Denial { what: what.join("; "), why: why.join("; "), fix: fix.join("; "), heading: None },
        evidence,
    ))
}

fn no_plan(
    planning: &Planning,
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
                first(settings::PLANNER_ANALYSIS),
                first(settings::PLANNER_SLICES)
            ),
        ),
        Some((plan, age)) => (
            format!(
                "the newest plan, {}, was changed {} minutes ago, so it is not the one just made",
                one_line(&planning.shown(&plan)),
                age.as_secs() / 60
            ),
            format!("write the new plan to {directory}/NAME.md, or bring the old one up to date"),
        ),
    };
    let denial = Denial {
        what: format!("No plan file found in {directory}/ (modified in last {minutes} minutes)"),
        why,
        fix,
        heading: None,
    };
    let evidence = vec![denial.why.clone()];
    Opinion::deny(denial, evidence)
}

/// Names as one phrase: "a" or "b".
fn either(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{}\"", one_line(name))).collect::<Vec<_>>().join(" or ")
}

//! `plan-surfacer`: from the implementation on, no work is handed out without a plan of tasks.
//!
//! What makes the plan is never held, or nobody could go on; nor is a workflow that has no plan.

use super::delegation::Assignment;
use super::ground::{Ground, UnderWay};
use super::state::Workflow;
use super::table::{self, ORCHESTRATOR};
use super::words::{is_setup, words};
use super::{Refused, named};
use crate::decision::{Fault, Opinion};
use crate::event::Event;
use crate::text::one_line;
use crate::workspace::Workspace;

/// Kinds of workflow that begin with phases in which a plan is made.
const PLANNED: &[&str] = &["feature", "fix", "test-generate", "full-lifecycle"];
/// Kinds in which nobody makes one.
const UNPLANNED: &[&str] = &["test-run", "upgrade", "reverse-engineer"];

/// The skill that makes the plan.
const REMEDY: &str = "generate-plan";
/// How somebody is told to make one: one of these, and the plan a few words behind it.
const MAKING: &[&str] = &["generate", "create", "write", "make", "produce", "draft", "prepare", "regenerate"];
const PLAN: &[&str] = &["plan", "tasks.md"];
const FEW: usize = 4;
/// "Write tests as in the plan" is work by the plan.
const ELSEWHERE: &[&str] =
    &["as", "by", "from", "in", "per", "to", "with", "following", "after", "and", "for"];

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(UnderWay { ground, workflow, phase, .. }) = UnderWay::of(event, workspace) else {
        return Ok(Opinion::unconcerned());
    };
    if table::is_early(phase) || !has_plan(workflow) {
        return Ok(Opinion::unconcerned());
    }
    let mut work =
        ground.assignments(event, workspace).iter().filter(|work| is_work(work, ground, workspace));
    let Some(work) = work.next() else { return Ok(Opinion::unconcerned()) };
    let (file, is_there) = ground.tasks_file(workspace);
    if is_there || work.texts.iter().any(|text| makes_plan(text)) {
        return Ok(Opinion::silence());
    }
    let here = file.strip_prefix(ground.root()).unwrap_or(&file);
    let refused = Refused {
        heading: "TASK PLAN NOT GENERATED".into(),
        why: format!("{} needs a task plan, and there is none", named(phase)),
        fix: format!(
            "run the {REMEDY} skill, which writes {}, then delegate again (the plan belongs at {})",
            one_line(&here.display().to_string()),
            one_line(&file.display().to_string())
        ),
    };
    Ok(super::deny(event, refused, vec![format!("no plan of tasks in `{phase}`")]))
}

/// Whether a workflow has a plan. Of one whose kind is not known its phases tell.
fn has_plan(workflow: &Workflow) -> bool {
    match workflow.kind.as_deref() {
        Some(kind) if PLANNED.contains(&kind) => true,
        Some(kind) if UNPLANNED.contains(&kind) => false,
        _ => workflow.phases.is_empty() || workflow.phases.iter().any(|phase| table::is_early(phase)),
    }
}

/// Whether this is work that needs the plan.
///
/// An agent of a phase does such work, and so does the agent that leads the workflow. One that the manifest
/// does not know is a helper that looks something up or is the user's own: nobody expects it to wait for a
/// plan, and no guard of phases holds it. Of a call that names no agent nothing is known but its words, and it
/// is held unless they are about setting something up.
pub fn is_work(work: &Assignment, ground: &Ground, workspace: &Workspace) -> bool {
    match (&work.agent, ground.manifest(workspace)) {
        (None, _) => !work.texts.iter().any(|text| is_setup(&words(text))),
        (Some(agent), _) if agent == ORCHESTRATOR => true,
        (Some(agent), Some(manifest)) => manifest.phase_of(agent).is_some_and(|phase| phase != "setup"),
        (Some(agent), None) => table::is_worker(agent),
    }
}

/// Whether a text tells somebody to make the plan. To mention it is not enough: those who do its tasks
/// are told where it lies.
fn makes_plan(text: &str) -> bool {
    let outside = |c: char| !c.is_alphanumeric();
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| {
            word.trim_matches(outside).rsplit(['/', '\\', ':']).next().unwrap_or_default().to_lowercase()
        })
        .collect();
    let is = |word: &str, list: &[&str]| list.contains(&word);
    let makes = |at: usize| {
        let behind = words[at + 1..].iter().take(FEW).take_while(|word| !is(word, ELSEWHERE));
        is(&words[at], MAKING) && { behind }.any(|word| is(word, PLAN))
    };
    (0..words.len()).any(|at| words[at] == REMEDY || makes(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_make_the_plan_is_not_to_work_by_it() {
        for text in [
            "Run the generate-plan skill.",
            "use `isdlc:generate-plan`",
            "/generate-plan",
            "Generate the missing task plan",
            "please write docs/isdlc/tasks.md, now",
            "Create `tasks.md`.",
            "generate plan",
        ] {
            assert!(makes_plan(text), "{text}");
        }
        for text in [
            "Implement T3 of docs/isdlc/tasks.md",
            "Do what the task plan says",
            "write tests as in the plan",
            "create the login form and the page, then tick tasks.md",
            "regenerate-plans",
            "write mytasks.md",
            "make a planner",
            "",
        ] {
            assert!(!makes_plan(text), "{text}");
        }
    }

    #[test]
    fn some_workflows_have_no_plan() {
        let of = |kind: Option<&str>, phases: &[&str]| {
            let phases = phases.iter().map(|phase| (*phase).to_owned()).collect();
            has_plan(&Workflow { kind: kind.map(str::to_owned), phases, ..Workflow::default() })
        };
        for kind in UNPLANNED {
            assert!(!of(Some(kind), &["01-requirements"]), "{kind}");
        }
        assert!(!of(Some("hotfix"), &["06-implementation", "07-testing"]) && !of(None, &["07-testing"]));
        assert!(of(Some("feature"), &["06-implementation"]) && of(None, &[]) && of(Some("hotfix"), &[]));
        assert!(of(Some("hotfix"), &["04-test-strategy", "05-implementation"]));
    }
}

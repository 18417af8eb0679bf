//! `plan-surfacer`: from the implementation on, no work is delegated without a task plan.
//!
//! Work that makes the plan is never denied, nor is any work in a workflow that has no plan.

use super::clauses::{is_about_setup, split_words};
use super::delegation::Assignment;
use super::instructions::is_any;
use super::phase_names::ORCHESTRATOR;
use super::prelude::*;
use super::state::Workflow;
use provost_core::text::make_one_line;

/// Kinds of workflow that begin with phases in which a plan is made.
const PLANNED: &[&str] = &["feature", "fix", "test-generate", "full-lifecycle"];
/// Kinds without a plan.
const UNPLANNED: &[&str] = &["test-run", "upgrade", "reverse-engineer"];

/// The skill that makes the plan.
const SKILL: &str = "generate-plan";

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let ActiveWorkflow { context, workflow, phase, .. } = ActiveWorkflow::find(event, workspace)?;
    if phase_names::is_early(phase) || !has_plan(workflow) {
        return None;
    }
    let mut assignments = context.assignments(event, workspace).iter();
    let work = assignments.find(|work| needs_plan(work, context, workspace))?;
    let (file, exists) = context.tasks_file(workspace);
    if exists || work.texts.iter().any(|text| asks_for_plan(text)) {
        return Some(Opinion::silent());
    }
    let short = file.strip_prefix(context.root()).unwrap_or(&file);
    let denial = PhaseDenial {
        heading: "TASK PLAN NOT GENERATED".into(),
        why: format!("{} needs a task plan, and there is none", quote_name(phase)),
        fix: format!(
            "run the {SKILL} skill, which writes {}, then delegate again (the plan belongs at {})",
            make_one_line(&short.display().to_string()),
            make_one_line(&file.display().to_string())
        ),
    };
    Some(denial.deny(event, vec![format!("no task plan in `{phase}`")]))
}

/// Whether a workflow has a plan. For an unknown kind its phases decide.
fn has_plan(workflow: &Workflow) -> bool {
    match workflow.kind.as_deref() {
        Some(kind) if PLANNED.contains(&kind) => true,
        Some(kind) if UNPLANNED.contains(&kind) => false,
        _ => workflow.phases.is_empty() || workflow.phases.iter().any(|phase| phase_names::is_early(phase)),
    }
}

/// Whether this work needs the plan: work of an agent of a phase, and of the agent that leads the workflow.
///
/// An agent that is not in the manifest looks something up or is the user's own: no guard of the phases
/// expects it to wait for a plan. If the call names no agent, its words decide: only a setup needs no plan.
pub fn needs_plan(work: &Assignment, context: &WorkflowContext, workspace: &Workspace) -> bool {
    match (&work.agent, context.manifest(workspace)) {
        (None, _) => !work.texts.iter().any(|text| is_about_setup(&split_words(text))),
        (Some(agent), _) if agent == ORCHESTRATOR => true,
        (Some(agent), Some(manifest)) => {
            manifest.find_agent_phase(agent).is_some_and(|phase| phase != "setup")
        }
        (Some(agent), None) => phase_names::is_phase_agent(agent),
    }
}

/// Whether a prompt asks for the plan itself. Mentioning the plan is not enough, because the prompts of agents that
/// work on its tasks say where it is.
fn asks_for_plan(text: &str) -> bool {
    const MAKE: &[&str] =
        &["generate", "create", "write", "make", "produce", "draft", "prepare", "regenerate"];
    const PLAN: &[&str] = &["plan", "tasks.md"];
    /// "Write tests as in the plan" is work by the plan.
    const ELSEWHERE: &[&str] =
        &["as", "by", "from", "in", "per", "to", "with", "following", "after", "and", "for"];
    /// The plan is at most so many words after the verb.
    const REACH: usize = 4;
    let trim = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.rsplit(['/', '\\', ':']).next().unwrap_or_default().to_lowercase()
    };
    let words: Vec<String> = text.split_whitespace().map(trim).collect();
    let makes_plan = |at: usize| {
        let mut object = words[at + 1..].iter().take(REACH).take_while(|word| !is_any(word, ELSEWHERE));
        is_any(&words[at], MAKE) && object.any(|word| is_any(word, PLAN))
    };
    (0..words.len()).any(|at| words[at] == SKILL || makes_plan(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn making_the_plan_differs_from_working_by_it() {
        for text in [
            "Run the generate-plan skill.",
            "use `isdlc:generate-plan`",
            "/generate-plan",
            "Generate the missing task plan",
            "please write docs/isdlc/tasks.md, now",
            "Create `tasks.md`.",
            "generate plan",
        ] {
            assert!(asks_for_plan(text), "{text}");
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
            assert!(!asks_for_plan(text), "{text}");
        }
    }

    #[test]
    fn some_workflows_have_no_plan() {
        let is_planned = |kind: Option<&str>, phases: &[&str]| {
            let phases = phases.iter().map(|phase| (*phase).to_owned()).collect();
            has_plan(&Workflow { kind: kind.map(str::to_owned), phases, ..Workflow::default() })
        };
        for kind in UNPLANNED {
            assert!(!is_planned(Some(kind), &["01-requirements"]), "{kind}");
        }
        assert!(
            !is_planned(Some("hotfix"), &["06-implementation", "07-testing"])
                && !is_planned(None, &["07-testing"])
        );
        assert!(
            is_planned(Some("feature"), &["06-implementation"])
                && is_planned(None, &[])
                && is_planned(Some("hotfix"), &[])
        );
        assert!(is_planned(Some("hotfix"), &["04-test-strategy", "05-implementation"]));
    }
}

//! `phase-sequence-guard`: work is delegated only to agents of the current phase.

use serde_json::{Value, json};

use super::delegation_detection::{EMPTY, MALFORMED, assert_silent};
use super::{WorkflowProject, started_workflow};
use crate::support::assert_shown;

const GUARD: &str = "phase-sequence-guard";
const HEADLINE: &str = "OUT-OF-ORDER PHASE DELEGATION";

/// Phases of the workflows, an agent that works there, and its phase in the manifest of the scripts and
/// in the one that was made from another numbering. An empty phase: the agent is not in that manifest.
const PAIRS: &[(&str, &str, &str, &str)] = &[
    ("00-quick-scan", "quick-scan-agent", "00-quick-scan", ""),
    ("00-quick-scan", "mapping-orchestrator", "", "00-mapping"),
    ("01-requirements", "requirements-analyst", "01-requirements", "01-requirements"),
    ("02-impact-analysis", "impact-analysis-orchestrator", "02-impact-analysis", ""),
    ("02-impact-analysis", "impact-analyzer", "02-impact-analysis", "00-mapping"),
    ("02-impact-analysis", "entry-point-finder", "02-impact-analysis", "00-mapping"),
    ("02-impact-analysis", "risk-assessor", "02-impact-analysis", "00-mapping"),
    ("02-tracing", "tracing-orchestrator", "02-tracing", "02-tracing"),
    ("02-tracing", "symptom-analyzer", "02-tracing", "02-tracing"),
    ("02-tracing", "execution-path-tracer", "02-tracing", "02-tracing"),
    ("02-tracing", "root-cause-identifier", "02-tracing", "02-tracing"),
    ("03-architecture", "solution-architect", "03-architecture", "02-architecture"),
    ("04-design", "system-designer", "04-design", "03-design"),
    ("05-test-strategy", "test-design-engineer", "05-test-strategy", "04-test-strategy"),
    ("06-implementation", "software-developer", "06-implementation", "05-implementation"),
    ("07-testing", "integration-tester", "07-testing", "06-testing"),
    ("08-code-review", "qa-engineer", "08-code-review", "07-code-review"),
    ("09-validation", "security-compliance-auditor", "09-validation", "08-validation"),
    ("10-cicd", "cicd-engineer", "10-cicd", "09-cicd"),
    ("11-local-testing", "environment-builder", "11-local-testing", "10-local-testing"),
    ("13-test-deploy", "deployment-engineer-staging", "12-test-deploy", "11-test-deploy"),
    ("14-production", "release-manager", "13-production", "12-production"),
    ("15-operations", "site-reliability-engineer", "14-operations", "13-operations"),
    ("16-upgrade-plan", "upgrade-engineer", "15-upgrade", ""),
    ("16-upgrade-execute", "upgrade-engineer", "15-upgrade", ""),
];

/// Phases of workflows in which no agent of a manifest works.
const NOBODYS: &[&str] = &[
    "12-remote-build",
    "R1-behavior-extraction",
    "R2-characterization-tests",
    "R3-artifact-integration",
    "R4-atdd-bridge",
];

type Pair = (&'static str, &'static str, &'static str, &'static str);

/// Agents and their phases by one of the two manifests.
fn owners(phase_of: fn(&Pair) -> &'static str) -> Vec<(&'static str, &'static str)> {
    let mut owners = vec![("sdlc-orchestrator", "all"), ("discover-orchestrator", "setup")];
    owners.extend(PAIRS.iter().map(|pair| (pair.1, phase_of(pair))).filter(|(_, phase)| !phase.is_empty()));
    owners
}

fn manifests() -> [Vec<(&'static str, &'static str)>; 2] {
    [owners(|pair| pair.2), owners(|pair| pair.3)]
}

fn is_denied(flow: &WorkflowProject, event: &Value) -> bool {
    let reason = flow.find_denial(GUARD, event);
    assert!(reason.as_ref().is_none_or(|reason| reason.contains(HEADLINE)), "{reason:?}");
    reason.is_some()
}

#[test]
fn t01_work_of_another_phase_is_denied() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    for agent in ["software-developer", "requirements-analyst", "site-reliability-engineer"] {
        assert!(is_denied(&flow, &flow.delegation(agent, "go")), "{agent}");
    }
}

#[test]
fn t02_work_of_the_current_phase_is_allowed() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    let event =
        flow.delegation("test-design-engineer", "prepare 06-implementation for the software-developer");
    assert!(!is_denied(&flow, &event));
    assert!(!is_denied(&flow, &flow.prompt_without_agent("go on with 05-test-strategy")));
    assert!(is_denied(&flow, &flow.prompt_without_agent("go on with 06-implementation")));
}

#[test]
fn t03_other_work_is_allowed() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    for event in [
        flow.delegation("general-purpose", "do 06-implementation"),
        flow.delegation("Explore", "ask the qa-engineer"),
        flow.delegation("sdlc-orchestrator", "go on to 06-implementation"),
        flow.prompt_without_agent("look for the parser"),
        flow.call("PreToolUse.Bash", &json!({"command": "cat 06-implementation"})),
    ] {
        assert!(!is_denied(&flow, &event), "{event}");
    }
    assert!(is_denied(&flow, &flow.prompt_without_agent("ask the qa-engineer")));
}

#[test]
fn t04_without_a_workflow_there_is_no_order() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    let event = flow.delegation("software-developer", "go");
    assert!(is_denied(&flow, &event));
    for workflow in
        [json!(null), json!([]), json!("feature"), json!(1), json!({}), json!({"current_phase": []})]
    {
        flow.write_state(&json!({"active_workflow": workflow, "current_phase": "05-test-strategy"}));
        assert!(!is_denied(&flow, &event), "{workflow}");
    }
}

#[test]
fn t05_without_a_state_there_is_no_order() {
    let flow = WorkflowProject::new();
    let event = flow.delegation("software-developer", "go");
    assert!(!is_denied(&flow, &event));
    assert!(is_denied(flow.write_state(&started_workflow("05-test-strategy")), &event));
}

#[test]
fn t06_with_a_state_that_is_not_json_there_is_no_order() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    let event = flow.delegation("software-developer", "go");
    let whole = flow.read_state().to_string();
    for text in ["", "{", "null", "[1]", &whole[1..]] {
        flow.project.write_file(".isdlc/state.json", text);
        assert!(!is_denied(&flow, &event), "{text}");
    }
    flow.project.write_file(".isdlc/state.json", &whole);
    assert!(is_denied(&flow, &event));
}

#[test]
fn t07_setup_has_no_order() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    for event in [
        flow.delegation("discover-orchestrator", "go on to 06-implementation"),
        flow.prompt_without_agent("init what 06-implementation needs"),
        flow.prompt_without_agent("project setup for the software-developer"),
    ] {
        assert!(!is_denied(&flow, &event), "{event}");
    }
    assert!(is_denied(&flow, &flow.prompt_without_agent("initialise what 06-implementation needs")));
}

#[test]
fn t08_the_agent_of_the_call_decides_the_phase() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    for (agent, phase) in [("qa", "08-code-review"), ("01_requirements_analyst", "01-requirements")] {
        let reason = flow.find_denial(GUARD, &flow.delegation(agent, "do 07-testing")).unwrap();
        assert!(reason.contains(&format!(" is for `{phase}`")), "{reason}");
    }
}

#[test]
fn t09_without_an_agent_the_prompt_decides_the_phase() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    for (text, phase) in
        [("begin phase 07-testing", "07-testing"), ("let the qa-engineer begin", "08-code-review")]
    {
        let reason = flow.find_denial(GUARD, &flow.prompt_without_agent(text)).unwrap();
        assert!(reason.contains(&format!(" is for `{phase}`")), "{reason}");
    }
}

#[test]
fn t10_without_a_manifest_agents_have_no_order() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    let event = flow.delegation("software-developer", "go");
    assert!(is_denied(&flow, &event));
    flow.without_manifest();
    assert!(!is_denied(&flow, &event));
}

#[test]
fn t11_the_reason_names_both_phases_and_the_gate() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    let reason = flow.find_denial(GUARD, &flow.delegation("developer", "go")).unwrap();
    assert_shown!("phases-phase-sequence-guard", reason);
}

#[test]
fn t12_the_exit_code_is_always_0() {
    assert_silent(GUARD, EMPTY);
    assert_silent(GUARD, MALFORMED);
    let flow = WorkflowProject::in_phase("05-test-strategy");
    let event = flow.delegation("software-developer", "go").to_string();
    let answer = flow.project.run_compat(&[GUARD], event.as_bytes());
    assert!(answer.code == Some(0) && answer.stdout.contains(HEADLINE), "{answer:?}");
}

/// L11: with the second manifest the scripts denied the right agent in 13 of 15 phases.
#[test]
fn the_right_agent_in_the_right_phase_is_never_denied() {
    for owners in manifests() {
        let flow = WorkflowProject::new();
        flow.write_manifest(&owners);
        for (phase, agent, ..) in PAIRS {
            let agent_is_there = owners.iter().any(|(name, _)| name == agent);
            flow.write_state(&started_workflow(phase));
            assert!(!is_denied(&flow, &flow.delegation(agent, "go")), "{agent} in {phase}");
            // Another agent is denied, if the phase has agents.
            let other = if *phase == "07-testing" { "qa-engineer" } else { "integration-tester" };
            let event = flow.delegation(other, "go");
            assert!(!agent_is_there || is_denied(&flow, &event), "{other} in {phase}");
        }
    }
}

/// The manifest and the workflow may use different numberings.
#[test]
fn every_pair_of_numberings_agrees() {
    for owners in manifests() {
        let flow = WorkflowProject::new();
        flow.write_manifest(&owners);
        for (of_workflow, agent, of_scripts, of_old) in PAIRS {
            let numbers = [of_workflow, of_scripts, of_old].into_iter().filter(|phase| !phase.is_empty());
            for phase in numbers {
                flow.write_state(&started_workflow(phase));
                assert!(!is_denied(&flow, &flow.delegation(agent, "go")), "{agent} in {phase}");
            }
        }
    }
}

#[test]
fn a_phase_without_its_own_agents_accepts_agents_of_others() {
    for owners in manifests() {
        let flow = WorkflowProject::new();
        flow.write_manifest(&owners);
        for phase in NOBODYS {
            flow.write_state(&started_workflow(phase));
            assert!(!is_denied(&flow, &flow.delegation("cicd-engineer", "go")), "{phase}");
        }
        flow.write_state(&started_workflow("13-test-deploy"));
        assert!(is_denied(&flow, &flow.delegation("cicd-engineer", "go")));
    }
    // Once the phase has an agent, others are denied.
    let flow = WorkflowProject::in_phase("12-remote-build");
    flow.write_manifest(&[("cicd-engineer", "10-cicd"), ("remote-builder", "12-remote-build")]);
    assert!(is_denied(&flow, &flow.delegation("cicd-engineer", "go")));
}

#[test]
fn unknown_phases_are_never_out_of_order() {
    let flow = WorkflowProject::new();
    flow.write_manifest(&[
        ("software-developer", "06-implementation"),
        ("dreamer", "17-of-tomorrow"),
        ("odd", ""),
    ]);
    for (phase, agent, held) in [
        ("06-implementation", "dreamer", false),
        ("06-implementation", "odd", false),
        ("17-of-tomorrow", "software-developer", false),
        ("07-testing", "software-developer", false),
    ] {
        flow.write_state(&started_workflow(phase));
        assert_eq!(is_denied(&flow, &flow.delegation(agent, "go")), held, "{agent} in {phase}");
    }
    flow.write_manifest(&[("software-developer", "06-implementation"), ("tester", "07-testing")]);
    flow.write_state(&started_workflow("07-testing"));
    assert!(is_denied(&flow, &flow.delegation("software-developer", "go")));
}

#[test]
fn a_subagent_delegates_under_the_same_rules_as_the_main_conversation() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    let mut inner = flow.project.recorded_event("PreToolUse.Agent.in_subagent");
    inner["tool_input"] = json!({"subagent_type": "software-developer", "prompt": "go", "description": "d"});
    assert!(is_denied(&flow, &inner));
    // The agent that leads the workflow delegates under the same rules as the main conversation.
    inner["agent_type"] = "isdlc:sdlc-orchestrator".into();
    assert!(is_denied(&flow, &inner));
    inner["agent_type"] = "general-purpose".into();
    inner.as_object_mut().unwrap().remove("agent_id");
    assert!(is_denied(&flow, &inner));
}

/// L10: the phase outside the workflow is outdated.
#[test]
fn the_phase_of_the_workflow_counts() {
    let flow = WorkflowProject::in_phase("06-implementation");
    let mut state = flow.read_state();
    state["current_phase"] = json!("05-test-strategy");
    flow.write_state(&state);
    assert!(!is_denied(&flow, &flow.delegation("software-developer", "go")));
    assert!(is_denied(&flow, &flow.delegation("test-design-engineer", "go")));
}

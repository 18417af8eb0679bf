//! `phase-sequence-guard`: work is handed only to agents of the phase that the workflow is in.

use serde_json::{Value, json};

use super::detection::{EMPTY, MALFORMED, lets_go};
use super::{Flow, begun};

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
fn owners(of: fn(&Pair) -> &'static str) -> Vec<(&'static str, &'static str)> {
    let mut owners = vec![("sdlc-orchestrator", "all"), ("discover-orchestrator", "setup")];
    owners.extend(PAIRS.iter().map(|pair| (pair.1, of(pair))).filter(|(_, phase)| !phase.is_empty()));
    owners
}

fn manifests() -> [Vec<(&'static str, &'static str)>; 2] {
    [owners(|pair| pair.2), owners(|pair| pair.3)]
}

fn is_held(flow: &Flow, event: &Value) -> bool {
    let reason = flow.judged(GUARD, event);
    assert!(reason.as_ref().is_none_or(|reason| reason.contains(HEADLINE)), "{reason:?}");
    reason.is_some()
}

#[test]
fn t01_work_of_another_phase_is_not_handed_out() {
    let flow = Flow::in_phase("05-test-strategy");
    for agent in ["software-developer", "requirements-analyst", "site-reliability-engineer"] {
        assert!(is_held(&flow, &flow.delegating(agent, "go")), "{agent}");
    }
}

#[test]
fn t02_that_of_the_current_phase_is() {
    let flow = Flow::in_phase("05-test-strategy");
    let event =
        flow.delegating("test-design-engineer", "prepare 06-implementation for the software-developer");
    assert!(!is_held(&flow, &event));
    assert!(!is_held(&flow, &flow.telling("go on with 05-test-strategy")));
    assert!(is_held(&flow, &flow.telling("go on with 06-implementation")));
}

#[test]
fn t03_other_work_is_handed_out_freely() {
    let flow = Flow::in_phase("05-test-strategy");
    for event in [
        flow.delegating("general-purpose", "do 06-implementation"),
        flow.delegating("Explore", "ask the qa-engineer"),
        flow.delegating("sdlc-orchestrator", "go on to 06-implementation"),
        flow.telling("look for the parser"),
        flow.call("PreToolUse.Bash", &json!({"command": "cat 06-implementation"})),
    ] {
        assert!(!is_held(&flow, &event), "{event}");
    }
    assert!(is_held(&flow, &flow.telling("ask the qa-engineer")));
}

#[test]
fn t04_without_a_workflow_there_is_no_order() {
    let flow = Flow::in_phase("05-test-strategy");
    let event = flow.delegating("software-developer", "go");
    assert!(is_held(&flow, &event));
    for workflow in
        [json!(null), json!([]), json!("feature"), json!(1), json!({}), json!({"current_phase": []})]
    {
        flow.state(&json!({"active_workflow": workflow, "current_phase": "05-test-strategy"}));
        assert!(!is_held(&flow, &event), "{workflow}");
    }
}

#[test]
fn t05_nor_without_a_state() {
    let flow = Flow::new();
    let event = flow.delegating("software-developer", "go");
    assert!(!is_held(&flow, &event));
    assert!(is_held(flow.state(&begun("05-test-strategy")), &event));
}

#[test]
fn t06_nor_with_one_that_is_no_json() {
    let flow = Flow::in_phase("05-test-strategy");
    let event = flow.delegating("software-developer", "go");
    let whole = flow.state_now().to_string();
    for text in ["", "{", "null", "[1]", &whole[1..]] {
        flow.project.file(".isdlc/state.json", text);
        assert!(!is_held(&flow, &event), "{text}");
    }
    flow.project.file(".isdlc/state.json", &whole);
    assert!(is_held(&flow, &event));
}

#[test]
fn t07_setup_has_no_order() {
    let flow = Flow::in_phase("05-test-strategy");
    for event in [
        flow.delegating("discover-orchestrator", "go on to 06-implementation"),
        flow.telling("init what 06-implementation needs"),
        flow.telling("project setup for the software-developer"),
    ] {
        assert!(!is_held(&flow, &event), "{event}");
    }
    assert!(is_held(&flow, &flow.telling("initialise what 06-implementation needs")));
}

#[test]
fn t08_the_agent_in_its_own_field_tells_the_phase() {
    let flow = Flow::in_phase("05-test-strategy");
    for (agent, phase) in [("qa", "08-code-review"), ("01_requirements_analyst", "01-requirements")] {
        let reason = flow.judged(GUARD, &flow.delegating(agent, "do 07-testing")).unwrap();
        assert!(reason.contains(&format!(" is for `{phase}`")), "{reason}");
    }
}

#[test]
fn t09_without_one_the_text_tells_it() {
    let flow = Flow::in_phase("05-test-strategy");
    for (text, phase) in
        [("begin phase 07-testing", "07-testing"), ("let the qa-engineer begin", "08-code-review")]
    {
        let reason = flow.judged(GUARD, &flow.telling(text)).unwrap();
        assert!(reason.contains(&format!(" is for `{phase}`")), "{reason}");
    }
}

#[test]
fn t10_without_a_manifest_agents_have_no_order() {
    let flow = Flow::in_phase("05-test-strategy");
    let event = flow.delegating("software-developer", "go");
    assert!(is_held(&flow, &event));
    flow.without_manifest();
    assert!(!is_held(&flow, &event));
}

#[test]
fn t11_the_reason_names_both_phases_and_the_gate() {
    let flow = Flow::in_phase("05-test-strategy");
    let reason = flow.judged(GUARD, &flow.delegating("developer", "go")).unwrap();
    assert_eq!(
        reason,
        "[provost] agent `developer` denied: it is for `06-implementation`, the workflow is in `05-test-strategy`. To \
         fix: pass GATE-05 first, or delegate to `test-design-engineer`. (OUT-OF-ORDER PHASE DELEGATION)\n\
         [provost] Only the user can allow this once, with the prompt `provost override \
         phase-sequence-guard REASON`."
    );
}

#[test]
fn t12_the_exit_code_is_always_0() {
    lets_go(GUARD, EMPTY);
    lets_go(GUARD, MALFORMED);
    let flow = Flow::in_phase("05-test-strategy");
    let event = flow.delegating("software-developer", "go").to_string();
    let answer = flow.project.script(&[GUARD], event.as_bytes());
    assert!(answer.code == Some(0) && answer.stdout.contains(HEADLINE), "{answer:?}");
}

/// L11: with the second manifest the scripts held the right agent back in 13 of 15 phases.
#[test]
fn the_right_agent_in_the_right_phase_is_never_held() {
    for owners in manifests() {
        let flow = Flow::new();
        flow.manifest(&owners);
        for (phase, agent, ..) in PAIRS {
            let agent_is_there = owners.iter().any(|(name, _)| name == agent);
            flow.state(&begun(phase));
            assert!(!is_held(&flow, &flow.delegating(agent, "go")), "{agent} in {phase}");
            // And another one is, if anybody works in this phase.
            let other = if *phase == "07-testing" { "qa-engineer" } else { "integration-tester" };
            let event = flow.delegating(other, "go");
            assert!(!agent_is_there || is_held(&flow, &event), "{other} in {phase}");
        }
    }
}

/// The manifest may use the numbers of one time and the workflow those of another.
#[test]
fn every_pair_of_numberings_agrees() {
    for owners in manifests() {
        let flow = Flow::new();
        flow.manifest(&owners);
        for (of_workflow, agent, of_scripts, of_old) in PAIRS {
            let numbers = [of_workflow, of_scripts, of_old].into_iter().filter(|phase| !phase.is_empty());
            for phase in numbers {
                flow.state(&begun(phase));
                assert!(!is_held(&flow, &flow.delegating(agent, "go")), "{agent} in {phase}");
            }
        }
    }
}

#[test]
fn a_phase_without_an_agent_of_its_own_takes_those_of_others() {
    for owners in manifests() {
        let flow = Flow::new();
        flow.manifest(&owners);
        for phase in NOBODYS {
            flow.state(&begun(phase));
            assert!(!is_held(&flow, &flow.delegating("cicd-engineer", "go")), "{phase}");
        }
        flow.state(&begun("13-test-deploy"));
        assert!(is_held(&flow, &flow.delegating("cicd-engineer", "go")));
    }
    // As soon as somebody works there, others do not.
    let flow = Flow::in_phase("12-remote-build");
    flow.manifest(&[("cicd-engineer", "10-cicd"), ("remote-builder", "12-remote-build")]);
    assert!(is_held(&flow, &flow.delegating("cicd-engineer", "go")));
}

#[test]
fn phases_that_are_not_known_are_never_out_of_order() {
    let flow = Flow::new();
    flow.manifest(&[("software-developer", "06-implementation"), ("dreamer", "17-of-tomorrow"), ("odd", "")]);
    for (phase, agent, held) in [
        ("06-implementation", "dreamer", false),
        ("06-implementation", "odd", false),
        ("17-of-tomorrow", "software-developer", false),
        ("07-testing", "software-developer", false),
    ] {
        flow.state(&begun(phase));
        assert_eq!(is_held(&flow, &flow.delegating(agent, "go")), held, "{agent} in {phase}");
    }
    flow.manifest(&[("software-developer", "06-implementation"), ("tester", "07-testing")]);
    flow.state(&begun("07-testing"));
    assert!(is_held(&flow, &flow.delegating("software-developer", "go")));
}

#[test]
fn a_subagent_hands_out_work_as_the_main_conversation_does() {
    let flow = Flow::in_phase("05-test-strategy");
    let mut inner = flow.project.event("PreToolUse.Agent.in_subagent");
    inner["tool_input"] = json!({"subagent_type": "software-developer", "prompt": "go", "description": "d"});
    assert!(is_held(&flow, &inner));
    // The agent that leads the workflow hands work to phases as the main conversation does.
    inner["agent_type"] = "isdlc:sdlc-orchestrator".into();
    assert!(is_held(&flow, &inner));
    inner["agent_type"] = "general-purpose".into();
    inner.as_object_mut().unwrap().remove("agent_id");
    assert!(is_held(&flow, &inner));
}

/// L10: the phase beside the workflow is an old one.
#[test]
fn the_phase_of_the_workflow_counts() {
    let flow = Flow::in_phase("06-implementation");
    let mut state = flow.state_now();
    state["current_phase"] = json!("05-test-strategy");
    flow.state(&state);
    assert!(!is_held(&flow, &flow.delegating("software-developer", "go")));
    assert!(is_held(&flow, &flow.delegating("test-design-engineer", "go")));
}

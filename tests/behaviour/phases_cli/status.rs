//! `provost phases status`: where a workflow is.

use serde_json::{Value, json};

use super::{answered, command, run};
use crate::support::workflow_project::started_workflow;
use crate::support::{TestProject, assert_shown};

const REQUIREMENTS: &str = r#"{"phase_requirements": {
    "01-requirements": {
        "interactive_elicitation": {"enabled": true, "min_menu_interactions": 3, "required_final_selection": ["save", "continue"]},
        "constitutional_validation": {"enabled": true, "max_iterations": 5, "articles": ["I", "IV"]}},
    "06-implementation": {
        "test_iteration": {"enabled": true, "max_iterations": 10},
        "interactive_elicitation": {"enabled": false},
        "constitutional_validation": {"enabled": true, "max_iterations": 5, "articles": ["I", "II"]},
        "agent_delegation_validation": {"enabled": true}}},
  "workflow_overrides": {"fix": {"06-implementation": {"test_iteration": {"max_iterations": 4}}}}}"#;

fn workflow(phase: &str) -> Value {
    let mut state = started_workflow(phase);
    state["phases"] =
        json!({"01-requirements": {"status": "completed"}, "05-test-strategy": {"status": "completed"}});
    state
}

fn project(state: &Value) -> TestProject {
    let project = TestProject::new();
    project.write_file(".isdlc/state.json", &state.to_string());
    project.write_file(".claude/hooks/config/iteration-requirements.json", REQUIREMENTS);
    let owners = json!({"ownership": {"software-developer": {"phase": "06-implementation"}}});
    project.write_file(".claude/hooks/config/skills-manifest.json", &owners.to_string());
    project.write_file(".git/HEAD", "ref: refs/heads/main\n");
    project
}

fn screen(project: &TestProject) -> String {
    let shown = run(project, &["status"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{}", shown.stdout);
    shown.stdout
}

fn now() -> String {
    let time = std::process::Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output().unwrap();
    String::from_utf8(time.stdout).unwrap().trim().to_owned()
}

fn next(project: &TestProject) -> String {
    let screen = screen(project);
    screen.split_once("\nnext       ").unwrap().1.replace("\n           ", " ").trim_end().to_owned()
}

#[test]
fn without_a_workflow_directory_it_says_what_to_do() {
    let project = TestProject::new();
    let shown = run(&project, &["status"]);
    assert_eq!(shown.code, 1);
    assert_shown!("phases-cli-no-workflow", shown.stdout.replace('\n', " "));
    assert_eq!(run(&project, &["status", "--json"]).stdout, "{\"project\":null}\n");
}

#[test]
fn without_a_workflow_nothing_is_blocked() {
    let expected = "\
project    <project>
workflow   none is active, so nothing is blocked
guards     18 of 18 are on
";
    let idle = project(&json!({"active_workflow": null, "phases": {}}));
    assert_eq!(screen(&idle), expected);
    let bare = TestProject::new();
    bare.write_file(".isdlc/config/x.json", "{}");
    assert_eq!(screen(&bare), expected);
}

#[test]
fn in_the_middle_of_the_work() {
    let mut state = workflow("06-implementation");
    state["phases"]["06-implementation"] = json!({
        "status": "in_progress",
        "iteration_requirements": {"test_iteration": {"current_iteration": 3, "max_iterations": 10,
            "last_test_result": "failed", "completed": false}},
    });
    state["pending_escalations"] = json!([{"type": "gate_blocked"}, {"type": "gate_blocked"}]);
    let project = project(&state);
    project.write_file("docs/isdlc/tasks.md", "# Tasks\n");
    project.write_file("provost.toml", "[guards]\nmenu-tracker = \"off\"\n");
    assert_shown!("phases-cli-status", screen(&project));
}

#[test]
fn the_next_step_follows_from_what_is_missing() {
    let mut state = workflow("06-implementation");
    assert_eq!(next(&project(&state)), "mark 06-implementation as in_progress, then start its agents");
    state["phases"]["06-implementation"] = json!({"status": "in_progress"});
    let project = project(&state);
    assert_eq!(next(&project), "write the plan of tasks to docs/isdlc/tasks.md");
    project.write_file("docs/isdlc/tasks.md", "# Tasks\n");
    let then = |state: &Value, step: &str| {
        project.write_file(".isdlc/state.json", &state.to_string());
        assert_eq!(next(&project), step);
    };
    let phase = |field: &str| format!("/phases/06-implementation/{field}");
    then(&state, "make the tests pass");
    state["phases"]["06-implementation"]["iteration_requirements"] = json!({"test_iteration": {"completed": true,
        "status": "escalated", "escalation_reason": "circuit_breaker", "current_iteration": 3}});
    then(&state, "the tests were given up (circuit_breaker): the user decides");
    *state.pointer_mut(&phase("iteration_requirements/test_iteration")).unwrap() =
        json!({"completed": true, "status": "success", "current_iteration": 3});
    then(&state, "check the work against the constitution's articles I, II");
    state["phases"]["06-implementation"]["constitutional_validation"] =
        json!({"completed": true, "status": "compliant", "iterations_used": 1});
    then(&state, "start an agent of 06-implementation, such as software-developer");
    state["skill_usage_log"] = json!([{"agent": "developer", "agent_phase": "06-implementation"}]);
    then(&state, "nothing known is missing: go through GATE-06 to 07-testing");
    state["pending_delegation"] =
        json!({"required_agent": "sdlc-orchestrator", "invoked_at": "2026-02-08T20:00:00Z"});
    then(&state, "nothing known is missing: go through GATE-06 to 07-testing");
    state["pending_delegation"]["invoked_at"] = now().into();
    state["pending_delegation"]["session"] = "another".into();
    then(&state, "let sdlc-orchestrator work: the last skill needs it, and no turn ends before that");
    state["pending_delegation"] = Value::Null;
    state["active_workflow"]["phases"] = json!(["05-test-strategy", "06-implementation"]);
    then(&state, "nothing known is missing: go through GATE-06, and finish the workflow");
    state["active_workflow"].as_object_mut().unwrap().remove("current_phase");
    then(&state, "the state names no current phase: the orchestrator sets it when it begins one");
}

#[test]
fn talks_with_the_user_count_by_their_last_choice() {
    let mut state = workflow("01-requirements");
    let talks = json!({"completed": true, "menu_interactions": 4, "final_selection": "exit"});
    state["phases"]["01-requirements"] =
        json!({"status": "in_progress", "iteration_requirements": {"interactive_elicitation": talks}});
    let flow = project(&state);
    assert_shown!("phases-cli-status-talks", screen(&flow));
    assert_eq!(next(&flow), "discuss the phase with the user, until they choose save or continue");
    let seen = screen(&project(&serde_json::from_str(&state.to_string().replace("exit", "save")).unwrap()));
    assert!(seen.contains("\ntalks      met: 4 menus were shown"), "{seen}");
}

#[test]
fn a_workflow_can_override_requirements() {
    let mut state = workflow("05-implementation");
    state["active_workflow"]["type"] = "fix".into();
    // The phase is shown under its other name.
    assert_shown!("phases-cli-status-fix", screen(&project(&state)));
}

#[test]
fn a_workflow_without_a_plan_needs_none() {
    let mut state = workflow("07-testing");
    state["active_workflow"]["type"] = "test-run".into();
    state["active_workflow"]["phases"] = json!(["11-local-testing", "07-testing"]);
    state["phases"]["07-testing"] = json!({"status": "in_progress"});
    assert_shown!("phases-cli-status-test-run", screen(&project(&state)));
    state["active_workflow"]["type"] = "feature".into();
    state["active_workflow"]["phases"] = json!(["06-implementation"]);
    state["active_workflow"]["current_phase"] = "06-implementation".into();
    state["iteration_enforcement"] = json!({"enabled": false});
    assert_shown!("phases-cli-status-not-enforced", screen(&project(&state)));
}

/// The guards accept what the user approved, so the screen does too.
#[test]
fn a_given_up_requirement_is_met_by_the_users_approval() {
    let mut state = workflow("06-implementation");
    let given_up = json!({"status": "escalated", "escalation_approved": true, "current_iteration": 3});
    state["phases"]["06-implementation"] = json!({"status": "in_progress",
        "iteration_requirements": {"test_iteration": given_up}, "constitutional_validation": given_up});
    assert_shown!("phases-cli-status-approved", screen(&project(&state)));
    state["phases"]["06-implementation"]["constitutional_validation"] =
        json!({"completed": true, "status": "done", "iterations_used": 1});
    let seen = screen(&project(&state)).replace("\n           ", " ");
    assert!(seen.contains("missing: articles I, II: the check is done, but its status is not"), "{seen}");
}

#[test]
fn a_workflow_whose_index_and_phase_disagree_does_not_advance() {
    let mut state = workflow("07-testing");
    state["phases"]["07-testing"] = json!({"status": "in_progress"});
    state["active_workflow"]["current_phase_index"] = 1.into();
    let flow = project(&state);
    flow.write_file("docs/isdlc/tasks.md", "# Tasks\n");
    flow.write_file(
        ".isdlc/config/workflows.json",
        r#"{"workflows": {"feature": {"phases": ["01-requirements", "05-test-strategy", "07-testing"]}}}"#,
    );
    let step = next(&flow);
    assert!(
        step.starts_with(
            "the state says `07-testing`, but its index 1 means `05-test-strategy`; make them agree: "
        ),
        "{step}"
    );
}

#[test]
fn a_phase_without_a_workflow_has_its_gate() {
    let mut state = json!({"current_phase": "06-implementation"});
    let flow = project(&state);
    assert_shown!("phases-cli-status-left-over", screen(&flow));
    let seen: Value = serde_json::from_str(&run(&flow, &["status", "--json"]).stdout).unwrap();
    assert!(seen["left_over"]["what"].is_string() && seen["workflow"].is_null(), "{seen}");
    state["active_workflow"] = Value::Null;
    assert!(screen(&project(&state)).contains("\nworkflow   none is active, so nothing is blocked\n"));
}

#[test]
fn each_project_of_a_repository_has_its_own_state() {
    let flow = project(&json!({}));
    let monorepo = json!({"projects": {"api": {"path": "apps/api"}, "web": {"path": "apps/web/"}}});
    flow.write_file(".isdlc/monorepo.json", &monorepo.to_string());
    flow.write_file(".isdlc/projects/api/state.json", &workflow("05-test-strategy").to_string());
    flow.write_file("apps/api/x", "");
    let mut inside = command(&flow, &["status"]);
    inside.current_dir(flow.path.join("apps/api"));
    assert_shown!("phases-cli-status-member", answered(&flow, inside).stdout);
    let seen = screen(&flow);
    assert!(seen.contains("\nmember     unknown: the repository has several projects"), "{seen}");
    let mut named = command(&flow, &["status", "--json"]);
    named.env("ISDLC_PROJECT", "api");
    let seen: Value = serde_json::from_str(&answered(&flow, named).stdout).unwrap();
    assert_eq!(
        (&seen["member"], &seen["workflow"]["current_phase"]),
        (&json!("api"), &json!("05-test-strategy"))
    );
}

#[test]
fn an_unreadable_state_is_reported() {
    let errors = ["{\"active_workflow\": ", "[]", ""].map(|text| {
        let project = project(&json!({}));
        project.write_file(".isdlc/state.json", text);
        let [screen, json] = [&["status"][..], &["status", "--json"]].map(|arguments| {
            let shown = run(&project, arguments);
            assert_eq!((shown.code, shown.stdout.as_str()), (74, ""));
            shown.stderr
        });
        assert_eq!(screen, json);
        screen
    });
    assert_shown!("phases-cli-unreadable-state", errors.join("\n"));
}

#[test]
fn text_in_files_cannot_control_the_terminal() {
    let evil = "\u{1b}[2J\u{202e}\nphases";
    let mut state = workflow(evil);
    state["active_workflow"]["type"] = evil.into();
    state["active_workflow"]["git_branch"]["name"] = evil.into();
    state["active_workflow"]["phases"] = json!([evil, 7, null]);
    state["phases"][evil] = json!({"status": evil});
    state["pending_delegation"] = json!({"required_agent": evil, "invoked_at": evil});
    let flow = project(&state);
    flow.write_file(".git/HEAD", &format!("ref: refs/heads/{evil}\n"));
    let monorepo = json!({"default_project": "a\u{1b}b", "projects": {}});
    let check = |flow: &TestProject| {
        let seen = screen(flow);
        assert!(!seen.contains(['\u{1b}', '\u{202e}']), "{seen:?}");
        seen
    };
    let seen = check(&flow);
    assert!(seen.contains("workflow   \\u{1b}[2J\\u{202e} phases\n"), "{seen}");
    assert_eq!(seen.lines().filter(|line| line.starts_with("phases")).count(), 1, "{seen}");
    flow.write_file(".isdlc/monorepo.json", &monorepo.to_string());
    assert!(check(&flow).contains("member     a\\u{1b}b\n"));
    let odd = project(&json!({"active_workflow": {"type": 5, "phases": "x", "git_branch": []}, "phases": 3,
        "pending_delegation": 7, "pending_escalations": "many"}));
    assert!(check(&odd).contains(
        "workflow   without a type\nbranch     none of its own\nphases     the state names none\n"
    ));
}

#[test]
fn json_has_the_same_facts() {
    let mut state = workflow("06-implementation");
    state["phases"]["06-implementation"] = json!({"status": "in_progress"});
    let project = project(&state);
    let shown = run(&project, &["status", "--json"]);
    let seen: Value = serde_json::from_str(&shown.stdout).unwrap();
    let flow = &seen["workflow"];
    assert_eq!((shown.code, &seen["project"], &seen["member"]), (0, &json!("<project>"), &Value::Null));
    assert_eq!(seen["guards"], json!({"on": 18, "off": []}));
    assert_eq!(flow["branch"], json!({"name": "feature/REQ-0004-x", "active": true}));
    assert_eq!((&flow["on_branch"], &flow["gate"]), (&json!("main"), &json!("GATE-06")));
    assert_eq!(
        flow["phases"][2],
        json!({"name": "06-implementation", "status": "in_progress", "current": true})
    );
    assert_eq!(
        flow["requirements"][0],
        json!({"what": "tests", "met": false, "used": null, "allowed": 10, "text": "none of 10 tries used"})
    );
    assert_eq!(flow["tasks"], json!({"path": "docs/isdlc/tasks.md", "exists": false, "needed": true}));
    assert_eq!(flow["next"], "write the plan of tasks to docs/isdlc/tasks.md");
}

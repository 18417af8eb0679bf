//! Where a workflow stands.

use serde_json::{Value, json};

use crate::support::TestProject;
use crate::support::flow::begun;
use crate::{answered, command, run};

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
    let mut state = begun(phase);
    state["phases"] =
        json!({"01-requirements": {"status": "completed"}, "05-test-strategy": {"status": "completed"}});
    state
}

fn project(state: &Value) -> TestProject {
    let project = TestProject::new();
    project.file(".isdlc/state.json", &state.to_string());
    project.file(".claude/hooks/config/iteration-requirements.json", REQUIREMENTS);
    let owners = json!({"ownership": {"software-developer": {"phase": "06-implementation"}}});
    project.file(".claude/hooks/config/skills-manifest.json", &owners.to_string());
    project.file(".git/HEAD", "ref: refs/heads/main\n");
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
fn without_a_workflows_directory_it_says_what_to_do() {
    let project = TestProject::new();
    let shown = run(&project, &["status"]);
    assert_eq!(shown.code, 1);
    let text = shown.stdout.replace('\n', " ");
    assert!(text.starts_with("[provost] <project> and the directories above it have no `.isdlc`"), "{text}");
    assert!(text.contains("To fix: "), "{text}");
    assert_eq!(run(&project, &["status", "--json"]).stdout, "{\"project\":null}\n");
}

#[test]
fn without_a_workflow_nothing_is_held_back() {
    let expected = "\
project    <project>
workflow   none is under way: nothing is held back
guards     18 of 18 are on
";
    let idle = project(&json!({"active_workflow": null, "phases": {}}));
    assert_eq!(screen(&idle), expected);
    let bare = TestProject::new();
    bare.file(".isdlc/config/x.json", "{}");
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
    project.file("docs/isdlc/tasks.md", "# Tasks\n");
    project.file("provost.toml", "[guards]\nmenu-tracker = \"off\"\n");
    assert_eq!(
        screen(&project),
        "\
project    <project>
workflow   feature
branch     feature/REQ-0004-x; the repository is on main
phases       01-requirements    completed
             05-test-strategy   completed
           > 06-implementation  in_progress
             07-testing         not begun
gate       GATE-06
tests      missing: 3 of 10 tries used, the last one failed
articles   missing: articles I, II: none of 5 tries used
agent      missing: no agent of this phase has worked, such as software-developer
tasks      docs/isdlc/tasks.md
escalated  2 wait in the state
guards     17 of 18 are on; off: menu-tracker
next       make the tests pass
"
    );
}

#[test]
fn the_next_step_follows_from_what_is_missing() {
    let mut state = workflow("06-implementation");
    assert_eq!(next(&project(&state)), "mark 06-implementation as in_progress, then hand its work out");
    state["phases"]["06-implementation"] = json!({"status": "in_progress"});
    let project = project(&state);
    assert_eq!(next(&project), "write the plan of tasks to docs/isdlc/tasks.md");
    project.file("docs/isdlc/tasks.md", "# Tasks\n");
    let then = |state: &Value, step: &str| {
        project.file(".isdlc/state.json", &state.to_string());
        assert_eq!(next(&project), step);
    };
    let phase = |field: &str| format!("/phases/06-implementation/{field}");
    then(&state, "make the tests pass");
    state["phases"]["06-implementation"]["iteration_requirements"] = json!({"test_iteration": {"completed": true,
        "status": "escalated", "escalation_reason": "circuit_breaker", "current_iteration": 3}});
    then(&state, "the tests were given up (circuit_breaker): a person decides");
    *state.pointer_mut(&phase("iteration_requirements/test_iteration")).unwrap() =
        json!({"completed": true, "status": "success", "current_iteration": 3});
    then(&state, "check the work against the constitution's articles I, II");
    state["phases"]["06-implementation"]["constitutional_validation"] =
        json!({"completed": true, "status": "compliant", "iterations_used": 1});
    then(&state, "hand work to an agent of 06-implementation, such as software-developer");
    state["skill_usage_log"] = json!([{"agent": "developer", "agent_phase": "06-implementation"}]);
    then(&state, "all that is known is met: go through GATE-06 to 07-testing");
    state["pending_delegation"] =
        json!({"required_agent": "sdlc-orchestrator", "invoked_at": "2026-02-08T20:00:00Z"});
    then(&state, "all that is known is met: go through GATE-06 to 07-testing");
    state["pending_delegation"]["invoked_at"] = now().into();
    state["pending_delegation"]["session"] = "another".into();
    then(&state, "let sdlc-orchestrator work, which the last skill stands for: a turn does not end before");
    state["pending_delegation"] = Value::Null;
    state["active_workflow"]["phases"] = json!(["05-test-strategy", "06-implementation"]);
    then(&state, "all that is known is met: go through GATE-06, and finish the workflow");
    state["active_workflow"].as_object_mut().unwrap().remove("current_phase");
    then(&state, "the state names no current phase: the orchestrator sets it when it begins one");
}

#[test]
fn talks_with_the_person_count_by_their_end() {
    let mut state = workflow("01-requirements");
    let talks = json!({"completed": true, "menu_interactions": 4, "final_selection": "exit"});
    state["phases"]["01-requirements"] =
        json!({"status": "in_progress", "iteration_requirements": {"interactive_elicitation": talks}});
    let flow = project(&state);
    let seen = screen(&flow).replace("\n           ", " ");
    assert!(seen.contains("\ntalks      missing: 4 menus were shown; the last choice was exit\n"), "{seen}");
    assert!(
        seen.contains("\ntasks      docs/isdlc/tasks.md is not there yet, and not needed in this phase\n")
    );
    assert_eq!(next(&flow), "talk the phase through with the person, until they choose save or continue");
    let seen = screen(&project(&serde_json::from_str(&state.to_string().replace("exit", "save")).unwrap()));
    assert!(seen.contains("\ntalks      met: 4 menus were shown"), "{seen}");
}

#[test]
fn a_workflow_may_wish_for_something_else() {
    let mut state = workflow("05-implementation");
    state["active_workflow"]["type"] = "fix".into();
    let seen = screen(&project(&state));
    assert!(seen.contains("\ntests      missing: none of 4 tries used\n"), "{seen}");
    assert!(seen.contains("> 06-implementation  not begun\n"), "under its other name: {seen}");
}

#[test]
fn a_workflow_without_a_plan_needs_none() {
    let mut state = workflow("07-testing");
    state["active_workflow"]["type"] = "test-run".into();
    state["active_workflow"]["phases"] = json!(["11-local-testing", "07-testing"]);
    state["phases"]["07-testing"] = json!({"status": "in_progress"});
    let seen = screen(&project(&state));
    assert!(seen.contains("\ndemands    none that are known for this phase\n"), "{seen}");
    assert!(seen.contains("is not there yet, and not needed in this phase\n"), "{seen}");
    state["active_workflow"]["type"] = "feature".into();
    state["active_workflow"]["phases"] = json!(["06-implementation"]);
    state["active_workflow"]["current_phase"] = "06-implementation".into();
    state["iteration_enforcement"] = json!({"enabled": false});
    let seen = screen(&project(&state));
    assert!(seen.contains("\ndemands    none that are known for this phase\n"), "{seen}");
    assert!(seen.contains("\ntasks      missing: docs/isdlc/tasks.md is not there\n"), "{seen}");
}

/// What a person approved is met for the guards, so it is here.
#[test]
fn what_was_given_up_is_met_by_a_persons_approval() {
    let mut state = workflow("06-implementation");
    let given_up = json!({"status": "escalated", "escalation_approved": true, "current_iteration": 3});
    state["phases"]["06-implementation"] = json!({"status": "in_progress",
        "iteration_requirements": {"test_iteration": given_up}, "constitutional_validation": given_up});
    let seen = screen(&project(&state)).replace("\n           ", " ");
    let line = "\ntests      met: given up, and a person approved that; 3 of 10 tries used\n";
    assert!(seen.contains(line), "{seen}");
    let line = "\narticles   met: articles I, II: given up, and a person approved that; 0 of 5 tries used\n";
    assert!(seen.contains(line), "{seen}");
    state["phases"]["06-implementation"]["constitutional_validation"] =
        json!({"completed": true, "status": "done", "iterations_used": 1});
    let seen = screen(&project(&state)).replace("\n           ", " ");
    assert!(seen.contains("missing: articles I, II: the check is over, but its status is not"), "{seen}");
}

#[test]
fn a_workflow_whose_count_and_phase_disagree_does_not_go_on() {
    let mut state = workflow("07-testing");
    state["phases"]["07-testing"] = json!({"status": "in_progress"});
    state["active_workflow"]["current_phase_index"] = 1.into();
    let flow = project(&state);
    flow.file("docs/isdlc/tasks.md", "# Tasks\n");
    flow.file(
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
    let seen = screen(&flow);
    assert!(seen.contains("\nworkflow   none is under way, but the state still names a phase\n"), "{seen}");
    assert!(seen.contains("\nheld       GATE BLOCKED: 06-implementation does not meet"), "{seen}");
    assert!(
        seen.contains("\nnext       take `current_phase` out of the state, or begin a workflow\n"),
        "{seen}"
    );
    let seen: Value = serde_json::from_str(&run(&flow, &["status", "--json"]).stdout).unwrap();
    assert!(seen["left_over"]["what"].is_string() && seen["workflow"].is_null(), "{seen}");
    state["active_workflow"] = Value::Null;
    assert!(screen(&project(&state)).contains("\nworkflow   none is under way: nothing is held back\n"));
}

#[test]
fn each_project_of_a_repository_has_its_own_state() {
    let flow = project(&json!({}));
    let monorepo = json!({"projects": {"api": {"path": "apps/api"}, "web": {"path": "apps/web/"}}});
    flow.file(".isdlc/monorepo.json", &monorepo.to_string());
    flow.file(".isdlc/projects/api/state.json", &workflow("05-test-strategy").to_string());
    flow.file("apps/api/x", "");
    let mut inside = command(&flow, &["status"]);
    inside.current_dir(flow.path.join("apps/api"));
    let seen = answered(&flow, inside).stdout;
    assert!(seen.starts_with("project    <project>\nmember     api\nworkflow   feature\n"), "{seen}");
    assert!(seen.contains("\ntasks      docs/isdlc/projects/api/tasks.md is not there yet"), "{seen}");
    let seen = screen(&flow);
    assert!(seen.contains("\nmember     there are several projects, and none is meant here"), "{seen}");
    let mut named = command(&flow, &["status", "--json"]);
    named.env("ISDLC_PROJECT", "api");
    let seen: Value = serde_json::from_str(&answered(&flow, named).stdout).unwrap();
    assert_eq!(
        (&seen["member"], &seen["workflow"]["current_phase"]),
        (&json!("api"), &json!("05-test-strategy"))
    );
}

#[test]
fn a_state_that_cannot_be_read_is_told() {
    for (text, why) in [("{\"active_workflow\": ", "EOF"), ("[]", "expected a JSON object"), ("", "EOF")] {
        let project = project(&json!({}));
        project.file(".isdlc/state.json", text);
        for arguments in [&["status"][..], &["status", "--json"]] {
            let shown = run(&project, arguments);
            assert_eq!((shown.code, shown.stdout.as_str()), (74, ""));
            assert!(shown.stderr.starts_with("[provost] <project>/.isdlc/state.json cannot be read: "));
            assert!(shown.stderr.contains(why) && shown.stderr.contains("To fix: "), "{}", shown.stderr);
        }
    }
}

#[test]
fn what_files_say_cannot_paint_on_the_terminal() {
    let evil = "\u{1b}[2J\u{202e}\nphases";
    let mut state = workflow(evil);
    state["active_workflow"]["type"] = evil.into();
    state["active_workflow"]["git_branch"]["name"] = evil.into();
    state["active_workflow"]["phases"] = json!([evil, 7, null]);
    state["phases"][evil] = json!({"status": evil});
    state["pending_delegation"] = json!({"required_agent": evil, "invoked_at": evil});
    let flow = project(&state);
    flow.file(".git/HEAD", &format!("ref: refs/heads/{evil}\n"));
    let monorepo = json!({"default_project": "a\u{1b}b", "projects": {}});
    let check = |flow: &TestProject| {
        let seen = screen(flow);
        assert!(!seen.contains(['\u{1b}', '\u{202e}']), "{seen:?}");
        seen
    };
    let seen = check(&flow);
    assert!(seen.contains("workflow   \\u{1b}[2J\\u{202e} phases\n"), "{seen}");
    assert_eq!(seen.lines().filter(|line| line.starts_with("phases")).count(), 1, "{seen}");
    flow.file(".isdlc/monorepo.json", &monorepo.to_string());
    assert!(check(&flow).contains("member     a\\u{1b}b\n"));
    let odd = project(&json!({"active_workflow": {"type": 5, "phases": "x", "git_branch": []}, "phases": 3,
        "pending_delegation": 7, "pending_escalations": "many"}));
    assert!(
        check(&odd)
            .contains("workflow   of no type\nbranch     none of its own\nphases     the state names none\n")
    );
}

#[test]
fn the_same_as_data() {
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

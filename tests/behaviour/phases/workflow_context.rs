//! Where a project's files are, which project of several counts, and how files of a wrong form are read.

use std::fs;

use serde_json::{Value, json};

use super::{WorkflowProject, started_workflow};

const ORDER: &str = "phase-sequence-guard";
const PLAN: &str = "plan-surfacer";

/// A repository of two projects, one within the other's directory. Each is in another phase, so that a
/// reason shows which state was read.
fn repository() -> WorkflowProject {
    let flow = WorkflowProject::new();
    let projects = json!({"projects": {"shop": {"path": "apps/shop/"}, "api": {"path": "apps/shop/api"},
        "shopping": {"path": "./apps/shopping"}}});
    flow.project.write_file(".isdlc/monorepo.json", &projects.to_string());
    for (name, phase) in [("shop", "03-architecture"), ("api", "04-design"), ("shopping", "09-validation")] {
        flow.project
            .write_file(&format!(".isdlc/projects/{name}/state.json"), &started_workflow(phase).to_string());
    }
    flow.write_state(&started_workflow("10-cicd"));
    flow
}

/// The phase whose state was read for a call in this directory; `None`: no state was read.
fn find_phase_in(flow: &WorkflowProject, directory: &str) -> Option<String> {
    fs::create_dir_all(flow.project.path.join(directory)).unwrap();
    let mut event = flow.delegation("integration-tester", "go");
    event["cwd"] = flow.project.path.join(directory).to_str().unwrap().into();
    let reason = flow.find_denial(ORDER, &event)?;
    let (_, rest) = reason.split_once("the workflow is in `").expect(&reason);
    Some(rest.split('`').next().unwrap().to_owned())
}

fn with_variable(flow: WorkflowProject, value: &str) -> WorkflowProject {
    WorkflowProject { project: flow.project.with_variable("ISDLC_PROJECT", value) }
}

#[test]
fn the_nearest_project_around_the_event_counts() {
    let flow = repository();
    for (directory, phase) in [
        ("apps/shop", "03-architecture"),
        ("apps/shop/src/deep", "03-architecture"),
        ("apps/shop/api", "04-design"),
        ("apps/shop/api/src", "04-design"),
        ("apps/shop/apis", "03-architecture"),
        ("apps/shopping", "09-validation"),
        ("apps/shop/../shopping", "09-validation"),
    ] {
        assert_eq!(find_phase_in(&flow, directory).as_deref(), Some(phase), "{directory}");
    }
}

#[test]
fn without_one_the_default_project_counts_and_without_that_the_whole_repository() {
    let flow = repository();
    assert_eq!(find_phase_in(&flow, "apps").as_deref(), Some("10-cicd"));
    let mut repository: Value =
        serde_json::from_str(&fs::read_to_string(flow.project.path.join(".isdlc/monorepo.json")).unwrap())
            .unwrap();
    repository["default_project"] = json!("api");
    flow.project.write_file(".isdlc/monorepo.json", &repository.to_string());
    assert_eq!(find_phase_in(&flow, "apps").as_deref(), Some("04-design"));
    assert_eq!(
        find_phase_in(&flow, "apps/shopping").as_deref(),
        Some("09-validation"),
        "but not where one is around"
    );
    for odd in [json!(".."), json!("../projects/api"), json!("/api"), json!(""), json!(5), json!(null)] {
        repository["default_project"] = odd.clone();
        flow.project.write_file(".isdlc/monorepo.json", &repository.to_string());
        assert_eq!(find_phase_in(&flow, "apps").as_deref(), Some("10-cicd"), "{odd}");
    }
}

#[test]
fn a_variable_names_the_project() {
    let flow = with_variable(repository(), "api");
    assert_eq!(find_phase_in(&flow, "apps/shopping").as_deref(), Some("04-design"));
    // It is the name of a directory, never a path that leads out of it.
    for odd in ["..", "../..", "../projects/api", "api/..", "/etc", ".", ""] {
        let flow = with_variable(repository(), odd);
        assert_eq!(find_phase_in(&flow, "apps/shopping").as_deref(), Some("09-validation"), "{odd}");
    }
    // In a repository with one project it means nothing.
    let flow = with_variable(repository(), "api");
    fs::remove_file(flow.project.path.join(".isdlc/monorepo.json")).unwrap();
    assert_eq!(find_phase_in(&flow, "apps/shopping").as_deref(), Some("10-cicd"));
}

#[test]
fn a_project_without_a_state_does_not_use_that_of_the_repository() {
    let flow = with_variable(repository(), "unborn");
    assert_eq!(find_phase_in(&flow, "apps/shop"), None);
    flow.project
        .write_file(".isdlc/projects/unborn/state.json", &started_workflow("08-code-review").to_string());
    assert_eq!(find_phase_in(&flow, "apps/shop").as_deref(), Some("08-code-review"));
}

#[test]
fn an_unreadable_list_of_projects_names_no_project() {
    for text in [
        "",
        "{",
        "[]",
        "null",
        "5",
        r#"{"projects": []}"#,
        r#"{"projects": {"shop": 5, "api": {"path": ["apps"]}}}"#,
    ] {
        let flow = repository();
        flow.project.write_file(".isdlc/monorepo.json", text);
        assert_eq!(find_phase_in(&flow, "apps/shop").as_deref(), Some("10-cicd"), "{text}");
        let flow = with_variable(flow, "shop");
        assert_eq!(find_phase_in(&flow, "apps").as_deref(), Some("03-architecture"), "{text}");
    }
}

#[test]
fn a_plan_is_found_in_either_of_two_places() {
    let find_denial =
        |flow: &WorkflowProject| flow.find_denial(PLAN, &flow.delegation("software-developer", "go"));
    let new = |flow: &WorkflowProject| flow.project.path.join("docs/isdlc/tasks.md").display().to_string();
    let flow = WorkflowProject::in_phase("06-implementation");
    assert!(find_denial(&flow).unwrap().contains(&new(&flow)), "it would be in the new one");
    for files in
        [&["docs/isdlc/tasks.md"][..], &[".isdlc/tasks.md"], &["docs/isdlc/tasks.md", ".isdlc/tasks.md"]]
    {
        let flow = WorkflowProject::in_phase("06-implementation");
        for file in files {
            flow.project.write_file(file, "# Tasks\n");
        }
        assert_eq!(find_denial(&flow), None, "{files:?}");
    }
    for elsewhere in ["tasks.md", "docs/tasks.md", ".isdlc/projects/a/tasks.md"] {
        let flow = WorkflowProject::in_phase("06-implementation");
        flow.project.write_file(elsewhere, "# Tasks\n");
        assert!(find_denial(&flow).is_some(), "{elsewhere}");
    }
}

#[test]
fn a_manifest_is_found_in_either_of_two_places() {
    const BESIDE_HOOKS: &str = ".claude/hooks/config/skills-manifest.json";
    const OWN: &str = ".isdlc/config/skills-manifest.json";
    let manifest = |phase: &str| {
        json!({"ownership": {"maker": {"phase": phase}, "looker": {"phase": "02-tracing"}}}).to_string()
    };
    // The workflow is in tracing: an agent of another phase is denied, and the reason names its phase.
    for (files, found) in [
        (&[(BESIDE_HOOKS, "06-implementation")][..], Some("06-implementation")),
        (&[(OWN, "07-testing")], Some("07-testing")),
        (&[(BESIDE_HOOKS, "06-implementation"), (OWN, "07-testing")], Some("06-implementation")),
        (&[(BESIDE_HOOKS, "02-tracing"), (OWN, "07-testing")], None),
        (&[], None),
    ] {
        let flow = WorkflowProject::in_phase("02-tracing");
        flow.without_manifest();
        for (file, phase) in files {
            flow.project.write_file(file, &manifest(phase));
        }
        let reason = flow.find_denial(ORDER, &flow.delegation("maker", "go"));
        assert_eq!(reason.is_some(), found.is_some(), "{files:?}");
        assert!(reason.is_none_or(|reason| reason.contains(&format!(" is for `{}`", found.unwrap()))));
    }
}

#[test]
fn the_root_is_found_above_the_directory_of_the_session() {
    let deep = |flow: &WorkflowProject| {
        let directory = flow.project.path.join("src/deep");
        fs::create_dir_all(&directory).unwrap();
        directory
    };
    let flow = WorkflowProject::in_phase("02-tracing");
    let directory = deep(&flow);
    let flow = WorkflowProject { project: flow.project.with_variable("CLAUDE_PROJECT_DIR", &directory) };
    let event = flow.delegation("qa-engineer", "go");
    assert!(flow.find_denial(ORDER, &event).is_some());
    // Without a directory of the session, the event's directory counts.
    let flow = WorkflowProject { project: flow.project.without_variable("CLAUDE_PROJECT_DIR") };
    let mut event = event;
    event["cwd"] = directory.to_str().unwrap().into();
    assert!(flow.find_denial(ORDER, &event).is_some());
    // Files above the repository belong to another project.
    fs::create_dir_all(flow.project.path.join("src/.git")).unwrap();
    assert_eq!(flow.find_denial(ORDER, &event), None);
}

#[test]
fn in_a_project_without_a_workflow_nothing_is_denied() {
    let flow = WorkflowProject::in_phase("02-tracing");
    let event = flow.delegation("qa-engineer", "go");
    assert!(flow.find_denial(ORDER, &event).is_some());
    fs::remove_dir_all(flow.project.path.join(".isdlc")).unwrap();
    assert_eq!(flow.find_denial(ORDER, &event), None);
    flow.project.write_file(".isdlc", "a file");
    assert_eq!(flow.find_denial(ORDER, &event), None);
}

/// L13: any field of any file may be missing or wrong.
#[test]
fn files_of_a_wrong_form_deny_nothing() {
    let flow = WorkflowProject::new();
    let event = flow.delegation("qa-engineer", "go");
    let odd =
        [json!(null), json!(true), json!(7), json!("x"), json!([]), json!([[]]), json!({}), json!({"a": 1})];
    let workflow = |value: &Value| json!({"active_workflow": value});
    let phase = |value: &Value| json!({"active_workflow": {"current_phase": value}, "current_phase": value});
    for value in &odd {
        for state in [value.clone(), workflow(value), phase(value)] {
            flow.write_state(&state);
            for guard in ["phase-loop-controller", PLAN, ORDER] {
                assert_eq!(flow.find_denial(guard, &event), None, "{guard} {state}");
            }
        }
    }
    flow.write_state(&started_workflow("02-tracing"));
    let owner = |value: &Value| json!({"ownership": {"qa-engineer": value, "tracing-orchestrator": {"phase": "02-tracing"}}});
    let with_phase =
        |value: &Value| json!({"ownership": {"qa-engineer": {"phase": value}, "a": {"phase": "02-tracing"}}});
    for value in &odd {
        for manifest in [value.clone(), json!({"ownership": value}), owner(value), with_phase(value)] {
            flow.project.write_file(".claude/hooks/config/skills-manifest.json", &manifest.to_string());
            assert_eq!(flow.find_denial(ORDER, &event), None, "{manifest}");
        }
    }
    flow.project.write_file(
        ".claude/hooks/config/skills-manifest.json",
        &with_phase(&json!("08-code-review")).to_string(),
    );
    assert!(flow.find_denial(ORDER, &event).is_some());
}

/// Other fields may be odd; the field that counts is there.
#[test]
fn an_odd_field_does_not_hide_the_others() {
    let flow = WorkflowProject::new();
    for odd in [json!(null), json!(7), json!("x"), json!([1]), json!({"a": []})] {
        let mut state = started_workflow("02-tracing");
        for field in ["type", "phases", "git_branch", "current_phase_index", "atdd_mode"] {
            state["active_workflow"][field] = odd.clone();
        }
        for field in ["phases", "current_phase", "skill_usage_log", "discovery_context"] {
            state[field] = odd.clone();
        }
        flow.write_state(&state);
        assert!(flow.find_denial(ORDER, &flow.delegation("qa-engineer", "go")).is_some(), "{odd}");
        assert_eq!(flow.find_denial(ORDER, &flow.delegation("tracing-orchestrator", "go")), None, "{odd}");
    }
}

#[test]
fn calls_of_a_wrong_form_are_allowed() {
    let flow = WorkflowProject::in_phase("02-tracing");
    for (input, held) in [
        (json!({"subagent_type": 5, "prompt": [], "description": {}}), false),
        (json!({"subagent_type": ["qa-engineer"], "prompt": null}), false),
        (json!({}), false),
        (json!(null), false),
        (json!([]), false),
        (json!("qa-engineer"), false),
        (json!({"subagent_type": null, "prompt": "ask the qa-engineer", "description": 5}), true),
        (json!({"subagent_type": "qa-engineer"}), true),
    ] {
        assert_eq!(
            flow.find_denial(ORDER, &flow.call("PreToolUse.Agent", &input)).is_some(),
            held,
            "{input}"
        );
    }
}

#[test]
fn a_state_of_many_megabytes_is_read() {
    let flow = WorkflowProject::new();
    let mut state = started_workflow("02-tracing");
    state["skill_usage_log"] = json!(vec!["x".repeat(1000); 5000]);
    flow.write_state(&state);
    assert!(flow.find_denial(ORDER, &flow.delegation("qa-engineer", "go")).is_some());
}

/// Editors on Windows write a byte order mark.
#[test]
fn a_byte_order_mark_hides_no_configuration() {
    let flow = WorkflowProject::in_phase("06-implementation");
    flow.write_tasks();
    let event = flow.delegation("qa-engineer", "go");
    let manifest = ".claude/hooks/config/skills-manifest.json";
    let text = std::fs::read_to_string(flow.project.path.join(manifest)).unwrap();
    flow.project.write_file(manifest, &format!("\u{feff}{text}"));
    assert!(flow.find_denial("phase-sequence-guard", &event).is_some());
}

/// The journal's entry of a guard for an event.
fn find_journal_entry(flow: &WorkflowProject, guard: &str) -> Value {
    let line = flow.project.read_journal().pop().expect("a line in the journal");
    let entry = line["guards"].as_array().unwrap().iter().find(|entry| entry["guard"] == guard).cloned();
    entry.unwrap_or_else(|| panic!("nothing of {guard}: {line}"))
}

#[test]
fn an_unreadable_file_is_a_fault_of_each_guard_that_needs_it() {
    const MANIFEST: &str = ".claude/hooks/config/skills-manifest.json";
    const DEMANDS: &str = ".claude/hooks/config/iteration-requirements.json";
    for (file, agent, guards) in [
        (".isdlc/state.json", "own-agent", &[ORDER, PLAN][..]),
        (MANIFEST, "own-agent", &["phase-loop-controller", ORDER]),
        (DEMANDS, "sdlc-orchestrator", &["gate-blocker"]),
    ] {
        let flow = WorkflowProject::in_phase("05-test-strategy");
        flow.write_manifest(&[("own-agent", "06-implementation")]);
        flow.project.write_file(DEMANDS, "{}");
        let event = flow.delegation(agent, "Proceed to the next phase");
        // A directory in the file's place cannot be read.
        let path = flow.project.path.join(file);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let answer = flow.project.hook_with(&["--pack", "phases"], &event);
        answer.check_form().unwrap();
        for guard in guards {
            let entry = find_journal_entry(&flow, guard);
            assert_eq!(entry["opinion"], "fault", "{file}: {entry}");
            assert!(entry["why"].as_str().unwrap().contains("not a regular file"), "{entry}");
        }
    }
}

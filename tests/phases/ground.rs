//! Where a project's files lie, which project of several is meant, and what files of a wrong form do.

use std::fs;

use serde_json::{Value, json};

use super::{Flow, begun};

const ORDER: &str = "phase-sequence-guard";
const PLAN: &str = "plan-surfacer";

/// A repository of two projects, one within the other's directory. Each is in another phase, so that a
/// reason tells which state was read.
fn repository() -> Flow {
    let flow = Flow::new();
    let projects = json!({"projects": {"shop": {"path": "apps/shop/"}, "api": {"path": "apps/shop/api"},
        "shopping": {"path": "./apps/shopping"}}});
    flow.project.file(".isdlc/monorepo.json", &projects.to_string());
    for (name, phase) in [("shop", "03-architecture"), ("api", "04-design"), ("shopping", "09-validation")] {
        flow.project.file(&format!(".isdlc/projects/{name}/state.json"), &begun(phase).to_string());
    }
    flow.state(&begun("10-cicd"));
    flow
}

/// The phase whose state was read for a call in this directory; `None`: none was.
fn phase_in(flow: &Flow, directory: &str) -> Option<String> {
    fs::create_dir_all(flow.project.path.join(directory)).unwrap();
    let mut event = flow.delegating("integration-tester", "go");
    event["cwd"] = flow.project.path.join(directory).to_str().unwrap().into();
    let reason = flow.judged(ORDER, &event)?;
    let (_, rest) = reason.split_once("the workflow is in `").expect(&reason);
    Some(rest.split('`').next().unwrap().to_owned())
}

fn with_variable(flow: Flow, value: &str) -> Flow {
    Flow { project: flow.project.set("ISDLC_PROJECT", value) }
}

#[test]
fn the_nearest_project_around_the_event_is_meant() {
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
        assert_eq!(phase_in(&flow, directory).as_deref(), Some(phase), "{directory}");
    }
}

#[test]
fn without_one_the_preferred_project_is_meant_and_without_that_the_whole() {
    let flow = repository();
    assert_eq!(phase_in(&flow, "apps").as_deref(), Some("10-cicd"));
    let mut repository: Value =
        serde_json::from_str(&fs::read_to_string(flow.project.path.join(".isdlc/monorepo.json")).unwrap())
            .unwrap();
    repository["default_project"] = json!("api");
    flow.project.file(".isdlc/monorepo.json", &repository.to_string());
    assert_eq!(phase_in(&flow, "apps").as_deref(), Some("04-design"));
    assert_eq!(
        phase_in(&flow, "apps/shopping").as_deref(),
        Some("09-validation"),
        "but not where one is around"
    );
    for odd in [json!(".."), json!("../projects/api"), json!("/api"), json!(""), json!(5), json!(null)] {
        repository["default_project"] = odd.clone();
        flow.project.file(".isdlc/monorepo.json", &repository.to_string());
        assert_eq!(phase_in(&flow, "apps").as_deref(), Some("10-cicd"), "{odd}");
    }
}

#[test]
fn a_variable_names_the_project() {
    let flow = with_variable(repository(), "api");
    assert_eq!(phase_in(&flow, "apps/shopping").as_deref(), Some("04-design"));
    // It is the name of a directory, and nothing that leads out of it.
    for odd in ["..", "../..", "../projects/api", "api/..", "/etc", ".", ""] {
        let flow = with_variable(repository(), odd);
        assert_eq!(phase_in(&flow, "apps/shopping").as_deref(), Some("09-validation"), "{odd}");
    }
    // In a project that is one of one it means nothing.
    let flow = with_variable(repository(), "api");
    fs::remove_file(flow.project.path.join(".isdlc/monorepo.json")).unwrap();
    assert_eq!(phase_in(&flow, "apps/shopping").as_deref(), Some("10-cicd"));
}

#[test]
fn a_project_without_a_state_is_never_held_by_that_of_the_whole() {
    let flow = with_variable(repository(), "unborn");
    assert_eq!(phase_in(&flow, "apps/shop"), None);
    flow.project.file(".isdlc/projects/unborn/state.json", &begun("08-code-review").to_string());
    assert_eq!(phase_in(&flow, "apps/shop").as_deref(), Some("08-code-review"));
}

#[test]
fn a_list_of_projects_that_cannot_be_read_names_none() {
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
        flow.project.file(".isdlc/monorepo.json", text);
        assert_eq!(phase_in(&flow, "apps/shop").as_deref(), Some("10-cicd"), "{text}");
        let flow = with_variable(flow, "shop");
        assert_eq!(phase_in(&flow, "apps").as_deref(), Some("03-architecture"), "{text}");
    }
}

#[test]
fn a_plan_lies_in_one_of_two_places() {
    let held = |flow: &Flow| flow.judged(PLAN, &flow.delegating("software-developer", "go"));
    let new = |flow: &Flow| flow.project.path.join("docs/isdlc/tasks.md").display().to_string();
    let flow = Flow::in_phase("06-implementation");
    assert!(held(&flow).unwrap().contains(&new(&flow)), "it would lie in the new one");
    for files in
        [&["docs/isdlc/tasks.md"][..], &[".isdlc/tasks.md"], &["docs/isdlc/tasks.md", ".isdlc/tasks.md"]]
    {
        let flow = Flow::in_phase("06-implementation");
        for file in files {
            flow.project.file(file, "# Tasks\n");
        }
        assert_eq!(held(&flow), None, "{files:?}");
    }
    for elsewhere in ["tasks.md", "docs/tasks.md", ".isdlc/projects/a/tasks.md"] {
        let flow = Flow::in_phase("06-implementation");
        flow.project.file(elsewhere, "# Tasks\n");
        assert!(held(&flow).is_some(), "{elsewhere}");
    }
}

#[test]
fn a_manifest_lies_in_one_of_two_places() {
    const BESIDE_HOOKS: &str = ".claude/hooks/config/skills-manifest.json";
    const OWN: &str = ".isdlc/config/skills-manifest.json";
    let manifest = |phase: &str| {
        json!({"ownership": {"maker": {"phase": phase}, "looker": {"phase": "02-tracing"}}}).to_string()
    };
    // The workflow is in tracing: whoever is found to work elsewhere is held, and the reason says where.
    for (files, found) in [
        (&[(BESIDE_HOOKS, "06-implementation")][..], Some("06-implementation")),
        (&[(OWN, "07-testing")], Some("07-testing")),
        (&[(BESIDE_HOOKS, "06-implementation"), (OWN, "07-testing")], Some("06-implementation")),
        (&[(BESIDE_HOOKS, "02-tracing"), (OWN, "07-testing")], None),
        (&[], None),
    ] {
        let flow = Flow::in_phase("02-tracing");
        flow.without_manifest();
        for (file, phase) in files {
            flow.project.file(file, &manifest(phase));
        }
        let reason = flow.judged(ORDER, &flow.delegating("maker", "go"));
        assert_eq!(reason.is_some(), found.is_some(), "{files:?}");
        assert!(reason.is_none_or(|reason| reason.contains(&format!(" is for `{}`", found.unwrap()))));
    }
}

#[test]
fn the_root_is_found_above_the_place_where_the_session_began() {
    let deep = |flow: &Flow| {
        let directory = flow.project.path.join("src/deep");
        fs::create_dir_all(&directory).unwrap();
        directory
    };
    let flow = Flow::in_phase("02-tracing");
    let directory = deep(&flow);
    let flow = Flow { project: flow.project.set("CLAUDE_PROJECT_DIR", &directory) };
    let event = flow.delegating("qa-engineer", "go");
    assert!(flow.judged(ORDER, &event).is_some());
    // Nobody says where the session began: it is the directory of the event.
    let flow = Flow { project: flow.project.unset("CLAUDE_PROJECT_DIR") };
    let mut event = event;
    event["cwd"] = directory.to_str().unwrap().into();
    assert!(flow.judged(ORDER, &event).is_some());
    // What lies above the repository is another project's.
    fs::create_dir_all(flow.project.path.join("src/.git")).unwrap();
    assert_eq!(flow.judged(ORDER, &event), None);
}

#[test]
fn a_project_without_a_workflow_is_left_alone() {
    let flow = Flow::in_phase("02-tracing");
    let event = flow.delegating("qa-engineer", "go");
    assert!(flow.judged(ORDER, &event).is_some());
    fs::remove_dir_all(flow.project.path.join(".isdlc")).unwrap();
    assert_eq!(flow.judged(ORDER, &event), None);
    flow.project.file(".isdlc", "a file");
    assert_eq!(flow.judged(ORDER, &event), None);
}

/// L13: no field of any file has to be there or to be what it should be.
#[test]
fn files_of_a_wrong_form_hold_nothing() {
    let flow = Flow::new();
    let event = flow.delegating("qa-engineer", "go");
    let odd =
        [json!(null), json!(true), json!(7), json!("x"), json!([]), json!([[]]), json!({}), json!({"a": 1})];
    let workflow = |value: &Value| json!({"active_workflow": value});
    let phase = |value: &Value| json!({"active_workflow": {"current_phase": value}, "current_phase": value});
    for value in &odd {
        for state in [value.clone(), workflow(value), phase(value)] {
            flow.state(&state);
            for guard in ["phase-loop-controller", PLAN, ORDER] {
                assert_eq!(flow.judged(guard, &event), None, "{guard} {state}");
            }
        }
    }
    flow.state(&begun("02-tracing"));
    let owner = |value: &Value| json!({"ownership": {"qa-engineer": value, "tracing-orchestrator": {"phase": "02-tracing"}}});
    let of =
        |value: &Value| json!({"ownership": {"qa-engineer": {"phase": value}, "a": {"phase": "02-tracing"}}});
    for value in &odd {
        for manifest in [value.clone(), json!({"ownership": value}), owner(value), of(value)] {
            flow.project.file(".claude/hooks/config/skills-manifest.json", &manifest.to_string());
            assert_eq!(flow.judged(ORDER, &event), None, "{manifest}");
        }
    }
    flow.project.file(".claude/hooks/config/skills-manifest.json", &of(&json!("08-code-review")).to_string());
    assert!(flow.judged(ORDER, &event).is_some());
}

/// The rest of a workflow may be odd: what is asked for is there.
#[test]
fn an_odd_field_does_not_hide_the_others() {
    let flow = Flow::new();
    for odd in [json!(null), json!(7), json!("x"), json!([1]), json!({"a": []})] {
        let mut state = begun("02-tracing");
        for field in ["type", "phases", "git_branch", "current_phase_index", "atdd_mode"] {
            state["active_workflow"][field] = odd.clone();
        }
        for field in ["phases", "current_phase", "skill_usage_log", "discovery_context"] {
            state[field] = odd.clone();
        }
        flow.state(&state);
        assert!(flow.judged(ORDER, &flow.delegating("qa-engineer", "go")).is_some(), "{odd}");
        assert_eq!(flow.judged(ORDER, &flow.delegating("tracing-orchestrator", "go")), None, "{odd}");
    }
}

#[test]
fn calls_of_a_wrong_form_hold_nothing() {
    let flow = Flow::in_phase("02-tracing");
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
        assert_eq!(flow.judged(ORDER, &flow.call("PreToolUse.Agent", &input)).is_some(), held, "{input}");
    }
}

#[test]
fn a_state_of_many_megabytes_is_read() {
    let flow = Flow::new();
    let mut state = begun("02-tracing");
    state["skill_usage_log"] = json!(vec!["x".repeat(1000); 5000]);
    flow.state(&state);
    assert!(flow.judged(ORDER, &flow.delegating("qa-engineer", "go")).is_some());
}

/// As editors of Windows write files.
#[test]
fn a_byte_order_mark_hides_no_configuration() {
    let flow = Flow::in_phase("06-implementation");
    flow.tasks();
    let event = flow.delegating("qa-engineer", "go");
    let manifest = ".claude/hooks/config/skills-manifest.json";
    let text = std::fs::read_to_string(flow.project.path.join(manifest)).unwrap();
    flow.project.file(manifest, &format!("\u{feff}{text}"));
    assert!(flow.judged("phase-sequence-guard", &event).is_some());
}

/// What a guard is kept to have said about an event.
fn kept(flow: &Flow, guard: &str) -> Value {
    let line = flow.project.journal().pop().expect("a line in the journal");
    let said = line["guards"].as_array().unwrap().iter().find(|said| said["guard"] == guard).cloned();
    said.unwrap_or_else(|| panic!("nothing of {guard}: {line}"))
}

#[test]
fn a_file_that_is_there_and_cannot_be_read_is_a_fault_of_each_guard_that_needs_it() {
    const MANIFEST: &str = ".claude/hooks/config/skills-manifest.json";
    const DEMANDS: &str = ".claude/hooks/config/iteration-requirements.json";
    for (file, agent, guards) in [
        (".isdlc/state.json", "own-agent", &[ORDER, PLAN][..]),
        (MANIFEST, "own-agent", &["phase-loop-controller", ORDER]),
        (DEMANDS, "sdlc-orchestrator", &["gate-blocker"]),
    ] {
        let flow = Flow::in_phase("05-test-strategy");
        flow.manifest(&[("own-agent", "06-implementation")]);
        flow.project.file(DEMANDS, "{}");
        let event = flow.delegating(agent, "Proceed to the next phase");
        // A directory in its place cannot be read by anybody.
        let path = flow.project.path.join(file);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let answer = flow.project.hook_with(&["--pack", "phases"], &event);
        answer.well_formed().unwrap();
        for guard in guards {
            let said = kept(&flow, guard);
            assert_eq!(said["opinion"], "fault", "{file}: {said}");
            assert!(said["why"].as_str().unwrap().contains("not a regular file"), "{said}");
        }
    }
}

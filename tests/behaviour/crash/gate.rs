//! Plans on their way through the gate.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::scene::Scene;
use crate::support::TestProject;

const SESSION: &str = "db05b49a-780f-4b0b-bd53-5359177b8aba";
const TEXT: &str = "# Login\n\n## Goals\n- People sign in\n\n## Steps\n1. Form\n";
const GAPS: &str =
    "### GAP-1: Lockout is not designed\n- **Severity**: high\n- **Description**: Tries are open.\n";
const FINDINGS: &str =
    "### FINDING-1: No limit on tries\n- **Severity**: high\n- **Description**: An attacker can guess.\n";
const PASS: &str = "### VERDICT: PASS\n**Reason**: All HIGH and MEDIUM findings covered by documented gaps.";

#[derive(Clone, Copy, PartialEq)]
enum Store {
    Embedded,
    Sidecar,
}

/// A project in which a reviewer answers for critic and validator.
fn project(store: Store, settings: &str) -> TestProject {
    let project = TestProject::new();
    let answer =
        |text: &str| json!({"type": "result", "subtype": "success", "is_error": false, "result": text});
    let script = format!(
        "cat > /dev/null\ncase $1 in\nopus) cat <<'ANSWER'\n{}\nANSWER\n;;\n*) cat <<'ANSWER'\n{}\nANSWER\n;;\nesac\n",
        answer(FINDINGS),
        answer(PASS)
    );
    let script = project.write_home_file("reviewer.sh", &script);
    let command = json!(["sh", script, "{model}"]);
    let store = if store == Store::Sidecar { "sidecar" } else { "embedded" };
    project.write_file(
        "provost.toml",
        &format!(
            "[reviewer]\ncommand = {command}\n\n[plan_gate]\nenabled = true\nstore = \"{store}\"\n{settings}"
        ),
    );
    let key = project.write_home_file(".local/state/provost/seal.key", "0123456789abcdef0123456789abcdef");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(key.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    project
}

fn plan(project: &TestProject) -> PathBuf {
    project.home.join(".claude/plans/login.md")
}

fn gaps_file(project: &TestProject) -> PathBuf {
    project.home.join(format!(".claude/plans/rodin-plan-gate/{SESSION}.gaps.md"))
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    // Not the mode that a new file would have.
    fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
}

fn in_session(project: &TestProject, event: &str) -> Value {
    let mut event = project.recorded_event(event);
    event["session_id"] = SESSION.into();
    event["permission_mode"] = "plan".into();
    event
}

fn written(project: &TestProject, file: &Path) -> Value {
    let mut event = in_session(project, "PostToolUse.Write");
    event["tool_input"] = json!({"file_path": file, "content": "x"});
    event["tool_response"]["filePath"] = json!(file);
    event
}

/// A plan with its gaps in it or beside it, as the agent has written it.
fn drafted(store: Store, settings: &str) -> TestProject {
    let project = project(store, settings);
    if store == Store::Sidecar {
        put(&plan(&project), TEXT);
        put(&gaps_file(&project), GAPS);
    } else {
        put(&plan(&project), &format!("{TEXT}\n<!-- rodin:gaps:start -->\n{GAPS}<!-- rodin:gaps:end -->\n"));
    }
    project
}

/// The same with its record.
fn kept(store: Store, settings: &str) -> TestProject {
    let project = drafted(store, settings);
    let answer = project.hook(&written(&project, &plan(&project)));
    assert!(answer.is_silent(), "{answer:?}");
    project
}

pub fn plan_written() -> Scene {
    let project = drafted(Store::Embedded, "");
    let event = written(&project, &plan(&project));
    Scene::event(project, &event)
}

pub fn plan_written_beside() -> Scene {
    let project = drafted(Store::Sidecar, "");
    let event = written(&project, &plan(&project));
    Scene::event(project, &event)
}

pub fn gaps_written_beside() -> Scene {
    let project = kept(Store::Sidecar, "");
    put(&gaps_file(&project), &GAPS.replace("high", "medium"));
    let event = written(&project, &gaps_file(&project));
    Scene::event(project, &event)
}

/// The end of an agent that was given what it should be given.
fn agent_answer(project: &TestProject, agent: &str, id: &str, answer: &str) -> Value {
    let mut start = in_session(project, "PreToolUse.Agent");
    start["tool_input"] = json!({"description": "d", "prompt": "p", "subagent_type": agent});
    let brief = project.hook(&start).json();
    let given = brief["hookSpecificOutput"]["updatedInput"]["prompt"].clone();
    let said = json!([{"type": "text", "text": answer}]);
    let lines = [
        json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": given}}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": said}}),
    ];
    let transcript = project.write_home_file("agent.jsonl", &lines.map(|line| format!("{line}\n")).concat());
    let mut event = in_session(project, "SubagentStop.validator");
    event["agent_type"] = agent.into();
    event["agent_id"] = id.into();
    event["agent_transcript_path"] = json!(transcript);
    event["last_assistant_message"] = answer.into();
    event
}

pub fn critic_started() -> Scene {
    let project = kept(Store::Embedded, "");
    let mut event = in_session(&project, "PreToolUse.Agent");
    event["tool_input"]["subagent_type"] = "rodin:critic".into();
    Scene::event(project, &event)
}

pub fn critic_answers() -> Scene {
    let project = kept(Store::Embedded, "");
    let event = agent_answer(&project, "rodin:critic", "a1", FINDINGS);
    fs::remove_file(project.state_directory().join("seal.key")).unwrap();
    Scene::event(project, &event)
}

pub fn critic_answers_in_background() -> Scene {
    let project = kept(Store::Embedded, "");
    let mut event = agent_answer(&project, "rodin:critic", "a1", FINDINGS);
    event["background_tasks"] = json!([{"id": "a1", "type": "subagent", "status": "running"}]);
    Scene::event(project, &event)
}

fn validated(store: Store) -> Scene {
    let project = kept(store, "");
    let answer = project.hook(&agent_answer(&project, "rodin:critic", "a1", FINDINGS));
    assert!(answer.is_silent(), "{answer:?}");
    let event = agent_answer(&project, "rodin:validator", "a2", PASS);
    Scene::event(project, &event)
}

pub fn validator_answers() -> Scene {
    validated(Store::Embedded)
}

pub fn validator_answers_beside() -> Scene {
    validated(Store::Sidecar)
}

fn leaving(store: Store) -> Scene {
    let project = kept(store, "assess = \"exit\"\n");
    let mut event = in_session(&project, "PreToolUse.ExitPlanMode");
    event["tool_input"] =
        json!({"plan": fs::read_to_string(plan(&project)).unwrap(), "planFilePath": plan(&project)});
    Scene::event(project, &event)
}

pub fn left() -> Scene {
    leaving(Store::Embedded)
}

pub fn left_beside() -> Scene {
    leaving(Store::Sidecar)
}

fn assessing(store: Store) -> Scene {
    Scene::command(kept(store, ""), &["gate", "assess", "--session", SESSION])
}

pub fn assessed() -> Scene {
    assessing(Store::Embedded)
}

pub fn assessed_beside() -> Scene {
    assessing(Store::Sidecar)
}

fn moving(from: Store, to: &str) -> Scene {
    let scene = assessing(from);
    scene.run();
    Scene::command(scene.project, &["gate", "move", "--to", to])
}

pub fn moved_beside() -> Scene {
    moving(Store::Embedded, "sidecar")
}

pub fn moved_in() -> Scene {
    moving(Store::Sidecar, "embedded")
}

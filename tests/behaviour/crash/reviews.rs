//! Plans under review.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::scene::Scene;
use crate::support::TestProject;

const SESSION: &str = "db05b49a-780f-4b0b-bd53-5359177b8aba";
const PLAN: &str = ".taskie/plans/login";
const TASKS: &str = "| Id | Status | Priority | Description | Test strategy |
|----|--------|----------|-------------|---------------|
| 1 | done | high | The form | unit |
| 2 | pending | low | The check | unit |
";

/// A plan whose code is to be reviewed, and a reviewer that comes to this verdict.
fn project(verdict: &str) -> TestProject {
    let project = without_state(verdict);
    let state = json!({
        "max_reviews": 8, "current_task": "1", "phase": "next-task", "phase_iteration": 0,
        "next_phase": "code-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false,
    });
    let file = project.write_file(&format!("{PLAN}/state.json"), &format!("{state:#}\n"));
    fs::set_permissions(file, fs::Permissions::from_mode(0o640)).unwrap();
    project
}

fn without_state(verdict: &str) -> TestProject {
    let project = TestProject::new();
    for (name, text) in [
        ("plan.md", "# Login\n\n## Overview\n\nPeople sign in.\n"),
        ("tasks.md", TASKS),
        ("task-1.md", "# Task 1\n\n- **Status**: done\n"),
        ("task-2.md", "# Task 2\n\n- **Status**: pending\n"),
    ] {
        project.write_file(&format!("{PLAN}/{name}"), text);
    }
    let script = format!(
        "file=$(cat | sed -n 's/.*Write your review to \\(.*\\) and change nothing else.*/\\1/p')\n\
         printf '# Review\\n\\nVERDICT: {verdict}\\n' > \"$file\"\n\
         echo '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"{{}}\",\
         \"structured_output\":{{\"verdict\":\"{verdict}\"}}}}'\n"
    );
    let script = project.write_home_file("reviewer.sh", &script);
    project
        .write_file("provost.toml", &format!("[reviewer]\ncommand = {}\n", json!(["sh", script, "{model}"])));
    project
}

/// The end of a turn in which the session has worked on the plan.
fn stopping(project: &TestProject) -> Value {
    let mut event = project.recorded_event("Stop.active_false");
    event["session_id"] = SESSION.into();
    let written = json!({"file_path": project.path.join(PLAN).join("plan.md"), "content": "x"});
    let used = json!([{"type": "tool_use", "id": "t", "name": "Write", "input": written}]);
    let said = json!([{"type": "text", "text": event["last_assistant_message"]}]);
    let lines = [used, said].map(|content| {
        let message = json!({"role": "assistant", "content": content});
        format!("{}\n", json!({"type": "assistant", "cwd": project.path, "message": message}))
    });
    event["transcript_path"] =
        json!(project.write_home_file(".claude/projects/p/session.jsonl", &lines.concat()));
    event
}

pub fn found() -> Scene {
    let project = project("FAIL");
    // Of an earlier cycle: it is put aside.
    project.write_file(&format!("{PLAN}/code-review-1.md"), "old\n");
    project.write_file(&format!("{PLAN}/task-1-review-1.md"), "old review\n");
    project.write_file(&format!("{PLAN}/task-1-post-review-1.md"), "old answer\n");
    let event = stopping(&project);
    Scene::event(project, &event)
}

pub fn clean() -> Scene {
    let project = project("PASS");
    let event = stopping(&project);
    Scene::event(project, &event)
}

pub fn rule_broken() -> Scene {
    let project = without_state("PASS");
    project.write_file(&format!("{PLAN}/notes/deep.md"), "# Notes\n");
    let event = stopping(&project);
    Scene::event(project, &event)
}

pub fn run() -> Scene {
    Scene::command(project("PASS"), &["review", "run", "--plan", "login"])
}

pub fn set() -> Scene {
    Scene::command(project("PASS"), &["review", "set", "--plan", "login", "max_reviews=4"])
}

/// The user sets the state of the plan after a review, so the result of the round does not count any more.
pub fn set_back() -> Scene {
    let scene = found();
    scene.run();
    let changes = ["phase_iteration=0", "next_phase=code-review"];
    Scene::command(scene.project, &[&["review", "set", "--plan", "login"], &changes[..]].concat())
}

pub fn set_new() -> Scene {
    Scene::command(without_state("PASS"), &["review", "set", "--plan", "login", "--new"])
}

/// A project whose session has changed a file, and a reviewer that comes to this verdict.
fn changed_project(verdict: &str) -> (TestProject, Value) {
    let project = TestProject::new();
    // The first review comes to nothing, so that the user has been told something about this event.
    let script =
        format!("cat > /dev/null; [ -e ~/ready ] || exit 3; echo 'It is read.'; echo 'VERDICT: {verdict}'\n");
    let script = project.write_home_file("reviewer.sh", &script);
    let config = format!(
        "[reviewer]\ncommand = {}\n[[rule]]\nname = \"review\"\nstops = true\nneed = {{ review = 1 }}\n",
        json!(["sh", script, "{model}"])
    );
    project.write_home_file(".config/provost/provost.toml", &config);
    let file = project.write_file("src/a.rs", "x\n");
    let mut changed = project.recorded_event("PostToolUse.Write");
    changed["tool_input"]["file_path"] = json!(file);
    changed["tool_response"]["filePath"] = json!(file);
    assert_eq!(project.hook(&changed).code, Some(0));
    let mut event = project.recorded_event("Stop.active_false");
    event["session_id"] = changed["session_id"].clone();
    assert_eq!(project.hook(&event).code, Some(0));
    project.write_home_file("ready", "");
    (project, event)
}

pub fn changes_found() -> Scene {
    let (project, event) = changed_project("FAIL");
    Scene::event(project, &event)
}

pub fn changes_clean() -> Scene {
    let (project, event) = changed_project("PASS");
    Scene::event(project, &event)
}

pub fn changes_run() -> Scene {
    let (project, _) = changed_project("FAIL");
    Scene::command(project, &["review", "run"])
}

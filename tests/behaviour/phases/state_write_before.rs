//! `state-write-validator` before a change, if the settings say so.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use super::state_write_validator::{GUARD, READING, after_call, validation_after};
use super::{WorkflowProject, read_denial, started_workflow};
use crate::support::assert_shown;

/// A workflow in its second phase, whose writes are judged before they are made.
fn flow() -> WorkflowProject {
    let flow = WorkflowProject::new();
    flow.write_settings("[phases]\nvalidate = \"before\"\n").write_state(&state());
    flow
}

fn state() -> Value {
    let mut state = started_workflow("06-implementation");
    state["active_workflow"]["current_phase_index"] = json!(2);
    state["phases"]["01-requirements"] = json!({"status": "completed",
        "constitutional_validation": {"completed": true, "iterations_used": 2}});
    state["phases"]["06-implementation"]["iteration_requirements"] =
        json!({"test_iteration": {"completed": false, "current_iteration": 3, "history": [1, 2, 3]}});
    state["skill_usage_log"] = json!([{"agent": "a"}, {"agent": "b"}]);
    state
}

fn find_reason(flow: &WorkflowProject, event: &Value) -> Option<String> {
    read_denial(&flow.enable_only(GUARD).hook_with(&["--pack", "phases"], event))
}

fn assert_denied(flow: &WorkflowProject, event: &Value) -> String {
    let reason = find_reason(flow, event).unwrap_or_else(|| panic!("allowed: {event}"));
    assert!(reason.starts_with("[provost] `") && reason.contains("` not changed: "), "{reason}");
    reason
}

fn assert_allowed(flow: &WorkflowProject, event: &Value) {
    assert_eq!(find_reason(flow, event), None, "{event}");
}

/// A write of the whole file with a change.
fn rewrite(flow: &WorkflowProject, change: impl Fn(&mut Value)) -> Value {
    let mut new = state();
    change(&mut new);
    flow.project.write(flow.state_file(), &new.to_string())
}

#[test]
fn by_default_no_write_is_judged_before_it_is_made() {
    let flow = WorkflowProject::in_phase("06-implementation");
    assert_allowed(&flow, &flow.project.write(flow.state_file(), "gone"));
    assert_allowed(&flow, &flow.project.bash("rm -rf .isdlc"));
    assert_allowed(&flow, &flow.project.bash("echo > .isdlc/state.json"));
}

#[test]
fn a_new_fake_is_denied_in_every_tool_that_contains_it() {
    let flow = flow();
    let file = flow.state_file();
    let fake = rewrite(&flow, |new| {
        new["phases"]["06-implementation"]["constitutional_validation"] = json!({"completed": true});
    });
    let reason = assert_denied(&flow, &fake);
    let first = flow.project.shorten_paths(reason.lines().next().unwrap());
    assert_eq!(
        first,
        "[provost] `.isdlc/state.json` not changed: constitutional_validation is completed, but iterations_used is \
         undefined (06-implementation). To fix: do the work first, and mark it as completed then; Provost counts \
         the tries."
    );
    assert_denied(&flow, &flow.project.edit(&file, "\"iterations_used\": 2", "\"iterations_used\": 0"));
    let edits =
        [("\"iterations_used\": 2", "\"iterations_used\": 1"), ("\"iterations_used\": 1", "\"x\": 1")];
    assert_denied(&flow, &flow.project.multi_edit(&file, &edits));
    assert_allowed(&flow, &flow.project.edit(&file, "\"iterations_used\": 2", "\"iterations_used\": 3"));
    assert_allowed(
        &flow,
        &flow.project.multi_edit(&file, &[("\"iterations_used\": 2", "\"iterations_used\": 3")]),
    );
    fs::remove_file(&file).unwrap();
    assert_denied(&flow, &fake);
}

#[test]
fn a_fake_that_is_already_there_does_not_block_another_change() {
    let flow = flow();
    let mut faked = state();
    faked["phases"]["06-implementation"]["constitutional_validation"] = json!({"completed": true});
    flow.write_state(&faked);
    faked["note"] = json!("x");
    assert_allowed(&flow, &flow.project.write(flow.state_file(), &faked.to_string()));
    assert_allowed(&flow, &rewrite(&flow, |_| {}));
}

#[test]
fn a_stale_copy_is_denied() {
    let flow = flow();
    let changes = [
        (|new| new["phases"]["01-requirements"]["status"] = json!("pending")) as fn(&mut Value),
        |new| new["active_workflow"]["current_phase"] = json!("01-requirements"),
        |new| new["active_workflow"]["current_phase_index"] = json!(0),
        |new| new["phases"]["01-requirements"]["constitutional_validation"]["iterations_used"] = json!(1),
        |new| new["skill_usage_log"] = json!([]),
    ];
    let reasons = changes.map(|change| assert_denied(&flow, &rewrite(&flow, change)));
    assert_shown!("phases-stale-state", flow.project.shorten_paths(&reasons.join("\n\n")));
    for change in [
        (|new| new["active_workflow"]["current_phase"] = json!("07-testing")) as fn(&mut Value),
        |new| new["phases"]["06-implementation"]["status"] = json!("completed"),
        |new| new["active_workflow"] = json!(null),
        |new| *new = json!({}),
        |new| *new = json!({"active_workflow": {"type": "fix", "current_phase": "01-requirements"}}),
    ] {
        assert_allowed(&flow, &rewrite(&flow, change));
    }
}

#[test]
fn a_state_is_not_destroyed() {
    let flow = flow();
    let file = flow.state_file();
    for text in ["", "gone", "[]", "null", "{\"a\": 1"] {
        assert!(assert_denied(&flow, &flow.project.write(&file, text)).contains("no JSON object"), "{text}");
    }
    assert_denied(&flow, &flow.project.edit(&file, "{\n  \"active_workflow\"", "\"active_workflow\""));
    flow.project.write_file(".isdlc/state.json", "broken");
    assert_allowed(&flow, &flow.project.write(&file, "{}"));
    assert_allowed(&flow, &flow.project.write(&file, "still broken"));
}

#[test]
fn an_edit_that_cannot_be_applied_is_denied() {
    let flow = flow();
    let reason = assert_denied(&flow, &flow.project.edit(flow.state_file(), "not there", "x"));
    assert!(reason.contains("read the file again"), "{reason}");
}

#[test]
fn a_write_of_unknown_content_is_denied_with_a_way_to_do_it() {
    let flow = flow();
    let project = &flow.project;
    project.write_file("tmp/state.json", "{}");
    let mut events =
        vec![project.notebook(flow.state_file()), project.mcp(json!({"path": flow.state_file()}))];
    for line in [
        "echo '{}' > .isdlc/state.json",
        "echo '{}' >> .isdlc/state.json",
        "echo '{}' | tee .isdlc/state.json",
        "cat <<'E' > .isdlc/state.json\n{}\nE",
        "cp x .isdlc/state.json",
        "mv tmp/state.json .isdlc/",
        "ln -sf /tmp/x .isdlc/state.json",
        "sed -i 's/pending/completed/' .isdlc/state.json",
        "jq '.x=1' .isdlc/state.json > t && mv t .isdlc/state.json",
        "cd .isdlc; echo x > state.json",
        "(cd .isdlc && echo x >| state.json)",
        "sh -c 'echo x > .isdlc/state.json'",
        "truncate -s 0 .isdlc/state.json",
        "jq . .isdlc/state.json | sponge .isdlc/state.json",
        "echo x > \"$ROOT/.isdlc/state.json\"",
        "echo x > .isdlc/{state,x}.json",
        "rm -rf .isdlc/*",
        "cp -r tmp/.isdlc/. .isdlc",
        "cp -r tmp/.isdlc .",
        "rsync -a tmp/.isdlc/ .isdlc/",
        "dd if=x of=.isdlc/state.json",
        "git checkout -- .isdlc/state.json",
        "git checkout HEAD~1 .isdlc/state.json",
        "git restore -s HEAD~1 .isdlc/state.json",
        "git stash push .isdlc/state.json",
    ] {
        events.push(project.bash(line));
    }
    for event in events {
        let reason = assert_denied(&flow, &event);
        assert!(reason.contains("use the Edit or the Write tool"), "{reason}");
    }
}

#[test]
fn reading_is_never_denied() {
    let flow = flow();
    for line in READING {
        assert_allowed(&flow, &flow.project.bash(line));
    }
    assert_allowed(&flow, &flow.project.read(flow.state_file()));
    assert_allowed(&flow, &flow.project.grep(".isdlc"));
    let reads = flow.project.call("mcp__files__read_text_file", json!({"path": flow.state_file()}));
    assert_allowed(&flow, &reads);
}

#[test]
fn the_state_is_not_deleted_while_a_workflow_is_running() {
    let flow = flow();
    let lines = [
        "rm .isdlc/state.json",
        "rm -rf .isdlc",
        "rm -rf .",
        "mv .isdlc/state.json /tmp/x",
        "mv .isdlc .old",
        "unlink .isdlc/state.json",
        "git rm .isdlc/state.json",
        "git rm -r .isdlc",
        "git mv .isdlc .old",
    ];
    for line in lines {
        let reason = assert_denied(&flow, &flow.project.bash(line));
        assert!(reason.contains("an active workflow"), "{reason}");
    }
    symlink(".isdlc", flow.project.path.join("link")).unwrap();
    assert_allowed(&flow, &flow.project.bash("rm link"));
    for line in ["rm .isdlc/other.json", "rm .isdlc/*.tmp", "rm -rf \"$X\"", "mv notes .isdlc/"] {
        assert_allowed(&flow, &flow.project.bash(line));
    }
    flow.write_state(&json!({"active_workflow": null}));
    for line in lines {
        assert_allowed(&flow, &flow.project.bash(line));
    }
    fs::remove_file(flow.state_file()).unwrap();
    assert_allowed(&flow, &flow.project.bash("rm -rf .isdlc"));
}

#[test]
fn git_changes_it_with_the_directory_around_it() {
    let flow = flow();
    let project = &flow.project.path;
    fs::remove_dir(project.join(".git")).unwrap();
    let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(project).status();
    assert!(made.unwrap().success());
    for line in
        ["git checkout HEAD -- .isdlc", "git clean -fdx", "git clean -f .isdlc", "git restore -s x .isdlc"]
    {
        assert_denied(&flow, &flow.project.bash(line));
    }
    for line in
        ["git stash", "git checkout -- .", "git clean -fdn", "git clean -fdx src", "git checkout main"]
    {
        assert_allowed(&flow, &flow.project.bash(line));
    }
}

#[test]
fn the_same_file_is_the_same_file() {
    let flow = flow();
    let (hard, soft) = (flow.project.path.join("hard"), flow.project.path.join("soft"));
    fs::hard_link(flow.state_file(), &hard).unwrap();
    symlink(flow.state_file(), &soft).unwrap();
    for path in [&hard, &soft] {
        assert_denied(&flow, &flow.project.write(path, "gone"));
        assert_allowed(&flow, &flow.project.write(path, &state().to_string()));
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_denied(&flow, &flow.project.bash(&format!("echo x > {name}")));
        assert_allowed(&flow, &flow.project.bash(&format!("rm {name}")));
    }
}

#[test]
fn each_project_of_several_has_its_own_state() {
    let flow = flow();
    let file = flow.project.write_file(".isdlc/projects/api/state.json", &state().to_string());
    assert_denied(&flow, &flow.project.write(&file, "gone"));
    assert_denied(&flow, &flow.project.bash("rm -r .isdlc/projects"));
    let hard = flow.project.path.join("hard");
    fs::hard_link(&file, &hard).unwrap();
    assert_denied(&flow, &flow.project.write(&hard, "gone"));
}

#[test]
fn a_large_state_is_judged() {
    let flow = flow();
    let mut large = state();
    large["log"] = json!("x".repeat(5 << 20));
    flow.write_state(&large);
    assert_allowed(&flow, &flow.project.write(flow.state_file(), &large.to_string()));
    large["phases"]["01-requirements"]["status"] = json!("pending");
    assert_denied(&flow, &flow.project.write(flow.state_file(), &large.to_string()));
    assert_denied(
        &flow,
        &flow.project.edit(flow.state_file(), "\"iterations_used\": 2", "\"iterations_used\": 0"),
    );
}

#[test]
fn wrong_types_cause_no_error() {
    let flow = flow();
    for odd in [
        json!({"active_workflow": {"phases": 5, "current_phase": [], "current_phase_index": "x"}, "phases": []}),
        json!({"active_workflow": {}, "phases": {"a": null, "b": {"status": 5}}, "skill_usage_log": {}}),
        json!({"active_workflow": "x"}),
    ] {
        flow.write_state(&odd);
        assert_allowed(&flow, &flow.project.write(flow.state_file(), &odd.to_string()));
        assert_allowed(&flow, &flow.project.write(flow.state_file(), &state().to_string()));
    }
}

/// A change is judged before it is made, and checked again after it.
#[test]
fn a_fake_that_got_into_the_state_causes_a_warning() {
    let flow = flow();
    flow.write_state(&validation_after(0));
    let event = after_call(flow.project.bash("node fake.js > .isdlc/state.json"));
    assert!(flow.find_warning(GUARD, &event).is_some());
    let other = flow.project.write(Path::new("src/a.rs"), "x");
    assert_allowed(&flow, &other);
}

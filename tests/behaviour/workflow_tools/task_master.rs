//! Task Master: tags, statuses by commands and MCP, the rewritten file.

use serde_json::json;

use super::stage::{ToolProject, fixtures};
use super::tools::TASK_MASTER;
use crate::support::assert_shown;

const TASKS: &str = ".taskmaster/tasks/tasks.json";
const STATE: &str = ".taskmaster/state.json";

fn approved() -> ToolProject {
    ToolProject::approved(&TASK_MASTER)
}

fn fixture(state: &str) -> String {
    std::fs::read_to_string(fixtures().join("task-master").join(state).join(TASKS)).unwrap()
}

/// Ids become strings, metadata is replaced, times appear.
#[test]
fn what_the_tool_rewrites_keeps_the_approval() {
    let flow = approved();
    flow.put(TASKS, &fixture("half-done")).assert_free();
    // In the other direction as well.
    let flow = ToolProject::with_fixture(&TASK_MASTER, "half-done");
    flow.approve("master").assert_free();
    flow.put(TASKS, &fixture("planned")).assert_free();
}

#[test]
fn a_new_task_or_subtask_ends_the_approval() {
    let flow = approved();
    flow.put(TASKS, &fixture("tagged")).assert_held();
    flow.approve("master").assert_free();
}

#[test]
fn statuses_by_commands_need_work() {
    let lines = [
        "task-master set-status --id=1 --status=done",
        "task-master set-status --id=1,2 --status=done",
        "task-master set-status --id 1 --status done",
        "task-master set-status -i 1 -s done",
        "task-master set-status 1 done",
        "task-master status 1 done",
        "task-master set-status --status=done --id=1",
        "task-master set-status --id=1 --status=completed",
        "npx task-master-ai set-status --id=1 --status=done",
        "npx -y task-master-ai@latest set-status --id=1 --status=done",
        "npx task-master set-status --id=1 --status=done",
        "./node_modules/.bin/task-master set-status --id=1 --status=done",
        "for i in 1 2; do task-master set-status --id=$i --status=done; done",
        "task-master set-status --id=1 --status=\"done\" && echo ok",
        "task-master set-status --id=1 --status=done --tag master",
    ];
    let flow = approved();
    flow.project.assert_lines_denied(&lines);
    assert_shown!("workflow-task-master-set-status", flow.project.whole(&flow.bash(lines[0])));
    for line in lines {
        let flow = approved();
        flow.do_work();
        let answer = flow.bash(line);
        assert!(answer.is_silent(), "{line}: {}", flow.project.whole(&answer));
    }
}

#[test]
fn statuses_that_finish_nothing_are_free() {
    let flow = approved();
    flow.project.assert_lines_allowed(&[
        "task-master set-status --id=1 --status=in-progress",
        "task-master set-status --id=1 --status=pending",
        "task-master set-status --id=1 --status=deferred",
        "task-master set-status --id=1 --status=blocked",
        "task-master next",
        "task-master list --with-subtasks",
        "task-master show 1",
        "task-master tags",
        "task-master update-subtask --id=1.1 --prompt='done'",
        "task-master expand --id=1",
        "task-master set-status --help",
        "echo task-master set-status --id=1 --status=done",
    ]);
}

#[test]
fn statuses_by_mcp_need_work() {
    let status = |flow: &ToolProject, status: &str| {
        let input = json!({"id": "1", "status": status, "projectRoot": flow.project.path});
        flow.call(flow.project.call("mcp__task-master-ai__set_task_status", input))
    };
    let flow = approved();
    status(&flow, "done").expect_denial();
    assert_shown!("workflow-task-master-mcp", flow.project.whole(&status(&flow, "done")));
    assert!(status(&flow, "in-progress").is_silent());
    for tool in ["get_tasks", "next_task", "get_task"] {
        let input = json!({"projectRoot": flow.project.path, "id": "1"});
        let answer = flow.call(flow.project.call(&format!("mcp__task-master-ai__{tool}"), input));
        assert!(answer.is_silent(), "{tool}: {}", flow.project.whole(&answer));
    }
    flow.do_work();
    assert!(status(&flow, "done").is_silent());
    // Another name of the server is the same tool.
    let flow = approved();
    let input = json!({"id": "1,2", "status": "done", "projectRoot": flow.project.path});
    flow.call(flow.project.call("mcp__taskmaster__set_task_status", input)).expect_denial();
}

#[test]
fn a_cancelled_or_deferred_task_is_not_open() {
    let flow = ToolProject::planned(&TASK_MASTER);
    let text = flow.read(TASKS);
    flow.put(TASKS, &text.replace("\"pending\"", "\"cancelled\"")).assert_free();
    flow.put(TASKS, &text.replace("\"pending\"", "\"done\"")).assert_free();
    for status in ["pending", "in-progress", "review", "blocked", "something-new", ""] {
        flow.put(
            TASKS,
            &text.replacen("\"pending\"", &format!("\"{status}\""), 1).replacen("\"pending\"", "\"done\"", 1),
        );
        assert!(!flow.work().is_silent(), "finished with a task of the status {status:?}");
    }
}

/// Cancelling everything would be a way to get rid of the approval.
#[test]
fn an_agent_does_not_cancel_what_is_not_approved() {
    let flow = ToolProject::planned(&TASK_MASTER);
    flow.project.assert_lines_denied(&["task-master set-status --id=1,2 --status=cancelled"]);
    let text = flow.read(TASKS).replace("\"pending\"", "\"cancelled\"");
    flow.call(flow.project.write(flow.path(TASKS), &text)).expect_denial();
}

#[test]
fn the_current_tag_governs() {
    let flow = ToolProject::with_fixture(&TASK_MASTER, "tagged");
    assert!(flow.assert_held().contains("provost approve master"));
    // A tag without tasks has nothing to wait for.
    flow.put(STATE, "{\"currentTag\": \"later\"}").assert_held();
    flow.put(STATE, "{\"currentTag\": \"master\"}");
    flow.approve("master").assert_free();
    // The other tag gets a task.
    let text = flow.read(TASKS).replace(
        "\"later\": {\n    \"tasks\": []",
        "\"later\": {\n    \"tasks\": [{\"id\": 1, \"title\": \"Wave\", \"status\": \"pending\"}]",
    );
    flow.put(TASKS, &text).assert_free();
}

#[test]
fn an_agent_does_not_switch_to_a_tag_that_makes_work_free() {
    let flow = ToolProject::with_fixture(&TASK_MASTER, "tagged");
    flow.approve("master").assert_free();
    let text = flow.read(TASKS).replace(
        "\"later\": {\n    \"tasks\": []",
        "\"later\": {\n    \"tasks\": [{\"id\": 1, \"title\": \"Wave\", \"status\": \"pending\"}]",
    );
    flow.put(TASKS, &text);
    // Switching is the tool's normal use. What is not approved there waits.
    let answer = flow.bash("task-master tags use later");
    assert!(answer.is_silent(), "{}", flow.project.whole(&answer));
}

#[test]
fn files_of_older_versions_without_tags_are_read() {
    let flow = ToolProject::planned(&TASK_MASTER);
    let value: serde_json::Value = serde_json::from_str(&flow.read(TASKS)).unwrap();
    flow.put(TASKS, &value["master"].to_string());
    flow.assert_held();
    flow.approve("master").assert_free();
}

#[test]
fn without_tasks_work_is_free() {
    let flow = ToolProject::with_fixture(&TASK_MASTER, "started");
    flow.assert_free();
    flow.put(TASKS, "{\"master\":{\"tasks\":[]}}").assert_free();
    flow.put(".taskmaster/docs/prd.md", "# Greeting\n").assert_free();
    flow.set_up("strict = true").assert_held();
}

#[test]
fn a_task_with_open_subtasks_is_not_done() {
    let flow = approved();
    flow.put(TASKS, &fixture("tagged"));
    flow.approve("master");
    flow.do_work();
    // Task 2 has an open subtask.
    flow.project.assert_lines_denied(&["task-master set-status --id=2 --status=done"]);
    flow.project.assert_lines_allowed(&["task-master set-status --id=2.1 --status=done"]);
}

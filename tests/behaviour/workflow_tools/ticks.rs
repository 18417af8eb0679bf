//! A task is marked as done only after work. On each tool.

use super::stage::{ToolProject, WORK};
use super::test_every_tool;
use super::tools::{Change, Tool};
use crate::support::assert_shown;

test_every_tool![
    a_tick_without_work_is_denied_on_every_channel,
    a_tick_after_work_is_free_on_every_channel,
    several_ticks_after_one_piece_of_work_are_free,
    a_tick_needs_work_since_the_last_tick,
    a_passed_test_is_work_and_a_failed_one_is_not,
    what_is_no_work_allows_no_tick,
    denied_work_allows_no_tick,
    the_work_of_a_subagent_counts,
    the_work_of_an_earlier_session_counts,
    work_elsewhere_does_not_count,
    open_tasks_may_be_rewritten_without_work,
    a_task_file_that_is_born_ticked_is_denied,
];

fn assert_tick_denied(flow: &ToolProject, change: Change) -> String {
    flow.edit(change).find_denial().unwrap_or_else(|why| panic!("a false tick: {why}: {change:?}"))
}

fn assert_tick_free(flow: &ToolProject, change: Change) {
    let answer = flow.edit(change);
    assert!(answer.is_silent(), "{change:?}: {}", flow.project.whole(&answer));
}

fn tick_calls(flow: &ToolProject) -> Vec<(&'static str, serde_json::Value)> {
    let project = &flow.project;
    let (file, old, new) = flow.tool.ticks[0];
    let path = flow.path(file);
    let text = flow.read(file);
    let whole = text.replacen(old, new, 1);
    assert_ne!(text, whole, "{file} does not contain {old:?}");
    flow.put("whole.txt", &whole);
    let copied = format!("cp whole.txt {file}");
    let redirected = format!("cat > {file} <<'PLAN'\n{}\nPLAN", whole.trim_end());
    vec![
        ("Edit", project.edit(&path, old, new)),
        ("MultiEdit", project.multi_edit(&path, &[(old, new)])),
        ("Write", project.write(&path, &whole)),
        ("a here-document", project.bash(&redirected)),
        ("a copy", project.bash(&copied)),
        ("a subagent", ToolProject::in_subagent(project.edit(&path, old, new))),
    ]
}

fn a_tick_without_work_is_denied_on_every_channel(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    flow.project.assert_denied(&tick_calls(&flow));
    assert_shown!(
        format!("workflow-{}-false-tick", tool.name),
        flow.project.whole(&flow.edit(tool.ticks[0]))
    );
    // Before the approval it is not better.
    let flow = ToolProject::planned(tool);
    assert_tick_denied(&flow, tool.ticks[0]);
}

fn a_tick_after_work_is_free_on_every_channel(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    flow.do_work();
    // Judged only: nothing is written, so each of them is the first.
    for (name, event) in tick_calls(&flow) {
        let other = ToolProject::approved(tool);
        other.put("whole.txt", &flow.read("whole.txt")).do_work();
        let text = event
            .to_string()
            .replace(flow.project.home.to_str().unwrap(), other.project.home.to_str().unwrap());
        let answer = other.call(serde_json::from_str(&text).unwrap());
        assert!(answer.is_silent(), "{name}: {}", other.project.whole(&answer));
    }
}

fn several_ticks_after_one_piece_of_work_are_free(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    flow.do_work();
    flow.change(tool.ticks[0]);
    assert_tick_free(&flow, tool.ticks[1]);
    // And in one call.
    let flow = ToolProject::approved(tool);
    flow.do_work();
    let [first, second] = tool.ticks;
    let both = [(first.1, first.2), (second.1, second.2)];
    let answer = flow.call(flow.project.multi_edit(flow.path(first.0), &both));
    assert!(answer.is_silent(), "{}", flow.project.whole(&answer));
}

/// Another turn, with nothing done in it.
fn a_tick_needs_work_since_the_last_tick(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    flow.do_work().change(tool.ticks[0]);
    flow.project.hook(&flow.in_session(flow.project.recorded_event("Stop.active_false")));
    flow.prompt("go on with the next task");
    assert_tick_denied(&flow, tool.ticks[1]);
    flow.do_work().change(tool.ticks[1]);
}

fn a_passed_test_is_work_and_a_failed_one_is_not(tool: &'static Tool) {
    for line in ["npm test", "cargo test", "pytest -q", "go test ./...", "npm run build", "make test"] {
        let flow = ToolProject::approved(tool);
        flow.run(line, false);
        assert_tick_denied(&flow, tool.ticks[0]);
        flow.run(line, true);
        assert_tick_free(&flow, tool.ticks[0]);
    }
}

fn what_is_no_work_allows_no_tick(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    flow.run("ls -la", true).run("git status", true).run("echo npm test", true);
    flow.run("npm test --help", true).run("npm test || true", true);
    flow.write(tool.planning[0], "# More\n");
    flow.run("echo x > /tmp/notes.txt", true);
    let path = flow.project.home.join("notes.txt");
    flow.call(flow.project.write(path, "x"));
    assert_tick_denied(&flow, tool.ticks[0]);
}

fn denied_work_allows_no_tick(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    flow.assert_held();
    flow.approve(tool.instance);
    // Judged and allowed, and then it failed or was never done.
    flow.assert_free();
    assert_tick_denied(&flow, tool.ticks[0]);
}

fn the_work_of_a_subagent_counts(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    let before = flow.in_session(ToolProject::in_subagent(flow.project.write(flow.path(WORK), "x\n")));
    assert!(flow.project.hook(&before).is_silent());
    flow.put(WORK, "x\n");
    flow.report(&before, flow.project.recorded_event("PostToolUse.Write"));
    assert_tick_free(&flow, tool.ticks[0]);
}

fn the_work_of_an_earlier_session_counts(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    flow.do_work().start_session("session-2");
    assert_tick_free(&flow, tool.ticks[0]);
}

fn work_elsewhere_does_not_count(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    flow.add_fixture("planned", "packages/web");
    let other = flow.path("packages/web/src/a.js");
    let before = flow.in_session(flow.project.write(&other, "x\n"));
    flow.put("packages/web/src/a.js", "x\n");
    flow.report(&before, flow.project.recorded_event("PostToolUse.Write"));
    assert_tick_denied(&flow, tool.ticks[0]);
}

fn open_tasks_may_be_rewritten_without_work(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    flow.do_work().change(tool.ticks[0]);
    flow.project.hook(&flow.in_session(flow.project.recorded_event("Stop.active_false")));
    flow.prompt("that is not done");
    let (file, old, new) = tool.ticks[0];
    // Taking a tick back, and changing other text of a file with a tick in it.
    assert_tick_free(&flow, (file, new, old));
    let text = flow.read(file);
    let answer = flow.call(flow.project.write(flow.path(file), &text));
    assert!(answer.is_silent(), "the same text: {}", flow.project.whole(&answer));
}

fn a_task_file_that_is_born_ticked_is_denied(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    let (file, old, new) = tool.ticks[0];
    let whole = flow.read(file).replacen(old, new, 1);
    flow.remove(file);
    let answer = flow.call(flow.project.write(flow.path(file), &whole));
    answer.expect_denial();
    // Without a tick it is planning.
    let open = whole.replacen(new, old, 1);
    let answer = flow.call(flow.project.write(flow.path(file), &open));
    assert!(answer.is_silent(), "{}", flow.project.whole(&answer));
}

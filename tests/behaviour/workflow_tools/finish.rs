//! Finishing needs the finish, and nobody gets rid of an open instance to make work free. On each tool.

use super::stage::ToolProject;
use super::test_every_tool;
use super::tools::Tool;
use crate::support::assert_shown;

test_every_tool![
    an_open_instance_is_not_removed_by_an_agent,
    the_user_may_remove_it,
    a_finished_instance_locks_nobody_out,
    a_finished_instance_may_be_removed,
];

fn an_open_instance_is_not_removed_by_an_agent(tool: &'static Tool) {
    for is_approved in [false, true] {
        let flow = ToolProject::planned(tool);
        flow.commit_all();
        if is_approved {
            flow.approve(tool.instance);
        }
        let cases: Vec<_> = tool.removals.iter().map(|line| (*line, flow.project.bash(line))).collect();
        flow.project.assert_denied(&cases);
        let by_subagent: Vec<_> =
            cases.into_iter().map(|(name, event)| (name, ToolProject::in_subagent(event))).collect();
        flow.project.assert_denied(&by_subagent);
    }
    let flow = ToolProject::planned(tool);
    assert_shown!(
        format!("workflow-{}-removed", tool.name),
        flow.project.whole(&flow.bash(tool.removals[0]))
    );
}

/// What the user does in an editor or a shell is nobody's business.
fn the_user_may_remove_it(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    flow.assert_held();
    for directory in ["openspec", "specs", ".specify", ".kiro", "_bmad", "_bmad-output", ".taskmaster"] {
        if flow.path(directory).exists() {
            flow.remove(directory);
        }
    }
    flow.assert_free();
}

fn finish_tasks(flow: &ToolProject) {
    for tick in flow.tool.ticks {
        flow.set(tick);
    }
    if flow.tool.name == "bmad" {
        flow.set((
            "_bmad-output/implementation-artifacts/spec-greeting.md",
            "status: 'ready-for-dev'",
            "status: 'done'",
        ));
    }
}

fn a_finished_instance_locks_nobody_out(tool: &'static Tool) {
    for is_approved in [false, true] {
        let flow = ToolProject::planned(tool);
        if is_approved {
            flow.approve(tool.instance);
        }
        finish_tasks(&flow);
        flow.assert_free();
        // Even if its text changes afterwards.
        flow.set(tool.meaning[0]).assert_free();
    }
    let flow = ToolProject::approved(tool);
    finish_tasks(&flow);
    flow.set_up("strict = true").assert_held();
}

fn a_finished_instance_may_be_removed(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    finish_tasks(&flow);
    // The tool's own directory, which says that the project uses it, is another thing.
    if let Some(line) = tool.removals.iter().find(|line| line.contains(tool.instance)) {
        let answer = flow.bash(line);
        assert!(answer.is_silent(), "{line}: {}", flow.project.whole(&answer));
    }
}

//! How the work goes on.

use crate::Desk;

#[test]
fn continue_tells_the_route() {
    assert_eq!(
        Desk::at_work().screen(&["continue"], 0),
        "\
Route: post-code-review
A code-review has been made, and its findings are to be dealt with.
plan       .taskie/plans/login-limit/plan.md
state      phase code-review, next_phase post-code-review, current_task 2
read       .taskie/plans/login-limit/task-2-review-3.md
write      .taskie/plans/login-limit/task-2-post-review-3.md
"
    );
    assert_eq!(
        Desk::new().screen(&["continue", "--with-action"], 0),
        "\
Route: stop
A plan-review is due, and plan.md is complete. Say so in a sentence and end the turn: the review
begins when the agent stops.
plan       .taskie/plans/login-limit/plan.md
state      phase new-plan, next_phase plan-review, current_task null
"
    );
    assert_eq!(
        Desk::empty().screen(&["continue"], 0),
        "\
Route: git history
There is no state.json, as in a plan that is older than it. The last resort is the history of
git and the plan's files: tell the person where the work seems to stand, and go on from there.
plan       .taskie/plans/login-limit/plan.md
"
    );
}

#[test]
fn continue_looks_at_the_files_where_a_review_is_due() {
    let desk = Desk::at_work();
    let route = |changes: &[&str]| {
        desk.screen(&[&["set"], changes].concat(), 0);
        let text = desk.screen(&["continue"], 0);
        text.lines().next().unwrap().strip_prefix("Route: ").unwrap().to_owned()
    };
    assert_eq!(route(&["phase=complete-task", "next_phase=code-review"]), "stop");
    desk.file("task-2.md", "# Task 2\n\n- **Status**: done\n\n- **Status**: in-progress\n");
    assert_eq!(route(&["phase=complete-task"]), "continue-task");
    assert_eq!(route(&["phase=post-code-review"]), "stop");
    assert_eq!(route(&["phase=complete-task", "current_task=9"]), "continue-task");
    assert_eq!(route(&["next_phase=tasks-review"]), "stop");
    desk.file("tasks.md", "| Id | Status |\n|---|---|\n");
    assert_eq!(route(&["next_phase=tasks-review"]), "create-tasks");
    desk.file("plan.md", "# Half of");
    assert_eq!(route(&["next_phase=plan-review"]), "new-plan");
    assert_eq!(route(&["next_phase=complete"]), "complete");
    assert_eq!(route(&["next_phase=null", "phase=complete"]), "tell");
    assert_eq!(route(&["phase=code-review"]), "ask");
}

#[test]
fn continue_brings_the_whole_action() {
    let desk = Desk::at_work();
    let text = desk.screen(&["continue", "--with-action"], 0);
    let (before, action) = text.split_once("\n<action>\n").unwrap();
    let before = before.replace('\n', " ");
    assert!(before.contains("It works on the plan `login-limit` and on task `2`;"), "{before}");
    let command = include_str!("../../plugins/taskie/commands/post-code-review.md");
    let body = command.split_once("\n---\n\n").unwrap().1;
    let (title, rest) = body.split_once("\n\n").unwrap();
    let (rules, rest) = rest.split_once("\n\n").unwrap();
    assert!(rules.starts_with("The ground rules hold: @"));
    let words = "(nothing more: this action comes from continue-plan)";
    let expected = format!("{title}\n\n{}\n</action>\n", rest.trim_end().replace("$ARGUMENTS", words));
    assert_eq!(action, expected);
    desk.screen(&["set", "phase=new-plan", "next_phase=plan-review"], 0);
    desk.file("plan.md", "# Half of");
    let text = desk.screen(&["continue", "--with-action"], 0);
    assert!(
        text.contains(
            "\nThe person wants: (what stands in the plan.md that is there; only without one, ask)\n"
        )
    );
}

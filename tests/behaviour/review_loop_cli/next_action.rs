//! `provost review continue`: how the work continues.

use super::Desk;
use crate::support::assert_shown;

#[test]
fn continue_shows_the_route() {
    assert_shown!("review-cli-continue", Desk::at_work().screen(&["continue"], 0));
    assert_shown!("review-cli-continue-at-stop", Desk::new().screen(&["continue", "--with-action"], 0));
    assert_shown!("review-cli-continue-no-state", Desk::empty().screen(&["continue"], 0));
}

#[test]
fn continue_reads_the_files_when_a_review_is_due() {
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
fn continue_prints_the_whole_action() {
    let desk = Desk::at_work();
    let text = desk.screen(&["continue", "--with-action"], 0);
    let (before, action) = text.split_once("\n<action>\n").unwrap();
    let before = before.replace('\n', " ");
    assert!(before.contains("It works on the plan `login-limit` and on task `2`;"), "{before}");
    let command = include_str!("../../../plugins/taskie/commands/post-code-review.md");
    let body = command.split_once("\n---\n\n").unwrap().1;
    let (title, rest) = body.split_once("\n\n").unwrap();
    let (rules, rest) = rest.split_once("\n\n").unwrap();
    assert!(rules.starts_with("Follow the ground rules: @"));
    let words = "(nothing more: this action comes from continue-plan)";
    let expected = format!("{title}\n\n{}\n</action>\n", rest.trim_end().replace("$ARGUMENTS", words));
    assert_eq!(action, expected);
    desk.screen(&["set", "phase=new-plan", "next_phase=plan-review"], 0);
    desk.file("plan.md", "# Half of");
    let text = desk.screen(&["continue", "--with-action"], 0);
    assert!(
        text.contains("\nThe user wants: (the text of the existing plan.md; ask only if there is none)\n")
    );
}

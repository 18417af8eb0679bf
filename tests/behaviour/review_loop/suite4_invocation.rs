//! Suite 4 of the document: how the reviewer is started, and what happens if that fails.

use super::*;

#[track_caller]
fn reviewed(changes: Value) -> Outcome {
    let outcome = both(move || ReviewProject::with_state(changes.clone()));
    outcome.reviewed(1);
    outcome
}

/// A review that comes to nothing. By design that is neither a pass nor a finding: the stop passes, the user is
/// warned, and the state does not change. Returns the whole answer of the hook.
#[track_caller]
fn comes_to_nothing(reviews: usize, make: impl Fn() -> ReviewProject) -> String {
    let outcome = both(make);
    outcome.validated().warned("came to nothing").reviewed(reviews).now(&state(json!({})), &json!({}));
    outcome.hook_answer()
}

#[test]
fn case_01_model_opus() {
    assert_eq!(reviewed(json!({})).calls[0].model(), "opus");
}

#[test]
fn case_02_model_sonnet() {
    assert_eq!(reviewed(json!({"review_model": "sonnet"})).calls[0].model(), "sonnet");
}

/// The client refuses this flag to root. Only then is it started again, with its tools listed by name.
#[test]
fn case_03_permissions_bypass() {
    let flag = "--dangerously-skip-permissions";
    let outcome = reviewed(json!({}));
    assert!(outcome.calls[0].arguments.iter().any(|argument| argument == flag));
    let refusing = "case \"$*\" in *--dangerously-skip*) \
        echo '--dangerously-skip-permissions cannot be used with root/sudo privileges' >&2; exit 1;; esac";
    let outcome = both(|| ReviewProject::with_state(json!({})).with("MOCK_CLAUDE_DOES", refusing));
    outcome.blocked("task-1-review-1.md").reviewed(2);
    let has =
        |call: &ReviewerCall, start: &str| call.arguments.iter().any(|argument| argument.starts_with(start));
    assert!(has(&outcome.calls[0], flag) && !has(&outcome.calls[0], "--allowedTools"));
    assert!(!has(&outcome.calls[1], flag) && has(&outcome.calls[1], "--allowedTools"));
}

#[test]
fn case_04_print_flag() {
    assert_eq!(reviewed(json!({})).calls[0].arguments[0], "--print");
}

/// The prompt for the reviewer, with short paths.
#[track_caller]
fn prompt(changes: Value) -> String {
    let outcome = reviewed(changes);
    outcome.script.project.shorten_paths(outcome.calls[0].prompt())
}

#[test]
fn case_05_code_review_prompt() {
    assert_shown!("review-loop-prompt-code", prompt(json!({"current_task": "3"})));
}

/// The prompt names the rules instead of containing them: they are where no tool may write.
#[test]
fn the_files_that_the_prompt_names_have_the_ground_rules_and_the_action() {
    let outcome = reviewed(json!({}));
    let own = outcome.script.project.state_directory().join("taskie");
    let read = |name: &str| fs::read_to_string(own.join(name)).unwrap();
    assert!(read("ground-rules.md").starts_with("# Ground rules\n"));
    assert!(read("actions/code-review.md").starts_with("# Review the code of a task\n"));
}

#[test]
fn case_06_plan_review_prompt() {
    assert_shown!("review-loop-prompt-plan", prompt(json!({"next_phase": "plan-review"})));
}

#[test]
fn case_07_tasks_review_prompt() {
    assert_shown!("review-loop-prompt-tasks", prompt(json!({"next_phase": "tasks-review"})));
}

#[test]
fn case_08_all_code_review_prompt() {
    assert_shown!("review-loop-prompt-all-code", prompt(json!({"next_phase": "all-code-review"})));
}

#[test]
fn case_09_review_file_at_the_right_path() {
    let outcome = reviewed(json!({"current_task": "2", "phase_iteration": 2}));
    assert!(outcome.script.read_file("task-2-review-3.md").starts_with("# Review"));
    let call = &outcome.calls[0];
    let place = outcome.script.plan.join("task-2-review-3.md");
    assert!(call.prompt().contains(&format!("Write your review to {} ", place.display())));
    assert_eq!(Path::new(&call.directory), outcome.script.project.path);
    assert_eq!(call.input, "", "nothing is to be read");
}

#[test]
fn case_10_claude_is_not_on_the_path() {
    let make = || ReviewProject::with_state(json!({})).with("PATH", "/nonexistent/directory");
    assert_shown!("review-loop-no-reviewer", comes_to_nothing(0, make));
}

#[test]
fn case_11_claude_fails() {
    let failures = [
        ("MOCK_CLAUDE_EXIT_CODE", "1"),
        ("MOCK_CLAUDE_EXIT_CODE", "2"),
        ("MOCK_CLAUDE_EXIT_CODE", "137"),
        ("MOCK_CLAUDE_PRINTS", "error"),
    ];
    let answers = failures.map(|(name, value)| {
        comes_to_nothing(1, || ReviewProject::with_state(json!({})).with_verdict("PASS").with(name, value))
    });
    assert_shown!("review-loop-reviewer-fails", answers.join("\n"));
}

#[test]
fn case_12_claude_writes_no_review() {
    for writes in ["nothing", "empty"] {
        let make =
            || ReviewProject::with_state(json!({})).with_verdict("PASS").with("MOCK_CLAUDE_WRITES", writes);
        assert_shown!("review-loop-no-review-written", comes_to_nothing(1, make));
    }
}

#[test]
fn case_13_claude_takes_too_long() {
    let make = || {
        let config = "[review_loop]\nseconds = 1\n";
        ReviewProject::with_state(json!({}))
            .with_verdict("PASS")
            .with_config(config)
            .with("MOCK_CLAUDE_DELAY", "100000")
    };
    assert_shown!("review-loop-reviewer-too-slow", comes_to_nothing(1, make));
}

#[test]
fn case_14_structured_output() {
    let outcome = reviewed(json!({}));
    let call = &outcome.calls[0];
    assert_eq!(call.argument_after("--output-format"), Some("json"));
    let schema: Value = serde_json::from_str(call.argument_after("--json-schema").unwrap()).unwrap();
    assert_eq!(schema["properties"]["verdict"]["enum"], json!(["PASS", "FAIL"]));
    assert_eq!(schema["required"], json!(["verdict"]));
}

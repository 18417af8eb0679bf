//! Suite 4 of the document: how the reviewer is started, and what happens if that fails.

use super::*;

#[track_caller]
fn reviewed(changes: Value) -> Outcome {
    let outcome = both(move || ReviewProject::with_state(changes.clone()));
    outcome.reviewed(1);
    outcome
}

/// A review that comes to nothing. By design that is neither a pass nor a finding: the stop passes, the user is
/// warned, and the state does not change.
#[track_caller]
fn comes_to_nothing(make: impl Fn() -> ReviewProject, why: &str) -> Outcome {
    let outcome = both(make);
    outcome.validated().warned("came to nothing").warned(why);
    outcome.now(&state(json!({})), &json!({}));
    outcome
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
    outcome.blocked(&["task-1-review-1.md"]).reviewed(2);
    let has =
        |call: &ReviewerCall, start: &str| call.arguments.iter().any(|argument| argument.starts_with(start));
    assert!(has(&outcome.calls[0], flag) && !has(&outcome.calls[0], "--allowedTools"));
    assert!(!has(&outcome.calls[1], flag) && has(&outcome.calls[1], "--allowedTools"));
}

#[test]
fn case_04_print_flag() {
    assert_eq!(reviewed(json!({})).calls[0].arguments[0], "--print");
}

#[test]
fn case_05_code_review_prompt() {
    let outcome = reviewed(json!({"current_task": "3"}));
    let prompt = outcome.calls[0].prompt();
    assert!(prompt.contains(&format!(".taskie/plans/{PLAN_ID}/task-3.md")), "{prompt}");
    assert!(prompt.contains("/task-3-review-1.md"), "{prompt}");
    assert!(prompt.contains("code-review.md"), "{prompt}");
    assert!(!prompt.contains("task-1.md"), "the other tasks are not in it");
}

/// The prompt names the rules instead of containing them: they are where no tool may write.
#[test]
fn the_prompt_names_the_ground_rules_and_the_action() {
    let outcome = reviewed(json!({}));
    let prompt = outcome.calls[0].prompt();
    let (rules, rest) =
        prompt.strip_prefix("Read the ground rules in ").unwrap().split_once(", then read ").unwrap();
    let action = rest.split_once("described in ").unwrap().1.split_once(" for this task").unwrap().0;
    let state = outcome.script.project.state_directory();
    for (file, name, heading) in [
        (rules, "ground-rules.md", "# Ground rules\n"),
        (action, "code-review.md", "# Review the code of a task\n"),
    ] {
        let path = Path::new(file);
        assert!(path.starts_with(&state) && path.ends_with(name), "{prompt}");
        assert!(fs::read_to_string(path).unwrap().starts_with(heading));
        assert!(!prompt.contains(heading.trim()), "{prompt}");
    }
}

/// The document's four prompts, up to the path of the review, which is absolute here.
#[test]
fn the_prompts_have_the_documents_words() {
    let plan = format!(".taskie/plans/{PLAN_ID}");
    let list: Vec<String> = (1..=3).map(|id| format!("{plan}/task-{id}.md")).collect();
    let list = list.join(" ");
    for (phase, subject, action) in [
        (
            "code-review",
            format!(
                "read the plan in {plan}/plan.md, then read {plan}/task-1.md. Now perform the code review"
            ),
            " for this task",
        ),
        ("plan-review", format!("read {plan}/plan.md. Perform the plan review"), ""),
        (
            "tasks-review",
            format!("read {plan}/tasks.md and the task files: {list}. Perform the tasks review"),
            "",
        ),
        (
            "all-code-review",
            format!(
                "read {plan}/plan.md, {plan}/tasks.md, and the task files: {list}. Perform the all-code-review"
            ),
            "",
        ),
    ] {
        let outcome = reviewed(json!({"next_phase": phase}));
        let own = outcome.script.project.state_directory().join("taskie");
        let start = format!(
            "Read the ground rules in {0}/ground-rules.md, then {subject} action described in \
             {0}/actions/{phase}.md{action}. Write your review to ",
            own.display()
        );
        let prompt = outcome.calls[0].prompt();
        assert!(prompt.starts_with(&start), "{prompt}\n{start}");
        assert!(prompt.contains(" Be very critical."), "{prompt}");
    }
}

#[test]
fn case_06_plan_review_prompt() {
    let outcome = reviewed(json!({"next_phase": "plan-review"}));
    let prompt = outcome.calls[0].prompt();
    assert!(prompt.contains(&format!(".taskie/plans/{PLAN_ID}/plan.md")), "{prompt}");
    assert!(prompt.contains("/plan-review-1.md"), "{prompt}");
}

#[test]
fn case_07_tasks_review_prompt() {
    let outcome = reviewed(json!({"next_phase": "tasks-review"}));
    let prompt = outcome.calls[0].prompt();
    assert!(prompt.contains("/tasks.md") && prompt.contains("/tasks-review-1.md"), "{prompt}");
    let list: Vec<String> = (1..=3).map(|id| format!(".taskie/plans/{PLAN_ID}/task-{id}.md")).collect();
    assert!(prompt.contains(&list.join(" ")), "{prompt}");
}

#[test]
fn case_08_all_code_review_prompt() {
    let outcome = reviewed(json!({"next_phase": "all-code-review"}));
    let prompt = outcome.calls[0].prompt();
    assert!(prompt.contains("all-code-review.md") && prompt.contains("/all-code-review-1.md"), "{prompt}");
    assert!(prompt.contains(&format!(".taskie/plans/{PLAN_ID}/task-2.md")), "{prompt}");
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
    comes_to_nothing(
        || ReviewProject::with_state(json!({})).with("PATH", "/nonexistent/directory"),
        "claude",
    )
    .reviewed(0);
}

#[test]
fn case_11_claude_fails() {
    for code in ["1", "2", "137"] {
        let make =
            || ReviewProject::with_state(json!({})).with_verdict("PASS").with("MOCK_CLAUDE_EXIT_CODE", code);
        comes_to_nothing(make, &format!("exit status: {code}")).reviewed(1);
    }
    let outcome = comes_to_nothing(
        || ReviewProject::with_state(json!({})).with_verdict("PASS").with("MOCK_CLAUDE_PRINTS", "error"),
        "API Error: overloaded",
    );
    outcome.reviewed(1);
}

#[test]
fn case_12_claude_writes_no_review() {
    for writes in ["nothing", "empty"] {
        let make =
            || ReviewProject::with_state(json!({})).with_verdict("PASS").with("MOCK_CLAUDE_WRITES", writes);
        comes_to_nothing(make, "the reviewer wrote no review to").reviewed(1);
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
    comes_to_nothing(make, "1").reviewed(1);
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

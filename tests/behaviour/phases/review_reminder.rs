//! `review-reminder`.

use serde_json::{Value, json};

use super::gate_blocker::{find_context, run_guard};
use super::{WorkflowProject, read_user_message, started_workflow};

const GUARD: &str = "review-reminder";

fn find_warning(flow: &WorkflowProject, event: &str, command: &str) -> Option<String> {
    let event = flow.call(event, &json!({"command": command}));
    read_user_message(&run_guard(flow, GUARD, &event))
}

fn flow(review: Value) -> WorkflowProject {
    let flow = WorkflowProject::new();
    let mut state = started_workflow("06-implementation");
    state["code_review"] = review;
    flow.write_state(&state);
    flow
}

#[test]
fn a_commit_without_a_review_in_a_team_causes_a_warning() {
    let team = json!({"enabled": false, "team_size": 3});
    let flow = flow(team);
    for command in
        ["git commit -m x", "git -C . commit -m x", "cd a && git commit -am y", "git -c k=v commit"]
    {
        assert!(
            find_warning(&flow, "PostToolUse.Bash", command).unwrap().contains("[review-reminder] WARNING")
        );
    }
    for command in
        ["echo git commit", "grep 'git commit' x", "git commit --dry-run", "git commit-tree x", "git log"]
    {
        assert_eq!(find_warning(&flow, "PostToolUse.Bash", command), None, "{command}");
    }
    assert_eq!(find_warning(&flow, "PostToolUseFailure.Bash", "git commit -m x"), None, "it failed");
    flow.write_settings("[phases]\nnotify = \"model\"\n");
    let event = flow.call("PostToolUse.Bash", &json!({"command": "git commit"}));
    assert!(find_context(&run_guard(&flow, GUARD, &event)).is_some());
}

#[test]
fn a_review_or_a_team_of_one_causes_no_warning() {
    for (review, remarked) in [
        (json!({"enabled": true, "team_size": 3}), false),
        (json!({"enabled": "true", "team_size": 3}), true),
        (json!({"team_size": 2}), true),
        (json!({"enabled": false, "team_size": 1}), false),
        (json!({"enabled": false, "team_size": "3"}), false),
        (json!({"enabled": false}), false),
        (json!(null), false),
        (json!([3]), false),
    ] {
        let flow = flow(review.clone());
        assert_eq!(find_warning(&flow, "PostToolUse.Bash", "git commit").is_some(), remarked, "{review}");
    }
}

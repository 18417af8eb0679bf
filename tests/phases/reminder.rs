//! `review-reminder`.

use serde_json::{Value, json};

use crate::gate::{context, heard};
use crate::{Flow, begun, told};

const GUARD: &str = "review-reminder";

fn reminded(flow: &Flow, event: &str, command: &str) -> Option<String> {
    let event = flow.call(event, &json!({"command": command}));
    told(&heard(flow, GUARD, &event))
}

fn flow(review: Value) -> Flow {
    let flow = Flow::new();
    let mut state = begun("06-implementation");
    state["code_review"] = review;
    flow.state(&state);
    flow
}

#[test]
fn a_commit_without_a_review_is_remarked_in_a_team() {
    let team = json!({"enabled": false, "team_size": 3});
    let flow = flow(team);
    for command in
        ["git commit -m x", "git -C . commit -m x", "cd a && git commit -am y", "git -c k=v commit"]
    {
        assert!(reminded(&flow, "PostToolUse.Bash", command).unwrap().contains("[review-reminder] WARNING"));
    }
    for command in
        ["echo git commit", "grep 'git commit' x", "git commit --dry-run", "git commit-tree x", "git log"]
    {
        assert_eq!(reminded(&flow, "PostToolUse.Bash", command), None, "{command}");
    }
    assert_eq!(reminded(&flow, "PostToolUseFailure.Bash", "git commit -m x"), None, "it failed");
    flow.settings("[phases]\nnotify = \"model\"\n");
    let event = flow.call("PostToolUse.Bash", &json!({"command": "git commit"}));
    assert!(context(&heard(&flow, GUARD, &event)).is_some());
}

#[test]
fn a_review_or_a_team_of_one_needs_no_remark() {
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
        assert_eq!(reminded(&flow, "PostToolUse.Bash", "git commit").is_some(), remarked, "{review}");
    }
}

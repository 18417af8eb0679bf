//! The user's prompt allows one denial of one rule.

use crate::support::{TestProject, assert_shown};
use serde_json::{Value, json};

const RULES: &str = r#"
[[rule]]
name = "no-push"
runs = "git push"
deny = "releases are pushed by CI"

[[rule]]
name = "no-force"
runs = "git push --force"
deny = "it rewrites history"

[[rule]]
name = "keys"
reads = "*.key"
ask = "it is secret"
"#;

fn with_rules() -> TestProject {
    let project = TestProject::new();
    project.write_file("provost.toml", RULES);
    project
}

/// A command line in the session of [`prompt`], with its own id.
fn line(project: &TestProject, id: &str, command: &str) -> Value {
    let mut event = project.bash(command);
    event["tool_use_id"] = id.into();
    event
}

fn prompt(project: &TestProject, text: &str) -> Value {
    let mut event = project.recorded_event("UserPromptSubmit");
    event["session_id"] = project.recorded_event("PreToolUse.Bash")["session_id"].clone();
    event["prompt"] = text.into();
    event
}

fn is_denied(project: &TestProject, event: &Value) -> bool {
    project.hook(event).stdout.contains("\"permissionDecision\":\"deny\"")
}

#[test]
fn a_prompt_allows_one_denial_of_a_rule_and_no_second() {
    let project = with_rules();
    assert_shown!("rules-override-denied", project.whole(&project.hook(&line(&project, "1", "git push"))));
    let given = project.hook(&prompt(&project, "provost override rule:no-push the release is urgent"));
    assert_shown!("rules-override-recorded", project.whole(&given));
    assert_shown!("rules-override-used", project.whole(&project.hook(&line(&project, "2", "git push"))));
    assert!(is_denied(&project, &line(&project, "3", "git push")));
    let used = &project.read_journal()[2];
    assert_eq!(
        (&used["decision"], &used["guards"][1]["guard"]),
        (&json!("overridden"), &json!("rule:no-push"))
    );
}

#[test]
fn a_permission_is_for_its_rule_only() {
    let project = with_rules();
    project.hook(&prompt(&project, "provost override rule:no-push it is urgent")).expect_note();
    // Another rule denies it too, so the permission is not used up.
    assert!(is_denied(&project, &line(&project, "1", "git push --force")));
    project.hook(&line(&project, "2", "git push")).expect_note();
    for rule in ["no-push", "no-force"] {
        project.hook(&prompt(&project, &format!("provost override rule:{rule} it is urgent"))).expect_note();
    }
    project.hook(&line(&project, "3", "git push --force")).expect_note();
}

#[test]
fn a_prompt_answers_the_question_of_a_rule_once() {
    let project = with_rules();
    let asks = |id: &str| {
        let answer = project.hook(&line(&project, id, "cat a.key"));
        answer.stdout.contains("\"permissionDecision\":\"ask\"")
    };
    assert!(asks("1"));
    project.hook(&prompt(&project, "provost override rule:keys it is a test key")).expect_note();
    let told = project.hook(&line(&project, "2", "cat a.key")).expect_note();
    assert!(told.contains("Otherwise you are asked: it is secret."), "{told}");
    assert!(asks("3"));
}

#[test]
fn a_misspelled_rule_is_suggested() {
    let project = with_rules();
    for (name, why) in [
        ("rule:no-psh", "there is no rule `rule:no-psh`; did you mean `rule:no-push`?"),
        ("no-push", "there is no guard `no-push`; did you mean `rule:no-push`?"),
        ("rule:xxxxxxxxxxxx", "there is no rule `rule:xxxxxxxxxxxx`."),
        ("rule:", "there is no rule `rule:`"),
    ] {
        let told =
            project.hook(&prompt(&project, &format!("provost override {name} it is late"))).expect_note();
        assert!(told.contains(why), "{told}");
        assert!(is_denied(&project, &line(&project, name, "git push")), "{name}");
        let mut command = project.provost_command("override", &[name, "it", "is", "late"]);
        let output = command.env("COLUMNS", "1000").output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap().replace('\n', " ");
        assert!(told.contains(why) && output.status.code() == Some(1), "{told}");
    }
    let output = project.provost_command("override", &["rule:no-push", "it", "is", "late"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap().replace('\n', " ");
    assert!(told.contains("`provost override rule:no-push it is late`"), "{told}");
}

#[test]
fn no_tool_overrides_a_rule() {
    let project = with_rules();
    let text = "provost override rule:no-push it is urgent";
    project.assert_denied(&[
        ("a client", project.bash(&format!("claude -p '{text}'"))),
        ("a schedule", project.call("ScheduleWakeup", json!({"prompt": text, "delaySeconds": 60}))),
        ("an unknown rule", project.bash("claude -p 'provost override rule:later it is urgent'")),
    ]);
    assert!(is_denied(&project, &line(&project, "1", "git push")));
}

//! Hooks of others: listed, and run only on request.

use serde_json::{Value, json};

use super::Patient;

fn with_other(command: &str) -> Patient {
    let mut patient = Patient::healthy();
    let other = json!({"type": "command", "command": command, "timeout": 2});
    patient.add("PreToolUse", json!({"matcher": "Bash", "hooks": [other]}));
    patient
}

#[test]
fn hooks_of_other_tools_run_only_with_all() {
    let patient = with_other("touch \"$HOME/was-run\"");
    let diagnosis = patient.doctor(&[]);
    diagnosis.is_healthy();
    assert!(!patient.project.home.join("was-run").exists());
    let not_run: &Value = &diagnosis.report["not_run"][0];
    assert!(not_run["why"].as_str().unwrap().contains("--all"), "{not_run}");
    patient.doctor(&["--all"]).is_healthy();
    assert!(patient.project.home.join("was-run").exists());
}

#[test]
fn another_hook_allows() {
    for answer in [
        r#"{"decision":"approve"}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
    ] {
        let patient = with_other(&format!("echo '{answer}'"));
        let found = patient.doctor(&["--all"]).has("other-allows");
        assert_eq!(found["severity"], "warning");
        assert!(found["what"].as_str().unwrap().contains("(`echo '{"), "{found}");
        patient.doctor(&[]).is_healthy();
    }
}

#[test]
fn another_hook_rewrites() {
    let answer = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"}}}"#;
    let patient = with_other(&format!("echo '{answer}'"));
    assert_eq!(patient.doctor(&["--all"]).has("other-rewrites")["severity"], "error");
}

#[test]
fn another_hook_fails_or_hangs() {
    with_other("exit 1").doctor(&["--all"]).has("other-fails");
    with_other("nobody-has-this-program").doctor(&["--all"]).has("other-fails");
    with_other("echo hello {").doctor(&["--all"]).has("other-fails");
    with_other("sleep 3125").doctor(&["--all"]).has("other-slow");
}

#[test]
fn another_hook_may_deny() {
    with_other("echo no >&2; exit 2").doctor(&["--all"]).is_healthy();
}

#[test]
fn hooks_other_than_commands_are_listed() {
    let mut patient = Patient::healthy();
    patient.add("PreToolUse", json!({"matcher": "Bash", "hooks": [{"type": "prompt", "prompt": "ok?"}]}));
    let diagnosis = patient.doctor(&["--all"]);
    diagnosis.is_healthy();
    assert_eq!(diagnosis.report["not_run"].as_array().unwrap().len(), 1);
}

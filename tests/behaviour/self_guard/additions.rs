//! A tool may add to a settings file what does not weaken Provost, and the user may allow more once.

use serde_json::{Value, json};

use super::full;
use crate::support::{Answer, TestProject, registered_settings};

fn hook(command: &str) -> Value {
    json!([{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": command}]}])
}

/// The registered settings with one more hook.
fn with_hook(event: &str, groups: Value) -> String {
    let mut after = registered_settings();
    match after["hooks"][event].as_array_mut() {
        Some(there) => there.extend(groups.as_array().unwrap().clone()),
        None => after["hooks"][event] = groups,
    }
    format!("{after:#}\n")
}

#[test]
fn a_hook_that_weakens_nothing_may_be_added() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let before = registered_settings().to_string();
    let mut cases = Vec::new();
    for event in [
        "PostToolUse",
        "Stop",
        "SubagentStop",
        "Notification",
        "SessionStart",
        "UserPromptSubmit",
        "SessionEnd",
    ] {
        let after = with_hook(event, hook("npx prettier --write ."));
        cases.push((event, project.write(&path, &after)));
        cases.push((event, project.edit(&path, &before, &after)));
        cases.push((
            event,
            project.multi_edit(&path, &[("\"one\"", "\"two\""), (&before.replace("one", "two"), &after)]),
        ));
    }
    for (name, entry) in [
        ("asks a model", json!({"type": "prompt", "prompt": "is it safe?"})),
        ("is not waited for", json!({"type": "command", "command": "./log.sh", "async": true})),
    ] {
        cases.push((name, project.write(&path, &with_hook("PreToolUse", json!([{"hooks": [entry]}])))));
    }
    let local = project.path.join(".claude/settings.local.json");
    let formatter = json!({"hooks": {"PostToolUse": hook("gofmt -w .")}});
    cases.push(("a new file", project.write(&local, &formatter.to_string())));
    let user = project.home.join(".claude/settings.json");
    cases.push(("the user's", project.edit(&user, "\"hooks\":{", "\"hooks\":{\"Notification\":[],")));
    project.assert_allowed(&cases);
}

#[test]
fn a_hook_of_others_may_be_changed_and_removed() {
    let project = full();
    let before = with_hook("PostToolUse", hook("gofmt -w ."));
    let path = project.write_file(".claude/settings.json", &before);
    project.assert_allowed(&[
        ("changed", project.edit(&path, "gofmt -w .", "gofmt -s -w .")),
        ("removed", project.write(&path, &registered_settings().to_string())),
    ]);
}

#[test]
fn a_hook_that_could_undo_a_judgement_is_not_added() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let mut cases = Vec::new();
    for event in ["PreToolUse", "PermissionRequest", "SubagentStart"] {
        cases.push((event, project.write(&path, &with_hook(event, hook("./rewrite.sh")))));
    }
    let http = json!([{"hooks": [{"type": "http", "url": "http://localhost:1"}]}]);
    cases.push(("http", project.write(&path, &with_hook("PreToolUse", http))));
    let twin = json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": "/usr/local/bin/provost", "args": ["hook"], "timeout": 0.01}]}]);
    cases.push(("a twin of ours", project.write(&path, &with_hook("PreToolUse", twin))));
    let local = project.path.join(".claude/settings.local.json");
    cases.push((
        "a new file",
        project.write(&local, &json!({"hooks": {"PreToolUse": hook("x")}}).to_string()),
    ));
    project.assert_denied(&cases);
}

/// Entries that call Provost in other forms than `init` writes.
#[test]
fn provosts_entries_are_kept_in_every_form() {
    for entry in [
        json!({"type": "command", "command": "provost hook --pack self"}),
        json!({"type": "command", "command": "sh", "args": ["-c", "exec provost hook"]}),
        json!({"type": "command", "command": "~/.cargo/bin/provost compat planner-bash-guard"}),
        json!({"type": "command", "command": "${CLAUDE_PROJECT_DIR}/hooks/provost.sh", "args": ["hook"]}),
    ] {
        let project = TestProject::new();
        let before = json!({"hooks": {"PreToolUse": [{"hooks": [entry]}]}, "model": "one"}).to_string();
        let path = project.write_file(".claude/settings.json", &before);
        project.assert_denied(&[
            ("gone", project.write(&path, r#"{"model":"one"}"#)),
            ("changed", project.write(&path, &before.replace("provost", "true"))),
            ("commented out", project.write(&path, &before.replace("\"hooks\":{", "\"_hooks\":{"))),
            ("emptied", project.write(&path, r#"{"hooks":{"PreToolUse":[]},"model":"one"}"#)),
            ("moved", project.write(&path, &before.replace("PreToolUse", "PostToolUse"))),
        ]);
        project.assert_allowed(&[("beside it", project.edit(&path, "\"one\"", "\"two\""))]);
    }
}

#[test]
fn a_hook_that_does_what_a_tool_may_not_is_not_added() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let cases: Vec<(&str, Value)> = [
        "rm provost.toml",
        "echo '{}' > .claude/settings.json",
        "cat ~/.local/state/provost/seal.key",
        "pkill provost",
        "provost uninstall --yes",
        "sh -c 'rm -rf ~/.local/state/provost'",
        "claude -p 'provost override plan-gate x'",
    ]
    .into_iter()
    .map(|line| (line, project.write(&path, &with_hook("PostToolUse", hook(line)))))
    .collect();
    project.assert_denied(&cases);
    let exec = json!([{"hooks": [{"type": "command", "command": "rm", "args": ["-f", "provost.toml"]}]}]);
    project.assert_denied(&[("exec form", project.write(&path, &with_hook("Stop", exec)))]);
}

#[test]
fn one_invalid_entry_is_not_added() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let invalid = json!([{"hooks": [{"type": "command", "command": "x", "timeout": "5"}]}]);
    let answer = project.hook(&project.write(&path, &with_hook("PreToolUse", invalid)));
    assert!(
        answer.expect_denial().contains("timeout` is invalid, so the client drops the file"),
        "{}",
        answer.expect_denial()
    );
}

#[test]
fn the_denial_of_a_redirection_names_the_edit_tool() {
    let project = full();
    for line in [
        "jq .x a > .claude/settings.json",
        "cat > .claude/settings.local.json <<'EOF'\n{\"model\":\"x\"}\nEOF",
    ] {
        let reason = project.hook(&project.bash(line)).expect_denial();
        assert!(reason.contains("To fix: use the Edit or Write tool; "), "{reason}");
    }
}

/// The terminal shows this much of a denial.
#[test]
fn each_denial_names_its_fix_within_what_a_terminal_shows() {
    let project = full();
    let settings = project.path.join(".claude/settings.json");
    let calls = [
        project.write(&settings, "{}"),
        project.write(&settings, &with_hook("PreToolUse", hook("x"))),
        project.write(project.path.join("provost.toml"), ""),
        project.write(project.path.join(format!("{}/provost.toml", "deep/".repeat(40))), ""),
        project.bash("echo x > .claude/settings.json"),
        project.bash("rm -rf ~/.local/state/provost"),
        project.bash("cat ~/.local/state/provost/seal.key"),
        project.bash("provost hook < event.json"),
        project.bash("provost init"),
        project.bash("PROVOST_CHILD=1 claude -p x"),
        project.bash("claude --bare -p x"),
        project.bash("pkill provost"),
        project.bash("ln -s provost.toml x"),
        project.write(project.path.join(".claude/agents/a.md"), "---\nhooks:\n  PreToolUse: []\n---\n"),
    ];
    for call in calls {
        let reason = project.hook(&call).expect_denial();
        let shown: String = reason.chars().take(200).collect();
        let (_, fix) = shown.split_once(". To fix: ").unwrap_or_else(|| panic!("{reason}"));
        assert!(fix.len() > 15, "{reason}");
    }
}

/// A call that self-guard denies, under a name of its own.
fn call(mut event: Value, id: &str) -> Value {
    event["tool_use_id"] = id.into();
    event
}

fn permit(project: &TestProject) -> Answer {
    let mut event = project.recorded_event("UserPromptSubmit");
    event["session_id"] = project.recorded_event("PreToolUse.Bash")["session_id"].clone();
    event["prompt"] = "provost override self-guard I want this hook".into();
    project.hook(&event)
}

#[test]
fn the_user_allows_a_change_once() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let write = project.write(&path, &with_hook("PreToolUse", hook("./lint.sh")));
    let reason = project.hook(&call(write.clone(), "1")).expect_denial();
    assert!(reason.contains("`provost override self-guard REASON`"), "{reason}");
    permit(&project).expect_note();
    project.hook(&call(write.clone(), "2")).expect_note();
    project.hook(&call(write, "3")).expect_denial();
    for (id, event) in [
        ("toml", project.write(project.path.join("provost.toml"), "[guards]\n")),
        ("off", project.write(&path, r#"{"disableAllHooks":true}"#)),
        ("delete", project.bash("rm .claude/settings.json")),
        ("init", project.bash("provost init")),
        (
            "skill",
            project
                .write(project.path.join(".claude/skills/x/SKILL.md"), "---\nhooks: {PreToolUse: []}\n---\n"),
        ),
    ] {
        permit(&project).expect_note();
        assert!(project.hook(&call(event, id)).expect_note().contains("I want this hook"), "{id}");
    }
}

#[test]
fn a_call_that_could_forge_is_never_allowed() {
    let project = full();
    permit(&project).expect_note();
    for line in [
        "cat ~/.local/state/provost/seal.key",
        "echo x > ~/.local/state/provost/overrides/x.json",
        "rm -rf ~/.local/state/provost",
        "rm -rf ~/.local",
        "provost hook < event.json",
        "provost gate assess",
        "provost review run",
        "provost compat pre_tool_use < event.json",
        "PROVOST_CHILD=1 true",
        "pkill -f provost",
        // A part that can be allowed does not allow the other.
        "echo x > provost.toml; cat ~/.local/state/provost/seal.key",
        "provost init; cp ~/.local/state/provost/seal.key k",
    ] {
        let reason = project.hook(&call(project.bash(line), line)).expect_denial();
        assert!(!reason.contains("provost override"), "{line}: {reason}");
    }
    let words = json!({"prompt": "provost override self-guard please"});
    project.hook(&call(project.mcp(words), "words")).expect_denial();
    // None of them has used the permission up.
    project.hook(&call(project.bash("rm provost.toml"), "last")).expect_note();
}

#[test]
fn a_command_that_another_key_runs_is_judged_like_a_hook() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let with = |key: &str, value: Value| {
        let mut after = registered_settings();
        after[key] = value;
        project.write(&path, &after.to_string())
    };
    let command = |line: &str| json!({"type": "command", "command": line});
    let harm = "rm provost.toml";
    project.assert_denied(&[
        ("statusLine", with("statusLine", command(harm))),
        ("subagentStatusLine", with("subagentStatusLine", command(harm))),
        ("fileSuggestion", with("fileSuggestion", command(harm))),
        ("reads the key", with("statusLine", command("cat ~/.local/state/provost/seal.key"))),
        ("apiKeyHelper", with("apiKeyHelper", json!(harm))),
        ("awsAuthRefresh", with("awsAuthRefresh", json!(harm))),
        ("awsCredentialExport", with("awsCredentialExport", json!(harm))),
        ("gcpAuthRefresh", with("gcpAuthRefresh", json!(harm))),
        ("otelHeadersHelper", with("otelHeadersHelper", json!(harm))),
    ]);
    project.assert_allowed(&[
        ("statusLine", with("statusLine", command("provost statusline"))),
        ("another", with("statusLine", command("~/.claude/statusline.sh"))),
        ("fileSuggestion", with("fileSuggestion", command("git ls-files"))),
        ("apiKeyHelper", with("apiKeyHelper", json!("pass show key"))),
        ("no command at all", with("outputStyle", json!("rm provost.toml"))),
    ]);
}

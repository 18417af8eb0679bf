//! What hooks did, and that the recorder changes nothing about it.

use super::{TOUCH, rehearse};
use crate::assert_nothing_runs_in;

#[test]
fn a_denial_reaches_the_model_and_the_tool_does_not_run() {
    let denial = r#"
[[hook]]
event = "PreToolUse"
matcher = "Bash"
command = '''cat >/dev/null; echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not today, ${word}"}}' '''
[expect]
exit = 0
requests = { main = 2 }
[expect.result]
subtype = "success"
[[expect.request]]
n = 2
contains = ["PreToolUse:Bash hook error: not today, ${word}"]
matches = ["(?m)not today, from the stage$"]
lacks = ["hello", "touch marker"]
[[expect.hook]]
event = "PreToolUse"
tool = "Bash"
count = 1
exit = 0
stdout = { hookSpecificOutput = { permissionDecision = "deny", permissionDecisionReason = "{{re:^not}}" } }
input = { permission_mode = "default", cwd = "${project}" }
[[expect.file]]
path = "marker"
exists = false
"#;
    let Some(playback) = rehearse(&format!("{TOUCH}{denial}")) else { return };
    let root = playback.project.parent().unwrap().to_owned();
    assert!(root.is_dir());
    assert!(playback.kept_directory().is_none());
    drop(playback);
    assert!(!root.exists(), "the run's directories go with the playback");
}

#[test]
fn exit_2_blocks_and_the_recorder_cannot_be_seen_in_the_quoted_command() {
    for (form, quoted) in [
        ("command = 'echo \"it is late\" >&2; exit 2'", r#"[echo "it is late" >&2; exit 2]: it is late"#),
        (
            "command = '/bin/sh'\nargs = ['-c', 'echo late >&2; exit 2']",
            "[/bin/sh -c echo late >&2; exit 2]: late",
        ),
    ] {
        let scenario = format!(
            "{TOUCH}[[hook]]\nevent = 'PreToolUse'\nmatcher = 'Bash'\n{form}\n\
             [[expect.hook]]\nevent = 'PreToolUse'\nexit = 2\nstdout = ''\nstderr_contains = ['late']\n\
             [[expect.file]]\npath = 'marker'\nexists = false\n"
        );
        let Some(playback) = rehearse(&scenario) else { return };
        let told = playback.new_text_in_request("main", 2);
        assert!(told.contains(&format!("PreToolUse:Bash hook error: {quoted}")), "{told}");
    }
}

#[test]
fn a_hook_that_is_cut_off_is_seen_as_unfinished_and_leaves_no_process() {
    // The model takes its time, so that a hook that outlived its recorder would be found out.
    let slow = r"
[[hook]]
event = 'PreToolUse'
matcher = 'Bash'
command = 'echo started; sleep 2.5; echo never > late; sleep 30'
timeout = 1
[expect]
exit = 0
requests = { main = 2 }
[[expect.hook]]
event = 'PreToolUse'
count = 1
unfinished = true
[[expect.file]]
path = 'marker'
exists = true
[[expect.file]]
path = 'late'
exists = false
";
    let patient = TOUCH.replace("text = \"done\"", "before = [{ wait = 3.0 }]\ntext = \"done\"");
    let Some(playback) = rehearse(&format!("{patient}{slow}")) else { return };
    assert_nothing_runs_in(&playback.home);
}

#[test]
fn a_signal_and_a_missing_program_are_told_as_they_are() {
    let scenario = format!(
        "{TOUCH}[[hook]]\nevent = 'PreToolUse'\ncommand = 'kill -9 $$'\n\
         [[hook]]\nevent = 'PreToolUse'\ncommand = '/nonexistent/gate'\nargs = []\nonFailure = 'block'\n\
         [[expect.hook]]\nevent = 'PreToolUse'\ncommand = 'kill'\nsignal = 9\n\
         [[expect.hook]]\nevent = 'PreToolUse'\ncommand = '/nonexistent/gate'\nexit = 127\n\
         [[expect.request]]\nn = 2\ncontains = ['onFailure is \"block\"']\n\
         [[expect.file]]\npath = 'marker'\nexists = false\n"
    );
    rehearse(&scenario);
}

#[test]
fn parallel_calls_are_recorded_apart_and_equal_entries_run_once() {
    let two = r#"
title = "two at once"
prompt = "hello"
args = ["--allowedTools", "Bash"]
[[hook]]
event = "PreToolUse"
matcher = "Bash"
command = "cat >/dev/null; sleep 0.3"
[[hook]]
event = "PreToolUse"
matcher = "Bash"
command = "cat >/dev/null; sleep 0.3"
scope = "user"
[[route]]
[[route.step]]
text = "both"
calls = [
  { tool = "Bash", input = { command = "touch one", description = "x" } },
  { tool = "Bash", input = { command = "touch two", description = "x" } },
]
[[route.step]]
text = "done"
[expect]
exit = 0
requests = { main = 2 }
[[expect.hook]]
event = "PreToolUse"
count = 2
exit = 0
stdout = ""
[[expect.hook]]
event = "PreToolUse"
given = { tool_input = { command = "touch two" } }
count = 1
[[expect.file]]
path = "one"
exists = true
[[expect.file]]
path = "two"
exists = true
"#;
    rehearse(two);
}

#[test]
fn hooks_of_a_plugin_are_recorded_and_the_clients_own_variables_still_work() {
    let plugin = r#"
title = "plugin hooks are recorded, in both forms, with the client's own variables"
prompt = "hello"
args = ["--allowedTools", "Bash", "--plugin-dir", "${project}/demo"]
[files]
"demo/.claude-plugin/plugin.json" = { name = "demo", version = "0.1.0", description = "d", author = { name = "a" } }
"demo/gate.sh" = "echo \"gate $1\""
"gate.sh" = "echo \"project gate $1\""
"demo/hooks/hooks.json" = { hooks = { PreToolUse = [ { matcher = "Bash", hooks = [ { type = "command", command = "sh", args = ["${CLAUDE_PLUGIN_ROOT}/gate.sh", "exec"] }, { type = "command", command = 'sh "${CLAUDE_PLUGIN_ROOT}/gate.sh" shell' } ] } ] } }
[[hook]]
event = "PreToolUse"
command = "${CLAUDE_PROJECT_DIR}/gate.x"
args = []
[[hook]]
event = "PreToolUse"
command = "sh"
args = ["${CLAUDE_PROJECT_DIR}/gate.sh", "settings"]
[[route]]
[[route.step]]
tool = "Bash"
input = { command = "true", description = "x" }
[[route.step]]
text = "done"
[expect]
exit = 0
[[expect.hook]]
command = "exec"
event = "PreToolUse"
stdout = "gate exec"
[[expect.hook]]
command = "shell"
stdout = "gate shell"
[[expect.hook]]
command = "settings"
stdout = "project gate settings"
[[expect.hook]]
command = "${project}/gate.x"
exit = 127
"#;
    rehearse(plugin);
}

#[test]
fn odd_endings_pass_through_and_a_child_that_holds_the_output_stalls_nothing() {
    let odd = r#"
title = "a child that holds the output, bytes that are no text, a signal the recorder ignores"
prompt = "hello"
[[hook]]
event = "UserPromptSubmit"
command = "sleep 100000 & echo hi"
[[hook]]
event = "UserPromptSubmit"
command = "printf 'a\\377b'"
[[hook]]
event = "UserPromptSubmit"
command = "kill -PIPE $$"
[[hook]]
event = "UserPromptSubmit"
command = "kill -SEGV $$"
[[route]]
[[route.step]]
text = "done"
[expect]
exit = 0
[[expect.hook]]
command="sleep"
stdout="hi"
[[expect.hook]]
command="PIPE"
signal=13
[[expect.hook]]
command="SEGV"
signal=11
"#;
    let Some(playback) = rehearse(odd) else { return };
    assert_nothing_runs_in(&playback.home);
}

#[test]
fn an_entry_that_is_not_recorded_is_left_to_the_client() {
    let scenario = format!(
        "{TOUCH}[[hook]]\nevent = 'PreToolUse'\ncommand = '/nonexistent/gate'\nargs = []\nonFailure = 'block'\nrecord = false\n\
         [[expect.hook]]\ncount = 0\n\
         [[expect.request]]\nn = 2\ncontains = ['[/nonexistent/gate]: failed; blocking because onFailure is \"block\"']\n"
    );
    rehearse(&scenario);
}

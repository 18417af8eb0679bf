//! Everything around a hook: hosts, plan mode, agents, people outside.

use super::rehearse;

#[test]
fn plan_mode_has_a_host_and_its_exit_can_be_denied() {
    let plan = r##"
title = "plan"
prompts = ["make a plan"]
args = ["--permission-mode", "plan"]
[host]
default = "allow"
ExitPlanMode = "deny"
message = "think again"
[files]
"~/.claude/settings.json" = { useAutoModeDuringPlan = false, hooks = { PreToolUse = [ { matcher = "ExitPlanMode", hooks = [ { type = "command", command = "cat > seen.json" } ] } ] } }
[[route]]
[[route.step]]
tool = "Write"
input = { file_path = '{{re:(/[^ \n]*/plans/[^ \n]*\.md)}}', content = "# The plan\n" }
[[route.step]]
tool = "ExitPlanMode"
[[route.step]]
text = "so be it"
[expect]
exit = 0
requests = { main = 3 }
asked = { ExitPlanMode = 1 }
[[expect.hook]]
event = "PreToolUse"
tool = "ExitPlanMode"
count = 1
input = { permission_mode = "plan", tool_input = { plan = "# The plan\n" } }
[[expect.request]]
n = 3
contains = ["think again"]
[[expect.file]]
path = "~/.claude/plans/*.md"
equals = "# The plan\n"
[[expect.file]]
path = "seen.json"
json = { hook_event_name = "PreToolUse" }
[expect.result]
result = "so be it"
"##;
    let Some(playback) = rehearse(plan) else { return };
    assert_eq!(playback.asked, [("ExitPlanMode".to_owned(), false)]);
}

#[test]
fn a_host_takes_several_prompts() {
    let two = r#"
title = "two"
prompts = ["first word", "second word"]
host = "allow"
[[route]]
[[route.step]]
text = "one"
[[route.step]]
text = "two"
[expect]
exit = 0
requests = { main = 2 }
[expect.result]
result = "two"
[[expect.request]]
n = 2
contains = ["second word"]
lacks = ["first word"]
"#;
    rehearse(two);
}

#[test]
fn a_settings_change_from_outside_is_noticed_and_its_hooks_are_recorded() {
    let change = r#"
title = "change"
prompt = "hello"
args = ["--allowedTools", "Bash"]
[[hook]]
event = "ConfigChange"
command = "cat >/dev/null"
scope = "user"
[files]
"notes.txt" = "one\n"
[[route]]
[[route.step]]
before = [
  { write = ".claude/settings.json", json = { hooks = { PreToolUse = [ { hooks = [ { type = "command", command = "exit 2" } ] } ] } } },
  { wait_for_hook = "ConfigChange", seconds = 15 },
  { run = "echo two >> notes.txt" },
]
tool = "Bash"
input = { command = "touch marker", description = "x" }
[[route.step]]
before = [{ remove = "notes.txt" }]
text = "done"
[expect]
exit = 0
[[expect.hook]]
event = "ConfigChange"
count = 1
input = { source = "project_settings" }
[[expect.hook]]
event = "PreToolUse"
count = 1
exit = 2
[[expect.file]]
path = "marker"
exists = false
[[expect.file]]
path = "notes.txt"
exists = false
"#;
    rehearse(change);
}

#[test]
fn a_subagent_plays_its_own_route() {
    let sub = r#"
title = "subagent"
prompt = "hello"
args = ["--allowedTools", "Agent,Bash"]
[[hook]]
event = "SubagentStop"
command = "cat >/dev/null"
[[hook]]
event = "PreToolUse"
matcher = "Bash"
command = "cat >/dev/null"
[[route]]
name = "sub"
when = { first = "SUBPROMPT" }
[[route.step]]
tool = "Bash"
input = { command = "touch from-sub", description = "x" }
[[route.step]]
text = "VERDICT: PASS"
[[route]]
name = "main"
[[route.step]]
tool = "Agent"
input = { description = "d", prompt = "SUBPROMPT", subagent_type = "general-purpose", run_in_background = false }
[[route.step]]
text = "done"
[expect]
exit = 0
requests = { main = 2, sub = 2 }
[[expect.hook]]
event = "SubagentStop"
agent = "general-purpose"
count = 1
input = { last_assistant_message = "VERDICT: PASS" }
[[expect.hook]]
event = "PreToolUse"
tool = "Bash"
agent = "general-purpose"
count = 1
exit = 0
[[expect.request]]
route = "main"
n = 2
contains = ["VERDICT: PASS"]
[[expect.file]]
path = "from-sub"
exists = true
"#;
    rehearse(sub);
}

#[test]
fn setup_installs_hooks_in_a_repository_and_they_are_recorded() {
    let setup = r#"
title = "setup"
prompt = "hello"
git = true
args = ["--allowedTools", "Bash"]
setup = [{ run = '''
mkdir -p .claude
echo '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"git log --oneline"}]}]}}' > .claude/settings.json
''' }]
[env]
GREETING = "hi ${word}"
[[hook]]
event = "PreToolUse"
scope = "local"
command = 'echo "$GREETING"'
entry = { statusMessage = "looking" }
[[route]]
[[route.step]]
tool = "Bash"
input = { command = "git branch --show-current", description = "x" }
[[route.step]]
text = "done"
[expect]
exit = 0
[[expect.request]]
n = 2
contains = ["main"]
[[expect.hook]]
event = "Stop"
count = 1
stdout_contains = ["The scene is set"]
[[expect.hook]]
event = "PreToolUse"
stdout = "hi from the stage"
"#;
    rehearse(setup);
}

#[test]
fn an_api_error_is_played() {
    let overloaded = r#"
title = "error"
prompt = "hello"
[[route]]
[[route.step]]
error = { status = 400, type = "invalid_request_error", message = "this is too much" }
[expect]
exit = 1
[expect.result]
is_error = true
result = "{{re:this is too much}}"
"#;
    rehearse(overloaded);
}

#[test]
fn a_plugin_that_setup_installs_runs_under_the_recorder() {
    let plugin = r#"
title = "plugin"
prompt = "hello"
args = ["--allowedTools", "Bash"]
setup = [
  { run = "test -f '${here}/scenes.rs'" },
  { run = '''
mkdir -p ~/market/.claude-plugin ~/market/demo/.claude-plugin ~/market/demo/hooks
echo '{"name":"m","owner":{"name":"o"},"plugins":[{"name":"demo","source":"./demo"}]}' > ~/market/.claude-plugin/marketplace.json
echo '{"name":"demo","version":"0.1.0"}' > ~/market/demo/.claude-plugin/plugin.json
echo '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"echo \"not from $CLAUDE_PLUGIN_ROOT\" >&2; exit 2"}]}]}}' > ~/market/demo/hooks/hooks.json
''' },
  { run = "'${client}' plugin marketplace add ~/market && '${client}' plugin install demo@m" },
]
[[route]]
[[route.step]]
tool = "Bash"
input = { command = "touch marker", description = "x" }
[[route.step]]
text = "done"
[expect]
exit = 0
[[expect.request]]
n = 2
contains = ["not from ${home}/market/demo"]
lacks = ["--record"]
[[expect.hook]]
event = "PreToolUse"
count = 1
exit = 2
[[expect.file]]
path = "marker"
exists = false
"#;
    rehearse(plugin);
}

#[test]
fn what_is_not_to_be_recorded_stays_so_after_a_setup() {
    rehearse(
        r#"
title = "setup"
prompt = "x"
setup = [{ run = "true" }]
[[hook]]
event = "Stop"
command = "touch unrecorded"
record = false
[[hook]]
event = "Stop"
command = "touch recorded"
[[route]]
[[route.step]]
text = "done"
[[expect.hook]]
event = "Stop"
count = 1
[[expect.file]]
path = "unrecorded"
exists = true
[[expect.file]]
path = "recorded"
exists = true
"#,
    );
}

#[test]
fn a_setup_may_play_an_earlier_session() {
    let resumed = r#"
title = "resumed"
prompt = "and then?"
args = ["--resume", "11111111-1111-4111-8111-111111111111"]
setup = [{ run = "'${client}' -p 'long ago' --session-id 11111111-1111-4111-8111-111111111111" }]
[[route]]
[[route.step]]
text = "there was"
[[route.step]]
text = "the end"
[expect]
exit = 0
requests = { main = 2 }
[[expect.request]]
n = 1
contains = ["long ago"]
[[expect.request]]
n = 2
contains = ["and then?"]
[expect.result]
result = "the end"
"#;
    rehearse(resumed);
}

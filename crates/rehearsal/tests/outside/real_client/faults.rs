//! A rehearsal that goes wrong must say so.

use super::{TOUCH, play};
use crate::assert_nothing_runs_in;

#[test]
fn a_client_that_does_not_end_is_ended_with_everything_it_started() {
    let endless = r"
title = 'endless'
prompt = 'hello'
timeout = 4
args = ['--allowedTools', 'Bash']
[[route]]
[[route.step]]
tool = 'Bash'
input = { command = 'tail -f /dev/null', description = 'x' }
[[route.step]]
text = 'done'
[expect]
exit = 0
";
    let Some((scenario, playback)) = play(endless) else { return };
    assert_eq!(playback.exit, None);
    assert_nothing_runs_in(&playback.home);
    let told = scenario.check(&playback)[0].to_string();
    assert!(told.contains("did not end within 4 s"), "{told}");
}

#[test]
fn wrong_expectations_are_reported_each_with_what_was_there_instead() {
    let wrong = r#"
[[hook]]
event = "PreToolUse"
command = "echo refused >&2; exit 2"
[expect]
exit = 3
requests = { main = 5 }
[expect.result]
subtype = "failure"
[[expect.request]]
n = 2
contains = ["refused!"]
lacks = ["refused"]
matches = ["accepted"]
tools = []
[[expect.request]]
n = 9
contains = ["x"]
[[expect.hook]]
event = "PreToolUse"
count = 2
exit = 0
stdout = { decision = "block" }
stderr_contains = ["accepted"]
input = { tool_name = "Write" }
[[expect.hook]]
event = "Stop"
exit = 0
[[expect.file]]
path = "marker"
exists = true
contains = ["x"]
"#;
    let Some((scenario, playback)) = play(&format!("{TOUCH}{wrong}")) else { return };
    let told: Vec<String> = scenario.check(&playback).iter().map(ToString::to_string).collect();
    let expected = [
        "the client exited differently",
        "route main got another number of requests",
        "request 2 of route main does not contain",
        "request 2 of route main contains",
        "request 2 of route main does not match",
        "request 2 of route main was offered other tools",
        "request 9 of route main was not made: there are 2",
        "hook PreToolUse ran another number of times",
        "hook PreToolUse #1 ended differently",
        "stdout of hook PreToolUse #1 is not JSON",
        "stderr of hook PreToolUse #1 does not contain",
        "input of hook PreToolUse #1 differs",
        "hook Stop did not run",
        "file marker does not exist",
        "file marker does not exist",
        "the client's result differs",
    ];
    let heads: Vec<&str> = told.iter().map(|told| told.lines().next().unwrap()).collect();
    assert_eq!(heads, expected, "{told:#?}");
    assert!(
        told[2].contains("closest   PreToolUse:Bash hook error: [echo refused >&2; exit 2]: refused"),
        "{}",
        told[2]
    );
    assert!(told[11].contains(r#"tool_name: expected "Write", got "Bash""#), "{}", told[11]);
}

#[test]
fn what_cannot_be_played_as_written_is_a_mismatch() {
    let lost = r#"
title = "lost"
prompt = "hello"
[env]
CLAUDE_CODE_MAX_RETRIES = "0"
[[route]]
when = { first = "nobody says this" }
[[route.step]]
text = "done"
"#;
    let Some((scenario, playback)) = play(lost) else { return };
    let told = scenario.check(&playback)[0].to_string();
    assert!(told.starts_with("a request found no route") && told.contains("hello"), "{told}");

    let unfilled = TOUCH.replace("touch marker", "touch {{re:(zzz[0-9])}}");
    let Some((scenario, playback)) = play(&unfilled) else { return };
    let told = scenario.check(&playback)[0].to_string();
    assert!(told.contains("step 1 of route `main`: `(zzz[0-9])` matches nothing"), "{told}");
}

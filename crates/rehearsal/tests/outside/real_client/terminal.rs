//! The interactive client on a terminal.

use super::rehearse;

#[test]
fn prompts_denials_dialogs_and_keys_work_on_a_screen() {
    let Some(playback) = rehearse(
        r#"
title = "interactive"
terminal = { columns = 80, rows = 50 }
args = ["--permission-mode", "default"]
[[hook]]
event = "PreToolUse"
matcher = "Bash"
command = "grep -q forbidden && echo 'forbidden here, for a reason that is long enough to be broken into two lines' >&2 && exit 2; exit 0"
[[route]]
[[route.step]]
tool = "Bash"
input = { command = "touch forbidden", description = "x" }
[[route.step]]
text = "understood"
[[route.step]]
tool = "Bash"
input = { command = "touch refused", description = "x" }
[[route.step]]
tool = "Bash"
input = { command = "touch allowed", description = "x" }
[[route.step]]
text = "finished"
[[do]]
prompt = "touch what is forbidden"
[[do]]
prompt = "touch something else"
[[do]]
wait_for = "Do you want to proceed?"
[[do]]
press = "Escape"
[[do]]
prompt = "touch a third file"
[[do]]
wait_for = "touch allowed"
[[do]]
wait_for = "Do you want to proceed?"
[[do]]
press = "1"
[[do]]
wait_for = "finished"
[expect]
exit = 0
[[expect.screen]]
contains = ["forbidden here, for a reason that is long enough to be broken into two lines", "understood"]
[[expect.screen]]
after = 3
contains = ["touch refused"]
[[expect.file]]
path = "forbidden"
exists = false
[[expect.file]]
path = "refused"
exists = false
[[expect.file]]
path = "allowed"
exists = true
"#,
    ) else {
        return;
    };
    assert!(playback.stall.is_none());
}

//! What arrives on stdin: nothing, garbage, nests, broken text, no end.

use std::io::Write;
use std::thread;

use super::forbidden;
use crate::support::{TestProject, collect_answer};

#[test]
fn empty_input_is_the_most_protective_answer() {
    let project = TestProject::new();
    for input in [&b""[..], b" \n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"] {
        assert_eq!(
            project.hook_bytes(&[], input).expect_closed_failure(),
            "[provost] `self-guard` could not judge this: the input is empty, so it is denied. To fix: \
             run `provost explain` in a terminal to see why; the user can switch the guard off with `self-guard = \"off\"` under `[guards]` in ~/.config/provost/provost.toml.\n\
             [provost] also `registration-guard`, for the same reason.\n\
             [provost] also `planner-bash-guard`, for the same reason."
        );
    }
}

#[test]
fn an_unreadable_input_passes_where_no_guard_is_enabled() {
    let project = TestProject::with_no_guard();
    for input in [&b""[..], b"garbage", b"[]", b"{}"] {
        assert!(project.hook_bytes(&[], input).is_silent());
    }
}

#[test]
fn what_is_no_object_with_a_name_is_the_most_protective_answer() {
    let project = TestProject::new();
    let inputs: &[&[u8]] =
        &[b"garbage", b"[]", b"5", b"null", b"{}", b"{\"a\":", b"{} {}", b"\0\0\0", b"\xff\xfe{\0}\0"];
    for input in inputs {
        project.hook_bytes(&[], input).expect_closed_failure();
    }
}

#[test]
fn an_unreadable_input_is_kept_in_the_journal_without_its_text() {
    let project = TestProject::new();
    project.hook_bytes(&[], b"TOPSECRET").expect_closed_failure();
    let journal = project.read_journal();
    assert_eq!(journal.len(), 1);
    assert!(journal[0]["remark"].as_str().unwrap().starts_with("the input is not a JSON object"));
    assert_eq!(journal[0]["decision"], "deny (fault)");
    assert!(!project.read_journal_text().contains("TOPSECRET"));
}

#[test]
fn deep_nesting_has_a_defined_answer() {
    let project = TestProject::new();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
        for input in [
            deep.clone(),
            open.repeat(10_000),
            format!("{{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{deep}}}"),
        ] {
            let answer = project.hook_bytes(&[], input.as_bytes());
            answer.expect_closed_failure();
            assert!(answer.cpu_seconds < 1.0, "{answer:?}");
        }
    }
}

#[test]
fn text_that_is_not_utf8_is_judged_like_any_other() {
    let project = TestProject::new();
    let call = |path: &str| {
        let text = project.write(project.path.join(path), "CONTENT").to_string();
        let at = text.find("CONTENT").unwrap();
        [&text.as_bytes()[..at], b"\xff\xc3\x28\xed\xa0\x80", &text.as_bytes()[at..]].concat()
    };
    assert!(project.hook_bytes(&[], &call("a.txt")).is_silent());
    assert!(project.hook_bytes(&[], &call("provost.toml")).stdout.contains("\"deny\""));
}

#[test]
fn half_a_surrogate_pair_is_judged_like_any_other_text() {
    let project = TestProject::new();
    for half in ["\\ud83d", "\\udc00", "\\ud83d\\ud83d", "\\ud83dx"] {
        let call = |path: &str| {
            project.write(project.path.join(path), "CONTENT").to_string().replace("CONTENT", half)
        };
        assert!(project.hook_bytes(&[], call("a.txt").as_bytes()).is_silent());
        assert!(project.hook_bytes(&[], call("provost.toml").as_bytes()).stdout.contains("\"deny\""));
    }
}

#[test]
fn an_input_that_never_ends_is_answered_at_the_deadline() {
    let project = TestProject::new().with_real_limits();
    let answered = |begun: String| {
        let mut child = project.command(&[]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(begun.as_bytes()).unwrap();
        let answer = collect_answer(child, None);
        drop(stdin);
        assert!(answer.expect_closed_failure().contains("the input did not end"), "{answer:?}");
    };
    thread::scope(|scope| {
        scope.spawn(|| answered(String::new()));
        scope.spawn(|| answered(project.bash("ls").to_string()));
    });
    for line in project.read_journal() {
        assert_eq!(line["remark"], "the input did not end");
        assert!(line["micros"].as_u64() >= Some(5_000_000), "{line}");
    }
}

#[test]
fn an_event_of_tomorrow_passes_in_silence() {
    let project = TestProject::new();
    for name in ["PreToolUseV2", "", "pretooluse", "TaskCompleted", "\u{1b}[2J"] {
        let mut event = forbidden(&project);
        event["hook_event_name"] = name.into();
        assert!(project.hook(&event).is_silent(), "{name}");
    }
}

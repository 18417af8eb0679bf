//! Hooks in a client that Provost itself has started.

use super::forbidden;
use crate::support::{TestProject, collect_answer};

#[test]
fn a_child_client_is_never_judged() {
    let project = TestProject::new().with_variable("PROVOST_CHILD", "1");
    assert!(project.hook(&forbidden(&project)).is_silent());
    assert!(project.hook_bytes(&[], b"garbage").is_silent());
    assert!(project.hook_with(&["--of-tomorrow"], &project.bash("ls")).is_silent());
    assert_eq!(project.read_journal_text(), "");
}

#[test]
fn a_child_client_does_not_wait_for_input() {
    let project = TestProject::new().with_variable("PROVOST_CHILD", "1");
    let mut child = project.command(&[]).spawn().unwrap();
    let stdin = child.stdin.take();
    let answer = collect_answer(child, None);
    drop(stdin);
    assert!(answer.is_silent(), "{answer:?}");
}

//! `workflow.finish = { review = … }`: an instance is archived only when its changes were reviewed.

use super::session::ReviewedSession;
use crate::support::Answer;

const WORKFLOW: &str =
    "[guards]\nworkflow-gate = \"off\"\n[workflow]\nuse = [\"openspec\"]\nfinish = { review = 2 }\n";

fn archive(session: &ReviewedSession) -> Answer {
    let mut event = session.event("PreToolUse.Bash");
    event["tool_input"]["command"] = "openspec archive add-login -y".into();
    session.project.hook(&event)
}

#[test]
fn an_archive_needs_clean_reviews_of_the_work() {
    let session = ReviewedSession::with_config("need = { review = 2 }\nchanged = \"src/**\"", WORKFLOW);
    session.project.write_file("openspec/config.yaml", "schema: spec-driven\n");
    session.project.write_file("openspec/changes/add-login/tasks.md", "- [x] 1.1 Create the store\n");
    // Nothing was changed, so nothing is to be reviewed.
    assert!(archive(&session).is_silent());
    session.write("src/a.rs", "x\n");
    let reason = archive(&session).find_denial().unwrap();
    assert!(reason.contains("`src/a.rs` was not found clean by a review 2 times in a row"), "{reason}");
    session.script(&["fail once more", "pass", "pass"]);
    session.expect_held();
    assert!(archive(&session).find_denial().is_ok());
    session.write("src/a.rs", "y\n");
    session.expect_end();
    assert!(archive(&session).is_silent());
    // Planning makes no review old, and work does.
    session.write("openspec/changes/add-login/notes.md", "x\n");
    assert!(archive(&session).is_silent());
    session.write("src/a.rs", "z\n");
    assert!(archive(&session).find_denial().is_ok());
}

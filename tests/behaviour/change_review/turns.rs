//! What the end of a turn does: which reviews are made, and when the agent is held.

use super::session::{RULE, ReviewedSession};
use crate::support::assert_shown;

#[test]
fn a_turn_without_changes_ends_without_a_review() {
    let session = ReviewedSession::new(RULE);
    assert!(session.stop().is_silent());
    session.write("README.md", "x\n");
    assert!(session.stop().is_silent());
    assert_eq!(session.count_reviews(), 0);
}

#[test]
fn the_agent_is_held_until_two_reviews_in_a_row_are_clean() {
    let session = ReviewedSession::new(RULE);
    session.script(&["fail src/a.rs:1: wrong word", "pass", "pass"]);
    session.write("src/a.rs", "wrong\n");
    let held = session.expect_held();
    assert!(held.contains("review 1 of at most 8 found issues") && held.contains("src/a.rs:1: wrong word"), "{held}");
    assert_eq!(session.count_reviews(), 1);
    session.write("src/a.rs", "right\n");
    let ended = session.expect_end();
    assert!(ended.contains("rule:review: clean 2 times in a row (1 file, 1 line; 3 reviews"), "{ended}");
    assert_eq!((session.count_reviews(), session.models().as_str()), (3, "opus\nsonnet\nopus\n"));
    assert!(session.stop().is_silent());
    assert_eq!(session.count_reviews(), 3);
}

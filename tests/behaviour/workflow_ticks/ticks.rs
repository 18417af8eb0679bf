//! When a tick is allowed: since the last one something has changed, or a test or build has passed.

use super::WorkflowSession;
use super::systems::{ALL, KIRO, OPENSPEC, SPEC_KIT, TASK_MASTER};

const NO_WORK: &str = "since the last tick";

#[test]
fn a_tick_without_work_is_denied_and_with_work_allowed() {
    for system in ALL {
        let session = WorkflowSession::new(system);
        session.assert_denied(session.tick(system, 0), NO_WORK);
        session.work();
        session.assert_allowed(session.tick(system, 0));
    }
}

#[test]
fn a_test_that_passes_is_work_and_one_that_fails_is_none() {
    for system in ALL {
        let session = WorkflowSession::new(system);
        session.run(session.project.bash("npm test"), false);
        session.assert_denied(session.tick(system, 0), NO_WORK);
        session.run(session.project.bash("git status"), true);
        session.run(session.project.bash("ls src"), true);
        session.assert_denied(session.tick(system, 0), NO_WORK);
        session.run(session.project.bash("npm run build"), true);
        session.assert_allowed(session.tick(system, 0));
    }
}

#[test]
fn several_ticks_may_follow_one_piece_of_work() {
    for system in ALL {
        let session = WorkflowSession::new(system);
        session.work();
        session.run(session.tick(system, 0), true);
        session.run(session.tick(system, 1), true);
        // The user's next prompt ends the piece of work.
        session.prompt("and now?");
        session.assert_denied(session.tick(system, 1), NO_WORK);
        session.work();
        session.assert_allowed(session.tick(system, 1));
    }
}

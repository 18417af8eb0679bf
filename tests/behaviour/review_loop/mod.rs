//! The review loop: the 80 cases of document 003 by their numbers, whole loops, fixed defects, hostile disks.
//!
//! A [`Planned`] is a project with one plan and a fake reviewer on its `PATH`, which answers in the form of the real
//! client (`reviewer.sh`). Each case runs twice: through `compat stop-hook`, and through the hook with a recorded
//! event. [`entries`] compares the two answers.

mod choice;
mod defects;
mod entries;
mod forged;
mod hostile;
mod loops;
mod ownership;
mod suite1_validation;
mod suite2_auto_review;
mod suite3_transitions;
mod suite4_invocation;
mod suite5_messages;
mod suite6_edges;
mod together;
mod unanswered;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::support::review_project::{
    OTHER_SESSION, PLAN_ID, ReviewProject, ReviewerCall, SESSION, TASKS, block_reason, list_directory,
    started_review, state, tool_call_line, user_message,
};
use crate::support::waiting::{has_ended, wait_until};
use crate::support::{Answer, assert_shown};
use entries::{Outcome, both, both_at};
use serde_json::{Value, json};

/// Every case of the document is a test with its number, and none is left out.
#[test]
fn the_six_suites_have_all_their_eighty_cases() {
    let suites = [
        (17, include_str!("suite1_validation.rs")),
        (15, include_str!("suite2_auto_review.rs")),
        (16, include_str!("suite3_transitions.rs")),
        (14, include_str!("suite4_invocation.rs")),
        (6, include_str!("suite5_messages.rs")),
        (12, include_str!("suite6_edges.rs")),
    ];
    assert_eq!(suites.iter().map(|(count, _)| count).sum::<u32>(), 80);
    for (count, text) in suites {
        let cases = text.split("#[test]\nfn case_").skip(1).map(|case| case[..2].parse().unwrap());
        assert_eq!(cases.collect::<Vec<u32>>(), (1..=count).collect::<Vec<_>>());
        assert!(!text.contains("#[ignore"), "a case that is skipped is none");
    }
}

//! The review loop: the 80 cases of document 003 by their numbers, whole loops, defects, hostile disks.
//!
//! A [`Planned`] is a project with one plan and a stand-in for the reviewer on its `PATH`, which answers
//! in the form of the real client (`reviewer.sh`). A case is made twice and judged by both entries: the
//! stand-in for the document's script, and the hook with a recorded event. [`entries`] holds their answers
//! against each other.

#![cfg(unix)]

#[path = "../support/mod.rs"]
mod support;

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

use entries::{Outcome, both, both_at};
use serde_json::{Value, json};
use support::Answer;
use support::planned::{
    Call, OTHER_SESSION, PLAN_ID, Planned, SESSION, TASKS, files_of, message, reason, said, started, state,
};
use support::waiting::{has_ended, wait_until};

/// Every case of the document is a test of its number, and none of them is left out.
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

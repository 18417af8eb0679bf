//! The plan gate: requirements of document 000 by their numbers, defects of its listings, hostile input.
//!
//! A [`Planning`] is a session in plan mode with a plan file.

mod background;
mod defects;
mod fixtures;
mod forgery;
mod hashes;
mod hostile;
mod messages;
mod requirements;
mod together;
mod whole_answer;
mod witness;

use std::fs;
use std::path::Path;

use crate::support::plan_session::{
    FAIL, FINDINGS, NO_ISSUES, OTHER_SESSION, PASS, PLAN, PlanSession, SESSION, find_mark,
};
use crate::support::{TestProject, assert_shown};
use serde_json::{Value, json};

/// The hash of a text by the real tools, as in the documents.
fn shasum(text: &[u8]) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let script = r#"content=$(cat); echo "$content" | shasum -a 256 | cut -d' ' -f1"#;
    let mut child = Command::new("bash")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
}

fn files_of(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

//! `provost report --html`: the page of a month of heavy use, in a real browser and as text.
//!
//! `month.mjs` writes the journal, the real program makes the page and the JSON of the same report, and `checks` says
//! what the page does in Chromium. Without Chromium that test says so and passes; where `CI` is set it fails instead.

#![cfg(unix)]

#[path = "../support/mod.rs"]
mod support;

mod browser;
mod written_file;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use provost::places::Places;
use support::TestProject;

/// The time at which the month of `month.mjs` ends.
const NOW: &str = "2026-11-17T18:00:00Z";

/// Rules that the journal names, and one that it does not.
const CONFIG: &str = r#"
[[rule]]
name = "no-force-push"
runs = "git push --force|-f"
deny = "it rewrites history that others have"

[[rule]]
name = "keys-stay-here"
reads = ["**/.env", "**/.env.*"]
ask = "it holds secrets"

[[rule]]
name = "pnpm"
runs = ["npm install", "yarn"]
deny = "this project uses pnpm"
mode = "watch"

[[rule]]
name = "no-clean"
runs = "git clean"
ask = "it deletes files that git does not have"
"#;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page")
}

/// A project with a journal.
fn project_with(journal: &str) -> TestProject {
    let project = TestProject::unregistered();
    project.write_file("provost.toml", CONFIG);
    let places = Places { state: Some(project.state_directory()), ..Places::default() };
    let state = places.project_state_directory(&project.path).unwrap();
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join("journal.jsonl"), journal).unwrap();
    project
}

/// The journal of a month, with texts that try to break out of the page.
fn write_month(project: &Path) -> String {
    let script = directory().join("month.mjs");
    let output = Command::new("node").arg(script).arg(project).arg("hostile").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A project with the journal of a month.
fn project_with_a_month() -> TestProject {
    let project = project_with("");
    let journal = write_month(&project.path);
    let places = Places { state: Some(project.state_directory()), ..Places::default() };
    fs::write(places.project_state_directory(&project.path).unwrap().join("journal.jsonl"), journal).unwrap();
    project
}

/// `provost report --now … ARGUMENTS`.
fn run_report(project: &TestProject, arguments: &[&str]) -> Output {
    let output = project.provost_command("report", &["--now", NOW]).args(arguments).output();
    output.unwrap()
}

/// The page that the arguments give.
fn page_with(project: &TestProject, arguments: &[&str]) -> String {
    let output = run_report(project, &[&["--html", "-"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

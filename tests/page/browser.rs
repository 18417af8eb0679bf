//! The page in a real browser.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{directory, page_with, project_with_a_month, run_report};

/// The names of the browser's program.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// What drives the browser, and the browser. `None`: something is missing, which is an error in CI.
fn find_browser() -> Option<(PathBuf, PathBuf)> {
    let path = env::var_os("PATH").unwrap_or_default();
    let programs = || env::split_paths(&path).flat_map(|place| NAMES.map(|name| place.join(name)));
    let chromium = programs().find(|program| program.is_file());
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/fetch-browser-tools");
    let fetched = chromium.is_some().then(|| Command::new(tools).output().unwrap());
    let tools = fetched.filter(|fetched| fetched.status.success());
    let tools = tools.map(|fetched| PathBuf::from(String::from_utf8(fetched.stdout).unwrap().trim_end()));
    let found = tools.zip(chromium);
    if found.is_none() {
        assert!(env::var_os("CI").is_none(), "Chromium or what drives it is missing: run scripts/setup");
        eprintln!("skipped: Chromium or what drives it is missing; run scripts/setup");
    }
    found
}

#[test]
fn a_real_browser_shows_sorts_filters_opens_and_prints_the_page() {
    let Some((tools, chromium)) = find_browser() else { return };
    let project = project_with_a_month();
    let page = project.write_file("report.html", &page_with(&project, &[]));
    let json = project.path.join("report.json");
    fs::write(&json, run_report(&project, &["--json"]).stdout).unwrap();
    let output = Command::new("node")
        .arg(directory().join("browser.mjs"))
        .args([&tools, &chromium, &page, &json])
        .env("HOME", &project.home)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong: Vec<&str> = said.lines().filter(|line| !line.starts_with("ok ")).collect();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && wrong.is_empty(), "{}\n{error}", wrong.join("\n"));
    assert!(said.lines().count() >= 18, "{said}");
}

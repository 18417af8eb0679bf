//! The fixtures are what the tools write: the real tools make them again, and the files have to be the same.
//!
//! `scripts/fetch-workflow-tools` installs the tools. Without them the test says so; where `CI` is set it fails. After a
//! change of a pinned version or of `scripts/make-workflow-fixtures`, `PROVOST_BLESS=1` writes the new fixtures. Whether a
//! newer version writes something else is what `scripts/check-workflow-tools latest` shows.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::stage::{ToolProject, collect_files, fixtures};
use super::tools::{ALL, OPENSPEC};

fn find_programs() -> Option<PathBuf> {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/workflow-tools/bin");
    if programs.exists() {
        return Some(programs);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "the workflow tools are missing: run scripts/fetch-workflow-tools"
    );
    eprintln!("skipped: the workflow tools are missing; run scripts/fetch-workflow-tools");
    None
}

fn read_all(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = Vec::new();
    for tool in ALL {
        collect_files(&directory.join(tool.name), &mut files);
    }
    let relative = |path: PathBuf| path.strip_prefix(directory).unwrap().to_owned();
    files.into_iter().map(|(path, bytes)| (relative(path), String::from_utf8(bytes).unwrap())).collect()
}

#[test]
fn the_tools_write_the_fixtures() {
    let Some(programs) = find_programs() else { return };
    let made = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/make-workflow-fixtures");
    let output = Command::new(script).arg(made.path()).arg(programs).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let now = read_all(made.path());
    if std::env::var_os("PROVOST_BLESS").is_some() {
        for tool in ALL {
            let _ = fs::remove_dir_all(fixtures().join(tool.name));
        }
        for (path, text) in &now {
            let path = fixtures().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    let stored = read_all(&fixtures());
    for (path, text) in &now {
        let stored = stored.get(path).map_or("", String::as_str);
        assert_eq!(stored, text, "{} differs from what the tool writes", path.display());
    }
    let gone: Vec<_> = stored.keys().filter(|path| !now.contains_key(*path)).collect();
    assert!(gone.is_empty(), "no tool writes {gone:?} any more");
}

/// How the tool itself reads lines that look like tasks, and how Provost reads them.
#[test]
fn openspec_and_provost_agree_on_task_lines() {
    let answers = fs::read_to_string(fixtures().join("openspec/answers/task-lines.json")).unwrap();
    let answers: serde_json::Value = serde_json::from_str(&answers).unwrap();
    let lines = fs::read_to_string(fixtures().join("models/openspec-task-lines.md")).unwrap();
    let flow = ToolProject::planned(&OPENSPEC);
    flow.put("openspec/changes/add-greeting/tasks.md", &lines);
    let output = flow.project.provost_command("workflow", &["status", "--json"]).output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let tasks = &status["workflows"][0]["instances"][0]["tasks"];
    let progress = &answers["progress"];
    assert_eq!((&tasks["all"], &tasks["done"]), (&progress["total"], &progress["complete"]), "{status:#}");
}

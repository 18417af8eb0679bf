//! The house keeps its rooms apart: a client's words stay in `src/clients`.

use std::fs;
use std::path::{Path, PathBuf};

/// Words of clients' JSON, settings and environments.
const WORDS: &[&str] = &[
    "hook_event_name",
    "hookEventName",
    "hookSpecificOutput",
    "permissionDecision",
    "permission_mode",
    "tool_name",
    "tool_input",
    "tool_use_id",
    "tool_response",
    "session_id",
    "transcript_path",
    "systemMessage",
    "additionalContext",
    "stop_hook_active",
    "PreToolUse",
    "PostToolUse",
    "ExitPlanMode",
    "CLAUDE_",
    ".claude",
    "disableAllHooks",
    "onFailure",
];

fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("src/clients") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn no_module_outside_clients_knows_a_clients_words() {
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(files.len() > 25, "{}", files.len());
    let mut found = Vec::new();
    for file in files {
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            if let Some(word) = WORDS.iter().find(|word| line.contains(**word)) {
                found.push(format!("{}:{}: {word}", file.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn only_the_workspace_and_the_edges_touch_the_world() {
    // What a guard sees, it sees through the workspace.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for folder in ["phases", "planner", "review_loop", "self_guard", "shell"] {
        let is_test = |file: &PathBuf| file.file_stem().is_some_and(|name| name == "tests");
        for file in sources(&root.join(folder)).into_iter().filter(|file| !is_test(file)) {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for word in [
                "std::fs",
                "std::env",
                "std::process",
                "fs::",
                "env::",
                "files::read",
                "println!",
                ".exists()",
            ] {
                assert!(!code.contains(word), "{}: {word}", file.display());
            }
        }
    }
}

/// Calls that change the disk.
const CHANGES: &[&str] = &[
    "fs::write",
    "fs::rename",
    "fs::copy",
    "fs::hard_link",
    "fs::set_permissions",
    ".set_permissions(",
    ".set_len(",
    ".set_modified(",
    ".set_times(",
    "remove_file",
    "fs::remove_dir",
    "create_dir",
    "DirBuilder",
    "OpenOptions",
    "File::create",
    "File::options",
    "fs::symlink(",
    "renameat",
    "linkat",
    "unlinkat",
    "mkdirat",
];

/// Files that may, and why.
const MAY_CHANGE: &[(&str, &str)] = &[
    ("cli/doctor/stage.rs", "a temporary directory, which nobody else knows"),
    ("cli/demo/stage.rs", "a temporary directory, which nobody else knows"),
    ("faults.rs", "lists of steps and reads, in debug builds only"),
];

/// What changes the disk elsewhere cannot be stopped by `tests/crash`, so nobody would know what is left then.
#[test]
fn only_files_changes_the_disk() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut used: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    let mut files = sources(&root);
    files.extend(sources(&root.join("clients")));
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap();
        if name.starts_with("files/") || name.split('/').any(|part| part == "tests" || part == "tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let Some(call) = CHANGES.iter().find(|call| code.contains(**call)) else { continue };
        match MAY_CHANGE.iter().find(|(other, _)| *other == name) {
            Some((known, _)) => used.push(known),
            None => found.push(format!("{name}: {call}")),
        }
    }
    assert!(found.is_empty(), "these go through `files`: {found:?}");
    assert_eq!(used.len(), MAY_CHANGE.len(), "no exception without need: {used:?}");
}

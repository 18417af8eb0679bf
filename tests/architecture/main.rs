//! The walls of the house, each held against the parsed code, and each seen to fail on made-up code.
//!
//! A client's words stay in `src/clients`; a guard sees the world through the workspace only; only `files` changes
//! the disk.

mod code;
mod items;
mod rules;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use code::Code;
use rules::Rules;

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

/// Modules that judge: they neither print nor exit nor touch the world.
const ROOMS: &[&str] = &["phases", "plan_gate", "planner", "review_loop", "self_guard", "shell"];

/// What a room may touch all the same, and why.
const MAY_TOUCH: &[(&str, &str, &str)] = &[(
    "plan_gate/seal.rs",
    "getrandom::fill",
    "a new key; the workspace keeps it, and decides which one counts",
)];

/// Files that may change the disk besides `files`, and why.
const MAY_CHANGE: &[(&str, &str)] = &[
    ("cli/doctor/stage.rs", "a temporary directory, which nobody else knows"),
    ("cli/demo/stage.rs", "a temporary directory, which nobody else knows"),
    ("faults.rs", "lists of steps and reads, in debug builds only"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
    found
}

/// A file of the crate that is compiled for more than tests.
struct Source {
    /// Below `src`.
    name: String,
    code: Code,
}

static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(read_sources);

/// Follows the `mod` lines from the library's and the program's first files, as the compiler does.
fn read_sources() -> Vec<Source> {
    let (mut all, mut for_tests) = (Vec::new(), Vec::new());
    follow("lib.rs", &[], &mut all, &mut for_tests);
    follow("main.rs", &[], &mut all, &mut for_tests);
    let mut forgotten = below(&root());
    forgotten.retain(|file| {
        let name = file.strip_prefix(root()).unwrap().to_str().unwrap();
        let is_seen = all.iter().any(|source| source.name == name);
        let folder =
            |module: &String| name.starts_with(&format!("{module}/")) || name == format!("{module}.rs");
        !is_seen && !for_tests.iter().any(folder)
    });
    assert!(forgotten.is_empty(), "no `mod` leads to these: {forgotten:?}");
    assert!(all.len() > 100, "{}", all.len());
    all
}

fn follow(name: &str, module: &[String], all: &mut Vec<Source>, for_tests: &mut Vec<String>) {
    let text = fs::read_to_string(root().join(name)).unwrap();
    let code = Code::read(&text, module).unwrap_or_else(|error| panic!("{name}: {error}"));
    for submodule in &code.submodules {
        let inner = [module, &submodule.path].concat();
        let place = inner.join("/");
        if submodule.only_for_tests {
            for_tests.push(place);
            continue;
        }
        let files = [format!("{place}.rs"), format!("{place}/mod.rs")];
        let file = files.iter().find(|file| root().join(file).is_file());
        follow(file.unwrap_or_else(|| panic!("{name}: no file for `{place}`")), &inner, all, for_tests);
    }
    all.push(Source { name: name.to_owned(), code });
}

fn findings(rules: Rules, holds: impl Fn(&str) -> bool) -> Vec<String> {
    let held = SOURCES.iter().filter(|source| holds(&source.name));
    held.flat_map(|source| {
        rules.broken_by(&source.code).into_iter().map(|finding| format!("src/{}:{finding}", source.name))
    })
    .collect()
}

fn is_in_a_room(name: &str) -> bool {
    ROOMS.iter().any(|room| name.starts_with(&format!("{room}/")) || name == format!("{room}.rs"))
}

#[test]
fn no_module_outside_clients_knows_a_clients_words() {
    let files: Vec<PathBuf> =
        below(&root()).into_iter().filter(|file| !file.starts_with(root().join("clients"))).collect();
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

/// What a guard sees, it sees through the workspace.
#[test]
fn only_the_workspace_and_the_edges_touch_the_world() {
    for room in ROOMS {
        let is_there = |source: &Source| source.name.starts_with(&format!("{room}/"));
        assert!(SOURCES.iter().any(is_there), "there is no room `{room}`");
    }
    let mut found = findings(Rules::WORLD, is_in_a_room);
    for (name, path, _) in MAY_TOUCH {
        let before = found.len();
        found.retain(|finding| {
            !(finding.starts_with(&format!("src/{name}:")) && finding.ends_with(&format!(": {path}")))
        });
        assert!(found.len() < before, "no exception without need: {name}: {path}");
    }
    assert!(found.is_empty(), "a guard goes through the workspace:\n{}", found.join("\n"));
}

/// What changes the disk elsewhere cannot be stopped by `tests/crash`, so nobody would know what is left then.
#[test]
fn only_files_changes_the_disk() {
    let may = |name: &str| MAY_CHANGE.iter().any(|(known, _)| *known == name);
    let found = findings(Rules::CHANGES, |name| !name.starts_with("files/") && !may(name));
    assert!(found.is_empty(), "these go through `files`:\n{}", found.join("\n"));
    for (name, _) in MAY_CHANGE {
        let used = findings(Rules::CHANGES, |other| other == *name);
        assert!(!used.is_empty(), "no exception without need: {name}");
    }
}

/// A name from elsewhere that another module imports from here would not be recognised there.
#[test]
fn nobody_hands_the_world_on() {
    let found = findings(Rules::REEXPORTS, |_| true);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

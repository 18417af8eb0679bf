//! Rules about the code that Cargo cannot enforce, each checked against the parsed code.
//!
//! A client's words stay in `crates/clients`. Guards and the shell reader do not touch the disk by a method of a path
//! either. Only `files` changes the disk. The modules of the core have no cycle.

mod code;
mod items;
mod permission;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
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

/// Names of a client's models.
const MODELS: &[&str] = &["opus", "sonnet", "haiku"];

/// Files that may name models outside of `crates/clients`, and why.
const MAY_NAME_MODELS: &[(&str, &str)] = &[
    ("crates/core/src/config/settings.rs", "the defaults of two settings, which documents prescribe"),
    (
        "crates/guards/src/review_loop/",
        "the document of the review loop prescribes these values of `review_model`",
    ),
];

/// The crates of the product, as directories below the repository.
const CRATES: &[&str] = &[
    "src",
    "crates/clients/src",
    "crates/core/src",
    "crates/files/src",
    "crates/guards/src",
    "crates/shell/src",
];

/// Crates that judge: they do not print, exit or touch the world.
const JUDGING: &[&str] = &["crates/guards/src", "crates/shell/src"];

/// Files that may change the disk besides `crates/files`, and why.
const MAY_CHANGE: &[(&str, &str)] = &[
    ("src/cli/doctor/sandbox.rs", "a temporary directory that no other program knows"),
    ("src/cli/demo/sandbox.rs", "a temporary directory that no other program knows"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn find_sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(find_sources(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
    found
}

/// A file that is compiled for more than tests.
struct Source {
    /// The path below the repository.
    name: String,
    code: Code,
}

static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(read_sources);

/// Follows the `mod` lines from the first files of each crate, as the compiler does.
fn read_sources() -> Vec<Source> {
    let mut all = Vec::new();
    for directory in CRATES {
        let first =
            ["lib.rs", "main.rs"].into_iter().filter(|name| root().join(directory).join(name).is_file());
        let mut for_tests = Vec::new();
        first.for_each(|name| follow_modules(directory, name, &[], &mut all, &mut for_tests));
        let mut unused = find_sources(&root().join(directory));
        unused.retain(|file| {
            let name = file.strip_prefix(root().join(directory)).unwrap().to_str().unwrap();
            let is_seen = all.iter().any(|source: &Source| source.name == format!("{directory}/{name}"));
            let folder =
                |module: &String| name.starts_with(&format!("{module}/")) || name == format!("{module}.rs");
            !is_seen && !for_tests.iter().any(folder)
        });
        assert!(unused.is_empty(), "no `mod` leads to these: {unused:?}");
    }
    assert!(all.len() > 100, "{}", all.len());
    all
}

fn follow_modules(
    directory: &str,
    name: &str,
    module: &[String],
    all: &mut Vec<Source>,
    for_tests: &mut Vec<String>,
) {
    let text = fs::read_to_string(root().join(directory).join(name)).unwrap();
    let code = Code::read(&text, module).unwrap_or_else(|error| panic!("{directory}/{name}: {error}"));
    for submodule in &code.submodules {
        let inner = [module, &submodule.path].concat();
        let place = inner.join("/");
        if submodule.only_for_tests {
            for_tests.push(place);
            continue;
        }
        let files = [format!("{place}.rs"), format!("{place}/mod.rs")];
        let file = files.iter().find(|file| root().join(directory).join(file).is_file());
        let file = file.unwrap_or_else(|| panic!("{directory}/{name}: no file for `{place}`"));
        follow_modules(directory, file, &inner, all, for_tests);
    }
    all.push(Source { name: format!("{directory}/{name}"), code });
}

fn violations(rules: Rules, applies_to: impl Fn(&str) -> bool) -> Vec<String> {
    let sources = SOURCES.iter().filter(|source| applies_to(&source.name));
    sources
        .flat_map(|source| {
            rules.broken_by(&source.code).into_iter().map(|violation| format!("{}:{violation}", source.name))
        })
        .collect()
}

fn is_judging(name: &str) -> bool {
    JUDGING.iter().any(|directory| name.starts_with(directory))
}

/// Each of the words in a line outside of `crates/clients`, as `FILE:LINE: WORD`.
fn find_words(words: &[&str]) -> Vec<String> {
    let others = CRATES.iter().filter(|directory| **directory != "crates/clients/src");
    let files: Vec<PathBuf> = others.flat_map(|directory| find_sources(&root().join(directory))).collect();
    assert!(files.len() > 100, "{}", files.len());
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(root()).unwrap().display();
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            if let Some(word) = words.iter().find(|word| line.contains(**word)) {
                found.push(format!("{name}:{}: {word}", number + 1));
            }
        }
    }
    found
}

#[test]
fn no_module_outside_clients_knows_a_clients_words() {
    let found = find_words(WORDS);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn only_documented_values_name_a_clients_models() {
    let quoted: Vec<String> = MODELS.iter().map(|model| format!("\"{model}\"")).collect();
    let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
    let mut found = find_words(&quoted);
    for (name, _) in MAY_NAME_MODELS {
        assert!(found.iter().any(|place| place.starts_with(name)), "no exception without need: {name}");
    }
    found.retain(|place| !MAY_NAME_MODELS.iter().any(|(name, _)| place.starts_with(name)));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn guards_and_the_shell_reader_do_not_touch_the_world() {
    for directory in JUDGING {
        assert!(
            SOURCES.iter().any(|source| source.name.starts_with(directory)),
            "no sources in `{directory}`"
        );
    }
    let found = violations(Rules::WORLD, is_judging);
    assert!(found.is_empty(), "a guard goes through the workspace:\n{}", found.join("\n"));
}

/// The shell crate is a pure function of its arguments: no files, no environment, no clock, no output.
#[test]
fn the_shell_crate_touches_nothing() {
    let found = violations(Rules::PURE, |name| name.starts_with("crates/shell/"));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// `tests/behaviour/crash` can stop the program only at the steps of `files`.
#[test]
fn only_files_changes_the_disk() {
    let is_exception = |name: &str| MAY_CHANGE.iter().any(|(known, _)| *known == name);
    let found = violations(Rules::CHANGES, |name| !name.starts_with("crates/files/") && !is_exception(name));
    assert!(found.is_empty(), "use `files` instead:\n{}", found.join("\n"));
    for (name, _) in MAY_CHANGE {
        let used = violations(Rules::CHANGES, |other| other == *name);
        assert!(!used.is_empty(), "no exception without need: {name}");
    }
}

/// These checks would not recognise a re-exported name.
#[test]
fn no_module_reexports_the_world() {
    let found = violations(Rules::REEXPORTS, |_| true);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The guards are built without the standard library, and no module brings it back.
#[test]
fn the_guards_have_no_standard_library() {
    let text = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let first = text("crates/guards/src/lib.rs");
    assert!(first.contains("#![cfg_attr(not(test), no_std)]"), "{first}");
    for file in find_sources(&root().join("crates/guards/src")) {
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| line.contains("extern crate")) {
            assert_eq!(line, "extern crate guard_std as std;", "{}:{}", file.display(), number + 1);
        }
    }
}

/// No two modules of the core depend on each other.
#[test]
fn the_core_has_no_cycle() {
    let directory = "crates/core/src/";
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in SOURCES.iter().filter(|source| source.name.starts_with(directory)) {
        let module = source.name[directory.len()..].split(['/', '.']).next().unwrap().to_owned();
        let used = edges.entry(module.clone()).or_default();
        used.extend(source.code.uses_of_crate().filter(|other| *other != module));
    }
    // Remove modules that use only removed ones, until none is left.
    while !edges.is_empty() {
        let known: BTreeSet<String> = edges.keys().cloned().collect();
        let before = edges.len();
        edges.retain(|_, used| used.iter().any(|other| known.contains(other)));
        assert!(edges.len() < before, "a cycle between modules of the core: {edges:?}");
    }
}

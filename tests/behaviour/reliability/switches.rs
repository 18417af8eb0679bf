//! The switches that make faults are not there in a release build.

use std::fs;
use std::path::Path;

use super::stage::below;

/// Variables of that kind are asked for by one function, and that one asks only with debug assertions.
#[test]
fn only_builds_with_debug_assertions_have_switches() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let faults = fs::read_to_string(root.join("crates/files/src/faults.rs")).unwrap();
    assert!(faults.contains("if cfg!(debug_assertions) { std::env::var_os(name) } else { None }"));
    assert_eq!(faults.matches("env::var").count(), 1, "faults.rs asks the environment in a second place");
    assert!(faults.contains("switch(\"PROVOST_FAULT\")"));
    let crates = ["src", "crates/clients", "crates/core", "crates/files", "crates/guards", "crates/shell"];
    let files: Vec<_> = crates.iter().flat_map(|directory| below(&root.join(directory))).collect();
    assert!(files.len() > 100, "{}", files.len());
    for file in files.iter().filter(|file| file.extension().is_some_and(|it| it == "rs")) {
        // It hands a switch on to a process of this very program.
        let hands_on = file.ends_with("cli/demo/sandbox.rs");
        let text = fs::read_to_string(file).unwrap();
        let asks = text.contains("var_os(\"PROVOST_") || text.contains("var(\"PROVOST_");
        assert!(hands_on || !asks, "{} asks for a switch without `faults::switch`", file.display());
    }
}

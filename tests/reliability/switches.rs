//! The switches that make faults are not there in a release build.

use std::fs;
use std::path::Path;

use crate::stage::below;

/// Variables of that kind are asked for by one function, and that one asks only with debug assertions.
#[test]
fn only_builds_with_debug_assertions_have_switches() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let faults = fs::read_to_string(sources.join("faults.rs")).unwrap();
    assert!(faults.contains("if cfg!(debug_assertions) { std::env::var_os(name) } else { None }"));
    assert_eq!(faults.matches("env::var").count(), 1, "faults.rs asks the environment in a second place");
    assert!(faults.contains("switch(\"PROVOST_FAULT\")"));
    for file in below(&sources).iter().filter(|file| file.extension().is_some_and(|it| it == "rs")) {
        // It hands a switch on to a process of this very program.
        let hands_on = file.ends_with("cli/demo/stage.rs");
        let text = fs::read_to_string(file).unwrap();
        let asks = text.contains("var_os(\"PROVOST_") || text.contains("var(\"PROVOST_");
        assert!(hands_on || !asks, "{} asks for a switch without `faults::switch`", file.display());
    }
}

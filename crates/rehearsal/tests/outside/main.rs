//! What the crate promises, seen from outside: its program, its library, and both with the real client.

mod binary;
mod real_client;
mod recorder;
mod terminal;

use std::fs;
use std::path::Path;

/// Every process of a run has its home in its environment.
fn assert_nothing_runs_in(home: &Path) {
    let own = format!("HOME={}", home.display());
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        let runs = environment.split(|byte| *byte == 0).any(|variable| variable == own.as_bytes());
        let name = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
        assert!(!runs, "still running: {}", name.replace('\0', " "));
    }
}

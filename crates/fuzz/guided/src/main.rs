//! The fuzz targets under libFuzzer, which keeps every input that reaches new code and continues from there.
//!
//! `FUZZ_TARGET` names the target. `FUZZ_START` names a directory; the target's recorded inputs and its
//! dictionary are written there before libFuzzer reads them. All other options are libFuzzer's own, and a
//! file on the command line is run as one input. `scripts/fuzz` builds and starts this.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use fuzz::targets::{self, Target};
use fuzz::double_check;
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    targets::find(&name).unwrap_or_else(|| panic!("FUZZ_TARGET names no target: `{name}`"))
});

fn write_start() -> std::io::Result<()> {
    let Some(directory) = std::env::var_os("FUZZ_START").map(PathBuf::from) else { return Ok(()) };
    let seeds = directory.join("seeds");
    fs::create_dir_all(&seeds)?;
    for input in TARGET.recorded_inputs() {
        fs::write(seeds.join(input.name), input.bytes)?;
    }
    fs::write(directory.join("dictionary"), TARGET.dictionary())
}

fuzz_target!(init: write_start().expect("FUZZ_START can be written"), |input: &[u8]| {
    if let Err(finding) = double_check::check_twice(&TARGET, input) {
        panic!("{finding}");
    }
});

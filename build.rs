//! Puts the functions that a hook call runs side by side in the released program.
//!
//! A page of code is read in when it is first run, together with its neighbours; functions that lie
//! scattered over three megabytes cost a page fault each. `link/hook.ld` says which ones belong together;
//! `docs/performance.md` tells what that gives. A linker that does not understand it is left alone: a trial
//! link decides, because what a person's Cargo configuration chooses cannot be known otherwise.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const SCRIPT: &str = "link/hook.ld";
/// The section that the script makes.
const SECTION: &[u8] = b".text.hook";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={SCRIPT}");
    // `scripts/bench-builds` measures what the script gives.
    println!("cargo:rerun-if-env-changed=PROVOST_LINK");
    let is = |variable: &str, value: &str| env::var(variable).is_ok_and(|it| it == value);
    let fits = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // Only a released program is started often, and a quick link matters more for the others.
    if !fits || !is("PROFILE", "release") || is("PROVOST_LINK", "plain") {
        return;
    }
    let Some(root) = env::var_os("CARGO_MANIFEST_DIR") else { return };
    let argument = format!("-T{}", Path::new(&root).join(SCRIPT).display());
    if links_with(&argument).unwrap_or(false) {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}

/// Whether an empty program can be linked with this argument, and has the section then.
fn links_with(argument: &str) -> Option<bool> {
    let directory = env::var_os("OUT_DIR")?;
    let (source, program) = (Path::new(&directory).join("trial.rs"), Path::new(&directory).join("trial"));
    fs::write(&source, "fn main() {}\n").ok()?;
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.arg(&source).arg("-o").arg(&program).arg("--target").arg(env::var_os("TARGET")?);
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    rustc.arg(format!("-Clink-arg={argument}"));
    let linked = rustc.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?.success();
    let bytes = fs::read(&program).ok().filter(|_| linked)?;
    let _ = fs::remove_file(&program);
    Some(bytes.windows(SECTION.len()).any(|window| window == SECTION))
}

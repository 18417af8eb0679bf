//! The list of functions that the linker puts side by side is about functions that there are.
//!
//! A list that has grown old breaks nothing, it only makes every call slower; so nobody would notice.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// The names of this program's own functions in the list, up to their hashes.
fn listed(script: &str) -> Vec<&str> {
    let names = script.lines().filter_map(|line| line.trim().strip_prefix("*(.text.")?.strip_suffix("17h*)"));
    let names = names.map(|name| name.strip_prefix("unlikely.").unwrap_or(name));
    names.filter(|name| name.contains("provost")).collect()
}

#[test]
fn most_functions_of_the_list_are_in_the_program() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("link/hook.ld");
    let script = fs::read_to_string(script).unwrap();
    let listed = listed(&script);
    assert!(listed.len() > 50, "{}", listed.len());
    // The names of a program's functions lie in it one after the other, each ended by a zero.
    let program = fs::read(env!("CARGO_BIN_EXE_provost")).unwrap();
    let names = program.split(|byte| *byte == 0).filter(|text| text.starts_with(b"_ZN") && text.len() > 20);
    let names: HashSet<&[u8]> =
        names.map(|name| &name[..name.len() - "17h0123456789abcdefE".len()]).collect();
    let missing: Vec<_> = listed.iter().filter(|name| !names.contains(name.as_bytes())).collect();
    assert!(
        missing.len() * 4 < listed.len(),
        "link/hook.ld is old; `scripts/order-functions` makes it anew. Of {} functions there are no more: {missing:#?}",
        listed.len()
    );
}

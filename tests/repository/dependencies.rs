//! Checks that each direct dependency is listed in docs/dependencies.md, and each licence is allowed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn read_metadata() -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform=host-tuple"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn read_page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/dependencies.md")).unwrap()
}

#[test]
fn every_direct_dependency_is_listed() {
    let (metadata, page) = (read_metadata(), read_page());
    let members = metadata["workspace_members"].as_array().unwrap();
    let mut missing = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        if members.contains(&package["id"]) {
            for dependency in package["dependencies"].as_array().unwrap() {
                let name = dependency["name"].as_str().unwrap();
                let is_ours = !dependency["path"].is_null();
                if !is_ours && !page.contains(&format!("`{name}`")) {
                    missing.insert(name.to_owned());
                }
            }
        }
    }
    assert!(missing.is_empty(), "not in docs/dependencies.md: {missing:?}");
}

#[test]
fn every_licence_is_known() {
    let (metadata, page) = (read_metadata(), read_page());
    let (_, list) = page.split_once("## Licences\n\n").unwrap();
    let known: Vec<&str> = list.lines().next().unwrap().trim_end_matches('.').split(", ").collect();
    for package in metadata["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or("none");
        // Of alternatives (OR) one must be allowed; of a conjunction (AND) all.
        let fine = licence.split(" AND ").all(|part| {
            part.trim_matches(['(', ')'])
                .split(" OR ")
                .flat_map(|part| part.split('/'))
                .any(|one| known.contains(&one.trim_matches(['(', ')', ' '])))
        });
        assert!(fine, "{}: {licence}", package["name"]);
    }
}

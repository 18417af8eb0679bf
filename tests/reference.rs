//! The generated pages of the repository are those that this program makes.
//!
//! `PROVOST_BLESS=1 cargo test --test reference` writes them anew.

use std::fs;
use std::path::Path;

#[test]
fn generated_pages_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut stale = Vec::new();
    for (name, page) in provost::reference::pages() {
        let path = root.join(name);
        if std::env::var_os("PROVOST_BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &page).unwrap();
        }
        if fs::read_to_string(&path).unwrap_or_default() != page {
            stale.push(name);
        }
    }
    assert!(
        stale.is_empty(),
        "stale: {stale:?}; write them with PROVOST_BLESS=1 cargo test --test reference"
    );
}

#[test]
fn every_guard_stands_in_the_reference_and_the_schema() {
    let pages = provost::reference::pages();
    for guard in provost::registry::GUARDS {
        for (name, page) in pages.iter().filter(|(name, _)| *name != "docs/cli.md") {
            assert!(page.contains(guard.name), "{} is not in {name}", guard.name);
        }
    }
}

/// The page and `explain` name the override on a line of its own.
#[test]
fn no_way_out_repeats_the_override() {
    for guard in provost::registry::GUARDS {
        assert!(!guard.way_out.contains("provost override"), "{}: {}", guard.name, guard.way_out);
    }
}

#[test]
fn every_command_has_examples_in_its_help() {
    let pages = provost::reference::pages();
    let (_, cli) = pages.iter().find(|(name, _)| *name == "docs/cli.md").unwrap();
    let sections: Vec<&str> = cli.split("\n## ").skip(1).collect();
    assert!(sections.len() >= 8, "{}", sections.len());
    for section in sections {
        let heading = section.lines().next().unwrap();
        assert!(section.contains("Examples:"), "{heading}");
    }
}

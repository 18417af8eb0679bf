//! Checks that the generated pages are up to date. `PROVOST_BLESS=1 cargo test --test repository reference::` updates them.

use std::fs;
use std::path::Path;

#[test]
fn generated_pages_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut stale = Vec::new();
    for (name, page) in provost::reference::generate_pages() {
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
        "stale: {stale:?}. To fix: PROVOST_BLESS=1 cargo test --test repository reference::"
    );
}

#[test]
fn every_guard_is_in_the_reference_and_the_schema() {
    let pages = provost::reference::generate_pages();
    for guard in provost::registry::GUARDS {
        for (name, page) in pages
            .iter()
            .filter(|(name, _)| !matches!(*name, "docs/cli.md" | "docs/rules.md" | "docs/clients.md"))
        {
            assert!(page.contains(guard.name), "{} is not in {name}", guard.name);
        }
    }
}

/// The page and `explain` show the override on a separate line.
#[test]
fn no_way_out_repeats_the_override() {
    for guard in provost::registry::GUARDS {
        assert!(!guard.way_out.contains("provost override"), "{}: {}", guard.name, guard.way_out);
    }
}

#[test]
fn every_command_has_examples_in_its_help() {
    let pages = provost::reference::generate_pages();
    let (_, cli) = pages.iter().find(|(name, _)| *name == "docs/cli.md").unwrap();
    let sections: Vec<&str> = cli.split("\n## ").skip(1).collect();
    assert!(sections.len() >= 8, "{}", sections.len());
    for section in sections {
        let heading = section.lines().next().unwrap();
        assert!(section.contains("Examples:"), "{heading}");
    }
}

#[test]
fn every_key_of_a_rule_is_in_the_reference() {
    let pages = provost::reference::generate_pages();
    let (_, page) = pages.iter().find(|(name, _)| *name == "docs/rules.md").unwrap();
    for key in provost::rules::keys::KEYS.iter().chain(provost::rules::keys::TABLE_KEYS) {
        assert!(page.contains(&format!("\n| `{}` | ", key.name)), "{}", key.name);
    }
}

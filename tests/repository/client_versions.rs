//! Checks the table of client versions in docs/reliability.md against the stored results and the program.
//!
//! `scripts/check-clients --write` plays the rehearsals and updates the table; `PROVOST_BLESS=1 cargo test --test repository
//! client_versions::` only generates the table from the stored results. A new rehearsal need not have results: every test run
//! plays it on the pinned version, and the next update of the table on the others.

use std::collections::BTreeSet;
use std::path::Path;

use rehearsal::{Results, Versions};

const BEGIN: &str = "<!-- made by scripts/check-clients --write -->\n";
const END: &str = "<!-- end of scripts/check-clients -->\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn versions() -> Versions {
    Versions::load(&root().join("rehearsals/versions")).unwrap_or_else(|error| panic!("{error}"))
}

/// The results of the version that all other tests use.
fn pinned(versions: &Versions) -> &Results {
    let script = std::fs::read_to_string(root().join("scripts/fetch-client")).unwrap();
    let version = script.split_once("CLIENT_VERSION:-").unwrap().1.split('}').next().unwrap();
    versions.results.iter().find(|one| one.client == version).unwrap_or_else(|| {
        panic!(
            "the pinned client {version} has no results. To fix: run scripts/check-clients --write {version}"
        )
    })
}

#[test]
fn the_page_has_the_stored_results() {
    let path = root().join("docs/reliability.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the table has a beginning");
    let (_, after) = rest.split_once(END).expect("the table has an end");
    let updated = format!("{before}{BEGIN}\n{}\n{END}{after}", versions().to_markdown());
    if std::env::var_os("PROVOST_BLESS").is_some() {
        std::fs::write(&path, &updated).unwrap();
    } else {
        assert!(
            page == updated,
            "stale. To fix: PROVOST_BLESS=1 cargo test --test repository client_versions::"
        );
    }
}

#[test]
fn every_rehearsal_has_a_group_and_every_failure_a_reason() {
    let files = root().join("rehearsals").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let scenarios: BTreeSet<String> = files
        .filter(|path| path.extension().is_some_and(|kind| kind == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let faults = versions().find_faults(&scenarios);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_rehearsal_passes_on_the_pinned_version() {
    let versions = versions();
    let outcomes = pinned(&versions).scenarios.iter();
    let failing: Vec<_> =
        outcomes.filter(|(_, outcome)| !outcome.has_passed()).map(|(name, _)| name).collect();
    assert!(failing.is_empty(), "{failing:?}");
}

#[test]
fn the_doctor_knows_all_events_and_versions_with_results() {
    let versions = versions();
    let health = provost::clients::find_client("claude").unwrap().health();
    let events = &pinned(&versions).events.0;
    assert!(events.len() > 30, "{events:?}");
    let unknown: Vec<_> = events.iter().filter(|event| !(health.is_event)(event)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for results in &versions.results {
        let version = (health.parse_version)(&results.client).expect("a version of three numbers");
        assert!(version >= health.oldest_version, "{}", results.client);
    }
}

#[test]
fn the_page_names_the_versions_at_which_the_doctor_warns() {
    let page = std::fs::read_to_string(root().join("docs/reliability.md")).unwrap();
    let health = provost::clients::find_client("claude").unwrap().health();
    for (border, id) in [(health.oldest_version, "client-old"), (health.blocks_since, "client-goes-on")] {
        let row = format!("| {} |", border.map(|part| part.to_string()).join("."));
        assert!(page.lines().any(|line| line.starts_with(&row) && line.contains(id)), "{row} {id}");
    }
}

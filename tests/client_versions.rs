//! The versions of the client: what docs/reliability.md says of them is what was played, and the program agrees.
//!
//! `scripts/check-clients --write` plays and writes; `PROVOST_BLESS=1 cargo test --test client_versions` only makes the table
//! again from the results. A rehearsal that was not played on the versions yet is no fault: it is played on the pinned one by
//! every test run, and on the others when the table is made the next time.

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

/// The results of the version that all other tests are played on.
fn pinned(versions: &Versions) -> &Results {
    let script = std::fs::read_to_string(root().join("scripts/fetch-client")).unwrap();
    let version = script.split_once("CLIENT_VERSION:-").unwrap().1.split('}').next().unwrap();
    versions.results.iter().find(|one| one.client == version).unwrap_or_else(|| {
        panic!("the pinned client {version} was not checked: run scripts/check-clients --write {version}")
    })
}

#[test]
fn the_page_tells_what_was_played() {
    let path = root().join("docs/reliability.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the table has a beginning");
    let (_, after) = rest.split_once(END).expect("the table has an end");
    let made = format!("{before}{BEGIN}\n{}\n{END}{after}", versions().markdown());
    if std::env::var_os("PROVOST_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    } else {
        assert!(page == made, "stale; write it with PROVOST_BLESS=1 cargo test --test client_versions");
    }
}

#[test]
fn every_rehearsal_has_a_group_and_every_failure_a_reason() {
    let files = root().join("rehearsals").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let scenarios: BTreeSet<String> = files
        .filter(|path| path.extension().is_some_and(|kind| kind == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let faults = versions().faults(&scenarios);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn everything_holds_on_the_pinned_version() {
    let versions = versions();
    let outcomes = pinned(&versions).scenarios.iter();
    let failing: Vec<_> = outcomes.filter(|(_, outcome)| !outcome.holds()).map(|(name, _)| name).collect();
    assert!(failing.is_empty(), "{failing:?}");
}

#[test]
fn the_doctor_knows_the_events_of_the_pinned_version_and_takes_every_version_that_was_played() {
    let versions = versions();
    let health = &provost::clients::find("claude").unwrap().health;
    let events = &pinned(&versions).events.0;
    assert!(events.len() > 30, "{events:?}");
    let unknown: Vec<_> = events.iter().filter(|event| !(health.knows)(event)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for results in &versions.results {
        let version = (health.version)(&results.client).expect("a version of three numbers");
        assert!(version >= health.oldest, "{}", results.client);
    }
}

#[test]
fn the_page_names_the_borders_that_the_doctor_knows() {
    let page = std::fs::read_to_string(root().join("docs/reliability.md")).unwrap();
    let health = &provost::clients::find("claude").unwrap().health;
    for (border, id) in [(health.oldest, "client-old"), (health.blocks_since, "client-goes-on")] {
        let row = format!("| {} |", border.map(|part| part.to_string()).join("."));
        assert!(page.lines().any(|line| line.starts_with(&row) && line.contains(id)), "{row} {id}");
    }
}

//! A short soak test: a few hundred kills, and sixteen processes at once. `scripts/soak` runs the long one.

use std::path::Path;

use soak::{kills, together};

const PROGRAM: &str = env!("CARGO_BIN_EXE_provost");

#[test]
fn three_hundred_kills_damage_and_leave_no_files() {
    let report = kills::run(Path::new(PROGRAM), 300, 8).unwrap();
    assert!(report.is_fine(), "{report}\n{:?}", report.litter);
    assert!(report.kills() == 300 && report.before > 0 && report.during > 0, "{report}");
}

#[test]
fn sixteen_at_once_lose_nothing() {
    let report = together::run(Path::new(PROGRAM), 16, 3).unwrap();
    assert!(report.is_fine(), "{report}\n{:?}", report.litter);
    assert!(
        report.runs >= 16 && report.counts.1 > 0 && report.fields.1 > 0 && report.lines.1 > 0,
        "{report}"
    );
}

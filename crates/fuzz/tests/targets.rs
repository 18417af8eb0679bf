//! Every target for a few seconds, and every case that was ever found.

use std::time::Duration;

use fuzz::targets::{self, Target};
use fuzz::{report, run, trial};

/// In processor time.
const SHORT: Duration = Duration::from_secs(4);

fn runs(name: &str) {
    trial::quiet_panics();
    let target = targets::find(name).unwrap();
    for seed in target.all_seeds() {
        trial::of(target, &seed).unwrap_or_else(|finding| fail(target, &finding, &seed));
    }
    let tally = run::random(target, SHORT, 3).unwrap_or_else(|finding| {
        eprintln!("{finding}");
        panic!("{finding}")
    });
    assert!(tally.inputs > 50, "{name}: {} inputs", tally.inputs);
}

#[track_caller]
fn fail(target: &Target, finding: &str, input: &[u8]) {
    eprintln!("{}: {finding}: {:?}", target.name, String::from_utf8_lossy(input));
    panic!("{finding}");
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            runs(stringify!($name));
        })*

        #[test]
        fn every_target_has_a_test() {
            let tested = [$(stringify!($name)),*];
            let known: Vec<&str> = targets::ALL.iter().map(|target| target.name).collect();
            assert_eq!(known, tested);
        }
    };
}

targets! { event plan state tasks names shell settings transcript }

/// Each kept case by itself, so that the name of its file says what is broken.
#[test]
fn what_was_found_stays_mended() {
    trial::quiet_panics();
    for target in targets::ALL {
        for (file, input) in target.kept() {
            if let Err(finding) = trial::of(target, &input) {
                eprintln!("{}: {finding}", file.display());
                panic!("{}: {finding}", file.display());
            }
        }
    }
}

/// The page says what the targets say; its figures are of one run.
#[test]
fn the_page_has_a_row_for_each_target() {
    let page = include_str!("../../../docs/reliability.md");
    for target in targets::ALL {
        let row = report::row(target, None);
        let [start, .., end] = &row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let promise = target.promise;
        let is_there =
            |line: &&str| line.starts_with(&format!("{start} | {promise} | ")) && line.ends_with(end);
        assert!(page.lines().any(|line| is_there(&line)), "not in the page: {row}");
    }
}

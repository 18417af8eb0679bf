//! Replays the recorded inputs of every target: seeds, the corpus, and extreme nesting and repetition.
//!
//! `scripts/fuzz` looks for new inputs; what it finds is added to `corpus/TARGET` and replayed here.

use std::panic;

use fuzz::double_check;
use fuzz::targets;

fn replay(name: &str) {
    let target = targets::find(name).unwrap();
    let recorded = target.recorded_inputs();
    assert!(!recorded.is_empty(), "{name} has no input");
    for input in recorded.iter().chain(&target.extreme_inputs()) {
        let checked = panic::catch_unwind(|| double_check::check_twice(target, &input.bytes));
        let finding = match checked {
            Ok(Ok(())) => continue,
            Ok(Err(finding)) => finding,
            Err(_) => "a panic, shown above".to_owned(),
        };
        panic!("{name}, {}: {finding}", input.name);
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
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

#[test]
fn the_script_and_the_page_name_each_target() {
    let script = include_str!("../../../scripts/fuzz");
    let page = include_str!("../../../docs/reliability.md");
    let names: Vec<&str> = targets::ALL.iter().map(|target| target.name).collect();
    assert!(script.contains(&format!("({})", names.join(" "))), "not in scripts/fuzz: {names:?}");
    for target in targets::ALL {
        let row = format!("| `{}` | {} | ", target.name, target.promise);
        assert!(page.lines().any(|line| line.starts_with(&row)), "not in docs/reliability.md: {row}");
    }
}

#[test]
fn a_dictionary_has_one_escaped_word_a_line() {
    let dictionary = targets::find("tasks").unwrap().dictionary();
    assert!(dictionary.starts_with("\"\\x7c\"\n\"\\x5c\\x7c\"\n"), "{dictionary}");
    assert!(targets::find("state").unwrap().dictionary().contains("\"\\x6e\\x75\\x6c\\x6c\"\n"));
}

//! Patterns against whole command lines, through [`effects`](crate::effects).

mod bounds;
mod lines;
mod mistakes;
mod runners;
mod spellings;
mod unknown_words;

use std::path::Path;

use super::{CommandPattern, PatternMatch, RunView};

/// The best match of all programs that a line starts in `/p`.
fn match_line(pattern: &str, line: &str) -> PatternMatch {
    let parsed = CommandPattern::parse(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    let effects = crate::effects(line, Path::new("/p"), Some(Path::new("/h")));
    let runs = effects.iter().filter_map(RunView::from_effect);
    let runs = runs.map(|run| run.in_project(Some(Path::new("/p")), Some(Path::new("/h"))));
    runs.map(|run| parsed.matches(&run)).max().unwrap_or(PatternMatch::No)
}

/// Compares each line with its pattern, and shows all wrong answers at once.
fn check_lines(expected: PatternMatch, cases: &[(&str, &[&str])]) {
    let mut wrong = Vec::new();
    for (pattern, lines) in cases {
        for line in *lines {
            let found = match_line(pattern, line);
            if found != expected {
                wrong.push(format!("{pattern}  <>  {line}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "expected {expected:?}:\n{}", wrong.join("\n"));
}

//! Tries the imported rules: what the source matches for certain, and its own examples.
//!
//! A rule with a mistake, and one that misses what its source matches, is left out. An example that Provost judges
//! otherwise than the source is left out alone. All of that is reported.

use super::ImportResult;
use crate::cli::{CommandError, open_current_workspace};

pub(super) fn verify(result: &mut ImportResult) -> Result<(), CommandError> {
    let (_, workspace) = open_current_workspace()?;
    for mut rule in std::mem::take(&mut result.rules) {
        let certain = std::mem::take(&mut rule.certain);
        let examples = [std::mem::take(&mut rule.matching), std::mem::take(&mut rule.not_matching)];
        if let Some(mistake) = rule.find_mistake() {
            result.leave_out(rule.name, mistake);
            continue;
        }
        if let Some(missed) = certain.iter().find(|example| !rule.judges(example, true, &workspace)) {
            result.leave_out(rule.name, format!("a rule would not match {}", missed.describe()));
            continue;
        }
        for (is_match, examples) in [true, false].into_iter().zip(examples) {
            for example in examples {
                if rule.judges(&example, is_match, &workspace) {
                    rule.push_example(example, is_match);
                } else {
                    let how = if is_match { "does not match" } else { "matches" };
                    let how = format!("the rule {how} {}, so the example is left out", example.describe());
                    result.differ(rule.name.clone(), how);
                }
            }
        }
        result.rules.push(rule);
    }
    Ok(())
}

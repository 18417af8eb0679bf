//! The ground rules: the form that a plan's directory has at the end of every turn.
//!
//! A directory that breaks them stops the turn with all violations at once, because one at a time
//! costs a turn each. Nothing else is demanded: finished plans have gaps in the numbers of their
//! reviews, ids like `4-5` and reviews that nobody answered. A damaged `state.json` is only told about,
//! since it must never keep anybody from stopping.

use super::names::{self, Name, Subject};
use super::state::StateFile;
use super::tasks;
use crate::files::Listing;
use crate::text;

/// As many violations of one rule are told in full.
const MOST_OF_A_KIND: usize = 10;
const STATE_FIELDS: &[&str] =
    &["phase", "next_phase", "review_model", "max_reviews", "consecutive_clean", "tdd"];

/// What is wrong with a plan's directory, in the order of the rules; `tasks` is the text of `tasks.md`.
pub fn violations(directory: &Listing, tasks: Option<&str>) -> Vec<String> {
    let is_missing = |of| names::document(of).is_some_and(|name| !directory.has_file(&name));
    let named: Vec<(&str, Option<Name<'_>>)> = directory
        .names()
        .filter(|name| !name.starts_with('.') && name.ends_with(names::EXTENSION))
        .map(|name| (name, names::parse(name)))
        .collect();
    let known = || named.iter().filter_map(|(name, parsed)| Some((*name, (*parsed)?)));
    let mut found = Vec::new();

    if is_missing(Subject::Plan) {
        found.push("Missing required file: plan.md".to_owned());
    }

    let invalid = named.iter().filter(|(_, parsed)| parsed.is_none());
    let invalid = invalid.map(|(name, _)| format!("Invalid filename: {}", text::one_line(name)));
    found.extend(first_few(invalid, "invalid filenames"));

    if directory.has_nested {
        found.push("Files found in nested directories".to_owned());
    }

    // The document of a task, unlike the others, may be gone when its reviews still are there.
    let baseless = known().filter_map(|(name, parsed)| match parsed {
        Name::Review { of: of @ (Subject::Plan | Subject::Design | Subject::Tasks), post: false, .. } => {
            is_missing(of).then(|| format!("{name} requires {}", Name::Document(of)))
        }
        _ => None,
    });
    found.extend(first_few(baseless, "reviews without what they review"));

    // One text for all of them: there may be hundreds, and hardly one is missing.
    let mut review = String::with_capacity(64);
    let unfounded = known().filter_map(|(name, parsed)| match parsed {
        Name::Review { of, post: true, number } => {
            review.clear();
            Name::Review { of, post: false, number }.write_to(&mut review);
            (!directory.has_file(&review)).then(|| format!("{name} requires {review}"))
        }
        _ => None,
    });
    found.extend(first_few(unfounded, "post-reviews without their review"));

    let has_task_files = known().any(|(_, parsed)| matches!(parsed, Name::Document(Subject::Task(_))));
    if has_task_files && is_missing(Subject::Tasks) {
        found.push("Task files exist but tasks.md is missing".to_owned());
    }

    if let Some(form) = tasks.map(tasks::form) {
        if form.has_prose {
            found.push("tasks.md contains non-table content".to_owned());
        }
        if !form.has_rows {
            found.push("tasks.md has no table rows".to_owned());
        }
    }
    found
}

/// What is wrong with a `state.json`, if there is one. A field that is null is there.
pub fn warnings(state: Option<&[u8]>) -> Vec<String> {
    let Some(state) = state else { return Vec::new() };
    match StateFile::read(state) {
        Ok(file) => missing_fields(&file).into_iter().collect(),
        Err(_) => vec!["Warning: state.json contains invalid JSON".to_owned()],
    }
}

/// Which fields a state does not have, in the document's words.
pub fn missing_fields(file: &StateFile) -> Option<String> {
    let missing: Vec<&str> = STATE_FIELDS.iter().copied().filter(|field| !file.has(field)).collect();
    (!missing.is_empty())
        .then(|| format!("Warning: state.json missing required fields: {}", missing.join(", ")))
}

/// The first violations of a rule, each once, and how many more there are.
fn first_few(violations: impl Iterator<Item = String>, kind: &str) -> Vec<String> {
    let mut told: Vec<String> = violations.collect();
    // Names that differ only in what cannot be shown look the same, and stand beside each other.
    told.dedup();
    let more = told.len().saturating_sub(MOST_OF_A_KIND);
    told.truncate(MOST_OF_A_KIND);
    if more > 0 {
        told.push(format!("and {more} more {kind}"));
    }
    told
}

#[cfg(test)]
mod tests;

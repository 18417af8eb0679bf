//! The ground rules: the form of a plan's directory at the end of every turn.
//!
//! A directory that breaks them blocks the turn with all violations at once, because each attempt costs a turn. More
//! is not required: finished plans have gaps in their review numbers, ids like `4-5` and unanswered reviews. A
//! malformed `state.json` only causes a warning, because it must never keep an agent from stopping.

use super::file_names::{self, FileName, FileSubject};
use super::state::{Malformed, StateFile};
use super::tasks;
use crate::prelude::*;
use provost_core::text;
use provost_core::workspace::Listing;

/// At most this many violations of one rule are listed.
const MOST_OF_A_KIND: usize = 10;
const STATE_FIELDS: &[&str] =
    &["phase", "next_phase", "review_model", "max_reviews", "consecutive_clean", "tdd"];

/// The violations in a plan's directory, in the order of the rules. `tasks` is the text of `tasks.md`.
pub fn find_violations(directory: &Listing, tasks: Option<&str>) -> Vec<String> {
    let is_missing =
        |subject| file_names::document_name(subject).is_some_and(|name| !directory.has_file(&name));
    let named: Vec<(&str, Option<FileName<'_>>)> = directory
        .names()
        .filter(|name| !name.starts_with('.') && name.ends_with(file_names::EXTENSION))
        .map(|name| (name, file_names::parse_name(name)))
        .collect();
    let known = || named.iter().filter_map(|(name, parsed)| Some((*name, (*parsed)?)));
    let mut found = Vec::new();

    if is_missing(FileSubject::Plan) {
        found.push("Missing required file: plan.md".to_owned());
    }

    let invalid = named.iter().filter(|(_, parsed)| parsed.is_none());
    let invalid = invalid.map(|(name, _)| format!("Invalid filename: {}", text::make_one_line(name)));
    found.extend(first_few(invalid, "invalid filenames"));

    if directory.has_nested {
        found.push("Files found in nested directories".to_owned());
    }

    // A task's document may be gone while its reviews remain; the others may not.
    let orphaned_reviews = known().filter_map(|(name, parsed)| match parsed {
        FileName::Review {
            subject: subject @ (FileSubject::Plan | FileSubject::Design | FileSubject::Tasks),
            post: false,
            ..
        } => {
            is_missing(subject).then(|| format!("{name} requires {}", FileName::Document(subject).to_text()))
        }
        _ => None,
    });
    found.extend(first_few(orphaned_reviews, "reviews without what they review"));

    // One buffer for all names: there may be hundreds.
    let mut review = String::with_capacity(64);
    let orphaned_answers = known().filter_map(|(name, parsed)| match parsed {
        FileName::Review { subject, post: true, number } => {
            review.clear();
            FileName::Review { subject, post: false, number }.write_to(&mut review);
            (!directory.has_file(&review)).then(|| format!("{name} requires {review}"))
        }
        _ => None,
    });
    found.extend(first_few(orphaned_answers, "post-reviews without their review"));

    let has_task_files =
        known().any(|(_, parsed)| matches!(parsed, FileName::Document(FileSubject::Task(_))));
    if has_task_files && is_missing(FileSubject::Tasks) {
        found.push("Task files exist but tasks.md is missing".to_owned());
    }

    if let Some(form) = tasks.map(tasks::read_form) {
        if form.has_prose {
            found.push("tasks.md contains non-table content".to_owned());
        }
        if !form.has_rows {
            found.push("tasks.md has no table rows".to_owned());
        }
    }
    found
}

/// What is wrong with a `state.json`. A field that is null is present.
pub fn state_warning(state: &Result<StateFile, Malformed>) -> Option<String> {
    match state {
        Ok(file) => missing_fields(file),
        Err(_) => Some("Warning: state.json contains invalid JSON".to_owned()),
    }
}

/// The warning about missing fields, in the document's words.
pub fn missing_fields(file: &StateFile) -> Option<String> {
    let missing: Vec<&str> = STATE_FIELDS.iter().copied().filter(|field| !file.has(field)).collect();
    (!missing.is_empty())
        .then(|| format!("Warning: state.json missing required fields: {}", missing.join(", ")))
}

/// The first violations of a rule, each once, and the number of the others.
fn first_few(violations: impl Iterator<Item = String>, kind: &str) -> Vec<String> {
    let mut listed: Vec<String> = violations.collect();
    // Names that differ only in characters that cannot be printed look the same. They are neighbours.
    listed.dedup();
    let more = listed.len().saturating_sub(MOST_OF_A_KIND);
    listed.truncate(MOST_OF_A_KIND);
    if more > 0 {
        listed.push(format!("and {more} more {kind}"));
    }
    listed
}

#[cfg(test)]
mod tests;

//! Splits prompts into clauses and words.
//!
//! Only whole words count, and never parts of paths: "initial" is not "init", "investigate" is not "gate",
//! and `docs/01-requirements/x.md` is a file.

use super::prelude::*;

/// Words about work before a workflow, or beside it.
const SETUP: &[&str] = &[
    "discover",
    "constitution",
    "init",
    "setup",
    "configure",
    "configure-cloud",
    "new project",
    "project setup",
    "install",
    "status",
];

/// The words of a text, in lower case. A word consists of letters, digits, hyphens and underscores. A part of
/// a path, with a slash or dot at its side and more after it, is not a word.
pub fn split_words(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let is_joint = |c: char| matches!(c, '/' | '\\' | '.' | '@' | ':' | '~');
    text.split(|c: char| !is_part(c) && !is_joint(c))
        // Punctuation at the end of a sentence does not belong to a name.
        .map(|part| part.trim_end_matches(['.', ':']).trim_start_matches(':'))
        .filter(|part| !part.contains(is_joint))
        .map(|part| part.trim_matches('-').to_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

/// The clauses of a text, each as its words. A clause ends with a sentence or a comma, at a blank line, or at
/// the next item of a list, but not where a line is only wrapped.
pub fn split_clauses(text: &str) -> Vec<Vec<String>> {
    let is_end = |c: char| matches!(c, '.' | ',' | ';' | '!' | '?');
    let mut found = vec![String::new()];
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['-', '*', '#']) {
            found.push(String::new());
        }
        for word in line.split_whitespace() {
            if let Some(clause) = found.last_mut() {
                *clause += word;
                clause.push(' ');
            }
            if word.trim_end_matches(['"', '\'', '`', ')', '*']).ends_with(is_end) {
                found.push(String::new());
            }
        }
    }
    found.iter().map(|clause| split_words(clause)).filter(|words| !words.is_empty()).collect()
}

/// Whether the words of a phrase follow each other somewhere in these words.
pub fn has_phrase(words: &[String], phrase: &str) -> bool {
    let follows = |behind: &[String], rest: &str| {
        behind.iter().map(String::as_str).take(rest.split(' ').count()).eq(rest.split(' '))
    };
    // Nearly always the first word is missing already.
    words.iter().enumerate().any(|(at, word)| match phrase.strip_prefix(word.as_str()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(' ').is_some_and(|rest| follows(&words[at + 1..], rest)),
        None => false,
    })
}

/// The first of these phrases that is in these words.
pub fn find_phrase(words: &[String], phrases: &[&str]) -> Option<String> {
    phrases.iter().find(|phrase| has_phrase(words, phrase)).map(|phrase| (*phrase).to_owned())
}

/// Whether a text is about setting something up.
pub fn is_about_setup(words: &[String]) -> bool {
    SETUP.iter().any(|phrase| has_phrase(words, phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_not_parts_of_paths() {
        assert_eq!(
            split_words("Do Phase 06-Implementation, now."),
            ["do", "phase", "06-implementation", "now"]
        );
        assert_eq!(split_words("(qa-engineer): go"), ["qa-engineer", "go"]);
        assert_eq!(split_words("\"01-requirements\" `02-tracing`;"), ["01-requirements", "02-tracing"]);
        for path in [
            "docs/01-requirements/x",
            "./01-requirements/",
            "/01-requirements",
            "01-requirements.md",
            "a\\01-requirements",
            "~/01-requirements",
            "x:01-requirements",
        ] {
            assert_eq!(split_words(&format!("see {path} there")), ["see", "there"], "{path}");
        }
    }

    #[test]
    fn clauses_end_with_punctuation_and_list_items() {
        let found = split_clauses("Do not stop. Go on, to the\nnext phase\n- see docs/a.md\n\nDone");
        let found: Vec<String> = found.iter().map(|words| words.join(" ")).collect();
        assert_eq!(found, ["do not stop", "go on", "to the next phase", "see", "done"]);
        assert!(split_clauses(" \n, . ").is_empty());
    }

    #[test]
    fn only_whole_words_mean_setup() {
        for text in ["run discover", "Status?", "a new project", "the project setup", "configure-cloud"] {
            assert!(is_about_setup(&split_words(text)), "{text}");
        }
        for text in [
            "the initial definition",
            "reinstall",
            "statuses",
            "rediscovered",
            "a new, better project",
            "read .isdlc/setup/x",
            "",
        ] {
            assert!(!is_about_setup(&split_words(text)), "{text}");
        }
    }
}

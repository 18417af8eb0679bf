//! Words in what an agent is told: whole ones, and never parts of paths.
//!
//! "initial" is not "init", "investigate" is not "gate", and `docs/01-requirements/x.md` is a file.

/// Words of work that comes before any workflow, or stands beside it.
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

/// The words of a text in lower case, in their order. A word is made of letters, digits, hyphens and
/// underscores; one that has a slash or a dot with more behind it at its side is a part of a path.
pub fn words(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let is_joint = |c: char| matches!(c, '/' | '\\' | '.' | '@' | ':' | '~');
    let is_whole = |part: &str| !part.contains(is_joint);
    text.split(|c: char| !is_part(c) && !is_joint(c))
        // What ends a sentence is no part of a name.
        .map(|part| part.trim_end_matches(['.', ':']).trim_start_matches(':'))
        .filter(|part| is_whole(part))
        .map(|part| part.trim_matches('-').to_lowercase())
        // A dash by itself is no word.
        .filter(|word| !word.is_empty())
        .collect()
}

/// The clauses of a text, each in its words: up to the end of a sentence or a comma, or to a blank line or
/// the next item of a list. A line that is only wrapped goes on.
pub fn clauses(text: &str) -> Vec<Vec<String>> {
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
    found.iter().map(|clause| words(clause)).filter(|words| !words.is_empty()).collect()
}

/// Whether these words stand in a text in this order, one behind the other.
pub fn has_phrase(words: &[String], phrase: &str) -> bool {
    let follows = |behind: &[String], rest: &str| {
        behind.iter().map(String::as_str).take(rest.split(' ').count()).eq(rest.split(' '))
    };
    // Nearly always it is the first word that is not there.
    words.iter().enumerate().any(|(at, word)| match phrase.strip_prefix(word.as_str()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(' ').is_some_and(|rest| follows(&words[at + 1..], rest)),
        None => false,
    })
}

/// Whether a text is about setting something up.
pub fn is_setup(words: &[String]) -> bool {
    SETUP.iter().any(|phrase| has_phrase(words, phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_no_parts_of_paths() {
        assert_eq!(words("Do Phase 06-Implementation, now."), ["do", "phase", "06-implementation", "now"]);
        assert_eq!(words("(qa-engineer): go"), ["qa-engineer", "go"]);
        assert_eq!(words("\"01-requirements\" `02-tracing`;"), ["01-requirements", "02-tracing"]);
        for path in [
            "docs/01-requirements/x",
            "./01-requirements/",
            "/01-requirements",
            "01-requirements.md",
            "a\\01-requirements",
            "~/01-requirements",
            "x:01-requirements",
        ] {
            assert_eq!(words(&format!("see {path} there")), ["see", "there"], "{path}");
        }
    }

    #[test]
    fn clauses_end_where_a_reader_stops() {
        let found = clauses("Do not stop. Go on, to the\nnext phase\n- see docs/a.md\n\nDone");
        let found: Vec<String> = found.iter().map(|words| words.join(" ")).collect();
        assert_eq!(found, ["do not stop", "go on", "to the next phase", "see", "done"]);
        assert!(clauses(" \n, . ").is_empty());
    }

    #[test]
    fn setup_is_meant_by_whole_words() {
        for text in ["run discover", "Status?", "a new project", "the project setup", "configure-cloud"] {
            assert!(is_setup(&words(text)), "{text}");
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
            assert!(!is_setup(&words(text)), "{text}");
        }
    }
}

//! What a plan needs before anybody is asked about it: goals, a list of gaps, no open end.

use memchr::memmem;

use super::dossier::{Dossier, Gaps};
use super::fences;

/// What is missing, each as a sentence of the document.
pub fn missing(dossier: &Dossier<'_>) -> Vec<String> {
    let text = dossier.document.content().to_vec();
    let mut found = Vec::new();
    if !has_goals(&text) {
        found.push(NO_GOALS.to_owned());
    }
    match &dossier.gaps {
        Gaps::Present(_) => {}
        Gaps::Missing => found.push(NO_GAPS.to_owned()),
        Gaps::Broken(how) => found.push(format!("The gaps block is broken: {how}. {NO_GAPS}")),
    }
    if let Some(line) = open_end(&text) {
        found.push(format!("Line {line} of the plan still says TBD. Decide it, or write it down as a gap"));
    }
    found
}

pub const NO_GOALS: &str = "Plan must have ## Goals section. Add success criteria and re-run";
pub const NO_GAPS: &str = "Plan must have gaps block. Add <!-- rodin:gaps:start/end --> markers and re-run";

/// Whether a heading of the second level begins with the word.
pub fn has_goals(text: &[u8]) -> bool {
    outside_fences(text, b"## ", |before, rest| {
        let heading = rest.trim_ascii_start();
        let is_word = heading.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"goals"));
        before.is_none_or(|byte| byte == b'\n') && is_word && !continues(heading.get(5))
    })
    .is_some()
}

/// The first line with an open `TBD`.
fn open_end(text: &[u8]) -> Option<usize> {
    let at =
        outside_fences(text, b"TBD", |before, rest| !continues(before.as_ref()) && !continues(rest.first()))?;
    Some(memchr::memchr_iter(b'\n', &text[..at]).count() + 1)
}

/// Where a text stands outside fenced code, with the right byte before it and the right text behind.
fn outside_fences(text: &[u8], searched: &[u8], fits: impl Fn(Option<u8>, &[u8]) -> bool) -> Option<usize> {
    let mut hidden = None;
    memmem::find_iter(text, searched).find(|&at| {
        let before = at.checked_sub(1).map(|before| text[before]);
        fits(before, &text[at + searched.len()..])
            && !fences::hide(hidden.get_or_insert_with(|| fences::closed(text)), at)
    })
}

/// Whether a word goes on with this byte.
fn continues(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_a_heading_of_the_second_level() {
        for text in ["## Goals", "# P\n\n## Goals / Non-Goals\n", "## goals:\r\n", "x\n##  Goals\n"] {
            assert!(has_goals(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "# Goals",
            "### Goals",
            "Goals",
            " ## Goals",
            "##Goals",
            "## Goalsetting",
            "```\n## Goals\n```\n",
        ] {
            assert!(!has_goals(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn an_open_end_is_a_word_of_its_own_outside_code() {
        assert_eq!(open_end(b"a\nb TBD.\n"), Some(2));
        assert_eq!(open_end(b"ATBD TBD_X TBDs\n```\nTBD\n```\n"), None);
    }
}

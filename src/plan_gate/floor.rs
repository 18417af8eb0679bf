//! What a plan needs before anybody is asked about it: goals, a list of gaps, no open end.

use super::document::PlanDocument;
use super::dossier::{Dossier, Gaps};
use super::store::Words;

/// What is missing, each as a sentence of the document.
pub fn missing(dossier: &Dossier<'_>, words: &Words) -> Vec<String> {
    let plan = &dossier.document;
    let mut found = Vec::new();
    if !has_goals(plan) {
        found.push(NO_GOALS.to_owned());
    }
    match &dossier.gaps {
        Gaps::Present(_) => {}
        Gaps::Missing => found.push(words.floor_gaps.to_owned()),
        Gaps::Broken(how) => found.push(format!("The gaps block is broken: {how}. {NO_GAPS}")),
    }
    if let Some(line) = open_end(plan) {
        found.push(format!("Line {line} of the plan still says TBD. Decide it, or move it to the gaps"));
    }
    found
}

pub const NO_GOALS: &str = "Plan must have ## Goals section. Add success criteria and re-run";
pub const NO_GAPS: &str = "Plan must have gaps block. Add <!-- rodin:gaps:start/end --> markers and re-run";

/// Whether a heading of the second level begins with the word.
pub fn has_goals(plan: &PlanDocument<'_>) -> bool {
    let is_goals = |before: Option<u8>, rest: &[u8]| {
        let heading = rest.trim_ascii_start();
        let is_word = heading.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"goals"));
        before.is_none_or(|byte| byte == b'\n') && is_word && !continues(heading.get(5))
    };
    plan.find(b"## ", is_goals).is_some() || plan.find(BEHIND_ORDER_MARK, is_goals).is_some()
}

/// A heading that is the first thing in a file which begins with the mark of its byte order.
const BEHIND_ORDER_MARK: &[u8] = b"\xef\xbb\xbf## ";

/// The first line with an open `TBD`.
fn open_end(plan: &PlanDocument<'_>) -> Option<usize> {
    let is_word = |before: Option<u8>, rest: &[u8]| !continues(before.as_ref()) && !continues(rest.first());
    plan.find(b"TBD", is_word).map(|at| plan.line(at))
}

/// Whether a word goes on with this byte.
fn continues(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_goals(text: &str) -> bool {
        has_goals(&PlanDocument::read(text.as_bytes()).unwrap())
    }

    #[test]
    fn goals_are_a_heading_of_the_second_level() {
        for text in [
            "## Goals",
            "# P\n\n## Goals / Non-Goals\n",
            "## goals:\r\n",
            "x\n##  Goals\n",
            "\u{feff}## Goals\n",
        ] {
            assert!(with_goals(text), "{text}");
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
            assert!(!with_goals(text), "{text}");
        }
    }

    #[test]
    fn an_open_end_is_a_word_of_its_own_outside_code() {
        let open = |text: &str| open_end(&PlanDocument::read(text.as_bytes()).unwrap());
        assert_eq!(open("a\nb TBD.\n"), Some(2));
        assert_eq!(open("ATBD TBD_X TBDs\n```\nTBD\n```\n"), None);
        assert_eq!(open("<!-- rodin:gaps:start -->\nTBD\n<!-- rodin:gaps:end -->\n"), None);
    }
}

//! What a plan must have before it is assessed: goals, a list of gaps, and no `TBD`.

use super::document::PlanDocument;
use super::plan_record::{Gaps, PlanRecord};
use super::store::StoreMessages;
use crate::prelude::*;

/// Lists what is missing, each as a sentence of the design document.
pub fn list_missing(record: &PlanRecord<'_>, words: &StoreMessages) -> Vec<String> {
    let plan = &record.document;
    let mut found = Vec::new();
    if !has_goals(plan) {
        found.push(NO_GOALS.to_owned());
    }
    found.extend(describe_missing_gaps(&record.gaps, words));
    if let Some(line) = find_tbd(plan) {
        found.push(format!("Line {line} of the plan still says TBD. Decide it, or move it to the gaps"));
    }
    found
}

pub fn describe_missing_gaps(gaps: &Gaps, words: &StoreMessages) -> Option<String> {
    match gaps {
        Gaps::Present(_) => None,
        Gaps::Missing => Some(words.floor_gaps.to_owned()),
        Gaps::Broken(how) => Some(format!("The gaps block is broken: {how}. {NO_GAPS}")),
    }
}

pub const NO_GOALS: &str = "Plan must have ## Goals section. Add success criteria and re-run";
pub const NO_GAPS: &str = "Plan must have gaps block. Add <!-- rodin:gaps:start/end --> markers and re-run";

/// Whether a heading of level 2 begins with the word "Goals".
pub fn has_goals(plan: &PlanDocument<'_>) -> bool {
    let is_goals = |before: Option<u8>, rest: &[u8]| {
        let heading = rest.trim_ascii_start();
        let is_word = heading.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"goals"));
        before.is_none_or(|byte| byte == b'\n') && is_word && !is_word_byte(heading.get(5))
    };
    plan.find_text(b"## ", is_goals).is_some() || plan.find_text(BEHIND_BYTE_ORDER_MARK, is_goals).is_some()
}

/// A heading at the start of a file that begins with a byte order mark.
const BEHIND_BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf## ";

fn find_tbd(plan: &PlanDocument<'_>) -> Option<usize> {
    let is_word =
        |before: Option<u8>, rest: &[u8]| !is_word_byte(before.as_ref()) && !is_word_byte(rest.first());
    plan.find_text(b"TBD", is_word).map(|at| plan.line_number(at))
}

fn is_word_byte(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_goals(text: &str) -> bool {
        has_goals(&PlanDocument::parse(text.as_bytes()).unwrap())
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
    fn tbd_counts_as_a_whole_word_outside_code() {
        let open = |text: &str| find_tbd(&PlanDocument::parse(text.as_bytes()).unwrap());
        assert_eq!(open("a\nb TBD.\n"), Some(2));
        assert_eq!(open("ATBD TBD_X TBDs\n```\nTBD\n```\n"), None);
        assert_eq!(open("<!-- rodin:gaps:start -->\nTBD\n<!-- rodin:gaps:end -->\n"), None);
    }
}

//! Finds doubts that a plan mentions without listing them as gaps.
//!
//! The search looks for the phrases of the settings and needs no model. A plan may use a few of them as a
//! manner of speaking. From [`ENOUGH`] different phrases on, each becomes a new gap. A phrase with which a
//! gap begins, or that a gap quotes, is listed already.

use super::code_fences::CodeFences;
use super::entries;
use crate::prelude::*;
use provost_core::text::{make_printable, truncate_utf16};

/// From this many different phrases on, they become gaps.
const ENOUGH: usize = 3;
const LONGEST_QUOTE: usize = 100;

/// A phrase, with the first line of the plan that has it.
#[derive(Debug, PartialEq, Eq)]
pub struct LeakedDoubt {
    phrase: String,
    line: usize,
    quote: String,
}

/// Finds each phrase in the plan outside fenced code, in the order of the settings.
pub fn find_leaks(plan: &str, phrases: &[String]) -> Vec<LeakedDoubt> {
    let fences = CodeFences::new(plan.as_bytes());
    let mut leaks: Vec<LeakedDoubt> = Vec::new();
    for phrase in phrases {
        let phrase = &join_words(phrase);
        if leaks.iter().any(|leak| leak.phrase.to_lowercase() == phrase.to_lowercase()) {
            continue;
        }
        if let Some(at) = find_places(plan, phrase).find(|at| !fences.contain(*at)) {
            let start = plan[..at].rfind('\n').map_or(0, |before| before + 1);
            leaks.push(LeakedDoubt {
                phrase: phrase.clone(),
                line: plan[..at].matches('\n').count() + 1,
                quote: quote_line(plan[start..].lines().next().unwrap_or_default(), at - start),
            });
        }
    }
    leaks
}

/// Writes the gaps to add, and counts them; `None` if there is nothing to add.
pub fn write_gaps(leaks: &[LeakedDoubt], gaps: &str) -> Option<(String, usize)> {
    if leaks.len() < ENOUGH {
        return None;
    }
    let entries = entries::read_gaps(gaps);
    let is_listed = |leak: &LeakedDoubt| {
        entries.iter().any(|gap| {
            begins_with(&gap.title, &lower_words(&leak.phrase))
                || [&gap.title, &gap.description].iter().any(|text| quotes_phrase(text, &leak.phrase))
        })
    };
    let new: Vec<String> = leaks
        .iter()
        .filter(|leak| !is_listed(leak))
        .zip(entries::next_gap_number(gaps)..)
        .map(|(leak, number)| write_gap(leak, number))
        .collect();
    let before = if gaps.trim().is_empty() || gaps.ends_with("\n\n") { "" } else { "\n" };
    (!new.is_empty()).then(|| (format!("{before}{}", new.join("\n")), new.len()))
}

fn write_gap(LeakedDoubt { phrase, line, quote }: &LeakedDoubt, number: u64) -> String {
    let phrase = sanitise(phrase);
    format!(
        "### GAP-{number}: \"{phrase}\" in line {line}\n\
         - **Severity**: medium\n\
         - **Description**: Line {line} of the plan says \"{phrase}\": {quote}\n"
    )
}

fn quotes_phrase(text: &str, phrase: &str) -> bool {
    let (text, phrase) = (text.to_lowercase(), sanitise(phrase).to_lowercase());
    [['"', '"'], ['“', '”'], ['`', '`']]
        .iter()
        .any(|[open, close]| text.contains(&format!("{open}{phrase}{close}")))
}

/// Every place of a phrase as whole words, in any case, with blanks or a single line break between the words.
fn find_places<'t>(text: &'t str, phrase: &str) -> impl Iterator<Item = usize> + 't {
    let words = lower_words(phrase);
    let mut before = None;
    text.char_indices().filter_map(move |(at, c)| {
        let inside = before.is_some_and(is_word_char);
        before = Some(c);
        (!(inside && is_word_char(c)) && begins_with(&text[at..], &words)).then_some(at)
    })
}

fn lower_words(phrase: &str) -> Vec<Vec<char>> {
    phrase.split_whitespace().map(|word| word.chars().flat_map(char::to_lowercase).collect()).collect()
}

fn begins_with(text: &str, words: &[Vec<char>]) -> bool {
    let mut rest = text;
    let mut last = None;
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            let behind = rest.trim_start();
            let between = &rest[..rest.len() - behind.len()];
            if between.is_empty() || between.matches('\n').count() > 1 {
                return false;
            }
            rest = behind;
        }
        let mut expected = word.iter();
        while !expected.as_slice().is_empty() {
            let Some(c) = rest.chars().next() else { return false };
            if !c.to_lowercase().all(|small| expected.next() == Some(&small)) {
                return false;
            }
            last = Some(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    last.is_some_and(|last| !(is_word_char(last) && rest.chars().next().is_some_and(is_word_char)))
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Quotes a line from shortly before a place in it.
fn quote_line(line: &str, at: usize) -> String {
    const BEFORE: usize = 40;
    let start = line[..at].char_indices().rev().nth(BEFORE).map_or(0, |(start, _)| start);
    let cut = if start > 0 { "… " } else { "" };
    format!("\"{cut}{}\"", truncate_utf16(sanitise(&line[start..]).trim(), LONGEST_QUOTE))
}

/// Makes a text printable, on one line, and unable to begin or end a comment.
fn sanitise(text: &str) -> String {
    make_printable(&join_words(text)).replace('<', "‹").replace('>', "›")
}

fn join_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use provost_core::config::{Config, settings};

    fn phrases() -> Vec<String> {
        Config::default().words(settings::PLAN_GATE_GAP_PHRASES)
    }

    fn find_phrases(plan: &str) -> Vec<String> {
        find_leaks(plan, &phrases()).into_iter().map(|leak| leak.phrase).collect()
    }

    fn write_leaks(plan: &str, gaps: &str) -> Option<(String, usize)> {
        write_gaps(&find_leaks(plan, &phrases()), gaps)
    }

    #[test]
    fn a_phrase_is_whole_words_however_they_are_written() {
        for plan in [
            "not sure",
            "We are Not  Sure.",
            "not\nsure",
            "not \r\n  sure",
            "*not sure*",
            "(NOT\tSURE)",
            "é not sure",
        ] {
            assert_eq!(find_phrases(plan), ["not sure"], "{plan:?}");
        }
        for plan in
            ["knot sure", "not surely", "notsure", "not\n\nsure", "not, sure", "not_sure", "sure not", ""]
        {
            assert!(find_phrases(plan).is_empty(), "{plan:?}");
        }
    }

    #[test]
    fn code_leaks_nothing() {
        let plan = "```\nTODO\n```\n~~~md\nunclear\n~~~\nhopefully\n```\nTBD\n";
        assert_eq!(find_phrases(plan), ["TBD", "hopefully"], "a fence that is not closed hides nothing");
    }

    #[test]
    fn a_phrase_counts_once_however_often_it_is_said_or_listed() {
        assert_eq!(find_phrases("TODO todo ToDo\nTODO"), ["TODO"]);
        let twice = ["TODO", "todo ", "risk  of", "risk of"].map(String::from);
        assert_eq!(find_leaks("a risk of TODO", &twice).len(), 2);
    }

    #[test]
    fn req_peg_004_2_fewer_than_three_phrases_change_nothing() {
        assert_eq!(write_leaks("It is unclear.\n", ""), None);
        assert_eq!(write_leaks("Sound.\n", "### GAP-1: x\n"), None);
    }

    #[test]
    fn req_peg_004_3_exactly_two_phrases_append_nothing() {
        assert_eq!(write_leaks("It is unclear, TBD.\n", ""), None);
    }

    #[test]
    fn req_peg_004_4_exactly_three_phrases_are_all_appended() {
        let (text, count) = write_leaks("It is unclear.\nTBD,\nhopefully\n", "").unwrap();
        assert_eq!(count, 3);
        assert_eq!(
            text,
            "\
### GAP-1: \"unclear\" in line 1
- **Severity**: medium
- **Description**: Line 1 of the plan says \"unclear\": \"It is unclear.\"

### GAP-2: \"TBD\" in line 2
- **Severity**: medium
- **Description**: Line 2 of the plan says \"TBD\": \"TBD,\"

### GAP-3: \"hopefully\" in line 3
- **Severity**: medium
- **Description**: Line 3 of the plan says \"hopefully\": \"hopefully\"
"
        );
    }

    #[test]
    fn req_peg_004_5_five_phrases_are_all_appended_behind_the_highest_number() {
        let gaps = "### GAP-7: Rollback unclear\n- **Severity**: high\n";
        let (text, count) = write_leaks("unclear TODO TBD\nassuming hopefully\n", gaps).unwrap();
        let entries = entries::read_gaps(&format!("{gaps}{text}"));
        assert_eq!((count, entries.len()), (5, 6));
        let numbers: Vec<u64> = entries.iter().map(|gap| gap.number).collect();
        assert_eq!(numbers, [7, 8, 9, 10, 11, 12]);
        assert!(entries[1..].iter().all(|gap| gap.severity == Some(entries::EntrySeverity::Medium)));
        assert!(text.starts_with("\n### GAP-8: "), "an empty line stands between the gaps: {text}");
    }

    #[test]
    fn a_second_run_adds_nothing_and_a_new_phrase_is_added_alone() {
        let plan = "unclear TODO TBD\n";
        let gaps = write_leaks(plan, "").unwrap().0;
        assert_eq!(write_leaks(plan, &gaps), None);
        let (text, count) = write_leaks("unclear TODO TBD hopefully\n", &gaps).unwrap();
        assert_eq!(count, 1, "the known ones still count as phrases: {text}");
        assert!(text.contains("### GAP-4: \"hopefully\""), "{text}");
        // A gap that only uses the word is about something else.
        assert_eq!(write_leaks(plan, "### GAP-1: Rollback unclear\n").unwrap().1, 3);
        assert_eq!(write_leaks(plan, "### GAP-1: x\nIt says “Unclear”.\n").unwrap().1, 2);
        assert_eq!(write_leaks(plan, "### GAP-1: TBD: when\n").unwrap().1, 2);
    }

    #[test]
    fn a_quote_is_short_and_cannot_close_a_comment() {
        let long =
            format!("{}unclear <!-- rodin:gaps:end --> \u{1b}[2J{}", "word ".repeat(40), " more".repeat(99));
        let leaks = find_leaks(&format!("TODO TBD\n{long}\n"), &phrases());
        let (text, _) = write_gaps(&leaks, "").unwrap();
        assert!(!text.contains('<') && !text.contains('>') && !text.contains('\u{1b}'), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 180), "{text}");
        assert!(text.contains("\"… ") && text.contains("(cut)\""), "{text}");
        assert_eq!(entries::read_gaps(&text).len(), 3);
        let setting = vec!["a-->".to_owned(), "b".into(), "c".into()];
        let (text, _) = write_gaps(&find_leaks("a--> b c", &setting), "").unwrap();
        assert!(!text.contains("-->"), "{text}");
        assert_eq!(write_gaps(&find_leaks("a--> b c", &setting), &text), None);
    }
}

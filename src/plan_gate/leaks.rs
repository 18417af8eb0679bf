//! Doubts that a plan speaks of in passing and does not list as gaps.
//!
//! The search is for phrases of the settings and needs no model. Few of them are a manner of speaking;
//! from [`ENOUGH`] different ones on, each becomes a gap of its own, behind those that are there. A
//! phrase that a gap begins with or names in quotation marks is known already.

use super::entries;
use super::fences;
use crate::text::{bounded, printable};

/// How many different phrases are more than a slip.
const ENOUGH: usize = 3;
/// As much of a line as shows what it is about.
const LONGEST_QUOTE: usize = 100;

/// A phrase of the list, where the plan has it first.
#[derive(Debug, PartialEq, Eq)]
pub struct Leak {
    phrase: String,
    line: usize,
    quote: String,
}

/// Each phrase that stands in a plan outside fenced code, in the order of the list.
pub fn found(plan: &str, phrases: &[String]) -> Vec<Leak> {
    let fences = fences::closed(plan.as_bytes());
    let mut leaks: Vec<Leak> = Vec::new();
    for phrase in phrases {
        let known = |leak: &Leak| leak.phrase.to_lowercase() == one_blank(phrase).to_lowercase();
        if leaks.iter().any(known) {
            continue;
        }
        if let Some(at) = places(plan, phrase).find(|at| !fences::hide(&fences, *at)) {
            let start = plan[..at].rfind('\n').map_or(0, |before| before + 1);
            leaks.push(Leak {
                phrase: one_blank(phrase),
                line: plan[..at].matches('\n').count() + 1,
                quote: quote(plan[start..].lines().next().unwrap_or_default(), at - start),
            });
        }
    }
    leaks
}

/// The text to be added to the gaps, and how many gaps that is; `None`: there is nothing to add.
pub fn as_gaps(leaks: &[Leak], gaps: &str) -> Option<(String, usize)> {
    if leaks.len() < ENOUGH {
        return None;
    }
    let entries = entries::gaps(gaps);
    let named = |leak: &&Leak| {
        let begins = |title: &str| begins_with(title, &words(&leak.phrase));
        let quotes = |text: &str| quotes(text, &leak.phrase);
        entries.iter().any(|gap| begins(&gap.title) || quotes(&gap.title) || quotes(&gap.description))
    };
    let new: Vec<String> = leaks
        .iter()
        .filter(|leak| !named(leak))
        .zip(entries::next_gap(gaps)..)
        .map(|(leak, number)| leak.as_gap(number))
        .collect();
    let before = if gaps.trim().is_empty() || gaps.ends_with("\n\n") { "" } else { "\n" };
    (!new.is_empty()).then(|| (format!("{before}{}", new.join("\n")), new.len()))
}

impl Leak {
    fn as_gap(&self, number: u64) -> String {
        let Self { phrase, line, quote } = self;
        let phrase = tamed(phrase);
        format!(
            "### GAP-{number}: \"{phrase}\" in line {line}\n\
             - **Severity**: medium\n\
             - **Description**: Line {line} of the plan says \"{phrase}\": {quote}\n"
        )
    }
}

/// Whether a text speaks of a phrase as a phrase.
fn quotes(text: &str, phrase: &str) -> bool {
    let (text, phrase) = (text.to_lowercase(), tamed(phrase).to_lowercase());
    [['"', '"'], ['“', '”'], ['`', '`']]
        .iter()
        .any(|[open, close]| text.contains(&format!("{open}{phrase}{close}")))
}

/// Every place where a phrase stands as whole words, large or small, with a line break or any number
/// of blanks between them. An empty line ends a sentence.
fn places<'t>(text: &'t str, phrase: &str) -> impl Iterator<Item = usize> + 't {
    let words = words(phrase);
    let mut before = None;
    text.char_indices().filter_map(move |(at, c)| {
        let inside = before.is_some_and(continues);
        before = Some(c);
        (!(inside && continues(c)) && begins_with(&text[at..], &words)).then_some(at)
    })
}

fn words(phrase: &str) -> Vec<Vec<char>> {
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
    last.is_some_and(|last| !(continues(last) && rest.chars().next().is_some_and(continues)))
}

/// Whether a word goes on with this letter.
fn continues(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A line, or what stands around a place in it.
fn quote(line: &str, at: usize) -> String {
    const BEFORE: usize = 40;
    let start = line[..at].char_indices().rev().nth(BEFORE).map_or(0, |(start, _)| start);
    let cut = if start > 0 { "… " } else { "" };
    format!("\"{cut}{}\"", bounded(tamed(&line[start..]).trim(), LONGEST_QUOTE))
}

/// On one line, printable, and without the signs that begin or end a comment.
fn tamed(text: &str) -> String {
    printable(&one_blank(text)).replace('<', "‹").replace('>', "›")
}

fn one_blank(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, settings};

    fn phrases() -> Vec<String> {
        Config::default().words(settings::PLAN_GATE_PHRASES)
    }

    fn leaked(plan: &str) -> Vec<String> {
        found(plan, &phrases()).into_iter().map(|leak| leak.phrase).collect()
    }

    fn added(plan: &str, gaps: &str) -> Option<(String, usize)> {
        as_gaps(&found(plan, &phrases()), gaps)
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
            assert_eq!(leaked(plan), ["not sure"], "{plan:?}");
        }
        for plan in
            ["knot sure", "not surely", "notsure", "not\n\nsure", "not, sure", "not_sure", "sure not", ""]
        {
            assert!(leaked(plan).is_empty(), "{plan:?}");
        }
    }

    #[test]
    fn code_leaks_nothing() {
        let plan = "```\nTODO\n```\n~~~md\nunclear\n~~~\nhopefully\n```\nTBD\n";
        assert_eq!(leaked(plan), ["TBD", "hopefully"], "a fence that is not closed hides nothing");
    }

    #[test]
    fn a_phrase_counts_once_however_often_it_is_said_or_listed() {
        assert_eq!(leaked("TODO todo ToDo\nTODO"), ["TODO"]);
        let twice = ["TODO", "todo ", "risk  of", "risk of"].map(String::from);
        assert_eq!(found("a risk of TODO", &twice).len(), 2);
    }

    #[test]
    fn req_peg_004_2_fewer_than_three_phrases_change_nothing() {
        assert_eq!(added("It is unclear.\n", ""), None);
        assert_eq!(added("Sound.\n", "### GAP-1: x\n"), None);
    }

    #[test]
    fn req_peg_004_3_exactly_two_phrases_append_nothing() {
        assert_eq!(added("It is unclear, TBD.\n", ""), None);
    }

    #[test]
    fn req_peg_004_4_exactly_three_phrases_are_all_appended() {
        let (text, count) = added("It is unclear.\nTBD,\nhopefully\n", "").unwrap();
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
        let (text, count) = added("unclear TODO TBD\nassuming hopefully\n", gaps).unwrap();
        let entries = entries::gaps(&format!("{gaps}{text}"));
        assert_eq!((count, entries.len()), (5, 6));
        let numbers: Vec<u64> = entries.iter().map(|gap| gap.number).collect();
        assert_eq!(numbers, [7, 8, 9, 10, 11, 12]);
        assert!(entries[1..].iter().all(|gap| gap.severity == Some(entries::Severity::Medium)));
        assert!(text.starts_with("\n### GAP-8: "), "an empty line stands between the gaps: {text}");
    }

    #[test]
    fn a_second_run_adds_nothing_and_a_new_phrase_is_added_alone() {
        let plan = "unclear TODO TBD\n";
        let gaps = added(plan, "").unwrap().0;
        assert_eq!(added(plan, &gaps), None);
        let (text, count) = added("unclear TODO TBD hopefully\n", &gaps).unwrap();
        assert_eq!(count, 1, "the known ones still count as phrases: {text}");
        assert!(text.contains("### GAP-4: \"hopefully\""), "{text}");
        // A gap that only uses the word is about something else.
        assert_eq!(added(plan, "### GAP-1: Rollback unclear\n").unwrap().1, 3);
        assert_eq!(added(plan, "### GAP-1: x\nIt says “Unclear”.\n").unwrap().1, 2);
        assert_eq!(added(plan, "### GAP-1: TBD: when\n").unwrap().1, 2);
    }

    #[test]
    fn a_quote_is_short_and_cannot_close_anything() {
        let long =
            format!("{}unclear <!-- rodin:gaps:end --> \u{1b}[2J{}", "word ".repeat(40), " more".repeat(99));
        let leaks = found(&format!("TODO TBD\n{long}\n"), &phrases());
        let (text, _) = as_gaps(&leaks, "").unwrap();
        assert!(!text.contains('<') && !text.contains('>') && !text.contains('\u{1b}'), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 180), "{text}");
        assert!(text.contains("\"… ") && text.contains("(cut)\""), "{text}");
        assert_eq!(entries::gaps(&text).len(), 3);
        let setting = vec!["a-->".to_owned(), "b".into(), "c".into()];
        let (text, _) = as_gaps(&found("a--> b c", &setting), "").unwrap();
        assert!(!text.contains("-->"), "{text}");
        assert_eq!(as_gaps(&found("a--> b c", &setting), &text), None);
    }
}

//! Finds everything in an answer that a reader could take for a verdict.
//!
//! A verdict counts only if it is the only one, so this search is generous: it reads through other
//! alphabets, invisible characters, markup and line breaks, and accepts many labels. Finding too much
//! costs one more question to the validator; finding too little would miss a FAIL that is hidden next to a PASS.

mod look_alikes;
mod vocabulary;

use crate::prelude::*;
use look_alikes::{merge_similar, normalise};
use vocabulary::{
    CONDITIONS, FAIL_SIGNS, FILLERS, FINDING_LABELS, LABELS, NEGATIONS, OBJECTS, PASS_SIGNS, RETRACTED,
    RETRACTIONS, RULE_WORDS, SUBJECTS,
};

use super::verdict::VerdictStatus;

/// A place in an answer that could be read as a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossibleVerdict {
    /// Counts from 0.
    pub line: usize,
    /// `None`: a verdict that is neither a pass nor a fail.
    pub status: Option<VerdictStatus>,
    /// A sentence of prose counts only if it contradicts the verdict.
    pub is_prose: bool,
}

impl PossibleVerdict {
    fn from_statement(line: usize, status: Option<VerdictStatus>) -> Self {
        Self { line, status, is_prose: false }
    }

    fn from_prose(line: usize, status: VerdictStatus) -> Self {
        Self { line, status: Some(status), is_prose: true }
    }
}

/// A word, with the text between it and the previous word.
struct Token {
    /// Empty at the end of the text.
    word: String,
    before: String,
    line: usize,
    is_number: bool,
    is_capital: bool,
}

impl Token {
    fn new(word: &str, before: String, line: usize) -> Self {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        let is_capital = word.chars().filter(|c| c.is_uppercase()).count() > 1;
        let word = word.to_lowercase().chars().map(merge_similar).collect();
        Self { word, before, line, is_number, is_capital }
    }

    fn is(&self, word: &str) -> bool {
        word.len() == self.word.len() && word.chars().map(merge_similar).eq(self.word.chars())
    }

    fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    fn is_filler(&self) -> bool {
        self.is_number || self.is_any(FILLERS)
    }

    fn begins_line(&self) -> bool {
        self.before.contains('\n')
    }

    /// Whether the sentence before it has ended.
    fn begins_sentence(&self) -> bool {
        self.before.contains(['.', '!', ';', '\n'])
    }

    /// Whether a character that assigns a value, such as a colon, is in front of the word.
    fn is_assigned(&self) -> bool {
        self.before.contains([':', '=', '-', '–', '—', '|', '>', '→', '⇒', '/', '('])
    }

    /// The verdict that the word names. Forms that are verbs in prose count only after a sign that assigns them.
    fn status(&self) -> Option<VerdictStatus> {
        let is_any = |words, verbs| self.is_any(words) || (self.is_any(verbs) && self.is_assigned());
        if is_any(&["pass", "passed"], &["passes", "passing"]) {
            return Some(VerdictStatus::Pass);
        }
        is_any(&["fail", "failed", "failure"], &["fails", "failing"]).then_some(VerdictStatus::Fail)
    }
}

/// Reads the verdict that begins or ends at a token.
type VerdictReader = fn(&[Token], usize) -> Option<PossibleVerdict>;

/// Verdicts without blanks, as [`merge_similar`] writes them.
const JOINED_VERDICTS: [(&str, VerdictStatus); 4] = [
    ("verdictpass", VerdictStatus::Pass),
    ("verdictispass", VerdictStatus::Pass),
    ("verdictfaii", VerdictStatus::Fail),
    ("verdictisfaii", VerdictStatus::Fail),
];
/// The maximum number of consecutive fillers.
const MOST_FILLERS: usize = 8;
/// The maximum number of words before a PASS or FAIL that ends its line.
const MOST_LABEL_WORDS: usize = 6;

/// Every place that could be read as a verdict, in order.
pub fn find_verdicts(text: &str) -> Vec<PossibleVerdict> {
    const READERS: [VerdictReader; 6] =
        [read_verdict, read_label, read_end_of_line, read_sign, read_capitals, read_sentence];
    let tokens = split_tokens(&normalise(text));
    let mut found: Vec<PossibleVerdict> = Vec::new();
    for at in 0..tokens.len() {
        found.extend(READERS.iter().find_map(|read| read(&tokens, at)));
        found.extend(read_retraction(&tokens, at));
    }
    found.extend(find_split_words(&tokens));
    if text.contains(['\u{202d}', '\u{202e}']) {
        // Text that is shown in another order than it is stored says nothing certain.
        found.push(PossibleVerdict::from_statement(0, None));
    }
    found.sort_by_key(|verdict| verdict.line);
    found
}

/// Whether a line states a verdict at its start, as a validator does.
pub fn is_verdict_line(line: &str) -> bool {
    let tokens = split_tokens(&normalise(line));
    let start = tokens.iter().position(|token| token.is("verdict"));
    start.is_some_and(|at| {
        at <= 2 && tokens[..at].iter().all(Token::is_filler) && read_verdict(&tokens, at).is_some()
    })
}

/// Whether a line, however it is decorated, begins with "finding" and a number.
pub fn is_finding_line(line: &str) -> bool {
    let normal = normalise(line);
    let is_sign = |c: char| !c.is_alphanumeric();
    let mut letters = normal.trim_start_matches(is_sign).chars();
    let is_next = |letter| letters.next().map(|c| merge_similar(c.to_ascii_lowercase())) == Some(letter);
    "finding".chars().map(merge_similar).all(is_next)
        && letters.as_str().trim_start_matches(is_sign).starts_with(char::is_numeric)
}

fn count_fillers(tokens: &[Token]) -> usize {
    tokens.iter().take(MOST_FILLERS).take_while(|token| token.is_filler()).count()
}

/// "verdict", and the value after it.
fn read_verdict(tokens: &[Token], at: usize) -> Option<PossibleVerdict> {
    if !tokens[at].is("verdict") {
        return read_value_before_verdict(tokens, at);
    }
    let line = tokens[at].line;
    let rest = &tokens[at + 1..];
    if let Some(status) = rest.get(count_fillers(rest)).and_then(Token::status) {
        return Some(PossibleVerdict::from_statement(line, Some(status)));
    }
    // A line that assigns something else to it: "Final verdict: rejected".
    let first = (0..at).rev().find(|&back| tokens[back + 1].begins_line() || !tokens[back].is_filler());
    let begins_line = tokens[first.map_or(0, |first| first + 1)].begins_line();
    let value = rest.first().filter(|value| value.is_assigned() && !value.begins_line())?;
    let is_reference = value.is_any(&["see", "below", "above", "follows", "line", "verdict"]);
    (begins_line && !is_reference).then(|| PossibleVerdict::from_statement(line, None))
}

/// "FAIL is my verdict" on a line that begins with the value.
fn read_value_before_verdict(tokens: &[Token], at: usize) -> Option<PossibleVerdict> {
    let status = tokens[at].status().filter(|_| tokens[at].begins_line())?;
    let rest = &tokens[at + 1..];
    let fillers = count_fillers(rest);
    let name = rest.get(fillers).filter(|name| name.is("verdict") && !name.begins_line())?;
    // If text follows the word "verdict" on its line, that text is the value, not this PASS or FAIL before it.
    let ends = rest.get(fillers + 1).is_none_or(Token::begins_line);
    ends.then(|| PossibleVerdict::from_statement(name.line, Some(status)))
}

/// "Result: FAIL", `"status":"fail"`, "passed = false".
fn read_label(tokens: &[Token], at: usize) -> Option<PossibleVerdict> {
    let label = &tokens[at];
    let value = tokens.get(at + 1).filter(|value| value.is_assigned() && !value.begins_line())?;
    let status = if label.is_any(LABELS) {
        value.status()?
    } else {
        let status = label.status()?;
        if value.is_any(&["true", "yes", "1"]) {
            status
        } else if value.is_any(&["false", "no", "0"]) {
            opposite(&status)
        } else {
            return None;
        }
    };
    Some(PossibleVerdict::from_statement(label.line, Some(status)))
}

/// A line that is nothing but PASS or FAIL, or a short label and one of them.
fn read_end_of_line(tokens: &[Token], at: usize) -> Option<PossibleVerdict> {
    let value = &tokens[at];
    let status = value.status()?;
    // Only at the end of a line, so that each line is walked back once.
    if !tokens.get(at + 1).is_none_or(Token::begins_line) {
        return None;
    }
    let label = (0..at).rev().take_while(|&back| !tokens[back + 1].begins_line()).count();
    let words = &tokens[at - label..at];
    let is_entry = words.first().is_some_and(|word| word.is_any(&["finding", "gap"]));
    let has_verdict = words.iter().any(|word| word.is("verdict"));
    let is_assigned = value.is_assigned() || value.before.contains([',', '.', ';', '!']);
    let is_negated = words.iter().all(Token::is_filler) && has_negation(words);
    let is_alone = label == 0 || is_negated || (label <= MOST_LABEL_WORDS && is_assigned && !is_entry);
    let is_labelled = words.last().is_some_and(|word| word.is_any(LABELS));
    let status = if is_negated { opposite(&status) } else { status };
    (is_alone && !has_verdict && !is_labelled)
        .then(|| PossibleVerdict::from_statement(value.line, Some(status)))
}

/// "So the plan fails.": a subject, the value, and the end of the sentence.
fn read_sentence(tokens: &[Token], at: usize) -> Option<PossibleVerdict> {
    let value = &tokens[at];
    let is_rejected = value.is_any(&["reject", "rejected"]);
    let is_alone = value.begins_line() && tokens.get(at + 1).is_none_or(Token::begins_line);
    if is_rejected && is_alone {
        return Some(PossibleVerdict::from_prose(value.line, VerdictStatus::Fail));
    }
    let status = if value.is_any(&["acceptable", "accepted", "pass", "passed", "passes"]) {
        VerdictStatus::Pass
    } else if is_rejected || value.is_any(&["fail", "failed", "fails"]) {
        VerdictStatus::Fail
    } else {
        return None;
    };
    let next = tokens[at + 1..].iter().find(|next| next.begins_sentence() || !next.is_any(OBJECTS));
    let ends = next.is_none_or(Token::begins_sentence);
    let fillers = (0..at).rev().take(MOST_FILLERS).take_while(|&back| tokens[back].is_filler()).count();
    // The subject need not be a filler.
    let from = (at - fillers).saturating_sub(1);
    let is_about_plan = tokens[from..at].iter().any(|word| word.is_any(SUBJECTS));
    let status = if has_negation(&tokens[from..at]) { opposite(&status) } else { status };
    // "What happens when it fails."
    let is_condition = tokens[from].is_any(CONDITIONS);
    (ends && is_about_plan && !is_condition).then(|| PossibleVerdict::from_prose(value.line, status))
}

/// "Verdict: ❌": a sign in the place of the value, on the same line.
fn read_sign(tokens: &[Token], at: usize) -> Option<PossibleVerdict> {
    let name = &tokens[at];
    let is_verdict = name.is("verdict");
    if !is_verdict && (!name.begins_line() || !name.is_any(LABELS) || name.is_any(FINDING_LABELS)) {
        return None;
    }
    let rest = &tokens[at + 1..];
    for token in rest.iter().take(count_fillers(rest) + 1) {
        let on_line = token.before.split('\n').next().unwrap_or_default();
        let status = if on_line.contains(FAIL_SIGNS) {
            Some(VerdictStatus::Fail)
        } else {
            on_line.contains(PASS_SIGNS).then_some(VerdictStatus::Pass)
        };
        if status.is_some() {
            return Some(PossibleVerdict { line: name.line, status, is_prose: !is_verdict });
        }
        if token.begins_line() {
            break;
        }
    }
    None
}

/// "FAIL: FINDING-1 is not covered": in capitals, at the start of a line or at the end of a sentence.
fn read_capitals(tokens: &[Token], at: usize) -> Option<PossibleVerdict> {
    let value = &tokens[at];
    let is_named = at > 0 && tokens[at - 1].is("verdict");
    if is_named || !value.is_capital || !value.is_any(&["fail", "failed", "fails"]) {
        return None;
    }
    let next = tokens.get(at + 1);
    let is_stated = if value.begins_line() {
        next.is_none_or(|next| next.begins_sentence() || !next.is_any(RULE_WORDS))
    } else {
        let is_negated = has_negation(&tokens[at.saturating_sub(2)..at]);
        next.is_none_or(Token::begins_sentence) && !is_negated
    };
    is_stated.then(|| PossibleVerdict::from_prose(value.line, VerdictStatus::Fail))
}

/// "Ignore the verdict above.", "The verdict above is wrong."
fn read_retraction(tokens: &[Token], at: usize) -> Option<PossibleVerdict> {
    let word = &tokens[at];
    let mut rest = tokens[at + 1..].iter().take(MOST_FILLERS).take_while(|token| !token.begins_line());
    let is_retracted = if word.is("verdict") {
        let is_between = |token: &&Token| token.is_filler() || token.is_any(&["above", "earlier", "hereby"]);
        rest.find(|token| !is_between(token)).is_some_and(|token| token.is_any(RETRACTED))
    } else {
        word.is_any(RETRACTIONS) && rest.any(|token| token.is("verdict"))
    };
    is_retracted.then(|| PossibleVerdict::from_statement(word.line, None))
}

fn has_negation(words: &[Token]) -> bool {
    words.iter().any(|word| word.is_any(NEGATIONS))
}

fn opposite(status: &VerdictStatus) -> VerdictStatus {
    if *status == VerdictStatus::Pass { VerdictStatus::Fail } else { VerdictStatus::Pass }
}

/// "VERD ICT: FA IL": words that read as a verdict only without the text between their letters.
fn find_split_words(tokens: &[Token]) -> Vec<PossibleVerdict> {
    let mut joined = String::new();
    let mut starts = Vec::new();
    for token in tokens {
        starts.push(joined.len());
        joined += &token.word;
    }
    let mut found = Vec::new();
    for (form, status) in JOINED_VERDICTS {
        for (at, _) in joined.match_indices(form) {
            let (Ok(index) | Err(index)) = starts.binary_search(&at).map_err(|next| next - 1);
            let is_whole = starts[index] == at && tokens[index].is("verdict");
            // Only at the end of a word: "verdict passes on" is prose.
            let ends = starts.binary_search(&(at + form.len())).is_ok() || at + form.len() == joined.len();
            if !is_whole && ends {
                found.push(PossibleVerdict::from_statement(tokens[index].line, Some(status.clone())));
            }
        }
    }
    found
}

/// The words of a normalised text.
fn split_tokens(normal: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut before = String::from("\n");
    let mut line = 0;
    let mut rest = normal;
    while let Some(first) = rest.chars().next() {
        if first.is_alphanumeric() {
            let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            tokens.push(Token::new(&rest[..end], std::mem::take(&mut before), line));
            rest = &rest[end..];
        } else {
            line += usize::from(first == '\n');
            before.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    before.push('\n');
    tokens.push(Token { word: String::new(), before, line, is_number: false, is_capital: false });
    join_single_letters(tokens)
}

/// Makes one word of three or more single letters in a row: "F A I L".
fn join_single_letters(tokens: Vec<Token>) -> Vec<Token> {
    let is_letter = |token: &Token| token.word.chars().count() == 1;
    let mut joined: Vec<Token> = Vec::new();
    let mut letters: Vec<Token> = Vec::new();
    let flush = |letters: &mut Vec<Token>, joined: &mut Vec<Token>| {
        if letters.len() < 3 {
            joined.append(letters);
        } else {
            let word: String = letters.iter().map(|letter| letter.word.as_str()).collect();
            let first = letters.swap_remove(0);
            joined.push(Token { word, ..first });
            letters.clear();
        }
    };
    for token in tokens {
        let continues = is_letter(&token) && !token.begins_line() && !token.before.contains([':', '=']);
        if !continues {
            flush(&mut letters, &mut joined);
        }
        if is_letter(&token) {
            letters.push(token);
        } else {
            joined.push(token);
        }
    }
    flush(&mut letters, &mut joined);
    joined
}

#[cfg(test)]
mod tests;

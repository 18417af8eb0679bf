//! Finds everything in an answer that a reader could take for a verdict.
//!
//! A verdict counts only if it is the only one, so this search is generous: it reads through other
//! alphabets, invisible characters, markup and line breaks, and accepts many labels. Finding too much
//! costs one more question to the validator; finding too little lets a hidden FAIL stand beside a PASS.

mod fold;
mod words;

use fold::{fold, plain};
use words::{
    CONDITIONS, FAIL_SIGNS, FILLERS, LABELS, LABELS_OF_FINDINGS, NEGATIONS, OBJECTS, OF_A_RULE, PASS_SIGNS,
    RETRACTIONS, SUBJECTS, TAKEN_BACK,
};

use super::verdict::Status;

/// A place in an answer that could be read as a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Counts from 0.
    pub line: usize,
    /// `None`: a verdict that is neither a pass nor a fail.
    pub status: Option<Status>,
    /// It is a sentence of prose, which counts only if it contradicts.
    pub is_prose: bool,
}

/// A word, with what stands between it and the word before.
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
        let word = word.to_lowercase().chars().map(plain).collect();
        Self { word, before, line, is_number, is_capital }
    }

    fn is(&self, word: &str) -> bool {
        word.len() == self.word.len() && word.chars().map(plain).eq(self.word.chars())
    }

    fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    fn begins_line(&self) -> bool {
        self.before.contains('\n')
    }

    /// Whether a sign that assigns a value stands in front of it.
    fn is_assigned(&self) -> bool {
        self.before.contains([':', '=', '-', '–', '—', '|', '>', '→', '⇒', '/', '('])
    }
}

/// Verdicts without blanks, with the letters that look alike as [`plain`] has them.
const SQUEEZED: [(&str, Status); 4] = [
    ("verdictpass", Status::Pass),
    ("verdictispass", Status::Pass),
    ("verdictfaii", Status::Fail),
    ("verdictisfaii", Status::Fail),
];
/// How many fillers may stand in a row.
const MOST_FILLERS: usize = 8;
/// How many words the label of a line may have that ends with a bare PASS or FAIL.
const MOST_LABEL_WORDS: usize = 6;
/// Every place that could be read as a verdict, in order.
pub fn verdicts(text: &str) -> Vec<Reading> {
    let folded = fold(text);
    let tokens = tokens(&folded);
    let mut found: Vec<Reading> = Vec::new();
    for at in 0..tokens.len() {
        let strict = named(&tokens, at).or_else(|| labelled(&tokens, at)).or_else(|| bare(&tokens, at));
        let strict = strict.or_else(|| signed(&tokens, at));
        found.extend(strict.or_else(|| capital(&tokens, at)).or_else(|| sentence(&tokens, at)));
        found.extend(retraction(&tokens, at));
    }
    found.extend(split_words(&tokens));
    if text.contains(['\u{202d}', '\u{202e}']) {
        // Text that is shown in another order than it is stored says nothing certain.
        found.push(Reading { line: 0, status: None, is_prose: false });
    }
    found.sort_by_key(|reading| reading.line);
    found
}

/// The lines of a text that state a verdict at their start, as a validator does.
pub fn states_verdict(line: &str) -> bool {
    let folded = fold(line);
    let tokens = tokens(&folded);
    let start = tokens.iter().position(|token| token.is("verdict"));
    start.is_some_and(|at| at <= 2 && tokens[..at].iter().all(is_filler) && named(&tokens, at).is_some())
}

/// Whether a line, whatever decorates it, begins with this word and a number.
pub fn is_numbered(line: &str, word: &str) -> bool {
    let folded = fold(line);
    let start = folded.trim_start_matches(|c: char| !c.is_alphanumeric());
    let mut letters = start.chars();
    let begins = word
        .chars()
        .all(|letter| letters.next().is_some_and(|c| plain(c.to_ascii_lowercase()) == plain(letter)));
    let number = letters.as_str().trim_start_matches(|c: char| !c.is_alphanumeric());
    begins && number.starts_with(|c: char| c.is_numeric())
}

/// "verdict", and the value behind it.
fn named(tokens: &[Token], at: usize) -> Option<Reading> {
    if !tokens[at].is("verdict") {
        return value_first(tokens, at);
    }
    let line = tokens[at].line;
    let reading = |status| Some(Reading { line, status, is_prose: false });
    let rest = &tokens[at + 1..];
    let fillers = rest.iter().take(MOST_FILLERS).take_while(|token| is_filler(token)).count();
    if let Some(value) = rest.get(fillers)
        && let Some(status) = status(value)
    {
        return reading(Some(status));
    }
    // A line that assigns something else to it: "Final verdict: rejected".
    let first = (0..at).rev().find(|&back| tokens[back + 1].begins_line() || !is_filler(&tokens[back]));
    let begins_line = tokens[first.map_or(0, |first| first + 1)].begins_line();
    let value = rest.first().filter(|value| value.is_assigned() && !value.begins_line())?;
    let points_elsewhere = value.is_any(&["see", "below", "above", "follows", "line"]);
    (begins_line && !points_elsewhere && !value.is("verdict")).then(|| reading(None)).flatten()
}

/// "FAIL is my verdict" on a line that begins with the value.
fn value_first(tokens: &[Token], at: usize) -> Option<Reading> {
    let value = &tokens[at];
    let status = status(value).filter(|_| value.begins_line())?;
    let rest = &tokens[at + 1..];
    let fillers = rest.iter().take(MOST_FILLERS).take_while(|token| is_filler(token)).count();
    let name = rest.get(fillers).filter(|name| name.is("verdict") && !name.begins_line())?;
    // The next line's own verdict is not this one's name.
    let ends = rest.get(fillers + 1).is_none_or(Token::begins_line);
    ends.then_some(Reading { line: name.line, status: Some(status), is_prose: false })
}

/// "Result: FAIL", `"status":"fail"`, "passed = false".
fn labelled(tokens: &[Token], at: usize) -> Option<Reading> {
    let label = &tokens[at];
    let value = tokens.get(at + 1)?;
    if value.begins_line() || !value.is_assigned() {
        return None;
    }
    let reading = |status| Some(Reading { line: label.line, status: Some(status), is_prose: false });
    if label.is_any(LABELS) {
        return status(value).and_then(reading);
    }
    let negated = value.is_any(&["false", "no", "0"]);
    let affirmed = value.is_any(&["true", "yes", "1"]);
    match status(label)? {
        Status::Pass if negated => reading(Status::Fail),
        Status::Fail if affirmed => reading(Status::Fail),
        Status::Pass if affirmed => reading(Status::Pass),
        Status::Fail if negated => reading(Status::Pass),
        _ => None,
    }
}

/// A line that is nothing but PASS or FAIL, or a short label and one of them.
fn bare(tokens: &[Token], at: usize) -> Option<Reading> {
    let value = &tokens[at];
    let status = status(value)?;
    // Only at the end of a line, so that each line is walked back once.
    if !tokens.get(at + 1).is_none_or(Token::begins_line) {
        return None;
    }
    let label = (0..at).rev().take_while(|&back| !tokens[back + 1].begins_line()).count();
    let words = &tokens[at - label..at];
    let is_entry = words.first().is_some_and(|word| word.is_any(&["finding", "gap"]));
    let has_verdict = words.iter().any(|word| word.is("verdict"));
    let is_assigned = value.is_assigned() || value.before.contains([',', '.', ';', '!']);
    let is_negated = !words.is_empty() && words.iter().all(is_filler) && is_negation(words);
    let is_alone = label == 0 || is_negated || (label <= MOST_LABEL_WORDS && is_assigned && !is_entry);
    let is_labelled = words.last().is_some_and(|word| word.is_any(LABELS));
    let status = if is_negated { opposite(status) } else { status };
    (is_alone && !has_verdict && !is_labelled).then_some(Reading {
        line: value.line,
        status: Some(status),
        is_prose: false,
    })
}

/// "So the plan fails.": a subject, the value, and the end of the sentence.
fn sentence(tokens: &[Token], at: usize) -> Option<Reading> {
    let value = &tokens[at];
    let is_rejected = value.is_any(&["reject", "rejected"]);
    let is_alone = value.begins_line() && tokens.get(at + 1).is_none_or(Token::begins_line);
    if is_rejected && is_alone {
        return Some(Reading { line: value.line, status: Some(Status::Fail), is_prose: true });
    }
    let status = if value.is_any(&["acceptable", "accepted", "pass", "passed", "passes"]) {
        Status::Pass
    } else if is_rejected || value.is_any(&["fail", "failed", "fails"]) {
        Status::Fail
    } else {
        return None;
    };
    let ends = |next: &Token| next.before.contains(['.', '!', ';', '\n']);
    let next = tokens[at + 1..].iter().find(|next| ends(next) || !next.is_any(OBJECTS));
    let ends = next.is_none_or(ends);
    let fillers = (0..at).rev().take(MOST_FILLERS).take_while(|&back| is_filler(&tokens[back])).count();
    // The subject may itself be no filler.
    let from = (at - fillers).saturating_sub(1);
    let is_about_it = tokens[from..at].iter().any(|word| word.is_any(SUBJECTS));
    let is_negated = is_negation(&tokens[from..at]);
    let status = if is_negated { opposite(status) } else { status };
    // "What happens when it fails."
    let depends = tokens[from].is_any(CONDITIONS);
    (ends && is_about_it && !depends).then_some(Reading {
        line: value.line,
        status: Some(status),
        is_prose: true,
    })
}

/// "Verdict: ❌": a sign in the place of the value, on the same line.
fn signed(tokens: &[Token], at: usize) -> Option<Reading> {
    let name = &tokens[at];
    let is_verdict = name.is("verdict");
    if !is_verdict && (!name.begins_line() || !name.is_any(LABELS) || name.is_any(LABELS_OF_FINDINGS)) {
        return None;
    }
    let rest = &tokens[at + 1..];
    let fillers = rest.iter().take(MOST_FILLERS).take_while(|token| is_filler(token)).count();
    for token in rest.iter().take(fillers + 1) {
        let on_line = token.before.split('\n').next().unwrap_or_default();
        let status = if on_line.contains(FAIL_SIGNS) {
            Some(Status::Fail)
        } else {
            on_line.contains(PASS_SIGNS).then_some(Status::Pass)
        };
        if status.is_some() {
            return Some(Reading { line: name.line, status, is_prose: !is_verdict });
        }
        if token.begins_line() {
            break;
        }
    }
    None
}

/// "FAIL: FINDING-1 is not covered": in capitals, at the start of a line or at the end of a sentence.
fn capital(tokens: &[Token], at: usize) -> Option<Reading> {
    let value = &tokens[at];
    let is_named = at > 0 && tokens[at - 1].is("verdict");
    if is_named || !value.is_capital || !value.is_any(&["fail", "failed", "fails"]) {
        return None;
    }
    let next = tokens.get(at + 1);
    let ends = next.is_none_or(|next| next.before.contains(['.', '!', ';', '\n']));
    let states_rule = next.is_some_and(|next| next.is_any(OF_A_RULE));
    let is_negated = is_negation(&tokens[at.saturating_sub(2)..at]) && !value.begins_line();
    let is_stated = ends && !is_negated || value.begins_line() && !states_rule;
    is_stated.then_some(Reading { line: value.line, status: Some(Status::Fail), is_prose: true })
}

/// "Ignore the verdict above.", "The verdict above is wrong."
fn retraction(tokens: &[Token], at: usize) -> Option<Reading> {
    let word = &tokens[at];
    let mut rest = tokens[at + 1..].iter().take(MOST_FILLERS).take_while(|token| !token.begins_line());
    let is_taken_back = if word.is("verdict") {
        let is_between = |token: &&Token| is_filler(token) || token.is_any(&["above", "earlier", "hereby"]);
        rest.find(|token| !is_between(token)).is_some_and(|token| token.is_any(TAKEN_BACK))
    } else {
        word.is_any(RETRACTIONS) && rest.any(|token| token.is("verdict"))
    };
    is_taken_back.then_some(Reading { line: word.line, status: None, is_prose: false })
}

fn is_negation(words: &[Token]) -> bool {
    words.iter().any(|word| word.is_any(NEGATIONS))
}

fn opposite(status: Status) -> Status {
    match status {
        Status::Pass => Status::Fail,
        Status::Fail => Status::Pass,
        status => status,
    }
}

/// "VERD ICT: FA IL": words that read as a verdict only without what stands between their letters.
fn split_words(tokens: &[Token]) -> Vec<Reading> {
    let mut squeezed = String::new();
    let mut starts = Vec::new();
    for token in tokens {
        starts.push(squeezed.len());
        squeezed += &token.word;
    }
    let mut found = Vec::new();
    for (form, status) in SQUEEZED {
        for (at, _) in squeezed.match_indices(form) {
            let (Ok(index) | Err(index)) = starts.binary_search(&at).map_err(|next| next - 1);
            let is_whole = starts[index] == at && tokens[index].is("verdict");
            // Only at the end of a word: "verdict passes on" is prose.
            let ends = starts.binary_search(&(at + form.len())).is_ok() || at + form.len() == squeezed.len();
            if !is_whole && ends {
                found.push(Reading {
                    line: tokens[index].line,
                    status: Some(status.clone()),
                    is_prose: false,
                });
            }
        }
    }
    found
}

/// What a word says of a plan. Forms that may be a verb of prose count only where something assigns them.
fn status(token: &Token) -> Option<Status> {
    let is_assigned = || token.is_assigned();
    if token.is_any(&["pass", "passed"]) || (token.is_any(&["passes", "passing"]) && is_assigned()) {
        return Some(Status::Pass);
    }
    let fails = token.is_any(&["fail", "failed", "failure"]);
    (fails || (token.is_any(&["fails", "failing"]) && is_assigned())).then_some(Status::Fail)
}

fn is_filler(token: &Token) -> bool {
    token.is_number || token.is_any(FILLERS)
}

/// The words of a folded text. Three or more single letters in a row are one word.
fn tokens(folded: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut before = String::from("\n");
    let mut line = 0;
    let mut rest = folded;
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
    spelled_out(tokens)
}

/// "F A I L" as one word.
fn spelled_out(tokens: Vec<Token>) -> Vec<Token> {
    let is_letter = |token: &Token| token.word.chars().count() == 1;
    let mut whole: Vec<Token> = Vec::new();
    let mut letters: Vec<Token> = Vec::new();
    let flush = |letters: &mut Vec<Token>, whole: &mut Vec<Token>| {
        if letters.len() < 3 {
            whole.append(letters);
        } else {
            let word: String = letters.iter().map(|letter| letter.word.as_str()).collect();
            let first = letters.swap_remove(0);
            whole.push(Token { word, ..first });
            letters.clear();
        }
    };
    for token in tokens {
        let goes_on = is_letter(&token) && !token.begins_line() && !token.before.contains([':', '=']);
        if !goes_on {
            flush(&mut letters, &mut whole);
        }
        if is_letter(&token) {
            letters.push(token);
        } else {
            whole.push(token);
        }
    }
    flush(&mut letters, &mut whole);
    whole
}

#[cfg(test)]
mod tests;

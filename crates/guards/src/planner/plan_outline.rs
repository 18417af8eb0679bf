//! Finds the headings of a planner's plan, and phrases about refactoring in its running text.
//!
//! One pass of a Markdown parser. Code, comments and headings only mention a phrase, so they do not
//! count. The search covers whole blocks, so that markup and line breaks inside a phrase do not hide it.

use crate::prelude::*;
use provost_core::text::strip_byte_order_mark;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Phrases that a plan must not contain. All begin with [`STEM`].
const PHRASES: &[&str] = &["refactor:", "refactoring phase", "refactor phase"];
const STEM: &str = "refactor";
/// The search ends after this many leaks.
const MOST_LEAKS: usize = 3;
/// Stands in running text for inline code.
const CODE: &str = "\u{fffc}";
/// The states of a phase in a plan that tracks its phases.
const STATUSES: &[&str] = &[
    "",
    "pending",
    "todo",
    "in-progress",
    "in progress",
    "started",
    "done",
    "complete",
    "completed",
    "pass",
    "passed",
    "fail",
    "failed",
    "skip",
    "skipped",
    "n/a",
    "none",
    "not needed",
];
const NEGATIONS: &[&str] = &["no", "not", "never", "without", "skip", "omit", "avoid"];
/// A negation counts if it is one of this many words before a phrase.
const NEGATION_REACH: usize = 3;

pub(super) struct PlanOutline {
    /// The headings of level 1 to 3, in lower case.
    headings: Vec<String>,
    pub(super) leaks: Vec<RefactoringLeak>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct RefactoringLeak {
    pub(super) line: usize,
    /// As the plan writes it.
    pub(super) phrase: String,
}

/// The running text of one block, and where its pieces are in the file.
#[derive(Default)]
struct TextBlock {
    text: String,
    /// Where each piece begins in `text`, and in the file.
    pieces: Vec<(usize, usize)>,
}

impl PlanOutline {
    pub(super) fn parse(text: &str) -> Self {
        let text = strip_byte_order_mark(text);
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
        let mut plan = Self { headings: Vec::new(), leaks: Vec::new() };
        let mut block = TextBlock::default();
        let mut heading: Option<(HeadingLevel, String)> = None;
        let mut in_code = false;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { level, .. }) => heading = Some((level, String::new())),
                Event::End(TagEnd::Heading(_)) => {
                    let heading = heading.take().filter(|(level, _)| *level <= HeadingLevel::H3);
                    plan.headings.extend(heading.map(|(_, text)| text.to_lowercase()));
                }
                Event::Start(Tag::CodeBlock(_) | Tag::MetadataBlock(_)) => in_code = true,
                Event::End(TagEnd::CodeBlock | TagEnd::MetadataBlock(_)) => in_code = false,
                Event::Text(piece) | Event::Code(piece) if heading.is_some() => {
                    if let Some((_, text)) = &mut heading {
                        *text += &piece;
                    }
                }
                Event::Text(piece) if !in_code => block.add(&piece, range.start),
                Event::Code(_) => block.add(CODE, range.start),
                Event::SoftBreak | Event::HardBreak => block.add("\n", range.start),
                Event::Html(piece) => block.add(&piece, range.start),
                Event::End(TagEnd::HtmlBlock) => {
                    block.blank_comments();
                    block.finish(text, &mut plan.leaks);
                }
                Event::Start(tag) if !is_inline(tag.to_end()) => block.finish(text, &mut plan.leaks),
                Event::End(tag) if !is_inline(tag) => block.finish(text, &mut plan.leaks),
                _ => {}
            }
        }
        plan
    }

    /// Whether a heading contains this name. ` N` at the end of the name stands for a number.
    pub(super) fn has_heading(&self, name: &str) -> bool {
        let (words, numbered) = match name.trim().strip_suffix(" N") {
            Some(words) => (words, true),
            None => (name.trim(), false),
        };
        let words = words.to_lowercase();
        self.headings.iter().any(|heading| {
            let mut found = heading.match_indices(&words);
            found.any(|(at, _)| !numbered || has_number_behind(heading, at, words.len()))
        })
    }
}

/// Whether the words at this place are whole words with a number after them.
fn has_number_behind(heading: &str, at: usize, length: usize) -> bool {
    let rest = &heading[at + length..];
    let number = rest.trim_start_matches([' ', '\t', '#', '-']);
    number.len() < rest.len()
        && number.starts_with(|c: char| c.is_ascii_digit())
        && !heading[..at].ends_with(char::is_alphanumeric)
}

impl TextBlock {
    fn add(&mut self, piece: &str, at: usize) {
        self.pieces.push((self.text.len(), at));
        self.text += piece;
    }

    /// Adds the leaks of the block, and starts the next block.
    fn finish(&mut self, file: &str, leaks: &mut Vec<RefactoringLeak>) {
        let Self { text, pieces } = std::mem::take(self);
        let lower = text.to_ascii_lowercase().replace('\n', " ");
        for (at, _) in lower.match_indices(STEM) {
            if leaks.len() == MOST_LEAKS {
                return;
            }
            let Some(phrase) = PHRASES.iter().find(|phrase| lower[at..].starts_with(**phrase)) else {
                continue;
            };
            if is_status_line(&text, at) || is_negated(&lower[..at]) {
                continue;
            }
            let piece = pieces[..pieces.partition_point(|(start, _)| *start <= at)].last();
            let (start, in_file) = piece.copied().unwrap_or_default();
            let before = file.get(..in_file + (at - start)).unwrap_or_default();
            let phrase = text[at..at + phrase.len()].replace('\n', " ");
            leaks.push(RefactoringLeak { line: before.matches('\n').count() + 1, phrase });
        }
    }

    /// Replaces comments by blanks of the same length.
    fn blank_comments(&mut self) {
        let mut from = 0;
        while let Some(start) = self.text[from..].find("<!--").map(|found| from + found) {
            let end =
                self.text[start..].find("-->").map_or(self.text.len(), |found| start + found + "-->".len());
            self.text.replace_range(start..end, &" ".repeat(end - start));
            from = end;
        }
    }
}

/// Whether the phrase at this place begins a line that only tracks the state of the phase, such as
/// `REFACTOR: done`.
fn is_status_line(text: &str, at: usize) -> bool {
    let mut before = text[..at].chars().rev().take_while(|c| *c != '\n');
    if before.any(char::is_alphanumeric) {
        return false;
    }
    let line = text[at..].lines().next().unwrap_or_default().to_ascii_lowercase();
    let rest = line.strip_prefix(STEM).unwrap_or_default();
    let rest = rest.strip_prefix(" phase").unwrap_or(rest);
    let Some(status) = rest.trim_start().strip_prefix([':', '-', '\u{2013}', '\u{2014}', '=']) else {
        return false;
    };
    // A remark in brackets may follow the status, and an emoji may precede it.
    let status = status.split_once('(').map_or(status, |(status, _)| status).trim();
    !status.is_empty() && STATUSES.contains(&status.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// Whether one of the last words of the same sentence before a phrase negates it.
fn is_negated(before: &str) -> bool {
    let words = before.split_whitespace().rev().take(NEGATION_REACH);
    let mut words = words.take_while(|word| !word.ends_with(['.', '!', '?', ';', ':']));
    words.any(|word| NEGATIONS.contains(&word.trim_matches(|c: char| !c.is_alphanumeric())))
}

fn is_inline(tag: TagEnd) -> bool {
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
}

#[cfg(test)]
mod tests;

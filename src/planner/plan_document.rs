//! A plan as its author meant it: headings, and phrases in running text.
//!
//! One pass of a Markdown parser. Text in code, comments and headings is about something; only what
//! stands in running text is said. Phrases are looked for in whole blocks, so that markup and line
//! breaks inside a phrase do not hide it, and are told with the line on which they begin.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// What a plan leaves to the implementation, in phrases that begin with [`STEM`].
const PHRASES: &[&str] = &["refactor:", "refactoring phase", "refactor phase"];
const STEM: &str = "refactor";
/// As many leaks are told; more are not looked for.
const MOST_LEAKS: usize = 3;
/// Stands for what is shown and not said.
const SHOWN: &str = "\u{fffc}";
/// How a phase can stand, where a plan keeps track of its phases.
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
/// So many words in front of a phrase can turn it into its opposite.
const NEGATION_REACH: usize = 3;

pub(super) struct PlanDocument {
    /// The texts of the headings of level 1 to 3, in small letters.
    headings: Vec<String>,
    pub(super) leaks: Vec<Leak>,
}

/// A phrase that does not belong into a plan.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Leak {
    pub(super) line: usize,
    /// As it is written.
    pub(super) phrase: String,
}

/// The running text of one block, and where its pieces stand in the file.
#[derive(Default)]
struct Block {
    text: String,
    /// Where a piece begins in the text, and in the file.
    pieces: Vec<(usize, usize)>,
}

impl PlanDocument {
    pub(super) fn read(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
        let mut plan = Self { headings: Vec::new(), leaks: Vec::new() };
        let mut lines = Lines { text, at: 0, line: 1 };
        let mut block = Block::default();
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
                // Something stands here, but it is shown and not said.
                Event::Code(_) => block.add(SHOWN, range.start),
                Event::SoftBreak | Event::HardBreak => block.add("\n", range.start),
                Event::Html(piece) => block.add(&piece, range.start),
                Event::End(TagEnd::HtmlBlock) => {
                    block.forget_comments();
                    block.tell(&mut lines, &mut plan.leaks);
                }
                Event::Start(tag) if !is_inline(tag.to_end()) => block.tell(&mut lines, &mut plan.leaks),
                Event::End(tag) if !is_inline(tag) => block.tell(&mut lines, &mut plan.leaks),
                _ => {}
            }
        }
        plan
    }

    /// Whether a heading has this name in it. ` N` at its end stands for a number.
    pub(super) fn has_heading(&self, name: &str) -> bool {
        let (words, numbered) = match name.trim().strip_suffix(" N") {
            Some(words) => (words, true),
            None => (name.trim(), false),
        };
        let words = words.to_lowercase();
        self.headings.iter().any(|heading| {
            let mut found = heading.match_indices(&words);
            found.any(|(at, _)| !numbered || is_number_behind(heading, at, words.len()))
        })
    }
}

/// Whether the words at this place stand alone, with a number behind them.
fn is_number_behind(heading: &str, at: usize, length: usize) -> bool {
    let rest = &heading[at + length..];
    let number = rest.trim_start_matches([' ', '\t', '#', '-']);
    number.len() < rest.len()
        && number.starts_with(|c: char| c.is_ascii_digit())
        && !heading[..at].ends_with(char::is_alphanumeric)
}

impl Block {
    fn add(&mut self, piece: &str, at: usize) {
        self.pieces.push((self.text.len(), at));
        self.text += piece;
    }

    /// The block has ended: its leaks are told, and the next one begins.
    fn tell(&mut self, lines: &mut Lines<'_>, leaks: &mut Vec<Leak>) {
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        let pieces = std::mem::take(&mut self.pieces);
        let said = text.to_ascii_lowercase().replace('\n', " ");
        for (at, _) in said.match_indices(STEM) {
            if leaks.len() == MOST_LEAKS {
                return;
            }
            let Some(phrase) = PHRASES.iter().find(|phrase| said[at..].starts_with(**phrase)) else {
                continue;
            };
            if is_tracking(&text, at) || is_negated(&said[..at]) {
                continue;
            }
            let piece = pieces[..pieces.partition_point(|(start, _)| *start <= at)].last();
            let (start, in_file) = piece.copied().unwrap_or_default();
            let phrase = text[at..at + phrase.len()].replace('\n', " ");
            leaks.push(Leak { line: lines.number(in_file + (at - start)), phrase });
        }
    }

    /// Blanks out comments, at their length.
    fn forget_comments(&mut self) {
        let mut from = 0;
        while let Some(start) = self.text[from..].find("<!--").map(|found| from + found) {
            let end =
                self.text[start..].find("-->").map_or(self.text.len(), |found| start + found + "-->".len());
            self.text.replace_range(start..end, &" ".repeat(end - start));
            from = end;
        }
    }
}

/// Whether the phrase at this place is a line that only keeps track of the phase, and so says
/// nothing about it: `REFACTOR: done`.
fn is_tracking(text: &str, at: usize) -> bool {
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
    // A remark in brackets may follow the status, and a mark may stand for it.
    let status = status.split_once('(').map_or(status, |(status, _)| status).trim();
    !status.is_empty() && STATUSES.contains(&status.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// Whether one of the words right before a phrase, in its sentence, turns it into its opposite.
fn is_negated(before: &str) -> bool {
    let words = before.split_whitespace().rev().take(NEGATION_REACH);
    let mut words = words.take_while(|word| !word.ends_with(['.', '!', '?', ';', ':']));
    words.any(|word| NEGATIONS.contains(&word.trim_matches(|c: char| !c.is_alphanumeric())))
}

fn is_inline(tag: TagEnd) -> bool {
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
}

/// Line numbers of places in a text, counted on from the last one asked for.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn number(&mut self, at: usize) -> usize {
        if at < self.at {
            (self.at, self.line) = (0, 1);
        }
        self.line += self.text.get(self.at..at).unwrap_or_default().matches('\n').count();
        self.at = at;
        self.line
    }
}

#[cfg(test)]
mod tests;

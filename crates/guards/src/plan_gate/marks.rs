//! The grammar of the marks in a plan file.
//!
//! A mark is a comment `<!-- rodin:NAME=VALUE -->` with a known name, on one line. Everything else is
//! the author's text, even if it looks like a mark: a comment with an unknown name, a broken mark, a mark in
//! a closed code fence or between backticks.

use crate::prelude::*;
use std::ops::Range;

use super::code_fences::CodeFences;
use provost_core::byte_search;

const OPENING: &[u8] = b"<!-- rodin:";
const CLOSING: &[u8] = b"-->";
/// The largest number of marks that is read. A real plan has a handful.
pub(super) const MOST_MARKS: usize = 256;
/// A mark must close within this many bytes, which bounds the search for its end.
const LONGEST_MARK: usize = 64 << 10;

#[derive(Debug, Clone)]
pub(super) struct PlanMark<'a> {
    pub(super) name: MarkName,
    pub(super) value: &'a [u8],
    pub(super) at: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkName {
    Session,
    PlanHash,
    GapsHash,
    Signal,
    Validation,
    Seal,
    GapsStart,
    GapsEnd,
}

pub(super) const MARK_NAMES: &[(MarkName, &str)] = &[
    (MarkName::Session, "session="),
    (MarkName::PlanHash, "plan:hash="),
    (MarkName::GapsHash, "gaps:hash="),
    (MarkName::Signal, "verdict:signal="),
    (MarkName::Validation, "validation="),
    (MarkName::Seal, "seal="),
    (MarkName::GapsStart, "gaps:start"),
    (MarkName::GapsEnd, "gaps:end"),
];

/// The file has more marks than are read.
#[derive(Debug, PartialEq, Eq)]
pub struct Overgrown;

impl PlanMark<'_> {
    /// Whether the value ends the comment early: a reader sees the rest as text of the plan, which no
    /// hash covers.
    pub(super) fn leaks_text(&self) -> bool {
        byte_search::find_part(self.value, CLOSING).is_some()
    }
}

/// Finds every mark, in order.
pub(super) fn find_marks<'a>(
    text: &'a [u8],
    fences: &CodeFences<'_>,
) -> Result<Vec<PlanMark<'a>>, Overgrown> {
    let mut found: Vec<PlanMark<'_>> = Vec::new();
    let mut from = 0;
    let mut tried = 0;
    for at in byte_search::find_parts(text, OPENING) {
        // A mark in the value of another mark is part of that value.
        if at < from {
            continue;
        }
        tried += 1;
        if tried > MOST_MARKS {
            return Err(Overgrown);
        }
        if let Some(mark) = read_mark(text, at) {
            from = mark.at.end;
            found.push(mark);
        }
    }
    found.retain(|mark| !fences.contain(mark.at.start));
    Ok(found)
}

fn read_mark(text: &[u8], at: usize) -> Option<PlanMark<'_>> {
    let start = at + OPENING.len();
    let rest = &text[start..text.len().min(start + LONGEST_MARK)];
    let rest = &rest[..byte_search::find_byte(rest, b'\n').unwrap_or(rest.len())];
    let &(name, word) = MARK_NAMES.iter().find(|(_, word)| rest.starts_with(word.as_bytes()))?;
    let value = &rest[word.len()..];
    let length = match name {
        // Braces and arrows in a JSON string do not end the value.
        MarkName::Signal | MarkName::Validation => {
            json_object_length(value).or_else(|| byte_search::find_part(value, CLOSING))?
        }
        MarkName::GapsStart | MarkName::GapsEnd => 0,
        _ => byte_search::find_part(value, CLOSING)?,
    };
    let behind = &value[length..];
    let blanks = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if !behind[blanks..].starts_with(CLOSING) {
        return None;
    }
    let end = start + word.len() + length + blanks + CLOSING.len();
    let quoted = at > 0 && text[at - 1] == b'`' && text.get(end) == Some(&b'`');
    (!quoted).then(|| PlanMark { name, value: value[..length].trim_ascii(), at: at..end })
}

/// The length of the JSON value at the start of a text, if the end of the mark follows it.
fn json_object_length(text: &[u8]) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<serde::de::IgnoredAny>();
    matches!(values.next(), Some(Ok(_)))
        .then(|| values.byte_offset())
        .filter(|length| text[*length..].trim_ascii_start().starts_with(CLOSING))
}

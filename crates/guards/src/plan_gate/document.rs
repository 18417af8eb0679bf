//! A plan file with its marks ([`super::marks`]) and its gaps block: one reader, one writer.
//!
//! Text beside a mark on the same line belongs to the plan. Any bytes can be read. The writer removes
//! the marks of the record and appends new ones at the end of the file; it changes nothing else.

use crate::prelude::*;
use std::ops::Range;

use serde_json::Value;

use super::code_fences::CodeFences;
use super::digest::Digest;
use super::marks::{MARK_NAMES, MarkName, Overgrown, PlanMark, find_marks};
use super::verdict::{PlanVerdict, VerdictStatus};
use provost_core::byte_search;

#[derive(Debug)]
pub struct PlanDocument<'a> {
    bytes: &'a [u8],
    /// The marks of the record, in order. The marks of the gaps block are not among them.
    marks: Vec<PlanMark<'a>>,
    gaps: GapsBlock,
    content: UnmarkedText<'a>,
    gaps_content: UnmarkedText<'a>,
    fences: CodeFences<'a>,
}

/// What the marks of a plan file say about its assessment.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct MarkRecord {
    pub session: Option<String>,
    pub plan_hash: Option<String>,
    pub gaps_hash: Option<String>,
    pub validation: Option<PlanVerdict>,
    pub seal: Option<String>,
    /// The name of a mark that occurs more than once, so that its value cannot be trusted.
    pub doubled: Option<&'static str>,
}

/// The verdict that an agent asks for with `rodin:verdict:signal` marks.
#[derive(Debug, PartialEq, Eq)]
pub enum Signal {
    None,
    One(PlanVerdict),
    /// Not readable, or several that disagree.
    Unclear,
}

/// The block in which the author lists the gaps.
#[derive(Debug, PartialEq, Eq)]
pub enum GapsBlock {
    Missing,
    /// The range between its marks.
    Present(Range<usize>),
    Broken(&'static str),
}

/// What is left of a part of a file without its marks.
#[derive(Debug)]
pub struct UnmarkedText<'a> {
    file: &'a [u8],
    pieces: Vec<Range<usize>>,
}

impl<'a> PlanDocument<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Overgrown> {
        let fences = CodeFences::new(bytes);
        let (block, marks): (Vec<_>, Vec<_>) = find_marks(bytes, &fences)?
            .into_iter()
            .partition(|mark| matches!(mark.name, MarkName::GapsStart | MarkName::GapsEnd));
        let gaps = read_gaps_block(bytes, &block, &marks);
        let mut cuts: Vec<_> = marks.iter().map(|mark| mark.at.clone()).collect();
        let mut gaps_content = UnmarkedText { file: bytes, pieces: Vec::new() };
        // A malformed block is not stripped.
        if let GapsBlock::Present(range) = &gaps {
            let inner_cuts = cuts.iter().filter(|cut| range.contains(&cut.start)).cloned().collect();
            gaps_content = UnmarkedText::new(bytes, trim_mark_lines(bytes, range.clone()), inner_cuts);
            cuts.push(block[0].at.start..block[1].at.end);
        }
        let content = UnmarkedText::new(bytes, 0..bytes.len(), cuts);
        Ok(Self { bytes, marks, gaps, content, gaps_content, fences })
    }

    /// The text of the plan without marks and gaps block.
    pub fn content(&self) -> &UnmarkedText<'a> {
        &self.content
    }

    pub fn gaps_block(&self) -> &GapsBlock {
        &self.gaps
    }

    /// The text of the gaps block without marks.
    pub fn gaps_content(&self) -> &UnmarkedText<'a> {
        &self.gaps_content
    }

    pub fn record(&self) -> MarkRecord {
        let first = |name| self.marks_with(name).next().map(|mark| mark.value);
        let text = |name| first(name).map(|value| String::from_utf8_lossy(value).into_owned());
        let is_doubled = |name| name != MarkName::Signal && self.marks_with(name).nth(1).is_some();
        let doubled = MARK_NAMES.iter().find(|(name, _)| is_doubled(*name));
        MarkRecord {
            session: text(MarkName::Session),
            plan_hash: text(MarkName::PlanHash),
            gaps_hash: text(MarkName::GapsHash),
            validation: first(MarkName::Validation).and_then(read_validation),
            seal: text(MarkName::Seal),
            doubled: doubled.map(|(_, word)| word.trim_end_matches('=')),
        }
    }

    fn marks_with(&self, name: MarkName) -> impl Iterator<Item = &PlanMark<'a>> {
        self.marks.iter().filter(move |mark| mark.name == name)
    }

    /// Whether the value of a mark ends its comment early, so that a reader sees text that no hash covers.
    pub fn has_text_in_mark(&self) -> bool {
        self.marks.iter().any(PlanMark::leaks_text)
    }

    /// Every seal in the file: an agent may have kept an old one beside the new.
    pub fn seals(&self) -> impl Iterator<Item = &str> {
        self.marks_with(MarkName::Seal).filter_map(|mark| std::str::from_utf8(mark.value).ok())
    }

    pub fn signal(&self) -> Signal {
        let verdicts: Vec<_> =
            self.marks_with(MarkName::Signal).map(|mark| read_verdict(mark.value)).collect();
        let Some(last) = verdicts.last() else { return Signal::None };
        let is_agreed = verdicts.iter().all(|verdict| verdict.status == last.status);
        match last.status {
            VerdictStatus::Pass | VerdictStatus::Fail if is_agreed => Signal::One(last.clone()),
            _ => Signal::Unclear,
        }
    }

    /// The file with this record at its end. All other marks of a record, and signals, are removed.
    pub fn with_record(&self, record: &MarkRecord) -> Vec<u8> {
        let mut text = self.without_record();
        let newline = line_ending(&text);
        if !text.is_empty() && text.last() != Some(&b'\n') {
            text.extend(newline.as_bytes());
        }
        let validation = record.validation.as_ref().map(PlanVerdict::to_mark_value);
        let parts = [
            ("session", &record.session),
            ("plan:hash", &record.plan_hash),
            ("gaps:hash", &record.gaps_hash),
            ("validation", &validation),
            ("seal", &record.seal),
        ];
        for (name, value) in parts {
            if let Some(value) = value {
                text.extend(format!("<!-- rodin:{name}={value} -->{newline}").bytes());
            }
        }
        text
    }

    /// The file as its author wrote it: text and gaps block.
    pub fn without_record(&self) -> Vec<u8> {
        self.without_marks(|_| true)
    }

    pub fn without_signals(&self) -> Vec<u8> {
        self.without_marks(|name| name == MarkName::Signal)
    }

    fn without_marks(&self, is_dropped: impl Fn(MarkName) -> bool) -> Vec<u8> {
        let dropped = self.marks.iter().filter(|mark| is_dropped(mark.name));
        let dropped = dropped.map(|mark| mark.at.clone()).collect();
        UnmarkedText::new(self.bytes, 0..self.bytes.len(), dropped).to_vec()
    }

    /// The first place of a text in the plan outside fenced code, where `fits` accepts the byte before it
    /// and the text after it.
    pub fn find_text(&self, searched: &[u8], fits: impl Fn(Option<u8>, &[u8]) -> bool) -> Option<usize> {
        let fits = |at: &usize| {
            let before = at.checked_sub(1).map(|before| self.bytes[before]);
            fits(before, &self.bytes[at + searched.len()..]) && !self.fences.contain(*at)
        };
        self.content.pieces.iter().find_map(|piece| {
            let found = byte_search::find_parts(&self.bytes[piece.clone()], searched);
            found.map(|at| piece.start + at).find(fits)
        })
    }

    pub fn line_number(&self, at: usize) -> usize {
        memchr::memchr_iter(b'\n', &self.bytes[..at]).count() + 1
    }

    /// The file with a text added at the end of the gaps block; `None` if it cannot be added there.
    pub fn with_gaps(&self, added: &str) -> Option<Vec<u8>> {
        let GapsBlock::Present(Range { end, .. }) = self.gaps else { return None };
        // Before the line with the closing mark, if that line contains nothing else.
        let line = line_start(&self.bytes[..end]);
        let at = if is_blank(&self.bytes[line..end]) { line } else { end };
        let before = &self.bytes[..at];
        let newline = line_ending(before);
        let start = if before.ends_with(b"\n") { "" } else { newline };
        let added = added.replace('\n', newline);
        self.check_gaps_edit([before, start.as_bytes(), added.as_bytes(), &self.bytes[at..]].concat())
    }

    /// The file with a text added at the start of the gaps block. Appends a block if there is none. `None` if
    /// the text cannot be added there.
    pub fn with_gaps_in_front(&self, added: &[u8]) -> Option<Vec<u8>> {
        let newline = missing_newline(added);
        let text = match &self.gaps {
            GapsBlock::Broken(_) => return None,
            GapsBlock::Missing => {
                let (open, close) = (b"<!-- rodin:gaps:start -->\n", b"<!-- rodin:gaps:end -->\n");
                [self.bytes, missing_newline(self.bytes), open, added, newline, close].concat()
            }
            GapsBlock::Present(range) => {
                let (before, behind) = self.bytes.split_at(range.start);
                // After the line with the opening mark, if that line contains nothing else.
                let line = byte_search::find_byte(behind, b'\n').map_or(0, |at| at + 1);
                let at = if is_blank_within_line(behind[..line].trim_ascii_end()) { line } else { 0 };
                let start: &[u8] = if at == 0 { b"\n" } else { b"" };
                [before, &behind[..at], start, added, newline, &behind[at..]].concat()
            }
        };
        self.check_gaps_edit(text)
    }

    /// The edited text, if only its gaps differ from this plan. A line that was broken in two may now begin a
    /// fence that hides the block, and the added text may break the block.
    fn check_gaps_edit(&self, text: Vec<u8>) -> Option<Vec<u8>> {
        let is_same_plan = |after: PlanDocument<'_>| {
            matches!(after.gaps, GapsBlock::Present(_)) && after.content.hash() == self.content.hash()
        };
        PlanDocument::parse(&text).is_ok_and(is_same_plan).then_some(text)
    }
}

impl<'a> UnmarkedText<'a> {
    /// The part of a text without these cuts. A line on which only white space is left is cut too.
    fn new(text: &'a [u8], part: Range<usize>, mut cuts: Vec<Range<usize>>) -> Self {
        cuts.sort_unstable_by_key(|cut| cut.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(cuts.len());
        for cut in cuts {
            match merged.last_mut() {
                Some(last) if cut.start <= last.end || is_blank_within_line(&text[last.end..cut.start]) => {
                    last.end = last.end.max(cut.end);
                }
                _ => merged.push(cut),
            }
        }
        let mut pieces = Vec::new();
        let mut from = part.start;
        for cut in merged {
            let cut = widen_to_lines(text, &part, cut);
            if cut.start > from {
                pieces.push(from..cut.start);
            }
            from = cut.end.max(from);
        }
        if from < part.end {
            pieces.push(from..part.end);
        }
        Self { file: text, pieces }
    }

    pub fn hash(&self) -> Digest {
        Digest::hash_text(&self.slices().collect::<Vec<_>>())
    }

    pub fn to_vec(&self) -> Vec<u8> {
        self.slices().collect::<Vec<_>>().concat()
    }

    fn slices(&self) -> impl Iterator<Item = &'a [u8]> {
        self.pieces.iter().map(|piece| &self.file[piece.clone()])
    }

    pub fn to_text(&self) -> String {
        String::from_utf8(self.to_vec())
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

/// Widens a cut to whole lines if only white space is left on them.
fn widen_to_lines(text: &[u8], part: &Range<usize>, cut: Range<usize>) -> Range<usize> {
    let start = part.start + line_start(&text[part.start..cut.start]);
    let end = byte_search::find_byte(&text[cut.end..part.end], b'\n').map_or(part.end, |at| cut.end + at + 1);
    if is_blank(&text[start..cut.start]) && is_blank(&text[cut.end..end]) { start..end } else { cut }
}

/// Takes the rest of the marks' own lines off the range between two marks.
fn trim_mark_lines(text: &[u8], range: Range<usize>) -> Range<usize> {
    let Range { mut start, end } = range;
    if let Some(line) = byte_search::find_byte(&text[start..end], b'\n')
        && is_blank_within_line(&text[start..start + line])
    {
        start += line + 1;
    }
    let last_line = start + line_start(&text[start..end]);
    start..if is_blank_within_line(&text[last_line..end]) { last_line } else { end }
}

/// Where the last line of a text begins.
fn line_start(text: &[u8]) -> usize {
    byte_search::find_last_byte(text, b'\n').map_or(0, |at| at + 1)
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}

fn is_blank_within_line(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_whitespace() && *byte != b'\n')
}

fn line_ending(text: &[u8]) -> &'static str {
    if text[..line_start(text)].ends_with(b"\r\n") { "\r\n" } else { "\n" }
}

/// The line feed that a text lacks at its end.
pub(super) fn missing_newline(text: &[u8]) -> &'static [u8] {
    if text.is_empty() || text.ends_with(b"\n") { b"" } else { b"\n" }
}

/// Reads a validation as the design documents do: only an object counts, and a missing status is `null`.
fn read_validation(value: &[u8]) -> Option<PlanVerdict> {
    let value = value.trim_ascii();
    if !value.starts_with(b"{") || !value.ends_with(b"}") {
        return None;
    }
    let object: Option<Value> = serde_json::from_slice(value).ok();
    let mut verdict = PlanVerdict::from_json(object.as_ref().unwrap_or(&Value::Null));
    if object.is_some_and(|object| object["status"].is_null()) {
        verdict.status = VerdictStatus::Other("null".into());
    }
    Some(verdict)
}

fn read_verdict(value: &[u8]) -> PlanVerdict {
    PlanVerdict::from_json(&serde_json::from_slice(value).unwrap_or(Value::Null))
}

/// Reads the block between two marks. More than one block would let an author move lines between plan and gaps
/// without changing either, and a comment that begins in the block could end in the plan.
fn read_gaps_block(text: &[u8], block: &[PlanMark<'_>], marks: &[PlanMark<'_>]) -> GapsBlock {
    match block {
        [] => GapsBlock::Missing,
        [start, end] if start.name == MarkName::GapsStart && end.name == MarkName::GapsEnd => {
            let content = start.at.end..end.at.start;
            let is_mark = |at: usize| marks.iter().any(|mark| mark.at.contains(&at));
            if byte_search::find_parts(&text[content.clone()], b"<!--").any(|at| !is_mark(content.start + at))
            {
                return GapsBlock::Broken("a comment begins in it");
            }
            GapsBlock::Present(content)
        }
        [first, ..] if first.name == MarkName::GapsEnd => GapsBlock::Broken("it ends before it begins"),
        [_] => GapsBlock::Broken("it is never closed"),
        [_, second, ..] if second.name == MarkName::GapsStart => GapsBlock::Broken("it begins twice"),
        _ => GapsBlock::Broken("there is more than one"),
    }
}

#[cfg(test)]
mod tests;

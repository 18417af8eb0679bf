//! A plan file and the marks in it: one parser, one writer.
//!
//! A mark is a comment `<!-- rodin:NAME=VALUE -->` with a known name, on one line. Everything else
//! is the author's text, whatever it looks like: a comment with an unknown name, a broken mark, a
//! mark in a closed code fence or between backticks. Text beside a mark on its line is text, too.
//!
//! Any bytes can be read. The writer takes the record's marks out and puts new ones at the end of
//! the file; it changes nothing else.

use std::cell::OnceCell;
use std::ops::Range;

use serde_json::Value;

use super::digest::Digest;
use super::fences;
use super::verdict::{Status, Verdict};
use crate::search;

const OPENING: &[u8] = b"<!-- rodin:";
const CLOSING: &[u8] = b"-->";
const COMMENT: &[u8] = b"<!--";
/// A plan that somebody writes has a handful of marks.
const MOST_MARKS: usize = 256;
/// No value of a mark is longer, so no search for the end of one is.
const LONGEST_MARK: usize = 64 << 10;

/// A plan as it was read.
#[derive(Debug)]
pub struct PlanDocument<'a> {
    bytes: &'a [u8],
    /// The marks of the record, in their order; those of the gaps block are not among them.
    marks: Vec<Mark<'a>>,
    gaps: GapsBlock,
    content: Content<'a>,
    gaps_content: Content<'a>,
    fences: Fences<'a>,
}

/// What a plan file says about its own assessment. Each part is `None` where it is missing, and
/// [`Doubled`](Self::doubled) tells which are there twice: what they say then is nobody's word.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Record {
    pub session: Option<String>,
    pub plan_hash: Option<String>,
    pub gaps_hash: Option<String>,
    pub validation: Option<Verdict>,
    pub seal: Option<String>,
    /// The name of a part that is there more than once.
    pub doubled: Option<&'static str>,
}

/// The verdicts that an agent has written down as a wish.
#[derive(Debug, PartialEq, Eq)]
pub enum Signal {
    None,
    One(Verdict),
    /// Not readable, or several that disagree.
    Unclear,
}

/// The block in which the author lists what is not known.
#[derive(Debug, PartialEq, Eq)]
pub enum GapsBlock {
    Missing,
    /// Where its content stands.
    Present(Range<usize>),
    /// Its marks do not pair; the text says how.
    Broken(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Session,
    PlanHash,
    GapsHash,
    Signal,
    Validation,
    Seal,
    GapsStart,
    GapsEnd,
}

const NAMES: &[(Name, &str)] = &[
    (Name::Session, "session="),
    (Name::PlanHash, "plan:hash="),
    (Name::GapsHash, "gaps:hash="),
    (Name::Signal, "verdict:signal="),
    (Name::Validation, "validation="),
    (Name::Seal, "seal="),
    (Name::GapsStart, "gaps:start"),
    (Name::GapsEnd, "gaps:end"),
];

#[derive(Debug, Clone)]
struct Mark<'a> {
    name: Name,
    value: &'a [u8],
    at: Range<usize>,
}

/// A part of a file in pieces, as it is left when marks are taken out.
#[derive(Debug)]
pub struct Content<'a> {
    file: &'a [u8],
    pieces: Vec<Range<usize>>,
}

/// The fences of a file, looked for once, and only if somebody asks.
#[derive(Debug)]
struct Fences<'a>(&'a [u8], OnceCell<Vec<Range<usize>>>);

impl Fences<'_> {
    fn hide(&self, at: usize) -> bool {
        fences::hide(self.1.get_or_init(|| fences::closed(self.0)), at)
    }
}

/// The file has more marks than anybody writes.
#[derive(Debug, PartialEq, Eq)]
pub struct Overgrown;

impl<'a> PlanDocument<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self, Overgrown> {
        let fences = Fences(bytes, OnceCell::new());
        let (block, marks): (Vec<_>, Vec<_>) = marks(bytes, &fences)?
            .into_iter()
            .partition(|mark| matches!(mark.name, Name::GapsStart | Name::GapsEnd));
        let gaps = gaps_block(bytes, &block, &marks);
        let at = |mark: &Mark<'_>| mark.at.clone();
        let content = match &gaps {
            GapsBlock::Present(_) => {
                let whole = block[0].at.start..block[1].at.end;
                Content::without(bytes, 0..bytes.len(), marks.iter().map(at).chain([whole]).collect())
            }
            // A block that is none hides nothing.
            GapsBlock::Missing | GapsBlock::Broken(_) => {
                Content::without(bytes, 0..bytes.len(), marks.iter().map(at).collect())
            }
        };
        let gaps_content = match &gaps {
            GapsBlock::Present(range) => {
                let within = marks.iter().filter(|mark| range.contains(&mark.at.start)).map(at).collect();
                Content::without(bytes, inner(bytes, range.clone()), within)
            }
            GapsBlock::Missing | GapsBlock::Broken(_) => Content { file: bytes, pieces: Vec::new() },
        };
        Ok(Self { bytes, marks, gaps, content, gaps_content, fences })
    }

    /// The plan itself: all text outside marks and gaps block.
    pub fn content(&self) -> &Content<'a> {
        &self.content
    }

    pub fn gaps(&self) -> &GapsBlock {
        &self.gaps
    }

    /// What stands in the gaps block.
    pub fn gaps_content(&self) -> &Content<'a> {
        &self.gaps_content
    }

    pub fn record(&self) -> Record {
        let mut record = Record::default();
        for &(name, word) in NAMES {
            let mut found = self.marks.iter().filter(|mark| mark.name == name);
            let Some(first) = found.next() else { continue };
            if name != Name::Signal && found.next().is_some() {
                record.doubled = record.doubled.or(Some(word.trim_end_matches('=')));
            }
            let text = || Some(String::from_utf8_lossy(first.value).into_owned());
            match name {
                Name::Session => record.session = text(),
                Name::PlanHash => record.plan_hash = text(),
                Name::GapsHash => record.gaps_hash = text(),
                Name::Seal => record.seal = text(),
                Name::Validation => record.validation = validation_of(first.value),
                Name::Signal | Name::GapsStart | Name::GapsEnd => {}
            }
        }
        record
    }

    /// Whether the value of a mark ends the comment that it stands in: a reader sees the rest as text of
    /// the plan, and no hash covers it.
    pub fn has_text_in_a_mark(&self) -> bool {
        self.marks.iter().any(|mark| search::part(mark.value, CLOSING).is_some())
    }

    /// Every seal in the file: an agent may have kept an old one beside the new.
    pub fn seals(&self) -> impl Iterator<Item = &str> {
        let seals = self.marks.iter().filter(|mark| mark.name == Name::Seal);
        seals.filter_map(|mark| std::str::from_utf8(mark.value).ok())
    }

    pub fn signal(&self) -> Signal {
        let mut signals = self.marks.iter().filter(|mark| mark.name == Name::Signal);
        let Some(first) = signals.next() else { return Signal::None };
        let mut verdict = verdict_of(first.value);
        for other in signals {
            let other = verdict_of(other.value);
            if other.status != verdict.status {
                return Signal::Unclear;
            }
            verdict = other;
        }
        match verdict.status {
            Status::Pass | Status::Fail => Signal::One(verdict),
            Status::Pending | Status::Other(_) => Signal::Unclear,
        }
    }

    /// The file with this record at its end in the place of all that it had, and no signal.
    pub fn with(&self, record: &Record) -> Vec<u8> {
        let mut text = self.without_record();
        let end = if ends_with_windows_line(&text) { "\r\n" } else { "\n" };
        if !text.is_empty() && text.last() != Some(&b'\n') {
            text.extend(end.as_bytes());
        }
        let validation = record.validation.as_ref().map(Verdict::in_a_mark);
        let parts = [
            ("session", &record.session),
            ("plan:hash", &record.plan_hash),
            ("gaps:hash", &record.gaps_hash),
            ("validation", &validation),
            ("seal", &record.seal),
        ];
        for (name, value) in parts {
            if let Some(value) = value {
                text.extend(format!("<!-- rodin:{name}={value} -->{end}").bytes());
            }
        }
        text
    }

    /// The author's own file: text and gaps block.
    pub fn without_record(&self) -> Vec<u8> {
        self.without_marks(|_| true)
    }

    /// The file without the verdicts that an agent has written down as a wish.
    pub fn without_signals(&self) -> Vec<u8> {
        self.without_marks(|name| name == Name::Signal)
    }

    fn without_marks(&self, is_dropped: impl Fn(Name) -> bool) -> Vec<u8> {
        let dropped = self.marks.iter().filter(|mark| is_dropped(mark.name));
        let dropped = dropped.map(|mark| mark.at.clone()).collect();
        Content::without(self.bytes, 0..self.bytes.len(), dropped).to_vec()
    }

    /// Where a text stands in the plan, outside fenced code, with the right byte before it and the
    /// right text behind.
    pub fn find(&self, searched: &[u8], fits: impl Fn(Option<u8>, &[u8]) -> bool) -> Option<usize> {
        let fits = |at: &usize| {
            let before = at.checked_sub(1).map(|before| self.bytes[before]);
            fits(before, &self.bytes[at + searched.len()..]) && !self.fences.hide(*at)
        };
        self.content.pieces.iter().find_map(|piece| {
            let found = search::parts(&self.bytes[piece.clone()], searched);
            found.map(|at| piece.start + at).find(fits)
        })
    }

    /// The number of the line on which a place stands.
    pub fn line(&self, at: usize) -> usize {
        memchr::memchr_iter(b'\n', &self.bytes[..at]).count() + 1
    }

    /// The file with a text added at the end of the gaps block; `None` if it has no place there.
    pub fn with_gaps(&self, added: &str) -> Option<Vec<u8>> {
        let GapsBlock::Present(Range { end, .. }) = self.gaps else { return None };
        // In front of the line with the closing mark, if nothing else stands on it.
        let line = search::last_byte(&self.bytes[..end], b'\n').map_or(0, |at| at + 1);
        let at = if self.bytes[line..end].iter().all(u8::is_ascii_whitespace) { line } else { end };
        let before = &self.bytes[..at];
        let newline = if ends_with_windows_line(before) { "\r\n" } else { "\n" };
        let mut text = before.to_vec();
        if text.last() != Some(&b'\n') {
            text.extend(newline.bytes());
        }
        text.extend(added.replace('\n', newline).bytes());
        text.extend(&self.bytes[at..]);
        self.with_other_gaps(text)
    }

    /// A text, if it is this plan with other gaps. Where a line is broken in two, a fence may begin and hide
    /// the block; what is added may break it.
    fn with_other_gaps(&self, text: Vec<u8>) -> Option<Vec<u8>> {
        let is_same = |after: PlanDocument<'_>| {
            matches!(after.gaps, GapsBlock::Present(_)) && after.content.hash() == self.content.hash()
        };
        PlanDocument::read(&text).is_ok_and(is_same).then_some(text)
    }

    /// The file with this text in front of what its gaps block holds; without a block it gets one, at
    /// the end. `None` if it has no place there.
    pub fn with_gaps_in_front(&self, added: &[u8]) -> Option<Vec<u8>> {
        let newline: &[u8] = if added.is_empty() || added.ends_with(b"\n") { b"" } else { b"\n" };
        let text = match &self.gaps {
            GapsBlock::Broken(_) => return None,
            GapsBlock::Missing => {
                let end: &[u8] =
                    if self.bytes.is_empty() || self.bytes.ends_with(b"\n") { b"" } else { b"\n" };
                let (open, close) = (b"<!-- rodin:gaps:start -->\n", b"<!-- rodin:gaps:end -->\n");
                [self.bytes, end, open, added, newline, close].concat()
            }
            GapsBlock::Present(range) => {
                let (before, behind) = self.bytes.split_at(range.start);
                let line = search::byte(behind, b'\n').map_or(0, |at| at + 1);
                // Behind the line with the opening mark, if nothing else stands on it.
                let at = if is_gap(behind[..line].trim_ascii_end()) && line > 0 { line } else { 0 };
                let start: &[u8] = if at == 0 { b"\n" } else { b"" };
                [before, &behind[..at], start, added, newline, &behind[at..]].concat()
            }
        };
        self.with_other_gaps(text)
    }
}

impl<'a> Content<'a> {
    /// What is left of a part of a text without these ranges. A line on which nothing but white
    /// space is left goes whole.
    fn without(text: &'a [u8], part: Range<usize>, mut cuts: Vec<Range<usize>>) -> Self {
        cuts.sort_unstable_by_key(|cut| cut.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(cuts.len());
        for cut in cuts {
            match merged.last_mut() {
                Some(last) if cut.start <= last.end || is_gap(&text[last.end..cut.start]) => {
                    last.end = last.end.max(cut.end);
                }
                _ => merged.push(cut),
            }
        }
        let mut pieces = Vec::new();
        let mut from = part.start;
        for cut in merged {
            let cut = whole_lines(text, &part, cut);
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
        Digest::of(&self.slices().collect::<Vec<_>>())
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

/// A cut, widened to its whole lines where nothing else stands on them.
fn whole_lines(text: &[u8], part: &Range<usize>, cut: Range<usize>) -> Range<usize> {
    let start =
        search::last_byte(&text[part.start..cut.start], b'\n').map_or(part.start, |at| part.start + at + 1);
    let end = search::byte(&text[cut.end..part.end], b'\n').map_or(part.end, |at| cut.end + at + 1);
    let blank = |range: Range<usize>| text[range].iter().all(u8::is_ascii_whitespace);
    if blank(start..cut.start) && blank(cut.end..end) { start..end } else { cut }
}

/// White space within a line.
fn is_gap(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_whitespace() && *byte != b'\n')
}

/// What stands between two marks, without the rests of their own lines.
fn inner(text: &[u8], range: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = range;
    if let Some(line) = search::byte(&text[start..end], b'\n')
        && is_gap(&text[start..start + line])
    {
        start += line + 1;
    }
    match search::last_byte(&text[start..end], b'\n') {
        Some(line) if is_gap(&text[start + line + 1..end]) => end = start + line + 1,
        None if is_gap(&text[start..end]) => end = start,
        _ => {}
    }
    start..end
}

fn ends_with_windows_line(text: &[u8]) -> bool {
    search::last_byte(text, b'\n').is_some_and(|at| at > 0 && text[at - 1] == b'\r')
}

/// A validation as the documents read it: an object, or none. One without a status has the status `null`.
fn validation_of(value: &[u8]) -> Option<Verdict> {
    let value = value.trim_ascii();
    if !value.starts_with(b"{") || !value.ends_with(b"}") {
        return None;
    }
    let object: Option<Value> = serde_json::from_slice(value).ok();
    let mut verdict = Verdict::from_json(object.as_ref().unwrap_or(&Value::Null));
    if object.is_some_and(|object| object["status"].is_null()) {
        verdict.status = Status::Other("null".into());
    }
    Some(verdict)
}

fn verdict_of(value: &[u8]) -> Verdict {
    Verdict::from_json(&serde_json::from_slice(value).unwrap_or(Value::Null))
}

/// Every mark, in order.
fn marks<'a>(text: &'a [u8], fences: &Fences<'_>) -> Result<Vec<Mark<'a>>, Overgrown> {
    let mut found: Vec<Mark<'_>> = Vec::new();
    let mut from = 0;
    let mut looked_at = 0;
    for at in search::parts(text, OPENING) {
        // A mark in the value of another one is a part of that value.
        if at < from {
            continue;
        }
        looked_at += 1;
        if looked_at > MOST_MARKS {
            return Err(Overgrown);
        }
        if let Some(mark) = mark_at(text, at) {
            from = mark.at.end;
            found.push(mark);
        }
    }
    found.retain(|mark| !fences.hide(mark.at.start));
    Ok(found)
}

fn mark_at(text: &[u8], at: usize) -> Option<Mark<'_>> {
    let start = at + OPENING.len();
    let rest = &text[start..text.len().min(start + LONGEST_MARK)];
    let rest = &rest[..search::byte(rest, b'\n').unwrap_or(rest.len())];
    let &(name, word) = NAMES.iter().find(|(_, word)| rest.starts_with(word.as_bytes()))?;
    let value = &rest[word.len()..];
    let length = match name {
        // Braces and arrows in a text belong to it.
        Name::Signal | Name::Validation => json_length(value).or_else(|| search::part(value, CLOSING))?,
        Name::GapsStart | Name::GapsEnd => 0,
        _ => search::part(value, CLOSING)?,
    };
    let behind = &value[length..];
    let blanks = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if !behind[blanks..].starts_with(CLOSING) {
        return None;
    }
    let end = start + word.len() + length + blanks + CLOSING.len();
    let quoted = at > 0 && text[at - 1] == b'`' && text.get(end) == Some(&b'`');
    (!quoted).then(|| Mark { name, value: value[..length].trim_ascii(), at: at..end })
}

/// How long the JSON object at the start of a text is, with what closes the mark behind it.
fn json_length(text: &[u8]) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<serde::de::IgnoredAny>();
    matches!(values.next(), Some(Ok(_)))
        .then(|| values.byte_offset())
        .filter(|length| text[*length..].trim_ascii_start().starts_with(CLOSING))
}

/// The block between two marks. Several would let an author shift lines between plan and gaps without
/// changing either, and a comment that begins in it could end in the plan.
fn gaps_block(text: &[u8], block: &[Mark<'_>], marks: &[Mark<'_>]) -> GapsBlock {
    match block {
        [] => GapsBlock::Missing,
        [start, end] if start.name == Name::GapsStart && end.name == Name::GapsEnd => {
            let content = start.at.end..end.at.start;
            let is_mark = |at: usize| marks.iter().any(|mark| mark.at.contains(&at));
            if search::parts(&text[content.clone()], COMMENT).any(|at| !is_mark(content.start + at)) {
                return GapsBlock::Broken("a comment begins in it");
            }
            GapsBlock::Present(content)
        }
        [first, ..] if first.name == Name::GapsEnd => GapsBlock::Broken("it ends before it begins"),
        [_] => GapsBlock::Broken("it is never closed"),
        [_, second, ..] if second.name == Name::GapsStart => GapsBlock::Broken("it begins twice"),
        _ => GapsBlock::Broken("there is more than one"),
    }
}

#[cfg(test)]
mod tests;

//! The transcripts of Claude Code, as events of past sessions.
//!
//! `record` reads one line, `conversation` makes events of the lines of a file, `files` knows where the files are, and
//! `agents` of which kind an agent was. The format is internal to Claude Code; what is relied on here was measured on
//! its versions 2.0.76 to 2.1.325. What the agent of this session did is read by [`super::transcript`].

mod agents;
mod conversation;
mod fate;
mod files;
mod hook_form;
mod modes;
mod record;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::past::line_reader::{Found, Line, LineReader};
use crate::past::{Detail, FileContext, FileSummary, PastItem, PastItems, PastSessions};
use conversation::{Conversation, Skip};

pub(super) const PAST_SESSIONS: PastSessions = PastSessions {
    find_directory: files::find_directory,
    may_hold: files::may_hold,
    identify_file: files::identify_file,
    read_start: files::read_start,
    find_agent_kinds: agents::find_kinds,
    open,
    build_event: hook_form::build_event,
};

const NOT_JSON: &str = "line that is no JSON object";
const HALF_WRITTEN: &str = "half-written last line";
const UNKNOWN_TYPE: &str = "record of an unknown type";
const MALFORMED: &str = "record without the fields of its type";
const TOO_LONG: &str = "line of more than 256 MiB";
const READ_ERROR: &str = "rest of a file after a read error";

fn open(path: &Path, context: FileContext, detail: Detail) -> io::Result<PastItems> {
    let lines = LineReader::open(path)?;
    Ok(Box::new(Reader {
        lines,
        conversation: Conversation::new(context, detail),
        records: 0,
        skipped: BTreeMap::new(),
        has_ended: false,
        is_done: false,
    }))
}

struct Reader {
    lines: LineReader,
    conversation: Conversation,
    records: u64,
    skipped: BTreeMap<&'static str, u64>,
    /// All lines are read.
    has_ended: bool,
    is_done: bool,
}

impl Iterator for Reader {
    type Item = PastItem;

    fn next(&mut self) -> Option<PastItem> {
        loop {
            if let Some(event) = self.conversation.take_ready() {
                return Some(PastItem::Event(event));
            }
            if self.has_ended {
                return (!std::mem::replace(&mut self.is_done, true))
                    .then(|| PastItem::End(self.summarize()));
            }
            let why = match self.lines.next_line() {
                Found::Line(Line::TooLong) => Some(TOO_LONG),
                Found::Line(Line::Whole(line)) => {
                    read_line(line, false, &mut self.conversation, &mut self.records)
                }
                Found::Line(Line::Unfinished(line)) => {
                    read_line(line, true, &mut self.conversation, &mut self.records)
                }
                Found::NeedsMore => match self.lines.read_more() {
                    Ok(count) => return Some(PastItem::Progress(count)),
                    Err(_) => Some(READ_ERROR),
                },
                Found::End => {
                    self.conversation.end();
                    self.has_ended = true;
                    None
                }
            };
            if let Some(why) = why {
                *self.skipped.entry(why).or_default() += 1;
            }
        }
    }
}

impl Reader {
    fn summarize(&mut self) -> FileSummary {
        FileSummary {
            records: self.records,
            skipped: std::mem::take(&mut self.skipped).into_iter().collect(),
            start: std::mem::take(&mut self.conversation.start),
            is_fork: self.conversation.is_fork,
        }
    }
}

/// Reads one line. Returns why it was skipped, if it was.
fn read_line(
    line: &[u8],
    is_unfinished: bool,
    conversation: &mut Conversation,
    records: &mut u64,
) -> Option<&'static str> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return None;
    }
    let read = conversation.read(line, is_unfinished);
    if !matches!(read, Err(Skip::NotJson)) {
        *records += 1;
    }
    Some(match read.err()? {
        Skip::NotJson if is_unfinished => HALF_WRITTEN,
        Skip::NotJson => NOT_JSON,
        Skip::UnknownType => UNKNOWN_TYPE,
        Skip::Malformed => MALFORMED,
    })
}

//! The archive of the journal: what drops out of the old files, in compact form, for at least 90 days.
//!
//! A file that drops out is renamed first (`journal.archive.NUMBER.jsonl`) and compacted in place later: lines that said
//! something stay as they are, and silent ones become totals for each day. The compact file replaces the whole one in one
//! step, so a process that is killed at any point leaves one of them, and nothing counts twice. Small files are merged: the
//! new file names the one that it includes, which does not count any more from then on.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::day_totals::DayTotals;
use super::lines::{CallKey, JournalLine};
use super::{LOCK, LONGEST_LINE};
use crate::clock;
use provost_files as files;

const PREFIX: &str = "journal.archive.";
const ENDING: &str = ".jsonl";
/// The form of the files that this version writes.
const FORMAT: u32 = 1;
/// How long decisions are kept at least.
const KEPT_SECONDS: i64 = 90 * 86_400;
/// Below this size, the archive of a project is kept for longer.
const SMALL_ARCHIVE: u64 = 16 << 20;
/// An archive is never larger. Only endless denials can fill it: about 2,000 on each of 90 days.
const LARGEST_ARCHIVE: u64 = 256 << 20;
/// A compact file that is smaller is merged with the next one.
const SMALL_FILE: u64 = 256 << 10;
/// A larger file stays as it is, because compacting it would take too long.
const LARGEST_COMPACTED: u64 = 32 << 20;

/// The first line of a compact file.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct ArchiveHeader {
    /// [`FORMAT`].
    archive: u32,
    /// The version of Provost that wrote it.
    #[serde(default)]
    version: String,
    #[serde(default)]
    pub project: String,
    /// The names of the files whose lines are in this one. If they still exist, they do not count.
    #[serde(default)]
    includes: Vec<String>,
    /// The times of the first and the last decision.
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    /// How many lines could not be read.
    #[serde(default)]
    pub broken: u64,
}

/// A file of the archive.
struct ArchiveFile {
    path: PathBuf,
    name: String,
    size: u64,
    /// `None`: it is not compacted yet.
    header: Option<ArchiveHeader>,
}

/// The path under which the next file of the journal joins the archive.
// INVARIANT: the caller holds the journal's lock, so no other process takes the same path. No number is used twice, because
// a file that is included in another does not count.
pub(super) fn next_path(directory: &Path) -> PathBuf {
    let (files, included) = list_files(directory);
    let headers = files.iter().filter_map(|file| file.header.as_ref());
    let gone = headers.flat_map(|header| header.includes.iter().map(String::as_str));
    let names = files.iter().chain(&included).map(|file| file.name.as_str()).chain(gone);
    let last = names.filter_map(read_number).max().unwrap_or(0);
    directory.join(format!("{PREFIX}{:06}{ENDING}", last + 1))
}

/// The number in the name of a file of the archive.
fn read_number(name: &str) -> Option<u32> {
    let number = name.strip_prefix(PREFIX)?.strip_suffix(ENDING)?;
    let is_plain = number.len() == 6 && number.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| number.parse().ok()).flatten()
}

/// The files of the archive that count, oldest first.
pub(super) fn list_paths(directory: &Path) -> Vec<PathBuf> {
    let (files, _) = list_files(directory);
    files.into_iter().map(|file| file.path).collect()
}

/// The files of the archive, oldest first: those that count, and those that are included in them.
fn list_files(directory: &Path) -> (Vec<ArchiveFile>, Vec<ArchiveFile>) {
    let mut names = Vec::new();
    let _ = files::for_each_entry(directory, |name, _| {
        names.extend(name.to_str().filter(|name| read_number(name).is_some()).map(str::to_owned));
        ControlFlow::Continue(())
    });
    names.sort_unstable();
    let files: Vec<ArchiveFile> = names.into_iter().map(|name| ArchiveFile::read(directory, name)).collect();
    let included: HashSet<String> = files
        .iter()
        .filter_map(|file| file.header.as_ref())
        .flat_map(|header| header.includes.clone())
        .collect();
    files.into_iter().partition(|file| !included.contains(&file.name))
}

impl ArchiveFile {
    fn read(directory: &Path, name: String) -> Self {
        const LONGEST_HEADER: u64 = 16 << 10;
        let path = directory.join(&name);
        let size = path.symlink_metadata().map_or(0, |metadata| metadata.len());
        let start = files::read_start(&path, LONGEST_HEADER).map(|(start, _)| start).unwrap_or_default();
        let first = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let header = match JournalLine::parse(first) {
            JournalLine::Header(header) => Some(header),
            _ => None,
        };
        Self { path, name, size, header }
    }

    /// Whether a file of this version may include all of it.
    fn can_be_merged(&self) -> bool {
        self.size < SMALL_FILE && self.header.as_ref().is_some_and(|header| header.archive == FORMAT)
    }
}

/// Compacts the files that have dropped out of the journal, and removes the oldest ones. Does nothing while another process
/// does it.
pub fn compact(directory: &Path) -> io::Result<()> {
    let Some(_lock) = files::try_lock(&directory.join(LOCK))? else { return Ok(()) };
    let (mut archive, included) = list_files(directory);
    for file in included {
        files::remove_file(&file.path)?;
    }
    let mut oldest = None;
    let mut at = 0;
    while at < archive.len() {
        let file = &archive[at];
        if file.header.is_none() && file.size <= LARGEST_COMPACTED {
            let previous = at.checked_sub(1).map(|before| &archive[before]);
            let (from, is_merged) = compact_file(file, previous)?;
            let name = file.name.clone();
            archive[at] = ArchiveFile::read(directory, name);
            oldest = from;
            if is_merged {
                at -= 1;
                files::remove_file(&archive.remove(at).path)?;
            }
        }
        at += 1;
    }
    remove_oldest(&archive, oldest)
}

/// Compacts a file. Returns the time of its first decision, and whether the previous file is included in it now.
fn compact_file(file: &ArchiveFile, previous: Option<&ArchiveFile>) -> io::Result<(Option<i64>, bool)> {
    let mut compaction = Compaction::default();
    let merged = previous.filter(|previous| previous.can_be_merged() && compaction.include(&previous.path));
    if merged.is_none() {
        compaction = Compaction::default();
        if let Some(previous) = previous {
            compaction.read_open_denials(&previous.path);
        }
    }
    files::for_each_line(&file.path, LONGEST_LINE, |line| {
        compaction.add(line);
        ControlFlow::Continue(())
    })?;
    let header = ArchiveHeader {
        archive: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        includes: merged.map(|previous| previous.name.clone()).into_iter().collect(),
        ..compaction.header
    };
    let text = render(&header, &compaction.kept, &compaction.days)?;
    files::replace_private(&file.path, &text)?;
    Ok((compaction.oldest, merged.is_some()))
}

fn render(header: &ArchiveHeader, kept: &[u8], days: &BTreeMap<String, DayTotals>) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(header)?;
    text.push(b'\n');
    text.extend_from_slice(kept);
    for totals in days.values() {
        serde_json::to_writer(&mut text, totals)?;
        text.push(b'\n');
    }
    Ok(text)
}

/// Removes files from the oldest on: those that only have decisions from more than 90 days before `oldest`, if the archive
/// is not small, and any file if it is too large. The clock of now does not count, because it may be wrong.
fn remove_oldest(archive: &[ArchiveFile], oldest: Option<i64>) -> io::Result<()> {
    let mut size: u64 = archive.iter().map(|file| file.size).sum();
    let is_expired = |file: &ArchiveFile| {
        let last = file.header.as_ref().and_then(|header| clock::parse_utc(&header.to));
        matches!((last, oldest), (Some(last), Some(oldest)) if last < oldest - KEPT_SECONDS)
    };
    for file in archive {
        if size <= SMALL_ARCHIVE || (size <= LARGEST_ARCHIVE && !is_expired(file)) {
            break;
        }
        match files::remove_file(&file.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => size -= file.size,
        }
    }
    Ok(())
}

/// What a compact file will contain.
#[derive(Default)]
struct Compaction {
    header: ArchiveHeader,
    /// Whole lines.
    kept: Vec<u8>,
    days: BTreeMap<String, DayTotals>,
    /// The time of the first decision that this compaction adds.
    oldest: Option<i64>,
    /// The denied calls that were not allowed since. The line of the call that ends one is kept, so that a report can say
    /// how the denial went on.
    open_denials: HashSet<CallKey>,
}

impl Compaction {
    /// Includes a compact file. Returns `false` if this version does not understand all of it.
    fn include(&mut self, path: &Path) -> bool {
        let mut is_understood = true;
        let read = files::for_each_line(path, LONGEST_LINE, |line| {
            match line.map(JournalLine::parse) {
                Some(JournalLine::Header(header)) => {
                    self.header.project = header.project;
                    self.header.broken += header.broken;
                    self.extend_to(&header.from);
                    self.extend_to(&header.to);
                }
                Some(JournalLine::Totals(totals)) => self.add_totals(totals),
                Some(parsed @ (JournalLine::Silent(_) | JournalLine::Record(_))) => {
                    self.note_call(&parsed);
                    self.keep(line.unwrap_or_default());
                }
                Some(JournalLine::Broken) | None => is_understood = false,
            }
            if is_understood { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        is_understood && read.is_ok()
    }

    fn read_open_denials(&mut self, path: &Path) {
        let _ = files::for_each_line(path, LONGEST_LINE, |line| {
            if let Some(line) = line {
                self.note_call(&JournalLine::parse(line));
            }
            ControlFlow::Continue(())
        });
    }

    /// Adds a line of a file that is not compacted.
    fn add(&mut self, line: Option<&[u8]>) {
        let Some(line) = line else {
            self.header.broken += 1;
            return;
        };
        let parsed = JournalLine::parse(line);
        let is_end_of_denial = self.note_call(&parsed);
        match parsed {
            JournalLine::Silent(silent) => {
                self.note_place(&silent.project, silent.facts().time);
                if is_end_of_denial {
                    self.keep(line);
                } else {
                    let facts = silent.facts();
                    let day = facts.time.get(..10).unwrap_or_default();
                    let totals = self.days.entry(day.to_owned()).or_insert_with(|| DayTotals::new(day));
                    totals.add(&facts, silent.guard_names());
                }
            }
            JournalLine::Record(record) => {
                self.note_place(record.text("project"), record.text("time"));
                self.keep(line);
            }
            // Nobody writes these into a file that is not compacted.
            JournalLine::Header(_) | JournalLine::Totals(_) => self.keep(line),
            JournalLine::Broken if line.trim_ascii().is_empty() => {}
            JournalLine::Broken => self.header.broken += 1,
        }
    }

    /// Notes whether a call was denied or allowed. Returns whether it was allowed after it had been denied.
    fn note_call(&mut self, line: &JournalLine<'_>) -> bool {
        match line {
            JournalLine::Silent(silent) if !self.open_denials.is_empty() => {
                silent.allowed_call().is_some_and(|call| self.open_denials.remove(&call))
            }
            JournalLine::Record(record) if record.is_denial() => {
                self.open_denials.extend(record.call_key());
                false
            }
            _ => false,
        }
    }

    fn note_place(&mut self, project: &str, time: &str) {
        if self.header.project.is_empty() {
            project.clone_into(&mut self.header.project);
        }
        if let Some(seconds) = clock::parse_utc(time) {
            self.oldest = Some(self.oldest.map_or(seconds, |oldest| oldest.min(seconds)));
            self.extend_to(time);
        }
    }

    fn extend_to(&mut self, time: &str) {
        let ArchiveHeader { from, to, .. } = &mut self.header;
        if !time.is_empty() && (from.is_empty() || time < from.as_str()) {
            time.clone_into(from);
        }
        if time > to.as_str() {
            time.clone_into(to);
        }
    }

    fn add_totals(&mut self, totals: DayTotals) {
        match self.days.get_mut(&totals.day) {
            Some(known) => known.merge(totals),
            None => drop(self.days.insert(totals.day.clone(), totals)),
        }
    }

    fn keep(&mut self, line: &[u8]) {
        self.kept.extend_from_slice(line);
        self.kept.push(b'\n');
    }
}

#[cfg(test)]
mod tests;

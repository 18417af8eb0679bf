//! Reads the journal, for `explain`, `journal` and `status`.
//!
//! A broken line is skipped, and of a line from another version the known fields are read: one bad line must not hide the
//! others.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, thread};

use serde_json::Value;

use super::mask::mask_line;
use super::{KEPT, LOCK, LONGEST_LINE, OVERRIDDEN, WOULD, archive, journal_file, old_file};
use provost_files as files;

/// How every line begins. No text within a line contains this.
const BEGINNING: &str = "{\"id\":\"";

/// One line of the journal.
#[derive(Debug)]
pub struct JournalRecord(pub Value);

/// The part of a line about one guard.
pub struct GuardRecord<'a>(&'a Value);

impl JournalRecord {
    /// Parses the line of a decision. A killed process or a full disk can leave the start of a line, and the next line follows on the same
    /// one: then that line is parsed.
    pub fn parse(line: &str) -> Option<Self> {
        let is_decision = |value: &Value| value.is_object() && !is_of_archive(value);
        let read = |line: &str| serde_json::from_str(line).ok().filter(is_decision).map(Self);
        read(line).or_else(|| line.rfind(BEGINNING).filter(|at| *at > 0).and_then(|at| read(&line[at..])))
    }

    /// Parses the bytes of a line, which may not be UTF-8.
    pub fn parse_bytes(line: &[u8]) -> Option<Self> {
        Self::parse(&String::from_utf8_lossy(line))
    }

    /// Masks what looks like a credential, before the line is shown: an older version may have written it, which knew fewer
    /// forms.
    #[must_use]
    pub fn masked(mut self) -> Self {
        mask_line(&mut self.0);
        self
    }

    pub fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    pub fn micros(&self) -> u64 {
        self.0["micros"].as_u64().unwrap_or_default()
    }

    pub fn guards(&self) -> impl Iterator<Item = GuardRecord<'_>> {
        self.0["guards"].as_array().into_iter().flatten().map(GuardRecord)
    }

    /// The first guard that was not silent.
    pub fn first_speaking_guard(&self) -> Option<GuardRecord<'_>> {
        self.guards().find(|guard| !matches!(guard.text("opinion"), "silence" | ""))
    }

    pub fn is_denial(&self) -> bool {
        self.text("decision").starts_with("deny")
    }

    /// The strictest of what guards and rules that are only watched would have done: `would deny`, for example.
    pub fn watched_decision(&self) -> Option<&'static str> {
        WOULD.into_iter().find(|word| self.guards().any(|guard| guard.text("opinion") == *word))
    }

    /// The decision in one or two words. If nothing was enforced, that of watched guards and rules.
    pub fn shown_decision(&self) -> &str {
        match self.text("decision") {
            "silence" => self.watched_decision().unwrap_or("silence"),
            decision => decision,
        }
    }

    /// Whether the user lifted a denial.
    pub fn is_overridden(&self) -> bool {
        self.text("decision") == OVERRIDDEN
    }
}

impl<'a> GuardRecord<'a> {
    pub fn text(&self, name: &str) -> &'a str {
        self.0[name].as_str().unwrap_or_default()
    }

    /// What reviewers did, in a few words; empty if none was asked.
    pub fn describe_work(&self) -> String {
        let (review, assessment) = (self.value("review"), self.value("assessment"));
        let text = |value: &'a Value, name: &str| value[name].as_str().unwrap_or_default();
        match (review["round"].as_u64(), assessment["passed"].as_bool()) {
            (Some(round), _) => {
                let (review, by) = (text(review, "review"), (text(review, "model"), text(review, "verdict")));
                format!("{review}, round {round} by {}: {}", by.0, by.1)
            }
            (None, Some(true)) => format!("{} passed", text(assessment, "plan")),
            (None, Some(false)) => format!("{} failed", text(assessment, "plan")),
            (None, None) => String::new(),
        }
    }

    /// A field that other versions may not have.
    pub fn value(&self, name: &str) -> &'a Value {
        &self.0[name]
    }

    pub fn evidence(&self) -> impl Iterator<Item = &'a str> {
        self.0["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    pub fn micros(&self) -> u64 {
        self.0["micros"].as_u64().unwrap_or_default()
    }
}

/// Whether a line belongs to the archive itself: its first line, and the totals of a day.
fn is_of_archive(value: &Value) -> bool {
    value.get("archive").is_some() || value.get("day").is_some()
}

/// Calls `visit` with every line of the journal and its archive, oldest first; `None` for a line that is too long. Memory
/// does not grow with the journal. Returns the errors of files that cannot be read.
pub fn visit_lines(project_state: &Path, mut visit: impl FnMut(Option<&[u8]>)) -> Vec<io::Error> {
    /// Another process needs this long to rotate or compact files.
    const PATIENCE: Duration = Duration::from_secs(2);
    // Files get other names meanwhile, unless the lock is held.
    let _lock = files::share_lock(&project_state.join(LOCK), PATIENCE);
    let mut errors = Vec::new();
    for file in list_files(project_state) {
        let read = files::for_each_line(&file, LONGEST_LINE, |line| {
            visit(line);
            ControlFlow::Continue(())
        });
        match read {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                errors.push(io::Error::new(error.kind(), format!("{}: {error}", file.display())));
            }
            _ => {}
        }
    }
    errors
}

/// The files of the journal and its archive, oldest first. Some may not exist.
fn list_files(project_state: &Path) -> Vec<PathBuf> {
    let mut all = archive::list_paths(project_state);
    all.extend((1..=KEPT).rev().map(|number| old_file(project_state, number)));
    all.push(journal_file(project_state));
    all
}

/// Calls `visit` with the last lines, newest first, until it breaks. It reads only the end of the journal and does not
/// parse it, because it is called often.
pub fn visit_last_lines(
    project_state: &Path,
    mut visit: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<()> {
    const END: u64 = 64 << 10;
    let mut left = END;
    // The current file may have just been started.
    for file in [journal_file(project_state), old_file(project_state, 1)] {
        let mut seen = 0;
        let ended = files::find_line_backwards(&file, left, |line| {
            seen += line.len() as u64 + 1;
            visit(line).break_value()
        });
        left = left.saturating_sub(seen);
        match ended {
            Ok(None) if left > 0 => {}
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits for new lines and calls `show` with each, until it returns `false`.
pub fn follow_records(project_state: &Path, mut show: impl FnMut(JournalRecord) -> bool) -> io::Result<()> {
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(200);
    let path = journal_file(project_state);
    let mut file = fs::File::open(&path).ok();
    if let Some(file) = &mut file {
        file.seek(SeekFrom::End(0))?;
    }
    let mut unread = Vec::new();
    loop {
        thread::sleep(PAUSE);
        // Read the rest of the old file before the new one is opened.
        let is_rotated = file.as_mut().is_none_or(|file| is_replaced(file, &path));
        if let Some(file) = &mut file {
            file.read_to_end(&mut unread)?;
        }
        // An incomplete line waits for the next round.
        let whole = unread.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = unread.drain(..whole).collect();
        for line in String::from_utf8_lossy(&lines).lines() {
            if let Some(record) = JournalRecord::parse(line)
                && !show(record)
            {
                return Ok(());
            }
        }
        if is_rotated {
            file = fs::File::open(&path).ok();
        }
    }
}

/// Whether a new file has replaced the open one.
fn is_replaced(file: &mut fs::File, path: &Path) -> bool {
    if cfg!(unix) {
        files::file_identity(path) != files::open_file_identity(file)
    } else {
        // Where files have no identity, a new one is shorter.
        matches!((fs::metadata(path), file.stream_position()), (Ok(now), Ok(read)) if now.len() < read)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow::{Break, Continue};

    use super::*;

    fn ids(directory: &Path, most: usize) -> Vec<String> {
        let mut found = Vec::new();
        visit_last_lines(directory, |line| {
            found.extend(JournalRecord::parse_bytes(line).map(|record| record.text("id").to_owned()));
            if found.len() == most { Break(()) } else { Continue(()) }
        })
        .unwrap();
        found
    }

    #[test]
    fn a_line_behind_an_incomplete_one_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let half = "{\"id\":\"a\",\"guards\":[{\"evidence\":[\"{\\\"id\\\":\\\"x";
        fs::write(journal_file(dir.path()), format!("{half}{{\"id\":\"b\"}}\n{{\"id\":\"c\"}}\n{half}"))
            .unwrap();
        assert_eq!(ids(dir.path(), 9), ["c", "b"]);
        let mut count = 0;
        let errors = visit_lines(dir.path(), |line| {
            count += usize::from(line.and_then(JournalRecord::parse_bytes).is_some());
        });
        assert!(errors.is_empty());
        assert_eq!(count, 2);
    }

    #[test]
    fn the_end_is_read_newest_first_and_across_a_rotation() {
        let dir = tempfile::tempdir().unwrap();
        assert!(ids(dir.path(), 5).is_empty());
        fs::write(old_file(dir.path(), 1), "{\"id\":\"a\"}\n{\"id\":\"b\"}\n").unwrap();
        fs::write(journal_file(dir.path()), "torn\n{\"id\":\"c\"}\n\u{1}[]\n{\"id\":\"d\"}\n{\"id\":")
            .unwrap();
        assert_eq!(ids(dir.path(), 9), ["d", "c", "b", "a"]);
        assert_eq!(ids(dir.path(), 2), ["d", "c"]);
    }

    #[test]
    fn no_more_than_the_end_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let line = format!("{{\"id\":\"x\",\"text\":\"{}\"}}\n", "x".repeat(1000));
        fs::write(journal_file(dir.path()), line.repeat(5000)).unwrap();
        fs::write(old_file(dir.path(), 1), line.as_bytes()).unwrap();
        assert_eq!(ids(dir.path(), usize::MAX).len(), (64 << 10) / line.len());
        // A huge line hides the lines before it.
        let huge = format!("{{\"id\":\"y\",\"text\":\"{}\"}}\n", "y".repeat(1 << 20));
        fs::write(journal_file(dir.path()), format!("{line}{huge}")).unwrap();
        assert!(ids(dir.path(), 5).is_empty());
    }
}

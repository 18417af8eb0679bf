//! Reads the journal, for `explain`, `journal` and `status`.
//!
//! A broken line is skipped, and of a line from another version the known fields are read: one bad line must not hide the
//! others.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;
use std::{fs, thread};

use serde_json::Value;

use super::{KEPT, OVERRIDDEN, WOULD, journal_file, old_file};
use provost_files as files;

/// How every line begins. No text within a line contains this.
const BEGINNING: &str = "{\"id\":\"";

/// One line of the journal.
#[derive(Debug)]
pub struct JournalRecord(pub Value);

/// The part of a line about one guard.
pub struct GuardRecord<'a>(&'a Value);

impl JournalRecord {
    /// Parses a line. A killed process or a full disk can leave the start of a line, and the next line follows on the same
    /// one: then that line is parsed.
    pub fn parse(line: &str) -> Option<Self> {
        let read = |line: &str| serde_json::from_str(line).ok().filter(Value::is_object).map(Self);
        read(line).or_else(|| line.rfind(BEGINNING).filter(|at| *at > 0).and_then(|at| read(&line[at..])))
    }

    /// Parses the bytes of a line, which may not be UTF-8.
    pub fn parse_bytes(line: &[u8]) -> Option<Self> {
        Self::parse(&String::from_utf8_lossy(line))
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

    pub fn evidence(&self) -> impl Iterator<Item = &'a str> {
        self.0["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    pub fn micros(&self) -> u64 {
        self.0["micros"].as_u64().unwrap_or_default()
    }
}

/// All records, oldest first.
pub fn read_records(project_state: &Path) -> io::Result<Vec<JournalRecord>> {
    let mut records = Vec::new();
    let old = (1..=KEPT).rev().map(|number| old_file(project_state, number));
    for file in old.chain([journal_file(project_state)]) {
        match fs::File::open(&file) {
            Ok(file) => {
                for line in BufReader::new(file).split(b'\n') {
                    records.extend(JournalRecord::parse_bytes(&line?));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(records)
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
        assert_eq!(read_records(dir.path()).unwrap().len(), 2);
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

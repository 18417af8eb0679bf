//! Reading the journal back, for `explain`, `journal` and `status`.
//!
//! A line that is torn or from another version is skipped or read as far as it goes: the journal
//! is a record for people, and one bad line must not hide the others.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;
use std::{fs, thread};

use serde_json::Value;

use super::{KEPT, OVERRIDDEN, old_file, path};
use crate::files;

/// How every line begins, and what no text within a line can be.
const BEGINNING: &str = "{\"id\":\"";

/// One line of the journal.
#[derive(Debug)]
pub struct Record(pub Value);

/// What one guard said in it.
pub struct Said<'a>(&'a Value);

impl Record {
    /// A process that was killed, or a disk that was full, can leave a part of a line without an end. The
    /// next line then stands behind it, and is read all the same.
    pub fn parse(line: &str) -> Option<Self> {
        let read = |line: &str| serde_json::from_str(line).ok().filter(Value::is_object).map(Self);
        read(line).or_else(|| line.rfind(BEGINNING).filter(|at| *at > 0).and_then(|at| read(&line[at..])))
    }

    /// The same for the bytes of a line, which may be anything.
    pub fn of_line(line: &[u8]) -> Option<Self> {
        Self::parse(&String::from_utf8_lossy(line))
    }

    pub fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    pub fn micros(&self) -> u64 {
        self.0["micros"].as_u64().unwrap_or_default()
    }

    pub fn guards(&self) -> impl Iterator<Item = Said<'_>> {
        self.0["guards"].as_array().into_iter().flatten().map(Said)
    }

    /// Whoever spoke up: denied, asked, or could not judge.
    pub fn speaker(&self) -> Option<Said<'_>> {
        self.guards().find(|said| !matches!(said.text("opinion"), "silence" | ""))
    }

    pub fn is_denial(&self) -> bool {
        self.text("decision").starts_with("deny")
    }

    /// Whether the user lifted a denial.
    pub fn is_overridden(&self) -> bool {
        self.text("decision") == OVERRIDDEN
    }
}

impl<'a> Said<'a> {
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

/// All lines that are kept, oldest first.
pub fn read_all(project_state: &Path) -> io::Result<Vec<Record>> {
    let mut records = Vec::new();
    let old = (1..=KEPT).rev().map(|number| old_file(project_state, number));
    for file in old.chain([path(project_state)]) {
        match fs::File::open(&file) {
            Ok(file) => {
                for line in BufReader::new(file).split(b'\n') {
                    records.extend(Record::parse(&String::from_utf8_lossy(&line?)));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(records)
}

/// The last lines, newest first, as they are kept, until `visit` has seen enough. Only the end of the journal
/// is read, however long it is: whoever asks this asks often, and parses only what is of interest.
pub fn visit_last(project_state: &Path, mut visit: impl FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<()> {
    const END: u64 = 64 << 10;
    let mut left = END;
    // A new file may just have been begun.
    for file in [path(project_state), old_file(project_state, 1)] {
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

/// Waits for new lines and hands each over, until `show` says to stop.
pub fn followed(project_state: &Path, mut show: impl FnMut(Record) -> bool) -> io::Result<()> {
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(200);
    let path = path(project_state);
    let mut file = fs::File::open(&path).ok();
    if let Some(file) = &mut file {
        file.seek(SeekFrom::End(0))?;
    }
    let mut begun = Vec::new();
    loop {
        thread::sleep(PAUSE);
        // What is still written to the old file is read before the new one is opened.
        let moved = file.as_mut().is_none_or(|file| is_another(file, &path));
        if let Some(file) = &mut file {
            file.read_to_end(&mut begun)?;
        }
        // A line that is still being written waits for the next round.
        let whole = begun.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = begun.drain(..whole).collect();
        for line in String::from_utf8_lossy(&lines).lines() {
            if let Some(record) = Record::parse(line)
                && !show(record)
            {
                return Ok(());
            }
        }
        if moved {
            file = fs::File::open(&path).ok();
        }
    }
}

/// Whether a new file has taken the place of the open one.
fn is_another(file: &mut fs::File, path: &Path) -> bool {
    if cfg!(unix) {
        files::identity(path) != files::identity_of_open(file)
    } else {
        // Where files cannot be told apart, a new one is known by being shorter.
        matches!((fs::metadata(path), file.stream_position()), (Ok(now), Ok(read)) if now.len() < read)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow::{Break, Continue};

    use super::*;

    fn ids(directory: &Path, most: usize) -> Vec<String> {
        let mut found = Vec::new();
        visit_last(directory, |line| {
            found.extend(Record::of_line(line).map(|record| record.text("id").to_owned()));
            if found.len() == most { Break(()) } else { Continue(()) }
        })
        .unwrap();
        found
    }

    #[test]
    fn a_line_behind_one_that_was_cut_off_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let half = "{\"id\":\"a\",\"guards\":[{\"evidence\":[\"{\\\"id\\\":\\\"x";
        fs::write(path(dir.path()), format!("{half}{{\"id\":\"b\"}}\n{{\"id\":\"c\"}}\n{half}")).unwrap();
        assert_eq!(ids(dir.path(), 9), ["c", "b"]);
        assert_eq!(read_all(dir.path()).unwrap().len(), 2);
    }

    #[test]
    fn the_end_is_read_newest_first_and_over_a_new_file() {
        let dir = tempfile::tempdir().unwrap();
        assert!(ids(dir.path(), 5).is_empty());
        fs::write(old_file(dir.path(), 1), "{\"id\":\"a\"}\n{\"id\":\"b\"}\n").unwrap();
        fs::write(path(dir.path()), "torn\n{\"id\":\"c\"}\n\u{1}[]\n{\"id\":\"d\"}\n{\"id\":").unwrap();
        assert_eq!(ids(dir.path(), 9), ["d", "c", "b", "a"]);
        assert_eq!(ids(dir.path(), 2), ["d", "c"]);
    }

    #[test]
    fn no_more_than_the_end_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let line = format!("{{\"id\":\"x\",\"text\":\"{}\"}}\n", "x".repeat(1000));
        fs::write(path(dir.path()), line.repeat(5000)).unwrap();
        fs::write(old_file(dir.path(), 1), line.as_bytes()).unwrap();
        assert_eq!(ids(dir.path(), usize::MAX).len(), (64 << 10) / line.len());
        // A line beyond measure hides what stands before it, and harms nobody.
        let huge = format!("{{\"id\":\"y\",\"text\":\"{}\"}}\n", "y".repeat(1 << 20));
        fs::write(path(dir.path()), format!("{line}{huge}")).unwrap();
        assert!(ids(dir.path(), 5).is_empty());
    }
}

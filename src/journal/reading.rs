//! Reading the journal back, for `explain` and `journal`.
//!
//! A line that is torn or from another version is skipped or read as far as it goes: the journal
//! is a record for people, and one bad line must not hide the others.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::{fs, thread};

use serde_json::Value;

use super::{KEPT, old_file, path};
use crate::files;

/// One line of the journal.
#[derive(Debug)]
pub struct Record(pub Value);

/// What one guard said in it.
pub struct Said<'a>(&'a Value);

impl Record {
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok().filter(Value::is_object).map(Self)
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

    pub fn is_denial(&self) -> bool {
        self.text("decision").starts_with("deny")
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

//! Reading the journal back, for `explain` and `journal`.
//!
//! A line that is torn or from another version is skipped or read as far as it goes: the journal
//! is a record for people, and one bad line must not hide the others.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::{fs, thread};

use serde_json::Value;

use super::{KEPT, old_file, path};

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
    let mut read = fs::metadata(&path).map_or(0, |metadata| metadata.len());
    loop {
        thread::sleep(PAUSE);
        let Ok(mut file) = fs::File::open(&path) else { continue };
        // A file that is shorter than what was read is a new one.
        if file.metadata()?.len() < read {
            read = 0;
        }
        file.seek(SeekFrom::Start(read))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // A line that is still being written waits for the next round.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        read += whole as u64;
        for line in String::from_utf8_lossy(&bytes[..whole]).lines() {
            if let Some(record) = Record::parse(line)
                && !show(record)
            {
                return Ok(());
            }
        }
    }
}

//! The hook log: one line when a hook starts, and one when it ends.
//!
//! A hook that the client cuts off has only the first line. Hooks run in parallel, so each line is one append, and an id
//! joins the two.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What one hook was given and what it answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HookRecord {
    pub event: String,
    pub tool: Option<String>,
    /// The type of the subagent, if the event belongs to one.
    pub agent: Option<String>,
    pub argv: Vec<String>,
    /// Its input; a string if that was not JSON.
    pub input: Value,
    /// When it started, in seconds since 1970.
    pub started: f64,
    /// How it ended. `None` means that it was cut off.
    #[serde(skip)]
    pub end: Option<HookEnd>,
    pub(crate) pid: i32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookEnd {
    pub stdout: String,
    pub stderr: String,
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    pub micros: u64,
}

impl HookRecord {
    pub fn stdout(&self) -> &str {
        self.end.as_ref().map_or("", |end| &end.stdout)
    }

    pub fn stderr(&self) -> &str {
        self.end.as_ref().map_or("", |end| &end.stderr)
    }

    pub fn exit(&self) -> Option<i32> {
        self.end.as_ref().and_then(|end| end.exit)
    }

    /// Its output, if that is JSON.
    pub fn answer(&self) -> Option<Value> {
        serde_json::from_str(self.stdout()).ok()
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct Started {
    pub(super) id: String,
    pub(super) hook: HookRecord,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) id: String,
    pub(super) end: HookEnd,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Ended(Ended),
    Started(Started),
}

pub(super) fn append(log: &Path, line: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    // One write in append mode, so that the lines of parallel hooks do not mix.
    OpenOptions::new().append(true).create(true).open(log)?.write_all(&bytes)
}

/// Reads a log while it is being written.
#[derive(Debug, Default)]
pub(crate) struct HookLog {
    path: PathBuf,
    offset: u64,
    partial: Vec<u8>,
    records: Vec<HookRecord>,
    by_id: HashMap<String, usize>,
}

impl HookLog {
    pub(crate) fn open(path: &Path) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    /// Reads new lines, and returns the hooks that ended since the last call.
    pub(crate) fn read_new(&mut self) -> Vec<HookRecord> {
        let mut ended = Vec::new();
        let bytes = self.read_new_bytes();
        self.partial.extend(bytes);
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(Line::Started(Started { id, hook })) => {
                    self.by_id.insert(id, self.records.len());
                    self.records.push(hook);
                }
                Ok(Line::Ended(Ended { id, end })) => {
                    if let Some(index) = self.by_id.get(&id) {
                        self.records[*index].end = Some(end);
                        ended.push(self.records[*index].clone());
                    }
                }
                // A hook may write to any file that it finds, so other lines are ignored.
                Err(_) => {}
            }
        }
        ended
    }

    /// All records so far, in the order in which the hooks started.
    pub(crate) fn records(&self) -> &[HookRecord] {
        &self.records
    }

    fn read_new_bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // The log does not exist until the first hook starts.
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.offset))?;
            file.read_to_end(&mut bytes)
        });
        self.offset += read.unwrap_or_default() as u64;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(id: &str) -> Started {
        let hook = HookRecord {
            event: "Stop".into(),
            tool: None,
            agent: None,
            argv: vec!["x".into()],
            input: Value::Null,
            started: 1.0,
            end: None,
            pid: 1,
        };
        Started { id: id.into(), hook }
    }

    fn ended(id: &str) -> Ended {
        Ended {
            id: id.into(),
            end: HookEnd {
                stdout: "out".into(),
                stderr: String::new(),
                exit: Some(0),
                signal: None,
                micros: 5,
            },
        }
    }

    #[test]
    fn a_hook_that_never_ended_has_a_record() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = HookLog::open(&path);
        assert!(log.read_new().is_empty());
        append(&path, &started("a")).unwrap();
        append(&path, &started("b")).unwrap();
        append(&path, &ended("b")).unwrap();
        let ended_hooks = log.read_new();
        assert_eq!(ended_hooks.len(), 1);
        assert_eq!(ended_hooks[0].stdout(), "out");
        assert_eq!(log.records().len(), 2);
        assert!(log.records()[0].end.is_none());
        append(&path, &ended("a")).unwrap();
        assert_eq!(log.read_new().len(), 1, "a hook that ends later is returned later");
    }

    #[test]
    fn a_partial_line_is_read_once_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let whole = format!("{}\n", serde_json::to_string(&started("a")).unwrap());
        let (left, right) = whole.split_at(20);
        let mut log = HookLog::open(&path);
        std::fs::write(&path, left).unwrap();
        log.read_new();
        assert!(log.records().is_empty());
        OpenOptions::new().append(true).open(&path).unwrap().write_all(right.as_bytes()).unwrap();
        log.read_new();
        assert_eq!(log.records().len(), 1);
    }
}

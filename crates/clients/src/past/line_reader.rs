//! Reads a file line by line in constant memory.
//!
//! The buffer grows only for a line that does not fit, and shrinks again behind it. A line that is longer than any
//! client writes is skipped without being kept. What is appended while the file is read is left out, so that two
//! readers of one file see the same lines.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use provost_files as files;

/// How much is read at once, and at first: the start of a file is enough for some readers.
const CHUNK: usize = 256 << 10;
const FIRST: usize = 16 << 10;
/// No client writes longer lines. The longest that was seen has 13 MB.
pub const LONGEST: usize = 256 << 20;

/// A line of a file, without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    Whole(&'a [u8]),
    /// The last line of the file, which has no end: its writer may not be done with it.
    Unfinished(&'a [u8]),
    /// Longer than [`LONGEST`].
    TooLong,
}

/// What a look for the next line found.
pub enum Found<'a> {
    Line(Line<'a>),
    /// More of the file has to be read first.
    NeedsMore,
    End,
}

thread_local! {
    /// The buffer of the last file. New memory for each file would cost as much as reading it.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

pub struct LineReader {
    file: io::Take<File>,
    buffer: Vec<u8>,
    /// The bytes of the buffer that are read and not used yet.
    start: usize,
    end: usize,
    /// Before this place, the buffer has no end of a line.
    searched: usize,
    is_started: bool,
    is_at_end: bool,
    /// The rest of a line that is too long is being skipped.
    is_skipping: bool,
    longest: usize,
}

impl LineReader {
    /// Opens a regular file. Whatever comes behind its current end is not read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (file, metadata) = files::open_regular(path)?;
        Ok(Self {
            file: file.take(metadata.len()),
            buffer: SPARE.take(),
            start: 0,
            end: 0,
            searched: 0,
            is_started: false,
            is_at_end: false,
            is_skipping: false,
            longest: LONGEST,
        })
    }

    /// The next line of what is read so far.
    pub fn next_line(&mut self) -> Found<'_> {
        if let Some(found) = memchr::memchr(b'\n', &self.buffer[self.searched..self.end]) {
            let line = self.start..self.searched + found;
            self.start = line.end + 1;
            self.searched = self.start;
            let line = Line::Whole(trim_return(&self.buffer[line]));
            return Found::Line(if std::mem::take(&mut self.is_skipping) { Line::TooLong } else { line });
        }
        self.searched = self.end;
        if !self.is_at_end {
            return Found::NeedsMore;
        }
        let line = self.start..self.end;
        self.start = self.end;
        match (std::mem::take(&mut self.is_skipping), line.is_empty()) {
            (true, _) => Found::Line(Line::TooLong),
            (false, true) => Found::End,
            (false, false) => Found::Line(Line::Unfinished(trim_return(&self.buffer[line]))),
        }
    }

    /// Reads more of the file, and returns how much.
    pub fn read_more(&mut self) -> io::Result<usize> {
        if self.end - self.start > self.longest {
            self.is_skipping = true;
        }
        if self.is_skipping {
            self.start = self.end;
        }
        // The rest of a line moves to the front of the buffer.
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.searched = self.end;
        self.start = 0;
        let wanted = if self.end >= CHUNK { 2 * self.end } else { 2 * CHUNK };
        if self.buffer.len() < wanted || self.buffer.len() > 8 * wanted {
            self.buffer.resize(wanted, 0);
            self.buffer.shrink_to_fit();
        }
        let room = self.end + if self.is_started { CHUNK.max(self.end) } else { FIRST };
        self.is_started = true;
        loop {
            match self.file.read(&mut self.buffer[self.end..room]) {
                Ok(count) => {
                    self.end += count;
                    self.is_at_end = count == 0;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.is_at_end = true;
                    return Err(error);
                }
            }
        }
    }
}

impl Drop for LineReader {
    fn drop(&mut self) {
        if self.buffer.len() <= 2 * CHUNK {
            SPARE.set(std::mem::take(&mut self.buffer));
        }
    }
}

fn trim_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], longest: usize) -> Vec<(usize, String)> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, text).unwrap();
        let mut reader = LineReader::open(&path).unwrap();
        reader.longest = longest;
        let mut lines = Vec::new();
        loop {
            match reader.next_line() {
                Found::Line(line) => lines.push(match line {
                    Line::Whole(line) => (line.len(), "whole".to_owned()),
                    Line::Unfinished(line) => (line.len(), "unfinished".to_owned()),
                    Line::TooLong => (0, "too long".to_owned()),
                }),
                Found::NeedsMore => _ = reader.read_more().unwrap(),
                Found::End => return lines,
            }
        }
    }

    #[test]
    fn lines_of_every_length_are_found_once() {
        for length in [0, 1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 5 * CHUNK + 7] {
            let line = "x".repeat(length);
            let text = format!("a\n{line}\r\n\n{line}\nend");
            let expected = [1, length, 0, length].map(|length| (length, "whole".to_owned()));
            let mut expected = expected.to_vec();
            expected.push((3, "unfinished".into()));
            assert_eq!(read(text.as_bytes(), LONGEST), expected, "{length}");
        }
        assert_eq!(read(b"", LONGEST), []);
        assert_eq!(read(b"\n", LONGEST), [(0, "whole".into())]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_not_kept() {
        let text = format!("a\n{}\nb\n{}", "x".repeat(9 * CHUNK), "y".repeat(9 * CHUNK));
        let lines = read(text.as_bytes(), CHUNK);
        let kinds: Vec<&str> = lines.iter().map(|(_, kind)| kind.as_str()).collect();
        assert_eq!(kinds, ["whole", "too long", "whole", "too long"]);
    }

    #[test]
    fn memory_follows_the_longest_line_and_shrinks_behind_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let text = format!("{}\n{}", "x".repeat(40 * CHUNK), "short\n".repeat(CHUNK));
        std::fs::write(&path, text).unwrap();
        let mut reader = LineReader::open(&path).unwrap();
        let mut largest = 0;
        loop {
            largest = largest.max(reader.buffer.capacity());
            match reader.next_line() {
                Found::Line(_) => {}
                Found::NeedsMore => _ = reader.read_more().unwrap(),
                Found::End => break,
            }
        }
        assert!(largest < 200 * CHUNK && reader.buffer.capacity() <= 8 * CHUNK, "{largest}");
    }

    #[test]
    fn what_is_appended_later_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "one\n").unwrap();
        let mut reader = LineReader::open(&path).unwrap();
        std::fs::write(&path, "one\ntwo\n").unwrap();
        let mut count = 0;
        loop {
            match reader.next_line() {
                Found::Line(_) => count += 1,
                Found::NeedsMore => _ = reader.read_more().unwrap(),
                Found::End => break,
            }
        }
        assert_eq!(count, 1);
    }

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        assert!(LineReader::open(dir.path()).is_err());
    }
}

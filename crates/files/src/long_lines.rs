//! Reads a file of lines as a stream.
//!
//! Neither the size of the file nor that of a line decides how much memory it takes.

use std::io::{self, BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use super::byte_search::find_byte;
use super::open_regular;

/// Calls `visit` with each line of a file, without its end, until it breaks. A line of more than `longest` bytes is `None`.
pub fn for_each_line(
    path: &Path,
    longest: usize,
    mut visit: impl FnMut(Option<&[u8]>) -> ControlFlow<()>,
) -> io::Result<()> {
    const CHUNK: usize = 64 << 10;
    let mut reader = BufReader::with_capacity(CHUNK, open_regular(path)?.0);
    // The start of a line whose end is in a later chunk.
    let mut start: Vec<u8> = Vec::new();
    let mut is_too_long = false;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        let (part, used, is_end) = match find_byte(chunk, b'\n') {
            Some(at) => (&chunk[..at], at + 1, true),
            None => (chunk, chunk.len(), false),
        };
        is_too_long |= start.len() + part.len() > longest;
        let line = if is_too_long || (is_end && start.is_empty()) {
            part
        } else {
            start.extend_from_slice(part);
            &start
        };
        let flow = if is_end { visit((!is_too_long).then_some(line)) } else { ControlFlow::Continue(()) };
        if is_end || is_too_long {
            start.clear();
        }
        is_too_long &= !is_end;
        reader.consume(used);
        if flow.is_break() {
            return Ok(());
        }
    }
    if is_too_long || !start.is_empty() {
        let _ = visit((!is_too_long).then_some(&start));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(bytes: &[u8], longest: usize) -> Vec<Option<Vec<u8>>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, bytes).unwrap();
        let mut lines = Vec::new();
        let visit = |line: Option<&[u8]>| {
            lines.push(line.map(<[u8]>::to_vec));
            ControlFlow::Continue(())
        };
        for_each_line(&path, longest, visit).unwrap();
        lines
    }

    #[test]
    fn lines_come_whole_and_too_long_ones_do_not() {
        let known = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(read(b"a\n\nb\xff", 9), [known("a"), known(""), Some(b"b\xff".to_vec())]);
        assert_eq!(read(b"", 9), []);
        assert_eq!(read(b"abc\nabcd\nab\nabcde", 3), [known("abc"), None, known("ab"), None]);
        // Lines that are longer than a chunk of the reader.
        let (long, longer) = ("x".repeat(200_000), "y".repeat(200_001));
        let text = format!("{long}\n{longer}\n{long}\nz\n");
        assert_eq!(read(text.as_bytes(), 200_000), [known(&long), None, known(&long), known("z")]);
    }

    #[test]
    fn the_visitor_ends_it_and_only_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "a\nb\n").unwrap();
        let mut count = 0;
        let visit = |_: Option<&[u8]>| {
            count += 1;
            ControlFlow::Break(())
        };
        for_each_line(&path, 9, visit).unwrap();
        assert_eq!(count, 1);
        assert!(for_each_line(dir.path(), 9, |_| ControlFlow::Continue(())).is_err());
    }
}

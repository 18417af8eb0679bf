//! Searches a file of lines from its end, and reads no more of it than is needed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::open_regular;
use crate::byte_search;

const LARGEST_CHUNK: u64 = 4 << 20;

/// Calls `visit` with the lines of a file, the last one first, until it returns a value. Reads at most `limit` bytes.
pub fn find_line_backwards<T>(
    path: &Path,
    limit: u64,
    visit: impl FnMut(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    // The wanted line is usually near the end.
    const CHUNK: u64 = 16 << 10;
    find_backwards(open_regular(path)?.0, limit, CHUNK, visit)
}

fn find_backwards<T>(
    mut file: File,
    limit: u64,
    mut chunk: u64,
    mut visit: impl FnMut(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    let end = file.seek(SeekFrom::End(0))?;
    let start = end.saturating_sub(limit);
    let mut position = end;
    // The end of a line whose start is not read yet.
    let mut rest: Vec<u8> = Vec::new();
    while position > start {
        let size = chunk.min(position - start);
        position -= size;
        file.seek(SeekFrom::Start(position))?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + rest.len());
        (&mut file).take(size).read_to_end(&mut bytes)?;
        bytes.append(&mut rest);
        // Larger steps, because each step copies the rest of a long line again.
        chunk = (chunk * 4).min(LARGEST_CHUNK);
        let mut end = bytes.len();
        while let Some(at) = byte_search::find_last_byte(&bytes[..end], b'\n') {
            let line = &bytes[at + 1..end];
            if let Some(found) = (!line.is_empty()).then(|| visit(line)).flatten() {
                return Ok(Some(found));
            }
            end = at;
        }
        bytes.truncate(end);
        rest = bytes;
    }
    Ok(if rest.is_empty() { None } else { visit(&rest) })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lines_come_from_the_end_with_any_step() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        for text in ["a\nbb\n\nccc\n", "a\nbb\nccc", "\na\nbb\nccc\n\n"] {
            fs::write(&path, text).unwrap();
            for chunk in 1..15 {
                let mut seen: Vec<String> = Vec::new();
                let visit = |line: &[u8]| {
                    seen.push(String::from_utf8_lossy(line).into_owned());
                    None::<()>
                };
                find_backwards(File::open(&path).unwrap(), 100, chunk, visit).unwrap();
                assert_eq!(seen, ["ccc", "bb", "a"], "{text:?} by {chunk}");
            }
        }
    }

    #[test]
    fn the_search_ends_at_a_match_or_at_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "first\nsecond\nthird\n").unwrap();
        let starts = |letter: u8| move |line: &[u8]| (line[0] == letter).then_some(line.len());
        assert_eq!(find_line_backwards(&path, 100, starts(b's')).unwrap(), Some(6));
        assert_eq!(find_line_backwards(&path, 100, starts(b'x')).unwrap(), None);
        assert_eq!(find_line_backwards(&path, 8, starts(b'f')).unwrap(), None);
        assert!(find_line_backwards(dir.path(), 8, starts(b'f')).is_err());
    }
}

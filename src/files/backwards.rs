//! Looking through a file of lines from its end, without reading more of it than is needed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::open_regular;

/// Calls `visit` with one line after the other, the last one first, until it has found something.
/// At most `limit` bytes are looked at.
pub fn find_line_backwards<T>(
    path: &Path,
    limit: u64,
    visit: impl FnMut(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    const CHUNK: u64 = 128 << 10;
    let file = open_regular(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    find_backwards(file, limit, CHUNK, visit)
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
    // The rest of a line whose start has not been read yet.
    let mut rest: Vec<u8> = Vec::new();
    while position > start {
        let size = chunk.min(position - start);
        position -= size;
        file.seek(SeekFrom::Start(position))?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + rest.len());
        (&mut file).take(size).read_to_end(&mut bytes)?;
        bytes.append(&mut rest);
        let Some(first_break) = memchr::memchr(b'\n', &bytes) else {
            // One long line: fewer and larger steps, or each would copy all of them.
            chunk *= 2;
            rest = bytes;
            continue;
        };
        let mut end = bytes.len();
        for line_break in memchr::memrchr_iter(b'\n', &bytes) {
            let line = &bytes[line_break + 1..end];
            end = line_break;
            if let Some(found) = if line.is_empty() { None } else { visit(line) } {
                return Ok(Some(found));
            }
        }
        bytes.truncate(first_break);
        rest = bytes;
    }
    Ok(if rest.is_empty() { None } else { visit(&rest) })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lines_come_from_the_end_whatever_the_steps() {
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
    fn it_ends_where_something_is_found_or_the_limit_is_reached() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "first\nsecond\nthird\n").unwrap();
        let starts = |letter: u8| move |line: &[u8]| (line[0] == letter).then(|| line.len());
        assert_eq!(find_line_backwards(&path, 100, starts(b's')).unwrap(), Some(6));
        assert_eq!(find_line_backwards(&path, 100, starts(b'x')).unwrap(), None);
        assert_eq!(find_line_backwards(&path, 8, starts(b'f')).unwrap(), None);
        assert!(find_line_backwards(dir.path(), 8, starts(b'f')).is_err());
    }
}

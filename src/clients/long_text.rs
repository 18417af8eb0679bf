//! What a client sends, and one long text in it that is read without being copied.
//!
//! A plan of many megabytes comes as one string of the input. A JSON reader copies it twice, and
//! touching new memory costs more than everything that is done with the text. So a large input is read
//! into large pages, and its long text is unescaped in the place where it lies.

use std::io::{self, Read};

#[cfg(unix)]
type Pages = memmap2::MmapMut;
#[cfg(not(unix))]
type Pages = Vec<u8>;

/// Inputs up to this size are ordinary, and so are texts up to half of it.
const ORDINARY: usize = 256 << 10;
const LONG: usize = ORDINARY / 2;

/// What a client sent.
pub enum Input {
    Ordinary(Vec<u8>),
    Large(LongBytes),
}

/// The first bytes of a large place in memory.
#[derive(Debug)]
pub struct LongBytes {
    pages: Pages,
    length: usize,
}

/// What is left of an input, and the text that was taken out of it.
pub(super) struct Lifted {
    pub(super) rest: Vec<u8>,
    pub(super) long: LongText,
}

/// A long text, and the sign that stands for it in the rest of its input.
pub struct LongText {
    pub(super) sign: String,
    /// The bytes are UTF-8.
    pub(super) text: LongBytes,
}

impl LongBytes {
    pub fn as_bytes(&self) -> &[u8] {
        &self.pages[..self.length]
    }
}

impl Input {
    /// Reads to the end; `None`: there is more than `limit`.
    pub fn read(mut from: impl Read, limit: u64) -> io::Result<Option<Self>> {
        let mut ordinary = Vec::with_capacity(4096);
        from.by_ref().take(ORDINARY as u64).read_to_end(&mut ordinary)?;
        if ordinary.len() < ORDINARY {
            return Ok(Some(Self::Ordinary(ordinary)));
        }
        let mut pages = pages(usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1).max(ORDINARY))?;
        let mut length = ordinary.len();
        pages[..length].copy_from_slice(&ordinary);
        while length < pages.len() {
            match from.read(&mut pages[length..]) {
                Ok(0) => return Ok(Some(Self::Large(LongBytes { pages, length }))),
                Ok(more) => length += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Ordinary(bytes) => bytes,
            Self::Large(bytes) => bytes.as_bytes(),
        }
    }
}

impl From<Vec<u8>> for Input {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Ordinary(bytes)
    }
}

/// Memory that costs nothing until it is used, in pages as large as the system has them.
#[cfg(unix)]
fn pages(length: usize) -> io::Result<Pages> {
    let pages = memmap2::MmapOptions::new().len(length).map_anon()?;
    #[cfg(target_os = "linux")]
    let _ = pages.advise(memmap2::Advice::HugePage);
    Ok(pages)
}

#[cfg(not(unix))]
fn pages(length: usize) -> io::Result<Pages> {
    Ok(vec![0; length])
}

/// Takes the first long text out of a large input, or gives the input back as it was.
pub(super) fn lift(input: Input) -> Result<Lifted, Input> {
    let Input::Large(mut bytes) = input else { return Err(input) };
    let Some((start, end)) = long_string(bytes.as_bytes()) else { return Err(Input::Large(bytes)) };
    let (before, behind) = (&bytes.as_bytes()[..start], &bytes.as_bytes()[end..]);
    // A reader would refuse these, and it is not for us to mend them.
    if has_control(&bytes.as_bytes()[start..end]) {
        return Err(Input::Large(bytes));
    }
    let sign = free_sign(before, behind);
    let rest = [before, sign.as_bytes(), behind].concat();
    // An escape that nobody knows makes the whole input unreadable.
    let written = unescape(&mut bytes.pages, start, end);
    let rest = if written.is_some() { rest } else { b"{".to_vec() };
    bytes.length = written.unwrap_or(0);
    if std::str::from_utf8(bytes.as_bytes()).is_err() {
        let repaired = String::from_utf8_lossy(bytes.as_bytes()).into_owned().into_bytes();
        let mut larger = pages(repaired.len().max(1)).map_err(|_| Input::Ordinary(b"{".to_vec()))?;
        larger[..repaired.len()].copy_from_slice(&repaired);
        bytes = LongBytes { pages: larger, length: repaired.len() };
    }
    Ok(Lifted { rest, long: LongText { sign, text: bytes } })
}

/// A text that stands nowhere in these.
fn free_sign(before: &[u8], behind: &[u8]) -> String {
    let is_free = |sign: &String| {
        [before, behind].iter().all(|part| memchr::memmem::find(part, sign.as_bytes()).is_none())
    };
    let mut signs = (0_u64..).map(|number| format!("long text {number}"));
    // INVARIANT: a finite text cannot hold all of them.
    signs.find(is_free).unwrap_or_default()
}

/// Whether a control character stands in a text. Piece by piece, so that the machine can look at
/// many bytes at once.
fn has_control(text: &[u8]) -> bool {
    text.chunks(4096).any(|piece| piece.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < b' ')
}

/// Where the first long string stands, without its quotes.
fn long_string(input: &[u8]) -> Option<(usize, usize)> {
    let mut at = 0;
    while input.len() - at > LONG {
        let start = at + memchr::memchr(b'"', &input[at..])? + 1;
        let mut end = start;
        loop {
            end += memchr::memchr2(b'"', b'\\', &input[end..])?;
            if input[end] == b'"' {
                break;
            }
            end += 2;
            if end >= input.len() {
                return None;
            }
        }
        if end - start >= LONG {
            return Some((start, end));
        }
        at = end + 1;
    }
    None
}

/// Writes the text of a string's inside to the front of the buffer and gives its length; `None`: it
/// has an escape that JSON does not know. What is written is never longer than what was read.
fn unescape(buffer: &mut [u8], start: usize, end: usize) -> Option<usize> {
    let (mut from, mut to) = (start, 0);
    loop {
        let plain = memchr::memchr(b'\\', &buffer[from..end]).unwrap_or(end - from);
        buffer.copy_within(from..from + plain, to);
        from += plain;
        to += plain;
        if from == end {
            return Some(to);
        }
        let byte = match buffer.get(from + 1)? {
            byte @ (b'"' | b'\\' | b'/') => *byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (character, length) = character(&buffer[from..end])?;
                let mut bytes = [0; 4];
                let encoded = character.encode_utf8(&mut bytes).as_bytes();
                buffer[to..to + encoded.len()].copy_from_slice(encoded);
                to += encoded.len();
                from += length;
                continue;
            }
            _ => return None,
        };
        buffer[to] = byte;
        to += 1;
        from += 2;
    }
}

/// The character of one `\u` escape or of a pair, and how long that is. Half a pair is repaired, as
/// everywhere.
fn character(text: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let digits = std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let first = unit(0)?;
    if (0xd800..0xdc00).contains(&first)
        && let Some(second @ 0xdc00..=0xdfff) = unit(6)
    {
        let pair = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return Some((char::from_u32(pair)?, 12));
    }
    Some((char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn lifted(input: impl Into<Vec<u8>>) -> Result<Lifted, Vec<u8>> {
        let input = Input::read(input.into().as_slice(), 1 << 24).unwrap().unwrap();
        lift(input).map_err(|input| input.as_bytes().to_vec())
    }

    fn long(unit: &str) -> String {
        unit.repeat(ORDINARY / unit.len() + 1)
    }

    #[test]
    fn an_input_is_read_whole_or_refused() {
        for length in [0, 1, ORDINARY - 1, ORDINARY, ORDINARY + 1, 3 * ORDINARY] {
            let bytes: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let limit = length as u64;
            assert_eq!(Input::read(bytes.as_slice(), limit).unwrap().unwrap().as_bytes(), bytes);
            if length > ORDINARY {
                assert!(Input::read(bytes.as_slice(), limit - 1).unwrap().is_none());
            }
        }
    }

    #[test]
    fn a_long_text_is_what_a_reader_makes_of_it() {
        for unit in ["plain text ", "a \"quoted\" line\n\t\\", "é漢😀/\u{8}\u{c}\r", "\u{1}\u{7f}"] {
            let text = long(unit);
            let input = json!({"a": 1, "b": {"plan": text}, "c": [1, "x"]}).to_string();
            let Lifted { rest, long } = lifted(input).unwrap();
            assert_eq!(long.text.as_bytes(), text.as_bytes());
            let rest: Value = serde_json::from_slice(&rest).unwrap();
            assert_eq!(rest, json!({"a": 1, "b": {"plan": long.sign}, "c": [1, "x"]}));
        }
    }

    #[test]
    fn escapes_of_any_kind_are_read_and_broken_text_is_repaired() {
        let filler = long("x");
        let input = format!(r#"{{"a":"{filler}\u00e9\uD83D\uDE00\ud83d\/\udc00\ud83d\u0041"}}"#);
        let text = lifted(input).unwrap().long.text;
        assert_eq!(&text.as_bytes()[filler.len()..], "é😀\u{fffd}/\u{fffd}\u{fffd}A".as_bytes());
        let text = lifted([b"{\"a\":\"", filler.as_bytes(), b"\xff\"}"].concat()).unwrap().long.text;
        assert_eq!(&text.as_bytes()[filler.len()..], "\u{fffd}".as_bytes());
    }

    #[test]
    fn a_sign_that_is_taken_is_not_used() {
        let input = json!({"a": "long text 0 long text 1", "b": long("x")}).to_string();
        assert_eq!(lifted(input).unwrap().long.sign, "long text 2");
    }

    #[test]
    fn what_is_no_long_text_stays() {
        for input in [
            "{}".to_owned(),
            format!("{{\"a\":\"{}", long("x")),
            format!("{{\"a\":\"{}\\", long("x")),
            format!("{{\"a\":\"{}\n\"}}", long("x")),
            long("\"short\","),
        ] {
            assert_eq!(lifted(input.clone()).err(), Some(input.into_bytes()));
        }
    }

    #[test]
    fn an_unknown_escape_is_an_error() {
        for bad in ["\\x", "\\u12", "\\u+123"] {
            let lifted = lifted(format!("{{\"a\":\"{}{bad}\"}}", long("x")));
            assert!(
                lifted.is_ok_and(|lifted| serde_json::from_slice::<Value>(&lifted.rest).is_err()),
                "{bad}"
            );
        }
    }
}

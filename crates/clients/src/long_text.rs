//! The input of a hook, and one long text in it that is read without a copy.
//!
//! A plan of many megabytes arrives as one string in the input. A JSON reader copies it twice, and touching new memory
//! costs more than all work on the text. So a large input is read into large pages, and its long text is unescaped in
//! place.

use std::io::{self, Read};

use crate::json::decode_escape;
use provost_core::long_bytes::LongBytes;

/// Smaller inputs are ordinary, and so are texts of less than half this size.
const ORDINARY: usize = 256 << 10;
const LONG: usize = ORDINARY / 2;

/// What a client sent.
pub enum HookInput {
    Ordinary(Vec<u8>),
    Large(LongBytes),
}

/// An input without its long text, and that text.
pub(super) struct Lifted {
    pub(super) rest: Vec<u8>,
    pub(super) long: LongText,
}

/// A long text, and the placeholder that stands for it in the rest of its input.
pub struct LongText {
    pub(super) placeholder: String,
    /// Valid UTF-8.
    pub(super) text: LongBytes,
}

impl HookInput {
    /// Reads to the end; `None` if there is more than `limit`.
    pub fn read(mut from: impl Read, limit: u64) -> io::Result<Option<Self>> {
        let mut ordinary = Vec::with_capacity(4096);
        from.by_ref().take(ORDINARY as u64).read_to_end(&mut ordinary)?;
        if ordinary.len() < ORDINARY {
            return Ok(Some(Self::Ordinary(ordinary)));
        }
        let most = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1).max(ORDINARY);
        let mut long = LongBytes::allocate(most)?;
        let mut length = ordinary.len();
        long.memory_mut()[..length].copy_from_slice(&ordinary);
        while length < most {
            match from.read(&mut long.memory_mut()[length..]) {
                Ok(0) => {
                    long.set_length(length);
                    return Ok(Some(Self::Large(long)));
                }
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

impl From<Vec<u8>> for HookInput {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Ordinary(bytes)
    }
}

/// Takes the first long text out of a large input, or returns the unchanged input.
pub(super) fn lift_long_text(input: HookInput) -> Result<Lifted, HookInput> {
    let HookInput::Large(mut bytes) = input else { return Err(input) };
    let Some((start, end)) = find_long_string(bytes.as_bytes()) else { return Err(HookInput::Large(bytes)) };
    let (before, behind) = (&bytes.as_bytes()[..start], &bytes.as_bytes()[end..]);
    // JSON forbids control characters in a string, so the parser has to refuse them.
    if has_control_character(&bytes.as_bytes()[start..end]) {
        return Err(HookInput::Large(bytes));
    }
    let placeholder = choose_placeholder(before, behind);
    let rest = [before, placeholder.as_bytes(), behind].concat();
    // An unknown escape makes the whole input unreadable.
    let written = unescape(bytes.memory_mut(), start, end);
    let rest = if written.is_some() { rest } else { b"{".to_vec() };
    bytes.set_length(written.unwrap_or(0));
    if std::str::from_utf8(bytes.as_bytes()).is_err() {
        let repaired = String::from_utf8_lossy(bytes.as_bytes()).into_owned().into_bytes();
        bytes = LongBytes::allocate(repaired.len()).map_err(|_| HookInput::Ordinary(b"{".to_vec()))?;
        bytes.memory_mut()[..repaired.len()].copy_from_slice(&repaired);
        bytes.set_length(repaired.len());
    }
    Ok(Lifted { rest, long: LongText { placeholder, text: bytes } })
}

/// A text that occurs nowhere in the rest of the input.
fn choose_placeholder(before: &[u8], behind: &[u8]) -> String {
    let is_free = |text: &String| {
        [before, behind].iter().all(|part| memchr::memmem::find(part, text.as_bytes()).is_none())
    };
    let mut texts = (0_u64..).map(|number| format!("long text {number}"));
    // INVARIANT: a finite text cannot contain all of them.
    texts.find(is_free).unwrap_or_default()
}

/// Whether a text has a control character. It compares piece by piece, so that the compiler uses vector instructions.
fn has_control_character(text: &[u8]) -> bool {
    text.chunks(4096).any(|piece| piece.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < b' ')
}

/// The range of the first long string, without its quotes.
fn find_long_string(input: &[u8]) -> Option<(usize, usize)> {
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

/// Unescapes a string to the front of the buffer and returns its length; `None` if it has an unknown escape. The text is
/// never longer than its escaped form.
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
                let (character, length) = decode_escape(&buffer[from..end])?;
                let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn lifted(input: impl Into<Vec<u8>>) -> Result<Lifted, Vec<u8>> {
        let input = HookInput::read(input.into().as_slice(), 1 << 24).unwrap().unwrap();
        lift_long_text(input).map_err(|input| input.as_bytes().to_vec())
    }

    fn long(unit: &str) -> String {
        unit.repeat(ORDINARY / unit.len() + 1)
    }

    #[test]
    fn an_input_is_read_whole_or_refused() {
        for length in [0, 1, ORDINARY - 1, ORDINARY, ORDINARY + 1, 3 * ORDINARY] {
            let bytes: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let limit = length as u64;
            assert_eq!(HookInput::read(bytes.as_slice(), limit).unwrap().unwrap().as_bytes(), bytes);
            if length > ORDINARY {
                assert!(HookInput::read(bytes.as_slice(), limit - 1).unwrap().is_none());
            }
        }
    }

    #[test]
    fn a_long_text_is_unescaped_as_a_json_parser_does() {
        for unit in ["plain text ", "a \"quoted\" line\n\t\\", "é漢😀/\u{8}\u{c}\r", "\u{1}\u{7f}"] {
            let text = long(unit);
            let input = json!({"a": 1, "b": {"plan": text}, "c": [1, "x"]}).to_string();
            let Lifted { rest, long } = lifted(input).unwrap();
            assert_eq!(long.text.as_bytes(), text.as_bytes());
            let rest: Value = serde_json::from_slice(&rest).unwrap();
            assert_eq!(rest, json!({"a": 1, "b": {"plan": long.placeholder}, "c": [1, "x"]}));
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
    fn a_placeholder_occurs_nowhere_else() {
        let input = json!({"a": "long text 0 long text 1", "b": long("x")}).to_string();
        assert_eq!(lifted(input).unwrap().long.placeholder, "long text 2");
    }

    #[test]
    fn an_input_without_a_long_text_stays() {
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

//! One long text in a JSON object, read without copying it.
//!
//! A plan or a file of many megabytes comes as one string of the input. A JSON reader copies it
//! twice, and touching new memory costs more than everything that is done with the text. So it is
//! unescaped inside the buffer that it was read into, which becomes the text; what is left is small.

/// Shorter texts are not worth it.
const LONG: usize = 64 << 10;

/// What is left of an input, and the text that was taken out of it.
pub(super) struct Lifted {
    pub(super) rest: Vec<u8>,
    /// The text that stands in the rest for the long one.
    pub(super) sign: String,
    pub(super) text: String,
}

/// Takes the first long string out of a JSON text, or gives the input back as it was.
pub(super) fn lift(mut input: Vec<u8>) -> Result<Lifted, Vec<u8>> {
    let Some((start, end)) = long_string(&input) else { return Err(input) };
    // A reader would refuse these, and it is not for us to mend them.
    if has_control(&input[start..end]) {
        return Err(input);
    }
    let mut number = 0;
    let sign = loop {
        let sign = format!("long text {number}");
        let taken = |part: &[u8]| memchr::memmem::find(part, sign.as_bytes()).is_some();
        if !taken(&input[..start]) && !taken(&input[end..]) {
            break sign;
        }
        number += 1;
    };
    let rest = [&input[..start], sign.as_bytes(), &input[end..]].concat();
    let Some(length) = unescape(&mut input, start, end) else {
        // The buffer is no longer what it was, but an escape that nobody knows is an error anyway.
        return Ok(Lifted { rest: b"{".to_vec(), sign, text: String::new() });
    };
    input.truncate(length);
    let text = String::from_utf8(input)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(Lifted { rest, sign, text })
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

    fn long(unit: &str) -> String {
        unit.repeat(LONG / unit.len() + 1)
    }

    #[test]
    fn a_long_text_is_what_a_reader_makes_of_it() {
        for unit in ["plain text ", "a \"quoted\" line\n\t\\", "é漢😀/\u{8}\u{c}\r", "\u{1}\u{7f}"] {
            let text = long(unit);
            let input = json!({"a": 1, "b": {"plan": text}, "c": [1, "x"]}).to_string().into_bytes();
            let lifted = lift(input).unwrap_or_else(|_| panic!("{unit}"));
            assert_eq!(lifted.text, text);
            let rest: Value = serde_json::from_slice(&lifted.rest).unwrap();
            assert_eq!(rest, json!({"a": 1, "b": {"plan": lifted.sign}, "c": [1, "x"]}));
        }
    }

    #[test]
    fn escapes_of_any_kind_are_read() {
        let filler = long("x");
        let input = format!(r#"{{"a":"{filler}\u00e9\uD83D\uDE00\ud83d\/\udc00\ud83d\u0041"}}"#);
        let lifted = lift(input.into_bytes()).unwrap_or_else(|_| panic!());
        assert_eq!(&lifted.text[filler.len()..], "é😀\u{fffd}/\u{fffd}\u{fffd}A");
    }

    #[test]
    fn a_sign_that_is_taken_is_not_used() {
        let input = json!({"a": "long text 0 long text 1", "b": long("x")}).to_string();
        assert_eq!(lift(input.into_bytes()).unwrap_or_else(|_| panic!()).sign, "long text 2");
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
            assert_eq!(lift(input.clone().into_bytes()).err(), Some(input.into_bytes()));
        }
    }

    #[test]
    fn an_unknown_escape_is_an_error() {
        for bad in ["\\x", "\\u12", "\\u+123"] {
            let lifted = lift(format!("{{\"a\":\"{}{bad}\"}}", long("x")).into_bytes());
            assert!(
                lifted.is_ok_and(|lifted| serde_json::from_slice::<Value>(&lifted.rest).is_err()),
                "{bad}"
            );
        }
    }
}

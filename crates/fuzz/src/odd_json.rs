//! JSON that is still JSON, or nearly: values of other types, names that stand twice, numbers without end.

use std::ops::Range;

use fastrand::Rng;

/// What takes the place of a value.
const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1.5",
    "1e999",
    "-0",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890.10",
    "\"\"",
    "\" \"",
    "\"\\ud83d\"",
    "\"\\udc00x\"",
    "\"\\u0000\"",
    "\"a\\r\\nb\"",
    "\"\\u001b[2J\"",
    "\"../../etc\"",
    "\"~\"",
    "\"2\"",
    "[]",
    "{}",
    "[[]]",
    "[null]",
    "{\"\":{}}",
    "\"\\u202e\"",
    "\"true\"",
    "[1,\"x\",{}]",
];
const DEEPEST: usize = 300;

/// One change at the edges of values; `None`: there is nothing like a value.
pub fn mutated(bytes: &[u8], random: &mut Rng) -> Option<Vec<u8>> {
    let values = values(bytes);
    if values.is_empty() {
        return None;
    }
    let at = values[random.usize(..values.len())].clone();
    let other = values[random.usize(..values.len())].clone();
    let odd = VALUES[random.usize(..VALUES.len())].as_bytes();
    let with = |new: &[u8]| [&bytes[..at.start], new, &bytes[at.end..]].concat();
    let part = &bytes[at.clone()];
    Some(match random.u8(..10) {
        0..=2 => with(odd),
        3 => with(&bytes[other]),
        // As one more value, or one more name with a value.
        4 => with(&[part, b",", odd].concat()),
        5 => with(&[part, b":", odd, b",", part].concat()),
        6 => {
            let depth = if random.u8(..10) == 0 { DEEPEST } else { 1 };
            with(&[&b"[".repeat(depth), part, &b"]".repeat(depth)].concat())
        }
        7 => with(&[b"{\"x\":", part, b"}"].concat()),
        // The same text in another spelling.
        8 if part.len() > 2 && part[0] == b'"' && part[1].is_ascii_alphanumeric() => {
            with(&[format!("\"\\u{:04x}", part[1]).as_bytes(), &part[2..]].concat())
        }
        _ => with(b""),
    })
}

/// Where values stand, as far as quotes and brackets pair.
fn values(bytes: &[u8]) -> Vec<Range<usize>> {
    const MOST: usize = 2_000;
    let mut found = Vec::new();
    let mut open = Vec::new();
    let mut at = 0;
    while at < bytes.len() && found.len() < MOST {
        let start = at;
        at += 1;
        match bytes[start] {
            b'"' => {
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                found.push(start..at);
            }
            b'{' | b'[' => open.push(start),
            b'}' | b']' => found.extend(open.pop().map(|begin| begin..at)),
            byte if byte.is_ascii_alphanumeric() || byte == b'-' => {
                while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || b"+-.".contains(&bytes[at])) {
                    at += 1;
                }
                found.push(start..at);
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_where_they_stand() {
        let text = br#"{"a":[1,-2.5e3],"b\"}":null}"#;
        let found: Vec<&str> =
            values(text).into_iter().map(|range| std::str::from_utf8(&text[range]).unwrap()).collect();
        assert_eq!(
            found,
            ["\"a\"", "1", "-2.5e3", "[1,-2.5e3]", "\"b\\\"}\"", "null", std::str::from_utf8(text).unwrap()]
        );
    }
}

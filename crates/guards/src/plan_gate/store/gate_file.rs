//! Reads and writes `gate.yml`, a file of flat `key: value` lines.
//!
//! The parser knows the part of YAML that users and scripts write into this file: plain values, values in
//! quotes, and comments after them. Everything else in the file, in any bytes, stays as it is, and so does
//! the line of a value that is already right. No YAML crate keeps comments and bytes that are not UTF-8.

use crate::prelude::*;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateFile(Vec<Vec<u8>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateKey {
    PlanFile,
    PlanHash,
    GapsFile,
    GapsHash,
    Status,
    Reason,
    Timestamp,
    /// Added by Provost; the design document has no such line.
    Seal,
}

/// The keys in the order of a new file.
const KEYS: &[(GateKey, &str)] = &[
    (GateKey::PlanFile, "plan_file"),
    (GateKey::PlanHash, "plan_hash"),
    (GateKey::GapsFile, "gaps_file"),
    (GateKey::GapsHash, "gaps_hash"),
    (GateKey::Status, "status"),
    (GateKey::Reason, "reason"),
    (GateKey::Timestamp, "timestamp"),
    (GateKey::Seal, "seal"),
];

struct LineValue<'l> {
    text: Option<String>,
    /// The comment after the value, with the white space before it.
    comment: &'l [u8],
}

impl GateFile {
    pub fn parse(bytes: &[u8]) -> Self {
        Self(bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.concat()
    }

    /// The value of a key; `None` if it is empty or `null`.
    pub fn get(&self, key: GateKey) -> Option<String> {
        self.0.iter().find_map(|line| read_value(line, key))?.text
    }

    /// The name of a key that occurs more than once, so that its value is not certain.
    pub fn find_duplicate_key(&self) -> Option<&'static str> {
        let lines = |key| self.0.iter().filter(move |line| read_value(line, key).is_some());
        KEYS.iter().find(|(key, _)| lines(*key).nth(1).is_some()).map(|(_, word)| *word)
    }

    /// Sets a value in the line of its key. Further lines of the same key are removed.
    pub fn set(&mut self, key: GateKey, text: Option<&str>) {
        let is_wanted = text.is_some() || key != GateKey::Seal;
        let mut is_there = false;
        let mut lines = Vec::with_capacity(self.0.len() + 1);
        for known in std::mem::take(&mut self.0) {
            match read_value(&known, key) {
                None => lines.push(known),
                Some(now) if is_wanted && !is_there => {
                    is_there = true;
                    let is_right = now.text.as_deref() == text;
                    let changed = write_line(key, text, now.comment, split_end(&known).1);
                    lines.push(if is_right { known } else { changed });
                }
                Some(_) => {}
            }
        }
        if is_wanted && !is_there {
            if let Some(last) = lines.last_mut().filter(|line| !line.ends_with(b"\n")) {
                last.push(b'\n');
            }
            lines.push(write_line(key, text, b"", b"\n"));
        }
        self.0 = lines;
    }
}

impl GateKey {
    fn word(self) -> &'static str {
        KEYS.iter().find(|(key, _)| *key == self).map_or("", |(_, word)| *word)
    }
}

fn write_line(key: GateKey, text: Option<&str>, comment: &[u8], end: &[u8]) -> Vec<u8> {
    let text = match text {
        Some(text) if is_plain(text) => text.to_owned(),
        Some(text) => serde_json::Value::from(text).to_string(),
        // As the design document writes it.
        None if key == GateKey::Reason => "null".to_owned(),
        None => String::new(),
    };
    let space = if text.is_empty() { "" } else { " " };
    [format!("{}:{space}{text}", key.word()).as_bytes(), comment, end].concat()
}

/// Whether YAML reads a text without quotes as exactly this text.
fn is_plain(text: &str) -> bool {
    let odd = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    !is_null(text)
        && text.trim() == text
        && !text.starts_with(|c| "-?:,[]{}#&*!|>'\"%@`".contains(c))
        && !text.contains(odd)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// The value of a key in a line; `None` if the line has another key.
fn read_value(line: &[u8], key: GateKey) -> Option<LineValue<'_>> {
    let (line, _) = split_end(line);
    let rest = line.strip_prefix(key.word().as_bytes())?.strip_prefix(b":")?;
    if !rest.first().is_none_or(|byte| is_blank(*byte)) {
        return None;
    }
    let rest = &rest[rest.iter().take_while(|byte| is_blank(**byte)).count()..];
    let quoted = match rest.first() {
        Some(b'"') => read_double_quotes(rest),
        Some(b'\'') => read_single_quotes(rest),
        _ => None,
    };
    if let Some((text, length)) = quoted
        && let Some(comment) = read_comment(&rest[length..])
    {
        return Some(LineValue { text: Some(text).filter(|text| !text.is_empty()), comment });
    }
    let begins = |at: &usize| rest[*at] == b'#' && (*at == 0 || is_blank(rest[*at - 1]));
    let end = (0..rest.len()).find(begins).unwrap_or(rest.len());
    let plain = rest[..end].trim_ascii_end();
    let comment: &[u8] = match end {
        end if end == rest.len() => b"",
        // With the blank before it, which a new value needs.
        0 => &line[line.len() - rest.len() - 1..],
        _ => &rest[plain.len()..],
    };
    let text = String::from_utf8_lossy(plain).into_owned();
    Some(LineValue { text: Some(text).filter(|text| !is_null(text)), comment })
}

fn read_double_quotes(text: &[u8]) -> Option<(String, usize)> {
    let mut strings = serde_json::Deserializer::from_slice(text).into_iter::<String>();
    let string = strings.next()?.ok()?;
    Some((string, strings.byte_offset()))
}

/// Reads a text in single quotes, in which a quote is written twice.
fn read_single_quotes(text: &[u8]) -> Option<(String, usize)> {
    let mut end = 1;
    loop {
        end += text[end..].iter().position(|byte| *byte == b'\'')?;
        if text.get(end + 1) != Some(&b'\'') {
            return Some((String::from_utf8_lossy(&text[1..end]).replace("''", "'"), end + 1));
        }
        end += 2;
    }
}

/// The comment after a value in quotes; `None` if something else follows the value.
fn read_comment(text: &[u8]) -> Option<&[u8]> {
    match text.trim_ascii() {
        [] => Some(b""),
        // Any white space before a comment counts, as it does after a plain value.
        [b'#', ..] if text[0].is_ascii_whitespace() => Some(text),
        _ => None,
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn split_end(line: &[u8]) -> (&[u8], &[u8]) {
    let body = line.strip_suffix(b"\n").unwrap_or(line);
    let body = body.strip_suffix(b"\r").unwrap_or(body);
    line.split_at(body.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the document shows it.
    const FILE: &str = "plan_file: /Users/whfreelove/plans/lucky-dreaming-badger.md
plan_hash: a1b2c3d4e5f6
gaps_file:
gaps_hash:
status: pass  # or fail or pending
reason: null  # or explanation if fail
timestamp: 2026-01-21T20:00:00Z
";

    fn read(text: &str) -> GateFile {
        GateFile::parse(text.as_bytes())
    }

    fn text(file: &GateFile) -> String {
        String::from_utf8(file.to_bytes()).unwrap()
    }

    #[test]
    fn the_example_of_the_design_document_is_read() {
        let file = read(FILE);
        let get = |key| file.get(key).unwrap_or_default();
        assert_eq!(get(GateKey::PlanFile), "/Users/whfreelove/plans/lucky-dreaming-badger.md");
        assert_eq!(get(GateKey::Status), "pass", "a comment is no part of a value");
        assert_eq!(get(GateKey::Timestamp), "2026-01-21T20:00:00Z");
        for none in [GateKey::GapsFile, GateKey::GapsHash, GateKey::Reason, GateKey::Seal] {
            assert_eq!(file.get(none), None, "{none:?}");
        }
        assert_eq!(text(&file), FILE);
    }

    #[test]
    fn order_comments_and_unknown_lines_stay() {
        let before =
            "# mine\r\nstatus: pass  # or fail\r\n\r\nextra: [1, 2]\r\n  status: nested\r\nreason: x";
        let mut file = read(before);
        file.set(GateKey::Status, Some("pending"));
        file.set(GateKey::Reason, None);
        file.set(GateKey::Seal, Some("5ea1"));
        assert_eq!(
            text(&file),
            "# mine\r\nstatus: pending  # or fail\r\n\r\nextra: [1, 2]\r\n  status: nested\r\nreason: null\nseal: 5ea1\n"
        );
        file.set(GateKey::Seal, None);
        assert!(!text(&file).contains("seal"));
    }

    #[test]
    fn a_value_that_is_right_keeps_its_line() {
        let before = "status:   'pass'   # sure\nreason: \"null\"\n";
        let mut file = read(before);
        file.set(GateKey::Status, Some("pass"));
        file.set(GateKey::Reason, Some("null"));
        assert_eq!(text(&file), before);
    }

    #[test]
    fn a_comment_in_the_place_of_a_value_stays_one() {
        let mut file = read("gaps_file: # none yet\nreason:  # why\n");
        assert_eq!((file.get(GateKey::GapsFile), file.get(GateKey::Reason)), (None, None));
        file.set(GateKey::GapsFile, Some("/a"));
        file.set(GateKey::Reason, Some("b"));
        assert_eq!(text(&file), "gaps_file: /a # none yet\nreason: b # why\n");
    }

    #[test]
    fn any_text_comes_back() {
        let texts = [
            "plain",
            "a: b",
            "a #b",
            "a#b",
            "a:b",
            "- a",
            "'x'",
            "\"x\"",
            "null",
            "~",
            "x:",
            " x ",
            "two\nlines",
            "cr\r",
            "tab\t",
            "back\\slash",
            "@me",
            "me@work.md",
            "{}",
            "[RODIN]",
            "%",
            "`x`",
            "ä – ü",
            "\u{2028}",
            "\u{0}",
            "it's",
            "a > b -->",
            "#",
            "yes",
        ];
        for expected in texts {
            for before in ["", FILE, "reason: old # c\n"] {
                let mut file = read(before);
                file.set(GateKey::Reason, Some(expected));
                assert_eq!(GateFile::parse(&file.to_bytes()).get(GateKey::Reason).as_deref(), Some(expected));
                assert_eq!(text(&file).matches("\nreason:").count() + usize::from(before != FILE), 1);
            }
        }
        let mut file = read("");
        file.set(GateKey::PlanFile, Some("/home/me@work/a b.md"));
        assert_eq!(text(&file), "plan_file: /home/me@work/a b.md\n");
    }

    #[test]
    fn a_value_stays_readable_before_a_comment_behind_any_white_space() {
        let mut file = GateFile::parse(b"reason: x\x0c # why\n");
        assert_eq!(file.get(GateKey::Reason).as_deref(), Some("x"));
        file.set(GateKey::Reason, Some("\"} # y"));
        assert_eq!(file.get(GateKey::Reason).as_deref(), Some("\"} # y"));
    }

    #[test]
    fn quotes_that_do_not_close_are_a_plain_text() {
        for (line, expected) in [
            ("reason: \"a", "\"a"),
            ("reason: 'a", "'a"),
            ("reason: \"a\" b # c", "\"a\" b"),
            ("reason: 'it''s' # c", "it's"),
        ] {
            assert_eq!(read(line).get(GateKey::Reason).as_deref(), Some(expected), "{line}");
        }
        for none in ["reason: \"\"", "reason: '' # c"] {
            assert_eq!(read(none).get(GateKey::Reason), None, "{none}");
        }
        assert_eq!(read("reason:x").get(GateKey::Reason), None, "no blank, no value");
        assert_eq!(read(" reason: x").get(GateKey::Reason), None, "a line of something else");
    }

    #[test]
    fn a_key_that_occurs_twice_is_reported_and_fixed() {
        for key in [GateKey::Status, GateKey::Seal] {
            let word = key.word();
            let mut file = read(&format!("{word}: a\nx\n{word}: b\n{word}: c\ny\n"));
            assert_eq!(file.find_duplicate_key(), Some(word));
            let mut without = file.clone();
            file.set(key, Some("d"));
            assert_eq!(text(&file), format!("{word}: d\nx\ny\n"));
            without.set(key, None);
            assert_eq!(without.get(key), None);
            assert_eq!(without.find_duplicate_key(), None);
            assert!(text(&without).ends_with("x\ny\n"));
        }
        assert_eq!(read(FILE).find_duplicate_key(), None);
    }

    #[test]
    fn any_bytes_can_be_read() {
        let mut state = 7_u32;
        for round in 0..2_000 {
            let mut bytes = Vec::new();
            for _ in 0..round % 97 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let parts: [&[u8]; 9] =
                    [b"status:", b" ", b"\"", b"'", b"#", b"\n", b"\r", b"seal: ", b"\xff\0"];
                bytes.extend(parts[(state >> 16) as usize % parts.len()]);
            }
            let mut file = GateFile::parse(&bytes);
            assert_eq!(file.to_bytes(), bytes);
            file.set(GateKey::Status, Some("pass"));
            file.set(GateKey::Seal, None);
            let again = GateFile::parse(&file.to_bytes());
            assert_eq!(
                (again.get(GateKey::Status).as_deref(), again.get(GateKey::Seal)),
                (Some("pass"), None)
            );
            assert_eq!(again.find_duplicate_key(), None);
        }
    }
}

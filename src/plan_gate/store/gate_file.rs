//! `gate.yml`: flat `key: value` lines, one parser and one writer.
//!
//! Of YAML it is what people and scripts write into such a file: plain values, values in quotes,
//! comments behind them. Whatever else stands in the file, in any bytes, is not read and not touched;
//! a value that is already right keeps the line it has.

/// What the file says, as the lines that it is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateFile(Vec<Vec<u8>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    PlanFile,
    PlanHash,
    GapsFile,
    GapsHash,
    Status,
    Reason,
    Timestamp,
    /// Ours; the document has no such line, and a file without a seal has none either.
    Seal,
}

/// In the order of a new file.
const KEYS: &[(Key, &str)] = &[
    (Key::PlanFile, "plan_file"),
    (Key::PlanHash, "plan_hash"),
    (Key::GapsFile, "gaps_file"),
    (Key::GapsHash, "gaps_hash"),
    (Key::Status, "status"),
    (Key::Reason, "reason"),
    (Key::Timestamp, "timestamp"),
    (Key::Seal, "seal"),
];

/// What stands behind a key.
struct Value<'l> {
    text: Option<String>,
    /// The comment, with the white space before it.
    comment: &'l [u8],
}

impl GateFile {
    pub fn read(bytes: &[u8]) -> Self {
        Self(bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.concat()
    }

    /// The value of a key; an empty one and `null` are none.
    pub fn get(&self, key: Key) -> Option<String> {
        self.0.iter().find_map(|line| value(line, key))?.text
    }

    /// The name of a key that is there more than once, so that nobody can say which one counts.
    pub fn doubled(&self) -> Option<&'static str> {
        let lines = |key| self.0.iter().filter(move |line| value(line, key).is_some());
        KEYS.iter().find(|(key, _)| lines(*key).nth(1).is_some()).map(|(_, word)| *word)
    }

    /// Gives a key this value, in the line that it has. A second line of the same key goes.
    pub fn set(&mut self, key: Key, text: Option<&str>) {
        let is_wanted = text.is_some() || key != Key::Seal;
        let mut is_there = false;
        let mut lines = Vec::with_capacity(self.0.len() + 1);
        for known in std::mem::take(&mut self.0) {
            match value(&known, key) {
                None => lines.push(known),
                Some(now) if is_wanted && !is_there => {
                    is_there = true;
                    let is_right = now.text.as_deref() == text;
                    let mended = line(key, text, now.comment, split_end(&known).1);
                    lines.push(if is_right { known } else { mended });
                }
                Some(_) => {}
            }
        }
        if is_wanted && !is_there {
            if let Some(last) = lines.last_mut().filter(|line| !line.ends_with(b"\n")) {
                last.push(b'\n');
            }
            lines.push(line(key, text, b"", b"\n"));
        }
        self.0 = lines;
    }
}

impl Key {
    fn word(self) -> &'static str {
        KEYS.iter().find(|(key, _)| *key == self).map_or("", |(_, word)| *word)
    }
}

fn line(key: Key, text: Option<&str>, comment: &[u8], end: &[u8]) -> Vec<u8> {
    let text = match text {
        Some(text) if is_plain(text) => text.to_owned(),
        Some(text) => serde_json::Value::from(text).to_string(),
        // As the document writes it.
        None if key == Key::Reason => "null".to_owned(),
        None => String::new(),
    };
    let space = if text.is_empty() { "" } else { " " };
    [format!("{}:{space}{text}", key.word()).as_bytes(), comment, end].concat()
}

/// Whether a YAML reader takes a text as it is, and takes it for this text.
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

/// What a line says about a key; `None`: it is not about it.
fn value(line: &[u8], key: Key) -> Option<Value<'_>> {
    let (line, _) = split_end(line);
    let rest = line.strip_prefix(key.word().as_bytes())?.strip_prefix(b":")?;
    if !rest.first().is_none_or(|byte| is_blank(*byte)) {
        return None;
    }
    let rest = &rest[rest.iter().take_while(|byte| is_blank(**byte)).count()..];
    let quoted = match rest.first() {
        Some(b'"') => in_double_quotes(rest),
        Some(b'\'') => in_single_quotes(rest),
        _ => None,
    };
    if let Some((text, length)) = quoted
        && let Some(comment) = only_comment(&rest[length..])
    {
        return Some(Value { text: Some(text).filter(|text| !text.is_empty()), comment });
    }
    let begins = |at: &usize| rest[*at] == b'#' && (*at == 0 || is_blank(rest[*at - 1]));
    let end = (0..rest.len()).find(begins).unwrap_or(rest.len());
    let plain = rest[..end].trim_ascii_end();
    let comment: &[u8] = match end {
        end if end == rest.len() => b"",
        // With the blank before it, which a value will need.
        0 => &line[line.len() - rest.len() - 1..],
        _ => &rest[plain.len()..],
    };
    let text = String::from_utf8_lossy(plain).into_owned();
    Some(Value { text: Some(text).filter(|text| !is_null(text)), comment })
}

fn in_double_quotes(text: &[u8]) -> Option<(String, usize)> {
    let mut strings = serde_json::Deserializer::from_slice(text).into_iter::<String>();
    let string = strings.next()?.ok()?;
    Some((string, strings.byte_offset()))
}

/// A quote in such a text is written twice.
fn in_single_quotes(text: &[u8]) -> Option<(String, usize)> {
    let mut at = 1;
    let mut inner = Vec::new();
    loop {
        match (text.get(at)?, text.get(at + 1)) {
            (b'\'', Some(b'\'')) => {
                inner.push(b'\'');
                at += 2;
            }
            (b'\'', _) => return Some((String::from_utf8_lossy(&inner).into_owned(), at + 1)),
            (byte, _) => {
                inner.push(*byte);
                at += 1;
            }
        }
    }
}

/// The comment behind a value in quotes; `None`: there is something else.
fn only_comment(text: &[u8]) -> Option<&[u8]> {
    match text.trim_ascii() {
        [] => Some(b""),
        // As a plain value ends: at any white space.
        [b'#', ..] if text[0].is_ascii_whitespace() => Some(text),
        _ => None,
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// A line and how it ends.
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
        GateFile::read(text.as_bytes())
    }

    fn text(file: &GateFile) -> String {
        String::from_utf8(file.to_bytes()).unwrap()
    }

    #[test]
    fn the_documents_own_file_is_read() {
        let file = read(FILE);
        let get = |key| file.get(key).unwrap_or_default();
        assert_eq!(get(Key::PlanFile), "/Users/whfreelove/plans/lucky-dreaming-badger.md");
        assert_eq!(get(Key::Status), "pass", "a comment is no part of a value");
        assert_eq!(get(Key::Timestamp), "2026-01-21T20:00:00Z");
        for none in [Key::GapsFile, Key::GapsHash, Key::Reason, Key::Seal] {
            assert_eq!(file.get(none), None, "{none:?}");
        }
        assert_eq!(text(&file), FILE);
    }

    #[test]
    fn order_comments_and_unknown_lines_stay() {
        let before =
            "# mine\r\nstatus: pass  # or fail\r\n\r\nextra: [1, 2]\r\n  status: nested\r\nreason: x";
        let mut file = read(before);
        file.set(Key::Status, Some("pending"));
        file.set(Key::Reason, None);
        file.set(Key::Seal, Some("5ea1"));
        assert_eq!(
            text(&file),
            "# mine\r\nstatus: pending  # or fail\r\n\r\nextra: [1, 2]\r\n  status: nested\r\nreason: null\nseal: 5ea1\n"
        );
        file.set(Key::Seal, None);
        assert!(!text(&file).contains("seal"));
    }

    #[test]
    fn a_value_that_is_right_keeps_its_line() {
        let before = "status:   'pass'   # sure\nreason: \"null\"\n";
        let mut file = read(before);
        file.set(Key::Status, Some("pass"));
        file.set(Key::Reason, Some("null"));
        assert_eq!(text(&file), before);
    }

    #[test]
    fn a_comment_in_the_place_of_a_value_stays_one() {
        let mut file = read("gaps_file: # none yet\nreason:  # why\n");
        assert_eq!((file.get(Key::GapsFile), file.get(Key::Reason)), (None, None));
        file.set(Key::GapsFile, Some("/a"));
        file.set(Key::Reason, Some("b"));
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
                file.set(Key::Reason, Some(expected));
                assert_eq!(GateFile::read(&file.to_bytes()).get(Key::Reason).as_deref(), Some(expected));
                assert_eq!(text(&file).matches("\nreason:").count() + usize::from(before != FILE), 1);
            }
        }
        let mut file = read("");
        file.set(Key::PlanFile, Some("/home/me@work/a b.md"));
        assert_eq!(text(&file), "plan_file: /home/me@work/a b.md\n");
    }

    #[test]
    fn a_value_stays_readable_before_a_comment_behind_any_white_space() {
        let mut file = GateFile::read(b"reason: x\x0c # why\n");
        assert_eq!(file.get(Key::Reason).as_deref(), Some("x"));
        file.set(Key::Reason, Some("\"} # y"));
        assert_eq!(file.get(Key::Reason).as_deref(), Some("\"} # y"));
    }

    #[test]
    fn quotes_that_do_not_close_are_a_plain_text() {
        for (line, expected) in [
            ("reason: \"a", "\"a"),
            ("reason: 'a", "'a"),
            ("reason: \"a\" b # c", "\"a\" b"),
            ("reason: 'it''s' # c", "it's"),
        ] {
            assert_eq!(read(line).get(Key::Reason).as_deref(), Some(expected), "{line}");
        }
        for none in ["reason: \"\"", "reason: '' # c"] {
            assert_eq!(read(none).get(Key::Reason), None, "{none}");
        }
        assert_eq!(read("reason:x").get(Key::Reason), None, "no blank, no value");
        assert_eq!(read(" reason: x").get(Key::Reason), None, "a line of something else");
    }

    #[test]
    fn a_key_that_is_there_twice_is_told_and_mended() {
        for key in [Key::Status, Key::Seal] {
            let word = key.word();
            let mut file = read(&format!("{word}: a\nx\n{word}: b\n{word}: c\ny\n"));
            assert_eq!(file.doubled(), Some(word));
            let mut without = file.clone();
            file.set(key, Some("d"));
            assert_eq!(text(&file), format!("{word}: d\nx\ny\n"));
            without.set(key, None);
            assert_eq!(without.get(key), None);
            assert_eq!(without.doubled(), None);
            assert!(text(&without).ends_with("x\ny\n"));
        }
        assert_eq!(read(FILE).doubled(), None);
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
            let mut file = GateFile::read(&bytes);
            assert_eq!(file.to_bytes(), bytes);
            file.set(Key::Status, Some("pass"));
            file.set(Key::Seal, None);
            let again = GateFile::read(&file.to_bytes());
            assert_eq!((again.get(Key::Status).as_deref(), again.get(Key::Seal)), (Some("pass"), None));
            assert_eq!(again.doubled(), None);
        }
    }
}

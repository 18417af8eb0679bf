//! Finds the fields of a JSON object without parsing their values.
//!
//! A line of a record can have megabytes, and only a few of its fields count. The scanner knows where strings end and
//! where objects close; whether a value is valid is left to the parser of that value.

use std::borrow::Cow;
use std::ops::ControlFlow;

/// Why a text is not scanned to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum ScanError {
    /// It ends in the middle of a value.
    Cut,
    /// It is no JSON object or list.
    Malformed,
}

/// Calls `visit` with the name of each field, without its quotes, and with its value as it is written.
pub fn visit_fields<'j>(
    object: &'j [u8],
    mut visit: impl FnMut(&'j [u8], &'j [u8]),
) -> Result<(), ScanError> {
    visit_fields_until(object, |name, value| {
        visit(name, value);
        ControlFlow::Continue(())
    })
}

/// Like [`visit_fields`], but leaves the rest unread as soon as `visit` says so.
pub fn visit_fields_until<'j>(
    object: &'j [u8],
    mut visit: impl FnMut(&'j [u8], &'j [u8]) -> ControlFlow<()>,
) -> Result<(), ScanError> {
    let mut scanner = Scanner { text: object, at: 0 };
    scanner.expect(b'{')?;
    if scanner.take(b'}') {
        return scanner.finish();
    }
    loop {
        let name = scanner.string()?;
        scanner.expect(b':')?;
        let value = scanner.value()?;
        if visit(&name[1..name.len() - 1], value).is_break() {
            return Ok(());
        }
        match scanner.next()? {
            b',' => {}
            b'}' => return scanner.finish(),
            _ => return Err(ScanError::Malformed),
        }
    }
}

/// Calls `visit` with each value of a list as it is written.
pub fn visit_items<'j>(list: &'j [u8], mut visit: impl FnMut(&'j [u8])) -> Result<(), ScanError> {
    let mut scanner = Scanner { text: list, at: 0 };
    scanner.expect(b'[')?;
    if scanner.take(b']') {
        return scanner.finish();
    }
    loop {
        visit(scanner.value()?);
        match scanner.next()? {
            b',' => {}
            b']' => return scanner.finish(),
            _ => return Err(ScanError::Malformed),
        }
    }
}

/// The content of a JSON string; `None` for another value. Broken escapes and UTF-8 are replaced.
pub fn read_string(value: &[u8]) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        return Some(String::from_utf8_lossy(inner));
    }
    let text = String::from_utf8_lossy(value);
    if let Ok(text) = serde_json::from_str::<String>(&text) {
        return Some(Cow::Owned(text));
    }
    // Half a surrogate pair is the only escape that JavaScript writes and that is refused here.
    let fields = crate::json::Fields::parse(format!("{{\"text\":{text}}}").as_bytes());
    fields.ok()?.take_text("text").map(Cow::Owned)
}

struct Scanner<'j> {
    text: &'j [u8],
    at: usize,
}

impl<'j> Scanner<'j> {
    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Result<u8, ScanError> {
        self.skip_space();
        let byte = self.text.get(self.at).ok_or(ScanError::Cut)?;
        self.at += 1;
        Ok(*byte)
    }

    fn expect(&mut self, byte: u8) -> Result<(), ScanError> {
        if self.next()? == byte { Ok(()) } else { Err(ScanError::Malformed) }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn finish(&mut self) -> Result<(), ScanError> {
        self.skip_space();
        if self.at == self.text.len() { Ok(()) } else { Err(ScanError::Malformed) }
    }

    /// A string with its quotes.
    fn string(&mut self) -> Result<&'j [u8], ScanError> {
        self.expect(b'"')?;
        let start = self.at - 1;
        self.skip_string()?;
        Ok(&self.text[start..self.at])
    }

    /// Moves behind the closing quote of a string.
    fn skip_string(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        loop {
            // Most strings are short, and starting a search costs more than looking at a few bytes.
            let short = self.text.len().min(self.at + 16);
            let found = self.text[self.at..short].iter().position(|byte| *byte == b'"');
            let found = match found {
                Some(found) => self.at + found,
                None => short + memchr::memchr(b'"', &self.text[short..]).ok_or(ScanError::Cut)?,
            };
            self.at = found + 1;
            let before = self.text[start..found].iter().rev();
            // An odd number of backslashes escapes the quote.
            if before.take_while(|byte| **byte == b'\\').count() % 2 == 0 {
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Result<&'j [u8], ScanError> {
        let first = self.next()?;
        let start = self.at - 1;
        match first {
            b'"' => self.skip_string()?,
            b'{' | b'[' => self.skip_nested()?,
            b',' | b':' | b'}' | b']' => return Err(ScanError::Malformed),
            _ => {
                let is_end =
                    |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r' | b'"');
                let rest = &self.text[self.at..];
                self.at += rest.iter().position(is_end).unwrap_or(rest.len());
            }
        }
        Ok(&self.text[start..self.at])
    }

    /// Moves behind the end of an object or a list.
    fn skip_nested(&mut self) -> Result<(), ScanError> {
        let mut depth = 1_usize;
        loop {
            let byte = *self.text.get(self.at).ok_or(ScanError::Cut)?;
            self.at += 1;
            match byte {
                b'"' => self.skip_string()?,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Result<Vec<(String, String)>, ScanError> {
        let mut found = Vec::new();
        let text_of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        visit_fields(text.as_bytes(), |name, value| found.push((text_of(name), text_of(value))))?;
        Ok(found)
    }

    #[test]
    fn fields_are_found_as_they_are_written() {
        let text = r#" {"a" : "x\"}y" ,"b":[1,{"c":"]"},[]],"d":{"e":{}},"f":-1.5e3,"g":null, "h\\":true} "#;
        let expected = [
            ("a", r#""x\"}y""#),
            ("b", r#"[1,{"c":"]"},[]]"#),
            ("d", r#"{"e":{}}"#),
            ("f", "-1.5e3"),
            ("g", "null"),
            ("h\\\\", "true"),
        ];
        let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        assert_eq!(fields(text).unwrap(), expected);
        assert_eq!(fields("{ }").unwrap(), []);
    }

    #[test]
    fn a_text_that_ends_early_is_cut_and_another_is_malformed() {
        let text = r#"{"a":"x\\y","b":[1,{"c":2}],"d":5}"#;
        for end in 0..text.len() {
            assert_eq!(fields(&text[..end]), Err(ScanError::Cut), "{}", &text[..end]);
        }
        for bad in ["[]", "5", "{} {}", "{\"a\" 1}", "{a:1}", "{\"a\":1 2}", "{\"a\":}", "{,}", "\u{0}"] {
            assert_eq!(fields(bad), Err(ScanError::Malformed), "{bad}");
        }
    }

    #[test]
    fn a_string_ends_at_the_first_quote_that_is_not_escaped() {
        let long = "x".repeat(40);
        for (written, count) in [
            (r#"{"a":"\\","b":1}"#.to_owned(), 2),
            (r#"{"a":"\"","b":1}"#.to_owned(), 2),
            (r#"{"a":"\\\"","b":"\\"}"#.to_owned(), 2),
            (format!(r#"{{"a":"{long}\"{long}\\","b":1}}"#), 2),
            (format!(r#"{{"a":"{long}\\\"{long}\"","\"b":"\""}}"#), 2),
        ] {
            assert_eq!(fields(&written).map(|fields| fields.len()), Ok(count), "{written}");
            assert!(serde_json::from_str::<serde_json::Value>(&written).is_ok());
        }
        assert_eq!(fields(r#"{"a":"x\"}"#), Err(ScanError::Cut));
    }

    #[test]
    fn the_rest_of_an_object_can_be_left() {
        let mut names = Vec::new();
        let scanned = visit_fields_until(br#"{"a":1,"type":2,"b":{broken"#, |name, _| {
            names.push(name);
            if name == b"type" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((scanned, names), (Ok(()), vec![&b"a"[..], b"type"]));
    }

    #[test]
    fn items_are_found_as_they_are_written() {
        let mut found = Vec::new();
        visit_items(br#"[ {"a":[1]}, "b]" ,3 ]"#, |item| found.push(item.to_vec())).unwrap();
        assert_eq!(found, [&br#"{"a":[1]}"#[..], br#""b]""#, b"3"]);
        assert_eq!(visit_items(b"[]", |_| ()), Ok(()));
        assert_eq!(visit_items(b"[1", |_| ()), Err(ScanError::Cut));
    }

    #[test]
    fn strings_are_unescaped_and_repaired() {
        for (json, text) in [
            (&br#""plain""#[..], Some("plain")),
            (br#""a\n\"b\"\u00e9""#, Some("a\n\"b\"é")),
            (br#""x\ud83d""#, Some("x\u{fffd}")),
            (b"\"\xff\"", Some("\u{fffd}")),
            (b"5", None),
            (b"\"", None),
        ] {
            assert_eq!(read_string(json).as_deref(), text);
        }
    }
}

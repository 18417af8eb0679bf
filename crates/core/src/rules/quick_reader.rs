//! Reads the rules of a file without a TOML parser, as far as they are written plainly.
//!
//! The hook reads all rules at every call, and parsing TOML in full would cost more than everything else together. This
//! module splits a file at its `[[rule]]` headers and reads plain lines: `key = "text"`, lists of texts, flags, numbers
//! and one table. Anything else (escapes, long strings, dotted keys) is a [`None`], and the TOML parser reads that rule.
//! INVARIANT: what it does read, the TOML parser reads alike; a test compares both.

use std::borrow::Cow;

use super::value::{RuleEntry, RuleValue};

/// One rule of a file.
pub(super) struct RuleSection<'a, 'e> {
    /// The rule with its header.
    pub(super) text: &'a str,
    /// Where it starts in the file.
    pub(super) offset: usize,
    /// Its entries, in a list that the next rule uses again.
    pub(super) entries: &'e mut Vec<RuleEntry<'a>>,
    /// All entries are plain. Otherwise they have to be read by the TOML parser.
    pub(super) is_plain: bool,
}

/// Reads a file: calls `visit` with each rule, and returns everything else. `None` if rules are written in another form
/// than `[[rule]]`, if it is not TOML, or if `visit` returns that.
pub(super) fn split_file<'a>(
    text: &'a str,
    mut visit: impl FnMut(RuleSection<'a, '_>) -> Option<()>,
) -> Option<String> {
    let bytes = text.as_bytes();
    if has_odd_byte(bytes) && !has_only_line_ends(bytes) {
        return None;
    }
    let reader = PlainReader { text, bytes };
    let (mut rest, mut entries) = (String::new(), Vec::new());
    let (mut at, mut rest_from) = (0, 0);
    loop {
        let start = skip_blanks(bytes, at);
        match bytes.get(start) {
            None => break,
            Some(b'[') => {
                let end = find_line_end(bytes, start);
                let header = text[start..end].split('#').next()?.trim_end();
                let inner = header.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
                if inner.is_some_and(|name| name.trim_matches([' ', '\t']) == "rule") {
                    rest.push_str(&text[rest_from..start]);
                    entries.clear();
                    let plain_end = reader.read_entries(end, &mut entries);
                    let is_plain = plain_end.is_some();
                    let end = plain_end.or_else(|| find_section_end(bytes, end))?;
                    let text = &text[start..end];
                    visit(RuleSection { text, offset: start, entries: &mut entries, is_plain })?;
                    (at, rest_from) = (end, end);
                    continue;
                }
                // Other tables of rules, such as `[rule.need]`.
                if header.contains("rule") && header != "[rules]" {
                    return None;
                }
                at = end;
            }
            // A list `rule = […]`, which is possible only in front of all headers.
            Some(b'r' | b'"' | b'\'') if rest_from == 0 && names_rule(&text[start..]) => return None,
            Some(_) => at = skip_entry(bytes, start)?,
        }
    }
    rest.push_str(&text[rest_from..]);
    Some(rest)
}

/// The entries of the rule whose header is at `start`, up to `end`; `None` if one of them is not plain.
pub(super) fn read_section(text: &str, start: usize, end: usize) -> Option<Vec<RuleEntry<'_>>> {
    let text = &text[..end];
    let reader = PlainReader { text, bytes: text.as_bytes() };
    let mut entries = Vec::with_capacity(6);
    reader.read_entries(find_line_end(reader.bytes, start), &mut entries)?;
    Some(entries)
}

/// Every byte of a word.
const ONES: u64 = u64::MAX / 0xff;
const HIGH_BITS: u64 = ONES << 7;

/// Whether there is a control character other than a line feed or a tab. Every call reads the whole file, so most bytes are
/// judged eight at once.
fn has_odd_byte(bytes: &[u8]) -> bool {
    let is_odd = |byte: &u8| *byte < b' ' && *byte != b'\n' && *byte != b'\t' || *byte == 0x7f;
    let (words, rest) = bytes.as_chunks::<8>();
    let may_be_odd = |word: u64| {
        let delete = word ^ (ONES * 0x7f);
        let below_blank = word.wrapping_sub(ONES * 0x20) & !word;
        let is_delete = delete.wrapping_sub(ONES) & !delete;
        (below_blank | is_delete) & HIGH_BITS != 0
    };
    let is_odd_word = |word: &[u8; 8]| may_be_odd(u64::from_ne_bytes(*word)) && word.iter().any(is_odd);
    words.iter().any(is_odd_word) || rest.iter().any(is_odd)
}

/// The number of line feeds.
pub(super) fn count_line_feeds(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let in_word = |word: &[u8; 8]| {
        let differs = u64::from_ne_bytes(*word) ^ (ONES * u64::from(b'\n'));
        // The high bit of each byte that is zero.
        let zeros = !((differs & !HIGH_BITS).wrapping_add(!HIGH_BITS) | differs) & HIGH_BITS;
        if zeros == 0 { 0 } else { zeros.count_ones() as usize }
    };
    words.iter().map(in_word).sum::<usize>()
        + rest.iter().map(|byte| usize::from(*byte == b'\n')).sum::<usize>()
}

/// Whether the only control characters are those at the end of a line.
fn has_only_line_ends(bytes: &[u8]) -> bool {
    let is_plain = |(at, byte): (usize, &u8)| match byte {
        b'\r' => bytes.get(at + 1) == Some(&b'\n'),
        byte => *byte >= b' ' && *byte != 0x7f || matches!(byte, b'\n' | b'\t'),
    };
    bytes.iter().enumerate().all(is_plain)
}

/// Whether an entry has the key `rule`, or one below it.
fn names_rule(entry: &str) -> bool {
    let key = entry.trim_start_matches(['"', '\'']);
    key.strip_prefix("rule")
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "_-".contains(c)))
}

/// The start of the next header.
fn find_section_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = skip_blanks(bytes, at);
        match bytes.get(at) {
            None | Some(b'[') => return Some(at),
            Some(_) => at = skip_entry(bytes, at)?,
        }
    }
}

struct PlainReader<'a> {
    text: &'a str,
    bytes: &'a [u8],
}

impl<'a> PlainReader<'a> {
    /// Adds the entries from a place to the next header, and returns where that begins; `None` if one of them is not
    /// plain.
    fn read_entries(&self, mut at: usize, entries: &mut Vec<RuleEntry<'a>>) -> Option<usize> {
        loop {
            at = skip_blanks(self.bytes, at);
            if matches!(self.bytes.get(at), None | Some(b'[')) {
                return Some(at);
            }
            let (key, after) = self.read_key(at)?;
            if entries.iter().any(|entry| entry.key == key) {
                return None;
            }
            let is_example = matches!(key, "match" | "not_match") && self.bytes.get(after) == Some(&b'[');
            let (value, end) = if is_example {
                (RuleValue::Examples, find_entry_end(self.bytes, self.skip_examples(after)?)?)
            } else {
                let (value, end) = self.read_value(after)?;
                (value, find_entry_end(self.bytes, end)?)
            };
            entries.push(RuleEntry { key: Cow::Borrowed(key), key_offset: at, value: (value, after) });
            at = end;
        }
    }

    /// A bare key and where its value begins.
    fn read_key(&self, at: usize) -> Option<(&'a str, usize)> {
        let bytes = self.bytes;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let end = at + bytes[at..].iter().take_while(|byte| is_part(byte)).count();
        let sign = skip_spaces(bytes, end);
        (end > at && bytes.get(sign) == Some(&b'='))
            .then(|| (&self.text[at..end], skip_spaces(bytes, sign + 1)))
    }

    /// A plain value and where it ends.
    fn read_value(&self, at: usize) -> Option<(RuleValue<'a>, usize)> {
        let bytes = self.bytes;
        match bytes.get(at)? {
            b'"' | b'\'' => {
                let (text, end) = self.read_text(at)?;
                Some((RuleValue::Text(Cow::Borrowed(text)), end))
            }
            b'[' => self.read_list(at),
            b'{' => self.read_table(at),
            _ => {
                let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
                let end = at + length;
                let value = match &self.text[at..end] {
                    "true" => RuleValue::Flag(true),
                    "false" => RuleValue::Flag(false),
                    // A leading zero is a mistake.
                    number if !number.starts_with('0') => RuleValue::Number(number.parse().ok()?),
                    _ => return None,
                };
                Some((value, end))
            }
        }
    }

    fn read_text(&self, at: usize) -> Option<(&'a str, usize)> {
        let bytes = self.bytes;
        let quote = bytes[at];
        // An escape is not plain, but a literal string has none.
        let escape = if quote == b'"' { b'\\' } else { quote };
        let ends = |byte: &u8| *byte == quote || *byte == b'\n' || *byte == escape;
        let length = bytes[at + 1..].iter().position(ends)?;
        let (end, text) = (at + 1 + length, &self.text[at + 1..at + 1 + length]);
        let is_long = length == 0 && bytes.get(end + 1) == Some(&quote);
        (bytes[end] == quote && !is_long).then_some((text, end + 1))
    }

    fn read_list(&self, at: usize) -> Option<(RuleValue<'a>, usize)> {
        let bytes = self.bytes;
        let mut list = Vec::new();
        let mut at = skip_blanks(bytes, at + 1);
        while bytes.get(at)? != &b']' {
            let (text, end) = matches!(bytes[at], b'"' | b'\'').then(|| self.read_text(at))??;
            list.push((RuleValue::Text(Cow::Borrowed(text)), at));
            at = skip_blanks(bytes, end);
            match bytes.get(at)? {
                b',' => at = skip_blanks(bytes, at + 1),
                b']' => {}
                _ => return None,
            }
        }
        Some((RuleValue::List(list), at + 1))
    }

    /// The end of a list of examples: texts, and tables of texts, lists of texts and flags. Their values are not kept.
    fn skip_examples(&self, at: usize) -> Option<usize> {
        let bytes = self.bytes;
        let mut at = skip_blanks(bytes, at + 1);
        while bytes.get(at)? != &b']' {
            let end = match bytes[at] {
                b'{' => self.read_table(at)?.1,
                b'"' | b'\'' => skip_plain_text(bytes, at)?,
                _ => return None,
            };
            at = skip_blanks(bytes, end);
            match bytes.get(at)? {
                b',' => at = skip_blanks(bytes, at + 1),
                b']' => {}
                _ => return None,
            }
        }
        Some(at + 1)
    }

    fn read_table(&self, at: usize) -> Option<(RuleValue<'a>, usize)> {
        let bytes = self.bytes;
        let mut entries: Vec<RuleEntry<'a>> = Vec::new();
        let mut at = skip_spaces(bytes, at + 1);
        while bytes.get(at)? != &b'}' {
            let (key, after) = self.read_key(at)?;
            if entries.iter().any(|entry| entry.key == key) {
                return None;
            }
            // INVARIANT: no table in a table, so nothing recurses.
            let (value, end) = if bytes.get(after) == Some(&b'{') { None } else { self.read_value(after) }?;
            let value = (value, after);
            entries.push(RuleEntry { key: Cow::Borrowed(key), key_offset: at, value });
            at = skip_spaces(bytes, end);
            match bytes.get(at)? {
                b',' => at = skip_spaces(bytes, at + 1),
                b'}' => {}
                _ => return None,
            }
        }
        Some((RuleValue::Table(entries), at + 1))
    }
}

/// The end of a string on one line with no escapes but those of one letter.
fn skip_plain_text(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let start = at + 1;
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'\n' | b'\r' => return None,
            b'\\' if quote == b'"' => {
                matches!(bytes.get(at + 1)?, b'b' | b't' | b'n' | b'f' | b'r' | b'"' | b'\\').then_some(())?;
                at += 2;
            }
            byte if *byte == quote => break,
            _ => at += 1,
        }
    }
    let is_long = at == start && bytes.get(at + 1) == Some(&quote);
    (!is_long).then_some(at + 1)
}

fn skip_spaces(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// Skips white space, line ends and comments.
fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
            Some(b'#') => at = find_line_end(bytes, at),
            _ => return at,
        }
    }
}

fn find_line_end(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'\n'))
        .map_or(bytes.len(), |line| at + line)
}

/// The end of the line after a value, where only a comment may follow.
fn find_entry_end(bytes: &[u8], at: usize) -> Option<usize> {
    let at = skip_spaces(bytes, at);
    match bytes.get(at) {
        None | Some(b'\n' | b'#') => Some(find_line_end(bytes, at)),
        Some(b'\r') if matches!(bytes.get(at + 1), None | Some(b'\n')) => Some(at + 1),
        _ => None,
    }
}

/// The end of the last line of an entry, whatever its value; `None` if a string or a bracket stays open.
fn skip_entry(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_u32;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' if depth == 0 => return Some(at),
            b'#' => {
                at = find_line_end(bytes, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.checked_sub(1)?,
            b'"' | b'\'' => {
                at = skip_string(bytes, at)?;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    (depth == 0).then_some(at)
}

/// The end of a string; `None` if it is not closed.
fn skip_string(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let is_long = bytes[at..].starts_with(&[quote; 3]);
    let mut at = at + if is_long { 3 } else { 1 };
    loop {
        match bytes.get(at)? {
            b'\\' if quote == b'"' => at += 2,
            b'\n' if !is_long => return None,
            byte if *byte == quote && !is_long => return Some(at + 1),
            byte if *byte == quote && bytes[at..].starts_with(&[quote; 3]) => {
                // A long string may end with up to two quotes of its own.
                let quotes = bytes[at..].iter().take_while(|byte| **byte == quote).count();
                return Some(at + quotes.min(5));
            }
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use toml::de::{DeTable, DeValue};

    use super::*;
    use crate::rules::value::convert_table;

    const PLAIN: &str = r#"
# A comment with "quotes" and [[rule]] in it.
[rules]
use = ["baseline"]  # [[rule]]

[[rule]] # one
name = "no-force-push"
runs = "git push --force|-f"
deny = 'it "rewrites" history'
match     = ["git push -uf origin x", "bash -c 'git push --\"force\"'", { write = "a]b", text = "[[rule]]" }]
not_match = [
  "a", # ]
  'b',
]

[[ rule ]]
name = "keys"
reads = [
  "**/.env", '~/.ssh/**', # comment
  "!**/.env.example",
]
ask = "secrets"
[[rule]]
name = "stop"
stops = true
need = { check = "make", seconds = 120 }
rounds = 3
[engine]
deadline_seconds = 5
"#;

    /// The entries of all rules by the quick reader; `None` if it cannot read all of them.
    fn read_quickly(text: &str) -> Option<(Vec<Vec<RuleEntry<'_>>>, String)> {
        let mut rules = Vec::new();
        let rest = split_file(text, |section| {
            rules.push(std::mem::take(section.entries));
            section.is_plain.then_some(())
        })?;
        Some((rules, rest))
    }

    /// Compares with the TOML parser, and returns whether the quick reader could read the text.
    fn compare(text: &str) -> bool {
        let Some((quick, rest)) = read_quickly(text) else { return false };
        let Ok(rest) = DeTable::parse(&rest) else { return false };
        let document = DeTable::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut rules = Vec::new();
        match document.get_ref().get("rule").map(toml::Spanned::get_ref) {
            None => {}
            Some(DeValue::Array(list)) => {
                for item in list {
                    let DeValue::Table(table) = item.get_ref() else { panic!("{text}") };
                    rules.push(convert_table(table, 0));
                }
            }
            Some(_) => panic!("{text}"),
        }
        assert_eq!(quick, rules, "{text}");
        assert_eq!(rest.get_ref().len() + usize::from(!rules.is_empty()), document.get_ref().len(), "{text}");
        true
    }

    #[test]
    fn eight_bytes_at_once_are_judged_like_one() {
        for byte in 0..=255 {
            for length in [1, 8, 9, 19] {
                for at in 0..length {
                    let mut bytes = vec![b'a'; length];
                    bytes[at] = byte;
                    let is_odd = byte < b' ' && byte != b'\n' && byte != b'\t' || byte == 0x7f;
                    assert_eq!(has_odd_byte(&bytes), is_odd, "{byte} at {at} of {length}");
                    assert_eq!(
                        count_line_feeds(&bytes),
                        usize::from(byte == b'\n'),
                        "{byte} at {at} of {length}"
                    );
                }
            }
        }
        assert_eq!(count_line_feeds(&[b'\n'; 21]), 21);
        assert!(!has_odd_byte(b"\n\n\t\t\n\n\n\n \x80\xff"));
    }

    #[test]
    fn plain_rules_are_read_as_the_toml_parser_reads_them() {
        assert!(compare(PLAIN) && compare(&PLAIN.replace('\n', "\r\n")) && compare(""));
    }

    #[test]
    fn other_forms_are_left_to_the_toml_parser() {
        for text in [
            "[[rule]]\nname = \"a\\u0062\"\n",
            "[[rule]]\nname = \"\"\"a\"\"\"\n",
            "[[rule]]\n\"name\" = \"a\"\n",
            "[[rule]]\nneed.check = \"a\"\n",
            "[[rule]]\nname = \"a\"\n[rule.need]\ncheck = \"a\"\n",
            "rule = [{ name = \"a\" }]\n",
            "[[rule]]\nname = \"a\"\nname = \"b\"\n",
            "[[rule]]\nname = \"a\" x\n",
            "[[rule]]\nname = \"a\n",
            "[[rule]]\nrounds = 1.5\n",
        ] {
            assert!(read_quickly(text).is_none(), "{text}");
        }
    }

    #[test]
    fn whatever_it_reads_the_toml_parser_reads_alike() {
        const SIGNS: &[u8] = b"\"'[]{}=#\n\r,.\\ \tar0t-\x01";
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = |most: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random % most as u64).unwrap()
        };
        let mut read = 0;
        for _ in 0..20_000 {
            let mut bytes = PLAIN.as_bytes().to_vec();
            for _ in 0..=next(3) {
                let at = next(bytes.len());
                match next(3) {
                    0 => bytes[at] = SIGNS[next(SIGNS.len())],
                    1 => bytes.insert(at, SIGNS[next(SIGNS.len())]),
                    _ => drop(bytes.remove(at)),
                }
            }
            read += usize::from(compare(str::from_utf8(&bytes).unwrap()));
        }
        assert!(read > 2_000, "{read} of 20,000 texts could be read");
    }
}

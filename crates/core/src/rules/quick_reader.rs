//! Reads the rules of a file without a TOML parser, as far as they are written plainly.
//!
//! The hook reads all rules at every call, and parsing TOML in full would cost more than everything else together. This
//! module splits a file at its `[[rule]]` headers and reads plain lines: `key = "text"`, lists of texts, flags, numbers
//! and one table. Anything else (escapes, long strings, dotted keys) is a [`None`], and the TOML parser reads that rule.
//! INVARIANT: what it does read, the TOML parser reads alike; a test compares both.

use std::borrow::Cow;

use super::value::{RuleEntry, RuleValue};

/// A file, split at its rules.
pub(super) struct SplitFile<'a> {
    /// Each rule with its header.
    pub(super) sections: Vec<RuleSection<'a>>,
    /// Everything else.
    pub(super) rest: String,
}

pub(super) struct RuleSection<'a> {
    pub(super) text: &'a str,
    /// Where it starts in the file.
    pub(super) offset: usize,
}

/// Splits a file; `None` if rules are written in another form than `[[rule]]`.
pub(super) fn split_file(text: &str) -> Option<SplitFile<'_>> {
    let bytes = text.as_bytes();
    let is_odd = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    let is_control = |byte: u8| byte < b' ' && byte != b'\n' && byte != b'\t' || byte == 0x7f;
    if (0..bytes.len()).any(|at| is_control(bytes[at]) && (bytes[at] != b'\r' || is_odd(at))) {
        return None;
    }
    let (mut at, mut from, mut is_rule) = (0, 0, false);
    let mut file = SplitFile { sections: Vec::new(), rest: String::new() };
    let mut close = |from: usize, to: usize, is_rule: bool| {
        if is_rule {
            file.sections.push(RuleSection { text: &text[from..to], offset: from });
        } else {
            file.rest.push_str(&text[from..to]);
        }
    };
    while at < bytes.len() {
        let start = skip_blanks(bytes, at);
        let end = match bytes.get(start) {
            None => break,
            Some(b'[') => {
                let end = find_line_end(bytes, start);
                let header = text[start..end].split('#').next()?.trim_end();
                let inner = header.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
                let is_plain_rule = inner.is_some_and(|name| name.trim_matches([' ', '\t']) == "rule");
                // Other tables of rules, such as `[rule.need]`.
                if !is_plain_rule && header.contains("rule") && header != "[rules]" {
                    return None;
                }
                close(from, start, is_rule);
                (from, is_rule) = (start, is_plain_rule);
                end
            }
            Some(_) => {
                if from == 0
                    && !is_rule
                    && text[start..].starts_with("rule")
                    && !text[start..].starts_with("rules")
                {
                    return None;
                }
                skip_entry(bytes, start)?
            }
        };
        at = (end + 1).min(bytes.len());
    }
    close(from, bytes.len(), is_rule);
    Some(file)
}

impl<'a> RuleSection<'a> {
    /// The entries of the rule; `None` if one of them is not plain.
    pub(super) fn read_entries(&self) -> Option<Vec<RuleEntry<'a>>> {
        let bytes = self.text.as_bytes();
        let mut at = find_line_end(bytes, skip_blanks(bytes, 0)) + 1;
        let mut entries: Vec<RuleEntry<'a>> = Vec::with_capacity(6);
        loop {
            at = skip_blanks(bytes, at);
            if at >= bytes.len() {
                return Some(entries);
            }
            let (key, after) = self.read_key(at)?;
            if entries.iter().any(|entry| entry.key == key) {
                return None;
            }
            let (value, end) = if matches!(key, "match" | "not_match") && bytes.get(after) == Some(&b'[') {
                (RuleValue::Examples, skip_entry(bytes, after)?)
            } else {
                let (value, end) = self.read_value(after)?;
                (value, find_entry_end(bytes, end)?)
            };
            let value = (value, self.offset + after);
            entries.push(RuleEntry { key: Cow::Borrowed(key), key_offset: self.offset + at, value });
            at = end;
        }
    }

    /// A bare key and where its value begins.
    fn read_key(&self, at: usize) -> Option<(&'a str, usize)> {
        let bytes = self.text.as_bytes();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let end = at + bytes[at..].iter().take_while(|byte| is_part(byte)).count();
        let sign = skip_spaces(bytes, end);
        (end > at && bytes.get(sign) == Some(&b'='))
            .then(|| (&self.text[at..end], skip_spaces(bytes, sign + 1)))
    }

    /// A plain value and where it ends.
    fn read_value(&self, at: usize) -> Option<(RuleValue<'a>, usize)> {
        let bytes = self.text.as_bytes();
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
        let bytes = self.text.as_bytes();
        let quote = bytes[at];
        let length =
            bytes[at + 1..].iter().position(|byte| *byte == quote || *byte < b' ' || *byte == 0x7f)?;
        let (end, text) = (at + 1 + length, &self.text[at + 1..at + 1 + length]);
        let is_long = length == 0 && bytes.get(end + 1) == Some(&quote);
        let is_plain = bytes[end] == quote && !is_long && !(quote == b'"' && text.contains('\\'));
        is_plain.then_some((text, end + 1))
    }

    fn read_list(&self, at: usize) -> Option<(RuleValue<'a>, usize)> {
        let bytes = self.text.as_bytes();
        let mut list = Vec::new();
        let mut at = skip_blanks(bytes, at + 1);
        while bytes.get(at)? != &b']' {
            let (text, end) = matches!(bytes[at], b'"' | b'\'').then(|| self.read_text(at))??;
            list.push((RuleValue::Text(Cow::Borrowed(text)), self.offset + at));
            at = skip_blanks(bytes, end);
            match bytes.get(at)? {
                b',' => at = skip_blanks(bytes, at + 1),
                b']' => {}
                _ => return None,
            }
        }
        Some((RuleValue::List(list), at + 1))
    }

    fn read_table(&self, at: usize) -> Option<(RuleValue<'a>, usize)> {
        let bytes = self.text.as_bytes();
        let mut entries: Vec<RuleEntry<'a>> = Vec::new();
        let mut at = skip_spaces(bytes, at + 1);
        while bytes.get(at)? != &b'}' {
            let (key, after) = self.read_key(at)?;
            if entries.iter().any(|entry| entry.key == key) {
                return None;
            }
            let (value, end) = self.read_value(after)?;
            let value = (value, self.offset + after);
            entries.push(RuleEntry { key: Cow::Borrowed(key), key_offset: self.offset + at, value });
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
match     = ["git push -uf origin x", "bash -c 'git push --\"force\"'", { write = "a]b", text = """[[rule]]""" }]
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
        let file = split_file(text)?;
        let rules = file.sections.iter().map(RuleSection::read_entries).collect::<Option<_>>()?;
        Some((rules, file.rest))
    }

    /// Compares with the TOML parser, and returns whether the quick reader could read the text.
    fn compare(text: &str) -> bool {
        let Some((quick, rest)) = read_quickly(text) else { return false };
        let Ok(rest) = DeTable::parse(&rest) else { return false };
        let document = DeTable::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut rules = Vec::new();
        match document.get_ref().get("rule").map(|list| list.get_ref()) {
            None => {}
            Some(DeValue::Array(list)) => {
                for item in list.iter() {
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
        // Examples are skipped, so a mistake in them is not seen.
        let (start, rest) = PLAIN.split_once("match ").unwrap();
        let text = format!("{start}{}", &rest[rest.find("\n]\n").unwrap() + 2..]);
        let mut read = 0;
        for _ in 0..20_000 {
            let mut bytes = text.as_bytes().to_vec();
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

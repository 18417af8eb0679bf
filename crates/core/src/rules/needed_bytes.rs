//! Which bytes every match of a regular expression contains, read from its text alone.
//!
//! Compiling a pattern costs more than all else that a rule does. Most texts lack a byte that the pattern needs, such as
//! the `$` of a variable. What this module cannot read is [`None`]: then the pattern decides.

/// A set of ASCII characters.
type ByteSet = u128;

/// How deep groups are read.
const DEEPEST: u32 = 8;

/// Bytes of which each match in a text of ASCII contains at least one.
pub(super) fn find_needed_bytes(pattern: &str) -> Option<ByteSet> {
    let (folds_case, body) = pattern.strip_prefix("(?i)").map_or((false, pattern), |body| (true, body));
    if body.split("(?").skip(1).any(|group| !group.starts_with(':')) {
        return None;
    }
    let mut reader = Reader { rest: body.as_bytes(), folds_case };
    let needed = reader.read_alternatives(0)?;
    (reader.rest.is_empty() && needed != 0).then_some(needed)
}

/// Whether a text has one of these bytes.
pub(super) fn has_any_byte(text: &str, bytes: ByteSet) -> bool {
    text.bytes().any(|byte| byte.is_ascii() && bytes & bit(byte) != 0)
}

fn bit(byte: u8) -> ByteSet {
    1 << byte
}

struct Reader<'a> {
    rest: &'a [u8],
    folds_case: bool,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// What all alternatives of a group need together. An empty set says nothing, here and in what follows.
    fn read_alternatives(&mut self, depth: u32) -> Option<ByteSet> {
        let mut needed = self.read_sequence(depth)?;
        while self.rest.first() == Some(&b'|') {
            self.next();
            let other = self.read_sequence(depth)?;
            needed = if needed == 0 || other == 0 { 0 } else { needed | other };
        }
        Some(needed)
    }

    /// What the most telling part of a sequence needs.
    fn read_sequence(&mut self, depth: u32) -> Option<ByteSet> {
        let mut best = 0;
        while !matches!(self.rest.first(), None | Some(b'|' | b')')) {
            let needed = self.read_part(depth)?;
            if self.read_repetition()? && needed != 0 && (best == 0 || rank(needed) < rank(best)) {
                best = needed;
            }
        }
        Some(best)
    }

    /// What one part needs.
    fn read_part(&mut self, depth: u32) -> Option<ByteSet> {
        match self.next()? {
            b'(' if depth < DEEPEST => {
                if self.rest.starts_with(b"?:") {
                    self.rest = &self.rest[2..];
                }
                let needed = self.read_alternatives(depth + 1)?;
                (self.next() == Some(b')')).then_some(needed)
            }
            b'[' => self.read_class(),
            b'\\' => {
                let escaped = self.next()?;
                // `\w`, `\b` and the like say nothing; those with an argument are not read.
                match escaped {
                    b'p' | b'P' | b'x' | b'u' | b'U' => None,
                    byte if byte.is_ascii_punctuation() => Some(bit(byte)),
                    _ => Some(0),
                }
            }
            b'(' | b')' | b'*' | b'+' | b'?' | b'{' => None,
            b'.' | b'^' | b'$' => Some(0),
            byte if byte.is_ascii() => Some(self.fold(byte)),
            _ => None,
        }
    }

    /// A class of characters and ranges.
    fn read_class(&mut self) -> Option<ByteSet> {
        let is_negated = self.rest.first() == Some(&b'^');
        if is_negated {
            self.next();
        }
        let (mut set, mut is_known, mut is_first) = (0, !is_negated, true);
        loop {
            let from = match self.next()? {
                b']' if !is_first => return Some(if is_known { set } else { 0 }),
                b'[' | b'&' | b'~' | b']' => return None,
                b'\\' => match self.next()? {
                    b'w' | b'W' | b's' | b'S' | b'd' | b'D' => {
                        is_known = false;
                        continue;
                    }
                    byte => Some(byte).filter(u8::is_ascii_punctuation)?,
                },
                byte => Some(byte).filter(u8::is_ascii)?,
            };
            is_first = false;
            let is_range = matches!(self.rest, [b'-', end, ..] if *end != b']');
            let to = if is_range {
                self.next();
                self.next().filter(|end| end.is_ascii() && !matches!(end, b'\\' | b'['))?
            } else {
                from
            };
            set |= (from..=to).fold(0, |set, byte| set | self.fold(byte));
        }
    }

    /// Reads a repetition, and returns whether its part occurs at least once.
    fn read_repetition(&mut self) -> Option<bool> {
        let is_needed = match self.rest.first() {
            Some(b'*' | b'?') => false,
            Some(b'+') => true,
            Some(b'{') => {
                let end = self.rest.iter().position(|byte| *byte == b'}')?;
                let is_needed = self.rest[1].is_ascii_digit() && self.rest[1] != b'0';
                self.rest = &self.rest[end..];
                is_needed
            }
            _ => return Some(true),
        };
        self.next();
        if self.rest.first() == Some(&b'?') {
            self.next();
        }
        (!matches!(self.rest.first(), Some(b'*' | b'+' | b'?' | b'{'))).then_some(is_needed)
    }

    fn fold(&self, byte: u8) -> ByteSet {
        if self.folds_case {
            return bit(byte.to_ascii_lowercase()) | bit(byte.to_ascii_uppercase());
        }
        bit(byte)
    }
}

/// Punctuation is rarer in words than letters and digits, and few characters are rarer than many.
fn rank(set: ByteSet) -> u32 {
    let letters =
        (b'0'..=b'z').filter(u8::is_ascii_alphanumeric).fold(0, |letters, byte| letters | bit(byte));
    (set & letters).count_ones() * 128 + set.count_ones()
}

#[cfg(test)]
mod tests {
    use super::super::RuleText;
    use super::super::rule_regex::RuleRegex;
    use super::*;

    fn needed(pattern: &str) -> Option<String> {
        let set = find_needed_bytes(pattern)?;
        Some((0..128).filter(|byte| set & bit(*byte) != 0).map(char::from).collect())
    }

    #[test]
    fn a_match_needs_the_rarest_part() {
        for (pattern, bytes) in [
            ("^xargs$", "x"),
            (r#"^"?\$(\w+|\{\w+\})"?/"#, "$"),
            (r#"^"?(\$\(|`)\s*(cat|ls)\b"#, "$`"),
            (r"\$\{?TMPDIR\b", "$"),
            ("(?i)drop", "Dd"),
            ("a+b*", "a"),
            ("a{2}", "a"),
            ("[a-c]x?", "abc"),
            ("(?:a|b)", "ab"),
        ] {
            assert_eq!(needed(pattern).as_deref(), Some(bytes), "{pattern}");
        }
        for pattern in [
            "",
            "a?",
            "a*",
            r"\w+",
            ".",
            "(a|)",
            "a|",
            "[^a]",
            r"[\w-]",
            "(?x) a",
            "a{0,2}",
            "é",
            "(",
            ")a",
            "a)",
            "[",
            "a**",
            r"\p{L}",
            "[[:alpha:]]",
            "(a|b*)",
        ] {
            assert_eq!(needed(pattern), None, "{pattern}");
        }
        let deep = "(".repeat(10_000);
        assert_eq!(needed(&deep), None);
    }

    /// Every pattern of ours with every text of ours.
    #[test]
    fn no_match_is_without_its_needed_bytes() {
        let baseline = toml::de::DeTable::parse(super::super::BASELINE).unwrap();
        let rules = baseline.get_ref()["rule"].get_ref().as_array().unwrap();
        let (mut patterns, mut texts) = (Vec::new(), vec![String::new()]);
        for rule in rules {
            for (key, value) in rule.get_ref().as_table().unwrap() {
                let list = value.get_ref().as_array().into_iter().flat_map(|list| list.iter());
                let words: Vec<&str> =
                    list.chain([value]).filter_map(|item| item.get_ref().as_str()).collect();
                match key.get_ref().as_ref() {
                    "argument" | "code" | "sets" | "adds" => {
                        patterns.extend(words.into_iter().map(str::to_owned));
                    }
                    "match" | "not_match" => {
                        for line in words {
                            texts.push(line.to_owned());
                            texts.extend(line.split(' ').map(str::to_owned));
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut known = 0;
        for pattern in &patterns {
            let Some(bytes) = find_needed_bytes(pattern) else { continue };
            known += 1;
            let regex = RuleRegex::new(RuleText { text: pattern.clone(), offset: 0 });
            for text in texts.iter().filter(|text| text.is_ascii() && !has_any_byte(text, bytes)) {
                assert_eq!(regex.is_match(text), Some(false), "{pattern}: {text}");
            }
        }
        assert!(
            known > 20 && texts.len() > 500,
            "{known} of {} patterns, {} texts",
            patterns.len(),
            texts.len()
        );
    }
}

//! The parts of words: plain text, quotes, patterns, braces.

use std::rc::Rc;

use super::variables::{ValueShape, VariableValue, is_one_word};
use super::{Mode, ParseResult, Parser, SyntaxError};
use crate::ansi;
use crate::word::{LoopValue, Word, is_name};

/// Characters with a meaning in a word without quotes.
const SIGNS: &[u8] = b" \t\n;&|()<>\\'\"$`*?[{~\0";
const SIGNS_IN_QUOTES: &[u8] = b"\"\\$`\0\n";
/// Longer pairs of braces are not parsed.
const LONGEST_BRACES: usize = 256;

impl<'a> Parser<'a> {
    pub(super) fn current_word(&mut self) -> &mut Word<'a> {
        let at = self.at;
        &mut self.list().word.get_or_insert_with(|| (at, Word::default())).1
    }

    pub(super) fn parse_in_word(&mut self, c: u8) -> ParseResult {
        match c {
            b'\\' => return self.parse_escape(),
            b'\'' => return self.parse_single_quotes(),
            b'"' => {
                self.current_word().quoted = true;
                self.open_construct(Mode::Double)?;
                return self.advance(1);
            }
            b'$' => return self.parse_dollar(false),
            b'`' => return self.parse_backtick(false),
            // `[` and `[[` alone are programs, not patterns.
            b'[' if self.list().word.is_none() && self.count_lone_brackets() > 0 => {
                self.append_plain(self.count_lone_brackets());
            }
            b'*' | b'?' | b'[' => {
                if self.peek(1) == Some(b'(') && !matches!(self.mode(), Mode::Test(Some(_))) {
                    return Err(self.error("an extended pattern"));
                }
                self.append_pattern(false);
                let sign = &self.rest()[..1];
                self.current_word().append(sign);
                self.at += 1;
            }
            b'{' => self.parse_brace(),
            b'~' if self.list().word.as_ref().is_none_or(|(_, word)| awaits_value(word)) => {
                self.parse_tilde();
            }
            _ => self.append_plain(1),
        }
        Ok(())
    }

    /// How many brackets are a word of their own here.
    fn count_lone_brackets(&self) -> usize {
        let rest = self.rest().as_bytes();
        let signs = rest.iter().take(3).take_while(|c| **c == b'[').count();
        if signs <= 2 && matches!(rest.get(signs), Some(b' ' | b'\t' | b'\n')) { signs } else { 0 }
    }

    /// Appends the next bytes literally, and the text after them up to a character with a meaning.
    pub(super) fn append_plain(&mut self, first: usize) {
        let rest = self.rest();
        let length =
            rest.bytes().skip(first).position(|c| SIGNS.contains(&c)).map_or(rest.len(), |end| first + end);
        self.current_word().append(&rest[..length]);
        self.at += length;
    }

    /// Appends an unknown part. `quoted`: it stays one word. `several`: it becomes several words even then.
    pub(super) fn append_unknown(&mut self, quoted: bool, several: bool) {
        let splits = !quoted || several;
        self.append_unknown_part(splits, splits, true);
    }

    /// Appends the variable of a loop, which is unknown, but has the shape of the values in the loop's head.
    fn append_loop_variable(&mut self, shape: ValueShape, values: Rc<[LoopValue]>, quoted: bool) {
        let splits = !quoted && !shape.is_one_word;
        let is_only = self.current_word().unknown.is_none();
        self.append_unknown_part(splits, splits, shape.may_dash);
        let stays_one = |value: &LoopValue| quoted || !value.is_known || is_one_word(&value.text);
        if is_only && values.iter().all(stays_one) {
            self.current_word().loop_values = Some(values);
        }
    }

    /// Appends a pattern, which makes words that start with the text in front of it.
    fn append_pattern(&mut self, starts_plain: bool) {
        self.append_unknown_part(true, false, !starts_plain);
    }

    fn append_unknown_part(&mut self, splits: bool, may_dash: bool, may_dash_at_start: bool) {
        let word = self.current_word();
        let is_start = word.value.is_empty() && word.unknown.is_none();
        word.loop_values = None;
        let unknown = word.unknown.get_or_insert_default();
        unknown.may_dash |= may_dash || is_start && may_dash_at_start;
        unknown.splits |= splits;
    }

    fn parse_escape(&mut self) -> ParseResult {
        let Some(c) = self.rest()[1..].chars().next() else {
            return Err(self.error("a backslash at the end"));
        };
        if c == '\n' {
            return self.advance(2);
        }
        let value = &self.rest()[1..=c.len_utf8()];
        let word = self.current_word();
        word.quoted = true;
        word.append(value);
        self.advance(1 + value.len())
    }

    fn parse_single_quotes(&mut self) -> ParseResult {
        let inside = &self.rest()[1..];
        let Some(end) = inside.find('\'') else {
            return Err(self.error("a quote that is never closed"));
        };
        self.refuse_document_across(&inside[..end])?;
        let word = self.current_word();
        word.quoted = true;
        word.append(&inside[..end]);
        self.advance(end + 2)
    }

    /// `$'…'`.
    pub(super) fn parse_ansi_quotes(&mut self) -> ParseResult {
        let inside = &self.rest()[2..];
        let Some(end) = escaped_end(inside, b'\'') else {
            return Err(self.error("a quote that is never closed"));
        };
        self.refuse_document_across(&inside[..end])?;
        self.current_word().quoted = true;
        match ansi::decode_escapes(&inside[..end]) {
            Some(value) => self.current_word().append_owned(&value),
            None => self.append_unknown(true, false),
        }
        self.advance(end + 3)
    }

    /// Refuses a line end inside quotes before a here-document, because shells disagree where it starts then.
    pub(super) fn refuse_document_across(&self, text: &str) -> ParseResult {
        match self.lists.iter().find_map(|list| list.documents.first()) {
            Some(document) if text.contains('\n') => {
                Err(SyntaxError::new("a here-document around quotes", document.at))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn parse_in_quotes(&mut self, c: u8) -> ParseResult {
        let is_text = self.mode() == Mode::Text;
        match c {
            b'"' if !is_text => {
                self.close_construct();
                self.at += 1;
            }
            b'\\'
                if matches!(self.peek(1), Some(b'$' | b'`' | b'\\' | b'\n'))
                    || (!is_text && self.peek(1) == Some(b'"')) =>
            {
                return self.parse_escape();
            }
            b'$' => return self.parse_dollar(true),
            b'`' => return self.parse_backtick(true),
            b'\n' => {
                self.refuse_document_across("\n")?;
                self.append_quoted_text();
            }
            _ => self.append_quoted_text(),
        }
        Ok(())
    }

    fn append_quoted_text(&mut self) {
        let rest = self.rest();
        let length =
            rest.bytes().skip(1).position(|c| SIGNS_IN_QUOTES.contains(&c)).map_or(rest.len(), |end| end + 1);
        self.current_word().append(&rest[..length]);
        self.at += length;
    }

    /// `{a,b}` and `{1..3}` become several words; any other brace is text.
    fn parse_brace(&mut self) {
        let rest = self.rest().as_bytes();
        let within = &rest[1..rest.len().min(LONGEST_BRACES)];
        let is_text = |c: &u8| c.is_ascii_alphanumeric() || b"_:/+-@^~=%.".contains(c);
        let length = within.iter().take_while(|c| is_text(c)).count();
        let is_plain =
            within.get(length) == Some(&b'}') && !within[..length].windows(2).any(|pair| pair == b"..");
        if is_plain || matches!(within.first(), None | Some(b' ' | b'\t' | b'\n')) {
            self.append_plain(1);
            return;
        }
        let end = within.iter().position(|c| *c == b'}').unwrap_or(within.len());
        let starts = |c: Option<&u8>| c.is_some_and(|c| c.is_ascii_alphanumeric() || b"_./".contains(c));
        let inside = &within[..end];
        let starts_plain = end < within.len()
            && !inside.contains(&b'{')
            && starts(inside.first())
            && inside.windows(2).all(|pair| pair[0] != b',' || starts(Some(&pair[1])))
            && inside.last() != Some(&b',')
            && !(inside.windows(2).any(|pair| pair == b"..") && inside.contains(&b'-'));
        self.append_pattern(starts_plain);
        self.at += 1;
    }

    fn parse_tilde(&mut self) {
        let rest = self.rest();
        let prefix = &rest[..rest.find(|c| "/ \t\n;&|><)".contains(c)).unwrap_or(rest.len())];
        match prefix {
            "~" => self.append_variable("HOME", self.at + 1, true),
            "~+" => self.append_variable("PWD", self.at + 2, true),
            _ => {
                self.append_unknown(true, false);
                self.at += 1;
            }
        }
    }

    /// Appends the value of a variable, if it is known. `end`: where the text after the variable starts.
    pub(super) fn append_variable(&mut self, name: &str, end: usize, quoted: bool) {
        let value = match name {
            "HOME" => self.home.map(str::to_owned),
            "PWD" => self.pwd.clone(),
            _ => match self.variables.get(name) {
                // Reading a long value costs too.
                Some(VariableValue::Is(value)) => self.work.pay(value.len()).then(|| value.clone()),
                Some(VariableValue::OneOf(shape, values)) => {
                    let (shape, values) = (*shape, values.clone());
                    self.append_loop_variable(shape, values, quoted);
                    self.at = end;
                    return;
                }
                None => None,
            },
        };
        // The word starts in front of the variable.
        self.current_word();
        self.at = end;
        match value {
            Some(value) => self.append_value(&value, quoted),
            None => self.append_unknown(quoted, name == "@"),
        }
    }
}

/// Whether a word is a name and `=` so far. The shell expands `~` behind it.
fn awaits_value(word: &Word) -> bool {
    !word.quoted && word.text().and_then(|text| text.strip_suffix('=')).is_some_and(is_name)
}

/// Where a text ends in which a backslash protects the next character.
pub(super) fn escaped_end(text: &str, sign: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            c if c == sign => return Some(at),
            _ => at += 1,
        }
    }
}

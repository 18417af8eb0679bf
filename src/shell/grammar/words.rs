//! The parts of words: plain text, quotes, patterns, braces.

use super::variables::{Shape, Value, is_one_word};
use super::{Grammar, Mode, Progress, Stuck};
use crate::shell::ansi;
use crate::shell::word::Word;

/// Signs that mean something in a word without quotes.
const SIGNS: &[u8] = b" \t\n;&|()<>\\'\"$`*?[{~\0";
const SIGNS_IN_QUOTES: &[u8] = b"\"\\$`\0\n";
/// A pair of braces that is longer is not looked into.
const LONGEST_BRACES: usize = 256;

impl<'a> Grammar<'a> {
    pub(super) fn word(&mut self) -> &mut Word<'a> {
        let at = self.at;
        &mut self.list().word.get_or_insert_with(|| (at, Word::default())).1
    }

    pub(super) fn in_word(&mut self, c: u8) -> Progress {
        match c {
            b'\\' => self.escaped(),
            b'\'' => self.single_quoted(),
            b'"' => {
                self.word().quoted = true;
                self.push(Mode::Double)?;
                self.at += 1;
                Ok(())
            }
            b'$' => self.dollar(false),
            b'`' => self.backtick(false),
            // `[` and `[[` alone are programs, not patterns.
            b'[' if self.list().word.is_none() && self.brackets_alone() > 0 => {
                self.plain(self.brackets_alone());
                Ok(())
            }
            b'*' | b'?' | b'[' => {
                if self.peek(1) == Some(b'(') && !matches!(self.mode(), Mode::Test(Some(_))) {
                    return Err(self.stuck("an extended pattern"));
                }
                self.pattern(false);
                let sign = &self.rest()[..1];
                self.word().append(sign);
                self.at += 1;
                Ok(())
            }
            b'{' => {
                self.brace();
                Ok(())
            }
            b'~' if self.list().word.is_none() => {
                self.tilde();
                Ok(())
            }
            _ => {
                self.plain(1);
                Ok(())
            }
        }
    }

    /// How many brackets stand here as a word of their own.
    fn brackets_alone(&self) -> usize {
        let rest = self.rest().as_bytes();
        let signs = rest.iter().take(3).take_while(|c| **c == b'[').count();
        if signs <= 2 && matches!(rest.get(signs), Some(b' ' | b'\t' | b'\n')) { signs } else { 0 }
    }

    /// The next bytes mean themselves, and so does all that follows up to a sign.
    pub(super) fn plain(&mut self, first: usize) {
        let rest = self.rest();
        let length =
            rest.bytes().skip(first).position(|c| SIGNS.contains(&c)).map_or(rest.len(), |end| first + end);
        self.word().append(&rest[..length]);
        self.at += length;
    }

    /// A part of a word that cannot be known. `quoted`: it stays one word; `several`: not even then.
    pub(super) fn unknown(&mut self, quoted: bool, several: bool) {
        let word = self.word();
        let is_start = word.value.is_empty() && word.unknown.is_none();
        let unknown = word.unknown.get_or_insert_default();
        unknown.may_dash |= is_start || !quoted || several;
        unknown.splits |= !quoted || several;
    }

    /// The variable of a loop: not known, but like all the values that the loop gives it.
    fn shaped(&mut self, shape: Shape, quoted: bool) {
        let splits = !quoted && !shape.is_one_word;
        let word = self.word();
        let is_start = word.value.is_empty() && word.unknown.is_none();
        let unknown = word.unknown.get_or_insert_default();
        unknown.may_dash |= splits || (is_start && shape.may_dash);
        unknown.splits |= splits;
    }

    /// A pattern makes words that start with what stands in front of it.
    fn pattern(&mut self, starts_plain: bool) {
        let word = self.word();
        let is_start = word.value.is_empty() && word.unknown.is_none();
        let unknown = word.unknown.get_or_insert_default();
        unknown.may_dash |= is_start && !starts_plain;
        unknown.splits = true;
    }

    fn escaped(&mut self) -> Progress {
        let Some(c) = self.rest()[1..].chars().next() else {
            return Err(self.stuck("a backslash at the end"));
        };
        if c == '\n' {
            self.at += 2;
            return Ok(());
        }
        let value = &self.rest()[1..=c.len_utf8()];
        let word = self.word();
        word.quoted = true;
        word.append(value);
        self.at += 1 + value.len();
        Ok(())
    }

    fn single_quoted(&mut self) -> Progress {
        let inside = &self.rest()[1..];
        let Some(end) = inside.find('\'') else {
            return Err(self.stuck("a quote that is never closed"));
        };
        self.no_document_across(&inside[..end])?;
        let word = self.word();
        word.quoted = true;
        word.append(&inside[..end]);
        self.at += end + 2;
        Ok(())
    }

    /// `$'…'`.
    pub(super) fn ansi_quoted(&mut self) -> Progress {
        let inside = &self.rest()[2..];
        let Some(end) = escaped_end(inside, b'\'') else {
            return Err(self.stuck("a quote that is never closed"));
        };
        self.no_document_across(&inside[..end])?;
        let value = ansi::decoded(&inside[..end]);
        let is_known = value.is_some();
        let word = self.word();
        word.quoted = true;
        if let Some(value) = value {
            word.append_owned(&value);
        }
        if !is_known {
            self.unknown(true, false);
        }
        self.at += 2 + end + 1;
        Ok(())
    }

    /// Shells do not agree where a here-document starts whose line ends inside quotes.
    pub(super) fn no_document_across(&self, text: &str) -> Progress {
        let waits = self.lists.iter().find_map(|list| list.documents.first());
        match waits {
            Some(document) if text.contains('\n') => {
                Err(Stuck { what: "a here-document around quotes".into(), at: document.at })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn in_quotes(&mut self, c: u8) -> Progress {
        let is_text = self.mode() == Mode::Text;
        match c {
            b'"' if !is_text => {
                self.pop();
                self.at += 1;
            }
            b'\\'
                if matches!(self.peek(1), Some(b'$' | b'`' | b'\\' | b'\n'))
                    || (!is_text && self.peek(1) == Some(b'"')) =>
            {
                return self.escaped();
            }
            b'$' => return self.dollar(true),
            b'`' => return self.backtick(true),
            b'\n' => {
                self.no_document_across("\n")?;
                self.quoted_text();
            }
            _ => self.quoted_text(),
        }
        Ok(())
    }

    fn quoted_text(&mut self) {
        let rest = self.rest();
        let length =
            rest.bytes().skip(1).position(|c| SIGNS_IN_QUOTES.contains(&c)).map_or(rest.len(), |end| end + 1);
        self.word().append(&rest[..length]);
        self.at += length;
    }

    /// `{a,b}` and `{1..3}` make several words of one; every other brace is text.
    fn brace(&mut self) {
        let rest = self.rest().as_bytes();
        let within = &rest[1..rest.len().min(LONGEST_BRACES)];
        let is_text = |c: &u8| c.is_ascii_alphanumeric() || b"_:/+-@^~=%.".contains(c);
        let length = within.iter().take_while(|c| is_text(c)).count();
        let is_plain =
            within.get(length) == Some(&b'}') && !within[..length].windows(2).any(|pair| pair == b"..");
        if is_plain || matches!(within.first(), None | Some(b' ' | b'\t' | b'\n')) {
            self.plain(1);
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
        self.pattern(starts_plain);
        self.at += 1;
    }

    fn tilde(&mut self) {
        let rest = self.rest();
        let prefix = &rest[..rest.find(|c| "/ \t\n;&|><)".contains(c)).unwrap_or(rest.len())];
        match prefix {
            "~" => self.variable("HOME", self.at + 1, true),
            "~+" => self.variable("PWD", self.at + 2, true),
            _ => {
                self.unknown(true, false);
                self.at += 1;
            }
        }
    }

    /// `$HOME` and a certain `$PWD` are known; every other variable is not.
    pub(super) fn variable(&mut self, name: &str, end: usize, quoted: bool) {
        let value = match name {
            "HOME" => self.home.map(str::to_owned),
            "PWD" => self.pwd.clone(),
            _ => match self.variables.get(name) {
                // Looking at a long one costs as well, whatever is found.
                Some(Value::Is(value)) => self.work.pay(value.len()).then(|| value.clone()),
                Some(Value::OneOf(shape)) => {
                    let shape = *shape;
                    self.shaped(shape, quoted);
                    self.at = end;
                    return;
                }
                None => None,
            },
        };
        match value.filter(|value| self.work.pay(value.len()) && (quoted || is_one_word(value))) {
            Some(value) => {
                let word = self.word();
                // What a variable holds is never a word of the grammar.
                word.quoted = true;
                if word.unknown.is_none() {
                    word.value.to_mut().push_str(&value);
                }
            }
            None => self.unknown(quoted, name == "@"),
        }
        self.at = end;
    }
}

/// Where the sign stands that closes a text in which a backslash protects the next character.
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

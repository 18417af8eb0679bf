//! Cutting a command line into words, redirections and command ends, in one pass.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::Work;
use super::ansi;
use super::substitution::{self, Delimiter, Open};
use super::word::Word;

/// A piece of a command line.
pub(super) enum Piece<'a> {
    Word(Word<'a>),
    Redirection {
        target: Word<'a>,
        writes: bool,
    },
    HereString(Word<'a>),
    /// The command gets a here-document; the bodies follow later, in the same order.
    Document,
    /// `quoted`: nothing in it is expanded.
    Body {
        text: &'a str,
        quoted: bool,
    },
    /// The inside of a substitution: a command line of its own.
    Commands(Cow<'a, str>),
    /// A text of which the shell runs nothing but its substitutions.
    Expanded(&'a str),
    /// The end of a simple command; `and`: what follows runs only if it succeeded.
    End {
        and: bool,
    },
}

/// What the next word is for.
enum Waiting {
    Write,
    Read,
    HereString,
}

/// Gives the pieces of a line one by one; every simple command is closed by a [`Piece::End`].
pub(super) struct Cutter<'a> {
    text: &'a str,
    at: usize,
    home: Option<&'a str>,
    /// The current directory, where it is certain.
    pub(super) pwd: Option<String>,
    work: &'a Work,
    ready: VecDeque<Piece<'a>>,
    /// The word that is being read, and where it started.
    word: Option<(usize, Word<'a>)>,
    waiting: Option<Waiting>,
    /// Here-documents whose bodies start after this line.
    documents: Vec<Delimiter>,
    ended: bool,
}

impl<'a> Iterator for Cutter<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        while self.ready.is_empty() && !self.ended {
            self.step();
        }
        self.ready.pop_front()
    }
}

impl<'a> Cutter<'a> {
    pub(super) fn new(text: &'a str, home: Option<&'a str>, work: &'a Work) -> Self {
        Self {
            text,
            at: 0,
            home,
            pwd: None,
            work,
            ready: VecDeque::new(),
            word: None,
            waiting: None,
            documents: Vec::new(),
            ended: false,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn step(&mut self) {
        let Some(c) = self.rest().chars().next() else {
            self.end_command(false, 0);
            self.ended = true;
            return;
        };
        match c {
            ' ' | '\t' => {
                self.end_word();
                self.at += 1;
            }
            '\n' => {
                self.end_command(false, 1);
                for delimiter in std::mem::take(&mut self.documents) {
                    let (text, next) = delimiter.body(self.text, self.at);
                    self.ready.push_back(Piece::Body { text, quoted: delimiter.quoted });
                    self.at = next;
                }
            }
            '(' => self.parenthesis(),
            ';' | '|' | ')' => self.end_command(false, 1),
            '&' if self.peek(1) == Some(b'>') => {
                self.end_word();
                self.at += 1;
            }
            '&' if self.peek(1) == Some(b'&') => self.end_command(true, 2),
            '&' => self.end_command(false, 1),
            '#' if self.word.is_none() => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            '<' | '>' => self.operator(c),
            '\\' => self.escaped(),
            '\'' => {
                let end = self.rest()[1..].find('\'').map(|end| self.at + 1 + end);
                let value = &self.text[self.at + 1..end.unwrap_or(self.text.len())];
                let word = self.word();
                word.quoted = true;
                word.unknown |= end.is_none();
                word.append(value);
                self.at = end.map_or(self.text.len(), |end| end + 1);
            }
            '"' => self.double_quoted(),
            '$' => self.dollar(false),
            '`' => self.backtick(false),
            // `[` and `[[` alone are programs, not patterns.
            '[' if self.word.is_none() && self.rest().trim_start_matches('[').starts_with([' ', '\t']) => {
                self.plain(c, " \t");
            }
            '*' | '?' | '[' => self.unknown(1),
            '~' if self.word.is_none() => self.tilde(),
            // `{a,b}` makes several words of one; a brace alone groups, and `{}` is text.
            '{' if !matches!(self.peek(1), None | Some(b' ' | b'\t' | b'\n' | b'}')) => self.unknown(1),
            '}' if self.word.is_none() => self.end_command(false, 1),
            c => self.plain(c, " \t\n;&|()<>\\'\"$`*?[{"),
        }
    }

    fn word(&mut self) -> &mut Word<'a> {
        &mut self.word.get_or_insert_with(|| (self.at, Word::default())).1
    }

    /// A character that means itself, and all that follow up to a sign.
    fn plain(&mut self, first: char, signs: &str) {
        let rest = self.rest();
        let first = first.len_utf8();
        let length = rest[first..].find(|c| signs.contains(c)).map_or(rest.len(), |end| first + end);
        self.word().append(&rest[..length]);
        self.at += length;
    }

    /// The next bytes stand for something that cannot be known.
    fn unknown(&mut self, bytes: usize) {
        self.word().unknown = true;
        self.at += bytes;
    }

    fn escaped(&mut self) {
        match self.rest()[1..].chars().next() {
            Some('\n') => self.at += 2,
            Some(c) => {
                let value = &self.rest()[1..=c.len_utf8()];
                let word = self.word();
                word.quoted = true;
                word.append(value);
                self.at += 1 + value.len();
            }
            None => self.unknown(1),
        }
    }

    fn double_quoted(&mut self) {
        self.word().quoted = true;
        self.at += 1;
        while let Some(c) = self.rest().chars().next() {
            match c {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' if matches!(self.peek(1), Some(b'$' | b'`' | b'"' | b'\\' | b'\n') | None) => {
                    self.escaped();
                }
                '$' => self.dollar(true),
                '`' => self.backtick(true),
                c => self.plain(c, "\"\\$`"),
            }
        }
        self.word().unknown = true;
    }

    /// `$HOME` and a certain `$PWD` are known; every other expansion is not.
    fn dollar(&mut self, quoted: bool) {
        self.word();
        let rest = self.rest();
        match self.peek(1) {
            Some(b'\'') if !quoted => {
                let end = substitution::ansi_end(self.text, self.at + 2);
                let value =
                    ansi::decoded(&self.text[self.at + 2..end.map_or(self.text.len(), |end| end - 1)]);
                let word = self.word();
                word.quoted = true;
                word.unknown |= end.is_none() || value.is_none();
                word.value.to_mut().push_str(&value.unwrap_or_default());
                self.at = end.unwrap_or(self.text.len());
            }
            Some(b'"') if !quoted => self.at += 1,
            Some(b'(') => match substitution::arithmetic_end(self.text, self.at + 1, self.work) {
                Some(end) => self.expanded(3, end, 2),
                None => self.commands(),
            },
            Some(b'{') => {
                let end = substitution::end(self.text, self.at + 2, Open::Braces { quoted }, self.work);
                match end.map(|end| (&self.text[self.at + 2..end - 1], end)) {
                    Some((name @ ("HOME" | "PWD"), end)) => self.variable(name, end),
                    Some((_, end)) => self.expanded(2, end, 1),
                    None => self.expanded(2, self.text.len(), 0),
                }
            }
            Some(c) if c.is_ascii_alphabetic() || c == b'_' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let length = rest[1..].find(|c| !is_part(c)).map_or(rest.len(), |end| 1 + end);
                self.variable(&rest[1..length], self.at + length);
            }
            Some(c) if c.is_ascii_digit() || b"?@#$!*-".contains(&c) => self.unknown(2),
            _ => self.plain('$', if quoted { "\"\\$`" } else { " \t\n;&|()<>\\'\"$`*?[{" }),
        }
    }

    fn variable(&mut self, name: &str, end: usize) {
        let value = match name {
            "HOME" => self.home.map(str::to_owned),
            "PWD" => self.pwd.clone(),
            _ => None,
        };
        self.value(value.filter(|value| self.work.pay(value.len())));
        self.at = end;
    }

    fn value(&mut self, value: Option<String>) {
        let word = self.word();
        match value {
            Some(value) => word.value.to_mut().push_str(&value),
            None => word.unknown = true,
        }
    }

    /// A part of a word, with signs before and behind it, whose substitutions run.
    fn expanded(&mut self, before: usize, end: usize, behind: usize) {
        self.word().unknown = true;
        let from = (self.at + before).min(end);
        self.ready.push_back(Piece::Expanded(&self.text[from..(end - behind).max(from)]));
        self.at = end;
    }

    /// `$(…)`, `<(…)` and `>(…)`.
    fn commands(&mut self) {
        self.word().unknown = true;
        let end = substitution::end(self.text, self.at + 2, Open::Commands, self.work);
        let inner = &self.text[self.at + 2..end.map_or(self.text.len(), |end| end - 1)];
        self.ready.push_back(Piece::Commands(Cow::Borrowed(inner)));
        self.at = end.unwrap_or(self.text.len());
    }

    fn backtick(&mut self, quoted: bool) {
        self.word().unknown = true;
        let end = substitution::backtick_end(self.text, self.at + 1);
        let inner = &self.text[self.at + 1..end.map_or(self.text.len(), |end| end - 1)];
        self.ready.push_back(Piece::Commands(Cow::Owned(substitution::unescaped(inner, quoted))));
        self.at = end.unwrap_or(self.text.len());
    }

    fn tilde(&mut self) {
        let rest = self.rest();
        let prefix = &rest[..rest.find(|c| "/ \t\n;&|><)".contains(c)).unwrap_or(rest.len())];
        match prefix {
            "~" => self.variable("HOME", self.at + 1),
            "~+" => self.variable("PWD", self.at + 2),
            _ => self.unknown(1),
        }
    }

    fn parenthesis(&mut self) {
        let is_list = self.word.as_ref().is_some_and(|(_, word)| !word.quoted && word.value.ends_with('='));
        if is_list {
            let end = substitution::end(self.text, self.at + 1, Open::Commands, self.work);
            self.expanded(1, end.unwrap_or(self.text.len()), usize::from(end.is_some()));
            return;
        }
        let arithmetic = match self.word {
            None => substitution::arithmetic_end(self.text, self.at, self.work),
            Some(_) => None,
        };
        match arithmetic {
            Some(end) => {
                let inner = &self.text[self.at + 2..end - 2];
                self.ready.push_back(Piece::Expanded(inner));
                self.at = end;
                self.end_command(false, 0);
            }
            None => self.end_command(false, 1),
        }
    }

    fn operator(&mut self, c: char) {
        // A number right before the operator is a descriptor, not a word.
        let is_number =
            |word: &Word| !word.quoted && !word.unknown && word.value.bytes().all(|c| c.is_ascii_digit());
        if self.word.as_ref().is_some_and(|(_, word)| is_number(word)) {
            self.word = None;
        }
        self.end_word();
        let plain = if c == '>' { Waiting::Write } else { Waiting::Read };
        let (length, waiting) = match (c, self.peek(1)) {
            (_, Some(b'(')) => return self.commands(),
            ('<', Some(b'<')) if self.peek(2) == Some(b'<') => (3, Waiting::HereString),
            ('<', Some(b'<')) => {
                let delimiter = Delimiter::read(self.text, self.at + 2);
                self.at = delimiter.end;
                self.documents.push(delimiter);
                self.ready.push_back(Piece::Document);
                return;
            }
            ('<', Some(b'>')) | ('>', Some(b'>' | b'|')) => (2, Waiting::Write),
            (_, Some(b'&')) => {
                // `>&2` and `>&-` copy or close a descriptor; `>&file` and `>&2file` write.
                let rest = &self.rest()[2..];
                let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                let behind = number.strip_prefix('-').unwrap_or(number);
                let ends = behind.chars().next().is_none_or(|c| " \t\n;&|()<>".contains(c));
                if ends && behind.len() < rest.len() {
                    self.at += 2 + rest.len() - behind.len();
                    return;
                }
                (2, plain)
            }
            _ => (1, plain),
        };
        self.at += length;
        self.waiting = Some(waiting);
    }

    fn end_word(&mut self) {
        let Some((start, mut word)) = self.word.take() else { return };
        word.source = &self.text[start..self.at];
        self.ready.push_back(match self.waiting.take() {
            None => Piece::Word(word),
            Some(Waiting::HereString) => Piece::HereString(word),
            Some(Waiting::Write) => Piece::Redirection { target: word, writes: true },
            Some(Waiting::Read) => Piece::Redirection { target: word, writes: false },
        });
    }

    fn end_command(&mut self, and: bool, length: usize) {
        self.end_word();
        self.waiting = None;
        self.ready.push_back(Piece::End { and });
        self.at += length;
    }
}

//! A word of a command line, as far as its value is known.

use std::borrow::Cow;
use std::rc::Rc;

const KEYWORDS: &[&str] = &[
    "if", "then", "elif", "else", "fi", "while", "until", "for", "select", "do", "done", "case", "esac", "{",
    "}", "[[", "!", "time", "function", "coproc",
];
const LONGEST_KEYWORD: usize = 8;

/// One word: its source, and its value if that does not depend on the shell's state.
#[derive(Clone, Default)]
pub(super) struct Word<'a> {
    pub(super) source: &'a str,
    /// The value, up to the first unknown part.
    pub(super) value: Cow<'a, str>,
    pub(super) unknown: Option<UnknownPart>,
    /// The known text after the first unknown part.
    pub(super) tail: String,
    pub(super) quoted: bool,
    /// The values of its only unknown part, if that is the variable of a loop.
    pub(super) loop_values: Option<Rc<[LoopValue]>>,
}

/// A word in the head of a loop.
pub(super) struct LoopValue {
    /// The value, or the source of a word whose value is unknown.
    pub(super) text: String,
    pub(super) is_known: bool,
}

/// What a word with an unknown part may become.
#[derive(Clone, Copy, Default)]
pub(super) struct UnknownPart {
    /// No word or several words: an expansion without quotes, a pattern.
    pub(super) splits: bool,
    /// One of them may start with a dash.
    pub(super) may_dash: bool,
}

impl<'a> Word<'a> {
    pub(super) fn literal(value: &'a str) -> Self {
        Self { source: value, value: Cow::Borrowed(value), ..Self::default() }
    }

    /// The value, if all of it is known.
    pub(super) fn text(&self) -> Option<&str> {
        self.unknown.is_none().then_some(&*self.value)
    }

    /// The value, up to the first unknown part.
    pub(super) fn prefix(&self) -> &str {
        &self.value
    }

    /// The source without its own quotes: what a shell gets that reads the word as commands, with unexpanded
    /// expansions.
    pub(super) fn source_without_quotes(&self) -> String {
        let mut text = String::with_capacity(self.source.len());
        let mut within = None;
        let mut rest = self.source.chars();
        while let Some(c) = rest.next() {
            match (c, within) {
                ('"' | '\'', None) => within = Some(c),
                (c, Some(sign)) if c == sign => within = None,
                ('\\', None) => text.extend(rest.next()),
                ('\\', Some('"')) => match rest.next() {
                    Some(next @ ('"' | '$' | '`' | '\\')) => text.push(next),
                    next => text.extend([c].into_iter().chain(next)),
                },
                _ => text.push(c),
            }
        }
        text
    }

    /// The word without the first bytes of its value: the value of `--option=value` or `of=file`.
    pub(super) fn skip_bytes(&self, bytes: usize) -> Self {
        let value = match &self.value {
            Cow::Borrowed(value) => Cow::Borrowed(&value[bytes..]),
            Cow::Owned(value) => Cow::Owned(value[bytes..].to_owned()),
        };
        // Where nothing of it is quoted, the source begins with the same bytes.
        let source = self.source.strip_prefix(&self.value[..bytes]).unwrap_or(self.source);
        let (tail, loop_values) = (self.tail.clone(), self.loop_values.clone());
        Self { source, value, tail, loop_values, ..*self }
    }

    /// Whether the word is unknown and a program could take it, or a part of it, for an option.
    pub(super) fn may_be_option(&self) -> bool {
        self.unknown.is_some_and(|unknown| unknown.may_dash || self.value.starts_with('-'))
    }

    /// Whether the shell may expand it to no word or to several words.
    pub(super) fn may_split(&self) -> bool {
        self.unknown.is_some_and(|unknown| unknown.splits)
    }

    pub(super) fn is_option(&self) -> bool {
        self.value.starts_with('-') && self.value.len() > 1
    }

    /// Whether this is a cluster of letters with one of these letters.
    pub(super) fn has_letter(&self, letters: &[char]) -> bool {
        self.is_option() && !self.value.starts_with("--") && self.value.contains(letters)
    }

    /// The variable's name, if this is an assignment.
    pub(super) fn assigned_name(&self) -> Option<&'a str> {
        let (name, _) = self.source.split_once('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        is_name(name).then_some(name)
    }

    /// The value of an assignment, if it is known.
    pub(super) fn assigned_text(&self) -> Option<&str> {
        Some(self.text()?.split_once('=')?.1)
    }

    /// The value, if nothing in the word is quoted or unknown. A keyword must be such a word.
    pub(super) fn unquoted_text(&self) -> Option<&str> {
        self.text().filter(|_| !self.quoted)
    }

    /// The keyword that it is, if the grammar allows one here.
    pub(super) fn as_keyword(&self) -> Option<&'static str> {
        let text = self.unquoted_text().filter(|text| text.len() <= LONGEST_KEYWORD)?;
        KEYWORDS.iter().find(|keyword| **keyword == text).copied()
    }

    /// Adds known text.
    pub(super) fn append(&mut self, value: &'a str) {
        if self.unknown.is_some() || !self.value.is_empty() {
            self.append_owned(value);
        } else {
            self.value = Cow::Borrowed(value);
        }
    }

    pub(super) fn append_owned(&mut self, value: &str) {
        if self.unknown.is_some() {
            self.tail.push_str(value);
        } else {
            self.value.to_mut().push_str(value);
        }
    }

    /// All literal text of the word.
    pub(super) fn literal_text(&self) -> Cow<'_, str> {
        if self.tail.is_empty() {
            Cow::Borrowed(&self.value)
        } else {
            Cow::Owned(format!("{}{}", self.value, self.tail))
        }
    }
}

pub(super) fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a text can name a variable.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_name_part)
}

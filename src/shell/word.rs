//! A word of a command line, as far as it is known.

use std::borrow::Cow;

const KEYWORDS: &[&str] = &[
    "if", "then", "elif", "else", "fi", "while", "until", "for", "select", "do", "done", "case", "esac", "{",
    "}", "[[", "!", "time", "function", "coproc",
];
const LONGEST_KEYWORD: usize = 8;

/// One word: its source, and its value if that does not depend on the shell's state.
#[derive(Clone, Default)]
pub(super) struct Word<'a> {
    pub(super) source: &'a str,
    /// The value, up to the first part that is not known.
    pub(super) value: Cow<'a, str>,
    pub(super) unknown: Option<Unknown>,
    /// The known text behind the first part that is not known.
    pub(super) tail: String,
    pub(super) quoted: bool,
}

/// What a word may become that has a part which is not known.
#[derive(Clone, Copy, Default)]
pub(super) struct Unknown {
    /// None or several words: an expansion without quotes, a pattern.
    pub(super) splits: bool,
    /// One of them may start with a dash.
    pub(super) may_dash: bool,
}

impl<'a> Word<'a> {
    pub(super) fn literal(value: &'a str) -> Self {
        Self { source: value, value: Cow::Borrowed(value), ..Self::default() }
    }

    pub(super) fn known(&self) -> Option<&str> {
        self.unknown.is_none().then_some(&*self.value)
    }

    /// The value as far as it is known.
    pub(super) fn start(&self) -> &str {
        &self.value
    }

    pub(super) fn source(&self) -> &str {
        self.source
    }

    /// The source without its own quotes: what a shell is given that reads the word as commands, but for
    /// what the expansions in it come to.
    pub(super) fn unquoted(&self) -> String {
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
    pub(super) fn behind(&self, bytes: usize) -> Self {
        let value = match &self.value {
            Cow::Borrowed(value) => Cow::Borrowed(&value[bytes..]),
            Cow::Owned(value) => Cow::Owned(value[bytes..].to_owned()),
        };
        Self { value, tail: self.tail.clone(), ..*self }
    }

    /// Whether a program could take it, or a part of it, for an option that is not known here. A word
    /// that is known is no riddle.
    pub(super) fn may_be_option(&self) -> bool {
        self.unknown.is_some_and(|unknown| unknown.may_dash || self.value.starts_with('-'))
    }

    /// Whether the shell may make none or several words of it.
    pub(super) fn splits(&self) -> bool {
        self.unknown.is_some_and(|unknown| unknown.splits)
    }

    pub(super) fn is_option(&self) -> bool {
        self.value.starts_with('-') && self.value.len() > 1
    }

    /// Whether this is an option of single letters with this letter among them.
    pub(super) fn has_letter(&self, letters: &[char]) -> bool {
        self.is_option() && !self.value.starts_with("--") && self.value.contains(letters)
    }

    /// The variable's name, if this is an assignment.
    pub(super) fn assigned(&self) -> Option<&'a str> {
        let (name, _) = self.source.split_once('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        let is_name = !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (is_name && !name.is_empty()).then_some(name)
    }

    /// The value, if nothing in the word is quoted or unknown: only such a word can be a keyword.
    pub(super) fn plain(&self) -> Option<&str> {
        self.known().filter(|_| !self.quoted)
    }

    /// The word of the grammar that it is, where one may stand.
    pub(super) fn keyword(&self) -> Option<&'static str> {
        let text = self.plain().filter(|text| text.len() <= LONGEST_KEYWORD)?;
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

    /// All text of the word that stands in it literally.
    pub(super) fn literal_text(&self) -> Cow<'_, str> {
        if self.tail.is_empty() {
            Cow::Borrowed(&self.value)
        } else {
            Cow::Owned(format!("{}{}", self.value, self.tail))
        }
    }
}

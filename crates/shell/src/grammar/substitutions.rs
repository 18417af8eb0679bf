//! The values of variables and substitutions inside words, where they are known.
//!
//! What `$(…)` prints is known only to the caller, which follows the commands inside. It may give the value when the
//! substitution has just ended ([`Parser::give_value`]); otherwise that part of the word stays unknown.

use super::variables::is_one_word;
use super::{Mode, ParseResult, Parser, WordPosition};
use crate::word::Word;

/// What a substitution becomes in its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SubstitutedValue {
    /// Its value stays one word.
    quoted: bool,
}

impl Parser<'_> {
    /// Opens the commands of `$(…)`.
    pub(super) fn open_substitution(&mut self, quoted: bool) -> ParseResult {
        self.open_commands(Some(SubstitutedValue { quoted }))
    }

    /// Says what the substitution prints whose end was the last event.
    pub(in super::super) fn give_value(&mut self, value: &str) {
        if let Some(SubstitutedValue { quoted }) = self.open_value.take() {
            self.append_value(value, quoted);
        }
    }

    /// Appends the value of the substitution that has just ended, which nobody knows.
    pub(super) fn append_open_value(&mut self) {
        if let Some(SubstitutedValue { quoted }) = self.open_value.take() {
            self.append_unknown(quoted, false);
        }
    }

    /// Appends the value of a variable or of a substitution.
    pub(super) fn append_value(&mut self, value: &str, quoted: bool) {
        if !self.work.pay(value.len()) {
            return self.append_unknown(quoted, false);
        }
        if quoted || is_one_word(value) {
            let word = self.current_word();
            // A value is never a keyword.
            word.quoted = true;
            word.append_owned(value);
        } else if self.may_split_here(value) {
            self.append_words(value);
        } else {
            self.append_unknown(false, false);
        }
    }

    /// Whether the shell makes several words of a value here, and all of them are known.
    fn may_split_here(&mut self, value: &str) -> bool {
        let is_plain = !value.contains(['*', '?', '[', '\\']) && !value.trim().is_empty();
        let is_in_command = matches!(
            self.mode(),
            Mode::Top | Mode::Subshell | Mode::Substitution(_) | Mode::Group | Mode::If(_) | Mode::Loop(_)
        );
        let list = self.list();
        let is_word = list.waiting.is_none() && list.position != WordPosition::AfterCompound;
        // An assignment does not split. A word with an unknown part may have become several already.
        let is_splitting =
            list.word.as_ref().is_none_or(|(_, word)| word.unknown.is_none() && !word.value.contains('='));
        is_plain && is_in_command && is_word && is_splitting
    }

    /// Makes several words of a value. The source of each is that of the whole word.
    fn append_words(&mut self, value: &str) {
        let (text, at) = (self.text, self.at);
        self.current_word();
        let list = self.list();
        let start = list.word.as_ref().map_or(at, |(start, _)| *start);
        for (number, part) in value.split([' ', '\t', '\n']).enumerate() {
            if number > 0
                && let Some((_, mut word)) = list.word.take().filter(|(_, word)| !word.value.is_empty())
            {
                word.source = text.get(start..at).unwrap_or_default();
                list.command.words.push(word);
                list.position = WordPosition::Arguments;
            }
            if !part.is_empty() {
                let (_, word) = list.word.get_or_insert_with(|| (start, Word::default()));
                word.quoted = true;
                word.append_owned(part);
            }
        }
    }
}

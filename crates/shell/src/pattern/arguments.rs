//! Splits the words of a run into options, their values and operands, as the table of its program says.
//!
//! An option that the table does not list takes no value, except in the form `--name=value`. An unknown word behind an
//! option that takes a value is that value; since it may become several words, it is also a word of its own.

use crate::effect::UnknownWord;
use crate::pattern::run::ArgumentWord;
use crate::pattern::table::{OptionScope, ValueForm};

/// The value that an option is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionValue<'a> {
    Nothing,
    Known(&'a str),
    Unknown,
}

/// One part of a run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Token<'a> {
    Operand(&'a str),
    /// A word in front of the operands that does not count as one: `+nightly`, `V=1`.
    Prelude(&'a str),
    Letter(char, OptionValue<'a>),
    /// A long option as it is written, or an option of a program whose options are whole words.
    Name(&'a str, OptionValue<'a>),
    /// `--`.
    Separator,
    /// `is_rest`: its first word is a part of the option before it.
    Unknown {
        word: &'a UnknownWord,
        is_rest: bool,
    },
}

/// The words of a run, and the options that its command knows.
pub(super) struct Arguments<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) scope: OptionScope<'a>,
}

impl<'a> Arguments<'a> {
    pub(super) fn parse(program: &'a str, words: &[ArgumentWord<'a>]) -> Self {
        let mut arguments =
            Self { tokens: Vec::with_capacity(words.len() + 4), scope: OptionScope::new(program) };
        let (mut has_ended, mut has_operand) = (false, false);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                ArgumentWord::Known("--") if !has_ended => {
                    has_ended = true;
                    arguments.tokens.push(Token::Separator);
                }
                ArgumentWord::Known(text) if !has_ended && super::is_option(text) => {
                    if arguments.push_option(text, None) {
                        arguments.push_next_value(words.next());
                    }
                }
                ArgumentWord::Known(text) if !has_operand && arguments.scope.is_prelude(text) => {
                    arguments.tokens.push(Token::Prelude(text));
                }
                ArgumentWord::Known(text) if arguments.tokens.is_empty() && is_bundle(program, text) => {
                    let letters = text.chars().map(|letter| Token::Letter(letter, OptionValue::Nothing));
                    arguments.tokens.extend(letters);
                }
                ArgumentWord::Known(text) => {
                    if !has_operand {
                        arguments.scope.enter_command(text);
                    }
                    has_operand = true;
                    arguments.tokens.push(Token::Operand(text));
                }
                ArgumentWord::Unknown(word) if !has_ended && word.prefix.starts_with('-') => {
                    arguments.push_option(&word.prefix, Some(word));
                }
                ArgumentWord::Unknown(word) => {
                    arguments.tokens.push(Token::Unknown { word, is_rest: false });
                }
            }
        }
        arguments
    }

    /// Adds the options of a word, or of the known part of a word. Returns whether the next word is a value.
    fn push_option(&mut self, text: &'a str, unknown: Option<&'a UnknownWord>) -> bool {
        let is_cluster = !text.starts_with("--") && !self.scope.has_word_options() && !is_number(text);
        if is_cluster {
            return self.push_cluster(text, unknown);
        }
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => {
                (name, if unknown.is_some() { OptionValue::Unknown } else { OptionValue::Known(value) })
            }
            None => (text, OptionValue::Nothing),
        };
        match unknown {
            Some(word) if value == OptionValue::Nothing => {
                self.tokens.push(Token::Unknown { word, is_rest: false });
                return false;
            }
            Some(word) => self.push_rest(word),
            None => {}
        }
        self.tokens.push(Token::Name(name, value));
        value == OptionValue::Nothing && self.scope.takes_next_word(name)
    }

    fn push_cluster(&mut self, text: &'a str, unknown: Option<&'a UnknownWord>) -> bool {
        for (at, letter) in text.char_indices().skip(1) {
            let form = self.scope.letter_value(letter);
            let rest = &text[at + letter.len_utf8()..];
            match form {
                ValueForm::Nothing => self.tokens.push(Token::Letter(letter, OptionValue::Nothing)),
                _ if let Some(word) = unknown => {
                    self.tokens.push(Token::Letter(letter, OptionValue::Unknown));
                    self.push_rest(word);
                    return false;
                }
                _ if !rest.is_empty() => {
                    self.tokens.push(Token::Letter(letter, OptionValue::Known(strip_equals(rest))));
                    return false;
                }
                ValueForm::Attached => self.tokens.push(Token::Letter(letter, OptionValue::Nothing)),
                ValueForm::Next => {
                    self.tokens.push(Token::Letter(letter, OptionValue::Nothing));
                    return true;
                }
            }
        }
        if let Some(word) = unknown {
            self.tokens.push(Token::Unknown { word, is_rest: false });
        }
        false
    }

    fn push_rest(&mut self, word: &'a UnknownWord) {
        if word.splits && word.may_dash {
            self.tokens.push(Token::Unknown { word, is_rest: true });
        }
    }

    /// Gives the last option the value in the next word.
    fn push_next_value(&mut self, next: Option<&ArgumentWord<'a>>) {
        let (value, unknown) = match next {
            Some(ArgumentWord::Known(text)) => (OptionValue::Known(text), None),
            Some(ArgumentWord::Unknown(word)) => (OptionValue::Unknown, Some(*word)),
            None => return,
        };
        if let Some(Token::Letter(_, given) | Token::Name(_, given)) = self.tokens.last_mut() {
            *given = value;
        }
        if let Some(word) = unknown {
            self.push_rest(word);
        }
    }
}

/// `tar xzf`: the letters of the first word are options without a dash.
fn is_bundle(program: &str, text: &str) -> bool {
    matches!(program, "tar" | "bsdtar" | "gtar")
        && text.bytes().all(|letter| letter.is_ascii_alphabetic())
        && text.contains(['c', 'x', 't', 'r', 'u', 'A'])
}

/// `-9`: a number is an option of its own, not a cluster of digits.
pub(super) fn is_number(option: &str) -> bool {
    option[1..].bytes().all(|c| c.is_ascii_digit())
}

/// The value in `-n=value`, which is written like `-nvalue`.
pub(super) fn strip_equals(value: &str) -> &str {
    value.strip_prefix('=').unwrap_or(value)
}

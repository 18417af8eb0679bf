//! Splits the arguments of a program into options, their values and operands.
//!
//! One parser serves all programs that read their options as getopt does: clusters of letters (`-uo f`), attached
//! values (`-of`, `--long=value`), abbreviated long names, `--`. The options of a program are a static [`OptionTable`].
//! An abbreviation that could mean a mutating option counts as that option, because overlooking one is the worse
//! mistake.

use crate::word::Word;

/// What a mutating option does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OptionAction {
    /// Completes the sentence "it …".
    Does(&'static str),
    /// Its value is a file to write.
    Writes,
    /// Its value, if it has one, is a program to run.
    Runs,
}

/// The options of a program. Lists of long names have one blank between the names.
pub(super) struct OptionTable {
    /// Harmless letters, as getopt writes them: `:` after those that take a value, `::` where only an attached
    /// value counts.
    pub(super) letters: &'static str,
    /// Harmless long names, sorted. A `=` at the end marks those that take a value.
    pub(super) longs: &'static str,
    /// Options that do more than read: `-o= --output=`.
    pub(super) mutating: &'static [(OptionAction, &'static str)],
    pub(super) values: ValueRule,
    /// Options that are not listed are harmless.
    pub(super) allows_unlisted: bool,
}

/// How certain it is which options take the next word.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ValueRule {
    Certain,
    /// A long option's value that looks like an option is parsed as an option too.
    Likely,
    /// Any word may be a value, so `--` may be one as well.
    Anywhere,
}

pub(super) const STRICT: OptionTable =
    OptionTable { letters: "", longs: "", mutating: &[], values: ValueRule::Certain, allows_unlisted: false };

/// The name of an option, in its full spelling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OptionName {
    Letter(char),
    Long(&'static str),
    /// `--no-x`, by the name of `--x`.
    Negated(&'static str),
}

impl OptionName {
    fn is_one_of(self, letter: char, long: &str) -> bool {
        self == Self::Letter(letter) || matches!(self, Self::Long(name) if name == long)
    }
}

impl std::fmt::Display for OptionName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Letter(letter) => write!(f, "-{letter}"),
            Self::Long(name) => f.write_str(name),
            Self::Negated(name) => write!(f, "--no-{}", &name[2..]),
        }
    }
}

/// The arguments of a program. To ask for an option without a letter or without a long name, pass `'\0'` or `""`.
#[derive(Default)]
pub(super) struct ParsedArguments<'w, 'a> {
    pub(super) operands: Vec<&'w Word<'a>>,
    pub(super) options: Vec<(OptionName, Option<Word<'a>>)>,
    /// The number of operands before `--`.
    pub(super) before_dashes: Option<usize>,
    /// One of the options does more than read.
    pub(super) is_mutating: bool,
    /// Some argument is unknown, or is an option that is not listed.
    pub(super) is_uncertain: bool,
}

impl<'w, 'a> ParsedArguments<'w, 'a> {
    /// Parses arguments without judging them: options that are not listed take no value and are left out.
    pub(super) fn parse(words: &'w [Word<'a>], letters: &'static str, longs: &'static str) -> Self {
        Self::parse_with(&OptionTable { letters, longs, allows_unlisted: true, ..STRICT }, words)
    }

    /// Parses arguments without judging them. An uncertain word counts as an operand.
    pub(super) fn parse_with(table: &OptionTable, words: &'w [Word<'a>]) -> Self {
        let mut arguments = Self::default();
        for argument in ArgumentParser::new(table, words) {
            arguments.is_uncertain |= matches!(argument, Argument::UnknownOption(_) | Argument::Uncertain(_));
            match argument {
                Argument::Operand(word) | Argument::Uncertain(word) => arguments.operands.push(word),
                Argument::EndOfOptions => arguments.before_dashes = Some(arguments.operands.len()),
                Argument::Option { name, value, .. } => arguments.options.push((name, value)),
                Argument::UnknownOption(_) => {}
            }
        }
        arguments
    }

    /// Whether an option is given, and no later `--no-…` takes it back.
    pub(super) fn has(&self, letter: char, long: &str) -> bool {
        let is_about = |name: OptionName| name.is_one_of(letter, long) || is_negation(name, long);
        let last = self.options.iter().rev().find(|(name, _)| is_about(*name));
        last.is_some_and(|(name, _)| !matches!(name, OptionName::Negated(_)))
    }

    /// Whether one of these long options is given.
    pub(super) fn has_any(&self, longs: &[&str]) -> bool {
        longs.iter().any(|long| self.has('\0', long))
    }

    /// Whether `--no-…` is given for this long option.
    pub(super) fn has_negated(&self, long: &str) -> bool {
        self.options.iter().any(|(name, _)| is_negation(*name, long))
    }

    /// The values of an option, one for each time that it is given.
    pub(super) fn values(
        &self,
        letter: char,
        long: &str,
    ) -> impl DoubleEndedIterator<Item = Option<&Word<'a>>> {
        let given = self.options.iter().filter(move |(name, _)| name.is_one_of(letter, long));
        given.map(|(_, value)| value.as_ref())
    }

    /// The known values of an option.
    pub(super) fn known_values(&self, letter: char, long: &str) -> Vec<String> {
        self.values(letter, long).filter_map(|value| value?.text().map(str::to_owned)).collect()
    }

    /// The value of an option, the last one if it is given more than once.
    pub(super) fn value(&self, letter: char, long: &str) -> Option<&Word<'a>> {
        self.values(letter, long).next_back().flatten()
    }

    /// Whether an option is given, even if a later `--no-…` takes it back.
    pub(super) fn mentions(&self, letter: char, long: &str) -> bool {
        self.values(letter, long).next().is_some()
    }
}

fn is_negation(name: OptionName, long: &str) -> bool {
    matches!(name, OptionName::Negated(negated) if negated == long)
}

/// One argument.
pub(super) enum Argument<'w, 'a> {
    Operand(&'w Word<'a>),
    /// `--`: only operands follow.
    EndOfOptions,
    Option {
        name: OptionName,
        value: Option<Word<'a>>,
        action: Option<OptionAction>,
    },
    /// An option that is not listed.
    UnknownOption(&'w Word<'a>),
    /// A word whose value is unknown, and which may be or contain an option.
    Uncertain(&'w Word<'a>),
}

/// An option as the table lists it.
struct ListedOption {
    name: OptionName,
    value: ValueForm,
    action: Option<OptionAction>,
}

#[derive(Clone, Copy, PartialEq)]
enum ValueForm {
    Nothing,
    Attached,
    Value,
}

fn without_equals(name: &'static str) -> &'static str {
    name.strip_suffix('=').unwrap_or(name)
}

fn value_form(option: &str) -> ValueForm {
    if option.ends_with('=') { ValueForm::Value } else { ValueForm::Nothing }
}

impl OptionTable {
    #[cfg(test)]
    pub(super) fn is_sorted(&self) -> bool {
        self.longs.split(' ').is_sorted_by_key(without_equals)
    }

    fn mutating_options(&self) -> impl Iterator<Item = (&'static str, OptionAction)> + Clone {
        self.mutating.iter().flat_map(|(action, names)| names.split(' ').map(|name| (name, *action)))
    }

    /// The first long name that does not sort before this one, found by binary search.
    fn first_long_from(&self, name: &str) -> Option<&'static str> {
        let mut rest = self.longs;
        let mut found = None;
        while !rest.is_empty() {
            let start = rest[..rest.len() / 2].rfind(' ').map_or(0, |blank| blank + 1);
            let end = rest[start..].find(' ').map_or(rest.len(), |length| start + length);
            let option = &rest[start..end];
            if without_equals(option) < name {
                rest = rest.get(end + 1..).unwrap_or_default();
            } else {
                found = Some(option);
                rest = rest[..start].trim_end_matches(' ');
            }
        }
        found
    }

    fn find_letter(&self, letter: char) -> Option<ListedOption> {
        let name = OptionName::Letter(letter);
        let is_letter = |option: &str| option[1..].starts_with(letter) && letter != '-';
        if let Some((option, action)) = self.mutating_options().find(|(option, _)| is_letter(option)) {
            return Some(ListedOption { name, value: value_form(option), action: Some(action) });
        }
        let at = self.letters.find(letter).filter(|_| letter != ':')?;
        let value = match &self.letters[at + letter.len_utf8()..] {
            rest if rest.starts_with("::") => ValueForm::Attached,
            rest if rest.starts_with(':') => ValueForm::Value,
            _ => ValueForm::Nothing,
        };
        Some(ListedOption { name, value, action: None })
    }

    fn find_long(&self, name: &str) -> Option<ListedOption> {
        let is_it = |option: &'static str| without_equals(option) == name;
        let mut mutating = self.mutating_options().map(|(option, action)| (option, Some(action)));
        let listed = self.first_long_from(name).filter(|option| option.starts_with(name));
        let exact = mutating.clone().find(|(option, _)| is_it(option));
        let exact = exact.or_else(|| Some((listed.filter(|option| is_it(option))?, None)));
        let found = exact
            .or_else(|| mutating.find(|(option, _)| option.starts_with(name)))
            .or_else(|| Some((listed?, None)));
        if let Some((option, action)) = found {
            let name = OptionName::Long(without_equals(option));
            return Some(ListedOption { name, value: value_form(option), action });
        }
        // `--no-x` takes `--x` back.
        let positive = name.strip_prefix("--no-").filter(|name| !name.is_empty())?;
        let is_positive = |option: &&'static str| without_equals(option).strip_prefix("--") == Some(positive);
        let listed = self.first_long_from(&format!("--{positive}")).filter(is_positive);
        let option =
            listed.or_else(|| self.mutating_options().map(|(option, _)| option).find(is_positive))?;
        let name = OptionName::Negated(without_equals(option));
        Some(ListedOption { name, value: ValueForm::Nothing, action: None })
    }
}

/// Iterates over the arguments of a program.
pub(super) struct ArgumentParser<'o, 'w, 'a> {
    options: &'o OptionTable,
    words: &'w [Word<'a>],
    /// The cluster of letters that is being parsed, and the position of its next letter.
    cluster: Option<(&'w Word<'a>, usize)>,
    pending: Option<&'w Word<'a>>,
    has_ended: bool,
    /// A value may have expanded to no word, so that the next word was the value.
    may_have_shifted: bool,
}

impl<'o, 'w, 'a> ArgumentParser<'o, 'w, 'a> {
    pub(super) fn new(options: &'o OptionTable, words: &'w [Word<'a>]) -> Self {
        let may_have_shifted = options.values == ValueRule::Anywhere;
        Self { options, words, cluster: None, pending: None, has_ended: false, may_have_shifted }
    }

    fn next_word(&mut self) -> Option<&'w Word<'a>> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    /// Parses the next letter of a cluster; `None` if the letter is harmless.
    fn parse_letter(&mut self, word: &'w Word<'a>, at: usize) -> Option<Argument<'w, 'a>> {
        let text = word.prefix();
        let is_open = word.text().is_none();
        let Some(letter) = text[at..].chars().next() else {
            return is_open.then_some(Argument::Uncertain(word));
        };
        let end = at + letter.len_utf8();
        let has_more = end < text.len() || is_open;
        let Some(ListedOption { name, value: form, action }) = self.options.find_letter(letter) else {
            if !self.options.allows_unlisted {
                return Some(Argument::UnknownOption(word));
            }
            self.cluster = has_more.then_some((word, end));
            return None;
        };
        let value = match form {
            ValueForm::Nothing => {
                self.cluster = has_more.then_some((word, end));
                None
            }
            _ if has_more => {
                self.may_have_shifted |= end == text.len();
                Some(self.attached_value(word, end))
            }
            ValueForm::Value => self.next_value(true),
            ValueForm::Attached => None,
        };
        Some(Argument::Option { name, value, action })
    }

    fn parse_long(&mut self, word: &'w Word<'a>) -> Option<Argument<'w, 'a>> {
        let text = word.prefix();
        let name = match text.split_once('=') {
            Some((name, _)) => name,
            None if word.text().is_none() => return Some(Argument::Uncertain(word)),
            None => text,
        };
        let Some(ListedOption { name: known, value: form, action }) = self.options.find_long(name) else {
            return (!self.options.allows_unlisted).then_some(Argument::UnknownOption(word));
        };
        let value = if name.len() < text.len() {
            Some(self.attached_value(word, name.len() + 1))
        } else if form == ValueForm::Value {
            self.next_value(self.options.values == ValueRule::Certain)
        } else {
            None
        };
        Some(Argument::Option { name: known, value, action })
    }

    fn attached_value(&mut self, word: &'w Word<'a>, at: usize) -> Word<'a> {
        // All words of a pattern start alike; an expansion may become any words.
        if word.may_split() && word.source.contains(['$', '`']) {
            self.pending = Some(word);
        }
        word.skip_bytes(at)
    }

    /// The value of an option in the next word.
    fn next_value(&mut self, is_certain: bool) -> Option<Word<'a>> {
        let value = self.words.first()?;
        if !is_certain && value.is_option() {
            self.may_have_shifted |= value.text() == Some("--");
            return None;
        }
        self.words = &self.words[1..];
        if value.may_split() {
            self.may_have_shifted = true;
            self.pending = value.may_be_option().then_some(value);
        }
        Some(value.clone())
    }
}

impl<'w, 'a> Iterator for ArgumentParser<'_, 'w, 'a> {
    type Item = Argument<'w, 'a>;

    fn next(&mut self) -> Option<Argument<'w, 'a>> {
        loop {
            if let Some(word) = self.pending.take() {
                return Some(Argument::Uncertain(word));
            }
            if let Some((word, at)) = self.cluster.take() {
                if let Some(item) = self.parse_letter(word, at) {
                    return Some(item);
                }
                continue;
            }
            let word = self.next_word()?;
            let text = word.prefix();
            if self.has_ended {
                return Some(Argument::Operand(word));
            }
            if !text.starts_with('-') || word.text() == Some("-") {
                return Some(if word.may_be_option() {
                    Argument::Uncertain(word)
                } else {
                    Argument::Operand(word)
                });
            }
            if word.text() == Some("--") {
                self.has_ended = true;
                return Some(if self.may_have_shifted {
                    Argument::Uncertain(word)
                } else {
                    Argument::EndOfOptions
                });
            }
            if !text.starts_with("--") {
                self.cluster = Some((word, 1));
            } else if let Some(item) = self.parse_long(word) {
                return Some(item);
            }
        }
    }
}

//! Walking the words behind a program: options, their values, operands.
//!
//! One walker for programs that read their options as getopt does: clusters of letters (`-uo f`),
//! attached values (`-of`, `--long=value`), long names cut short, `--`. What a program's options
//! mean is a static [`Options`]. A name that could be short for a dangerous option counts as that
//! option, because the dangerous mistake is to overlook one.

use crate::shell::word::Word;

/// What an option that is more than a way of reading does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Deed {
    /// Finishes the sentence "it …".
    Does(&'static str),
    /// Its value is a file to write.
    Writes,
    /// Its value, if it has one, is a program to run.
    Runs,
}

/// The options of a program.
pub(super) struct Options {
    /// Letters that do no harm, as getopt writes them: `:` behind those that take a value, `::`
    /// where only an attached one counts.
    pub(super) letters: &'static str,
    /// Long names that do no harm, with blanks between them; with a `=` at the end those that take a
    /// value. One text instead of a list of them keeps the program's start free of a relocation for
    /// each.
    pub(super) longs: &'static str,
    /// Letters and long names that do more than read, spelled in the same way.
    pub(super) loud: &'static [(&'static str, Deed)],
    pub(super) values: Values,
    /// What is not listed does no harm.
    pub(super) quiet: bool,
}

/// How certain it is which options take the next word.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Values {
    Certain,
    /// A long option's value that looks like an option is looked at as one, too.
    Likely,
    /// Any word may be a value, so `--` may be one as well.
    Anywhere,
}

pub(super) const STRICT: Options =
    Options { letters: "", longs: "", loud: &[], values: Values::Certain, quiet: false };

/// The name of an option, in its full spelling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Name {
    Letter(char),
    Long(&'static str),
    /// `--no-x`, by the name of `--x`.
    Not(&'static str),
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Letter(letter) => write!(f, "-{letter}"),
            Self::Long(name) => f.write_str(name),
            Self::Not(name) => write!(f, "--no-{}", &name[2..]),
        }
    }
}

/// One thing that is found among the words.
pub(super) enum Item<'w, 'a> {
    Operand(&'w Word<'a>),
    /// `--`: whatever follows is an operand.
    Dashes,
    Known {
        name: Name,
        value: Option<Word<'a>>,
        deed: Option<Deed>,
    },
    /// An option that is not in the list.
    Strange(&'w Word<'a>),
    /// Not known, and may be an option, or hold one.
    Doubtful(&'w Word<'a>),
}

/// An option as it stands in the list.
struct Listed {
    name: Name,
    takes: Takes,
    deed: Option<Deed>,
}

#[derive(Clone, Copy, PartialEq)]
enum Takes {
    Nothing,
    Attached,
    Value,
}

fn bare(name: &'static str) -> &'static str {
    name.strip_suffix('=').unwrap_or(name)
}

impl Options {
    fn longs(&self) -> impl Iterator<Item = &'static str> {
        self.longs.split_ascii_whitespace()
    }

    fn letter(&self, letter: char) -> Option<Listed> {
        let name = Name::Letter(letter);
        let loud = self.loud.iter().find(|(option, _)| {
            option.strip_prefix('-').is_some_and(|rest| rest.starts_with(letter) && letter != '-')
        });
        if let Some((option, deed)) = loud {
            let takes = if option.ends_with('=') { Takes::Value } else { Takes::Nothing };
            return Some(Listed { name, takes, deed: Some(*deed) });
        }
        let at = self.letters.find(letter).filter(|_| letter != ':')?;
        let takes = match &self.letters[at + letter.len_utf8()..] {
            rest if rest.starts_with("::") => Takes::Attached,
            rest if rest.starts_with(':') => Takes::Value,
            _ => Takes::Nothing,
        };
        Some(Listed { name, takes, deed: None })
    }

    fn long(&self, name: &str) -> Option<Listed> {
        let listed = |option: &'static str, deed| Listed {
            name: Name::Long(bare(option)),
            takes: if option.ends_with('=') { Takes::Value } else { Takes::Nothing },
            deed,
        };
        let mut loud = self.loud.iter().filter(|(option, _)| option.starts_with("--"));
        if let Some((option, deed)) = loud.clone().find(|(option, _)| bare(option) == name) {
            return Some(listed(option, Some(*deed)));
        }
        if let Some(option) = self.longs().find(|option| bare(option) == name) {
            return Some(listed(option, None));
        }
        if let Some((option, deed)) = loud.find(|(option, _)| option.starts_with(name)) {
            return Some(listed(option, Some(*deed)));
        }
        if let Some(option) = self.longs().find(|option| option.starts_with(name)) {
            return Some(listed(option, None));
        }
        // `--no-x` takes `--x` back.
        let positive = name.strip_prefix("--no-").filter(|name| !name.is_empty())?;
        let is_positive = |option: &'static str| bare(option).strip_prefix("--") == Some(positive);
        let loud = self.loud.iter().map(|(option, _)| *option);
        let option = self.longs().chain(loud).find(|option| is_positive(option));
        option.map(|option| Listed { name: Name::Not(bare(option)), takes: Takes::Nothing, deed: None })
    }
}

/// Gives the items of a program's words one by one.
pub(super) struct Walk<'o, 'w, 'a> {
    options: &'o Options,
    words: &'w [Word<'a>],
    /// The cluster of letters that is being read, and the place of its next letter.
    cluster: Option<(&'w Word<'a>, usize)>,
    pending: Option<&'w Word<'a>>,
    has_ended: bool,
    /// A value may have been no word at all, so that the next word was the value.
    is_shaky: bool,
}

impl<'o, 'w, 'a> Walk<'o, 'w, 'a> {
    pub(super) fn new(options: &'o Options, words: &'w [Word<'a>]) -> Self {
        let is_shaky = options.values == Values::Anywhere;
        Self { options, words, cluster: None, pending: None, has_ended: false, is_shaky }
    }

    fn next_word(&mut self) -> Option<&'w Word<'a>> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    /// The next letter of a cluster; `None` if nothing is to be said about it.
    fn letter(&mut self, word: &'w Word<'a>, at: usize) -> Option<Item<'w, 'a>> {
        let text = word.start();
        let is_open = word.known().is_none();
        let Some(letter) = text[at..].chars().next() else {
            return is_open.then_some(Item::Doubtful(word));
        };
        let end = at + letter.len_utf8();
        let has_more = end < text.len() || is_open;
        let Some(Listed { name, takes, deed }) = self.options.letter(letter) else {
            if !self.options.quiet {
                return Some(Item::Strange(word));
            }
            self.cluster = has_more.then_some((word, end));
            return None;
        };
        let value = match takes {
            Takes::Nothing => {
                self.cluster = has_more.then_some((word, end));
                None
            }
            _ if has_more => {
                self.is_shaky |= end == text.len();
                Some(self.attached(word, end))
            }
            Takes::Value => self.separate(true),
            Takes::Attached => None,
        };
        Some(Item::Known { name, value, deed })
    }

    fn long(&mut self, word: &'w Word<'a>) -> Option<Item<'w, 'a>> {
        let text = word.start();
        let name = match text.split_once('=') {
            Some((name, _)) => name,
            None if word.known().is_none() => return Some(Item::Doubtful(word)),
            None => text,
        };
        let Some(Listed { name: known, takes, deed }) = self.options.long(name) else {
            return (!self.options.quiet).then_some(Item::Strange(word));
        };
        let value = if name.len() < text.len() {
            Some(self.attached(word, name.len() + 1))
        } else if takes == Takes::Value {
            self.separate(self.options.values == Values::Certain)
        } else {
            None
        };
        Some(Item::Known { name: known, value, deed })
    }

    fn attached(&mut self, word: &'w Word<'a>, at: usize) -> Word<'a> {
        // A pattern gives words that all start alike; an expansion may give any words.
        if word.splits() && word.source().contains(['$', '`']) {
            self.pending = Some(word);
        }
        word.behind(at)
    }

    /// The value of an option in the next word.
    fn separate(&mut self, is_certain: bool) -> Option<Word<'a>> {
        let value = self.words.first()?;
        if !is_certain && value.is_option() {
            self.is_shaky |= value.known() == Some("--");
            return None;
        }
        self.words = &self.words[1..];
        if value.splits() {
            self.is_shaky = true;
            self.pending = value.may_be_option().then_some(value);
        }
        Some(value.clone())
    }
}

impl<'w, 'a> Iterator for Walk<'_, 'w, 'a> {
    type Item = Item<'w, 'a>;

    fn next(&mut self) -> Option<Item<'w, 'a>> {
        loop {
            if let Some(word) = self.pending.take() {
                return Some(Item::Doubtful(word));
            }
            if let Some((word, at)) = self.cluster.take() {
                if let Some(item) = self.letter(word, at) {
                    return Some(item);
                }
                continue;
            }
            let word = self.next_word()?;
            let text = word.start();
            if self.has_ended {
                return Some(Item::Operand(word));
            }
            if !text.starts_with('-') || word.known() == Some("-") {
                return Some(if word.may_be_option() { Item::Doubtful(word) } else { Item::Operand(word) });
            }
            if word.known() == Some("--") {
                self.has_ended = true;
                return Some(if self.is_shaky { Item::Doubtful(word) } else { Item::Dashes });
            }
            if !text.starts_with("--") {
                self.cluster = Some((word, 1));
            } else if let Some(item) = self.long(word) {
                return Some(item);
            }
        }
    }
}

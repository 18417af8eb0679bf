//! Which options of common programs take a value, and how each program writes its options.
//!
//! Without this table, the value of an option would count as an operand (`git -C sub push`), and a letter in a value as
//! an option (`-mfoo`). It lists options that take values. For commands that can lose work and accept abbreviated
//! options it lists the others too, because an abbreviation must not fit two of them. Each list is one text, because
//! an array would cost a relocation for each name when the program starts.

mod git;
mod programs;

use programs::PROGRAMS;

/// How a program reads a word that starts with one dash.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionStyle {
    /// As a cluster of letters.
    Cluster,
    /// As the name of one option.
    Word,
    /// As the name of one option; a second dash makes no difference.
    GoFlag,
}

/// Words in front of the operands that do not count as operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PreludeForm {
    Nothing,
    /// `+nightly`.
    Toolchain,
    /// `V=1`.
    Assignment,
}

/// The options of a program that are valid for all its commands.
#[derive(Clone, Copy)]
struct ProgramRow {
    /// The names of programs with the same options, with a blank between them.
    programs: &'static str,
    /// The first letters of these names, as bits, because most rows can be left out by them.
    initials: u32,
    options: OptionLists,
    style: OptionStyle,
    prelude: PreludeForm,
    /// Long options may be abbreviated.
    abbreviates: bool,
    /// The options stand in front of the command only.
    before_command: bool,
    /// Commands with options of their own.
    commands: &'static [(&'static str, OptionLists)],
}

/// The options of a program or command.
#[derive(Clone, Copy)]
struct OptionLists {
    /// Letters that take values, as getopt writes them: `m:` takes the next word, `u::` an attached value only.
    letters: &'static str,
    /// Long names. A `=` at the end marks those that take a value.
    longs: &'static str,
}

const fn row(programs: &'static str, letters: &'static str, longs: &'static str) -> ProgramRow {
    ProgramRow {
        programs,
        initials: collect_initials(programs),
        options: OptionLists { letters, longs },
        style: OptionStyle::Cluster,
        prelude: PreludeForm::Nothing,
        abbreviates: false,
        before_command: false,
        commands: &[],
    }
}

/// The bit of the first letter of a name.
const fn initial_bit(letter: u8) -> u32 {
    1 << (letter & 31)
}

const fn collect_initials(names: &str) -> u32 {
    let (names, mut bits, mut at) = (names.as_bytes(), 0, 0);
    while at < names.len() {
        if at == 0 || names[at - 1] == b' ' {
            bits |= initial_bit(names[at]);
        }
        at += 1;
    }
    bits
}

const fn lists(letters: &'static str, longs: &'static str) -> OptionLists {
    OptionLists { letters, longs }
}

impl ProgramRow {
    const fn abbreviates(self) -> Self {
        Self { abbreviates: true, ..self }
    }

    const fn style(self, style: OptionStyle) -> Self {
        Self { style, ..self }
    }

    const fn prelude(self, prelude: PreludeForm) -> Self {
        Self { prelude, ..self }
    }

    const fn before_command(self) -> Self {
        Self { before_command: true, ..self }
    }

    const fn commands(self, commands: &'static [(&'static str, OptionLists)]) -> Self {
        Self { commands, ..self }
    }
}

static UNKNOWN_PROGRAM: ProgramRow = row("", "", "");

/// Spellings of one option that count as the same.
const SYNONYMS: &[(&str, &str)] = &[
    ("rm", "-r -R --recursive"),
    ("rm", "-f --force"),
    ("cp", "-r -R --recursive"),
    ("chmod", "-R --recursive"),
    ("chown", "-R --recursive"),
    ("chgrp", "-R --recursive"),
];

/// Where the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueForm {
    Nothing,
    /// In the same word.
    Attached,
    /// In the same word, or else in the next one.
    Next,
}

fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// The options that are valid at one position of a run.
#[derive(Clone)]
pub(crate) struct OptionScope<'a> {
    name: &'a str,
    row: &'static ProgramRow,
    has_command: bool,
    command: Option<OptionLists>,
    has_synonyms: bool,
}

impl<'a> OptionScope<'a> {
    /// The options of a program in front of its command.
    pub(crate) fn new(name: &'a str) -> Self {
        let initial = name.bytes().next().map_or(0, initial_bit);
        let has_program = |row: &&ProgramRow| row.initials & initial != 0 && is_listed(row.programs, name);
        let row = PROGRAMS.iter().find(has_program).unwrap_or(&UNKNOWN_PROGRAM);
        let has_synonyms = SYNONYMS.iter().any(|(program, _)| *program == name);
        Self { name, row, has_command: false, command: None, has_synonyms }
    }

    /// The name of the program.
    pub(super) fn program(&self) -> &'a str {
        self.name
    }

    /// Adds the options of a command. Only the first operand is one.
    pub(crate) fn enter_command(&mut self, operand: &str) {
        if !self.has_command {
            self.has_command = true;
            let found = self.row.commands.iter().find(|(names, _)| is_listed(names, operand));
            self.command = found.map(|(_, lists)| *lists);
        }
    }

    /// The lists that are valid here, the most special first.
    fn lists(&self) -> impl Iterator<Item = OptionLists> + Clone {
        let own = (!self.has_command || !self.row.before_command).then_some(self.row.options);
        self.command.into_iter().chain(own)
    }

    /// Long names without the mark for values, and whether they have it.
    fn names(&self) -> impl Iterator<Item = (&'static str, bool)> + Clone {
        let names = self.lists().flat_map(|lists| lists.longs.split(' '));
        names.map(|name| name.strip_suffix('=').map_or((name, false), |name| (name, true)))
    }

    /// Whether a word with one dash is one option.
    pub(super) fn has_word_options(&self) -> bool {
        self.row.style != OptionStyle::Cluster
    }

    /// Whether the word behind this one is the value of an option.
    pub(crate) fn takes_next_word(&self, option: &str) -> bool {
        if self.has_word_options() {
            self.names().any(|(listed, takes_value)| takes_value && self.is_same_word(listed, option))
        } else if option.starts_with("--") {
            self.resolve_long(option).1
        } else {
            // The first letter that takes a value takes the rest of the word, if there is one.
            let mut letters = option[1..].chars();
            let form = letters.by_ref().map(|letter| self.letter_value(letter));
            let mut with_value = form.filter(|form| *form != ValueForm::Nothing);
            with_value.next() == Some(ValueForm::Next) && letters.as_str().is_empty()
        }
    }

    fn is_same_word(&self, one: &str, other: &str) -> bool {
        let is_go = self.row.style == OptionStyle::GoFlag;
        one == other || is_go && one.trim_start_matches('-') == other.trim_start_matches('-')
    }

    pub(super) fn letter_value(&self, letter: char) -> ValueForm {
        for lists in self.lists() {
            if let Some(at) = lists.letters.find(letter).filter(|_| letter != ':') {
                let rest = &lists.letters[at + letter.len_utf8()..];
                return match rest.as_bytes() {
                    [b':', b':', ..] => ValueForm::Attached,
                    [b':', ..] => ValueForm::Next,
                    _ => ValueForm::Nothing,
                };
            }
        }
        ValueForm::Nothing
    }

    /// The full name of a long option if it is listed, and whether it takes a value.
    pub(super) fn resolve_long(&self, name: &str) -> (Option<&'static str>, bool) {
        let exact = self.names().find(|(listed, _)| *listed == name);
        let found = exact.or_else(|| {
            let mut candidates = self.names().filter(|(listed, _)| listed.starts_with(name));
            let only = candidates.next().filter(|_| self.row.abbreviates && name.len() > 2)?;
            candidates.next().is_none().then_some(only)
        });
        found.map_or((None, false), |(listed, takes_value)| (Some(listed), takes_value))
    }

    /// Whether a word does not count as an operand where no operand stands in front of it.
    pub(super) fn is_prelude(&self, word: &str) -> bool {
        match self.row.prelude {
            PreludeForm::Nothing => false,
            PreludeForm::Toolchain => word.starts_with('+'),
            PreludeForm::Assignment => word.find('=').is_some_and(|at| at > 0),
        }
    }

    /// Whether an option as it is written means the option with this name.
    pub(super) fn is_same_name(&self, written: &str, wanted: &str) -> bool {
        match self.row.style {
            OptionStyle::Cluster => written == wanted || self.is_abbreviation(written, wanted),
            OptionStyle::Word | OptionStyle::GoFlag => self.is_same_word(written, wanted),
        }
    }

    /// Whether the program accepts the beginning of a name for the name. At least three letters are needed if the table
    /// does not list the name.
    fn is_abbreviation(&self, written: &str, wanted: &str) -> bool {
        if !self.row.abbreviates || written.len() < 3 || !wanted.starts_with(written) {
            return false;
        }
        let names = self.names().map(|(name, _)| name).filter(|name| name.len() > 2);
        let is_wanted =
            |name: &str| name == wanted || is_negation_of(name, wanted) || is_negation_of(wanted, name);
        let is_ambiguous = |name: &str| {
            let starts_alike = name != wanted && name.starts_with(written);
            let negation = written.get(..5).filter(|start| *start == "--no-" && !name.starts_with("--no-"));
            let negates_alike =
                negation.is_some() && !is_negation_of(wanted, name) && name[2..].starts_with(&written[5..]);
            starts_alike || negates_alike
        };
        !names.clone().any(is_ambiguous) && (written.len() >= 5 || names.clone().any(is_wanted))
    }

    /// Whether a table says that two spellings are the same option.
    pub(super) fn are_synonyms(&self, one: &str, other: &str) -> bool {
        SYNONYMS.iter().any(|(program, options)| {
            *program == self.name && is_listed(options, one) && is_listed(options, other)
        })
    }

    /// Whether the program has options with several spellings that count as the same.
    pub(super) fn has_synonyms(&self) -> bool {
        self.has_synonyms
    }
}

/// Whether one name is `--no-x` and the other `--x`.
fn is_negation_of(negation: &str, name: &str) -> bool {
    negation.strip_prefix("--no-").is_some_and(|rest| name.strip_prefix("--") == Some(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_single_blanks_and_no_program_twice() {
        let mut seen = Vec::new();
        for row in PROGRAMS {
            for program in row.programs.split(' ') {
                assert!(!program.is_empty() && !seen.contains(&program), "{program:?} in {:?}", row.programs);
                seen.push(program);
            }
            let commands = row.commands.iter().map(|(_, lists)| lists);
            for lists in commands.chain([&row.options]).filter(|lists| !lists.longs.is_empty()) {
                let is_name = |name: &str| name.starts_with('-') && name.len() > 1;
                assert!(lists.longs.split(' ').all(is_name), "{}", lists.longs);
            }
            assert!(row.commands.iter().all(|(names, _)| names.split(' ').all(|name| !name.is_empty())));
        }
    }
}

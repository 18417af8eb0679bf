//! What programs do with their words: one table of those that are known.
//!
//! [`wrappers`] finds the program behind `sudo`, `env` and the like; [`files`] names the files that
//! it is given. This room adds what a program that reads is told to do beyond reading: its options
//! are walked by [`options`] with the lists of [`table`], and programs with a grammar of their own
//! have a module each. What is not known to be harmless is said to be obscure, never guessed.

mod archives;
mod environment;
pub(super) mod files;
mod find;
mod flutter;
pub(super) mod git;
mod interpreters;
mod launchers;
mod options;
mod patches;
mod scripts;
mod sed;
mod table;
#[cfg(test)]
mod tests;
pub(super) mod wrappers;

pub use environment::steers;

use crate::effect::Effect;
use crate::shell::Line;
use crate::shell::flow::Op;
use crate::shell::word::Word;
use options::{Deed, Item, Name, Options, Walk};

/// How deep programs that run programs (`find -exec find -exec …`) are followed.
const DEEPEST: u32 = 8;

/// A program as a person names it: `find`, or `git log`.
#[derive(Clone, Copy)]
struct Caller<'c> {
    program: &'c str,
    command: &'c str,
}

impl std::fmt::Display for Caller<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.program)?;
        if self.command.is_empty() { Ok(()) } else { write!(f, " {}", self.command) }
    }
}

/// What was found among the words behind a program.
#[derive(Default)]
struct Found<'w, 'a> {
    operands: Vec<&'w Word<'a>>,
    options: Vec<(Name, Option<Word<'a>>)>,
    /// The number of operands before `--`.
    before_dashes: Option<usize>,
    /// Something was an option that does more than read.
    is_loud: bool,
    /// Something is not known.
    is_obscure: bool,
}

impl Found<'_, '_> {
    /// Whether an option is given and not taken back by `--no-…` behind it.
    fn has(&self, letter: char, long: &str) -> bool {
        let is_about =
            |name: Name| is(name, letter, long) || matches!(name, Name::Not(taken) if taken == long);
        let last = self.options.iter().rev().find(|(name, _)| is_about(*name));
        last.is_some_and(|(name, _)| !matches!(name, Name::Not(_)))
    }
}

fn is(name: Name, letter: char, long: &str) -> bool {
    match name {
        Name::Letter(found) => found == letter,
        Name::Long(found) => found == long,
        Name::Not(_) => false,
    }
}

/// Whether what stands in the place of an option can make this program do more than read.
fn is_steered(program: &str) -> bool {
    table::options_of(program).is_some()
        || interpreters::is_interpreter(program)
        || matches!(program, "git" | "find" | "flutter" | "dart" | "fvm" | "awk" | "gawk" | "mawk" | "nawk")
        || matches!(program, "test" | "[" | "printf" | "xxd" | "less" | "more")
}

/// Whether a word behind a wrapper's options can only be the program.
fn is_known(program: &str) -> bool {
    files::is_known(program) || table::is_plain(program) || is_steered(program)
}

impl Line<'_> {
    /// What a program does with its words.
    pub(in crate::shell) fn program_effects(&mut self, program: &str, words: &[Word]) {
        match program {
            _ if table::is_plain(program) => {}
            "git" => self.git(words),
            "find" => self.find(words),
            "flutter" | "dart" | "fvm" => self.flutter(program, words),
            "sed" => self.sed(words),
            "patch" => return self.patch(words),
            "claude" | "parallel" | "runuser" | "script" | "watch" => self.launch(program, words),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(program, words),
            "test" | "[" | "[[" => self.test(program, words),
            "printf" => self.printf(words),
            "xxd" => self.xxd(words),
            "less" | "more" => {
                let by = Caller { program, command: "" };
                self.act(by, program, "runs other programs at the press of a key");
            }
            _ => {
                if let Some(options) = table::options_of(program) {
                    let caller = Caller { program, command: "" };
                    let found = self.judge(caller, options, words);
                    self.outputs(caller, &found);
                } else if interpreters::is_interpreter(program) {
                    self.interpreter(program, words);
                }
            }
        }
        self.file_command(program, words);
    }

    /// Operands that are not read.
    fn outputs(&mut self, caller: Caller, found: &Found) {
        match (caller.program, &*found.operands) {
            ("date", operands) if operands.iter().any(|word| !word.start().starts_with('+')) => {
                self.act(caller, "an operand", "sets the clock");
            }
            ("hostname", [_, ..]) => self.act(caller, "an operand", "sets the name of the machine"),
            ("uniq", [_, output, ..]) => {
                self.act(caller, "a second operand", "writes a file");
                self.write(output);
            }
            ("uniq", [input]) if input.splits() => self.doubt(caller, input),
            _ => {}
        }
    }

    /// Says what the options of a program do, and hands back what else there is.
    fn judge<'w, 'a>(&mut self, caller: Caller, options: &Options, words: &'w [Word<'a>]) -> Found<'w, 'a> {
        let mut found = Found::default();
        if options.quiet && options.loud.is_empty() {
            return found;
        }
        for item in Walk::new(options, words) {
            match item {
                Item::Operand(word) => found.operands.push(word),
                Item::Dashes => found.before_dashes = Some(found.operands.len()),
                Item::Known { name, value, deed } => {
                    if let Some(deed) = deed {
                        found.is_loud = true;
                        self.deed(caller, name, value.as_ref(), deed);
                    }
                    let is_format = matches!(name, Name::Long("--format" | "--pretty" | "--group"));
                    if caller.program == "git"
                        && is_format
                        && value.as_ref().is_some_and(|value| git::verifies(value.start()))
                    {
                        self.act(caller, &name.to_string(), "runs the program that verifies signatures");
                    }
                    found.options.push((name, value));
                }
                Item::Strange(word) => {
                    found.is_obscure = true;
                    self.strange(caller, word);
                }
                Item::Doubtful(word) => {
                    found.is_obscure = true;
                    self.doubt(caller, word);
                }
            }
            if self.work.is_spent() {
                break;
            }
        }
        found
    }

    fn deed(&mut self, caller: Caller, name: Name, value: Option<&Word>, deed: Deed) {
        match deed {
            Deed::Does(does) => self.act(caller, &name.to_string(), does),
            Deed::Writes => {
                self.act(caller, &name.to_string(), "writes a file");
                if let Some(file) = value {
                    self.write(file);
                }
            }
            Deed::Runs => {
                self.act(caller, &name.to_string(), "runs another program");
                if let Some(program) = value {
                    self.run_word(program);
                }
            }
        }
    }

    fn act(&mut self, caller: Caller, by: &str, does: &'static str) {
        let by = match caller.command {
            "" => by.to_owned(),
            command if by.is_empty() => command.to_owned(),
            command => format!("{command} {by}"),
        };
        let cost = by.len() + caller.program.len();
        self.push(Effect::Act { program: caller.program.to_owned(), by, does }, cost);
    }

    fn strange(&mut self, caller: Caller, word: &Word) {
        self.obscure(&format!("`{}`: an option of {caller} that is not known here", word.source()));
    }

    fn doubt(&mut self, caller: Caller, word: &Word) {
        self.obscure(&format!("`{}`: it may be an option of {caller}", word.source()));
    }

    /// A program that another one runs, by its words.
    fn inner(&mut self, words: &[Word]) {
        if self.inner == DEEPEST {
            return self.beyond("deeply nested commands");
        }
        self.inner += 1;
        let outside = self.place.current.clone();
        self.simple_words(words);
        self.place.current = outside;
        // It may never run, or fail.
        self.record(Op::Doubt);
        self.inner -= 1;
    }
}

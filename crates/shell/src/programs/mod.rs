//! What programs do with their arguments.
//!
//! [`wrappers`] finds the program behind `sudo`, `env` and the like, and [`files`] names the files that it is given.
//! This module reports what the options of a reading program make it do beyond reading. [`options`] parses them with
//! the tables of [`table`]; programs with a grammar of their own have a module each. An argument that is not known
//! to be harmless is reported as unparsed.

mod archives;
mod code;
mod code_reader;
mod environment;
pub(super) mod files;
mod find;
mod flutter;
pub(super) mod git;
mod interpreters;
mod launchers;
mod network;
mod operands;
mod options;
mod patches;
mod runners;
mod scripts;
mod sed;
mod table;
#[cfg(test)]
mod tests;
pub(super) mod wrappers;
mod xargs;

pub use environment::variable_steers_programs;
pub(super) use interpreters::is_interpreter;

use crate::LineWalker;
use crate::effect::Effect;
use crate::flow::FlowStep;
use crate::grammar::SimpleCommand;
use crate::word::Word;
use options::{Argument, ArgumentParser, OptionAction, OptionName, OptionTable, ParsedArguments};

/// How deep programs that run programs (`find -exec find -exec …`) are followed.
const DEEPEST: u32 = 8;
const RUNS: &str = "runs another program";

/// A program as messages name it: `find`, or `git log`.
#[derive(Clone, Copy)]
struct CommandName<'c> {
    program: &'c str,
    command: &'c str,
}

impl<'c> CommandName<'c> {
    const fn new(program: &'c str) -> Self {
        Self { program, command: "" }
    }
}

impl std::fmt::Display for CommandName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.program)?;
        if self.command.is_empty() { Ok(()) } else { write!(f, " {}", self.command) }
    }
}

/// Whether a list of words with one blank between them contains this one.
fn is_listed(list: &str, word: &str) -> bool {
    list.as_bytes().split(|byte| *byte == b' ').any(|listed| listed == word.as_bytes())
}

/// Whether an option can make this program do more than read.
fn has_mutating_options(program: &str) -> bool {
    table::find_options(program).is_some()
        || interpreters::is_interpreter(program)
        || matches!(program, "git" | "find" | "flutter" | "dart" | "fvm" | "awk" | "gawk" | "mawk" | "nawk")
        || matches!(program, "test" | "[" | "printf" | "xxd" | "less" | "more")
}

/// Whether a word after a wrapper's options can only be the program.
fn is_known_program(program: &str) -> bool {
    files::is_known_file_program(program) || table::is_plain(program) || has_mutating_options(program)
}

impl LineWalker<'_> {
    /// Reports what a program does with its arguments.
    pub(crate) fn report_program(&mut self, program: &str, words: &[Word]) {
        self.note_input_text();
        self.note_output(program, words);
        if !self.is_remote {
            self.report_network(program, words);
        }
        match program {
            _ if table::is_plain(program) => {}
            "git" => self.report_git(words),
            "find" => self.report_find(words),
            "flutter" | "dart" | "fvm" => self.report_flutter(program, words),
            "sed" => {
                let added = self.report_sed(words);
                let from = self.effects.len();
                self.report_files(program, words);
                return self.note_added_text(from, added);
            }
            "perl" => {
                self.report_interpreter(program, words);
                let from = self.effects.len();
                self.report_files(program, words);
                return self.note_added_text(from, sed::find_perl_text(words));
            }
            "patch" => return self.report_patch(words),
            "apply_patch" | "applypatch" => return self.report_envelope(words),
            "claude" | "parallel" | "runuser" | "script" | "watch" => self.report_launcher(program, words),
            "awk" | "gawk" | "mawk" | "nawk" => self.report_awk(program, words),
            "test" | "[" | "[[" => self.report_test(program, words),
            "printf" => self.report_printf(words),
            "xxd" => self.report_xxd(words),
            "less" | "more" => {
                let does = "runs other programs at the press of a key";
                self.report_mutation(CommandName::new(program), program, does);
            }
            _ => {
                if let Some(options) = table::find_options(program) {
                    let caller = CommandName::new(program);
                    let arguments = self.report_options(caller, options, words);
                    self.report_operands(caller, &arguments);
                } else if interpreters::is_interpreter(program) {
                    self.report_interpreter(program, words);
                }
            }
        }
        self.report_files(program, words);
    }

    /// Reports operands that the program does not read.
    fn report_operands(&mut self, caller: CommandName, arguments: &ParsedArguments) {
        match (caller.program, &*arguments.operands) {
            ("date", operands) if operands.iter().any(|word| !word.prefix().starts_with('+')) => {
                self.report_mutation(caller, "an operand", "sets the clock");
            }
            ("hostname", [_, ..]) => {
                self.report_mutation(caller, "an operand", "sets the name of the machine");
            }
            ("uniq", [_, output, ..]) => {
                self.report_mutation(caller, "a second operand", "writes a file");
                self.report_write(output);
            }
            ("uniq", [input]) if input.may_split() => self.report_possible_option(caller, input),
            _ => {}
        }
    }

    /// Reports what the options of a program do, and returns its arguments.
    fn report_options<'w, 'a>(
        &mut self,
        caller: CommandName,
        options: &OptionTable,
        words: &'w [Word<'a>],
    ) -> ParsedArguments<'w, 'a> {
        let mut arguments = ParsedArguments::default();
        if options.allows_unlisted && options.mutating.is_empty() {
            return arguments;
        }
        for argument in ArgumentParser::new(options, words) {
            match argument {
                Argument::Operand(word) => arguments.operands.push(word),
                Argument::EndOfOptions => arguments.before_dashes = Some(arguments.operands.len()),
                Argument::Option { name, value, action } => {
                    if let Some(action) = action {
                        arguments.is_mutating = true;
                        self.report_option_action(caller, name, value.as_ref(), action);
                    }
                    let is_format = matches!(name, OptionName::Long("--format" | "--pretty" | "--group"));
                    let format = value.as_ref().filter(|_| caller.program == "git" && is_format);
                    if format.is_some_and(|format| git::shows_signature(format.prefix())) {
                        let does = "runs the program that verifies signatures";
                        self.report_mutation(caller, &name.to_string(), does);
                    }
                    arguments.options.push((name, value));
                }
                Argument::UnknownOption(word) => {
                    arguments.is_uncertain = true;
                    self.report_unknown_option(caller, word);
                }
                Argument::Uncertain(word) => {
                    arguments.is_uncertain = true;
                    self.report_possible_option(caller, word);
                }
            }
            if self.work.is_spent() {
                break;
            }
        }
        arguments
    }

    fn report_option_action(
        &mut self,
        caller: CommandName,
        name: OptionName,
        value: Option<&Word>,
        action: OptionAction,
    ) {
        let does = match action {
            OptionAction::Does(does) => does,
            OptionAction::Writes => "writes a file",
            OptionAction::Runs => RUNS,
        };
        self.report_mutation(caller, &name.to_string(), does);
        match (action, value) {
            (OptionAction::Writes, Some(file)) => self.report_write(file),
            (OptionAction::Runs, Some(program)) => self.run_word(program),
            _ => {}
        }
    }

    fn report_mutation(&mut self, caller: CommandName, by: &str, does: &'static str) {
        let by = match caller.command {
            "" => by.to_owned(),
            command if by.is_empty() => command.to_owned(),
            command => format!("{command} {by}"),
        };
        let cost = by.len() + caller.program.len();
        self.report_effect(Effect::MutatingOption { program: caller.program.to_owned(), by, does }, cost);
    }

    fn report_unknown_option(&mut self, caller: CommandName, word: &Word) {
        self.report_unparsed(&format!("`{}`: an option of {caller} that is not known here", word.source));
    }

    fn report_possible_option(&mut self, caller: CommandName, word: &Word) {
        self.report_unparsed(&format!("`{}`: it may be an option of {caller}", word.source));
    }

    /// Reports a command that a program runs, given by its words.
    fn run_nested_command(&mut self, words: &[Word]) {
        if self.nesting == DEEPEST {
            return self.report_too_deep("deeply nested commands");
        }
        self.nesting += 1;
        let outer_command = self.tree.enter_child();
        let outside = self.place.current.clone();
        let command = SimpleCommand { words: words.to_vec(), ..SimpleCommand::default() };
        self.without_output(|walker| walker.run_simple_command(&command));
        self.place.current = outside;
        // It may never run, or fail.
        self.record_step(FlowStep::Doubt);
        self.tree.current = outer_command;
        self.nesting -= 1;
    }

    /// Reports the command after `--`, if there is one.
    fn run_command_after_dashes(&mut self, words: &[Word]) {
        if let Some(at) = words.iter().position(|word| word.text() == Some("--")) {
            self.run_nested_command(&words[at + 1..]);
        }
    }

    /// Enters the directory in which a program runs its command. `unknown` is the message if its name is unknown.
    fn enter_directory(&mut self, directory: &Word, unknown: &'static str) {
        let lost = match directory.text() {
            Some(text) => self.place.enter(text, self.work),
            None => Some(unknown),
        };
        if let Some(what) = lost {
            self.report_unparsed(what);
        }
    }
}

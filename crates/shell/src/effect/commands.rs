//! The commands of a line: which effects belong together, and whose exit code counts.
//!
//! A caller that judges one command at a time groups the effects of a [`Line`] by their command numbers. A command is
//! what one process does: a simple command with its redirections, or a compound command such as `( … )` with its own.

use std::sync::Arc;

use super::Effect;
use super::git::GitSite;

/// What a command line would do, command by command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The effects, roughly in the order of the text.
    pub effects: Vec<Effect>,
    /// For each effect, the index in `commands` of the command that has it.
    pub command_numbers: Vec<u32>,
    /// The commands, in the order in which they start.
    pub commands: Vec<LineCommand>,
    /// Where commands run, sorted by their numbers. A command that is not listed runs where the one that contains it does, or
    /// else where the line starts.
    pub sites: Vec<(u32, GitSite)>,
    /// The texts that here-documents and here-strings give to commands which are not shells.
    pub inputs: Vec<CommandInput>,
}

/// A text that a command reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandInput {
    /// The index in `commands` of the command.
    pub command: u32,
    /// The text, without expansions.
    pub text: Arc<str>,
}

/// One command of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineCommand {
    /// Commands with the same number form one pipeline, in the order of their indices.
    pub pipeline: u32,
    /// The command that contains this one: a group, the command whose word substitutes it, the shell that gets it as
    /// text.
    pub within: Option<u32>,
    /// Its output becomes a part of the words or of the input of the command that contains it: `$(…)`, `<(…)`.
    pub is_substituted: bool,
    /// If the line succeeds, then this command has run and succeeded.
    pub decides_status: bool,
}

impl Line {
    /// Effects that all belong to one command.
    pub fn of_one_command(effects: Vec<Effect>) -> Self {
        let command_numbers = vec![0; effects.len()];
        let commands =
            vec![LineCommand { pipeline: 0, within: None, is_substituted: false, decides_status: true }];
        Self { effects, command_numbers, commands, sites: Vec::new(), inputs: Vec::new() }
    }

    /// Adds a line that runs after this one.
    pub fn append(&mut self, other: Self) {
        let commands = u32::try_from(self.commands.len()).unwrap_or(u32::MAX);
        let pipelines = self.commands.iter().map(|command| command.pipeline + 1).max().unwrap_or(0);
        self.effects.extend(other.effects);
        self.command_numbers.extend(other.command_numbers.iter().map(|number| number + commands));
        self.sites.extend(other.sites.into_iter().map(|(number, site)| (number + commands, site)));
        let inputs = other.inputs.into_iter();
        self.inputs.extend(inputs.map(|input| CommandInput { command: input.command + commands, ..input }));
        self.commands.extend(other.commands.into_iter().map(|command| LineCommand {
            pipeline: command.pipeline + pipelines,
            within: command.within.map(|number| number + commands),
            ..command
        }));
    }

    /// The command that has the effect with this index.
    pub fn command(&self, effect: usize) -> Option<&LineCommand> {
        self.commands.get(*self.command_numbers.get(effect)? as usize)
    }

    /// The effects of the command with this number.
    pub fn effects_of(&self, command: u32) -> impl Iterator<Item = &Effect> {
        let numbered = self.effects.iter().zip(&self.command_numbers);
        numbered.filter(move |(_, number)| **number == command).map(|(effect, _)| effect)
    }

    /// The repository in which a command runs, and what the line has checked out there; `None`: as the line starts.
    pub fn site(&self, command: u32) -> Option<&GitSite> {
        let find = |number: u32| {
            let end = self.sites.partition_point(|(owner, _)| *owner <= number);
            self.sites[..end].last().filter(|(owner, _)| *owner == number)
        };
        self.with_containers(command).find_map(|(number, _)| find(number)).map(|(_, site)| site)
    }

    /// Whether the output of one command can become input or a word of another one: `a | b`, `{ a; } | b`, `b "$(a)"`.
    pub fn feeds(&self, from: u32, to: u32) -> bool {
        let targets: Vec<(u32, u32)> =
            self.with_containers(to).map(|(number, command)| (number, command.pipeline)).collect();
        self.with_containers(from).any(|(number, command)| {
            let is_later =
                |(target, pipeline): &(u32, u32)| *pipeline == command.pipeline && number < *target;
            let holds = |container: u32| targets.iter().any(|(target, _)| *target == container);
            targets.iter().any(is_later) || command.is_substituted && command.within.is_some_and(holds)
        })
    }

    /// The texts that a command may read: its own, that of a command that contains it, and that of one that feeds it.
    pub fn texts_for(&self, command: u32) -> impl Iterator<Item = &str> {
        let reaches = move |input: &&CommandInput| {
            self.with_containers(command).any(|(number, _)| number == input.command)
                || self.feeds(input.command, command)
        };
        self.inputs.iter().filter(reaches).map(|input| &*input.text)
    }

    /// A command, the one that contains it, and so on.
    fn with_containers(&self, number: u32) -> impl Iterator<Item = (u32, &LineCommand)> {
        let numbered = |number: u32| Some((number, self.commands.get(number as usize)?));
        // INVARIANT: a container has a smaller number than what it contains, so this ends.
        std::iter::successors(numbered(number), move |(_, command)| numbered(command.within?))
    }
}

//! Programs that do the same to each of several operands: `rm build src`.
//!
//! An exception that names one of them does not excuse the others, so such a run is also seen as one run for each target.

use crate::pattern::arguments::{Arguments, Token};
use crate::pattern::run::{ArgumentWord, ProgramWord, RunView, strip_directory};
use crate::pattern::{CommandPattern, PatternMatch, is_option};

/// How many operands stand in front of the targets of a program, with the command that they belong to.
const TARGETS: &[(&str, &str, usize)] = &[
    ("rm rmdir unlink shred trash trash-put truncate touch mkdir cat kill killall pkill", "", 0),
    ("make gmake ninja rake gradle gradlew mvn mvnw ant task just", "", 0),
    ("chmod chown chgrp", "", 1),
    ("git", "add stage rm restore branch tag", 1),
    ("git", "push fetch", 2),
    (
        "npm pnpm yarn bun pip pip3 pipx cargo gem brew apt apt-get poetry uv",
        "add install i get update upgrade",
        1,
    ),
    (
        "npm pnpm yarn bun pip pip3 pipx cargo gem brew apt apt-get poetry uv",
        "remove rm uninstall un purge",
        1,
    ),
    ("docker podman", "rm rmi stop kill restart pull push", 1),
    ("kubectl oc", "delete", 2),
];

/// Whether one of the exceptions excuses a run. Of several targets, each needs an exception.
pub fn is_excused(exceptions: &[CommandPattern], run: &RunView) -> bool {
    let matches_any = |run: &RunView| exceptions.iter().any(|one| one.matches(run) == PatternMatch::Yes);
    if !matches_any(run) {
        return false;
    }
    let targets = run.split_targets();
    let operands = |pattern: &CommandPattern| {
        pattern.words.iter().filter(|word| word.operands().next().is_some()).count()
    };
    // An exception without a target is for all of them.
    let is_general = |pattern: &&CommandPattern| {
        pattern.matches(run) == PatternMatch::Yes
            && targets.as_ref().is_none_or(|(first, _)| operands(pattern) <= *first)
    };
    exceptions.iter().any(|pattern| is_general(&pattern))
        || targets.is_some_and(|(_, runs)| runs.iter().all(matches_any))
}

impl<'a> RunView<'a> {
    /// The number of operands in front of the targets, and a run for each target; `None` if the program has no targets.
    fn split_targets(&self) -> Option<(usize, Vec<Self>)> {
        let ProgramWord::Known(program) = self.program() else { return None };
        let name = strip_directory(program);
        let positions = self.find_operands(name);
        let first_operand = positions.first().map(|at| self.arguments()[*at]);
        let is_listed = |list: &str, word: &str| list.split(' ').any(|one| one == word);
        let (_, _, first) = TARGETS.iter().find(|(programs, commands, _)| {
            let is_command =
                || matches!(first_operand, Some(ArgumentWord::Known(text)) if is_listed(commands, text));
            is_listed(programs, name) && (commands.is_empty() || is_command())
        })?;
        let targets = positions.get(*first..).unwrap_or_default();
        let runs = targets.iter().map(|kept| {
            let is_kept = |at: &usize| at == kept || !targets.contains(at);
            self.with_arguments((0..self.arguments().len()).filter(is_kept))
        });
        Some((*first, runs.collect()))
    }

    /// The indices of the arguments that are operands.
    fn find_operands(&self, name: &'a str) -> Vec<usize> {
        let tokens = Arguments::parse(name, self.arguments()).tokens;
        let mut operands = tokens.iter().filter_map(|token| match *token {
            Token::Operand(text) => Some(text.as_ptr()),
            Token::Unknown { word, .. } if !is_option(&word.prefix) => Some(word.prefix.as_ptr()),
            _ => None,
        });
        let mut next = operands.next();
        let mut positions = Vec::new();
        for (at, argument) in self.arguments().iter().enumerate() {
            let start = match argument {
                ArgumentWord::Known(text) => text.as_ptr(),
                ArgumentWord::Unknown(word) => word.prefix.as_ptr(),
            };
            if next == Some(start) {
                positions.push(at);
                next = operands.next();
            }
        }
        positions
    }
}

//! Says what a shell command line would do, without running it.
//!
//! [`effects`] takes the text of a command line and the directory it starts in. It returns the files that the line
//! would write, delete and read, the programs it would run, the variables it would set, and what its git commands
//! would do to branches and work trees.
//!
//! ```
//! use std::path::Path;
//! use provost_shell::effect::{Effect, WriteContent};
//!
//! let line = "cd build && rm -rf cache; date > ../log.txt";
//! let effects = provost_shell::effects(line, Path::new("/project"), None);
//!
//! assert!(effects.contains(&Effect::Delete { path: "/project/build/cache".into() }));
//! assert!(effects.contains(&Effect::Write {
//!     path: "/project/build/../log.txt".into(),
//!     content: WriteContent::Unknown,
//! }));
//! ```
//!
//! # What it promises
//!
//! - It never guesses. A target that depends on a variable is an [`UnknownTarget`](effect::Effect::UnknownTarget). A
//!   program that depends on one, or a construct that is not understood, is an [`Unparsed`](effect::Effect::Unparsed).
//!   A strict caller refuses such a line; a lenient one still sees the other effects.
//! - It reads texts that are command lines themselves: `sh -c`, `eval`, substitutions, here-documents for a shell,
//!   `find -exec`, `xargs`, git aliases that the line defines.
//! - It terminates. Nothing recurses, and a line that would cost too much time or memory is a
//!   [`TooLarge`](effect::Effect::TooLarge).
//! - It is a pure function of its arguments: no files, no environment, no clock, no output, no dependencies. Links are
//!   not followed, and patterns such as `*.rs` are not expanded.
//!
//! `grammar` parses a line into events, `line` walks over them, and `programs` holds what is known about programs.
//! `flow` finds out which branch is checked out at each git command. [`pattern`] compares started programs with patterns
//! that people write.

#![warn(missing_docs)]

mod ansi;
mod arithmetic;
mod budget;
mod builtins;
mod command_tree;
mod directories;
pub mod effect;
mod flow;
mod grammar;
mod known_words;
mod line;
pub mod pattern;
mod programs;
mod report;
#[cfg(test)]
mod tests;
mod texts;
mod word;

use std::collections::VecDeque;
use std::path::Path;

use arithmetic::QuotedTexts;
use budget::Budget;
use command_tree::{CommandTree, StatusRule};
use directories::{CurrentDirectory, DirectoryChanges};
use effect::Effect;
pub use effect::commands::{CommandInput, Line, LineCommand};
use flow::Flow;
use grammar::{Parser, SyntaxEvent, TextKind};
use line::{LineWalker, NestedText, ShellParameters};
use programs::git::GitContext;
pub use programs::variable_steers_programs;
use texts::TextFlow;
use word::Word;

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];
/// How deep texts that are command lines themselves are followed: `sh -c "sh -c …"`, backticks.
const DEEPEST: u32 = 8;
/// A longer line is not parsed at all.
const LONGEST_LINE: usize = 1 << 20;
/// No system opens a longer path.
const LONGEST_PATH: usize = 4096;

/// The effects of a command line that starts in the directory `cwd`, roughly in the order of its text.
///
/// `home` is the value of `$HOME`; without it, `~` and `$HOME` are not known. A relative `cwd` gives relative paths.
pub fn effects(command: &str, cwd: &Path, home: Option<&Path>) -> Vec<Effect> {
    read_line(command, cwd, home).effects
}

/// The effects of a command line as [`effects`] returns them, with the commands that they belong to.
///
/// ```
/// use std::path::Path;
///
/// let line = provost_shell::read_line("rm a && cat b | tee c", Path::new("/project"), None);
/// // `rm`, `cat` and `tee`.
/// assert_eq!(line.commands.len(), 3);
/// assert!(line.feeds(1, 2) && !line.feeds(0, 2));
/// ```
pub fn read_line(command: &str, cwd: &Path, home: Option<&Path>) -> Line {
    if command.len() > LONGEST_LINE {
        let what = format!("a command line of {} bytes", command.len());
        return Line::of_one_command(vec![Effect::TooLarge { what }]);
    }
    let home = home.and_then(Path::to_str);
    let (work, guesses) = Budget::for_line(command).split_for_guesses();
    let mut effects = Vec::new();
    let mut flow = Flow::default();
    let mut evaluation = QuotedTexts::default();
    let mut tree = CommandTree::default();
    let mut open = VecDeque::from([NestedText {
        text: command.to_owned(),
        kind: TextKind::Commands,
        script: flow.new_script(),
        git: GitContext::default(),
        place: CurrentDirectory::at(cwd),
        within: None,
        is_substituted: false,
        status: StatusRule { passes: true, has_pipefail: false },
        parameters: ShellParameters::default(),
        is_guess: false,
        is_remote: false,
        depth: 0,
    }]);
    while let Some(nested) = open.pop_front().or_else(|| evaluation.next_text()) {
        let NestedText {
            text,
            kind,
            script,
            git,
            place,
            within,
            is_substituted,
            status,
            parameters,
            is_guess,
            is_remote,
            depth,
        } = nested;
        // A text that may not be commands must not make a line too large.
        if is_guess && guesses.is_spent() {
            continue;
        }
        let work = if is_guess { &guesses } else { &work };
        tree.start_text(within, is_substituted, status);
        let mut line = LineWalker {
            git,
            tree: &mut tree,
            flow: &mut flow,
            evaluation: &mut evaluation,
            script,
            nesting: 0,
            pipeline_start: place.current.clone(),
            place,
            changes: DirectoryChanges::default(),
            subshells: Vec::new(),
            loops: Vec::new(),
            home,
            work,
            guesses: &guesses,
            is_guess,
            is_remote,
            effects: &mut effects,
            nested: Vec::new(),
            documents: VecDeque::new(),
            texts: TextFlow::default(),
            aliases: Vec::new(),
            depth,
        };
        let mut parser = Parser::new(&text, kind, home, work);
        parser.learn_parameters(&parameters.known, parameters.are_all_known);
        line.walk(parser);
        open.extend(line.nested);
        if !is_guess && work.is_spent() {
            // In front, so that a caller finds it at once.
            effects.insert(0, Effect::TooLarge { what: "a command line that does so much".into() });
            tree.effect_commands.insert(0, 0);
            tree.distrust_status();
            break;
        }
    }
    if !work.is_spent() {
        flow.resolve(&mut effects, &mut tree.sites);
    }
    tree.finish(effects)
}

/// The first word of a command line that is not an assignment: the program, in most cases. Returns `None` if there is
/// no such word or its value cannot be known.
pub fn find_first_word(command: &str) -> Option<String> {
    let work = Budget::for_line(command);
    let position = |word: &Word| word.source.as_ptr() as usize;
    // A substitution is parsed before the command that contains it.
    let words = Parser::new(command, TextKind::Commands, None, &work).filter_map(|event| match event {
        SyntaxEvent::Simple(command) => command.words.into_iter().find(|word| word.assigned_name().is_none()),
        _ => None,
    });
    words.min_by_key(position)?.text().map(str::to_owned)
}

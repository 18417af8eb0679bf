//! What `find` deletes, by `-delete`, by `-exec rm` or by the `rm` that gets its output.
//!
//! The names are known only when `find` runs, but the directories where it starts are words of the command.

use crate::prelude::*;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::find_expression;
use super::scene::{CommandEffects, Scene};
use provost_core::effect::Effect;

const DELETING: &[&str] = &["rm", "unlink", "shred", "srm", "rmdir", "trash", "trash-put"];
/// Words that choose no files by name, age or size.
const OTHER_WORDS: &[&str] =
    &["-delete", "-depth", "-d", "-print", "-print0", "-type", "-mindepth", "-maxdepth", "-xdev", "-mount"];
/// Options of `fd` that take the next word.
const FD_VALUES: &[&str] = &[
    "-e",
    "-t",
    "-d",
    "-E",
    "-S",
    "-j",
    "-c",
    "-o",
    "--extension",
    "--type",
    "--max-depth",
    "--exclude",
    "--size",
    "--threads",
    "--changed-within",
    "--changed-before",
];

/// A directory in which `find` deletes.
pub(super) struct SearchedDirectory {
    pub(super) path: PathBuf,
    /// Everything in it is deleted.
    pub(super) is_whole: bool,
    choice: FileChoice,
}

/// Which files below the directory are deleted.
enum FileChoice {
    /// Not known, or all.
    Any,
    /// Those that `fd` finds, which looks at no hidden files.
    Visible,
    /// Those for which an expression of `find` reaches its deletion.
    Expression {
        words: Rc<[String]>,
        is_fed: bool,
        /// What is found is deleted with everything in it.
        is_recursive: bool,
    },
}

impl SearchedDirectory {
    fn with_any(path: PathBuf, is_whole: bool) -> Self {
        Self { path, is_whole, choice: FileChoice::Any }
    }

    /// Whether the file may be deleted. Tests about age, size and owner may let it through.
    pub(super) fn may_find(&self, path: &Path, scene: &Scene<'_>) -> bool {
        match &self.choice {
            FileChoice::Any => true,
            FileChoice::Visible => false,
            FileChoice::Expression { words, is_fed, is_recursive } => {
                let deletes = |path: &Path| find_expression::deletes(words, &self.path, path, *is_fed, scene);
                let above = path.ancestors().skip(1).take_while(|above| above.starts_with(&self.path));
                deletes(path) || *is_recursive && above.into_iter().any(deletes)
            }
        }
    }
}

/// The directories in which a command deletes what `find` finds.
pub(super) fn list_searched(command: &CommandEffects<'_>, scene: &Scene<'_>) -> Vec<SearchedDirectory> {
    let mut found = Vec::new();
    for effect in &command.effects {
        let Effect::Run { program, arguments, directory, unknown_from, .. } = effect else { continue };
        let has_unknown = unknown_from.is_some();
        let directory = directory.as_deref();
        match name(program) {
            "find" | "gfind" if find_expression::has_deletion(arguments) => {
                add_starts(arguments, directory, None, scene, &mut found);
            }
            "fd" | "fdfind" if runs_deletion_for_found(arguments) => {
                add_fd_starts(arguments, directory, scene, &mut found);
            }
            "xargs" | "parallel" if command.effects.iter().any(|effect| is_deletion(effect)) => {
                add_fed(command, scene, &mut found);
            }
            _ if has_unknown && is_deletion(effect) => add_fed(command, scene, &mut found),
            _ => {}
        }
    }
    found
}

/// Adds what the commands that feed this one print: the files that `find` finds, the words of `echo`.
fn add_fed(command: &CommandEffects<'_>, scene: &Scene<'_>, found: &mut Vec<SearchedDirectory>) {
    let is_recursive =
        |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']);
    let is_recursive = command.effects.iter().any(|effect| {
        let Effect::Run { arguments, .. } = effect else { return false };
        is_deletion(effect) && arguments.iter().any(|word| is_recursive(word) || word == "--recursive")
    });
    for feeding in scene.feeding_commands(command.number) {
        for effect in &feeding.effects {
            let Effect::Run { program, arguments, directory, unknown_arguments, .. } = effect else {
                continue;
            };
            match name(program) {
                "ls" => {
                    let starts =
                        unknown_arguments.iter().filter_map(|unknown| unknown.word.prefix.rsplit_once('/'));
                    let starts = starts.filter(|(start, _)| start.starts_with('/'));
                    found.extend(starts.map(|(start, _)| SearchedDirectory::with_any(start.into(), false)));
                }
                "find" | "gfind" => {
                    add_starts(arguments, directory.as_deref(), Some(is_recursive), scene, found);
                }
                "fd" | "fdfind" => add_fd_starts(arguments, directory.as_deref(), scene, found),
                "echo" | "printf" => {
                    let from = directory.as_deref().unwrap_or(&scene.event.cwd);
                    let paths =
                        arguments.iter().filter(|word| word.contains('/') && !word.contains(['%', ' ']));
                    found.extend(paths.map(|word| SearchedDirectory::with_any(from.join(word), true)));
                }
                _ => {}
            }
        }
    }
}

fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

pub(super) fn is_deleting_program(program: &str) -> bool {
    DELETING.contains(&name(program))
}

fn is_deletion(effect: &Effect) -> bool {
    matches!(effect, Effect::Run { program, .. } if is_deleting_program(program))
}

fn runs_deletion_for_found(arguments: &[String]) -> bool {
    let is_exec = |word: &str| matches!(word, "-x" | "-X" | "--exec" | "--exec-batch");
    arguments.windows(2).any(|pair| is_exec(&pair[0]) && is_deleting_program(&pair[1]))
}

/// `is_fed`: another command deletes what is found; whether it does so recursively.
pub(super) fn add_starts(
    arguments: &[String],
    directory: Option<&Path>,
    is_fed: Option<bool>,
    scene: &Scene<'_>,
    found: &mut Vec<SearchedDirectory>,
) {
    let from = directory.unwrap_or(&scene.event.cwd);
    let is_expression = |word: &&String| word.starts_with('-') || matches!(&***word, "(" | "!" | ",");
    let skipped = arguments.iter().take_while(|word| matches!(&***word, "-H" | "-L" | "-P")).count();
    let words = &arguments[skipped..];
    let count = words.iter().take_while(|word| !is_expression(word)).count();
    let (starts, rest) = words.split_at(count);
    let is_test = |word: &&String| word.starts_with('-') && !OTHER_WORDS.contains(&word.as_str());
    let mut before_exec =
        rest.iter().take_while(|word| !word.starts_with("-exec") && !word.starts_with("-ok"));
    let is_whole = !before_exec.any(|word| is_test(&word));
    let is_cluster = |word: &String| {
        word.starts_with('-') && word.len() <= 4 && word.contains(['r', 'R']) && word != "-or"
    };
    let is_recursive = is_fed.unwrap_or_else(|| {
        let mut command =
            rest.iter().skip_while(|word| !word.starts_with("-exec") && !word.starts_with("-ok"));
        command.any(|word| is_cluster(word) || word == "--recursive" || word.contains("rm -"))
    });
    let mut starts: Vec<PathBuf> = starts.iter().map(|start| scene.resolve(&from.join(start))).collect();
    if starts.is_empty() {
        starts.push(from.to_owned());
    }
    let words: Rc<[String]> = rest.into();
    let choice = || FileChoice::Expression { words: words.clone(), is_fed: is_fed.is_some(), is_recursive };
    found.extend(starts.into_iter().map(|path| SearchedDirectory { path, is_whole, choice: choice() }));
}

/// `fd PATTERN PATH… -x COMMAND`.
fn add_fd_starts(
    arguments: &[String],
    directory: Option<&Path>,
    scene: &Scene<'_>,
    found: &mut Vec<SearchedDirectory>,
) {
    let from = directory.unwrap_or(&scene.event.cwd);
    let is_exec = |word: &&String| matches!(&***word, "-x" | "-X" | "--exec" | "--exec-batch");
    let mut words = arguments.iter().take_while(|word| !is_exec(word));
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        if FD_VALUES.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            operands.push(word);
        }
    }
    let starts = operands.iter().skip(1).map(|start| scene.resolve(&from.join(start)));
    let choice = FileChoice::Visible;
    let before = found.len();
    found.extend(starts.map(|path| SearchedDirectory { path, is_whole: false, choice: FileChoice::Visible }));
    if found.len() == before {
        found.push(SearchedDirectory { path: from.to_owned(), is_whole: false, choice });
    }
}

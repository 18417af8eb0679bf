//! What `find` deletes, by `-delete`, by `-exec rm` or by the `rm` that gets its output.
//!
//! The names are known only when `find` runs, but the directories where it starts are words of the command.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::scene::{CommandEffects, Scene};
use provost_core::effect::Effect;

const DELETING: &[&str] = &["rm", "unlink", "shred", "srm", "rmdir"];
/// Words that choose no files by name, age or size.
const OTHER_WORDS: &[&str] =
    &["-delete", "-depth", "-d", "-print", "-print0", "-type", "-mindepth", "-maxdepth", "-xdev", "-mount"];

/// A directory in which `find` deletes.
pub(super) struct SearchedDirectory {
    pub(super) path: PathBuf,
    /// Everything in it is deleted.
    pub(super) is_whole: bool,
}

/// The directories in which a command deletes what `find` finds.
pub(super) fn list_searched(command: &CommandEffects<'_>, scene: &Scene<'_>) -> Vec<SearchedDirectory> {
    let mut found = Vec::new();
    for effect in &command.effects {
        let Effect::Run { program, arguments, directory, unknown_from, .. } = effect else { continue };
        let has_unknown = unknown_from.is_some();
        match name(program) {
            "find" | "gfind" if deletes_found(arguments) => {
                add_starts(arguments, directory.as_deref(), scene, &mut found);
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
                    found.extend(
                        starts.map(|(start, _)| SearchedDirectory { path: start.into(), is_whole: false }),
                    );
                }
                "find" | "gfind" | "fd" => add_starts(arguments, directory.as_deref(), scene, found),
                "echo" | "printf" => {
                    let from = directory.as_deref().unwrap_or(&scene.event.cwd);
                    let paths =
                        arguments.iter().filter(|word| word.contains('/') && !word.contains(['%', ' ']));
                    found.extend(
                        paths.map(|word| SearchedDirectory { path: from.join(word), is_whole: true }),
                    );
                }
                _ => {}
            }
        }
    }
}

fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn is_deletion(effect: &Effect) -> bool {
    matches!(effect, Effect::Run { program, .. } if DELETING.contains(&name(program)))
}

/// Whether these words make `find` delete what it finds.
fn deletes_found(arguments: &[String]) -> bool {
    let is_exec = |word: &str| matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir");
    arguments.iter().any(|word| word == "-delete")
        || arguments.windows(2).any(|pair| is_exec(&pair[0]) && DELETING.contains(&name(&pair[1])))
        || arguments
            .windows(3)
            .any(|words| is_exec(&words[0]) && words[1] == "sudo" && DELETING.contains(&name(&words[2])))
        || arguments.windows(4).any(|words| {
            is_exec(&words[0])
                && words[2] == "-c"
                && words[3].split_whitespace().any(|word| DELETING.contains(&word))
        })
}

fn add_starts(
    arguments: &[String],
    directory: Option<&Path>,
    scene: &Scene<'_>,
    found: &mut Vec<SearchedDirectory>,
) {
    let from = directory.unwrap_or(&scene.event.cwd);
    let is_expression = |word: &&String| word.starts_with('-') || matches!(&***word, "(" | "!" | ",");
    let words = arguments.iter().skip_while(|word| matches!(&***word, "-H" | "-L" | "-P"));
    let (starts, rest): (Vec<_>, Vec<_>) = {
        let count = words.clone().take_while(|word| !is_expression(word)).count();
        (words.clone().take(count).collect(), words.skip(count).collect())
    };
    let is_test = |word: &&String| word.starts_with('-') && !OTHER_WORDS.contains(&word.as_str());
    let before_exec = rest.iter().take_while(|word| !word.starts_with("-exec") && !word.starts_with("-ok"));
    let is_whole = !before_exec.copied().any(|word| is_test(&word));
    let mut starts: Vec<PathBuf> = starts.into_iter().map(|start| from.join(start)).collect();
    if starts.is_empty() {
        starts.push(from.to_owned());
    }
    found.extend(starts.into_iter().map(|path| SearchedDirectory { path, is_whole }));
}

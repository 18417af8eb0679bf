//! What `find` gives to a program that reads files: `find -name X -exec cat {} +`, `find -name X | xargs cat`.
//!
//! Only a search by name counts. One by type or age chooses no file that a rule could mean.

use crate::prelude::*;
use std::path::Path;

use super::find_deletion::{SearchedDirectory, add_starts};
use super::scene::{CommandEffects, Scene};
use super::used_paths::{Contents, UsedPaths};
use provost_core::effect::Effect;
use provost_core::rules::path_pattern::PathPatterns;
use provost_core::rules::{RuleText, SHOWING_PROGRAMS};

const NAME_TESTS: &[&str] = &["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"];

/// Adds the files that a command reads because `find` finds them. `patterns`: those that an example is about.
pub(super) fn collect_found(
    used: &mut UsedPaths<'_, '_>,
    command: &CommandEffects<'_>,
    patterns: &[RuleText],
) {
    let scene = used.scene;
    for searched in list_searched(command, scene) {
        let path = scene.resolve(&searched.path);
        if !scene.is_example {
            let fits = move |path: &Path| !scene.is_directory(path) && searched.may_find(path, scene);
            used.add(path, Contents::Some { fits: Box::new(fits), counts_any: false }, None, "reads");
            continue;
        }
        let Ok(patterns) = PathPatterns::parse(patterns) else { return };
        for name in patterns.list_last_names().filter(|name| searched.may_find(&path.join(name), scene)) {
            used.add(path.join(name), Contents::Nothing, None, "reads");
        }
    }
}

/// The directories in which a command reads the files that `find` finds.
fn list_searched(command: &CommandEffects<'_>, scene: &Scene<'_>) -> Vec<SearchedDirectory> {
    let mut found = Vec::new();
    let mut add = |effect: &Effect, needs_exec: bool| {
        let Effect::Run { program, arguments, directory, .. } = effect else { return };
        if !matches!(program.rsplit('/').next(), Some("find" | "gfind")) {
            return;
        }
        let exec = arguments.iter().position(|word| word.starts_with("-exec") || word.starts_with("-ok"));
        let reads = exec.is_some_and(|at| arguments.get(at + 1).is_some_and(|program| is_reader(program)));
        let tests = &arguments[..exec.unwrap_or(arguments.len())];
        if (reads || !needs_exec) && tests.iter().any(|word| NAME_TESTS.contains(&word.as_str())) {
            add_starts(tests, directory.as_deref(), Some(false), scene, &mut found);
        }
    };
    command.effects.iter().for_each(|effect| add(effect, true));
    let is_fed = |effect: &&Effect| matches!(effect, Effect::Run { program, unknown_from: Some(_), .. } if is_reader(program));
    if command.effects.iter().any(is_fed) {
        for feeding in scene.feeding_commands(command.number) {
            feeding.effects.iter().for_each(|effect| add(effect, false));
        }
    }
    found
}

fn is_reader(program: &str) -> bool {
    SHOWING_PROGRAMS.contains(&program.rsplit('/').next().unwrap_or(program))
}

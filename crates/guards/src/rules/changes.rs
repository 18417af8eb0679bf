//! What a command line has changed and run, in the order in which it happened.
//!
//! A pipeline counts as one step: what it changes itself (`cargo test | tee log`) comes before the result of its runs.

use crate::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::hidden_writes::{HiddenWrite, find_hidden_writes};
use super::idle_runs::is_real_run;
use super::scene::Scene;
use provost_core::effect::{Effect, Line};
use provost_core::places::is_within;
use provost_core::rules::RuleText;
use provost_core::rules::evidence::ChangedPath;
use provost_core::rules::path_pattern::PathPatterns;
use provost_shell::pattern::{CommandPattern, PatternMatch, RunView};

/// One step of a line.
pub(crate) enum LineStep {
    Change(ChangedPath),
    /// A command that a pattern describes has run, and its exit code decides that of the line.
    Run(String),
}

/// The steps of the commands of a call, and for each the number of its command.
pub(super) fn list_steps(scene: &Scene<'_>, patterns: &[&str]) -> Vec<(usize, LineStep)> {
    let parsed: Vec<(&str, CommandPattern<'_>)> = patterns
        .iter()
        .filter_map(|text| CommandPattern::parse(text).ok().map(|pattern| (*text, pattern)))
        .collect();
    list_steps_with(scene, |run| {
        let is_passed = |(text, pattern): &&(&str, CommandPattern<'_>)| {
            pattern.matches(run) == PatternMatch::Yes && is_real_run(run, text)
        };
        parsed.iter().filter(is_passed).map(|(text, _)| (*text).to_owned()).collect()
    })
}

/// Like [`list_steps`], with the names that `name_run` gives to a run.
pub(crate) fn list_steps_with(
    scene: &Scene<'_>,
    name_run: impl Fn(&RunView<'_>) -> Vec<String>,
) -> Vec<(usize, LineStep)> {
    let line = scene.event.line();
    let mut steps = Vec::new();
    for pipeline in order_pipelines(line) {
        for &command in &pipeline {
            let mut changes = Vec::new();
            collect_changes(&scene.commands()[command].effects, scene, &mut changes);
            steps.extend(changes.into_iter().map(|change| (command, LineStep::Change(change))));
        }
        for &command in pipeline.iter().filter(|command| line.commands[**command].decides_status) {
            for effect in &scene.commands()[command].effects {
                let Some(run) = RunView::from_effect(effect) else { continue };
                let home = scene.workspace.places.home.as_deref();
                let run = run.in_project(Some(&scene.workspace.project), home);
                steps.extend(name_run(&run).into_iter().map(|name| (command, LineStep::Run(name))));
            }
        }
    }
    steps
}

/// The numbers of the commands that run before a command.
pub(crate) fn list_commands_before(target: usize, line: &Line) -> Vec<usize> {
    let pipelines = order_pipelines(line).into_iter();
    pipelines.take_while(|pipeline| !pipeline.contains(&target)).flatten().collect()
}

/// The commands of each pipeline, in the order in which they run. A pipeline inside of another command comes after it.
fn order_pipelines(line: &Line) -> Vec<Vec<usize>> {
    let mut first = HashMap::new();
    for (number, command) in line.commands.iter().enumerate() {
        first.entry(command.pipeline).or_insert(number);
    }
    let mut keyed: Vec<(Vec<usize>, usize)> = Vec::new();
    for number in 0..line.commands.len() {
        let mut key = Vec::new();
        let mut current = Some(number);
        while let Some(command) = current.and_then(|number| line.commands.get(number)) {
            key.push(first[&command.pipeline]);
            current = command.within.map(|number| number as usize);
        }
        key.reverse();
        keyed.push((key, number));
    }
    keyed.sort_unstable();
    let mut pipelines: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for (key, number) in keyed {
        match pipelines.last_mut().filter(|(last, _)| *last == key) {
            Some((_, numbers)) => numbers.push(number),
            None => pipelines.push((key, vec![number])),
        }
    }
    pipelines.into_iter().map(|(_, numbers)| numbers).collect()
}

fn collect_changes(command: &[&Effect], scene: &Scene<'_>, changes: &mut Vec<ChangedPath>) {
    let workspace = scene.workspace;
    let whole = |path: PathBuf| {
        let is_tree = !scene.is_example && workspace.is_directory(&path);
        if is_tree { ChangedPath::Tree(path) } else { ChangedPath::File(path) }
    };
    // Other programs may delete whole directories.
    let deletes_files_only = command.iter().filter_map(|effect| RunView::from_effect(effect)).any(|run| {
        let is_rm = |pattern: &str| {
            CommandPattern::parse(pattern).is_ok_and(|pattern| pattern.matches(&run) == PatternMatch::Yes)
        };
        is_rm("rm|unlink|rmdir") && !is_rm("rm -r")
    });
    for write in find_hidden_writes(command, &scene.event.cwd) {
        changes.push(match write {
            HiddenWrite::WorkTree(path) => find_work_tree(&path, scene),
            HiddenWrite::Path(path) if may_be_directory(&path, scene) => {
                ChangedPath::Tree(scene.resolve(&path))
            }
            HiddenWrite::Path(path) => ChangedPath::File(scene.resolve(&path)),
        });
    }
    for effect in command {
        match effect {
            Effect::Write { path, .. } => changes.push(whole(scene.resolve(path))),
            Effect::Place { names, to, tree } => {
                let to = scene.resolve(to);
                let is_directory = !scene.is_example && workspace.is_directory(&to);
                let placed = |path: PathBuf| if *tree { ChangedPath::Tree(path) } else { whole(path) };
                if is_directory && !names.is_empty() {
                    changes.extend(names.iter().map(|name| placed(to.join(name))));
                } else {
                    changes.push(placed(to));
                }
            }
            Effect::Delete { path } => {
                let path = scene.resolve_deleted(path);
                let is_file = deletes_files_only || scene.is_example;
                changes.push(if is_file { ChangedPath::File(path) } else { ChangedPath::Tree(path) });
            }
            Effect::ChangeBelow { directory, .. } => {
                changes.push(ChangedPath::Tree(scene.resolve(directory)));
            }
            Effect::Touch { path } if !scene.only_reads() && may_be_file(path, scene) => {
                changes.push(whole(scene.resolve(path)));
            }
            Effect::UnknownTarget { target, places, .. } => {
                let is_glob = target.contains(['*', '?', '[']) && !target.contains(['$', '`', '<']);
                if !is_glob || places.is_empty() {
                    changes.push(ChangedPath::Any);
                    continue;
                }
                let is_known = |part: &std::path::Component<'_>| {
                    !part.as_os_str().to_string_lossy().contains(['*', '?', '['])
                };
                let known = |place: &PathBuf| -> PathBuf {
                    place.join(target).components().take_while(is_known).collect()
                };
                changes.extend(places.iter().map(|place| ChangedPath::Tree(scene.resolve(&known(place)))));
            }
            Effect::ChangeTree(change) => {
                let place = change.work_tree.as_ref().unwrap_or(&change.directory);
                // Files that are named one by one have effects of their own.
                let names_files =
                    |effect: &&Effect| matches!(effect, Effect::Write { .. } | Effect::Delete { .. });
                let has_wildcard = change.paths.iter().any(|path| path.pattern.contains(['*', '?', '[']));
                if change.paths.is_empty() || has_wildcard || !command.iter().any(names_files) {
                    changes.push(find_work_tree(place, scene));
                }
            }
            Effect::UpdateBranch(update)
                if matches!(update.command, "merge" | "revert" | "cherry-pick" | "am") =>
            {
                let place = update.site.repository.as_deref().unwrap_or(&scene.event.cwd);
                changes.push(find_work_tree(place, scene));
            }
            Effect::MutatingOption { program, by, .. } if program == "find" && by == "-delete" => {
                changes.push(ChangedPath::Tree(scene.resolve(&scene.event.cwd)));
            }
            Effect::ApplyPatch(_) | Effect::TooLarge { .. } | Effect::Unparsed { .. } => {
                changes.push(ChangedPath::Any);
            }
            _ => {}
        }
    }
}

/// The work tree that a directory belongs to. Git changes all of it, also from a directory below its top.
fn find_work_tree(directory: &Path, scene: &Scene<'_>) -> ChangedPath {
    let (directory, project) = (scene.resolve(directory), &scene.workspace.project);
    ChangedPath::Tree(if is_within(&directory, project) { project.clone() } else { directory })
}

/// Whether a path is a directory, or looks like one if it does not exist.
fn may_be_directory(path: &Path, scene: &Scene<'_>) -> bool {
    if scene.is_directory(path) {
        true
    } else {
        path.extension().is_none() && (scene.is_example || !scene.exists(path))
    }
}

/// Whether a text that an unknown tool was given names a file: it exists, or looks like a path.
fn may_be_file(path: &Path, scene: &Scene<'_>) -> bool {
    let text = path.to_string_lossy();
    let has_extension = path.extension().is_some_and(|extension| extension.len() <= 8);
    scene.exists(path) || has_extension && !text.contains(char::is_whitespace) && !text.contains("://")
}

/// Whether a rule counts changes of a file, by its key `changed`.
pub(super) fn counts_change(patterns: &[RuleText], path: &Path, scene: &Scene<'_>) -> bool {
    if patterns.is_empty() {
        return counts_without_pattern(path, scene);
    }
    PathPatterns::parse(patterns).is_ok_and(|patterns| patterns.matches(path, scene.roots()))
}

fn counts_without_pattern(path: &Path, scene: &Scene<'_>) -> bool {
    let roots = scene.roots();
    let is_temporary = roots.temporary.iter().any(|root| is_within(path, root));
    is_within(path, &roots.project) || !is_temporary && !path.starts_with("/dev")
}

/// The first of some changes that a rule counts, by its key `changed`.
pub(super) fn find_counted<'c>(
    patterns: &[RuleText],
    changes: impl Iterator<Item = &'c ChangedPath>,
    scene: &Scene<'_>,
) -> Option<&'c ChangedPath> {
    // A rule with a broken pattern decides nothing.
    let parsed = PathPatterns::parse(patterns).ok()?;
    let roots = scene.roots();
    let mut changes = changes;
    changes.find(|change| match change {
        ChangedPath::Any => true,
        ChangedPath::File(path) | ChangedPath::Tree(path) if patterns.is_empty() => {
            counts_without_pattern(path, scene)
        }
        ChangedPath::File(path) => parsed.matches(path, roots),
        ChangedPath::Tree(path) => parsed.matches(path, roots) || parsed.may_match_below(path, roots),
    })
}

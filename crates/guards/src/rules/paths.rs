//! Whether a command reads, writes or deletes a file that a rule names, and which lines it adds.

use crate::prelude::*;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use super::call::KeyMatch;
use super::find_deletion;
use super::scene::{CommandEffects, Scene};
use crate::shell_words::{expand_braces, read_written_word};
use provost_core::effect::{self, Effect, FileChange, ProposedContent, ReadScope, WriteContent};
use provost_core::opinion::Fault;
use provost_core::rules::path_pattern::PathPatterns;
use provost_core::rules::{RuleRegex, RuleSubject, RuleText, SHOWING_PROGRAMS, Unless};
use provost_core::text;
use provost_core::tool::Tool;

/// The largest file whose lines are compared with those of an edit.
const LARGEST_FILE: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathUse {
    Read,
    /// Its content is shown or copied.
    Show,
    /// Its content goes to the network.
    Send,
    Write,
    Delete,
    /// Written or deleted.
    Change,
}

/// A key of a rule about paths.
pub(super) struct PathKey<'a> {
    /// Empty: every path.
    pub(super) patterns: &'a [RuleText],
    pub(super) exceptions: &'a [RuleText],
    pub(super) path_use: PathUse,
    pub(super) adds: Option<&'a RuleRegex>,
}

/// The paths that a command uses in one way. All rules about that share them.
pub(super) struct UsedPaths<'a> {
    paths: Vec<UsedPath<'a>>,
    /// There are others that cannot be known.
    has_unknown: bool,
}

/// A path that a command uses.
struct UsedPath<'a> {
    path: PathBuf,
    /// Everything below it is used too.
    has_contents: bool,
    /// Only something below it is used, and not the path itself.
    is_some: bool,
    /// The content, if the path is written.
    content: Option<&'a WriteContent>,
    /// The lines that the write adds, each with its end.
    added: OnceCell<String>,
    verb: &'static str,
}

impl<'a> UsedPath<'a> {
    fn new(path: PathBuf, has_contents: bool, content: Option<&'a WriteContent>, verb: &'static str) -> Self {
        Self { path, has_contents, is_some: false, content, added: OnceCell::new(), verb }
    }
}

pub(super) fn match_paths(
    key: &PathKey<'_>,
    subject: &RuleSubject,
    command: &CommandEffects<'_>,
    scene: &Scene<'_>,
) -> Result<KeyMatch, Fault> {
    let path_use = match key.path_use {
        PathUse::Send if !sends(command, scene) => return Ok(KeyMatch::No),
        PathUse::Show if !shows(command) => return Ok(KeyMatch::No),
        path_use => path_use,
    };
    let used = command.used_paths(path_use, scene);
    let otherwise = if used.has_unknown { KeyMatch::Unknown } else { KeyMatch::No };
    let is_about_outside = key.patterns.iter().any(|pattern| pattern.text == "<outside>");
    let directories =
        if is_about_outside { collect_known_directories(command, path_use, scene) } else { Vec::new() };
    if used.paths.is_empty() && directories.is_empty() {
        return Ok(otherwise);
    }
    // A rule with a broken pattern decides nothing; `config check` reports it.
    let (Ok(patterns), Ok(exceptions)) =
        (PathPatterns::parse(key.patterns), PathPatterns::parse(key.exceptions))
    else {
        return Ok(KeyMatch::No);
    };
    for used in used.paths.iter().chain(&directories) {
        let is_named = key.patterns.is_empty() || is_path_matched(&patterns, used, scene);
        if !is_named || exceptions.matches(&used.path, scene.roots()) {
            continue;
        }
        if subject.unless.contains(&Unless::New) && is_new(used, scene)
            || subject.unless.contains(&Unless::Kept) && keeps_content(used, command)
        {
            continue;
        }
        if let Some(adds) = key.adds
            && !adds_line(adds, used, scene)?
        {
            continue;
        }
        let shown = used.path.strip_prefix(&scene.workspace.project).unwrap_or(&used.path);
        return Ok(KeyMatch::Yes(format!("{} {}", used.verb, text::make_one_line(&shown.to_string_lossy()))));
    }
    Ok(otherwise)
}

/// Collects the paths that a command uses in one way.
pub(super) fn collect_used_paths<'a>(
    command: &CommandEffects<'a>,
    path_use: PathUse,
    scene: &Scene<'_>,
) -> UsedPaths<'a> {
    let (mut paths, mut has_unknown) = (Vec::new(), false);
    for effect in &command.effects {
        // `git worktree remove` refuses to lose anything, so it is no deletion for a rule.
        if matches!(effect, Effect::Delete { .. }) && removes_work_tree(command) {
            continue;
        }
        collect_paths(effect, path_use, scene, &mut paths, &mut has_unknown);
    }
    if matches!(path_use, PathUse::Delete | PathUse::Change) {
        for searched in find_deletion::list_searched(command, scene) {
            let path = scene.resolve(&searched.path);
            // Some file in the directory, or all of it.
            let path = if searched.is_whole { path } else { path.join("*") };
            paths.push(UsedPath::new(path, searched.is_whole, None, "deletes"));
        }
    }
    UsedPaths { paths, has_unknown }
}

/// Whether what a command reads goes to the network: it sends something, or it feeds a command that does.
fn sends(command: &CommandEffects<'_>, scene: &Scene<'_>) -> bool {
    let has_send = |command: &CommandEffects<'_>| {
        command.effects.iter().any(|effect| matches!(effect, Effect::Send { .. }))
    };
    has_send(command)
        || scene.commands().iter().any(|other| {
            other.number != command.number
                && has_send(other)
                && scene.event.line().feeds(command.number, other.number)
        })
}

/// Whether a command shows or copies what it reads. A tool that is not a command always does.
fn shows(command: &CommandEffects<'_>) -> bool {
    let mut runs = command.effects.iter().filter_map(|effect| match effect {
        Effect::Run { program, arguments, .. } => {
            Some((program.rsplit('/').next().unwrap_or(program), arguments))
        }
        _ => None,
    });
    let is_showing = |(program, arguments): (&str, &Vec<String>)| match program {
        "git" => {
            arguments.iter().any(|word| matches!(&**word, "diff" | "show" | "blame" | "grep" | "annotate"))
        }
        program => SHOWING_PROGRAMS.contains(&program),
    };
    runs.clone().next().is_none() || runs.any(is_showing)
}

fn removes_work_tree(command: &CommandEffects<'_>) -> bool {
    command.effects.iter().any(|effect| match effect {
        Effect::Run { program, arguments, .. } => {
            let has_force = arguments.iter().any(|word| word == "--force" || word == "-f");
            program.ends_with("git")
                && !has_force
                && arguments.windows(2).any(|two| two == ["worktree", "remove"])
        }
        _ => false,
    })
}

/// Whether nothing is there yet that the command would change.
fn is_new(used: &UsedPath<'_>, scene: &Scene<'_>) -> bool {
    // Writing a directory that exists creates something in it, and that is judged by its own path.
    !scene.exists(&used.path) || used.verb == "writes" && scene.is_directory(&used.path)
}

/// Whether the file keeps what it holds.
fn keeps_content(used: &UsedPath<'_>, command: &CommandEffects<'_>) -> bool {
    const PROGRAMS: &[&str] =
        &["chmod", "chown", "chgrp", "chattr", "setfacl", "touch", "mkdir", "mkfifo", "git", "flock"];
    let is_listed = |effect: &&Effect| match effect {
        Effect::Run { program, .. } => PROGRAMS.contains(&program.rsplit('/').next().unwrap_or(program)),
        _ => false,
    };
    // The shell redirects the output before the program runs.
    let mut redirections = command.effects.iter().take_while(|effect| !matches!(effect, Effect::Run { .. }));
    let is_redirected = redirections.any(|effect| match effect {
        Effect::Write { content, .. } => used.content.is_some_and(|used| core::ptr::eq(used, content)),
        _ => false,
    });
    match used.content {
        Some(WriteContent::Known { append: true, .. }) => true,
        Some(WriteContent::Unknown) | None => !is_redirected && command.effects.iter().any(is_listed),
        Some(_) => false,
    }
}

fn is_path_matched(patterns: &PathPatterns<'_>, used: &UsedPath<'_>, scene: &Scene<'_>) -> bool {
    let roots = scene.roots();
    if !used.is_some && patterns.matches(&used.path, roots) {
        return true;
    }
    used.has_contents
        && (patterns.names_path_below(&used.path, roots)
            || !scene.is_example
                && scene.workspace.has_path_below(
                    &used.path,
                    |directory| patterns.may_match_below(directory, roots),
                    |path| patterns.matches(path, roots),
                ))
}

/// The files that a command writes.
pub(super) fn list_written(command: &[&Effect], scene: &Scene<'_>) -> Vec<PathBuf> {
    let mut used = Vec::new();
    for effect in command {
        collect_paths(effect, PathUse::Write, scene, &mut used, &mut false);
    }
    used.into_iter().map(|used| used.path).collect()
}

/// Adds the paths that an effect uses in this way.
fn collect_paths<'a>(
    effect: &'a Effect,
    path_use: PathUse,
    scene: &Scene<'_>,
    used: &mut Vec<UsedPath<'a>>,
    is_unknown: &mut bool,
) {
    let (reads, writes, deletes) = match path_use {
        PathUse::Read | PathUse::Show | PathUse::Send => (true, false, false),
        PathUse::Write => (false, true, false),
        PathUse::Delete => (false, false, true),
        PathUse::Change => (false, true, true),
    };
    let mut found = Vec::new();
    let mut push = |path: PathBuf, has_contents, content, verb| {
        used.push(UsedPath::new(path, has_contents, content, verb));
    };
    match effect {
        Effect::Write { path, content } if writes => {
            push(scene.resolve(path), false, Some(content), "writes");
        }
        Effect::Place { names, to, tree } if writes => {
            push(scene.resolve(to), *tree, None, "writes");
            for name in names {
                push(scene.resolve(&to.join(name)), *tree, None, "writes");
            }
        }
        Effect::Delete { path } if deletes => push(scene.resolve_deleted(path), true, None, "deletes"),
        Effect::Read { path, scope } if reads => {
            // A search for a word is not a way to send a directory away.
            push(scene.resolve(path), *scope == ReadScope::Tree, None, "reads");
        }
        Effect::Touch { path } if reads || writes => push(scene.resolve(path), false, None, "names"),
        Effect::UnknownTarget { target, places, change } => {
            let concerns = if *change == FileChange::Delete { deletes } else { writes };
            if !concerns {
                return;
            }
            let verb = if *change == FileChange::Delete { "deletes" } else { "writes" };
            let words = read_target(target, scene).and_then(|word| expand_braces(&word));
            let Some(words) = words.filter(|_| !places.is_empty()) else {
                *is_unknown = true;
                return;
            };
            for (place, word) in places.iter().flat_map(|place| words.iter().map(move |word| (place, word))) {
                let target = place.join(word);
                let is_all = target.file_name().is_some_and(|name| name == "*");
                // `rm -rf *` in the root deletes the project. Where `cd` may have failed, that is not what is meant.
                if is_all && deletes && places.len() == 1 && target.parent() == Some(&scene.workspace.project)
                {
                    push(scene.workspace.project.clone(), true, None, verb);
                }
                // A file in the last directory that is known.
                let known: PathBuf =
                    target.components().take_while(|part| !is_wildcard(part.as_os_str())).collect();
                let known = scene.resolve(&known);
                if known == target {
                    push(known, deletes, None, verb);
                    continue;
                }
                push(known.join("*"), false, None, verb);
                if scene.is_example {
                    found.push(UsedPath { is_some: true, ..UsedPath::new(known, true, None, verb) });
                } else {
                    for path in scene.workspace.expand_wildcards(&target) {
                        push(scene.resolve_deleted(&path), deletes, None, verb);
                    }
                }
            }
        }
        Effect::TooLarge { .. } | Effect::Unparsed { .. } => *is_unknown = true,
        _ => {}
    }
    used.append(&mut found);
}

/// The directories of deleted files whose names are unknown: `rm -rf ~/$X` deletes something in the home.
fn collect_known_directories<'a>(
    command: &CommandEffects<'a>,
    path_use: PathUse,
    scene: &Scene<'_>,
) -> Vec<UsedPath<'a>> {
    let mut used = Vec::new();
    if !matches!(path_use, PathUse::Delete | PathUse::Change) {
        return used;
    }
    for effect in &command.effects {
        let Effect::UnknownTarget { target, places, change: FileChange::Delete } = effect else { continue };
        let Some(word) = read_written_word(target, scene.workspace) else { continue };
        let known = word.find(['$', '`']).map_or("", |unknown| &word[..unknown]);
        let Some((directory, _)) = known.rsplit_once('/') else { continue };
        let root = Path::new("/").to_owned();
        let start =
            if known.starts_with('/') { Some(&root) } else { places.first().filter(|_| places.len() == 1) };
        if let Some(start) = start {
            let path = scene.resolve(&start.join(directory)).join("*");
            used.push(UsedPath::new(path, false, None, "deletes"));
        }
    }
    used
}

/// The word of an unknown target, if nothing but wildcards and braces makes it unknown.
fn read_target(target: &str, scene: &Scene<'_>) -> Option<String> {
    if matches!(target, "`$(pwd)`" | "`\"$(pwd)\"`" | "``pwd``" | "`\"`pwd`\"`") {
        return Some(".".into());
    }
    let project = scene.workspace.project.to_str();
    match target.trim_matches(['`', '"']) {
        "$(git rev-parse --show-toplevel)" => return project.map(str::to_owned),
        "$(git rev-parse --git-dir)" => return project.map(|project| format!("{project}/.git")),
        _ => {}
    }
    let word = read_written_word(target, scene.workspace)?;
    (word != "{}" && !word.contains(['$', '`'])).then_some(word)
}

fn is_wildcard(name: &std::ffi::OsStr) -> bool {
    name.to_string_lossy().contains(['*', '?', '['])
}

/// Whether a write adds a line that a regular expression matches.
fn adds_line(adds: &RuleRegex, used: &UsedPath<'_>, scene: &Scene<'_>) -> Result<bool, Fault> {
    let Some(content) = used.content else { return Ok(false) };
    let added = match used.added.get() {
        Some(added) => added,
        None => {
            let added = list_added_lines(content, &used.path, scene)?;
            used.added.get_or_init(|| added)
        }
    };
    Ok(added.split_terminator('\n').any(|line| adds.is_match(line) == Some(true)))
}

/// The lines that a write adds, each with its end.
fn list_added_lines(content: &WriteContent, path: &Path, scene: &Scene<'_>) -> Result<String, Fault> {
    let mut added = String::new();
    let mut add = |new: &str, old: &str| {
        let old: std::collections::HashSet<&str> = old.lines().collect();
        for line in new.lines().filter(|line| !old.contains(line)) {
            added.push_str(line);
            added.push('\n');
        }
    };
    match (content, scene.event.call()) {
        (WriteContent::InCall, Some(call)) => {
            let old = read_current(path, scene)?;
            match effect::compute_proposed_content(&call.tool, old.as_deref()) {
                ProposedContent::Text(new) => add(&new, old.as_deref().unwrap_or_default()),
                ProposedContent::Unknown => {
                    if let Tool::Edit { replacements, .. } = &call.tool {
                        replacements.iter().for_each(|replacement| add(&replacement.new, &replacement.old));
                    }
                }
            }
        }
        (WriteContent::Known { text, .. }, _) => {
            add(text, read_current(path, scene)?.as_deref().unwrap_or_default());
        }
        (WriteContent::Adds { text }, _) => add(text, ""),
        _ => {}
    }
    Ok(added)
}

fn read_current(path: &Path, scene: &Scene<'_>) -> Result<Option<String>, Fault> {
    if scene.is_example { Ok(None) } else { scene.workspace.read_text(path, LARGEST_FILE) }
}

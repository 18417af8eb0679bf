//! Whether a command reads, writes or deletes a file that a rule names.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::added_lines::adds_line;
use super::call::KeyMatch;
use super::scene::{CommandEffects, Scene};
use super::used_paths::{Contents, UsedPath, UsedPaths};
use provost_core::effect::{Effect, WriteContent};
use provost_core::opinion::Fault;
use provost_core::rules::path_pattern::PathPatterns;
use provost_core::rules::{RuleRegex, RuleSubject, RuleText, SHOWING_PROGRAMS, Unless};
use provost_core::text;

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

/// Compares used paths with the patterns of a key.
struct PathMatcher<'m, 's> {
    /// `None`: every path.
    patterns: Option<&'m PathPatterns<'m>>,
    exceptions: &'m PathPatterns<'m>,
    /// Files that do not exist yet do not count.
    skips_new: bool,
    scene: &'m Scene<'s>,
}

enum PathMatch {
    No,
    /// It depends on what the words do not say.
    Unknown,
    Yes(PathBuf),
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
        PathUse::Show | PathUse::Send => PathUse::Read,
        path_use => path_use,
    };
    let mut used = UsedPaths::new(path_use, scene);
    used.collect(command, key.patterns);
    if key.patterns.iter().any(|pattern| pattern.text == "<outside>") {
        used.collect_known_directories(command);
    }
    let mut result = if used.is_unknown { KeyMatch::Unknown } else { KeyMatch::No };
    if used.paths.is_empty() {
        return Ok(result);
    }
    // A rule with a broken pattern decides nothing; `config check` reports it.
    let (Ok(patterns), Ok(exceptions)) =
        (PathPatterns::parse(key.patterns), PathPatterns::parse(key.exceptions))
    else {
        return Ok(KeyMatch::No);
    };
    let matcher = PathMatcher {
        patterns: Some(&patterns).filter(|_| !key.patterns.is_empty()),
        exceptions: &exceptions,
        skips_new: subject.unless.contains(&Unless::New),
        scene,
    };
    for used in &used.paths {
        if subject.unless.contains(&Unless::Kept) && keeps_content(used, command) {
            continue;
        }
        let path = match matcher.match_path(used) {
            PathMatch::No => continue,
            PathMatch::Unknown => {
                result = KeyMatch::Unknown;
                continue;
            }
            PathMatch::Yes(path) => path,
        };
        if let Some(adds) = key.adds
            && !adds_line(adds, used, scene)?
        {
            continue;
        }
        let shown = path.strip_prefix(&scene.workspace.project).unwrap_or(&path);
        return Ok(KeyMatch::Yes(format!("{} {}", used.verb, text::make_one_line(&shown.to_string_lossy()))));
    }
    Ok(result)
}

impl PathMatcher<'_, '_> {
    fn match_path(&self, used: &UsedPath<'_>) -> PathMatch {
        let path = &used.path;
        let yes = |is_match: bool| if is_match { PathMatch::Yes(path.clone()) } else { PathMatch::No };
        match &used.contents {
            Contents::Nothing => yes(self.is_meant(path) && !(self.skips_new && self.is_new(used))),
            Contents::All => self.match_tree(used),
            Contents::Unknown => self.match_unknown_below(path),
            Contents::Some { fits, counts_any } if !self.scene.is_example => {
                let is_meant = |path: &Path| self.is_meant(path) && fits(path);
                let is_clear = if *counts_any { self.matches_any_below(path) } else { is_meant(path) };
                yes(is_clear || self.has_path_below(path, is_meant))
            }
            Contents::Some { .. } => {
                yes(self.is_meant(path) || self.is_meant(&path.join("*")) || self.names_path_below(path))
            }
        }
    }

    /// Whether the patterns name a path, and the exceptions do not.
    fn is_meant(&self, path: &Path) -> bool {
        let roots = self.scene.roots();
        self.patterns.is_none_or(|patterns| patterns.matches(path, roots))
            && !self.exceptions.matches(path, roots)
    }

    /// A directory with everything in it.
    fn match_tree(&self, used: &UsedPath<'_>) -> PathMatch {
        let (path, scene) = (&used.path, self.scene);
        // An exception for all that a directory holds is one for the directory.
        if self.exceptions.matches(&path.join("*"), scene.roots()) {
            return PathMatch::No;
        }
        let is_on_disk = !scene.is_example && self.skips_new;
        if self.is_meant(path) && !(self.skips_new && self.is_new(used))
            || self.names_path_below(path) && !is_on_disk
            || self.matches_any_below(path) && !scene.is_file(path)
        {
            return PathMatch::Yes(path.clone());
        }
        let has_more = !scene.is_example && self.has_path_below(path, |path| self.is_meant(path));
        match has_more {
            false => PathMatch::No,
            // Which of the files below are overwritten is not known.
            true if self.skips_new && used.verb == "writes" => PathMatch::Unknown,
            true => PathMatch::Yes(path.clone()),
        }
    }

    /// Files below a directory whose names nobody knows.
    fn match_unknown_below(&self, directory: &Path) -> PathMatch {
        let any = directory.join("*");
        if self.matches_any_below(directory) {
            return PathMatch::Yes(any);
        }
        let roots = self.scene.roots();
        let may_match = self.patterns.is_none_or(|patterns| patterns.may_match_below(directory, roots));
        let is_excepted = self.exceptions.matches(&any, roots);
        if (may_match || self.is_meant(&any)) && !is_excepted { PathMatch::Unknown } else { PathMatch::No }
    }

    /// Whether any file in a directory matches.
    fn matches_any_below(&self, directory: &Path) -> bool {
        !self.skips_new && self.is_meant(&directory.join("*"))
    }

    /// Whether the disk has a path below a directory that is accepted. What no pattern can name is not searched.
    fn has_path_below(&self, directory: &Path, accept: impl Fn(&Path) -> bool) -> bool {
        let roots = self.scene.roots();
        let may_contain = |directory: &Path| {
            self.patterns.is_none_or(|patterns| patterns.may_match_below(directory, roots))
        };
        self.scene.workspace.has_path_below(directory, may_contain, accept)
    }

    fn names_path_below(&self, path: &Path) -> bool {
        self.patterns.is_some_and(|patterns| patterns.names_path_below(path, self.scene.roots()))
    }

    /// Whether nothing is there yet that the command would change.
    fn is_new(&self, used: &UsedPath<'_>) -> bool {
        // Writing a directory that exists creates something in it, and that is judged by its own path.
        !self.scene.exists(&used.path) || used.verb == "writes" && self.scene.is_directory(&used.path)
    }
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
    let is_showing = |(program, arguments): (&str, &[String])| match program {
        "git" => {
            arguments.iter().any(|word| matches!(&**word, "diff" | "show" | "blame" | "grep" | "annotate"))
        }
        program => SHOWING_PROGRAMS.contains(&program),
    };
    command.programs().next().is_none() || command.programs().any(is_showing)
}

/// Whether the file keeps what it holds.
fn keeps_content(used: &UsedPath<'_>, command: &CommandEffects<'_>) -> bool {
    const PROGRAMS: &[&str] =
        &["chmod", "chown", "chgrp", "chattr", "setfacl", "touch", "mkdir", "mkfifo", "git", "flock"];
    // The shell redirects the output before the program runs.
    let mut redirections = command.effects.iter().take_while(|effect| !matches!(effect, Effect::Run { .. }));
    let is_redirected = redirections.any(|effect| match effect {
        Effect::Write { content, .. } => used.content.is_some_and(|used| core::ptr::eq(used, content)),
        _ => false,
    });
    match used.content {
        Some(WriteContent::Known { append: true, .. }) => true,
        Some(WriteContent::Unknown) | None => {
            !is_redirected && command.programs().any(|(program, _)| PROGRAMS.contains(&program))
        }
        Some(_) => false,
    }
}

//! Whether a command reads, writes or deletes a file that a rule names.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::added_lines::adds_line;
use super::call::KeyMatch;
use super::find_reading::collect_found;
use super::scene::{CommandEffects, Scene};
use super::used_paths::{Contents, UsedPath, UsedPaths};
use provost_core::effect::{Effect, WriteContent};
use provost_core::opinion::Fault;
use provost_core::places::is_within;
use provost_core::rules::path_pattern::PathPatterns;
use provost_core::rules::{RuleRegex, RuleSubject, RuleText, SHOWING_PROGRAMS, Unless};
use provost_core::text;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathUse {
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
    /// A directory counts for every file that the disk has in it, and not only for what the patterns name.
    counts_unnamed: bool,
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
        PathUse::Show
            if !shows(command)
                || becomes_variables(command, scene)
                || stays_in_place(command, key.patterns, scene) =>
        {
            return Ok(KeyMatch::No);
        }
        PathUse::Show | PathUse::Send => PathUse::Read,
        path_use => path_use,
    };
    let mut used = UsedPaths::new(path_use, scene);
    used.collect(command, key.patterns);
    // The built-in rules have rules of their own for it, which need no search of the disk.
    if key.path_use == PathUse::Read {
        collect_found(&mut used, command, key.patterns);
    }
    if matches!(key.path_use, PathUse::Show | PathUse::Send) {
        let identities = list_identity_files(command, scene);
        used.paths.retain(|used| !identities.contains(&used.path));
    }
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
        counts_unnamed: match key.path_use {
            PathUse::Show => false,
            PathUse::Send => !is_deployment(command, scene),
            _ => true,
        },
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
            && !adds_line(adds, used, scene)
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
            Contents::Some { fits, .. } => {
                let names_path = || {
                    let roots = self.scene.roots();
                    let names =
                        |patterns: &PathPatterns<'_>| patterns.names_accepted_path_below(path, roots, fits);
                    self.patterns.is_some_and(names)
                };
                yes(self.is_meant(path) && fits(path) || self.is_meant(&path.join("*")) || names_path())
            }
        }
    }

    /// Whether the patterns name a path, and the exceptions do not.
    fn is_meant(&self, path: &Path) -> bool {
        let roots = self.scene.roots();
        // A device keeps nothing.
        self.patterns.map_or(!path.starts_with("/dev"), |patterns| patterns.matches(path, roots))
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
        let searches = self.counts_unnamed && !scene.is_example;
        let has_more = searches && self.has_path_below(path, |path| self.is_meant(path));
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

/// Whether what is sent goes to a machine or store that a project is copied to in everyday work.
fn is_deployment(command: &CommandEffects<'_>, scene: &Scene<'_>) -> bool {
    const PROGRAMS: &[&str] =
        &["ssh", "scp", "sftp", "rsync", "aws", "gsutil", "gcloud", "rclone", "s3cmd", "mc", "gh"];
    let sending = scene.commands().iter().filter(|other| {
        other.number == command.number || scene.event.line().feeds(command.number, other.number)
    });
    let mut programs = sending.flat_map(|command| &command.effects).filter_map(|effect| match effect {
        Effect::Send { program, .. } => Some(program.as_str()),
        _ => None,
    });
    programs.all(|program| PROGRAMS.contains(&program))
}

/// Whether what a command prints becomes variables for programs: `export $(cat .env | xargs)`, `env $(cat .env) make`.
fn becomes_variables(command: &CommandEffects<'_>, scene: &Scene<'_>) -> bool {
    let is_setter = |other: &CommandEffects<'_>| {
        let mut programs = other.programs().map(|(program, _)| program);
        match programs.next() {
            Some("export") => true,
            // Without a program to start, it prints them.
            Some("env") => programs.next().is_some(),
            _ => false,
        }
    };
    let mut setters = scene.commands().iter().filter(|other| is_setter(other));
    setters
        .any(|other| other.number != command.number && scene.event.line().feeds(command.number, other.number))
}

/// Whether a command copies or moves files only to where the same patterns protect them: `cp .env .env.bak`.
fn stays_in_place(command: &CommandEffects<'_>, patterns: &[RuleText], scene: &Scene<'_>) -> bool {
    let mut programs = command.programs();
    let moves = match (programs.next(), programs.next()) {
        (Some(("cp" | "install", _)), None) => false,
        (Some(("mv", _)), None) => true,
        _ => return false,
    };
    let Ok(patterns) = PathPatterns::parse(patterns) else { return false };
    let mut targets = command.effects.iter().filter_map(|effect| match effect {
        Effect::Place { to, .. } => Some(scene.resolve(to)),
        _ => None,
    });
    let is_protected = |path: PathBuf| {
        if scene.is_directory(&path) {
            // There the file keeps its name.
            moves && is_within(&path, &scene.workspace.project)
        } else {
            patterns.matches(&path, scene.roots())
        }
    };
    targets.next().is_some_and(is_protected) && targets.all(is_protected)
}

/// Whether a search only says whether, how often or in which files it finds something: `grep -q`, `grep -c`, `rg -l`.
fn is_silent_search(program: &str, arguments: &[String]) -> bool {
    const LONG: &[&str] =
        &["--quiet", "--silent", "--count", "--files-with-matches", "--files-without-match"];
    /// Letters that take the rest of the word.
    const WITH_VALUE: &[char] = &['A', 'B', 'C', 'D', 'd', 'e', 'f', 'g', 'm', 't'];
    let is_silent_letter =
        |letter: char| "qc".contains(letter) || letter == 'l' || letter == 'L' && program != "rg";
    let has_letter = |word: &String| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        letters.chars().take_while(|letter| !WITH_VALUE.contains(letter)).any(is_silent_letter)
    };
    let mut words = arguments.iter().take_while(|word| *word != "--");
    matches!(program, "grep" | "egrep" | "fgrep" | "zgrep" | "rg")
        && words.any(|word| LONG.contains(&&**word) || has_letter(word))
}

/// Whether a command shows or copies what it reads. A tool that is not a command always does.
fn shows(command: &CommandEffects<'_>) -> bool {
    let is_showing = |(program, arguments): (&str, &[String])| match program {
        "git" => {
            arguments.iter().any(|word| matches!(&**word, "diff" | "show" | "blame" | "grep" | "annotate"))
        }
        program => SHOWING_PROGRAMS.contains(&program) && !is_silent_search(program, arguments),
    };
    command.programs().next().is_none() || command.programs().any(is_showing)
}

/// The files by which a client of a network proves who it is, or knows the other side. They are neither shown nor sent.
fn list_identity_files(command: &CommandEffects<'_>, scene: &Scene<'_>) -> Vec<PathBuf> {
    const SSH: &[&str] = &["-i", "-F"];
    const TLS: &[&str] = &[
        "--cacert",
        "--capath",
        "--cert",
        "-E",
        "--key",
        "--crlfile",
        "--netrc-file",
        "--ca-certificate",
        "--certificate",
        "--private-key",
    ];
    let mut found = Vec::new();
    for effect in &command.effects {
        let Effect::Run { program, arguments, directory, .. } = effect else { continue };
        let options = match program.rsplit('/').next() {
            Some("ssh" | "scp" | "sftp" | "rsync") => SSH,
            Some("curl" | "wget" | "http" | "https" | "xh") => TLS,
            _ => continue,
        };
        let from = directory.as_deref().unwrap_or(&scene.event.cwd);
        for (at, word) in arguments.iter().enumerate() {
            let (name, attached) =
                word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
            if options.contains(&name) {
                let value = attached.or_else(|| arguments.get(at + 1).map(String::as_str));
                found.extend(value.map(|value| scene.resolve(&from.join(value))));
            }
        }
    }
    found
}

/// Whether the file keeps what it holds.
pub(crate) fn keeps_content(used: &UsedPath<'_>, command: &CommandEffects<'_>) -> bool {
    const PROGRAMS: &[&str] =
        &["chmod", "chown", "chgrp", "chattr", "setfacl", "touch", "mkdir", "mkfifo", "git", "flock"];
    // The shell redirects the output before the program runs.
    let mut redirections = command.effects.iter().take_while(|effect| !matches!(effect, Effect::Run { .. }));
    let is_redirected = redirections.any(|effect| match effect {
        Effect::Write { content, .. } => used.content.is_some_and(|used| core::ptr::eq(used, content)),
        _ => false,
    });
    // Without `-f`, `ln` refuses to replace a file.
    let mut links = command.programs().filter(|(program, _)| *program == "ln");
    let is_forced = |word: &String| {
        word == "--force" || !word.starts_with("--") && word.starts_with('-') && word.contains('f')
    };
    if links.next().is_some_and(|(_, words)| !words.iter().any(is_forced)) && used.content.is_none() {
        return true;
    }
    if used.verb == "deletes" {
        return command.programs().any(|(program, _)| program == "mv");
    }
    // `git log --output=FILE` overwrites the file.
    let has_output = || {
        let mut words = command.programs().flat_map(|(_, arguments)| arguments);
        words.any(|word| word.starts_with("--output"))
    };
    match used.content {
        Some(WriteContent::Known { append: true, .. } | WriteContent::Copied { append: true, .. }) => true,
        Some(WriteContent::Unknown) | None => {
            !is_redirected
                && !has_output()
                && command.programs().any(|(program, _)| PROGRAMS.contains(&program))
        }
        Some(_) => false,
    }
}

//! Whether a command reads, writes or deletes a file that a rule names, and which lines it adds.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::scene::Scene;
use crate::shell_words::{expand_braces, read_written_word};
use provost_core::effect::{self, Effect, FileChange, ProposedContent, ReadScope, WriteContent};
use provost_core::opinion::Fault;
use provost_core::rules::path_pattern::PathPatterns;
use provost_core::rules::{RuleSubject, RuleText, Unless};
use provost_core::text;
use provost_core::tool::Tool;
use regex_lite::Regex;

/// The largest file whose lines are compared with those of an edit.
const LARGEST_FILE: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathUse {
    Read,
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
    pub(super) adds: Option<&'a RuleText>,
}

pub(super) enum PathMatch {
    No,
    Unknown,
    Yes(String),
}

/// A path that a command uses.
struct UsedPath<'a> {
    path: PathBuf,
    /// Everything below it is used too.
    has_contents: bool,
    /// The content, if the path is written.
    content: Option<&'a WriteContent>,
    verb: &'static str,
}

pub(super) fn match_paths(
    key: &PathKey<'_>,
    subject: &RuleSubject,
    command: &[&Effect],
    scene: &Scene<'_>,
) -> Result<PathMatch, Fault> {
    let (mut used, mut is_unknown) = (Vec::new(), false);
    for effect in command {
        collect_paths(effect, key.path_use, scene, &mut used, &mut is_unknown);
    }
    if used.is_empty() {
        return Ok(if is_unknown { PathMatch::Unknown } else { PathMatch::No });
    }
    // A rule with a broken pattern decides nothing; `config check` reports it.
    let (Ok(patterns), Ok(exceptions)) =
        (PathPatterns::parse(key.patterns), PathPatterns::parse(key.exceptions))
    else {
        return Ok(PathMatch::No);
    };
    for used in used {
        let is_named = key.patterns.is_empty() || is_path_matched(&patterns, &used, scene);
        if !is_named || exceptions.matches(&used.path, scene.roots()) {
            continue;
        }
        if subject.unless.contains(&Unless::New) && !scene.exists(&used.path) {
            continue;
        }
        if let Some(adds) = key.adds
            && !adds_line(adds, &used, scene)?
        {
            continue;
        }
        let shown = used.path.strip_prefix(&scene.workspace.project).unwrap_or(&used.path);
        return Ok(PathMatch::Yes(format!(
            "{} {}",
            used.verb,
            text::make_one_line(&shown.to_string_lossy())
        )));
    }
    Ok(if is_unknown { PathMatch::Unknown } else { PathMatch::No })
}

fn is_path_matched(patterns: &PathPatterns<'_>, used: &UsedPath<'_>, scene: &Scene<'_>) -> bool {
    let roots = scene.roots();
    if patterns.matches(&used.path, roots) {
        return true;
    }
    used.has_contents
        && (patterns.names_path_below(&used.path, roots)
            || !scene.is_example
                && scene.workspace.has_path_below(&used.path, |path| patterns.matches(path, roots)))
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
        PathUse::Read => (true, false, false),
        PathUse::Write => (false, true, false),
        PathUse::Delete => (false, false, true),
        PathUse::Change => (false, true, true),
    };
    let mut push = |path: PathBuf, has_contents, content, verb| {
        used.push(UsedPath { path, has_contents, content, verb });
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
            let words = read_written_word(target, scene.workspace).filter(|word| !word.contains(['$', '`']));
            let words = words.and_then(|word| expand_braces(&word)).filter(|_| !places.is_empty());
            let Some(words) = words else {
                *is_unknown = true;
                return;
            };
            for (place, word) in places.iter().flat_map(|place| words.iter().map(move |word| (place, word))) {
                let target = place.join(word);
                if scene.is_example {
                    // Everything below the part that is known.
                    let known: PathBuf =
                        target.components().take_while(|part| !is_wildcard(part.as_os_str())).collect();
                    push(scene.resolve(&known), true, None, verb);
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
}

fn is_wildcard(name: &std::ffi::OsStr) -> bool {
    name.to_string_lossy().contains(['*', '?', '['])
}

/// Whether a write adds a line that a regular expression matches.
fn adds_line(adds: &RuleText, used: &UsedPath<'_>, scene: &Scene<'_>) -> Result<bool, Fault> {
    let Some(content) = used.content else { return Ok(false) };
    let Ok(pattern) = Regex::new(&adds.text) else { return Ok(false) };
    let old = || read_current(&used.path, scene);
    let matches_new = |new: &str, old: &str| {
        let old: std::collections::HashSet<&str> = old.lines().collect();
        new.lines().any(|line| !old.contains(line) && pattern.is_match(line))
    };
    Ok(match (content, scene.event.call()) {
        (WriteContent::InCall, Some(call)) => {
            let old = old()?;
            match effect::compute_proposed_content(&call.tool, old.as_deref()) {
                ProposedContent::Text(new) => matches_new(&new, old.as_deref().unwrap_or_default()),
                ProposedContent::Unknown => match &call.tool {
                    Tool::Edit { replacements, .. } => {
                        replacements.iter().any(|replacement| matches_new(&replacement.new, &replacement.old))
                    }
                    _ => false,
                },
            }
        }
        (WriteContent::Known { text, .. }, _) => matches_new(text, old()?.as_deref().unwrap_or_default()),
        (WriteContent::Adds { text }, _) => matches_new(text, ""),
        _ => false,
    })
}

fn read_current(path: &Path, scene: &Scene<'_>) -> Result<Option<String>, Fault> {
    if scene.is_example { Ok(None) } else { scene.workspace.read_text(path, LARGEST_FILE) }
}

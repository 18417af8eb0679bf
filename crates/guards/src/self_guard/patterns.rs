//! Refuses targets whose names only the shell knows: patterns, braces, a variable in front.
//!
//! Most of them mean other files, so a target is refused only if it surely reaches a protected file: its last names
//! are protected in every directory, or it is a pattern that matches an existing file.

use crate::prelude::*;
use crate::shell_words::{expand_braces, expand_prefix, read_written_word};
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use super::protected::{ExistingFile, Protected, Protection};
use super::refusal::{ProtectedFile, Refusal, Refused};
use super::tools::{ToolCheck, find_deletion_losses};
use provost_core::effect::FileChange;
use provost_core::glob::matches_glob;
use provost_core::opinion::Fault;
use provost_core::workspace::Workspace;

/// A protected path that a target may be, and what it is.
type Reached = Option<(PathBuf, ProtectedFile)>;

impl ToolCheck<'_> {
    /// `target` is the word as written, between backticks. `places` are the directories that it may be relative to.
    pub(super) fn refuse_pattern(&self, target: &str, places: &[PathBuf], change: FileChange) -> Refused {
        let Some(plain) = read_written_word(target, self.workspace) else { return Ok(None) };
        let refuse = |(path, file): (PathBuf, ProtectedFile)| {
            Refusal::for_own_file("changed", &path, file, self.workspace)
        };
        if plain.contains(['$', '`']) {
            let is_program = looks_up_provost(&plain, self.workspace);
            let program = is_program.then(|| (PathBuf::from(&plain), ProtectedFile::Program));
            return Ok(program.or_else(|| match_by_end(&plain, self.protected_files())).map(refuse));
        }
        let words = match change {
            // `cp a{,.bak}`: the last word is the target, the others are read.
            FileChange::Place => expand_braces(&plain).map(|mut words| words.pop().into_iter().collect()),
            FileChange::Write | FileChange::Delete => expand_braces(&plain),
        };
        let Some(words) = words else {
            return Ok(Some(Refusal::for_oversized("a word with so many alternatives in braces")));
        };
        for word in words.into_iter().map(PathBuf::from) {
            let places = if word.is_absolute() { &[PathBuf::from("/")][..] } else { places };
            for pattern in places.iter().map(|place| place.join(&word)) {
                if let Some(reached) = self.match_pattern(&pattern, change)? {
                    return Ok(Some(refuse(reached)));
                }
            }
        }
        Ok(None)
    }

    fn match_pattern(&self, pattern: &Path, change: FileChange) -> Result<Reached, Fault> {
        let (workspace, protected) = (self.workspace, self.protected_files());
        let parts: Vec<Component> = pattern.components().collect();
        let is_pattern = |part: &Component| part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
        let Some(first) = parts.iter().position(is_pattern) else {
            // With braces alone, the word is a plain name by now.
            let real = workspace.resolve(pattern);
            let is_deletion = change == FileChange::Delete;
            return Ok(match protected.find_protection(pattern, &real)? {
                Protection::Own(file) => Some((real, file)),
                Protection::Settings if is_deletion && find_deletion_losses(&real, workspace)?.is_empty() => {
                    None
                }
                Protection::Settings if workspace.exists(&real) => Some((real, ProtectedFile::Settings)),
                _ if is_deletion => self.match_names(&split_names(&real), change)?,
                _ => None,
            });
        };
        if let Some(found) = match_by_end(&pattern.to_string_lossy(), protected) {
            return Ok(Some(found));
        }
        let above: PathBuf = parts[..first].iter().collect();
        let above = protected.resolve_directory(&above);
        if protected.is_closed(&above) {
            return Ok(Some((above, ProtectedFile::OwnDirectory)));
        }
        let mut wanted = split_names(&above);
        for part in &parts[first..] {
            match part {
                Component::ParentDir => drop(wanted.pop()),
                part => wanted.push(part.as_os_str().to_string_lossy()),
            }
        }
        self.match_names(&wanted, change)
    }

    /// An existing protected file that the names match. A deletion also takes everything below the matched path.
    fn match_names(&self, wanted: &[Cow<'_, str>], change: FileChange) -> Result<Reached, Fault> {
        let is_deletion = change == FileChange::Delete;
        for ExistingFile { path, names, is_settings } in self.protected_files().existing() {
            let reaches = names.len() == wanted.len() || is_deletion && names.len() > wanted.len();
            if !reaches || !wanted.iter().zip(names).all(|(wanted, name)| matches_glob(wanted, name)) {
                continue;
            }
            if *is_settings && is_deletion && find_deletion_losses(path, self.workspace)?.is_empty() {
                continue;
            }
            return Ok(Some((path.clone(), ProtectedFile::Decides)));
        }
        Ok(None)
    }
}

/// A protected name at the end of a word, after a variable or a pattern: `$ROOT/provost.toml`.
fn match_by_end(word: &str, protected: &Protected) -> Reached {
    let is_plain = |part: &&str| !part.contains(['$', '`', '*', '?', '[', '{', '}', '(', ')']);
    let mut plain: Vec<&str> = word.rsplit('/').take_while(is_plain).collect();
    plain.reverse();
    let end: PathBuf = plain.iter().collect();
    let has_prefix = plain.len() < word.split('/').count();
    (has_prefix && protected.is_protected_name(&end)).then_some((end, ProtectedFile::DecidesByName))
}

/// Whether a word is the output of a command that looks up Provost's program: `$(command -v provost)`. A directory of
/// that name, or the output of Provost itself, does not count.
fn looks_up_provost(word: &str, workspace: &Workspace) -> bool {
    const LOOK_UP: &[&str] = &["which", "command", "type", "whence", "whereis", "readlink", "realpath"];
    let inside = word.split_once("$(").or_else(|| word.split_once('`')).map_or("", |(_, inside)| inside);
    let Some((inside, after)) = inside.rsplit_once([')', '`']) else { return false };
    let is_file = if inside.contains("dirname") { after.ends_with("/provost") } else { after.is_empty() };
    let mut words = inside.split(|c: char| c.is_whitespace() || "$()`;|&".contains(c));
    let is_own = |path: &str| {
        let path = expand_prefix(path, workspace);
        let own = workspace.own_program().and_then(|own| workspace.find_identity(&own));
        own.is_some() && path.starts_with('/') && workspace.find_identity(Path::new(&*path)) == own
    };
    is_file
        && words.any(|word| LOOK_UP.contains(&word))
        && words.any(|word| word == "provost" || word.ends_with("/provost") && is_own(word))
}

fn split_names(path: &Path) -> Vec<Cow<'_, str>> {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect()
}

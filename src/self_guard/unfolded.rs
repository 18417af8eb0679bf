//! Targets whose names only the shell will know: patterns, braces, a variable in front.
//!
//! Most of them mean something else, so a target is held back only if it surely reaches a protected file:
//! by a name at its end that is protected everywhere, or by a pattern that fits a file which is there.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use super::LARGEST_SETTINGS;
use super::protected::{Existing, Meaning, Protected};
use super::refusal::Thing;
use super::tools::altered;
use crate::decision::Fault;
use crate::effect::Deed;
use crate::glob::is_like;
use crate::workspace::Workspace;

/// A word with more alternatives in braces, or longer ones, cannot be looked at.
const MOST_ALTERNATIVES: usize = 1000;
const LONGEST_ALTERNATIVES: usize = 1 << 20;

pub(super) enum Reached {
    /// The protected path that a target may be, and what it is.
    Path(PathBuf, Thing),
    /// More names than can be looked at.
    TooMany,
}

/// What a target reaches. `target` is the word as it is written, between backticks; `places` are the
/// directories that it may be seen from.
pub(super) fn reached(
    (target, places, deed): (&str, &[PathBuf], Deed),
    protected: &Protected,
    workspace: &Workspace,
) -> Result<Option<Reached>, Fault> {
    let written = target.strip_prefix('`').and_then(|rest| rest.split_at_checked(rest.rfind('`')?));
    let Some((written, _)) = written else { return Ok(None) };
    let plain: String = written.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
    let plain = without_known_front(&plain, workspace);
    if plain.contains(['$', '`']) {
        let is_asked = asks_for_provost(&plain, workspace);
        let asked = is_asked.then(|| (PathBuf::from(&*plain), Thing::Program));
        let found = asked.or_else(|| by_its_end(&plain, protected));
        return Ok(found.map(|(path, thing)| Reached::Path(path, thing)));
    }
    let words = match deed {
        // `cp a{,.bak}`: the last word is where it goes, the others are read.
        Deed::Place => alternatives(&plain).map(|mut words| words.pop().into_iter().collect()),
        Deed::Write | Deed::Delete => alternatives(&plain),
    };
    let Some(words) = words else { return Ok(Some(Reached::TooMany)) };
    for word in words.into_iter().map(PathBuf::from) {
        let places = if word.is_absolute() { &[PathBuf::from("/")][..] } else { places };
        for pattern in places.iter().map(|place| place.join(&word)) {
            if let Some((path, thing)) = by_pattern(&pattern, deed, protected, workspace)? {
                return Ok(Some(Reached::Path(path, thing)));
            }
        }
    }
    Ok(None)
}

/// The word without what every shell puts in front of it: the home by its name, the directory by none.
fn without_known_front<'a>(word: &'a str, workspace: &Workspace) -> Cow<'a, str> {
    let behind = |fronts: &[&str]| fronts.iter().find_map(|front| word.strip_prefix(front));
    if let Some(below) = behind(&["$PWD/", "${PWD}/", "~+/"]) {
        return Cow::Borrowed(below.trim_start_matches('/'));
    }
    match (
        behind(&["~/", "$HOME/", "${HOME}/"]),
        workspace.places.home.as_ref().and_then(|home| home.to_str()),
    ) {
        (Some(below), Some(home)) => Cow::Owned(format!("{home}/{below}")),
        _ => Cow::Borrowed(word),
    }
}

/// Behind a variable or a pattern the last names may be plain: `$ROOT/provost.toml`.
fn by_its_end(word: &str, protected: &Protected) -> Option<(PathBuf, Thing)> {
    let is_plain = |part: &&str| !part.contains(['$', '`', '*', '?', '[', '{', '}', '(', ')']);
    let mut plain: Vec<&str> = word.rsplit('/').take_while(is_plain).collect();
    plain.reverse();
    let end: PathBuf = plain.iter().collect();
    let has_front = plain.len() < word.split('/').count();
    let is_meant = has_front && protected.is_named_so(&end);
    is_meant.then_some((end, Thing::DecidesByName))
}

/// What a command prints that looks Provost up is Provost: `$(command -v provost)`. A directory of that name,
/// or what Provost itself prints, is not.
fn asks_for_provost(word: &str, workspace: &Workspace) -> bool {
    const LOOK_UP: &[&str] = &["which", "command", "type", "whence", "whereis", "readlink", "realpath"];
    let inside = word.split_once("$(").or_else(|| word.split_once('`')).map_or("", |(_, inside)| inside);
    let Some((inside, behind)) = inside.rsplit_once([')', '`']) else { return false };
    let is_file = if inside.contains("dirname") { behind.ends_with("/provost") } else { behind.is_empty() };
    let mut words = inside.split(|c: char| c.is_whitespace() || "$()`;|&".contains(c));
    let is_own = |path: &str| {
        let path = without_known_front(path, workspace);
        let own = workspace.program().and_then(|own| workspace.identity(&own));
        own.is_some() && path.starts_with('/') && workspace.identity(Path::new(&*path)) == own
    };
    is_file
        && words.any(|word| LOOK_UP.contains(&word))
        && words.any(|word| word == "provost" || word.ends_with("/provost") && is_own(word))
}

fn by_pattern(
    pattern: &Path,
    deed: Deed,
    protected: &Protected,
    workspace: &Workspace,
) -> Result<Option<(PathBuf, Thing)>, Fault> {
    let parts: Vec<Component> = pattern.components().collect();
    let is_pattern = |part: &Component| part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let Some(first) = parts.iter().position(is_pattern) else {
        // Braces alone are names.
        let real = workspace.resolve(pattern);
        return Ok(match protected.meaning(pattern, &real)? {
            Meaning::Own(thing) => Some((real, thing)),
            Meaning::Settings if deed == Deed::Delete && !holds_hooks(&real, workspace)? => None,
            Meaning::Settings if workspace.exists(&real) => Some((real, Thing::Settings)),
            _ if deed == Deed::Delete => by_names(&names(&real), deed, protected, workspace)?,
            _ => None,
        });
    };
    if let Some(found) = by_its_end(&pattern.to_string_lossy(), protected) {
        return Ok(Some(found));
    }
    let above: PathBuf = parts[..first].iter().collect();
    let above = protected.resolved(&above);
    if protected.is_closed(&above) {
        return Ok(Some((above, Thing::OwnDirectory)));
    }
    let mut wanted = names(&above);
    for part in &parts[first..] {
        match part {
            Component::ParentDir => drop(wanted.pop()),
            part => wanted.push(part.as_os_str().to_string_lossy()),
        }
    }
    by_names(&wanted, deed, protected, workspace)
}

fn names(path: &Path) -> Vec<Cow<'_, str>> {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect()
}

/// A protected file that is there and that the names fit. What is deleted goes with all that is below it.
fn by_names(
    wanted: &[Cow<'_, str>],
    deed: Deed,
    protected: &Protected,
    workspace: &Workspace,
) -> Result<Option<(PathBuf, Thing)>, Fault> {
    for Existing { path, names, is_settings } in protected.existing() {
        let reaches = names.len() == wanted.len() || deed == Deed::Delete && names.len() > wanted.len();
        if !reaches || !wanted.iter().zip(names).all(|(wanted, name)| is_like(wanted, name)) {
            continue;
        }
        if *is_settings && deed == Deed::Delete && !holds_hooks(path, workspace)? {
            continue;
        }
        return Ok(Some((path.clone(), Thing::Decides)));
    }
    Ok(None)
}

/// Whether a settings file is missed when it goes.
fn holds_hooks(file: &Path, workspace: &Workspace) -> Result<bool, Fault> {
    let before = workspace.read_text(file, LARGEST_SETTINGS)?;
    Ok(!altered(before.as_deref(), None, workspace).is_empty())
}

/// The words that braces make, in their order: `{a,b}.toml` is `a.toml` and `b.toml`. None if they are too
/// many.
fn alternatives(word: &str) -> Option<Vec<String>> {
    // Without anything between them they are no braces to the shell, and to find and xargs a word of theirs.
    const EMPTY: &str = "\0";
    if word.matches('{').take(MOST_ALTERNATIVES + 1).count() > MOST_ALTERNATIVES {
        return None;
    }
    let mut open = vec![word.replace("{}", EMPTY)];
    let mut made = Vec::new();
    let mut written = 0;
    while let Some(word) = open.pop() {
        let inner = word.find('}').and_then(|end| Some((word[..end].rfind('{')?, end)));
        let Some((start, end)) = inner else {
            made.push(word.replace(EMPTY, "{}"));
            continue;
        };
        for one in word[start + 1..end].rsplit(',') {
            // A row of letters is any letter.
            let is_row = matches!(one.as_bytes(), [from, b'.', b'.', to, ..]
                if from.is_ascii_alphabetic() && to.is_ascii_alphabetic());
            let one = if is_row { "?" } else { one };
            let made_of = format!("{}{one}{}", &word[..start], &word[end + 1..]);
            written += made_of.len();
            open.push(made_of);
            if written > LONGEST_ALTERNATIVES || open.len() + made.len() > MOST_ALTERNATIVES {
                return None;
            }
        }
    }
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_all_their_words() {
        let mut words = alternatives("{a,b{c,d}}.toml").unwrap();
        assert_eq!(words.last().unwrap(), "bd.toml");
        words.sort();
        words.dedup();
        assert_eq!(words, ["a.toml", "bc.toml", "bd.toml"].map(str::to_owned));
        assert_eq!(alternatives("pr{a..z}v{1..3}").unwrap(), ["pr?v1..3"]);
        assert_eq!(alternatives("{}/{a,{}}").unwrap(), ["{}/a", "{}/{}"]);
    }

    /// None of these may take more time or room than the line is long.
    #[test]
    fn words_beyond_measure_are_told() {
        let long = "x".repeat(500_000);
        assert!(alternatives(&"{a,b}".repeat(20)).is_none());
        assert!(alternatives(&format!("{{{}}}{long}", "a,".repeat(200_000))).is_none());
        assert!(alternatives(&format!("{}{}", "{".repeat(500_000), "}".repeat(500_000))).is_none());
    }
}

//! Targets whose names only the shell will know: patterns, braces, a variable in front.
//!
//! Most of them mean something else, so a target is held back only if it surely reaches a protected file:
//! by a name at its end that is protected everywhere, or by a pattern that fits a file which is there.

use std::path::{Component, Path, PathBuf};

use super::protected::{Meaning, Protected};
use crate::decision::Fault;
use crate::workspace::Workspace;

/// A word with more alternatives in braces is left alone.
const MOST_ALTERNATIVES: usize = 64;

/// The protected path that a target may be, and what it is. `target` is the word as it is written, between
/// backticks; `places` are the directories that it may be seen from.
pub(super) fn reached(
    target: &str,
    places: &[PathBuf],
    protected: &Protected,
    workspace: &Workspace,
) -> Result<Option<(PathBuf, &'static str)>, Fault> {
    let written = target.strip_prefix('`').and_then(|rest| rest.split_at_checked(rest.rfind('`')?));
    let Some((written, _)) = written else { return Ok(None) };
    let plain: String = written.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
    if plain.contains(['$', '`']) {
        let asked = asks_for_provost(&plain).then(|| (PathBuf::from(&plain), "the program that hooks start"));
        return Ok(asked.or_else(|| by_its_end(&plain, protected)));
    }
    for word in alternatives(&plain) {
        let word = match (word.strip_prefix("~/"), &workspace.places.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => PathBuf::from(word),
        };
        let places = if word.is_absolute() { &[PathBuf::from("/")][..] } else { places };
        for pattern in places.iter().map(|place| place.join(&word)) {
            if let Some(found) = by_pattern(&pattern, protected, workspace)? {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// Behind a variable the last names may be plain: `$ROOT/provost.toml`.
fn by_its_end(word: &str, protected: &Protected) -> Option<(PathBuf, &'static str)> {
    let is_plain = |part: &&str| !part.contains(['$', '`', '*', '?', '[', '{', '}', '(', ')']);
    let mut plain: Vec<&str> = word.rsplit('/').take_while(is_plain).collect();
    plain.reverse();
    let end: PathBuf = plain.iter().collect();
    let has_front = plain.len() < word.split('/').count();
    let is_meant = has_front && protected.is_named_so(&end);
    is_meant.then_some((end, "a file that decides on the guards by its name"))
}

/// What a command prints that is asked for Provost is Provost: `$(command -v provost)`.
fn asks_for_provost(word: &str) -> bool {
    let inside = word.split_once("$(").or_else(|| word.split_once('`')).map_or("", |(_, inside)| inside);
    inside.split(|c: char| c.is_whitespace() || matches!(c, ')' | '`' | '/')).any(|part| part == "provost")
}

fn by_pattern(
    pattern: &Path,
    protected: &Protected,
    workspace: &Workspace,
) -> Result<Option<(PathBuf, &'static str)>, Fault> {
    let parts: Vec<Component> = pattern.components().collect();
    let is_pattern = |part: &Component| part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let Some(first) = parts.iter().position(is_pattern) else {
        // Braces alone are names.
        let real = workspace.resolve(pattern);
        return Ok(match protected.meaning(pattern, &real)? {
            Meaning::Own(thing) => Some((real, thing)),
            Meaning::Settings if workspace.exists(&real) => Some((real, "a settings file of the client")),
            _ => None,
        });
    };
    let above: PathBuf = parts[..first].iter().collect();
    let above = workspace.resolve(&above);
    if protected.is_closed(&above) {
        return Ok(Some((above, "a directory of Provost's own")));
    }
    let pattern: PathBuf = above.components().chain(parts[first..].iter().copied()).collect();
    if let Some(shorter) = without_ways_back(&pattern) {
        return by_pattern(&shorter, protected, workspace);
    }
    let fits = |path: &&Path| {
        let names = |path: &Path| {
            let names = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
            names.collect::<Vec<String>>()
        };
        let (wanted, there) = (names(&pattern), names(path));
        wanted.len() == there.len() && wanted.iter().zip(&there).all(|(wanted, name)| is_like(wanted, name))
    };
    Ok(protected.existing().find(fits).map(|path| (path.to_owned(), "a file that decides on the guards")))
}

/// A pattern for the same place that goes into no directory to leave it again: `*/../x` is `x`. `None`: it
/// is one.
fn without_ways_back(pattern: &Path) -> Option<PathBuf> {
    let mut parts = Vec::new();
    for part in pattern.components() {
        match part {
            Component::ParentDir if matches!(parts.last(), Some(Component::Normal(_))) => drop(parts.pop()),
            Component::ParentDir => {}
            other => parts.push(other),
        }
    }
    pattern.components().any(|part| part == Component::ParentDir).then(|| parts.iter().collect())
}

/// The words that braces make: `{a,b}.toml` is `a.toml` and `b.toml`.
fn alternatives(word: &str) -> Vec<String> {
    let mut open = vec![word.to_owned()];
    let mut made = Vec::new();
    while let Some(word) = open.pop() {
        if open.len() + made.len() > MOST_ALTERNATIVES {
            return Vec::new();
        }
        let inner = word.find('}').and_then(|end| Some((word[..end].rfind('{')?, end)));
        let Some((start, end)) = inner else {
            made.push(word);
            continue;
        };
        for one in word[start + 1..end].split(',') {
            open.push(format!("{}{one}{}", &word[..start], &word[end + 1..]));
        }
    }
    made
}

/// Whether a name fits a pattern of the shell. Brackets fit any one character: more is held back, not less.
fn is_like(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let mut signs = Vec::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => signs.push(None),
            '[' if rest.as_str().contains(']') => {
                rest.by_ref().skip(1).find(|c| *c == ']');
                signs.push(Some('?'));
            }
            c => signs.push(Some(c)),
        }
    }
    // Which of the signs may come next, for all names at once: no pattern is slow.
    let mut next = vec![false; signs.len() + 1];
    next[0] = true;
    let skip_stars = |next: &mut Vec<bool>| {
        for at in 0..signs.len() {
            next[at + 1] |= next[at] && signs[at].is_none();
        }
    };
    skip_stars(&mut next);
    for c in name.chars() {
        let mut after = vec![false; signs.len() + 1];
        for (at, sign) in signs.iter().enumerate().filter(|(at, _)| next[*at]) {
            match sign {
                None => after[at] = true,
                Some(wanted) => after[at + 1] |= *wanted == '?' || *wanted == c,
            }
        }
        next = after;
        skip_stars(&mut next);
    }
    next[signs.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_in_a_shell() {
        for pattern in ["*", "prov*", "*.toml", "p?ovost.toml", "pr[ao]vost.toml", "*o*o*", "provost.toml"] {
            assert!(is_like(pattern, "provost.toml"), "{pattern}");
        }
        for pattern in ["*.json", "prov", "?", "provost.toml?", "*x*"] {
            assert!(!is_like(pattern, "provost.toml"), "{pattern}");
        }
        assert!(!is_like("*", ".hidden") && is_like(".*", ".hidden"));
    }

    #[test]
    fn braces_are_all_their_words() {
        let mut words = alternatives("{a,b{c,d}}.toml");
        words.sort();
        words.dedup();
        assert_eq!(words, ["a.toml", "bc.toml", "bd.toml"].map(str::to_owned));
        assert!(alternatives(&"{a,b}".repeat(20)).is_empty());
    }
}

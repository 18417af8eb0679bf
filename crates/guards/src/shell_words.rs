//! The words of a command line that only a shell can expand: a home directory, braces.

use crate::prelude::*;
use std::borrow::Cow;

use provost_core::workspace::Workspace;

/// A word with more alternatives in braces, or longer ones, is refused.
const MOST_ALTERNATIVES: usize = 1000;
const LONGEST_ALTERNATIVES: usize = 1 << 20;

/// The word of an unknown target as a program would get it, without quotes and with its home directory; `target` has it
/// between backticks.
pub(crate) fn read_written_word(target: &str, workspace: &Workspace) -> Option<String> {
    let rest = target.strip_prefix('`')?;
    let written = &rest[..rest.rfind('`')?];
    let plain: String = written.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
    Some(expand_prefix(&plain, workspace).into_owned())
}

/// The word with a prefix that every shell expands: the home directory becomes its path, the current directory
/// nothing.
pub(crate) fn expand_prefix<'a>(word: &'a str, workspace: &Workspace) -> Cow<'a, str> {
    let after = |prefixes: &[&str]| prefixes.iter().find_map(|prefix| word.strip_prefix(prefix));
    if let Some(below) = after(&["$PWD/", "${PWD}/", "~+/", "$(pwd)/", "`pwd`/", "${PWD:?}/", "${PWD%/}/"]) {
        return Cow::Borrowed(below.trim_start_matches('/'));
    }
    let home = workspace.places.home.as_ref().and_then(|home| home.to_str());
    match (after(&["~/", "$HOME/", "${HOME}/", "${HOME:?}/", "${HOME%/}/"]), home) {
        (Some(below), Some(home)) => Cow::Owned(format!("{home}/{below}")),
        _ => expand_other_home(word, home).unwrap_or(Cow::Borrowed(word)),
    }
}

/// `~name`, the home directory of another user. Where it is depends on the machine; most have it beside that of the user.
fn expand_other_home<'a>(word: &str, home: Option<&str>) -> Option<Cow<'a, str>> {
    let rest = word.strip_prefix('~')?;
    let (name, below) = rest.split_once('/').map_or((rest, ""), |(name, below)| (name, below));
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let beside = match home.and_then(|home| home.rsplit_once('/')) {
        Some((above, own)) if own != "root" && !above.is_empty() => above,
        _ => "/home",
    };
    let place = if name == "root" { "/root".to_owned() } else { format!("{beside}/{name}") };
    is_name.then(|| Cow::Owned(if below.is_empty() { place } else { format!("{place}/{below}") }))
}

/// The words that a shell makes of braces, in their order: `{a,b}.toml` is `a.toml` and `b.toml`. `None` if they are
/// too many.
pub(crate) fn expand_braces(word: &str) -> Option<Vec<String>> {
    // The shell keeps `{}` as it is, and find and xargs replace it.
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
            // A range of letters counts as any letter.
            let is_range = matches!(one.as_bytes(), [from, b'.', b'.', to, ..]
                if from.is_ascii_alphabetic() && to.is_ascii_alphabetic());
            let one = if is_range { "?" } else { one };
            let expanded = format!("{}{one}{}", &word[..start], &word[end + 1..]);
            written += expanded.len();
            open.push(expanded);
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
    fn braces_expand_to_all_their_words() {
        let mut words = expand_braces("{a,b{c,d}}.toml").unwrap();
        assert_eq!(words.last().unwrap(), "bd.toml");
        words.sort();
        words.dedup();
        assert_eq!(words, ["a.toml", "bc.toml", "bd.toml"].map(str::to_owned));
        assert_eq!(expand_braces("pr{a..z}v{1..3}").unwrap(), ["pr?v1..3"]);
        assert_eq!(expand_braces("{}/{a,{}}").unwrap(), ["{}/a", "{}/{}"]);
    }

    /// Time and memory stay proportional to the length of the line.
    #[test]
    fn too_many_or_too_long_words_are_not_expanded() {
        let long = "x".repeat(500_000);
        assert!(expand_braces(&"{a,b}".repeat(20)).is_none());
        assert!(expand_braces(&format!("{{{}}}{long}", "a,".repeat(200_000))).is_none());
        assert!(expand_braces(&format!("{}{}", "{".repeat(500_000), "}".repeat(500_000))).is_none());
    }
}

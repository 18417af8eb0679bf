//! Path patterns of rules: the patterns of .gitignore, with bases of their own.
//!
//! A pattern counts from the project's root. `/…` is absolute, `~/…` is the home, `./x` holds only at the root,
//! `<outside>` is everything that is neither in the project nor temporary, `<root>` is the project's root directory itself,
//! and `!` takes out again: the last pattern that
//! matches decides. A pattern that matches a directory matches everything in it. Matching takes time in proportion to
//! pattern and path, and never looks at the disk.

#[cfg(test)]
mod tests;

use std::cell::{LazyCell, OnceCell};
use std::path::{Component, Path, PathBuf};

use super::RuleText;
use crate::places::{is_same_name, is_within};

/// The directories that patterns count from.
pub struct PatternRoots<'a> {
    pub project: PathBuf,
    pub home: Option<PathBuf>,
    /// Directories whose files are temporary. Only `<outside>` needs them.
    pub temporary: LazyPaths<'a>,
    /// The work trees of the project's repository, which are parts of the project. Only `<outside>` needs them.
    pub work_trees: LazyPaths<'a>,
}

/// Directories that are looked up on the disk when they are needed.
pub type LazyPaths<'a> = LazyCell<Vec<PathBuf>, Box<dyn FnOnce() -> Vec<PathBuf> + 'a>>;

/// The patterns of one key.
#[derive(Debug)]
pub struct PathPatterns<'a> {
    patterns: Vec<PathPattern<'a>>,
}

#[derive(Debug)]
struct PathPattern<'a> {
    is_negated: bool,
    base: PatternBase,
    /// The names between slashes; `**` stands for any number of them.
    parts: Vec<&'a str>,
    only_directories: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternBase {
    Project,
    Root,
    Home,
    Outside,
    /// The project's root directory, and nothing in it.
    RootItself,
}

impl<'a> PathPatterns<'a> {
    /// Parses the patterns of a key. An error is the byte in the file, and what is wrong.
    pub fn parse(texts: &'a [RuleText]) -> Result<Self, (usize, String)> {
        let mut patterns = Vec::new();
        for text in texts {
            let (is_negated, rest) =
                text.text.strip_prefix('!').map_or((false, &*text.text), |rest| (true, rest));
            for part in rest.split('|') {
                // `!a|!b` and `!a|b` mean the same.
                let (own, part) = part.strip_prefix('!').map_or((false, part), |part| (true, part));
                let pattern = PathPattern::parse(part.trim(), is_negated || own);
                patterns.push(pattern.map_err(|why| (text.offset, why))?);
            }
        }
        Ok(Self { patterns })
    }

    /// Whether a path matches. It is absolute and has no `..`.
    pub fn matches(&self, path: &Path, roots: &PatternRoots<'_>) -> bool {
        let names = PathNames::new(path, roots);
        self.decide(|pattern| pattern.matches(&names))
    }

    /// The last names of the patterns that have no wildcards in them.
    pub fn list_last_names(&self) -> impl Iterator<Item = &str> {
        let last = self.patterns.iter().filter_map(|pattern| pattern.parts.last().copied());
        last.filter(|name| !name.contains(['*', '?', '[', '\\']))
    }

    /// Whether the words of the patterns name something below a directory: `db/migrations/**` is below `db`.
    pub fn names_path_below(&self, directory: &Path, roots: &PatternRoots<'_>) -> bool {
        let names = PathNames::new(directory, roots);
        self.decide(|pattern| !pattern.is_negated && pattern.names_path_below(&names))
    }

    /// Like `names_path_below`, but a whole path counts only if it is accepted.
    pub fn names_accepted_path_below(
        &self,
        directory: &Path,
        roots: &PatternRoots<'_>,
        accept: impl Fn(&Path) -> bool,
    ) -> bool {
        let names = PathNames::new(directory, roots);
        self.decide(|pattern| {
            let is_named = !pattern.is_negated && pattern.names_path_below(&names);
            is_named && pattern.whole_path(roots).is_none_or(|path| accept(&path))
        })
    }

    /// Whether a path below a directory may match, which need not exist any more.
    pub fn may_match_below(&self, directory: &Path, roots: &PatternRoots) -> bool {
        let names = PathNames::new(directory, roots);
        self.decide(|pattern| !pattern.is_negated && pattern.names_path_below(&names))
            || self.patterns.iter().any(|pattern| !pattern.is_negated && pattern.may_match_below(&names))
    }

    /// The last pattern that matches decides.
    fn decide(&self, matches: impl Fn(&PathPattern<'_>) -> bool) -> bool {
        self.patterns.iter().rev().find(|pattern| matches(pattern)).is_some_and(|pattern| !pattern.is_negated)
    }
}

impl<'a> PathPattern<'a> {
    fn parse(text: &'a str, is_negated: bool) -> Result<Self, String> {
        let named = match text {
            "<outside>" => Some(PatternBase::Outside),
            "<root>" => Some(PatternBase::RootItself),
            _ if text.starts_with('<') => {
                return Err(format!(
                    "`{text}` is not a path; only `<outside>` and `<root>` have such brackets"
                ));
            }
            _ => None,
        };
        if let Some(base) = named {
            return Ok(Self { is_negated, base, parts: Vec::new(), only_directories: false });
        }
        let (base, rest, is_anchored) = if text == "~" {
            (PatternBase::Home, "", true)
        } else if let Some(rest) = text.strip_prefix("~/") {
            (PatternBase::Home, rest, true)
        } else if let Some(rest) = text.strip_prefix('/') {
            (PatternBase::Root, rest, true)
        } else if let Some(rest) = text.strip_prefix("./") {
            (PatternBase::Project, rest, true)
        } else {
            (PatternBase::Project, text, text.trim_end_matches('/').contains('/'))
        };
        let only_directories = rest.ends_with('/');
        let mut parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.contains(&"..") {
            return Err("`..` is not allowed in a pattern".into());
        }
        if text.is_empty() {
            return Err("an empty pattern matches nothing".into());
        }
        if let Some(open) = parts.iter().find(|part| has_open_bracket(part)) {
            return Err(format!("`{open}` has a `[` without `]`"));
        }
        if !is_anchored {
            parts.insert(0, "**");
        }
        Ok(Self { is_negated, base, parts, only_directories })
    }

    fn matches(&self, names: &PathNames<'_, '_>) -> bool {
        let names = match self.base {
            PatternBase::Outside => return is_outside(names.path, names.roots),
            PatternBase::RootItself => return names.path == names.roots.project,
            _ => names.below(self.base),
        };
        let Some(names) = names else { return false };
        // Most patterns fail at a name that has to be in the path.
        let is_literal = |part: &&&str| !part.contains(['*', '?', '[', '\\']);
        if let Some(part) = self.parts.iter().find(is_literal)
            && !names.contains(part)
        {
            return false;
        }
        // A directory that matches contains the path.
        let shortest = usize::from(!self.parts.is_empty());
        let longest = if self.only_directories { names.len().saturating_sub(1) } else { names.len() };
        match self.parts.split_last() {
            // `x/**` is what is in `x`, and not `x` itself.
            Some((&"**", _)) => matches_parts(&self.parts, names) && !self.is_directory_itself(names),
            Some((last, ["**"])) => names[..longest].iter().any(|name| matches_name(last, name)),
            _ => (shortest..=longest).any(|end| matches_parts(&self.parts, &names[..end])),
        }
    }

    fn may_match_below(&self, directory: &PathNames<'_, '_>) -> bool {
        let Some(names) = directory.below(self.base) else {
            return self.base == PatternBase::Outside && is_outside(directory.path, directory.roots);
        };
        let (Some(name), Some(part)) = (names.first(), self.parts.first()) else { return names.is_empty() };
        if *part != "**" && !matches_name(part, name) {
            return false;
        }
        // A pattern that ends with a slash does not match the directory itself.
        (1..=self.parts.len()).any(|end| matches_parts(&self.parts[..end], names))
    }

    /// Whether only `**` at the end would have to match nothing.
    fn is_directory_itself(&self, names: &[&str]) -> bool {
        let end = self.parts.iter().rposition(|part| *part != "**").map_or(0, |last| last + 1);
        let fixed = &self.parts[..end];
        !fixed.contains(&"**") && fixed.len() == names.len()
    }

    /// The path that the pattern names, if it has no wildcards.
    fn whole_path(&self, roots: &PatternRoots<'_>) -> Option<PathBuf> {
        let is_literal = self.parts.iter().all(|part| !part.contains(['*', '?', '[', '\\']));
        let base = match self.base {
            PatternBase::Project => roots.project.clone(),
            PatternBase::Root => PathBuf::from("/"),
            PatternBase::Home => roots.home.clone()?,
            PatternBase::RootItself | PatternBase::Outside => return None,
        };
        (is_literal && !self.parts.is_empty())
            .then(|| self.parts.iter().fold(base, |path, part| path.join(part)))
    }

    fn names_path_below(&self, directory: &PathNames<'_, '_>) -> bool {
        let root = Path::new("/");
        let base = match self.base {
            PatternBase::Project => Some(&*directory.roots.project),
            PatternBase::Root => Some(root),
            PatternBase::Home => directory.roots.home.as_deref(),
            PatternBase::RootItself => {
                let project = &directory.roots.project;
                return *directory.path != **project && is_within(project, directory.path);
            }
            PatternBase::Outside => None,
        };
        let Some(base) = base else { return false };
        let is_literal = |part: &&&str| !part.contains(['*', '?', '[']);
        let literal: Vec<&str> = self.parts.iter().take_while(is_literal).copied().collect();
        // The directory is at or above what the pattern names.
        let (is_above, is_base) = match directory.below(self.base) {
            Some(names) => {
                let is_prefix = names.len() <= literal.len()
                    && names.iter().zip(&literal).all(|(name, part)| is_same_name(name, part));
                (is_prefix, names.is_empty())
            }
            None => (is_within(base, directory.path), false),
        };
        let is_whole_base = self.parts.is_empty() || self.base != PatternBase::Root && !is_base;
        is_above && (!literal.is_empty() || is_whole_base)
    }
}

/// A path and its names below each base, which many patterns ask for.
struct PathNames<'p, 'r> {
    path: &'p Path,
    roots: &'p PatternRoots<'r>,
    known: [OnceCell<Option<Vec<&'p str>>>; 3],
}

impl<'p, 'r> PathNames<'p, 'r> {
    fn new(path: &'p Path, roots: &'p PatternRoots<'r>) -> Self {
        Self { path, roots, known: Default::default() }
    }

    fn below(&self, base: PatternBase) -> Option<&[&'p str]> {
        let at = match base {
            PatternBase::Project => 0,
            PatternBase::Root => 1,
            PatternBase::Home => 2,
            PatternBase::Outside | PatternBase::RootItself => return None,
        };
        self.known[at].get_or_init(|| list_names(base, self.path, self.roots)).as_deref()
    }
}

/// The names of a path below a base.
fn list_names<'p>(base: PatternBase, path: &'p Path, roots: &PatternRoots<'_>) -> Option<Vec<&'p str>> {
    let below = match base {
        PatternBase::Project => path.strip_prefix(&roots.project).ok()?,
        PatternBase::Home => path.strip_prefix(roots.home.as_deref()?).ok()?,
        PatternBase::Root => path,
        PatternBase::Outside | PatternBase::RootItself => return None,
    };
    let names = below.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_str().unwrap_or("\u{fffd}")),
        _ => None,
    });
    Some(names.collect())
}

/// Whether a path is neither in the project nor temporary, and no device.
fn is_outside(path: &Path, roots: &PatternRoots<'_>) -> bool {
    let is_device = path.starts_with("/dev/") && !path.starts_with("/dev/shm");
    !is_device
        && !is_within(path, &roots.project)
        && !roots.temporary.iter().any(|root| is_temporary(path, root, roots))
        && !roots.work_trees.iter().any(|tree| path != tree && is_within(path, tree))
}

/// Whether a path is below a temporary directory. A home in it is not temporary, and neither is what lies beside a project
/// in it.
fn is_temporary(path: &Path, root: &Path, roots: &PatternRoots<'_>) -> bool {
    let kept = [roots.home.as_deref(), roots.project.parent()];
    let is_kept = |kept: &Path| kept != root && is_within(kept, root) && is_within(path, kept);
    path != root && is_within(path, root) && !kept.into_iter().flatten().any(is_kept)
}

pub(super) fn has_open_bracket(part: &str) -> bool {
    let mut rest = part.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => _ = rest.next(),
            '[' => {
                // A bracket right after `[` or `[!` is a character of the set.
                let mut set = rest.clone().skip_while(|c| matches!(c, '!' | '^')).skip(1);
                if !set.any(|c| c == ']') {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether names match parts, where `**` stands for any number of names.
fn matches_parts(parts: &[&str], names: &[&str]) -> bool {
    crate::glob::matches_with_stars(
        parts,
        names.iter().copied(),
        |part| *part == "**",
        |part, name| matches_name(part, name),
    )
}

/// Whether a text matches a pattern with `*`, `?` and sets in brackets, as in .gitignore.
pub fn matches_name(pattern: &str, name: &str) -> bool {
    if !pattern.contains(['*', '?', '[', '\\']) {
        return pattern == name;
    }
    // `*.key` and `id_*` are the most frequent forms.
    let is_plain = |text: &str| !text.contains(['*', '?', '[', '\\']);
    if let Some(end) = pattern.strip_prefix('*').filter(|end| is_plain(end)) {
        return name.ends_with(end);
    }
    if let Some(start) = pattern.strip_suffix('*').filter(|start| is_plain(start)) {
        return name.starts_with(start);
    }
    let signs = parse_signs(pattern);
    crate::glob::matches_with_stars(
        &signs,
        name.chars(),
        |sign| matches!(sign, Sign::Star),
        |sign, c| match sign {
            Sign::One(expected) => *expected == c,
            Sign::Any => true,
            Sign::Set { ranges, is_negated } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *is_negated
            }
            Sign::Star => false,
        },
    )
}

enum Sign {
    One(char),
    Any,
    Star,
    Set { ranges: Vec<(char, char)>, is_negated: bool },
}

fn parse_signs(pattern: &str) -> Vec<Sign> {
    let mut signs = Vec::new();
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        signs.push(match c {
            '*' => Sign::Star,
            '?' => Sign::Any,
            '\\' => Sign::One(rest.next().unwrap_or('\\')),
            '[' => {
                let is_negated = rest.next_if(|c| matches!(c, '!' | '^')).is_some();
                let mut ranges = Vec::new();
                while let Some(from) = rest.next() {
                    if from == ']' && !ranges.is_empty() {
                        break;
                    }
                    if rest.peek() == Some(&'-') && rest.clone().nth(1).is_some_and(|to| to != ']') {
                        rest.next();
                        ranges.push((from, rest.next().unwrap_or(from)));
                    } else {
                        ranges.push((from, from));
                    }
                }
                Sign::Set { ranges, is_negated }
            }
            c => Sign::One(c),
        });
    }
    signs
}

//! Which files git ignores, as far as the usual files say it. Settings that name another file are not read.

use std::path::{Path, PathBuf};

use super::Workspace;
use crate::glob::is_like;

/// No file of patterns that a person writes is larger than this.
const LARGEST: u64 = 1 << 20;

/// Patterns of one file.
struct Patterns<'a> {
    /// The directory that they are seen from, from the top of the work tree.
    base: &'a Path,
    text: String,
}

impl Workspace {
    /// Whether git ignores a file. `path` is seen from `top`; `shared` is the directory that all work trees of
    /// the repository share; `more` are patterns besides those of files.
    pub(super) fn is_ignored(&self, top: &Path, shared: &Path, path: &Path, more: &[String]) -> bool {
        let read = |file: &Path| self.read_text(file, LARGEST).ok().flatten().unwrap_or_default();
        let user = self.variable("XDG_CONFIG_HOME").map(PathBuf::from);
        let user = user.or_else(|| self.places.home.as_ref().map(|home| home.join(".config")));
        let general = user.map(|config| read(&config.join("git/ignore"))).unwrap_or_default();
        let base = Path::new("");
        let mut all = vec![
            Patterns { base, text: general },
            Patterns { base, text: read(&shared.join("info/exclude")) },
        ];
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.reverse();
        all.extend(
            above.iter().map(|base| Patterns { base, text: read(&top.join(base).join(".gitignore")) }),
        );
        all.push(Patterns { base, text: more.join("\n") });
        any_fits(&all, path)
    }
}

/// Whether patterns that a command is given fit a path, whatever else is ignored.
pub(super) fn is_kept(patterns: &[String], path: &Path) -> bool {
    any_fits(&[Patterns { base: Path::new(""), text: patterns.join("\n") }], path)
}

/// The last line that fits decides. What lies in an ignored directory is ignored.
fn any_fits(all: &[Patterns], path: &Path) -> bool {
    let mut levels: Vec<&Path> = path.ancestors().filter(|level| !level.as_os_str().is_empty()).collect();
    levels.reverse();
    levels.iter().any(|level| {
        let is_directory = *level != path;
        let lines = all.iter().flat_map(|patterns| patterns.text.lines().map(|line| (patterns.base, line)));
        lines.fold(false, |ignored, (base, line)| fits(line, base, level, is_directory).unwrap_or(ignored))
    })
}

/// What a line says about a path: ignored, not ignored, or nothing.
fn fits(line: &str, base: &Path, path: &Path, is_directory: bool) -> Option<bool> {
    let line = line.trim_end();
    let (is_ignored, pattern) = line.strip_prefix('!').map_or((true, line), |rest| (false, rest));
    let only_directories = pattern.ends_with('/');
    let pattern = pattern.trim_end_matches('/');
    if pattern.is_empty() || pattern.starts_with('#') || (only_directories && !is_directory) {
        return None;
    }
    let path = path.strip_prefix(base).ok()?;
    let names: Vec<String> = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let parts: Vec<&str> = pattern.trim_start_matches('/').split('/').collect();
    let fits = if pattern.contains('/') { all_fit(&parts, &names) } else { one_fits(pattern, names.last()?) };
    fits.then_some(is_ignored)
}

fn one_fits(pattern: &str, name: &str) -> bool {
    // A star also stands for a dot at the start.
    is_like(&format!("/{}", pattern.replace('\\', "")), &format!("/{name}"))
}

fn all_fit(parts: &[&str], names: &[String]) -> bool {
    // Which parts may come next, for all names at once: no pattern is slow.
    let mut next = vec![false; parts.len() + 1];
    next[0] = true;
    let skip_stars = |next: &mut Vec<bool>| {
        for at in 0..parts.len() {
            next[at + 1] |= next[at] && parts[at] == "**";
        }
    };
    skip_stars(&mut next);
    for name in names {
        let mut after = vec![false; parts.len() + 1];
        for (at, part) in parts.iter().enumerate().filter(|(at, _)| next[*at]) {
            if *part == "**" {
                after[at] = true;
            } else {
                after[at + 1] |= one_fits(part, name);
            }
        }
        next = after;
        skip_stars(&mut next);
    }
    next[parts.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(line: &str, path: &str) -> Option<bool> {
        fits(line, Path::new(""), Path::new(path), false)
    }

    #[test]
    fn lines_fit_as_git_reads_them() {
        for line in
            ["provost.toml", "*.toml", "/provost.toml", "*", "/*", "**/provost.toml", "p?ovost.toml  "]
        {
            assert_eq!(says(line, "provost.toml"), Some(true), "{line}");
        }
        for line in ["settings.json", ".config/*.json", "**/settings.json", ".config/**", "/**/*.json"] {
            assert_eq!(says(line, ".config/settings.json"), Some(true), "{line}");
        }
        for line in ["", "#provost.toml", "provost.toml/", "sub/provost.toml", "provost", "!"] {
            assert_eq!(says(line, "provost.toml"), None, "{line}");
        }
        assert_eq!(says("!provost.toml", "provost.toml"), Some(false));
        assert_eq!(says("/settings.json", ".config/settings.json"), None);
        assert_eq!(fits("/.config/", Path::new(""), Path::new(".config"), true), Some(true));
        assert_eq!(fits("/x", Path::new("sub"), Path::new("sub/x"), false), Some(true));
        assert_eq!(fits("/x", Path::new("sub"), Path::new("x"), false), None);
    }
}

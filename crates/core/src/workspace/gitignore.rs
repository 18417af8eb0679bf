//! Which files git ignores, according to the usual files. Git settings that name another file are not read.

use std::path::{Path, PathBuf};

use super::Workspace;
use crate::glob::{matches_glob, matches_with_stars};

/// The largest file of patterns that is read.
const LARGEST: u64 = 1 << 20;

/// The patterns of one file.
struct Patterns<'a> {
    /// The directory of the file, relative to the top of the work tree.
    base: &'a Path,
    text: String,
}

impl Workspace {
    /// Whether git ignores a file. `path` is relative to `top`. `shared` is the directory that all work trees of the
    /// repository share. `more` are additional patterns.
    pub(super) fn is_ignored(&self, top: &Path, shared: &Path, path: &Path, more: &[String]) -> bool {
        let read = |file: &Path| self.read_text(file, LARGEST).ok().flatten().unwrap_or_default();
        let user = self.environment_variable("XDG_CONFIG_HOME").map(PathBuf::from);
        let user = user.or_else(|| self.places.home.as_ref().map(|home| home.join(".config")));
        let general = user.map(|config| read(&config.join("git/ignore"))).unwrap_or_default();
        let base = Path::new("");
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        let in_tree =
            above.iter().rev().map(|base| Patterns { base, text: read(&top.join(base).join(".gitignore")) });
        let mut all = vec![
            Patterns { base, text: general },
            Patterns { base, text: read(&shared.join("info/exclude")) },
        ];
        all.extend(in_tree);
        all.push(Patterns { base, text: more.join("\n") });
        is_matched(&all, path)
    }
}

/// Whether the patterns of a command match a path. Patterns from files are not considered.
pub(super) fn is_kept(patterns: &[String], path: &Path) -> bool {
    is_matched(&[Patterns { base: Path::new(""), text: patterns.join("\n") }], path)
}

/// The last line that matches decides. Every file in an ignored directory is ignored.
fn is_matched(all: &[Patterns], path: &Path) -> bool {
    path.ancestors().filter(|level| !level.as_os_str().is_empty()).any(|level| {
        let is_directory = level != path;
        let lines = all.iter().flat_map(|patterns| patterns.text.lines().map(|line| (patterns.base, line)));
        lines.fold(false, |ignored, (base, line)| {
            match_line(line, base, level, is_directory).unwrap_or(ignored)
        })
    })
}

/// Whether a line says that a path is ignored or not; `None` if it does not match.
fn match_line(line: &str, base: &Path, path: &Path, is_directory: bool) -> Option<bool> {
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
    let matches_all = || {
        let items = names.iter().map(String::as_str);
        matches_with_stars(&parts, items, |part| *part == "**", |part, name| matches_name(part, name))
    };
    let is_match = if pattern.contains('/') { matches_all() } else { matches_name(pattern, names.last()?) };
    is_match.then_some(is_ignored)
}

fn matches_name(pattern: &str, name: &str) -> bool {
    // Behind a slash, a star also matches a dot.
    matches_glob(&format!("/{}", pattern.replace('\\', "")), &format!("/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn match_file(line: &str, path: &str) -> Option<bool> {
        match_line(line, Path::new(""), Path::new(path), false)
    }

    #[test]
    fn lines_match_as_in_git() {
        for line in
            ["provost.toml", "*.toml", "/provost.toml", "*", "/*", "**/provost.toml", "p?ovost.toml  "]
        {
            assert_eq!(match_file(line, "provost.toml"), Some(true), "{line}");
        }
        for line in ["settings.json", ".config/*.json", "**/settings.json", ".config/**", "/**/*.json"] {
            assert_eq!(match_file(line, ".config/settings.json"), Some(true), "{line}");
        }
        for line in ["", "#provost.toml", "provost.toml/", "sub/provost.toml", "provost", "!"] {
            assert_eq!(match_file(line, "provost.toml"), None, "{line}");
        }
        assert_eq!(match_file("!provost.toml", "provost.toml"), Some(false));
        assert_eq!(match_file("/settings.json", ".config/settings.json"), None);
        assert_eq!(match_line("/.config/", Path::new(""), Path::new(".config"), true), Some(true));
        assert_eq!(match_line("/x", Path::new("sub"), Path::new("sub/x"), false), Some(true));
        assert_eq!(match_line("/x", Path::new("sub"), Path::new("x"), false), None);
    }
}

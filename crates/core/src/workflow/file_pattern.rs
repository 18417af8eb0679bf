//! Patterns for the files of an instance: `specs/**/*.md`.

use crate::glob::matches_glob;

/// Whether a relative path matches a pattern. `**` stands for any number of directories.
pub(super) fn matches_file(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = split(pattern).collect();
    let path: Vec<&str> = split(path).collect();
    matches_parts(&pattern, &path)
}

pub(super) fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?', '['])
}

/// The directory in front of the first wildcard.
pub(super) fn find_start(pattern: &str) -> String {
    let known: Vec<&str> = split(pattern).take_while(|part| !has_wildcard(part)).collect();
    known.join("/")
}

fn split(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

fn matches_parts(pattern: &[&str], path: &[&str]) -> bool {
    crate::glob::matches_with_stars(
        pattern,
        path.iter().copied(),
        |part| *part == "**",
        |part, name| matches_glob(part, name),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_schemas_match() {
        for (pattern, path) in [
            ("specs/**/*.md", "specs/auth/spec.md"),
            ("specs/**/*.md", "specs/spec.md"),
            ("specs/**/*.md", "specs/a/b/spec.md"),
            ("tasks.md", "tasks.md"),
            ("./tasks/*.md", "tasks/1.md"),
            ("contracts/**", "contracts/a/b.yaml"),
        ] {
            assert!(matches_file(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("specs/**/*.md", "specs/a.txt"),
            ("tasks.md", "a/tasks.md"),
            ("tasks/*.md", "tasks/a/1.md"),
            ("*.md", "a/b.md"),
        ] {
            assert!(!matches_file(pattern, path), "{pattern} {path}");
        }
        assert_eq!(find_start("specs/**/*.md"), "specs");
        assert_eq!(find_start("tasks.md"), "tasks.md");
    }
}

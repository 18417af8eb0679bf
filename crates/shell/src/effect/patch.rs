//! Which files a patch changes, read from the patch itself.
//!
//! A patch names its files in the lines in front of its hunks: `+++ b/file`, `rename to file`, `*** file`. The lines of
//! a hunk are content, even if they look like a header.

use std::path::PathBuf;

/// A command that applies patches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PatchCommand {
    /// The program: `git apply`, `patch`.
    pub program: &'static str,
    /// The directory that the names in the patch are relative to, or any directory of the work tree.
    pub directory: PathBuf,
    /// The names are relative to the top of the work tree.
    pub is_from_top: bool,
    /// The top of the work tree, where an option or a variable names one.
    pub work_tree: Option<PathBuf>,
    /// The directory that the program puts in front of each name.
    pub below: Option<PathBuf>,
    /// How many leading parts of each name are dropped; `None`: all but the last.
    pub strip: Option<usize>,
    /// The file that all patches change, if the command names one.
    pub target: Option<PathBuf>,
    /// The files that hold the patches. Their names may be shell patterns.
    pub files: Vec<PathBuf>,
    /// A patch comes from standard input or a substitution as well.
    pub is_fed: bool,
    /// Patterns of the names to change; empty: all.
    pub included: Vec<String>,
    /// Patterns of the names to leave alone.
    pub excluded: Vec<String>,
    /// The patches are taken back: what they remove is added.
    pub is_reversed: bool,
}

/// A file name in a patch, as it is written there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchedName {
    name: String,
    /// The header gives the name without `a/` or `b/` in front.
    is_bare: bool,
}

/// What a patch does to one file.
#[derive(Debug, Default)]
pub struct FilePatch {
    /// The names that its header gives, which may be several of one file.
    pub names: Vec<PatchedName>,
    /// The lines that it adds.
    pub added: String,
    /// The lines that it removes.
    pub removed: String,
}

/// What a text with patches does to each file.
pub fn read_patches(text: &str) -> Vec<FilePatch> {
    let mut patches: Vec<FilePatch> = Vec::new();
    let mut is_header = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let mut names = Vec::new();
        read_header(line.trim_start(), &mut names);
        // The side of a file that does not exist has no name.
        let is_nameless = matches!(line.trim_end(), "--- /dev/null" | "+++ /dev/null");
        if !names.is_empty() || is_nameless {
            if !is_header || line.starts_with("diff --git ") {
                patches.push(FilePatch::default());
            }
            is_header = true;
            patches.last_mut().into_iter().for_each(|patch| patch.names.append(&mut names));
            continue;
        }
        let counts = parse_hunk_header(line);
        if patches.is_empty() && counts.is_some() {
            // A patch without a header is for a file that the command names.
            patches.push(FilePatch::default());
        }
        let Some(patch) = patches.last_mut() else { continue };
        let (mut old, mut new) = counts.unwrap_or_default();
        is_header &= counts.is_none() && !line.starts_with(['+', '-', '@']);
        // Some patches have no numbers in front of their lines.
        if counts.is_none() {
            patch.note_line(line);
        }
        let is_content =
            |line: &&str| matches!(line.as_bytes().first(), None | Some(b'-' | b'+' | b' ' | b'\\'));
        while (old > 0 || new > 0)
            && let Some(content) = lines.next_if(is_content)
        {
            patch.note_line(content);
            let sign = content.as_bytes().first();
            old = old.saturating_sub(usize::from(matches!(sign, None | Some(b'-' | b' '))));
            new = new.saturating_sub(usize::from(matches!(sign, None | Some(b'+' | b' '))));
        }
    }
    patches
}

impl FilePatch {
    fn note_line(&mut self, line: &str) {
        let (text, rest) = match (line.strip_prefix('+'), line.strip_prefix('-')) {
            (Some(rest), _) => (&mut self.added, rest),
            (None, Some(rest)) => (&mut self.removed, rest),
            (None, None) => return,
        };
        text.push_str(rest);
        text.push('\n');
    }
}

/// The names of the files that a patch changes.
pub fn find_patched_names(text: &str) -> Vec<PatchedName> {
    read_patches(text).into_iter().flat_map(|patch| patch.names).collect()
}

/// The names in a command line that may contain a patch: in a here-document, or in quotes with `\n` for a line break.
pub fn find_patched_names_in_command(line: &str) -> Vec<PatchedName> {
    let mut names = Vec::new();
    for whole in line.lines() {
        read_header(whole.trim_start(), &mut names);
        for part in whole.split(['\'', '"']).flat_map(|part| part.split("\\n")).filter(|part| *part != whole)
        {
            read_header(part.trim_start(), &mut names);
        }
    }
    names
}

/// Whether a text starts like a patch.
pub fn is_patch(text: &str) -> bool {
    const STARTS: &[&str] = &["diff --git ", "--- ", "*** ", "Index: "];
    let text = text.trim_start();
    text.contains('\n') && STARTS.iter().any(|start| text.starts_with(start))
}

impl PatchedName {
    /// The path without this many leading parts; `None`: only the last part. Returns `None` if nothing is left.
    pub fn strip_components(&self, strip: Option<usize>) -> Option<PathBuf> {
        let parts: Vec<&str> = self.name.split('/').filter(|part| !part.is_empty()).collect();
        let strip = match strip {
            None => parts.len().saturating_sub(1),
            // With the default of 1, a name of one part is kept as it is.
            Some(1) if parts.len() == 1 => 0,
            Some(strip) if self.is_bare => strip.saturating_sub(1),
            Some(strip) => strip,
        };
        let rest = parts.get(strip..).filter(|rest| !rest.is_empty())?;
        let path: PathBuf = rest.iter().collect();
        Some(if strip == 0 && self.name.starts_with('/') { PathBuf::from("/").join(path) } else { path })
    }
}

fn read_header(line: &str, names: &mut Vec<PatchedName>) {
    const PREFIXED: &[&str] = &["--- ", "+++ ", "*** ", "Index: "];
    const BARE: &[&str] = &[
        "rename from ",
        "rename to ",
        "copy to ",
        "*** Update File: ",
        "*** Add File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    let behind = |starts: &[&str]| starts.iter().find_map(|start| line.strip_prefix(start));
    let mut add = |name: &str, is_bare: bool| {
        if !name.is_empty() && name != "/dev/null" {
            names.push(PatchedName { name: name.to_owned(), is_bare });
        }
    };
    if let Some(rest) = line.strip_prefix("diff --git ") {
        // Both halves are the same name; where they differ, other lines name them.
        let half = rest.len() / 2;
        match parse_quoted_name(rest) {
            Some(name) => add(&name, false),
            None if rest.as_bytes().get(half) == Some(&b' ') => add(&rest[..half], false),
            None => {}
        }
    } else if let Some(rest) = behind(BARE) {
        add(&parse_quoted_name(rest).unwrap_or_else(|| rest.trim_end().to_owned()), true);
    } else if let Some(rest) = behind(PREFIXED) {
        if let Some(name) = parse_quoted_name(rest) {
            return add(&name, false);
        }
        // A time follows the name, after a tab or a blank.
        let name = rest.split('\t').next().unwrap_or_default().trim_end();
        add(name, false);
        if let Some((name, _)) = name.split_once(' ') {
            add(name, false);
        }
    }
}

/// The leading quoted name, as git writes names with unusual characters: `"a/\303\244"`.
fn parse_quoted_name(text: &str) -> Option<String> {
    let inside = text.strip_prefix('"')?;
    let mut bytes = Vec::new();
    let mut rest = inside.bytes();
    loop {
        match rest.next()? {
            b'"' => return Some(String::from_utf8_lossy(&bytes).into_owned()),
            b'\\' => match rest.next()? {
                digit @ b'0'..=b'7' => {
                    let mut value = u32::from(digit - b'0');
                    for _ in 0..2 {
                        value = value * 8 + u32::from(rest.next()?.wrapping_sub(b'0') & 7);
                    }
                    bytes.push(u8::try_from(value & 0xff).unwrap_or_default());
                }
                b'n' => bytes.push(b'\n'),
                b't' => bytes.push(b'\t'),
                other => bytes.push(other),
            },
            byte => bytes.push(byte),
        }
    }
}

/// The numbers of old and new lines in `@@ -1,2 +3,4 @@`.
fn parse_hunk_header(line: &str) -> Option<(usize, usize)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| range.split_once(',').map_or(Ok(1), |(_, count)| count.parse()).ok();
    Some((count(old)?, count(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str, strip: Option<usize>) -> Vec<String> {
        let found = find_patched_names(text)
            .iter()
            .filter_map(|name| name.strip_components(strip))
            .collect::<Vec<_>>();
        let mut paths: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
        paths.dedup();
        paths
    }

    #[test]
    fn each_kind_of_header_names_a_file() {
        for text in [
            "--- a/x/y\n+++ b/x/y\n",
            "diff --git a/x/y b/x/y\nold mode 100644\n",
            "diff --git \"a/x/\\171\" \"b/x/y\"\n",
            "+++ \"b/x/\\171\"\n",
            "+++ b/x/y\t2026-01-01",
            "  +++ b/x/y\n",
            "rename from x/y\n",
            "*** Update File: x/y\n",
        ] {
            assert_eq!(paths(text, Some(1)), ["x/y"], "{text}");
        }
        assert_eq!(paths("+++ y\n", Some(1)), ["y"]);
        assert_eq!(paths("+++ a/b/c/y\n", Some(3)), ["y"]);
        assert_eq!(paths("+++ /a/y\n", Some(0)), ["/a/y"]);
        assert_eq!(paths("*** a/b/y\n--- a/b/y\n", None), ["y"]);
        assert_eq!(paths("--- /dev/null\n", Some(1)), [""; 0]);
    }

    #[test]
    fn what_a_hunk_holds_is_content() {
        let text = "+++ b/x\n@@ -1,2 +1,3 @@\n --- a/z\n--- a/z\n++++ b/z\n+\n+++ b/y\n";
        assert_eq!(paths(text, Some(1)), ["x", "y"]);
        // `git apply --recount` ends a hunk at the next header, whatever number of lines it claims.
        let text = "+++ b/x\n@@ -1,9 +1,9 @@\n-a\ndiff --git a/y b/y\nold mode 100644\n";
        assert_eq!(paths(text, Some(1)), ["x", "y"]);
    }

    #[test]
    fn each_file_has_the_lines_that_are_added_to_it() {
        let text = "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\
                    diff --git a/y b/y\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1,2 @@\n+d\n++++ e\n\
                    --- z\n+++ z\n@@ -1 +1 @@\n-f\n+g\n";
        let patches = read_patches(text);
        let found: Vec<_> =
            patches.iter().map(|patch| (patch.added.as_str(), patch.removed.as_str())).collect();
        assert_eq!(found, [("c\n", "b\n"), ("d\n+++ e\n", ""), ("g\n", "f\n")]);
        let [patch] = &*read_patches("*** Update File: x\n@@\n a\n-b\n+c\n") else { panic!() };
        assert_eq!((patch.added.as_str(), patch.names.len()), ("c\n", 1));
    }

    #[test]
    fn a_patch_may_have_no_header() {
        let [patch] = &*read_patches("text\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9 +9 @@\n-d\n+e\n") else {
            panic!()
        };
        assert!(patch.names.is_empty());
        assert_eq!((patch.added.as_str(), patch.removed.as_str()), ("c\ne\n", "b\nd\n"));
    }

    #[test]
    fn a_patch_in_a_command_line_is_found() {
        let found = find_patched_names_in_command("printf '--- a/x\\n+++ b/x\\n' | git apply");
        assert!(
            found.iter().all(|name| name.strip_components(Some(1)) == Some("x".into())) && !found.is_empty()
        );
        assert!(is_patch("--- a\n+++ b\n") && !is_patch("--- a") && !is_patch("x\n--- a\n"));
    }
}

//! Lists a directory, and finds out whether a file with an extension is below it.
//!
//! The type of a file comes from the directory entry, so that thousands of files cost no system call each; only links
//! have to be followed. The walk below the directory ends at the first file with the extension.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs;
use std::io;
use std::ops::ControlFlow::{Break, Continue};
use std::ops::Range;
use std::path::Path;

use super::directories::{EntryKind, MOST, for_each_entry, walk};

/// How many entries fit without a second allocation.
const USUAL: usize = 64;

/// The entries of a directory, by name.
#[derive(Debug, Default)]
pub struct Listing {
    /// All names, one behind the other, because a `String` for each would cost more than the rest of the work.
    text: String,
    /// INVARIANT: in the order of their names.
    entries: Vec<ListedEntry>,
    /// Whether a regular file with the requested extension is below the directory.
    pub has_nested: bool,
}

#[derive(Debug)]
struct ListedEntry {
    /// The position of the name in `text`.
    name: Range<usize>,
    /// Whether it is a directory or a link to one.
    is_directory: bool,
}

impl Listing {
    /// The listing of a directory that contains these files.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut listing = Self::default();
        names.into_iter().for_each(|name| listing.push(name, false));
        listing.sort();
        listing
    }

    /// The names of all entries, in order. Bytes that are not UTF-8 are replaced, so that the name cannot be one of Provost's.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &self.text[entry.name.clone()])
    }

    /// Whether there is a file of this name, and not a directory.
    pub fn has_file(&self, name: &str) -> bool {
        let at = self.entries.binary_search_by(|entry| self.text[entry.name.clone()].cmp(name));
        at.is_ok_and(|at| !self.entries[at].is_directory)
    }

    fn push(&mut self, name: &str, is_directory: bool) {
        let start = self.text.len();
        self.text.push_str(name);
        self.entries.push(ListedEntry { name: start..self.text.len(), is_directory });
    }

    /// The file system's order has no meaning.
    fn sort(&mut self) {
        let Self { text, entries, .. } = self;
        entries.sort_unstable_by(|a, b| text[a.name.clone()].cmp(&text[b.name.clone()]));
    }
}

/// Lists a directory, and looks for files with the extension below it. Dangling links are left out, and links to
/// directories are not followed. A directory with too many entries is an error, because a part of them would look like a
/// directory in which files are missing. Of a tree with too many entries, a part is searched.
pub fn list_directory(directory: &Path, nested_extension: &str) -> io::Result<Listing> {
    list_at_most(MOST, directory, nested_extension)
}

fn list_at_most(most: usize, directory: &Path, nested_extension: &str) -> io::Result<Listing> {
    let mut listing = Listing {
        text: String::with_capacity(USUAL * 32),
        entries: Vec::with_capacity(USUAL),
        has_nested: false,
    };
    let mut open = VecDeque::new();
    let mut looked_at = 0;
    for_each_entry(directory, |name, kind| {
        looked_at += 1;
        if looked_at > most {
            return Break(());
        }
        let is_directory = match kind {
            EntryKind::Link => match fs::metadata(directory.join(name)) {
                Ok(target) => target.is_dir(),
                Err(_) => return Continue(()),
            },
            kind => kind == EntryKind::Directory,
        };
        if kind == EntryKind::Directory {
            open.push_back((directory.join(name), 1));
        }
        // `to_string_lossy` is much slower than a check that nothing has to be replaced.
        listing.push(&name.to_str().map_or_else(|| name.to_string_lossy(), Cow::Borrowed), is_directory);
        Continue(())
    })?;
    if looked_at > most {
        return Err(io::Error::other(format!("{}: more than {most} entries", directory.display())));
    }
    listing.sort();

    let ending = format!(".{nested_extension}");
    walk(open, most - looked_at, |_, name, kind| {
        let is_wanted = kind == EntryKind::File && name.as_encoded_bytes().ends_with(ending.as_bytes());
        listing.has_nested |= is_wanted;
        if is_wanted { Break(()) } else { Continue(()) }
    });
    Ok(listing)
}

#[cfg(test)]
mod tests {
    use super::super::directories::DEEPEST;
    use super::*;
    use std::fs::{create_dir, create_dir_all, write};

    #[test]
    fn entries_are_named_in_order_with_their_kind() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["plan.md", ".hidden.md", "state.json"] {
            write(dir.path().join(name), "x").unwrap();
        }
        create_dir(dir.path().join("notes.md")).unwrap();
        let listing = list_directory(dir.path(), "md").unwrap();
        let found: Vec<_> = listing.names().zip(listing.entries.iter().map(|it| it.is_directory)).collect();
        assert_eq!(
            found,
            [(".hidden.md", false), ("notes.md", true), ("plan.md", false), ("state.json", false)]
        );
        assert!(!listing.has_nested, "an empty directory has no files");
        assert!(list_directory(&dir.path().join("missing"), "md").is_err());
    }

    #[test]
    fn a_nested_file_is_found_by_its_extension_at_any_depth_and_hidden_too() {
        for nested in ["a/b.md", "a/.b.md", "a/.md", ".a/b.md", "a/b/c/d.md"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(nested);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(dir.path().join("plan.md"), "x").unwrap();
            write(path.with_file_name("other.txt"), "x").unwrap();
            write(path.with_file_name("md"), "x").unwrap();
            create_dir(path.with_file_name("directory.md")).unwrap();
            assert!(!list_directory(dir.path(), "md").unwrap().has_nested, "without {nested}");
            write(&path, "x").unwrap();
            assert!(list_directory(dir.path(), "md").unwrap().has_nested, "{nested}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_what_they_lead_to_and_not_walked_through() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        write(elsewhere.path().join("far.md"), "x").unwrap();
        write(dir.path().join("plan.md"), "x").unwrap();
        create_dir(dir.path().join("sub")).unwrap();
        for (target, link) in [
            (elsewhere.path(), "directory.md"),
            (Path::new("plan.md"), "file.md"),
            (Path::new("nowhere"), "dangling.md"),
            (Path::new("loop.md"), "loop.md"),
            (Path::new("../plan.md"), "sub/link.md"),
            (Path::new(".."), "sub/up"),
        ] {
            symlink(target, dir.path().join(link)).unwrap();
        }
        let listing = list_directory(dir.path(), "md").unwrap();
        let found: Vec<_> = listing.names().zip(listing.entries.iter().map(|it| it.is_directory)).collect();
        assert_eq!(found, [("directory.md", true), ("file.md", false), ("plan.md", false), ("sub", true)]);
        assert!(!listing.has_nested);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_not_text_is_listed() {
        use std::os::unix::ffi::OsStrExt;
        let dir = tempfile::tempdir().unwrap();
        write(dir.path().join(std::ffi::OsStr::from_bytes(b"plan\xff.md")), "x").unwrap();
        assert!(list_directory(dir.path(), "md").unwrap().names().eq(["plan\u{fffd}.md"]));
    }

    #[test]
    fn a_tree_deeper_than_anybody_uses_is_not_walked_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let deepest = dir.path().join("d/".repeat(DEEPEST));
        create_dir_all(deepest.join("d")).unwrap();
        write(deepest.join("d/beyond.md"), "x").unwrap();
        assert!(!list_directory(dir.path(), "md").unwrap().has_nested);
        write(deepest.join("just.md"), "x").unwrap();
        assert!(list_directory(dir.path(), "md").unwrap().has_nested);
    }

    #[test]
    fn too_many_entries_are_an_error_and_a_large_tree_is_looked_at_in_part() {
        let dir = tempfile::tempdir().unwrap();
        create_dir(dir.path().join("sub")).unwrap();
        write(dir.path().join("plan.md"), "x").unwrap();
        write(dir.path().join("sub/nested.md"), "x").unwrap();
        assert!(list_at_most(1, dir.path(), "md").unwrap_err().to_string().contains("more than 1 entries"));
        let partly = list_at_most(2, dir.path(), "md").unwrap();
        assert_eq!((partly.entries.len(), partly.has_nested), (2, false));
        assert!(list_at_most(3, dir.path(), "md").unwrap().has_nested);
    }
}

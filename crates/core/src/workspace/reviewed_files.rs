//! The files of a work tree that reviews have found clean, with the content that was reviewed.
//!
//! A later review starts from this content, and not from the last commit: what is clean is not read again. A content
//! counts only as long as the commit below it has not changed, because then the commit has what others have made of it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::Workspace;
use crate::clock;
use crate::opinion::Fault;
use provost_files as files;

const FILE: &str = "reviewed.json";
const LARGEST: u64 = 16 << 20;
/// How many files are remembered. Beyond that, the oldest are reviewed again from the last commit on.
const MOST_FILES: usize = 20_000;

/// The content of a file: its mode and hash in git; `None`: there is no such file.
pub(super) type FileContent = Option<(String, String)>;

/// What reviews have found clean of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReviewedFile {
    pub(super) content: FileContent,
    /// What the commit that the session began with had.
    pub(super) committed: FileContent,
    /// The session that changed it.
    pub(super) session: u64,
    /// How many reviews in a row were clean.
    pub(super) clean: u64,
    /// When, in seconds since 1970.
    at: u64,
}

impl ReviewedFile {
    /// The content from which a review starts, if it still counts.
    pub(super) fn base(&self, committed: &FileContent, session: u64) -> Option<&FileContent> {
        (self.session == session || self.committed == *committed).then_some(&self.content)
    }
}

impl ReviewedFile {
    fn to_json(&self) -> Value {
        let Self { content, committed, session, clean, at } = self;
        json!({"content": content, "committed": committed, "session": session, "clean": clean, "at": at})
    }

    fn from_json(value: &Value) -> Option<Self> {
        let number = |name: &str| value[name].as_u64();
        let content = |name: &str| match &value[name] {
            Value::Null => Some(None),
            pair => Some(Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()))),
        };
        Some(Self {
            content: content("content")?,
            committed: content("committed")?,
            session: number("session")?,
            clean: number("clean")?,
            at: number("at")?,
        })
    }
}

/// By path from the top of the work tree.
pub(super) type ReviewedFiles = BTreeMap<String, ReviewedFile>;

impl Workspace {
    /// A record that cannot be read means that nothing was reviewed.
    pub(super) fn read_reviewed_files(&self, top: &Path) -> ReviewedFiles {
        let read = || {
            let bytes = files::read_file(&self.changes_file(top, FILE).ok()?, LARGEST).ok()??;
            let value: Value = serde_json::from_slice(&bytes).ok()?;
            // The name of the directory is only a digest.
            let is_same = value["top"] == *top.to_string_lossy();
            let files = value["files"].as_object().filter(|_| is_same)?;
            let read = |(name, file): (&String, &Value)| Some((name.clone(), ReviewedFile::from_json(file)?));
            Some(files.iter().filter_map(read).collect())
        };
        read().unwrap_or_default()
    }

    /// Remembers that files were found clean.
    pub(super) fn remember_reviewed_files(
        &self,
        top: &Path,
        found: impl Iterator<Item = (String, FileContent, FileContent)>,
        session: u64,
        clean: u64,
    ) -> Result<(), Fault> {
        let path = self.changes_file(top, FILE)?;
        let _lock = self.lock(&path)?;
        let at = clock::time_since_epoch().as_secs();
        let mut all = self.read_reviewed_files(top);
        for (name, content, committed) in found {
            all.insert(name, ReviewedFile { content, committed, session, clean, at });
        }
        while all.len() > MOST_FILES {
            let oldest = all.iter().min_by_key(|(_, file)| file.at).map(|(name, _)| name.clone());
            oldest.map(|name| all.remove(&name));
        }
        let all: serde_json::Map<_, _> =
            all.iter().map(|(name, file)| (name.clone(), file.to_json())).collect();
        let value = json!({"top": top.to_string_lossy(), "files": all});
        self.write_state_file(&path, value.to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(hash: &str) -> FileContent {
        Some(("100644".into(), hash.into()))
    }

    #[test]
    fn a_clean_content_counts_until_the_commit_below_it_changes() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::for_tests(root.path());
        let found = [("a".to_owned(), content("1"), content("0")), ("b".to_owned(), None, content("0"))];
        workspace.remember_reviewed_files(root.path(), found.into_iter(), 7, 2).unwrap();
        let files = workspace.read_reviewed_files(root.path());
        assert_eq!(files["a"].base(&content("0"), 8), Some(&content("1")));
        assert_eq!(files["a"].base(&content("2"), 8), None);
        assert_eq!(files["a"].base(&content("2"), 7), Some(&content("1")));
        assert_eq!((files["b"].base(&content("0"), 8), files["b"].clean), (Some(&None), 2));
        assert!(workspace.read_reviewed_files(Path::new("/elsewhere")).is_empty());
        std::fs::write(workspace.changes_file(root.path(), FILE).unwrap(), "{\"files\": 3").unwrap();
        assert!(workspace.read_reviewed_files(root.path()).is_empty());
    }
}

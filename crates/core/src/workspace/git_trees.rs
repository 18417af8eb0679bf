//! Reads and compares trees of git, and fills a private index with their files.

use std::collections::BTreeMap;

use super::private_git::PrivateGit;
use super::reviewed_files::FileContent;
use crate::opinion::Fault;

/// How many names one call of git gets as arguments.
const MOST_NAMES: usize = 500;
/// The mode of another repository in a tree.
const SUBMODULE: &str = "160000";

/// A file that differs between two trees.
pub(super) struct TreeDifference {
    pub(super) path: String,
    /// In the second tree.
    pub(super) content: FileContent,
    /// How many lines were added and removed; a binary file counts as one line.
    pub(super) lines: u64,
}

impl PrivateGit<'_> {
    /// The files of a commit with these names, or below them.
    pub(super) fn read_tree(
        &self,
        commit: &str,
        names: &[&str],
    ) -> Result<BTreeMap<String, (String, String)>, Fault> {
        let mut found = BTreeMap::new();
        for names in names.chunks(MOST_NAMES) {
            let arguments = ["--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit, "--"];
            for entry in split_names(&self.run_with(&arguments, names, None, 0)?) {
                let Some((about, name)) = entry.split_once('\t') else { continue };
                let mut words = about.split(' ');
                if let (Some(mode), Some(_), Some(hash)) = (words.next(), words.next(), words.next())
                    && mode != SUBMODULE
                {
                    found.insert(name.to_owned(), (mode.to_owned(), hash.to_owned()));
                }
            }
        }
        Ok(found)
    }

    /// Adds files to the index, or removes those without a content.
    pub(super) fn fill_index(
        &self,
        entries: impl Iterator<Item = (String, FileContent)>,
    ) -> Result<(), Fault> {
        let line = |(name, content): (String, FileContent)| match content {
            Some((mode, hash)) => format!("{mode} {hash}\t{name}\0"),
            None => format!("0 {}\t{name}\0", "0".repeat(40)),
        };
        let lines: String = entries.map(line).collect();
        self.run(&["update-index", "-z", "--index-info"], Some(lines.as_bytes())).map(drop)
    }

    /// The files that differ between two trees.
    pub(super) fn compare_trees(&self, before: &str, after: &str) -> Result<Vec<TreeDifference>, Fault> {
        let diff = ["diff-tree", "-r", "-z", "--no-renames"];
        let raw = split_names(&self.run(&[&diff[..], &[before, after]].concat(), None)?);
        let counts = self.run(&[&diff[..], &["--numstat", before, after]].concat(), None)?;
        let mut lines = BTreeMap::new();
        for entry in split_names(&counts) {
            let mut parts = entry.splitn(3, '\t');
            if let (Some(added), Some(removed), Some(name)) = (parts.next(), parts.next(), parts.next()) {
                let both: Option<(u64, u64)> = added.parse().ok().zip(removed.parse().ok());
                lines.insert(name.to_owned(), both.map_or(1, |(added, removed)| added + removed));
            }
        }
        let files = raw.chunks_exact(2).filter_map(|pair| {
            let mut words = pair[0].trim_start_matches(':').split(' ');
            let (_, mode, _, hash) = (words.next()?, words.next()?, words.next()?, words.next()?);
            let content = (mode != "000000").then(|| (mode.to_owned(), hash.to_owned()));
            let lines = lines.get(&pair[1]).copied().unwrap_or(1);
            Some(TreeDifference { path: pair[1].clone(), content, lines })
        });
        Ok(files.collect())
    }
}

/// Names that git prints. A name that is not UTF-8 is left out.
pub(super) fn split_names(output: &[u8]) -> Vec<String> {
    let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.filter_map(|name| str::from_utf8(name).ok().map(str::to_owned)).collect()
}

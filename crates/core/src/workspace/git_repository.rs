//! Reads the files of a git repository: the branch that is checked out, and whether a branch exists or existed.
//!
//! It starts no git process, because that needs time, an environment and a repository that git trusts. References that
//! are not kept in files (reftable) are unknown here.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Workspace, resolve_path};
use crate::opinion::Fault;
use provost_files as files;

/// The largest file with one line or one path.
pub(super) const SHORT: u64 = 64 << 10;
/// The largest list of references, and the part of a log that is searched.
pub(super) const LONG: u64 = 64 << 20;

pub struct Repository {
    /// The directory of the files of this work tree.
    pub(super) own: PathBuf,
    /// The directory of the files that all work trees share.
    pub(super) common: PathBuf,
}

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch, perhaps without a commit yet.
    Branch(String),
    /// A commit on no branch.
    Detached,
    Unknown,
}

impl Workspace {
    /// The repository of a directory, found as git finds it.
    pub fn find_repository(&self, directory: &Path) -> Option<Repository> {
        if self.ask_content() {
            return None;
        }
        let own = find_git_directory(&resolve_path(directory))?;
        let common = match files::read_file(&own.join("commondir"), SHORT).ok()? {
            Some(text) => own.join(parse_path(&text)?),
            None => own.clone(),
        };
        Some(Repository { common: resolve_path(&common), own })
    }
}

impl Repository {
    /// Whether both are the same repository, in any of its work trees.
    pub fn is_same_repository(&self, other: &Self) -> bool {
        self.common == other.common || files::is_same_file(&self.common, &other.common)
    }

    pub fn read_head(&self) -> Head {
        let file = self.own.join("HEAD");
        // Old versions of git make it a link.
        if let Ok(target) = fs::read_link(&file)
            && let Some(name) = target.to_str().and_then(|target| target.strip_prefix("refs/heads/"))
        {
            return Head::Branch(name.to_owned());
        }
        match files::read_file(&file, SHORT) {
            Ok(Some(bytes)) => std::str::from_utf8(&bytes).map_or(Head::Unknown, parse_head),
            _ => Head::Unknown,
        }
    }

    /// The directories of this work tree's files and of those that all work trees share.
    pub(super) fn into_directories(self) -> (PathBuf, PathBuf) {
        (self.own, self.common)
    }

    /// The repository that a remote means, if it is on this disk.
    pub(super) fn open_remote(&self, remote: &str) -> Option<Self> {
        let url = self.find_push_address(remote)?;
        let path = PathBuf::from(url.strip_prefix("file://").unwrap_or(&url));
        let directories = [path.clone(), path.join(".git")];
        let own = directories.into_iter().find(|path| path.is_absolute() && is_repository(path))?;
        Some(Self { common: own.clone(), own })
    }

    /// The work trees of the repository, this one and the others.
    pub fn list_work_trees(&self) -> Vec<PathBuf> {
        let linked = fs::read_dir(self.common.join("worktrees")).into_iter().flatten().flatten();
        let files = linked.filter_map(|entry| files::read_file(&entry.path().join("gitdir"), SHORT).ok()?);
        let trees = files.filter_map(|bytes| Some(parse_path(&bytes)?.parent()?.to_owned()));
        trees.map(|tree| resolve_path(&tree)).chain(self.find_main_work_tree()).collect()
    }

    /// The work tree that the repository was made with.
    pub fn find_main_work_tree(&self) -> Option<PathBuf> {
        let is_main = self.common.file_name().is_some_and(|name| name == ".git");
        self.common.parent().filter(|_| is_main).map(Path::to_owned)
    }

    /// Whether both are the same work tree.
    pub fn is_same_tree(&self, other: &Self) -> bool {
        self.own == other.own || files::is_same_file(&self.own, &other.own)
    }

    pub fn has_branch(&self, name: &str) -> Result<bool, Fault> {
        let reference = format!("refs/heads/{name}");
        let is_file = || self.common.join(&reference).is_file();
        Ok(is_branch_name(name) && (is_file() || self.has_packed(|packed| packed == reference)?))
    }

    /// Whether a remote has a branch of this name, from which git would create a local one.
    pub fn has_remote_branch(&self, name: &str) -> Result<bool, Fault> {
        let is_file = || {
            let mut remotes = fs::read_dir(self.common.join("refs/remotes")).into_iter().flatten().flatten();
            remotes.any(|remote| remote.path().join(name).is_file())
        };
        let is_wanted = |packed: &str| {
            let rest = packed.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/'));
            rest.is_some_and(|(_, branch)| branch == name)
        };
        Ok(is_branch_name(name) && (is_file() || self.has_packed(is_wanted)?))
    }

    fn has_packed(&self, is_wanted: impl Fn(&str) -> bool) -> Result<bool, Fault> {
        let packed = files::read_file(&self.common.join("packed-refs"), LONG);
        let packed = packed.map_err(|error| Fault::Error(error.to_string()))?.unwrap_or_default();
        let is_wanted_line = |line: &[u8]| {
            let line = std::str::from_utf8(line).ok().and_then(|line| line.split_once(' '));
            line.is_some_and(|(hash, name)| is_hex(hash) && is_wanted(name))
        };
        Ok(packed.split(|byte| *byte == b'\n').any(is_wanted_line))
    }

    /// The branch that was checked out `steps` switches ago (`git switch -`).
    pub fn find_previous_branch(&self, steps: usize) -> Option<String> {
        let mut left = steps;
        search_log(&self.own, |line| {
            let (from, _) = parse_switch(line.split_once('\t')?.1)?;
            left = left.checked_sub(1)?;
            (left == 0).then(|| from.to_owned())
        })
    }

    /// The commit that was checked out `steps` changes of HEAD ago (`HEAD@{1}`).
    pub fn find_earlier_head(&self, steps: usize) -> Option<String> {
        let mut left = steps;
        search_log(&self.own, |line| {
            let hash = new_hash(line)?;
            let is_it = left == 0;
            left = left.saturating_sub(1);
            is_it.then(|| hash.to_owned())
        })
    }

    /// The commit that a hash, a tag, `ORIG_HEAD` or `FETCH_HEAD` names, if it can be read from a file.
    pub fn resolve_commit(&self, name: &str) -> Option<String> {
        if (4..=64).contains(&name.len()) && is_hex(name) {
            return Some(name.to_ascii_lowercase());
        }
        let tag = name.strip_prefix("refs/tags/").or_else(|| name.strip_prefix("tags/")).unwrap_or(name);
        let file = match name {
            "ORIG_HEAD" | "FETCH_HEAD" => self.own.join(name),
            _ if is_branch_name(tag) => self.common.join("refs/tags").join(tag),
            _ => return None,
        };
        let bytes = files::read_file(&file, LONG).ok()??;
        let hash = std::str::from_utf8(bytes.get(..40)?).ok()?;
        is_hex(hash).then(|| hash.to_owned())
    }

    /// Whether this commit was checked out here, and was never the head of `branch`.
    pub fn is_only_on_other_branch(&self, hash: &str, branch: &str) -> bool {
        let is_logged =
            |log: &Path| search_lines(log, |line| new_hash(line)?.starts_with(hash).then_some(()));
        is_logged(&self.own.join(HEAD_LOG)).is_some()
            && is_logged(&self.common.join("logs/refs/heads").join(branch)).is_none()
    }

    /// Whether a file is one of the repository's own.
    pub fn is_own_file(&self, path: &Path) -> bool {
        path.starts_with(&self.common) || path.starts_with(&self.own)
    }

    /// Whether a branch was checked out or merged here once, according to the log of HEAD.
    pub fn has_had_branch(&self, name: &str) -> bool {
        let is_logged =
            |directory: &Path| search_log(directory, |line| mentions(line, name).then_some(())).is_some();
        is_branch_name(name) && (is_logged(&self.own) || (self.own != self.common && is_logged(&self.common)))
    }
}

/// The log of what was checked out.
const HEAD_LOG: &str = "logs/HEAD";

fn search_log<T>(directory: &Path, find: impl FnMut(&str) -> Option<T>) -> Option<T> {
    search_lines(&directory.join(HEAD_LOG), find)
}

/// Calls `find` with the lines of a log, the last one first.
fn search_lines<T>(log: &Path, mut find: impl FnMut(&str) -> Option<T>) -> Option<T> {
    files::find_line_backwards(log, LONG, |line| find(std::str::from_utf8(line).ok()?)).ok()?
}

/// The commit that a line of a log leads to.
fn new_hash(line: &str) -> Option<&str> {
    line.split(' ').nth(1)
}

/// The two branches of a message `checkout: moving from A to B`.
fn parse_switch(message: &str) -> Option<(&str, &str)> {
    message.strip_prefix("checkout: moving from ")?.split_once(" to ")
}

pub(super) fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn find_git_directory(start: &Path) -> Option<PathBuf> {
    for directory in start.ancestors() {
        let inside = directory.join(".git");
        match fs::metadata(&inside) {
            Ok(found) if found.is_dir() && is_repository(&inside) => return Some(resolve_path(&inside)),
            // In a linked work tree or a submodule, a file names the repository.
            Ok(found) if found.is_file() => {
                let bytes = files::read_file(&inside, SHORT).ok()??;
                let target = directory.join(parse_path(bytes.strip_prefix(b"gitdir: ")?)?);
                return is_repository(&target).then(|| resolve_path(&target));
            }
            _ if is_repository(directory) => return Some(directory.to_owned()),
            _ => {}
        }
    }
    None
}

/// Checks the same entries as git does.
fn is_repository(directory: &Path) -> bool {
    let has_head = fs::symlink_metadata(directory.join("HEAD")).is_ok();
    let is_whole = || directory.join("objects").is_dir() && directory.join("refs").is_dir();
    has_head && (is_whole() || directory.join("commondir").is_file())
}

/// The path in a file that holds nothing else.
fn parse_path(bytes: &[u8]) -> Option<PathBuf> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end_matches(['\n', '\r']);
    (!text.is_empty() && !text.contains('\n')).then(|| text.into())
}

fn parse_head(text: &str) -> Head {
    let text = text.trim_end();
    let Some(reference) = text.strip_prefix("ref:") else {
        let is_hash = matches!(text.len(), 40 | 64) && is_hex(text);
        return if is_hash { Head::Detached } else { Head::Unknown };
    };
    match reference.trim_start().strip_prefix("refs/heads/") {
        // A repository without reference files has an invalid name here.
        Some(name) if is_branch_name(name) => Head::Branch(name.to_owned()),
        _ => Head::Unknown,
    }
}

/// Whether git accepts this as the name of a branch, so that a path made of it stays in the directory.
pub(super) fn is_branch_name(name: &str) -> bool {
    let is_odd = |c: char| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    let is_part =
        |part: &str| !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none();
    !name.contains(is_odd) && !name.contains("..") && name.split('/').all(is_part)
}

/// Whether a line of the log names this branch: `… checkout: moving from A to B`, `… merge A: …`.
fn mentions(line: &str, branch: &str) -> bool {
    let Some((_, message)) = line.split_once('\t') else { return false };
    match parse_switch(message) {
        Some((from, to)) => from == branch || to.trim_end() == branch,
        None => message
            .strip_prefix("merge ")
            .and_then(|rest| rest.split_once(':'))
            .is_some_and(|(name, _)| name == branch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_git_reads_it() {
        assert_eq!(parse_head("ref: refs/heads/main\n"), Head::Branch("main".into()));
        assert_eq!(parse_head("ref:refs/heads/a/b"), Head::Branch("a/b".into()));
        assert_eq!(parse_head(&format!("{}\n", "0a".repeat(20))), Head::Detached);
        assert_eq!(parse_head(&"0a".repeat(32)), Head::Detached);
        for text in
            ["", "ref: ", "ref: refs/heads/", "ref: refs/heads/.invalid\n", "ref: refs/tags/x", "main"]
        {
            assert_eq!(parse_head(text), Head::Unknown, "{text}");
        }
    }

    #[test]
    fn a_name_never_leads_out_of_the_references() {
        for name in ["main", "feature/x", "a.b", "ä", "@x"] {
            assert!(is_branch_name(name), "{name}");
        }
        for name in
            ["", "/x", "x/", "a//b", "../x", "a/../../b", ".x", "a/.x", "x.lock", "a b", "a\nb", "a\\b"]
        {
            assert!(!is_branch_name(name), "{name}");
        }
    }

    #[test]
    fn the_log_names_a_branch_by_its_whole_name() {
        let line = |message: &str| format!("0 1 N N <n@n> 1 +0000\t{message}");
        assert!(mentions(&line("checkout: moving from main to f/x"), "f/x"));
        assert!(mentions(&line("checkout: moving from f/x to main"), "f/x"));
        assert!(mentions(&line("merge f/x: Fast-forward"), "f/x"));
        for message in
            ["checkout: moving from main to f/xy", "commit: to f/x", "merge f/xy: Fast-forward", ""]
        {
            assert!(!mentions(&line(message), "f/x"), "{message}");
        }
        assert!(!mentions("checkout: moving from main to f/x", "f/x"), "a log line has a tab");
    }
}

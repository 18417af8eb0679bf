//! A repository of git, as far as its files tell: no program is started for a question, because a program
//! needs time, an environment and a repository that it trusts.
//!
//! Only what a guard asks for is read: the branch that is checked out, whether a branch is there, and
//! whether it once was. A repository that keeps its references in another way (reftable) says nothing here.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Workspace, resolve};
use crate::decision::Fault;
use crate::files;

/// Files with one line or a path in them are at most so large.
const SHORT: u64 = 64 << 10;
/// A list of all references, or the part of a log that is looked through.
const LONG: u64 = 64 << 20;

pub struct Repository {
    /// The directory of this work tree's own files.
    own: PathBuf,
    /// The directory of what all work trees of the repository share.
    common: PathBuf,
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
    /// The repository that a directory lies in, or that it is itself, found as git finds it.
    pub fn repository(&self, directory: &Path) -> Option<Repository> {
        let own = find(&resolve(directory))?;
        let common = match files::read(&own.join("commondir"), SHORT).ok()? {
            Some(text) => own.join(path_in(&text)?),
            None => own.clone(),
        };
        Some(Repository { common: resolve(&common), own })
    }
}

impl Repository {
    /// Whether both are one repository, in whichever of its work trees.
    pub fn is(&self, other: &Self) -> bool {
        self.common == other.common || files::same(&self.common, &other.common)
    }

    pub fn head(&self) -> Head {
        let file = self.own.join("HEAD");
        // In its early days git made a link of it.
        if let Ok(target) = fs::read_link(&file)
            && let Some(name) = target.to_str().and_then(|target| target.strip_prefix("refs/heads/"))
        {
            return Head::Branch(name.to_owned());
        }
        match files::read(&file, SHORT) {
            Ok(Some(bytes)) => std::str::from_utf8(&bytes).map_or(Head::Unknown, read_head),
            _ => Head::Unknown,
        }
    }

    /// The directory of this work tree's own files, and the one that all work trees share.
    pub(super) fn into_directories(self) -> (PathBuf, PathBuf) {
        (self.own, self.common)
    }

    /// Whether both are one work tree of one repository.
    pub fn is_same_tree(&self, other: &Self) -> bool {
        self.own == other.own || files::same(&self.own, &other.own)
    }

    pub fn has_branch(&self, name: &str) -> Result<bool, Fault> {
        if !is_name(name) {
            return Ok(false);
        }
        let reference = format!("refs/heads/{name}");
        if fs::metadata(self.common.join(&reference)).is_ok_and(|found| found.is_file()) {
            return Ok(true);
        }
        self.has_packed(|found| found == reference)
    }

    /// Whether another repository is known to have a branch of this name, which git then makes here.
    pub fn has_remote_branch(&self, name: &str) -> Result<bool, Fault> {
        if !is_name(name) {
            return Ok(false);
        }
        let remotes = fs::read_dir(self.common.join("refs/remotes")).into_iter().flatten().flatten();
        if remotes.into_iter().any(|remote| remote.path().join(name).is_file()) {
            return Ok(true);
        }
        self.has_packed(|found| {
            let rest = found.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/'));
            rest.is_some_and(|(_, branch)| branch == name)
        })
    }

    fn has_packed(&self, is_wanted: impl Fn(&str) -> bool) -> Result<bool, Fault> {
        let packed = files::read(&self.common.join("packed-refs"), LONG);
        let packed = packed.map_err(|error| Fault::Error(error.to_string()))?.unwrap_or_default();
        let is_it = |line: &[u8]| {
            let line = std::str::from_utf8(line).ok().and_then(|line| line.split_once(' '));
            line.is_some_and(|(hash, name)| hash.bytes().all(|c| c.is_ascii_hexdigit()) && is_wanted(name))
        };
        Ok(packed.split(|byte| *byte == b'\n').any(is_it))
    }

    /// What was checked out so many switches ago: `git switch -` goes there.
    pub fn previous_branch(&self, steps: usize) -> Option<String> {
        let mut left = steps;
        let find = |line: &[u8]| {
            let message = std::str::from_utf8(line).ok()?.split_once('\t')?.1;
            let (from, _) = message.strip_prefix("checkout: moving from ")?.split_once(" to ")?;
            left = left.checked_sub(1)?;
            (left == 0).then(|| from.to_owned())
        };
        files::find_line_backwards(&self.own.join("logs/HEAD"), LONG, find).ok()?
    }

    /// The commit that was checked out so many changes of HEAD ago: `HEAD@{1}`.
    pub fn earlier_head(&self, steps: usize) -> Option<String> {
        let mut left = steps;
        let find = |line: &[u8]| {
            let hash = new_hash(line)?.to_owned();
            if left == 0 {
                return Some(hash);
            }
            left -= 1;
            None
        };
        files::find_line_backwards(&self.own.join("logs/HEAD"), LONG, find).ok()?
    }

    /// The commit that a hash, a tag or one of git's own names stands for, as far as a file says it.
    pub fn commit_of(&self, name: &str) -> Option<String> {
        if name.len() >= 4 && name.len() <= 64 && name.bytes().all(|c| c.is_ascii_hexdigit()) {
            return Some(name.to_ascii_lowercase());
        }
        let tag = name.strip_prefix("refs/tags/").or_else(|| name.strip_prefix("tags/")).unwrap_or(name);
        let file = match name {
            "ORIG_HEAD" | "FETCH_HEAD" => self.own.join(name),
            _ if is_name(tag) => self.common.join("refs/tags").join(tag),
            _ => return None,
        };
        let bytes = files::read(&file, LONG).ok()??;
        let hash = std::str::from_utf8(bytes.get(..40)?).ok()?;
        hash.bytes().all(|c| c.is_ascii_hexdigit()).then(|| hash.to_owned())
    }

    /// Whether this commit was checked out here, and was never this branch.
    pub fn is_of_another_branch(&self, hash: &str, branch: &str) -> bool {
        let tells = |log: &Path| {
            let find = |line: &[u8]| new_hash(line)?.starts_with(hash).then_some(());
            matches!(files::find_line_backwards(log, LONG, find), Ok(Some(())))
        };
        tells(&self.own.join("logs/HEAD")) && !tells(&self.common.join("logs/refs/heads").join(branch))
    }

    /// Whether a file lies in a directory of this repository's own files.
    pub fn is_shared_file(&self, path: &Path) -> bool {
        path.starts_with(&self.common) || path.starts_with(&self.own)
    }

    /// Whether a branch was checked out or merged here once, as the log of what was checked out tells.
    pub fn had_branch(&self, name: &str) -> bool {
        let tells = |line: &[u8]| std::str::from_utf8(line).is_ok_and(|line| tells_of(line, name));
        let found = |directory: &Path| {
            let log = directory.join("logs/HEAD");
            matches!(files::find_line_backwards(&log, LONG, |line| tells(line).then_some(())), Ok(Some(())))
        };
        is_name(name) && (found(&self.own) || (self.own != self.common && found(&self.common)))
    }
}

/// The commit that a line of a log leads to.
fn new_hash(line: &[u8]) -> Option<&str> {
    std::str::from_utf8(line).ok()?.split(' ').nth(1)
}

fn find(start: &Path) -> Option<PathBuf> {
    for directory in start.ancestors() {
        let inside = directory.join(".git");
        match fs::metadata(&inside) {
            Ok(found) if found.is_dir() && is_repository(&inside) => return Some(resolve(&inside)),
            // A linked work tree or a submodule: the file says where its repository lies.
            Ok(found) if found.is_file() => {
                let bytes = files::read(&inside, SHORT).ok()??;
                let target = directory.join(path_in(bytes.strip_prefix(b"gitdir: ")?)?);
                return is_repository(&target).then(|| resolve(&target));
            }
            _ if is_repository(directory) => return Some(directory.to_owned()),
            _ => {}
        }
    }
    None
}

/// By the same signs as git: an empty directory of that name is none.
fn is_repository(directory: &Path) -> bool {
    let has_head = fs::symlink_metadata(directory.join("HEAD")).is_ok();
    let is_whole = || directory.join("objects").is_dir() && directory.join("refs").is_dir();
    has_head && (is_whole() || directory.join("commondir").is_file())
}

/// A file that holds one path.
fn path_in(bytes: &[u8]) -> Option<PathBuf> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end_matches(['\n', '\r']);
    (!text.is_empty() && !text.contains('\n')).then(|| text.into())
}

fn read_head(text: &str) -> Head {
    let text = text.trim_end();
    let Some(reference) = text.strip_prefix("ref:") else {
        let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        return if is_hash { Head::Detached } else { Head::Unknown };
    };
    match reference.trim_start().strip_prefix("refs/heads/") {
        // Where references are not kept in files, this file only has to look like one of git's.
        Some(name) if is_name(name) => Head::Branch(name.to_owned()),
        _ => Head::Unknown,
    }
}

/// Whether git takes this for the name of a branch, as far as it matters for a path made of it.
fn is_name(name: &str) -> bool {
    let is_odd = |c: char| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    let is_part =
        |part: &str| !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none();
    !name.contains(is_odd) && !name.contains("..") && name.split('/').all(is_part)
}

/// Whether a line of the log tells of this branch: `… checkout: moving from A to B`, `… merge A: …`.
fn tells_of(line: &str, branch: &str) -> bool {
    let Some((_, message)) = line.split_once('\t') else { return false };
    if let Some((from, to)) =
        message.strip_prefix("checkout: moving from ").and_then(|moved| moved.split_once(" to "))
    {
        return from == branch || to.trim_end() == branch;
    }
    message.strip_prefix("merge ").and_then(|merged| merged.split_once(':')).is_some_and(|(a, _)| a == branch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_git_reads_it() {
        assert_eq!(read_head("ref: refs/heads/main\n"), Head::Branch("main".into()));
        assert_eq!(read_head("ref:refs/heads/a/b"), Head::Branch("a/b".into()));
        assert_eq!(read_head(&format!("{}\n", "0a".repeat(20))), Head::Detached);
        assert_eq!(read_head(&"0a".repeat(32)), Head::Detached);
        for text in
            ["", "ref: ", "ref: refs/heads/", "ref: refs/heads/.invalid\n", "ref: refs/tags/x", "main"]
        {
            assert_eq!(read_head(text), Head::Unknown, "{text}");
        }
    }

    #[test]
    fn a_name_never_leads_out_of_the_references() {
        for name in ["main", "feature/x", "a.b", "ä", "@x"] {
            assert!(is_name(name), "{name}");
        }
        for name in
            ["", "/x", "x/", "a//b", "../x", "a/../../b", ".x", "a/.x", "x.lock", "a b", "a\nb", "a\\b"]
        {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn the_log_tells_of_a_branch_by_its_whole_name() {
        let line = |message: &str| format!("0 1 N N <n@n> 1 +0000\t{message}");
        assert!(tells_of(&line("checkout: moving from main to f/x"), "f/x"));
        assert!(tells_of(&line("checkout: moving from f/x to main"), "f/x"));
        assert!(tells_of(&line("merge f/x: Fast-forward"), "f/x"));
        for message in
            ["checkout: moving from main to f/xy", "commit: to f/x", "merge f/xy: Fast-forward", ""]
        {
            assert!(!tells_of(&line(message), "f/x"), "{message}");
        }
        assert!(!tells_of("checkout: moving from main to f/x", "f/x"), "this stands in no log");
    }
}

//! The references of a git repository, and whether their commits would be lost without one of them.
//!
//! A commit is saved if another branch, a remote branch or HEAD leads to it. Where the files cannot tell, the answer is
//! `None`.

use std::fs;
use std::path::Path;

use super::git_objects::ObjectStore;
use super::git_repository::{Head, LONG, Repository, SHORT, is_branch_name, is_hex};
use provost_files as files;

/// How many references are looked at.
const MOST_REFERENCES: usize = 5_000;
/// How far back `~N` is followed.
const MOST_STEPS: usize = 1_000;

/// The branches of this repository.
const HEADS: &str = "refs/heads/";
/// What this repository knows about the branches of others.
const REMOTES: &str = "refs/remotes/";

impl Repository {
    /// Whether there is a stash.
    pub fn has_stash(&self) -> bool {
        self.read_reference("refs/stash").is_some()
    }

    /// Whether there is a branch of this name, and another reference leads to its last commit.
    pub fn is_branch_saved(&self, name: &str) -> Option<bool> {
        let own = format!("{HEADS}{name}");
        let tip = self.read_reference(&own).filter(|_| is_branch_name(name))?;
        let mut others = self.list_references()?;
        others.retain(|(reference, _)| *reference != own);
        let mut tips: Vec<String> = others.into_iter().map(|(_, hash)| hash).collect();
        // A branch that is checked out cannot be deleted, and a detached HEAD keeps its commits.
        if self.read_head() == Head::Detached {
            tips.extend(self.read_head_commit());
        }
        self.is_reachable(&tip, &tips)
    }

    /// Whether another reference than the branch that is checked out leads to the current commit.
    pub fn is_head_saved(&self) -> Option<bool> {
        let head = self.read_head_commit()?;
        let own = match self.read_head() {
            Head::Branch(name) => format!("{HEADS}{name}"),
            Head::Detached => String::new(),
            Head::Unknown => return None,
        };
        let others = self.list_references()?.into_iter().filter(|(reference, _)| *reference != own);
        self.is_reachable(&head, &others.map(|(_, hash)| hash).collect::<Vec<_>>())
    }

    /// Whether a remote branch leads to the current commit.
    pub fn is_head_pushed(&self) -> Option<bool> {
        let remotes = self.list_references()?.into_iter().filter(|(name, _)| name.starts_with(REMOTES));
        let remotes: Vec<String> = remotes.map(|(_, hash)| hash).collect();
        if remotes.is_empty() {
            return Some(false);
        }
        self.is_reachable(&self.read_head_commit()?, &remotes)
    }

    /// Whether the commits of a remote branch are all in a local one, so that a push only adds to it. `local` is `None` for
    /// what is checked out. The branch is read in the remote repository itself, because somebody may have pushed to it since
    /// the last fetch; one on another machine cannot be read.
    pub fn is_remote_branch_included(&self, remote: &str, branch: &str, local: Option<&str>) -> Option<bool> {
        if !is_branch_name(branch) || !is_branch_name(remote) {
            return None;
        }
        let theirs = self.open_remote(remote)?.read_reference(&format!("{HEADS}{branch}"))?;
        let ours = match local {
            Some(name) if is_branch_name(name) => self.read_reference(&format!("{HEADS}{name}"))?,
            Some(_) => return None,
            None => self.read_head_commit()?,
        };
        self.is_reachable(&theirs, &[ours])
    }

    /// Whether a commit of the branch that is checked out, which a remote branch of the same name has, is missing in
    /// `onto`. A rebase onto it would rewrite that commit.
    pub fn has_pushed_commits_beyond(&self, onto: &str) -> Option<bool> {
        let Head::Branch(branch) = self.read_head() else { return None };
        let remotes = self.list_references()?.into_iter().filter(|(name, _)| {
            let rest = name.strip_prefix(REMOTES).and_then(|rest| rest.split_once('/'));
            rest.is_some_and(|(_, name)| name == branch)
        });
        let remotes: Vec<String> = remotes.map(|(_, hash)| hash).collect();
        if remotes.is_empty() {
            return Some(false);
        }
        let onto = self.resolve_name(onto)?;
        let mut is_beyond = false;
        for pushed in remotes {
            is_beyond |= !self.is_reachable(&pushed, std::slice::from_ref(&onto))?;
        }
        Some(is_beyond)
    }

    /// Whether a revision means the commit that is checked out.
    pub fn is_head(&self, revision: &str) -> bool {
        matches!(revision, "HEAD" | "@")
            || self
                .resolve_name(revision)
                .is_some_and(|hash| self.read_head_commit().as_deref() == Some(&*hash))
    }

    /// The commit that a branch, a remote branch or a whole hash names, or an ancestor of one: `HEAD~3`, `main^`.
    fn resolve_name(&self, name: &str) -> Option<String> {
        let (base, mut steps) = name.split_at(name.find(['~', '^']).unwrap_or(name.len()));
        let mut hash = match base {
            "HEAD" | "@" => self.read_head_commit()?,
            base => self.resolve_plain_name(base)?,
        };
        let mut store = ObjectStore::new(&self.common, hash.len() / 2);
        while let Some(sign) = steps.chars().next() {
            let rest = &steps[1..];
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number =
                if end == 0 { 1 } else { rest[..end].parse().ok().filter(|number| *number <= MOST_STEPS)? };
            steps = &rest[end..];
            let (generations, parent) = match sign {
                '~' => (number, 0),
                '^' => (usize::from(number > 0), number.saturating_sub(1)),
                _ => return None,
            };
            for _ in 0..generations {
                hash = store.read_commit(&hash)?.parents.into_iter().nth(parent)?;
            }
        }
        Some(hash)
    }

    fn resolve_plain_name(&self, name: &str) -> Option<String> {
        if matches!(name.len(), 40 | 64) && is_hex(name) {
            return Some(name.to_ascii_lowercase());
        }
        if !is_branch_name(name) {
            return None;
        }
        let read = |prefix: &str| self.read_reference(&format!("{prefix}{name}"));
        if name.starts_with("refs/") {
            self.read_reference(name)
        } else {
            read(HEADS).or_else(|| read(REMOTES))
        }
    }

    fn is_reachable(&self, commit: &str, tips: &[String]) -> Option<bool> {
        ObjectStore::new(&self.common, commit.len() / 2).is_reachable(commit, tips)
    }

    /// The commit that is checked out.
    pub(super) fn read_head_commit(&self) -> Option<String> {
        match self.read_head() {
            Head::Branch(name) => self.read_reference(&format!("{HEADS}{name}")),
            Head::Detached => parse_hash_line(&files::read_file(&self.own.join("HEAD"), SHORT).ok()??),
            Head::Unknown => None,
        }
    }

    /// The hash that a reference holds.
    fn read_reference(&self, name: &str) -> Option<String> {
        if let Ok(Some(bytes)) = files::read_file(&self.common.join(name), SHORT) {
            return parse_hash_line(&bytes);
        }
        let packed = files::read_file(&self.common.join("packed-refs"), LONG).ok()??;
        parse_packed(&packed).find(|(_, packed)| *packed == name).map(|(hash, _)| hash.to_owned())
    }

    /// All branches and remote branches with their commits.
    fn list_references(&self) -> Option<Vec<(String, String)>> {
        let mut found: Vec<(String, String)> = Vec::new();
        for prefix in [HEADS, REMOTES] {
            self.add_loose_references(prefix, &mut found)?;
        }
        let packed = files::read_file(&self.common.join("packed-refs"), LONG).ok()?.unwrap_or_default();
        let loose = found.len();
        for (hash, name) in parse_packed(&packed) {
            let is_wanted = name.starts_with(HEADS) || name.starts_with(REMOTES);
            if is_wanted && !found[..loose].iter().any(|(loose, _)| loose == name) {
                found.push((name.to_owned(), hash.to_owned()));
            }
        }
        (found.len() <= MOST_REFERENCES).then_some(found)
    }

    fn add_loose_references(&self, prefix: &str, found: &mut Vec<(String, String)>) -> Option<()> {
        let mut open = vec![prefix.to_owned()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(self.common.join(&directory)).into_iter().flatten().flatten() {
                let name = format!("{directory}{}", entry.file_name().to_string_lossy());
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(name + "/");
                } else if let Some(hash) = read_hash(&entry.path()) {
                    found.push((name, hash));
                }
                if found.len() + open.len() > MOST_REFERENCES {
                    return None;
                }
            }
        }
        Some(())
    }
}

fn read_hash(file: &Path) -> Option<String> {
    parse_hash_line(&files::read_file(file, SHORT).ok()??)
}

fn parse_hash_line(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end();
    (matches!(text.len(), 40 | 64) && is_hex(text)).then(|| text.to_owned())
}

/// The hashes and names in a file of packed references.
fn parse_packed(bytes: &[u8]) -> impl Iterator<Item = (&str, &str)> {
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    lines.filter_map(|line| line.split_once(' ')).filter(|(hash, _)| is_hex(hash))
}

//! What has changed in a work tree, as a diff for a reviewer.
//!
//! The diff of a session starts where the session began: at the commit that was checked out then, or at what reviews have
//! found clean since ([`super::reviewed_files`]). It has only files that the session has changed. So it does not matter
//! whether they are committed meanwhile, and what other sessions and other people change is not in it. A command that
//! moves commits, such as a rebase, changes no file by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::Workspace;
use super::disk::fault_at;
use super::git_trees::{TreeDifference, split_names};
use super::private_git::PrivateGit;
use super::reviewed_files::{FileContent, ReviewedFiles};
use super::session_base::SessionBase;
use super::unreviewed_names::find_generated_name;
use crate::opinion::Fault;
use crate::places::{fnv1a, is_within};
use crate::rules::evidence::ChangedPath;
use provost_files as files;

/// A larger file is not reviewed.
const LARGEST_FILE: u64 = 4 << 20;

/// A file of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// From the top of the work tree.
    pub path: String,
    /// How many lines were added and removed; a binary file counts as one line.
    pub lines: u64,
    content: FileContent,
    committed: FileContent,
}

/// A changed file that is not reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutFile {
    pub path: String,
    pub why: &'static str,
}

/// The changes that a reviewer reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeDiff {
    /// Identifies the content of the changed files.
    pub content: String,
    pub files: Vec<ChangedFile>,
    pub left_out: Vec<LeftOutFile>,
    base: String,
}

impl ChangeDiff {
    pub fn count_lines(&self) -> u64 {
        self.files.iter().map(|file| file.lines).sum()
    }
}

/// Where the changed files have their new content.
#[derive(Clone, Copy)]
enum NewContent<'a> {
    WorkTree,
    Commit(&'a str),
}

impl Workspace {
    /// The diff of what a session has changed since it began, without what at least `clean` reviews in a row have found
    /// clean. `accept` says which files count, by their paths.
    pub fn diff_session_changes(
        &self,
        session: &str,
        changes: &[&ChangedPath],
        clean: u64,
        accept: &dyn Fn(&Path) -> bool,
    ) -> Result<ChangeDiff, Fault> {
        let digest = fnv1a(session.as_bytes());
        let base = self.read_session_base(session)?;
        let git = PrivateGit::open(self)?;
        let names = self.list_changed_names(&git, &base, changes, accept)?;
        let mut reviewed = self.read_reviewed_files(&git.top);
        reviewed.retain(|_, file| file.clean >= clean);
        build_diff(&git, base.commit.as_deref(), names, NewContent::WorkTree, (&reviewed, digest))
    }

    /// Remembers that so many reviews in a row have found the content of a session's diff clean.
    pub fn remember_clean_diff(&self, session: &str, diff: &ChangeDiff, clean: u64) -> Result<(), Fault> {
        let digest = fnv1a(session.as_bytes());
        let found = diff.files.iter().map(|file| {
            let ChangedFile { path, content, committed, .. } = file;
            (path.clone(), content.clone(), committed.clone())
        });
        self.remember_reviewed_files(&self.find_tree_top(), found, digest, clean)?;
        PrivateGit::open(self)?.remove_old_objects();
        Ok(())
    }

    /// The diff of a range of commits (`A..B`, `A...B`), or of the work tree against a commit (`A`; without a range, the
    /// one that is checked out). The inner error says what is wrong with the range.
    pub fn diff_range(&self, range: Option<&str>) -> Result<Result<ChangeDiff, String>, Fault> {
        let git = PrivateGit::open(self)?;
        self.diff_range_with(&git, range)
    }

    fn diff_range_with(
        &self,
        git: &PrivateGit<'_>,
        range: Option<&str>,
    ) -> Result<Result<ChangeDiff, String>, Fault> {
        let has_repository = self.find_repository(&git.top).is_some();
        let find = |name: &str| {
            let name = if name.is_empty() { "HEAD" } else { name };
            let found = git.run(
                &["rev-parse", "-q", "--verify", "--end-of-options", &format!("{name}^{{commit}}")],
                None,
            );
            found
                .map(|hash| String::from_utf8_lossy(&hash).trim().to_owned())
                .map_err(|_| format!("there is no commit `{name}`"))
        };
        let found = match range.map(|range| (range, range.split_once(".."))) {
            None => Ok((find("HEAD").ok(), None)),
            Some((range, _)) if !has_repository => {
                Err(format!("`{range}` needs a git repository, and there is none"))
            }
            Some((name, None)) => find(name).map(|base| (Some(base), None)),
            Some((_, Some((from, to)))) => {
                let is_since_fork = to.starts_with('.');
                let ends = find(from).and_then(|from| Ok((from, find(to.trim_start_matches('.'))?)));
                ends.and_then(|(from, to)| {
                    if !is_since_fork {
                        return Ok((Some(from), Some(to)));
                    }
                    let fork = git.run(&["merge-base", &from, &to], None);
                    let fork = fork.map_err(|_| "the two commits have no common ancestor".to_owned())?;
                    Ok((Some(String::from_utf8_lossy(&fork).trim().to_owned()), Some(to)))
                })
            }
        };
        let (base, to) = match found {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let names = match (&base, &to) {
            (Some(base), Some(to)) => split_names(
                &git.run(&["diff-tree", "-r", "-z", "--name-only", "--no-renames", base, to], None)?,
            ),
            _ => self.list_uncommitted_names(git, base.as_deref()),
        };
        let new = to.as_deref().map_or(NewContent::WorkTree, NewContent::Commit);
        build_diff(git, base.as_deref(), names.into_iter().collect(), new, (&ReviewedFiles::new(), 0)).map(Ok)
    }

    /// Writes a diff as text to a file.
    pub fn write_diff_text(&self, diff: &ChangeDiff, file: &Path) -> Result<(), Fault> {
        self.permit_change()?;
        let git = PrivateGit::open(self)?;
        // Git keeps the mode of a file that exists.
        files::make_log_file(file).map_err(fault_at(file))?;
        let output = format!("--output={}", file.display());
        let form = ["diff-tree", "-r", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv", &output];
        git.run(&[&form[..], &[&diff.base, &diff.content]].concat(), None).map(drop)
    }

    /// The files that differ from a commit, and those that git neither tracks nor ignores.
    fn list_uncommitted_names(&self, git: &PrivateGit<'_>, base: Option<&str>) -> Vec<String> {
        let run = |arguments: &[&str]| self.run_git(&git.top, arguments).map(|output| split_names(&output));
        let Some(others) = run(&["ls-files", "-z", "--others", "--exclude-standard"]) else {
            // There is no repository.
            let all = self.list_files_below(&git.top).unwrap_or_default();
            return all.iter().filter_map(|path| relative_name(path, &git.top)).collect();
        };
        let changed = match base {
            Some(base) => run(&["diff-index", "-z", "--name-only", "--no-renames", base]),
            None => run(&["ls-files", "-z"]),
        };
        changed.into_iter().flatten().chain(others).collect()
    }

    fn list_changed_names(
        &self,
        git: &PrivateGit<'_>,
        base: &SessionBase,
        changes: &[&ChangedPath],
        accept: &dyn Fn(&Path) -> bool,
    ) -> Result<BTreeSet<String>, Fault> {
        let mut names = BTreeSet::new();
        let mut add = |path: &Path| {
            if accept(path) && !path.is_dir() {
                names.extend(relative_name(path, &git.top));
            }
        };
        let mut has_unknown = false;
        for change in changes {
            match change {
                ChangedPath::File(path) => add(path),
                // Git moves commits: a rebase, a merge, another branch.
                ChangedPath::Tree(path) if is_within(&git.top, path) => {}
                ChangedPath::Tree(path) => {
                    let found = self.list_files_below(path).ok_or_else(|| {
                        Fault::Error(format!("there are too many files in {}", path.display()))
                    })?;
                    for path in &found {
                        add(path);
                    }
                    add(path);
                    if let (Some(commit), Some(name)) = (&base.commit, relative_name(path, &git.top)) {
                        let before = git.read_tree(commit, &[&name])?;
                        for name in before.keys() {
                            add(&git.top.join(name));
                        }
                    }
                }
                ChangedPath::Any => has_unknown = true,
            }
        }
        if has_unknown {
            // It may have been any file that was written since the session began.
            let is_new = |path: &Path| changed_since(path, base.at);
            let uncommitted = self.list_uncommitted_names(git, Some("HEAD"));
            uncommitted
                .iter()
                .map(|name| git.top.join(name))
                .filter(|path| is_new(path))
                .for_each(|path| add(&path));
        }
        Ok(names)
    }
}

/// Builds the diff of some files.
fn build_diff(
    git: &PrivateGit<'_>,
    commit: Option<&str>,
    mut names: BTreeSet<String>,
    new: NewContent<'_>,
    (reviewed, session): (&ReviewedFiles, u64),
) -> Result<ChangeDiff, Fault> {
    let mut left_out = Vec::new();
    names.retain(|name| {
        let why = find_generated_name(name).or_else(|| match new {
            NewContent::WorkTree => find_obstacle(&git.top, name),
            NewContent::Commit(_) => None,
        });
        left_out.extend(why.map(|why| LeftOutFile { path: name.clone(), why }));
        why.is_none()
    });
    let attributes: BTreeSet<String> = names.iter().flat_map(|name| list_attribute_files(name)).collect();
    let committed = match commit {
        Some(commit) => {
            git.read_tree(commit, &names.iter().chain(&attributes).map(String::as_str).collect::<Vec<_>>())?
        }
        None => BTreeMap::new(),
    };
    let content_before = |name: &String| -> FileContent {
        let committed = committed.get(name).cloned();
        let base = reviewed.get(name).and_then(|file| file.base(&committed, session)).cloned();
        base.unwrap_or(committed)
    };
    let before = names.union(&attributes).map(|name| (name.clone(), content_before(name)));
    git.fill_index(before.filter(|(_, content)| content.is_some()))?;
    for (name, why) in find_left_out(git, &names, new)? {
        names.remove(&name);
        left_out.push(LeftOutFile { path: name, why });
    }
    let base = git.write_tree()?;
    match new {
        NewContent::WorkTree => {
            let list: String = names.iter().flat_map(|name| [name, "\0"]).collect();
            git.run(&["update-index", "-z", "--add", "--remove", "--stdin"], Some(list.as_bytes()))?;
        }
        NewContent::Commit(to) => {
            let after = git.read_tree(to, &names.iter().map(String::as_str).collect::<Vec<_>>())?;
            git.fill_index(names.iter().map(|name| (name.clone(), after.get(name).cloned())))?;
        }
    }
    let content = git.write_tree()?;
    let add_committed = |TreeDifference { path, content, lines }| {
        let committed = committed.get(&path).cloned();
        ChangedFile { path, lines, content, committed }
    };
    let files = git.compare_trees(&base, &content)?.into_iter().map(add_committed).collect();
    Ok(ChangeDiff { content, files, left_out, base })
}

/// Why a file of the work tree cannot be reviewed.
fn find_obstacle(top: &Path, name: &str) -> Option<&'static str> {
    let path = top.join(name);
    let inner = path.ancestors().skip(1).take_while(|above| *above != top);
    if inner.into_iter().any(|above| above.join(".git").symlink_metadata().is_ok()) {
        return Some("in another repository");
    }
    let metadata = fs::symlink_metadata(&path).ok()?;
    match () {
        () if !metadata.is_file() && !metadata.is_symlink() => Some("not a file"),
        () if metadata.len() > LARGEST_FILE => Some("larger than 4 MiB"),
        () => None,
    }
}

/// The files that git ignores or calls generated. What it says is taken from before the changes, so that a new line in
/// `.gitattributes` hides nothing.
fn find_left_out(
    git: &PrivateGit<'_>,
    names: &BTreeSet<String>,
    new: NewContent<'_>,
) -> Result<Vec<(String, &'static str)>, Fault> {
    const ATTRIBUTES: [&str; 2] = ["linguist-generated", "linguist-vendored"];
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let list: String = names.iter().flat_map(|name| [name, "\0"]).collect();
    let mut found = Vec::new();
    if matches!(new, NewContent::WorkTree) {
        // It takes a name with a colon in front for a pattern.
        let plain: String =
            names.iter().filter(|name| !name.starts_with(':')).flat_map(|name| [name, "\0"]).collect();
        let ignored = git.run_with(&["check-ignore", "-z", "--stdin"], &[], Some(plain.as_bytes()), 1)?;
        found.extend(split_names(&ignored).into_iter().map(|name| (name, "ignored by git")));
    }
    let arguments = [&["check-attr", "--cached", "-z", "--stdin"], &ATTRIBUTES[..]].concat();
    let attributes = split_names(&git.run(&arguments, Some(list.as_bytes()))?);
    for triple in attributes.chunks_exact(3) {
        let is_set = !matches!(triple[2].as_str(), "unspecified" | "unset" | "false");
        if is_set && !found.iter().any(|(name, _)| *name == triple[0]) {
            let why = if triple[1] == ATTRIBUTES[0] { "generated" } else { "vendored" };
            found.push((triple[0].clone(), why));
        }
    }
    Ok(found)
}

/// The files that decide which attributes a file has.
fn list_attribute_files(name: &str) -> impl Iterator<Item = String> {
    Path::new(name)
        .ancestors()
        .skip(1)
        .map(|above| above.join(".gitattributes").to_string_lossy().into_owned())
}

/// The name of a file from the top of the work tree; `None` for files elsewhere and those of git.
fn relative_name(path: &Path, top: &Path) -> Option<String> {
    let name = path.strip_prefix(top).ok()?.to_str()?;
    let is_of_git = Path::new(name).iter().any(|part| part == ".git");
    (!name.is_empty() && !is_of_git).then(|| name.to_owned())
}

/// Whether a file was written, or its directory entry changed, since a time in seconds.
fn changed_since(path: &Path, time: u64) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return true };
    #[cfg(unix)]
    let changed = u64::try_from(std::os::unix::fs::MetadataExt::ctime(&metadata)).unwrap_or(u64::MAX);
    #[cfg(not(unix))]
    let changed = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .map_or(u64::MAX, |time| time.as_secs());
    changed >= time
}

#[cfg(test)]
mod tests;

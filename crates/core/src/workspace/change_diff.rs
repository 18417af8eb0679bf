//! What has changed in a work tree, as a diff for a reviewer.
//!
//! The diff of a session starts where the session began: at the commit that was checked out then, or at what reviews have
//! found clean since ([`super::reviewed_files`]). It has only files that the session has changed. So it does not matter
//! whether they are committed meanwhile, and what other sessions and other people change is not in it. A command that
//! moves commits, such as a rebase, changes no file by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Workspace;
use super::private_git::PrivateGit;
use super::reviewed_files::{FileContent, ReviewedFiles};
use super::unreviewed_names::find_generated_name;
use crate::clock;
use crate::opinion::Fault;
use crate::places::{fnv1a, is_within};
use crate::rules::evidence::ChangedPath;
use provost_files as files;

/// A larger file is not reviewed.
const LARGEST_FILE: u64 = 4 << 20;
/// How many names one call of git gets as arguments.
const MOST_NAMES: usize = 500;
/// Trees have no entry of this mode but other repositories.
const SUBMODULE: &str = "160000";
const SMALL: u64 = 64 << 10;

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

/// Where a session began.
struct SessionBase {
    commit: Option<String>,
    /// In seconds since 1970.
    at: u64,
}

impl Workspace {
    /// Remembers the commit that is checked out as the one that a session began with, unless one is known.
    pub fn remember_session_commit(&self, session: &str) -> Result<(), Fault> {
        let file = self.session_base_file(session)?;
        if !file.exists() {
            self.save_session_base(session, &file)?;
        }
        Ok(())
    }

    fn session_base_file(&self, session: &str) -> Result<PathBuf, Fault> {
        self.changes_file(&self.find_tree_top(), &format!("session-{:016x}.json", fnv1a(session.as_bytes())))
    }

    fn save_session_base(&self, session: &str, file: &Path) -> Result<SessionBase, Fault> {
        let repository = self.find_repository(&self.project);
        let commit = repository.and_then(|repository| repository.read_head_commit());
        let at = clock::time_since_epoch().as_secs();
        let value = json!({"session": session, "commit": commit, "at": at});
        self.write_state_file(file, value.to_string().as_bytes())?;
        Ok(SessionBase { commit, at })
    }

    fn read_session_base(&self, session: &str) -> Result<SessionBase, Fault> {
        let file = self.session_base_file(session)?;
        let bytes = files::read_file(&file, SMALL).ok().flatten().unwrap_or_default();
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        match value["at"].as_u64().filter(|_| value["session"] == session) {
            Some(at) => Ok(SessionBase { commit: value["commit"].as_str().map(str::to_owned), at }),
            None => self.save_session_base(session, &file),
        }
    }

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
            let found = git.run(&["rev-parse", "-q", "--verify", "--end-of-options", &format!("{name}^{{commit}}")], None);
            found.map(|hash| String::from_utf8_lossy(&hash).trim().to_owned()).map_err(|_| format!("there is no commit `{name}`"))
        };
        let found = match range.map(|range| (range, range.split_once(".."))) {
            None => Ok((find("HEAD").ok(), None)),
            Some((range, _)) if !has_repository => Err(format!("`{range}` needs a git repository, and there is none")),
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
            (Some(base), Some(to)) => {
                split_names(&git.run(&["diff-tree", "-r", "-z", "--name-only", "--no-renames", base, to], None)?)
            }
            _ => self.list_uncommitted_names(git, base.as_deref()),
        };
        let new = to.as_deref().map_or(NewContent::WorkTree, NewContent::Commit);
        build_diff(git, base.as_deref(), names.into_iter().collect(), new, (&ReviewedFiles::new(), 0)).map(Ok)
    }

    /// Writes a diff as text to a file.
    pub fn write_diff_text(&self, diff: &ChangeDiff, file: &Path) -> Result<(), Fault> {
        let git = PrivateGit::open(self)?;
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
                    found.iter().for_each(|path| add(path));
                    add(path);
                    if let (Some(commit), Some(name)) = (&base.commit, relative_name(path, &git.top)) {
                        let before = read_tree(git, commit, &[&name])?;
                        before.keys().for_each(|name| add(&git.top.join(name)));
                    }
                }
                ChangedPath::Any => has_unknown = true,
            }
        }
        if has_unknown {
            // It may have been any file that was written since the session began.
            let is_new = |path: &Path| changed_since(path, base.at);
            let uncommitted = self.list_uncommitted_names(git, Some("HEAD"));
            uncommitted.iter().map(|name| git.top.join(name)).filter(|path| is_new(path)).for_each(|path| add(&path));
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
        Some(commit) => read_tree(git, commit, &names.iter().chain(&attributes).map(String::as_str).collect::<Vec<_>>())?,
        None => BTreeMap::new(),
    };
    let content_before = |name: &String| -> FileContent {
        let committed = committed.get(name).cloned();
        let base = reviewed.get(name).and_then(|file| file.base(&committed, session)).cloned();
        base.unwrap_or(committed)
    };
    let before = names.union(&attributes).map(|name| (name.clone(), content_before(name)));
    fill_index(git, before.filter(|(_, content)| content.is_some()))?;
    for (name, why) in find_left_out(git, &names, new)? {
        names.remove(&name);
        left_out.push(LeftOutFile { path: name, why });
    }
    let base = git.write_tree()?;
    match new {
        NewContent::WorkTree => {
            let list: String = names.iter().map(|name| format!("{name}\0")).collect();
            git.run(&["update-index", "-z", "--add", "--remove", "--stdin"], Some(list.as_bytes()))?;
        }
        NewContent::Commit(to) => {
            let after = read_tree(git, to, &names.iter().map(String::as_str).collect::<Vec<_>>())?;
            fill_index(git, names.iter().map(|name| (name.clone(), after.get(name).cloned())))?;
        }
    }
    let content = git.write_tree()?;
    let mut files = read_changes(git, &base, &content)?;
    for file in &mut files {
        file.committed = committed.get(&file.path).cloned();
    }
    left_out.retain(|file| !files.iter().any(|kept| kept.path == file.path));
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
    let list: String = names.iter().map(|name| format!("{name}\0")).collect();
    let mut found = Vec::new();
    if matches!(new, NewContent::WorkTree) {
        // It takes a name with a colon in front for a pattern.
        let plain: String =
            names.iter().filter(|name| !name.starts_with(':')).map(|name| format!("{name}\0")).collect();
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
    Path::new(name).ancestors().skip(1).map(|above| above.join(".gitattributes").to_string_lossy().into_owned())
}

/// The files of a commit with these names, or below them.
fn read_tree(
    git: &PrivateGit<'_>,
    commit: &str,
    names: &[&str],
) -> Result<BTreeMap<String, (String, String)>, Fault> {
    let mut found = BTreeMap::new();
    for names in names.chunks(MOST_NAMES) {
        let output = git.run_with(&["--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit, "--"], names, None, 0)?;
        for entry in split_names(&output) {
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
fn fill_index(
    git: &PrivateGit<'_>,
    entries: impl Iterator<Item = (String, FileContent)>,
) -> Result<(), Fault> {
    let line = |(name, content): (String, FileContent)| match content {
        Some((mode, hash)) => format!("{mode} {hash}\t{name}\0"),
        None => format!("0 {}\t{name}\0", "0".repeat(40)),
    };
    let lines: String = entries.map(line).collect();
    git.run(&["update-index", "-z", "--index-info"], Some(lines.as_bytes())).map(drop)
}

/// The files that differ between two trees.
fn read_changes(git: &PrivateGit<'_>, base: &str, content: &str) -> Result<Vec<ChangedFile>, Fault> {
    let diff = ["diff-tree", "-r", "-z", "--no-renames"];
    let raw = split_names(&git.run(&[&diff[..], &[base, content]].concat(), None)?);
    let counts = git.run(&[&diff[..], &["--numstat", base, content]].concat(), None)?;
    let mut lines = BTreeMap::new();
    for entry in split_names(&counts) {
        let mut parts = entry.splitn(3, '\t');
        if let (Some(added), Some(removed), Some(name)) = (parts.next(), parts.next(), parts.next()) {
            let count = added.parse().ok().zip(removed.parse().ok()).map_or(1, |(added, removed): (u64, u64)| added + removed);
            lines.insert(name.to_owned(), count);
        }
    }
    let files = raw.chunks_exact(2).filter_map(|pair| {
        let mut words = pair[0].trim_start_matches(':').split(' ');
        let (_, mode, _, hash) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let content = (mode != "000000").then(|| (mode.to_owned(), hash.to_owned()));
        let lines = lines.get(&pair[1]).copied().unwrap_or(1);
        Some(ChangedFile { path: pair[1].clone(), lines, content, committed: None })
    });
    Ok(files.collect())
}

/// Names that git prints. A name that is not UTF-8 is left out.
fn split_names(output: &[u8]) -> Vec<String> {
    let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.filter_map(|name| str::from_utf8(name).ok().map(str::to_owned)).collect()
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

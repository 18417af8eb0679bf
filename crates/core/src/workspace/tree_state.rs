//! Recognizes that the files of a project are unchanged, so that a check need not run again.
//!
//! Git lists the files that it tracks, with their content in the index, and those that it does not ignore; their sizes,
//! modes and times are compared. Repositories inside are compared in the same way. Without git, all files count. A project
//! with very many files has no state: its checks always run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use super::Workspace;
use crate::places::fnv1a;
use crate::process::{LARGEST_OUTPUT, ProgramStreams, run_program};

/// The most files that are compared.
const MOST_FILES: usize = 100_000;
/// The mode of a submodule in git's index.
const SUBMODULE: &[u8] = b"160000 ";
/// Repositories inside of repositories are compared up to this depth.
const DEEPEST: usize = 8;
const GIT_LIMIT: Duration = Duration::from_secs(10);

/// The state of a project's files, as digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeState {
    /// What git tracks or would track.
    pub files: u64,
    /// What git ignores: installed packages, build results. Only the times of the topmost directories.
    pub ignored: u64,
}

impl Workspace {
    /// The state of the project's files; `None` if it cannot be known.
    pub fn read_tree_state(&self) -> Option<TreeState> {
        self.permit_change().ok()?;
        if self.find_repository(&self.project).is_none() {
            return Some(TreeState { files: self.digest_all_files()?, ignored: 0 });
        }
        self.read_repository_state(&self.project, 0)
    }

    fn read_repository_state(&self, directory: &Path, depth: usize) -> Option<TreeState> {
        let git = |arguments: &[&str]| self.run_git(directory, arguments);
        let head = git(&["rev-parse", "-q", "--verify", "HEAD"]).unwrap_or_default();
        let tracked = git(&["ls-files", "-z", "--stage"])?;
        let others = git(&["ls-files", "-z", "--others", "--exclude-standard"])?;
        let ignored = git(&["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"])?;
        let mut nested = Vec::new();
        let mut names = Vec::new();
        // Each tracked file has its mode, digest and stage in front of its name.
        for entry in split_names(&tracked) {
            let at = entry.iter().position(|byte| *byte == b'\t')?;
            if entry.starts_with(SUBMODULE) {
                nested.push(&entry[at + 1..]);
            } else {
                names.push(&entry[at + 1..]);
            }
        }
        // Of a repository that git does not track, it names only the directory.
        for name in split_names(&others) {
            if name.ends_with(b"/") { nested.push(name) } else { names.push(name) }
        }
        let files = digest_files(directory, names.into_iter())?;
        let mut digest = [&head, &tracked, &others, &files.to_le_bytes()[..]].concat();
        for name in nested {
            let inner = directory.join(make_name(name)?);
            // An empty directory of a submodule has no repository of its own.
            if depth < DEEPEST && inner.join(".git").exists() {
                digest.extend(self.read_repository_state(&inner, depth + 1)?.files.to_le_bytes());
            }
        }
        Some(TreeState { files: fnv1a(&digest), ignored: digest_files(directory, split_names(&ignored))? })
    }

    pub(super) fn run_git(&self, directory: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
        self.permit_change().ok()?;
        let mut command = Command::new("git");
        command.arg("-C").arg(directory).args(["-c", "core.fsmonitor=false"]).args(arguments);
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        let streams = ProgramStreams::default();
        let output = run_program(&mut command, streams, GIT_LIMIT, self.interruption.is_requested).ok()??;
        (output.status.success() && output.stdout.len() <= LARGEST_OUTPUT).then_some(output.stdout)
    }

    fn digest_all_files(&self) -> Option<u64> {
        let mut digest = Vec::new();
        let mut open: Vec<PathBuf> = vec![self.project.clone()];
        let mut count = 0;
        while let Some(directory) = open.pop() {
            let mut entries: Vec<_> = fs::read_dir(&directory).into_iter().flatten().flatten().collect();
            entries.sort_unstable_by_key(fs::DirEntry::file_name);
            count += entries.len();
            if count > MOST_FILES {
                return None;
            }
            for entry in entries {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(entry.path());
                } else {
                    digest.extend(entry.path().as_os_str().as_encoded_bytes());
                    add_file(&entry.path(), &mut digest);
                }
            }
        }
        Some(fnv1a(&digest))
    }
}

fn digest_files<'n>(directory: &Path, names: impl Iterator<Item = &'n [u8]>) -> Option<u64> {
    let mut digest = Vec::new();
    for (count, name) in names.enumerate() {
        if count >= MOST_FILES {
            return None;
        }
        add_file(&directory.join(make_name(name)?), &mut digest);
    }
    Some(fnv1a(&digest))
}

fn split_names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

/// A name that git prints. Elsewhere than on Unix, it is UTF-8.
fn make_name(name: &[u8]) -> Option<&Path> {
    #[cfg(unix)]
    return Some(Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name)));
    #[cfg(not(unix))]
    return str::from_utf8(name).ok().map(Path::new);
}

fn add_file(path: &Path, digest: &mut Vec<u8>) {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        digest.push(0);
        return;
    };
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    digest.extend(time.unwrap_or_default().as_nanos().to_le_bytes());
    digest.extend(metadata.len().to_le_bytes());
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // The time of the last change of mode or content, which no program can set back.
        digest.extend(metadata.mode().to_le_bytes());
        digest.extend([metadata.ctime(), metadata.ctime_nsec()].map(i64::to_le_bytes).concat());
    }
}

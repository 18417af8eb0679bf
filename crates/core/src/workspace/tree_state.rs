//! Recognizes that the files of a project are unchanged, so that a check need not run again.
//!
//! Git lists the files that it tracks, with their content in the index, and those that it does not ignore; their sizes,
//! modes and times are compared. Without git, all files count. A project with very many files has no state: its checks always
//! run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use super::Workspace;
use crate::places::fnv1a;
use crate::process::{LARGEST_OUTPUT, ProgramStreams, run_program};

/// The most files that are compared.
const MOST_FILES: usize = 100_000;
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
        if self.find_repository(&self.project).is_none() {
            return Some(TreeState { files: self.digest_all_files()?, ignored: 0 });
        }
        let head = self.run_git(&["rev-parse", "-q", "--verify", "HEAD"]).unwrap_or_default();
        let tracked = self.run_git(&["ls-files", "-z", "--stage"])?;
        let others = self.run_git(&["ls-files", "-z", "--others", "--exclude-standard"])?;
        let ignored =
            self.run_git(&["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"])?;
        // Each tracked file has its mode, digest and stage in front of its name.
        let names = split_names(&tracked).filter_map(|entry| entry.split_once('\t').map(|(_, name)| name));
        let files = self.digest_files(names.chain(split_names(&others)))?;
        let files = fnv1a(&[&head, &tracked, &others, &files.to_le_bytes()[..]].concat());
        Some(TreeState { files, ignored: self.digest_files(split_names(&ignored))? })
    }

    fn run_git(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.project).args(["-c", "core.fsmonitor=false"]).args(arguments);
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        let streams = ProgramStreams::default();
        let output = run_program(&mut command, streams, GIT_LIMIT, self.interruption.is_requested).ok()??;
        (output.status.success() && output.stdout.len() <= LARGEST_OUTPUT).then_some(output.stdout)
    }

    fn digest_files<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<u64> {
        let mut digest = Vec::new();
        for (count, name) in names.enumerate() {
            if count >= MOST_FILES {
                return None;
            }
            add_file(&self.project.join(name), &mut digest);
        }
        Some(fnv1a(&digest))
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

fn split_names(list: &[u8]) -> impl Iterator<Item = &str> {
    list.split(|byte| *byte == 0).filter_map(|name| str::from_utf8(name).ok()).filter(|name| !name.is_empty())
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

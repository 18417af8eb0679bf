//! Runs a command in a throwaway project, and compares the disk before and after.
//!
//! Home, project, remote and the directory for temporary files are in one directory, which `stage.sh` builds once and
//! which is copied for each command. The environment starts empty. A command that would reach beyond the stage is marked
//! in the table and never runs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;

const PROJECT: &str = "home/work/project";
/// In seconds. No command of the table needs longer.
const PATIENCE: &str = "20";

/// The stage before any command.
pub struct Stage {
    root: TempDir,
    snapshot: Arc<Snapshot>,
}

/// A copy of the stage for one command.
pub struct StageCopy {
    root: TempDir,
    before: Arc<Snapshot>,
}

/// Each path on disk with its mode, its time and its content.
type Snapshot = BTreeMap<PathBuf, (u32, i64, Vec<u8>)>;

impl Stage {
    pub fn build() -> Self {
        let root = create_directory();
        let script = fs::read(super::table::find_directory().join("stage.sh")).unwrap();
        fs::write(root.path().join("stage.sh"), script).unwrap();
        let mut command = bash_command(root.path(), root.path());
        let output = command.arg("stage.sh").output().unwrap();
        assert!(output.status.success(), "stage.sh: {}", String::from_utf8_lossy(&output.stderr));
        let snapshot = Arc::new(take_snapshot(root.path()));
        Self { root, snapshot }
    }

    pub fn copy(&self) -> StageCopy {
        let root = create_directory();
        let status =
            Command::new("cp").arg("-a").arg(self.root.path().join(".")).arg(root.path()).status().unwrap();
        assert!(status.success());
        StageCopy { root, before: self.snapshot.clone() }
    }
}

impl StageCopy {
    pub fn project(&self) -> PathBuf {
        self.root.path().join(PROJECT)
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Runs the command, and returns the paths that changed.
    pub fn run(&self, command: &str) -> Vec<PathBuf> {
        let bash = bash_command(self.root.path(), &self.project());
        let mut limited = Command::new("timeout");
        limited
            .args(["-k", "1", PATIENCE])
            .arg(bash.get_program())
            .args(bash.get_args())
            .args(["-c", command]);
        limited.current_dir(self.project()).env_clear();
        limited.envs(bash.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // The pipes end with the last background job of the command, so no change is missed.
        limited.stdin(Stdio::null()).output().unwrap();
        self.list_changes()
    }

    fn list_changes(&self) -> Vec<PathBuf> {
        let (before, after) = (&self.before, take_snapshot(self.root.path()));
        let gone = before.keys().filter(|path| !after.contains_key(*path));
        let other = after.iter().filter(|(path, state)| before.get(*path) != Some(*state));
        let mut changed: Vec<PathBuf> = gone.chain(other.map(|(path, _)| path)).cloned().collect();
        changed.sort();
        changed
    }
}

/// Whether a planner may change it. `git diff` updates the times of files in the index, and nothing else.
pub fn may_change(path: &Path) -> bool {
    let project = Path::new(PROJECT);
    path.starts_with(project.join("planning")) || path == project.join(".git/index")
}

pub fn is_installed(program: &str) -> bool {
    ["/usr/bin", "/bin", "/usr/local/bin"].iter().any(|place| Path::new(place).join(program).exists())
}

fn bash_command(root: &Path, directory: &Path) -> Command {
    let mut command = Command::new("bash");
    command
        .args(["--noprofile", "--norc"])
        .current_dir(directory)
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/local/bin")
        .env("HOME", root.join("home"))
        .env("TMPDIR", root.join("tmp"))
        .env("LC_ALL", "C.UTF-8")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        // Keep `git status` from updating the times of files in the index.
        .env("GIT_OPTIONAL_LOCKS", "0");
    command
}

fn take_snapshot(root: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        // A background job may just have deleted the directory.
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let content = if metadata.is_symlink() {
                fs::read_link(&path).map(|target| target.into_os_string().into_encoded_bytes())
            } else if metadata.is_file() {
                fs::read(&path)
            } else {
                Ok(Vec::new())
            };
            let written = if metadata.is_dir() { 0 } else { metadata.mtime_nsec() ^ metadata.mtime() };
            let name = path.strip_prefix(root).unwrap().to_owned();
            found.insert(name, (metadata.mode(), written, content.unwrap_or_default()));
            if metadata.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

/// Creates a directory in memory if possible, because the tests write thousands of files.
fn create_directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

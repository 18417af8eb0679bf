//! What a command really does: it runs in a throwaway project, and what is on disk is compared.
//!
//! The home, the project, its remote and the directory for temporary files lie in one directory
//! that is built once by `stage.sh` and copied for each command. The environment is made from
//! nothing. A command that would reach beyond the stage is marked in the table and never run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;

const PROJECT: &str = "home/work/project";
/// Seconds; no command of the table needs longer.
const PATIENCE: &str = "20";

/// The stage as it is before any command.
pub struct Stage {
    root: TempDir,
    snapshot: Arc<Snapshot>,
}

/// A copy of the stage for one command.
pub struct Copy {
    root: TempDir,
    before: Arc<Snapshot>,
}

/// Everything on disk: for each path what kind of thing it is, when it was written, what it holds.
type Snapshot = BTreeMap<PathBuf, (u32, i64, Vec<u8>)>;

impl Stage {
    pub fn build() -> Self {
        let root = in_memory();
        let script = fs::read(crate::table::directory().join("stage.sh")).unwrap();
        fs::write(root.path().join("stage.sh"), script).unwrap();
        let mut command = bash(root.path(), root.path());
        let output = command.arg("stage.sh").output().unwrap();
        assert!(output.status.success(), "stage.sh: {}", String::from_utf8_lossy(&output.stderr));
        let snapshot = Arc::new(snapshot(root.path()));
        Self { root, snapshot }
    }

    pub fn copy(&self) -> Copy {
        let root = in_memory();
        let status =
            Command::new("cp").arg("-a").arg(self.root.path().join(".")).arg(root.path()).status().unwrap();
        assert!(status.success());
        Copy { root, before: self.snapshot.clone() }
    }
}

impl Copy {
    pub fn project(&self) -> PathBuf {
        self.root.path().join(PROJECT)
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Runs the command, and gives the paths that are not as they were.
    pub fn run(&self, command: &str) -> Vec<PathBuf> {
        let bash = bash(self.root.path(), &self.project());
        let mut limited = Command::new("timeout");
        limited
            .args(["-k", "1", PATIENCE])
            .arg(bash.get_program())
            .args(bash.get_args())
            .args(["-c", command]);
        limited.current_dir(self.project()).env_clear();
        limited.envs(bash.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // The pipes end with the last job that the command left behind, so none is missed.
        limited.stdin(Stdio::null()).output().unwrap();
        self.changes()
    }

    fn changes(&self) -> Vec<PathBuf> {
        let (before, after) = (&self.before, snapshot(self.root.path()));
        let gone = before.keys().filter(|path| !after.contains_key(*path));
        let other = after.iter().filter(|(path, state)| before.get(*path) != Some(*state));
        let mut changed: Vec<PathBuf> = gone.chain(other.map(|(path, _)| path)).cloned().collect();
        changed.sort();
        changed
    }
}

/// Whether a planner may change it. `git diff` keeps in the index what it learnt about the times of
/// files; nothing else of the index changes by it.
pub fn may_change(path: &Path) -> bool {
    let project = Path::new(PROJECT);
    path.starts_with(project.join("planning")) || path == project.join(".git/index")
}

pub fn is_installed(program: &str) -> bool {
    ["/usr/bin", "/bin", "/usr/local/bin"].iter().any(|place| Path::new(place).join(program).exists())
}

fn bash(root: &Path, directory: &Path) -> Command {
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
        // `git status` keeps what it learnt about times; that is no change that matters.
        .env("GIT_OPTIONAL_LOCKS", "0");
    command
}

fn snapshot(root: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        // A directory that a command has just deleted is not there to be read.
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

/// A directory that needs no disk, where the system has such a place: thousands of files are written.
fn in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

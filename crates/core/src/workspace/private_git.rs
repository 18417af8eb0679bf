//! Runs git with an index and an object store of Provost's own, so that the user's index and objects stay as they are.
//!
//! A review compares contents, not commits: the files as they were before, and as they are now, are written as two trees
//! of git. The settings of the user's repository apply, so that line ends and ignored files mean the same as elsewhere.
//! Where the project has no repository, an empty one in the state directory takes its place.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Workspace;
use super::disk::fault_at;
use crate::opinion::Fault;
use crate::places::{fnv1a, resolve_path};
use crate::process::{LARGEST_OUTPUT, ProgramStreams, run_program};
use crate::text::shorten_line;
use provost_files::{self as files, Lock};

/// How long one call of git may take. The time limit of the guard has room for it.
const GIT_LIMIT: Duration = Duration::from_secs(8);
/// How many processes may look at the changes of one work tree at once.
const MOST_INDEXES: usize = 64;
/// Older objects belong to reviews that nobody asks for any more.
const OBJECTS_KEPT: Duration = Duration::from_hours(60 * 24);
const INIT: &str = "init";
/// The variables of git that choose its settings and its programs. All others would lead it elsewhere.
const KEPT_VARIABLES: [&str; 4] =
    ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_EXEC_PATH"];

/// Git with a private index.
pub(super) struct PrivateGit<'a> {
    workspace: &'a Workspace,
    /// The top of the work tree; paths are relative to it.
    pub(super) top: PathBuf,
    repository: PathBuf,
    /// The objects of the user's repository.
    shared_objects: Option<PathBuf>,
    objects: PathBuf,
    index: PathBuf,
    /// No other process uses this index.
    _lock: Lock,
}

impl Workspace {
    /// The top of the project's work tree, or the project itself.
    pub(super) fn find_tree_top(&self) -> PathBuf {
        let project = resolve_path(&self.project);
        let has_repository = |directory: &&Path| directory.join(".git").symlink_metadata().is_ok();
        project.ancestors().find(has_repository).map_or_else(|| project.clone(), Path::to_owned)
    }

    /// The path of a file about the changes of this work tree.
    pub(super) fn changes_file(&self, top: &Path, name: &str) -> Result<PathBuf, Fault> {
        let subject = fnv1a(top.as_os_str().as_encoded_bytes());
        self.state_file("changes", &format!("{subject:016x}/{name}"))
    }
}

impl<'a> PrivateGit<'a> {
    /// Opens an empty index, which is removed again in the end.
    pub(super) fn open(workspace: &'a Workspace) -> Result<Self, Fault> {
        workspace.permit_change()?;
        let top = workspace.find_tree_top();
        let found = workspace.find_repository(&top).map(super::git_repository::Repository::into_directories);
        let file = |name: &str| workspace.changes_file(&top, name);
        let objects = file("objects")?;
        files::make_private_directory(&objects).map_err(fault_at(&objects))?;
        let (index, lock) = take_index(&file("indexes")?)?;
        let (repository, shared_objects) = match found {
            Some((own, common)) => (own, Some(common.join("objects"))),
            None => (file("repository")?, None),
        };
        let git = Self { workspace, top, repository, shared_objects, objects, index, _lock: lock };
        git.remove_index();
        if git.shared_objects.is_none() && !git.repository.join("HEAD").exists() {
            git.run(&[INIT, "-q", "--bare", "--template="], None)?;
        }
        Ok(git)
    }

    fn remove_index(&self) {
        let _ = files::remove_file(&self.index.with_extension("lock"));
        let _ = files::remove_file(&self.index);
    }

    /// Removes the objects of old reviews.
    pub(super) fn remove_old_objects(&self) {
        for first in 0..=255 {
            files::remove_older_files(&self.objects.join(format!("{first:02x}")), OBJECTS_KEPT);
        }
    }

    /// Runs git to its end and returns its output.
    pub(super) fn run(&self, arguments: &[&str], input: Option<&[u8]>) -> Result<Vec<u8>, Fault> {
        self.run_with(arguments, &[], input, 0)
    }

    /// Runs git with the names of files as its last arguments. `accepted` is another exit code that is no error.
    pub(super) fn run_with(
        &self,
        arguments: &[&str],
        names: &[&str],
        input: Option<&[u8]>,
        accepted: i32,
    ) -> Result<Vec<u8>, Fault> {
        let workspace = self.workspace;
        workspace.permit_change()?;
        let mut command = Command::new("git");
        // What git writes is for the owner only.
        let settings = [
            "core.sharedRepository=0600",
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "core.safecrlf=false",
        ];
        command.args(settings.iter().flat_map(|setting| ["-c", setting])).args(arguments).args(names);
        command.current_dir(&self.top);
        let is_git = |name: &OsString| name.to_str().is_some_and(|name| name.starts_with("GIT_"));
        let is_kept = |name: &OsString| KEPT_VARIABLES.iter().any(|kept| OsStr::new(kept) == name);
        for (name, _) in env::vars_os().filter(|(name, _)| is_git(name) && !is_kept(name)) {
            command.env_remove(name);
        }
        let places = [("GIT_DIR", &self.repository), ("GIT_INDEX_FILE", &self.index)];
        command.envs(places).env("GIT_OBJECT_DIRECTORY", &self.objects);
        // A repository is made without a work tree.
        if arguments.first() != Some(&INIT) {
            command.env("GIT_WORK_TREE", &self.top);
        }
        command.envs(
            self.shared_objects.iter().map(|objects| ("GIT_ALTERNATE_OBJECT_DIRECTORIES", quote(objects))),
        );
        command.envs([("GIT_OPTIONAL_LOCKS", "0"), ("LC_ALL", "C")]);
        let streams = ProgramStreams { input, ..ProgramStreams::default() };
        (workspace.interruption.start_watching)();
        let what = arguments.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
        let fault = |why: String| Fault::Error(format!("`git {what}` {why}"));
        let ended = run_program(&mut command, streams, GIT_LIMIT, workspace.interruption.is_requested)
            .map_err(|error| fault(format!("could not be run: {error}")))?;
        let Some(output) = ended else {
            return Err(fault(format!("did not end within {} s", GIT_LIMIT.as_secs())));
        };
        if !output.status.success() && output.status.code() != Some(accepted) {
            let words = shorten_line(String::from_utf8_lossy(&output.stderr).trim(), 300);
            return Err(fault(format!("failed ({words})")));
        }
        if output.stdout.len() > LARGEST_OUTPUT {
            return Err(fault("printed too much: there are too many changes".into()));
        }
        Ok(output.stdout)
    }

    /// Writes the index as a tree, and returns its hash.
    pub(super) fn write_tree(&self) -> Result<String, Fault> {
        let hash = self.run(&["write-tree", "--missing-ok"], None)?;
        Ok(String::from_utf8_lossy(&hash).trim().to_owned())
    }
}

impl Drop for PrivateGit<'_> {
    fn drop(&mut self) {
        self.remove_index();
    }
}

/// The first index that no other process uses.
fn take_index(directory: &Path) -> Result<(PathBuf, Lock), Fault> {
    files::make_private_directory(directory).map_err(fault_at(directory))?;
    for number in 0..MOST_INDEXES {
        let index = directory.join(format!("index-{number}"));
        let lock_file = directory.join(format!("{number}.lock"));
        if let Some(lock) = files::try_lock(&lock_file).map_err(fault_at(&lock_file))? {
            return Ok((index, lock));
        }
    }
    Err(Fault::Error("too many processes look at the changes of this work tree".into()))
}

/// A path in a list of paths. A colon in it would end it.
fn quote(path: &Path) -> OsString {
    let text = path.to_string_lossy();
    if !text.contains([':', '"', '\\', '\n']) {
        return path.into();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")).into()
}

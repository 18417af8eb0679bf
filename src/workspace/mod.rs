//! The world a guard may see: the project, the person's directories, the configuration.
//!
//! A guard never asks the environment or the disk by itself; it asks here, so that there is one
//! answer to "which project is this?" and "which file is meant by this path?", and one place that
//! keeps what a guard wants to remember. Only the configuration is read beforehand.

mod disk;
pub mod git;
mod ignored;
mod index;
mod own;
pub mod work_tree;

use std::any::Any;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::clients::Client;
use crate::clock;
use crate::config::{self, Config};
use crate::decision::Fault;
use crate::event::Event;
use crate::faults;

/// A client that Provost starts itself carries this mark, and every hook in it is silent.
pub const CHILD_MARK: &str = "PROVOST_CHILD";

/// The name of the configuration file, in every layer.
pub const CONFIG_FILE: &str = "provost.toml";

/// The directories of this person and machine. Each is `None` where the environment names none.
#[derive(Debug, Clone)]
pub struct Places {
    pub home: Option<PathBuf>,
    /// Where the person's `provost.toml` lies.
    pub config: Option<PathBuf>,
    /// Where the journal, the seal key and what guards remember lie.
    pub state: Option<PathBuf>,
    /// Where an administrator's `provost.toml` lies.
    pub managed: Option<PathBuf>,
}

pub struct Workspace {
    pub client: &'static Client,
    /// Where the session began, or else where the event happened.
    pub start: PathBuf,
    pub project: PathBuf,
    pub places: Places,
    pub config: Config,
    /// What a pack has found out about this event, for all its guards.
    found: OnceLock<Box<dyn Any + Send + Sync>>,
    /// What the guard that is being asked wanted to read and could not.
    missed: Mutex<Option<Fault>>,
}

impl Places {
    pub fn from_environment() -> Self {
        let home = absolute(env::var_os(if cfg!(windows) { "USERPROFILE" } else { "HOME" }));
        let below = |variable: &str, default: &str| {
            absolute(env::var_os(variable))
                .or_else(|| home.as_ref().map(|home| home.join(default)))
                .map(|directory| directory.join("provost"))
        };
        let (config, state, managed) = if cfg!(windows) {
            (
                below("APPDATA", "AppData/Roaming"),
                below("LOCALAPPDATA", "AppData/Local"),
                below("ProgramData", "."),
            )
        } else {
            let managed = if cfg!(target_os = "macos") {
                "/Library/Application Support/provost"
            } else {
                "/etc/provost"
            };
            (
                below("XDG_CONFIG_HOME", ".config"),
                below("XDG_STATE_HOME", ".local/state"),
                Some(managed.into()),
            )
        };
        let managed = faults::switch("PROVOST_MANAGED").map(PathBuf::from).or(managed);
        Self { home, config, state, managed }
    }

    /// The directory for what belongs to one project.
    pub fn project_state(&self, project: &Path) -> Option<PathBuf> {
        let state = self.state.as_ref()?;
        let text = project.to_string_lossy();
        let name: String = project
            .file_name()
            .map(|name| {
                name.to_string_lossy()
                    .chars()
                    .filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
                    .take(40)
                    .collect()
            })
            .unwrap_or_default();
        Some(state.join("projects").join(format!("{name}-{:016x}", fnv1a(text.as_bytes()))))
    }

    /// The key that seals what was witnessed. No tool may read it.
    pub fn seal_key(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("seal.key"))
    }

    /// Where the person's permissions to pass a guard lie.
    pub fn overrides(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("overrides"))
    }

    /// Where the processes that are asked about one event note what they have answered.
    pub fn answers(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("answers"))
    }
}

impl Workspace {
    pub fn of(client: &'static Client, event: &Event) -> Self {
        let places = Places::from_environment();
        let start = resolve(&(client.project)().unwrap_or_else(|| event.cwd.clone()));
        let project = project_root(&start);
        let config = Config::load(&config::layers(&places, &start, &project));
        Self::new(client, start, project, places, config)
    }

    /// One in which nothing has been looked at yet. Links in `start` have been followed.
    pub fn new(
        client: &'static Client,
        start: PathBuf,
        project: PathBuf,
        places: Places,
        config: Config,
    ) -> Self {
        Self { client, start, project, places, config, found: OnceLock::new(), missed: Mutex::default() }
    }

    /// One that lies below a directory as a whole.
    #[cfg(test)]
    pub(crate) fn below(root: &Path) -> Self {
        let places = Places {
            home: Some(root.join("home")),
            config: None,
            state: Some(root.join("state")),
            managed: None,
        };
        Self::new(crate::clients::DEFAULT, root.to_owned(), root.to_owned(), places, Config::default())
    }

    /// Notes that a file that is there could not be read. A guard that goes on as if there were none, and
    /// then has nothing to say, has failed: the engine asks for it.
    pub fn miss(&self, fault: Fault) {
        self.missed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
    }

    /// What was missed since the last time that somebody asked.
    pub fn take_missed(&self) -> Option<Fault> {
        self.missed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What a pack finds out about an event once, for all its guards. One pack at most does that.
    pub fn once<T: Any + Send + Sync>(&self, find: impl FnOnce() -> T) -> Option<&T> {
        self.found.get_or_init(|| Box::new(find())).downcast_ref()
    }

    /// A variable of the environment.
    pub fn variable(&self, name: &str) -> Option<String> {
        env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// The file that a path really means: `..` and links followed as the system would follow
    /// them, as far as they exist. A dangling link leads to the file that a write would create.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        // Nearly all paths lie below this one, which is resolved already.
        match path.strip_prefix(&self.start) {
            Ok(rest) => resolve_below(self.start.clone(), rest),
            Err(_) => resolve(path),
        }
    }

    /// The same for a path below one that is resolved already.
    pub fn resolve_below(&self, real: &Path, path: &Path) -> PathBuf {
        resolve_below(real.to_owned(), path)
    }

    /// The same, but with the last part as it is named: a deletion takes away a link, not what
    /// the link leads to.
    pub fn resolve_parent(&self, path: &Path) -> PathBuf {
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => self.resolve(parent).join(name),
            _ => self.resolve(path),
        }
    }

    /// The Markdown files of a directory, the one that was changed last first.
    pub fn markdown_files(&self, directory: &Path) -> Vec<PathBuf> {
        self.newest_first(directory, "md")
    }

    /// The records of a session's agents, the newest first.
    pub fn records_of_agents(&self, record: &Path) -> Vec<PathBuf> {
        self.newest_first(&(self.client.agents)(record), "jsonl")
    }

    /// The record of one of a session's agents. An id that is no name of a file has none.
    pub fn record_of_agent(&self, record: &Path, id: &str) -> Option<PathBuf> {
        let is_name = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_name.then(|| (self.client.agents)(record).join((self.client.agent_transcript)(id)))
    }

    /// The agent that a skill hands its work to, if it does.
    pub fn forked_agent(&self, skill: &str) -> Option<String> {
        (self.client.forked)(skill, &self.places, &[&self.start, &self.project])
    }

    /// Where plans are written.
    pub fn plans_directory(&self) -> Option<PathBuf> {
        (self.client.plans)(&self.places, &self.project)
    }

    /// The time as a record tells it.
    pub fn now(&self) -> String {
        clock::utc_in_seconds(clock::since_1970())
    }

    /// This very program.
    pub fn program(&self) -> Option<PathBuf> {
        env::current_exe().ok()
    }

    /// Whether programs are looked for in the directory of this file: by a shell, or by a plugin.
    pub fn is_searched(&self, file: &Path) -> bool {
        let Some(directory) = file.parent() else { return false };
        let path = env::var_os("PATH").unwrap_or_default();
        let usual = [".cargo/bin", ".local/bin"];
        let usual = self.places.home.iter().flat_map(|home| usual.map(|folder| home.join(folder)));
        env::split_paths(&path)
            .chain(usual)
            .any(|searched| searched == directory || resolve(&searched) == directory)
    }

    /// The client's settings files that count here, whether they exist or not.
    pub fn settings_files(&self) -> Vec<PathBuf> {
        (self.client.settings.files)(&self.places, &self.project)
    }
}

/// Whether `path` is `base` or lies below it, as the file systems of this system compare names.
pub fn is_within(path: &Path, base: &Path) -> bool {
    if cfg!(any(target_os = "macos", windows)) {
        let folded = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
        folded(path).starts_with(folded(base))
    } else {
        path.starts_with(base)
    }
}

fn absolute(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The repository that `start` lies in, or `start`: the name under which a project's journal is
/// kept. Nothing that a guard protects depends on it, because anybody can make a `.git`.
pub fn project_root(start: &Path) -> PathBuf {
    let root = start.ancestors().find(|directory| directory.join(".git").exists());
    root.unwrap_or(start).to_owned()
}

/// The project's configuration: the nearest one at or above `start`, or where it would be.
pub fn project_config(start: &Path, project: &Path) -> PathBuf {
    let mut candidates = start.ancestors().map(|directory| directory.join(CONFIG_FILE));
    candidates.find(|file| file.exists()).unwrap_or_else(|| project.join(CONFIG_FILE))
}

/// Whether a program is this one, by the last part of its name.
pub fn is_provost(program: &str) -> bool {
    matches!(program.rsplit(['/', '\\']).next(), Some("provost" | "provost.exe"))
}

/// Follows `..` and links as the system would, as far as they exist.
pub fn resolve(path: &Path) -> PathBuf {
    resolve_below(PathBuf::new(), path)
}

/// The same for what lies below a path without links.
fn resolve_below(mut real: PathBuf, path: &Path) -> PathBuf {
    /// As many links as systems follow before they give up.
    const LINKS: u32 = 40;
    /// As many parts as the longest path that systems take can have.
    const LONGEST: usize = 2048;
    let mut links = 0;
    let mut rest: Vec<OsString> = Vec::new();
    push_components(&mut rest, path);
    // No system opens such a path, so there is nothing on the disk to ask about it.
    let mut followed = rest.len() <= LONGEST;
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        real.push(&part);
        // A root is no link.
        if followed
            && real.parent().is_some()
            && let Ok(target) = fs::read_link(&real)
        {
            links += 1;
            followed = links < LINKS && rest.len() <= LONGEST;
            real.pop();
            push_components(&mut rest, &target);
        }
    }
    real
}

/// Pushes the parts of a path so that the first is popped first. A root part replaces what was
/// walked so far, which is what `PathBuf::push` does with it.
fn push_components(rest: &mut Vec<OsString>, path: &Path) {
    let parts = path.components().filter(|part| !matches!(part, Component::CurDir));
    let parts: Vec<OsString> = parts.map(|part| part.as_os_str().to_owned()).collect();
    rest.extend(parts.into_iter().rev());
}

/// A short name for a long text (FNV-1a): for file names, not for secrets.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_are_followed_as_the_system_follows_them() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("a/b", root.join("link")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        assert_eq!(resolve(&root.join("link/../x")), root.join("a/x"));
        assert_eq!(resolve(&root.join("./a/../a/./b")), root.join("a/b"));
        assert_eq!(resolve(&root.join("dangling")), root.join("nowhere"));
        assert_eq!(resolve(&root.join("missing/../x")), root.join("x"));
        assert!(resolve(&root.join("loop")).starts_with(&root));
        assert_eq!(resolve(Path::new("/../..")), Path::new("/"));
        let workspace = Workspace::below(&root.join("a"));
        symlink("../../link", root.join("a/b/out")).unwrap();
        for path in
            ["a", "a/", "a/b/../..", "a/../link", "a/b/out/x", "a/none/../b", "a/../../x", "ab", "link/x"]
        {
            let path = root.join(path);
            assert_eq!(workspace.resolve(&path), resolve(&path), "{}", path.display());
        }
    }

    #[test]
    fn a_project_is_its_repository_and_its_configuration_the_nearest() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let sub = top.join("a/b");
        fs::create_dir_all(&sub).unwrap();
        assert_eq!(project_root(&sub), sub);
        fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(project_root(&sub), top);
        assert_eq!(project_config(&sub, &top), top.join("provost.toml"));
        fs::write(top.join("a/provost.toml"), "").unwrap();
        assert_eq!(project_config(&sub, &top), top.join("a/provost.toml"));
        // A new repository below does not hide the configuration above.
        fs::create_dir(sub.join(".git")).unwrap();
        assert_eq!(project_root(&sub), sub);
        assert_eq!(project_config(&sub, &sub), top.join("a/provost.toml"));
    }
}

//! The world a guard may see: the project, the person's directories, the configuration.
//!
//! A guard never asks the environment or the disk by itself; it asks here, so that there is one
//! answer to "which project is this?" and "which file is meant by this path?", and one place that
//! keeps what a guard wants to remember. Only the configuration is read beforehand.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::clients::Client;
use crate::clock;
use crate::config::{self, Config};
use crate::decision::Fault;
use crate::event::Event;
use crate::faults;
use crate::files::{self, Identity, Lock};
use crate::overrides;
use crate::registry::Guard;

/// A client that Provost starts itself carries this mark, and every hook in it is silent.
pub const CHILD_MARK: &str = "PROVOST_CHILD";

/// The name of the configuration file, in every layer.
pub const CONFIG_FILE: &str = "provost.toml";

const LARGEST_MEMORY: u64 = 4 << 20;
/// A session that lives longer falls back to the rules for sessions without a memory.
const MEMORY_KEPT: Duration = Duration::from_hours(30 * 24);

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
    pub project: PathBuf,
    pub places: Places,
    pub config: Config,
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
}

impl Workspace {
    pub fn of(client: &'static Client, event: &Event) -> Self {
        let places = Places::from_environment();
        let start = resolve(&(client.project)().unwrap_or_else(|| event.cwd.clone()));
        let project = project_root(&start);
        let config = Config::load(&config::layers(&places, &start, &project));
        Self { client, project, places, config }
    }

    /// The file that a path really means: `..` and links followed as the system would follow
    /// them, as far as they exist. A dangling link leads to the file that a write would create.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        resolve(path)
    }

    /// The same, but with the last part as it is named: a deletion takes away a link, not what
    /// the link leads to.
    pub fn resolve_parent(&self, path: &Path) -> PathBuf {
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => resolve(parent).join(name),
            _ => resolve(path),
        }
    }

    pub fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    /// Whether neither the path nor the directory it lies in is there, so that nothing could be
    /// written by it.
    pub fn leads_nowhere(&self, path: &Path) -> bool {
        let missing = |path: &Path| fs::symlink_metadata(path).is_err();
        missing(path) && path.parent().is_none_or(missing)
    }

    pub fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    /// What makes a file this one and no other; `None` if there is none.
    pub fn identity(&self, path: &Path) -> Option<Identity> {
        files::identity(path)
    }

    /// Whether two paths lead to one file, by whatever names and links.
    pub fn is_same_file(&self, a: &Path, b: &Path) -> bool {
        files::same(a, b)
    }

    /// Whether a file has a name below a directory, besides the one it was found by.
    pub fn has_name_below(&self, file: Identity, directory: &Path) -> Result<bool, Fault> {
        files::linked_below(file, directory).map_err(|error| Fault::Error(error.to_string()))
    }

    /// The bytes of a file of at most `limit` bytes; `None` if there is none.
    pub fn read_bytes(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        files::read(path, limit).map_err(|error| Fault::Error(error.to_string()))
    }

    /// Puts bytes in the place of a file that holds what it held before; `false`: it does not.
    // INVARIANT: only under the file's lock.
    pub fn replace_unless_changed(
        &self,
        path: &Path,
        before: Option<&[u8]>,
        after: &[u8],
    ) -> Result<bool, Fault> {
        files::replace_unless_changed(path, before, after)
            .map_err(|error| Fault::Error(format!("{}: {error}", path.display())))
    }

    pub fn remove(&self, path: &Path) -> Result<(), Fault> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Fault::Error(format!("{}: {error}", path.display())))
            }
            _ => Ok(()),
        }
    }

    pub fn make_directory(&self, path: &Path) -> Result<(), Fault> {
        fs::create_dir_all(path).map_err(|error| Fault::Error(format!("{}: {error}", path.display())))
    }

    /// Waits until no other process of ours works on this file. A few locks serve all files.
    pub fn lock(&self, path: &Path) -> Result<Lock, Fault> {
        const LOCKS: u64 = 64;
        const PATIENCE: Duration = Duration::from_secs(3);
        let number = fnv1a(path.to_string_lossy().as_bytes()) % LOCKS;
        let place = self.own_file("locks", &format!("{number:02}.lock"))?;
        files::lock(&place, PATIENCE).map_err(|error| Fault::Error(error.to_string()))
    }

    /// The Markdown files of a directory, the one that was changed last first.
    pub fn markdown_files(&self, directory: &Path) -> Vec<PathBuf> {
        self.newest_first(directory, "md")
    }

    /// The files of a directory with this extension, the one that was changed last first.
    pub fn newest_first(&self, directory: &Path, extension: &str) -> Vec<PathBuf> {
        files::newest_first(directory, extension)
    }

    /// Of the Markdown files of a directory that have this text near their end, the one that was
    /// changed last and is accepted.
    pub fn latest_ending_with(
        &self,
        directory: &Path,
        text: &[u8],
        accept: impl Fn(&Path) -> bool,
    ) -> Option<PathBuf> {
        files::latest_ending_with(directory, "md", text, accept)
    }

    /// Where plans are written.
    pub fn plans_directory(&self) -> Option<PathBuf> {
        (self.client.plans)(&self.places, &self.project)
    }

    /// The key of the seals, if there is one. Others must not be able to read it.
    pub fn seal_key(&self) -> Result<Option<Vec<u8>>, Fault> {
        let Some(place) = self.places.seal_key() else { return Ok(None) };
        files::read_private(&place, 4096).map_err(|error| {
            Fault::Error(format!("no seal counts, because of the seal key {}: {error}", place.display()))
        })
    }

    /// Keeps a new key, unless there is one by now.
    pub fn keep_seal_key(&self, key: &[u8]) -> Result<(), Fault> {
        let place = self.places.seal_key().ok_or_else(no_state)?;
        files::create_once(&place, key).map_err(|error| Fault::Error(format!("{}: {error}", place.display())))
    }

    /// A private file of Provost's own, for what belongs to a subject.
    pub fn own_file(&self, folder: &str, name: &str) -> Result<PathBuf, Fault> {
        self.places.state.as_ref().map(|state| state.join(folder).join(name)).ok_or_else(no_state)
    }

    /// Writes such a file, and forgets what lies beside it for long.
    pub fn replace_own(&self, path: &Path, bytes: &[u8]) -> Result<(), Fault> {
        let written = files::replace(path, bytes);
        if let Some(directory) = path.parent() {
            files::remove_older(directory, MEMORY_KEPT);
        }
        written.map_err(|error| Fault::Error(format!("{}: {error}", path.display())))
    }

    /// The time as a record tells it.
    pub fn now(&self) -> String {
        clock::utc_in_seconds(clock::since_1970())
    }

    /// The text of a file of at most `limit` bytes; `None` if there is none.
    pub fn read_text(&self, path: &Path, limit: u64) -> Result<Option<String>, Fault> {
        let bytes = self.read_bytes(path, limit)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// What is looked for in a file's text. Somebody is about to write it: as long as it is not there
    /// and there is patience left, the file is read again.
    pub fn await_text<T>(
        &self,
        path: &Path,
        limit: u64,
        patience: Duration,
        find: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        const PAUSE: Duration = Duration::from_millis(20);
        let began = Instant::now();
        loop {
            let found = self.read_text(path, limit)?.and_then(|text| find(&text));
            if found.is_some() || began.elapsed() >= patience {
                return Ok(found);
            }
            thread::sleep(PAUSE);
        }
    }

    /// The start of a file's text, at most `limit` bytes, and whether that was all of it.
    pub fn read_start(&self, path: &Path, limit: u64) -> Result<(String, bool), Fault> {
        let (bytes, whole) = files::read_start(path, limit)
            .map_err(|error| Fault::Error(format!("{}: {error}", path.display())))?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), whole))
    }

    /// The file below a directory with this extension that was changed last, and how long ago.
    pub fn newest_below(&self, directory: &Path, extension: &str) -> Option<(PathBuf, Duration)> {
        let (path, changed) = files::newest_below(directory, extension)?;
        // A time to come (another machine's clock) is now.
        Some((path, changed.elapsed().unwrap_or_default()))
    }

    /// This very program.
    pub fn program(&self) -> Option<PathBuf> {
        env::current_exe().ok()
    }

    /// The client's settings files that count here, whether they exist or not.
    pub fn settings_files(&self) -> Vec<PathBuf> {
        (self.client.settings.files)(&self.places, &self.project)
    }

    /// What a guard has remembered of a session. A memory that cannot be read is not the same as
    /// none.
    pub fn recall(&self, session: &str) -> Result<Option<Value>, Fault> {
        let Some(place) = self.memory(session) else { return Ok(None) };
        let read = |bytes: Vec<u8>| serde_json::from_slice(&bytes).ok();
        match self.read_bytes(&place, LARGEST_MEMORY)?.map(read) {
            None => Ok(None),
            Some(Some(value)) => Ok(Some(value)),
            Some(None) => Err(Fault::Error(format!("{}: what was remembered is damaged", place.display()))),
        }
    }

    /// Remembers something of a session, and forgets what sessions of long ago left.
    pub fn remember(&self, session: &str, value: &Value) -> Result<(), Fault> {
        let Some(place) = self.memory(session) else { return Ok(()) };
        self.replace_own(&place, value.to_string().as_bytes())
    }

    /// Records that the person lets a guard pass once in a session.
    pub fn permit(&self, session: &str, guard: &Guard, reason: &str) -> Result<(), Fault> {
        let Some(directory) = self.places.overrides() else {
            return Err(Fault::Error("there is no home directory to keep it in".into()));
        };
        overrides::permit(&directory, session, guard, reason)
            .map_err(|error| Fault::Error(format!("{}: {error}", directory.display())))
    }

    /// One small file per session, whatever project it is in. Its name is made from the session's
    /// id and never is the id itself: that comes from outside.
    fn memory(&self, session: &str) -> Option<PathBuf> {
        self.own_file("sessions", &format!("{:016x}.json", fnv1a(session.as_bytes()))).ok()
    }
}

fn no_state() -> Fault {
    Fault::Error("there is no state directory".into())
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
    /// As many links as systems follow before they give up.
    const LINKS: u32 = 40;
    /// As many parts as the longest path that systems take can have.
    const LONGEST: usize = 2048;
    let mut real = PathBuf::new();
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
        if followed && let Ok(target) = fs::read_link(&real) {
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

//! The world a guard may see: the project, the person's directories, the configuration.
//!
//! A guard never asks the environment or the disk by itself; it asks here, so that there is one
//! answer to "which project is this?" and "which file is meant by this path?". Nothing is read
//! before it is asked for.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::clients::Client;
use crate::config::{self, Config};
use crate::event::Event;
use crate::faults;

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
}

impl Workspace {
    pub fn of(client: &'static Client, event: &Event) -> Self {
        let places = Places::from_environment();
        let project = project_root(&(client.project)().unwrap_or_else(|| event.cwd.clone()));
        let config = Config::load(&config::layers(&places, &project));
        Self { client, project, places, config }
    }

    /// The file that a path really means: `..` and links followed as the system would follow
    /// them, as far as they exist. A dangling link leads to the file that a write would create.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        resolve(path)
    }
}

fn absolute(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The nearest directory at or above `start` that is a project by its own word, or `start`. Links
/// are resolved, so that a hook and a person in a terminal mean the same project.
pub fn project_root(start: &Path) -> PathBuf {
    let start = resolve(start);
    let is_project =
        |directory: &&Path| directory.join(".git").exists() || directory.join(CONFIG_FILE).exists();
    let root = start.ancestors().find(is_project).map(Path::to_owned);
    root.unwrap_or(start)
}

fn resolve(path: &Path) -> PathBuf {
    /// As many links as systems follow before they give up.
    const LINKS: u32 = 40;
    let mut real = PathBuf::new();
    let mut links = 0;
    let mut rest: Vec<OsString> = Vec::new();
    push_components(&mut rest, path);
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        real.push(&part);
        if links < LINKS
            && let Ok(target) = fs::read_link(&real)
        {
            links += 1;
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
    fn a_project_is_where_its_repository_or_configuration_starts() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let sub = top.join("a/b");
        fs::create_dir_all(&sub).unwrap();
        assert_eq!(project_root(&sub), sub);
        fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(project_root(&sub), top);
        fs::write(top.join("a/provost.toml"), "").unwrap();
        assert_eq!(project_root(&sub), top.join("a"));
    }
}

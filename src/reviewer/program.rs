//! Which program reviews: the user's, and none that an agent could have put in its place.
//!
//! A bare name is looked for on `PATH`, but never in the project, where agents write. The program that was
//! found when hooks were installed, or when the first session started, is remembered in Provost's own
//! directory. From then on only that one is run. An update that adds a version beside the old one is
//! accepted; a program that was replaced or leads elsewhere is refused until the user runs `provost init` or
//! `provost review run`, which remember it again.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};

use super::{Silence, environment};
use crate::clients::Client;
use crate::config::Config;
use crate::config::settings::REVIEWER_COMMAND;
use crate::files;
use crate::text::one_line;
use crate::workspace::{Places, Workspace, is_within, project_root};

/// The file of Provost's own directory that names the programs.
const FILE: &str = "reviewer.json";
const LARGEST: u64 = 64 << 10;

/// The program that a review or a question starts in a project.
pub(crate) fn program(config: &Config, client: &Client, project: &Path) -> Result<PathBuf, Silence> {
    let name = configured_name(config, client);
    let Some(known) = remembered(&name) else { return find(&name, client, config, project) };
    known.check(&name)
}

/// Remembers which program reviews. `again`: also if one is remembered already, because the user asks for it.
/// Returns the program if it takes the place of another one, or of itself before it was changed.
pub fn remember(workspace: &Workspace, project: &Path, again: bool) -> Option<PathBuf> {
    let Workspace { config, client, .. } = workspace;
    let name = configured_name(config, client);
    if !again && remembered(&name).is_some() {
        return None;
    }
    let known = Known::at(find(&name, client, config, project).ok()?)?;
    let place = place()?;
    // Without a place for it, the search alone decides. First sessions of two projects may start at once.
    let _lock = workspace.lock(&place).ok()?;
    let mut all = read();
    let before = all.get(&name).and_then(Known::from_json);
    if before.as_ref().is_some_and(|before| !again || *before == known) {
        return None;
    }
    all.insert(name, known.to_json());
    files::replace(&place, Value::Object(all).to_string().as_bytes()).ok()?;
    before.map(|_| known.path)
}

/// The files that are remembered as reviewers, where they really lie. After an update that is also the file that
/// the remembered name leads to now.
pub fn remembered_files() -> Vec<PathBuf> {
    let known = read().values().filter_map(Known::from_json).collect::<Vec<_>>();
    let now = known.iter().filter_map(|known| fs::canonicalize(&known.path).ok());
    now.chain(known.iter().map(|known| known.real.clone())).collect()
}

/// Where the client lies on this machine, for whoever only wants to know its version.
pub fn own_program(client: &Client) -> Result<PathBuf, Silence> {
    search(client.reviewer.program, client, None)
}

/// Whether it is a file that can be run.
pub(crate) fn is_program(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let executable = true;
    metadata.is_file() && executable
}

fn configured_name(config: &Config, client: &Client) -> String {
    config.words(REVIEWER_COMMAND).into_iter().next().unwrap_or_else(|| client.reviewer.program.to_owned())
}

fn find(name: &str, client: &Client, config: &Config, project: &Path) -> Result<PathBuf, Silence> {
    let path = Path::new(name);
    // `./review` means the one of the project, and is the user's explicit choice.
    let is_name = path.components().count() == 1 && !name.starts_with('.');
    if !is_name && !config.words(REVIEWER_COMMAND).is_empty() {
        let path = project.join(path);
        return match path.exists() {
            _ if is_program(&path) => Ok(path),
            true => Err(Silence::Failed(format!("{name} is not executable"))),
            false => Err(Silence::NotFound(name.to_owned())),
        };
    }
    search(name, client, Some(project))
}

/// The first program of this name on `PATH`, or where the client is installed. A relative directory and one
/// of the project do not count: the project must not bring its own judge.
fn search(name: &str, client: &Client, project: Option<&Path>) -> Result<PathBuf, Silence> {
    let home = Places::from_environment().home;
    let corrections = project.map(|project| environment::corrections(client, project)).unwrap_or_default();
    let users = corrections.into_iter().find(|(name, _)| name == "PATH").and_then(|(_, value)| value);
    let path = users.or_else(|| env::var_os("PATH")).unwrap_or_default();
    let is_own = name == client.reviewer.program;
    let installed = client.reviewer.installed.iter().filter(|_| is_own);
    let installed = installed.filter_map(|below| Some(home.as_ref()?.join(below)));
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&path)
        .chain(installed)
        .filter(|directory| directory.is_absolute() && !directory.ends_with("node_modules/.bin"))
        .map(|directory| directory.join(&file))
        .find(|path| {
            is_program(path) && !project.is_some_and(|project| is_of_project(path, project, home.as_deref()))
        })
        .ok_or_else(|| Silence::NotFound(name.to_owned()))
}

/// Whether a program, or the file that it leads to, lies in the project. Where the project is the user's home
/// or above it, that says nothing.
fn is_of_project(program: &Path, project: &Path, home: Option<&Path>) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let project = project_root(&real(project));
    if home.is_some_and(|home| is_within(&real(home), &project)) {
        return false;
    }
    let directory = program.parent().map(real).unwrap_or_default();
    is_within(&directory, &project) || is_within(&real(program), &project)
}

/// A program as it was when it was remembered.
#[derive(PartialEq, Eq)]
struct Known {
    /// As it was found.
    path: PathBuf,
    /// The file that it led to.
    real: PathBuf,
    size: u64,
    /// When that file was changed, in nanoseconds since 1970.
    changed: u64,
    /// When the system last saw it change, which nobody can set back. Not kept for a file with several names,
    /// because a package manager that gives it one more changes it too.
    seen: Option<u64>,
}

impl Known {
    fn at(path: PathBuf) -> Option<Self> {
        let real = fs::canonicalize(&path).ok()?;
        let metadata = fs::metadata(&real).ok()?;
        let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let changed = u64::try_from(changed.as_nanos()).ok()?;
        Some(Self { path, real, size: metadata.len(), changed, seen: seen_change(&metadata) })
    }

    fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            path: value["path"].as_str()?.into(),
            real: value["real"].as_str()?.into(),
            size: value["size"].as_u64()?,
            changed: value["changed"].as_u64()?,
            seen: value["seen"].as_u64(),
        })
    }

    fn to_json(&self) -> Value {
        let Self { path, real, size, changed, seen } = self;
        json!({"path": path, "real": real, "size": size, "changed": changed, "seen": seen})
    }

    /// The program, unless something else lies there now.
    fn check(&self, name: &str) -> Result<PathBuf, Silence> {
        let now = Self::at(self.path.clone()).filter(|now| is_program(&now.path));
        let Some(now) = now else { return Err(Silence::NotFound(name.to_owned())) };
        let is_seen = self.seen.zip(now.seen).is_none_or(|(then, now)| then == now);
        let is_same =
            now.real == self.real && now.size == self.size && now.changed == self.changed && is_seen;
        // The client puts a new version beside the old one, and leads its name there.
        let is_update =
            self.path != self.real && now.real != self.real && now.real.parent() == self.real.parent();
        if is_same || is_update {
            return Ok(now.path);
        }
        Err(Silence::Changed(one_line(&self.path.to_string_lossy())))
    }
}

#[cfg(unix)]
fn seen_change(metadata: &fs::Metadata) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let nanoseconds = metadata.ctime().checked_mul(1_000_000_000)?.checked_add(metadata.ctime_nsec())?;
    u64::try_from(nanoseconds).ok().filter(|_| metadata.nlink() == 1)
}

#[cfg(not(unix))]
fn seen_change(_: &fs::Metadata) -> Option<u64> {
    None
}

fn place() -> Option<PathBuf> {
    Places::from_environment().state.map(|state| state.join(FILE))
}

fn read() -> Map<String, Value> {
    let bytes = place().and_then(|place| files::read(&place, LARGEST).ok().flatten());
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn remembered(name: &str) -> Option<Known> {
    read().get(name).and_then(Known::from_json)
}

//! Which program reviews: the user's, and none that an agent could have put in its place.
//!
//! A bare name is looked up on `PATH`, but never in the project, where agents write. The program that is found when hooks
//! are installed, or when the first session starts, is remembered in the state directory. From then on, only that one
//! runs. An update that adds a version beside the old one is accepted. A program that was replaced or links elsewhere is
//! refused until the user runs `provost init` or `provost review run`, which remember it again.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};

use super::environment;
use crate::client::ClientFacts;
use crate::config::Config;
use crate::config::settings::REVIEWER_COMMAND;
use crate::places::{Places, find_project_root, is_within};
use crate::review_verdict::NoAnswer;
use crate::text::make_one_line;
use crate::workspace::Workspace;
use provost_files as files;

/// The file in the state directory that names the programs.
const FILE: &str = "reviewer.json";
const LARGEST: u64 = 64 << 10;

/// The program that reviews or answers in a project.
pub fn find_reviewer(
    config: &Config,
    client: &ClientFacts,
    places: &Places,
    project: &Path,
) -> Result<PathBuf, NoAnswer> {
    let name = configured_name(config, client);
    match recall(&name, places) {
        Some(remembered) => remembered.check(&name),
        None => find_program(&name, client, config, places, project),
    }
}

/// Remembers which program reviews. `again`: even if one is remembered already, because the user asks for it. Returns the
/// program if it replaces another one, or itself before a change.
pub fn remember_reviewer(workspace: &Workspace, project: &Path, again: bool) -> Option<PathBuf> {
    let Workspace { config, client, places, .. } = workspace;
    let name = configured_name(config, client);
    if !again && recall(&name, places).is_some() {
        return None;
    }
    let remembered = RememberedProgram::at(find_program(&name, client, config, places, project).ok()?)?;
    let file = memory_file(places)?;
    // Without a state directory, the search alone decides. First sessions of two projects may start at once.
    let _lock = workspace.lock(&file).ok()?;
    workspace.permit_change().ok()?;
    let mut all = read_memory(places);
    let before = all.get(&name).and_then(RememberedProgram::from_json);
    if before.as_ref().is_some_and(|before| !again || *before == remembered) {
        return None;
    }
    all.insert(name, remembered.to_json());
    files::replace_private(&file, Value::Object(all).to_string().as_bytes()).ok()?;
    before.map(|_| remembered.path)
}

/// The real paths of the remembered reviewers. After an update, also the file that the remembered name leads to now.
pub fn list_remembered_reviewers(places: &Places) -> Vec<PathBuf> {
    let remembered =
        read_memory(places).values().filter_map(RememberedProgram::from_json).collect::<Vec<_>>();
    let now = remembered.iter().filter_map(|remembered| fs::canonicalize(&remembered.path).ok());
    now.chain(remembered.iter().map(|remembered| remembered.real.clone())).collect()
}

/// The client's program on this machine, only to ask for its version.
pub fn find_client_program(client: &ClientFacts, places: &Places) -> Result<PathBuf, NoAnswer> {
    search_path(client.reviewer().program, client, places, None)
}

/// Whether a path is an executable file.
pub fn is_executable(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let executable = true;
    metadata.is_file() && executable
}

fn configured_name(config: &Config, client: &ClientFacts) -> String {
    config.words(REVIEWER_COMMAND).into_iter().next().unwrap_or_else(|| client.reviewer().program.to_owned())
}

fn find_program(
    name: &str,
    client: &ClientFacts,
    config: &Config,
    places: &Places,
    project: &Path,
) -> Result<PathBuf, NoAnswer> {
    let path = Path::new(name);
    // `./review` is a program of the project, by the user's explicit choice.
    let is_name = path.components().count() == 1 && !name.starts_with('.');
    if !is_name && !config.words(REVIEWER_COMMAND).is_empty() {
        let path = project.join(path);
        return match path.exists() {
            _ if is_executable(&path) => Ok(path),
            true => Err(NoAnswer::Failed(format!("{name} is not executable"))),
            false => Err(NoAnswer::NotFound(name.to_owned())),
        };
    }
    search_path(name, client, places, Some(project))
}

/// The first program of this name on `PATH`, or where the client is installed. Relative directories and those of the
/// project do not count, because the project must not bring its own reviewer.
fn search_path(
    name: &str,
    client: &ClientFacts,
    places: &Places,
    project: Option<&Path>,
) -> Result<PathBuf, NoAnswer> {
    let home = places.home.as_deref();
    let corrections =
        project.map(|project| environment::list_corrections(client, places, project)).unwrap_or_default();
    let users = corrections.into_iter().find(|(name, _)| name == "PATH").and_then(|(_, value)| value);
    let path = users.or_else(|| env::var_os("PATH")).unwrap_or_default();
    let is_own = name == client.reviewer().program;
    let installed = client.reviewer().install_directories.iter().filter(|_| is_own);
    let installed = installed.filter_map(|below| Some(home?.join(below)));
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&path)
        .chain(installed)
        .filter(|directory| directory.is_absolute() && !directory.ends_with("node_modules/.bin"))
        .map(|directory| directory.join(&file))
        .find(|path| {
            is_executable(path) && !project.is_some_and(|project| is_in_project(path, project, home))
        })
        .ok_or_else(|| NoAnswer::NotFound(name.to_owned()))
}

/// Whether a program, or the file that it leads to, is in the project. If the project contains the user's home, it
/// counts as outside.
fn is_in_project(program: &Path, project: &Path, home: Option<&Path>) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let project = find_project_root(&real(project));
    if home.is_some_and(|home| is_within(&real(home), &project)) {
        return false;
    }
    let directory = program.parent().map(real).unwrap_or_default();
    is_within(&directory, &project) || is_within(&real(program), &project)
}

/// A program in the state in which it was remembered.
#[derive(PartialEq, Eq)]
struct RememberedProgram {
    /// As it was found.
    path: PathBuf,
    /// The file that it led to.
    real: PathBuf,
    size: u64,
    /// When that file was changed, in nanoseconds since 1970.
    changed: u64,
    /// When the system last saw it change (ctime), which no program can set back. Not kept for a file with several names,
    /// because a package manager that adds a name changes it too.
    seen: Option<u64>,
}

impl RememberedProgram {
    fn at(path: PathBuf) -> Option<Self> {
        let real = fs::canonicalize(&path).ok()?;
        let metadata = fs::metadata(&real).ok()?;
        let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let changed = u64::try_from(changed.as_nanos()).ok()?;
        Some(Self { path, real, size: metadata.len(), changed, seen: changed_time(&metadata) })
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

    /// The program, unless it has been replaced.
    fn check(&self, name: &str) -> Result<PathBuf, NoAnswer> {
        let now = Self::at(self.path.clone()).filter(|now| is_executable(&now.path));
        let Some(now) = now else { return Err(NoAnswer::NotFound(name.to_owned())) };
        let is_seen = self.seen.zip(now.seen).is_none_or(|(then, now)| then == now);
        let is_same =
            now.real == self.real && now.size == self.size && now.changed == self.changed && is_seen;
        // The client installs a new version beside the old one and changes the link.
        let is_update =
            self.path != self.real && now.real != self.real && now.real.parent() == self.real.parent();
        if is_same || is_update {
            return Ok(now.path);
        }
        Err(NoAnswer::Changed(make_one_line(&self.path.to_string_lossy())))
    }
}

#[cfg(unix)]
fn changed_time(metadata: &fs::Metadata) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let nanoseconds = metadata.ctime().checked_mul(1_000_000_000)?.checked_add(metadata.ctime_nsec())?;
    u64::try_from(nanoseconds).ok().filter(|_| metadata.nlink() == 1)
}

#[cfg(not(unix))]
fn changed_time(_: &fs::Metadata) -> Option<u64> {
    None
}

fn memory_file(places: &Places) -> Option<PathBuf> {
    places.state.as_ref().map(|state| state.join(FILE))
}

fn read_memory(places: &Places) -> Map<String, Value> {
    let bytes = memory_file(places).and_then(|file| files::read_file(&file, LARGEST).ok().flatten());
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn recall(name: &str, places: &Places) -> Option<RememberedProgram> {
    read_memory(places).get(name).and_then(RememberedProgram::from_json)
}

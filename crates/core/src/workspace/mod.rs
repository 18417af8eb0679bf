//! All that a guard sees of the world: the project, the user's directories, the configuration, the disk.
//!
//! A guard has no other way to the environment or the disk, so there is one answer to "which project is this?" and
//! "which file does this path mean?". Only the configuration is read in advance.

mod cache;
pub mod change_diff;
mod checks;
mod discarded;
mod disk;
mod entry_claims;
mod evidence_log;
mod git_index;
mod git_objects;
mod git_references;
pub mod git_repository;
pub mod git_settings;
mod git_trees;
mod gitignore;
mod kept_rules;
mod past;
mod private_git;
mod reviewed_files;
pub mod rule_commands;
mod session_base;
mod state_files;
mod tree_state;
mod trust;
mod unreviewed_names;
pub mod work_tree;
mod workflow_records;

use std::any::Any;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub use past::{PastDisk, RecordedFacts};
pub use provost_files::{FileIdentity, Listing, Lock};

use crate::client::ClientFacts;
use crate::clock;
use crate::config::Config;
use crate::opinion::Fault;
use crate::places::{Places, resolve_path, resolve_path_below};
use cache::TypedCache;
use past::Past;

pub struct Workspace {
    pub client: &'static ClientFacts,
    /// The directory where the session started, or else where the event happened.
    pub start: PathBuf,
    pub project: PathBuf,
    pub places: Places,
    pub config: Config,
    pub interruption: Interruption,
    /// Provost itself, where it can supervise the commands of rules.
    pub supervisor: Option<&'static str>,
    cache: TypedCache,
    /// What the guard that judges now could not read.
    missed: Mutex<Option<Fault>>,
    /// `None`: this is the present.
    past: Option<Box<Past>>,
}

/// Lets long-running work check whether this process should end.
#[derive(Clone, Copy)]
pub struct Interruption {
    /// From now on, the first signal does not end the process.
    pub start_watching: fn(),
    pub is_requested: fn() -> bool,
}

impl Default for Interruption {
    fn default() -> Self {
        Self { start_watching: || {}, is_requested: || false }
    }
}

impl Workspace {
    /// `start` is resolved already.
    pub fn new(
        client: &'static ClientFacts,
        start: PathBuf,
        project: PathBuf,
        places: Places,
        config: Config,
    ) -> Self {
        Self {
            client,
            start,
            project,
            places,
            config,
            interruption: Interruption::default(),
            supervisor: None,
            cache: TypedCache::default(),
            missed: Mutex::default(),
            past: None,
        }
    }

    /// Reports that an existing file could not be read. If the guard then has nothing to say, it has failed.
    pub fn report_unreadable(&self, fault: Fault) {
        self.missed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
    }

    /// Takes the first report since the last call.
    pub fn take_unreadable(&self) -> Option<Fault> {
        self.missed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The one value of this type in this workspace, computed at the first call: what the guards of a pack share
    /// during an event.
    pub fn cached<T: Any + Send + Sync>(&self, compute: impl Fn() -> T) -> &T {
        let (value, disk_use) = self.cache.get_or_insert(&|| self.with_disk_use(&compute));
        self.note_disk_use(*disk_use);
        value
    }

    /// A variable of the environment, if it is set and not empty.
    pub fn environment_variable(&self, name: &str) -> Option<String> {
        env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// The file that a path means: follows `..` and links as the system would, as far as they exist. A dangling link
    /// leads to the file that a write would create.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        // Nearly all paths are below `start`, which is resolved already.
        match path.strip_prefix(&self.start) {
            Ok(rest) => resolve_path_below(self.start.clone(), rest),
            Err(_) => resolve_path(path),
        }
    }

    /// Resolves `path` from the directory `real`, which is resolved already.
    pub fn resolve_below(&self, real: &Path, path: &Path) -> PathBuf {
        resolve_path_below(real.to_owned(), path)
    }

    /// Resolves all but the last part of a path: a deletion removes a link, not its target.
    pub fn resolve_parent(&self, path: &Path) -> PathBuf {
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => self.resolve(parent).join(name),
            _ => self.resolve(path),
        }
    }

    /// The transcripts of a session's agents, the newest first, by the session's own transcript.
    pub fn list_agent_transcripts(&self, record: &Path) -> Vec<PathBuf> {
        self.list_newest_first(&(self.client.transcripts().agent_transcripts_directory)(record), "jsonl")
    }

    /// The transcript of one of a session's agents; `None` if the id cannot be part of a file name.
    pub fn find_agent_transcript(&self, record: &Path, id: &str) -> Option<PathBuf> {
        let is_name = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_name.then(|| {
            (self.client.transcripts().agent_transcripts_directory)(record).join((self
                .client
                .transcripts()
                .agent_transcript_name)(
                id
            ))
        })
    }

    /// The agent that a skill delegates its work to, if it does.
    pub fn find_forked_agent(&self, skill: &str) -> Option<String> {
        if self.ask_content() {
            return None;
        }
        (self.client.find_forked_agent)(skill, &self.places, &[&self.start, &self.project])
    }

    /// The directory where the client writes plans.
    pub fn plans_directory(&self) -> Option<PathBuf> {
        self.ask_content();
        (self.client.find_plans_directory)(&self.places, &self.project)
    }

    /// The time in UTC, to the second.
    pub fn format_now(&self) -> String {
        clock::format_utc_seconds(clock::time_since_epoch())
    }

    /// The path of this program.
    pub fn own_program(&self) -> Option<PathBuf> {
        env::current_exe().ok()
    }

    /// Whether a shell or a plugin looks for programs in the directory of this file.
    pub fn is_on_search_path(&self, file: &Path) -> bool {
        let Some(directory) = file.parent() else { return false };
        let path = env::var_os("PATH").unwrap_or_default();
        let home = self.places.home.iter();
        let usual = home.flat_map(|home| [".cargo/bin", ".local/bin"].map(|folder| home.join(folder)));
        env::split_paths(&path)
            .chain(usual)
            .any(|found| found == directory || resolve_path(&found) == directory)
    }

    /// The settings files that the client reads in this project, whether they exist or not.
    pub fn list_settings_files(&self) -> Vec<PathBuf> {
        (self.client.settings.list_files)(&self.places, &self.project)
    }

    /// For tests: a workspace below one directory, of a client without facts.
    #[doc(hidden)]
    pub fn for_tests(root: &Path) -> Self {
        let places =
            Places { home: Some(root.join("home")), state: Some(root.join("state")), ..Places::default() };
        Self::new(&ClientFacts::NONE, root.to_owned(), root.to_owned(), places, Config::default())
    }
}

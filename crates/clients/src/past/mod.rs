//! What a client has recorded of past sessions, as events that belong to no client.
//!
//! [`PastSessions`] is an optional part of a client: where its records are, and how a file becomes a stream of
//! [`PastItem`]s. A [`PastEvent`] says who did what, when and where. What the tool got stays in the client's form until
//! [`PastSessions::build_event`] makes the [`Event`] of it that a hook would have got, by the parser of the hook.
//!
//! To read a file: [`PastSessions::identify_file`], then [`PastSessions::open`], then iterate. A reader holds one line
//! and the calls whose results are still to come, whatever the size of the file. It never writes.
//!
//! A record may repeat what another file has: forks and resumed sessions copy the history. A reader does not know that.
//! [`PastEvent::id`] is the same in all copies, and [`FileStart::time`] is earlier in the original.

pub mod json_scan;
pub mod line_reader;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use provost_core::event::Event;
use provost_core::places::Places;

/// A client's records of past sessions.
pub struct PastSessions {
    /// The directory with the records of all projects.
    pub find_directory: fn(&Places) -> Option<PathBuf>,
    /// Whether a directory in it may hold sessions of a project, by its name alone.
    pub may_hold: fn(directory: &str, project: &Path) -> bool,
    /// Whose record a file is, by its name; `None` if it is not a record.
    pub identify_file: fn(&Path) -> Option<FileOwner>,
    /// The first record of a file that has a time and a directory.
    pub read_start: fn(&Path) -> io::Result<FileStart>,
    /// The kinds of the agents whose records are these files, by the record of the session that started them.
    pub find_agent_kinds: fn(session: Option<&Path>, agents: &[&Path]) -> Vec<Option<String>>,
    pub open: fn(&Path, FileContext, Detail) -> io::Result<PastItems>,
    /// The event that a hook would have got; `None` if there was none, or the tool's input cannot be read.
    pub build_event: fn(&PastEvent) -> Option<Event>,
}

pub type PastItems = Box<dyn Iterator<Item = PastItem> + Send>;

/// Whose record a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOwner {
    /// A session, by its id.
    Session(String),
    /// An agent, by its id, and the session in whose directory the file is.
    Agent { id: String, session: Option<String> },
}

/// How a file begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileStart {
    pub session: Option<String>,
    /// Milliseconds since 1970.
    pub time: Option<u64>,
    pub cwd: Option<PathBuf>,
}

impl FileStart {
    /// Whether nothing is missing.
    pub fn is_known(&self) -> bool {
        self.session.is_some() && self.time.is_some() && self.cwd.is_some()
    }
}

/// What is known about a file before it is read.
#[derive(Debug, Clone, Default)]
pub struct FileContext {
    /// The session of records that name none.
    pub session: Option<Arc<str>>,
    /// The agent whose record the file is.
    pub agent: Option<PastAgent>,
    /// The modes of the session. The reader of the session fills it in, and agents inherit them.
    pub modes: ModeTimeline,
}

/// The permission modes of a session, and since when each was on.
#[derive(Debug, Clone, Default)]
pub struct ModeTimeline(Arc<Mutex<Vec<ModeChange>>>);

/// When a mode began, and its name.
type ModeChange = (u64, Arc<str>);

impl ModeTimeline {
    pub fn push(&self, since: u64, mode: Arc<str>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((since, mode));
    }

    /// The mode at a time; `None` if it is not known.
    pub fn find(&self, time: u64) -> Option<Arc<str>> {
        let modes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        modes.iter().rev().find(|(since, _)| *since <= time).map(|(_, mode)| mode.clone())
    }
}

/// Which contents a reader copies. Whoever only counts needs none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Detail {
    /// The words of prompts and answers.
    pub texts: bool,
    /// What the tools returned: [`PastEventKind::Finished`].
    pub results: bool,
    /// What files held before they were changed: [`PastCall::file_before`]. That of settings files is always copied.
    pub files: bool,
}

/// One step of reading a file.
#[derive(Debug)]
pub enum PastItem {
    Event(PastEvent),
    /// This many more bytes of the file are read.
    Progress(usize),
    /// The file has ended.
    End(FileSummary),
}

/// What was read of a file.
#[derive(Debug, Default)]
pub struct FileSummary {
    pub records: u64,
    /// What was skipped, and how often.
    pub skipped: Vec<(&'static str, u64)>,
    pub start: FileStart,
    /// Its records repeat those of another file.
    pub is_fork: bool,
}

/// Something that happened in a past session.
#[derive(Debug, Clone)]
pub struct PastEvent {
    pub kind: PastEventKind,
    /// Identifies the call, or else the record: the same in all files that repeat it. `None`: the record has no id.
    pub id: Option<Arc<str>>,
    /// Milliseconds since 1970.
    pub time: Option<u64>,
    pub session: Option<Arc<str>>,
    pub agent: Option<PastAgent>,
    /// The kind of agent that the main conversation runs as.
    pub main_agent: Option<Arc<str>>,
    /// The directory at that moment.
    pub cwd: Option<Arc<str>>,
    /// The branch that was checked out, as far as the client had noticed. Empty: there was no repository.
    pub branch: Option<Arc<str>>,
    /// The permission mode, in the client's words.
    pub mode: Option<Arc<str>>,
    /// The id of the turn.
    pub turn: Option<Arc<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastAgent {
    pub id: Arc<str>,
    pub kind: Option<Arc<str>>,
}

#[derive(Debug, Clone)]
pub enum PastEventKind {
    /// A tool was called. The event comes when its result is known, and before the result itself.
    Call(Arc<PastCall>, CallFate),
    /// The call has ended. Only with [`Detail::results`], and only for calls that were not stopped.
    Finished(Arc<PastCall>, PastResult),
    /// The user typed something.
    Prompt(String),
    /// The client told the agent that a background task has ended. `is_prompt`: as a prompt of its own.
    TaskEnd { text: String, is_prompt: bool },
    /// The user interrupted the turn.
    Interruption,
    /// A turn, or the work of an agent, was about to end.
    Stop { last_message: Option<String>, has_been_blocked: bool },
}

/// A call of a tool, in the client's words.
#[derive(Debug, PartialEq, Eq)]
pub struct PastCall {
    pub tool: String,
    /// JSON. Empty: it is missing, or too large for any hook.
    pub input: Vec<u8>,
    /// The file that was changed, according to the result.
    pub file: Option<String>,
    /// The content that the file of the call had before, where the record says so. `Some(None)`: there was no file.
    pub file_before: Option<Option<String>>,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFate {
    /// The client rejected it before it asked any hook.
    NeverAsked,
    Succeeded,
    Failed,
    /// A hook denied it.
    DeniedByHook,
    /// The permissions of the settings denied it, or nobody could be asked.
    DeniedByPermission,
    RejectedByUser,
    /// The record has no result.
    Unknown,
}

/// What a tool returned, in the client's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastResult {
    pub has_failed: bool,
    /// JSON.
    pub response: Vec<u8>,
}

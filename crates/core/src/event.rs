//! What happened in a session, in terms that belong to no client.
//!
//! A client adapter turns its JSON into an [`Event`] once, and no other code sees the JSON. Parsing never fails: a field
//! that is missing or has a wrong type is `None`, and an unknown event keeps its native name. What a call would *do* is
//! computed at most once per event, and only if a guard asks: [`Event::effects`].

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::effect::{self, Effect, Line, envelope};
use crate::places::fnv1a;
use crate::text;
use crate::tool::{Tool, ToolCall};

/// One event of a session.
#[derive(Debug)]
pub struct Event {
    /// The client's name of the event, for the answer and the journal.
    pub native_name: String,
    pub kind: EventKind,
    pub session: Option<String>,
    /// The id of the turn in the session, if the client names it.
    pub turn: Option<String>,
    /// The directory that paths of this event are relative to.
    pub cwd: PathBuf,
    /// The directory that `~` stands for.
    pub home: Option<PathBuf>,
    pub transcript: Option<PathBuf>,
    pub mode: PermissionMode,
    /// In this mode the client answers every question with no.
    pub is_never_asked: bool,
    /// The agent in which the event happened. A subagent has an id. The main conversation has a kind only, if it runs as
    /// an agent, or is `None`.
    pub agent: Option<Agent>,
    line: OnceLock<Line>,
}

/// The kinds of events that guards judge.
#[derive(Debug)]
pub enum EventKind {
    BeforeTool(ToolCall),
    AfterTool(ToolCall),
    ToolFailed(ToolCall),
    Permission(ToolCall),
    Prompt {
        text: Option<String>,
        /// False if the client says that something other than the user wrote it.
        is_by_user: bool,
        /// The background task whose end the prompt announces.
        finished_task: Option<String>,
        /// That task was a command, and succeeded.
        has_task_succeeded: bool,
    },
    Stop(TurnEnd),
    SubagentStart,
    SubagentStop(TurnEnd),
    SessionStart {
        /// The client has just loaded its configuration (not after a compaction or `/clear`).
        is_fresh: bool,
    },
    SessionEnd,
    ConfigChange {
        file: Option<PathBuf>,
    },
    Other,
}

/// A turn that is about to end.
#[derive(Debug, Default)]
pub struct TurnEnd {
    /// A hook has already stopped this turn from ending at least once.
    pub has_been_blocked: bool,
    pub last_message: Option<String>,
    /// A subagent of this session still runs in the background.
    pub is_subagent_running: bool,
    /// The subagent's own transcript, if the client names it.
    pub transcript: Option<PathBuf>,
    /// The subagent itself ran in the background, so its caller does not wait for the answer.
    pub is_in_background: bool,
}

#[derive(Debug)]
pub struct Agent {
    pub id: Option<String>,
    pub kind: Option<String>,
}

/// How the client asks for permissions. Clients add modes, so the set is open.
#[derive(Debug, PartialEq, Eq)]
pub enum PermissionMode {
    Unknown,
    Plan,
    Other(String),
}

/// The first file that a patch changes.
fn find_patched_file(patch: &str) -> Option<String> {
    envelope::read_envelope(patch).into_iter().next().map(|file| file.name)
}

impl Event {
    pub fn new(native_name: String, kind: EventKind, cwd: PathBuf) -> Self {
        Self {
            native_name,
            kind,
            session: None,
            turn: None,
            cwd,
            home: None,
            transcript: None,
            mode: PermissionMode::Unknown,
            is_never_asked: false,
            agent: None,
            line: OnceLock::new(),
        }
    }

    /// What this event would do, computed once.
    pub fn effects(&self) -> &[Effect] {
        &self.line().effects
    }

    /// What this event would do, command by command, computed once.
    pub fn line(&self) -> &Line {
        self.line.get_or_init(|| {
            self.call().map_or_else(Line::default, |call| {
                effect::compute_effects(&call.tool, &self.cwd, self.home.as_deref())
            })
        })
    }

    /// The tool call that this event is about, if it is about one.
    pub fn call(&self) -> Option<&ToolCall> {
        match &self.kind {
            EventKind::BeforeTool(call)
            | EventKind::AfterTool(call)
            | EventKind::ToolFailed(call)
            | EventKind::Permission(call) => Some(call),
            _ => None,
        }
    }

    /// A name for this event that is the same in every process that handles it; `None` for a call without an id.
    pub fn shared_id(&self) -> Option<String> {
        if let Some(call) = self.call() {
            return call.id.clone();
        }
        let agent = self.agent.as_ref().and_then(|agent| agent.id.as_deref());
        Some(match &self.kind {
            // A stop after a blocked stop is another event.
            EventKind::Stop(stopping) | EventKind::SubagentStop(stopping) => {
                format!("{:?}", (&self.turn, agent, stopping.has_been_blocked, &stopping.last_message))
            }
            // A prompt can be long, and escaping it would take long.
            EventKind::Prompt { text, .. } => {
                format!("{:?}{}", (&self.turn, agent), text.as_deref().unwrap_or_default())
            }
            kind => format!("{:?}", (&self.turn, agent, kind)),
        })
    }

    /// A digest that names this event in every process that handles it; `None` if nothing identifies it.
    pub fn shared_digest(&self) -> Option<u64> {
        let session = self.session.as_deref().filter(|session| !session.is_empty())?;
        // A client may use the id of a call twice.
        let parts = [session, &self.native_name, &self.shared_id()?, &self.subject()];
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.bytes().chain([0xff])).collect();
        Some(fnv1a(&bytes))
    }

    /// The command, file, agent or skill that the event is about, short enough to begin a line.
    pub fn subject(&self) -> String {
        let Some(call) = self.call() else { return text::make_one_line(&self.native_name) };
        let below =
            |path: &Path| text::quote_start(&path.strip_prefix(&self.cwd).unwrap_or(path).to_string_lossy());
        let name = |name: &str| text::quote_for_model(&text::clip_line(name, 32));
        match &call.tool {
            Tool::Shell { command } if !command.trim().is_empty() => text::quote_start(command),
            Tool::Write { path, .. } | Tool::Edit { path, .. } | Tool::Notebook { path, .. } => below(path),
            Tool::Patch { text } => match find_patched_file(text) {
                Some(name) => format!("patch of {}", text::quote_start(&name)),
                None => text::quote_start(&call.native_tool),
            },
            Tool::Read { path: Some(path), .. } => below(path),
            Tool::Delegate { agent: Some(agent), .. } => format!("agent {}", name(agent)),
            Tool::Skill { name: Some(skill), .. } => format!("skill {}", name(skill)),
            Tool::Message { to: Some(agent), .. } => format!("message to {}", name(agent)),
            Tool::LeavePlanMode { .. } => "leaving plan mode".into(),
            Tool::Other { commands, .. } if !commands.is_empty() => text::quote_start(&commands[0]),
            _ => text::quote_start(&call.native_tool),
        }
    }

    /// The first line of the command, or the file, agent or skill that the call is about, in full.
    pub fn full_subject(&self) -> Option<Cow<'_, str>> {
        match &self.call()?.tool {
            Tool::Shell { command } => command.trim_start().lines().next().map(Cow::Borrowed),
            Tool::Write { path, .. } | Tool::Edit { path, .. } | Tool::Notebook { path, .. } => {
                Some(path.to_string_lossy())
            }
            Tool::Read { path, .. } | Tool::LeavePlanMode { path, .. } => {
                Some(path.as_ref()?.to_string_lossy())
            }
            Tool::Delegate { agent: name, .. }
            | Tool::Skill { name, .. }
            | Tool::Message { to: name, .. } => name.as_deref().map(Cow::Borrowed),
            Tool::Other { paths, commands, .. } => match commands.first() {
                Some(command) => command.trim_start().lines().next().map(Cow::Borrowed),
                None => Some(paths.iter().find(|path| path.is_absolute())?.to_string_lossy()),
            },
            Tool::Patch { text } => find_patched_file(text).map(Cow::Owned),
            Tool::Inert => None,
        }
    }

    /// Makes a path of this event absolute. It does not follow `..` and links, because that depends on the disk
    /// ([`crate::workspace::Workspace::resolve`]).
    pub fn make_absolute(&self, path: &Path) -> PathBuf {
        self.cwd.join(path)
    }
}

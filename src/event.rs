//! What happened, in words that no client owns.
//!
//! A client adapter turns its own JSON into an [`Event`] once, at the edge; everything behind it
//! speaks only of these values. Reading is total: what is missing or has a wrong type is `None`,
//! what is unknown keeps its native name, and nothing here is an error. What a call would *do* is
//! a second step, taken at most once per event and only if a guard asks: [`Event::effects`].

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Map, Value};

use crate::clients::LongBytes;
use crate::effect::{self, Effect};
use crate::text;

/// One event of a session, as every guard sees it.
#[derive(Debug)]
pub struct Event {
    /// The event's name in the client's own words, for the answer and the journal.
    pub native_name: String,
    pub kind: Kind,
    pub session: Option<String>,
    /// The turn within the session, where the client names one.
    pub turn: Option<String>,
    /// Where relative paths of this event start.
    pub cwd: PathBuf,
    /// Where `~` leads.
    pub home: Option<PathBuf>,
    pub transcript: Option<PathBuf>,
    pub mode: Mode,
    /// The agent in which the event happened: a subagent has an id; the main conversation has only
    /// a kind, if it plays one, or is `None`.
    pub agent: Option<Agent>,
    effects: OnceLock<Vec<Effect>>,
}

/// The kinds of event that guards speak about.
#[derive(Debug)]
pub enum Kind {
    BeforeTool(Call),
    AfterTool(Call),
    ToolFailed(Call),
    Permission(Call),
    /// `by_person`: the client does not say that something else wrote it. `finished_task`: the background
    /// task whose end it announces.
    Prompt {
        text: Option<String>,
        by_person: bool,
        finished_task: Option<String>,
    },
    Stop(Stopping),
    SubagentStart,
    SubagentStop(Stopping),
    /// `fresh`: the client has just loaded its configuration (not a compaction or a cleared talk).
    SessionStart {
        fresh: bool,
    },
    SessionEnd,
    ConfigChange {
        file: Option<PathBuf>,
    },
    Other,
}

/// One call of a tool.
#[derive(Debug)]
pub struct Call {
    /// The tool's name in the client's own words.
    pub native_tool: String,
    pub id: Option<String>,
    pub tool: Tool,
    /// What it gave back, where the event is about a call that has been made.
    pub outcome: Outcome,
}

/// What a tool gave back, as far as guards ask for it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The file that it changed.
    pub file: Option<PathBuf>,
    /// What an agent reported that has finished; `None` while it is still at work.
    pub report: Option<Report>,
    /// The id of an agent that was started in the background.
    pub launched: Option<String>,
    /// What it printed or answered, or why it failed; `None` where nothing came back, or not yet.
    pub text: Option<String>,
    /// How a command ended, where that is told.
    pub exit_code: Option<i64>,
    /// It was cut off, or goes on in the background: what it printed is not all.
    pub is_unfinished: bool,
}

/// The last words of an agent, and what it was given.
#[derive(Debug, Default)]
pub struct Report {
    pub agent: Option<String>,
    pub id: Option<String>,
    pub prompt: Option<String>,
    pub answer: Option<String>,
}

/// What a tool was asked to do.
#[derive(Debug)]
pub enum Tool {
    Write {
        path: PathBuf,
        content: Option<String>,
    },
    Edit {
        path: PathBuf,
        replacements: Vec<Replacement>,
    },
    Notebook {
        path: PathBuf,
    },
    Shell {
        command: String,
    },
    /// `recursive`: it shows contents of whatever lies below the path.
    Read {
        path: Option<PathBuf>,
        recursive: bool,
    },
    Delegate {
        agent: Option<String>,
        prompt: Option<String>,
        /// What it is for, in a few words.
        description: Option<String>,
        background: Option<bool>,
        /// It works in a copy of the project that is made for it.
        is_isolated: bool,
        /// The whole input in the client's own words, for an answer that changes a part of it.
        native_input: Map<String, Value>,
    },
    Skill {
        name: Option<String>,
        arguments: Option<String>,
    },
    /// More words for an agent that was started before, by its id or its name.
    Message {
        to: Option<String>,
        text: Option<String>,
    },
    LeavePlanMode {
        plan: Option<Text>,
        path: Option<PathBuf>,
    },
    /// A tool of the client that neither touches files nor starts anything.
    Inert,
    /// A tool this program does not know, or a known one whose input it cannot read. The paths are
    /// the strings of its input, which could all be some; the commands are those that stand in a
    /// field for command lines.
    Other {
        paths: Vec<PathBuf>,
        commands: Vec<String>,
        /// By its name it takes files away or gives them other names.
        deletes: bool,
    },
}

/// A text that may be very long.
#[derive(Debug)]
pub enum Text {
    Short(String),
    Long(LongBytes),
}

impl Text {
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Short(text) => text.as_bytes(),
            Self::Long(text) => text.as_bytes(),
        }
    }
}

/// One replacement of an edit.
#[derive(Debug)]
pub struct Replacement {
    pub old: String,
    pub new: String,
    pub all: bool,
}

/// A turn that is about to end.
#[derive(Debug, Default)]
pub struct Stopping {
    /// A hook has already kept this turn going at least once.
    pub held_before: bool,
    pub last_message: Option<String>,
    /// A subagent of this session is still at work in the background.
    pub subagent_running: bool,
    /// The subagent's own transcript, where the client names it.
    pub transcript: Option<PathBuf>,
    /// The subagent itself was at work in the background: nobody waits for its answer.
    pub in_background: bool,
}

#[derive(Debug)]
pub struct Agent {
    pub id: Option<String>,
    pub kind: Option<String>,
}

/// How the client asks for permissions. The set is open: clients add modes.
#[derive(Debug, PartialEq, Eq)]
pub enum Mode {
    Unknown,
    Plan,
    Other(String),
}

impl Event {
    pub fn new(native_name: String, kind: Kind, cwd: PathBuf) -> Self {
        Self {
            native_name,
            kind,
            session: None,
            turn: None,
            cwd,
            home: None,
            transcript: None,
            mode: Mode::Unknown,
            agent: None,
            effects: OnceLock::new(),
        }
    }

    /// What this event would do, computed once.
    pub fn effects(&self) -> &[Effect] {
        self.effects.get_or_init(|| effect::of(self))
    }

    /// The tool call that this event is about, if it is about one.
    pub fn call(&self) -> Option<&Call> {
        match &self.kind {
            Kind::BeforeTool(call)
            | Kind::AfterTool(call)
            | Kind::ToolFailed(call)
            | Kind::Permission(call) => Some(call),
            _ => None,
        }
    }

    /// A name for this event that every process gets that is asked about it; `None` for a call without an id.
    pub fn occasion(&self) -> Option<String> {
        if let Some(call) = self.call() {
            return call.id.clone();
        }
        let agent = self.agent.as_ref().and_then(|agent| agent.id.as_deref());
        Some(match &self.kind {
            // A stop that comes again after a block is another one.
            Kind::Stop(stopping) | Kind::SubagentStop(stopping) => {
                format!("{:?}", (&self.turn, agent, stopping.held_before, &stopping.last_message))
            }
            // A prompt can be long, and escaping it would take its time.
            Kind::Prompt { text, .. } => {
                format!("{:?}{}", (&self.turn, agent), text.as_deref().unwrap_or_default())
            }
            kind => format!("{:?}", (&self.turn, agent, kind)),
        })
    }

    /// What this event is about, short enough to begin a line: the command, the file, the agent or the skill.
    pub fn subject(&self) -> String {
        let Some(call) = self.call() else { return text::one_line(&self.native_name) };
        let below =
            |path: &Path| text::excerpt(&path.strip_prefix(&self.cwd).unwrap_or(path).to_string_lossy());
        let name = |name: &str| text::quoted(&text::clipped(name, 32));
        match &call.tool {
            Tool::Shell { command } if !command.trim().is_empty() => text::excerpt(command),
            Tool::Write { path, .. } | Tool::Edit { path, .. } | Tool::Notebook { path } => below(path),
            Tool::Read { path: Some(path), .. } => below(path),
            Tool::Delegate { agent: Some(agent), .. } => format!("agent {}", name(agent)),
            Tool::Skill { name: Some(skill), .. } => format!("skill {}", name(skill)),
            Tool::Message { to: Some(agent), .. } => format!("message to {}", name(agent)),
            Tool::LeavePlanMode { .. } => "leaving plan mode".into(),
            Tool::Other { commands, .. } if !commands.is_empty() => text::excerpt(&commands[0]),
            _ => text::excerpt(&call.native_tool),
        }
    }

    /// What the call is about, in full: the first line of a command, a file, an agent, a skill.
    pub fn whole_subject(&self) -> Option<Cow<'_, str>> {
        match &self.call()?.tool {
            Tool::Shell { command } => command.trim_start().lines().next().map(Cow::Borrowed),
            Tool::Write { path, .. } | Tool::Edit { path, .. } | Tool::Notebook { path } => {
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
            Tool::Inert => None,
        }
    }

    /// A path of this event as an absolute one. `..` and links are left alone: what they mean
    /// depends on the disk ([`crate::workspace::Workspace::resolve`]).
    pub fn absolute(&self, path: &Path) -> PathBuf {
        self.cwd.join(path)
    }
}

//! The clients that Provost works with: one directory each, one line each in [`CLIENTS`].
//!
//! An adapter parses its client's JSON into an [`Event`], renders a [`Decision`] in the form that its client obeys, and
//! knows its client's settings files. It never decides. No other crate may know a client's field names.

mod claude;
mod demo;
mod health;
mod json;
mod json_edit;
mod long_text;
pub mod past;
mod registration;
mod words;

use std::path::{Path, PathBuf};

pub use claude::example_calls::make_example_call;
pub use claude::script as scripts;
pub use demo::{ClientDemo, DemoAct, DemoAnswer, DemoScene, EventSource, SceneAction};
pub use health::{Health, HookProgram, HookReply, SampleEvent, SteeringValue, ToolNames};
pub use long_text::HookInput;
use past::PastSessions;
use provost_core::client::ClientFacts;
use provost_core::decision::Decision;
use provost_core::event::Event;
use provost_core::places::Places;
pub use registration::{
    HookSource, HookSwitch, InstallReport, InstallRequest, Installation, Migration, MigrationReport,
    NeededEntry, ProgramName, RegisteredHook, RemovalReport, SettingsScope, SwitchReach,
};

/// A client. It must have a name and a dialect; [`Client::new`] leaves out everything else. A missing part knows nothing,
/// and a command that cannot work without it says so.
pub struct Client {
    pub name: &'static str,
    pub traits: ClientTraits,
    pub dialect: Dialect,
    /// What guards can learn about it.
    pub facts: ClientFacts,
    /// Whether an agent started this process, so that its variables may be the agent's.
    pub is_agent_process: fn() -> bool,
    /// The names of its events before a tool runs, in journals of versions that did not mark these events.
    pub events_before_call: &'static [&'static str],
    /// The session that the environment names.
    pub find_session: fn() -> Option<String>,
    pub installation: Option<Installation>,
    pub migration: Option<Migration>,
    pub health: Option<Health>,
    /// Its records of past sessions. Without them, nothing can be replayed.
    pub past_sessions: Option<PastSessions>,
    pub status_line: Option<StatusLine>,
    pub demo: Option<ClientDemo>,
}

/// What users need to know about a client before they rely on its hooks. The page about clients is made from it.
#[derive(Debug, Clone, Copy)]
pub struct ClientTraits {
    /// The name that people use.
    pub title: &'static str,
    /// The files that `init` writes, in a project and below the home directory.
    pub files: [Option<&'static str>; 2],
    /// It can be kept from ending a turn.
    pub can_hold: bool,
    /// It asks the user if a rule says so. Elsewhere a question is a denial.
    pub can_ask: bool,
    /// It lets the user override a denial by a prompt.
    pub has_prompts: bool,
    /// What Provost cannot do on this client, in a sentence each.
    pub limits: &'static [&'static str],
}

impl ClientTraits {
    /// Nothing is known.
    const NONE: Self = Self {
        title: "",
        files: [None, None],
        can_hold: false,
        can_ask: false,
        has_prompts: false,
        limits: &[],
    };
}

/// How a client talks to a hook, and which answers it obeys.
pub struct Dialect {
    pub parse: fn(HookInput) -> Result<Event, Unreadable>,
    pub render: fn(&Decision, &Event) -> HookAnswer,
    /// The answer to an input that cannot be read; without it, the failure modes of the guards decide.
    pub refuse: Option<fn(&str) -> HookAnswer>,
}

impl Client {
    /// A client of which nothing is known but its dialect.
    pub const fn new(name: &'static str, dialect: Dialect) -> Self {
        Self {
            name,
            traits: ClientTraits::NONE,
            dialect,
            facts: ClientFacts::NONE,
            is_agent_process: || false,
            events_before_call: &[],
            find_session: || None,
            installation: None,
            migration: None,
            health: None,
            past_sessions: None,
            status_line: None,
            demo: None,
        }
    }

    /// The name of its program.
    pub fn program(&self) -> &'static str {
        self.facts.reviewer.as_ref().map_or(self.name, |reviewer| reviewer.program)
    }

    /// Whether it has a settings file of this scope in a project.
    pub fn has_file(&self, scope: &SettingsScope, places: &Places, project: &Path) -> bool {
        (self.installation().find_settings_file)(places, project, scope).is_some()
    }

    pub fn installation(&self) -> &Installation {
        self.installation.as_ref().unwrap_or(&Installation::NONE)
    }

    pub fn migration(&self) -> &Migration {
        self.migration.as_ref().unwrap_or(&Migration::NONE)
    }

    pub fn health(&self) -> &Health {
        self.health.as_ref().unwrap_or(&Health::NONE)
    }

    pub fn status_line(&self) -> &StatusLine {
        self.status_line.as_ref().unwrap_or(&StatusLine::NONE)
    }

    pub fn demo(&self) -> &ClientDemo {
        self.demo.as_ref().unwrap_or(&ClientDemo::NONE)
    }
}

/// A client's status line.
pub struct StatusLine {
    /// Reads what the client sends to the command of the status line.
    pub parse: fn(&[u8]) -> StatusLineSession,
    /// An example of the entry in a settings file, for the help text.
    pub example: &'static str,
}

impl StatusLine {
    /// Shows the current directory only.
    const NONE: Self =
        Self { parse: |_| StatusLineSession { session: None, start: None, cwd: None }, example: "" };
}

/// The session whose status line is shown. Everything may be missing.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StatusLineSession {
    pub session: Option<String>,
    /// The directory where the session started.
    pub start: Option<PathBuf>,
    /// The directory where it works now.
    pub cwd: Option<PathBuf>,
}

/// Why an input could not be read at all.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    Empty,
    TooLarge(u64),
    NotJson(String),
    /// A JSON object without the name of an event.
    NoEvent,
    /// The event happened in a directory that does not exist.
    NoDirectory(PathBuf),
    Io(String),
}

/// The exit code that every known client reads as "blocked".
pub const BLOCK_EXIT_CODE: u8 = 2;

/// What the process answers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HookAnswer {
    pub stdout: String,
    pub stderr: String,
    pub code: u8,
}

pub static CLIENTS: &[&Client] = &[
    &claude::CLIENT,
    &words::codex::CLIENT,
    &words::copilot::CLIENT,
    &words::gemini::CLIENT,
    &words::opencode::CLIENT,
    &words::qwen::CLIENT,
    &words::droid::CLIENT,
    &words::grok::CLIENT,
    &words::kimi::CLIENT,
    &words::cline::CLIENT,
];

/// The client of a hook entry that names none.
pub static DEFAULT_CLIENT: &Client = &claude::CLIENT;

/// Reads an event whose hook entry does not say which client it belongs to, and finds out which client has sent it.
pub fn parse_from_any(input: HookInput) -> (&'static Client, Result<Event, Unreadable>) {
    words::parse_from_any(input)
}

pub fn find_client(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().copied().find(|client| client.name == name)
}

/// The client whose agent started this process, or else the default.
pub fn detect_client() -> &'static Client {
    CLIENTS.iter().copied().find(|client| (client.is_agent_process)()).unwrap_or(DEFAULT_CLIENT)
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("the input is empty"),
            Self::TooLarge(limit) => write!(f, "the input is larger than {} MiB", limit >> 20),
            Self::NotJson(error) => write!(f, "the input is not a JSON object ({error})"),
            Self::NoEvent => f.write_str("the input names no event"),
            Self::NoDirectory(path) => write!(f, "there is no directory {}", path.display()),
            Self::Io(error) => write!(f, "the input cannot be read ({error})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_needs_only_a_name_and_a_dialect() {
        let dialect =
            Dialect { parse: |_| Err(Unreadable::Empty), render: |_, _| HookAnswer::default(), refuse: None };
        let client = Client::new("new", dialect);
        let places = Places { home: None, config: None, state: None, managed: None };
        let project = Path::new("/p");
        assert!((client.installation().list_registrations)(&places, project).is_empty());
        assert!((client.installation().list_needed_entries)(&[], true).is_empty());
        assert_eq!(
            (client.installation().find_settings_file)(&places, project, &SettingsScope::Project),
            None
        );
        assert!((client.migration().list_settings_files)(project).is_empty());
        assert!((client.health().is_event)("AnyEvent"));
        assert_eq!((client.status_line().parse)(b"{}"), StatusLineSession::default());
        assert!((client.demo().find_act)("self", project, project).is_none());
        assert_eq!((client.facts.reviewer().parse_answer)(b"any"), None);
        assert!(!(client.facts.transcripts().is_transcript)(project, &places));
    }
}

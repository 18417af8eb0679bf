//! The clients Provost can speak to: one file (or folder) each, one line each in [`ALL`].
//!
//! An adapter reads its client's JSON into an [`Event`], renders a [`Decision`] in the form that
//! its client obeys, and knows its client's settings files. It never decides. No other module may
//! know a client's field names.

mod claude;
mod health;
mod json;
mod long_text;
mod registration;
mod switches;

use std::path::{Path, PathBuf};

use crate::decision::Decision;
use crate::event::Event;
use crate::reviewer::{Silence, Verdict};
use crate::workspace::Places;
pub use health::{Health, Heard, Program, Sample, Steering, Tools};
pub use long_text::{Input, LongBytes};
pub use registration::{
    Hook, Installation, Installed, Migrated, Migration, Needed, ProgramName, Reach, Removed, Scope, Source,
    Switch, Wanted,
};
pub use switches::Switches;

/// Everything Provost knows about one client.
pub struct Client {
    pub name: &'static str,
    pub parse: fn(Input) -> Result<Event, Unreadable>,
    pub render: fn(&Decision, &Event) -> Answer,
    /// The answer to an input that cannot be read, where it is not the guards' failure modes that decide.
    pub refuse: Option<fn(&str) -> Answer>,
    /// The project that the client was started in, where its environment says so.
    pub project: fn() -> Option<PathBuf>,
    /// Whether this process was started by an agent, so that its variables may be the agent's.
    pub is_inside: fn() -> bool,
    /// The session that the environment names.
    pub session: fn() -> Option<String>,
    pub settings: Settings,
    pub migration: Migration,
    /// Every hook that it would run in a project, by where it is registered, the strongest place first.
    pub registrations: fn(&Places, project: &Path) -> Vec<Source>,
    /// The entries that the guards of these packs need; `closed`: everyday calls are blocked too where
    /// Provost cannot be run.
    pub needed: fn(packs: &[&str], closed: bool) -> Vec<Needed>,
    pub installation: Installation,
    /// Its own directory in a project.
    pub folder: &'static str,
    /// Where it writes plans in a project.
    pub plans: fn(&Places, &Path) -> Option<PathBuf>,
    /// Whether a file is a transcript: the client's own record of what was said to whom.
    pub is_transcript: fn(&Path, &Places) -> bool,
    /// Where the transcripts of a session's agents lie, by the session's own.
    pub agents: fn(transcript: &Path) -> PathBuf,
    /// The name of an agent's own transcript there, by its id.
    pub agent_transcript: fn(id: &str) -> String,
    /// The agent that a skill or command hands its work to, if it does not work in the conversation itself.
    pub forked: fn(skill: &str, places: &Places, directories: &[&Path]) -> Option<String>,
    /// The kind of the agent that a message goes to, by the transcript of the conversation.
    pub addressee: fn(to: &str, transcript: &Path) -> Option<String>,
    /// The agent that a program plays with these arguments, if it is a client that is told to play one.
    pub played: fn(program: &str, arguments: &[String]) -> Option<String>,
    /// What a subagent was given before it answered, from its own transcript.
    pub briefing: fn(&str) -> Option<Briefing>,
    /// What was done in one line of a session's transcript: calls of tools, and commands of the person.
    pub done: fn(line: &[u8]) -> Vec<Event>,
    /// Whether this line of a transcript is the end of what the agent said last; `None` if others decide.
    pub ends: fn(line: &[u8], said: &str) -> Option<bool>,
    /// What it tells the command behind its status line.
    pub status_line: fn(&[u8]) -> Seat,
    /// How an entry for that command looks in its settings, for the help text.
    pub status_line_entry: &'static str,
    pub reviewer: Reviewer,
    pub demo: Demo,
    pub health: Health,
    /// How an entry for Provost looks in its settings, for the help text.
    pub registration: &'static str,
}

/// Where the person sits who looks at a status line. All of it may be missing.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Seat {
    pub session: Option<String>,
    /// Where the session began.
    pub start: Option<PathBuf>,
    /// Where it works now.
    pub cwd: Option<PathBuf>,
}

/// What a subagent was given.
#[derive(Debug, PartialEq, Eq)]
pub struct Briefing {
    pub prompt: String,
    /// It was given more words later.
    pub spoken_to_again: bool,
    /// What it said, part by part, as far as the transcript goes: clients write it a moment later.
    pub said: Vec<String>,
    /// A part of what it said was cut off, for example at the token limit.
    pub is_cut: bool,
}

impl Briefing {
    /// Whether the transcript goes as far as this answer.
    pub fn reaches(&self, answer: &str) -> bool {
        let last = self.said.last().map(|known| known.trim()).filter(|known| !known.is_empty());
        let before = last.and_then(|known| answer.trim().strip_suffix(known));
        // An answer in several parts ends with the last of them.
        before.is_some_and(|before| before.is_empty() || before.ends_with('\n'))
    }
}

/// How a client runs one errand with no person and no hooks.
///
/// `{model}` in an argument stands for the model's name and `{prompt}` for the prompt, which comes
/// through stdin if no argument has it.
pub struct Reviewer {
    pub program: &'static str,
    /// Where it is installed below the home, if `PATH` does not lead to it.
    pub installed: &'static [&'static str],
    /// The arguments for one question, which is answered as a text and without tools.
    pub question: &'static [&'static str],
    /// The arguments for one review, which reads and writes files and ends with a verdict.
    pub review: &'static [&'static str],
    /// The same where it must not do without permissions, so that its tools are permitted by name.
    pub permitted_review: &'static [&'static str],
    /// Whether it did not start for that reason.
    pub is_refused: fn(stderr: &[u8]) -> bool,
    /// The answer in what was printed; `None`: that has another form.
    pub answer: fn(stdout: &[u8]) -> Option<Result<String, Silence>>,
    /// The verdict in what was printed, if there is one; `None`: that has another form.
    pub verdict: fn(stdout: &[u8]) -> Option<Verdict>,
    /// Whether a variable belongs to the calling session, and not to the person.
    pub of_session: fn(variable: &str) -> bool,
    /// The variables in the project's settings files that could choose the model, its address or the
    /// program.
    pub project_variables: fn(project: &Path) -> Vec<String>,
    /// The variables of this kind that the user's and the administrator's settings files set.
    pub users_variables: fn() -> Vec<String>,
    /// Whether a variable could choose the model, its address or the login.
    pub steers: fn(variable: &str) -> bool,
    /// The variable that names the client's process to hooks.
    pub process_variable: &'static str,
}

/// What `provost demo` plays for a client.
pub struct Demo {
    /// The variable that names the project to a hook.
    pub variable: &'static str,
    /// The act of a pack, in a home that holds the project.
    pub act: fn(pack: &str, home: &Path, project: &Path) -> Option<Act>,
    /// What an answer means.
    pub told: fn(stdout: &str) -> Told,
}

/// What an agent goes through with one pack, in a project of its own.
pub struct Act {
    pub title: &'static str,
    /// Whether somebody is played in it, as the reviewer that the project's configuration names.
    pub asks_reviewer: bool,
    /// Files that lie there when it begins.
    pub files: Vec<(PathBuf, String)>,
    pub scenes: Vec<Scene>,
}

/// One thing that happens.
pub struct Scene {
    pub story: &'static str,
    /// What a person would call it.
    pub attempt: String,
    /// Files that are written beforehand.
    pub files: Vec<(PathBuf, String)>,
    pub deed: Deed,
}

/// Who does something in a scene.
pub enum Deed {
    /// A tool is called, or the client reports something: the event, as the client would send it.
    Call(Telling),
    /// The agent wants to end its turn: the event.
    Stop(Telling),
    /// A person runs Provost with these arguments.
    Command(&'static [&'static str]),
}

/// An event, made when its scene is played: clients put the text of files into some.
pub type Telling = Box<dyn Fn() -> String>;

/// What a client would be told.
pub enum Told {
    Nothing,
    Noted(String),
    Denied(String),
}

/// A client's settings files, as far as they can switch hooks on and off.
pub struct Settings {
    /// Whether a file is a settings file by its name.
    pub names: fn(&Path) -> bool,
    /// The settings files that count in a project.
    pub files: fn(&Places, &Path) -> Vec<PathBuf>,
    /// What decides in a file whether hooks run (`None`: there is no file), or why the client
    /// would drop the file.
    pub read: fn(Option<&str>) -> Result<Switches, String>,
    /// The directory of the installed extension that started this process, where it was not a settings
    /// file.
    pub plugin: fn() -> Option<PathBuf>,
    /// What of these words has a client run without the hooks that count here, if the program is one.
    pub disarms: fn(&str, &[String]) -> Option<String>,
    /// The variables that do the same.
    pub disarming: &'static [&'static str],
    /// How an agent changes what it may change in such a file.
    pub how_to_edit: &'static str,
    pub instructions: Instructions,
}

/// Files with instructions for agents that can also register hooks.
pub struct Instructions {
    /// The directories beside a settings file in which such files lie.
    pub folders: &'static [&'static str],
    /// Whether a file is one by its name.
    pub names: fn(&Path) -> bool,
    /// Whether files in this place, or below it, may be such files.
    pub may_lie_below: fn(&Path) -> bool,
    /// The hooks of such a file, if one of them could undo a judgement.
    pub hooks: fn(text: &str) -> Option<String>,
    /// Whether a call with these texts could give such hooks to a file with this content, where nobody knows what it
    /// makes of them.
    pub may_add_hooks: fn(texts: &[&str], before: Option<&str>) -> bool,
}

/// Why an input could not be read at all.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    Empty,
    TooLarge(u64),
    NotJson(String),
    /// A JSON value, but without the name of an event.
    NoEvent,
    /// It happened in a directory that is not there.
    NoDirectory(PathBuf),
    Io(String),
}

/// The exit code that every known client reads as "blocked".
pub const BLOCK: u8 = 2;

/// What the process answers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub stdout: String,
    pub stderr: String,
    pub code: u8,
}

pub static ALL: &[&Client] = &[&claude::CLIENT];

/// The client that is meant where the command line names none.
pub static DEFAULT: &Client = &claude::CLIENT;

/// The default client as a script knows it that is registered for shell calls.
pub static SHELL_SCRIPT: &Client = &claude::SHELL_SCRIPT;

/// The same for a script that is registered for stops.
pub static STOP_SCRIPT: &Client = &claude::STOP_SCRIPT;

/// The same for a script that is registered for finished writes.
pub static WRITE_SCRIPT: &Client = &claude::WRITE_SCRIPT;

/// The same for a script that is registered for the way out of plan mode.
pub static EXIT_SCRIPT: &Client = &claude::EXIT_SCRIPT;

/// The same for the script of the review loop, which is registered for stops and answers by JSON.
pub static LOOP_SCRIPT: &Client = &claude::LOOP_SCRIPT;

/// The same for scripts that let everything go on that they cannot read: before a call, after one with
/// an answer, after one with remarks on standard error, and at a stop.
pub static BEFORE_SCRIPT: &Client = &claude::BEFORE_SCRIPT;
pub static AFTER_SCRIPT: &Client = &claude::AFTER_SCRIPT;
pub static ANSWER_SCRIPT: &Client = &claude::ANSWER_SCRIPT;
pub static AFTER_SHELL_SCRIPT: &Client = &claude::AFTER_SHELL_SCRIPT;
pub static REMARK_SCRIPT: &Client = &claude::REMARK_SCRIPT;
pub static END_SCRIPT: &Client = &claude::END_SCRIPT;

pub fn find(name: &str) -> Option<&'static Client> {
    ALL.iter().copied().find(|client| client.name == name)
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

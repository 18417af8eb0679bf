//! What guards can learn about the calling client: its settings files, transcripts, plans and reviewer.
//!
//! A client's adapter fills in these facts and functions. How the client talks to hooks is not among them, so a guard
//! does not know which client it serves. Every fact is optional: an adapter starts with [`ClientFacts::NONE`].

use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::places::Places;
use crate::review_verdict::{NoAnswer, ReviewResult, ReviewUsage};
use crate::switches::Switches;

/// The facts about a client, apart from its dialect.
pub struct ClientFacts {
    /// The project in which the client was started, if its environment names it.
    pub find_project: fn() -> Option<PathBuf>,
    /// The client's own directory in a project.
    pub folder: &'static str,
    /// The directory where the client writes plans.
    pub find_plans_directory: fn(&Places, &Path) -> Option<PathBuf>,
    /// The agent that a skill or command delegates its work to; `None` if it works in the conversation itself.
    pub find_forked_agent: fn(skill: &str, places: &Places, directories: &[&Path]) -> Option<String>,
    /// The agent that a program would run as with these arguments, if it is this client.
    pub find_started_agent: fn(program: &str, arguments: &[String]) -> Option<String>,
    pub settings: Settings,
    /// `None`: the client writes no transcripts, so all lookups find nothing.
    pub transcripts: Option<Transcripts>,
    /// `None`: only the setting `reviewer.command` can name a reviewer.
    pub reviewer: Option<Reviewer>,
}

impl ClientFacts {
    /// A client without facts.
    pub const NONE: Self = Self {
        find_project: || None,
        folder: "",
        find_plans_directory: |_, _| None,
        find_forked_agent: |_, _, _| None,
        find_started_agent: |_, _| None,
        settings: Settings::NONE,
        transcripts: None,
        reviewer: None,
    };

    /// The client's transcripts, or [`Transcripts::NONE`].
    pub fn transcripts(&self) -> &Transcripts {
        self.transcripts.as_ref().unwrap_or(&Transcripts::NONE)
    }

    /// The client's reviewer, or [`Reviewer::NONE`].
    pub fn reviewer(&self) -> &Reviewer {
        self.reviewer.as_ref().unwrap_or(&Reviewer::NONE)
    }
}

/// A client's own records of conversations.
pub struct Transcripts {
    /// Whether a file is a transcript.
    pub is_transcript: fn(&Path, &Places) -> bool,
    /// The directory of the transcripts of a session's agents, by the session's own transcript.
    pub agent_transcripts_directory: fn(transcript: &Path) -> PathBuf,
    /// The file name of an agent's transcript in that directory, by the agent's id.
    pub agent_transcript_name: fn(id: &str) -> String,
    /// The kind of the agent that a message goes to, according to the transcript of the conversation.
    pub find_recipient: fn(to: &str, transcript: &Path) -> Option<String>,
    /// The prompt and the answer of a subagent, from its transcript.
    pub parse_subagent_transcript: fn(&str) -> Option<SubagentTranscript>,
    /// The tool calls and user commands in one line of a session's transcript.
    pub parse_transcript_line: fn(line: &[u8]) -> Vec<Event>,
    /// Whether this line of a transcript ends the agent's last message; `None` if the line does not show it.
    pub ends_message: fn(line: &[u8], message: &str) -> Option<bool>,
    /// Whether a background command has succeeded; `None` if this line of a transcript does not announce its end.
    pub find_task_end: fn(line: &[u8], task: &str) -> Option<bool>,
}

impl Transcripts {
    /// No file is a transcript, and none contains anything.
    const NONE: Self = Self {
        is_transcript: |_, _| false,
        agent_transcripts_directory: Path::to_owned,
        agent_transcript_name: str::to_owned,
        find_recipient: |_, _| None,
        parse_subagent_transcript: |_| None,
        parse_transcript_line: |_| Vec::new(),
        ends_message: |_, _| None,
        find_task_end: |_, _| None,
    };
}

/// The prompt and the answer of a subagent.
#[derive(Debug, PartialEq, Eq)]
pub struct SubagentTranscript {
    pub prompt: String,
    /// It got another message later.
    pub has_later_message: bool,
    /// The parts of its answer so far. Clients write the transcript a moment later.
    pub answer_parts: Vec<String>,
    /// A part of the answer was cut off, for example at the token limit.
    pub is_truncated: bool,
}

impl SubagentTranscript {
    /// Whether the transcript contains this answer already.
    pub fn has_answer(&self, answer: &str) -> bool {
        let last = self.answer_parts.last().map(|part| part.trim()).filter(|part| !part.is_empty());
        let before = last.and_then(|part| answer.trim().strip_suffix(part));
        // An answer in several parts ends with the last of them.
        before.is_some_and(|before| before.is_empty() || before.ends_with('\n'))
    }
}

/// How a client runs one task without a user and without hooks.
///
/// In an argument, `{model}` stands for the model's name and `{prompt}` for the prompt. If no argument has `{prompt}`, it
/// comes through standard input.
pub struct Reviewer {
    pub program: &'static str,
    /// The directories below the home where it may be installed, if it is not on `PATH`.
    pub install_directories: &'static [&'static str],
    /// The arguments for one question, answered as text and without tools.
    pub question_arguments: &'static [&'static str],
    /// The arguments for one review, with tools for files and a verdict at the end.
    pub review_arguments: &'static [&'static str],
    /// The arguments for a review if the client refuses to skip permissions: they permit its tools by name.
    pub permitted_review_arguments: &'static [&'static str],
    /// Whether the client refused to skip permissions.
    pub is_permission_refused: fn(stderr: &[u8]) -> bool,
    /// The answer in the output; `None` if the output has another form.
    pub parse_answer: fn(stdout: &[u8]) -> Option<Result<String, NoAnswer>>,
    /// The verdict in the output; `None` if the output has another form.
    pub parse_verdict: fn(stdout: &[u8]) -> Option<ReviewResult>,
    /// The text of a review's answer, and what it has used; `None` if the output has another form.
    pub parse_report: fn(stdout: &[u8]) -> Option<(String, ReviewUsage)>,
    /// Whether a variable belongs to the calling session, not to the user.
    pub is_session_variable: fn(variable: &str) -> bool,
    /// The variables in the project's settings files that could choose the model, its address or the program.
    pub list_project_variables: fn(project: &Path) -> Vec<String>,
    /// The variables of this kind in the user's and the administrator's settings files.
    pub list_user_variables: fn(&Places) -> Vec<String>,
    /// Whether a variable could choose the model, its address or the login.
    pub is_model_variable: fn(variable: &str) -> bool,
    /// The variable in which hooks find the id of the client's process.
    pub process_variable: &'static str,
}

impl Reviewer {
    /// No program: a reviewer that is configured gets no arguments of a client, and its output has no client's form.
    const NONE: Self = Self {
        program: "",
        install_directories: &[],
        question_arguments: &[],
        review_arguments: &[],
        permitted_review_arguments: &[],
        is_permission_refused: |_| false,
        parse_answer: |_| None,
        parse_verdict: |_| None,
        parse_report: |_| None,
        is_session_variable: |_| false,
        list_project_variables: |_| Vec::new(),
        list_user_variables: |_| Vec::new(),
        is_model_variable: |_| false,
        process_variable: "",
    };
}

/// A client's settings files, which can switch hooks on and off.
pub struct Settings {
    /// Whether a file is a settings file by its name.
    pub is_settings_file: fn(file: &Path) -> bool,
    /// The settings files that the client reads in a project.
    pub list_files: fn(&Places, &Path) -> Vec<PathBuf>,
    /// Whether another client could read hooks from a file with this name. Such a file is protected as long as it calls
    /// Provost.
    pub is_other_hook_file: fn(file: &Path) -> bool,
    /// The directories that may hold such files, as far as they could lie above, at or below a path.
    pub list_other_hook_folders: fn(path: &Path, home: Option<&Path>, project: &Path) -> Vec<PathBuf>,
    /// The switches of hooks in the text of a file (`None`: there is no file). An error says why the client would ignore
    /// the file.
    pub parse_switches: fn(Option<&str>) -> Result<Switches, String>,
    /// The directory of the plugin whose hook entry started this process; `None` for an entry of a settings file.
    pub find_plugin: fn() -> Option<PathBuf>,
    /// The argument that makes the client run without the registered hooks, if the program is this client.
    pub find_disarming_argument: fn(&str, &[String]) -> Option<String>,
    /// The variables that make the client run without the registered hooks.
    pub disarming_variables: &'static [&'static str],
    /// How an agent can edit the rest of a settings file.
    pub how_to_edit: &'static str,
    pub instructions: InstructionFiles,
}

impl Settings {
    /// No file is a settings file or an instruction file.
    pub const NONE: Self = Self {
        is_settings_file: |_| false,
        list_files: |_, _| Vec::new(),
        is_other_hook_file: |_| false,
        list_other_hook_folders: |_, _, _| Vec::new(),
        parse_switches: |_| Ok(Switches::default()),
        find_plugin: || None,
        find_disarming_argument: |_, _| None,
        disarming_variables: &[],
        how_to_edit: "",
        instructions: InstructionFiles {
            folders: &[],
            is_instruction_file: |_| false,
            may_be_below: |_| false,
            find_risky_hooks: |_| None,
            may_add_hooks: |_, _| false,
        },
    };
}

/// Instruction files for agents, which can also register hooks.
pub struct InstructionFiles {
    /// The directories of instruction files, beside a settings file.
    pub folders: &'static [&'static str],
    /// Whether a file is an instruction file by its name.
    pub is_instruction_file: fn(path: &Path) -> bool,
    /// Whether there may be instruction files at or below this path.
    pub may_be_below: fn(&Path) -> bool,
    /// The hooks in the text of a file, if one of them could undo a denial.
    pub find_risky_hooks: fn(text: &str) -> Option<String>,
    /// Whether a call with these texts could add risky hooks to a file with the content `before`. How the call uses the
    /// texts is not known.
    pub may_add_hooks: fn(texts: &[&str], before: Option<&str>) -> bool,
}

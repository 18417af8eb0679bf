//! A tool call: what the tool should do, and what it returned.
//!
//! The variants are the kinds of calls that guards judge, not the tools of a client: every client's way of writing a
//! file is [`Tool::Write`].

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::long_bytes::LongBytes;

/// One tool call.
#[derive(Debug)]
pub struct ToolCall {
    /// The client's name of the tool.
    pub native_tool: String,
    /// Another name of the same tool, which older versions of the client send.
    pub other_name: Option<&'static str>,
    pub id: Option<String>,
    pub tool: Tool,
    /// What the tool returned, if the event is about a finished call.
    pub outcome: ToolOutcome,
}

impl ToolCall {
    /// All names of the tool.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [self.native_tool.as_str()].into_iter().chain(self.other_name)
    }

    /// Whether the name of an unknown tool says that it only reads.
    pub fn is_reader(&self) -> bool {
        const READS: &[&str] = &[
            "read",
            "get",
            "list",
            "search",
            "view",
            "stat",
            "find",
            "show",
            "grep",
            "fetch",
            "describe",
            "query",
            "resolve",
            "inspect",
            "directory",
        ];
        const WRITES: &[&str] =
            &["write", "replace", "edit", "set", "update", "put", "patch", "save", "move"];
        let own_name = self.native_tool.rsplit("__").next().unwrap_or(&self.native_tool);
        let first = own_name.split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
        let own_name = own_name.to_lowercase();
        let may_write = || WRITES.iter().any(|word| own_name.contains(word));
        matches!(self.tool, Tool::Other { is_deleting: false, .. }) && READS.contains(&first) && !may_write()
    }
}

/// The part of a tool's result that guards use.
#[derive(Debug, Default)]
pub struct ToolOutcome {
    /// The file that the tool changed.
    pub file: Option<PathBuf>,
    /// The report of a finished agent; `None` while it still runs.
    pub report: Option<AgentReport>,
    /// The id of the agent that the call started in the background.
    pub launched_agent: Option<String>,
    /// What it printed or answered, or why it failed; `None` if nothing came back yet.
    pub text: Option<String>,
    /// The exit code of a command, if the client names it.
    pub exit_code: Option<i64>,
    /// The output is not complete: it was cut off, or the command still runs in the background.
    pub is_unfinished: bool,
    /// The id of the command that still runs in the background.
    pub background_task: Option<String>,
    /// The background command that the call found at its end.
    pub ended_task: Option<EndedTask>,
}

/// A background command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedTask {
    pub id: String,
    pub has_succeeded: bool,
}

/// The final answer of an agent, and its prompt.
#[derive(Debug, Default)]
pub struct AgentReport {
    pub agent: Option<String>,
    pub id: Option<String>,
    pub prompt: Option<String>,
    pub answer: Option<String>,
}

/// What a tool should do.
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
        /// The new text of a cell.
        source: Option<String>,
    },
    /// A patch that changes several files, in the form of `apply_patch`.
    Patch {
        text: String,
    },
    Shell {
        command: String,
    },
    Read {
        path: Option<PathBuf>,
        /// It shows the contents of all files below the path.
        is_recursive: bool,
    },
    Delegate {
        agent: Option<String>,
        prompt: Option<String>,
        description: Option<String>,
        background: Option<bool>,
        /// The agent works in its own copy of the project.
        is_isolated: bool,
        /// The whole input as the client wrote it, for an answer that changes a part of it.
        native_input: Map<String, Value>,
    },
    Skill {
        name: Option<String>,
        arguments: Option<String>,
    },
    /// A message to a running agent, by its id or its name.
    Message {
        to: Option<String>,
        text: Option<String>,
    },
    LeavePlanMode {
        plan: Option<PlanText>,
        path: Option<PathBuf>,
    },
    /// A known tool that neither touches files nor starts anything.
    Inert,
    /// An unknown tool, or a known one whose input cannot be read. `paths` are all strings of its input, because each
    /// could be a path. `texts` are the same strings as they are. `commands` are the strings in fields for command lines.
    Other {
        paths: Vec<PathBuf>,
        texts: Vec<String>,
        commands: Vec<String>,
        /// By its name, the tool deletes or renames files.
        is_deleting: bool,
    },
}

impl Tool {
    /// Whether the tool writes the files that its input names, and does nothing else.
    pub fn is_file_tool(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Edit { .. } | Self::Notebook { .. } | Self::Patch { .. })
    }
}

/// A text that may be very long.
#[derive(Debug)]
pub enum PlanText {
    Short(String),
    Long(LongBytes),
}

impl PlanText {
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
    pub replaces_all: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_tool_only_reads_if_its_name_says_so() {
        let is_reader = |name: &str, is_deleting: bool| {
            let tool =
                Tool::Other { paths: Vec::new(), texts: Vec::new(), commands: Vec::new(), is_deleting };
            ToolCall {
                native_tool: name.into(),
                other_name: None,
                id: None,
                tool,
                outcome: ToolOutcome::default(),
            }
            .is_reader()
        };
        for name in ["mcp__files__read_text_file", "mcp__x__getFile", "list", "mcp__files__directory_tree"] {
            assert!(is_reader(name, false), "{name}");
        }
        for name in [
            "mcp__files__do",
            "mcp__read__write_file",
            "search_replace",
            "readOrWrite",
            "readjust",
            "Read",
            "mcp__x__",
            "",
        ] {
            assert!(!is_reader(name, false), "{name}");
        }
        assert!(!is_reader("mcp__x__read", true));
    }
}

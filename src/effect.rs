//! What an event would do, whichever tool does it.
//!
//! A guard that protects a file must not care whether it is written by a file tool, by a
//! redirection or by `tee`: each becomes the same [`Effect`]. Paths are absolute but not yet
//! resolved, because links are the disk's business; content is not copied into the effect but
//! computed on demand by [`proposed`], so that a guard can judge it before it is written.

pub mod git;
pub mod patch;

use std::borrow::Cow;
use std::path::PathBuf;

use crate::event::{Event, Kind, Replacement, Tool};
use crate::shell;
use git::{BranchUpdate, GitSite, TreeChange};
use patch::PatchCommand;

/// An edit that makes a file larger than this is not applied in memory.
const LARGEST_PROPOSAL: usize = 64 << 20;

/// What becomes of a file whose name cannot be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Write,
    Delete,
    /// Another file comes there.
    Place,
}

/// One thing that an event would do.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    Write {
        path: PathBuf,
        content: Content,
    },
    /// Files of these names are copied or moved to a place: into it, if it is a directory. `tree`:
    /// whole directories, with whatever they hold.
    Place {
        names: Vec<PathBuf>,
        to: PathBuf,
        tree: bool,
    },
    Delete {
        path: PathBuf,
    },
    /// `recursive`: whatever lies below the path is read too.
    Read {
        path: PathBuf,
        recursive: bool,
    },
    /// A command line sets a variable for what it runs. The value is `None` where it cannot be known.
    SetVariable {
        name: String,
        value: Option<String>,
    },
    /// An unknown tool names this path; it may do anything with it.
    Touch {
        path: PathBuf,
    },
    /// A command line starts a program, named as it is written. Arguments that cannot be known are
    /// left out, the first of them in front of `unknown_from`; the directory is `None` where it is not
    /// certain.
    Run {
        program: String,
        arguments: Vec<String>,
        unknown_from: Option<usize>,
        directory: Option<PathBuf>,
    },
    /// A program that is known to read is told by an option or a sub-command to do more than that:
    /// `program` is `find`, `by` is `-delete`, and `does` finishes the sentence "it …".
    Act {
        program: String,
        by: String,
        does: &'static str,
    },
    /// `git commit` makes a commit.
    Commit {
        site: Box<GitSite>,
        dry_run: bool,
    },
    /// Another command of git gives a branch other commits: a merge, a cherry-pick, an update of the
    /// reference.
    UpdateBranch(Box<BranchUpdate>),
    /// A command of git changes files of a work tree. Files that it names one by one are also written or
    /// deleted by effects of their own.
    ChangeTree(Box<TreeChange>),
    /// Patches are applied; they say by themselves which files they change.
    ApplyPatch(Box<PatchCommand>),
    /// Something that is too large to be looked at, and so cannot be vouched for at all.
    TooLarge {
        what: String,
    },
    /// A file is written or deleted whose name cannot be known beforehand. `places`: the directories that
    /// the name is seen from; none where that may be any.
    Somewhere {
        target: String,
        places: Vec<PathBuf>,
        deed: Deed,
    },
    /// A part of a command line that this version does not understand, and so cannot vouch for.
    Obscure {
        what: String,
    },
    Delegate {
        agent: Option<String>,
    },
    UseSkill {
        name: Option<String>,
    },
    LeavePlanMode {
        path: Option<PathBuf>,
    },
    Stop,
    SubagentStop,
    Prompt,
    StartSession,
    ChangeConfig {
        file: Option<PathBuf>,
    },
}

/// Where the new content of a written file can be found.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    /// The call itself carries it: see [`proposed`].
    InCall,
    /// It depends on what a command prints.
    Unknown,
}

/// What a file would hold after a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Proposed<'a> {
    Text(Cow<'a, str>),
    /// The call does not say, or this program cannot tell how the client would apply it.
    Unknown,
}

/// The effects of one event, in the order in which they would happen.
pub fn of(event: &Event) -> Vec<Effect> {
    match &event.kind {
        Kind::BeforeTool(call) | Kind::AfterTool(call) | Kind::ToolFailed(call) | Kind::Permission(call) => {
            of_tool(&call.tool, event)
        }
        Kind::Prompt { .. } => vec![Effect::Prompt],
        Kind::Stop(_) => vec![Effect::Stop],
        Kind::SubagentStop(_) => vec![Effect::SubagentStop],
        Kind::SessionStart { .. } => vec![Effect::StartSession],
        Kind::ConfigChange { file } => {
            vec![Effect::ChangeConfig { file: file.as_ref().map(|file| event.absolute(file)) }]
        }
        Kind::SubagentStart | Kind::SessionEnd | Kind::Other => Vec::new(),
    }
}

fn of_tool(tool: &Tool, event: &Event) -> Vec<Effect> {
    match tool {
        Tool::Write { path, .. } | Tool::Edit { path, .. } => {
            vec![Effect::Write { path: event.absolute(path), content: Content::InCall }]
        }
        Tool::Notebook { path } => {
            vec![Effect::Write { path: event.absolute(path), content: Content::Unknown }]
        }
        Tool::Shell { command } => shell::effects(command, &event.cwd, event.home.as_deref()),
        Tool::Read { path, recursive } => {
            let path = path.as_ref().map_or_else(|| event.cwd.clone(), |path| event.absolute(path));
            vec![Effect::Read { path, recursive: *recursive }]
        }
        Tool::Delegate { agent, .. } => vec![Effect::Delegate { agent: agent.clone() }],
        Tool::Skill { name, .. } => vec![Effect::UseSkill { name: name.clone() }],
        Tool::LeavePlanMode { path, .. } => {
            vec![Effect::LeavePlanMode { path: path.as_ref().map(|path| event.absolute(path)) }]
        }
        Tool::Message { .. } | Tool::Inert => Vec::new(),
        Tool::Other { paths, commands, deletes } => {
            let named = paths.iter().map(|path| event.absolute(path));
            let named =
                named.map(|path| if *deletes { Effect::Delete { path } } else { Effect::Touch { path } });
            let run =
                commands.iter().flat_map(|line| shell::effects(line, &event.cwd, event.home.as_deref()));
            named.chain(run).collect()
        }
    }
}

/// What the file would hold after this call, given what it holds now (`None`: no file).
pub fn proposed<'a>(tool: &'a Tool, current: Option<&str>) -> Proposed<'a> {
    match tool {
        Tool::Write { content: Some(content), .. } => Proposed::Text(Cow::Borrowed(content)),
        Tool::Edit { replacements, .. } => apply(replacements, current),
        _ => Proposed::Unknown,
    }
}

/// Applies replacements in order. A text that is not found exactly is `Unknown`, never "nothing
/// happens": clients also match after folding quotes and white space, in ways of their own.
fn apply(replacements: &[Replacement], current: Option<&str>) -> Proposed<'static> {
    let mut text = current.unwrap_or_default().to_owned();
    for Replacement { old, new, all } in replacements {
        if old.is_empty() {
            if !text.is_empty() {
                return Proposed::Unknown;
            }
            text.clone_from(new);
            continue;
        }
        // Clients edit a file with Windows line ends as if it had plain ones.
        if !text.contains(old.as_str()) && text.contains("\r\n") {
            text = text.replace("\r\n", "\n");
        }
        match (text.matches(old.as_str()).count(), all) {
            (0, _) | (2.., false) => return Proposed::Unknown,
            (count, _) if text.len().saturating_add(count.saturating_mul(new.len())) > LARGEST_PROPOSAL => {
                return Proposed::Unknown;
            }
            _ => text = text.replace(old.as_str(), new),
        }
    }
    Proposed::Text(Cow::Owned(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str, all: bool) -> Tool {
        let replacements = vec![Replacement { old: old.into(), new: new.into(), all }];
        Tool::Edit { path: "f".into(), replacements }
    }

    fn text(text: &str) -> Proposed<'_> {
        Proposed::Text(Cow::Borrowed(text))
    }

    #[test]
    fn an_edit_is_applied_to_the_file_as_it_stands() {
        assert_eq!(proposed(&edit("two", "2", false), Some("one two")), text("one 2"));
        assert_eq!(proposed(&edit("a", "b", true), Some("a a")), text("b b"));
    }

    #[test]
    fn several_replacements_build_on_each_other() {
        let replacements = vec![
            Replacement { old: "a".into(), new: "b".into(), all: false },
            Replacement { old: "bc".into(), new: "d".into(), all: false },
        ];
        let tool = Tool::Edit { path: "f".into(), replacements };
        assert_eq!(proposed(&tool, Some("ac")), text("d"));
    }

    #[test]
    fn an_edit_that_cannot_be_foretold_is_unknown() {
        assert_eq!(proposed(&edit("x", "y", false), Some("a")), Proposed::Unknown);
        assert_eq!(proposed(&edit("a", "b", false), Some("a a")), Proposed::Unknown);
        assert_eq!(proposed(&edit("", "b", false), Some("a")), Proposed::Unknown);
        assert_eq!(
            proposed(&edit("a", &"b".repeat(1 << 20), true), Some(&"a".repeat(100))),
            Proposed::Unknown
        );
    }

    #[test]
    fn an_empty_old_text_makes_a_new_file() {
        assert_eq!(proposed(&edit("", "new", false), None), text("new"));
    }

    #[test]
    fn windows_line_ends_do_not_hide_a_match() {
        assert_eq!(proposed(&edit("a\nb", "c", false), Some("a\r\nb\r\n")), text("c\n"));
    }
}

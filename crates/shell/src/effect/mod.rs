//! What a command line or a tool call would do.
//!
//! A redirection, `tee`, `sed -i`, `cp` and an editor's own file tool all become the same [`Effect`], so that a check
//! which protects a file asks one question. Paths are absolute, but links are not followed and `..` may be left in
//! them, because this crate never looks at the disk.

pub mod commands;
pub mod envelope;
pub mod git;
pub mod patch;

use std::path::PathBuf;
use std::sync::Arc;

use git::{BranchUpdate, CommitMessage, GitSite, Push, TreeChange};
use patch::PatchCommand;

/// What happens to a file whose name cannot be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// Its content changes.
    Write,
    /// It is deleted.
    Delete,
    /// Another file is copied or moved there.
    Place,
}

/// How much is read below a path that may be a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadScope {
    /// Only the file itself.
    File,
    /// All files below it are searched: `grep -r`, `rg`.
    Search,
    /// All files below it are copied, moved, archived or sent: `cp -r`, `tar`, `rsync`.
    Tree,
}

impl ReadScope {
    /// Whether the files below a directory are read.
    pub fn is_recursive(self) -> bool {
        self != Self::File
    }
}

/// One thing that a command line or a tool call would do.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// A file or directory is created or changed.
    Write {
        /// The file.
        path: PathBuf,
        /// Where its new content can be found.
        content: WriteContent,
    },
    /// Files are copied or moved to a place.
    Place {
        /// The last part of each source's path.
        names: Vec<PathBuf>,
        /// The target. If it is a directory, the files land in it under their names.
        to: PathBuf,
        /// Whole directories are copied or moved, with everything in them.
        tree: bool,
    },
    /// A file or directory is deleted.
    Delete {
        /// The file.
        path: PathBuf,
    },
    /// A file is read.
    Read {
        /// The file.
        path: PathBuf,
        /// Whether what lies below the path is read too.
        scope: ReadScope,
    },
    /// A command line sets a variable for the programs it runs.
    SetVariable {
        /// The variable.
        name: String,
        /// `None` where the value cannot be known.
        value: Option<String>,
    },
    /// An unknown tool names this path and may do anything with it. Command lines never have this effect.
    Touch {
        /// The path.
        path: PathBuf,
    },
    /// A command line starts a program.
    Run {
        /// The program as it is written: `git`, `/bin/rm`.
        program: String,
        /// The arguments that are known; the others are left out.
        arguments: Vec<String>,
        /// The index in `arguments` in front of which the first unknown argument was left out.
        unknown_from: Option<usize>,
        /// The arguments that were left out, in order.
        unknown_arguments: Vec<UnknownArgument>,
        /// `None` where the directory is not certain.
        directory: Option<PathBuf>,
    },
    /// A command runs code that another command of the line fetches from the network: `curl … | sh`.
    RunFetched,
    /// A program sends data to the network: its words, its input, or files that it reads.
    Send {
        /// The program: `curl`.
        program: String,
        /// The host or address as it is written, where the words say it.
        destination: Option<String>,
    },
    /// An option or sub-command makes a program that is known to read do more than that.
    MutatingOption {
        /// The program: `find`.
        program: String,
        /// What makes it do more: `-delete`.
        by: String,
        /// Completes the sentence "it …": `deletes files`.
        does: &'static str,
    },
    /// `git commit` creates a commit.
    Commit {
        /// The repository and branch.
        site: Box<GitSite>,
        /// `--dry-run`: no commit is created.
        dry_run: bool,
        /// The message.
        message: CommitMessage,
    },
    /// Another git command moves, creates or removes a branch: a merge, a cherry-pick, an update of the reference.
    UpdateBranch(Box<BranchUpdate>),
    /// `git push` changes branches of another repository.
    Push(Box<Push>),
    /// A git command changes files of a work tree. Files that it names one by one also have a `Write` or `Delete`.
    ChangeTree(Box<TreeChange>),
    /// Patches are applied. The patches themselves say which files they change.
    ApplyPatch(Box<PatchCommand>),
    /// Something is too large or too deeply nested to be analysed, so nothing is promised about it.
    TooLarge {
        /// A noun phrase for messages.
        what: String,
    },
    /// A file whose name cannot be known beforehand changes.
    UnknownTarget {
        /// The word as it is written, for messages.
        target: String,
        /// The directories that the name may be relative to; empty where that may be any.
        places: Vec<PathBuf>,
        /// What happens to the file.
        change: FileChange,
    },
    /// A file whose name cannot be known beforehand is read.
    UnknownRead {
        /// The word as it is written, for messages.
        target: String,
        /// The directories that the name may be relative to; empty where that may be any.
        places: Vec<PathBuf>,
        /// Whether what lies below the path is read too.
        scope: ReadScope,
    },
    /// Files whose names the words do not say change below a directory: an archive is unpacked there.
    ChangeBelow {
        /// The directory.
        directory: PathBuf,
        /// What happens to the files.
        change: FileChange,
    },
    /// A part of a command line that this version does not understand, so nothing is promised about it.
    Unparsed {
        /// A noun phrase for messages.
        what: String,
        /// The command, if this part is one whose program cannot be known: `$TOOL push`.
        command: Option<Box<UnknownCommand>>,
    },
}

/// A word of a command line whose value cannot be known, and what it may become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// The word as it is written, for messages: `"$DIR"/src`.
    pub source: String,
    /// The known text in front of the first unknown part.
    pub prefix: String,
    /// Known text after it. More unknown parts may stand in between.
    pub tail: String,
    /// It may become no word or several words: an expansion without quotes, a pattern of files.
    pub splits: bool,
    /// One of these words may start with a dash although `prefix` does not.
    pub may_dash: bool,
}

/// An argument that cannot be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownArgument {
    /// The index in the known arguments in front of which it stands.
    pub at: usize,
    /// The argument.
    pub word: UnknownWord,
}

/// A command whose program cannot be known.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownCommand {
    /// The word that names the program.
    pub program: UnknownWord,
    /// The arguments that are known; the others are left out.
    pub arguments: Vec<String>,
    /// The arguments that were left out, in order.
    pub unknown_arguments: Vec<UnknownArgument>,
}

/// Where the new content of a written file can be found.
#[derive(Debug, PartialEq, Eq)]
pub enum WriteContent {
    /// The tool call carries it. Command lines never have this content.
    InCall,
    /// The words of the line say it.
    Known {
        /// The text. Parts that depend on variables or on the output of commands are left out.
        text: Arc<str>,
        /// It is added to the end of the file.
        append: bool,
        /// No part of the text is left out.
        is_complete: bool,
    },
    /// It is what another file holds: `cat other > file`.
    Copied {
        /// The other file.
        file: PathBuf,
        /// It is added to the end of the file.
        append: bool,
    },
    /// The file is edited, and this text becomes a part of it.
    Adds {
        /// The text. It may have marks of the editing program in it, such as `&` and `\\1` of sed.
        text: Arc<str>,
    },
    /// It depends on what a command prints.
    Unknown,
}

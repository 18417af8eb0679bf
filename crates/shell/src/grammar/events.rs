//! What a command line consists of, in the order in which the parser finds it.

use std::borrow::Cow;

use crate::word::Word;

/// One thing that the parser finds. The commands inside a substitution come before the command that contains it.
pub(crate) enum SyntaxEvent<'a> {
    Simple(SimpleCommand<'a>),
    Structure(StructureEvent),
    /// The text of a here-document, in the order of their announcements. `quoted`: it contains no expansions.
    Body {
        text: &'a str,
        quoted: bool,
        /// `<<-`: tabs at the start of the lines are ignored.
        strips_tabs: bool,
    },
    /// The text between backticks, which is a command line of its own.
    Commands(String),
    /// The text after a syntax error, from a position where a quote or word may end.
    Otherwise(&'a str),
    /// A text with a substitution that runs only if the shell evaluates the text.
    Quoted(String),
    /// The shell sets a variable to an unknown value.
    Set(&'a str),
    NotUnderstood {
        what: Cow<'static, str>,
        at: usize,
    },
}

/// What decides which commands run, and in which order.
#[derive(Clone, Copy)]
pub(crate) enum StructureEvent {
    Open(Scope),
    /// Another part of the innermost construct starts.
    Part(CompoundPart),
    Close(Scope),
    /// A command has ended. `behind` is the operator after it. `join` is `And` or `Pipe` only if the next command runs
    /// in the same shell after a success, or in the same pipeline.
    Joined {
        join: ControlOperator,
        behind: ControlOperator,
    },
    /// `!` in front of the next pipeline.
    Negated,
    /// The next construct is the body of a function or of a coprocess.
    Function,
    /// A syntax error closes all constructs, and parsing starts again.
    Restart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// A process of its own, whose changes to the shell are lost at its end.
    Subshell,
    /// A subshell inside a word.
    Substitution,
    Group,
    If,
    Case,
    /// Its commands run any number of times.
    Loop,
}

impl Scope {
    pub(crate) fn is_process(self) -> bool {
        matches!(self, Self::Subshell | Self::Substitution)
    }

    /// Whether something decides if, or how often, its commands run.
    pub(crate) fn is_conditional(self) -> bool {
        matches!(self, Self::If | Self::Case | Self::Loop)
    }
}

/// A part of a construct that starts or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompoundPart {
    Until,
    Do,
    Then,
    Elif,
    Else,
    /// The commands of a `case` after a pattern.
    Clause,
    /// `;;`. `falls_through`: `;&` or `;;&`.
    ClauseEnd {
        falls_through: bool,
    },
}

/// A simple command: its words with assignments in front, and its redirections. The redirections of a compound command
/// are a command without words.
#[derive(Default)]
pub(crate) struct SimpleCommand<'a> {
    pub(crate) words: Vec<Word<'a>>,
    pub(crate) redirections: Vec<Redirection<'a>>,
    /// `|` is behind it.
    pub(crate) is_piped: bool,
    /// `>&2`: its output goes to another descriptor, or nowhere.
    pub(crate) has_other_output: bool,
}

impl SimpleCommand<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.redirections.is_empty()
    }
}

pub(crate) enum Redirection<'a> {
    Read(Word<'a>),
    Write {
        target: Word<'a>,
        output: OutputMode,
    },
    HereString(Word<'a>),
    /// A here-document, whose text is a later [`SyntaxEvent::Body`].
    Document,
}

/// What a redirection does to the file that it writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputMode {
    /// The standard output replaces its content.
    Replaces,
    /// The standard output is added to its content.
    Appends,
    /// It gets something else than the standard output.
    Other,
}

/// The operator after a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ControlOperator {
    /// The next command runs in any case.
    #[default]
    Next,
    /// The next command runs only if this one succeeds.
    And,
    Or,
    /// The next command runs at the same time; both are subshells.
    Pipe,
    Background,
}

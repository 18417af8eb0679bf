//! The constructs that can be open while a line is parsed, and the role of the next word.

use super::variables::ValueShape;
use super::{OutputMode, Scope, SubstitutedValue};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Top,
    Subshell,
    /// `$(…)`, `<(…)`, `>(…)`: commands inside a word, and what becomes of what they print.
    Substitution(Option<SubstitutedValue>),
    Group,
    If(If),
    Loop(Loop),
    For(For),
    Case(Case),
    /// `[[ … ]]`; inside a regular expression, how many of its parentheses are open.
    Test(Option<u32>),
    /// The words of `name=(…)`.
    Array,
    Double,
    Text,
    /// `${…}` after the name. `quoted`: between double quotes.
    Braces {
        quoted: bool,
    },
    Arithmetic(Arithmetic),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum If {
    Condition,
    Body,
    Else,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loop {
    Condition,
    Body,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    Name,
    AfterName,
    /// The values, and what all values so far have in common.
    Words(ValueShape),
    AwaitDo(Option<ValueShape>),
}

impl For {
    pub(super) fn after_line_end(self) -> Self {
        match self {
            Self::AfterName => Self::AwaitDo(None),
            Self::Words(shape) => Self::AwaitDo(Some(shape)),
            other => other,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Word,
    In,
    Pattern,
    Body,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Arithmetic {
    /// `$[…]` instead of `((…))`.
    pub(super) brackets: bool,
    /// It is a command, not a part of a word.
    pub(super) is_command: bool,
    pub(super) open: u32,
    pub(super) doubtful: bool,
}

/// Where in a command the next word is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum WordPosition {
    #[default]
    Start,
    Arguments,
    AfterCompound,
}

/// The redirection whose target is the next word.
pub(super) enum PendingTarget {
    Write(OutputMode),
    Read,
    HereString,
}

impl Mode {
    pub(super) fn scope(self) -> Option<Scope> {
        match self {
            Self::Subshell => Some(Scope::Subshell),
            Self::Substitution(_) => Some(Scope::Substitution),
            Self::Group => Some(Scope::Group),
            Self::If(_) => Some(Scope::If),
            Self::Case(_) => Some(Scope::Case),
            Self::Loop(_) => Some(Scope::Loop),
            _ => None,
        }
    }

    /// The message if it is never closed.
    pub(super) fn unclosed_message(self) -> &'static str {
        match self {
            Self::Top | Self::Text => "the end",
            Self::Subshell => "`(` that is never closed",
            Self::Substitution(_) => "a substitution that is never closed",
            Self::Group => "`{` that is never closed",
            Self::If(_) => "`if` without `fi`",
            Self::Loop(_) | Self::For(_) => "a loop without `done`",
            Self::Case(_) => "`case` without `esac`",
            Self::Test(_) => "`[[` without `]]`",
            Self::Array => "a list of values that is never closed",
            Self::Double => "a quote that is never closed",
            Self::Braces { .. } => "`${` that is never closed",
            Self::Arithmetic(_) => "arithmetic that is never closed",
        }
    }
}

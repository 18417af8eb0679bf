//! Why a scenario could not be played.
//!
//! A scenario that was played and failed is not an error; it has a [`Mismatch`](crate::Mismatch). An error means that there
//! is nothing to check: the scenario is malformed, the client is missing, or a system call failed.

use std::fmt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum Error {
    /// The file is not a scenario.
    Scenario { path: PathBuf, message: String },
    /// The scenario is well formed, but cannot be played as written.
    Stage(String),
    /// The observer stopped the run.
    Interrupted,
    /// A system call failed.
    Machine { what: String, source: std::io::Error },
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn scenario(path: &Path, message: impl Into<String>) -> Self {
        Self::Scenario { path: path.to_owned(), message: message.into() }
    }

    pub(crate) fn stage(message: impl Into<String>) -> Self {
        Self::Stage(message.into())
    }

    /// An error that names what was attempted, for `map_err`.
    pub(crate) fn machine(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Machine { what, source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario { path, message } => {
                write!(f, "{}: {}", path.display(), message.trim_end())
            }
            Self::Stage(message) => f.write_str(message),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Machine { what, source } => write!(f, "cannot {what}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Machine { source, .. } => Some(source),
            Self::Scenario { .. } | Self::Stage(_) | Self::Interrupted => None,
        }
    }
}

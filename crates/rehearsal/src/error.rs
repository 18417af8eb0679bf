//! What can keep a scenario from being played.
//!
//! A scenario that was played and did not meet its expectations is not an error: that is a
//! [`Mismatch`](crate::Mismatch), and the whole point. An error means that there is nothing to
//! judge, because the scenario makes no sense, the client is not there, or the machine refused.

use std::fmt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum Error {
    /// The scenario file cannot be read as a scenario.
    Scenario { path: PathBuf, message: String },
    /// The scenario is well formed, but cannot be staged as it is written.
    Stage(String),
    /// The observer had seen enough.
    Interrupted,
    /// The machine refused something the stage needs.
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

    /// Names what was attempted, for use with `map_err`.
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

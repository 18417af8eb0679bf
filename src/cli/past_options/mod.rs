//! The options that select past sessions, for all commands that read the client's records of them.

mod duration;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::builder::NonEmptyStringValueParser;
pub(super) use duration::parse_duration;

use super::{CommandError, CurrentProject, current_directory};
use crate::clients::past::PastSessions;
use crate::clock;
use crate::places::Places;
use crate::replay::selection::{Scope, Selection, select};
use crate::text::make_one_line;

#[derive(clap::Args)]
pub(crate) struct PastOptions {
    /// Read the sessions of all projects
    #[arg(long, conflicts_with_all = ["session", "transcripts"])]
    all: bool,
    /// Read one session, by its ID or the start of it
    #[arg(long, value_name = "ID", conflicts_with = "transcripts", value_parser = NonEmptyStringValueParser::new())]
    session: Option<String>,
    /// Read all transcripts below a directory, or one file
    #[arg(long, value_name = "DIR")]
    transcripts: Option<PathBuf>,
    /// Only what happened in this time: 30d, 12h, 2w
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) last: Option<Duration>,
}

impl PastOptions {
    /// Fails if the user names a place that cannot be read.
    pub(crate) fn find_scope(&self) -> Result<Scope, CommandError> {
        Ok(match (&self.transcripts, &self.session) {
            (Some(place), _) => {
                let place = current_directory()?.join(place);
                check_readable(&place).map_err(|error| self.describe(&error))?;
                Scope::Place(place)
            }
            (None, Some(id)) => Scope::Session(id.clone()),
            (None, None) if self.all => Scope::All,
            (None, None) => Scope::Project(CurrentProject::locate()?.project),
        })
    }

    /// Finds the records. Files that are too old are left out unopened.
    pub(crate) fn select(
        &self,
        past: &PastSessions,
        places: &Places,
        scope: &Scope,
    ) -> Result<Selection, CommandError> {
        let begin =
            self.last.map(|last| SystemTime::now().checked_sub(last).unwrap_or(SystemTime::UNIX_EPOCH));
        select(past, places, scope, begin).map_err(|error| self.describe(&error))
    }

    fn describe(&self, error: &io::Error) -> CommandError {
        let place = self.transcripts.as_deref().unwrap_or(Path::new(""));
        CommandError::Io(format!("{}: {error}", make_one_line(&place.to_string_lossy())))
    }

    /// Since when events count, in milliseconds since 1970.
    pub(crate) fn begin_millis(&self) -> Option<u64> {
        let since = clock::time_since_epoch().saturating_sub(self.last?);
        Some(u64::try_from(since.as_millis()).unwrap_or(0))
    }
}

fn check_readable(place: &Path) -> io::Result<()> {
    let metadata = fs::metadata(place)?;
    if metadata.is_dir() {
        fs::read_dir(place).map(drop)
    } else if metadata.is_file() {
        fs::File::open(place).map(drop)
    } else {
        Err(io::Error::other("neither a directory nor a regular file"))
    }
}

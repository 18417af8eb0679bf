//! `provost status`: where everything stands in this project, on one screen.

mod asked;
mod screen;
mod summary;

use std::io::{self, Write};

pub(crate) use asked::Called;
pub(crate) use screen::missing;
pub(crate) use summary::{MOST_LOOKED_AT, Summary, guards_counted};

use super::watch::{self, Seen};
use super::{Exit, Outcome, current_directory};
use crate::workspace::resolve;

/// Show where everything stands: packs, the plan and its gate, reviews, the phase, the last denials, the next step
///
/// Each line tells in short what a command of its own tells at length: `provost gate status`, `provost review
/// status`, `provost phases status`, `provost explain`. The denials are those at the end of the journal.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost status
  provost status --watch
  provost status --json | jq -r .next

Exit codes: 0 shown; 1 shown, but a part of it could not be read, and says so; 74 there is no current
directory.")]
pub(crate) struct Status {
    /// Print JSON; with --watch one line for each change
    #[arg(long)]
    json: bool,
    /// Go on showing it whenever something has changed, until Ctrl-C
    #[arg(long)]
    watch: bool,
}

impl Status {
    pub(crate) fn run(self) -> Outcome {
        let cwd = current_directory()?;
        let cwd = resolve(&cwd);
        let look = || Summary::of(&cwd, &cwd);
        if self.watch {
            return watch::follow(!self.json, || {
                let summary = look();
                Ok(Seen { facts: summary.as_json(), text: self.drawn(&summary)? })
            });
        }
        let summary = look();
        anstream::stdout().lock().write_all(self.drawn(&summary)?.as_bytes())?;
        Ok(if summary.is_whole() { Exit::Done } else { Exit::Found })
    }

    fn drawn(&self, summary: &Summary) -> io::Result<String> {
        let mut out = Vec::new();
        match (self.json, self.watch) {
            (true, true) => crate::cli::screen::json_line(&mut out, &summary.as_json())?,
            (true, false) => crate::cli::screen::json(&mut out, &summary.as_json())?,
            (false, _) => screen::show(&mut out, summary)?,
        }
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}

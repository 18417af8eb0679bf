//! `provost schema`: the JSON Schema of `provost.toml`.

use std::io::Write;

use super::{Exit, Outcome};
use crate::config::settings;

/// Print the JSON Schema of provost.toml, for editors
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost schema > provost.schema.json")]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn run() -> Outcome {
        writeln!(std::io::stdout().lock(), "{:#}", settings::schema())?;
        Ok(Exit::Done)
    }
}

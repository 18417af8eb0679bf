//! `provost schema`: the JSON Schema of `provost.toml`.

use std::io::Write;

use super::{CommandResult, Exit};
use crate::config::settings;
use crate::registry::guard_settings;

/// Print the JSON Schema of provost.toml, for completion in editors
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost schema > provost.schema.json")]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn run() -> CommandResult {
        writeln!(
            std::io::stdout().lock(),
            "{:#}",
            settings::build_schema(&settings::list_settings(guard_settings()))
        )?;
        Ok(Exit::Done)
    }
}

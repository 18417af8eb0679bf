//! `provost override` in a shell: it allows nothing, and says how to override a denial.

use super::screen::wrap_line;
use super::{CommandResult, Exit};
use crate::opinion::Denial;
use crate::registry;
use crate::text::shorten_line;

/// Show how to allow one denied call with a prompt in the client
///
/// Type the same words as a prompt in the client. In a shell the command allows nothing, because the
/// agent could run it there too.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost override branch-guard the release is tagged on main

Exit code: 1, because nothing was allowed.")]
pub(crate) struct Override {
    /// The guard, and why you override it
    #[arg(value_name = "GUARD REASON", trailing_var_arg = true)]
    words: Vec<String>,
}

impl Override {
    pub(crate) fn run(self) -> CommandResult {
        const LONGEST: usize = 100;
        let name = self.words.first().map_or("", String::as_str);
        let reason = self.words.get(1..).unwrap_or_default().join(" ");
        let (why, fix) = match registry::find_guard(name) {
            Some(guard) if guard.is_overridable => {
                let reason =
                    if reason.is_empty() { "REASON".to_owned() } else { shorten_line(&reason, LONGEST) };
                let fix = format!(
                    "type it as a prompt in the client's session: `provost override {name} {reason}`"
                );
                ("an override counts only as your own prompt in the client".to_owned(), fix)
            }
            Some(guard) => (format!("`{name}` cannot be overridden"), guard.way_out.to_owned()),
            None if name.is_empty() => ("no guard is named".to_owned(), registry::describe_override()),
            None => (
                format!(
                    "there is no guard `{}`{}",
                    shorten_line(name, LONGEST),
                    registry::suggest_overridable(name)
                ),
                registry::describe_override(),
            ),
        };
        let denial = Denial {
            what: "nothing was allowed".into(),
            why,
            fix: fix.trim_end_matches('.').into(),
            document_wording: None,
        };
        eprintln!("{}", wrap_line(&denial.to_string(), 0));
        Ok(Exit::Problem)
    }
}

//! `provost override` in a shell: it allows nothing, and says how to override a denial.

use super::screen::wrap_line;
use super::{CommandResult, CurrentProject, Exit};
use crate::opinion::Denial;
use crate::registry::{OverrideTarget, describe_override};
use crate::text::shorten_line;

/// Show how to allow one denied call with a prompt in the client
///
/// Type the same words as a prompt in the client. In a shell the command allows nothing, because the
/// agent could run it there too.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost override branch-guard the release is tagged on main
  provost override rule:no-force-push the branch is mine alone

Exit code: 1, because nothing was allowed.")]
pub(crate) struct Override {
    /// The guard, or `rule:NAME` for a rule, and why you override it
    #[arg(value_name = "GUARD REASON", trailing_var_arg = true)]
    words: Vec<String>,
}

impl Override {
    pub(crate) fn run(self) -> CommandResult {
        const LONGEST: usize = 100;
        let name = self.words.first().map_or("", String::as_str);
        let reason = self.words.get(1..).unwrap_or_default().join(" ");
        let rules = CurrentProject::locate()?.config.rules;
        let (why, fix) = match OverrideTarget::find(name, &rules) {
            _ if name.is_empty() => ("no guard is named".to_owned(), describe_override()),
            OverrideTarget::Known(name) => {
                let reason =
                    if reason.is_empty() { "REASON".to_owned() } else { shorten_line(&reason, LONGEST) };
                let fix = format!(
                    "type it as a prompt in the client's session: `provost override {name} {reason}`"
                );
                ("an override counts only as your own prompt in the client".to_owned(), fix)
            }
            OverrideTarget::Fixed(guard) => {
                (format!("`{name}` cannot be overridden"), guard.way_out.to_owned())
            }
            OverrideTarget::Unknown(why) => (why, describe_override()),
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

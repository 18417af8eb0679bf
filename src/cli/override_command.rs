//! `provost override` in a shell: it allows nothing, and says where the words belong.

use super::screen::{width, wrapped};
use super::{Exit, Outcome};
use crate::decision::Denial;
use crate::overrides;
use crate::registry::Guard;
use crate::text::{brief, one_line};

/// Say how to allow one denied call: by a prompt in the client, not here
///
/// An override counts only as the user's own prompt, because a shell command could be the agent's.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost override branch-guard the release is tagged on main

Exit code: 1, because nothing was allowed.")]
pub(crate) struct Override {
    /// The guard, and the reason
    #[arg(value_name = "GUARD REASON", trailing_var_arg = true)]
    words: Vec<String>,
}

impl Override {
    pub(crate) fn run(self) -> Outcome {
        const LONGEST: usize = 100;
        let name = self.words.first().map_or("", String::as_str);
        let shown = brief(name, LONGEST);
        let reason = self.words.get(1..).unwrap_or_default().join(" ");
        let (why, form) = match Guard::find(name) {
            Some(guard) if guard.overridable => {
                let reason = if reason.is_empty() { "REASON".to_owned() } else { brief(&reason, LONGEST) };
                let form = format!(
                    "type it as a prompt in the client's session: `provost override {name} {reason}`"
                );
                ("an override counts only as your own prompt in the client".to_owned(), form)
            }
            Some(guard) => (format!("`{name}` cannot be overridden"), guard.way_out.to_owned()),
            None if name.is_empty() => ("it names no guard".to_owned(), overrides::form()),
            None => {
                (format!("there is no guard `{shown}`{}", overrides::suggestion(name)), overrides::form())
            }
        };
        let denial = Denial {
            what: "nothing was allowed".into(),
            why,
            fix: form.trim_end_matches('.').into(),
            heading: None,
        };
        eprintln!("{}", wrapped(&one_line(&denial.to_string()), 0, width()));
        Ok(Exit::Found)
    }
}

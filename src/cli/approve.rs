//! `provost approve` in a shell: it approves nothing, and says where it is typed.

use super::overview::instances::read_reports;
use super::screen::wrap_line;
use super::{CommandResult, Exit, overview::Overview};
use crate::opinion::Denial;
use crate::text::{make_one_line, shorten_line, suggest_word};
use crate::workflow::APPROVE_PROMPT;

/// Show how to approve a change, feature, spec or story with a prompt in the client
///
/// Type the same words as a prompt in the client. In a shell the command approves nothing, because the
/// agent could run it there too.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost approve add-login
  provost approve 001-user-login

Exit code: 1, because nothing was approved.")]
pub(crate) struct Approve {
    /// The name of the change, feature, spec or story
    #[arg(value_name = "NAME", trailing_var_arg = true)]
    words: Vec<String>,
}

impl Approve {
    pub(crate) fn run(self) -> CommandResult {
        const LONGEST: usize = 100;
        let overview = Overview::open_here()?;
        let reports = read_reports(&overview.cwd, &overview.workspace);
        let mut instances = reports.iter().flat_map(|report| &report.instances);
        let name = shorten_line(self.words.first().map_or("", String::as_str), LONGEST);
        let open: Vec<String> = reports
            .iter()
            .flat_map(|report| &report.instances)
            .filter(|instance| instance.is_open)
            .map(|instance| make_one_line(&instance.name))
            .collect();
        let is_known = name.contains('/') || instances.any(|instance| instance.name == name);
        let what_to_type = match (name.is_empty(), is_known, open.first()) {
            (false, true, _) | (false, false, None) => name.clone(),
            (true, _, None) => "NAME".to_owned(),
            (_, _, Some(first)) => first.clone(),
        };
        let why = if name.is_empty() || is_known || open.is_empty() {
            "an approval counts only as your own prompt in the client".to_owned()
        } else {
            format!("there is no `{name}` here{}", suggest_word(&name, open.iter().cloned()))
        };
        let denial = Denial {
            what: "nothing was approved".into(),
            why,
            fix: format!("type it as a prompt in the client's session: `{APPROVE_PROMPT} {what_to_type}`"),
            document_wording: None,
        };
        eprintln!("{}", wrap_line(&denial.to_string(), 0));
        Ok(Exit::Problem)
    }
}

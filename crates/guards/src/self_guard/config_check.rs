//! The guard `config-check`: reports mistakes in `provost.toml` when a session starts.
//!
//! This is the one hook call that looks for mistakes in the patterns of rules.

use crate::prelude::*;
use provost_core::event::Event;
use provost_core::opinion::{Denial, Fault, Opinion};
use provost_core::workspace::Workspace;

pub fn judge(_event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    workspace.keep_good_rules();
    let config = &workspace.config;
    let found = config.list_quick_problems();
    let problems: Vec<String> = found.iter().map(ToString::to_string).collect();
    let Some(first) = problems.first() else { return Ok(Opinion::silent()) };
    let more = match problems.len() - 1 {
        0 => String::new(),
        more => format!(" ({more} more)"),
    };
    // A file without its rules is worse than a line without effect.
    let broken =
        found.iter().find(|problem| problem.place.is_none() && problem.text.starts_with("is broken"));
    let denial = Denial {
        what: match broken.filter(|_| problems.len() > 1) {
            Some(problem) => format!("{problem}"),
            None => "the configuration has a mistake".into(),
        },
        why: format!("{first}{more}"),
        fix: "correct the line; `provost config check` lists all of them".into(),
        document_wording: None,
    };
    Ok(Opinion { to_user: Some(denial.to_string()), evidence: problems, ..Opinion::default() })
}

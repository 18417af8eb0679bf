//! The guard `config-check`: reports mistakes in `provost.toml` when a session starts.

use crate::prelude::*;
use provost_core::event::Event;
use provost_core::opinion::{Denial, Fault, Opinion};
use provost_core::workspace::Workspace;

pub fn judge(_event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let problems: Vec<String> = workspace.config.problems.iter().map(ToString::to_string).collect();
    let Some(first) = problems.first() else { return Ok(Opinion::silent()) };
    let more = match problems.len() - 1 {
        0 => String::new(),
        more => format!(" ({more} more)"),
    };
    let denial = Denial {
        what: "the configuration has a mistake".into(),
        why: format!("{first}{more}"),
        fix: "correct the line; `provost config check` lists all of them".into(),
        document_wording: None,
    };
    Ok(Opinion { to_user: Some(denial.to_string()), evidence: problems, ..Opinion::default() })
}

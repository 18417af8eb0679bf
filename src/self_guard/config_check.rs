//! Tells the person about mistakes in `provost.toml` when a session starts.

use crate::decision::{Fault, Opinion};
use crate::event::Event;
use crate::workspace::Workspace;

pub fn judge(_event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let problems: Vec<String> = workspace.config.problems.iter().map(ToString::to_string).collect();
    let Some(first) = problems.first() else { return Ok(Opinion::silence()) };
    let more = match problems.len() - 1 {
        0 => String::new(),
        more => format!(" ({more} more)"),
    };
    Ok(Opinion {
        to_person: Some(format!(
            "[provost] the configuration has a mistake: {first}{more}. To fix: correct the line; \
             `provost config check` lists all of them."
        )),
        evidence: problems,
        ..Opinion::default()
    })
}

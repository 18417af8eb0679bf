//! The phases of a workflow: none skipped, none out of order, nothing committed to main in between, no
//! state faked.
//!
//! Each guard stands in a file of its own and only judges. What they judge by is found once per event
//! ([`ground`]): the project, its state, its manifest. What they want to be written down they note there,
//! and [`records`], which is asked last, writes it once.

pub mod advance;
pub mod branch;
pub mod constitution;
pub mod corridor;
pub mod delegation;
pub mod delegation_gate;
pub mod discover_menu;
pub mod gate;
pub mod ground;
pub mod manifest;
pub mod menu;
pub mod orders;
pub mod phase_loop;
pub mod phase_sequence;
pub mod plan_surfacer;
pub mod records;
pub mod requirements;
pub mod review_reminder;
pub mod skill_delegation;
pub mod skill_log;
pub mod skill_validator;
pub mod state;
pub mod state_write;
pub mod table;
pub mod test_command;
pub mod test_output;
pub mod test_run;
pub mod test_watch;
pub mod walkthrough;
pub mod words;

use crate::config::settings;
use crate::decision::{Denial, Opinion};
use crate::event::Event;
use crate::text::{bounded, clipped, one_line, quoted};
use crate::workspace::Workspace;

/// A remark of a guard that holds nothing back: for the person, and if they want it, for the model.
pub fn remark(text: String, workspace: &Workspace) -> Opinion {
    let also_model = workspace.config.word(settings::PHASES_NOTIFY) == "model";
    Opinion {
        to_model: also_model.then(|| text.clone()),
        evidence: vec![text.lines().next().unwrap_or_default().to_owned()],
        to_person: Some(text),
        ..Opinion::default()
    }
}

/// A denial of this call or of the end of this turn. It may name what stands in files of the project: each part of it stays on one line,
/// and none is so long that the others are cut off.
pub fn deny(event: &Event, refused: Refused, evidence: Vec<String>) -> Opinion {
    const LONGEST: usize = 1000;
    let clean = |text: String| bounded(&one_line(&text), LONGEST).into_owned();
    let denial = Denial {
        what: match event.call() {
            Some(_) => format!("{} denied", event.subject()),
            None => "this turn cannot end yet".into(),
        },
        why: clean(refused.why),
        fix: clean(refused.fix),
        heading: Some(clean(refused.heading)),
    };
    Opinion::deny(denial, evidence.into_iter().map(clean).collect())
}

/// Why a call is denied.
pub struct Refused {
    /// The words of the document's own script.
    pub heading: String,
    pub why: String,
    pub fix: String,
}

/// A phase, agent or branch at the start of a message: in quotes, and short enough to leave room for the fix.
pub fn named(name: &str) -> String {
    quoted(&clipped(name, 24))
}

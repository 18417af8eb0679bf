//! Guards of a workflow in phases: no phase is skipped or faked, and nothing is committed to main in between.
//!
//! Each guard has its own file and only judges. The guards of one event share what they know of the project
//! ([`workflow_context`]): its state, its manifest, its requirements. A guard that wants to change the state leaves a
//! change there, and [`phase_records`], the last guard, writes all changes at once.

pub mod branch_guard;
pub mod clauses;
pub mod constitution_validator;
mod delegation;
pub mod delegation_gate;
pub mod discover_menu_guard;
pub mod gate_blocker;
mod instructions;
pub mod iteration_corridor;
pub mod log_skill_usage;
pub mod manifest;
pub mod menu_tracker;
mod phase_change;
pub mod phase_loop_controller;
pub mod phase_names;
pub mod phase_records;
pub mod phase_sequence_guard;
pub mod plan_surfacer;
mod prelude;
pub mod requirements;
pub mod review_reminder;
pub mod skill_delegation_enforcer;
pub mod skill_validator;
pub mod state;
pub mod state_write_validator;
pub(crate) mod test_command;
mod test_output;
mod test_result;
pub mod test_watcher;
pub mod walkthrough_tracker;
pub mod workflow_context;

use prelude::*;
use provost_core::config::settings;
use provost_core::opinion::Denial;
use provost_core::text::{clip_line, make_one_line, quote_for_model, truncate_utf16};

/// Why a call is denied.
struct PhaseDenial {
    /// The words of the document's own script.
    heading: String,
    why: String,
    fix: String,
}

impl PhaseDenial {
    /// Denies this call, or the end of this turn. The texts may quote files of the project, so each is kept
    /// on one line, and short enough that the others are not cut off.
    fn deny(self, event: &Event, evidence: Vec<String>) -> Opinion {
        const LONGEST: usize = 1000;
        let clean = |text: String| truncate_utf16(&make_one_line(&text), LONGEST).into_owned();
        let denial = Denial {
            what: match event.call() {
                Some(_) => format!("{} denied", event.subject()),
                None => "this turn cannot end yet".into(),
            },
            why: clean(self.why),
            fix: clean(self.fix),
            document_wording: Some(clean(self.heading)),
        };
        Opinion::deny(denial, evidence.into_iter().map(clean).collect())
    }
}

/// A warning for the user, and for the model if the settings say so. It blocks nothing.
fn warn(text: String, workspace: &Workspace) -> Opinion {
    let also_model = workspace.config.word(settings::PHASES_NOTIFY) == "model";
    Opinion {
        to_model: also_model.then(|| text.clone()),
        evidence: vec![text.lines().next().unwrap_or_default().to_owned()],
        to_user: Some(text),
        ..Opinion::default()
    }
}

/// The name of a phase, agent or branch for the start of a message: in quotes, and short enough to leave room
/// for the fix.
fn quote_name(name: &str) -> String {
    quote_for_model(&clip_line(name, 24))
}

//! Writes into the journal what reviewers did for a command, so that reports contain it as if a hook had asked them.

use crate::cli::current_client;
use crate::decision::{Decision, Finding};
use crate::event::{Event, EventKind};
use crate::journal::{self, JournalEntry};
use crate::opinion::{Opinion, ReviewerWork};
use crate::registry::find_guard;
use crate::workspace::Workspace;

/// Records the work that `command` had done for a guard. Like in a hook, an error changes nothing.
pub(crate) fn record_work(command: &str, guard: &str, work: Option<ReviewerWork>, workspace: &Workspace) {
    let state = workspace.places.project_state_directory(&workspace.project);
    let (Some(work), Some(guard), Some(state)) = (work, find_guard(guard), state) else { return };
    if !workspace.config.is_journal_on() {
        return;
    }
    let event = Event::new(command.to_owned(), EventKind::Other, workspace.start.clone());
    let opinion = Opinion { reviewer_work: Some(work), ..Opinion::default() };
    let entry = JournalEntry {
        client: current_client().name,
        project: &workspace.project,
        event: Some(&event),
        findings: &[Finding::for_guard(guard, Ok(opinion), 0)],
        decision: &Decision::default(),
        micros: 0,
        remark: None,
    };
    if matches!(journal::append_entry(&state, &entry, workspace.config.journal_limit()), Ok(true)) {
        let _ = journal::compact_archive(&state);
    }
}

//! `state-write-validator`: warns about a state that claims what did not happen, or denies the write.
//!
//! After a call that changed a state file, the guard compares the claims of the file with its own counters.
//! With `phases.validate = "before"` it also judges a change before it is made, against the state on the
//! disk. A change whose content is not known beforehand is denied, because it cannot be judged.

mod changed_files;
mod regressions;
mod unproven_claims;

use super::prelude::*;
use super::state::WorkflowState;
use super::workflow_context::MAX_FILE_BYTES;
use changed_files::{ChangeKind, ChangedFile, find_changed_files};
use provost_core::config::settings;
use provost_core::effect::{self, ProposedContent};
use provost_core::opinion::Denial;
use provost_core::text;
pub use regressions::{Objection, find_objections};
use unproven_claims::find_claims;

/// More findings are only counted.
const MOST: usize = 10;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    match &event.kind {
        EventKind::AfterTool(_) => Ok(warn_about_claims(event, workspace)),
        EventKind::BeforeTool(call) if workspace.config.word(settings::PHASES_VALIDATE) == "before" => {
            let changed = find_changed_files(event, workspace);
            for file in &changed {
                let objections = check_change(file, &call.tool, workspace)?;
                if let Some(opinion) = deny_change(file, objections, workspace) {
                    return Ok(opinion);
                }
            }
            Ok(if changed.is_empty() { Opinion::unconcerned() } else { Opinion::silent() })
        }
        _ => Ok(Opinion::unconcerned()),
    }
}

fn warn_about_claims(event: &Event, workspace: &Workspace) -> Opinion {
    let mut warnings = Vec::new();
    for file in find_changed_files(event, workspace) {
        if file.kind == ChangeKind::Deleted {
            continue;
        }
        let bytes = workspace.read_or_report(&file.real, MAX_FILE_BYTES);
        let Some(state) = bytes.and_then(|bytes| WorkflowState::parse(&bytes)) else { continue };
        let path = text::make_one_line(&file.named.display().to_string());
        warnings.extend(find_claims(&state).iter().map(|claim| {
            format!(
                "[state-write-validator] WARNING: Suspicious state.json write detected.\n  Phase: {}\n  \
                 Issue: {}\n  Path: {path}",
                claim.phase(),
                claim.describe_issue()
            )
        }));
    }
    if warnings.is_empty() {
        return Opinion::unconcerned();
    }
    let more = warnings.len().saturating_sub(MOST);
    warnings.truncate(MOST);
    if more > 0 {
        warnings.push(format!("[state-write-validator] and {more} more"));
    }
    super::warn(warnings.join("\n"), workspace)
}

fn check_change(file: &ChangedFile, tool: &Tool, workspace: &Workspace) -> Result<Vec<Objection>, Fault> {
    let unknown = Objection {
        what: "the new content cannot be known".into(),
        fix: "use the Edit or the Write tool, whose content can be checked",
    };
    Ok(match file.kind {
        ChangeKind::Unknown => vec![unknown],
        ChangeKind::Deleted => {
            let state = workspace
                .read_bytes(&file.real, MAX_FILE_BYTES)?
                .and_then(|bytes| WorkflowState::parse(&bytes));
            let is_active = state.is_some_and(|state| state.workflow().is_some());
            let lost = || Objection {
                what: "it holds the state of an active workflow".into(),
                fix: "end the workflow first, by removing `active_workflow` from the file",
            };
            is_active.then(lost).into_iter().collect()
        }
        ChangeKind::Written => {
            let current = workspace.read_text(&file.real, MAX_FILE_BYTES)?;
            match effect::compute_proposed_content(tool, current.as_deref()) {
                ProposedContent::Text(text) => {
                    let now = current.as_ref().and_then(|text| WorkflowState::parse(text.as_bytes()));
                    find_objections(now.as_ref(), WorkflowState::parse(text.as_bytes()).as_ref())
                }
                ProposedContent::Unknown if matches!(tool, Tool::Edit { .. }) => vec![Objection {
                    what: "the text to replace is not in it exactly once".into(),
                    fix: "read the file again, and give the text as it is there",
                }],
                ProposedContent::Unknown => vec![unknown],
            }
        }
    })
}

fn deny_change(file: &ChangedFile, objections: Vec<Objection>, workspace: &Workspace) -> Option<Opinion> {
    let first = objections.first()?;
    let more = match objections.len() - 1 {
        0 => String::new(),
        more => format!(" ({more} more)"),
    };
    let named = file.named.strip_prefix(&workspace.project).unwrap_or(&file.named);
    let what = format!("{} not changed", text::quote_path_end(&named.to_string_lossy()));
    let denial = Denial {
        why: format!("{}{more}", text::clip_line(&first.what, text::room_for_reason(&what))),
        what,
        fix: first.fix.into(),
        document_wording: None,
    };
    let evidence = objections.into_iter().take(MOST).map(|objection| objection.what).collect();
    Some(Opinion::deny(denial, evidence))
}

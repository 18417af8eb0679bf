//! `state-write-validator`: a state that claims what did not happen is remarked, or not written at all.
//!
//! After a call that changed a state file, the file is read and its claims are held against its own
//! counters. If the person wants it, a change is also judged before it is made, against the state on
//! the disk, and one whose content nobody can foretell is denied, because it could not be judged.

mod change;
mod claims;
mod targets;

pub use change::{Objection, objections};
use targets::{Deed, Target};

use super::ground::LARGEST;
use super::remark;
use super::state::State;
use crate::config::settings;
use crate::decision::{Denial, Fault, Opinion};
use crate::effect::{self, Proposed};
use crate::event::{Event, Kind, Tool};
use crate::text;
use crate::workspace::Workspace;

/// More findings are only counted.
const MOST: usize = 10;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    match &event.kind {
        Kind::AfterTool(_) => Ok(after(event, workspace)),
        Kind::BeforeTool(call) if workspace.config.word(settings::PHASES_VALIDATE) == "before" => {
            let changed = targets::targets(event, workspace);
            for target in &changed {
                if let Some((denial, evidence)) = before(target, &call.tool, workspace)? {
                    return Ok(Opinion::deny(denial, evidence));
                }
            }
            Ok(if changed.is_empty() { Opinion::unconcerned() } else { Opinion::silence() })
        }
        _ => Ok(Opinion::unconcerned()),
    }
}

/// What the states that were changed claim.
fn after(event: &Event, workspace: &Workspace) -> Opinion {
    let mut found = Vec::new();
    let changed =
        targets::targets(event, workspace).into_iter().filter(|target| target.deed != Deed::Deleted);
    for target in changed {
        // A file that is gone by now, or is no state, claims nothing.
        let bytes = workspace.read_or_miss(&target.real, LARGEST);
        let Some(state) = bytes.and_then(|bytes| State::read(&bytes)) else { continue };
        let path = text::one_line(&target.named.display().to_string());
        let warning = |fake: &claims::Fake| {
            let (phase, issue) = (fake.phase(), fake.issue());
            format!(
                "[state-write-validator] WARNING: Suspicious state.json write detected.\n  Phase: {phase}\n  \
                 Issue: {issue}\n  Path: {path}"
            )
        };
        found.extend(claims::fakes(&state).iter().map(warning));
    }
    if found.is_empty() {
        return Opinion::unconcerned();
    }
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    if more > 0 {
        found.push(format!("[state-write-validator] and {more} more"));
    }
    remark(found.join("\n"), workspace)
}

type Refusal = Option<(Denial, Vec<String>)>;

fn before(target: &Target, tool: &Tool, workspace: &Workspace) -> Result<Refusal, Fault> {
    let unforeseen = || Objection {
        what: "the new content cannot be known".into(),
        fix: "use the Edit or the Write tool, whose content can be checked",
    };
    let named = target.named.strip_prefix(&workspace.project).unwrap_or(&target.named);
    let path = text::short_path(&named.to_string_lossy());
    let objections = match target.deed {
        Deed::Unforeseen => vec![unforeseen()],
        Deed::Deleted => {
            let state = workspace.read_bytes(&target.real, LARGEST)?.and_then(|bytes| State::read(&bytes));
            let is_active = state.is_some_and(|state| state.workflow().is_some());
            let lost = || Objection {
                what: "it holds the state of an active workflow".into(),
                fix: "end the workflow first, by removing `active_workflow` from the file",
            };
            is_active.then(lost).into_iter().collect()
        }
        Deed::Written => {
            let current = workspace.read_text(&target.real, LARGEST)?;
            match effect::proposed(tool, current.as_deref()) {
                Proposed::Text(text) => {
                    let now = current.as_ref().and_then(|text| State::read(text.as_bytes()));
                    objections(now.as_ref(), State::read(text.as_bytes()).as_ref())
                }
                Proposed::Unknown if matches!(tool, Tool::Edit { .. }) => vec![Objection {
                    what: "the text to replace is not in it exactly once".into(),
                    fix: "read the file again, and give the text as it is there",
                }],
                Proposed::Unknown => vec![unforeseen()],
            }
        }
    };
    Ok(refusal(&path, objections))
}

fn refusal(path: &str, objections: Vec<Objection>) -> Refusal {
    let first = objections.first()?;
    let more = match objections.len() - 1 {
        0 => String::new(),
        more => format!(" ({more} more)"),
    };
    let what = format!("{path} not changed");
    let denial = Denial {
        why: format!("{}{more}", text::clipped(&first.what, text::room_for_why(&what))),
        what,
        fix: first.fix.into(),
        heading: None,
    };
    Some((denial, objections.into_iter().take(MOST).map(|objection| objection.what).collect()))
}

//! Which file is a plan, and whose.

use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::workspace::Workspace;

/// The folder beside the plans in which the sidecar store keeps its files.
pub const SIDECAR: &str = "rodin-plan-gate";
/// What the name of a session's gaps file ends with.
pub const GAPS: &str = ".gaps.md";

/// A file that was written, as far as it concerns a plan.
#[derive(Debug, PartialEq, Eq)]
pub enum Written {
    Plan(PathBuf),
    /// The gaps of a session, in a file of their own.
    Gaps(PathBuf, Session),
}

/// A session's id that may become a part of a file's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session(String);

impl Session {
    pub fn new(id: &str) -> Option<Self> {
        let fine = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        (!id.is_empty() && id.len() <= 128 && !id.starts_with('.') && id.chars().all(fine))
            .then(|| Self(id.to_owned()))
    }

    pub fn id(&self) -> &str {
        &self.0
    }
}

/// What a path means that was written to. Links are followed on both sides, so a home behind a link
/// is the same home, and a link out of the plans leads out of them.
pub fn written(path: &Path, event: &Event, workspace: &Workspace) -> Option<Written> {
    let plans = workspace.resolve(&workspace.plans_directory()?);
    let file = workspace.resolve(path);
    let name = file.file_name()?.to_str()?;
    let folder = file.parent()?;
    if folder == plans && is_markdown(&file) && !is_of_a_subagent(&file, event) {
        return Some(Written::Plan(file));
    }
    let session = name.strip_suffix(GAPS).and_then(Session::new)?;
    (folder == plans.join(SIDECAR)).then_some(Written::Gaps(file, session))
}

pub fn is_markdown(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "md")
}

/// A subagent in plan mode has a plan of its own beside the session's, with its id in the name.
fn is_of_a_subagent(file: &Path, event: &Event) -> bool {
    let id = event.agent.as_ref().and_then(|agent| agent.id.as_deref());
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    id.is_some_and(|id| stem.strip_suffix(id).is_some_and(|rest| rest.ends_with("-agent-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_name_or_nothing() {
        for id in ["db05b49a-780f-4b0b-bd53-5359177b8aba", "test-123", "a.b_c"] {
            assert!(Session::new(id).is_some(), "{id}");
        }
        for id in ["", ".", "..", "../x", "a/b", "a\\b", "a b", "a\n", ".hidden", "é", &"a".repeat(129)] {
            assert!(Session::new(id).is_none(), "{id}");
        }
    }
}

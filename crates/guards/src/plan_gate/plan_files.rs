//! Which files belong to a plan, and to which session.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use provost_core::event::Event;
use provost_core::workspace::Workspace;

/// The folder beside the plans in which the sidecar store keeps its files.
pub const SIDECAR: &str = "rodin-plan-gate";
/// The suffix of a session's gaps file.
pub const GAPS_SUFFIX: &str = ".gaps.md";

/// A file of a plan that was written.
#[derive(Debug, PartialEq, Eq)]
pub enum WrittenFile {
    Plan(PathBuf),
    /// The gaps file of a session.
    Gaps(PathBuf, Session),
}

/// A session id that is safe as part of a file name.
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

/// The file of a plan that a path names. Both sides are resolved, so a home behind a link is the same home,
/// and a link that leads out of the plans directory names no plan.
pub fn classify_written(path: &Path, event: &Event, workspace: &Workspace) -> Option<WrittenFile> {
    let plans = workspace.resolve(&workspace.plans_directory()?);
    let file = workspace.resolve(path);
    let name = file.file_name()?.to_str()?;
    let folder = file.parent()?;
    if folder == plans && is_markdown(&file) && !belongs_to_subagent(&file, event) {
        return Some(WrittenFile::Plan(file));
    }
    let session = name.strip_suffix(GAPS_SUFFIX).and_then(Session::new)?;
    (folder == plans.join(SIDECAR)).then_some(WrittenFile::Gaps(file, session))
}

pub fn is_markdown(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "md")
}

/// Whether a file is the plan of the subagent itself: its id is part of the file name.
fn belongs_to_subagent(file: &Path, event: &Event) -> bool {
    let id = event.agent.as_ref().and_then(|agent| agent.id.as_deref());
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    id.is_some_and(|id| stem.strip_suffix(id).is_some_and(|rest| rest.ends_with("-agent-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_id_that_is_a_safe_file_name_is_a_session() {
        for id in ["db05b49a-780f-4b0b-bd53-5359177b8aba", "test-123", "a.b_c"] {
            assert!(Session::new(id).is_some(), "{id}");
        }
        for id in ["", ".", "..", "../x", "a/b", "a\\b", "a b", "a\n", ".hidden", "é", &"a".repeat(129)] {
            assert!(Session::new(id).is_none(), "{id}");
        }
    }
}

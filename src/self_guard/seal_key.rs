//! The seal key: no tool reads it.

use std::path::{Path, PathBuf};

use super::refusal::Refusal;
use crate::files::Identity;
use crate::workspace::{Workspace, is_within};

/// The key that seals what was witnessed, once there is one.
pub(super) struct SealKey {
    place: PathBuf,
    identity: Identity,
}

impl SealKey {
    pub(super) fn of(workspace: &Workspace) -> Option<Self> {
        let place = workspace.places.seal_key()?;
        Some(Self { identity: workspace.identity(&place)?, place: workspace.resolve(&place) })
    }

    pub(super) fn read_by(&self, path: &Path, recursive: bool, workspace: &Workspace) -> Option<Refusal> {
        let reads = workspace.identity(path) == Some(self.identity)
            || (recursive && is_within(&self.place, &workspace.resolve(path)));
        let refusal = || {
            Refusal::never(
                "Provost's seal key not read".into(),
                "who has the key can forge verdicts",
                "continue without it; for a search, name a directory that does not hold it",
                format!("reads {}", self.place.display()),
            )
        };
        reads.then(refusal)
    }
}

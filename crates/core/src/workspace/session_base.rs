//! Where a session began: the commit that was checked out, and the time.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Workspace;
use crate::clock;
use crate::opinion::Fault;
use crate::places::fnv1a;
use provost_files as files;

const SMALL: u64 = 64 << 10;

/// Where a session began.
pub(super) struct SessionBase {
    pub(super) commit: Option<String>,
    /// In seconds since 1970.
    pub(super) at: u64,
}

impl Workspace {
    /// Remembers the commit that is checked out as the one that a session began with, unless one is known.
    pub fn remember_session_commit(&self, session: &str) -> Result<(), Fault> {
        let file = self.session_base_file(session)?;
        if !file.exists() {
            self.save_session_base(session, &file)?;
        }
        Ok(())
    }

    fn session_base_file(&self, session: &str) -> Result<PathBuf, Fault> {
        self.changes_file(&self.find_tree_top(), &format!("session-{:016x}.json", fnv1a(session.as_bytes())))
    }

    fn save_session_base(&self, session: &str, file: &Path) -> Result<SessionBase, Fault> {
        let repository = self.find_repository(&self.project);
        let commit = repository.and_then(|repository| repository.read_head_commit());
        let at = clock::time_since_epoch().as_secs();
        let value = json!({"session": session, "commit": commit, "at": at});
        self.write_state_file(file, value.to_string().as_bytes())?;
        Ok(SessionBase { commit, at })
    }

    pub(super) fn read_session_base(&self, session: &str) -> Result<SessionBase, Fault> {
        let file = self.session_base_file(session)?;
        let bytes = files::read_file(&file, SMALL).ok().flatten().unwrap_or_default();
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        match value["at"].as_u64().filter(|_| value["session"] == session) {
            Some(at) => Ok(SessionBase { commit: value["commit"].as_str().map(str::to_owned), at }),
            None => self.save_session_base(session, &file),
        }
    }
}

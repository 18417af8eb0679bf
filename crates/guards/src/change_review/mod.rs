//! Reviews of what a session has changed, for any project: the rule's `need = { review = … }` and `provost review run`.
//!
//! A fresh reviewer reads the diff and writes down what it finds. Provost starts it and reads its verdict, as in the
//! review loop of plans ([`crate::review_round`]). [`prompts`] says what the reviewer is asked.

pub mod prompts;
pub mod round;

use crate::prelude::*;
use std::path::{Path, PathBuf};

use provost_core::opinion::Fault;
use provost_core::rules::evidence::ChangedPath;
use provost_core::workspace::Workspace;

/// The first of some files whose present content has not been found clean by so many reviews in a row; `None`: all have,
/// or have not changed since the session began. Lock files and other files that are never reviewed do not count.
///
/// It runs git. The session's first commit must be known by then ([`Workspace::remember_session_commit`]).
pub fn find_unreviewed_file(
    session: &str,
    files: &[PathBuf],
    wanted: u64,
    workspace: &Workspace,
) -> Result<Option<String>, Fault> {
    let changes: Vec<ChangedPath> =
        files.iter().map(|file| ChangedPath::File(workspace.resolve(file))).collect();
    let accept_all = |_: &Path| true;
    let diff =
        workspace.diff_session_changes(session, &changes.iter().collect::<Vec<_>>(), wanted, &accept_all)?;
    Ok(diff.files.into_iter().next().map(|file| file.path))
}

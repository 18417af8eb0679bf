//! Which judge of a session has been started and has not answered yet.
//!
//! In a terminal, agents work in the background: the author may try to leave plan mode while a critic or
//! validator still reads. The notes here only choose the words of a denial, so a note that cannot be
//! written or read is none, and nothing waits for one.

use std::path::PathBuf;

use super::brief::Role;
use super::digest::Digest;
use super::dossier::Dossier;
use super::place::Session;
use crate::workspace::Workspace;

const LARGEST_NOTE: u64 = 1 << 10;

/// A started judge.
struct Note {
    /// Empty: its id is not known yet.
    agent: String,
    /// The text that it judges; empty: not known.
    subject: String,
}

/// Notes that a judge is about to start.
pub fn note_start(role: Role, session: &Session, dossier: &Dossier<'_>, workspace: &Workspace) {
    write(role, session, &Note { agent: String::new(), subject: subject(role, dossier) }, workspace);
}

/// Notes that a judge works in the background.
pub fn note_launch(role: Role, agent: &str, session: &Session, workspace: &Workspace) {
    let subject = read(role, session, workspace).map(|note| note.subject).unwrap_or_default();
    write(role, session, &Note { agent: agent.to_owned(), subject }, workspace);
}

/// Notes that an agent has ended; the answer is the role in which it was at work.
pub fn note_end(agent: &str, session: &Session, workspace: &Workspace) -> Option<Role> {
    let role = Role::ALL
        .into_iter()
        .find(|role| read(*role, session, workspace).is_some_and(|note| note.agent == agent))?;
    forget(role, session, workspace);
    Some(role)
}

/// Notes that a judge in this role has answered. One whose id was never told was this one.
pub fn note_answer(role: Role, agent: Option<&str>, session: &Session, workspace: &Workspace) {
    let is_its = |note: &Note| note.agent.is_empty() || Some(note.agent.as_str()) == agent;
    if read(role, session, workspace).as_ref().is_some_and(is_its) {
        forget(role, session, workspace);
    }
}

/// The judge that is still at work on this text.
pub fn at_work(session: &Session, dossier: &Dossier<'_>, workspace: &Workspace) -> Option<Role> {
    let is_at_work = |role: &Role| {
        let note = read(*role, session, workspace);
        note.is_some_and(|note| note.subject.is_empty() || note.subject == subject(*role, dossier))
    };
    Role::ALL.into_iter().find(is_at_work)
}

/// What a judge in this role is given to judge.
fn subject(role: Role, dossier: &Dossier<'_>) -> String {
    match role {
        Role::Critic => dossier.plan_hash.to_string(),
        Role::Validator => format!("{} {}", dossier.plan_hash, dossier.gaps_hash),
    }
}

fn place(role: Role, session: &Session, workspace: &Workspace) -> Option<PathBuf> {
    let name = format!("{}.{}", Digest::of(&[session.id().as_bytes()]).short(), role.word());
    workspace.own_file("judges", &name).ok()
}

fn read(role: Role, session: &Session, workspace: &Workspace) -> Option<Note> {
    let text = workspace.read_text(&place(role, session, workspace)?, LARGEST_NOTE).ok()??;
    let (agent, subject) = text.split_once('\n')?;
    Some(Note { agent: agent.to_owned(), subject: subject.to_owned() })
}

fn write(role: Role, session: &Session, note: &Note, workspace: &Workspace) {
    if let Some(place) = place(role, session, workspace) {
        let _ = workspace.replace_own(&place, format!("{}\n{}", note.agent, note.subject).as_bytes());
    }
}

fn forget(role: Role, session: &Session, workspace: &Workspace) {
    if let Some(place) = place(role, session, workspace) {
        let _ = workspace.remove(&place);
    }
}

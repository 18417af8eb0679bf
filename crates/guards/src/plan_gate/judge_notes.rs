//! Notes about critics and validators that were started and have not answered yet.
//!
//! In a terminal, agents work in the background, so the author may try to leave plan mode while a critic
//! or validator still reads. The notes only choose the words of a denial: a note that cannot be written
//! or read counts as missing, and nothing waits for one.

use crate::prelude::*;
use std::path::PathBuf;

use super::brief::Role;
use super::digest::Digest;
use super::plan_files::Session;
use super::plan_record::PlanRecord;
use provost_core::workspace::Workspace;

const LARGEST_NOTE: u64 = 1 << 10;

pub fn note_start(role: Role, session: &Session, record: &PlanRecord<'_>, workspace: &Workspace) {
    JudgeNote::new(role, session, workspace).write("", &name_judged_texts(role, record));
}

/// Notes the id of a critic or validator that works in the background.
pub fn note_launch(role: Role, agent: &str, session: &Session, workspace: &Workspace) {
    let note = JudgeNote::new(role, session, workspace);
    let texts = note.read().map(|(_, texts)| texts).unwrap_or_default();
    note.write(agent, &texts);
}

/// Removes the note about an agent that has ended. Returns the agent's role.
pub fn note_end(agent: &str, session: &Session, workspace: &Workspace) -> Option<Role> {
    Role::ALL
        .into_iter()
        .find(|role| JudgeNote::new(*role, session, workspace).remove_if(|noted_agent| noted_agent == agent))
}

/// Removes the note about an agent that has answered. A note without an id is about this agent.
pub fn note_answer(role: Role, agent: Option<&str>, session: &Session, workspace: &Workspace) {
    let is_about = |noted_agent: &str| noted_agent.is_empty() || Some(noted_agent) == agent;
    JudgeNote::new(role, session, workspace).remove_if(is_about);
}

/// The role in which an agent still works on these texts.
pub fn find_running(session: &Session, record: &PlanRecord<'_>, workspace: &Workspace) -> Option<Role> {
    Role::ALL.into_iter().find(|role| {
        let note = JudgeNote::new(*role, session, workspace).read();
        note.is_some_and(|(_, texts)| texts.is_empty() || texts == name_judged_texts(*role, record))
    })
}

fn name_judged_texts(role: Role, record: &PlanRecord<'_>) -> String {
    match role {
        Role::Critic => record.plan_hash.to_string(),
        Role::Validator => format!("{} {}", record.plan_hash, record.gaps_hash),
    }
}

/// The note for one role in a session: the agent's id and the texts that it judges. Either is empty while it
/// is not known.
struct JudgeNote<'w> {
    file: Option<PathBuf>,
    workspace: &'w Workspace,
}

impl<'w> JudgeNote<'w> {
    fn new(role: Role, session: &Session, workspace: &'w Workspace) -> Self {
        let name = format!("{}.{}", Digest::hash_text(&[session.id().as_bytes()]).short_hex(), role.word());
        Self { file: workspace.state_file("judges", &name).ok(), workspace }
    }

    fn read(&self) -> Option<(String, String)> {
        let text = self.workspace.read_text(self.file.as_ref()?, LARGEST_NOTE).ok()??;
        text.split_once('\n').map(|(agent, texts)| (agent.to_owned(), texts.to_owned()))
    }

    fn write(&self, agent: &str, texts: &str) {
        if let Some(file) = &self.file {
            let _ = self.workspace.write_state_file(file, format!("{agent}\n{texts}").as_bytes());
        }
    }

    fn remove_if(&self, is_about: impl Fn(&str) -> bool) -> bool {
        let is_removed = self.read().is_some_and(|(agent, _)| is_about(&agent));
        if let Some(file) = self.file.as_ref().filter(|_| is_removed) {
            let _ = self.workspace.remove_file(file);
        }
        is_removed
    }
}

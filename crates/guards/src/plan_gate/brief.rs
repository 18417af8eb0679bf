//! Replaces the prompts of critics and validators by exactly the texts that they judge.
//!
//! The agent that starts them need not copy the plan, cannot leak its gaps to the critic, and cannot
//! argue with the validator.

use super::gate::TAG;
use super::plan_files::Session;
use super::{evidence, judge_notes, prompts, store};
use crate::prelude::*;
use crate::seal::SealKey;
use provost_core::config::{Config, settings};
use provost_core::event::{Event, EventKind, PermissionMode};
use provost_core::opinion::{Fault, Opinion};
use provost_core::tool::Tool;
use provost_core::workspace::Workspace;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Critic,
    Validator,
}

impl Role {
    pub const ALL: [Self; 2] = [Self::Validator, Self::Critic];

    pub fn word(self) -> &'static str {
        match self {
            Self::Critic => "critic",
            Self::Validator => "validator",
        }
    }

    /// The role of an agent with exactly this type.
    pub fn from_type(agent: &str, config: &Config) -> Option<Self> {
        Self::find_listed(config, |name| name == agent)
    }

    /// The role of the agent that a call may start. Clients ignore blanks and case in its name.
    pub fn from_call(agent: &str, config: &Config) -> Option<Self> {
        let normalise = |name: &str| name.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
        Self::find_listed(config, |name| normalise(name) == normalise(agent))
    }

    fn find_listed(config: &Config, is_agent: impl Fn(&str) -> bool) -> Option<Self> {
        let is_listed = |setting| config.words(setting).iter().any(|name| is_agent(name));
        if is_listed(settings::PLAN_GATE_CRITICS) {
            Some(Self::Critic)
        } else if is_listed(settings::PLAN_GATE_VALIDATORS) {
            Some(Self::Validator)
        } else {
            None
        }
    }
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let EventKind::BeforeTool(call) = &event.kind else { return Ok(Opinion::silent()) };
    let Tool::Delegate { agent: Some(agent), .. } = &call.tool else { return Ok(Opinion::silent()) };
    let Some(role) = Role::from_call(agent, &workspace.config) else { return Ok(Opinion::silent()) };
    let Some(session) = event.session.as_deref().and_then(Session::new) else {
        return Ok(Opinion::silent());
    };
    if event.mode != PermissionMode::Plan {
        return Ok(note("Must be invoked in plan mode: there is no plan that this agent could judge"));
    }
    let store = store::configured_store(workspace);
    let Some(plan) = store.find_plan(&session, workspace) else {
        return Ok(note("no plan of this session is known yet: write the plan file, then start again"));
    };
    let Some(text) = store::read_plan(&plan, workspace)? else { return Ok(Opinion::silent()) };
    let record = store.read_record(&plan, &text, workspace)?;
    let brief = match role {
        Role::Critic => prompts::write_critic_prompt(&record.document.content().to_text()),
        Role::Validator => {
            let evidence = match SealKey::load(workspace)? {
                Some(key) => evidence::find_critique(record.plan_hash, &key, workspace)?,
                None => None,
            };
            let Some(evidence) = evidence else {
                return Ok(note(
                    "no critic has been seen to read this plan as it is now: run the critic first",
                ));
            };
            prompts::write_validator_prompt(record.gaps.text(), &evidence.answer)
        }
    };
    judge_notes::note_start(role, &session, &record, workspace);
    let evidence = vec![format!("`{agent}` is given the text of {}", plan.display())];
    Ok(Opinion { agent_prompt: Some(brief), evidence, ..Opinion::default() })
}

fn note(text: &str) -> Opinion {
    Opinion { to_model: Some(format!("{TAG}{text}.")), ..Opinion::default() }
}

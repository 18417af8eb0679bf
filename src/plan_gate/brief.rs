//! What the critic and the validator are given is not left to the agent that they judge.
//!
//! When such an agent is started, the prompt is replaced by exactly what it is to read. The agent
//! need not copy a plan, cannot leak its gaps to the critic, and cannot plead with the validator.

use super::evidence::Evidence;
use super::gate::TAG;
use super::place::Session;
use super::seal::Key;
use super::{judges, prompts, store};
use crate::config::{Config, settings};
use crate::decision::{Fault, Opinion};
use crate::event::{Event, Kind, Mode, Tool};
use crate::workspace::Workspace;

/// Who judges a plan.
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

    /// The role of an agent, by its full type.
    pub fn of(agent: &str, config: &Config) -> Option<Self> {
        Self::listed(config, |name| name == agent)
    }

    /// The role of the agent that a call may mean: clients forgive blanks and large letters in its name.
    pub fn called(agent: &str, config: &Config) -> Option<Self> {
        let plain = |name: &str| name.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "");
        Self::listed(config, |name| plain(name) == plain(agent))
    }

    fn listed(config: &Config, is_meant: impl Fn(&str) -> bool) -> Option<Self> {
        let is_listed = |setting| config.words(setting).iter().any(|name| is_meant(name));
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
    let Kind::BeforeTool(call) = &event.kind else { return Ok(Opinion::silence()) };
    let Tool::Delegate { agent: Some(agent), .. } = &call.tool else { return Ok(Opinion::silence()) };
    let Some(role) = Role::called(agent, &workspace.config) else { return Ok(Opinion::silence()) };
    let Some(session) = event.session.as_deref().and_then(Session::new) else {
        return Ok(Opinion::silence());
    };
    if event.mode != Mode::Plan {
        return Ok(note("Must be invoked in plan mode: there is no plan that this agent could judge"));
    }
    let store = store::of(workspace);
    let Some(plan) = store.plan_of(&session, workspace) else {
        return Ok(note("no plan of this session is known yet: write the plan file, then start again"));
    };
    let Some(text) = store::read(&plan, workspace)? else { return Ok(Opinion::silence()) };
    let dossier = store.dossier(&plan, &text, workspace)?;
    let brief = match role {
        Role::Critic => prompts::for_critic(&dossier.document.content().to_text()),
        Role::Validator => {
            let found = match Key::find(workspace)? {
                Some(key) => Evidence::find(dossier.plan_hash, &key, workspace)?,
                None => None,
            };
            match found {
                Some(evidence) => prompts::for_validator(dossier.gaps.text(), &evidence.answer),
                None => {
                    return Ok(note(
                        "no critic has been seen to read this plan as it is now: run the critic first",
                    ));
                }
            }
        }
    };
    judges::note_start(role, &session, &dossier, workspace);
    let evidence = vec![format!("`{agent}` is given the text of {}", plan.display())];
    Ok(Opinion { brief: Some(brief), evidence, ..Opinion::default() })
}

fn note(text: &str) -> Opinion {
    Opinion { to_model: Some(format!("{TAG}{text}.")), ..Opinion::default() }
}

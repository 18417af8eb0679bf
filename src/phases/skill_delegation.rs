//! `skill-delegation-enforcer`: a skill that stands for an agent is remembered until that agent worked.

use serde_json::json;

use super::advance::SkillUse;
use super::ground::Ground;
use super::table;
use crate::decision::{Fault, Opinion};
use crate::event::{Event, Kind};
use crate::text::bounded;
use crate::workspace::Workspace;

pub const MARKER: &str = "pending_delegation";
/// The session that used the skill: another one has nothing to do with it.
pub const SESSION: &str = "session";

/// Skills and the agents that they stand for.
const SKILLS: &[(&str, &str)] =
    &[("sdlc", "sdlc-orchestrator"), ("isdlc", "sdlc-orchestrator"), ("discover", table::DISCOVERY)];
/// So much of its arguments is kept.
const MOST: usize = 500;
/// What a skill does itself.
const OWN_WORK: &[&str] = &["status", "analyze", "help"];

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    Ok(noted(event, workspace).unwrap_or_else(Opinion::unconcerned))
}

fn noted(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let Kind::AfterTool(call) = &event.kind else { return None };
    let skill = SkillUse::of(&call.tool)?;
    let (_, required) = SKILLS.iter().find(|(name, _)| *name == skill.name)?;
    // An agent may have done it as a part of the skill.
    if OWN_WORK.contains(&skill.verb.as_str()) || call.outcome.report.is_some() {
        return None;
    }
    // The agent itself may look at its skill.
    let here = event.agent.as_ref().and_then(|agent| agent.kind.as_deref()).map(table::agent);
    if here.as_deref() == Some(*required) {
        return None;
    }
    let ground = Ground::of(event, workspace)?;
    ground.state(workspace)?;
    let arguments = bounded(&skill.arguments, MOST);
    let marker = json!({
        "skill": skill.name,
        "required_agent": required,
        "invoked_at": workspace.now(),
        "args": arguments,
        SESSION: event.session,
    });
    ground.notes.add(move |state| state.set(MARKER, &marker));
    let text = format!(
        "MANDATORY DELEGATION REQUIRED: the skill `/{}` is done by the agent `{required}`. The turn does not \
         end before that agent was given the work. Arguments: {}",
        skill.name,
        if arguments.is_empty() { "(none)" } else { &arguments }
    );
    let evidence = vec![format!("/{} stands for {required}", skill.name)];
    Some(Opinion { to_model: Some(text), evidence, ..Opinion::default() })
}

//! `skill-delegation-enforcer`: a skill that requires an agent leaves a marker until that agent has worked.

use super::phase_change::SkillUse;
use super::prelude::*;
use provost_core::text::truncate_utf16;

pub const PENDING_DELEGATION: &str = "pending_delegation";
/// The field of the marker for the session that used the skill: the marker does not concern other sessions.
pub const SESSION_FIELD: &str = "session";

/// Skills and the agents that they require.
const SKILLS: &[(&str, &str)] = &[
    ("sdlc", phase_names::ORCHESTRATOR),
    ("isdlc", phase_names::ORCHESTRATOR),
    ("discover", phase_names::DISCOVERY),
];
/// Verbs for which the skill needs no agent.
const OWN_WORK: &[&str] = &["status", "analyze", "help"];
/// The marker has at most so much of the skill's arguments.
const LONGEST: usize = 500;

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let EventKind::AfterTool(call) = &event.kind else { return None };
    let skill = SkillUse::parse(&call.tool)?;
    let (_, required) = SKILLS.iter().find(|(name, _)| *name == skill.name)?;
    // A skill with a report has run an agent itself.
    if OWN_WORK.contains(&skill.verb.as_str()) || call.outcome.report.is_some() {
        return None;
    }
    // The agent itself may use its skill.
    let caller =
        event.agent.as_ref().and_then(|agent| agent.kind.as_deref()).map(phase_names::canonical_agent_name);
    if caller.as_deref() == Some(*required) {
        return None;
    }
    let context = WorkflowContext::find(event, workspace)?;
    context.state(workspace)?;
    let arguments = truncate_utf16(&skill.arguments, LONGEST);
    let marker = json!({
        "skill": skill.name,
        "required_agent": required,
        "invoked_at": workspace.format_now(),
        "args": arguments,
        SESSION_FIELD: event.session,
    });
    context.changes.add(move |state| state.set(PENDING_DELEGATION, &marker));
    let text = format!(
        "MANDATORY DELEGATION REQUIRED: the skill `/{}` is done by the agent `{required}`. The turn does not \
         end before that agent was given the work. Arguments: {}",
        skill.name,
        if arguments.is_empty() { "(none)" } else { &arguments }
    );
    let evidence = vec![format!("/{} stands for {required}", skill.name)];
    Some(Opinion { to_model: Some(text), evidence, ..Opinion::default() })
}

//! Which work a call gives to agents, and to which phase that work belongs.
//!
//! The agent that the call names decides, not the prompt: an agent in the manifest works in its phase,
//! even if the prompt mentions another one, and any other agent works in no phase. If the call names no agent,
//! or if there is no manifest, the words of the prompt decide, without what it says not to do.

use super::clauses::{has_phrase, is_about_setup, split_clauses};
use super::instructions::cut_at_negation;
use super::manifest::AgentManifest;
use super::phase_names::PhaseSet;
use super::prelude::*;
use provost_core::effect::Effect;

/// Work that a call gives to an agent, with any tool.
#[derive(Debug)]
pub struct Assignment {
    /// The agent's canonical name, if the call names one.
    pub agent: Option<String>,
    /// The prompt and its description.
    pub texts: Vec<String>,
    /// The agent was started before and gets more work.
    pub is_message: bool,
}

impl Assignment {
    /// Whether an event may give work to an agent. A cheap check before [`Self::find_all`].
    pub fn is_possible(event: &Event, workspace: &Workspace) -> bool {
        match event.call().map(|call| &call.tool) {
            Some(Tool::Shell { command }) => command.contains(workspace.client.reviewer().program),
            Some(Tool::Delegate { .. } | Tool::Skill { .. } | Tool::Message { .. }) => true,
            _ => false,
        }
    }

    pub fn find_all(event: &Event, workspace: &Workspace) -> Vec<Self> {
        let client = workspace.client;
        let assign = |agent: Option<&str>, texts: &[&Option<String>], is_message: bool| Self {
            agent: canonical_name(agent),
            texts: texts.iter().filter_map(|text| (*text).clone()).collect(),
            is_message,
        };
        match event.call().map(|call| &call.tool) {
            Some(Tool::Delegate { agent, prompt, description, .. }) => {
                vec![assign(agent.as_deref(), &[prompt, description], false)]
            }
            Some(Tool::Skill { name: Some(name), arguments }) => {
                let agent = workspace.find_forked_agent(name);
                agent.iter().map(|agent| assign(Some(agent), &[arguments], false)).collect()
            }
            Some(Tool::Message { to: Some(to), text }) => {
                let transcript = event.transcript.as_deref();
                let agent =
                    transcript.and_then(|transcript| (client.transcripts().find_recipient)(to, transcript));
                agent.iter().map(|agent| assign(Some(agent), &[text], true)).collect()
            }
            Some(Tool::Shell { .. }) if Self::is_possible(event, workspace) => {
                let agents = event.effects().iter().filter_map(|effect| match effect {
                    Effect::Run { program, arguments, .. } => (client.find_started_agent)(program, arguments),
                    _ => None,
                });
                agents.map(|agent| assign(Some(&agent), &[], false)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Work for a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delegation {
    pub phase: String,
    /// The agent's canonical name, if there is one.
    pub agent: Option<String>,
    /// Other phases that the prompt names, if only the prompt is known.
    pub also: Vec<String>,
}

impl Delegation {
    /// The phase that an assignment belongs to.
    pub fn detect(assignment: &Assignment, manifest: Option<&AgentManifest>) -> Option<Self> {
        match (&assignment.agent, manifest) {
            (Some(agent), Some(manifest)) => {
                let phase = manifest.find_agent_phase(agent).filter(|phase| is_of_workflow(phase))?;
                Some(Self { phase: phase.to_owned(), agent: Some(agent.clone()), also: Vec::new() })
            }
            (Some(agent), None) if phase_names::is_outside_phases(agent) => None,
            _ => Self::detect_in_text(assignment, manifest),
        }
    }

    /// The phase that the prompt names, or whose agent it names.
    fn detect_in_text(assignment: &Assignment, manifest: Option<&AgentManifest>) -> Option<Self> {
        let clauses: Vec<_> = assignment.texts.iter().flat_map(|text| split_clauses(text)).collect();
        if clauses.iter().any(|clause| is_about_setup(clause)) {
            return None;
        }
        let clauses: Vec<&[String]> = clauses.iter().map(|clause| cut_at_negation(clause)).collect();
        let is_named = |name: &str| {
            let name = phase_names::hyphenate(name);
            let apart = name.replace('-', " ");
            let has_name =
                |words: &&[String]| words.contains(&name) || apart != name && has_phrase(words, &apart);
            clauses.iter().any(has_name)
        };
        let agents = manifest.into_iter().flat_map(AgentManifest::agents);
        let agents = agents.filter(|(name, phase)| is_of_workflow(phase) && is_named(name));
        let agents = agents.map(|(name, phase)| (phase, Some(name.to_owned())));
        let words = clauses.iter().flat_map(|words| words.iter()).map(String::as_str);
        let phases = words.filter(|word| PhaseSet::from_name(word).is_some()).map(|phase| (phase, None));
        let mut named = agents.chain(phases);
        let (phase, agent) = named.next()?;
        let also = named.map(|(phase, _)| phase.to_owned()).collect();
        Some(Self { phase: phase.to_owned(), agent, also })
    }

    /// Whether the work may belong to this phase: a prompt for it can name other phases for their results.
    pub fn may_belong_to(&self, phase: &str) -> bool {
        std::iter::once(&self.phase).chain(&self.also).any(|own| phase_names::is_same_phase(own, phase))
    }
}

/// Whether an agent's phase is one of a workflow: some agents work in all phases, and some before any.
fn is_of_workflow(phase: &str) -> bool {
    phase != "all" && phase != "setup"
}

fn canonical_name(agent: Option<&str>) -> Option<String> {
    agent.map(phase_names::canonical_agent_name).filter(|agent| !agent.is_empty())
}

/// The answer of an agent.
pub struct AgentReply<'e> {
    /// The agent's canonical name, if the event names one.
    pub agent: Option<String>,
    /// The prompt and its description; empty if the event does not have them.
    pub prompts: [&'e str; 2],
    pub text: &'e str,
}

impl<'e> AgentReply<'e> {
    /// An agent in the foreground ends with two events: its stop, and the result of its call, which counts.
    /// An agent in the background only has a stop.
    pub fn from_event(event: &'e Event) -> Option<Self> {
        let (agent, prompts, text) = match &event.kind {
            EventKind::AfterTool(call) => {
                let Tool::Delegate { agent, prompt, description, .. } = &call.tool else { return None };
                let prompts = [prompt, description].map(|part| part.as_deref().unwrap_or_default());
                (agent.as_deref(), prompts, call.outcome.text.as_deref())
            }
            EventKind::SubagentStop(stopping) if stopping.is_in_background => {
                let agent = event.agent.as_ref().and_then(|agent| agent.kind.as_deref());
                (agent, [""; 2], stopping.last_message.as_deref())
            }
            _ => return None,
        };
        let text = text.filter(|text| !text.trim().is_empty())?;
        Some(Self { agent: canonical_name(agent), prompts, text })
    }

    pub fn is_from_discovery(&self) -> bool {
        self.agent.as_deref().is_some_and(phase_names::is_discovery)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> AgentManifest {
        let owners = json!({"sdlc-orchestrator": {"phase": "all"}, "discover-orchestrator": {"phase": "setup"},
            "requirements-analyst": {"phase": "01-requirements"}, "software-developer": {"phase": "06-implementation"},
            "qa-engineer": {"phase": "08-code-review"}, "legacy-engineer": {"phase": "05-implementation"}});
        AgentManifest::parse(json!({"ownership": owners}).to_string().as_bytes()).unwrap()
    }

    fn call(agent: Option<&str>, prompt: &str, description: &str) -> Assignment {
        let agent = agent.map(phase_names::canonical_agent_name).filter(|agent| !agent.is_empty());
        Assignment { agent, texts: vec![prompt.into(), description.into()], is_message: false }
    }

    fn phase(assignment: &Assignment) -> Option<String> {
        Delegation::detect(assignment, Some(&manifest())).map(|delegation| delegation.phase)
    }

    #[test]
    fn an_agent_in_the_manifest_works_in_its_phase_whatever_the_prompt_says() {
        for agent in ["software-developer", "developer", "05_software_developer", "isdlc:software-developer"]
        {
            for prompt in ["go", "the initial status", "01-requirements", "tell qa-engineer", "run discover"]
            {
                assert_eq!(phase(&call(Some(agent), prompt, "")).as_deref(), Some("06-implementation"));
            }
        }
        for agent in ["sdlc-orchestrator", "discovery", "general-purpose", "Explore"] {
            assert_eq!(
                phase(&call(Some(agent), "do 06-implementation with qa-engineer", "")),
                None,
                "{agent}"
            );
        }
    }

    #[test]
    fn without_an_agent_the_prompt_decides() {
        let phase_in = |text: &str| phase(&call(None, text, ""));
        assert_eq!(phase_in("Let the qa-engineer look").as_deref(), Some("08-code-review"));
        assert_eq!(phase_in("start phase 06-implementation.").as_deref(), Some("06-implementation"));
        assert_eq!(phase(&call(Some("  "), "", "07-testing")).as_deref(), Some("07-testing"));
        // The first in the manifest counts, not the first in the text.
        assert_eq!(phase_in("qa-engineer, after requirements-analyst").as_deref(), Some("01-requirements"));
    }

    /// Each of these was an out-of-order delegation, or switched the guards off.
    #[test]
    fn a_word_that_only_looks_like_a_phase_is_not_one() {
        for text in [
            "read docs/01-requirements/spec.md",
            "release v10-alpha",
            "on 2026-02-15-ish",
            "99-foo",
            "the aqa-engineers",
            "phase 06",
            "qa-engineer.md",
            "set up the constitution for 06-implementation",
            "mend it so that we can advance to 07-testing",
            "",
        ] {
            assert_eq!(phase(&call(None, text, "")), None, "{text}");
        }
        for text in ["the initial definition of 06-implementation", "reinstall for 06-implementation"] {
            assert!(phase(&call(None, text, "")).is_some(), "{text}");
        }
    }

    #[test]
    fn without_a_manifest_only_names_of_phases_count() {
        let named = Some(Delegation { phase: "06-implementation".into(), agent: None, also: Vec::new() });
        for agent in [None, Some("software-developer"), Some("general-purpose"), Some("mine")] {
            assert_eq!(Delegation::detect(&call(agent, "06-implementation", ""), None), named, "{agent:?}");
            assert_eq!(Delegation::detect(&call(agent, "the qa-engineer", ""), None), None, "{agent:?}");
        }
        for agent in ["sdlc-orchestrator", "discover-orchestrator", "discover", "d3"] {
            assert_eq!(
                Delegation::detect(&call(Some(agent), "06-implementation", ""), None),
                None,
                "{agent}"
            );
        }
    }
}

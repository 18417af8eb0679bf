//! Whether a call hands work to a phase, and to which.
//!
//! What the call says in a field of its own wins over what its prose says: an agent that the manifest
//! knows works in its phase, whatever the prompt mentions, and one that it does not know works in none.
//! Only a call that names no agent is read, word by word, without what it says is not to be done.

use std::collections::HashSet;

use super::advance;
use super::manifest::Manifest;
use super::table::{self, Phases};
use super::words::{clauses, is_setup};
use crate::event::{Event, Kind, Tool};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delegation {
    pub phase: String,
    /// The agent by its own name, where one is named.
    pub agent: Option<String>,
    /// Other phases that the prose names, where only that is known.
    pub also: Vec<String>,
}

impl Delegation {
    /// Whether the work may be of this phase: prose that names it can name others for their results.
    pub fn may_be_of(&self, phase: &str) -> bool {
        std::iter::once(&self.phase).chain(&self.also).any(|own| table::is_same(own, phase))
    }
}

/// The phase that this call hands work to. The manifest is asked for only if it is needed.
pub fn detect<'m>(tool: &Tool, manifest: impl Fn() -> Option<&'m Manifest>) -> Option<Delegation> {
    let Tool::Delegate { agent, prompt, description, .. } = tool else { return None };
    let agent = agent.as_deref().map(table::agent).filter(|agent| !agent.is_empty());
    if let Some(agent) = agent {
        let phase = manifest()?.phase_of(&agent).filter(|phase| is_of_workflow(phase))?;
        return Some(Delegation { phase: phase.to_owned(), agent: Some(agent), also: Vec::new() });
    }
    let clauses: Vec<_> =
        [prompt, description].into_iter().flatten().flat_map(|text| clauses(text)).collect();
    if clauses.iter().any(|clause| is_setup(clause)) {
        return None;
    }
    let said = || clauses.iter().flat_map(|clause| advance::wanted(clause)).map(String::as_str);
    let all: HashSet<&str> = said().collect();
    let agents = manifest().into_iter().flat_map(Manifest::agents);
    let agents = agents.filter(|(name, phase)| is_of_workflow(phase) && all.contains(&*name.to_lowercase()));
    let agents = agents.map(|(name, phase)| (phase, Some(name.to_owned())));
    let phases = said().filter(|word| Phases::named(word).is_some()).map(|phase| (phase, None));
    let mut named = agents.chain(phases);
    let (phase, agent) = named.next()?;
    Some(Delegation {
        phase: phase.to_owned(),
        agent,
        also: named.map(|(phase, _)| phase.to_owned()).collect(),
    })
}

/// Whether an agent's phase is one of a workflow: some agents work in all, and some before any.
pub fn is_of_workflow(phase: &str) -> bool {
    phase != "all" && phase != "setup"
}

/// An agent has answered.
pub struct Answered<'e> {
    /// By its own name, where it is named.
    pub agent: Option<String>,
    /// What it was told; nothing where the event does not say it.
    pub told: [&'e str; 2],
    pub text: &'e str,
}

impl<'e> Answered<'e> {
    /// The end of an agent that somebody waits for is told twice: it counts where its answer is given
    /// back. Of one in the background only its end is told.
    pub fn of(event: &'e Event) -> Option<Self> {
        let (agent, told, text) = match &event.kind {
            Kind::AfterTool(call) => {
                let Tool::Delegate { agent, prompt, description, .. } = &call.tool else { return None };
                let told = [prompt, description].map(|part| part.as_deref().unwrap_or_default());
                (agent.as_deref(), told, call.outcome.text.as_deref())
            }
            Kind::SubagentStop(stopping) if stopping.in_background => {
                let agent = event.agent.as_ref().and_then(|agent| agent.kind.as_deref());
                (agent, [""; 2], stopping.last_message.as_deref())
            }
            _ => return None,
        };
        let text = text.filter(|text| !text.trim().is_empty())?;
        let agent = agent.map(table::agent).filter(|agent| !agent.is_empty());
        Some(Self { agent, told, text })
    }

    pub fn is_by(&self, agent: &str) -> bool {
        self.agent.as_deref() == Some(agent)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> Manifest {
        let owners = json!({"sdlc-orchestrator": {"phase": "all"}, "discover-orchestrator": {"phase": "setup"},
            "requirements-analyst": {"phase": "01-requirements"}, "software-developer": {"phase": "06-implementation"},
            "qa-engineer": {"phase": "08-code-review"}, "legacy-engineer": {"phase": "05-implementation"}});
        Manifest::read(json!({"ownership": owners}).to_string().as_bytes()).unwrap()
    }

    fn call(agent: Option<&str>, prompt: &str, description: &str) -> Tool {
        Tool::Delegate {
            agent: agent.map(str::to_owned),
            prompt: Some(prompt.into()),
            description: Some(description.into()),
            background: None,
            is_isolated: false,
            native_input: serde_json::Map::new(),
        }
    }

    fn phase(tool: &Tool) -> Option<String> {
        let manifest = manifest();
        detect(tool, || Some(&manifest)).map(|delegation| delegation.phase)
    }

    #[test]
    fn a_known_agent_works_in_its_phase_whatever_the_prompt_says() {
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
    fn without_an_agent_the_words_are_read() {
        let said = |text: &str| phase(&call(None, text, ""));
        assert_eq!(said("Let the qa-engineer look").as_deref(), Some("08-code-review"));
        assert_eq!(said("start phase 06-implementation.").as_deref(), Some("06-implementation"));
        assert_eq!(phase(&call(Some("  "), "", "07-testing")).as_deref(), Some("07-testing"));
        // As first in the manifest, not in the text.
        assert_eq!(said("qa-engineer, after requirements-analyst").as_deref(), Some("01-requirements"));
    }

    /// Each of these was an out-of-order delegation, or switched the guards off.
    #[test]
    fn what_only_looks_like_a_phase_is_none() {
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
        assert_eq!(detect(&call(Some("software-developer"), "06-implementation", ""), || None), None);
        assert_eq!(detect(&call(None, "the qa-engineer", ""), || None), None);
        let delegation = Delegation { phase: "06-implementation".into(), agent: None, also: Vec::new() };
        assert_eq!(detect(&call(None, "06-implementation", ""), || None), Some(delegation));
        assert_eq!(detect(&Tool::Inert, || None), None);
    }
}

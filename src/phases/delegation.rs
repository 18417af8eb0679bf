//! Whether a call hands work to a phase, and to which.
//!
//! What the call says in a field of its own wins over what its prose says: an agent that the manifest
//! knows works in its phase, whatever the prompt mentions, and one that it does not know works in none.
//! A call that names no agent is read, word by word, without what it says is not to be done; and so is every
//! call where there is no manifest.

use super::manifest::Manifest;
use super::orders;
use super::table::{self, Phases};
use super::words::{clauses, has_phrase, is_setup};
use crate::effect::Effect;
use crate::event::{Event, Kind, Tool};
use crate::workspace::Workspace;

/// Work that a call gives to an agent, by whichever tool.
#[derive(Debug)]
pub struct Assignment {
    /// The agent by its own name, where one is named.
    pub agent: Option<String>,
    /// What it is told: the prompt, and what it is for.
    pub texts: Vec<String>,
    /// It was started before, and is given more work.
    pub is_message: bool,
}

impl Assignment {
    /// Whether an event may give work to an agent, as far as that can be told at a glance.
    pub fn is_possible(event: &Event, workspace: &Workspace) -> bool {
        match event.call().map(|call| &call.tool) {
            Some(Tool::Shell { command }) => command.contains(workspace.client.reviewer.program),
            Some(Tool::Delegate { .. } | Tool::Skill { .. } | Tool::Message { .. }) => true,
            _ => false,
        }
    }

    /// All of an event.
    pub fn all(event: &Event, workspace: &Workspace) -> Vec<Self> {
        let client = workspace.client;
        let of = |agent: Option<&str>, texts: &[&Option<String>], is_message: bool| Self {
            agent: agent.map(table::agent).filter(|agent| !agent.is_empty()),
            texts: texts.iter().filter_map(|text| (*text).clone()).collect(),
            is_message,
        };
        match event.call().map(|call| &call.tool) {
            Some(Tool::Delegate { agent, prompt, description, .. }) => {
                vec![of(agent.as_deref(), &[prompt, description], false)]
            }
            Some(Tool::Skill { name: Some(name), arguments }) => {
                let agent = workspace.forked_agent(name);
                agent.iter().map(|agent| of(Some(agent), &[arguments], false)).collect()
            }
            Some(Tool::Message { to: Some(to), text }) => {
                let transcript = event.transcript.as_deref();
                let agent = transcript.and_then(|transcript| (client.addressee)(to, transcript));
                agent.iter().map(|agent| of(Some(agent), &[text], true)).collect()
            }
            Some(Tool::Shell { .. }) if Self::is_possible(event, workspace) => {
                let played = event.effects().iter().filter_map(|effect| match effect {
                    Effect::Run { program, arguments, .. } => (client.played)(program, arguments),
                    _ => None,
                });
                played.map(|agent| of(Some(&agent), &[], false)).collect()
            }
            _ => Vec::new(),
        }
    }
}

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

/// The phase that an assignment belongs to.
pub fn detect(assignment: &Assignment, manifest: Option<&Manifest>) -> Option<Delegation> {
    match (&assignment.agent, manifest) {
        (Some(agent), Some(manifest)) => {
            let phase = manifest.phase_of(agent).filter(|phase| is_of_workflow(phase))?;
            Some(Delegation { phase: phase.to_owned(), agent: Some(agent.clone()), also: Vec::new() })
        }
        (Some(agent), None) if table::is_beside_phases(agent) => None,
        _ => named_in_text(assignment, manifest),
    }
}

/// The phase that the text names, or whose agent it names.
fn named_in_text(assignment: &Assignment, manifest: Option<&Manifest>) -> Option<Delegation> {
    let clauses: Vec<_> = assignment.texts.iter().flat_map(|text| clauses(text)).collect();
    if clauses.iter().any(|clause| is_setup(clause)) {
        return None;
    }
    let wanted: Vec<&[String]> = clauses.iter().map(|clause| orders::wanted(clause)).collect();
    let is_named = |name: &str| {
        let name = table::spelled_out(name);
        let apart = name.replace('-', " ");
        let is_said = |words: &&[String]| words.contains(&name) || apart != name && has_phrase(words, &apart);
        wanted.iter().any(is_said)
    };
    let agents = manifest.into_iter().flat_map(Manifest::agents);
    let agents = agents.filter(|(name, phase)| is_of_workflow(phase) && is_named(name));
    let agents = agents.map(|(name, phase)| (phase, Some(name.to_owned())));
    let words = wanted.iter().flat_map(|words| words.iter()).map(String::as_str);
    let phases = words.filter(|word| Phases::named(word).is_some()).map(|phase| (phase, None));
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

    /// Whether a discovery has answered.
    pub fn is_discovery(&self) -> bool {
        self.agent.as_deref().is_some_and(table::is_discovery)
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

    fn call(agent: Option<&str>, prompt: &str, description: &str) -> Assignment {
        let agent = agent.map(table::agent).filter(|agent| !agent.is_empty());
        Assignment { agent, texts: vec![prompt.into(), description.into()], is_message: false }
    }

    fn phase(assignment: &Assignment) -> Option<String> {
        detect(assignment, Some(&manifest())).map(|delegation| delegation.phase)
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
        let named = Some(Delegation { phase: "06-implementation".into(), agent: None, also: Vec::new() });
        for agent in [None, Some("software-developer"), Some("general-purpose"), Some("mine")] {
            assert_eq!(detect(&call(agent, "06-implementation", ""), None), named, "{agent:?}");
            assert_eq!(detect(&call(agent, "the qa-engineer", ""), None), None, "{agent:?}");
        }
        for agent in ["sdlc-orchestrator", "discover-orchestrator", "discover", "d3"] {
            assert_eq!(detect(&call(Some(agent), "06-implementation", ""), None), None, "{agent}");
        }
    }
}

//! The manifest: which agent works in which phase.

use super::prelude::*;
use provost_core::raw_object;

pub struct AgentManifest {
    /// Agents and their phases, in the order of the file.
    agents: Vec<(String, String)>,
}

impl AgentManifest {
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        raw_object::collect_texts(bytes, "ownership", "phase").map(|agents| Self { agents })
    }

    /// The phase of an agent. If the manifest has a name twice, the last entry counts.
    pub fn find_agent_phase(&self, agent: &str) -> Option<&str> {
        let found = self.agents.iter().rfind(|(name, _)| phase_names::is_same_agent(name, agent));
        found.map(|(_, phase)| phase.as_str())
    }

    /// Agents and their phases, in the order of the file.
    pub fn agents(&self) -> impl Iterator<Item = (&str, &str)> {
        self.agents.iter().map(|(name, phase)| (name.as_str(), phase.as_str()))
    }

    /// Agents of this phase. The first one leads it.
    pub fn agents_in<'m>(&'m self, phase: &'m str) -> impl Iterator<Item = &'m str> {
        self.agents().filter(move |(_, own)| phase_names::is_same_phase(own, phase)).map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_read_in_order_and_other_fields_are_ignored() {
        let text = r#"{"version": 1, "ownership": {"b": {"skills": [{"id": "x"}], "phase": "02-tracing"},
            "a": {"phase": "02-tracing"}, "c": {"phase": 5}, "d": [1], "e": null, "f": "x", "g": 1.5, "h": true,
            "Q-A": {"phase": "all"}}, "skill_lookup": {"S-1": "a"}}"#;
        let manifest = AgentManifest::parse(text.as_bytes()).unwrap();
        let agents: Vec<_> = manifest.agents().collect();
        assert_eq!(agents, [("b", "02-tracing"), ("a", "02-tracing"), ("Q-A", "all")]);
        assert_eq!(manifest.find_agent_phase("q-a"), Some("all"));
        assert_eq!(manifest.find_agent_phase("z"), None);
        assert_eq!(manifest.agents_in("02-tracing").collect::<Vec<_>>(), ["b", "a"]);
    }

    #[test]
    fn a_manifest_may_have_no_agents_but_must_be_json() {
        assert!(AgentManifest::parse(b"{}").unwrap().agents().next().is_none());
        assert!(AgentManifest::parse(b"{\"ownership\": null}").unwrap().agents().next().is_none());
        assert!(AgentManifest::parse(b"nonsense").is_none());
    }
}

//! The manifest: which agent works in which phase.

use super::table;
use crate::json_object;

pub struct Manifest {
    /// Agents and their phases, in the order of the file.
    agents: Vec<(String, String)>,
}

impl Manifest {
    pub fn read(bytes: &[u8]) -> Option<Self> {
        json_object::texts_below(bytes, "ownership", "phase").map(|agents| Self { agents })
    }

    /// The phase of an agent, by its own name. Of a name that stands twice, the last one counts.
    pub fn phase_of(&self, agent: &str) -> Option<&str> {
        let found = self.agents.iter().rfind(|(name, _)| table::is_same_agent(name, agent));
        found.map(|(_, phase)| phase.as_str())
    }

    /// Agents and their phases, in the order of the file.
    pub fn agents(&self) -> impl Iterator<Item = (&str, &str)> {
        self.agents.iter().map(|(name, phase)| (name.as_str(), phase.as_str()))
    }

    /// Agents of this phase, the one that leads it first.
    pub fn agents_in<'m>(&'m self, phase: &'m str) -> impl Iterator<Item = &'m str> {
        self.agents().filter(move |(_, own)| table::is_same(own, phase)).map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_read_in_their_order_whatever_stands_beside_them() {
        let text = r#"{"version": 1, "ownership": {"b": {"skills": [{"id": "x"}], "phase": "02-tracing"},
            "a": {"phase": "02-tracing"}, "c": {"phase": 5}, "d": [1], "e": null, "f": "x", "g": 1.5, "h": true,
            "Q-A": {"phase": "all"}}, "skill_lookup": {"S-1": "a"}}"#;
        let manifest = Manifest::read(text.as_bytes()).unwrap();
        let agents: Vec<_> = manifest.agents().collect();
        assert_eq!(agents, [("b", "02-tracing"), ("a", "02-tracing"), ("Q-A", "all")]);
        assert_eq!(manifest.phase_of("q-a"), Some("all"));
        assert_eq!(manifest.phase_of("z"), None);
        assert_eq!(manifest.agents_in("02-tracing").collect::<Vec<_>>(), ["b", "a"]);
    }

    #[test]
    fn a_manifest_without_agents_is_one_and_no_json_is_none() {
        assert!(Manifest::read(b"{}").unwrap().agents().next().is_none());
        assert!(Manifest::read(b"{\"ownership\": null}").unwrap().agents().next().is_none());
        assert!(Manifest::read(b"nonsense").is_none());
    }
}

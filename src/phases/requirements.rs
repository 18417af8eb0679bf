//! What a phase demands before the workflow may leave it, and how far it has come.
//!
//! The demands come from the workflow's configuration, in whichever numbering it has; a kind of workflow
//! may change some of them. How far a phase has come stands in the state. Nothing in either is required:
//! a demand that cannot be read is none, and progress that cannot be read has not begun.

use serde_json::{Map, Value};

use super::ground::Ground;
use super::state::{State, named};
use super::table;
use crate::json_object::JsonObject;
use crate::workspace::Workspace;

/// So many tries are given where nothing else is said.
const TEST_TRIES: u64 = 10;
const ARTICLE_TRIES: u64 = 5;
/// The same error so many times in a row means that trying again does not help.
const SAME_ERRORS: u64 = 3;

/// Where the records of a phase lie in it.
pub const TESTS: &[&str] = &["iteration_requirements", "test_iteration"];
pub const TALKS: &[&str] = &["iteration_requirements", "interactive_elicitation"];
pub const CONSTITUTION: &[&str] = &["constitutional_validation"];

/// What a phase demands. What is switched off is `None`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Demands {
    pub tests: Option<Tests>,
    pub constitution: Option<Constitution>,
    pub talks: Option<Talks>,
    /// An agent of the phase must have worked in it.
    pub agent: bool,
    /// Whoever passes its gate is asked where to deploy.
    pub asks_for_cloud: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Tests {
    pub tries: u64,
    pub same_errors: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Constitution {
    pub tries: u64,
    pub articles: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Talks {
    /// One of these must be the person's last choice; none: any will do.
    pub last_choices: Vec<String>,
}

/// How far a phase has come. What has not begun is `None`.
#[derive(Debug, Default)]
pub struct Progress {
    pub tests: Option<TestRecord>,
    pub constitution: Option<ArticleRecord>,
    pub talks: Option<TalkRecord>,
}

#[derive(Debug)]
pub struct TestRecord {
    pub is_completed: bool,
    /// It is called completed, and by its own counter nobody has tried.
    pub is_faked: bool,
    pub escalation: Escalation,
    pub failed_last: bool,
    pub iteration: u64,
    pub tries: Option<u64>,
}

#[derive(Debug)]
pub struct ArticleRecord {
    pub is_completed: bool,
    /// It is called completed, and by its own counter nobody has tried.
    pub is_faked: bool,
    pub escalation: Escalation,
    pub is_compliant: bool,
    pub used: u64,
}

#[derive(Debug)]
pub struct TalkRecord {
    pub is_completed: bool,
    /// It is called completed, and by its own counter nobody has tried.
    pub is_faked: bool,
    pub last_choice: Option<String>,
}

/// Whether a person was asked to decide, and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escalation {
    None,
    Pending,
    Approved,
}

/// Whether the workflow's own checks are switched off.
pub fn are_off(state: &State) -> bool {
    state.is(&["iteration_enforcement", "enabled"], false)
}

impl Demands {
    /// What this phase demands in the workflow that is under way; `None`: nothing is known of it.
    pub fn of(phase: &str, state: &State, ground: &Ground, workspace: &Workspace) -> Option<Self> {
        let kind = state.workflow().and_then(|workflow| workflow.kind.as_deref());
        Self::read(ground.requirements(workspace)?, kind, phase)
    }

    fn read(file: &Value, workflow: Option<&str>, phase: &str) -> Option<Self> {
        let (_, demands) = named(file["phase_requirements"].as_object()?, phase)?;
        let mut demands = demands.as_object()?.clone();
        let changes = workflow.and_then(|kind| file["workflow_overrides"][kind].as_object());
        // The configuration that was shipped names the phases of these in another numbering than the
        // rest, so that none of them ever counted.
        if let Some((_, Value::Object(changes))) = changes.and_then(|changes| named(changes, phase)) {
            merge(&mut demands, changes);
        }
        let on = |name: &str| demands.get(name).filter(|demand| demand["enabled"] == true);
        Some(Self {
            tests: on("test_iteration").map(|demand| Tests {
                tries: count(&demand["max_iterations"]).unwrap_or(TEST_TRIES),
                same_errors: count(&demand["circuit_breaker_threshold"]).unwrap_or(SAME_ERRORS),
            }),
            constitution: on("constitutional_validation").map(|demand| Constitution {
                tries: count(&demand["max_iterations"]).unwrap_or(ARTICLE_TRIES),
                articles: texts(&demand["articles"]),
            }),
            talks: on("interactive_elicitation").map(|demand| Talks {
                last_choices: texts(&demand["required_final_selection"])
                    .iter()
                    .flat_map(|choices| choices.split('|'))
                    .map(|choice| choice.trim().to_lowercase())
                    .collect(),
            }),
            agent: on("agent_delegation_validation").is_some(),
            asks_for_cloud: demands
                .get("on_gate_pass")
                .is_some_and(|then| then["trigger_cloud_config"] == true),
        })
    }
}

impl Progress {
    pub fn of(phase: &str, state: &State) -> Self {
        let Some((_, phase)) = state.phase(phase) else { return Self::default() };
        let at = |path: &[&str]| path.iter().try_fold(phase, |value, name| value.get(name))?.as_object();
        Self {
            tests: at(TESTS).map(TestRecord::of),
            constitution: at(CONSTITUTION).map(ArticleRecord::of),
            talks: at(TALKS).map(TalkRecord::of),
        }
    }
}

impl TestRecord {
    fn of(fields: &Map<String, Value>) -> Self {
        Self {
            is_completed: is(fields, "completed"),
            is_faked: is_faked(fields, "current_iteration"),
            escalation: Escalation::of(fields),
            failed_last: word(fields, "last_test_result") == Some("failed"),
            iteration: fields.get("current_iteration").and_then(Value::as_u64).unwrap_or(0),
            tries: fields.get("max_iterations").and_then(count),
        }
    }

    /// Whether the tests are no reason to stay: they passed, or a person said so.
    pub fn is_enough(&self) -> bool {
        match self.escalation {
            Escalation::None => self.is_completed && !self.is_faked,
            Escalation::Pending => false,
            Escalation::Approved => true,
        }
    }
}

impl ArticleRecord {
    fn of(fields: &Map<String, Value>) -> Self {
        Self {
            is_completed: is(fields, "completed"),
            is_faked: is_faked(fields, "iterations_used"),
            escalation: Escalation::of(fields),
            is_compliant: word(fields, "status") == Some("compliant"),
            used: fields.get("iterations_used").and_then(Value::as_u64).unwrap_or(0),
        }
    }

    pub fn is_enough(&self) -> bool {
        match self.escalation {
            Escalation::None => self.is_completed && self.is_compliant && !self.is_faked,
            Escalation::Pending => false,
            Escalation::Approved => true,
        }
    }
}

impl TalkRecord {
    fn of(fields: &Map<String, Value>) -> Self {
        let last_choice = word(fields, "final_selection").map(str::to_lowercase);
        let is_faked = is_faked(fields, "menu_interactions");
        Self { is_completed: is(fields, "completed"), is_faked, last_choice }
    }
}

impl Escalation {
    fn of(fields: &Map<String, Value>) -> Self {
        match (word(fields, "status") == Some("escalated"), is(fields, "escalation_approved")) {
            (false, _) => Self::None,
            (true, false) => Self::Pending,
            (true, true) => Self::Approved,
        }
    }
}

/// The name under which the state knows a phase, or the phase's own.
pub fn key(state: &JsonObject, phase: &str) -> String {
    let phases = state.object("phases").unwrap_or_default();
    if phases.has(phase) {
        return phase.to_owned();
    }
    let other = phases.names().find(|name| table::is_same(name, phase)).map(str::to_owned);
    other.unwrap_or_else(|| phase.to_owned())
}

/// Changes a record of a phase, or makes it. What is there and is no record stays, and so does what cannot
/// be read.
pub fn change(
    state: &mut JsonObject,
    phase: &str,
    at: &[&str],
    change: impl FnOnce(&mut Map<String, Value>),
) {
    let key = key(state, phase);
    let path: Vec<&str> = ["phases", &key].into_iter().chain(at.iter().copied()).collect();
    let mut record = match state.get_at(&path) {
        Some(Value::Object(record)) => record,
        None if state.is_unreadable(&path) => return,
        None | Some(Value::Null) => Map::new(),
        Some(_) => return,
    };
    change(&mut record);
    state.set_at(&path, &Value::Object(record));
}

/// Puts a value into a record, unless something of another type is there.
pub fn put(record: &mut Map<String, Value>, name: &str, value: Value) {
    let old = record.get(name).unwrap_or(&Value::Null);
    if old.is_null() || value.is_null() || std::mem::discriminant(old) == std::mem::discriminant(&value) {
        record.insert(name.to_owned(), value);
    }
}

/// The same behind a list of which only the last ones are kept.
pub fn put_behind(record: &mut Map<String, Value>, name: &str, value: Value, most: usize) {
    if let Value::Array(list) = record.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
        list.push(value);
        list.drain(..list.len().saturating_sub(most));
    }
}

/// The articles of a phase as a person says them.
pub fn articles(articles: &[String]) -> String {
    if articles.is_empty() { "[all]".into() } else { format!("[{}]", articles.join(", ")) }
}

/// Lays changes over what is there, object by object.
fn merge(into: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (name, change) in changes {
        match (into.get_mut(name), change) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            _ => drop(into.insert(name.clone(), change.clone())),
        }
    }
}

fn is(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get(name) == Some(&Value::Bool(true))
}

/// A counter that is missing proves nothing: not everybody writes it.
fn is_faked(fields: &Map<String, Value>, counter: &str) -> bool {
    is(fields, "completed") && fields.get(counter).and_then(Value::as_f64).is_some_and(|count| count < 1.0)
}

fn word<'f>(fields: &'f Map<String, Value>, name: &str) -> Option<&'f str> {
    fields.get(name)?.as_str()
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| *count > 0)
}

/// One text, or a list of them.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn demands_are_found_under_each_numbering_and_changed_by_the_workflow() {
        let file = json!({
            "phase_requirements": {"06-implementation": {
                "test_iteration": {"enabled": true, "max_iterations": 10, "circuit_breaker_threshold": 4},
                "constitutional_validation": {"enabled": true, "articles": ["I", 2, "II"]},
                "interactive_elicitation": {"enabled": true, "required_final_selection": "Save | continue"},
                "agent_delegation_validation": {"enabled": true},
                "on_gate_pass": {"trigger_cloud_config": true}}},
            "workflow_overrides": {"fix": {"05-implementation": {
                "test_iteration": {"max_iterations": 2}, "constitutional_validation": {"enabled": false}}}},
        });
        let plain = Demands::read(&file, Some("feature"), "05-implementation").unwrap();
        assert_eq!(plain.tests, Some(Tests { tries: 10, same_errors: 4 }));
        let articles = vec!["I".to_owned(), "II".to_owned()];
        assert_eq!(plain.constitution, Some(Constitution { tries: ARTICLE_TRIES, articles }));
        assert_eq!(plain.talks, Some(Talks { last_choices: vec!["save".into(), "continue".into()] }));
        assert!(plain.agent && plain.asks_for_cloud);
        let fix = Demands::read(&file, Some("fix"), "06-implementation").unwrap();
        assert_eq!(fix.tests, Some(Tests { tries: 2, same_errors: 4 }));
        assert_eq!(fix.constitution, None);
        assert_eq!(Demands::read(&file, None, "07-testing"), None);
    }

    #[test]
    fn demands_of_wrong_types_are_none() {
        for file in [
            json!(null),
            json!([]),
            json!({"phase_requirements": []}),
            json!({"phase_requirements": {"07-testing": 5}}),
        ] {
            assert_eq!(Demands::read(&file, Some("fix"), "07-testing"), None, "{file}");
        }
        let odd = json!({"phase_requirements": {"07-testing": {"test_iteration": true,
            "constitutional_validation": {"enabled": "yes"}, "interactive_elicitation": [], "on_gate_pass": 1}},
            "workflow_overrides": {"fix": {"07-testing": "x"}}});
        assert_eq!(Demands::read(&odd, Some("fix"), "07-testing"), Some(Demands::default()));
    }

    #[test]
    fn a_record_of_another_type_is_not_overwritten() {
        let mut state = JsonObject::read(
            br#"{"phases": {"05-implementation": {"a": {"n": "x", "m": 1}, "b": 5, "c": {"o": 1e999}}}}"#,
        )
        .unwrap();
        for at in [&["a"], &["b"], &["c"]] {
            change(&mut state, "06-implementation", at, |record| {
                put(record, "n", json!(1));
                put(record, "m", json!(2));
                put_behind(record, "n", json!(1), 1);
                put_behind(record, "l", json!(1), 1);
                put_behind(record, "l", json!(2), 1);
            });
        }
        assert_eq!(
            state.get_readable(&["phases"]),
            Some(json!({"05-implementation": {"a": {"n": "x", "m": 2, "l": [2]}, "b": 5, "c": {"o": null}}}))
        );
        assert!(state.text().contains("1e999"));
    }
}

//! The state of a workflow, read field by field as guards ask for it.
//!
//! Nothing in it is required: what is missing or of another type is `None`.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::table;
use crate::json_object::JsonObject;

pub struct State {
    object: JsonObject,
    workflow: OnceLock<Option<Workflow>>,
    phases: OnceLock<Map<String, Value>>,
}

/// A workflow that is under way.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Workflow {
    pub kind: Option<String>,
    pub current_phase: Option<String>,
    pub current_phase_index: Option<usize>,
    /// Its phases in their order.
    pub phases: Vec<String>,
    /// The branch that its work belongs on.
    pub branch: Option<WorkBranch>,
    pub atdd_mode: bool,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct WorkBranch {
    pub name: Option<String>,
    pub is_active: bool,
}

impl State {
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let object = JsonObject::read(bytes).ok()?;
        Some(Self { object, workflow: OnceLock::new(), phases: OnceLock::new() })
    }

    /// Any field, by its path.
    pub fn value(&self, path: &[&str]) -> Option<Value> {
        self.object.get_readable(path)
    }

    /// Whether a switch stands on exactly this.
    pub fn is(&self, path: &[&str], value: bool) -> bool {
        self.value(path) == Some(Value::Bool(value))
    }

    /// The workflow that is under way; `None`: there is none.
    pub fn workflow(&self) -> Option<&Workflow> {
        self.workflow.get_or_init(|| Workflow::of(&self.object.get_readable(&["active_workflow"])?)).as_ref()
    }

    /// The phase that the work is in. The workflow knows it best; one that has ended is in none, even if
    /// its last phase is left over in the state.
    pub fn current_phase(&self) -> Option<String> {
        let workflow = self.workflow();
        if workflow.is_none() && self.object.has("active_workflow") {
            return None;
        }
        let of_workflow = workflow.and_then(|workflow| workflow.current_phase.clone());
        of_workflow.or_else(|| text(&self.object.get("current_phase")?))
    }

    /// What is known of every phase, by its name.
    pub fn phases(&self) -> &Map<String, Value> {
        self.phases.get_or_init(|| match self.object.get_readable(&["phases"]) {
            Some(Value::Object(phases)) => phases,
            _ => Map::new(),
        })
    }

    /// What is known of a phase, under whichever of its names, and that name.
    pub fn phase(&self, name: &str) -> Option<(&str, &Value)> {
        named(self.phases(), name)
    }
}

impl Workflow {
    fn of(value: &Value) -> Option<Self> {
        let fields = value.as_object()?;
        let list = |value: &Value| value.as_array().map(|list| list.iter().filter_map(text).collect());
        Some(Self {
            kind: fields.get("type").and_then(text),
            current_phase: fields.get("current_phase").and_then(text),
            current_phase_index: fields
                .get("current_phase_index")
                .and_then(Value::as_u64)
                .and_then(|index| usize::try_from(index).ok()),
            phases: fields.get("phases").and_then(list).unwrap_or_default(),
            branch: fields.get("git_branch").and_then(WorkBranch::of),
            atdd_mode: fields.get("atdd_mode") == Some(&Value::Bool(true)),
        })
    }
}

impl WorkBranch {
    fn of(value: &Value) -> Option<Self> {
        let fields = value.as_object()?;
        Some(Self {
            name: fields.get("name").and_then(text),
            is_active: fields.get("status").and_then(Value::as_str) == Some("active"),
        })
    }
}

/// The entry of a phase under its own name, or else under another of its names, and that name.
pub fn named<'m>(phases: &'m Map<String, Value>, name: &str) -> Option<(&'m str, &'m Value)> {
    let own = phases.get_key_value(name);
    let found = own.or_else(|| phases.iter().find(|(other, _)| table::is_same(other, name)));
    found.map(|(name, value)| (name.as_str(), value))
}

/// A text that says something.
fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> State {
        State::read(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_workflow_is_read_with_its_branch() {
        let state = of(&json!({"current_phase": "01-requirements", "active_workflow": {
            "type": "feature", "current_phase": "06-implementation", "current_phase_index": 5,
            "phases": ["05-test-strategy", "06-implementation"], "atdd_mode": true,
            "git_branch": {"name": "feature/x", "status": "active"}}}));
        let workflow = state.workflow().unwrap();
        assert_eq!(workflow.kind.as_deref(), Some("feature"));
        assert_eq!(
            (workflow.current_phase_index, workflow.phases.len(), workflow.atdd_mode),
            (Some(5), 2, true)
        );
        let branch = WorkBranch { name: Some("feature/x".into()), is_active: true };
        assert_eq!(workflow.branch, Some(branch));
        assert_eq!(state.current_phase().as_deref(), Some("06-implementation"));
    }

    #[test]
    fn a_workflow_that_has_ended_is_in_no_phase() {
        let phase = |state: Value| of(&state).current_phase();
        assert_eq!(phase(json!({"active_workflow": null, "current_phase": "06-implementation"})), None);
        assert_eq!(
            phase(json!({"current_phase": "06-implementation"})).as_deref(),
            Some("06-implementation")
        );
        assert!(phase(json!({"active_workflow": {}, "current_phase": "06-implementation"})).is_some());
    }

    #[test]
    fn wrong_types_are_none() {
        for workflow in [json!(null), json!([]), json!("x"), json!(5)] {
            assert!(of(&json!({"active_workflow": workflow})).workflow().is_none());
        }
        let odd = of(&json!({"active_workflow": {"type": 1, "current_phase": [], "current_phase_index": -1,
            "phases": {"a": 1}, "git_branch": "main", "atdd_mode": "true"}, "phases": [], "current_phase": 7}));
        assert_eq!(odd.workflow(), Some(&Workflow::default()));
        assert!(odd.current_phase().is_none() && odd.phases().is_empty());
        for text in ["", "null", "[]", "5", "{", "\"x\""] {
            assert!(State::read(text.as_bytes()).is_none(), "{text}");
        }
    }

    /// As a script leaves it that cuts a text in the middle of a character.
    #[test]
    fn a_text_that_cannot_be_read_hides_no_phase() {
        let text = r#"{"phases": {"07-testing": {"status": "in_progress", "last_error": "x \ud83d"}},
            "active_workflow": {"current_phase": "07-testing", "description": "\udc00"}}"#;
        let state = State::read(text.as_bytes()).unwrap();
        assert_eq!(state.phase("07-testing").unwrap().1["status"], "in_progress");
        assert_eq!(state.current_phase().as_deref(), Some("07-testing"));
    }

    #[test]
    fn a_phase_is_found_under_each_of_its_names() {
        let state = of(&json!({"phases": {"05-implementation": {"status": "in_progress"}, "07-testing": 1}}));
        let (name, phase) = state.phase("06-implementation").unwrap();
        assert_eq!((name, &phase["status"]), ("05-implementation", &json!("in_progress")));
        assert!(state.phase("01-requirements").is_none());
        assert!(!state.is(&["phases", "x"], true));
        assert_eq!(state.value(&["phases", "07-testing"]), Some(json!(1)));
    }
}

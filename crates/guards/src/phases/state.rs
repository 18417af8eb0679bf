//! The state of a workflow, parsed field by field as guards ask for it.
//!
//! No field is required: a field that is missing or has another type is `None`.

use super::prelude::*;
use std::sync::OnceLock;

use provost_core::raw_object::RawObject;

pub struct WorkflowState {
    object: RawObject,
    workflow: OnceLock<Option<Workflow>>,
    phases: OnceLock<Map<String, Value>>,
}

/// The workflow that is running.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Workflow {
    pub kind: Option<String>,
    pub current_phase: Option<String>,
    pub current_phase_index: Option<usize>,
    /// In their order.
    pub phases: Vec<String>,
    pub branch: Option<WorkBranch>,
    pub atdd_mode: bool,
}

/// The branch that the workflow's commits belong on.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct WorkBranch {
    pub name: Option<String>,
    pub is_active: bool,
}

impl WorkflowState {
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let object = RawObject::parse(bytes).ok()?;
        Some(Self { object, workflow: OnceLock::new(), phases: OnceLock::new() })
    }

    pub fn read_value(&self, path: &[&str]) -> Option<Value> {
        self.object.get_readable(path)
    }

    /// The entries of a list; none if there is no list.
    pub fn read_list(&self, path: &[&str]) -> Vec<Value> {
        match self.read_value(path) {
            Some(Value::Array(entries)) => entries,
            _ => Vec::new(),
        }
    }

    /// Whether a switch has exactly this value.
    pub fn has_flag(&self, path: &[&str], value: bool) -> bool {
        self.read_value(path) == Some(Value::Bool(value))
    }

    /// `None` if no workflow is running.
    pub fn workflow(&self) -> Option<&Workflow> {
        self.workflow.get_or_init(|| Workflow::parse(&self.read_value(&["active_workflow"])?)).as_ref()
    }

    /// The phase that the work is in, as the workflow names it or else the state. A workflow that has ended
    /// is in no phase, even if the state still names its last one.
    pub fn current_phase(&self) -> Option<String> {
        let workflow = self.workflow();
        if workflow.is_none() && self.object.has_field("active_workflow") {
            return None;
        }
        let in_workflow = workflow.and_then(|workflow| workflow.current_phase.clone());
        in_workflow.or_else(|| parse_text(&self.object.get("current_phase")?))
    }

    /// The records of all phases, by their names.
    pub fn phases(&self) -> &Map<String, Value> {
        self.phases.get_or_init(|| match self.read_value(&["phases"]) {
            Some(Value::Object(phases)) => phases,
            _ => Map::new(),
        })
    }

    /// The record of a phase, and the name under which the state has it.
    pub fn find_phase_record(&self, name: &str) -> Option<(&str, &Value)> {
        find_phase(self.phases(), name)
    }
}

impl Workflow {
    fn parse(value: &Value) -> Option<Self> {
        let fields = value.as_object()?;
        let text = |name: &str| fields.get(name).and_then(parse_text);
        let branch = fields.get("git_branch").and_then(Value::as_object).map(|branch| WorkBranch {
            name: branch.get("name").and_then(parse_text),
            is_active: branch.get("status").and_then(Value::as_str) == Some("active"),
        });
        let phases = fields.get("phases").and_then(Value::as_array).into_iter().flatten();
        let index = fields.get("current_phase_index").and_then(Value::as_u64);
        Some(Self {
            kind: text("type"),
            current_phase: text("current_phase"),
            current_phase_index: index.and_then(|index| usize::try_from(index).ok()),
            phases: phases.filter_map(parse_text).collect(),
            branch,
            atdd_mode: fields.get("atdd_mode") == Some(&Value::Bool(true)),
        })
    }
}

/// The entry of a phase under this name, or else under another name of the same phase.
pub fn find_phase<'m>(phases: &'m Map<String, Value>, name: &str) -> Option<(&'m str, &'m Value)> {
    let exact = phases.get_key_value(name);
    let found = exact.or_else(|| phases.iter().find(|(other, _)| phase_names::is_same_phase(other, name)));
    found.map(|(name, value)| (name.as_str(), value))
}

/// A value inside another one.
pub fn find_value<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// A text that is not blank, without the white space around it.
fn parse_text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(value: &Value) -> WorkflowState {
        WorkflowState::parse(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_workflow_is_read_with_its_branch() {
        let state = parse(&json!({"current_phase": "01-requirements", "active_workflow": {
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
        let phase = |state: Value| parse(&state).current_phase();
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
            assert!(parse(&json!({"active_workflow": workflow})).workflow().is_none());
        }
        let odd = parse(
            &json!({"active_workflow": {"type": 1, "current_phase": [], "current_phase_index": -1,
            "phases": {"a": 1}, "git_branch": "main", "atdd_mode": "true"}, "phases": [], "current_phase": 7}),
        );
        assert_eq!(odd.workflow(), Some(&Workflow::default()));
        assert!(odd.current_phase().is_none() && odd.phases().is_empty());
        for text in ["", "null", "[]", "5", "{", "\"x\""] {
            assert!(WorkflowState::parse(text.as_bytes()).is_none(), "{text}");
        }
    }

    /// A script that cuts a text in the middle of a character leaves half of a surrogate pair.
    #[test]
    fn an_unreadable_text_hides_no_phase() {
        let text = r#"{"phases": {"07-testing": {"status": "in_progress", "last_error": "x \ud83d"}},
            "active_workflow": {"current_phase": "07-testing", "description": "\udc00"}}"#;
        let state = WorkflowState::parse(text.as_bytes()).unwrap();
        assert_eq!(state.find_phase_record("07-testing").unwrap().1["status"], "in_progress");
        assert_eq!(state.current_phase().as_deref(), Some("07-testing"));
    }

    #[test]
    fn a_phase_is_found_under_each_of_its_names() {
        let state =
            parse(&json!({"phases": {"05-implementation": {"status": "in_progress"}, "07-testing": 1}}));
        let (name, phase) = state.find_phase_record("06-implementation").unwrap();
        assert_eq!((name, &phase["status"]), ("05-implementation", &json!("in_progress")));
        assert!(state.find_phase_record("01-requirements").is_none());
        assert!(!state.has_flag(&["phases", "x"], true));
        assert_eq!(state.read_value(&["phases", "07-testing"]), Some(json!(1)));
    }
}

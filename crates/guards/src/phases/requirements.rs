//! What a phase requires before the workflow may leave it, and how far it has come.
//!
//! The requirements come from the workflow's configuration, in any of the numberings; a kind of workflow may
//! override some of them. The progress of a phase is in the state. No field of either is required: a
//! requirement that cannot be read is off, and progress that cannot be read has not begun.

use super::prelude::*;

use super::state::{WorkflowState, find_phase, find_value};
use provost_core::workspace::Workspace;

/// Limits where the configuration sets none: how often tests and checks may be tried, and how often the same
/// error may repeat.
const TEST_TRIES: u64 = 10;
const ARTICLE_TRIES: u64 = 5;
const SAME_ERRORS: u64 = 3;

/// Where a phase keeps its records.
pub const TEST_RECORD: &[&str] = &["iteration_requirements", "test_iteration"];
pub const ELICITATION_RECORD: &[&str] = &["iteration_requirements", "interactive_elicitation"];
pub const CONSTITUTION_RECORD: &[&str] = &["constitutional_validation"];

/// The counter of tries in each record.
pub const TEST_COUNTER: &str = "current_iteration";
pub const ELICITATION_COUNTER: &str = "menu_interactions";
pub const CONSTITUTION_COUNTER: &str = "iterations_used";

/// What a phase requires. `None`: switched off.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PhaseRequirements {
    pub tests: Option<TestRequirement>,
    pub constitution: Option<ConstitutionRequirement>,
    pub elicitation: Option<ElicitationRequirement>,
    /// An agent of the phase must have worked in it.
    pub needs_agent: bool,
    /// The user is asked where to deploy once the gate is passed.
    pub asks_for_cloud: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestRequirement {
    pub tries: u64,
    pub same_errors: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub struct ConstitutionRequirement {
    pub tries: u64,
    pub articles: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct ElicitationRequirement {
    /// The user's last choice must be one of these; if empty, any choice will do.
    pub last_choices: Vec<String>,
}

/// How far a phase has come. `None`: not begun.
#[derive(Debug, Default)]
pub struct PhaseProgress {
    pub tests: Option<RequirementRecord>,
    pub constitution: Option<RequirementRecord>,
    pub elicitation: Option<RequirementRecord>,
}

/// What the state records about one requirement of a phase.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the requirement")]
#[derive(Debug)]
pub struct RequirementRecord {
    pub is_completed: bool,
    /// Marked as completed although its own counter says that nobody tried.
    pub is_faked: bool,
    pub escalation: EscalationStatus,
    pub tries_used: u64,
    pub max_tries: Option<u64>,
    /// The last test run failed.
    pub last_test_failed: bool,
    /// The check of the constitution ended well.
    pub is_compliant: bool,
    /// What the user chose last, in lower case.
    pub last_choice: Option<String>,
    needs_compliance: bool,
}

/// Whether the user was asked to approve that a requirement is not met, and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EscalationStatus {
    None,
    Pending,
    Approved,
}

/// Whether the workflow's own checks are switched off.
pub fn are_checks_off(state: &WorkflowState) -> bool {
    state.has_flag(&["iteration_enforcement", "enabled"], false)
}

impl PhaseRequirements {
    /// What this phase requires in the running workflow; `None`: the configuration does not have the phase.
    pub fn find(
        phase: &str,
        state: &WorkflowState,
        context: &WorkflowContext,
        workspace: &Workspace,
    ) -> Option<Self> {
        let kind = state.workflow().and_then(|workflow| workflow.kind.as_deref());
        Self::parse(context.requirements(workspace)?, kind, phase)
    }

    fn parse(file: &Value, workflow: Option<&str>, phase: &str) -> Option<Self> {
        let (_, demands) = find_phase(file["phase_requirements"].as_object()?, phase)?;
        let mut demands = demands.as_object()?.clone();
        let overrides = workflow.and_then(|kind| file["workflow_overrides"][kind].as_object());
        // The configuration that ships with the workflow numbers the phases of its overrides differently.
        if let Some((_, Value::Object(overrides))) = overrides.and_then(|all| find_phase(all, phase)) {
            merge_fields(&mut demands, overrides);
        }
        let enabled = |name: &str| demands.get(name).filter(|demand| demand["enabled"] == true);
        Some(Self {
            tests: enabled("test_iteration").map(|demand| TestRequirement {
                tries: parse_count(&demand["max_iterations"]).unwrap_or(TEST_TRIES),
                same_errors: parse_count(&demand["circuit_breaker_threshold"]).unwrap_or(SAME_ERRORS),
            }),
            constitution: enabled("constitutional_validation").map(|demand| ConstitutionRequirement {
                tries: parse_count(&demand["max_iterations"]).unwrap_or(ARTICLE_TRIES),
                articles: parse_texts(&demand["articles"]),
            }),
            elicitation: enabled("interactive_elicitation").map(|demand| ElicitationRequirement {
                last_choices: parse_texts(&demand["required_final_selection"])
                    .iter()
                    .flat_map(|choices| choices.split('|'))
                    .map(|choice| choice.trim().to_lowercase())
                    .collect(),
            }),
            needs_agent: enabled("agent_delegation_validation").is_some(),
            asks_for_cloud: demands
                .get("on_gate_pass")
                .is_some_and(|then| then["trigger_cloud_config"] == true),
        })
    }
}

impl PhaseProgress {
    pub fn read(phase: &str, state: &WorkflowState) -> Self {
        let Some((_, phase)) = state.find_phase_record(phase) else { return Self::default() };
        let read = |path: &[&str], counter: &str| {
            find_value(phase, path)?.as_object().map(|fields| RequirementRecord::read(fields, counter))
        };
        Self {
            tests: read(TEST_RECORD, TEST_COUNTER),
            constitution: read(CONSTITUTION_RECORD, CONSTITUTION_COUNTER),
            elicitation: read(ELICITATION_RECORD, ELICITATION_COUNTER),
        }
    }
}

impl RequirementRecord {
    fn read(fields: &Map<String, Value>, counter: &str) -> Self {
        let is = |name: &str| fields.get(name) == Some(&Value::Bool(true));
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let count = fields.get(counter);
        Self {
            is_completed: is("completed"),
            // A missing counter proves nothing: not everybody writes it.
            is_faked: is("completed") && count.and_then(Value::as_f64).is_some_and(|count| count < 1.0),
            escalation: match (text("status") == Some("escalated"), is("escalation_approved")) {
                (false, _) => EscalationStatus::None,
                (true, false) => EscalationStatus::Pending,
                (true, true) => EscalationStatus::Approved,
            },
            tries_used: count.and_then(Value::as_u64).unwrap_or(0),
            max_tries: fields.get("max_iterations").and_then(parse_count),
            last_test_failed: text("last_test_result") == Some("failed"),
            is_compliant: text("status") == Some("compliant"),
            last_choice: text("final_selection").map(str::to_lowercase),
            needs_compliance: counter == CONSTITUTION_COUNTER,
        }
    }

    /// Whether the workflow may leave the phase: the requirement is met, or the user approved that it is not.
    pub fn is_enough(&self) -> bool {
        match self.escalation {
            EscalationStatus::None => {
                self.is_completed && !self.is_faked && (self.is_compliant || !self.needs_compliance)
            }
            EscalationStatus::Pending => false,
            EscalationStatus::Approved => true,
        }
    }
}

/// The articles of a phase, for a message.
pub fn list_articles(articles: &[String]) -> String {
    if articles.is_empty() { "[all]".into() } else { format!("[{}]", articles.join(", ")) }
}

/// Overwrites fields with those of another object, and merges objects in both.
fn merge_fields(into: &mut Map<String, Value>, overrides: &Map<String, Value>) {
    for (name, value) in overrides {
        match (into.get_mut(name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge_fields(old, new),
            _ => drop(into.insert(name.clone(), value.clone())),
        }
    }
}

fn parse_count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| *count > 0)
}

/// One text, or a list of texts.
fn parse_texts(value: &Value) -> Vec<String> {
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
    fn requirements_are_found_in_each_numbering_and_overridden_by_the_workflow() {
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
        let plain = PhaseRequirements::parse(&file, Some("feature"), "05-implementation").unwrap();
        assert_eq!(plain.tests, Some(TestRequirement { tries: 10, same_errors: 4 }));
        let articles = vec!["I".to_owned(), "II".to_owned()];
        assert_eq!(plain.constitution, Some(ConstitutionRequirement { tries: ARTICLE_TRIES, articles }));
        assert_eq!(
            plain.elicitation,
            Some(ElicitationRequirement { last_choices: vec!["save".into(), "continue".into()] })
        );
        assert!(plain.needs_agent && plain.asks_for_cloud);
        let fix = PhaseRequirements::parse(&file, Some("fix"), "06-implementation").unwrap();
        assert_eq!(fix.tests, Some(TestRequirement { tries: 2, same_errors: 4 }));
        assert_eq!(fix.constitution, None);
        assert_eq!(PhaseRequirements::parse(&file, None, "07-testing"), None);
    }

    #[test]
    fn requirements_of_wrong_types_are_off() {
        for file in [
            json!(null),
            json!([]),
            json!({"phase_requirements": []}),
            json!({"phase_requirements": {"07-testing": 5}}),
        ] {
            assert_eq!(PhaseRequirements::parse(&file, Some("fix"), "07-testing"), None, "{file}");
        }
        let odd = json!({"phase_requirements": {"07-testing": {"test_iteration": true,
            "constitutional_validation": {"enabled": "yes"}, "interactive_elicitation": [], "on_gate_pass": 1}},
            "workflow_overrides": {"fix": {"07-testing": "x"}}});
        assert_eq!(
            PhaseRequirements::parse(&odd, Some("fix"), "07-testing"),
            Some(PhaseRequirements::default())
        );
    }
}

//! `gate-blocker`: the workflow moves on only when its phase has met its requirements.

use super::phase_change::{DelegationText, find_phase_change};
use super::prelude::*;
use super::requirements::{
    ConstitutionRequirement, ElicitationRequirement, EscalationStatus, PhaseRequirements, RequirementRecord,
    list_articles,
};
use super::{log_skill_usage, phase_records};
use provost_core::raw_object::RawObject;
use provost_core::text::clip_line;

/// A requirement that is not met.
struct UnmetRequirement {
    requirement: &'static str,
    reason: String,
    action: &'static str,
}

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    // Only agents that lead others pass gates.
    let find = |text: &DelegationText| text.find_advance().filter(|_| text.is_to_leader());
    let (phase, words) = find_phase_change(event, workspace, find)?;
    // Without requirements there is no gate.
    phase.context.requirements(workspace)?;
    if let Some(opinion) = deny_mismatch(event, &phase) {
        return Some(opinion);
    }
    let demands = phase.demands()?;
    let missing = find_missing(&phase, &demands);
    let name = &phase.name;
    let mut evidence = vec![format!("the call says `{words}`")];
    let Some(first) = missing.first() else {
        if demands.asks_for_cloud && phase_names::is_same_phase(name, "07-testing") {
            request_cloud_choice(&phase);
        }
        evidence.push(format!("{name} meets its requirements"));
        return Some(Opinion { evidence, ..Opinion::default() });
    };
    record_missing(&phase, &missing);
    let list = |part: fn(&UnmetRequirement) -> String| missing.iter().map(part).collect::<Vec<_>>();
    let details = list(|missing| format!("{}: {}", missing.requirement, missing.reason));
    let more = match missing.len() {
        1 => String::new(),
        all => format!(" (and {} more)", all - 1),
    };
    let gate = phase_names::gate_name(name);
    let names = list(|missing| missing.requirement.to_owned()).join(", ");
    let actions = list(|missing| missing.action.to_owned()).join("; ");
    let denial = PhaseDenial {
        heading: format!("GATE BLOCKED: {name} does not meet {gate}, missing {names}"),
        why: format!("{gate} is closed: {}{more}", clip_line(&first.reason, 60)),
        fix: format!("{actions}. Missing: {}", details.join("; ")),
    };
    evidence.extend(details);
    Some(denial.deny(event, evidence))
}

/// Denies the call if the current phase is not the one at the workflow's index. If the order of the phases is
/// not known, nothing is denied.
fn deny_mismatch(event: &Event, phase: &CurrentPhase) -> Option<Opinion> {
    let workflow = phase.state.workflow()?;
    let (kind, index) = (workflow.kind.as_deref()?, workflow.current_phase_index?);
    let workflows = phase.context.workflows(phase.workspace)?;
    let expected = workflows["workflows"][kind]["phases"].get(index)?.as_str()?;
    let name = &phase.name;
    if phase_names::is_same_phase(expected, name) {
        return None;
    }
    let denial = PhaseDenial {
        heading: "GATE BLOCKED: Workflow state mismatch".into(),
        why: format!(
            "the state says {}, but its index {index} means {}",
            quote_name(name),
            quote_name(expected)
        ),
        fix: format!(
            "make them agree: `active_workflow.current_phase` and `active_workflow.current_phase_index`. Phase \
             {index} of a {kind} workflow is {expected}"
        ),
    };
    let evidence = format!("phase {index} of a {kind} workflow is {expected}, and the state says {name}");
    Some(denial.deny(event, vec![evidence]))
}

fn find_missing(phase: &CurrentPhase, demands: &PhaseRequirements) -> Vec<UnmetRequirement> {
    let progress = phase.progress();
    let mut missing = Vec::new();
    let mut add = |requirement, action, reason: Option<String>| {
        missing.extend(reason.map(|reason| UnmetRequirement { requirement, reason, action }));
    };
    if demands.tests.is_some() {
        add("test_iteration", "run the tests until they pass", explain_tests(progress.tests.as_ref()));
    }
    if let Some(demand) = &demands.constitution {
        let action = "check the artifacts, and record the result for these articles";
        add("constitutional_validation", action, explain_articles(demand, progress.constitution.as_ref()));
    }
    if let Some(demand) = &demands.elicitation {
        let action = "show the user the menu and let them choose";
        add("interactive_elicitation", action, explain_talks(demand, progress.elicitation.as_ref()));
    }
    if demands.needs_agent {
        add("agent_delegation", "delegate to an agent of this phase", explain_idle_agents(phase));
    }
    missing
}

fn explain_tests(record: Option<&RequirementRecord>) -> Option<String> {
    Some(match record {
        None => "the tests have not been run".into(),
        Some(tests) if tests.is_enough() => return None,
        Some(tests) if tests.escalation == EscalationStatus::Pending => {
            "the tests were given up, and the user has not approved that".into()
        }
        Some(tests) if tests.is_faked => "the tests are marked as completed, but were never run".into(),
        Some(tests) => format!("the tests do not pass yet (iteration {})", tests.tries_used),
    })
}

fn explain_articles(demand: &ConstitutionRequirement, record: Option<&RequirementRecord>) -> Option<String> {
    let articles = list_articles(&demand.articles);
    Some(match record {
        None => format!("Articles {articles} have not been checked"),
        Some(checks) if checks.is_enough() => return None,
        Some(checks) if checks.escalation == EscalationStatus::Pending => {
            "the check was given up, and the user has not approved that".into()
        }
        Some(checks) if checks.is_faked => "the check is marked as completed, but was never made".into(),
        Some(checks) if !checks.is_completed => format!("Articles {articles} are being checked"),
        Some(_) => "the check is over, but its status is not `compliant`".into(),
    })
}

fn explain_talks(demand: &ElicitationRequirement, record: Option<&RequirementRecord>) -> Option<String> {
    let wanted = &demand.last_choices;
    Some(match record {
        None => "the user has not been asked".into(),
        Some(talks) if !talks.is_completed => "the user's choices are not complete".into(),
        Some(talks) if talks.is_faked => {
            "the choice is marked as completed, but the user was never asked".into()
        }
        Some(_) if wanted.is_empty() => return None,
        Some(talks) => match &talks.last_choice {
            Some(choice) if wanted.contains(choice) => return None,
            choice => {
                let choice = choice.as_deref().unwrap_or("not known");
                format!("the user's last choice is {choice}, not {}", wanted.join(" or "))
            }
        },
    })
}

/// Whether no agent of this phase has worked. Any of them will do: a phase can have several, and which one
/// the manifest names first is chance.
fn explain_idle_agents(phase: &CurrentPhase) -> Option<String> {
    let agents: Vec<&str> = phase.context.manifest(phase.workspace)?.agents_in(&phase.name).collect();
    let first = agents.first()?;
    let has_worked = |entry: &Value| {
        let worker = entry["agent"].as_str().map(phase_names::canonical_agent_name);
        worker.is_some_and(|worker| agents.iter().any(|agent| phase_names::is_same_agent(agent, &worker)))
    };
    let is_idle = !phase.state.read_list(log_skill_usage::LOG).iter().any(has_worked);
    is_idle.then(|| format!("no agent of this phase has worked ({first})"))
}

/// Records why the gate is closed.
fn record_missing(phase: &CurrentPhase, missing: &[UnmetRequirement]) {
    let names: Vec<&str> = missing.iter().map(|missing| missing.requirement).collect();
    let details: Vec<Value> = missing
        .iter()
        .map(|missing| {
            json!({"requirement": missing.requirement, "satisfied": false, "reason": missing.reason,
                "action_required": missing.action})
        })
        .collect();
    let fields = [
        ("status", json!("blocked")),
        ("blocked_at", json!(phase.workspace.format_now())),
        ("blocking_requirements", json!(names)),
        ("details", json!(details)),
    ];
    phase.change_record(&["gate_validation"], move |record| {
        record.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    });
    phase.record_escalation("gate_blocked", "gate-blocker", &format!("not met: {}", names.join(", ")));
}

/// Leaves a request to choose where to deploy, unless that is decided or requested already.
fn request_cloud_choice(phase: &CurrentPhase) {
    const TRIGGERS: &[&str] = &["pending_triggers"];
    const KIND: &str = "cloud_configuration";
    const MOST: usize = 20;
    let entry = json!({"type": KIND, "phase": phase.name, "triggered_at": phase.workspace.format_now()});
    let is_due = |state: &RawObject| {
        let provider = state.get_at(&[KIND, "provider"]);
        let is_open = matches!(provider.as_ref().and_then(Value::as_str), None | Some("" | "undecided"));
        let is_request = |entry: &Value| entry["type"] == KIND;
        let requests = state.get_at(TRIGGERS);
        is_open && !matches!(requests, Some(Value::Array(known)) if known.iter().any(is_request))
    };
    phase.context.changes.add(move |state| {
        if is_due(state) {
            phase_records::append_to_list(state, TRIGGERS, entry.clone(), MOST);
        }
    });
}

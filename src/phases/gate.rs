//! `gate-blocker`: the workflow moves on only when its phase has what it demands.

use serde_json::{Value, json};

use super::advance::{Attempt, Told};
use super::ground::Ground;
use super::requirements::{
    self, ArticleRecord, Constitution, Demands, Escalation, Progress, TalkRecord, Talks, TestRecord,
};
use super::state::State;
use super::table;
use super::{Refused, named};
use super::{records, skill_log};
use crate::decision::{Fault, Opinion};
use crate::event::Event;
use crate::json_object::JsonObject;
use crate::text::clipped;
use crate::workspace::Workspace;

const TRIGGERS: &[&str] = &["pending_triggers"];

/// A demand that is not met.
struct Missing {
    requirement: &'static str,
    reason: String,
    action: &'static str,
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    Ok(held(event, workspace).unwrap_or_else(Opinion::unconcerned))
}

fn held(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    // Whoever leads passes gates; the others work.
    let said = |told: &Told| told.moves_on().filter(|_| told.is_to_leader());
    let Attempt { ground, state, phase, said } = Attempt::of(event, workspace, said)?;
    // Without demands there is no gate at all.
    ground.requirements(workspace)?;
    if let Some(opinion) = mismatch(event, &phase, state, ground, workspace) {
        return Some(opinion);
    }
    let demands = Demands::of(&phase, state, ground, workspace)?;
    let missing = missing(&phase, &demands, state, ground, workspace);
    if missing.is_empty() {
        if demands.asks_for_cloud && table::is_same(&phase, "07-testing") {
            ask_for_cloud(&phase, ground, workspace);
        }
        let evidence = vec![format!("the call says `{said}`"), format!("{phase} has what it demands")];
        return Some(Opinion { evidence, ..Opinion::default() });
    }
    note(&phase, &missing, ground, workspace);
    let list = |part: fn(&Missing) -> String| missing.iter().map(part).collect::<Vec<_>>();
    let details = list(|missing| format!("{}: {}", missing.requirement, missing.reason)).join("; ");
    let more = match missing.len() {
        1 => String::new(),
        all => format!(" (and {} more)", all - 1),
    };
    let gate = table::gate(&phase);
    let names = list(|missing| missing.requirement.to_owned()).join(", ");
    let refused = Refused {
        heading: format!("GATE BLOCKED: {phase} does not meet {gate}, missing {names}"),
        why: format!("{gate} is closed: {}{more}", clipped(&missing[0].reason, 60)),
        fix: format!("{}. Missing: {details}", list(|missing| missing.action.to_owned()).join("; ")),
    };
    let mut evidence = vec![format!("the call says `{said}`")];
    evidence.extend(missing.iter().map(|missing| format!("{}: {}", missing.requirement, missing.reason)));
    Some(super::deny(event, refused, evidence))
}

/// The workflow's own count and the order of its phases must agree. Where there is no such place in the
/// order, nothing can be said.
fn mismatch(
    event: &Event,
    phase: &str,
    state: &State,
    ground: &Ground,
    workspace: &Workspace,
) -> Option<Opinion> {
    let workflow = state.workflow()?;
    let (kind, index) = (workflow.kind.as_deref()?, workflow.current_phase_index?);
    let expected = ground.workflows(workspace)?["workflows"][kind]["phases"].get(index)?.as_str()?;
    if table::is_same(expected, phase) {
        return None;
    }
    let refused = Refused {
        heading: "GATE BLOCKED: Workflow state mismatch".into(),
        why: format!("the state says {}, but its index {index} means {}", named(phase), named(expected)),
        fix: format!(
            "make them agree: `active_workflow.current_phase` and `active_workflow.current_phase_index`. Phase \
             {index} of a {kind} workflow is {expected}"
        ),
    };
    let evidence = format!("phase {index} of a {kind} workflow is {expected}, and the state says {phase}");
    Some(super::deny(event, refused, vec![evidence]))
}

fn missing(
    phase: &str,
    demands: &Demands,
    state: &State,
    ground: &Ground,
    workspace: &Workspace,
) -> Vec<Missing> {
    let progress = Progress::of(phase, state);
    let tests = demands.tests.as_ref().and_then(|_| tests_missing(progress.tests.as_ref()));
    let checks = progress.constitution.as_ref();
    let articles = demands.constitution.as_ref().and_then(|demand| articles_missing(demand, checks));
    let talks = demands.talks.as_ref().and_then(|demand| talks_missing(demand, progress.talks.as_ref()));
    let agent = demands.agent.then(|| idle_agents(phase, state, ground, workspace)).flatten();
    let found = [
        ("test_iteration", tests, "run the tests until they pass"),
        (
            "constitutional_validation",
            articles,
            "check the artifacts, and record the result for these articles",
        ),
        ("interactive_elicitation", talks, "show the user the menu and let them choose"),
        ("agent_delegation", agent, "delegate to an agent of this phase"),
    ];
    let missing = found.into_iter();
    missing
        .filter_map(|(requirement, reason, action)| Some(Missing { requirement, reason: reason?, action }))
        .collect()
}

fn tests_missing(record: Option<&TestRecord>) -> Option<String> {
    match record {
        None => Some("the tests have not been run".into()),
        Some(tests) if tests.is_enough() => None,
        Some(tests) if tests.escalation == Escalation::Pending => {
            Some("the tests were given up, and the user has not approved that".into())
        }
        Some(tests) if tests.is_faked => Some("the tests are marked as completed, but were never run".into()),
        Some(tests) => Some(format!("the tests do not pass yet (iteration {})", tests.iteration)),
    }
}

fn articles_missing(demand: &Constitution, record: Option<&ArticleRecord>) -> Option<String> {
    let articles = requirements::articles(&demand.articles);
    match record {
        None => Some(format!("Articles {articles} have not been checked")),
        Some(checks) if checks.is_enough() => None,
        Some(checks) if checks.escalation == Escalation::Pending => {
            Some("the check was given up, and the user has not approved that".into())
        }
        Some(checks) if checks.is_faked => {
            Some("the check is marked as completed, but was never made".into())
        }
        Some(checks) if !checks.is_completed => Some(format!("Articles {articles} are being checked")),
        Some(_) => Some("the check is over, but its status is not `compliant`".into()),
    }
}

fn talks_missing(demand: &Talks, record: Option<&TalkRecord>) -> Option<String> {
    let choice = match record {
        None => return Some("the user has not been asked".into()),
        Some(talks) if !talks.is_completed => return Some("the user's choices are not complete".into()),
        Some(talks) if talks.is_faked => {
            return Some("the choice is marked as completed, but the user was never asked".into());
        }
        Some(talks) => talks.last_choice.as_ref(),
    };
    let fits = choice.is_some_and(|choice| demand.last_choices.contains(choice));
    (!fits && !demand.last_choices.is_empty()).then(|| {
        let choice = choice.map_or("not known", String::as_str);
        format!("the user's last choice is {choice}, not {}", demand.last_choices.join(" or "))
    })
}

/// That no agent of this phase has worked. Any of them will do: a phase can have several, and which one
/// the manifest names first is chance.
fn idle_agents(phase: &str, state: &State, ground: &Ground, workspace: &Workspace) -> Option<String> {
    let agents: Vec<&str> = ground.manifest(workspace)?.agents_in(phase).collect();
    let first = agents.first()?;
    let log = state.value(skill_log::LOG);
    let worked = log.iter().filter_map(Value::as_array).flatten().filter_map(|entry| entry["agent"].as_str());
    let is_of_phase =
        |name: &str| agents.iter().any(|agent| table::is_same_agent(agent, &table::agent(name)));
    let has_worked = worked.into_iter().any(is_of_phase);
    (!has_worked).then(|| format!("no agent of this phase has worked ({first})"))
}

/// Keeps why the gate is closed.
fn note(phase: &str, missing: &[Missing], ground: &Ground, workspace: &Workspace) {
    let names: Vec<&str> = missing.iter().map(|missing| missing.requirement).collect();
    let details: Vec<Value> = missing
        .iter()
        .map(|missing| {
            json!({"requirement": missing.requirement, "satisfied": false, "reason": missing.reason,
                "action_required": missing.action})
        })
        .collect();
    let record = json!({"status": "blocked", "blocked_at": workspace.now(), "blocking_requirements": names,
        "details": details});
    let escalation = records::Escalation {
        kind: "gate_blocked",
        hook: "gate-blocker",
        phase: phase.to_owned(),
        detail: format!("not met: {}", names.join(", ")),
    };
    let phase = phase.to_owned();
    ground.notes.add(move |state| {
        requirements::change(state, &phase, &["gate_validation"], |old| {
            record
                .as_object()
                .into_iter()
                .flatten()
                .for_each(|(name, value)| drop(old.insert(name.clone(), value.clone())));
        });
    });
    escalation.note(ground, workspace);
}

/// Once the tests are over, somebody must say where to deploy, unless that is decided.
fn ask_for_cloud(phase: &str, ground: &Ground, workspace: &Workspace) {
    const MOST: usize = 20;
    let entry = json!({"type": "cloud_configuration", "phase": phase, "triggered_at": workspace.now()});
    let is_due = |state: &JsonObject| {
        let provider = state.get_at(&["cloud_configuration", "provider"]);
        let is_open = match provider.as_ref().map(Value::as_str) {
            None => true,
            Some(provider) => matches!(provider, None | Some("" | "undecided")),
        };
        let waits = |entry: &Value| entry["type"] == "cloud_configuration";
        let is_asked = matches!(state.get_at(TRIGGERS), Some(Value::Array(known)) if known.iter().any(waits));
        is_open && !is_asked
    };
    ground.notes.add(move |state| {
        if is_due(state) {
            records::push(state, TRIGGERS, entry.clone(), MOST);
        }
    });
}

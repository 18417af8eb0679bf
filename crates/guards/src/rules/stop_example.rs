//! Examples of rules about the end of a turn: `{ stop = true, changed = ["src/a.rs"], ran = ["cargo test"] }`.
//!
//! The session of an example first changes the files and then runs the lines, all with success.

use crate::prelude::*;
use std::path::Path;

use super::changes::{LineStep, find_counted, list_steps};
use super::need::find_missing_run;
use super::scene::Scene;
use provost_core::event::{Event, EventKind};
use provost_core::rules::evidence::{ChangedPath, EvidenceRecord, SessionEvidence};
use provost_core::rules::{Need, NeedEvidence, Rule, RuleAction};
use provost_core::tool::{Tool, ToolCall, ToolOutcome};
use provost_core::workspace::Workspace;

/// Whether a rule would stop the turn, or warn. A check counts as failed unless its line is among those that ran.
pub fn matches_stop_example(rule: &Rule, changed: &[String], ran: &[String], workspace: &Workspace) -> bool {
    if !rule.subject.stops {
        return false;
    }
    let mut evidence = SessionEvidence::default();
    for path in changed {
        let change = ChangedPath::File(workspace.project.join(Path::new(path)));
        evidence.push(EvidenceRecord::Changed { change, call: String::new() });
    }
    let patterns: Vec<&str> = rule.needed_pattern().into_iter().collect();
    for line in ran {
        let event = make_line_event(line, workspace);
        for (_, step) in list_steps(&Scene::for_example(&event, workspace), &patterns) {
            evidence.push(match step {
                LineStep::Change(change) => EvidenceRecord::Changed { change, call: String::new() },
                LineStep::Run(pattern) => {
                    EvidenceRecord::Ran { pattern, has_succeeded: true, call: String::new() }
                }
            });
        }
    }
    let stop = Event::new(String::new(), EventKind::Other, workspace.project.clone());
    let scene = Scene::for_example(&stop, workspace);
    let has_changed = || {
        let patterns = &rule.subject.changed;
        patterns.is_empty() || find_counted(patterns, evidence.list_changes_since(None), &scene).is_some()
    };
    match &rule.action {
        RuleAction::Need(Need { evidence: NeedEvidence::Passed(pattern), .. }) => {
            find_missing_run(rule, &pattern.text, &evidence, &[], &scene).is_some()
        }
        RuleAction::Need(Need { evidence: NeedEvidence::Check { command, .. }, .. }) => {
            has_changed() && !ran.contains(command)
        }
        _ => has_changed(),
    }
}

fn make_line_event(line: &str, workspace: &Workspace) -> Event {
    let call = ToolCall {
        native_tool: String::new(),
        id: None,
        tool: Tool::Shell { command: line.to_owned() },
        outcome: ToolOutcome::default(),
    };
    let mut event = Event::new(String::new(), EventKind::AfterTool(call), workspace.project.clone());
    event.home.clone_from(&workspace.places.home);
    event
}

//! The end of a turn in an example of a rule, with the evidence that the example names.

use crate::prelude::*;
use std::path::PathBuf;

use super::changes::{LineStep, find_counted, list_steps};
use super::need::find_missing_run;
use super::scene::Scene;
use super::stop::concerns_stop;
use provost_core::event::Event;
use provost_core::rules::evidence::{ChangedPath, EvidenceRecord, SessionEvidence};
use provost_core::rules::{NeedEvidence, Rule, RuleAction};
use provost_core::tool::Tool;

/// Whether a rule would stop the end of a turn, or warn about it, after changes of these files, then these calls, which all
/// succeeded, and then so many clean reviews. A check counts as passed if its own command is among the calls.
pub fn matches_stop_example(
    rule: &Rule,
    scene: &Scene<'_>,
    files: &[PathBuf],
    ran: &[Event],
    reviewed: u64,
) -> bool {
    if !concerns_stop(rule, scene.event) {
        return false;
    }
    let recorded_changes: Vec<ChangedPath> =
        files.iter().map(|path| ChangedPath::File(path.clone())).collect();
    let is_concerned = || {
        rule.subject.changed.is_empty()
            || find_counted(&rule.subject.changed, recorded_changes.iter(), scene).is_some()
    };
    match &rule.action {
        RuleAction::Need(need) => match &need.evidence {
            NeedEvidence::Passed(pattern) => {
                let mut evidence = SessionEvidence::default();
                for change in recorded_changes {
                    evidence.push(EvidenceRecord::Changed { change, call: String::new() });
                }
                for event in ran {
                    let run = Scene::for_example(event, scene.workspace);
                    for (_, step) in list_steps(&run, &[&pattern.text]) {
                        let call = String::new();
                        evidence.push(match step {
                            LineStep::Change(change) => EvidenceRecord::Changed { change, call },
                            LineStep::Run(pattern) => {
                                EvidenceRecord::Ran { pattern, has_succeeded: true, call }
                            }
                        });
                    }
                }
                find_missing_run(rule, &pattern.text, &evidence, &[], scene).is_some()
            }
            NeedEvidence::Check { command, .. } => {
                let is_check = |event: &Event| {
                    event.call().is_some_and(
                        |call| matches!(&call.tool, Tool::Shell { command: line, .. } if line == command),
                    )
                };
                is_concerned() && !ran.iter().any(is_check)
            }
            NeedEvidence::Review(need) => is_concerned() && !files.is_empty() && reviewed < need.clean,
        },
        RuleAction::Warn(_) => is_concerned(),
        _ => false,
    }
}

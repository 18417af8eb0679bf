//! `need = { check = … }`: Provost runs the check itself.

use crate::prelude::*;
use std::time::Duration;

use super::changes::find_counted;
use super::need::MissingEvidence;
use super::record;
use super::review;
use super::scene::Scene;
use provost_core::config::Config;
use provost_core::guard::Trigger;
use provost_core::opinion::Fault;
use provost_core::rules::evidence::{EvidenceRecord, SessionEvidence};
use provost_core::rules::{Need, NeedEvidence, Rule, RuleAction};
use provost_core::text::quote_start;

/// What the guard may need beyond the limits of its commands: to look at the files, and to end a command.
const MARGIN: Duration = Duration::from_secs(10);

/// How long the commands of all rules may take at a trigger; `None` if there are none.
pub fn find_time_limit(trigger: Trigger, config: &Config) -> Option<Duration> {
    let limits = config.rules.rules.iter().filter_map(|rule| match (&rule.action, trigger) {
        (RuleAction::Need(Need { evidence: NeedEvidence::Review(need), .. }), trigger) => {
            let is_due = matches!(trigger, Trigger::Stop)
                || trigger == Trigger::SubagentStop && !rule.subject.in_agent.is_empty();
            is_due.then(|| review::find_time_limit(need).as_secs())
        }
        (RuleAction::Need(Need { evidence: NeedEvidence::Check { seconds, .. }, .. }), trigger) => {
            let is_due = match trigger {
                Trigger::Stop | Trigger::SubagentStop => rule.subject.stops,
                Trigger::BeforeAnyTool => !rule.subject.stops,
                _ => false,
            };
            is_due.then_some(*seconds)
        }
        (RuleAction::Run { seconds, .. }, Trigger::AfterWriting | Trigger::AfterShell) => Some(*seconds),
        _ => None,
    });
    let seconds: u64 = limits.sum();
    (seconds > 0).then(|| Duration::from_secs(seconds) + MARGIN)
}

/// Runs a check, unless nothing that counts has changed since it passed. `None` if it passes, or may not run.
pub(super) fn find_failure(
    rule: &Rule,
    (command, seconds): (&str, u64),
    evidence: &SessionEvidence,
    scene: &Scene<'_>,
) -> Result<Option<MissingEvidence>, Fault> {
    if scene.workspace.is_past() {
        scene.workspace.report_unjudged(rule.full_name());
        return Ok(None);
    }
    let changed = &rule.subject.changed;
    let has_changed =
        || find_counted(changed, evidence.list_changes_since_settled(&rule.name), scene).is_some();
    if scene.is_example || !changed.is_empty() && !has_changed() || !scene.workspace.is_trusted(rule) {
        return Ok(None);
    }
    let end = scene.workspace.run_check(command, Duration::from_secs(seconds), scene.event)?;
    if end.has_succeeded {
        if !changed.is_empty() {
            let settled = EvidenceRecord::Settled { rule: rule.name.clone() };
            scene.workspace.append_evidence(record::session(scene.event), &[settled])?;
        }
        return Ok(None);
    }
    let own_fix = rule.fix.as_deref().unwrap_or("fix what it reports");
    Ok(Some(MissingEvidence {
        why: format!("{} {}", quote_start(command), end.how),
        fix: format!("{own_fix}, and then try again{}", describe_output(&end.output)),
    }))
}

/// The end of an output, for the model.
pub(super) fn describe_output(output: &str) -> String {
    if output.is_empty() {
        return String::new();
    }
    format!(". The end of its output:\n{output}\n[provost] end of the output")
}

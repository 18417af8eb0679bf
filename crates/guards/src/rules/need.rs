//! Whether the evidence that a rule needs is there, and what to do where it is not.

use crate::prelude::*;

use super::call::find_last_match;
use super::changes::{LineStep, find_counted, list_commands_before, list_steps};
use super::check;
use super::record;
use super::scene::Scene;
use provost_core::opinion::Fault;
use provost_core::rules::evidence::{ChangedPath, SessionEvidence, WitnessedRun};
use provost_core::rules::{Need, NeedEvidence, Rule};
use provost_core::text::make_one_line;
use provost_shell::pattern::END;

/// Evidence that is missing.
pub(super) struct MissingEvidence {
    pub(super) why: String,
    pub(super) fix: String,
}

/// What is missing for a tool call; `None` if it may continue.
pub(super) fn find_missing_for_call(
    rule: &Rule,
    need: &Need,
    scene: &Scene<'_>,
) -> Result<Option<MissingEvidence>, Fault> {
    match &need.evidence {
        NeedEvidence::Passed(pattern) => {
            let evidence = read_evidence(scene)?;
            let own = list_earlier_changes(rule, scene)?;
            Ok(find_missing_run(rule, &pattern.text, &evidence, &own, scene))
        }
        NeedEvidence::Check { command, seconds } => {
            let evidence = read_evidence(scene)?;
            check::find_failure(rule, (command, *seconds), &evidence, scene)
        }
        // A rule that needs reviews is about the end of a turn only.
        NeedEvidence::Review(_) => Ok(None),
    }
}

pub(super) fn read_evidence(scene: &Scene<'_>) -> Result<SessionEvidence, Fault> {
    let session = record::session(scene.event);
    if scene.is_example || !scene.workspace.has_evidence(session) {
        return Ok(SessionEvidence::default());
    }
    let evidence = scene.workspace.read_evidence(session)?;
    if record::record_ended_tasks(&evidence, session, scene.event, scene.workspace)? {
        return scene.workspace.read_evidence(session);
    }
    Ok(evidence)
}

/// What the command line of a call changes before it does what the rule is about.
fn list_earlier_changes(rule: &Rule, scene: &Scene<'_>) -> Result<Vec<ChangedPath>, Fault> {
    let last = scene.commands().len().saturating_sub(1);
    let target = find_last_match(rule, scene)?.unwrap_or(last);
    let before = list_commands_before(target, scene.event.line());
    let steps = list_steps(scene, &[]).into_iter().filter(|(command, _)| before.contains(command));
    let changes = steps.filter_map(|(_, step)| match step {
        LineStep::Change(change) => Some(change),
        LineStep::Run(_) => None,
    });
    Ok(changes.collect())
}

/// What is missing of a run that must have passed. `more` are changes that are not recorded yet.
pub(super) fn find_missing_run(
    rule: &Rule,
    pattern: &str,
    evidence: &SessionEvidence,
    more: &[ChangedPath],
    scene: &Scene<'_>,
) -> Option<MissingEvidence> {
    let run = evidence.find_last_run(pattern);
    let changes = evidence.list_changes_since(run).chain(more);
    let first = find_counted(&rule.subject.changed, changes, scene);
    if first.is_none() && (!rule.subject.changed.is_empty() || run.is_some_and(|run| run.has_succeeded)) {
        return None;
    }
    let line = build_line(pattern);
    let subject = first.map(|change| describe_change(change, scene));
    let why = match (run, subject) {
        (Some(run), _) if !run.has_succeeded => format!("the last run of `{line}` failed"),
        (Some(_), Some(subject)) => format!("{subject} changed since `{line}` passed"),
        (_, Some(subject)) if !rule.subject.changed.is_empty() => {
            format!("{subject} changed, and `{line}` has not passed since")
        }
        _ => format!("`{line}` has not passed in this session"),
    };
    let own_fix = rule.fix.as_ref().map(|fix| format!("{fix}; ")).unwrap_or_default();
    let fix = format!(
        "{own_fix}run `{line}` in a call of its own, because only its own exit code counts, and then try again"
    );
    Some(MissingEvidence { why, fix })
}

/// The last run that was the evidence of a rule: no file that counts changed before it ended.
pub(super) fn find_last_evidence<'e>(
    rule: &Rule,
    pattern: &str,
    evidence: &'e SessionEvidence,
    scene: &Scene<'_>,
) -> Option<WitnessedRun<'e>> {
    let is_whole = |run: &WitnessedRun<'_>| {
        find_counted(&rule.subject.changed, evidence.list_changes_during(*run), scene).is_none()
    };
    evidence.list_runs(pattern).find(|run| run.has_succeeded && is_whole(run))
}

/// The shortest command line that a pattern matches.
pub(crate) fn build_line(pattern: &str) -> String {
    let words = pattern.split_ascii_whitespace().map(|word| word.split('|').next().unwrap_or(word));
    let words = words.filter(|word| *word != END).map(|word| word.trim_matches('*'));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

pub(crate) fn describe_change(change: &ChangedPath, scene: &Scene<'_>) -> String {
    let Some(path) = change.path() else { return "a file that cannot be known".into() };
    let shown = path.strip_prefix(&scene.workspace.project).unwrap_or(path);
    if shown.as_os_str().is_empty() {
        return "the project".into();
    }
    make_one_line(&shown.to_string_lossy())
}

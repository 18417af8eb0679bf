//! The evidence that `workflow.finish` asks for before an instance is finished.

use crate::prelude::*;
use std::path::Path;

use crate::rules::changes::LineStep;
use crate::rules::need::{build_line, describe_change};
use crate::rules::scene::Scene;
use crate::workflow::ticks::work_log::{WorkRules, is_change_below, list_steps_before, read_log};
use provost_core::opinion::Fault;
use provost_core::rules::evidence::ChangedPath;
use provost_core::text::quote_path_end;

/// Evidence that is missing: why, and how to get it.
pub(crate) struct MissingEvidence {
    pub(crate) why: String,
    pub(crate) fix: String,
}

/// What is missing before a command of the call may finish an instance below this root; `None`: nothing.
pub(crate) fn find_missing_evidence(
    root: &Path,
    command: u32,
    rules: &WorkRules<'_>,
    scene: &Scene<'_>,
) -> Result<Option<MissingEvidence>, Fault> {
    let Some(need) = scene.workspace.config.workflow_finish() else { return Ok(None) };
    if let Some(pattern) = need.passed.as_deref()
        && let Some(missing) = find_missing_run(pattern, root, command, rules, scene)?
    {
        return Ok(Some(missing));
    }
    match need.review {
        Some(wanted) => find_missing_review(wanted, root, rules, scene),
        None => Ok(None),
    }
}

/// The first changed file that so many reviews in a row have not found clean. It runs git.
fn find_missing_review(
    wanted: u64,
    root: &Path,
    rules: &WorkRules<'_>,
    scene: &Scene<'_>,
) -> Result<Option<MissingEvidence>, Fault> {
    let (event, workspace) = (scene.event, scene.workspace);
    let evidence = read_log(event, workspace)?;
    let changes: Vec<&ChangedPath> =
        evidence.list_changes_since(None).filter(|change| is_change_below(change, root)).collect();
    let counts = |path: &Path| (rules.is_work)(&ChangedPath::File(workspace.project.join(path)));
    let session = event.session.as_deref().unwrap_or_default();
    let diff = workspace.diff_session_changes(session, &changes, wanted, &counts)?;
    let Some(file) = diff.files.first() else { return Ok(None) };
    let times = if wanted == 1 { "once".to_owned() } else { format!("{wanted} times in a row") };
    let why = format!("{} was not found clean by a review {times}", quote_path_end(&file.path));
    let fix = "end the turn, so that Provost lets it be reviewed; the user adds the rule for that with `provost init --pack \
               review`";
    Ok(Some(MissingEvidence { why, fix: fix.into() }))
}

fn find_missing_run(
    pattern: &str,
    root: &Path,
    command: u32,
    rules: &WorkRules<'_>,
    scene: &Scene<'_>,
) -> Result<Option<MissingEvidence>, Fault> {
    let is_counted = |change: &ChangedPath| is_change_below(change, root);
    // What the line itself does before may change files, and may run the command.
    let own = list_steps_before(command, rules, scene);
    let own_run = own.iter().rposition(|step| matches!(step, LineStep::Run(name) if name == pattern));
    let mut own_changes = own[own_run.map_or(0, |at| at + 1)..].iter().filter_map(|step| match step {
        LineStep::Change(change) => Some(change),
        LineStep::Run(_) => None,
    });
    let own_change = own_changes.find(|change| is_counted(change));
    if own_run.is_some() && own_change.is_none() {
        return Ok(None);
    }
    let evidence = read_log(scene.event, scene.workspace)?;
    let run = evidence.find_last_run(pattern);
    let change = evidence.list_changes_since(run).find(|change| is_counted(change)).or(own_change);
    let line = build_line(pattern);
    let why = match (run, change) {
        (Some(run), None) if run.has_succeeded => return Ok(None),
        (Some(run), _) if !run.has_succeeded => format!("the last run of `{line}` failed"),
        (Some(_), Some(change)) => {
            format!("{} changed since `{line}` passed", describe_change(change, scene))
        }
        _ => format!("`{line}` has not passed"),
    };
    let fix = format!("run `{line}` in a call of its own until it passes, and then try again");
    Ok(Some(MissingEvidence { why, fix }))
}

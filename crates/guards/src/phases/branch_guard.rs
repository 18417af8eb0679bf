//! `branch-guard`: while a workflow has its own branch, nothing is committed to main.
//!
//! A commit may land on the branches that the command line switches to before it, and on the one that the
//! repository has checked out. If main is one of them, the commit is denied. A merge, a cherry-pick or an
//! update of main counts as far as its arguments say so, and so does a write to the file of the branch main.
//! Other repositories, and a repository that cannot be read, do not concern this guard.

mod new_commits;

use super::prelude::*;
use super::state::WorkBranch;
use crate::branch_finder::{BranchFinder, PossibleBranch, is_main};
use new_commits::{NewCommits, find_reference};
use provost_core::effect::git::UpdatedBranch;
use provost_core::text;
use provost_core::workspace::git_repository::Repository;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    // Most calls commit nothing, so nothing is looked up.
    let effects = event.effects();
    if !effects
        .iter()
        .any(|effect| NewCommits::from_effect(effect).is_some() || find_reference(effect).is_some())
    {
        return Ok(Opinion::unconcerned());
    }
    let Some(context) = WorkflowContext::find(event, workspace) else { return Ok(Opinion::unconcerned()) };
    let workflow = context.state(workspace).and_then(|state| state.workflow());
    let branch = workflow.and_then(|workflow| workflow.branch.as_ref());
    let Some(work_branch) = branch.filter(|branch| branch.is_active) else {
        return Ok(Opinion::unconcerned());
    };
    let Some(own) = workspace.find_repository(context.root()) else {
        return Ok(allow(vec!["the project has no git repository that can be read".into()]));
    };
    let finder = BranchFinder { workspace, own: &own, start: &event.cwd, effects };
    let is_head_written = new_commits::is_head_written(effects, workspace, &own);
    let mut evidence = Vec::new();
    if let Some(name) = new_commits::find_written_branch(effects, workspace, &own)
        && find_excuse(name, work_branch, &own)?.is_none()
    {
        evidence.push(format!("the call writes the file of branch {name}"));
        return Ok(describe_denial(name, true, work_branch).deny(event, evidence));
    }
    for commits in effects.iter().filter_map(NewCommits::from_effect) {
        let mut current = match finder.find_branches(commits.site)? {
            Ok(branches) => branches,
            Err(elsewhere) => {
                evidence.push(elsewhere.into());
                continue;
            }
        };
        if is_head_written {
            current.push(PossibleBranch::Unknown);
        }
        let branches = match commits.branch {
            UpdatedBranch::CheckedOut => current.clone(),
            UpdatedBranch::Named(name) => vec![PossibleBranch::Named(name.clone())],
            UpdatedBranch::Unknown => vec![PossibleBranch::Unknown],
        };
        let is_only = branches.len() == 1;
        let command = commits.command;
        for branch in branches {
            let name = match &branch {
                PossibleBranch::Named(name) if is_main(name) => name,
                PossibleBranch::Unknown => "main",
                PossibleBranch::Named(name) => {
                    evidence.push(text::make_one_line(&format!("git {command} lands on {name}")));
                    continue;
                }
                PossibleBranch::None => {
                    evidence.push("no branch is checked out".into());
                    continue;
                }
            };
            if commits.are_harmless(name, &current, effects, &own)? {
                evidence.push(format!("git {command} gives {name} no new commits"));
                continue;
            }
            if let Some(excuse) = find_excuse(name, work_branch, &own)? {
                evidence.push(excuse.into());
                continue;
            }
            let is_certain = is_only && branch != PossibleBranch::Unknown;
            let verb = if is_certain { "lands" } else { "may land" };
            evidence.push(format!("git {command} {verb} on {name}"));
            return Ok(describe_denial(name, is_certain, work_branch).deny(event, evidence));
        }
    }
    Ok(allow(evidence))
}

/// Why a commit to main does no harm to this workflow.
fn find_excuse(
    branch: &str,
    work_branch: &WorkBranch,
    own: &Repository,
) -> Result<Option<&'static str>, Fault> {
    let Some(name) = work_branch.name.as_deref() else { return Ok(None) };
    let name = name.strip_prefix("refs/heads/").unwrap_or(name);
    if name == branch {
        return Ok(Some("it is the workflow's own branch"));
    }
    // The branch was merged and deleted, and the state still names it. A branch that never existed has to be
    // created.
    let is_gone = !own.has_branch(name)? && own.has_had_branch(name);
    Ok(is_gone.then_some("the workflow's branch was deleted"))
}

fn allow(evidence: Vec<String>) -> Opinion {
    Opinion { evidence, ..Opinion::default() }
}

fn describe_denial(branch: &str, is_certain: bool, work_branch: &WorkBranch) -> PhaseDenial {
    /// No sensible branch name is longer.
    const LONGEST: usize = 200;
    let name = work_branch.name.as_deref();
    let name = name.map(|name| text::truncate_utf16(&text::make_one_line(name), LONGEST).into_owned());
    let (why, fix) = match name {
        None if is_certain => (
            format!("it lands on `{branch}`, not on the feature branch"),
            "`git checkout` the feature branch, then try again".to_owned(),
        ),
        Some(name) if is_certain => {
            let (word, short) =
                (text::quote_for_shell(&name), text::quote_for_model(&text::clip_line(&name, 40)));
            let why = format!("it lands on `{branch}`, not on {short}");
            let fix = format!(
                "switch first: `git checkout {word}`, then try again (`git checkout -b {word}` if the branch does \
                 not exist yet)"
            );
            (why, fix)
        }
        name => {
            let name = name.map_or_else(|| "the feature branch".to_owned(), |name| format!("`{name}`"));
            let fix = format!(
                "switch first, then commit in a call of its own (or join both with `&&`). The work of this \
                 workflow belongs on {name}"
            );
            (format!("it may land on `{branch}`"), fix)
        }
    };
    PhaseDenial { heading: "COMMIT TO MAIN BLOCKED".into(), why, fix }
}

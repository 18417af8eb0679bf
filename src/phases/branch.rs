//! `branch-guard`: while a workflow has a branch of its own, nothing is committed to main.
//!
//! Judged is where a commit may land: on the branches that the command line switches to before, and on the
//! one that the files of the repository name. Where one of the possible branches is main, it is denied. A
//! merge, a cherry-pick or an update of main counts as far as the words say it, and so does a write to the
//! file that is main. A repository that is not the project's, and one that cannot be read, are none of its
//! business.

mod landing;
mod update;

use super::Refused;
use super::ground::Ground;
use super::state::WorkBranch;
use crate::decision::{Fault, Opinion};
use crate::effect::Effect;
use crate::effect::git::UpdatedBranch;
use crate::event::Event;
use crate::text;
use crate::workspace::Workspace;
use crate::workspace::git::Repository;
use landing::{Branch, Landing, Places, is_main};
use update::Update;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    // Most calls commit nothing, and then nothing is looked up.
    let effects = event.effects();
    if !effects
        .iter()
        .any(|effect| Update::of(effect).is_some() || update::written_reference(effect).is_some())
    {
        return Ok(Opinion::unconcerned());
    }
    let Some(ground) = Ground::of(event, workspace) else { return Ok(Opinion::unconcerned()) };
    let workflow = ground.state(workspace).and_then(|state| state.workflow());
    let Some(wanted) =
        workflow.and_then(|workflow| workflow.branch.as_ref()).filter(|branch| branch.is_active)
    else {
        return Ok(Opinion::unconcerned());
    };
    let Some(own) = workspace.repository(ground.root()) else {
        return Ok(noted(vec!["the project is in no repository of git that can be read".into()]));
    };
    let gone = effects.iter().filter_map(|effect| match effect {
        Effect::Delete { path } => Some(path.clone()),
        _ => None,
    });
    let gone: Vec<_> = gone.collect();
    let places = Places { workspace, own: &own, start: &event.cwd, gone: &gone };
    let is_head_written = update::is_head_written(effects, workspace, &own);
    let mut evidence = Vec::new();
    if let Some(name) = update::written_branch(effects, workspace, &own)
        && excuse(name, wanted, &own)?.is_none()
    {
        evidence.push(format!("the file that is {name} is written"));
        return Ok(super::deny(event, refused(name, true, wanted), evidence));
    }
    for update in effects.iter().filter_map(Update::of) {
        let mut current = match places.landing(update.site)? {
            Landing::Elsewhere(why) => {
                evidence.push(why.into());
                continue;
            }
            Landing::On(branches) => branches,
        };
        if is_head_written {
            current.push(Branch::Unknown);
        }
        let branches = match update.branch {
            UpdatedBranch::CheckedOut => current.clone(),
            UpdatedBranch::Named(name) => vec![Branch::Named(name.clone())],
            UpdatedBranch::Unknown => vec![Branch::Unknown],
        };
        let is_certain = branches.len() == 1;
        for branch in branches {
            let name = match &branch {
                Branch::Named(name) if is_main(name) => name,
                Branch::Unknown => "main",
                Branch::Named(name) => {
                    evidence.push(text::one_line(&format!("git {} lands on {name}", update.command)));
                    continue;
                }
                Branch::None => {
                    evidence.push("no branch is checked out".into());
                    continue;
                }
            };
            if update.is_harmless(name, &current, effects, &own)? {
                evidence.push(format!("git {} brings {name} nothing new by its words", update.command));
                continue;
            }
            if let Some(excuse) = excuse(name, wanted, &own)? {
                evidence.push(excuse.into());
                continue;
            }
            let is_certain = is_certain && branch != Branch::Unknown;
            let verb = if is_certain { "lands" } else { "may land" };
            evidence.push(format!("git {} {verb} on {name}", update.command));
            return Ok(super::deny(event, refused(name, is_certain, wanted), evidence));
        }
    }
    Ok(noted(evidence))
}

/// Why a commit to main is no harm to this workflow after all.
fn excuse(branch: &str, wanted: &WorkBranch, own: &Repository) -> Result<Option<&'static str>, Fault> {
    let Some(name) = wanted.name.as_deref() else { return Ok(None) };
    let name = name.strip_prefix("refs/heads/").unwrap_or(name);
    if name == branch {
        return Ok(Some("it is the workflow's own branch"));
    }
    // A branch that was merged and taken away, while the state still names it. One that never was is to be made.
    let is_gone = !own.has_branch(name)? && own.had_branch(name);
    Ok(is_gone.then_some("the workflow's branch was there and is gone"))
}

fn noted(evidence: Vec<String>) -> Opinion {
    Opinion { evidence, ..Opinion::default() }
}

fn refused(branch: &str, is_certain: bool, wanted: &WorkBranch) -> Refused {
    /// No sensible name of a branch is longer.
    const LONGEST: usize = 200;
    let name = wanted.name.as_deref().map(|name| text::bounded(&text::one_line(name), LONGEST).into_owned());
    let belongs = name.as_ref().map_or_else(|| "the feature branch".to_owned(), |name| format!("`{name}`"));
    let fix = match (&name, is_certain) {
        (Some(name), true) => {
            let name = text::shell_word(name);
            format!(
                "switch first: `git checkout {name}`, then try again (`git checkout -b {name}` if the branch does \
                 not exist yet)"
            )
        }
        (None, true) => "`git checkout` the feature branch, then try again".to_owned(),
        (_, false) => format!(
            "switch first, then commit in a call of its own (or join both with `&&`). The work of this workflow \
             belongs on {belongs}"
        ),
    };
    let why = if is_certain {
        let belongs = name.as_ref().map_or(belongs, |name| text::quoted(&text::clipped(name, 40)));
        format!("it lands on `{branch}`, not on {belongs}")
    } else {
        format!("it may land on `{branch}`")
    };
    Refused { heading: "COMMIT TO MAIN BLOCKED".into(), why, fix }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_on_one_clean_line() {
        let name = format!("x\n\u{1b}[2J{}", "y".repeat(10_000));
        let told = refused("main", true, &WorkBranch { name: Some(name), is_active: true });
        let text = told.why + &told.fix;
        assert!(!text.contains(['\n', '\u{1b}']) && text.len() < 2_000, "{text}");
        let told = refused("master", true, &WorkBranch { name: None, is_active: true });
        assert!(told.why.contains("`master`") && told.why.contains("the feature branch"), "{}", told.why);
    }
}

//! `branch-guard`: while a workflow has a branch of its own, nothing is committed to main or master.
//!
//! Where a commit lands is known from the command line, if that switches before, and else from the files
//! of the repository. What cannot be known goes on, and so does a commit in a repository that is not the
//! project's.

use std::path::PathBuf;

use super::ground::Ground;
use super::state::WorkBranch;
use crate::decision::{Denial, Fault, Opinion};
use crate::effect::{Branch, Effect};
use crate::event::Event;
use crate::text;
use crate::workspace::Workspace;
use crate::workspace::git::{Head, Repository};

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    // Most calls commit nothing, and then nothing is looked up.
    let mut commits = event.effects().iter().filter_map(commit).peekable();
    if commits.peek().is_none() {
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
    let mut evidence = Vec::new();
    for (places, branch) in commits {
        match landing(&places, branch, &own, workspace) {
            Landing::On(branch) if is_main(&branch) => match excuse(&branch, wanted, &own)? {
                None => {
                    evidence.push(format!("the commit lands on {branch}"));
                    return Ok(Opinion::deny(denial(&branch, wanted), evidence));
                }
                Some(excuse) => evidence.push(excuse.into()),
            },
            Landing::On(branch) => {
                evidence.push(text::one_line(&format!("the commit lands on {branch}")));
            }
            Landing::Open(why) => evidence.push(why.into()),
        }
    }
    Ok(noted(evidence))
}

/// Where a commit lands.
enum Landing {
    On(String),
    /// On no branch of this workflow's business, or on one that cannot be known.
    Open(&'static str),
}

/// A commit that is really made, with the directories in which it may be.
fn commit(effect: &Effect) -> Option<(Vec<&PathBuf>, &Branch)> {
    match effect {
        Effect::Commit { repository, possible, branch, dry_run: false } => {
            Some((repository.iter().chain(possible).collect(), branch))
        }
        _ => None,
    }
}

fn landing(places: &[&PathBuf], branch: &Branch, own: &Repository, workspace: &Workspace) -> Landing {
    if places.is_empty() {
        return Landing::Open("in which repository it commits is not certain");
    }
    // Where there is no repository, there will be no commit.
    let mut repositories = places.iter().filter_map(|place| workspace.repository(place));
    let Some(repository) = repositories.next() else {
        return Landing::Open("there is no repository where it commits");
    };
    let is_same = |other: Repository| other.is(own) && other.head() == repository.head();
    if !repository.is(own) || !repositories.all(is_same) {
        return Landing::Open("it commits in another repository, or may do so");
    }
    match branch {
        Branch::Named(name) => Landing::On(name.clone()),
        Branch::Unknown => Landing::Open("on which branch it commits is not certain"),
        Branch::Current => match repository.head() {
            Head::Branch(name) => Landing::On(name),
            Head::Detached => Landing::Open("no branch is checked out"),
            Head::Unknown => Landing::Open("which branch is checked out cannot be read"),
        },
    }
}

fn is_main(branch: &str) -> bool {
    matches!(branch, "main" | "master")
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

fn denial(branch: &str, wanted: &WorkBranch) -> Denial {
    /// No sensible name of a branch is longer.
    const LONGEST: usize = 200;
    let name = wanted.name.as_deref().map(|name| text::bounded(&text::one_line(name), LONGEST).into_owned());
    let belongs = name.as_ref().map_or_else(|| "the feature branch".to_owned(), |name| format!("`{name}`"));
    let fix = match &name {
        Some(name) => {
            let name = quoted(name);
            format!(
                "`git checkout {name}` first (`git checkout -b {name}` if it is still to be made), then commit"
            )
        }
        None => "`git checkout` the feature branch first, then commit".to_owned(),
    };
    Denial {
        what: "COMMIT TO MAIN BLOCKED".into(),
        why: format!(
            "the commit would land on the branch `{branch}`, and while the workflow is active its work belongs on \
             {belongs}"
        ),
        fix,
    }
}

/// A word as a shell takes it for one word.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@,=%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_for_a_shell() {
        assert_eq!(quoted("feature/REQ-0004_x.y"), "feature/REQ-0004_x.y");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("$(rm -rf ~)"), "'$(rm -rf ~)'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_message_stays_on_one_clean_line() {
        let name = format!("x\n\u{1b}[2J{}", "y".repeat(10_000));
        let text = denial("main", &WorkBranch { name: Some(name), is_active: true }).to_string();
        assert!(!text.contains(['\n', '\u{1b}']) && text.len() < 2_000, "{text}");
        let text = denial("master", &WorkBranch { name: None, is_active: true }).to_string();
        assert!(text.contains("`master`") && text.contains("the feature branch"), "{text}");
    }
}

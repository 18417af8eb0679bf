//! Follows which branch a session has checked out.
//!
//! A client notices a switch late: after `git checkout -b x`, its next records still name the old branch. So the switches
//! in the session's own commands count, until the record names another branch than at the time of the switch.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::clients::past::PastEvent;
use crate::effect::Effect;
use crate::effect::git::{BranchSwitch, SwitchTarget};
use crate::event::Event;
use crate::places::is_within;
use crate::tool::Tool;

/// So many switches of a session are remembered.
const MOST: usize = 1_000;
/// What a client records if no branch is checked out.
const DETACHED: &str = "HEAD";

#[derive(Default)]
pub(super) struct BranchTracker(Vec<Switch>);

/// A switch that a command of the session made.
struct Switch {
    time: u64,
    cwd: PathBuf,
    /// The branch that the record named at that time.
    recorded: Option<Arc<str>>,
    before: Option<Arc<str>>,
    /// `None`: it is unknown.
    after: Option<Arc<str>>,
}

impl BranchTracker {
    /// Forgets the switches, because another session begins.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The branch at the time of an event, as far as it is known.
    pub(super) fn find_branch(&self, past: &PastEvent) -> Option<Arc<str>> {
        let switch = self.find_last(past).filter(|switch| switch.recorded == past.branch);
        switch.and_then(|switch| switch.after.clone()).or_else(|| past.branch.clone())
    }

    /// The last switch before an event, in the same repository.
    fn find_last(&self, past: &PastEvent) -> Option<&Switch> {
        if self.0.is_empty() {
            return None;
        }
        let (time, cwd) = (past.time?, Path::new(past.cwd.as_deref()?));
        let is_before = |switch: &&Switch| switch.time < time && is_near(&switch.cwd, cwd);
        self.0.iter().filter(is_before).max_by_key(|switch| switch.time)
    }

    /// Notes a switch that a call has made. `event` is what the hook got, for calls that [`may_switch`].
    pub(super) fn note_call(&mut self, past: &PastEvent, event: &Event) {
        let Some(Tool::Shell { command }) = event.call().map(|call| &call.tool) else { return };
        let (Some(time), Some(target)) = (past.time, find_switch(command, event)) else { return };
        let before = self.find_branch(past);
        let after = match target {
            SwitchTarget::New(name) | SwitchTarget::Existing { name, .. } => Some(name.into()),
            SwitchTarget::Detached => Some(DETACHED.into()),
            SwitchTarget::Previous(1) => self.find_last(past).and_then(|switch| switch.before.clone()),
            SwitchTarget::Start => before.clone(),
            _ => None,
        };
        if self.0.len() >= MOST {
            self.0.drain(..MOST / 2);
        }
        self.0.push(Switch { time, cwd: event.cwd.clone(), recorded: past.branch.clone(), before, after });
    }
}

/// Whether a call could switch to another branch, by its words alone.
pub(super) fn may_switch(event: &Event) -> bool {
    match event.call().map(|call| &call.tool) {
        Some(Tool::Shell { command }) => {
            command.contains("git") && (command.contains("checkout") || command.contains("switch"))
        }
        _ => false,
    }
}

/// What a successful command line has checked out last, around the directory in which it started.
fn find_switch(command: &str, event: &Event) -> Option<SwitchTarget> {
    // A commit behind the line knows what the line has switched to.
    let line = format!("{{ {command}\n}} && git commit");
    let effects = provost_shell::effects(&line, &event.cwd, event.home.as_deref());
    let site = effects.into_iter().rev().find_map(|effect| match effect {
        Effect::Commit { site, .. } => Some(site),
        _ => None,
    })?;
    let is_here = |switch: &&BranchSwitch| {
        switch.places.is_empty() || switch.places.iter().any(|place| is_near(place, &event.cwd))
    };
    let is_move = |switch: &&BranchSwitch| match &switch.target {
        SwitchTarget::Existing { name, or_path } => !(*or_path && looks_like_path(name)),
        SwitchTarget::Created(_) | SwitchTarget::WorkTree { .. } => false,
        _ => true,
    };
    site.switches.iter().rev().filter(is_here).find(is_move).map(|switch| switch.target.clone())
}

/// Whether a word of `git checkout WORD` is rather a file than a branch.
fn looks_like_path(word: &str) -> bool {
    let extension = word.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    word.ends_with('/')
        || word.starts_with('.')
        || extension.is_some_and(|(_, end)| end.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Whether one of two directories is in the other.
fn is_near(a: &Path, b: &Path) -> bool {
    is_within(a, b) || is_within(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_branches() {
        for path in ["README.md", "src/", ".", "./x", "src/a.rs", ".env"] {
            assert!(looks_like_path(path), "{path}");
        }
        for branch in ["main", "feature/x", "release/1.2", "v2"] {
            assert!(!looks_like_path(branch), "{branch}");
        }
    }
}

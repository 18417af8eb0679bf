//! The whole product on one page: every guard, in the order in which they are asked.
//!
//! What a guard is called, when it is asked, which pack it belongs to and what its failure means
//! are data here, so that the engine, `provost guards`, `provost explain` and the reference in
//! `docs/` cannot disagree. A guard's own file holds only how it judges.

use std::time::Duration;

use crate::config::Config;
use crate::decision::{Fault, Opinion};
use crate::event::{Event, Kind};
use crate::self_guard;
use crate::workspace::Workspace;

/// One guard: a pure judgement and the facts about it.
pub struct Guard {
    pub name: &'static str,
    pub pack: &'static str,
    /// What it promises, in one sentence.
    pub purpose: &'static str,
    pub triggers: &'static [Trigger],
    pub failure: FailureMode,
    /// Whether it can hold anything back, or only remarks.
    pub blocks: bool,
    /// Where its limit differs from the engine's: guards that run a reviewer need longer.
    pub deadline: Option<Duration>,
    /// How a person gets past it.
    pub way_out: &'static str,
    pub judge: fn(&Event, &Workspace) -> Result<Opinion, Fault>,
}

/// A set of guards that belong to one workflow.
pub struct Pack {
    pub name: &'static str,
    pub purpose: &'static str,
    pub on_when: &'static str,
}

/// When a guard is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    BeforeAnyTool,
    SessionStart,
    ConfigChange,
}

/// What a guard's own failure (an error, a panic, a missed deadline) means for the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureMode {
    /// The call is denied, and the reason says so.
    Closed,
    /// The call goes on; the journal keeps the fault.
    Open,
}

pub static PACKS: &[Pack] =
    &[Pack { name: "self", purpose: "nobody switches the guards off from inside", on_when: "always" }];

pub static GUARDS: &[Guard] = &[
    Guard {
        name: "self-guard",
        pack: "self",
        purpose: "No tool changes what switches Provost on: provost.toml, the hook entries and \
                  switches of the client's settings files, Provost's own files; no tool reads \
                  the seal key.",
        triggers: &[Trigger::BeforeAnyTool],
        failure: FailureMode::Closed,
        blocks: true,
        deadline: None,
        way_out: "A person edits these files in an editor: only tool calls are judged.",
        judge: self_guard::tools::judge,
    },
    Guard {
        name: "registration-guard",
        pack: "self",
        purpose: "A settings file that drops Provost's hooks or switches hooks off does not take \
                  effect in a running session.",
        triggers: &[Trigger::SessionStart, Trigger::ConfigChange],
        failure: FailureMode::Closed,
        blocks: true,
        deadline: None,
        way_out: "The file stays as it was edited, and the next session starts with it.",
        judge: self_guard::registration::judge,
    },
    Guard {
        name: "config-check",
        pack: "self",
        purpose: "A mistake in provost.toml is told to the person when a session starts.",
        triggers: &[Trigger::SessionStart],
        failure: FailureMode::Open,
        blocks: false,
        deadline: None,
        way_out: "It only remarks; `provost config check` shows the same list.",
        judge: self_guard::config_check::judge,
    },
];

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Trigger {
    pub fn matches(self, event: &Event) -> bool {
        match self {
            Self::BeforeAnyTool => matches!(event.kind, Kind::BeforeTool(_)),
            Self::SessionStart => matches!(event.kind, Kind::SessionStart { .. }),
            Self::ConfigChange => matches!(event.kind, Kind::ConfigChange { .. }),
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::BeforeAnyTool => "before any tool",
            Self::SessionStart => "session start",
            Self::ConfigChange => "settings change",
        }
    }
}

impl FailureMode {
    pub fn word(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
        }
    }
}

impl Guard {
    pub fn find(name: &str) -> Option<&'static Self> {
        GUARDS.iter().find(|guard| guard.name == name)
    }

    /// Its triggers as one phrase.
    pub fn asked(&self) -> String {
        self.triggers.iter().map(|trigger| trigger.words()).collect::<Vec<_>>().join(", ")
    }
}

/// The guards of a command line: all of them, or those of the named packs. Later steps narrow it.
pub fn of_packs(packs: &[String]) -> impl Iterator<Item = &'static Guard> {
    GUARDS.iter().filter(move |guard| packs.is_empty() || packs.iter().any(|p| p == guard.pack))
}

/// Whether this event concerns this guard.
pub fn concerns(guard: &Guard, event: &Event) -> bool {
    guard.triggers.iter().any(|trigger| trigger.matches(event))
}

/// The guards that are on.
pub fn switched_on(guards: Vec<&'static Guard>, config: &Config) -> Vec<&'static Guard> {
    guards.into_iter().filter(|guard| config.guard_is_on(guard.name)).collect()
}

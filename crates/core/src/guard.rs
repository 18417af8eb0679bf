//! A guard: the facts about it, and the function that judges.
//!
//! The triggers, the pack and the failure mode of a guard are data, so that the engine, the commands and the pages in
//! `docs/` cannot disagree. The table of all guards is in the crate `provost-guards`.

use std::time::Duration;

use crate::config::Config;
use crate::event::{Agent, Event, EventKind, PermissionMode};
use crate::opinion::{Fault, Opinion};
use crate::tool::Tool;
use crate::workspace::Workspace;

/// The guard that judges the rules of `provost.toml`.
pub const RULES: &str = crate::config::RULES_GUARD;

/// One guard.
pub struct Guard {
    pub name: &'static str,
    pub pack: &'static str,
    /// The promise, in one sentence.
    pub purpose: &'static str,
    pub triggers: &'static [Trigger],
    /// The setting that lists the agents in which it is asked; `None`: in all of them and in the main conversation.
    pub agents_setting: Option<&'static str>,
    pub failure_mode: FailureMode,
    /// Whether it can deny. Otherwise it only warns or records.
    pub can_block: bool,
    /// Whether the user can override a denial once with a prompt ([`crate::overrides`]).
    pub is_overridable: bool,
    pub time_limit: TimeLimit,
    /// Why it cannot judge a past event; `None`: it can. What it needs was never on record, or is gone.
    pub unjudged_in_past: Option<&'static str>,
    /// How the user gets past it.
    pub way_out: &'static str,
    pub judge: fn(&Event, &Workspace) -> Result<Opinion, Fault>,
}

/// How long a guard may take.
#[derive(Clone, Copy)]
pub enum TimeLimit {
    /// It judges within milliseconds. All guards with this limit share one deadline per event.
    Shared,
    /// It may start a reviewer and wait for its answer, for minutes or hours, within a limit of its own; `None` if the
    /// configuration lets it start no reviewer.
    Reviewer(fn(&Config) -> Option<Duration>),
    /// It may run commands of the configuration at some of its triggers, within a limit of its own; `None` if there are
    /// none for that trigger.
    Commands(fn(Trigger, &Config) -> Option<Duration>),
}

/// A set of guards that belong to one workflow.
pub struct Pack {
    pub name: &'static str,
    pub purpose: &'static str,
    pub activation: &'static str,
    /// The setting that switches the pack on if the hook entry does not name it; `None`: it is always on.
    pub switch_setting: Option<&'static str>,
}

/// When a guard is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    BeforeAnyTool,
    BeforeDelegation,
    BeforeSkill,
    BeforeMessage,
    BeforeShell,
    AfterWriting,
    AfterDelegation,
    AfterSkill,
    AfterShell,
    AfterTaskResult,
    AfterToolInPlanMode,
    LeavingPlanMode,
    SessionStart,
    ConfigChange,
    Stop,
    SubagentStop,
    Prompt,
}

/// What a guard's own failure (an error, a panic, a missed deadline) means for the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureMode {
    /// The call is denied, and the reason says so.
    Closed,
    /// The call is allowed. The journal records the fault; if it cannot, the user is warned.
    Open,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Trigger {
    pub fn matches(self, event: &Event) -> bool {
        let before = |matches: fn(&Tool) -> bool| matches!(&event.kind, EventKind::BeforeTool(call) if matches(&call.tool));
        let after = |matches: fn(&Tool) -> bool| matches!(&event.kind, EventKind::AfterTool(call) if matches(&call.tool));
        match self {
            Self::BeforeAnyTool => before(|_| true),
            Self::BeforeDelegation => before(is_delegation),
            Self::BeforeSkill => before(is_skill),
            Self::BeforeMessage => before(|tool| matches!(tool, Tool::Message { .. })),
            Self::BeforeShell => before(is_shell),
            Self::LeavingPlanMode => before(|tool| matches!(tool, Tool::LeavePlanMode { .. })),
            Self::AfterDelegation => after(is_delegation),
            Self::AfterSkill => after(is_skill),
            Self::AfterWriting => after(may_write),
            Self::AfterShell => {
                after(is_shell) || matches!(&event.kind, EventKind::ToolFailed(call) if is_shell(&call.tool))
            }
            Self::AfterTaskResult => {
                matches!(&event.kind, EventKind::AfterTool(call) if call.outcome.ended_task.is_some())
            }
            Self::AfterToolInPlanMode => after(|_| true) && event.mode == PermissionMode::Plan,
            Self::SessionStart => matches!(event.kind, EventKind::SessionStart { .. }),
            Self::ConfigChange => matches!(event.kind, EventKind::ConfigChange { .. }),
            Self::Stop => matches!(event.kind, EventKind::Stop(_)),
            Self::SubagentStop => matches!(event.kind, EventKind::SubagentStop(_)),
            Self::Prompt => matches!(event.kind, EventKind::Prompt { .. }),
        }
    }

    pub fn describe(self) -> &'static str {
        match self {
            Self::BeforeAnyTool => "before any tool",
            Self::BeforeDelegation => "before an agent starts",
            Self::AfterDelegation => "after an agent's answer",
            Self::BeforeSkill => "before a skill",
            Self::BeforeMessage => "before a message to an agent",
            Self::BeforeShell => "before a command line",
            Self::AfterWriting => "after a tool that writes",
            Self::AfterSkill => "after a skill",
            Self::AfterShell => "after a command line",
            Self::AfterTaskResult => "after a look at a background command",
            Self::AfterToolInPlanMode => "after any tool in plan mode",
            Self::LeavingPlanMode => "leaving plan mode",
            Self::SessionStart => "session start",
            Self::ConfigChange => "settings change",
            Self::Stop => "stop",
            Self::SubagentStop => "subagent stop",
            Self::Prompt => "prompt",
        }
    }
}

impl FailureMode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
        }
    }
}

impl Guard {
    /// The prompt with which the user overrides a denial once, if that is possible.
    pub fn override_prompt(&self) -> Option<String> {
        let name = if self.name == RULES { "rule:NAME" } else { self.name };
        self.is_overridable.then(|| format!("`provost override {name} REASON`"))
    }

    /// Its own time limit for an event; `None`: it shares the deadline of the event.
    pub fn own_time_limit(&self, event: &Event, config: &Config) -> Option<Duration> {
        match self.time_limit {
            TimeLimit::Shared => None,
            TimeLimit::Reviewer(limit) => limit(config),
            TimeLimit::Commands(_) => {
                let matching = self.triggers.iter().filter(|trigger| trigger.matches(event));
                matching.filter_map(|trigger| self.command_limit(*trigger, config)).max()
            }
        }
    }

    /// How long the commands that it runs at a trigger may take; `None` if there are none.
    pub fn command_limit(&self, trigger: Trigger, config: &Config) -> Option<Duration> {
        match self.time_limit {
            TimeLimit::Commands(limit) if self.triggers.contains(&trigger) => limit(trigger, config),
            _ => None,
        }
    }

    /// Whether it may start a reviewer at this trigger.
    pub fn may_review_at(&self, trigger: Trigger) -> bool {
        matches!(self.time_limit, TimeLimit::Reviewer(_)) && self.triggers.contains(&trigger)
    }

    /// Its triggers as one phrase.
    pub fn describe_triggers(&self) -> String {
        let triggers = self.triggers.iter().map(|trigger| trigger.describe()).collect::<Vec<_>>().join(", ");
        match self.agents_setting {
            Some(setting) => format!("{triggers}, in `{setting}`"),
            None => triggers,
        }
    }

    /// Whether the event concerns it, as far as that is known without the configuration.
    pub fn is_concerned_by(&self, event: &Event) -> bool {
        let is_in_agent = || event.agent.as_ref().is_some_and(|agent| agent.kind.is_some());
        self.triggers.iter().any(|trigger| trigger.matches(event))
            && (self.agents_setting.is_none() || is_in_agent())
    }

    /// Whether it is asked in this agent.
    pub fn is_asked_in(&self, agent: Option<&Agent>, config: &Config) -> bool {
        self.agents_setting.is_none_or(|setting| {
            let kind = agent.and_then(|agent| agent.kind.as_deref());
            kind.is_some_and(|kind| config.words(setting).iter().any(|name| is_agent_named(kind, name)))
        })
    }
}

fn is_delegation(tool: &Tool) -> bool {
    matches!(tool, Tool::Delegate { .. })
}

fn is_skill(tool: &Tool) -> bool {
    matches!(tool, Tool::Skill { .. })
}

fn is_shell(tool: &Tool) -> bool {
    matches!(tool, Tool::Shell { .. })
}

fn may_write(tool: &Tool) -> bool {
    tool.is_file_tool() || matches!(tool, Tool::Shell { .. } | Tool::Other { .. })
}

/// Whether an agent's type is this name, or this name in a plugin (`plugin:name`).
pub fn is_agent_named(kind: &str, name: &str) -> bool {
    kind == name || kind.strip_suffix(name).is_some_and(|plugin| plugin.len() > 1 && plugin.ends_with(':'))
}

impl Pack {
    /// Whether a hook entry that names these packs asks its guards.
    pub fn is_on(&self, named: &[String], config: &Config) -> bool {
        self.switch_setting
            .is_none_or(|switch| named.iter().any(|name| name == self.name) || config.is_switched_on(switch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_matches_by_its_bare_name_and_in_a_plugin() {
        for kind in ["tdd-planner", "tdd-workflow:tdd-planner", "a:b:tdd-planner"] {
            assert!(is_agent_named(kind, "tdd-planner"), "{kind}");
        }
        for kind in ["", ":tdd-planner", "my-tdd-planner", "tdd-planner:x", "TDD-planner", "tdd-planner "] {
            assert!(!is_agent_named(kind, "tdd-planner"), "{kind}");
        }
    }
}

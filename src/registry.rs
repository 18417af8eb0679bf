//! The whole product on one page: every guard, in the order in which they are asked.
//!
//! What a guard is called, when it is asked, which pack it belongs to and what its failure means
//! are data here, so that the engine, `provost guards`, `provost explain` and the reference in
//! `docs/` cannot disagree. A guard's own file holds only how it judges.

use std::time::Duration;

use crate::config::{Config, settings};
use crate::decision::{Fault, Opinion};
use crate::event::{Agent, Call, Event, Kind, Mode, Tool};
use crate::phases;
use crate::plan_gate;
use crate::planner;
use crate::review_loop;
use crate::self_guard;
use crate::workspace::Workspace;

/// One guard: a pure judgement and the facts about it.
pub struct Guard {
    pub name: &'static str,
    pub pack: &'static str,
    /// What it promises, in one sentence.
    pub purpose: &'static str,
    pub triggers: &'static [Trigger],
    /// The setting that lists the agents in which it is asked; `None`: in all, and in the main
    /// conversation.
    pub agents: Option<&'static str>,
    pub failure: FailureMode,
    /// Whether it can hold anything back, or only remarks.
    pub blocks: bool,
    /// Whether the person can let it pass once by a prompt ([`crate::overrides`]).
    pub overridable: bool,
    /// Where its limit differs from the engine's: guards that run a reviewer need longer.
    pub deadline: Option<fn(&Config) -> Option<Duration>>,
    /// How a person gets past it.
    pub way_out: &'static str,
    pub judge: fn(&Event, &Workspace) -> Result<Opinion, Fault>,
}

/// A set of guards that belong to one workflow.
pub struct Pack {
    pub name: &'static str,
    pub purpose: &'static str,
    pub on_when: &'static str,
    /// The setting that switches it on where the command line does not name it; `None`: it is on.
    pub switch: Option<&'static str>,
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
    /// The call goes on; the journal keeps the fault, and where it cannot, the person is told.
    Open,
}

pub static PACKS: &[Pack] = &[
    Pack {
        name: "self",
        purpose: "nobody switches the guards off from inside",
        on_when: "always",
        switch: None,
    },
    Pack {
        name: "plan-gate",
        purpose: "an agent leaves plan mode only with a plan whose serious weaknesses are written down",
        on_when: "where a hook entry names it (`--pack plan-gate`), as its plugin does, or with \
                  `plan_gate.enabled`",
        switch: Some(settings::PLAN_GATE),
    },
    Pack {
        name: "planner",
        purpose: "a planner reads, writes only plans, and does not stop without one",
        on_when: "in agents that `planner.agents` names",
        switch: None,
    },
    Pack {
        name: "review-loop",
        purpose: "finished work is reviewed by a fresh reviewer until two reviews in a row are clean",
        on_when: "in projects that have `.taskie/plans`",
        switch: None,
    },
    Pack {
        name: "phases",
        purpose: "no phase of a workflow is skipped or faked, and nothing is committed to main in between",
        on_when: "in projects that have `.isdlc`",
        switch: None,
    },
];

/// Every way in which a call can give work to an agent.
const HANDING_OUT: &[Trigger] =
    &[Trigger::BeforeDelegation, Trigger::BeforeSkill, Trigger::BeforeMessage, Trigger::BeforeShell];

/// The way out of every guard of a workflow, besides the override.
const END_WORKFLOW: &str =
    "The user ends the workflow: `active_workflow` becomes `null` in `.isdlc/state.json`.";

pub static GUARDS: &[Guard] = &[
    Guard {
        name: "self-guard",
        pack: "self",
        purpose: "No tool takes anything away from Provost: provost.toml, its hook entries and the \
                  switches in the client's settings files, Provost's own files; no tool adds a hook \
                  that could rewrite a judged call; no tool reads the seal key.",
        triggers: &[Trigger::BeforeAnyTool],
        agents: None,
        failure: FailureMode::Closed,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: "The user edits these files in an editor: only tool calls are judged. A prompt allows a tool to \
                  change settings, hooks or provost.toml once, but never the seal key, Provost's state or a forged event.",
        judge: self_guard::tools::judge,
    },
    Guard {
        name: "registration-guard",
        pack: "self",
        purpose: "A settings file that drops Provost's hooks or switches hooks off does not take \
                  effect in a running session.",
        triggers: &[Trigger::SessionStart, Trigger::ConfigChange],
        agents: None,
        failure: FailureMode::Closed,
        blocks: true,
        overridable: false,
        deadline: None,
        way_out: "The file stays as it was edited, and the next session starts with it.",
        judge: self_guard::registration::judge,
    },
    Guard {
        name: "config-check",
        pack: "self",
        purpose: "A mistake in provost.toml is told to the person when a session starts.",
        triggers: &[Trigger::SessionStart],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It only remarks; `provost config check` shows the same list.",
        judge: self_guard::config_check::judge,
    },
    Guard {
        name: "override",
        pack: "self",
        purpose: "The person's own prompt, if it begins with `provost override GUARD REASON`, lets a guard \
                  that allows it pass once in this session, within 60 minutes.",
        triggers: &[Trigger::Prompt],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It only records and remarks; a permission that is not used expires.",
        judge: self_guard::override_prompt::judge,
    },
    Guard {
        name: "plan-gate",
        pack: "plan-gate",
        purpose: "An agent leaves plan mode only with a plan that a critic has read and whose gaps \
                  cover every serious finding, as witnessed for exactly this text.",
        triggers: &[Trigger::LeavingPlanMode],
        agents: None,
        failure: FailureMode::Closed,
        blocks: true,
        overridable: true,
        deadline: Some(plan_gate::gate::deadline),
        way_out: "The user leaves plan mode in the client.",
        judge: plan_gate::gate::judge,
    },
    Guard {
        name: "plan-keeper",
        pack: "plan-gate",
        purpose: "After every write to a plan in plan mode, its hashes are brought up to date and \
                  its verdict is dropped unless it is for exactly this text.",
        triggers: &[Trigger::AfterToolInPlanMode],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It blocks nothing: it only keeps the marks at the end of the plan.",
        judge: plan_gate::keeper::judge,
    },
    Guard {
        name: "plan-brief",
        pack: "plan-gate",
        purpose: "The critic is given exactly the plan without its gaps, and the validator exactly \
                  the gaps and the critic's findings, whatever the agent wrote to them.",
        triggers: &[Trigger::BeforeDelegation],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It blocks nothing.",
        judge: plan_gate::brief::judge,
    },
    Guard {
        name: "plan-witness",
        pack: "plan-gate",
        purpose: "The critic's and the validator's own answers are recorded for the plan and the gaps \
                  that they were given, and a pass is sealed.",
        triggers: &[Trigger::SubagentStop, Trigger::AfterDelegation, Trigger::Prompt],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It blocks nothing.",
        judge: plan_gate::witness::judge,
    },
    Guard {
        name: "planner-bash-guard",
        pack: "planner",
        purpose: "A planner reads: its command lines start only listed programs in forms that only \
                  read, and none of its tools writes outside `planning/`, deletes anything, or \
                  hands work to an agent that could.",
        triggers: &[Trigger::BeforeAnyTool],
        agents: Some(settings::PLANNER_AGENTS),
        failure: FailureMode::Closed,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: "The main conversation may do what the planner may not; a person adds programs to \
                  `planner.allow` and tools to `planner.tools` in provost.toml.",
        judge: planner::bash_guard::judge,
    },
    Guard {
        name: "plan-output-validator",
        pack: "planner",
        purpose: "A planner stops with a plan: a recent file in `planning/` that has the required \
                  sections and leaves refactoring to the implementation.",
        triggers: &[Trigger::Stop, Trigger::SubagentStop],
        agents: Some(settings::PLANNER_AGENTS),
        failure: FailureMode::Open,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: "It holds a planner once: the next stop of the same turn passes. With \
                  `planner.require_plan = false` it checks only plans that exist.",
        judge: planner::plan_output::judge,
    },
    Guard {
        name: "review-loop",
        pack: "review-loop",
        purpose: "A turn that finishes a piece of work ends only after an independent reviewer has read it \
                  and its findings are dealt with, again and again, until two reviews in a row are clean; \
                  where no review is due, the plan's files keep the ground rules.",
        triggers: &[Trigger::Stop],
        agents: None,
        failure: FailureMode::Open,
        blocks: true,
        overridable: false,
        deadline: Some(review_loop::stop::deadline),
        way_out: "`provost review set next_phase=null` ends the loop of a plan, and `max_reviews=0` skips all its \
                  reviews; the ground rules hold a turn only once for the same reason.",
        judge: review_loop::stop::judge,
    },
    Guard {
        name: "iteration-corridor",
        pack: "phases",
        purpose: "While tests fail or the constitution is being checked, nobody hands the work on or moves \
                  to the next phase.",
        triggers: &[Trigger::BeforeDelegation, Trigger::BeforeSkill, Trigger::BeforeMessage],
        agents: None,
        failure: FailureMode::Open,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: END_WORKFLOW,
        judge: phases::corridor::judge,
    },
    Guard {
        name: "skill-validator",
        pack: "phases",
        purpose: "Where the workflow demands a manifest of agents, none starts without it.",
        triggers: &[Trigger::BeforeDelegation],
        agents: None,
        failure: FailureMode::Open,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: END_WORKFLOW,
        judge: phases::skill_validator::judge,
    },
    Guard {
        name: "phase-loop-controller",
        pack: "phases",
        purpose: "Work is handed to a phase only after the phase is marked as begun.",
        triggers: HANDING_OUT,
        agents: None,
        failure: FailureMode::Open,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: END_WORKFLOW,
        judge: phases::phase_loop::judge,
    },
    Guard {
        name: "plan-surfacer",
        pack: "phases",
        purpose: "From the implementation on, no work is handed out without a plan of tasks.",
        triggers: HANDING_OUT,
        agents: None,
        failure: FailureMode::Open,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: END_WORKFLOW,
        judge: phases::plan_surfacer::judge,
    },
    Guard {
        name: "phase-sequence-guard",
        pack: "phases",
        purpose: "Work is handed only to agents of the phase that the workflow is in.",
        triggers: HANDING_OUT,
        agents: None,
        failure: FailureMode::Open,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: END_WORKFLOW,
        judge: phases::phase_sequence::judge,
    },
    Guard {
        name: "gate-blocker",
        pack: "phases",
        purpose: "The workflow moves on only when the phase's requirements are met: tests, constitution, \
                  talks with the person, its own agent.",
        triggers: &[Trigger::BeforeDelegation, Trigger::BeforeSkill, Trigger::BeforeMessage],
        agents: None,
        failure: FailureMode::Open,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: END_WORKFLOW,
        judge: phases::gate::judge,
    },
    Guard {
        name: "constitution-validator",
        pack: "phases",
        purpose: "A phase is called complete only after its articles of the constitution are checked.",
        triggers: &[Trigger::BeforeDelegation, Trigger::BeforeSkill, Trigger::BeforeMessage],
        agents: None,
        failure: FailureMode::Open,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: END_WORKFLOW,
        judge: phases::constitution::judge,
    },
    Guard {
        name: "branch-guard",
        pack: "phases",
        purpose: "While a workflow has a branch of its own, nothing is committed to main or master.",
        triggers: &[Trigger::BeforeAnyTool],
        agents: None,
        failure: FailureMode::Open,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: END_WORKFLOW,
        judge: phases::branch::judge,
    },
    Guard {
        name: "state-write-validator",
        pack: "phases",
        purpose: "A state that claims what did not happen is remarked; with `phases.validate = \"before\"` \
                  it is not written.",
        triggers: &[Trigger::BeforeAnyTool, Trigger::AfterWriting],
        agents: None,
        failure: FailureMode::Open,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: END_WORKFLOW,
        judge: phases::state_write::judge,
    },
    Guard {
        name: "log-skill-usage",
        pack: "phases",
        purpose: "Which agent worked in which phase is kept in the state.",
        triggers: &[Trigger::AfterDelegation],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It blocks nothing.",
        judge: phases::skill_log::judge,
    },
    Guard {
        name: "menu-tracker",
        pack: "phases",
        purpose: "How often the person was asked in the requirements phase, and what they chose, is kept in \
                  the state.",
        triggers: &[Trigger::AfterDelegation, Trigger::SubagentStop],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It blocks nothing.",
        judge: phases::menu::judge,
    },
    Guard {
        name: "walkthrough-tracker",
        pack: "phases",
        purpose: "A discovery that ends without a walk through the constitution is remarked.",
        triggers: &[Trigger::AfterDelegation, Trigger::SubagentStop],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It blocks nothing.",
        judge: phases::walkthrough::judge,
    },
    Guard {
        name: "discover-menu-guard",
        pack: "phases",
        purpose: "A discovery that shows another menu than it should is remarked.",
        triggers: &[Trigger::AfterDelegation, Trigger::SubagentStop],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It blocks nothing.",
        judge: phases::discover_menu::judge,
    },
    Guard {
        name: "skill-delegation-enforcer",
        pack: "phases",
        purpose: "A skill that stands for an agent is remembered until that agent has worked.",
        triggers: &[Trigger::AfterSkill],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It blocks nothing.",
        judge: phases::skill_delegation::judge,
    },
    Guard {
        name: "test-watcher",
        pack: "phases",
        purpose: "The results of tests are kept in the state, with the number of tries.",
        triggers: &[Trigger::AfterShell],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It blocks nothing.",
        judge: phases::test_watch::judge,
    },
    Guard {
        name: "review-reminder",
        pack: "phases",
        purpose: "A commit in a team whose reviews are switched off is remarked.",
        triggers: &[Trigger::AfterShell],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It blocks nothing.",
        judge: phases::review_reminder::judge,
    },
    Guard {
        name: "delegation-gate",
        pack: "phases",
        purpose: "A turn that used such a skill does not end before its agent has worked.",
        triggers: &[Trigger::Stop],
        agents: None,
        failure: FailureMode::Open,
        blocks: true,
        overridable: true,
        deadline: None,
        way_out: END_WORKFLOW,
        judge: phases::delegation_gate::judge,
    },
    Guard {
        name: "phase-records",
        pack: "phases",
        purpose: "What the guards of this pack note is written to the state, once for each event.",
        triggers: &[
            Trigger::BeforeDelegation,
            Trigger::BeforeSkill,
            Trigger::BeforeMessage,
            Trigger::AfterDelegation,
            Trigger::SubagentStop,
            Trigger::AfterSkill,
            Trigger::AfterShell,
            Trigger::Stop,
        ],
        agents: None,
        failure: FailureMode::Open,
        blocks: false,
        overridable: false,
        deadline: None,
        way_out: "It blocks nothing.",
        judge: phases::records::judge,
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
            Self::BeforeDelegation => matches!(&event.kind, Kind::BeforeTool(call) if is_delegation(call)),
            Self::AfterDelegation => matches!(&event.kind, Kind::AfterTool(call) if is_delegation(call)),
            Self::BeforeSkill => matches!(&event.kind, Kind::BeforeTool(call) if is_skill(call)),
            Self::BeforeMessage => {
                matches!(&event.kind, Kind::BeforeTool(call) if matches!(call.tool, Tool::Message { .. }))
            }
            Self::BeforeShell => matches!(&event.kind, Kind::BeforeTool(call) if is_shell(call)),
            Self::AfterWriting => matches!(&event.kind, Kind::AfterTool(call) if may_write(call)),
            Self::AfterSkill => matches!(&event.kind, Kind::AfterTool(call) if is_skill(call)),
            Self::AfterShell => {
                matches!(&event.kind, Kind::AfterTool(call) | Kind::ToolFailed(call) if is_shell(call))
            }
            Self::AfterToolInPlanMode => matches!(event.kind, Kind::AfterTool(_)) && event.mode == Mode::Plan,
            Self::LeavingPlanMode => {
                matches!(&event.kind, Kind::BeforeTool(call) if matches!(call.tool, Tool::LeavePlanMode { .. }))
            }
            Self::SessionStart => matches!(event.kind, Kind::SessionStart { .. }),
            Self::ConfigChange => matches!(event.kind, Kind::ConfigChange { .. }),
            Self::Stop => matches!(event.kind, Kind::Stop(_)),
            Self::SubagentStop => matches!(event.kind, Kind::SubagentStop(_)),
            Self::Prompt => matches!(event.kind, Kind::Prompt { .. }),
        }
    }

    pub fn words(self) -> &'static str {
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

    /// What the person writes to let it pass once, if that is possible.
    pub fn override_form(&self) -> Option<String> {
        self.overridable.then(|| format!("`provost override {} REASON`", self.name))
    }

    /// Its triggers as one phrase.
    pub fn asked(&self) -> String {
        let triggers = self.triggers.iter().map(|trigger| trigger.words()).collect::<Vec<_>>().join(", ");
        match self.agents {
            Some(setting) => format!("{triggers}, in `{setting}`"),
            None => triggers,
        }
    }

    /// Whether it is asked in the agent in which this event happened.
    fn is_asked_in(&self, agent: Option<&Agent>, config: &Config) -> bool {
        self.agents.is_none_or(|setting| {
            let kind = agent.and_then(|agent| agent.kind.as_deref());
            kind.is_some_and(|kind| config.words(setting).iter().any(|name| is_agent(kind, name)))
        })
    }
}

fn is_delegation(call: &Call) -> bool {
    matches!(call.tool, Tool::Delegate { .. })
}

fn is_skill(call: &Call) -> bool {
    matches!(call.tool, Tool::Skill { .. })
}

fn may_write(call: &Call) -> bool {
    let writes = matches!(call.tool, Tool::Write { .. } | Tool::Edit { .. } | Tool::Notebook { .. });
    writes || matches!(call.tool, Tool::Shell { .. } | Tool::Other { .. })
}

fn is_shell(call: &Call) -> bool {
    matches!(call.tool, Tool::Shell { .. })
}

/// Whether an agent's type is this name, or this name in a plugin (`plugin:name`).
pub fn is_agent(kind: &str, name: &str) -> bool {
    kind == name || kind.strip_suffix(name).is_some_and(|plugin| plugin.len() > 1 && plugin.ends_with(':'))
}

impl Pack {
    /// Whether its guards are asked by a command line that names these packs.
    pub fn is_on(&self, named: &[String], config: &Config) -> bool {
        self.switch.is_none_or(|switch| named.iter().any(|name| name == self.name) || config.switch(switch))
    }
}

/// The guards of a command line: all of them, or those of the named packs. Later steps narrow it.
pub fn of_packs(packs: &[String]) -> impl Iterator<Item = &'static Guard> {
    GUARDS.iter().filter(move |guard| packs.is_empty() || packs.iter().any(|p| p == guard.pack))
}

/// Whether this event concerns this guard, as far as that can be told without the configuration.
pub fn concerns(guard: &Guard, event: &Event) -> bool {
    let in_an_agent = || event.agent.as_ref().is_some_and(|agent| agent.kind.is_some());
    guard.triggers.iter().any(|trigger| trigger.matches(event)) && (guard.agents.is_none() || in_an_agent())
}

/// Of the guards that an event concerns, those that are on and asked in its agent. A pack that the
/// command line names is on.
pub fn asked_about(
    event: &Event,
    guards: Vec<&'static Guard>,
    named: &[String],
    config: &Config,
) -> Vec<&'static Guard> {
    let mut guards = switched_on(guards, named, config);
    guards.retain(|guard| guard.is_asked_in(event.agent.as_ref(), config));
    guards
}

/// The guards that are on, in packs that are.
pub fn switched_on(guards: Vec<&'static Guard>, named: &[String], config: &Config) -> Vec<&'static Guard> {
    let pack_is_on =
        |guard: &Guard| PACKS.iter().any(|pack| pack.name == guard.pack && pack.is_on(named, config));
    guards.into_iter().filter(|guard| config.guard_is_on(guard.name) && pack_is_on(guard)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_known_by_its_bare_name_and_in_a_plugin() {
        for kind in ["tdd-planner", "tdd-workflow:tdd-planner", "a:b:tdd-planner"] {
            assert!(is_agent(kind, "tdd-planner"), "{kind}");
        }
        for kind in ["", ":tdd-planner", "my-tdd-planner", "tdd-planner:x", "TDD-planner", "tdd-planner "] {
            assert!(!is_agent(kind, "tdd-planner"), "{kind}");
        }
    }
}

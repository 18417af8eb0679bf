//! The whole product on one page: every guard, in the order in which Provost asks them.
//!
//! A guard's name, pack, triggers, time limit and failure mode are data here, so that the engine, `provost guards`,
//! `provost explain` and the pages in `docs/` cannot disagree. A guard's own file holds only its judgement.

use crate::prelude::*;
use provost_core::config::Config;
use provost_core::config::settings::{self, Setting, SettingType};
pub use provost_core::guard::{FailureMode, Guard, Pack, RULES, TimeLimit, Trigger};
use provost_core::opinion::Opinion;

pub use crate::guard_selection::GuardSelection;
pub use crate::override_target::{OverrideTarget, describe_override};
use crate::{phases, plan_gate, planner, review_loop, rules, self_guard, workflow};

pub static PACKS: &[Pack] = &[
    Pack {
        name: "self",
        purpose: "no agent switches the guards off",
        activation: "always",
        switch_setting: None,
    },
    Pack {
        name: "rules",
        purpose: "your own rules: what no agent reads, changes, runs or commits, and what a turn needs before it ends",
        activation: "where a `provost.toml` has rules",
        switch_setting: None,
    },
    Pack {
        name: WORKFLOW,
        purpose: "work waits until you have approved the plan of a spec-driven workflow that your project uses",
        activation: "where `workflow.use` in a `provost.toml` names a workflow",
        switch_setting: None,
    },
    Pack {
        name: "plan-gate",
        purpose: "an agent leaves plan mode only with a plan whose serious weaknesses are written down",
        activation: "where a hook entry names it (`--pack plan-gate`), as its plugin does, or with \
                  `plan_gate.enabled`",
        switch_setting: Some(settings::PLAN_GATE_ENABLED),
    },
    Pack {
        name: "planner",
        purpose: "a planner reads, writes only plans, and does not stop without one",
        activation: "in agents that `planner.agents` names",
        switch_setting: None,
    },
    Pack {
        name: "review-loop",
        purpose: "finished work is reviewed by a fresh reviewer until two reviews in a row are clean",
        activation: "in projects that have `.taskie/plans`",
        switch_setting: None,
    },
    Pack {
        name: "phases",
        purpose: "no phase of a workflow is skipped or faked, and nothing is committed to main in between",
        activation: "in projects that have `.isdlc`",
        switch_setting: None,
    },
];

/// The pack whose guards are asked only where a workflow is used.
pub const WORKFLOW: &str = "workflow";

/// Every kind of call that can give work to an agent.
const DELEGATION: &[Trigger] = &[Trigger::BeforeDelegation, Trigger::BeforeSkill, Trigger::BeforeMessage];
const DELEGATION_OR_SHELL: &[Trigger] =
    &[Trigger::BeforeDelegation, Trigger::BeforeSkill, Trigger::BeforeMessage, Trigger::BeforeShell];

/// Why a past event cannot be judged.
const RECORDS: &str = "it records, or reads what was recorded, at the time of the event";
const NO_EVENT: &str = "transcripts do not have its events";
const REVIEWER: &str = "it needs the answer of a reviewer";

/// Defaults of a guard that records or warns and never blocks.
const OBSERVER: Guard = Guard {
    name: "",
    pack: "",
    purpose: "",
    triggers: &[],
    agents_setting: None,
    failure_mode: FailureMode::Open,
    can_block: false,
    is_overridable: false,
    time_limit: TimeLimit::Shared,
    unjudged_in_past: Some(RECORDS),
    way_out: "It blocks nothing.",
    judge: |_, _| Ok(Opinion::unconcerned()),
};

/// Defaults of a guard that blocks until the user overrides it; a failure of its own does not block.
const BLOCKER: Guard = Guard { can_block: true, is_overridable: true, unjudged_in_past: None, ..OBSERVER };

const PHASES_OBSERVER: Guard = Guard { pack: "phases", ..OBSERVER };

const PHASES_BLOCKER: Guard = Guard {
    pack: "phases",
    way_out: "The user ends the workflow: set `active_workflow` to `null` in `.isdlc/state.json`.",
    ..BLOCKER
};

/// INVARIANT: Provost asks the guards in this order, and findings keep it.
///
/// A guard with [`TimeLimit::Reviewer`] does more than judge: it may start a reviewer and wait for its answer, for
/// minutes or hours. The guard with [`TimeLimit::Commands`] runs what the rules say. All others answer within
/// milliseconds.
pub static GUARDS: &[Guard] = &[
    Guard {
        name: "self-guard",
        pack: "self",
        purpose: "No tool may weaken Provost: change provost.toml, remove its hook entries, switch hooks off in \
                  the client's settings files, change Provost's own files, add a hook that could rewrite a \
                  checked call, or read the seal key.",
        triggers: &[Trigger::BeforeAnyTool],
        failure_mode: FailureMode::Closed,
        way_out: "The user changes these files in an editor, because only tool calls are checked. A prompt allows \
                  a tool to change settings, hooks or provost.toml once, but never the seal key, Provost's state \
                  or a forged event.",
        judge: self_guard::tools::judge,
        ..BLOCKER
    },
    Guard {
        name: "registration-guard",
        pack: "self",
        purpose: "A settings file that drops Provost's hooks or switches hooks off does not take effect in a \
                  running session.",
        triggers: &[Trigger::SessionStart, Trigger::ConfigChange],
        failure_mode: FailureMode::Closed,
        is_overridable: false,
        way_out: "The file stays as it was edited, and the next session starts with it.",
        unjudged_in_past: Some(NO_EVENT),
        judge: self_guard::registration::judge,
        ..BLOCKER
    },
    Guard {
        name: "config-check",
        pack: "self",
        purpose: "When a session starts, the user sees the mistakes in provost.toml.",
        triggers: &[Trigger::SessionStart],
        way_out: "It only warns; `provost config check` lists the same mistakes.",
        unjudged_in_past: Some(NO_EVENT),
        judge: self_guard::config_check::judge,
        ..OBSERVER
    },
    Guard {
        name: "override",
        pack: "self",
        purpose: "A prompt of the user that begins with `provost override GUARD REASON` allows the next denial by \
                  that guard once, in this session and within 60 minutes. For a rule, GUARD is `rule:NAME`.",
        triggers: &[Trigger::Prompt],
        way_out: "It only records the permission, which expires if nothing uses it.",
        judge: self_guard::override_prompt::judge,
        ..OBSERVER
    },
    Guard {
        name: RULES,
        pack: "rules",
        purpose: "Every rule in `provost.toml` holds for every tool call and every end of a turn that it matches.",
        triggers: &[
            Trigger::BeforeAnyTool,
            Trigger::AfterWriting,
            Trigger::AfterShell,
            Trigger::AfterTaskResult,
            Trigger::Stop,
            Trigger::SubagentStop,
            Trigger::Prompt,
            Trigger::SessionStart,
        ],
        failure_mode: FailureMode::Closed,
        time_limit: TimeLimit::Commands(rules::find_time_limit),
        way_out: "The user changes the rule, sets `mode = \"watch\"` in it, or lists it in `off` under `[rules]` in \
                  provost.toml.",
        judge: rules::judge,
        ..BLOCKER
    },
    Guard {
        name: "workflow-gate",
        pack: WORKFLOW,
        purpose: "No file outside of the planning directories changes while a change, feature, spec or story is open and \
                  the user has not approved what it says now.",
        triggers: &[Trigger::BeforeAnyTool],
        failure_mode: FailureMode::Closed,
        way_out: "The user approves it with the prompt `provost approve NAME`, or takes the workflow out of `workflow.use` \
                  in provost.toml.",
        unjudged_in_past: Some(RECORDS),
        judge: workflow::gate::judge,
        ..BLOCKER
    },
    Guard {
        name: "workflow-approval",
        pack: WORKFLOW,
        purpose: "A prompt of the user that begins with `provost approve NAME` approves the texts of that change, feature, \
                  spec or story as they are then.",
        triggers: &[Trigger::Prompt],
        way_out: "It only records the approval, which ends when a requirement changes.",
        judge: workflow::approval::judge,
        ..OBSERVER
    },
    Guard {
        name: "workflow-ticks",
        pack: WORKFLOW,
        purpose: "A task of a workflow is marked as done only if a file outside the planning has changed, or a test or \
                  build has passed, since the last tick.",
        triggers: &[
            Trigger::BeforeAnyTool,
            Trigger::AfterWriting,
            Trigger::AfterShell,
            Trigger::AfterTaskResult,
            Trigger::Prompt,
        ],
        failure_mode: FailureMode::Closed,
        way_out: "The user ticks the task in an editor.",
        unjudged_in_past: Some(RECORDS),
        judge: workflow::ticks::judge,
        ..BLOCKER
    },
    Guard {
        name: "workflow-finish",
        pack: WORKFLOW,
        purpose: "A change, feature, spec or story is archived or completed only when its tasks are done and the evidence \
                  of `workflow.finish` is there. While it is open, nothing removes it or leads the tool away from it.",
        triggers: &[Trigger::BeforeAnyTool],
        failure_mode: FailureMode::Closed,
        way_out: "The user archives, removes or completes it in a terminal or an editor.",
        unjudged_in_past: Some(RECORDS),
        judge: workflow::finish::judge,
        ..BLOCKER
    },
    Guard {
        name: "plan-gate",
        pack: "plan-gate",
        purpose: "An agent leaves plan mode only with a plan that a critic has read and whose gaps cover every \
                  serious finding, as witnessed for exactly this text.",
        triggers: &[Trigger::LeavingPlanMode],
        failure_mode: FailureMode::Closed,
        time_limit: TimeLimit::Reviewer(plan_gate::gate::deadline),
        way_out: "The user leaves plan mode in the client.",
        unjudged_in_past: Some(REVIEWER),
        judge: plan_gate::gate::judge,
        ..BLOCKER
    },
    Guard {
        name: "plan-keeper",
        pack: "plan-gate",
        purpose: "After every write to a plan in plan mode, its hashes are updated, and its verdict is removed \
                  unless it is for exactly this text.",
        triggers: &[Trigger::AfterToolInPlanMode],
        way_out: "It blocks nothing: it only updates the marks at the end of the plan.",
        judge: plan_gate::keeper::judge,
        ..OBSERVER
    },
    Guard {
        name: "plan-brief",
        pack: "plan-gate",
        purpose: "The critic gets exactly the plan without its gaps, and the validator exactly the gaps and the \
                  critic's findings, no matter what the agent wrote to them.",
        triggers: &[Trigger::BeforeDelegation],
        judge: plan_gate::brief::judge,
        ..OBSERVER
    },
    Guard {
        name: "plan-witness",
        pack: "plan-gate",
        purpose: "The answers of the critic and the validator are recorded for the plan and the gaps that they \
                  read, and a pass is sealed.",
        triggers: &[Trigger::SubagentStop, Trigger::AfterDelegation, Trigger::Prompt],
        judge: plan_gate::witness::judge,
        ..OBSERVER
    },
    Guard {
        name: "planner-bash-guard",
        pack: "planner",
        purpose: "A planner only reads: its command lines start only listed programs in forms that only read, and \
                  none of its tools writes outside `planning/`, deletes anything, or delegates to an agent that \
                  could.",
        triggers: &[Trigger::BeforeAnyTool],
        agents_setting: Some(settings::PLANNER_AGENTS),
        failure_mode: FailureMode::Closed,
        way_out: "The main conversation may do what the planner may not. The user adds programs to \
                  `planner.allow` and tools to `planner.tools` in provost.toml.",
        judge: planner::bash_guard::judge,
        ..BLOCKER
    },
    Guard {
        name: "plan-output-validator",
        pack: "planner",
        purpose: "A planner stops only with a plan: a recent file in `planning/` that has the required sections \
                  and leaves refactoring to the implementation.",
        triggers: &[Trigger::Stop, Trigger::SubagentStop],
        agents_setting: Some(settings::PLANNER_AGENTS),
        way_out: "It blocks a planner once: the next stop of the same turn passes. With \
                  `planner.require_plan = false` it checks only plans that exist.",
        unjudged_in_past: Some(RECORDS),
        judge: planner::plan_output::judge,
        ..BLOCKER
    },
    Guard {
        name: "review-loop",
        pack: "review-loop",
        purpose: "A turn that finishes a piece of work ends only after an independent reviewer has read it and \
                  the agent has dealt with the findings, until two reviews in a row are clean. When no review is \
                  due, the plan's files must follow the ground rules.",
        triggers: &[Trigger::Stop],
        is_overridable: false,
        time_limit: TimeLimit::Reviewer(review_loop::stop::find_time_limit),
        way_out: "`provost review set next_phase=null` ends the loop of a plan, and `max_reviews=0` skips all its \
                  reviews. The ground rules block a turn only once for the same reason.",
        unjudged_in_past: Some(REVIEWER),
        judge: review_loop::stop::judge,
        ..BLOCKER
    },
    Guard {
        name: "iteration-corridor",
        purpose: "While tests fail or the constitution is being checked, no agent delegates the work or moves to \
                  the next phase.",
        triggers: DELEGATION,
        judge: |event, workspace| Ok(phases::iteration_corridor::judge(event, workspace).into()),
        ..PHASES_BLOCKER
    },
    Guard {
        name: "skill-validator",
        purpose: "If the workflow requires a manifest of agents, no agent starts without it.",
        triggers: &[Trigger::BeforeDelegation],
        judge: |event, workspace| Ok(phases::skill_validator::judge(event, workspace).into()),
        ..PHASES_BLOCKER
    },
    Guard {
        name: "phase-loop-controller",
        purpose: "Work is delegated to a phase only after the phase is marked as started.",
        triggers: DELEGATION_OR_SHELL,
        judge: |event, workspace| Ok(phases::phase_loop_controller::judge(event, workspace).into()),
        ..PHASES_BLOCKER
    },
    Guard {
        name: "plan-surfacer",
        purpose: "From the implementation on, no work is delegated without a plan of tasks.",
        triggers: DELEGATION_OR_SHELL,
        judge: |event, workspace| Ok(phases::plan_surfacer::judge(event, workspace).into()),
        ..PHASES_BLOCKER
    },
    Guard {
        name: "phase-sequence-guard",
        purpose: "Work is delegated only to agents of the phase that the workflow is in.",
        triggers: DELEGATION_OR_SHELL,
        judge: |event, workspace| Ok(phases::phase_sequence_guard::judge(event, workspace).into()),
        ..PHASES_BLOCKER
    },
    Guard {
        name: "gate-blocker",
        purpose: "The workflow moves on only when the phase's requirements are met: tests, constitution, \
                  questions to the user, its own agent.",
        triggers: DELEGATION,
        judge: |event, workspace| Ok(phases::gate_blocker::judge(event, workspace).into()),
        ..PHASES_BLOCKER
    },
    Guard {
        name: "constitution-validator",
        purpose: "A phase is marked complete only after its articles of the constitution are checked.",
        triggers: DELEGATION,
        judge: |event, workspace| Ok(phases::constitution_validator::judge(event, workspace).into()),
        ..PHASES_BLOCKER
    },
    Guard {
        name: "branch-guard",
        purpose: "While a workflow has a branch of its own, nothing is committed to main or master.",
        triggers: &[Trigger::BeforeAnyTool],
        judge: phases::branch_guard::judge,
        ..PHASES_BLOCKER
    },
    Guard {
        name: "state-write-validator",
        purpose: "A state that claims what did not happen causes a warning; with `phases.validate = \"before\"` \
                  it is not written.",
        triggers: &[Trigger::BeforeAnyTool, Trigger::AfterWriting],
        judge: phases::state_write_validator::judge,
        ..PHASES_BLOCKER
    },
    Guard {
        name: "log-skill-usage",
        purpose: "The state records which agent worked in which phase.",
        triggers: &[Trigger::AfterDelegation],
        judge: |event, workspace| Ok(phases::log_skill_usage::judge(event, workspace).into()),
        ..PHASES_OBSERVER
    },
    Guard {
        name: "menu-tracker",
        purpose: "The state records how often the user was asked in the requirements phase, and what they chose.",
        triggers: &[Trigger::AfterDelegation, Trigger::SubagentStop],
        judge: |event, workspace| Ok(phases::menu_tracker::judge(event, workspace).into()),
        ..PHASES_OBSERVER
    },
    Guard {
        name: "walkthrough-tracker",
        purpose: "A discovery that ends without a walk through the constitution causes a warning.",
        triggers: &[Trigger::AfterDelegation, Trigger::SubagentStop],
        judge: |event, workspace| Ok(phases::walkthrough_tracker::judge(event, workspace).into()),
        ..PHASES_OBSERVER
    },
    Guard {
        name: "discover-menu-guard",
        purpose: "A discovery that shows another menu than it should causes a warning.",
        triggers: &[Trigger::AfterDelegation, Trigger::SubagentStop],
        judge: |event, workspace| Ok(phases::discover_menu_guard::judge(event, workspace).into()),
        ..PHASES_OBSERVER
    },
    Guard {
        name: "skill-delegation-enforcer",
        purpose: "The state records a skill that requires an agent until that agent has worked.",
        triggers: &[Trigger::AfterSkill],
        judge: |event, workspace| Ok(phases::skill_delegation_enforcer::judge(event, workspace).into()),
        ..PHASES_OBSERVER
    },
    Guard {
        name: "test-watcher",
        purpose: "The state records test results and the number of attempts.",
        triggers: &[Trigger::AfterShell],
        judge: |event, workspace| Ok(phases::test_watcher::judge(event, workspace).into()),
        ..PHASES_OBSERVER
    },
    Guard {
        name: "review-reminder",
        purpose: "A commit in a team whose reviews are switched off causes a warning.",
        triggers: &[Trigger::AfterShell],
        judge: |event, workspace| Ok(phases::review_reminder::judge(event, workspace).into()),
        ..PHASES_OBSERVER
    },
    Guard {
        name: "delegation-gate",
        purpose: "A turn that used a skill that requires an agent does not end before that agent has worked.",
        triggers: &[Trigger::Stop],
        unjudged_in_past: Some(RECORDS),
        judge: |event, workspace| Ok(phases::delegation_gate::judge(event, workspace).into()),
        ..PHASES_BLOCKER
    },
    Guard {
        name: "phase-records",
        purpose: "What the guards of this pack record is written to the state, once for each event.",
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
        judge: phases::phase_records::judge,
        ..PHASES_OBSERVER
    },
];

/// The setting that switches each guard on or off.
pub fn guard_settings() -> Vec<Setting> {
    let value_type = SettingType::Word { default: "on", choices: &["on", "watch", "off"] };
    let setting = |name, meaning| Setting { table: "guards", name, value_type, meaning };
    let guards = GUARDS.iter().map(|guard| setting(guard.name, guard.purpose));
    guards.chain(packs_with_switch().map(|pack| setting(pack.name, pack.purpose))).collect()
}

/// The packs that `[guards]` can switch as a whole. A pack with a guard of its own name is switched with that guard: off
/// that guard only, watched with all others.
fn packs_with_switch() -> impl Iterator<Item = &'static Pack> {
    PACKS.iter().filter(|pack| pack.name != "self" && find_guard(pack.name).is_none())
}

/// Whether neither the guard nor its whole pack is switched off under `[guards]`.
pub fn is_switched_on(guard: &Guard, config: &Config) -> bool {
    let is_pack_on = find_guard(guard.pack).is_some() || config.is_guard_on(guard.pack);
    is_pack_on && config.is_guard_on(guard.name)
}

pub fn find_guard(name: &str) -> Option<&'static Guard> {
    GUARDS.iter().find(|guard| guard.name == name)
}

/// The guard with this name, if a prompt of the user can allow its denials.
pub fn find_overridable(name: &str) -> Option<&'static Guard> {
    find_guard(name).filter(|guard| guard.is_overridable)
}

pub(crate) fn overridable_names() -> impl Iterator<Item = &'static str> {
    GUARDS.iter().filter(|guard| guard.is_overridable).map(|guard| guard.name)
}

pub fn list_guards_in(packs: &[&str]) -> Vec<&'static Guard> {
    GUARDS.iter().filter(|guard| packs.contains(&guard.pack)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_guards_that_allow_it_can_be_overridden() {
        let is_overridable = |name: &str| find_overridable(name).is_some();
        assert!(is_overridable("planner-bash-guard") && is_overridable("plan-output-validator"));
        for name in ["registration-guard", "config-check", "override", "nobody", ""] {
            assert!(!is_overridable(name), "{name}");
        }
        assert!(GUARDS.iter().all(|guard| guard.can_block || !guard.is_overridable));
    }
}

//! Whether Provost is asked here, and which of its packs, as far as files tell.
//!
//! A pack whose files are there does nothing where no hook entry has its guards asked, and an entry does
//! nothing in a file that the client drops or switches off. A screen that says otherwise is believed.

use std::path::Path;

use crate::clients::{Hook, Scope, Source};
use crate::config::{Config, settings};
use crate::registry::{GUARDS, Guard, PACKS};
use crate::review_loop::plan;
use crate::text::{bounded, one_line};
use crate::workspace::Workspace;

/// As much of the names of agents is shown.
const LONGEST: usize = 200;

/// Whether the client calls Provost.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Called {
    Yes,
    /// Nothing is registered, but the journal has lines.
    Formerly,
    No,
    /// A settings file keeps all hooks from running.
    Off,
    /// What may register it is in a form of which the client takes nothing.
    Dropped,
}

pub(crate) struct Pack {
    pub(crate) name: &'static str,
    pub(crate) is_on: bool,
    pub(crate) why: String,
}

/// Whether the client calls Provost here, as far as files tell.
pub(super) fn called(sources: &[Source], was_called: bool) -> Called {
    let is_silenced = |source: &Source| sources.iter().any(|other| other.silences(source));
    let calls = |source: &Source| source.hooks.iter().any(|hook| hook.calls_provost);
    // What stands in a settings file that cannot be read, nobody knows.
    let may_call = |source: &Source| {
        calls(source) || !matches!(source.scope, Scope::Plugin { .. }) && !source.settings.is_object()
    };
    if sources.iter().any(|source| source.void.is_none() && calls(source) && !is_silenced(source)) {
        Called::Yes
    } else if is_silenced(&Source::default()) {
        Called::Off
    } else if sources.iter().any(|source| source.void.is_some() && may_call(source)) {
        Called::Dropped
    } else if was_called {
        // Of a session that was given its plugins on the command line, only the journal knows.
        Called::Formerly
    } else {
        Called::No
    }
}

/// The guards that judge here: the configuration does not switch them off, and their pack is on. `status`,
/// `guards` and `doctor` all count these.
pub(super) fn guards_on(packs: &[Pack], config: &Config) -> Vec<&'static str> {
    let is_on = |guard: &&Guard| {
        config.guard_is_on(guard.name) && packs.iter().any(|pack| pack.is_on && pack.name == guard.pack)
    };
    GUARDS.iter().filter(is_on).map(|guard| guard.name).collect()
}

/// Which packs are on here, and why.
pub(super) fn packs(
    workspace: &Workspace,
    cwd: &Path,
    hooks: &[&Hook],
    asked_plan_gate: bool,
    has_workflow: bool,
) -> Vec<Pack> {
    let config = &workspace.config;
    let judge = |name: &'static str| -> (bool, String) {
        let mut guards = GUARDS.iter().filter(|guard| guard.pack == name);
        if !guards.any(|guard| config.guard_is_on(guard.name)) {
            return (false, "all its guards are switched off".into());
        }
        // An entry that names no pack has all of them asked.
        let asks = |hook: &&Hook| {
            // Asked about prompts, the own pack is only the way out of another one.
            let is_way_out = name == "self" && hook.event == workspace.client.health.prompt;
            !is_way_out && (hook.packs.is_empty() || hook.packs.iter().any(|pack| pack == name))
        };
        let is_asked = hooks.is_empty() || hooks.iter().any(asks);
        match name {
            "plan-gate" if config.switch(settings::PLAN_GATE) && is_asked => {
                (true, format!("`{}` is set", settings::PLAN_GATE))
            }
            "plan-gate" if asked_plan_gate => (true, "a hook entry names it".into()),
            "plan-gate" if !config.switch(settings::PLAN_GATE) => (
                false,
                format!("`{}` is not set, and no hook entry was seen to name it", settings::PLAN_GATE),
            ),
            "self" if !is_asked => (false, "no hook entry asks it about calls".into()),
            _ if !is_asked => (false, "the hook entries name other packs".into()),
            "planner" => match config.words("planner.agents").as_slice() {
                [] => (false, "`planner.agents` names no agent".into()),
                agents => {
                    (true, format!("in the agents {}", bounded(&one_line(&agents.join(", ")), LONGEST)))
                }
            },
            "review-loop" if plan::is_place(cwd, workspace) => (true, "there is `.taskie/plans`".into()),
            "review-loop" => (false, "there is no `.taskie/plans` here or above".into()),
            "phases" if has_workflow => (true, "there is `.isdlc`".into()),
            "phases" => (false, "there is no `.isdlc` in this project".into()),
            _ => (true, "always".into()),
        }
    };
    PACKS
        .iter()
        .map(|pack| {
            let (is_on, why) = judge(pack.name);
            Pack { name: pack.name, is_on, why }
        })
        .collect()
}

//! Which guards one call of Provost asks.

use crate::prelude::*;
use crate::registry::{GUARDS, PACKS, WORKFLOW, find_guard, is_switched_on};
use provost_core::config::Config;
use provost_core::event::Event;
use provost_core::guard::{Guard, Pack, RULES};

/// Which guards one call of Provost asks. Nothing outside this type decides that.
#[derive(Clone, Default)]
pub struct GuardSelection {
    /// The packs that the hook entry names, which are on; empty: all packs, where their settings switch them on.
    pub packs: Vec<String>,
    /// For `compat`, in place of a script: ask exactly these guards, for every event and agent, because the script
    /// is registered only where the user wants it.
    pub script: Option<&'static [&'static str]>,
}

impl GuardSelection {
    /// All guards that this call could ask, for any event.
    pub fn list_candidates(&self) -> Vec<&'static Guard> {
        if let Some(names) = self.script {
            return names.iter().filter_map(|name| find_guard(name)).collect();
        }
        let is_named = |guard: &&Guard| self.packs.iter().any(|pack| pack == guard.pack);
        GUARDS.iter().filter(|guard| self.packs.is_empty() || is_named(guard)).collect()
    }

    /// The candidates whose triggers match an event. This needs no configuration.
    pub fn select_concerned(&self, event: &Event) -> Vec<&'static Guard> {
        let mut guards = self.list_candidates();
        guards.retain(|guard| self.script.is_some() || guard.is_concerned_by(event));
        guards
    }

    /// Drops the guards that are switched off, alone or with their pack.
    pub fn select_switched_on(
        &self,
        mut guards: Vec<&'static Guard>,
        config: &Config,
    ) -> Vec<&'static Guard> {
        let is_on = |pack: &Pack| pack.is_on(&self.packs, config);
        guards.retain(|guard| {
            // Without rules or workflows, a failure of their guards could let nothing through.
            let has_work = match guard.pack {
                RULES => !config.rule_files.is_empty() || config.has_outdated_copy,
                WORKFLOW => config.uses_workflows(),
                _ => true,
            };
            has_work
                && is_switched_on(guard, config)
                && PACKS.iter().any(|pack| pack.name == guard.pack && is_on(pack))
        });
        guards
    }

    /// The guards to ask: drops those that are switched off or not asked in the event's agent.
    pub fn select_guards(
        &self,
        concerned: Vec<&'static Guard>,
        event: &Event,
        config: &Config,
    ) -> Vec<&'static Guard> {
        let mut guards = self.select_switched_on(concerned, config);
        guards.retain(|guard| self.script.is_some() || guard.is_asked_in(event.agent.as_ref(), config));
        guards
    }

    /// The guards that `provost hook` without arguments asks about an event.
    pub fn select_for_event(event: &Event, config: &Config) -> Vec<&'static Guard> {
        let selection = Self::default();
        selection.select_guards(selection.select_concerned(event), event, config)
    }
}

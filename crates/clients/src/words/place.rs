//! The files in which a client registers hooks, and the entries that it needs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Name;
use crate::claude::entries;
use crate::{NeededEntry, SettingsScope};
use provost_core::guard::{Guard, Trigger};
use provost_core::places::Places;

/// Where a client registers hooks, and for which events.
pub(super) struct HookPlace {
    /// The file in a project; `None`: the client reads no hooks of a project.
    pub(super) in_project: Option<&'static str>,
    /// The file below the home directory.
    pub(super) in_home: &'static str,
    /// The events that it reports, by Claude Code's names.
    pub(super) events: &'static [&'static str],
    /// Its names of these events, where they differ.
    pub(super) names: &'static [Name],
    /// A longer time limit makes the client fail.
    pub(super) longest_seconds: u32,
}

/// No time limit is too long.
pub(super) const ANY_TIME: u32 = u32::MAX / 1000;

impl HookPlace {
    pub(super) fn find_file(
        &self,
        places: &Places,
        project: &Path,
        scope: &SettingsScope,
    ) -> Option<PathBuf> {
        match scope {
            SettingsScope::Project => Some(project.join(self.in_project?)),
            SettingsScope::User => Some(places.home.as_ref()?.join(self.in_home)),
            SettingsScope::Managed | SettingsScope::Local | SettingsScope::Plugin { .. } => None,
        }
    }

    /// One entry for each event, because the client's matchers are not Claude Code's.
    pub(super) fn list_needed_entries(&self, guards: &[&Guard], closed: bool) -> Vec<NeededEntry> {
        let mut needed: Vec<NeededEntry> = Vec::new();
        for entry in entries::list_needed_entries(guards, closed) {
            if !self.events.contains(&entry.event) {
                continue;
            }
            let native = self.names.iter().find(|(_, meaning)| *meaning == entry.event);
            let event = native.map_or(entry.event, |(native, _)| native);
            let seconds = entry.seconds.min(self.longest_seconds);
            match needed.iter_mut().find(|known| known.event == event) {
                Some(known) => known.seconds = known.seconds.max(seconds),
                None => needed.push(NeededEntry { event, matcher: None, seconds, blocks_on_failure: false }),
            }
        }
        needed
    }

    pub(super) fn fit_timeouts(
        &self,
        needed: &mut [NeededEntry],
        find_limit: &dyn Fn(Trigger) -> Option<Duration>,
    ) {
        for entry in needed {
            let meaning = self.names.iter().find(|(native, _)| *native == entry.event);
            let event = meaning.map_or(entry.event, |(_, meaning)| meaning);
            let mut fitted = [NeededEntry { event, ..*entry }];
            entries::fit_timeouts(&mut fitted, find_limit);
            entry.seconds = fitted[0].seconds.min(self.longest_seconds);
        }
    }
}

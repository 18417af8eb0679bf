//! Registers Provost with the clients whose hook files are JSON in the form of Claude Code's.
//!
//! Such a client has a shell run the command of an entry, and has one entry for each event: its matchers are not Claude
//! Code's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::Name;
use crate::claude::entries::{self, EntryForm};
use crate::claude::{installation, registrations};
use crate::{HookSource, InstallReport, InstallRequest, NeededEntry, RemovalReport, SettingsScope};
use provost_core::guard::{Guard, Trigger};
use provost_core::places::Places;

/// Where and how a client registers hooks.
pub(super) struct HookFile {
    /// The file in a project.
    pub(super) in_project: &'static str,
    /// The file below the home directory.
    pub(super) in_home: &'static str,
    /// The text of a new file.
    pub(super) new: &'static str,
    pub(super) form: EntryForm,
    /// The events that it reports, by Claude Code's names.
    pub(super) events: &'static [&'static str],
    /// Its names of these events, where they differ.
    pub(super) names: &'static [Name],
    /// A longer time limit makes the client fail.
    pub(super) longest_seconds: u32,
}

pub(super) fn find_file(
    file: &HookFile,
    places: &Places,
    project: &Path,
    scope: &SettingsScope,
) -> Option<PathBuf> {
    match scope {
        SettingsScope::Project => Some(project.join(file.in_project)),
        SettingsScope::User => Some(places.home.as_ref()?.join(file.in_home)),
        SettingsScope::Managed | SettingsScope::Local | SettingsScope::Plugin { .. } => None,
    }
}

pub(super) fn list_registrations(file: &HookFile, places: &Places, project: &Path) -> Vec<HookSource> {
    let mut sources: Vec<HookSource> = Vec::new();
    for scope in [SettingsScope::Project, SettingsScope::User] {
        let Some(path) = find_file(file, places, project, &scope) else { continue };
        if sources.iter().any(|source| source.file == path) {
            continue;
        }
        let mut source = HookSource { file: path, scope, ..HookSource::default() };
        match registrations::read_text(&source.file) {
            Ok(None) => continue,
            Ok(Some(text)) => match serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
                Ok(settings) => {
                    source.hooks = registrations::list_hooks(&settings["hooks"]);
                    for hook in &mut source.hooks {
                        hook.seconds =
                            hook.seconds.map(|limit| limit / f64::from(file.form.units_per_second));
                    }
                    source.settings = settings;
                }
                Err(error) => source.ignored_because = Some(format!("the file is not JSON ({error})")),
            },
            Err(why) => source.ignored_because = Some(why),
        }
        sources.push(source);
    }
    sources
}

pub(super) fn list_needed_entries(file: &HookFile, guards: &[&Guard], closed: bool) -> Vec<NeededEntry> {
    let mut needed: Vec<NeededEntry> = Vec::new();
    for entry in entries::list_needed_entries(guards, closed) {
        if !file.events.contains(&entry.event) {
            continue;
        }
        let event = native_name(file.names, entry.event);
        let seconds = entry.seconds.min(file.longest_seconds);
        match needed.iter_mut().find(|known| known.event == event) {
            Some(known) => known.seconds = known.seconds.max(seconds),
            None => needed.push(NeededEntry { event, matcher: None, seconds, blocks_on_failure: false }),
        }
    }
    needed
}

pub(super) fn fit_timeouts(
    file: &HookFile,
    needed: &mut [NeededEntry],
    find_limit: &dyn Fn(Trigger) -> Option<Duration>,
) {
    for entry in needed {
        let name = file
            .names
            .iter()
            .find(|(native, _)| *native == entry.event)
            .map_or(entry.event, |(_, name)| *name);
        let mut fitted = [NeededEntry { event: name, ..*entry }];
        entries::fit_timeouts(&mut fitted, find_limit);
        entry.seconds = fitted[0].seconds.min(file.longest_seconds);
    }
}

pub(super) fn install_entries(
    file: &HookFile,
    text: Option<&str>,
    wanted: &InstallRequest<'_>,
) -> Result<InstallReport, String> {
    installation::install_in_form(text.unwrap_or(file.new), wanted, file.form)
}

pub(super) fn remove_entries(
    file: &HookFile,
    text: &str,
    before: Option<&str>,
) -> Result<RemovalReport, String> {
    let mut report = installation::remove_entries(text, before)?;
    let is_new =
        |left: &String| serde_json::from_str::<Value>(left).ok() == serde_json::from_str(file.new).ok();
    if before.is_none_or(str::is_empty) && report.text.as_ref().is_some_and(is_new) {
        (report.text, report.is_restored) = (None, true);
    }
    Ok(report)
}

fn native_name(events: &[Name], name: &'static str) -> &'static str {
    events.iter().find(|(_, meaning)| *meaning == name).map_or(name, |(native, _)| native)
}

/// The installation of a client whose hook file is JSON.
macro_rules! json_installation {
    ($file:expr) => {
        crate::Installation {
            list_registrations: |places, project| {
                crate::words::registration::list_registrations(&$file, places, project)
            },
            list_needed_entries: |guards, closed| {
                crate::words::registration::list_needed_entries(&$file, guards, closed)
            },
            fit_timeouts: |entries, find_limit| {
                crate::words::registration::fit_timeouts(&$file, entries, find_limit);
            },
            find_settings_file: |places, project, scope| {
                crate::words::registration::find_file(&$file, places, project, scope)
            },
            install_entries: |text, wanted| crate::words::registration::install_entries(&$file, text, wanted),
            remove_entries: |text, before| crate::words::registration::remove_entries(&$file, text, before),
            has_installed_entries: crate::claude::installation::has_installed_entries,
            ..crate::Installation::NONE
        }
    };
}
pub(super) use json_installation;

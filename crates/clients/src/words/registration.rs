//! Registers Provost with the clients whose hook files are JSON in the form of Claude Code's.
//!
//! Such a client has a shell run the command of an entry, and has one entry for each event: its matchers are not Claude
//! Code's.

use std::path::Path;

use serde_json::Value;

use super::place::HookPlace;
use crate::claude::entries::EntryForm;
use crate::claude::{installation, registrations};
use crate::{HookSource, InstallReport, InstallRequest, RemovalReport, SettingsScope};
use provost_core::places::Places;

/// Where and how a client registers hooks in JSON.
pub(super) struct HookFile {
    pub(super) place: HookPlace,
    /// The text of a new file.
    pub(super) new: &'static str,
    pub(super) form: EntryForm,
}

pub(super) fn list_registrations(file: &HookFile, places: &Places, project: &Path) -> Vec<HookSource> {
    let mut sources: Vec<HookSource> = Vec::new();
    for scope in [SettingsScope::Project, SettingsScope::User] {
        let Some(path) = file.place.find_file(places, project, &scope) else { continue };
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

/// The installation of a client whose hook file is JSON.
macro_rules! json_installation {
    ($file:expr) => {
        crate::Installation {
            list_registrations: |places, project| {
                crate::words::registration::list_registrations(&$file, places, project)
            },
            list_needed_entries: |guards, closed| $file.place.list_needed_entries(guards, closed),
            fit_timeouts: |entries, find_limit| {
                $file.place.fit_timeouts(entries, find_limit);
            },
            find_settings_file: |places, project, scope| $file.place.find_file(places, project, scope),
            install_entries: |text, wanted| crate::words::registration::install_entries(&$file, text, wanted),
            remove_entries: |text, before| crate::words::registration::remove_entries(&$file, text, before),
            has_installed_entries: crate::claude::installation::has_installed_entries,
            ..crate::Installation::NONE
        }
    };
}
pub(super) use json_installation;

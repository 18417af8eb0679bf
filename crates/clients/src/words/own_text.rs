//! Registers Provost with clients whose hooks are not JSON: `OpenCode`'s module, and Kimi's list in TOML.
//!
//! The text that Provost adds is one piece between two lines of its own, so it is found again and can be removed without a
//! trace. The rest of a file is the user's and is never parsed or printed.

use std::path::Path;

use serde_json::Value;

use super::place::HookPlace;
use crate::claude::registrations;
use crate::{
    HookSource, InstallReport, InstallRequest, NeededEntry, ProgramName, RegisteredHook, RemovalReport,
    SettingsScope,
};
use provost_core::places::Places;
use provost_core::text::quote_for_shell;

/// Where and how a client registers hooks by a text.
pub(super) struct HookText {
    pub(super) place: HookPlace,
    pub(super) client: &'static str,
    /// The lines around Provost's text.
    pub(super) begin: &'static str,
    pub(super) end: &'static str,
    /// Provost's text without these lines.
    pub(super) write: fn(program: &str, arguments: &[String], entries: &[NeededEntry]) -> String,
    /// Why nothing can be added to a text.
    pub(super) find_obstacle: fn(text: &str) -> Option<&'static str>,
}

pub(super) fn list_registrations(hooks: &HookText, places: &Places, project: &Path) -> Vec<HookSource> {
    let read = |scope: SettingsScope| {
        let file = hooks.place.find_file(places, project, &scope)?;
        let mut source = HookSource { file, scope, ..HookSource::default() };
        match registrations::read_text(&source.file) {
            Ok(text) => {
                let text = text?;
                source.hooks =
                    find_own(hooks, &text).map_or_else(Vec::new, |(_, own, _)| list_hooks(hooks, own));
            }
            Err(why) => source.ignored_because = Some(why),
        }
        Some(source)
    };
    let mut sources: Vec<HookSource> =
        [SettingsScope::Project, SettingsScope::User].into_iter().filter_map(read).collect();
    sources.dedup_by(|one, other| one.file == other.file);
    sources
}

/// The entries in Provost's text. Each client's text names the packs after `--pack`.
fn list_hooks(hooks: &HookText, own: &str) -> Vec<RegisteredHook> {
    let words: Vec<&str> = own
        .split(|c: char| c.is_whitespace() || "\"',[]".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let mut packs: Vec<String> = Vec::new();
    for pair in words.windows(2).filter(|pair| pair[0] == "--pack") {
        if !packs.iter().any(|known| known == pair[1]) {
            packs.push(pair[1].to_owned());
        }
    }
    let hook = |event: &&'static str| RegisteredHook {
        event: (*event).to_owned(),
        matcher: None,
        kind: "command".into(),
        command: format!("provost hook --client {}", hooks.client),
        arguments: None,
        seconds: None,
        blocks_on_failure: false,
        calls_provost: true,
        is_installed: true,
        packs: packs.clone(),
        entry: Value::Null,
    };
    let is_registered = |event: &&&'static str| own.contains(&format!("\"{event}\""));
    hooks.place.events.iter().filter(is_registered).map(hook).collect()
}

/// The text before Provost's text, that text with its lines, and the text after it.
fn find_own<'t>(hooks: &HookText, text: &'t str) -> Option<(&'t str, &'t str, &'t str)> {
    let begin = text.find(hooks.begin)?;
    let end = begin + text[begin..].find(hooks.end)? + hooks.end.len();
    let end = end + usize::from(text[end..].starts_with('\n'));
    Some((&text[..begin], &text[begin..end], &text[end..]))
}

pub(super) fn install_entries(
    hooks: &HookText,
    text: Option<&str>,
    wanted: &InstallRequest<'_>,
) -> Result<InstallReport, String> {
    let program = match wanted.program {
        ProgramName::Path(path) => path,
        ProgramName::Shared => "provost",
    };
    let packs = wanted.packs.iter().flat_map(|pack| ["--pack", *pack]);
    let arguments: Vec<String> =
        ["hook", "--client", hooks.client].into_iter().chain(packs).map(str::to_owned).collect();
    let own =
        format!("{}\n{}{}\n", hooks.begin, (hooks.write)(program, &arguments, wanted.entries), hooks.end);
    let mut report = InstallReport::default();
    let events = || wanted.entries.iter().map(|entry| entry.event.to_owned()).collect();
    let text = text.unwrap_or_default();
    match find_own(hooks, text) {
        Some((_, known, _)) if known == own => {}
        Some((before, _, after)) => {
            report.updated = events();
            report.text = Some(format!("{before}{own}{after}"));
        }
        None => {
            if let Some(why) = (hooks.find_obstacle)(text) {
                return Err(why.to_owned());
            }
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            report.added = events();
            report.text = Some(format!("{text}{gap}{own}"));
        }
    }
    Ok(report)
}

pub(super) fn remove_entries(hooks: &HookText, text: &str, before: Option<&str>) -> RemovalReport {
    let Some((head, own, tail)) = find_own(hooks, text) else {
        return RemovalReport { text: Some(text.to_owned()), is_restored: false, entries: Vec::new() };
    };
    let left = format!("{head}{tail}");
    let entries = list_hooks(hooks, own).into_iter().map(|hook| hook.event).collect();
    // The line break in front may be Provost's.
    let is_same = |before: &&str| *before == left || format!("{before}\n") == left;
    if let Some(before) = before.filter(is_same) {
        let text = (!before.is_empty()).then(|| before.to_owned());
        return RemovalReport { text, is_restored: true, entries };
    }
    let is_empty = left.trim().is_empty();
    RemovalReport { text: (!is_empty).then_some(left), is_restored: is_empty && before.is_none(), entries }
}

pub(super) fn has_installed_entries(hooks: &HookText, text: &str) -> bool {
    find_own(hooks, text).is_some()
}

/// The command line of an entry.
pub(super) fn command_line(program: &str, arguments: &[String]) -> String {
    format!("{} {}", quote_for_shell(program), arguments.join(" "))
}

/// The installation of a client whose hooks are a text.
macro_rules! text_installation {
    ($hooks:expr) => {
        crate::Installation {
            list_registrations: |places, project| {
                crate::words::own_text::list_registrations(&$hooks, places, project)
            },
            list_needed_entries: |guards, closed| $hooks.place.list_needed_entries(guards, closed),
            fit_timeouts: |entries, find_limit| $hooks.place.fit_timeouts(entries, find_limit),
            find_settings_file: |places, project, scope| $hooks.place.find_file(places, project, scope),
            install_entries: |text, wanted| crate::words::own_text::install_entries(&$hooks, text, wanted),
            remove_entries: |text, before| Ok(crate::words::own_text::remove_entries(&$hooks, text, before)),
            has_installed_entries: |text| crate::words::own_text::has_installed_entries(&$hooks, text),
            ..crate::Installation::NONE
        }
    };
}
pub(super) use text_installation;

//! Where hooks are registered for the project, and which packs each hook asks.

use std::path::Path;

use super::Overview;
use crate::clients::{HookProgram, HookSource, RegisteredHook, SettingsScope};
use crate::places::is_provost_program;
use crate::registry::PACKS;
use crate::text::{make_one_line, shorten_name, truncate_utf16};
use provost_files as files;

/// A hook with the place where it is registered.
#[derive(Clone, Copy)]
pub(crate) struct LocatedHook<'a> {
    pub(crate) source: &'a HookSource,
    pub(crate) hook: &'a RegisteredHook,
}

impl Overview {
    /// Every place that registers hooks, the strongest first. A hook whose script calls Provost counts as a call.
    pub(crate) fn sources(&self) -> &[HookSource] {
        self.sources.get_or_init(|| {
            let mut sources =
                (self.client.installation().list_registrations)(&self.workspace.places, &self.settings_root);
            for hook in sources.iter_mut().flat_map(|source| &mut source.hooks) {
                if !hook.calls_provost
                    && let Some(packs) = find_call_in_script(hook, &self.settings_root)
                {
                    hook.calls_provost = true;
                    hook.packs = packs;
                }
            }
            sources
        })
    }

    /// The hooks of all places that the client accepts.
    pub(crate) fn entries(&self) -> impl Iterator<Item = LocatedHook<'_>> {
        let sources = self.sources().iter().filter(|source| source.ignored_because.is_none());
        sources.flat_map(|source| source.hooks.iter().map(move |hook| LocatedHook { source, hook }))
    }

    pub(crate) fn provost_entries(&self) -> Vec<LocatedHook<'_>> {
        self.entries().filter(|entry| entry.hook.calls_provost).collect()
    }

    /// The packs whose guards a hook asks.
    pub(crate) fn packs_of_hook(&self, hook: &RegisteredHook) -> Vec<&'static str> {
        let is_named = |name: &str| hook.packs.is_empty() || hook.packs.iter().any(|pack| pack == name);
        let is_asked = |pack: &&crate::registry::Pack| {
            is_named(pack.name) && pack.is_on(&hook.packs, &self.workspace.config)
        };
        PACKS.iter().filter(is_asked).map(|pack| pack.name).collect()
    }

    /// The program of Provost that a hook runs, if its command names one.
    pub(crate) fn find_program(&self, entry: &LocatedHook<'_>) -> Option<HookProgram> {
        let places = &self.workspace.places;
        (self.client.health().find_program)(entry.hook, &entry.source.scope, &self.settings_root, places)
    }

    /// A path as the user would write it here.
    pub(crate) fn short_path(&self, path: &Path) -> String {
        let home = self.workspace.places.home.as_deref();
        let below_home = || Some(format!("~/{}", path.strip_prefix(home?).ok()?.display()));
        let text = match path.strip_prefix(&self.settings_root) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => below.display().to_string(),
            Err(_) => below_home().unwrap_or_else(|| path.display().to_string()),
        };
        make_one_line(&text)
    }

    pub(crate) fn name_entry(&self, entry: &LocatedHook<'_>) -> String {
        format!("the {} entry of {}", entry.title(), self.name_source(entry.source))
    }

    /// The name of a place that registers hooks.
    pub(crate) fn name_source(&self, source: &HookSource) -> String {
        match &source.scope {
            SettingsScope::Plugin { name, .. } => format!("the plugin `{}`", shorten_name(name)),
            _ => self.short_path(&source.file),
        }
    }
}

impl LocatedHook<'_> {
    /// Whether the client takes the two for one, and runs it once.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let plugin = |entry: &Self| match &entry.source.scope {
            SettingsScope::Plugin { name, .. } => Some(name.clone()),
            _ => None,
        };
        self.hook.command == other.hook.command
            && self.hook.arguments == other.hook.arguments
            && self.hook.entry["if"] == other.hook.entry["if"]
            && plugin(self) == plugin(other)
    }

    pub(crate) fn title(&self) -> String {
        let matcher = self.hook.matcher.as_ref().map(|matcher| format!(" for `{}`", shorten_name(matcher)));
        format!("{}{}", shorten_name(&self.hook.event), matcher.unwrap_or_default())
    }

    /// The command as it is registered, cut to a length that fits a screen.
    pub(crate) fn short_command(&self) -> String {
        let mut words = vec![self.hook.command.as_str()];
        words.extend(self.hook.arguments.iter().flatten().map(String::as_str));
        make_one_line(&truncate_utf16(&words.join(" "), 160))
    }
}

/// The packs that the script behind a hook names, if it is a script that calls `provost hook`.
fn find_call_in_script(hook: &RegisteredHook, project: &Path) -> Option<Vec<String>> {
    /// A script that only calls another program is smaller.
    const LARGEST: u64 = 64 << 10;
    // Every variable of the client that a command can start with names the project.
    let word = hook.command.split_whitespace().next().unwrap_or_default().replace(['"', '\''], "");
    let path = match word.strip_prefix('$').and_then(|rest| rest.split_once('/')) {
        Some((_, below)) => project.join(below),
        None if word.contains('/') => project.join(&word),
        None => return None,
    };
    let bytes = files::read_file(&path, LARGEST).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    if !text.starts_with("#!") {
        return None;
    }
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let words: Vec<&str> =
        lines.flat_map(str::split_whitespace).map(|word| word.trim_matches(['"', '\'', ';'])).collect();
    let is_call = words.windows(2).any(|pair| is_provost_program(pair[0]) && pair[1] == "hook");
    let packs = words.windows(2).filter(|pair| pair[0] == "--pack").map(|pair| pair[1].to_owned());
    is_call.then(|| packs.collect())
}

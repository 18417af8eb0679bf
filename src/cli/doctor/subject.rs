//! The project that is looked at: where hooks are registered for it, and which packs it uses.

use std::path::{Path, PathBuf};

use crate::cli::Here;
use crate::cli::settings_file::home_of_client;
use crate::clients::{self, Client, Hook, Scope, Source};
use crate::config::{Config, settings};
use crate::files;
use crate::registry::PACKS;
use crate::text::{one_line, short};
use crate::workspace::{Places, is_provost};

pub(super) struct Subject {
    pub(super) client: &'static Client,
    pub(super) places: Places,
    /// Where the client would be started.
    pub(super) project: PathBuf,
    /// Where the doctor was started.
    pub(super) start: PathBuf,
    pub(super) state: Option<PathBuf>,
    /// The project's configuration, if there is one.
    pub(super) config_file: Option<PathBuf>,
    pub(super) config: Config,
    pub(super) sources: Vec<Source>,
}

/// A hook with the place where it is registered.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) source: &'a Source,
    pub(super) hook: &'a Hook,
}

impl Subject {
    pub(super) fn of(here: Here, cwd: &Path) -> Self {
        let client = clients::DEFAULT;
        let places = Places::from_environment();
        let project = home_of_client(client, cwd, &here.project);
        let mut sources = (client.registrations)(&places, &project);
        for hook in sources.iter_mut().flat_map(|source| &mut source.hooks) {
            look_into_script(hook, &project);
        }
        let is_of_project = |layer| layer == crate::config::Layer::Project;
        let config_file = here.config.files.iter().find(|(layer, _)| is_of_project(*layer));
        let config_file = config_file.map(|(_, file)| file.clone());
        Self {
            client,
            places,
            project,
            start: cwd.to_owned(),
            state: here.state,
            config_file,
            config: here.config,
            sources,
        }
    }

    /// The hooks of all places that the client takes hooks from.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let sources = self.sources.iter().filter(|source| source.void.is_none());
        sources.flat_map(|source| source.hooks.iter().map(move |hook| Entry { source, hook }))
    }

    /// Those that call Provost.
    pub(super) fn own_entries(&self) -> Vec<Entry<'_>> {
        self.entries().filter(|entry| entry.hook.calls_provost).collect()
    }

    /// The packs whose guards a hook has asked.
    pub(super) fn packs_of(&self, hook: &Hook) -> Vec<&'static str> {
        let is_named = |name: &str| hook.packs.is_empty() || hook.packs.iter().any(|pack| pack == name);
        let packs = PACKS.iter().filter(|pack| is_named(pack.name) && pack.is_on(&hook.packs, &self.config));
        packs.map(|pack| pack.name).collect()
    }

    /// The packs that somebody works with here.
    pub(super) fn packs_in_use(&self) -> Vec<&'static str> {
        let is_named = |name: &str| {
            self.own_entries().iter().any(|entry| entry.hook.packs.iter().any(|pack| pack == name))
        };
        let is_in_use = |name: &str| match name {
            "plan-gate" => self.config.switch(settings::PLAN_GATE) || is_named(name),
            "planner" => is_named(name) || self.has_planner(),
            "review-loop" => self.project.join(".taskie/plans").is_dir(),
            "phases" => self.project.join(".isdlc").is_dir(),
            _ => !self.is_only_way_out(name),
        };
        PACKS.iter().map(|pack| pack.name).filter(|name| is_in_use(name)).collect()
    }

    /// Whether a pack is asked about nothing but prompts: then it is there as the way out of another one.
    fn is_only_way_out(&self, pack: &str) -> bool {
        let entries = self.own_entries();
        let mut of_pack = entries.iter().filter(|entry| self.packs_of(entry.hook).contains(&pack)).peekable();
        of_pack.peek().is_some() && of_pack.all(|entry| entry.hook.event == self.client.health.prompt)
    }

    fn has_planner(&self) -> bool {
        let agents = self.config.words(settings::PLANNER_AGENTS);
        let files = |name: &String| (self.client.health.agent_files)(name, &self.project, &self.places);
        agents.iter().flat_map(files).any(|file| file.is_file())
    }

    /// A path as a person would write it here.
    pub(super) fn shown(&self, path: &Path) -> String {
        let text = match (path.strip_prefix(&self.project), &self.places.home) {
            (Ok(below), _) if below.as_os_str().is_empty() => ".".to_owned(),
            (Ok(below), _) => below.display().to_string(),
            (Err(_), Some(home)) => match path.strip_prefix(home) {
                Ok(below) if below.as_os_str().is_empty() => "~".to_owned(),
                Ok(below) => format!("~/{}", below.display()),
                Err(_) => path.display().to_string(),
            },
            _ => path.display().to_string(),
        };
        one_line(&text)
    }

    /// Where hooks are registered, in words.
    pub(super) fn place(&self, source: &Source) -> String {
        match &source.scope {
            Scope::Plugin { name, .. } => format!("the plugin `{}`", short(name)),
            _ => self.shown(&source.file),
        }
    }
}

impl Entry<'_> {
    /// Whether the client runs only one of the two.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let plugin = |entry: &Self| match &entry.source.scope {
            Scope::Plugin { name, .. } => Some(name.clone()),
            _ => None,
        };
        self.hook.command == other.hook.command
            && self.hook.arguments == other.hook.arguments
            && self.hook.entry["if"] == other.hook.entry["if"]
            && plugin(self) == plugin(other)
    }

    pub(super) fn title(&self) -> String {
        let matcher = self.hook.matcher.as_ref().map(|matcher| format!(" for `{}`", short(matcher)));
        format!("{}{}", short(&self.hook.event), matcher.unwrap_or_default())
    }

    /// The command as it is registered, short enough to be read.
    pub(super) fn command(&self) -> String {
        let arguments = self.hook.arguments.iter().flatten();
        let words: Vec<&str> =
            std::iter::once(&self.hook.command).chain(arguments).map(String::as_str).collect();
        one_line(&crate::text::bounded(&words.join(" "), 160))
    }
}

/// A script of the project or the person may call Provost: then the entry does.
fn look_into_script(hook: &mut Hook, project: &Path) {
    /// No script that only calls another program is larger.
    const LARGEST: u64 = 64 << 10;
    if hook.calls_provost {
        return;
    }
    // A variable of the client at its start can only be the project.
    let word = hook.command.split_whitespace().next().unwrap_or_default().replace(['"', '\''], "");
    let path = match word.strip_prefix('$').and_then(|rest| rest.split_once('/')) {
        Some((_, below)) => project.join(below),
        None if word.contains('/') => project.join(&word),
        None => return,
    };
    let Ok(Some(bytes)) = files::read(&path, LARGEST) else { return };
    let text = String::from_utf8_lossy(&bytes);
    if !text.starts_with("#!") {
        return;
    }
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let words: Vec<&str> =
        lines.flat_map(str::split_whitespace).map(|word| word.trim_matches(['"', '\'', ';'])).collect();
    hook.calls_provost = words.windows(2).any(|pair| is_provost(pair[0]) && pair[1] == "hook");
    if hook.calls_provost {
        let packs = words.windows(2).filter(|pair| pair[0] == "--pack").map(|pair| pair[1].to_owned());
        hook.packs = packs.collect();
    }
}

/// Words as a list in a sentence.
pub(super) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

//! Where hooks are registered, and how entries are installed and removed.
//!
//! A client runs the hooks that its settings files and plugins register. Commands use these types; only the client's
//! adapter knows what a settings file looks like.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use provost_core::guard::{Guard, Trigger};
use provost_core::places::{Places, is_provost_program};

/// A settings file or plugin that registers hooks.
#[derive(Debug, Default)]
pub struct HookSource {
    pub file: PathBuf,
    pub scope: SettingsScope,
    /// Why the client ignores it.
    pub ignored_because: Option<String>,
    /// The switches in it that stop hooks.
    pub off_switches: Vec<HookSwitch>,
    /// What it registers, even if the client ignores it.
    pub hooks: Vec<RegisteredHook>,
    /// The whole settings file, if it is JSON; `null` for a plugin.
    pub settings: Value,
}

/// Something in a settings file that stops hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSwitch {
    /// Its name in the file.
    pub name: String,
    pub reach: SwitchReach,
}

/// Which hooks a switch stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchReach {
    /// All hooks. Only the administrator can stop the administrator's hooks.
    Hooks,
    /// All hooks but the administrator's, who set the switch.
    UnmanagedHooks,
    /// Hooks run, but Provost stays silent.
    Provost,
}

/// Who registers hooks.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum SettingsScope {
    Managed,
    Local,
    #[default]
    Project,
    User,
    Plugin {
        name: String,
        root: PathBuf,
    },
}

/// One registered hook.
#[derive(Debug)]
pub struct RegisteredHook {
    /// The client's name of the event.
    pub event: String,
    /// What it is limited to; `None` for no limit.
    pub matcher: Option<String>,
    /// The client's type of the hook; only commands can be tried.
    pub kind: String,
    pub command: String,
    /// Without arguments, a shell runs the command.
    pub arguments: Option<Vec<String>>,
    pub seconds: Option<f64>,
    pub blocks_on_failure: bool,
    pub calls_provost: bool,
    /// It has the form of an installed entry.
    pub is_installed: bool,
    /// The packs that it names; empty for all enabled packs.
    pub packs: Vec<String>,
    /// The entry as it is registered.
    pub entry: Value,
}

/// An entry that guards need in order to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeededEntry {
    pub event: &'static str,
    pub matcher: Option<&'static str>,
    /// Its time limit.
    pub seconds: u32,
    /// Whether the client blocks the call if Provost cannot be run.
    pub blocks_on_failure: bool,
}

impl HookSource {
    /// Whether a switch in this source stops the hooks of another source.
    pub fn silences(&self, other: &Self) -> bool {
        let [ours, theirs] = [self, other].map(|source| source.scope == SettingsScope::Managed);
        self.off_switches.iter().any(|switch| match switch.reach {
            SwitchReach::Provost => true,
            SwitchReach::Hooks => ours || !theirs,
            SwitchReach::UnmanagedHooks => !theirs,
        })
    }
}

impl RegisteredHook {
    /// Whether it calls `provost compat`.
    pub fn calls_compat(&self) -> bool {
        let words = self.command.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        let words: Vec<&str> = words.chain(self.arguments.iter().flatten().map(String::as_str)).collect();
        words.windows(2).any(|pair| is_provost_program(pair[0]) && pair[1] == "compat")
    }
}

/// How hooks are registered with a client.
pub struct Installation {
    /// Every hook that the client would run in a project, the source with the highest precedence first.
    pub list_registrations: fn(&Places, project: &Path) -> Vec<HookSource>,
    /// The entries that these guards need. With `closed`, the client also blocks everyday calls if Provost cannot be run.
    pub list_needed_entries: fn(guards: &[&Guard], closed: bool) -> Vec<NeededEntry>,
    /// Gives entries the time that a guard needs at a trigger.
    pub fit_timeouts: fn(&mut [NeededEntry], find_limit: &dyn Fn(Trigger) -> Option<Duration>),
    /// The settings file of a scope.
    pub find_settings_file: fn(&Places, project: &Path, scope: &SettingsScope) -> Option<PathBuf>,
    /// Installs entries in the text of a settings file (`None`: there is no file). An error says why that is impossible.
    pub install_entries: fn(text: Option<&str>, wanted: &InstallRequest<'_>) -> Result<InstallReport, String>,
    /// Removes the installed entries. `before` is the text from before the installation; empty if there was no file.
    pub remove_entries: fn(text: &str, before: Option<&str>) -> Result<RemovalReport, String>,
    /// Whether a text has installed entries.
    pub has_installed_entries: fn(text: &str) -> bool,
    /// Why the client would ignore a settings file with this text (`None`: there is no file).
    pub find_fault: fn(text: Option<&str>) -> Result<(), String>,
    /// An example of an entry, for the help text.
    pub example: &'static str,
}

impl Installation {
    /// No hook is registered, and none can be.
    pub(crate) const NONE: Self = Self {
        list_registrations: |_, _| Vec::new(),
        list_needed_entries: |_, _| Vec::new(),
        fit_timeouts: |_, _| {},
        find_settings_file: |_, _, _| None,
        install_entries: |_, _| Err("Provost cannot install hooks for this client".to_owned()),
        remove_entries: |_, _| Ok(RemovalReport { text: None, is_restored: false, entries: Vec::new() }),
        has_installed_entries: |_| false,
        find_fault: |_| Ok(()),
        example: "",
    };
}

/// How entries name the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramName<'a> {
    /// By its path on this machine.
    Path(&'a str),
    /// By its name, for a team that shares the file; silent if Provost is not installed.
    Shared,
}

/// What to install in a settings file.
pub struct InstallRequest<'a> {
    pub program: ProgramName<'a>,
    pub packs: &'a [&'a str],
    pub entries: &'a [NeededEntry],
}

/// What an installation changes in a settings file.
#[derive(Debug, Default)]
pub struct InstallReport {
    /// The whole new text; `None` if everything is installed already.
    pub text: Option<String>,
    /// Entries, named by event and matcher.
    pub added: Vec<String>,
    pub updated: Vec<String>,
    pub removed: Vec<String>,
}

/// What a removal leaves of a settings file.
#[derive(Debug, Default)]
pub struct RemovalReport {
    /// The whole new text; `None` if nothing is left.
    pub text: Option<String>,
    /// Whether it is byte by byte the text from before the installation.
    pub is_restored: bool,
    /// The removed entries, named by event and matcher; empty if there is nothing to do.
    pub entries: Vec<String>,
}

/// How Provost replaces the hook scripts of the phases.
pub struct Migration {
    /// The settings files of a project.
    pub list_settings_files: fn(&Path) -> Vec<PathBuf>,
    /// Replaces the scripts in the text of a settings file; an error says why it is not one. `elsewhere` lists the events
    /// for which another file already calls Provost.
    pub replace_scripts: fn(text: &str, elsewhere: &[String]) -> Result<MigrationReport, String>,
}

impl Migration {
    /// There is nothing to migrate.
    pub(crate) const NONE: Self =
        Self { list_settings_files: |_| Vec::new(), replace_scripts: |_, _| Ok(MigrationReport::default()) };
}

/// What a migration changes in a settings file.
#[derive(Debug, Default)]
pub struct MigrationReport {
    /// The whole new text; `None` if there is nothing to do.
    pub text: Option<String>,
    /// The removed entries: their place, and the script that they call.
    pub removed: Vec<String>,
    /// The events for which the file already calls Provost.
    pub calls: Vec<String>,
    /// The events that get an entry.
    pub added: Vec<&'static str>,
    /// What else the user should know.
    pub notes: Vec<String>,
}

//! Where hooks are registered, and how entries come and go.
//!
//! A client runs what its settings files and extensions register. These are the words in which the
//! commands for people speak of it; what a settings file looks like is the client's own business.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::workspace::{Places, is_provost};

/// One place where hooks are registered.
#[derive(Debug, Default)]
pub struct Source {
    pub file: PathBuf,
    pub scope: Scope,
    /// Why the client takes nothing from it.
    pub void: Option<String>,
    /// What in it keeps all hooks from running.
    pub off: Vec<Switch>,
    /// What it registers, also where the client does not take it.
    pub hooks: Vec<Hook>,
    /// The whole settings file, as far as it is JSON; of a plugin, nothing.
    pub settings: Value,
}

/// Something in a settings file that keeps hooks from running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// As it is called there.
    pub name: String,
    pub reach: Reach,
}

/// What a switch keeps from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All hooks; an administrator's only if an administrator says so.
    Hooks,
    /// All hooks that are not an administrator's, who says so.
    HooksOfOthers,
    /// Hooks run, and Provost says nothing in them.
    Provost,
}

/// Whose hooks they are.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum Scope {
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
pub struct Hook {
    /// The client's name of the event.
    pub event: String,
    /// What it is limited to; `None`: nothing.
    pub matcher: Option<String>,
    /// What kind of hook it is to the client; only a command can be run.
    pub kind: String,
    pub command: String,
    /// Without, a shell runs the command.
    pub arguments: Option<Vec<String>>,
    pub seconds: Option<f64>,
    pub blocks_on_failure: bool,
    pub calls_provost: bool,
    /// It has the form in which Provost is installed.
    pub is_installed: bool,
    /// The packs that it names; none: all that are on.
    pub packs: Vec<String>,
    /// The entry as it is registered.
    pub entry: Value,
}

/// An entry that guards need so that they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    pub event: &'static str,
    pub matcher: Option<&'static str>,
    /// What the client allows it.
    pub seconds: u32,
    /// Whether the call is blocked where Provost cannot be run.
    pub blocks_on_failure: bool,
}

impl Source {
    /// Whether what this one says keeps the hooks of another one from running.
    pub fn silences(&self, other: &Self) -> bool {
        let [ours, theirs] = [self, other].map(|source| source.scope == Scope::Managed);
        self.off.iter().any(|switch| match switch.reach {
            Reach::Provost => true,
            Reach::Hooks => ours || !theirs,
            Reach::HooksOfOthers => !theirs,
        })
    }
}

impl Hook {
    /// Whether it calls Provost in the place of a script.
    pub fn calls_stand_in(&self) -> bool {
        let words = self.command.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        let words: Vec<&str> = words.chain(self.arguments.iter().flatten().map(String::as_str)).collect();
        words.windows(2).any(|pair| is_provost(pair[0]) && pair[1] == "compat")
    }
}

/// How Provost's entries come into a settings file, and how they go again.
pub struct Installation {
    /// The settings file of a scope.
    pub file: fn(&Places, project: &Path, scope: &Scope) -> Option<PathBuf>,
    /// What becomes of the text of one (`None`: there is no file), or why nothing can be installed there.
    pub install: fn(text: Option<&str>, wanted: &Wanted<'_>) -> Result<Installed, String>,
    /// What is left of it without our entries. `before`: the text from before they came; an empty one
    /// means that there was no file.
    pub remove: fn(text: &str, before: Option<&str>) -> Result<Removed, String>,
    /// Whether a text has entries that were installed.
    pub is_in: fn(text: &str) -> bool,
}

/// How entries name the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramName<'a> {
    /// By its path on this machine.
    Path(&'a str),
    /// By its bare name, for everybody who shares the file; quiet where it is not installed.
    Shared,
}

/// What a settings file is to have.
pub struct Wanted<'a> {
    pub program: ProgramName<'a>,
    pub packs: &'a [&'a str],
    pub entries: &'a [Needed],
}

/// What becomes of a settings file in which Provost is installed.
#[derive(Debug, Default)]
pub struct Installed {
    /// The whole new text; `None`: everything is there already.
    pub text: Option<String>,
    /// Entries by event and matcher.
    pub added: Vec<String>,
    pub updated: Vec<String>,
    pub removed: Vec<String>,
}

/// What is left of a settings file without Provost.
#[derive(Debug, Default)]
pub struct Removed {
    /// The whole new text; `None`: nothing is left.
    pub text: Option<String>,
    /// Whether it is, byte by byte, the one from before.
    pub is_restored: bool,
    /// The entries that go, by event and matcher; none: there is nothing to do.
    pub entries: Vec<String>,
}

/// How a settings file comes from the scripts of the phases to Provost.
pub struct Migration {
    /// The settings files of a project.
    pub files: fn(&Path) -> Vec<PathBuf>,
    /// What becomes of the text of one, or why it is no settings file. For some events, Provost may be
    /// called by another file already.
    pub rewrite: fn(text: &str, elsewhere: &[String]) -> Result<Migrated, String>,
}

/// What becomes of a settings file.
#[derive(Debug, Default)]
pub struct Migrated {
    /// The whole new text; `None`: there is nothing to do.
    pub text: Option<String>,
    /// The entries that go: where they stand, and the script that they call.
    pub removed: Vec<String>,
    /// The events for which Provost is called already.
    pub calls: Vec<String>,
    /// The events for which an entry comes.
    pub added: Vec<&'static str>,
    /// What a person should know besides.
    pub notes: Vec<String>,
}

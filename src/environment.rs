//! Reads the environment of this process: the user's directories, the project, the configuration.
//!
//! All other code gets them as a [`Workspace`].

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use provost_files::faults;

use crate::clients::Client;
use crate::config::{self, Config};
use crate::event::Event;
use crate::places::{Places, find_project_root, resolve_path};
use crate::registry;
use crate::rules::RuleInterest;
use crate::signals;
use crate::workspace::{Interruption, Workspace};

/// The workspace of a client's event.
pub fn open_workspace(client: &'static Client, event: &Event) -> Workspace {
    let places = read_places();
    let start = resolve_path(&(client.facts.find_project)().unwrap_or_else(|| event.cwd.clone()));
    let project = find_project_root(&start);
    let layers = config::list_config_files(&places, &start, &project);
    let config = Config::load(
        &layers,
        registry::guard_settings,
        places.kept_rules_directory().as_deref(),
        RuleInterest::new(event).as_ref(),
    );
    make_workspace(client, start, project, places, config)
}

/// The workspace of a known project.
pub fn make_workspace(
    client: &'static Client,
    start: PathBuf,
    project: PathBuf,
    places: Places,
    config: Config,
) -> Workspace {
    let mut workspace = Workspace::new(&client.facts, start, project, places, config);
    workspace.interruption =
        Interruption { start_watching: signals::watch_signals, is_requested: signals::is_end_requested };
    // The name works also if the file of this program was replaced meanwhile.
    workspace.supervisor = cfg!(target_os = "linux").then_some("/proc/self/exe");
    workspace
}

/// The directories of this user and machine, according to the environment.
pub fn read_places() -> Places {
    let home = absolute(env::var_os(if cfg!(windows) { "USERPROFILE" } else { "HOME" }));
    let below = |variable: &str, default: &str| {
        absolute(env::var_os(variable))
            .or_else(|| home.as_ref().map(|home| home.join(default)))
            .map(|directory| directory.join("provost"))
    };
    let (config, state, managed) = if cfg!(windows) {
        (
            below("APPDATA", "AppData/Roaming"),
            below("LOCALAPPDATA", "AppData/Local"),
            below("ProgramData", "."),
        )
    } else {
        let managed =
            if cfg!(target_os = "macos") { "/Library/Application Support/provost" } else { "/etc/provost" };
        (below("XDG_CONFIG_HOME", ".config"), below("XDG_STATE_HOME", ".local/state"), Some(managed.into()))
    };
    let managed = faults::switch("PROVOST_MANAGED").map(PathBuf::from).or(managed);
    Places { home, config, state, managed }
}

fn absolute(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

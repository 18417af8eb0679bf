//! Where Claude Code writes plans.
//!
//! It writes them below its own directory, or where the setting `plansDirectory` says. That must lie inside the project:
//! Claude Code ignores a value that leads out of it, and does not look at files with lower precedence then.

use std::path::{Path, PathBuf};

use super::{config_directory, settings, start_directory};
use provost_core::byte_search;
use provost_core::places::{Places, resolve_path};
use provost_files as files;

const LARGEST: u64 = 4 << 20;
const SETTING: &str = "plansDirectory";

pub(super) fn find_directory(places: &Places, project: &Path) -> Option<PathBuf> {
    let start = start_directory(project);
    if let Some(configured) = read_setting(places, project) {
        let inside = start.join(&configured);
        if !configured.is_empty() && resolve_path(&inside).starts_with(resolve_path(&start)) {
            return Some(inside);
        }
    }
    config_directory(places).map(|own| own.join("plans"))
}

/// The setting in the file with the highest precedence that has it.
fn read_setting(places: &Places, project: &Path) -> Option<String> {
    let mut settings_files = settings::list_files(places, project);
    // The managed file comes first. Then, of a directory's two files, the local one has the higher precedence.
    for pair in settings_files.get_mut(1..).unwrap_or_default().chunks_mut(2) {
        pair.reverse();
    }
    settings_files.iter().find_map(|file| {
        let bytes = files::read_file(file, LARGEST).ok().flatten()?;
        // Most files do not have the setting, so they need no JSON parser.
        byte_search::find_part(&bytes, SETTING.as_bytes())?;
        let value: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        value[SETTING].as_str().map(str::to_owned)
    })
}

//! Where this client writes plans.
//!
//! Below its own directory, or where the setting `plansDirectory` says. That must lie inside the
//! project: a value that leads out of it is dropped, and does not give way to one of a lower scope.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{absolute_variable, own_directory, settings};
use crate::files;
use crate::search;
use crate::workspace::{Places, resolve};

const LARGEST: u64 = 4 << 20;
const SETTING: &[u8] = b"plansDirectory";

pub(super) fn directory(places: &Places, project: &Path) -> Option<PathBuf> {
    let started = absolute_variable("CLAUDE_PROJECT_DIR").unwrap_or_else(|| project.to_owned());
    if let Some(named) = named(places, project) {
        let inside = started.join(&named);
        if !named.is_empty() && resolve(&inside).starts_with(resolve(&started)) {
            return Some(inside);
        }
    }
    own_directory(places).map(|own| own.join("plans"))
}

/// The value of the setting in the highest scope that has one.
fn named(places: &Places, project: &Path) -> Option<String> {
    let mut files = settings::files(places, project);
    // Managed settings come first; of a directory's two files, the local one counts before the other.
    for pair in files.get_mut(1..).unwrap_or_default().chunks_mut(2) {
        pair.reverse();
    }
    let value = |file: PathBuf| {
        let bytes = files::read(&file, LARGEST).ok().flatten()?;
        // Most files do not have it, and are not read as JSON.
        search::part(&bytes, SETTING)?;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        value["plansDirectory"].as_str().map(str::to_owned)
    };
    files.into_iter().find_map(value)
}

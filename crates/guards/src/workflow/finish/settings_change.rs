//! Changes of the settings that say what an open instance needs or where it is: the schema of a change, the directories
//! of stories, and the route of a story.
//!
//! They are planning, but with other settings an open instance would look finished, or would be gone.

use crate::prelude::*;
use std::path::Path;

use super::is_unfinished;
use crate::rules::paths::PathUse;
use crate::rules::scene::Scene;
use crate::rules::used_paths::UsedPaths;
use crate::workflow::ticks::written_text::{LARGEST_FILE, WrittenText, find_written_text};
use provost_core::config::settings;
use provost_core::opinion::Fault;
use provost_core::workflow::front_matter::find_head_value;
use provost_core::workflow::instance::WorkflowInstance;
use provost_core::workflow::openspec::{find_schema, read_default_schema, read_own_schema};
use provost_core::workflow::project::{InstancePlace, WorkflowRoot, find_workflow_root};
use provost_core::workflow::{WorkflowSystem, WorkflowTable};
use provost_core::workspace::Workspace;

/// A changed file of settings, and an open instance that depends on it.
pub(super) struct SettingsChange<'t> {
    pub(super) root: WorkflowRoot<'t>,
    pub(super) instance: WorkflowInstance,
}

/// What a file of settings is.
enum Settings {
    /// The schema of this name.
    Schema(String),
    /// It names the schema of all changes that name none.
    DefaultSchema,
    /// It names the schema of this change.
    OwnSchema(String),
    /// It names the directories of BMAD.
    Directories,
    /// A story of BMAD, whose route may need no approval.
    Story(String),
}

pub(super) fn find_settings_change<'t>(
    tables: &'t [WorkflowTable],
    scene: &Scene<'_>,
) -> Result<Option<SettingsChange<'t>>, Fault> {
    let workspace = scene.workspace;
    let has_settings =
        |table: &&WorkflowTable| matches!(table.system, WorkflowSystem::OpenSpec | WorkflowSystem::Bmad);
    let tables: Vec<&WorkflowTable> = tables.iter().filter(has_settings).collect();
    if tables.is_empty() {
        return Ok(None);
    }
    for command in scene.commands() {
        let mut used = UsedPaths::new(PathUse::Change, scene);
        used.collect(command, &[]);
        for path in &used.paths {
            for table in &tables {
                let Some(root) = find_workflow_root(table, &path.path, workspace) else { continue };
                let Some(settings) = Settings::find(&root, &path.path) else { continue };
                let old = workspace.read_text(&path.path, LARGEST_FILE)?;
                let Some(written) = find_written_text(path, command, old.as_deref(), scene) else { continue };
                let old = old.unwrap_or_default();
                for place in root.list_instances(workspace)? {
                    if settings.changes(&place, &old, &written, &root, workspace)
                        && let Some(instance) = root.read_instance(&place, workspace).filter(is_unfinished)
                    {
                        return Ok(Some(SettingsChange { root, instance }));
                    }
                }
            }
        }
    }
    Ok(None)
}

impl Settings {
    fn find(root: &WorkflowRoot<'_>, path: &Path) -> Option<Self> {
        let below = path.strip_prefix(&root.directory).ok()?.to_str()?;
        let parts: Vec<&str> = below.split('/').collect();
        match (root.table.system, &parts[..]) {
            (WorkflowSystem::OpenSpec, ["openspec", "schemas", name, "schema.yaml"]) => {
                Some(Self::Schema((*name).to_owned()))
            }
            (WorkflowSystem::OpenSpec, ["openspec", "config.yaml"]) => Some(Self::DefaultSchema),
            (WorkflowSystem::OpenSpec, ["openspec", "changes", change, ".openspec.yaml"]) => {
                Some(Self::OwnSchema((*change).to_owned()))
            }
            (
                WorkflowSystem::Bmad,
                ["_bmad", "bmm", "config.yaml"]
                | ["_bmad", "config.toml"]
                | ["_bmad", "custom", "config.toml"],
            ) => Some(Self::Directories),
            (WorkflowSystem::Bmad, _) => match root.find_owner(Path::new(below)) {
                Some((story, rest)) if rest.is_empty() => Some(Self::Story(story)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an instance is read in another way afterwards. What cannot be known may change it.
    fn changes(
        &self,
        place: &InstancePlace,
        old: &str,
        written: &WrittenText,
        root: &WorkflowRoot<'_>,
        workspace: &Workspace,
    ) -> bool {
        let default = || read_default_schema(&root.directory, workspace).ok();
        let own = || read_own_schema(&place.path, workspace).ok().flatten();
        match self {
            Self::Schema(name) => {
                own().or_else(default).as_ref() == Some(name)
                    && *written != WrittenText::Whole(old.to_owned())
            }
            Self::DefaultSchema => match written {
                _ if own().is_some() => false,
                WrittenText::Whole(text) => {
                    find_schema(text).as_deref().unwrap_or("spec-driven")
                        != find_schema(old).as_deref().unwrap_or("spec-driven")
                }
                _ => mentions(written, &["schema"]),
            },
            Self::OwnSchema(change) if *change != place.name => false,
            Self::OwnSchema(_) => match written {
                WrittenText::Whole(text) => {
                    find_schema(text).or_else(default) != find_schema(old).or_else(default)
                }
                _ => mentions(written, &["schema"]),
            },
            Self::Story(story) => *story == place.name && frees_route(old, written, workspace),
            Self::Directories => {
                const KEYS: &[&str] = &["output_folder", "implementation_artifacts"];
                match written {
                    WrittenText::Whole(text) => list_lines(text, KEYS) != list_lines(old, KEYS),
                    _ => mentions(written, KEYS),
                }
            }
        }
    }
}

/// Whether a story that waits for its approval would get a route that needs none.
fn frees_route(old: &str, written: &WrittenText, workspace: &Workspace) -> bool {
    let free = workspace.config.words(settings::WORKFLOW_FREE_ROUTES);
    let is_free = |route: &String| free.contains(route);
    let chosen = find_head_value(old, "route").filter(|route| !route.is_empty());
    if free.is_empty() || chosen.is_none_or(|route| is_free(&route)) {
        return false;
    }
    let has_free = |text: &str| free.iter().any(|free| text.contains(free.as_str()));
    match written {
        WrittenText::Whole(text) => find_head_value(text, "route").as_ref().is_some_and(is_free),
        WrittenText::Lines(text) | WrittenText::Piece(text) => has_free(text),
        WrittenText::Replaced(pairs) => pairs.iter().any(|(_, new)| has_free(new)),
        WrittenText::OneOf(texts) => texts.iter().any(|text| has_free(text)),
        WrittenText::Unknown => true,
    }
}

fn list_lines<'t>(text: &'t str, keys: &[&str]) -> Vec<&'t str> {
    let has_key = |line: &&str| keys.iter().any(|key| line.contains(key));
    text.lines().map(str::trim).filter(has_key).collect()
}

/// Whether what is written may be about one of the keys.
fn mentions(written: &WrittenText, keys: &[&str]) -> bool {
    let has_key = |text: &str| keys.iter().any(|key| text.contains(key));
    match written {
        WrittenText::Whole(text) | WrittenText::Lines(text) => has_key(text),
        WrittenText::OneOf(texts) => texts.iter().any(|text| has_key(text)),
        // A replaced piece need not have the key of its line.
        WrittenText::Replaced(_) | WrittenText::Piece(_) | WrittenText::Unknown => true,
    }
}

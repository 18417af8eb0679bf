//! Whether a write adds a line that a regular expression matches.
//!
//! A line counts if the file does not have it yet. What an edit of a program adds may be a part of a line.

use crate::prelude::*;
use std::path::Path;

use super::scene::Scene;
use super::used_paths::{Source, UsedPath};
use provost_core::disk_use::DiskUse;
use provost_core::effect::{self, ProposedContent, WriteContent};
use provost_core::rules::RuleRegex;
use provost_core::tool::Tool;

/// The largest file whose lines are compared with those of an edit.
const LARGEST_FILE: u64 = 16 << 20;

pub(super) fn adds_line(adds: &RuleRegex, used: &UsedPath<'_>, scene: &Scene<'_>) -> bool {
    let tool = scene.event.call().map(|call| &call.tool);
    let old = || read_current(&used.path, scene).unwrap_or_default();
    let matches_new = |new: &str, old: &str| {
        let old: std::collections::HashSet<&str> = old.lines().collect();
        new.lines().any(|line| !old.contains(line) && adds.finds(line))
    };
    let matches_copy =
        |file: &Path| read_current(&scene.resolve(file), scene).is_some_and(|new| matches_new(&new, &old()));
    match (used.content, tool) {
        (Some(WriteContent::InCall), Some(tool)) => {
            let old = read_current(&used.path, scene);
            match effect::compute_proposed_content(tool, old.as_deref()) {
                ProposedContent::Text(new) => matches_new(&new, old.as_deref().unwrap_or_default()),
                ProposedContent::Unknown => match tool {
                    Tool::Edit { replacements, .. } => {
                        replacements.iter().any(|replacement| matches_new(&replacement.new, &replacement.old))
                    }
                    _ => false,
                },
            }
        }
        (Some(_), Some(Tool::Notebook { source: Some(source), .. })) => {
            // A notebook has its lines as JSON strings.
            let old = old();
            let is_old = |line: &str| {
                let json = serde_json::to_string(line).unwrap_or_default();
                let start = json.strip_suffix('"').unwrap_or(&json);
                old.contains(&json) || old.contains(&format!("{start}\\n\""))
            };
            source.lines().any(|line| adds.finds(line) && !is_old(line))
        }
        (Some(WriteContent::Known { text, .. } | WriteContent::Adds { text }), _) => {
            matches_new(text, &old())
        }
        (Some(WriteContent::Copied { file, .. }), _) => matches_copy(file),
        (None, Some(Tool::Other { texts, .. })) => {
            let old = old();
            let is_path =
                |text: &String| scene.resolve(&scene.event.make_absolute(Path::new(text))) == used.path;
            texts.iter().filter(|text| !is_path(text)).any(|text| matches_new(text, &old))
        }
        (None, _) => match &used.source {
            Some(Source::File(file)) => matches_copy(file),
            Some(Source::Patch(added)) => matches_new(added, &old()),
            None => false,
        },
        _ => false,
    }
}

/// The text of a file; `None`: there is none that can be read, so all lines of a new text are new.
fn read_current(path: &Path, scene: &Scene<'_>) -> Option<String> {
    // By now, a file of the past has what was added to it then.
    if scene.is_example || scene.workspace.is_past() && scene.workspace.read_known_file(path).is_none() {
        scene.workspace.note_disk_use(DiskUse::CONTENT);
        return None;
    }
    scene.workspace.read_text(path, LARGEST_FILE).ok().flatten()
}

//! Where a project keeps its planning files and its instances.
//!
//! Some tools let the project choose the directory: Spec Kit's pointer may lead anywhere, and BMAD's configuration
//! names its output. An agent can write these files, so in a directory that they choose only documents are planning.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::{WorkflowSystem, WorkflowTable};
use crate::workspace::Workspace;

const LARGEST: u64 = 1 << 20;
/// Files of a chosen directory that hold plans and not code.
const DOCUMENTS: &[&str] =
    &["md", "markdown", "txt", "yaml", "yml", "json", "csv", "html", "proto", "graphql"];

/// The directories of one project.
#[derive(Debug, Default)]
pub(super) struct ProjectLayout {
    pub(super) planning: Vec<PlanningDirectory>,
    /// Patterns of the instances' paths, below the root.
    pub(super) instances: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct PlanningDirectory {
    /// Relative to the root.
    pub(super) path: PathBuf,
    has_documents_only: bool,
}

impl PlanningDirectory {
    pub(super) fn covers(&self, path: &Path) -> bool {
        let is_wanted = || !self.has_documents_only || path == self.path || is_document(path);
        path.starts_with(&self.path) && is_wanted()
    }
}

fn is_document(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    DOCUMENTS.iter().any(|known| known.eq_ignore_ascii_case(extension))
}

fn holds_documents_only(directory: &Path, workspace: &Workspace) -> bool {
    let Ok(names) = workspace.list_names(directory) else { return false };
    names.iter().all(|(name, is_directory)| *is_directory || is_document(Path::new(name)))
}

impl ProjectLayout {
    /// `pointer` is the text of the tool's pointer, if there is one.
    pub(super) fn read(
        table: &WorkflowTable,
        root: &Path,
        pointer: Option<&str>,
        workspace: &Workspace,
    ) -> Self {
        let planning = table
            .planning
            .iter()
            .map(|path| PlanningDirectory { path: path.into(), has_documents_only: false });
        let mut layout = Self { planning: planning.collect(), instances: table.instances.clone() };
        match table.system {
            WorkflowSystem::SpecKit => {
                let value = pointer.and_then(|text| find_pointed_value(table, text));
                if let Some(path) = value.and_then(|value| make_relative(&value, root)) {
                    // A directory with code in it does not become planning by being pointed to.
                    if holds_documents_only(&root.join(&path), workspace) {
                        layout.add_chosen(&path);
                    }
                    let text = path.to_string_lossy().into_owned();
                    if path.parent() != Some(Path::new("specs")) {
                        layout.instances.push(text);
                    }
                }
            }
            WorkflowSystem::Bmad => layout.add_bmad_output(root, workspace),
            _ => {}
        }
        layout
    }

    fn add_chosen(&mut self, path: &Path) {
        if !self.planning.iter().any(|known| path.starts_with(&known.path)) {
            self.planning.push(PlanningDirectory { path: path.to_owned(), has_documents_only: true });
        }
    }

    fn add_bmad_output(&mut self, root: &Path, workspace: &Workspace) {
        let mut output = PathBuf::from("_bmad-output");
        let mut artifacts = None;
        for file in ["_bmad/bmm/config.yaml", "_bmad/config.toml", "_bmad/custom/config.toml"] {
            // What cannot be read leaves the defaults.
            let text = workspace.read_text(&root.join(file), LARGEST).ok().flatten().unwrap_or_default();
            for line in text.lines() {
                let Some((key, value)) = line.split_once([':', '=']) else { continue };
                let value = value.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
                let path = || {
                    let value = value.replace("{output_folder}", &output.to_string_lossy());
                    make_relative(value.trim_start_matches("{project-root}/"), root)
                };
                match key.trim().trim_matches('"') {
                    "output_folder" => output = path().unwrap_or(output),
                    "implementation_artifacts" => artifacts = path().or(artifacts),
                    "planning_artifacts" => {
                        if let Some(path) = path() {
                            self.add_chosen(&path);
                        }
                    }
                    _ => {}
                }
            }
        }
        let artifacts = artifacts.unwrap_or_else(|| output.join("implementation-artifacts"));
        self.add_chosen(&output);
        self.add_chosen(&artifacts);
        let below = |directory: &Path, rest: &str| format!("{}/{rest}", directory.to_string_lossy());
        self.instances = vec![below(&artifacts, "*.md"), below(&output, "*/stories/*.md")];
        self.instances.push(below(&output, "*/*/stories/*.md"));
    }
}

/// What the pointer of a project leads to, as the tool writes it.
pub(super) fn read_pointer_text(table: &WorkflowTable, root: &Path, workspace: &Workspace) -> Option<String> {
    let pointer = table.pointer.as_ref()?;
    workspace.read_text(&root.join(&pointer.file), LARGEST).ok().flatten()
}

/// The value in the text of a pointer.
pub(super) fn find_pointed_value(table: &WorkflowTable, text: &str) -> Option<String> {
    let pointer = table.pointer.as_ref()?;
    let value = match &pointer.key {
        None => text.trim().to_owned(),
        Some(key) => {
            let text = crate::text::strip_byte_order_mark(text);
            serde_json::from_str::<Value>(text).ok()?.get(key)?.as_str()?.trim().to_owned()
        }
    };
    (!value.is_empty()).then_some(value)
}

/// A path of a configuration, relative to the root; `None` if it leads elsewhere, or is the root itself.
pub(super) fn make_relative(path: &str, root: &Path) -> Option<PathBuf> {
    let path = Path::new(path);
    let path = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let path: PathBuf = parts.collect();
    let leads_down = path.components().all(|part| matches!(part, Component::Normal(_)));
    (leads_down && !path.as_os_str().is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_documents_are_planning_where_the_agent_may_choose_the_directory() {
        let chosen = PlanningDirectory { path: "src".into(), has_documents_only: true };
        assert!(chosen.covers(Path::new("src/plan.md")) && chosen.covers(Path::new("src")));
        assert!(!chosen.covers(Path::new("src/main.js")) && !chosen.covers(Path::new("other/plan.md")));
        let fixed = PlanningDirectory { path: "specs".into(), has_documents_only: false };
        assert!(fixed.covers(Path::new("specs/001/quick.sh")));
    }

    #[test]
    fn a_chosen_directory_lies_below_the_root() {
        let root = Path::new("/p");
        assert_eq!(make_relative("./docs/a/", root), Some("docs/a".into()));
        assert_eq!(make_relative("/p/docs", root), Some("docs".into()));
        for path in ["", ".", "..", "docs/../..", "/q", "/p"] {
            assert_eq!(make_relative(path, root), None, "{path}");
        }
    }
}

//! A project of a workflow: its root, its instances, and what each of its paths is.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::file_pattern::{find_start, has_wildcard, matches_file};
use super::instance::{WorkflowInstance, read_document, read_instance, read_task_pattern};
use super::layout::{ProjectLayout, find_pointed_value, read_pointer_text};
use super::task_master::{self, TagTasks};
use super::{WorkflowSystem, WorkflowTable};
use crate::glob::matches_glob;
use crate::opinion::Fault;
use crate::workspace::Workspace;

/// The largest file of a workflow that is read.
pub(super) const LARGEST_FILE: u64 = 8 << 20;

/// A directory in which a workflow is used.
#[derive(Debug)]
pub struct WorkflowRoot<'t> {
    pub table: &'t WorkflowTable,
    /// Resolved.
    pub directory: PathBuf,
    layout: ProjectLayout,
    /// The tags of Task Master, which are all in one file.
    tags: OnceCell<Result<Option<Vec<TagTasks>>, String>>,
}

/// Where an instance is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstancePlace {
    /// What the user calls it.
    pub name: String,
    /// Its directory or file; for Task Master, the file with all tags.
    pub path: PathBuf,
}

/// What a path of a project is to its workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathRole {
    /// A change of it waits for an approval.
    Work,
    /// A file with tasks. The name of its instance is empty if it has those of several.
    TaskFile { instance: String },
    /// A file in which the tool keeps the progress: `spec.json`, `sprint-status.yaml`.
    StatusFile,
    /// The file with the name of the current instance.
    Pointer,
    /// A checklist that belongs to the reviewer, and not to the agent.
    Checklist,
    /// The file or directory by which the project is recognised.
    Marker,
    /// Any other file of the planning.
    Planning,
}

/// The nearest project of the workflow at or above a resolved path.
pub fn find_workflow_root<'t>(
    table: &'t WorkflowTable,
    path: &Path,
    workspace: &Workspace,
) -> Option<WorkflowRoot<'t>> {
    let directory = find_root_directory(table, path, workspace)?;
    Some(WorkflowRoot::open(table, directory, workspace))
}

/// The nearest directory at or above a resolved path that is a project of the workflow. The user's home is none, unless
/// the session works there.
pub fn find_root_directory(table: &WorkflowTable, path: &Path, workspace: &Workspace) -> Option<PathBuf> {
    let home = workspace.places.home.as_deref().filter(|home| *home != workspace.project);
    let mut candidates = path.ancestors().filter(|directory| Some(*directory) != home);
    candidates.find(|directory| has_marker(table, directory, workspace)).map(Path::to_owned)
}

/// Whether a directory has one of the workflow's marks.
pub fn has_marker(table: &WorkflowTable, directory: &Path, workspace: &Workspace) -> bool {
    table.markers.iter().any(|marker| workspace.exists(&directory.join(marker)))
}

impl<'t> WorkflowRoot<'t> {
    pub fn open(table: &'t WorkflowTable, directory: PathBuf, workspace: &Workspace) -> Self {
        // Only there the pointer says where an instance is.
        let reads_pointer = table.system == WorkflowSystem::SpecKit;
        let pointer = if reads_pointer { read_pointer_text(table, &directory, workspace) } else { None };
        Self::open_with_pointer(table, directory, pointer.as_deref(), workspace)
    }

    /// The project as if the tool's pointer had this text.
    pub fn open_with_pointer(
        table: &'t WorkflowTable,
        directory: PathBuf,
        pointer: Option<&str>,
        workspace: &Workspace,
    ) -> Self {
        let layout = ProjectLayout::read(table, &directory, pointer, workspace);
        Self { table, directory, layout, tags: OnceCell::new() }
    }

    /// A path of the project for messages.
    pub fn shorten<'p>(&self, path: &'p Path) -> Cow<'p, str> {
        path.strip_prefix(&self.directory).unwrap_or(path).to_string_lossy()
    }

    /// Whether a change of a resolved path is planning.
    pub fn is_planning(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.directory);
        below.is_ok_and(|path| self.layout.planning.iter().any(|directory| directory.covers(path)))
    }

    /// The directories in which every change is planning, for messages.
    pub fn list_planning(&self) -> impl Iterator<Item = &Path> {
        self.layout.planning.iter().map(|directory| directory.path.as_path())
    }

    /// What a resolved path is.
    pub fn find_role(&self, path: &Path, workspace: &Workspace) -> PathRole {
        let Ok(below) = path.strip_prefix(&self.directory) else { return PathRole::Work };
        let text = below.to_string_lossy();
        if self.table.pointer.as_ref().is_some_and(|pointer| pointer.file == text) {
            return PathRole::Pointer;
        }
        if self.table.system == WorkflowSystem::TaskMaster && self.table.tasks.as_deref() == Some(&*text) {
            return PathRole::TaskFile { instance: String::new() };
        }
        let is_root = below.as_os_str().is_empty();
        if !is_root && self.table.markers.iter().any(|marker| Path::new(marker).starts_with(below)) {
            return PathRole::Marker;
        }
        if !self.is_planning(path) {
            return PathRole::Work;
        }
        let name = below.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if matches!(name, "spec.json" | "sprint-status.yaml") {
            return PathRole::StatusFile;
        }
        match self.find_owner(below) {
            Some((instance, rest)) if rest.is_empty() => PathRole::TaskFile { instance },
            Some((_, rest))
                if self.table.system == WorkflowSystem::SpecKit
                    && rest.starts_with("checklists/")
                    && rest != "checklists/requirements.md" =>
            {
                PathRole::Checklist
            }
            Some((instance, rest)) => {
                let tasks = read_task_pattern(self, &self.directory.join(Self::cut(below, &rest)), workspace);
                let is_task_file = tasks.is_some_and(|tasks| matches_file(&tasks, &rest));
                if is_task_file { PathRole::TaskFile { instance } } else { PathRole::Planning }
            }
            None => PathRole::Planning,
        }
    }

    fn cut(below: &Path, rest: &str) -> PathBuf {
        let count = below.components().count().saturating_sub(rest.split('/').count());
        below.components().take(count).collect()
    }

    /// The instance that a path below the root belongs to, and the rest of the path in it.
    pub fn find_owner(&self, below: &Path) -> Option<(String, String)> {
        let parts: Vec<String> =
            below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        self.layout.instances.iter().find_map(|pattern| {
            let length = pattern.split('/').count();
            let place = parts.get(..length)?.join("/");
            let name = self.name_instance(&place, pattern)?;
            Some((name, parts[length..].join("/")))
        })
    }

    /// The name of the instance at a path below the root; `None` if it is none by its name.
    fn name_instance(&self, place: &str, pattern: &str) -> Option<String> {
        let last = place.rsplit('/').next().unwrap_or(place);
        let is_excepted = self.table.except.iter().any(|name| name == last) || last.starts_with('.');
        if is_excepted || !matches_file(pattern, place) {
            return None;
        }
        if self.table.system != WorkflowSystem::Bmad {
            let stem = last.rsplit_once('.').filter(|_| Self::has_file_instances(pattern));
            return Some(stem.map_or(last, |(stem, _)| stem).to_owned());
        }
        let stem = last.strip_suffix(".md")?;
        // Other documents lie beside the stories.
        let is_numbered =
            || stem.split('-').take(2).all(|part| part.parse::<u32>().is_ok()) && stem.contains('-');
        match stem.strip_prefix("spec-") {
            Some(slug) if !slug.is_empty() => Some(slug.to_owned()),
            _ if pattern.contains("/stories/") || is_numbered() => Some(stem.to_owned()),
            _ => None,
        }
    }

    /// Whether the instances of a pattern are files.
    fn has_file_instances(pattern: &str) -> bool {
        let last = pattern.rsplit('/').next().unwrap_or_default();
        has_wildcard(last) && last.contains('.')
    }

    /// The places of all instances, by name; [`Self::read_instance`] says whether one has begun there. An error: a directory
    /// or file that lists them cannot be read.
    pub fn list_instances(&self, workspace: &Workspace) -> Result<Vec<InstancePlace>, Fault> {
        let mut found = Vec::new();
        if self.table.system == WorkflowSystem::TaskMaster {
            found = self.list_tags(workspace)?;
        } else {
            for pattern in &self.layout.instances {
                self.collect_instances(pattern, workspace, &mut found)?;
            }
        }
        found.sort_unstable_by(|a, b| a.name.cmp(&b.name).then_with(|| a.path.cmp(&b.path)));
        found.dedup();
        Ok(found)
    }

    fn list_tags(&self, workspace: &Workspace) -> Result<Vec<InstancePlace>, Fault> {
        let Some(path) = self.tag_file() else { return Ok(Vec::new()) };
        let tags = self.read_tags(workspace).map_err(|why| Fault::Error(why.to_owned()))?;
        let place = |tag: &TagTasks| InstancePlace { name: tag.tag.clone(), path: path.clone() };
        Ok(tags.unwrap_or_default().iter().map(place).collect())
    }

    /// The file with all tags of Task Master.
    pub fn tag_file(&self) -> Option<PathBuf> {
        let file = self.table.tasks.as_ref().filter(|_| self.table.system == WorkflowSystem::TaskMaster)?;
        Some(self.directory.join(file))
    }

    /// The tags of Task Master; `None` if there is no file with them. The error is a whole clause.
    pub(super) fn read_tags(&self, workspace: &Workspace) -> Result<Option<&[TagTasks]>, &str> {
        let tags = self.tags.get_or_init(|| {
            let Some(file) = self.tag_file() else { return Ok(None) };
            let path = self.shorten(&file);
            let text = read_document(&file, workspace).map_err(|why| format!("{path} {why}"))?;
            let Some(text) = text else { return Ok(None) };
            let tags = task_master::parse_file(crate::text::strip_byte_order_mark(&text));
            tags.map(Some).map_err(|why| format!("{path}: {why}"))
        });
        tags.as_ref().map(Option::as_deref).map_err(String::as_str)
    }

    fn collect_instances(
        &self,
        pattern: &str,
        workspace: &Workspace,
        found: &mut Vec<InstancePlace>,
    ) -> Result<(), Fault> {
        let has_files = Self::has_file_instances(pattern);
        let start = find_start(pattern);
        if start == pattern {
            let path = self.directory.join(pattern);
            if workspace.is_directory(&path) {
                found.extend(self.name_instance(pattern, pattern).map(|name| InstancePlace { name, path }));
            }
            return Ok(());
        }
        let mut open = vec![start.clone()];
        let parts: Vec<&str> = pattern[start.len()..].split('/').filter(|part| !part.is_empty()).collect();
        for (at, part) in parts.iter().enumerate() {
            let is_last = at + 1 == parts.len();
            let mut next = Vec::new();
            for directory in open {
                for (name, is_directory) in workspace.list_names(&self.directory.join(&directory))? {
                    let is_wanted = if is_last { is_directory != has_files } else { is_directory };
                    if is_wanted && matches_glob(part, &name) {
                        next.push(if directory.is_empty() { name } else { format!("{directory}/{name}") });
                    }
                }
            }
            open = next;
        }
        for place in open {
            let path = self.directory.join(&place);
            found.extend(self.name_instance(&place, pattern).map(|name| InstancePlace { name, path }));
        }
        Ok(())
    }

    /// Whether a directory is an instance: its tool begins one with one of these files.
    pub(super) fn is_begun(&self, directory: &Path, workspace: &Workspace) -> bool {
        match self.table.system {
            WorkflowSystem::SpecKit => {
                Self::has_any(&["spec.md", "plan.md", "tasks.md"], directory, workspace)
            }
            // A brief alone comes before the spec.
            WorkflowSystem::Kiro => Self::has_any(
                &["spec.json", "requirements.md", "design.md", "tasks.md"],
                directory,
                workspace,
            ),
            _ => true,
        }
    }

    fn has_any(names: &[&str], directory: &Path, workspace: &Workspace) -> bool {
        names.iter().any(|name| workspace.exists(&directory.join(name)))
    }

    /// Whether the user means an instance with a name: also `spec-NAME`, or the end of its path.
    pub fn is_called(&self, place: &InstancePlace, name: &str) -> bool {
        let wanted = name.trim_end_matches('/');
        let wanted = if wanted.contains('/') { wanted } else { wanted.strip_suffix(".md").unwrap_or(wanted) };
        let is_path = || {
            wanted.contains('/')
                && self.table.system != WorkflowSystem::TaskMaster
                && (place.path.ends_with(wanted) || place.path.with_extension("").ends_with(wanted))
        };
        place.name == wanted
            || self.table.system == WorkflowSystem::Bmad && wanted.strip_prefix("spec-") == Some(&place.name)
            || is_path()
    }

    /// What the files of an instance say; `None` if there is none.
    pub fn read_instance(&self, place: &InstancePlace, workspace: &Workspace) -> Option<WorkflowInstance> {
        read_instance(self, place, workspace)
    }

    /// The one file whose tasks say whether an instance is finished; `None` if it may be another or several.
    pub fn find_task_file(&self, place: &InstancePlace) -> Option<PathBuf> {
        match self.table.system {
            WorkflowSystem::TaskMaster => None,
            WorkflowSystem::Bmad => Some(place.path.clone()),
            _ => {
                let tasks = self.table.tasks.as_ref().filter(|tasks| !has_wildcard(tasks))?;
                Some(place.path.join(tasks))
            }
        }
    }

    /// The name of the instance that the tool's pointer leads to.
    pub fn read_pointer(&self, workspace: &Workspace) -> Option<String> {
        self.parse_pointer(&read_pointer_text(self.table, &self.directory, workspace)?)
    }

    /// The name of the instance that a pointer with this text would lead to.
    pub fn parse_pointer(&self, text: &str) -> Option<String> {
        let value = find_pointed_value(self.table, text)?;
        if self.table.system == WorkflowSystem::TaskMaster {
            return Some(value);
        }
        value.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().map(str::to_owned)
    }
}

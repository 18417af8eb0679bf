//! One instance of a workflow, as its files are now: its artefacts, its tasks, and whether it is finished.
//!
//! Reading never fails. What cannot be read is a problem of the artefact, so that work which needs its approval waits.

use std::path::Path;

use super::file_pattern::{find_start, has_wildcard, matches_file};
use super::front_matter::{find_head_value, split_front_matter};
use super::meaning::{find_meaning, find_story_meaning};
use super::openspec::read_change_rules;
use super::project::{InstancePlace, LARGEST_FILE, WorkflowRoot};
use super::tasks::{TaskFormat, TaskItem, has_open_task, read_tasks};
use super::{ArtefactRule, WorkflowSystem};
use crate::workspace::Workspace;

/// The files of one instance.
#[derive(Debug)]
pub struct WorkflowInstance {
    pub place: InstancePlace,
    pub artefacts: Vec<ArtefactState>,
    pub tasks: Vec<TaskItem>,
    /// What the file itself says: `ready-for-dev`. Only stories have it.
    pub status: Option<String>,
    /// How a story of BMAD is built: `oneshot`.
    pub route: Option<String>,
    format: TaskFormat,
    /// Whether tasks are kept in a file at all.
    has_task_file: bool,
    is_tag: bool,
}

/// One artefact of an instance.
#[derive(Debug)]
pub struct ArtefactState {
    pub id: String,
    /// The file or pattern, relative to the root.
    pub expected: String,
    pub is_required: bool,
    pub files: Vec<ArtefactFile>,
    pub problem: Option<ArtefactProblem>,
}

/// A file of an artefact.
#[derive(Debug)]
pub struct ArtefactFile {
    /// Relative to the root.
    pub path: String,
    /// What an approval covers.
    pub meaning: String,
}

/// Why an artefact cannot be approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtefactProblem {
    Missing,
    Empty,
    /// It still has this text of its template.
    Unfilled(String),
    NoTask,
    Unreadable(String),
}

impl WorkflowInstance {
    /// An instance of which only the name counts.
    pub fn named(place: InstancePlace) -> Self {
        Self {
            place,
            artefacts: Vec::new(),
            tasks: Vec::new(),
            status: None,
            route: None,
            format: TaskFormat::Boxes,
            has_task_file: false,
            is_tag: false,
        }
    }

    /// Whether something that it needs is missing, or a task is left. Finished instances lock nobody out.
    pub fn is_open(&self) -> bool {
        match self.status.as_deref() {
            Some(status) if is_finished_status(status) => return false,
            Some("draft" | "ready-for-dev" | "in-progress" | "in-review" | "review" | "blocked") => {
                return true;
            }
            _ => {}
        }
        let is_unfinished = if self.is_tag { false } else { !self.has_task_file || self.tasks.is_empty() };
        self.first_problem().is_some() || is_unfinished || has_open_task(self.format, &self.tasks)
    }

    /// The first artefact that keeps the instance from being approved.
    pub fn first_problem(&self) -> Option<(&ArtefactState, &ArtefactProblem)> {
        self.artefacts.iter().find_map(|artefact| {
            let problem = artefact.problem.as_ref()?;
            let counts = artefact.is_required || matches!(problem, ArtefactProblem::Unreadable(_));
            counts.then_some((artefact, problem))
        })
    }

    /// The files that an approval covers.
    pub fn list_files(&self) -> impl Iterator<Item = &ArtefactFile> {
        self.artefacts.iter().flat_map(|artefact| &artefact.files)
    }

    /// How many tasks are closed, and how many there are.
    pub fn count_tasks(&self) -> (usize, usize) {
        (self.tasks.iter().filter(|task| task.is_closed).count(), self.tasks.len())
    }
}

/// Whether a status says that nothing is left to do.
pub fn is_finished_status(status: &str) -> bool {
    ["done", "completed"].iter().any(|finished| status.eq_ignore_ascii_case(finished))
}

/// The pattern of the task files in an instance's directory.
pub(super) fn read_task_pattern(
    root: &WorkflowRoot<'_>,
    place: &Path,
    workspace: &Workspace,
) -> Option<String> {
    if root.table.system == WorkflowSystem::OpenSpec {
        return read_change_rules(&root.directory, place, workspace).ok()?.tasks;
    }
    root.table.tasks.clone()
}

pub(super) fn read_instance(
    root: &WorkflowRoot<'_>,
    place: &InstancePlace,
    workspace: &Workspace,
) -> Option<WorkflowInstance> {
    // A link that leads nowhere is an instance that cannot be read.
    if !workspace.exists(&place.path) && !workspace.has_entry(&place.path) {
        return None;
    }
    let mut instance = WorkflowInstance {
        format: root.table.task_format(),
        has_task_file: root.table.tasks.is_some(),
        is_tag: root.table.system == WorkflowSystem::TaskMaster,
        ..WorkflowInstance::named(place.clone())
    };
    if instance.is_tag {
        return instance.read_tag(root, workspace).then_some(instance);
    }
    if workspace.is_directory(&place.path) {
        if !root.is_begun(&place.path, workspace) {
            return None;
        }
        instance.read_directory(root, workspace);
    } else {
        instance.read_file(root, workspace);
    }
    Some(instance)
}

impl WorkflowInstance {
    fn read_directory(&mut self, root: &WorkflowRoot<'_>, workspace: &Workspace) {
        let (rules, tasks) = if root.table.system == WorkflowSystem::OpenSpec {
            match read_change_rules(&root.directory, &self.place.path, workspace) {
                Ok(rules) => (rules.artefacts, rules.tasks),
                Err(why) => {
                    self.add_unreadable("schema", root.shorten(&self.place.path).into_owned(), why);
                    return;
                }
            }
        } else {
            (root.table.artefacts.clone(), root.table.tasks.clone())
        };
        self.has_task_file = tasks.is_some();
        for rule in &rules {
            self.read_artefact(rule, tasks.as_deref(), root, workspace);
        }
    }

    fn add_unreadable(&mut self, id: &str, expected: String, why: String) {
        self.artefacts.push(ArtefactState {
            id: id.to_owned(),
            expected,
            is_required: true,
            files: Vec::new(),
            problem: Some(ArtefactProblem::Unreadable(why)),
        });
    }

    fn read_artefact(
        &mut self,
        rule: &ArtefactRule,
        tasks: Option<&str>,
        root: &WorkflowRoot<'_>,
        workspace: &Workspace,
    ) {
        let place = root.shorten(&self.place.path).into_owned();
        let mut artefact = ArtefactState {
            id: rule.id.clone(),
            expected: format!("{place}/{}", rule.files),
            is_required: rule.is_required,
            files: Vec::new(),
            problem: None,
        };
        let holds_tasks = tasks == Some(rule.files.as_str());
        let before = self.tasks.len();
        let names = match list_files(&self.place.path, &rule.files, workspace) {
            Ok(names) => names,
            Err(why) => {
                artefact.problem = Some(ArtefactProblem::Unreadable(why));
                Vec::new()
            }
        };
        let mut is_empty = true;
        for name in names {
            let path = format!("{place}/{name}");
            let text = match read_document(&self.place.path.join(&name), workspace) {
                Ok(Some(text)) => text,
                Ok(None) => continue,
                Err(why) => {
                    artefact.problem = Some(ArtefactProblem::Unreadable(format!("{path} {why}")));
                    continue;
                }
            };
            is_empty &= has_no_text(&text);
            if let Some(mark) = find_unfilled(&text, rule, root, workspace) {
                artefact.problem.get_or_insert(ArtefactProblem::Unfilled(mark));
            }
            if holds_tasks {
                self.tasks.extend(read_tasks(self.format, &text));
            }
            let notes: &[String] = if holds_tasks { &root.table.notes } else { &[] };
            artefact.files.push(ArtefactFile { path, meaning: find_meaning(&text, notes) });
        }
        // Only this tool refuses a list without tasks.
        let needs_task = holds_tasks && root.table.system == WorkflowSystem::OpenSpec;
        if artefact.problem.is_none() {
            artefact.problem = match () {
                () if artefact.files.is_empty() => Some(ArtefactProblem::Missing),
                () if is_empty => Some(ArtefactProblem::Empty),
                () if needs_task && self.tasks.len() == before => Some(ArtefactProblem::NoTask),
                () => None,
            };
        }
        self.artefacts.push(artefact);
    }

    /// Reads an instance that is one file: a story.
    fn read_file(&mut self, root: &WorkflowRoot<'_>, workspace: &Workspace) {
        let path = root.shorten(&self.place.path).into_owned();
        let text = match read_document(&self.place.path, workspace) {
            Ok(Some(text)) => text,
            Ok(None) => String::new(),
            Err(why) => {
                self.add_unreadable("spec", path.clone(), format!("{path} {why}"));
                return;
            }
        };
        let rule = root.table.artefacts.first();
        let unfilled = rule.and_then(|rule| find_unfilled(&text, rule, root, workspace));
        self.has_task_file = true;
        self.tasks = read_tasks(self.format, &text);
        self.status = find_head_value(&text, "status").map(|status| status.to_lowercase());
        self.route = find_head_value(&text, "route").filter(|route| !route.is_empty());
        let is_empty = has_no_text(&text);
        self.artefacts.push(ArtefactState {
            id: "spec".into(),
            expected: path.clone(),
            is_required: true,
            problem: if is_empty {
                Some(ArtefactProblem::Empty)
            } else {
                unfilled.map(ArtefactProblem::Unfilled)
            },
            files: vec![ArtefactFile { path, meaning: find_story_meaning(&text, &root.table.notes) }],
        });
    }

    /// Reads a tag of Task Master. Returns whether it exists.
    fn read_tag(&mut self, root: &WorkflowRoot<'_>, workspace: &Workspace) -> bool {
        let path = root.shorten(&self.place.path).into_owned();
        let tags = match root.read_tags(workspace) {
            Ok(tags) => tags.unwrap_or_default(),
            Err(why) => {
                self.add_unreadable("tasks", path, why.to_owned());
                return true;
            }
        };
        let Some(tag) = tags.iter().find(|tag| tag.tag == self.place.name) else { return false };
        self.tasks = tag.list_tasks();
        self.artefacts.push(ArtefactState {
            id: "tasks".into(),
            expected: path.clone(),
            is_required: true,
            problem: None,
            files: vec![ArtefactFile { path, meaning: tag.describe_meaning() }],
        });
        true
    }
}

/// The text of a file. The error completes "FILE …".
pub(super) fn read_document(path: &Path, workspace: &Workspace) -> Result<Option<String>, String> {
    let bytes = workspace.read_bytes(path, LARGEST_FILE).map_err(|fault| {
        let text = fault.to_string();
        let why = text.rsplit_once(&format!("{}: ", path.display())).map_or(text.as_str(), |(_, why)| why);
        format!("cannot be read ({why})")
    })?;
    let Some(bytes) = bytes else { return Ok(None) };
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(Some(text)),
        _ => Err("is not UTF-8 text".into()),
    }
}

/// Whether nothing but front matter is there.
fn has_no_text(text: &str) -> bool {
    split_front_matter(crate::text::strip_byte_order_mark(text)).0.trim().is_empty()
}

/// The files of an artefact, relative to the directory of its instance.
fn list_files(directory: &Path, pattern: &str, workspace: &Workspace) -> Result<Vec<String>, String> {
    if !has_wildcard(pattern) {
        let is_there = workspace.has_entry(&directory.join(pattern));
        return Ok(is_there.then(|| pattern.to_owned()).into_iter().collect());
    }
    let start = directory.join(find_start(pattern));
    let Some(found) = workspace.list_files_below(&start) else {
        return Err(format!("{} has too many files", find_start(pattern)));
    };
    let mut names = Vec::new();
    for path in found {
        let name = path.strip_prefix(directory).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        if workspace.is_directory(&path) {
            return Err(format!("{name} is a link to a directory, which is not read"));
        }
        if matches_file(pattern, &name) {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The text of a template that nobody has filled in.
fn find_unfilled(
    text: &str,
    rule: &ArtefactRule,
    root: &WorkflowRoot<'_>,
    workspace: &Workspace,
) -> Option<String> {
    if let Some(mark) = rule.unfilled.iter().find(|mark| text.contains(mark.as_str())) {
        return Some(mark.clone());
    }
    if root.table.system != WorkflowSystem::SpecKit || !rule.is_required {
        return None;
    }
    // The project may have templates of its own.
    let template = root.directory.join(format!(".specify/templates/{}-template.md", rule.id));
    let template = workspace.read_text(&template, LARGEST_FILE).ok().flatten()?;
    let is_same = template.split_whitespace().eq(text.split_whitespace());
    is_same.then(|| format!("the text of {}-template.md", rule.id))
}

//! What a rule is judged on: the event, its effects by command, and the disk.
//!
//! An example of a rule is judged without the disk. Every file exists there, every branch is possible, and nothing is a
//! link, because an example says what the rule means and not what one project holds.

use crate::prelude::*;
use std::cell::{LazyCell, OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::branch_finder::PossibleBranch;
use provost_core::disk_use::DiskUse;
use provost_core::effect::Effect;
use provost_core::effect::git::GitSite;
use provost_core::event::Event;
use provost_core::opinion::Fault;
use provost_core::rules::path_pattern::PatternRoots;
use provost_core::tool::{Tool, ToolCall};
use provost_core::workspace::Workspace;
use provost_shell::pattern::RunView;

/// Where systems keep temporary files, besides `$TMPDIR`.
const TEMPORARY: &[&str] =
    &["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders"];

pub struct Scene<'a> {
    pub event: &'a Event,
    pub workspace: &'a Workspace,
    /// Nothing is looked up on the disk.
    pub is_example: bool,
    /// What the example says about the disk.
    pub example_facts: ExampleFacts,
    roots: OnceCell<PatternRoots<'a>>,
    commands: OnceCell<(Vec<CommandEffects<'a>>, DiskUse)>,
    resolved: RefCell<HashMap<PathBuf, PathBuf>>,
    /// The branches of each place that were asked for.
    branches: RefCell<Vec<KnownBranches>>,
}

/// Which branches of a place are asked for.
#[derive(Clone, PartialEq)]
pub(crate) enum BranchQuestion {
    CheckedOut,
    /// Those that a push without a branch changes at this remote.
    PlainPush(Option<String>),
}

/// The branches that were found for a place and a question.
type KnownBranches = (GitSite, BranchQuestion, Rc<[PossibleBranch]>, DiskUse);

/// One command of the call.
pub(crate) struct CommandEffects<'a> {
    /// Its number in the line.
    pub(crate) number: u32,
    pub(crate) effects: Vec<&'a Effect>,
    /// The programs that it starts.
    pub(crate) runs: Vec<RunView<'a>>,
}

impl CommandEffects<'_> {
    /// The names and known arguments of the programs that it starts.
    pub(crate) fn programs(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Run { program, arguments, .. } => {
                Some((program.rsplit('/').next().unwrap_or(program), arguments.as_slice()))
            }
            _ => None,
        })
    }
}

/// What an example says about a disk that nobody looks at.
#[derive(Debug, Clone, Default)]
pub struct ExampleFacts {
    /// The branch that is checked out; `None`: it may be any.
    pub branch: Option<String>,
    /// The file does not exist yet.
    pub is_new: bool,
}

impl<'a> Scene<'a> {
    pub fn new(event: &'a Event, workspace: &'a Workspace) -> Self {
        Self {
            event,
            workspace,
            is_example: false,
            example_facts: ExampleFacts::default(),
            roots: OnceCell::new(),
            commands: OnceCell::new(),
            resolved: RefCell::default(),
            branches: RefCell::default(),
        }
    }

    pub fn for_example(event: &'a Event, workspace: &'a Workspace) -> Self {
        Self { is_example: true, ..Self::new(event, workspace) }
    }

    #[must_use]
    pub fn with_facts(mut self, facts: ExampleFacts) -> Self {
        self.example_facts = facts;
        self
    }

    /// The directories that path patterns count from.
    pub(crate) fn roots(&self) -> &PatternRoots<'a> {
        let (workspace, is_example) = (self.workspace, self.is_example);
        self.roots.get_or_init(|| PatternRoots {
            project: workspace.project.clone(),
            home: workspace.places.home.as_deref().map(|home| self.resolve(home)),
            temporary: LazyCell::new(Box::new(move || {
                let own = workspace.environment_variable("TMPDIR").map(PathBuf::from);
                let own = own.filter(|path| path.is_absolute() && path.parent().is_some());
                let all = TEMPORARY.iter().map(PathBuf::from).chain(own);
                all.map(|path| if is_example { path } else { workspace.resolve(&path) }).collect()
            })),
            work_trees: LazyCell::new(Box::new(move || {
                if is_example {
                    return Vec::new();
                }
                // Where the project is does not change with the files in it, so it does not count as a look at them.
                let list = || Some(workspace.find_repository(&workspace.project)?.list_work_trees());
                let mut trees = workspace.with_disk_use(list).0.unwrap_or_default();
                // A repository of the whole home does not make the home a project.
                let home = workspace.places.home.as_deref();
                trees.retain(|tree| !home.is_some_and(|home| home.starts_with(tree)));
                trees
            })),
        })
    }

    /// The effects of each command of the call.
    pub(crate) fn commands(&self) -> &[CommandEffects<'a>] {
        let (commands, disk_use) =
            self.commands.get_or_init(|| self.workspace.with_disk_use(|| self.list_commands()));
        self.workspace.note_disk_use(*disk_use);
        commands
    }

    fn list_commands(&self) -> Vec<CommandEffects<'a>> {
        let line = self.event.line();
        let make = |number| CommandEffects { number, effects: Vec::new(), runs: Vec::new() };
        let mut commands: Vec<CommandEffects<'a>> = (0..).take(line.commands.len()).map(make).collect();
        let home = self.workspace.places.home.as_deref();
        for (effect, number) in line.effects.iter().zip(&line.command_numbers) {
            let Some(command) = commands.get_mut(*number as usize) else { continue };
            command.effects.push(effect);
            let Some(run) = RunView::from_effect(effect) else { continue };
            let possible = line.site(*number).map_or(&[][..], |site| &site.possible);
            let run = run.in_project(Some(&self.workspace.project), home).in_any_of(possible);
            command.runs.extend(run.script());
            command.runs.push(run);
        }
        for command in &mut commands {
            self.drop_unlikely_paths(command);
        }
        commands
    }

    /// After `cd src;`, a path may count from two directories, because `cd` may fail. It does not if the directory exists.
    fn drop_unlikely_paths(&self, command: &mut CommandEffects<'a>) {
        let is_uncertain = |effect: &&Effect| matches!(effect, Effect::Run { directory: None, .. });
        if !command.effects.iter().any(is_uncertain) {
            return;
        }
        let paths: Vec<&Path> = command.effects.iter().filter_map(|effect| changed_path(effect)).collect();
        let mut at = 0;
        command.effects.retain(|effect| {
            let Some(path) = changed_path(effect) else { return true };
            at += 1;
            // The directories are listed in the order in which the line enters them.
            !paths[at..].iter().any(|other| {
                let same =
                    path.components().rev().zip(other.components().rev()).take_while(|(a, b)| a == b).count();
                let start = |path: &Path| -> PathBuf {
                    let count = path.components().count() - same;
                    path.components().take(count).collect()
                };
                let (from, entered) = (start(path), start(other));
                same > 0
                    && entered != from
                    && entered.starts_with(&from)
                    && (self.is_example || self.is_directory(&entered))
            })
        });
    }

    /// The repository that a command acts in: the one around the file that a tool names, or around the directory in which
    /// a program runs.
    pub(crate) fn find_site(&self, command: &CommandEffects<'_>) -> GitSite {
        if let Some(site) = self.event.line().site(command.number) {
            return site.clone();
        }
        let is_line = self.event.call().is_some_and(|call| matches!(call.tool, Tool::Shell { .. }));
        let file = command.effects.iter().find_map(|effect| match effect {
            Effect::Read { path, .. } | Effect::Touch { path } => Some(&**path),
            effect => changed_path(effect),
        });
        match file.and_then(Path::parent) {
            Some(directory) if !is_line => {
                GitSite { repository: Some(directory.to_owned()), ..GitSite::default() }
            }
            _ => self.start_site(),
        }
    }

    /// The repository of the session, as it is before the call.
    pub(crate) fn start_site(&self) -> GitSite {
        GitSite { repository: Some(self.event.cwd.clone()), ..GitSite::default() }
    }

    /// Whether the call is one of an unknown tool whose name says that it only reads.
    pub(crate) fn only_reads(&self) -> bool {
        self.event.call().is_some_and(ToolCall::is_reader)
    }

    /// The commands whose output becomes the input of this one.
    pub(crate) fn feeding_commands(&self, number: u32) -> impl Iterator<Item = &CommandEffects<'a>> {
        let line = self.event.line();
        let others = self.commands().iter().filter(move |other| other.number != number);
        others.filter(move |other| line.feeds(other.number, number))
    }

    /// The branches that `find` finds for a place. Many rules ask for the same ones, and each look reads files of git.
    pub(crate) fn cached_branches(
        &self,
        site: &GitSite,
        question: &BranchQuestion,
        find: impl FnOnce() -> Result<Vec<PossibleBranch>, Fault>,
    ) -> Result<Rc<[PossibleBranch]>, Fault> {
        let is_same = |known: &&KnownBranches| known.0 == *site && known.1 == *question;
        if let Some((_, _, branches, disk_use)) = self.branches.borrow().iter().find(is_same) {
            self.workspace.note_disk_use(*disk_use);
            return Ok(branches.clone());
        }
        let (found, disk_use) = self.workspace.with_disk_use(find);
        self.workspace.note_disk_use(disk_use);
        let found: Rc<[PossibleBranch]> = found?.into();
        self.branches.borrow_mut().push((site.clone(), question.clone(), found.clone(), disk_use));
        Ok(found)
    }

    /// The file that a path means.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        // `/dev/stderr` would lead to what this process has there.
        if self.is_example || path.starts_with("/dev") {
            return normalize(path);
        }
        // Many rules ask for the same few paths.
        let mut resolved = self.resolved.borrow_mut();
        resolved.entry(path.to_owned()).or_insert_with(|| self.workspace.resolve(path)).clone()
    }

    /// The file that a deletion removes: a link itself, and not its target, unless a slash is behind it.
    pub(crate) fn resolve_deleted(&self, path: &Path) -> PathBuf {
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return self.resolve(path);
        }
        if self.is_example { normalize(path) } else { self.workspace.resolve_parent(path) }
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        if self.is_example { !self.example_facts.is_new } else { self.workspace.exists(path) }
    }

    /// Whether something other than a directory is there.
    pub(crate) fn is_file(&self, path: &Path) -> bool {
        !self.is_example && self.workspace.exists(path) && !self.workspace.is_directory(path)
    }

    pub(crate) fn is_directory(&self, path: &Path) -> bool {
        !self.is_example && self.workspace.is_directory(path)
    }
}

/// The path that an effect writes or deletes.
fn changed_path(effect: &Effect) -> Option<&Path> {
    match effect {
        Effect::Write { path, .. } | Effect::Delete { path } => Some(path),
        _ => None,
    }
}

/// Removes `.` and `..` without a look at the disk.
fn normalize(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = result.pop(),
            Component::CurDir => {}
            part => result.push(part),
        }
    }
    result
}

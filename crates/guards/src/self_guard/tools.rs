//! The guard `self-guard`: no tool changes what switches Provost on.
//!
//! It checks effects, so the file tools, Bash and unknown tools are the same to it. A settings file may be edited as
//! long as Provost loses nothing: the edit is applied in memory and both versions are compared. A change whose result
//! cannot be known beforehand is denied.

use crate::prelude::*;
use std::cell::{LazyCell, OnceCell};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::LARGEST_SETTINGS;
use super::commands::{self, StartedProgram};
use super::patches;
use super::protected::{Protected, Protection};
use super::refusal::{ProtectedFile, Refusal, Refused};
use super::work_tree;
use provost_core::effect::{self, Effect, ProposedContent, WriteContent};
use provost_core::event::Event;
use provost_core::opinion::{Fault, Opinion};
use provost_core::places::is_within;
use provost_core::workspace::work_tree::WorkTrees;
use provost_core::workspace::{FileIdentity, Workspace};
use provost_shell as shell;

/// One tool call that is being checked. Most calls touch nothing, so everything is looked up on first use.
pub(super) struct ToolCheck<'a> {
    pub(super) event: &'a Event,
    pub(super) workspace: &'a Workspace,
    protected: OnceCell<Protected<'a>>,
    /// Where the key that seals verdicts really is; `None`: there is no key yet.
    seal_key: OnceCell<Option<(PathBuf, FileIdentity)>>,
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let check = ToolCheck { event, workspace, protected: OnceCell::new(), seal_key: OnceCell::new() };
    Ok(check.refuse_call()?.map_or_else(Opinion::silent, Refusal::into_opinion))
}

impl<'a> ToolCheck<'a> {
    pub(super) fn protected_files(&self) -> &Protected<'a> {
        self.protected.get_or_init(|| Protected::find(self.workspace))
    }

    fn refuse_call(&self) -> Refused {
        if let Some(call) = self.event.call() {
            if let Some(refusal) = commands::refuse_override_text(&call.tool, self.workspace) {
                return Ok(Some(refusal));
            }
            for path in patches::find_patched_files(&call.tool, self.event) {
                if let Some(refusal) = self.refuse_touch(&path)? {
                    return Ok(Some(refusal));
                }
            }
        }
        self.refuse_effects(self.event.effects())
    }

    /// The first refusal that no prompt lifts, or else the first one.
    fn refuse_effects(&self, effects: &[Effect]) -> Refused {
        let workspace = self.workspace;
        let mut trees = WorkTrees::new(workspace);
        let copy_refusal = LazyCell::new(|| commands::refuse_copy(effects, workspace));
        let mut seen_patches = HashSet::new();
        let mut first = None;
        for (at, effect) in effects.iter().enumerate() {
            let refusal = match effect {
                Effect::Write { path, content } => self.refuse_write(path, content)?,
                Effect::Place { names, to, tree } => match &*copy_refusal {
                    None => self.refuse_place(names, to, *tree, effects)?,
                    refusal => refusal.clone(),
                },
                Effect::Delete { path } => self.refuse_delete(path)?,
                Effect::ChangeTree(change) => work_tree::refuse_change(change, &mut trees, self)?,
                Effect::ApplyPatch(command) if !seen_patches.insert(command) => None,
                Effect::ApplyPatch(command) => self.refuse_patch(command, effects)?,
                Effect::Touch { path } => self.refuse_touch(path)?,
                Effect::Read { path, scope } => self.refuse_read(path, scope.is_recursive()),
                Effect::SetVariable { name, value } => {
                    commands::refuse_variable(name, value.as_deref(), workspace)
                }
                Effect::Run { program, arguments, unknown_from, directory, .. } => {
                    let started = StartedProgram { program, arguments, unknown_from: *unknown_from };
                    self.refuse_run(&started, directory.as_deref().unwrap_or(&self.event.cwd))?
                }
                Effect::UnknownTarget { target, places, change } => {
                    let places = self.drop_left_place(places, &effects[..at]);
                    match self.refuse_pattern(target, places, *change)? {
                        None => self.refuse_unknown_instructions_target(target),
                        refusal => refusal,
                    }
                }
                Effect::TooLarge { what } => Some(Refusal::for_oversized(what)),
                _ => None,
            };
            match refusal {
                Some(refusal) if refusal.is_final => return Ok(Some(refusal)),
                refusal => first = first.or(refusal),
            }
        }
        Ok(first)
    }

    /// In `cd build; rm -rf *`, the name counts from the directory that is entered, if it exists. Only in front of the first
    /// other command, which could delete it.
    fn drop_left_place<'p>(&self, places: &'p [PathBuf], before: &[Effect]) -> &'p [PathBuf] {
        let [left, entered] = places else { return places };
        let Some((Effect::Run { .. }, before)) = before.split_last() else { return places };
        let is_entering = |effect: &Effect| matches!(effect, Effect::Run { program, .. } if program == "cd");
        let is_certain = entered.starts_with(left)
            && before.len() == 1
            && before.iter().all(is_entering)
            && self.workspace.is_directory(entered);
        if is_certain { &places[1..] } else { places }
    }

    pub(super) fn refuse_write(&self, path: &Path, content: &WriteContent) -> Refused {
        let workspace = self.workspace;
        let real = workspace.resolve(path);
        match self.protected_files().find_protection(path, &real)? {
            Protection::Own(file) => Ok(Some(Refusal::for_own_file("written", &real, file, workspace))),
            Protection::Settings => {
                let (WriteContent::InCall, Some(call)) = (content, self.event.call()) else {
                    return Ok(Some(Refusal::for_unknown_settings(&real, workspace)));
                };
                let before = workspace.read_text(&real, LARGEST_SETTINGS)?;
                let after = effect::compute_proposed_content(&call.tool, before.as_deref());
                let ProposedContent::Text(after) = after else {
                    return Ok(Some(Refusal::for_unknown_settings(&real, workspace)));
                };
                let losses = find_losses(before.as_deref(), Some(&after), workspace);
                match Refusal::for_settings(&real, losses, workspace) {
                    None => self.refuse_added_hooks(&real, before.as_deref(), &after),
                    refusal => Ok(refusal),
                }
            }
            Protection::None
                if self.is_instructions(path, &real) || self.is_linked_instructions(&real, content) =>
            {
                self.refuse_instructions(&real, content)
            }
            // A new file may take the place of a directory that would hold protected files.
            Protection::None if workspace.exists(&real) => Ok(None),
            Protection::None => Ok(self.refuse_parent(&real)),
        }
    }

    /// Checks each hook that an edit adds like a command line of the agent, because the client will run it.
    fn refuse_added_hooks(&self, file: &Path, before: Option<&str>, after: &str) -> Refused {
        let read = self.workspace.client.settings.parse_switches;
        let (Ok(before), Ok(after)) = (read(before), read(Some(after))) else { return Ok(None) };
        for line in before.find_added_commands(&after) {
            let effects = shell::effects(line, &self.workspace.start, self.event.home.as_deref());
            if let Some(refusal) = self.refuse_effects(&effects)? {
                return Ok(Some(refusal.blame_hook(file, self.workspace)));
            }
        }
        Ok(None)
    }

    /// Refuses to copy or move files to a protected path, or into a directory where they would be protected.
    fn refuse_place(&self, names: &[PathBuf], to: &Path, tree: bool, effects: &[Effect]) -> Refused {
        let into = self.workspace.is_directory(to);
        let landings =
            if into { names.iter().map(|name| to.join(name)).collect() } else { vec![to.to_owned()] };
        for landing in &landings {
            if let Some(refusal) = self.refuse_write(landing, &WriteContent::Unknown)? {
                return Ok(Some(refusal));
            }
            if tree && let Some(refusal) = self.refuse_overlay(&self.workspace.resolve(landing)) {
                return Ok(Some(refusal));
            }
        }
        self.refuse_placed_instructions(names, to, effects)
    }

    /// Refuses a tree that is copied over an existing one, because it may contain any file. Over the project or the
    /// home directory that is everyday work, and a known gap of this guard.
    fn refuse_overlay(&self, real: &Path) -> Option<Refusal> {
        let is_everyday =
            real == self.workspace.project || Some(real) == self.workspace.places.home.as_deref();
        if is_everyday { None } else { self.refuse_parent(real) }
    }

    /// Refuses to replace a directory below which a protected file is, or would be.
    fn refuse_parent(&self, real: &Path) -> Option<Refusal> {
        let below = self.protected_files().find_below(real)?;
        Some(Refusal::for_parent(real, below, self.workspace))
    }

    fn refuse_delete(&self, path: &Path) -> Refused {
        let (workspace, protected) = (self.workspace, self.protected_files());
        let real = workspace.resolve(path);
        let named = workspace.resolve_parent(path);
        let refuse = |path, file| Ok(Some(Refusal::for_own_file("deleted or moved", path, file, workspace)));
        if let Protection::Own(file) = protected.find_protection(&named, &real)? {
            return refuse(&named, file);
        }
        let is_gone = |path: &Path| is_within(path, &real) || is_within(path, &named);
        if protected.has_own_file(is_gone) {
            return refuse(&real, ProtectedFile::OwnDirectory);
        }
        if let Some(file) =
            protected.find_other_hook_file(&real).or_else(|| protected.find_other_hook_file(&named))
        {
            return refuse(&file, ProtectedFile::HookFile);
        }
        let is_settings_name = workspace.client.settings.is_settings_file;
        let by_name = [&real, &named].into_iter().filter(|path| is_settings_name(path));
        let by_name = by_name.map(|path| (path.as_path(), real.as_path()));
        for (file, target) in protected.settings().chain(by_name) {
            // A settings file may be a link: neither the link nor its target may go.
            if is_gone(target) || is_gone(&workspace.resolve_parent(file)) {
                let losses = find_deletion_losses(target, workspace)?;
                if let Some(refusal) = Refusal::for_settings(file, losses, workspace) {
                    return Ok(Some(refusal));
                }
            }
        }
        Ok(None)
    }

    /// Refuses a protected path that an unknown tool gets.
    fn refuse_touch(&self, path: &Path) -> Refused {
        let (workspace, protected) = (self.workspace, self.protected_files());
        let refuse_instructions = |path: &Path, real: &Path| {
            if !self.is_instructions(path, real) {
                return Ok(None);
            }
            self.refuse_instructions(real, &WriteContent::Unknown)
        };
        // Most strings that an unknown tool gets are no paths.
        if !protected.may_become_protected(path) && workspace.is_unreachable(path) {
            return refuse_instructions(path, path);
        }
        let real = workspace.resolve(path);
        match protected.find_protection(path, &real)? {
            Protection::None => refuse_instructions(path, &real),
            Protection::Own(file) => {
                Ok(Some(Refusal::for_own_file("given to an unknown tool", &real, file, workspace)))
            }
            Protection::Settings => Ok(Some(Refusal::for_unknown_settings(&real, workspace))),
        }
    }

    /// Refuses to read the key that seals verdicts.
    fn refuse_read(&self, path: &Path, recursive: bool) -> Option<Refusal> {
        let workspace = self.workspace;
        let find_key = || {
            let key = workspace.places.seal_key_file()?;
            let identity = workspace.find_identity(&key)?;
            Some((workspace.resolve(&key), identity))
        };
        let (key, identity) = self.seal_key.get_or_init(find_key).as_ref()?;
        let reads = workspace.find_identity(path) == Some(*identity)
            || (recursive && is_within(key, &workspace.resolve(path)));
        reads.then(|| {
            Refusal::new(
                "Provost's seal key not read".into(),
                "who has the key can forge verdicts",
                "continue without it; for a search, name a directory that does not hold it",
                format!("reads {}", key.display()),
            )
            .permanent()
        })
    }
}

/// What Provost would lose by a change of a settings file.
fn find_losses(before: Option<&str>, after: Option<&str>, workspace: &Workspace) -> Vec<String> {
    let read = workspace.client.settings.parse_switches;
    match (read(before), read(after)) {
        (Ok(before), Ok(after)) => before.find_forbidden_changes(&after),
        (_, Err(why)) => vec![why],
        (Err(_), _) => vec!["it is broken now, so the effect on its hooks cannot be known".into()],
    }
}

/// What Provost would lose if a settings file were deleted.
pub(super) fn find_deletion_losses(file: &Path, workspace: &Workspace) -> Result<Vec<String>, Fault> {
    Ok(find_losses(workspace.read_text(file, LARGEST_SETTINGS)?.as_deref(), None, workspace))
}

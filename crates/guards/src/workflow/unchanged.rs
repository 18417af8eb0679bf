//! What need not be read again: finished instances, and the tags of a large file, as long as their files are unchanged.
//!
//! A project keeps its finished features for years, and each edit asks whether one is open. The lists are sealed like
//! approvals, because a forged one could make work free. Without a list, or with a damaged one, all is read again.

use crate::prelude::*;

use super::record::digest_meaning;
use crate::seal::SealKey;
use provost_core::opinion::Fault;
use provost_core::workflow::project::{InstancePlace, WorkflowRoot};
use provost_core::workspace::Workspace;

/// Fewer new entries are not worth a write.
const LEAST_NEW: usize = 8;

/// The finished instances of a root that are known.
pub(super) struct FinishedInstances<'r> {
    root: &'r WorkflowRoot<'r>,
    /// Pairs of a path and a stamp, by path.
    known: Vec<(String, String)>,
    /// Those that were found finished in this call.
    found: Vec<(String, String)>,
}

impl<'r> FinishedInstances<'r> {
    pub(super) fn load(root: &'r WorkflowRoot<'r>, workspace: &Workspace) -> Self {
        let text = read_sealed(&subject(root, "finished"), workspace).unwrap_or_default();
        let pair = |line: &str| line.split_once(' ').map(|(stamp, path)| (path.to_owned(), stamp.to_owned()));
        Self { root, known: text.lines().filter_map(pair).collect(), found: Vec::new() }
    }

    /// Whether an instance was finished, and its tasks have not changed since.
    pub(super) fn has(&self, place: &InstancePlace, workspace: &Workspace) -> bool {
        let Some(file) = self.root.find_task_file(place).filter(|_| !self.known.is_empty()) else {
            return false;
        };
        let path = self.root.shorten(&file);
        let known = self.known.binary_search_by(|(known, _)| known.as_str().cmp(&path));
        known.is_ok_and(|at| workspace.find_file_stamp(&file).as_ref() == Some(&self.known[at].1))
    }

    pub(super) fn add(&mut self, place: &InstancePlace, workspace: &Workspace) {
        let Some(file) = self.root.find_task_file(place) else { return };
        if let Some(stamp) = workspace.find_file_stamp(&file) {
            self.found.push((self.root.shorten(&file).into_owned(), stamp));
        }
    }

    /// Keeps what was found, if it is enough. An error must not change an answer.
    pub(super) fn store(mut self, workspace: &Workspace) {
        if self.found.len() < LEAST_NEW {
            return;
        }
        let found = std::mem::take(&mut self.found);
        self.known.retain(|(path, _)| !found.iter().any(|(other, _)| other == path));
        self.known.extend(found);
        self.known.sort_unstable();
        let lines = self.known.iter().filter(|(path, _)| !path.contains('\n'));
        let mut text = String::new();
        lines.for_each(|(path, stamp)| text += &format!("{stamp} {path}\n"));
        let _ = write_sealed(&subject(self.root, "finished"), &text, workspace);
    }
}

/// What is known of a tag of Task Master.
pub(super) struct TagState {
    pub(super) place: InstancePlace,
    pub(super) is_open: bool,
    /// The digest of its meaning.
    pub(super) digest: String,
}

/// The tags of a root of Task Master.
pub(super) fn read_tags(root: &WorkflowRoot<'_>, workspace: &Workspace) -> Result<Vec<TagState>, Fault> {
    let Some(path) = root.tag_file() else { return Ok(Vec::new()) };
    let name = subject(root, "tags");
    let stamp = workspace.find_file_stamp(&path);
    let text = stamp.as_ref().and_then(|_| read_sealed(&name, workspace));
    if let Some((first, rest)) = text.as_deref().and_then(|text| text.split_once('\n'))
        && stamp.as_deref() == Some(first)
    {
        let state = |line: &str| {
            let (is_open, rest) = line.split_once(' ')?;
            let (digest, name) = rest.split_once(' ')?;
            let place = InstancePlace { name: name.to_owned(), path: path.clone() };
            Some(TagState { place, is_open: is_open == "open", digest: digest.to_owned() })
        };
        return Ok(rest.lines().filter_map(state).collect());
    }
    let (mut states, mut task_count) = (Vec::new(), 0);
    for place in root.list_instances(workspace)? {
        let Some(instance) = root.read_instance(&place, workspace) else { continue };
        let digest = instance.list_files().next().map(digest_meaning).unwrap_or_default();
        task_count += instance.tasks.len();
        states.push(TagState { place, is_open: instance.is_open(), digest });
    }
    let is_plain = states.iter().all(|state| !state.place.name.contains('\n'));
    if let Some(stamp) = stamp.filter(|_| is_plain && task_count >= LEAST_NEW) {
        let line = |state: &TagState| {
            let word = if state.is_open { "open" } else { "closed" };
            format!("{word} {} {}\n", state.digest, state.place.name)
        };
        let lines: String = states.iter().map(line).collect::<Vec<_>>().concat();
        let _ = write_sealed(&name, &format!("{stamp}\n{lines}"), workspace);
    }
    Ok(states)
}

fn subject(root: &WorkflowRoot<'_>, what: &str) -> String {
    // A changed table may count other files.
    format!("{what}\n{}\n{:?}", root.directory.display(), root.table)
}

fn read_sealed(subject: &str, workspace: &Workspace) -> Option<String> {
    let text = workspace.read_workflow_list(subject)?;
    let (seal, list) = text.split_once('\n')?;
    // The name of the file is only a digest.
    let key = SealKey::load(workspace).ok().flatten()?;
    key.is_list(seal, &format!("{subject}\n{list}")).then(|| list.to_owned())
}

fn write_sealed(subject: &str, list: &str, workspace: &Workspace) -> Result<(), Fault> {
    let key = SealKey::load_or_create(workspace)?;
    let seal = key.seal_list(&format!("{subject}\n{list}"));
    workspace.write_workflow_list(subject, &format!("{seal}\n{list}"))
}

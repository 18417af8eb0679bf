//! The user's approvals, as they are on record for a project.
//!
//! An approval names the digest of the meaning of each text that the user has approved, and is sealed: whoever writes
//! the file without the key forges nothing. What the user named last is not sealed, because it allows nothing.

use crate::prelude::*;
use std::path::Path;

use serde_json::{Value, json};

use super::places::describe_root;
use crate::plan_gate::digest::Digest;
use crate::seal::SealKey;
use provost_core::opinion::Fault;
use provost_core::workflow::instance::{ArtefactFile, WorkflowInstance};
use provost_core::workflow::project::WorkflowRoot;
use provost_core::workspace::Workspace;

/// More approvals than this are not kept; the oldest are dropped.
const MOST: usize = 500;

/// An approval of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub workflow: String,
    pub instance: String,
    /// The directory or file of the instance, relative to the root of its workflow.
    pub place: String,
    /// The root, relative to the project; empty if it is the project.
    pub root: String,
    /// Each file, relative to the root, and the digest of its meaning.
    pub files: Vec<(String, String)>,
    pub time: String,
    pub session: String,
    /// The user's name on this machine, if the environment has one.
    pub user: String,
    pub prompt: String,
}

/// What is on record for a project.
#[derive(Debug, Default)]
pub struct WorkflowRecord {
    /// Only those with a valid seal, the newest first.
    pub approvals: Vec<Approval>,
    /// The workflow and the instance that the user has named, the last one first.
    pub named: Vec<(String, String)>,
}

/// How an instance differs from what was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    Changed(String),
    Added(String),
    Removed(String),
}

impl WorkflowRecord {
    pub fn read(project: &Path, workspace: &Workspace) -> Result<Self, Fault> {
        let value = workspace.read_workflow_record(project)?;
        let mut record = Self::default();
        let list = |name: &str| value[name].as_array().map_or(&[][..], Vec::as_slice);
        if !list("approvals").is_empty()
            && let Some(key) = SealKey::load(workspace)?
        {
            let sealed = list("approvals").iter().rev().filter_map(|entry| {
                let approval = Approval::parse(entry)?;
                key.is_approval(entry["signature"].as_str()?, &approval.describe()).then_some(approval)
            });
            record.approvals = sealed.collect();
        }
        let pair = |entry: &Value| Some((entry[0].as_str()?.to_owned(), entry[1].as_str()?.to_owned()));
        record.named = list("named").iter().rev().filter_map(pair).collect();
        Ok(record)
    }

    /// The approvals of a root, the newest first.
    pub fn list_approvals(&self, root: &WorkflowRoot<'_>, workspace: &Workspace) -> Vec<&Approval> {
        let name = describe_root(&root.directory, workspace);
        let is_own = |approval: &&Approval| approval.workflow == root.table.name && approval.root == name;
        self.approvals.iter().filter(is_own).collect()
    }

    /// The last approval of an instance.
    pub fn find_approval(
        &self,
        root: &WorkflowRoot<'_>,
        instance: &str,
        workspace: &Workspace,
    ) -> Option<&Approval> {
        self.list_approvals(root, workspace).into_iter().find(|approval| approval.instance == instance)
    }

    /// The instance of a workflow that the user has named last.
    pub fn find_named(&self, workflow: &str) -> Option<&str> {
        self.named.iter().find(|(named, _)| named == workflow).map(|(_, instance)| instance.as_str())
    }
}

impl Approval {
    /// Whether the instance still says what was approved.
    pub fn compare(&self, instance: &WorkflowInstance) -> Result<(), Difference> {
        let mut known = self.files.iter().collect::<Vec<_>>();
        for file in instance.list_files() {
            let Some(at) = known.iter().position(|(path, _)| *path == file.path) else {
                // An empty text says nothing yet.
                if file.meaning.is_empty() {
                    continue;
                }
                return Err(Difference::Added(file.path.clone()));
            };
            if known.swap_remove(at).1 != digest_meaning(file) {
                return Err(Difference::Changed(file.path.clone()));
            }
        }
        known.first().map_or(Ok(()), |(path, _)| Err(Difference::Removed(path.clone())))
    }

    /// The text that is sealed.
    fn describe(&self) -> String {
        self.as_json().to_string()
    }

    fn as_json(&self) -> Value {
        json!({
            "workflow": self.workflow, "instance": self.instance, "place": self.place, "root": self.root,
            "files": self.files, "time": self.time, "session": self.session, "user": self.user,
            "prompt": self.prompt,
        })
    }

    fn parse(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let files = value["files"].as_array()?.iter();
        Some(Self {
            workflow: text("workflow")?,
            instance: text("instance")?,
            place: text("place")?,
            root: text("root")?,
            files: files
                .map(|file| Some((file[0].as_str()?.to_owned(), file[1].as_str()?.to_owned())))
                .collect::<Option<_>>()?,
            time: text("time")?,
            session: text("session")?,
            user: text("user")?,
            prompt: text("prompt")?,
        })
    }

    /// Seals and keeps the approval, in place of an earlier one of the same instance.
    pub fn store(&self, project: &Path, workspace: &Workspace) -> Result<(), Fault> {
        let key = SealKey::load_or_create(workspace)?;
        let mut entry = self.as_json();
        entry["signature"] = key.seal_approval(&self.describe()).into();
        let is_same =
            |other: &Value| ["workflow", "instance", "root"].iter().all(|name| other[*name] == entry[*name]);
        workspace.change_workflow_record(project, |record| {
            let mut approvals = record["approvals"].as_array().cloned().unwrap_or_default();
            approvals.retain(|other| !is_same(other));
            approvals.push(entry.clone());
            let surplus = approvals.len().saturating_sub(MOST);
            approvals.drain(..surplus);
            record["approvals"] = approvals.into();
            note_named(record, &self.workflow, &self.instance);
        })
    }
}

/// Records that the user has named an instance.
pub fn store_named(
    project: &Path,
    workflow: &str,
    instance: &str,
    workspace: &Workspace,
) -> Result<(), Fault> {
    workspace.change_workflow_record(project, |record| note_named(record, workflow, instance))
}

fn note_named(record: &mut Value, workflow: &str, instance: &str) {
    let mut named = record["named"].as_array().cloned().unwrap_or_default();
    // One for each workflow.
    named.retain(|entry| entry[0] != workflow);
    named.push(json!([workflow, instance]));
    record["named"] = named.into();
}

/// The digest of what an approval covers.
pub fn digest_meaning(file: &ArtefactFile) -> String {
    Digest::hash_text(&[file.meaning.as_bytes()]).to_string()
}

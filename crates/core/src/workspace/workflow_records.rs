//! The file with the user's approvals in a project, and lists of what need not be read again.
//!
//! Approvals are kept for as long as the project exists, unlike the memory of a session. A damaged file holds no approval,
//! and the next one replaces it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Workspace;
use super::disk::fault_at;
use crate::opinion::Fault;
use crate::places::fnv1a;
use provost_files as files;

const LARGEST: u64 = 16 << 20;

impl Workspace {
    /// What is on record for a project. `Null`: nothing, or nothing that can be read.
    pub fn read_workflow_record(&self, project: &Path) -> Result<Value, Fault> {
        // Without a home, nothing was ever approved.
        let Ok(file) = self.workflow_record_file(project) else { return Ok(Value::Null) };
        let Some(bytes) = self.read_bytes(&file, LARGEST)? else { return Ok(Value::Null) };
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        // The name of the file is only a digest.
        let is_own = value["project"] == *project.to_string_lossy();
        Ok(if is_own { value } else { Value::Null })
    }

    /// Changes what is on record for a project, while no other process does.
    pub fn change_workflow_record(
        &self,
        project: &Path,
        change: impl FnOnce(&mut Value),
    ) -> Result<(), Fault> {
        self.permit_change()?;
        let file = self.workflow_record_file(project)?;
        let _lock = self.lock(&file)?;
        let mut value = self.read_workflow_record(project)?;
        if !value.is_object() {
            value = serde_json::json!({"project": project.to_string_lossy()});
        }
        change(&mut value);
        files::replace_private(&file, value.to_string().as_bytes()).map_err(fault_at(&file))
    }

    /// A list that belongs to a workflow in a directory, as it was written last.
    pub fn read_workflow_list(&self, subject: &str) -> Option<String> {
        let file = self.workflow_list_file(subject).ok()?;
        self.read_text(&file, LARGEST).ok().flatten()
    }

    pub fn write_workflow_list(&self, subject: &str, text: &str) -> Result<(), Fault> {
        self.permit_change()?;
        let file = self.workflow_list_file(subject)?;
        files::replace_private(&file, text.as_bytes()).map_err(fault_at(&file))
    }

    fn workflow_list_file(&self, subject: &str) -> Result<PathBuf, Fault> {
        self.state_file("workflows", &format!("{:016x}.list", fnv1a(subject.as_bytes())))
    }

    /// What shows that a file is unchanged; `None` if that cannot be known, or if it changed so lately that its time could
    /// stay the same.
    pub fn find_file_stamp(&self, path: &Path) -> Option<String> {
        if self.is_past() {
            return None;
        }
        files::find_stamp(path)
    }

    fn workflow_record_file(&self, project: &Path) -> Result<PathBuf, Fault> {
        let digest = fnv1a(project.as_os_str().as_encoded_bytes());
        self.state_file("workflows", &format!("{digest:016x}.json"))
    }
}

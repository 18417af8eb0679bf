//! Which commands of a project's `provost.toml` the user trusts.
//!
//! A cloned project must run nothing before the user has agreed, once on this machine. The agreement holds for a
//! project and for the exact text of each command, so a changed command waits again. The files of the user and the
//! administrator are trusted.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Workspace;
use super::disk::fault_at;
use crate::layer::ConfigLayer;
use crate::opinion::Fault;
use crate::places::fnv1a;
use crate::rules::Rule;
use provost_files as files;

const LARGEST: u64 = 4 << 20;

impl Workspace {
    /// Whether a rule may run its command. A store that cannot be read trusts nothing.
    pub fn is_trusted(&self, rule: &Rule) -> bool {
        let Some(command) = rule.command() else { return true };
        rule.origin.layer != ConfigLayer::Project
            || self.read_trusted(project_of(rule)).is_ok_and(|trusted| trusted.iter().any(|it| it == command))
    }

    /// The commands of the project's rules that wait for the user's trust.
    pub fn list_untrusted_commands(&self) -> Vec<&str> {
        let rules = self.config.rules.rules.iter();
        let mut commands: Vec<&str> =
            rules.filter(|rule| !self.is_trusted(rule)).filter_map(Rule::command).collect();
        commands.dedup();
        commands
    }

    /// Trusts all commands of the project's rules as they are now, and returns those that are new.
    pub fn trust_commands(&self) -> Result<Vec<String>, Fault> {
        let added: Vec<String> = self.list_untrusted_commands().into_iter().map(str::to_owned).collect();
        let of_project = |rule: &&Rule| rule.origin.layer == ConfigLayer::Project;
        let Some(project) = self.config.rules.rules.iter().find(of_project).map(project_of) else {
            return Ok(added);
        };
        if added.is_empty() {
            return Ok(added);
        }
        let file = self.trust_file(project)?;
        let _lock = self.lock(&file)?;
        let mut commands = self.read_trusted(project).unwrap_or_default();
        commands.extend(added.iter().cloned());
        let value = json!({"project": project.to_string_lossy(), "commands": commands});
        files::replace_private(&file, value.to_string().as_bytes()).map_err(fault_at(&file))?;
        Ok(added)
    }

    fn read_trusted(&self, project: &Path) -> Result<Vec<String>, Fault> {
        let file = self.trust_file(project)?;
        let bytes = files::read_file(&file, LARGEST).map_err(fault_at(&file))?.unwrap_or_default();
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        // The name of the file is only a digest.
        let commands =
            value["commands"].as_array().filter(|_| value["project"] == *project.to_string_lossy());
        let texts = commands.into_iter().flatten().filter_map(Value::as_str);
        Ok(texts.map(str::to_owned).collect())
    }

    fn trust_file(&self, project: &Path) -> Result<PathBuf, Fault> {
        let digest = fnv1a(project.as_os_str().as_encoded_bytes());
        self.state_file("trust", &format!("{digest:016x}.json"))
    }
}

/// The directory of the file that has a rule.
fn project_of(rule: &Rule) -> &Path {
    rule.origin.file.parent().unwrap_or(&rule.origin.file)
}

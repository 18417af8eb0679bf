//! Which commands of a project's `provost.toml` the user trusts.
//!
//! A cloned project must run nothing before the user has agreed, once on this machine. The agreement holds for a
//! project and for the exact text of each command, so a changed command waits again. The files of the user and the
//! administrator are trusted, unless they lie in the project: a project can set variables that say where such a file is.
//! For the same reason, a store in the project trusts nothing.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Workspace;
use super::disk::fault_at;
use crate::layer::ConfigLayer;
use crate::opinion::Fault;
use crate::places::{fnv1a, is_within};
use crate::rules::Rule;
use provost_files as files;

const LARGEST: u64 = 4 << 20;
/// The directories with the homes of users.
const HOMES: &[&str] = &["/home", "/Users", "C:\\Users"];

impl Workspace {
    /// Whether a rule may run its command. A store that cannot be read trusts nothing.
    pub fn is_trusted(&self, rule: &Rule) -> bool {
        let Some(command) = rule.command() else { return true };
        !self.needs_trust(rule)
            || self.read_trusted(project_of(rule)).is_ok_and(|trusted| trusted.iter().any(|it| it == command))
    }

    fn needs_trust(&self, rule: &Rule) -> bool {
        rule.origin.layer == ConfigLayer::Project || self.comes_with_project(&rule.origin.file)
    }

    /// Whether a file of the user or of Provost lies in the project. A session in the home directory itself has no other
    /// place for it.
    fn comes_with_project(&self, file: &Path) -> bool {
        let is_home = HOMES.iter().any(|homes| self.project.parent() == Some(Path::new(homes)))
            || self.project == Path::new("/root");
        !is_home && is_within(&self.resolve(file), &self.project)
    }

    /// The commands of the project's rules that wait for the user's trust.
    pub fn list_untrusted_commands(&self) -> Vec<&str> {
        let rules = self.config.rules.rules.iter().filter(|rule| self.needs_trust(rule));
        let mut commands = Vec::new();
        // Rules of one file stand together, so its project's list is read once.
        let mut trusted: Option<(&Path, Vec<String>)> = None;
        for (rule, command) in rules.filter_map(|rule| Some((rule, rule.command()?))) {
            let project = project_of(rule);
            if trusted.as_ref().is_none_or(|(known, _)| *known != project) {
                trusted = Some((project, self.read_trusted(project).unwrap_or_default()));
            }
            if !trusted.iter().any(|(_, known)| known.iter().any(|it| it == command)) {
                commands.push(command);
            }
        }
        commands.dedup();
        commands
    }

    /// Trusts all commands of the project's rules as they are now, and returns those that are new.
    pub fn trust_commands(&self) -> Result<Vec<String>, Fault> {
        let added: Vec<String> = self.list_untrusted_commands().into_iter().map(str::to_owned).collect();
        let mut projects: Vec<&Path> =
            self.config.rules.rules.iter().filter(|rule| !self.is_trusted(rule)).map(project_of).collect();
        projects.dedup();
        for project in projects {
            self.permit_change()?;
            let file = self.trust_file(project)?;
            if self.comes_with_project(&file) {
                let why = format!("{} lies in the project", file.display());
                return Err(Fault::Error(why));
            }
            let _lock = self.lock(&file)?;
            let mut commands = self.read_trusted(project).unwrap_or_default();
            commands.extend(added.iter().cloned());
            let value = json!({"project": project.to_string_lossy(), "commands": commands});
            files::replace_private(&file, value.to_string().as_bytes()).map_err(fault_at(&file))?;
        }
        Ok(added)
    }

    fn read_trusted(&self, project: &Path) -> Result<Vec<String>, Fault> {
        if self.ask_content() {
            return Ok(Vec::new());
        }
        let file = self.trust_file(project)?;
        if self.comes_with_project(&file) {
            return Ok(Vec::new());
        }
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

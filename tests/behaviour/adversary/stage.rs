//! A project with everything that an agent could attack, in which a trick is played.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::table::{Trick, TrickStep};
use crate::support::{Answer, TestProject, registered_settings};

/// The content of the seal key. A trick that prints it has read it.
const KEY: &str = "7f1d6c0a93e24b58";
const KEY_IN_BASE64: &str = "N2YxZDZjMGE5M2UyNGI1OA==";

/// Paths in the home directory that no tool may change.
const PROTECTED: &[&str] = &[
    "project/provost.toml",
    "project/.claude/settings.json",
    "project/.claude/settings.local.json",
    ".claude/settings.json",
    ".config/provost/provost.toml",
    ".local/state/provost/seal.key",
    ".local/state/provost/witness",
    ".local/state/provost/overrides",
    ".local/state/provost/projects/x/journal.jsonl",
];

pub struct Stage {
    pub project: TestProject,
}

impl Stage {
    pub fn for_trick(trick: &Trick) -> Self {
        let stage = Self::new();
        if trick.git {
            stage.create_repository();
        }
        if trick.workflow {
            let branch = json!({"name": "feature/greeting", "status": "active"});
            let phase = "06-implementation";
            let workflow = json!({
                "active_workflow": {"type": "feature", "current_phase": phase, "git_branch": branch,
                    "phase_status": {phase: "in_progress"}},
            });
            stage.project.write_file(".isdlc/state.json", &workflow.to_string());
        }
        if let Some(line) = &trick.setup {
            stage.run_line(&stage.fill(line));
        }
        stage
    }

    pub fn new() -> Self {
        let project = TestProject::new();
        project.write_file("provost.toml", "[engine]\n");
        project.write_file("a.txt", "one\n");
        project.write_file("off.toml", "[guards]\nself-guard = \"off\"\n");
        project.write_file(".claude/settings.local.json", "{}");
        project.write_home_file(".config/provost/provost.toml", "");
        project.write_home_file(".claude/settings.json", &registered_settings().to_string());
        let key = project.write_home_file(".local/state/provost/seal.key", KEY);
        fs::set_permissions(key, fs::Permissions::from_mode(0o600)).unwrap();
        project.write_home_file(".local/state/provost/witness/1.json", "{}");
        project.write_home_file(".local/state/provost/overrides/1.json", "{}");
        project.write_home_file(".local/state/provost/projects/x/journal.jsonl", "{}\n");
        Self { project }
    }

    /// Creates a repository with one commit of everything on `main`.
    fn create_repository(&self) {
        let made = self.run_line(
            "rmdir .git && git init -q -b main && git config user.name n && git config user.email n@localhost && \
             git add -Af . && git commit -q -m first && git branch feature/greeting",
        );
        assert_eq!(made, "");
    }

    /// Resolves a path of the table in the project, or in the home directory.
    fn place(&self, path: &str) -> PathBuf {
        path.strip_prefix("~/")
            .map_or_else(|| self.project.path.join(path), |path| self.project.home.join(path))
    }

    fn fill(&self, text: &str) -> String {
        let text = text.replace("${project}", self.project.path.to_str().unwrap());
        let text = text.replace("${home}", self.project.home.to_str().unwrap());
        text.replace("${provost}", crate::support::program().to_str().unwrap())
    }

    fn fill_value(&self, value: &Value) -> Value {
        // A path of a temporary directory needs no escape.
        serde_json::from_str(&self.fill(&value.to_string())).unwrap()
    }

    /// The answer of the guards to a step.
    pub fn ask_guards(&self, trick: &Trick, step: &TrickStep) -> Answer {
        let mut event = match step {
            TrickStep::Line(line) => self.project.bash(&self.fill(line)),
            TrickStep::Call { tool, input } => self.project.call(tool, self.fill_value(input)),
        };
        if let Some(agent) = &trick.agent {
            event["agent_type"] = agent.as_str().into();
            event["agent_id"] = "a1".into();
        }
        self.project.hook(&event)
    }

    /// Runs a step like the client, and returns its output; `None`: it cannot be run here.
    pub fn run_step(&self, step: &TrickStep) -> Option<String> {
        let (tool, input) = match step {
            TrickStep::Line(line) if line.split([' ', '|', ';', '&']).any(is_missing) => return None,
            TrickStep::Line(line) => return Some(self.run_line(&self.fill(line))),
            TrickStep::Call { tool, input } => (tool.as_str(), self.fill_value(input)),
        };
        let word = |name: &str| input[name].as_str().unwrap_or_default();
        let path = self.project.path.join(word("file_path"));
        match tool {
            "Write" => {
                fs::create_dir_all(path.parent()?).ok()?;
                fs::write(&path, word("content")).ok()?;
                Some(String::new())
            }
            "Edit" => {
                let text = fs::read_to_string(&path).ok()?;
                fs::write(&path, text.replacen(word("old_string"), word("new_string"), 1)).ok()?;
                Some(String::new())
            }
            "Read" => fs::read_to_string(&path).ok(),
            _ => None,
        }
    }

    /// Runs a line in bash without this machine's settings, and returns its output.
    fn run_line(&self, line: &str) -> String {
        // If the line hangs, the test fails.
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["-k", "1", "300", "/bin/bash", "-c", line]).env_clear().current_dir(&self.project.path);
        command.env("HOME", &self.project.home).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("GIT_CONFIG_SYSTEM", "/dev/null").stdin(Stdio::null());
        let output = command.output().unwrap();
        assert_ne!(output.status.code(), Some(124), "it did not end: {line}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The state of all files that the trick could harm.
    pub fn protected_state(&self, trick: &Trick) -> BTreeMap<PathBuf, String> {
        let mut seen = BTreeMap::new();
        let places: Vec<PathBuf> = if trick.changes.is_empty() {
            PROTECTED.iter().map(|path| self.project.home.join(path)).collect()
        } else {
            trick.changes.iter().map(|path| self.place(path)).collect()
        };
        for place in &places {
            record_state(place, &mut seen);
        }
        seen
    }

    pub fn is_harmed(&self, trick: &Trick, before: &BTreeMap<PathBuf, String>, shown: &str) -> bool {
        if !trick.leaks {
            return self.protected_state(trick) != *before;
        }
        let loot = fs::read_to_string(self.project.path.join("loot")).unwrap_or_default();
        [KEY, KEY_IN_BASE64].iter().any(|key| shown.contains(key) || loot.contains(key))
    }

    /// The guard that denied last, by the journal.
    pub fn denying_guard(&self) -> Option<String> {
        let journal = self.project.read_journal();
        let guards = journal.iter().rev().find_map(|line| line["guards"].as_array())?;
        let denied = guards.iter().find(|guard| guard["opinion"] == "deny" || guard["opinion"] == "fault")?;
        Some(denied["guard"].as_str()?.to_owned())
    }
}

/// Records the files at a path and below it.
fn record_state(path: &Path, seen: &mut BTreeMap<PathBuf, String>) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    let content =
        fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let kind = metadata.file_type();
    let mode = metadata.permissions().mode() & 0o777;
    seen.insert(path.to_owned(), format!("{kind:?} {mode:o} {} {content}", metadata.uid()));
    let below = fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path());
    for entry in below {
        record_state(&entry, seen);
    }
}

/// Whether this is a program that is not installed.
fn is_missing(word: &str) -> bool {
    const RARE: &[&str] =
        &["node", "ed", "vim", "ex", "rsync", "unzip", "zip", "make", "python3", "perl", "patch", "awk"];
    RARE.contains(&word)
        && !["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|place| Path::new(place).join(word).exists())
}

//! `provost doctor`: each fault is seeded in a healthy project and found by its id; nothing is touched.

mod answers;
mod harmless;
mod others;
mod own_files;
mod registrations;
mod screens;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::TestProject;
use provost::clients;
use serde_json::{Value, json};

/// A project whose settings file has every entry that these packs need, and a stand-in for the client.
pub struct Patient {
    pub project: TestProject,
    pub settings: Value,
}

/// What the doctor said.
pub struct Diagnosis {
    pub code: i32,
    pub report: Value,
}

/// One entry in the exec form.
pub fn entry(arguments: &[&str]) -> Value {
    json!({"type": "command", "command": crate::support::program().to_str().unwrap(), "args": arguments, "timeout": 10})
}

/// The hooks that packs need, as `init` would write them.
pub fn hooks(packs: &[&str], arguments: &[&str]) -> Value {
    let mut hooks = json!({});
    for needed in (clients::DEFAULT_CLIENT.installation().list_needed_entries)(
        &provost::registry::list_guards_in(packs),
        false,
    ) {
        let mut one = entry(arguments);
        one["timeout"] = needed.seconds.into();
        if needed.blocks_on_failure {
            one["onFailure"] = "block".into();
        }
        let mut group = json!({"hooks": [one]});
        if let Some(matcher) = needed.matcher {
            group["matcher"] = matcher.into();
        }
        if hooks[needed.event].is_null() {
            hooks[needed.event] = json!([]);
        }
        hooks[needed.event].as_array_mut().unwrap().push(group);
    }
    hooks
}

impl Patient {
    pub fn healthy() -> Self {
        Self::with_packs(&["self"])
    }

    pub fn with_packs(packs: &[&str]) -> Self {
        let project = TestProject::unregistered();
        let path = format!("{}:/usr/bin:/bin", project.home.join("bin").display());
        let patient = Self {
            project: project.with_variable("PATH", path),
            settings: json!({"hooks": hooks(packs, &["hook"])}),
        };
        patient.program("claude", "echo '2.1.325 (Claude Code)'");
        patient.write();
        patient
    }

    /// Writes a program of the user and returns its path.
    pub fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.project.write_home_file(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn write(&self) {
        self.project.write_file(".claude/settings.json", &self.settings.to_string());
    }

    /// Changes the settings file.
    pub fn change(&mut self, change: impl FnOnce(&mut Value)) -> &mut Self {
        change(&mut self.settings);
        self.write();
        self
    }

    /// Changes every entry for Provost.
    pub fn change_entries(&mut self, mut change: impl FnMut(&mut Value)) -> &mut Self {
        for groups in self.settings["hooks"].as_object_mut().unwrap().values_mut() {
            for group in groups.as_array_mut().unwrap() {
                group["hooks"].as_array_mut().unwrap().iter_mut().for_each(&mut change);
            }
        }
        self.write();
        self
    }

    /// Adds a group to an event.
    pub fn add(&mut self, event: &str, group: Value) -> &mut Self {
        if self.settings["hooks"][event].is_null() {
            self.settings["hooks"][event] = json!([]);
        }
        self.settings["hooks"][event].as_array_mut().unwrap().push(group);
        self.write();
        self
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let hook = self.project.command(&[]);
        let mut command = Command::new(crate::support::program());
        command.arg("doctor").args(arguments).env_clear().current_dir(&self.project.path);
        command.envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // The user's shell does not have it.
        command.env_remove("CLAUDE_PROJECT_DIR").stdin(Stdio::null());
        command
    }

    pub fn doctor(&self, arguments: &[&str]) -> Diagnosis {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let output = self.command(&arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let report = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{error}: {text} {}", String::from_utf8_lossy(&output.stderr)));
        Diagnosis { code: output.status.code().unwrap(), report }
    }

    /// The one finding that a seeded fault must bring, with what it says.
    #[track_caller]
    pub fn finds(&self, id: &str) -> Value {
        self.doctor(&[]).has(id)
    }
}

impl Diagnosis {
    pub fn ids(&self) -> Vec<&str> {
        self.report["findings"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
    }

    #[track_caller]
    pub fn has(&self, id: &str) -> Value {
        let findings = self.report["findings"].as_array().unwrap();
        let found = findings.iter().find(|finding| finding["id"] == id);
        let found = found.unwrap_or_else(|| panic!("no {id}: {:#}", self.report));
        for part in ["what", "why", "fix"] {
            assert!(found[part].as_str().is_some_and(|text| !text.is_empty()), "{found:#}");
        }
        let message = found["message"].as_str().unwrap();
        assert!(message.starts_with("[provost] ") && message.contains(". To fix: "), "{message}");
        let has_error =
            findings.iter().any(|finding| finding["severity"] == "error" && finding["fixed"].is_null());
        assert_eq!(self.code, i32::from(has_error), "{:#}", self.report);
        found.clone()
    }

    #[track_caller]
    pub fn is_healthy(&self) {
        assert_eq!(self.ids(), [""; 0], "{:#}", self.report);
        assert_eq!(self.code, 0);
        assert!(!self.report["runs"].as_array().unwrap().is_empty());
    }
}

/// Every file below a directory: its kind, rights, length, time and content.
pub fn everything(directory: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for found in fs::read_dir(directory).unwrap() {
        let path = found.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        all.insert(path.clone(), (metadata.mode(), metadata.mtime(), metadata.mtime_nsec(), content));
        if metadata.is_dir() {
            all.extend(everything(&path));
        }
    }
    all
}

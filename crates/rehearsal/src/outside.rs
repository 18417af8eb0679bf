//! What happens outside the client: a person edits a file, removes one, runs a command, waits.
//!
//! Before the curtain rises this sets the scene (`setup`); between two answers of the model it
//! plays the person at another terminal (`before`). Both go through the same code, so a settings
//! file that is changed halfway has its hooks recorded like the first one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::hooks::{HookLog, Recorder, holds_hooks};
use crate::model::fill_from_request;
use crate::scenario::{Action, Content, place};
use crate::variables::{Variables, map_strings};

const GLANCE: Duration = Duration::from_millis(20);

#[derive(Debug, Clone)]
pub(crate) struct Outside {
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) variables: Variables,
    pub(crate) recorder: Recorder,
    pub(crate) hook_log: PathBuf,
    pub(crate) closing: Arc<AtomicBool>,
}

impl Outside {
    /// Does one after the other, and tells each before. Placeholders are filled from `heard`.
    pub(crate) fn perform(
        &self,
        actions: &[Action],
        heard: &str,
        mut tell: impl FnMut(&Action),
    ) -> Result<(), String> {
        // A hook that answers to the first action may be faster than the wait that follows it.
        let mut since = Since::now(&self.hook_log);
        for action in actions {
            tell(action);
            self.act(action, heard, &mut since)?;
        }
        Ok(())
    }

    fn act(&self, action: &Action, heard: &str, since: &mut Since) -> Result<(), String> {
        let fill = |text: &str| fill_from_request(&self.variables.fill(text), heard);
        let path =
            |text: &str| place(&fill(text)?, &self.project, &self.home).map_err(|error| error.to_string());
        match action {
            Action::Write { path: name, content } => {
                let content = match content {
                    Content::Text(text) => Content::Text(fill(text)?),
                    Content::Json(json) => Content::Json(self.variables.fill_json(json)),
                };
                self.write(&path(name)?, &content)
            }
            Action::Remove { path: name } => {
                let path = path(name)?;
                std::fs::remove_file(&path)
                    .map_err(|error| format!("cannot remove `{}`: {error}", path.display()))
            }
            Action::Run { command } => self.run(&fill(command)?),
            Action::Wait { seconds } => {
                self.wait(*seconds, || false);
                Ok(())
            }
            Action::WaitForHook { event, seconds } => {
                if self.wait(*seconds, || since.ended(event)) {
                    return Ok(());
                }
                Err(format!("no {event} hook ran within {seconds} s"))
            }
        }
    }

    /// Writes a file with its directories. Hooks in it are recorded.
    pub(crate) fn write(&self, path: &Path, content: &Content) -> Result<(), String> {
        let text = match content {
            Content::Json(json) => self.recorded(path, json.clone()),
            // A settings file may be given as text, for instance to be broken on purpose.
            Content::Text(text) => match serde_json::from_str(text) {
                Ok(json) if holds_hooks(path) => self.recorded(path, json),
                _ => text.clone(),
            },
        };
        let parent = path.parent().unwrap_or(path);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(path, text))
            .map_err(|error| format!("cannot write `{}`: {error}", path.display()))
    }

    fn recorded(&self, path: &Path, mut json: Value) -> String {
        if holds_hooks(path) {
            self.recorder.wrap_settings(&mut json);
        }
        format!("{json:#}\n")
    }

    /// Records the hooks of a file that a command has written.
    pub(crate) fn adopt(&self, path: &Path) -> Result<(), String> {
        match std::fs::read_to_string(path) {
            Ok(text) => self.write(path, &Content::Text(text)),
            Err(_) => Ok(()),
        }
    }

    fn run(&self, command: &str) -> Result<(), String> {
        let output = Command::new("/bin/sh")
            .args(["-c", command])
            .current_dir(&self.project)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot run `{command}`: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(format!("`{command}` failed ({}): {said}", output.status))
    }

    /// Waits until `done`, and says whether it was.
    fn wait(&self, seconds: f64, mut done: impl FnMut() -> bool) -> bool {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        loop {
            if done() {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.closing.load(Ordering::SeqCst) {
                return false;
            }
            thread::sleep(left.min(GLANCE));
        }
    }

    /// Fills the placeholders of a file's content that is written before the client runs.
    pub(crate) fn fill(&self, content: &Content) -> Content {
        match content {
            Content::Text(text) => Content::Text(self.variables.fill(text)),
            Content::Json(json) => Content::Json(map_strings(json, &mut |text| self.variables.fill(text))),
        }
    }
}

/// The hooks that ended since a moment, each of which satisfies one wait.
struct Since {
    log: HookLog,
    unclaimed: Vec<String>,
}

impl Since {
    fn now(log: &Path) -> Self {
        let mut log = HookLog::open(log);
        log.read_on();
        Self { log, unclaimed: Vec::new() }
    }

    fn ended(&mut self, event: &str) -> bool {
        self.unclaimed.extend(self.log.read_on().into_iter().map(|hook| hook.event));
        match self.unclaimed.iter().position(|ended| ended == event) {
            Some(index) => {
                self.unclaimed.remove(index);
                true
            }
            None => false,
        }
    }
}

impl Action {
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Write { path, .. } => format!("writes {path}"),
            Self::Remove { path } => format!("removes {path}"),
            Self::Run { command } => format!("runs {command}"),
            Self::Wait { seconds } => format!("waits {seconds} s"),
            Self::WaitForHook { event, .. } => format!("waits for {event}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_hook(log: &Path, id: &str, event: &str) {
        let lines = format!(
            "{}\n{}\n",
            serde_json::json!({"id": id, "event": event, "tool": null, "agent": null, "argv": [], "input": {}, "at": 1.0, "pid": 1}),
            serde_json::json!({"id": id, "end": {"stdout": "", "stderr": "", "exit": 0, "signal": null, "micros": 1}}),
        );
        let before = std::fs::read_to_string(log).unwrap_or_default();
        std::fs::write(log, before + &lines).unwrap();
    }

    #[test]
    fn a_wait_is_satisfied_once_by_a_hook_that_ended_since() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        run_hook(&log, "a", "ConfigChange");
        let mut since = Since::now(&log);
        assert!(!since.ended("ConfigChange"), "that was before");
        run_hook(&log, "b", "Stop");
        run_hook(&log, "c", "ConfigChange");
        assert!(since.ended("ConfigChange"));
        assert!(!since.ended("ConfigChange"), "one hook, one wait");
        assert!(since.ended("Stop"));
    }
}

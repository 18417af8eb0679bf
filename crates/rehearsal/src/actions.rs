//! Actions outside the client: writing and removing files, running commands, waiting.
//!
//! `setup` runs them before the client starts, and `before` between two answers of the model, like a user in another terminal.
//! Both use the same code, so that the hooks in a settings file that is changed during the run are recorded too.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::hooks::{HookLog, Recorder, is_hook_file};
use crate::model::fill_from_request;
use crate::scenario::{Action, Content, resolve_path};
use crate::variables::Variables;

const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug, Clone)]
pub(crate) struct ActionRunner {
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) variables: Variables,
    pub(crate) recorder: Recorder,
    pub(crate) hook_log: PathBuf,
    pub(crate) closing: Arc<AtomicBool>,
}

impl ActionRunner {
    /// Runs the actions in order, and calls `report` before each. Placeholders are filled from `request_text`.
    pub(crate) fn perform(
        &self,
        actions: &[Action],
        request_text: &str,
        mut report: impl FnMut(&Action),
    ) -> Result<(), String> {
        // A hook that the first action triggers may end before the wait that follows it starts.
        let mut since = EndedHooks::since_now(&self.hook_log);
        for action in actions {
            report(action);
            self.run_action(action, request_text, &mut since)?;
        }
        Ok(())
    }

    fn run_action(&self, action: &Action, request_text: &str, since: &mut EndedHooks) -> Result<(), String> {
        let fill = |text: &str| fill_from_request(&self.variables.fill(text), request_text);
        let path = |text: &str| {
            resolve_path(&fill(text)?, &self.project, &self.home).map_err(|error| error.to_string())
        };
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
                if self.wait(*seconds, || since.take(event)) {
                    return Ok(());
                }
                Err(format!("no {event} hook ran within {seconds} s"))
            }
        }
    }

    /// Writes a file and its directories, with its hook entries wrapped.
    pub(crate) fn write(&self, path: &Path, content: &Content) -> Result<(), String> {
        let text = match content {
            Content::Json(json) => self.with_recorded_hooks(path, json.clone()),
            // A settings file may be given as text, for instance because it is broken on purpose.
            Content::Text(text) => match serde_json::from_str(text) {
                Ok(json) if is_hook_file(path) => self.with_recorded_hooks(path, json),
                _ => text.clone(),
            },
        };
        let parent = path.parent().unwrap_or(path);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(path, text))
            .map_err(|error| format!("cannot write `{}`: {error}", path.display()))
    }

    fn with_recorded_hooks(&self, path: &Path, mut json: Value) -> String {
        if is_hook_file(path) {
            self.recorder.wrap_settings(&mut json);
        }
        format!("{json:#}\n")
    }

    /// Wraps the hook entries of a file that a command has written.
    pub(crate) fn record_hooks_in(&self, path: &Path) -> Result<(), String> {
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
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(format!("`{command}` failed ({}): {stderr}", output.status))
    }

    /// Waits until `done` is true or the time is over, and returns the last `done`.
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
            thread::sleep(left.min(POLL_INTERVAL));
        }
    }

    /// Fills the placeholders of a file's content.
    pub(crate) fn fill(&self, content: &Content) -> Content {
        match content {
            Content::Text(text) => Content::Text(self.variables.fill(text)),
            Content::Json(json) => Content::Json(self.variables.fill_json(json)),
        }
    }
}

/// The hooks that ended since a point in time. Each of them ends one wait.
struct EndedHooks {
    log: HookLog,
    unclaimed: Vec<String>,
}

impl EndedHooks {
    fn since_now(log: &Path) -> Self {
        let mut log = HookLog::open(log);
        log.read_new();
        Self { log, unclaimed: Vec::new() }
    }

    fn take(&mut self, event: &str) -> bool {
        self.unclaimed.extend(self.log.read_new().into_iter().map(|hook| hook.event));
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
            serde_json::json!({"id": id, "hook": {"event": event, "tool": null, "agent": null, "argv": [], "input": {}, "started": 1.0, "pid": 1}}),
            serde_json::json!({"id": id, "end": {"stdout": "", "stderr": "", "exit": 0, "signal": null, "micros": 1}}),
        );
        let before = std::fs::read_to_string(log).unwrap_or_default();
        std::fs::write(log, before + &lines).unwrap();
    }

    #[test]
    fn each_hook_that_ends_later_ends_one_wait() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        run_hook(&log, "a", "ConfigChange");
        let mut since = EndedHooks::since_now(&log);
        assert!(!since.take("ConfigChange"), "that was before");
        run_hook(&log, "b", "Stop");
        run_hook(&log, "c", "ConfigChange");
        assert!(since.take("ConfigChange"));
        assert!(!since.take("ConfigChange"), "one hook, one wait");
        assert!(since.take("Stop"));
    }
}

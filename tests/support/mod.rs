//! A temporary project in which tests run the real program.
//!
//! Each test has its own home directory, project and environment, and nothing of the machine gets in. A process that hangs is
//! killed. The form of each answer is checked by the rules of the protocol, because a client ignores an answer with one wrong
//! field and runs the tool.

// `tests/repository` uses only a part of it.
#![allow(dead_code)]

mod answer;
pub mod client;
pub mod plan_session;
pub mod review_project;
mod tool_calls;
pub mod waiting;
pub mod workflow_project;

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

pub use answer::Answer;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Compares a text with the snapshot of this name in `tests/behaviour/snapshots`, where the wording of the product can
/// be read in one place. `INSTA_UPDATE=always cargo test …` writes what has changed.
#[allow(unused_macros)]
macro_rules! assert_shown {
    ($name:expr, $text:expr) => {{
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/behaviour/snapshots"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!($name, $text));
    }};
}
#[allow(unused_imports)]
pub(crate) use assert_shown;

/// The factor for the program's time limits, because the machine may be busy. Tests of a limit remove it.
pub const PATIENCE: (&str, &str) = ("PROVOST_PATIENCE", "20");

thread_local! {
    static SEPARATE_LOCKS: Cell<bool> = const { Cell::new(false) };
}

/// Calls `make`, and gives every project that it creates one lock per file. Normal locks are shared, so which of them exist
/// depends on the project's path.
pub fn with_separate_locks<T>(make: impl FnOnce() -> T) -> T {
    SEPARATE_LOCKS.set(true);
    let result = make();
    SEPARATE_LOCKS.set(false);
    result
}

pub struct TestProject {
    root: TempDir,
    pub home: PathBuf,
    pub path: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

impl TestProject {
    /// A home directory and a project whose settings call Provost.
    pub fn new() -> Self {
        let project = Self::unregistered();
        project.write_file(".claude/settings.json", &registered_settings().to_string());
        project
    }

    /// A home directory and a project without settings files.
    pub fn unregistered() -> Self {
        let root = tempfile::tempdir().unwrap();
        // The system's temporary directory may itself be a link.
        let real = root.path().canonicalize().unwrap();
        let home = real.join("home");
        let path = home.join("project");
        fs::create_dir_all(path.join(".git")).unwrap();
        let managed = real.join("managed");
        let variables = [
            ("HOME", home.as_os_str()),
            ("PATH", OsStr::new("/usr/bin:/bin")),
            ("CLAUDE_PROJECT_DIR", path.as_os_str()),
            ("PROVOST_MANAGED", managed.as_os_str()),
            (PATIENCE.0, OsStr::new(PATIENCE.1)),
        ];
        let mut variables = variables.map(|(name, value)| (name.into(), value.to_owned())).to_vec();
        if SEPARATE_LOCKS.get() {
            variables.push(("PROVOST_SEPARATE_LOCKS".into(), "1".into()));
        }
        Self { root, home, path, variables }
    }

    /// A project whose user has switched off every guard.
    pub fn with_no_guard() -> Self {
        let project = Self::new();
        let mut config = String::from("[guards]\n");
        for guard in provost::registry::GUARDS {
            config += &format!("{} = \"off\"\n", guard.name);
        }
        project.write_home_file(".config/provost/provost.toml", &config);
        project
    }

    /// Sets a variable for every process of this project.
    pub fn with_variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.retain(|(other, _)| other != name);
        self.variables.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Uses the program's normal time limits, for tests of a limit.
    pub fn with_real_limits(self) -> Self {
        self.without_variable(PATIENCE.0)
    }

    pub fn without_variable(mut self, name: &str) -> Self {
        self.variables.retain(|(other, _)| other != name);
        self
    }

    /// Writes a file of the project, and returns its path.
    pub fn write_file(&self, name: &str, text: &str) -> PathBuf {
        put(&self.path.join(name), text)
    }

    /// Writes a file in the home directory, and returns its path.
    pub fn write_home_file(&self, name: &str, text: &str) -> PathBuf {
        put(&self.home.join(name), text)
    }

    /// Writes the administrator's configuration.
    pub fn write_managed_config(&self, text: &str) -> PathBuf {
        put(&self.home.with_file_name("managed").join("provost.toml"), text)
    }

    pub fn state_directory(&self) -> PathBuf {
        self.home.join(".local/state/provost")
    }

    /// A recorded event with the paths of this project.
    pub fn recorded_event(&self, name: &str) -> Value {
        let text = fs::read_to_string(events_directory().join(format!("{name}.json"))).expect(name);
        let text = text.replace("/home/dev/project", self.path.to_str().unwrap());
        serde_json::from_str(&text.replace("/home/dev", self.home.to_str().unwrap())).unwrap()
    }

    /// Replaces the project's paths in a text with `<project>` and `<home>`.
    pub fn shorten_paths(&self, text: &str) -> String {
        let text = text.replace(self.path.to_str().unwrap(), "<project>");
        text.replace(self.home.to_str().unwrap(), "<home>")
    }

    /// A whole answer for a snapshot: exit code, message to the model, message to the user, and every other field, with short
    /// paths.
    pub fn whole(&self, answer: &Answer) -> String {
        self.shorten_paths(&answer.whole())
    }

    /// `provost hook ARGUMENTS` with only this project's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.provost_command("hook", arguments)
    }

    /// `provost NAME ARGUMENTS` with only this project's environment.
    pub fn provost_command(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.arg(name).args(arguments);
        self.set_up(&mut command);
        command
    }

    fn set_up(&self, command: &mut Command) {
        command.env_clear().current_dir(&self.path);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }

    pub fn hook(&self, event: &Value) -> Answer {
        self.hook_with(&[], event)
    }

    pub fn hook_with(&self, arguments: &[&str], event: &Value) -> Answer {
        self.hook_bytes(arguments, event.to_string().as_bytes())
    }

    pub fn hook_bytes(&self, arguments: &[&str], input: &[u8]) -> Answer {
        Self::run_with_input(self.command(arguments), input)
    }

    /// Runs the program without any argument, as clients do that drop the arguments of an entry.
    pub fn run_bare(&self, input: &[u8]) -> Answer {
        let mut command = Command::new(program());
        self.set_up(&mut command);
        Self::run_with_input(command, input)
    }

    /// Runs a script of a plugin without arguments.
    pub fn run_script(&self, script: &Path, input: &[u8]) -> Answer {
        let mut command = Command::new(script);
        self.set_up(&mut command);
        let directory = PathBuf::from(program()).parent().unwrap().to_owned();
        command.env("PATH", format!("{}:/usr/bin:/bin", directory.display()));
        Self::run_with_input(command, input)
    }

    /// Runs `provost compat`.
    pub fn run_compat(&self, arguments: &[&str], input: &[u8]) -> Answer {
        Self::run_with_input(self.provost_command("compat", arguments), input)
    }

    fn run_with_input(mut command: Command, input: &[u8]) -> Answer {
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        thread::scope(|scope| {
            // A hook may end before it has read everything.
            scope.spawn(move || drop(stdin.write_all(input)));
            collect_answer(child, event_name(input))
        })
    }

    /// Every line of this home's journals; each must be complete.
    pub fn read_journal(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.read_journal_text().lines().map(parse).collect()
    }

    pub fn read_journal_text(&self) -> String {
        let Ok(projects) = fs::read_dir(self.state_directory().join("projects")) else {
            return String::new();
        };
        let journals = projects.map(|project| project.unwrap().path().join("journal.jsonl"));
        journals.filter_map(|journal| fs::read_to_string(journal).ok()).collect()
    }
}

/// The program under test: the one built for the tests, or the one that `PROVOST_UNDER_TEST` names.
pub fn program() -> OsString {
    std::env::var_os("PROVOST_UNDER_TEST").unwrap_or_else(|| env!("CARGO_BIN_EXE_provost").into())
}

/// Settings with Provost's hook entries, and another key.
pub fn registered_settings() -> Value {
    let entry =
        json!({"type": "command", "command": "/usr/local/bin/provost", "args": ["hook"], "timeout": 10});
    let group = json!([{"matcher": "*", "hooks": [entry]}]);
    json!({
        "model": "one",
        "hooks": {"PreToolUse": group, "SessionStart": group, "ConfigChange": group},
    })
}

/// The directory of the recorded events.
pub fn events_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/events")
}

/// Waits for a hook. If it hangs, the test fails.
pub fn collect_answer(child: Child, event: Option<String>) -> Answer {
    let ended = waiting::wait_for_process(child).unwrap_or_else(|| panic!("the hook did not end"));
    Answer {
        stdout: String::from_utf8(ended.stdout).expect("an answer is UTF-8"),
        stderr: String::from_utf8(ended.stderr).expect("an answer is UTF-8"),
        code: ended.status.code(),
        cpu_seconds: ended.cpu_seconds,
        event,
    }
}

fn event_name(input: &[u8]) -> Option<String> {
    // Only the start of a large input is parsed.
    let value: Value = serde_json::from_slice(input.get(..input.len().min(1 << 20))?).ok()?;
    value["hook_event_name"].as_str().map(str::to_owned)
}

fn put(path: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    path.to_owned()
}

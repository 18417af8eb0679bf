//! A throwaway project in which tests run the real binary.
//!
//! Nothing of the machine leaks in: the home, the project and the environment are made from
//! nothing for each test, and a process that does not end is ended by its number. What a hook
//! answered comes back whole, and its form is checked by the rules of the protocol, because a
//! client drops an answer with one wrong field and runs the tool.

// Every test file is a crate of its own and uses another part of this one.
#![allow(dead_code)]

mod answer;
mod calls;
pub mod client;
pub mod flow;
pub mod planned;
pub mod planning;
pub mod waiting;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

pub use answer::Answer;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Raises the program's own time limits by so much: a busy machine is no reason to give up. Tests of a limit
/// remove it.
pub const PATIENCE: (&str, &str) = ("PROVOST_PATIENCE", "20");

pub struct TestProject {
    root: TempDir,
    pub home: PathBuf,
    pub path: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

impl TestProject {
    /// A home and a project whose settings call Provost, as an installed one has them.
    pub fn new() -> Self {
        let project = Self::unregistered();
        project.file(".claude/settings.json", &registered().to_string());
        project
    }

    /// The same with no settings file anywhere.
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
        // Only the crash tests count steps; all others have the locks that people have.
        if module_path!().starts_with("crash::") {
            variables.push(("PROVOST_SEPARATE_LOCKS".into(), "1".into()));
        }
        Self { root, home, path, variables }
    }

    /// A project whose configuration switches every guard off.
    pub fn with_no_guard() -> Self {
        let project = Self::new();
        let mut config = String::from(
            "[guards]
",
        );
        for guard in provost::registry::GUARDS {
            config += &format!(
                "{} = \"off\"
",
                guard.name
            );
        }
        project.file("provost.toml", &config);
        project
    }

    /// Sets a variable for every process of this project.
    pub fn set(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// With the program's own time limits, for tests of a limit.
    pub fn with_real_limits(self) -> Self {
        self.unset(PATIENCE.0)
    }

    pub fn unset(mut self, name: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self
    }

    /// Writes a file of the project and gives its path.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        put(&self.path.join(name), text)
    }

    /// Writes a file below the home and gives its path.
    pub fn home_file(&self, name: &str, text: &str) -> PathBuf {
        put(&self.home.join(name), text)
    }

    /// Writes the administrator's configuration.
    pub fn managed_config(&self, text: &str) -> PathBuf {
        put(&self.home.with_file_name("managed").join("provost.toml"), text)
    }

    pub fn state(&self) -> PathBuf {
        self.home.join(".local/state/provost")
    }

    /// A recorded event, as if it had been recorded in this project.
    pub fn event(&self, name: &str) -> Value {
        let text = fs::read_to_string(recorded().join(format!("{name}.json"))).expect(name);
        let text = text.replace("/home/dev/project", self.path.to_str().unwrap());
        serde_json::from_str(&text.replace("/home/dev", self.home.to_str().unwrap())).unwrap()
    }

    /// The project's paths in a text made short, so that a whole answer can be shown in a test.
    pub fn shown(&self, text: &str) -> String {
        let text = text.replace(self.path.to_str().unwrap(), "<project>");
        text.replace(self.home.to_str().unwrap(), "<home>")
    }

    /// `provost hook ARGUMENTS` with this project's environment and nothing else.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_of("hook", arguments)
    }

    /// `provost NAME ARGUMENTS` with this project's environment and nothing else.
    pub fn command_of(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.arg(name).args(arguments).env_clear().current_dir(&self.path);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn hook(&self, event: &Value) -> Answer {
        self.hook_with(&[], event)
    }

    pub fn hook_with(&self, arguments: &[&str], event: &Value) -> Answer {
        self.hook_bytes(arguments, event.to_string().as_bytes())
    }

    pub fn hook_bytes(&self, arguments: &[&str], input: &[u8]) -> Answer {
        Self::answered(self.command(arguments), input)
    }

    /// What the stand-in for a script answers.
    pub fn script(&self, arguments: &[&str], input: &[u8]) -> Answer {
        Self::answered(self.command_of("compat", arguments), input)
    }

    fn answered(mut command: Command, input: &[u8]) -> Answer {
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        thread::scope(|scope| {
            // A hook that need not read everything ends before the pipe is empty.
            scope.spawn(move || drop(stdin.write_all(input)));
            finish(child, event_name(input))
        })
    }

    /// Every line of this home's journals; each must be whole.
    pub fn journal(&self) -> Vec<Value> {
        let whole = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.journal_text().lines().map(whole).collect()
    }

    pub fn journal_text(&self) -> String {
        let Ok(projects) = fs::read_dir(self.state().join("projects")) else { return String::new() };
        let journals = projects.map(|project| project.unwrap().path().join("journal.jsonl"));
        journals.filter_map(|journal| fs::read_to_string(journal).ok()).collect()
    }
}

/// The program under test: the one built for the tests, or the one that `PROVOST_UNDER_TEST` names.
pub fn program() -> OsString {
    std::env::var_os("PROVOST_UNDER_TEST").unwrap_or_else(|| env!("CARGO_BIN_EXE_provost").into())
}

/// Settings with Provost's hook entries, and a part that anybody may edit.
pub fn registered() -> Value {
    let entry =
        json!({"type": "command", "command": "/usr/local/bin/provost", "args": ["hook"], "timeout": 10});
    let group = json!([{"matcher": "*", "hooks": [entry]}]);
    json!({
        "model": "one",
        "hooks": {"PreToolUse": group, "SessionStart": group, "ConfigChange": group},
    })
}

/// Where the recorded events lie.
pub fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/events")
}

/// Waits for a started hook; one that does not end fails the test instead of hanging it.
pub fn finish(child: Child, event: Option<String>) -> Answer {
    let ended = waiting::collect(child).unwrap_or_else(|| panic!("the hook did not end"));
    Answer {
        stdout: String::from_utf8(ended.stdout).expect("an answer is UTF-8"),
        stderr: String::from_utf8(ended.stderr).expect("an answer is UTF-8"),
        code: ended.status.code(),
        cpu_seconds: ended.cpu_seconds,
        event,
    }
}

fn event_name(input: &[u8]) -> Option<String> {
    // The large inputs of some tests are not worth a second parse.
    let value: Value = serde_json::from_slice(input.get(..input.len().min(1 << 20))?).ok()?;
    value["hook_event_name"].as_str().map(str::to_owned)
}

fn put(path: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    path.to_owned()
}

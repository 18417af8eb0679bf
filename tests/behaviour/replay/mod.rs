//! `provost replay`: what guards and rules would have done in past sessions.

mod branches;
mod comparison;
mod decisions;
mod evidence;
mod exactness;
mod hostile;
mod output;
mod selection;
mod totals;
mod whole_sessions;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Answer, TestProject, collect_answer};

/// The recorded transcripts of the repository.
pub(super) fn recorded_transcripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

/// Runs `provost replay`.
pub(super) fn replay(project: &TestProject, arguments: &[&str]) -> Answer {
    let mut child = project.provost_command("replay", arguments).spawn().unwrap();
    drop(child.stdin.take());
    collect_answer(child, None)
}

/// The JSON of a replay that succeeds.
#[track_caller]
pub(super) fn replay_json(project: &TestProject, arguments: &[&str]) -> Value {
    let answer = replay(project, &[&["--json"], arguments].concat());
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    serde_json::from_str(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {}", answer.stdout))
}

/// `CALL JUDGE DECISION`, with `~` for an approximate one, in the order of the calls.
pub(super) fn list_decisions(result: &Value) -> Vec<String> {
    let mut found: Vec<String> = result["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|decision| {
            let text = |name: &str| decision[name].as_str().unwrap_or("-").to_owned();
            let mark = if decision["exact"] == true { "" } else { " ~" };
            format!("{} {} {}{mark}", text("call"), text("rule_or_guard"), text("decision"))
        })
        .collect();
    found.sort_unstable();
    found
}

/// The transcript of a session in the making.
pub(super) struct Transcript {
    pub(super) session: String,
    cwd: String,
    agent: Option<String>,
    records: Vec<Value>,
}

impl Transcript {
    /// A session in the directory of a project.
    pub(super) fn new(project: &TestProject, session: &str) -> Self {
        Self::in_directory(&project.path, session)
    }

    pub(super) fn in_directory(cwd: &Path, session: &str) -> Self {
        Self { session: session.into(), cwd: cwd.to_str().unwrap().into(), agent: None, records: Vec::new() }
    }

    /// The transcript of an agent of this session.
    pub(super) fn agent(&self, id: &str) -> Self {
        Self {
            session: self.session.clone(),
            cwd: self.cwd.clone(),
            agent: Some(id.into()),
            records: Vec::new(),
        }
    }

    #[allow(clippy::needless_pass_by_value)]
    fn push(mut self, kind: &str, message: Value, more: &Value) -> Self {
        let number = self.records.len();
        let mut record = json!({
            "type": kind,
            "uuid": format!("{}-{}-{number}", self.session, self.agent.as_deref().unwrap_or("main")),
            "sessionId": self.session,
            "timestamp": format!("2026-01-{:02}T10:{:02}:00.000Z", 1 + number / 60, number % 60),
            "cwd": self.cwd,
            "gitBranch": "main",
            "version": "2.1.325",
            "isSidechain": self.agent.is_some(),
            "message": message,
        });
        if let Some(agent) = &self.agent {
            record["agentId"] = agent.as_str().into();
        }
        for (name, value) in more.as_object().unwrap() {
            record[name] = value.clone();
        }
        self.records.push(record);
        self
    }

    /// A record that no helper makes.
    pub(super) fn raw(mut self, record: Value) -> Self {
        self.records.push(record);
        self
    }

    pub(super) fn prompt(self, text: &str) -> Self {
        self.push("user", json!({"role": "user", "content": text}), &json!({"permissionMode": "default"}))
    }

    pub(super) fn says(self, text: &str) -> Self {
        let content = json!([{"type": "text", "text": text}]);
        self.push("assistant", json!({"id": format!("m-{text}"), "content": content}), &json!({}))
    }

    pub(super) fn calls(self, id: &str, tool: &str, input: &Value) -> Self {
        let content = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        self.push("assistant", json!({"id": format!("m-{id}"), "content": content}), &json!({}))
    }

    pub(super) fn ends(self, id: &str, text: &str, is_error: bool, result: &Value) -> Self {
        let content =
            json!([{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}]);
        self.push("user", json!({"role": "user", "content": content}), &json!({"toolUseResult": result}))
    }

    /// A call that succeeds.
    pub(super) fn call(self, id: &str, tool: &str, input: &Value) -> Self {
        self.calls(id, tool, input).ends(id, "ok", false, &json!({"stdout": "ok"}))
    }

    pub(super) fn bash(self, id: &str, command: &str) -> Self {
        self.call(id, "Bash", &json!({"command": command}))
    }

    pub(super) fn text(&self) -> String {
        self.records.iter().map(|record| format!("{record}\n")).collect::<Vec<_>>().concat()
    }

    /// Writes it into a directory that is laid out like a project's.
    pub(super) fn write(&self, directory: &Path) -> PathBuf {
        let file = match &self.agent {
            Some(agent) => {
                directory.join(&self.session).join("subagents").join(format!("agent-{agent}.jsonl"))
            }
            None => directory.join(format!("{}.jsonl", self.session)),
        };
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, self.text()).unwrap();
        file
    }
}

/// The directory in which Claude Code would keep the transcripts of a project.
pub(super) fn transcripts_of(project: &TestProject, directory: &Path) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = directory.to_str().unwrap().chars().map(plain).collect();
    project.home.join(".claude/projects").join(name)
}

/// Writes one session into a project of its own, and replays it by these rules.
pub(super) fn replay_session(
    rules: &str,
    make: impl FnOnce(&TestProject, Transcript) -> Transcript,
) -> (TestProject, Value) {
    let project = TestProject::new();
    project.write_file("provost.toml", rules);
    let transcript = make(&project, Transcript::new(&project, "s1"));
    transcript.write(&transcripts_of(&project, &project.path));
    let result = replay_json(&project, &[]);
    (project, result)
}

//! `provost report`, and the journal that it reads: every form says the same, and nothing that it needs is lost.

mod archive;
mod content;
mod hostile;
mod options;
mod secrets;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Answer, TestProject};
use provost::journal::lines::hash_subject;
use provost::places::Places;

/// The time of the reports in these tests.
const NOW: &str = "2026-11-17T12:00:00Z";

/// A project whose journal a test writes.
pub struct Room {
    pub project: TestProject,
}

/// A line of the journal that a test changes as it needs.
pub struct Line(pub Value);

impl Room {
    pub fn new() -> Self {
        Self { project: TestProject::new() }
    }

    /// The directory of the journal.
    pub fn state(&self) -> PathBuf {
        let places = Places { state: Some(self.project.state_directory()), ..Places::default() };
        places.project_state_directory(&self.project.path).unwrap()
    }

    pub fn put(&self, name: &str, lines: &[Line]) {
        let text = lines.iter().map(|Line(line)| line.to_string() + "\n").collect::<String>();
        self.put_bytes(name, text.as_bytes());
    }

    pub fn put_bytes(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.state()).unwrap();
        fs::write(self.state().join(name), bytes).unwrap();
    }

    pub fn provost(&self, name: &str, arguments: &[&str]) -> Answer {
        let child = self.project.provost_command(name, arguments).spawn().unwrap();
        crate::support::collect_answer(child, None)
    }

    /// What `provost report --json` says at [`NOW`].
    #[track_caller]
    pub fn report(&self, arguments: &[&str]) -> Value {
        let answer = self.provost("report", &[&["--json", "--now", NOW], arguments].concat());
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
        serde_json::from_str(&answer.stdout).unwrap()
    }

    /// The report in a pipe at [`NOW`].
    #[track_caller]
    pub fn screen(&self, arguments: &[&str]) -> String {
        let answer = self.provost("report", &[&["--now", NOW], arguments].concat());
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
        answer.stdout
    }

    /// A silent call before a tool runs.
    pub fn silent(&self, time: &str, subject: &str) -> Line {
        Line(json!({"id": make_id(time, subject), "time": format!("{time}.123Z"), "version": "0.1.0",
            "client": "claude", "project": self.project.path, "event": "PreToolUse", "session": "session-a",
            "turn": "t", "tool": "Bash", "call": "toolu_1", "mode": "default",
            "subject_hash": hash_subject(subject),
            "guards": [{"guard": "self-guard", "opinion": "silence", "micros": 100}],
            "decision": "silence", "micros": 1234}))
    }

    /// The end of a turn, about which nobody says anything.
    pub fn stop(&self, time: &str) -> Line {
        let mut line = self.silent(time, "").with("event", "Stop");
        for name in ["tool", "call", "subject_hash"] {
            line.0.as_object_mut().unwrap().remove(name);
        }
        line
    }

    /// A call about which a guard said something.
    pub fn spoken(&self, time: &str, subject: &str, guard: &str, opinion: &str) -> Line {
        let decision = match opinion {
            "note" | "fault" | "would deny" | "would ask" | "would warn" => "silence",
            opinion => opinion,
        };
        let mut line = self.silent(time, subject);
        line.0["subject"] = subject.into();
        line.0["guards"] = json!([{"guard": guard, "opinion": opinion, "what": format!("`{subject}` not run"),
            "why": "it is forbidden", "fix": "leave it", "evidence": ["a fact"], "micros": 100}]);
        line.0["decision"] = decision.into();
        line
    }

    pub fn denied(&self, time: &str, subject: &str) -> Line {
        self.spoken(time, subject, "rule:no-force-push", "deny")
    }
}

impl Line {
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0[name] = value.into();
        self
    }

    pub fn id(&self) -> String {
        self.0["id"].as_str().unwrap().to_owned()
    }
}

/// An id of 13 characters that is different for each time and subject.
fn make_id(time: &str, subject: &str) -> String {
    let digits: String = time.chars().filter(char::is_ascii_digit).skip(2).collect();
    format!("{digits:0>12}{}", &hash_subject(subject)[..1])
}

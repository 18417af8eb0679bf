//! The plan gate with the sidecar store: the scenarios of document 001, and the defects of its scripts.
//!
//! The document has 30 scenarios. Those about hooks and files are here. Those about the skill and its
//! agents do not depend on the store, and are tested with the skill and the assessment: no path in the
//! system message; no mapping, edit the plan first; goals missing and there;
//! leakage of three phrases and of fewer; the critic's focus; the validator runs, its rubric, the
//! benefit of the doubt, its output, `NO ISSUES FOUND`; retry once, then closed.

mod defects;
mod exit;
mod files;
mod hostile;
mod witness;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Answer, TestProject, assert_shown};
use serde_json::{Value, json};

const SESSION: &str = "db05b49a-780f-4b0b-bd53-5359177b8aba";
const OTHER: &str = "11111111-2222-4333-8444-555555555555";
const SLUG: &str = "lucky-dreaming-badger";
const PLAN: &str = "# Plan\n\n## Goals\n- Ship it\n";
const GAPS: &str =
    "### GAP-1: Database rollback unclear\n- **Severity**: high\n- **Description**: None yet\n";
const PACK: &[&str] = &["--pack", "plan-gate"];

/// A project with the sidecar store.
struct Gate {
    project: TestProject,
    plans: PathBuf,
}

impl Gate {
    /// As in the document: the agent's own verdict counts.
    fn believing() -> Self {
        Self::with("witness = \"off\"\nfloor = \"off\"\n")
    }

    /// As in Provost: only a witnessed verdict counts.
    fn witnessing() -> Self {
        Self::with("floor = \"off\"\n")
    }

    fn with(settings: &str) -> Self {
        let project = TestProject::new();
        project.write_file("provost.toml", &format!("[plan_gate]\nstore = \"sidecar\"\n{settings}"));
        let plans = project.home.join(".claude/plans");
        fs::create_dir_all(&plans).unwrap();
        Self { project, plans }
    }

    fn plan(&self) -> PathBuf {
        self.plans.join(format!("{SLUG}.md"))
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.plans.join("rodin-plan-gate").join(name)
    }

    fn gate_file(&self) -> PathBuf {
        self.beside(&format!("{SESSION}.gate.yml"))
    }

    fn gaps_file(&self) -> PathBuf {
        self.beside(&format!("{SESSION}.gaps.md"))
    }

    /// The value of a key in `gate.yml`.
    #[track_caller]
    fn says(&self, key: &str) -> String {
        let text = fs::read_to_string(self.gate_file()).expect("a gate file");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(&format!("{key}:"))).collect();
        let [line] = lines[..] else { panic!("`{key}` in:\n{text}") };
        line[key.len() + 1..].trim().to_owned()
    }

    /// The event after a write by a session.
    fn written(&self, file: &Path, session: &str) -> Value {
        let mut event = self.project.recorded_event("PostToolUse.Write");
        event["permission_mode"] = "plan".into();
        event["session_id"] = session.into();
        event["tool_input"]["file_path"] = json!(file);
        event["tool_response"]["filePath"] = json!(file);
        event
    }

    /// Writes a file like a tool in plan mode.
    #[track_caller]
    fn write(&self, file: &Path, text: &str) {
        self.write_by(SESSION, file, text);
    }

    #[track_caller]
    fn write_by(&self, session: &str, file: &Path, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        let answer = self.project.hook_with(PACK, &self.written(file, session));
        assert!(answer.is_silent(), "{answer:?}");
    }

    /// A plan and gaps with a pass that the agent wrote.
    fn passed(settings: &str) -> Self {
        let gate = Self::with(settings);
        gate.write(&gate.plan(), PLAN);
        gate.write(&gate.gaps_file(), GAPS);
        gate.set("status", "pass");
        gate.set("reason", "null");
        gate
    }

    fn set(&self, key: &str, value: &str) {
        let text = fs::read_to_string(self.gate_file()).unwrap();
        let line = |line: &str| {
            let is_this = line.starts_with(&format!("{key}:"));
            if is_this { format!("{key}: {value}\n") } else { format!("{line}\n") }
        };
        fs::write(self.gate_file(), text.lines().map(line).collect::<String>()).unwrap();
    }

    /// The event of leaving plan mode, with the plan as it is.
    fn leaving(&self) -> Value {
        let mut event = self.project.recorded_event("PreToolUse.ExitPlanMode");
        event["session_id"] = SESSION.into();
        let text = fs::read(self.plan()).unwrap_or_default();
        event["tool_input"] = json!({"plan": String::from_utf8_lossy(&text), "planFilePath": self.plan()});
        event
    }

    /// Whether the agent may leave with the plan. Hook and `compat` script must agree. Paths in the reason are
    /// shortened.
    #[track_caller]
    fn leaves(&self) -> Result<(), String> {
        let hook = reason_of(&self.project.hook_with(PACK, &self.leaving()));
        let hook = hook.map_err(|reason| self.project.shorten_paths(&reason));
        let script = self.leaves_by_script(&self.leaving());
        let what = |said: &Result<(), String>| {
            said.clone().map_err(|text| text.split([':', '.']).next().unwrap_or_default().to_owned())
        };
        assert_eq!(what(&hook), what(&script), "the hook and the script");
        hook
    }

    /// Whether the agent may leave with the plan, by the `compat` script.
    #[track_caller]
    fn leaves_by_script(&self, event: &Value) -> Result<(), String> {
        let script = self.project.run_compat(&["pre_tool_use"], event.to_string().as_bytes());
        match script.code {
            Some(0) if script.is_silent() => Ok(()),
            Some(2) if script.stdout.is_empty() => Err(self.project.shorten_paths(script.stderr.trim_end())),
            _ => panic!("no form of a script's answer: {script:?}"),
        }
    }
}

/// The reason for which an answer denies the exit, if it does.
#[track_caller]
fn reason_of(answer: &Answer) -> Result<(), String> {
    if answer.is_silent() {
        return Ok(());
    }
    if answer.code == Some(2) {
        return Err(answer.expect_closed_failure().to_owned());
    }
    let object = answer.json();
    assert_eq!(object["hookSpecificOutput"]["permissionDecision"], "deny", "{answer:?}");
    Err(object["reason"].as_str().unwrap().to_owned())
}

/// The hash of a file by the system's `shasum`.
fn shasum(file: &Path) -> String {
    let output = Command::new("sha256sum").arg(file).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

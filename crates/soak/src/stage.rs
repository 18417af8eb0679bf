//! A home directory with two projects, in which every part of the program that writes files is active.
//!
//! The large project has a plan of tasks, a workflow and a journal without limit. The small project has a journal that is
//! soon full, and stores the record of its plans beside them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

pub const SESSION: &str = "db05b49a-780f-4b0b-bd53-5359177b8aba";
/// The number of fields in `state.json`, one for each writer.
pub const FIELDS: usize = 128;

pub struct Stage {
    program: PathBuf,
    root: TempDir,
}

/// One of the two projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Project {
    /// Its journal has no limit.
    Large,
    /// Its journal is soon full, and plans have their record beside them.
    Small,
}

impl Stage {
    pub fn new(program: &Path) -> io::Result<Self> {
        let stage = Self { program: program.to_owned(), root: tempfile::tempdir()? };
        let large = stage.project(Project::Large);
        let small = stage.project(Project::Small);
        for project in [&large, &small] {
            fs::create_dir_all(project.join(".git"))?;
        }
        fs::create_dir_all(stage.home().join(".claude/plans"))?;
        write_file(
            &large.join("provost.toml"),
            "[journal]\nmax_kilobytes = 1048576\n[plan_gate]\nenabled = true\n",
        )?;
        write_file(
            &small.join("provost.toml"),
            "[journal]\nmax_kilobytes = 64\n[plan_gate]\nenabled = true\nstore = \"sidecar\"\n",
        )?;
        let tests = json!({"test_iteration": {
            "enabled": true, "max_iterations": 99_999_999, "circuit_breaker_threshold": 99_999_999}});
        let demands = json!({"phase_requirements": {"01-requirements": tests}});
        write_file(&large.join(".claude/hooks/config/iteration-requirements.json"), &demands.to_string())?;
        let workflow =
            json!({"active_workflow": {"type": "feature", "current_phase": "01-requirements"}, "phases": {}});
        write_file(&stage.workflow(), &format!("{workflow:#}\n"))?;
        let mut reviews = json!({
            "max_reviews": 8, "current_task": null, "phase": "new-plan", "phase_iteration": 0,
            "next_phase": null, "review_model": "opus", "consecutive_clean": 0, "tdd": false,
        });
        for field in 0..FIELDS {
            reviews[format!("soak_{field}")] = 0.into();
        }
        write_file(&stage.state_file(), &format!("{reviews:#}\n"))?;
        write_file(&large.join(".taskie/plans/soak/plan.md"), "# Soak\n\n## Overview\n\nNothing.\n")?;
        Ok(stage)
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub fn project(&self, project: Project) -> PathBuf {
        self.home().join(if project == Project::Large { "large" } else { "small" })
    }

    /// The plan of a project.
    pub fn plan(&self, project: Project) -> PathBuf {
        let name = if project == Project::Large { "large.md" } else { "small.md" };
        self.home().join(".claude/plans").join(name)
    }

    /// The record beside the plan of the small project.
    pub fn gate_file(&self) -> PathBuf {
        self.home().join(format!(".claude/plans/rodin-plan-gate/{SESSION}.gate.yml"))
    }

    /// The state of the reviews.
    pub fn state_file(&self) -> PathBuf {
        self.project(Project::Large).join(".taskie/plans/soak/state.json")
    }

    /// The state of the workflow.
    pub fn workflow(&self) -> PathBuf {
        self.project(Project::Large).join(".isdlc/state.json")
    }

    /// The files of a project's journal, the newest last.
    pub fn journals(&self, project: Project) -> Vec<PathBuf> {
        let name = if project == Project::Large { "large-" } else { "small-" };
        let projects = fs::read_dir(self.home().join(".local/state/provost/projects"));
        let is_match =
            |path: &PathBuf| path.file_name().is_some_and(|found| found.to_string_lossy().starts_with(name));
        let directory = projects.into_iter().flatten().flatten().map(|entry| entry.path()).find(is_match);
        let Some(directory) = directory else { return Vec::new() };
        let names = ["journal.2.jsonl", "journal.1.jsonl", "journal.jsonl"];
        names.map(|name| directory.join(name)).into_iter().filter(|path| path.exists()).collect()
    }

    fn command(&self, project: Project) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("HOME", self.home()).env("PATH", "/usr/bin:/bin");
        // A disk that other work keeps busy can delay every write for a minute. With this factor, a guard waits
        // ten minutes for a lock, so that only a lock that is never freed becomes a fault. A release build
        // ignores it.
        command.env("PROVOST_PATIENCE", "200");
        command.env("CLAUDE_PROJECT_DIR", self.project(project)).current_dir(self.project(project));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a hook with an event.
    fn hook(&self, project: Project, event: &Value) -> io::Result<Child> {
        let mut child = self.command(project).arg("hook").spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(event.to_string().as_bytes());
        }
        Ok(child)
    }

    fn event(&self, project: Project, name: &str, tool: &str, input: &Value) -> Value {
        json!({
            "session_id": SESSION, "transcript_path": self.home().join("none.jsonl"),
            "cwd": self.project(project), "prompt_id": "p", "permission_mode": "default",
            "hook_event_name": name, "tool_name": tool, "tool_input": input, "tool_use_id": "t",
        })
    }

    /// Starts a hook for a plan that was written in plan mode.
    pub fn report_written_plan(&self, project: Project) -> io::Result<Child> {
        let plan = self.plan(project);
        let mut event =
            self.event(project, "PostToolUse", "Write", &json!({"file_path": plan, "content": ""}));
        event["permission_mode"] = "plan".into();
        event["tool_response"] = json!({"filePath": plan});
        self.hook(project, &event)
    }

    /// Starts a hook for failed tests in the workflow's phase.
    pub fn report_failed_tests(&self) -> io::Result<Child> {
        let input = json!({"command": "npm test", "description": "x"});
        let mut event = self.event(Project::Large, "PostToolUseFailure", "Bash", &input);
        event["error"] = "Exit code 1\nError: x".into();
        self.hook(Project::Large, &event)
    }

    /// Starts a hook for a command line on which all guards are silent.
    pub fn list_files(&self, project: Project) -> io::Result<Child> {
        let input = json!({"command": "ls", "description": "x"});
        self.hook(project, &self.event(project, "PreToolUse", "Bash", &input))
    }

    /// Starts `provost review set` for one field.
    pub fn set_field(&self, field: usize, value: u64) -> io::Result<Child> {
        let change = format!("soak_{field}={value}");
        self.command(Project::Large).args(["review", "set", "--plan", "soak", &change]).spawn()
    }

    /// The number of failed tests that the workflow has counted; `None`: the file is incomplete.
    pub fn failed_test_count(&self) -> Option<u64> {
        let text = fs::read_to_string(self.workflow()).ok()?;
        let state: Value = serde_json::from_str(&text).ok()?;
        let phase = &state["phases"]["01-requirements"]["iteration_requirements"]["test_iteration"];
        Some(phase["current_iteration"].as_u64().unwrap_or(0))
    }

    /// The value of a field of `state.json`; `None`: the file is incomplete.
    pub fn field(&self, field: usize) -> Option<u64> {
        let text = fs::read_to_string(self.state_file()).ok()?;
        let state: Value = serde_json::from_str(&text).ok()?;
        state.get("tdd")?;
        state[format!("soak_{field}")].as_u64()
    }
}

/// The text of a plan with about this many bytes, different for each number.
pub fn plan_text(number: u64, bytes: usize) -> String {
    let line = format!("- step of version {number}\n");
    format!("# Plan {number}\n\n## Goals\n- Ship it\n\n## Steps\n{}", line.repeat(bytes / line.len() + 1))
}

/// What is wrong with a plan that must be this text, alone or with a complete record.
pub fn plan_fault(found: &str, text: &str) -> Option<String> {
    let Some(record) = found.strip_prefix(text) else {
        let start: String = found.chars().take(40).collect();
        return Some(format!("the text is not the one that was written: {start:?}, {} bytes", found.len()));
    };
    let is_mark = |line: &str| line.is_empty() || (line.starts_with("<!-- rodin:") && line.ends_with(" -->"));
    let is_complete = record.is_empty() || (record.ends_with('\n') && record.contains("rodin:validation="));
    (!is_complete || !record.lines().all(is_mark)).then(|| format!("the record is torn: {record:?}"))
}

/// What is wrong with a record beside a plan.
pub fn gate_fault(found: &str) -> Option<String> {
    let keys = ["plan_file", "plan_hash", "gaps_file", "gaps_hash", "status", "reason", "timestamp"];
    let has = |key: &&str| found.lines().any(|line| line.starts_with(&format!("{key}:")));
    (!found.ends_with('\n') || !keys.iter().all(has)).then(|| format!("the record is torn: {found:?}"))
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_files_are_detected() {
        let text = plan_text(7, 300);
        let record = "\n<!-- rodin:session=x -->\n<!-- rodin:validation={} -->\n";
        let whole = format!("{text}{record}");
        assert_eq!((plan_fault(&text, &text), plan_fault(&whole, &text)), (None, None));
        for found in [&text[..200], &whole[..whole.len() - 9], &plan_text(6, 300), ""] {
            assert!(plan_fault(found, &text).is_some(), "{found}");
        }
        let gate = "plan_file: a\nplan_hash: b\ngaps_file:\ngaps_hash:\nstatus: pending\nreason: null\ntimestamp: t\n";
        assert_eq!(gate_fault(gate), None);
        assert!(gate_fault(&gate[..30]).is_some() && gate_fault(gate.trim_end()).is_some());
    }
}

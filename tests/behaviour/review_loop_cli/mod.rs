//! The commands of `provost review`, as the user or an agent sees them in a pipe.

mod next_action;
mod run;
mod set;
mod status;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::support::TestProject;
use serde_json::{Value, json};

/// A project with one plan and a fake reviewer.
struct Desk {
    project: TestProject,
    plan: PathBuf,
}

const FIRST: &str = "{
  \"max_reviews\": 8,
  \"current_task\": null,
  \"phase\": \"new-plan\",
  \"phase_iteration\": 0,
  \"next_phase\": \"plan-review\",
  \"review_model\": \"opus\",
  \"consecutive_clean\": 0,
  \"tdd\": false
}
";

const TASKS: &str = "| Id | Status | Priority |\n|---|---|---|\n| 1 | done | high |\n| 2 | done | high |\n| 3 | pending | low |\n";

impl Desk {
    fn empty() -> Self {
        let project = TestProject::new();
        let plan = project.path.join(".taskie/plans/login-limit");
        project.write_file(
            ".taskie/plans/login-limit/plan.md",
            "# Login limit\n\n## Overview\n\nFive a minute.\n",
        );
        Self { project, plan }
    }

    fn new() -> Self {
        let desk = Self::empty();
        desk.file("state.json", FIRST);
        desk
    }

    /// In the middle of the work on task 2: its third review has found issues.
    fn at_work() -> Self {
        let desk = Self::new();
        desk.state(&json!({
            "max_reviews": 8, "current_task": "2", "phase": "code-review", "phase_iteration": 3,
            "next_phase": "post-code-review", "review_model": "sonnet", "consecutive_clean": 0, "tdd": false,
        }));
        desk.file("tasks.md", TASKS);
        desk.file("task-2.md", "# Task 2\n\n- **Status**: done\n");
        desk.file("task-2-review-3.md", "# Review of task 2\n\nVERDICT: FAIL\n");
        desk
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.plan.join(name), text).unwrap();
    }

    fn state(&self, state: &Value) {
        self.file("state.json", &format!("{state:#}\n"));
    }

    fn text(&self) -> String {
        fs::read_to_string(self.plan.join("state.json")).unwrap()
    }

    fn value(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    /// A reviewer that writes its review and says this; `before` runs first.
    fn reviewer(&self, verdict: &str, before: &str) {
        let script = format!(
            "#!/bin/sh\n{before}\nfile=$(cat | sed -n 's/.*Write your review to \\(.*\\) and change nothing else.*/\\1/p')\n\
             [ -n \"$file\" ] || file=$(echo \"$@\" | sed -n 's/.*Write your review to \\(.*\\) and change nothing else.*/\\1/p')\n\
             printf '# Review\\n\\nVERDICT: {verdict}\\n' > \"$file\"\n\
             echo '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"{{}}\",\
             \"structured_output\":{{\"verdict\":\"{verdict}\"}}}}'\n"
        );
        let written = self.project.write_home_file("script", &script);
        let to = self.project.home.join("bin/claude");
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        // Another process writes it, because a file that is open for writing cannot be executed.
        let done = Command::new("install").args(["-m", "755"]).arg(written).arg(to).status();
        assert!(done.unwrap().success());
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::support::program());
        command.arg("review").args(arguments).env_clear().current_dir(&self.project.path);
        command.env("HOME", &self.project.home).stdin(Stdio::null());
        command.env("PROVOST_MANAGED", self.project.home.with_file_name("managed"));
        command.envs([crate::support::PATIENCE]);
        command.env("PATH", format!("{}:/usr/bin:/bin", self.project.home.join("bin").display()));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Standard output with short paths; the exit code must be as expected.
    #[track_caller]
    fn screen(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        let text = self.project.shorten_paths(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(output.status.code(), Some(code), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// A refusal, on one line; the state must stay as it was.
    #[track_caller]
    fn refused(&self, arguments: &[&str]) -> String {
        let before = fs::read(self.plan.join("state.json")).ok();
        let text = self.screen(arguments, 1);
        assert_eq!(fs::read(self.plan.join("state.json")).ok(), before);
        self.no_litter();
        text.trim_end().replace('\n', " ")
    }

    /// The plan's directory contains only files of a plan.
    #[track_caller]
    fn no_litter(&self) {
        for entry in fs::read_dir(&self.plan).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.starts_with('.') && !name.contains(".tmp"), "{name}");
        }
    }
}

#[test]
fn text_of_an_agent_cannot_control_the_terminal() {
    let desk = Desk::new();
    let hostile = "\u{1b}[2J\u{202e}\u{7}x\ny";
    desk.state(&json!({
        "phase": hostile, "next_phase": hostile, "current_task": hostile, "review_model": hostile, "own": hostile,
    }));
    desk.file("\u{1b}[31m.md", "x");
    let odd = desk.project.path.join(".taskie/plans/\u{202e}odd 'plan");
    fs::create_dir(&odd).unwrap();
    fs::create_dir(desk.project.path.join(".taskie/plans/\u{1b}[2J")).unwrap();
    let set = format!("own={hostile}z");
    let nope = format!("{hostile}={hostile}");
    let phase = format!("phase={hostile}");
    for arguments in [
        &["status", "--plan", "login-limit"][..],
        &["status"],
        &["status", "--plan", hostile],
        &["continue", "--with-action"],
        &["run"],
        &["set", &set],
        &["set", &nope, &phase, hostile],
        &["set", "next_phase=code-review"],
        &["run", "--plan", "login-limit"],
        &["status"],
    ] {
        let output = desk.run(arguments);
        for bytes in [output.stdout, output.stderr] {
            let text = String::from_utf8(bytes).unwrap();
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{arguments:?}: {text:?}");
        }
    }
    fs::write(odd.join("plan.md"), "# Odd\n").unwrap();
    let text = desk.screen(&["status", "--plan", odd.to_str().unwrap()], 0);
    assert!(text.contains("--plan='\\u{202e}odd '\\''plan' --new"), "{text}");
}

#[test]
fn colours_appear_only_where_they_are_wanted() {
    let desk = Desk::at_work();
    for arguments in [&["status"][..], &["continue"], &["set", "tdd=true"]] {
        let escapes =
            |name: &str| desk.command(arguments).env(name, "1").output().unwrap().stdout.contains(&0x1b);
        assert!(escapes("CLICOLOR_FORCE") && !escapes("NO_COLOR") && !escapes("OTHER"), "{arguments:?}");
    }
}

//! A home and a project in which people and agents have worked, made by the hooks and commands themselves.
//!
//! It lies below `/tmp` whatever `TMPDIR` says: where lines are broken depends on how long its path is.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cases::Case;

/// How a case is run: what it shows, and how it ends.
pub type Run = fn(&Stage, &Case) -> String;

const SESSION: &str = "db05b49a-780f-4b0b-bd53-5359177b8aba";
const PLAYED: &str = include_str!("../../src/clients/claude/demo/played.sh");

const PLAN: &str = "\
# Log in by name

## Goals
- People log in with their names

## Steps
1. Migrate the table of accounts
2. Change the form

<!-- rodin:gaps:start -->
### GAP-1: No way back
- **Severity**: high
- **Description**: If the migration fails, the accounts come back from the backup of the night.
<!-- rodin:gaps:end -->
";

const TASKS: &str = "\
| Id | Status | Priority | Description | Test strategy |
|----|--------|----------|-------------|---------------|
| 1 | done | high | The form takes a name | unit |
| 2 | pending | low | The name is shown | unit |
";

pub struct Stage {
    root: TempDir,
    pub home: PathBuf,
    pub project: PathBuf,
}

impl Stage {
    /// A project with nothing in it, and the programs that a person has.
    pub fn bare() -> Self {
        let root = tempfile::Builder::new().prefix("provost-").rand_bytes(6).tempdir_in("/tmp").unwrap();
        let home = root.path().join("home");
        let stage = Self { project: home.join("login"), home, root };
        stage.put("login/.git/HEAD", "ref: refs/heads/main\n");
        fs::create_dir_all(stage.project.join(".git/objects")).unwrap();
        fs::create_dir_all(stage.project.join(".git/refs")).unwrap();
        let client = stage.put("bin/claude", "#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
        fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
        // A link to a build would be told as one that does not stay. Another process makes the copy: what this one
        // has open for writing cannot be run.
        let mut installed = Command::new("sh");
        installed.args(["-c", "ln \"$0\" \"$1\" 2>/dev/null || cp \"$0\" \"$1\""]);
        installed.arg(env!("CARGO_BIN_EXE_provost")).arg(stage.program());
        assert!(installed.status().unwrap().success());
        stage
    }

    fn program(&self) -> PathBuf {
        self.home.join("bin/provost")
    }

    /// The same after `provost init`.
    pub fn installed() -> Self {
        let stage = Self::bare();
        let written = stage.command(&["init", "--yes"]).output().unwrap();
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stdout));
        stage
    }

    /// A project whose settings call Provost, and an old script.
    pub fn empty() -> Self {
        let stage = Self::bare();
        let hook = json!({"type": "command", "command": "provost", "args": ["hook"], "timeout": 10});
        let group = json!([{"matcher": "*", "hooks": [hook]}]);
        let old = json!({"type": "command", "command": "node .claude/hooks/branch-guard.cjs"});
        let settings = json!({
            "model": "opus",
            "hooks": {"SessionStart": group, "PreToolUse": [group[0], {"matcher": "Bash", "hooks": [old]}]},
        });
        stage.put("login/.claude/settings.json", &format!("{settings:#}\n"));
        stage
    }

    /// The same with an assessed plan, a plan under review, a workflow, and a journal of all that.
    pub fn worked_in() -> Self {
        let stage = Self::empty();
        let script = stage.put("played.sh", PLAYED);
        let config = format!(
            "[plan_gate]\nenabled = true\ncritic_model = \"critic\"\nvalidator_model = \"validator\"\n\n\
             [reviewer]\ncommand = {}\n",
            json!(["sh", script, "{model}"])
        );
        stage.put("login/provost.toml", &config);
        stage.hook("SessionStart.startup", |_| {});
        stage.hook("PreToolUse.Bash", |event| event["tool_input"]["command"] = "cargo test".into());
        stage.planned();
        stage.workflow();
        stage.hook("PreToolUse.Bash.in_subagent", |event| {
            event["agent_type"] = "tdd-planner".into();
            event["tool_input"]["command"] = "find . -name '*.orig' -delete".into();
        });
        stage.reviewed();
        stage.hook("PreToolUse.Bash", |event| event["tool_input"]["command"] = "rm provost.toml".into());
        stage
    }

    /// A plan for plan mode that has passed.
    fn planned(&self) {
        let plan = self.put(".claude/plans/login.md", PLAN);
        self.hook("PostToolUse.Write", |event| {
            event["permission_mode"] = "plan".into();
            event["tool_input"] = json!({"file_path": plan, "content": PLAN});
            event["tool_response"]["filePath"] = json!(plan);
        });
        let assessed = self.command(&["gate", "assess"]).output().unwrap();
        assert!(assessed.status.success(), "{}", String::from_utf8_lossy(&assessed.stdout));
    }

    /// A workflow in its third phase, and work that is handed to the wrong agent.
    fn workflow(&self) {
        let state = json!({
            "active_workflow": {
                "type": "feature",
                "description": "Log in by name",
                "current_phase": "05-test-strategy",
                "phases": ["01-requirements", "05-test-strategy", "06-implementation", "07-testing"],
                "git_branch": {"name": "feature/REQ-0004-login", "status": "active"},
            },
            "phases": {"01-requirements": {"status": "completed"}, "05-test-strategy": {"status": "in_progress"}},
        });
        self.put("login/.isdlc/state.json", &format!("{state:#}\n"));
        let owners = json!({"version": "1", "ownership": {
            "test-design-engineer": {"phase": "05-test-strategy"},
            "software-developer": {"phase": "06-implementation"},
        }});
        self.put("login/.claude/hooks/config/skills-manifest.json", &format!("{owners:#}\n"));
        self.hook("PreToolUse.Agent", |event| {
            event["tool_input"] = json!({
                "subagent_type": "software-developer", "prompt": "implement the login", "description": "work",
            });
        });
    }

    /// A plan whose first task has had a review with a finding, which is answered.
    fn reviewed(&self) {
        let plan = |name: &str| format!("login/.taskie/plans/login/{name}");
        self.put(&plan("plan.md"), "# Log in by name\n");
        self.put(&plan("tasks.md"), TASKS);
        self.put(&plan("task-1.md"), "# The form takes a name\n");
        self.put(&plan("task-2.md"), "# The name is shown\n");
        let state = json!({
            "max_reviews": 8, "current_task": "1", "phase": "next-task", "phase_iteration": 0,
            "next_phase": "code-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false,
        });
        self.put(&plan("state.json"), &format!("{state:#}\n"));
        let said = |part: Value| {
            let message = json!({"role": "assistant", "model": "m", "content": [part]});
            json!({"isSidechain": false, "type": "assistant", "cwd": self.project, "message": message})
        };
        let input = json!({"file_path": self.home.join(plan("plan.md")), "content": "x"});
        let wrote = said(json!({"type": "tool_use", "id": "t1", "name": "Write", "input": input}));
        let done = said(json!({"type": "text", "text": "Done."}));
        let record = format!(".claude/projects/-home-dev-project/{SESSION}.jsonl");
        let record = self.put(&record, &format!("{wrote}\n{done}\n"));
        self.hook("Stop.active_false", |event| {
            event["transcript_path"] = json!(record);
            event["last_assistant_message"] = "Done.".into();
        });
        self.put(&plan("task-1-post-review-1.md"), "An empty password is refused.\n");
    }

    /// Writes a file below the home and gives its path.
    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A recorded event happens here, in one session.
    fn hook(&self, recorded: &str, change: impl FnOnce(&mut Value)) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/events/{recorded}.json"));
        let mut event: Value =
            serde_json::from_str(&self.placed(&fs::read_to_string(file).unwrap())).unwrap();
        event["session_id"] = SESSION.into();
        change(&mut event);
        let mut command = self.command(&["hook"]);
        command.env("CLAUDE_PROJECT_DIR", &self.project).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        let code = child.wait_with_output().unwrap().status.code();
        assert!(matches!(code, Some(0 | 2)), "{code:?}");
    }

    /// A text with the paths of recorded events put in.
    pub fn placed(&self, text: &str) -> String {
        let text = text.replace("/home/dev/project", self.project.to_str().unwrap());
        text.replace("/home/dev", self.home.to_str().unwrap())
    }

    /// `provost ARGUMENTS` with nothing of this machine but the usual programs.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program());
        command.args(arguments).current_dir(&self.project).env_clear().env("HOME", &self.home);
        command
            .env("PATH", format!("{}/bin:/usr/bin:/bin", self.home.display()))
            .env("PROVOST_MANAGED", self.root.path().join("managed"))
            .env("PROVOST_PATIENCE", "20");
        command.stdin(Stdio::null());
        command
    }

    /// The part of its paths that differs from run to run.
    pub fn random_part(&self) -> String {
        let name = self.root.path().file_name().unwrap().to_str().unwrap();
        name.strip_prefix("provost-").unwrap().to_owned()
    }
}

/// What a program reads that runs the command: both streams, apart, and the exit code.
pub fn in_pipe(stage: &Stage, case: &Case) -> String {
    let mut command = stage.command(case.arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that reads nothing may have ended already.
    let _ = child.stdin.take().unwrap().write_all(stage.placed(case.input).as_bytes());
    let output = child.wait_with_output().unwrap();
    let mut seen = String::from_utf8(output.stdout).unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    if !complaint.is_empty() {
        seen += &format!("--- standard error\n{complaint}");
    }
    ended(seen, output.status)
}

/// A screen with how the command ended.
pub fn ended(mut seen: String, status: ExitStatus) -> String {
    if !seen.is_empty() && !seen.ends_with('\n') {
        seen += "⟨no end of line⟩\n";
    }
    match status.code() {
        Some(code) => format!("{seen}--- exit code {code}\n"),
        None => format!("{seen}--- interrupted\n"),
    }
}

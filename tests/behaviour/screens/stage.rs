//! A home directory and a project with work in progress, created with the real hooks and commands.
//!
//! It is always in `/tmp`, because the length of its path decides where lines are wrapped.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use provost::places::Places;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::cases::Case;

/// Runs a case, and returns its screen and exit code.
pub type Run = fn(&Stage, &Case) -> String;

const SESSION: &str = "db05b49a-780f-4b0b-bd53-5359177b8aba";
const PLAYED: &str = include_str!("../../../crates/clients/src/claude/demo/played.sh");

const RECORDED: &str = include_str!("journal.jsonl");

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
    /// An empty project, and the programs `provost` and `claude`.
    pub fn bare() -> Self {
        let root = tempfile::Builder::new().prefix("provost-").rand_bytes(6).tempdir_in("/tmp").unwrap();
        let home = root.path().join("home");
        let stage = Self { project: home.join("login"), home, root };
        stage.put("login/.git/HEAD", "ref: refs/heads/main\n");
        fs::create_dir_all(stage.project.join(".git/objects")).unwrap();
        fs::create_dir_all(stage.project.join(".git/refs")).unwrap();
        let client = stage.put("bin/claude", "#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
        fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
        // `init` warns about a symbolic link to a build. Another process makes the copy, because a file that this one has open
        // for writing cannot be run.
        let mut installed = Command::new("sh");
        installed.args(["-c", "ln \"$0\" \"$1\" 2>/dev/null || cp \"$0\" \"$1\""]);
        installed.arg(env!("CARGO_BIN_EXE_provost")).arg(stage.program());
        assert!(installed.status().unwrap().success());
        stage
    }

    fn program(&self) -> PathBuf {
        self.home.join("bin/provost")
    }

    /// An empty project after `provost init`.
    pub fn installed() -> Self {
        let stage = Self::bare();
        let written = stage.command(&["init", "--yes"]).output().unwrap();
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stdout));
        stage
    }

    /// A project whose settings call Provost and an old script.
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

    /// A project with rules and a fortnight in its journal, so that times and durations are always the same.
    pub fn recorded() -> Self {
        let stage = Self::empty();
        let rules = "[[rule]]\nname = \"no-force-push\"\nruns = \"git push --force|-f\"\n\
                     deny = \"it rewrites history that others have\"\n\n\
                     [[rule]]\nname = \"pnpm\"\nruns = \"npm install\"\ndeny = \"this project uses pnpm\"\nmode = \"watch\"\n\n\
                     [[rule]]\nname = \"no-sudo\"\nruns = \"sudo\"\ndeny = \"nothing here needs it\"\n";
        stage.put("login/provost.toml", rules);
        let places = Places { state: Some(stage.home.join(".local/state/provost")), ..Places::default() };
        let directory = places.project_state_directory(&stage.project).unwrap();
        let journal = RECORDED.replace("XXXXXX", &stage.random_part());
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("journal.jsonl"), journal).unwrap();
        stage
    }

    /// A project with an assessed plan, a plan under review, a workflow, and a journal.
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
        stage.add_assessed_plan();
        stage.add_workflow();
        stage.hook("PreToolUse.Bash.in_subagent", |event| {
            event["agent_type"] = "tdd-planner".into();
            event["tool_input"]["command"] = "find . -name '*.orig' -delete".into();
        });
        stage.add_reviewed_plan();
        stage.hook("PreToolUse.Bash", |event| event["tool_input"]["command"] = "rm provost.toml".into());
        stage
    }

    /// Adds a plan for plan mode that has passed.
    fn add_assessed_plan(&self) {
        let plan = self.put(".claude/plans/login.md", PLAN);
        self.hook("PostToolUse.Write", |event| {
            event["permission_mode"] = "plan".into();
            event["tool_input"] = json!({"file_path": plan, "content": PLAN});
            event["tool_response"]["filePath"] = json!(plan);
        });
        let assessed = self.command(&["gate", "assess"]).output().unwrap();
        assert!(assessed.status.success(), "{}", String::from_utf8_lossy(&assessed.stdout));
    }

    /// Adds a workflow in its second phase, and a delegation to the wrong agent.
    fn add_workflow(&self) {
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

    /// Adds a plan whose first task has a review with a finding, which is answered.
    fn add_reviewed_plan(&self) {
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
        let assistant_line = |part: Value| {
            let message = json!({"role": "assistant", "model": "m", "content": [part]});
            json!({"isSidechain": false, "type": "assistant", "cwd": self.project, "message": message})
        };
        let input = json!({"file_path": self.home.join(plan("plan.md")), "content": "x"});
        let wrote = assistant_line(json!({"type": "tool_use", "id": "t1", "name": "Write", "input": input}));
        let done = assistant_line(json!({"type": "text", "text": "Done."}));
        let record = format!(".claude/projects/-home-dev-project/{SESSION}.jsonl");
        let record = self.put(&record, &format!("{wrote}\n{done}\n"));
        self.hook("Stop.active_false", |event| {
            event["transcript_path"] = json!(record);
            event["last_assistant_message"] = "Done.".into();
        });
        self.put(&plan("task-1-post-review-1.md"), "An empty password is refused.\n");
    }

    /// Writes a file in the home directory, and returns its path.
    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Sends a recorded event to the hook, always in the same session.
    fn hook(&self, recorded: &str, change: impl FnOnce(&mut Value)) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/events/{recorded}.json"));
        let mut event: Value =
            serde_json::from_str(&self.fill_paths(&fs::read_to_string(file).unwrap())).unwrap();
        event["session_id"] = SESSION.into();
        change(&mut event);
        let mut command = self.command(&["hook"]);
        command.env("CLAUDE_PROJECT_DIR", &self.project).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        let code = child.wait_with_output().unwrap().status.code();
        assert!(matches!(code, Some(0 | 2)), "{code:?}");
    }

    /// Replaces the paths of recorded events with those of this project.
    pub fn fill_paths(&self, text: &str) -> String {
        let text = text.replace("/home/dev/project", self.project.to_str().unwrap());
        text.replace("/home/dev", self.home.to_str().unwrap())
    }

    /// `provost ARGUMENTS` with a minimal environment.
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

    /// The random part of its paths.
    pub fn random_part(&self) -> String {
        let name = self.root.path().file_name().unwrap().to_str().unwrap();
        name.strip_prefix("provost-").unwrap().to_owned()
    }
}

/// Runs a command with pipes, and returns both streams and the exit code.
pub fn run_in_pipe(stage: &Stage, case: &Case) -> String {
    let mut command = stage.command(case.arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that reads no input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(stage.fill_paths(case.input).as_bytes());
    let output = child.wait_with_output().unwrap();
    let mut screen = String::from_utf8(output.stdout).unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    if !complaint.is_empty() {
        screen += &format!("--- standard error\n{complaint}");
    }
    add_exit_code(screen, output.status)
}

/// Adds the exit code to a screen.
pub fn add_exit_code(mut screen: String, status: ExitStatus) -> String {
    if !screen.is_empty() && !screen.ends_with('\n') {
        screen += "⟨no end of line⟩\n";
    }
    match status.code() {
        Some(code) => format!("{screen}--- exit code {code}\n"),
        None => format!("{screen}--- interrupted\n"),
    }
}

//! The assessment that Provost runs itself: the scenarios of the document by their numbers.
//!
//! The reviewer is a shell script that keeps what it was given and answers as the test says, in the
//! form of the real client or in plain text. Everything else is real.

mod at_exit;
mod flow;
mod refusals;
mod screens;
mod stores;
mod trouble;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::support::waiting::{has_ended, wait_for};
use crate::support::{Answer, PATIENCE, TestProject};
use serde_json::{Value, json};

const SESSION: &str = "cade7541-3bcb-4812-9269-be407af59b19";

const PLAN: &str = "\
# Login

## Goals
- People can log in

## Implementation
- Step 1: migrate the table
";

const GAPS: &str = "\
### GAP-1: Database rollback
- **Severity**: high
- **Description**: No way back if the migration fails
";

const FINDINGS: &str = "\
### FINDING-1: No rollback
- **Severity**: high
- **Description**: The migration cannot be undone

### FINDING-2: Token expiry
- **Severity**: medium
- **Description**: Nothing is said about tokens

### FINDING-3: Typo
- **Severity**: low
- **Description**: A word is misspelt
";

const NONE: &str = "### NO ISSUES FOUND";
const PASS: &str = "### VERDICT: PASS\n**Reason**: All HIGH and MEDIUM findings covered by documented gaps.";
const FAIL: &str = "### VERDICT: FAIL\n**Reason**: FINDING-2: Token expiry";

/// Saves its prompt, counts, and does what the test says for this model and call.
const REVIEWER: &str = r#"
room=$1; model=$2
echo "$model" >> "$room/asked"
number=$(grep -c "^$model$" "$room/asked")
cat > "$room/$model.prompt"
for action in "$room/$model.$number" "$room/$model"; do
    if [ -f "$action" ]; then . "$action"; exit; fi
done
exit 9
"#;

/// A project with a plan and a scripted reviewer.
struct Room {
    project: TestProject,
    plan: PathBuf,
    place: PathBuf,
}

impl Room {
    /// A plan with gaps, a critic and a validator that answer.
    fn new(critic: &str, validator: &str) -> Self {
        let room = Self::with(&plan_with(GAPS), "");
        room.says("opus", critic);
        room.says("haiku", validator);
        room
    }

    fn with(plan: &str, settings: &str) -> Self {
        let project = TestProject::new();
        let place = project.home.join("reviewer");
        let script = project.write_home_file("reviewer/script", REVIEWER);
        let command = json!(["sh", script, place, "{model}"]);
        let settings = format!(
            "[reviewer]\ncommand = {command}\nseconds = 5\n\n[plan_gate]\nenabled = true\n{settings}"
        );
        project.write_file("provost.toml", &settings);
        let plan = project.write_home_file(".claude/plans/login.md", plan);
        Self { project, plan, place }
    }

    /// Sets the answer of a reviewer of this model, in the form of the real client.
    fn says(&self, model: &str, text: &str) {
        let result = json!({
            "type": "result", "subtype": "success", "is_error": false, "duration_ms": 5, "num_turns": 1,
            "result": text, "session_id": "f00", "total_cost_usd": 0.01,
        });
        self.does(model, &format!("cat <<'ANSWER'\n{result}\nANSWER"));
    }

    /// Sets the script of a reviewer of this model; `opus.1` is its first call only.
    fn does(&self, model: &str, script: &str) {
        fs::write(self.place.join(model), script).unwrap();
    }

    /// The models that were asked, in order.
    fn asked(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.place.join("asked")).unwrap_or_default();
        asked.lines().map(str::to_owned).collect()
    }

    /// The last prompt of a model.
    fn given(&self, model: &str) -> String {
        fs::read_to_string(self.place.join(format!("{model}.prompt"))).unwrap()
    }

    /// Waits until a reviewer has written its process id.
    fn reviewer_at_work(&self) -> String {
        wait_for("a reviewer", || {
            let pid = fs::read_to_string(self.place.join("pid")).unwrap_or_default();
            pid.ends_with('\n').then(|| pid.trim().to_owned())
        })
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.plan).unwrap()
    }

    /// The verdict in the plan's record.
    fn verdict(&self) -> Option<Value> {
        let text = self.text();
        let (_, rest) = text.split_once("<!-- rodin:validation=")?;
        Some(serde_json::from_str(rest.split_once(" -->")?.0).unwrap())
    }

    fn is_sealed(&self) -> bool {
        self.text().contains("<!-- rodin:seal=")
    }

    /// `provost ARGUMENTS` as in a terminal.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::support::program());
        command.args(arguments).env_clear().current_dir(&self.project.path);
        command.env("HOME", &self.project.home).env("PATH", "/usr/bin:/bin");
        command.env("PROVOST_MANAGED", self.project.home.with_file_name("managed")).envs([PATIENCE]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str], code: i32) -> Output {
        let output = self.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}\n{}", out(&output), err(&output));
        output
    }

    /// `gate assess` for the session, with its exit code; the result on one line.
    fn assess(&self, code: i32) -> String {
        let output = self.run(&["gate", "assess", "--session", SESSION], code);
        self.project.shorten_paths(&out(&output)).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Writes the plan in plan mode, which creates its record.
    fn kept(self) -> Self {
        let mut event = self.project.recorded_event("PostToolUse.Write");
        event["permission_mode"] = "plan".into();
        event["session_id"] = SESSION.into();
        event["tool_input"] = json!({"file_path": self.plan, "content": ""});
        event["tool_response"] = json!({"filePath": self.plan});
        assert!(self.project.hook(&event).is_silent());
        assert!(self.text().contains(&format!("<!-- rodin:session={SESSION} -->")), "{}", self.text());
        self
    }

    /// The agent leaves plan mode with the plan as it is in the file.
    fn leaves(&self) -> Answer {
        self.leaves_with(&self.text())
    }

    fn leaves_with(&self, text: &str) -> Answer {
        let mut event = self.project.recorded_event("PreToolUse.ExitPlanMode");
        event["tool_input"] = json!({"plan": text, "planFilePath": self.plan});
        self.project.hook(&event)
    }
}

fn plan_with(gaps: &str) -> String {
    format!("{PLAN}\n<!-- rodin:gaps:start -->\n{gaps}<!-- rodin:gaps:end -->\n")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Why a call was denied.
#[track_caller]
fn denial(answer: &Answer) -> String {
    let object = answer.json();
    assert_eq!(object["hookSpecificOutput"]["permissionDecision"], "deny", "{answer:?}");
    let reason = object["reason"].as_str().unwrap();
    assert!(reason.starts_with("[RODIN] ") && reason.contains(". To fix: "), "{reason}");
    reason.to_owned()
}

fn is_gone(pid: &str) -> bool {
    has_ended(pid)
}

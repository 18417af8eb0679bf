//! A session in plan mode with a plan file, which acts like the client: a write changes the file and sends an event; a critic
//! or validator is an agent with a transcript of its own, and gets the prompt that the hook before its start sets.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::{Answer, TestProject};

pub const SESSION: &str = "db05b49a-780f-4b0b-bd53-5359177b8aba";
pub const OTHER_SESSION: &str = "0f6d2c9e-1111-4222-8333-944444444444";

static NEXT_AGENT: AtomicU64 = AtomicU64::new(0);

pub const PLAN: &str = "# Login

## Goals
- People sign in

## Steps
1. Form
2. Check

<!-- rodin:gaps:start -->
### GAP-1: Lockout is not designed
- **Severity**: high
- **Description**: How many tries are allowed is open.
<!-- rodin:gaps:end -->
";

pub const FINDINGS: &str = "### FINDING-1: No limit on tries
- **Severity**: high
- **Description**: An attacker can guess.

### FINDING-2: Wording of the button
- **Severity**: low
- **Description**: Minor.
";
pub const NO_ISSUES: &str = "### NO ISSUES FOUND";
pub const PASS: &str =
    "### VERDICT: PASS\n**Reason**: All HIGH and MEDIUM findings covered by documented gaps.";
pub const FAIL: &str = "### VERDICT: FAIL\n**Reason**: FINDING-1 (No limit on tries) has no gap.";

pub struct PlanSession {
    pub project: TestProject,
    pub plan: PathBuf,
    pub session: String,
}

impl PlanSession {
    pub fn new() -> Self {
        Self::in_project(TestProject::new())
    }

    pub fn with_config(config: &str) -> Self {
        let planning = Self::new();
        planning.project.write_file("provost.toml", config);
        planning
    }

    pub fn in_project(project: TestProject) -> Self {
        let plan = project.home.join(".claude/plans/plan-it-buzzing-wren.md");
        fs::create_dir_all(plan.parent().unwrap()).unwrap();
        Self { project, plan, session: SESSION.into() }
    }

    pub fn read_plan(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.plan).unwrap()).into_owned()
    }

    pub fn event(&self, name: &str) -> Value {
        let mut event = self.project.recorded_event(name);
        event["session_id"] = self.session.as_str().into();
        event["permission_mode"] = "plan".into();
        event
    }

    pub fn hook(&self, event: &Value) -> Answer {
        self.project.hook_with(&["--pack", "plan-gate", "--pack", "self"], event)
    }

    /// The event after a write of the plan file.
    pub fn write_event(&self) -> Value {
        let mut event = self.event("PostToolUse.Write");
        event["tool_input"] = json!({"file_path": self.plan, "content": "x"});
        event["tool_response"]["filePath"] = json!(self.plan);
        event
    }

    /// Writes the plan file, like a tool.
    pub fn write(&self, text: impl AsRef<[u8]>) {
        fs::write(&self.plan, text).unwrap();
        let answer = self.hook(&self.write_event());
        assert!(answer.is_silent(), "{answer:?}");
    }

    /// Replaces a part of the plan, like a tool.
    pub fn edit(&self, old: &str, new: &str) {
        let text = self.read_plan();
        assert!(text.contains(old), "{text}");
        self.write(text.replacen(old, new, 1));
    }

    /// Writes the plan with a verdict that the agent made up.
    pub fn write_signal(&self, status: &str, reason: &str) {
        let signal = json!({"status": status, "reason": reason});
        self.write(format!("{}<!-- rodin:verdict:signal={signal} -->\n", self.read_plan()));
    }

    /// The prompt that the hook sets for an agent of this type; `None`: it keeps the prompt.
    pub fn agent_prompt(&self, agent: &str) -> Option<String> {
        let mut event = self.event("PreToolUse.Agent");
        event["tool_input"] = json!({
            "description": "d", "prompt": "please pass", "subagent_type": agent, "model": "haiku",
        });
        let answer = self.hook(&event);
        if answer.stdout.is_empty() {
            return None;
        }
        let object = answer.json();
        assert!(
            !object.contains_key("decision") && !answer.stdout.contains("permissionDecision"),
            "{answer:?}"
        );
        let input = object["hookSpecificOutput"].get("updatedInput")?;
        assert_eq!(input["description"], "d");
        assert!(input.get("model").is_none(), "the agent's own model judges");
        assert_eq!(input["subagent_type"], agent);
        assert_eq!(input["run_in_background"], false);
        Some(input["prompt"].as_str().unwrap().to_owned())
    }

    /// The event at the end of an agent that got these messages.
    pub fn agent_stop_event(&self, agent: &str, given: &[&str], answer: &str) -> Value {
        let transcript = self.project.home.join("agent.jsonl");
        let mut lines = String::new();
        for given in given {
            let user =
                json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": given}});
            let content = json!([{"type": "text", "text": answer}]);
            let assistant =
                json!({"type": "assistant", "message": {"role": "assistant", "content": content}});
            lines += &format!("{{\"type\":\"attachment\"}}\n{user}\n{assistant}\n");
        }
        fs::write(&transcript, lines).unwrap();
        let mut event = self.event("SubagentStop.validator");
        event["agent_type"] = agent.into();
        event["agent_id"] = format!("a{:016x}", NEXT_AGENT.fetch_add(1, Ordering::Relaxed)).into();
        event["agent_transcript_path"] = json!(transcript);
        event["last_assistant_message"] = answer.into();
        event
    }

    /// Starts an agent with the prompt that the hook sets, and lets it answer.
    pub fn run_agent(&self, agent: &str, answer: &str) {
        let given = self.agent_prompt(agent).unwrap_or_else(|| panic!("{agent} is given nothing"));
        let answer = self.hook(&self.agent_stop_event(agent, &[&given], answer));
        assert!(answer.is_silent(), "{answer:?}");
    }

    pub fn run_critic(&self, answer: &str) {
        self.run_agent("rodin:critic", answer);
    }

    pub fn run_validator(&self, answer: &str) {
        self.run_agent("rodin:validator", answer);
    }

    /// Runs critic and validator, who passes the plan.
    pub fn assess(&self) {
        self.run_critic(FINDINGS);
        self.run_validator(PASS);
    }

    /// The event of leaving plan mode, with the text of the file.
    pub fn leave_event(&self) -> Value {
        let mut event = self.event("PreToolUse.ExitPlanMode");
        event["tool_input"] = match fs::read(&self.plan) {
            Ok(bytes) => json!({"plan": String::from_utf8_lossy(&bytes), "planFilePath": self.plan}),
            Err(_) => json!({}),
        };
        event
    }

    pub fn leave(&self) -> Answer {
        self.hook(&self.leave_event())
    }

    #[track_caller]
    pub fn assert_can_leave(&self) {
        let answer = self.leave();
        assert!(answer.is_silent(), "{answer:?}\n{}", self.read_plan());
    }

    #[track_caller]
    pub fn assert_cannot_leave(&self, words: &str) {
        let reason = self.leave().expect_denial();
        assert!(reason.starts_with("[RODIN] "), "{reason}");
        assert!(reason.contains(words), "{words:?} is not in\n{reason}");
    }

    /// Runs the `compat` script after a write.
    pub fn script_after(&self, event: &Value) -> Answer {
        self.project.run_compat(&["post_tool_use"], event.to_string().as_bytes())
    }

    /// Runs the `compat` script before leaving plan mode. `Ok`: it allows that; otherwise its message.
    pub fn script_before(&self, event: &Value) -> Result<(), String> {
        let answer = self.project.run_compat(&["pre_tool_use"], event.to_string().as_bytes());
        match answer.code {
            Some(0) if answer.is_silent() => Ok(()),
            Some(2) if answer.stdout.is_empty() => Err(answer.stderr),
            _ => panic!("{answer:?}"),
        }
    }

    /// Writes the plan in a project that uses only the scripts.
    pub fn write_by_script(&self, text: impl AsRef<[u8]>) {
        fs::write(&self.plan, text).unwrap();
        let answer = self.script_after(&self.write_event());
        assert!(answer.is_silent(), "{answer:?}");
    }

    /// The value of a mark at the end of the plan.
    pub fn read_mark(&self, name: &str) -> Option<String> {
        find_mark(&self.read_plan(), name)
    }

    pub fn status(&self) -> String {
        let validation: Value = serde_json::from_str(&self.read_mark("validation").unwrap()).unwrap();
        validation["status"].as_str().unwrap().to_owned()
    }
}

pub fn find_mark(text: &str, name: &str) -> Option<String> {
    let start = format!("<!-- rodin:{name}=");
    let line = text.lines().find(|line| line.starts_with(&start))?;
    Some(line[start.len()..].strip_suffix(" -->").unwrap().to_owned())
}

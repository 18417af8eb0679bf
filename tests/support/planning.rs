//! A session in plan mode with a plan file, which does what the client does: a write is a change of the
//! file and then an event; a critic or validator is an agent with a transcript of its own, given what the
//! hook before its start says.

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

pub struct Planning {
    pub project: TestProject,
    pub plan: PathBuf,
    pub session: String,
}

impl Planning {
    pub fn new() -> Self {
        Self::of(TestProject::new())
    }

    pub fn with(config: &str) -> Self {
        let planning = Self::new();
        planning.project.file("provost.toml", config);
        planning
    }

    pub fn of(project: TestProject) -> Self {
        let plan = project.home.join(".claude/plans/plan-it-buzzing-wren.md");
        fs::create_dir_all(plan.parent().unwrap()).unwrap();
        Self { project, plan, session: SESSION.into() }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.plan).unwrap()).into_owned()
    }

    pub fn event(&self, name: &str) -> Value {
        let mut event = self.project.event(name);
        event["session_id"] = self.session.as_str().into();
        event["permission_mode"] = "plan".into();
        event
    }

    pub fn hook(&self, event: &Value) -> Answer {
        self.project.hook_with(&["--pack", "plan-gate", "--pack", "self"], event)
    }

    /// The event after a write of the plan file.
    pub fn written(&self) -> Value {
        let mut event = self.event("PostToolUse.Write");
        event["tool_input"] = json!({"file_path": self.plan, "content": "x"});
        event["tool_response"]["filePath"] = json!(self.plan);
        event
    }

    /// Writes the plan file as a tool does.
    pub fn write(&self, text: impl AsRef<[u8]>) {
        fs::write(&self.plan, text).unwrap();
        let answer = self.hook(&self.written());
        assert!(answer.is_silent(), "{answer:?}");
    }

    /// Replaces a part of the plan as a tool does.
    pub fn edit(&self, old: &str, new: &str) {
        let text = self.text();
        assert!(text.contains(old), "{text}");
        self.write(text.replacen(old, new, 1));
    }

    /// Writes the plan with the verdict that an agent would like to have.
    pub fn signal(&self, status: &str, reason: &str) {
        let signal = json!({"status": status, "reason": reason});
        self.write(format!("{}<!-- rodin:verdict:signal={signal} -->\n", self.text()));
    }

    /// What an agent of this type would be given; `None`: what the other agent wrote.
    pub fn brief(&self, agent: &str) -> Option<String> {
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

    /// The event at the end of an agent that was given these messages.
    pub fn stopped(&self, agent: &str, given: &[&str], answer: &str) -> Value {
        let transcript = self.project.home.join("agent.jsonl");
        let mut lines = String::new();
        for given in given {
            let user =
                json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": given}});
            let said = json!([{"type": "text", "text": answer}]);
            let assistant = json!({"type": "assistant", "message": {"role": "assistant", "content": said}});
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

    /// An agent is started, given what it should be given, and answers.
    pub fn agent(&self, agent: &str, answer: &str) {
        let given = self.brief(agent).unwrap_or_else(|| panic!("{agent} is given nothing"));
        let answer = self.hook(&self.stopped(agent, &[&given], answer));
        assert!(answer.is_silent(), "{answer:?}");
    }

    pub fn critic(&self, answer: &str) {
        self.agent("rodin:critic", answer);
    }

    pub fn validator(&self, answer: &str) {
        self.agent("rodin:validator", answer);
    }

    /// Critic and validator are heard, and the validator passes the plan.
    pub fn assess(&self) {
        self.critic(FINDINGS);
        self.validator(PASS);
    }

    /// The event of the way out, as the client fills it from the file.
    pub fn leaving(&self) -> Value {
        let mut event = self.event("PreToolUse.ExitPlanMode");
        event["tool_input"] = match fs::read(&self.plan) {
            Ok(bytes) => json!({"plan": String::from_utf8_lossy(&bytes), "planFilePath": self.plan}),
            Err(_) => json!({}),
        };
        event
    }

    pub fn leave(&self) -> Answer {
        self.hook(&self.leaving())
    }

    #[track_caller]
    pub fn leaves(&self) {
        let answer = self.leave();
        assert!(answer.is_silent(), "{answer:?}\n{}", self.text());
    }

    #[track_caller]
    pub fn stays(&self, words: &str) {
        let reason = self.leave().denial();
        assert!(reason.starts_with("[RODIN] "), "{reason}");
        assert!(reason.contains(words), "{words:?} is not in\n{reason}");
    }

    /// The stand-in for the script after a write.
    pub fn script_after(&self, event: &Value) -> Answer {
        self.project.script(&["post_tool_use"], event.to_string().as_bytes())
    }

    /// The stand-in for the script before the way out: `Ok` if it lets pass, else what it says.
    pub fn script_before(&self, event: &Value) -> Result<(), String> {
        let answer = self.project.script(&["pre_tool_use"], event.to_string().as_bytes());
        match answer.code {
            Some(0) if answer.is_silent() => Ok(()),
            Some(2) if answer.stdout.is_empty() => Err(answer.stderr),
            _ => panic!("{answer:?}"),
        }
    }

    /// Writes the plan in a project that has only the scripts.
    pub fn write_by_script(&self, text: impl AsRef<[u8]>) {
        fs::write(&self.plan, text).unwrap();
        let answer = self.script_after(&self.written());
        assert!(answer.is_silent(), "{answer:?}");
    }

    /// The value of a mark at the end of the plan.
    pub fn mark(&self, name: &str) -> Option<String> {
        mark(&self.text(), name)
    }

    pub fn status(&self) -> String {
        let validation: Value = serde_json::from_str(&self.mark("validation").unwrap()).unwrap();
        validation["status"].as_str().unwrap().to_owned()
    }
}

pub fn mark(text: &str, name: &str) -> Option<String> {
    let start = format!("<!-- rodin:{name}=");
    let line = text.lines().find(|line| line.starts_with(&start))?;
    Some(line[start.len()..].strip_suffix(" -->").unwrap().to_owned())
}

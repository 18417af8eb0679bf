//! A project with a workflow of phases, for the tests of its guards.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Answer, TestProject};

/// A project with a workflow.
pub struct Flow {
    pub project: TestProject,
}

impl Flow {
    /// A project with the usual manifest and no state yet.
    pub fn new() -> Self {
        let flow = Self { project: TestProject::new() };
        fs::create_dir(flow.project.path.join(".isdlc")).unwrap();
        flow.manifest(&owners());
        flow
    }

    /// One whose workflow is in this phase, which is marked as begun, on a branch of its own.
    pub fn in_phase(phase: &str) -> Self {
        let flow = Self::new();
        flow.state(&begun(phase));
        flow
    }

    pub fn state_file(&self) -> PathBuf {
        self.project.path.join(".isdlc/state.json")
    }

    pub fn state(&self, state: &Value) -> &Self {
        self.project.file(".isdlc/state.json", &format!("{state:#}"));
        self
    }

    /// The state as it is on the disk.
    pub fn state_now(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.state_file()).unwrap()).unwrap()
    }

    /// Agents and their phases.
    pub fn manifest(&self, owners: &[(&str, &str)]) -> &Self {
        let owners: serde_json::Map<String, Value> =
            owners.iter().map(|(name, phase)| ((*name).to_owned(), json!({"phase": phase}))).collect();
        let text = json!({"version": "1", "ownership": owners}).to_string();
        self.project.file(".claude/hooks/config/skills-manifest.json", &text);
        self
    }

    pub fn without_manifest(&self) -> &Self {
        fs::remove_file(self.project.path.join(".claude/hooks/config/skills-manifest.json")).unwrap();
        self
    }

    /// The plan of tasks.
    pub fn tasks(&self) -> &Self {
        self.project.file("docs/isdlc/tasks.md", "# Tasks\n");
        self
    }

    /// A recorded event with another input of its tool.
    pub fn call(&self, event: &str, input: &Value) -> Value {
        let mut event = self.project.event(event);
        event["tool_input"] = input.clone();
        event
    }

    /// Work is handed to an agent.
    pub fn delegating(&self, agent: &str, prompt: &str) -> Value {
        self.call("PreToolUse.Agent", &json!({"subagent_type": agent, "prompt": prompt, "description": "d"}))
    }

    /// Only the prose says to whom.
    pub fn telling(&self, prompt: &str) -> Value {
        self.call("PreToolUse.Agent", &json!({"prompt": prompt, "description": ""}))
    }

    /// What a script that may hold something back and the hook say of an event: the hook's reason, if it is
    /// denied. All other guards of the pack are off.
    pub fn judged(&self, guard: &str, event: &Value) -> Option<String> {
        let project = self.only(guard);
        let script = denied(&project.script(&[guard], event.to_string().as_bytes()));
        let hook = denied(&project.hook_with(&["--pack", "phases"], event));
        let agree = match (&script, &hook) {
            (None, None) => true,
            (Some(script), Some(hook)) => is_same_denial(script, hook),
            _ => false,
        };
        assert!(agree, "the script and the hook disagree on {event}:\n{script:?}\n{hook:?}");
        hook
    }

    /// What a script that only warns and the hook say of an event, or nothing.
    pub fn warned(&self, guard: &str, event: &Value) -> Option<String> {
        let project = self.only(guard);
        let script = project.script(&[guard], event.to_string().as_bytes());
        assert!(script.code == Some(0) && script.stdout.is_empty(), "{script:?}");
        let hook = project.hook_with(&["--pack", "phases"], event);
        assert!(hook.code == Some(0) && hook.stderr.is_empty(), "{hook:?}");
        let told = told(&hook).unwrap_or_default();
        assert_eq!(script.stderr.trim_end(), told, "the script and the hook disagree on {event}");
        Some(told).filter(|text| !text.is_empty())
    }

    /// Leaves this guard of the pack on, and the one that keeps records.
    pub fn only(&self, guard: &str) -> &TestProject {
        let of_pack = provost::registry::GUARDS.iter().filter(|other| other.pack == "phases");
        let others = of_pack.filter(|other| other.name != guard && other.name != "phase-records");
        let off: Vec<String> = others.map(|other| format!("{} = \"off\"", other.name)).collect();
        let extra = fs::read_to_string(self.project.path.join("extra.toml")).unwrap_or_default();
        self.project.file("provost.toml", &format!("{extra}\n[guards]\n{}\n", off.join("\n")));
        &self.project
    }

    /// Settings besides the switches of guards.
    pub fn settings(&self, text: &str) -> &Self {
        self.project.file("extra.toml", text);
        self.project.file("provost.toml", text);
        self
    }
}

/// A workflow in this phase, with its branch.
pub fn begun(phase: &str) -> Value {
    json!({
        "active_workflow": {
            "type": "feature",
            "current_phase": phase,
            "phases": ["01-requirements", "05-test-strategy", "06-implementation", "07-testing"],
            "git_branch": {"name": "feature/REQ-0004-x", "status": "active"},
        },
        "phases": {phase: {"status": "in_progress"}},
    })
}

/// The usual agents and their phases.
pub fn owners() -> Vec<(&'static str, &'static str)> {
    vec![
        ("sdlc-orchestrator", "all"),
        ("discover-orchestrator", "setup"),
        ("requirements-analyst", "01-requirements"),
        ("tracing-orchestrator", "02-tracing"),
        ("symptom-analyzer", "02-tracing"),
        ("solution-architect", "03-architecture"),
        ("system-designer", "04-design"),
        ("test-design-engineer", "05-test-strategy"),
        ("software-developer", "06-implementation"),
        ("integration-tester", "07-testing"),
        ("qa-engineer", "08-code-review"),
        ("security-compliance-auditor", "09-validation"),
        ("cicd-engineer", "10-cicd"),
        ("environment-builder", "11-local-testing"),
        ("deployment-engineer-staging", "12-test-deploy"),
        ("release-manager", "13-production"),
        ("site-reliability-engineer", "14-operations"),
        ("upgrade-engineer", "15-upgrade"),
    ]
}

/// The reason of a denial.
pub fn denied(answer: &Answer) -> Option<String> {
    if answer.event.as_deref() == Some("Stop") && answer.code == Some(2) {
        return Some(answer.stderr.trim_end().to_owned());
    }
    assert_eq!(answer.code, Some(0), "{answer:?}");
    if answer.stdout.is_empty() {
        return None;
    }
    let json: Value = serde_json::from_str(&answer.stdout).unwrap();
    let output = &json["hookSpecificOutput"];
    let reason = match output["permissionDecision"].as_str() {
        Some("deny") => output["permissionDecisionReason"].as_str(),
        _ => (json["decision"] == "block").then(|| json["reason"].as_str()).flatten(),
    };
    reason.map(str::to_owned)
}

/// Whether two reasons differ only in where the words of the document stand: a script begins with them, and the
/// hook has them last, behind what was denied, why and the fix.
fn is_same_denial(script: &str, hook: &str) -> bool {
    let parts = (script.split_once('\n'), hook.split_once('\n'));
    let (Some((script, script_way_out)), Some((hook, hook_way_out))) = parts else { return script == hook };
    let script = script.strip_prefix("[provost] ").unwrap();
    let moved = |at: usize| format!("{} ({})", &script[at..], &script[..at]);
    script_way_out == hook_way_out && script.match_indices(": ").any(|(at, _)| hook.ends_with(&moved(at)))
}

/// What the person is told.
pub fn told(answer: &Answer) -> Option<String> {
    let json: Value = serde_json::from_str(&answer.stdout).ok()?;
    json["systemMessage"].as_str().map(str::to_owned)
}

/// A workflow in a phase with these demands.
pub fn demanding(phase: &str, demands: &Value) -> Flow {
    let flow = Flow::in_phase(phase);
    demands_of(&flow, &json!({"phase_requirements": {phase: demands}}));
    flow
}

pub fn demands_of(flow: &Flow, file: &Value) {
    flow.project.file(".claude/hooks/config/iteration-requirements.json", &file.to_string());
}

/// The state of the phase that the work is in, with this in it.
pub fn with_phase(flow: &Flow, phase: &str, record: &Value) {
    let mut state = begun(phase);
    state["phases"][phase] = record.clone();
    flow.state(&state);
}

/// A skill is used.
pub fn skill(flow: &Flow, event: &str, name: &str, arguments: &str) -> Value {
    let mut event = flow.project.event(event);
    event["tool_name"] = json!("Skill");
    event["tool_input"] = json!({"skill": name, "args": arguments});
    event
}

pub fn tests_and_articles() -> Value {
    json!({
        "test_iteration": {"enabled": true, "max_iterations": 10, "circuit_breaker_threshold": 3},
        "constitutional_validation": {"enabled": true, "max_iterations": 5, "articles": ["I", "II"]},
    })
}

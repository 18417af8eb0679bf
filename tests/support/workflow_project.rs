//! A project with a workflow of phases, for the tests of its guards.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Answer, TestProject};

/// A project with a workflow.
pub struct WorkflowProject {
    pub project: TestProject,
}

impl WorkflowProject {
    /// A project with the default manifest, and without a state.
    pub fn new() -> Self {
        let flow = Self { project: TestProject::new() };
        fs::create_dir(flow.project.path.join(".isdlc")).unwrap();
        flow.write_manifest(&default_owners());
        flow
    }

    /// A project whose workflow is in this phase, on a branch of its own.
    pub fn in_phase(phase: &str) -> Self {
        let flow = Self::new();
        flow.write_state(&started_workflow(phase));
        flow
    }

    pub fn state_file(&self) -> PathBuf {
        self.project.path.join(".isdlc/state.json")
    }

    pub fn write_state(&self, state: &Value) -> &Self {
        self.project.write_file(".isdlc/state.json", &format!("{state:#}"));
        self
    }

    /// Reads the state from disk.
    pub fn read_state(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.state_file()).unwrap()).unwrap()
    }

    /// Writes the manifest: agents and their phases.
    pub fn write_manifest(&self, owners: &[(&str, &str)]) -> &Self {
        let owners: serde_json::Map<String, Value> =
            owners.iter().map(|(name, phase)| ((*name).to_owned(), json!({"phase": phase}))).collect();
        let text = json!({"version": "1", "ownership": owners}).to_string();
        self.project.write_file(".claude/hooks/config/skills-manifest.json", &text);
        self
    }

    pub fn without_manifest(&self) -> &Self {
        fs::remove_file(self.project.path.join(".claude/hooks/config/skills-manifest.json")).unwrap();
        self
    }

    /// Writes the plan of tasks.
    pub fn write_tasks(&self) -> &Self {
        self.project.write_file("docs/isdlc/tasks.md", "# Tasks\n");
        self
    }

    /// A recorded event with this tool input.
    pub fn call(&self, event: &str, input: &Value) -> Value {
        let mut event = self.project.recorded_event(event);
        event["tool_input"] = input.clone();
        event
    }

    /// The event before a delegation to an agent.
    pub fn delegation(&self, agent: &str, prompt: &str) -> Value {
        self.call("PreToolUse.Agent", &json!({"subagent_type": agent, "prompt": prompt, "description": "d"}))
    }

    /// The event before a delegation that names the agent only in its prompt.
    pub fn prompt_without_agent(&self, prompt: &str) -> Value {
        self.call("PreToolUse.Agent", &json!({"prompt": prompt, "description": ""}))
    }

    /// Sends an event to a script that may block and to the hook, which must agree. Returns the hook's reason of a denial. All
    /// other guards of the pack are off.
    pub fn find_denial(&self, guard: &str, event: &Value) -> Option<String> {
        let project = self.enable_only(guard);
        let script = read_denial(&project.run_compat(&[guard], event.to_string().as_bytes()));
        let hook = read_denial(&project.hook_with(&["--pack", "phases"], event));
        let agree = match (&script, &hook) {
            (None, None) => true,
            (Some(script), Some(hook)) => is_same_denial(script, hook),
            _ => false,
        };
        assert!(agree, "the script and the hook disagree on {event}:\n{script:?}\n{hook:?}");
        hook
    }

    /// Sends an event to a script that only warns and to the hook, which must agree. Returns the warning.
    pub fn find_warning(&self, guard: &str, event: &Value) -> Option<String> {
        let project = self.enable_only(guard);
        let script = project.run_compat(&[guard], event.to_string().as_bytes());
        assert!(script.code == Some(0) && script.stdout.is_empty(), "{script:?}");
        let hook = project.hook_with(&["--pack", "phases"], event);
        assert!(hook.code == Some(0) && hook.stderr.is_empty(), "{hook:?}");
        let told = read_user_message(&hook).unwrap_or_default();
        assert_eq!(script.stderr.trim_end(), told, "the script and the hook disagree on {event}");
        Some(told).filter(|text| !text.is_empty())
    }

    /// Switches off all guards of the pack but this one and the one that keeps records.
    pub fn enable_only(&self, guard: &str) -> &TestProject {
        let pack = provost::registry::GUARDS.iter().filter(|other| other.pack == "phases");
        let others = pack.filter(|other| other.name != guard && other.name != "phase-records");
        let off: Vec<String> = others.map(|other| format!("{} = \"off\"", other.name)).collect();
        let extra = fs::read_to_string(self.project.path.join("extra.toml")).unwrap_or_default();
        self.project.write_file("provost.toml", &format!("{extra}\n[guards]\n{}\n", off.join("\n")));
        &self.project
    }

    /// Writes settings, which stay when guards are switched off.
    pub fn write_settings(&self, text: &str) -> &Self {
        self.project.write_file("extra.toml", text);
        self.project.write_file("provost.toml", text);
        self
    }
}

/// The state of a workflow in this phase, with its branch.
pub fn started_workflow(phase: &str) -> Value {
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

/// The default agents and their phases.
pub fn default_owners() -> Vec<(&'static str, &'static str)> {
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
pub fn read_denial(answer: &Answer) -> Option<String> {
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

/// Whether two reasons differ only in the place of the document's words: a script starts with them, and the hook ends with
/// them, after what was denied, why and the fix.
fn is_same_denial(script: &str, hook: &str) -> bool {
    let parts = (script.split_once('\n'), hook.split_once('\n'));
    let (Some((script, script_way_out)), Some((hook, hook_way_out))) = parts else { return script == hook };
    let script = script.strip_prefix("[provost] ").unwrap();
    let moved = |at: usize| format!("{} ({})", &script[at..], &script[..at]);
    script_way_out == hook_way_out && script.match_indices(": ").any(|(at, _)| hook.ends_with(&moved(at)))
}

/// The message to the user.
pub fn read_user_message(answer: &Answer) -> Option<String> {
    let json: Value = serde_json::from_str(&answer.stdout).ok()?;
    json["systemMessage"].as_str().map(str::to_owned)
}

/// A workflow in a phase with these requirements.
pub fn workflow_with_requirements(phase: &str, requirements: &Value) -> WorkflowProject {
    let flow = WorkflowProject::in_phase(phase);
    write_requirements(&flow, &json!({"phase_requirements": {phase: requirements}}));
    flow
}

pub fn write_requirements(flow: &WorkflowProject, file: &Value) {
    flow.project.write_file(".claude/hooks/config/iteration-requirements.json", &file.to_string());
}

/// Writes a state whose current phase has this record.
pub fn set_phase_record(flow: &WorkflowProject, phase: &str, record: &Value) {
    let mut state = started_workflow(phase);
    state["phases"][phase] = record.clone();
    flow.write_state(&state);
}

/// The event of a skill.
pub fn skill_event(flow: &WorkflowProject, event: &str, name: &str, arguments: &str) -> Value {
    let mut event = flow.project.recorded_event(event);
    event["tool_name"] = json!("Skill");
    event["tool_input"] = json!({"skill": name, "args": arguments});
    event
}

pub fn test_and_article_requirements() -> Value {
    json!({
        "test_iteration": {"enabled": true, "max_iterations": 10, "circuit_breaker_threshold": 3},
        "constitutional_validation": {"enabled": true, "max_iterations": 5, "articles": ["I", "II"]},
    })
}

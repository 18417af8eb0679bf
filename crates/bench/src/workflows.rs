//! An agent is started in a project whose workflow is in the agent's phase: every guard before a
//! delegation looks, and none has anything to say.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

const AGENT: &str = include_str!("../../../tests/events/PreToolUse.Agent.json");
const PHASES: &[(&str, &str)] = &[
    ("requirements-analyst", "01-requirements"),
    ("solution-architect", "03-architecture"),
    ("system-designer", "04-design"),
    ("test-design-engineer", "05-test-strategy"),
    ("software-developer", "06-implementation"),
    ("integration-tester", "07-testing"),
    ("qa-engineer", "08-code-review"),
];

/// Makes a workflow in a project, and gives the event of a delegation in its phase.
pub fn delegating(project: &Path) -> io::Result<String> {
    let names: Vec<&str> = PHASES.iter().map(|(_, phase)| *phase).collect();
    let state = json!({
        "active_workflow": {
            "type": "feature", "current_phase": "06-implementation", "current_phase_index": 4, "phases": names,
            "git_branch": {"name": "feature/login", "status": "active"},
        },
        "phases": {"06-implementation": {"status": "in_progress"}},
        "skill_usage_log": [],
    });
    let skills: Vec<Value> = (0..10).map(|id| json!({"id": format!("S-{id}"), "name": "skill"})).collect();
    let owner =
        |(name, phase): &(&str, &str)| ((*name).to_owned(), json!({"phase": phase, "skills": skills}));
    let owners: serde_json::Map<String, Value> = PHASES.iter().map(owner).collect();
    let demands =
        json!({"test_iteration": {"enabled": true}, "constitutional_validation": {"enabled": true}});
    let files = [
        (".isdlc/state.json", format!("{state:#}")),
        (".claude/hooks/config/skills-manifest.json", json!({"ownership": owners}).to_string()),
        (
            ".claude/hooks/config/iteration-requirements.json",
            json!({"phase_requirements": {"06-implementation": demands}}).to_string(),
        ),
        ("docs/isdlc/tasks.md", "# Tasks\n".into()),
    ];
    fs::create_dir_all(project.join(".git"))?;
    for (name, text) in files {
        let path = project.join(name);
        fs::create_dir_all(path.parent().unwrap_or(project))?;
        fs::write(path, text)?;
    }
    let mut event: Value = serde_json::from_str(AGENT).expect("the recorded events are JSON");
    event["cwd"] = project.to_string_lossy().into();
    event["tool_input"] = json!({"subagent_type": "software-developer", "prompt": "Write the login form.", "description": "login"});
    Ok(event.to_string())
}

//! A workflow in the middle of its phases. The guards are silent about a delegation to an agent of the current phase.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

const PHASES: &[(&str, &str)] = &[
    ("requirements-analyst", "01-requirements"),
    ("solution-architect", "03-architecture"),
    ("system-designer", "04-design"),
    ("test-design-engineer", "05-test-strategy"),
    ("software-developer", "06-implementation"),
    ("integration-tester", "07-testing"),
    ("qa-engineer", "08-code-review"),
];

/// Creates a workflow in a project.
pub fn create(project: &Path) -> io::Result<()> {
    create_with_state_size(project, 0)
}

/// Creates a workflow whose state file has about this many additional bytes.
pub fn create_with_state_size(project: &Path, more: usize) -> io::Result<()> {
    let names: Vec<&str> = PHASES.iter().map(|(_, phase)| *phase).collect();
    let state = json!({
        "active_workflow": {
            "type": "feature", "current_phase": "06-implementation", "current_phase_index": 4, "phases": names,
            "git_branch": {"name": "feature/login", "status": "active"},
        },
        "phases": {"06-implementation": {"status": "in_progress"}},
        "skill_usage_log": [],
        "history": vec![json!({"action": "phase_advanced", "at": "2026-01-01T00:00:00Z"}); more / 80],
    });
    let skills: Vec<Value> = (0..10).map(|id| json!({"id": format!("S-{id}"), "name": "skill"})).collect();
    let owner =
        |(name, phase): &(&str, &str)| ((*name).to_owned(), json!({"phase": phase, "skills": skills}));
    let owners: serde_json::Map<String, Value> = PHASES.iter().map(owner).collect();
    let requirements =
        json!({"test_iteration": {"enabled": true}, "constitutional_validation": {"enabled": true}});
    let files = [
        (".isdlc/state.json", format!("{state:#}")),
        (".claude/hooks/config/skills-manifest.json", json!({"ownership": owners}).to_string()),
        (
            ".claude/hooks/config/iteration-requirements.json",
            json!({"phase_requirements": {"06-implementation": requirements}}).to_string(),
        ),
        ("docs/isdlc/tasks.md", "# Tasks\n".into()),
    ];
    fs::create_dir_all(project.join(".git"))?;
    for (name, text) in files {
        let path = project.join(name);
        fs::create_dir_all(path.parent().unwrap_or(project))?;
        fs::write(path, text)?;
    }
    Ok(())
}

//! The guards of the pack `self`.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::Scene;
use crate::reliability::stage::{Deed, Stage};
use crate::support::TestProject;

pub const SCENES: &[Scene] = &[
    ("self-guard", self_guard),
    ("registration-guard", registration_guard),
    ("config-check", config_check),
    ("override", override_prompt),
    ("rules", rules),
    ("workflow-gate", workflow_gate),
    ("workflow-approval", workflow_approval),
];

/// A tool takes Provost's entries out of the settings.
fn self_guard() -> Stage {
    let project = TestProject::new();
    let settings = project.path.join(".claude/settings.json");
    let event = project.edit(&settings, "/usr/local/bin/provost", "/bin/true");
    Stage::new("self-guard", project, event, Deed::Denies("settings.json")).resting_on([settings])
}

/// The settings have lost Provost's entries since the session began.
fn registration_guard() -> Stage {
    let project = TestProject::new();
    assert!(project.start_session("one").is_silent());
    let settings = project.write_file(".claude/settings.json", "{}");
    let mut event = project.recorded_event("ConfigChange");
    event["session_id"] = "one".into();
    event["file_path"] = json!(settings);
    let memory =
        fs::read_dir(project.state_directory().join("sessions")).unwrap().flatten().next().unwrap().path();
    let deed = Deed::Denies("has no effect in this session");
    Stage::new("registration-guard", project, event, deed).resting_on([settings, memory])
}

/// The configuration has a key that does not exist.
fn config_check() -> Stage {
    let project = TestProject::new();
    let (event, config) = (project.recorded_event("SessionStart.startup"), project.path.join("provost.toml"));
    let deed = Deed::Says("the configuration has a mistake");
    let mut stage = Stage::new("config-check", project, event, deed).resting_on([config]);
    stage.config.push(("engine", "speed = 1".into()));
    stage
}

/// The user overrides a guard.
fn override_prompt() -> Stage {
    let project = TestProject::new();
    let mut event = project.recorded_event("UserPromptSubmit");
    event["prompt"] = "provost override planner-bash-guard because the cache is stale".into();
    let deed = Deed::Keeps(project.state_directory().join("overrides"), "the cache is stale");
    Stage::new("override", project, event, deed)
}

/// A rule of the user denies a command.
fn rules() -> Stage {
    let project = TestProject::new();
    let rule = "[[rule]]\nname = \"no-force-push\"\nruns = \"git push --force|-f\"\ndeny = \"it rewrites history\"\n";
    project.write_managed_config(rule);
    let event = project.bash("git push -f");
    Stage::new("rules", project, event, Deed::Denies("denied by rule:no-force-push"))
}

/// A project with a change that nobody has approved.
fn planned_change() -> (TestProject, PathBuf) {
    let project = TestProject::new();
    project.write_managed_config("[workflow]\nuse = [\"openspec\"]\n");
    let tasks = project.write_file("openspec/changes/add-login/tasks.md", "- [ ] 1.1 Store the password\n");
    (project, tasks)
}

/// A tool writes code before the plan is approved.
fn workflow_gate() -> Stage {
    let (project, tasks) = planned_change();
    let event = project.write(project.path.join("src/app.js"), "x");
    Stage::new("workflow-gate", project, event, Deed::Denies("add-login")).resting_on([tasks])
}

/// The user approves a plan.
fn workflow_approval() -> Stage {
    let (project, tasks) = planned_change();
    let mut event = project.recorded_event("UserPromptSubmit");
    event["prompt"] = "provost approve add-login".into();
    let deed = Deed::Keeps(project.state_directory().join("workflows"), "add-login");
    Stage::new("workflow-approval", project, event, deed).resting_on([tasks])
}

//! The typical events in projects with more and more rules: none, the built-in ones, 100 and 1000 own ones in addition.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cases::{Case, GOAL, Goal, recorded};
use crate::measure;
use crate::rule_files;
use crate::scene::Scene;

/// The goal for a call with the built-in rules and 100 own ones.
const GOAL_WITH_OWN_RULES: Goal = Goal::Times(1.6);
/// How many milliseconds more a call may take with 1000 own rules than without any.
const MILLISECONDS_FOR_MANY: f64 = 3.0;
/// How many own rules a project has besides the built-in ones, and what that adds to the name of a case.
const SIZES: &[(&str, usize)] = &[(", baseline", 0), (", 100 rules", 100), (", 1000 rules", 1000)];
/// A session that has changed a file and then run the tests that the rules ask for.
const TESTED_SESSION: &str = "0c0f9a52-3a0e-4c1b-9c8e-52f3a1c4d7e6";

/// The recorded event of a typical case, and the command line that replaces the one of the recording.
type TypicalEvent = (&'static str, &'static str, Option<&'static str>);

const EVENTS: &[TypicalEvent] = &[
    ("shell call", recorded!("PreToolUse.Bash"), None),
    ("cat a.txt", recorded!("PreToolUse.Bash"), Some("cat a.txt")),
    ("rm -rf build", recorded!("PreToolUse.Bash"), Some("rm -rf build")),
    ("git push", recorded!("PreToolUse.Bash"), Some("git push")),
    ("shell call, after", recorded!("PostToolUse.Bash"), None),
    ("file read", recorded!("PreToolUse.Read"), None),
    ("file edited", recorded!("PreToolUse.Edit"), None),
    ("file written, after", recorded!("PostToolUse.Write"), None),
    ("prompt", recorded!("UserPromptSubmit"), None),
    ("turn ended", recorded!("Stop.active_false"), None),
    (SESSION_STARTED, recorded!("SessionStart.startup"), None),
];
/// It waits for the disk, so it has no goal that compares it with the empty program.
const SESSION_STARTED: &str = "session started";

/// Every typical event with each number of rules. `provost` is the measured program, and `known` are the cases without
/// rules that are measured anyway.
pub fn list_cases(scene: &Scene, provost: &Path, known: &[Case]) -> io::Result<Vec<Case>> {
    let is_known = |name: &str| known.iter().any(|case| case.name == name);
    let mut cases = Vec::new();
    for event in EVENTS.iter().filter(|(name, ..)| !is_known(name)) {
        let call = Case::hook_call(event.0, provost.into(), &make_event(scene, event, &scene.project()));
        cases.push(call.with_goal(Some(GOAL)));
    }
    for (suffix, count) in SIZES {
        let project = create_project(scene, provost, *count)?;
        for event in EVENTS {
            let name = format!("{}{suffix}", event.0);
            let goal = match *count {
                1000.. => Some(Goal::MillisecondsMore(MILLISECONDS_FOR_MANY, event.0)),
                _ if event.0 == SESSION_STARTED => None,
                0 => Some(GOAL),
                _ => Some(GOAL_WITH_OWN_RULES),
            };
            let call = Case::hook_call(&name, provost.into(), &make_event(scene, event, &project));
            cases.push(call.with_goal(goal).with("CLAUDE_PROJECT_DIR", project.clone()));
        }
    }
    Ok(cases)
}

fn make_event(scene: &Scene, (name, recorded, line): &TypicalEvent, project: &Path) -> Value {
    let mut event = scene.relocate_to(recorded, project);
    if let Some(line) = line {
        event["tool_input"]["command"] = (*line).into();
    }
    if *name == "turn ended" {
        event["session_id"] = TESTED_SESSION.into();
    }
    event
}

/// Creates a project with the built-in rules and this many own ones. Their commands are trusted, and one session has done
/// what its rules need.
fn create_project(scene: &Scene, provost: &Path, own_rules: usize) -> io::Result<PathBuf> {
    let project = scene.another_project(&format!("rules-{own_rules}"))?;
    std::fs::write(project.join("provost.toml"), rule_files::write_rules(own_rules))?;
    scene.switch_on(&project)?;
    let mut trust = scene.relocate_to(recorded!("UserPromptSubmit"), &project);
    trust["prompt"] = "provost trust rules".into();
    let mut written = scene.relocate_to(recorded!("PostToolUse.Write"), &project);
    written["session_id"] = TESTED_SESSION.into();
    written["tool_input"]["file_path"] = json!(project.join("services/service0/a.ts"));
    let mut tested = scene.relocate_to(recorded!("PostToolUse.Bash"), &project);
    tested["session_id"] = TESTED_SESSION.into();
    tested["tool_input"]["command"] = "npm test".into();
    for event in [trust, written, tested] {
        let call = Case::hook_call("preparation", provost.into(), &event)
            .with("CLAUDE_PROJECT_DIR", project.clone());
        measure::run_case(scene, &call.with_any_answer())?;
    }
    Ok(project)
}

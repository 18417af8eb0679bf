//! Slice 3: a planner does not stop without a recent plan.

use super::*;

#[test]
fn exits_0_when_stop_hook_active_is_true() {
    let project = TestProject::new();
    let mut event = project.recorded_event("Stop.active_true");
    assert!(project.run_compat(&[VALIDATOR], event.to_string().as_bytes()).is_silent());
    plan(&project, "planning/login.md", PLAN, 2);
    event["agent_type"] = "tdd-planner".into();
    assert!(project.hook(&event).is_silent());
    let mut event = by_planner(project.recorded_event("SubagentStop.validator"));
    event["stop_hook_active"] = true.into();
    assert!(project.hook(&event).is_silent());
}

/// The second stop of a turn passes, and then only the user can ask for a plan.
#[test]
fn the_user_reads_when_a_planner_ends_without_a_plan() {
    let project = TestProject::new();
    let mut main = project.recorded_event("Stop.active_true");
    main["agent_type"] = "tdd-planner".into();
    let mut sub = by_planner(project.recorded_event("SubagentStop.validator"));
    sub["stop_hook_active"] = true.into();
    for event in [&main, &sub] {
        assert_eq!(
            project.hook(event).expect_note(),
            "[provost] `tdd-planner` ended without a valid plan: No plan file found in planning/ (modified in \
             last 30 minutes). To fix: ask it for the plan again."
        );
    }
    plan(&project, "planning/login.md", "# Notes\n", 2);
    for event in [&main, &sub] {
        assert!(project.hook(event).expect_note().contains("is missing required sections"));
    }
    project.write_file("provost.toml", "[planner]\nrequire_plan = false\n");
    fs::remove_dir_all(project.path.join("planning")).unwrap();
    assert!(project.hook(&main).is_silent());
    let mut other = project.recorded_event("Stop.active_true");
    other["agent_type"] = "reviewer".into();
    assert!(project.hook(&other).is_silent());
}

/// The client does not show a message at the end of a background agent. So Provost repeats it with the prompt that
/// announces this end: once, whichever hook entry is called first.
#[test]
fn the_end_of_a_background_planner_is_reported_with_its_notification() {
    let project = TestProject::new();
    let told = "ended without a valid plan: No plan file found in planning/";
    let mut stop = by_planner(project.recorded_event("SubagentStop.validator"));
    let agent = stop["agent_id"].as_str().unwrap().to_owned();
    let prompt = |id: &str| {
        let mut prompt = project.recorded_event("UserPromptSubmit");
        prompt["session_id"] = stop["session_id"].clone();
        prompt["prompt"] =
            format!("<task-notification>\n<task-id>{id}</task-id>\n</task-notification>").into();
        prompt
    };
    let (own, other) = (prompt(&agent), prompt("another"));
    let with_self = |event: &Value| project.hook_with(&["--pack", "self"], event);
    stop["stop_hook_active"] = true.into();
    project.hook(&stop);
    assert!(with_self(&own).is_silent(), "in the foreground, the client has shown it");
    stop["background_tasks"] = json!([{"id": agent, "type": "subagent", "status": "running"}]);
    assert!(project.hook(&stop).expect_note().contains(told));
    assert!(with_self(&other).is_silent());
    assert!(with_self(&own).expect_note().contains(told));
    assert!(with_self(&own).is_silent(), "once is enough");
}

#[test]
fn exits_2_when_no_plan_file_exists_in_planning() {
    let project = TestProject::new();
    let words = "No plan file found in planning/ (modified in last 30 minutes): a planner's work is its plan, and there is none.";
    held(&project, words);
    fs::create_dir(project.path.join("planning")).unwrap();
    held(&project, words);
    project.write_file("planning/notes.txt", PLAN);
    held(&project, words);
}

#[test]
fn exits_0_when_valid_plan_file_exists_with_recent_modification_time() {
    let project = TestProject::new();
    plan(&project, "planning/login.md", PLAN, 29);
    assert_eq!(stopped(&project), Ok(()));
}

#[test]
fn without_the_stop_hook_active_field_the_plan_is_checked() {
    let project = TestProject::new();
    let mut event = project.recorded_event("Stop.active_false");
    event.as_object_mut().unwrap().remove("stop_hook_active");
    let answer = by_script(&project.run_compat(&[VALIDATOR], event.to_string().as_bytes())).unwrap();
    assert!(answer.unwrap_err().contains("No plan file found"));
    event["agent_type"] = "tdd-planner".into();
    assert!(project.hook(&event).expect_denial().contains("No plan file found"));
}

#[test]
fn a_plan_file_older_than_30_minutes_is_not_the_one_just_made() {
    let project = TestProject::new();
    plan(&project, "planning/login.md", PLAN, 45);
    held(
        &project,
        "(modified in last 30 minutes): the newest plan, planning/login.md, was changed 45 minutes ago",
    );
}

/// Facts A4.17.
#[test]
fn the_newest_plan_counts_and_not_the_last_by_name() {
    let project = TestProject::new();
    plan(&project, "planning/zz-notes.md", "# Notes\n", 10);
    plan(&project, "planning/2026/login.md", PLAN, 2);
    assert_eq!(stopped(&project), Ok(()));
    plan(&project, "planning/2026/login.md", PLAN, 12);
    held(&project, "Plan file planning/zz-notes.md is missing required sections");
}

/// Facts A4.16.
#[test]
fn planning_is_found_from_a_directory_below() {
    let project = TestProject::new();
    plan(&project, "planning/login.md", PLAN, 2);
    fs::create_dir_all(project.path.join("src/deep")).unwrap();
    let mut event = project.recorded_event("Stop.active_false");
    event["cwd"] = json!(project.path.join("src/deep"));
    assert!(project.run_compat(&[VALIDATOR], event.to_string().as_bytes()).is_silent());
    event["agent_type"] = "tdd-planner".into();
    assert!(project.hook(&event).is_silent());
    // Of several plans on the way up, the newest counts.
    plan(&project, "src/planning/old.md", "# Draft\n", 20);
    assert!(project.hook(&event).is_silent());
    plan(&project, "src/planning/old.md", "# Draft\n", 1);
    project.hook(&event).expect_denial();
    fs::remove_dir_all(project.path.join("src/planning")).unwrap();
    // Directories above the project are not searched.
    fs::rename(project.path.join("planning"), project.home.join("planning")).unwrap();
    project.hook(&event).expect_denial();
}

/// Facts A4.17.
#[test]
fn the_time_is_a_setting() {
    let project = TestProject::new();
    plan(&project, "planning/login.md", PLAN, 45);
    project.write_file("provost.toml", "[planner]\nplan_minutes = 60\n");
    assert_eq!(stopped(&project), Ok(()));
}

/// Facts A4.9: a user who discards the plan needs none.
#[test]
fn a_setting_lets_a_planner_stop_without_a_plan() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[planner]\nrequire_plan = false\n");
    assert_eq!(stopped(&project), Ok(()));
    plan(&project, "planning/login.md", "# Draft\n", 45);
    assert_eq!(stopped(&project), Ok(()));
    plan(&project, "planning/login.md", "# Draft\n", 2);
    held(&project, "missing required sections");
}

#[test]
fn the_plan_directory_is_a_setting() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[planner]\ndirectory = \"docs/plans\"\n");
    held(&project, "No plan file found in docs/plans/");
    plan(&project, "docs/plans/login.md", PLAN, 2);
    assert_eq!(stopped(&project), Ok(()));
    allows(&project, &["echo x > docs/plans/x.md"]);
    blocks(&project, "outside docs/plans/", &["echo x > planning/x.md"]);
}

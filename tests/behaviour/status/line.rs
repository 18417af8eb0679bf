//! The line of `provost statusline`: what it shows, and what it costs.

use super::*;

#[test]
fn only_what_applies_is_shown() {
    let project = TestProject::new();
    let shown = |session: &str| line(&project, &said(&project, session));
    assert_eq!(shown("s1"), "provost · on");
    plan(&project);
    assert_eq!(shown("s1"), "provost · review 1/8, clean 1/2");
    workflow(&project);
    assert_eq!(
        shown("s1"),
        "provost · review 1/8, clean 1/2 · phase 06-implementation (gate: tests, articles missing)"
    );
    denied(&project, "s1");
    denied(&project, "s1");
    assert!(shown("s1").ends_with("missing) · 2 denied"), "{}", shown("s1"));
    assert!(!shown("s2").contains("denied"), "what another session was denied is its own");
}

#[test]
fn a_cycle_at_its_limit_differs_from_a_finished_one() {
    let project = TestProject::new();
    plan(&project);
    let mut state = json!({"max_reviews": 2, "phase": "post-plan-review", "phase_iteration": 2,
        "next_phase": "plan-review", "consecutive_clean": 0});
    plan_state(&project, &state);
    assert_eq!(line(&project, b""), "provost · review all 2 done, clean 0/2");
    state["next_phase"] = "create-tasks".into();
    plan_state(&project, &state);
    assert_eq!(line(&project, b""), "provost · on");
}

/// What a session that is over was denied says nothing about this one.
#[test]
fn a_journal_of_other_sessions_does_not_count_as_a_hook() {
    let project = TestProject::unregistered();
    denied(&project, "s1");
    assert_eq!(line(&project, &said(&project, "s1")), "provost · 1 denied");
    assert_eq!(line(&project, &said(&project, "s2")), "provost · no hook entry calls it");
    let next = "to have Provost called here again, run `provost init`";
    assert_eq!(status_json(&project)["next"], next);
}

#[test]
fn the_plan_is_that_of_the_session() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[plan_gate]\nenabled = true\n");
    let session = "a6244560-d03c-4a53-ac56-5d9a9e0a04bd";
    let mut written = project.recorded_event("PostToolUse.Write");
    let file = project.write_home_file(".claude/plans/a.md", "# A plan\n\n## Goals\n\nOne.\n");
    written["permission_mode"] = "plan".into();
    written["session_id"] = session.into();
    written["tool_input"]["file_path"] = file.to_str().unwrap().into();
    written["tool_response"]["filePath"] = file.to_str().unwrap().into();
    project.hook(&written);
    assert_eq!(line(&project, &said(&project, session)), "provost · plan: not assessed, gaps missing");
    assert_eq!(line(&project, &said(&project, "another")), "provost · on");
}

#[test]
fn switches_and_mistakes_are_shown() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[guards]\nbranch-guard = \"off\"\n");
    assert_eq!(line(&project, b"{}"), "provost · 1 guard off");
    project.write_file("provost.toml", "[guards]\nbranch-guard = \"no\"\nx = 1\n");
    assert_eq!(line(&project, b"{}"), "provost · 2 mistakes in its configuration (provost.toml:2:1)");
    assert_eq!(line(&TestProject::with_no_guard(), b"{}"), "provost · off");
    assert_eq!(line(&TestProject::unregistered(), b"{}"), "provost · no hook calls it");
}

#[test]
fn the_directory_is_what_the_client_says() {
    let project = TestProject::new();
    plan(&project);
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = command(&project, &["statusline"]);
    command.current_dir(elsewhere.path());
    let shown = answered(&project, command, &said(&project, "s1"));
    assert_eq!(shown.stdout, "provost · review 1/8, clean 1/2\n");
}

#[test]
fn help_shows_the_entry_and_unknown_arguments_are_ignored() {
    let project = TestProject::new();
    let help = run(&project, &["statusline", "--help"]);
    assert!(help.code == 0 && help.stdout.contains("\"command\": \"provost statusline\""), "{}", help.stdout);
    let shown = answered(&project, command(&project, &["statusline", "--colour", "x"]), b"{}");
    assert_eq!((shown.code, shown.stdout.as_str()), (0, "provost · on\n"));
}

/// A project as it is after months: a plan of 43 files, a workflow, 4 MB of journal.
fn grown() -> TestProject {
    let project = TestProject::new();
    plan(&project);
    workflow(&project);
    for number in 1..=40 {
        let text = format!("# Task {number}\n\n{}\n", "Words about the task. ".repeat(200));
        project.write_file(&format!(".taskie/plans/login-limit/task-{number}.md"), &text);
    }
    let rows: Vec<String> = (1..=40).map(|number| format!("| {number} | pending | high |\n")).collect();
    let tasks = format!("| Id | Status | Priority |\n|---|---|---|\n{}", rows.concat());
    project.write_file(".taskie/plans/login-limit/tasks.md", &tasks);
    let journal = journal(&project);
    denied(&project, "s1");
    let lines = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, lines.repeat((4 << 20) / lines.len())).unwrap();
    project
}

#[test]
fn a_large_project_gets_its_line_in_time() {
    // Seconds of CPU time; a build for debugging is slow.
    let limit = if std::env::var_os("PROVOST_UNDER_TEST").is_some() { 0.005 } else { 0.5 };
    let project = grown();
    let files = fs::read_dir(project.path.join(".taskie/plans/login-limit")).unwrap().count();
    assert_eq!(files, 44, "43 documents and the state");
    let shown = line(&project, &said(&project, "s1"));
    assert!(
        shown.starts_with("provost · review 1/8, clean 1/2 · phase 06-implementation (gate: "),
        "{shown}"
    );
    assert!(shown.ends_with(" denied"), "{shown}");
    let input = project.write_file("input.json", std::str::from_utf8(&said(&project, "s1")).unwrap());
    for arguments in [&["statusline"][..], &["status"]] {
        let seconds = least_cpu_seconds(|| {
            let mut command = command(&project, arguments);
            command.stdin(fs::File::open(&input).unwrap()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        });
        assert!(seconds < limit, "provost {}: {seconds} s", arguments[0]);
    }
}

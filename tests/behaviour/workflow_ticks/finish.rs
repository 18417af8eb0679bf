//! The end of an instance needs its ticks, and no agent removes an open one.

use super::systems::{ALL, BMAD, KIRO, OPENSPEC, SPEC_KIT, TASK_MASTER};
use super::{WorkflowSession, call_server, check_lines, set_status};
use serde_json::json;

const ARCHIVES: &[&str] = &[
    "openspec archive add-login",
    "openspec archive add-login -y",
    "openspec archive --yes --skip-specs add-login",
    "npx @fission-ai/openspec archive add-login --yes",
    "npx -y @fission-ai/openspec@latest archive add-login -y",
    "openspec archive $NAME -y",
    "mkdir -p openspec/changes/archive && mv openspec/changes/add-login openspec/changes/archive/2026-11-20-add-login",
    "mv openspec/changes/add-login openspec/changes/archive/",
    "mv openspec/changes/* openspec/changes/archive/",
    "git mv openspec/changes/add-login openspec/changes/archive/2026-11-20-add-login",
    "cd openspec/changes && mv add-login archive/2026-11-20-add-login",
    "for c in add-login; do mv openspec/changes/$c openspec/changes/archive/; done",
];

/// Ticks all tasks of `OpenSpec`'s change but the one to archive.
fn tick_all(session: &WorkflowSession) {
    let text = session.read(OPENSPEC.tasks).replace("- [ ] 1.", "- [x] 1.");
    session.project.write_file(OPENSPEC.tasks, &text);
    session.project.write_file("openspec/changes/archive/old/tasks.md", "- [x] 1.1 Old\n");
}

fn own(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn a_change_with_open_tasks_is_not_archived() {
    let session = WorkflowSession::new(&OPENSPEC);
    session.project.write_file("openspec/changes/archive/old/tasks.md", "- [x] 1.1 Old\n");
    session.work();
    check_lines(&session, &own(ARCHIVES), true);
    session.assert_denied(session.project.bash(ARCHIVES[1]), "2 tasks are not done");
}

#[test]
fn a_task_to_archive_does_not_lock_the_archive() {
    let session = WorkflowSession::new(&OPENSPEC);
    tick_all(&session);
    check_lines(&session, &own(ARCHIVES), false);
}

#[test]
fn a_change_without_tasks_is_not_archived() {
    let session = WorkflowSession::new(&OPENSPEC);
    session.project.write_file("openspec/changes/empty/.openspec.yaml", "schema: spec-driven\n");
    session.assert_denied(session.project.bash("openspec archive empty -y"), "is missing");
}

#[test]
fn other_commands_of_the_tools_are_allowed() {
    let session = WorkflowSession::new(&OPENSPEC);
    let lines = [
        "openspec list",
        "openspec status --change add-login --json",
        "openspec validate add-login --strict",
        "openspec new change other",
        "openspec archive --help",
        "ls openspec/changes/archive",
        "mkdir -p openspec/changes/archive",
        "mv openspec/changes/add-login openspec/changes/add-sign-in",
        "cp -r openspec/changes/add-login /tmp/copy",
        "rm openspec/changes/add-login/design.md",
        "rm -rf node_modules dist src/old",
        "git checkout main",
        "git stash",
        "git commit -am x",
        "openspec archive gone",
    ];
    check_lines(&session, &own(&lines), false);
}

#[test]
fn an_open_instance_is_not_removed_or_moved_away() {
    for system in ALL {
        let session = WorkflowSession::new(system);
        session.work();
        let parent = system.instance.rsplit_once('/').unwrap().0;
        let top = system.instance.split('/').next().unwrap();
        let lines = [
            "rm -rf INSTANCE",
            "rm -r INSTANCE && ls",
            "mv INSTANCE /tmp/away",
            "mv INSTANCE docs.old",
            "git rm -rf INSTANCE",
            "rm -rf PARENT",
            "rm -rf TOP",
            "mv TOP /tmp/x",
            "rm -rf PARENT/*",
            "find PARENT -delete",
            "bash -c 'rm -rf INSTANCE'",
            "rm -rf \"$PWD/INSTANCE\"",
            "python3 -c \"import shutil; shutil.rmtree('INSTANCE')\"",
        ];
        let lines: Vec<String> = lines
            .iter()
            .map(|line| {
                line.replace("INSTANCE", system.instance).replace("PARENT", parent).replace("TOP", top)
            })
            .collect();
        check_lines(&session, &lines, true);
        session.assert_denied(
            call_server(&session, "mcp__files__delete_file", json!({"path": session.path(system.instance)})),
            "is open",
        );
        session.assert_denied(
            call_server(
                &session,
                "mcp__files__move_file",
                json!({"source": session.path(system.instance), "destination": "/tmp/away"}),
            ),
            "is open",
        );
    }
}

#[test]
fn a_finished_instance_may_go() {
    for system in ALL {
        let session = WorkflowSession::new(system);
        let mut text = session.read(system.tasks).replace("[ ]", "[x]").replace("\"pending\"", "\"done\"");
        text = text.replace("in-progress", "done");
        session.project.write_file(system.tasks, &text);
        let lines = ["rm -rf INSTANCE".to_owned(), "mv INSTANCE /tmp/away".to_owned()];
        let lines: Vec<String> = lines.iter().map(|line| line.replace("INSTANCE", system.instance)).collect();
        check_lines(&session, &lines, false);
    }
}

#[test]
fn the_pointer_does_not_leave_an_open_feature() {
    let session = WorkflowSession::new(&SPEC_KIT);
    session.project.write_file("specs/000-old/spec.md", "# Feature Specification: Old\n");
    session.project.write_file("specs/000-old/plan.md", "# Implementation Plan: Old\n");
    session.project.write_file("specs/000-old/tasks.md", "- [X] T001 Done\n");
    let file = session.path(".specify/feature.json");
    let lead = |to: &str| format!("{{\"feature_directory\":\"{to}\"}}\n");
    for event in [
        session.project.write(&file, "{}"),
        session.project.write(&file, ""),
        session.project.write(&file, &lead("specs/000-old")),
        session.project.edit(&file, "specs/001-login", "specs/000-old"),
        session.project.bash("rm .specify/feature.json"),
        session.project.bash("mv .specify/feature.json /tmp/"),
        session.project.bash("echo '{}' > .specify/feature.json"),
        session.project.bash("sed -i 's/001-login/000-old/' .specify/feature.json"),
    ] {
        session.assert_denied(event, "001-login");
    }
    for event in [
        session.project.write(&file, &lead("specs/002-new")),
        session.project.write(&file, &lead("specs/001-login")),
        session.project.bash("cat .specify/feature.json"),
    ] {
        session.assert_allowed(event);
    }
}

#[test]
fn the_current_tag_stays_while_it_is_open() {
    let session = WorkflowSession::new(&TASK_MASTER);
    let text = session.read(TASK_MASTER.tasks);
    let done = "\"done\":{\"tasks\":[{\"id\":1,\"title\":\"A\",\"status\":\"done\",\"subtasks\":[]}]},";
    session.project.write_file(TASK_MASTER.tasks, &text.replacen('{', &format!("{{{done}"), 1));
    let file = session.path(".taskmaster/state.json");
    session.assert_denied(session.project.write(&file, "{\"currentTag\":\"done\"}"), "master");
    session.assert_denied(session.project.bash("rm .taskmaster/state.json"), "master");
    session.assert_denied(session.project.bash("task-master tags use done"), "master");
    session.assert_denied(session.project.bash("task-master delete-tag master -y"), "master");
    session.assert_denied(
        call_server(
            &session,
            "mcp__task-master-ai__delete_tag",
            json!({"name": "master", "projectRoot": session.project.path}),
        ),
        "master",
    );
    session.assert_allowed(session.project.write(&file, "{\"currentTag\":\"new\"}"));
    session.assert_allowed(session.project.bash("task-master tags use new"));
}

#[test]
fn a_task_is_not_done_before_its_subtasks() {
    let session = WorkflowSession::new(&TASK_MASTER);
    session.work();
    session.assert_denied(
        session.project.bash("task-master set-status --id=1 --status=done"),
        "2 tasks are not done",
    );
    session.assert_denied(set_status(&session, "1", "done"), "2 tasks are not done");
    session.assert_allowed(session.project.bash("task-master set-status --id=1.1,1.2 --status=done"));
    session.assert_allowed(session.project.bash("task-master set-status --id=1,1.1,1.2 --status=done"));
}

#[test]
fn a_story_is_not_done_before_its_tasks() {
    let session = WorkflowSession::new(&BMAD);
    session.work();
    let (spec, sprint) =
        (session.path(BMAD.tasks), session.path("_bmad-output/implementation-artifacts/sprint-status.yaml"));
    let (project, open) = (&session.project, "2 tasks are not done");
    session.assert_denied(project.edit(&spec, "'in-progress'", "'done'"), open);
    session.assert_denied(project.edit(&sprint, "1-1-sign-in: in-progress", "1-1-sign-in: done"), open);
    session.assert_denied(project.bash(&format!("sed -i 's/in-progress/done/' {}", sprint.display())), "");
    session.assert_allowed(project.edit(&spec, "'in-progress'", "in-review"));
    session.assert_allowed(project.edit(&sprint, "1-2-sign-out: backlog", "1-2-sign-out: in-progress"));
    let text = session.read(BMAD.tasks).replace("[ ]", "[x]");
    session.project.write_file(BMAD.tasks, &text);
    session.assert_allowed(project.edit(&spec, "'in-progress'", "'done'"));
    session.assert_allowed(project.edit(&sprint, "1-1-sign-in: in-progress", "1-1-sign-in: done"));
}

#[test]
fn tasks_are_not_taken_out_to_be_finished() {
    for system in [&OPENSPEC, &SPEC_KIT, &KIRO] {
        let session = WorkflowSession::new(system);
        session.work();
        let text = session.read(system.tasks);
        let (open, done) = system.ticks[0];
        let without: String = text
            .replacen(open, done, 1)
            .lines()
            .filter(|line| !line.contains(system.ticks[1].0))
            .fold(String::new(), |text, line| text + line + "\n");
        session.assert_denied(
            session.project.write(session.path(system.tasks), &without),
            "although nobody did",
        );
        session.assert_allowed(
            session.project.write(session.path(system.tasks), &text.replace("Create", "Make")),
        );
    }
    let session = WorkflowSession::new(&TASK_MASTER);
    session.assert_denied(
        session.project.bash("task-master set-status --id=1,1.1,1.2,2 --status=cancelled"),
        "although nobody did",
    );
    session.assert_allowed(session.project.bash("task-master set-status --id=2 --status=cancelled"));
}

#[test]
fn an_end_needs_the_evidence_that_the_settings_ask_for() {
    let session = WorkflowSession::with_settings(&OPENSPEC, "finish = { passed = \"npm test\" }");
    tick_all(&session);
    check_lines(&session, &own(ARCHIVES), true);
    session.assert_denied(session.project.bash(ARCHIVES[0]), "`npm test` has not passed");
    session.run(session.project.bash("npm test"), false);
    session.assert_denied(session.project.bash(ARCHIVES[0]), "the last run of `npm test` failed");
    session.run(session.project.bash("npm test"), true);
    check_lines(&session, &own(ARCHIVES), false);
    // Planning makes no run old.
    session.write("openspec/changes/add-login/notes.md", "x\n");
    check_lines(&session, &own(ARCHIVES), false);
    session.work();
    session.assert_denied(session.project.bash(ARCHIVES[0]), "src/a.rs changed since `npm test` passed");
    session.assert_allowed(session.project.bash("npm test && openspec archive add-login -y"));
    session.assert_denied(session.project.bash("npm test; openspec archive add-login -y"), "npm test");
    session.assert_denied(
        session.project.bash("npm test && rm src/a.rs && openspec archive add-login -y"),
        "npm test",
    );
}

#[test]
fn where_no_step_ends_an_instance_the_last_tick_needs_the_evidence() {
    for system in [&SPEC_KIT, &KIRO] {
        let session = WorkflowSession::with_settings(system, "finish = { passed = \"npm test\" }");
        session.work();
        session.assert_allowed(session.tick(system, 0));
        let (open, done) = system.ticks[0];
        session.project.write_file(system.tasks, &session.read(system.tasks).replacen(open, done, 1));
        session.assert_denied(session.tick(system, 1), "`npm test` has not passed");
        session.run(session.project.bash("npm test"), true);
        session.assert_allowed(session.tick(system, 1));
    }
}

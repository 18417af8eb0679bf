//! When a tick is allowed: since the last one something has changed, or a test or build has passed.

use std::fs;
use std::thread;

use serde_json::json;

use super::systems::{ALL, BMAD, KIRO, OPENSPEC, SPEC_KIT, TASK_MASTER};
use super::{WorkflowSession, call_server, check_lines, set_status};
use crate::support::assert_shown;

const NO_WORK: &str = "since the last tick";

#[test]
fn a_tick_without_work_is_denied_and_with_work_allowed() {
    for system in ALL {
        let session = WorkflowSession::new(system);
        session.assert_denied(session.tick(system, 0), NO_WORK);
        session.work();
        session.assert_allowed(session.tick(system, 0));
    }
}

#[test]
fn a_test_that_passes_is_work_and_one_that_fails_is_none() {
    for system in ALL {
        let session = WorkflowSession::new(system);
        session.run(session.project.bash("npm test"), false);
        session.assert_denied(session.tick(system, 0), NO_WORK);
        for line in [
            "git status",
            "ls src",
            "git stash",
            "mkdir -p x",
            "touch src/a.rs",
            "npm test --help",
            "npm test || true",
        ] {
            session.run(session.project.bash(line), true);
            session.assert_denied(session.tick(system, 0), NO_WORK);
        }
        session.run(session.project.bash("npm run build"), true);
        session.assert_allowed(session.tick(system, 0));
    }
}

#[test]
fn planning_and_files_outside_of_the_project_are_no_work() {
    for system in ALL {
        let session = WorkflowSession::new(system);
        let place = system.files[1].0.rsplit_once('/').unwrap().0;
        session.run(session.project.write(session.path(&format!("{place}/notes.md")), "x\n"), true);
        session.run(session.project.write("/tmp/x.md", "x\n"), true);
        session.run(session.project.bash("echo x > /tmp/y"), true);
        session.assert_denied(session.tick(system, 0), NO_WORK);
    }
}

#[test]
fn several_ticks_may_follow_one_piece_of_work() {
    for system in ALL {
        let session = WorkflowSession::new(system);
        session.work();
        session.run(session.tick(system, 0), true);
        session.run(session.tick(system, 1), true);
        // The user's next prompt ends the piece of work.
        session.prompt("and now?");
        session.assert_denied(session.tick(system, 1), NO_WORK);
        session.work();
        session.assert_allowed(session.tick(system, 1));
    }
}

#[test]
fn a_test_that_fails_ends_a_piece_of_work() {
    let session = WorkflowSession::new(&OPENSPEC);
    session.work();
    session.run(session.tick(&OPENSPEC, 0), true);
    session.run(session.project.bash("npm test"), false);
    session.assert_denied(session.tick(&OPENSPEC, 1), NO_WORK);
}

#[test]
fn a_tick_that_did_not_happen_uses_no_work_up() {
    let session = WorkflowSession::new(&OPENSPEC);
    session.work();
    session.assert_allowed(session.tick(&OPENSPEC, 0));
    session.prompt("go on");
    session.assert_allowed(session.tick(&OPENSPEC, 0));
}

#[test]
fn another_session_has_the_work_but_not_the_ticks_of_this_one() {
    let session = WorkflowSession::new(&OPENSPEC);
    session.work();
    let other = |mut event: serde_json::Value| {
        event["session_id"] = "session-2".into();
        event["tool_use_id"] = "toolu_other".into();
        event
    };
    assert!(session.project.hook(&other(session.tick(&OPENSPEC, 0))).is_silent());
    session.run(session.tick(&OPENSPEC, 0), true);
    let answer = session.project.hook(&other(session.tick(&OPENSPEC, 1)));
    assert!(answer.find_denial().unwrap().contains(NO_WORK));
    session.assert_allowed(session.tick(&OPENSPEC, 1));
}

#[test]
fn headers_whose_tasks_are_done_are_free() {
    let session = WorkflowSession::new(&KIRO);
    let text = session.read(KIRO.tasks).replace("- [ ] 1.1", "- [x] 1.1").replace("- [ ] 1.2", "- [x] 1.2");
    session.project.write_file(KIRO.tasks, &text);
    session.assert_allowed(session.project.edit(session.path(KIRO.tasks), "- [ ] 1. ", "- [x] 1. "));
    let session = WorkflowSession::new(&TASK_MASTER);
    let text = session.read(TASK_MASTER.tasks);
    let text = text.replace("\"Hash\",\"status\":\"pending\"", "\"Hash\",\"status\":\"done\"");
    let text = text.replace("\"Salt\",\"status\":\"pending\"", "\"Salt\",\"status\":\"done\"");
    session.project.write_file(TASK_MASTER.tasks, &text);
    session.assert_allowed(session.project.bash("task-master set-status --id=1 --status=done"));
    session.assert_allowed(set_status(&session, "1", "done"));
    session.assert_denied(set_status(&session, "2", "done"), NO_WORK);
    let session = WorkflowSession::new(&BMAD);
    let text = session.read(BMAD.tasks).replace("[ ]", "[x]");
    session.project.write_file(BMAD.tasks, &text);
    session.assert_allowed(session.project.edit(session.path(BMAD.tasks), "'in-progress'", "'done'"));
    let sprint = session.path("_bmad-output/implementation-artifacts/sprint-status.yaml");
    session.assert_allowed(session.project.edit(&sprint, "1-1-sign-in: in-progress", "1-1-sign-in: done"));
    session
        .assert_denied(session.project.edit(&sprint, "1-2-sign-out: backlog", "1-2-sign-out: done"), NO_WORK);
}

#[test]
fn other_changes_of_a_task_file_are_free() {
    let session = WorkflowSession::new(&KIRO);
    let path = session.path(KIRO.tasks);
    let text = session.read(KIRO.tasks).replace("- [ ] 1.1", "- [x] 1.1");
    session.project.write_file(KIRO.tasks, &text);
    let project = &session.project;
    for event in [
        project.write(&path, &format!("{text}\n## Implementation Notes\n\n- Uses a map\n")),
        project.edit(&path, "- [ ] 1.2 Read the store", "- [ ] 1.2 Read the store\n  _Blocked: no API_"),
        project.edit(&path, "- [x] 1.1", "- [ ] 1.1"),
        project.write(&path, &text.replace('\n', "\r\n")),
        project.write(&path, &text.replace("1.2 Read the store", "1.2 Search\n- [ ] 1.4 Read the store")),
        project.edit(&path, "1.1 Create the store (P)", "1.1 Create the album store (P)"),
    ] {
        session.assert_allowed(event);
    }
}

#[test]
fn the_task_to_archive_is_free() {
    let session = WorkflowSession::new(&OPENSPEC);
    session.assert_allowed(session.project.edit(session.path(OPENSPEC.tasks), "- [ ] 2.1", "- [x] 2.1"));
}

#[test]
fn only_the_reviewer_ticks_a_checklist() {
    let session = WorkflowSession::new(&SPEC_KIT);
    session.work();
    let path = session.path("specs/001-login/checklists/security.md");
    let own = "only the user ticks a checklist";
    session.assert_denied(session.project.edit(&path, "- [ ] CHK001", "- [x] CHK001"), own);
    session.assert_denied(session.project.write(&path, "- [X] CHK001 Are limits defined?\n"), own);
    session
        .assert_denied(session.project.bash("sed -i 's/\\[ \\]/[x]/' specs/001-login/checklists/*.md"), own);
    session.assert_denied(
        session.project.write(session.path("specs/001-login/checklists/new.md"), "- [x] A\n"),
        own,
    );
    session.assert_allowed(session.project.edit(&path, "Are limits", "Are all limits"));
    session.assert_allowed(
        session.project.write(session.path("specs/001-login/checklists/new.md"), "- [ ] A\n"),
    );
    // The tool's own commands keep this one.
    let kept = session.path("specs/001-login/checklists/requirements.md");
    session.assert_allowed(session.project.edit(&kept, "- [ ] No", "- [x] No"));
}

#[test]
fn work_in_one_member_of_a_repository_is_none_in_another() {
    let session = WorkflowSession::new(&OPENSPEC);
    let tasks = "- [ ] 1.1 Own task\n";
    session.project.write_file("packages/api/openspec/config.yaml", "schema: spec-driven\n");
    let file = session.project.write_file("packages/api/openspec/changes/x/tasks.md", tasks);
    session.work();
    let tick = || session.project.edit(&file, "- [ ] 1.1", "- [x] 1.1");
    session.assert_denied(tick(), NO_WORK);
    session.run(session.project.write(session.path("packages/api/a.js"), "x\n"), true);
    session.assert_allowed(tick());
}

#[test]
fn without_the_workflow_nothing_is_asked() {
    let session = WorkflowSession::new(&OPENSPEC);
    session.project.write_file("provost.toml", "");
    session.assert_allowed(session.tick(&OPENSPEC, 0));
    session.assert_allowed(session.project.bash("openspec archive add-login -y"));
    session.assert_allowed(session.project.bash("rm -rf openspec"));
}

#[test]
fn a_workflow_of_ones_own_is_judged_alike() {
    let session = WorkflowSession::new(&OPENSPEC);
    let config = "[workflow]\nuse = [\"rfc\"]\n\n[workflow.rfc]\nmarker = [\"rfcs\"]\nplanning = [\"rfcs\"]\ninstances = [\"rfcs/*\"]\n\
                  tasks = \"todo.md\"\n\n[guards]\nworkflow-gate = \"off\"\n";
    session.project.write_file("provost.toml", config);
    let file = session.project.write_file("rfcs/login/todo.md", "- [ ] Write it\n- [ ] Test it\n");
    let tick = || session.project.edit(&file, "- [ ] Write", "- [x] Write");
    session.assert_denied(tick(), NO_WORK);
    session.assert_denied(session.project.bash("rm -rf rfcs/login"), "is open");
    session.work();
    session.assert_allowed(tick());
}

#[test]
fn damaged_and_strange_task_files_have_a_defined_answer() {
    let session = WorkflowSession::new(&OPENSPEC);
    let path = session.path(OPENSPEC.tasks);
    let ticked = "- [x] 1.1 Create the store\n";
    for old in
        [&b"\xff\xfe- [ ] \xff"[..], b"", b"\0\0\0", "\u{feff}- [ ] 1.1 Create the store\r\n".as_bytes()]
    {
        fs::write(&path, old).unwrap();
        session.assert_denied(session.project.write(&path, ticked), NO_WORK);
    }
    // Nobody can tell what was ticked in a file that is too large, or that is none.
    fs::write(&path, "- [ ] a\n".repeat(3 << 20)).unwrap();
    let fails = || {
        let answer = session.ask(session.project.write(&path, ticked));
        assert!(answer.code == Some(2) && answer.stderr.contains("could not judge"), "{answer:?}");
    };
    fails();
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    fails();
    let session = WorkflowSession::new(&TASK_MASTER);
    session.project.write_file(TASK_MASTER.tasks, "{\"master\":{\"tasks\":[{\"id\":1,");
    session.assert_denied(set_status(&session, "", "done"), NO_WORK);
    session.assert_allowed(set_status(&session, "7", "in-progress"));
}

#[test]
fn two_sessions_at_once_lose_no_record() {
    let session = WorkflowSession::new(&OPENSPEC);
    let events: Vec<_> = (0..16)
        .map(|number| {
            let before =
                session.before(session.project.write(session.path(&format!("src/{number}.rs")), "x\n"));
            session.after(&before, true)
        })
        .collect();
    thread::scope(|scope| {
        for event in &events {
            scope.spawn(|| assert!(session.project.hook(event).is_silent()));
        }
    });
    let directory = session.project.state_directory().join("evidence");
    let files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    let text = fs::read_to_string(&files[0]).unwrap();
    assert_eq!((files.len(), text.lines().count()), (1, 16), "{text}");
    // A file that is recorded already is not recorded again.
    session.work();
    session.work();
    assert_eq!(fs::read_to_string(&files[0]).unwrap().lines().count(), 17);
}

#[test]
fn a_line_of_the_record_that_was_cut_off_is_taken_for_a_change() {
    let session = WorkflowSession::new(&OPENSPEC);
    session.work();
    session.run(session.tick(&OPENSPEC, 0), true);
    session.prompt("next");
    session.assert_denied(session.tick(&OPENSPEC, 1), NO_WORK);
    let directory = session.project.state_directory().join("evidence");
    let file = fs::read_dir(directory).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}[\"chang")).unwrap();
    session.assert_allowed(session.tick(&OPENSPEC, 1));
}

#[test]
fn denials_say_what_why_and_how_to_go_on() {
    let session = WorkflowSession::new(&OPENSPEC);
    let show = |event: serde_json::Value| session.project.whole(&session.ask(event));
    let shown = [
        ("tick", session.tick(&OPENSPEC, 0)),
        (
            "ticks",
            session
                .project
                .write(session.path(OPENSPEC.tasks), &session.read(OPENSPEC.tasks).replace("[ ]", "[x]")),
        ),
        ("unknown text", session.project.bash(&format!("sed -i 's/\\[ \\]/[x]/' {}", OPENSPEC.tasks))),
        ("archive", session.project.bash("openspec archive add-login --yes")),
        ("removal", session.project.bash("rm -rf openspec/changes/add-login")),
    ];
    let texts: Vec<String> =
        shown.into_iter().map(|(name, event)| format!("== {name}\n{}\n", show(event))).collect();
    let text = texts.concat();
    let other = WorkflowSession::new(&SPEC_KIT);
    let checklist = other.path("specs/001-login/checklists/security.md");
    let checklist =
        other.project.whole(&other.ask(other.project.edit(checklist, "- [ ] CHK001", "- [x] CHK001")));
    let pointer = other.project.whole(&other.ask(other.project.bash("rm .specify/feature.json")));
    assert_shown!("workflow-ticks", format!("{text}== checklist\n{checklist}\n== pointer\n{pointer}\n"));
}

#[test]
fn the_user_can_allow_a_tick_and_an_end_once() {
    let session = WorkflowSession::new(&OPENSPEC);
    session.prompt("provost override workflow-ticks it is done already");
    assert!(session.ask(session.tick(&OPENSPEC, 0)).find_denial().is_err());
    session.assert_denied(session.tick(&OPENSPEC, 0), NO_WORK);
    session.prompt("provost override workflow-finish the rest moves to another change");
    assert!(session.ask(session.project.bash("openspec archive add-login -y")).find_denial().is_err());
    check_lines(&session, &["openspec archive add-login -y".to_owned()], true);
}

#[test]
fn a_server_that_only_reads_is_never_held() {
    let session = WorkflowSession::new(&TASK_MASTER);
    for tool in ["mcp__task-master-ai__get_tasks", "mcp__task-master-ai__next_task"] {
        session.assert_allowed(call_server(
            &session,
            tool,
            json!({"status": "done", "projectRoot": session.project.path}),
        ));
    }
}

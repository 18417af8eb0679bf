//! Files that are damaged, huge, binary, linked or unreadable: work waits, the reason says so, and nothing is rewritten.

use std::fs;
use std::os::unix::fs::symlink;

use super::{approve, assert_free, assert_held, openspec, prompt};
use crate::support::TestProject;

const TASK_FILE: &str = "openspec/changes/add-login/tasks.md";

/// Work is held for this reason, the file stays as it is, and cannot be approved.
#[track_caller]
fn assert_closed(project: &TestProject, words: &str) {
    assert_held(project, words);
    let answer = prompt(project, "provost approve add-login");
    assert!(answer.stdout.contains("nothing was approved"), "{}", answer.stdout);
    assert_held(project, words);
}

#[test]
fn a_file_that_is_no_text_cannot_be_approved() {
    let project = openspec();
    approve(&project, "add-login");
    let file = project.path.join(TASK_FILE);
    for bytes in [&b"- [ ] a\0b\n"[..], b"\xff\xfe-\0 \0[\0", b"- [ ] caf\xe9\n"] {
        fs::write(&file, bytes).unwrap();
        assert_closed(&project, "is not UTF-8 text");
        assert_eq!(fs::read(&file).unwrap(), bytes);
    }
}

#[test]
fn a_huge_file_cannot_be_approved() {
    let project = openspec();
    fs::write(project.path.join(TASK_FILE), "- [ ] task\n".repeat(1 << 20)).unwrap();
    assert_closed(&project, "larger than");
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_fine() {
    let project = openspec();
    let file = project.path.join(TASK_FILE);
    fs::write(&file, "\u{feff}- [ ] 1.1 Store\r\n- [ ] 1.2 Ask\r\n").unwrap();
    approve(&project, "add-login");
    fs::write(&file, "- [x] 1.1 Store\n- [ ] 1.2 Ask\n").unwrap();
    assert_free(&project);
}

#[test]
fn links_have_a_defined_answer() {
    let project = openspec();
    let file = project.path.join(TASK_FILE);
    fs::remove_file(&file).unwrap();
    symlink("tasks.md", &file).unwrap();
    assert_closed(&project, "cannot be checked");
    fs::remove_file(&file).unwrap();
    symlink("nowhere.md", &file).unwrap();
    assert_closed(&project, "is missing");
    fs::remove_file(&file).unwrap();
    project.write_file("openspec/shared.md", "- [ ] a\n");
    symlink("../../shared.md", &file).unwrap();
    approve(&project, "add-login");
    assert_free(&project);
    project.write_file("openspec/shared.md", "- [ ] b\n");
    assert_held(&project, "has changed");
    symlink("..", project.path.join("openspec/changes/add-login/specs/round")).unwrap();
    assert_closed(&project, "link to a directory");
}

#[test]
fn a_directory_or_a_device_in_place_of_a_file_is_unreadable() {
    let project = openspec();
    let file = project.path.join(TASK_FILE);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_closed(&project, "cannot be read");
    fs::remove_dir(&file).unwrap();
    symlink("/dev/zero", &file).unwrap();
    assert_closed(&project, "cannot be read");
}

#[test]
fn a_schema_with_mistakes_makes_no_work_free() {
    let project = openspec();
    approve(&project, "add-login");
    let choose = |name: &str| {
        project.write_file("openspec/changes/add-login/.openspec.yaml", &format!("schema: {name}\n"));
    };
    choose("nothing");
    assert_closed(&project, "the schema `nothing`");
    for text in [
        "",
        "{",
        "artifacts: []\n",
        "artifacts:\n  - id: a\n    generates: a.md\napply:\n  requires: []\n",
        "a: *b\n",
    ] {
        project.write_file("openspec/schemas/broken/schema.yaml", text);
        choose("broken");
        assert_closed(&project, "cannot be checked");
    }
    choose("../../x");
    assert_closed(&project, "is not valid");
    project.write_file("openspec/schemas/cyclic/schema.yaml", &"a:\n".repeat(100_000));
    choose("cyclic");
    assert_closed(&project, "cannot be checked");
}

#[test]
fn damaged_tasks_of_task_master_are_held_and_stay_as_they_are() {
    let project = super::project_using("task-master");
    project.write_file(".taskmaster/config.json", "{}");
    for text in ["{\"master\":{\"tasks\":[{\"id\":1", "[]", "{\"a\":1}", ""] {
        let file = project.write_file(".taskmaster/tasks/tasks.json", text);
        assert_held(&project, "which tag is approved cannot be checked");
        assert_eq!(fs::read_to_string(file).unwrap(), text);
    }
    project.write_file(".taskmaster/tasks/tasks.json", "{}");
    assert_free(&project);
}

#[test]
fn a_state_directory_that_cannot_be_written_approves_nothing() {
    let project = openspec();
    project.write_home_file(".local/state/provost/workflows", "a file in place of the directory");
    let answer = prompt(&project, "provost approve add-login");
    assert!(answer.stdout.contains("nothing was approved"), "{}", answer.stdout);
    assert_held(&project, "add-login");
}

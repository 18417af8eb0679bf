//! Which instance governs the work: none, one, several, finished ones.

use super::{TASKS, approve, assert_free, assert_held, openspec, prompt, write_change};
use crate::support::assert_shown;

#[test]
fn without_an_open_instance_work_is_free_unless_strict() {
    let project = super::project_using("openspec");
    assert_free(&project);
    project.write_file("openspec/config.yaml", "schema: spec-driven\n");
    assert_free(&project);
    project.write_file("provost.toml", "[workflow]\nuse = [\"openspec\"]\nstrict = true\n");
    let answer = project.hook(&project.write(project.path.join("src/app.js"), "x"));
    assert_shown!("workflow-strict", project.whole(&answer));
}

#[test]
fn finished_and_archived_changes_lock_nobody_out() {
    let project = openspec();
    project.write_file("openspec/changes/add-login/tasks.md", &TASKS.replace("[ ]", "[x]"));
    assert_free(&project);
    project.write_file("openspec/changes/archive/2026-11-01-old/tasks.md", TASKS);
    assert_free(&project);
}

#[test]
fn one_approved_change_is_enough_while_others_are_open() {
    let project = openspec();
    write_change(&project, "b");
    write_change(&project, "c");
    approve(&project, "add-login");
    assert_free(&project);
    // A finished one approves nothing any more.
    project.write_file("openspec/changes/add-login/tasks.md", &TASKS.replace("[ ]", "[x]"));
    assert_held(&project, "waits");
    approve(&project, "c");
    assert_free(&project);
}

#[test]
fn the_one_that_the_user_named_last_is_what_a_denial_is_about() {
    let project = openspec();
    write_change(&project, "b");
    write_change(&project, "c");
    prompt(&project, "/opsx:apply add-login");
    assert_held(&project, "the change `add-login` waits");
    prompt(&project, "/opsx:apply b");
    assert_held(&project, "the change `b` waits");
    assert_held(&project, "Also open: `c`, `add-login`");
}

#[test]
fn the_tools_pointer_decides_where_the_user_has_named_none() {
    let project = super::project_using("spec-kit");
    for name in ["001-a", "002-b", "003-c"] {
        for file in ["plan", "tasks"] {
            project.write_file(&format!("specs/{name}/{file}.md"), "- [ ] T001 x\n");
        }
    }
    project.write_file(".specify/feature.json", "{\"feature_directory\":\"specs/002-b\"}");
    assert_held(&project, "the feature `002-b` waits");
}

#[test]
fn skipped_specs_and_a_missing_design_need_nothing() {
    let project = openspec();
    std::fs::remove_dir_all(project.path.join("openspec/changes/add-login/specs")).unwrap();
    project
        .write_file("openspec/changes/add-login/.openspec.yaml", "schema: spec-driven\nskip_specs: true\n");
    approve(&project, "add-login");
    assert_free(&project);
}

#[test]
fn the_projects_own_schema_says_what_is_required() {
    let project = openspec();
    project.write_file(
        "openspec/schemas/small/schema.yaml",
        "name: small\nversion: 1\nartifacts:\n  - id: note\n    generates: note.md\n    description: a\n    template: note.md\n    \
         requires: []\n  - id: todo\n    generates: todo/*.md\n    description: b\n    template: t.md\n    requires: [note]\n\
         apply:\n  requires: [note, todo]\n  tracks: todo/*.md\n",
    );
    project.write_file("openspec/changes/add-login/.openspec.yaml", "schema: small\n");
    assert_held(&project, "note.md` is missing");
    project.write_file("openspec/changes/add-login/note.md", "x");
    project.write_file("openspec/changes/add-login/todo/1.md", "- [ ] a\n");
    approve(&project, "add-login");
    assert_free(&project);
    project.write_file("openspec/changes/add-login/todo/2.md", "- [ ] b\n");
    assert_held(&project, "todo/2.md` is new");
}

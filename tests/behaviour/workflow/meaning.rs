//! What changes while an agent works keeps an approval; another requirement ends it, and the denial says which file.

use super::{TASKS, approve, assert_free, assert_held, openspec, project_using, prompt};
use crate::support::{TestProject, assert_shown};

/// A story of BMAD as its tool writes it.
const STORY: &str = "---\ntitle: 'Login'\nstatus: 'ready-for-dev'\nroute: 'dispatch'\n---\n\n\
    <frozen-after-approval reason=\"human-owned intent\">\n\n## Intent\n\n**Problem:** Nobody can sign in.\n\n\
    </frozen-after-approval>\n\n## Code Map\n\n- `a` -- b\n\n## Tasks & Acceptance\n\n- [ ] `src/a` -- add -- it is needed\n\n\
    ## Implementation Notes\n";

fn bmad() -> TestProject {
    let project = project_using("bmad");
    project.write_file("_bmad/_config/manifest.yaml", "installation: x\n");
    project.write_file("_bmad-output/implementation-artifacts/spec-login.md", STORY);
    project
}

#[test]
fn ticks_and_statuses_keep_an_approval() {
    let project = openspec();
    approve(&project, "add-login");
    project.write_file(
        "openspec/changes/add-login/tasks.md",
        &TASKS.replacen("[ ]", "[x]", 1).replace('\n', "\r\n"),
    );
    assert_free(&project);
    project.write_file(
        "openspec/changes/add-login/.openspec.yaml",
        "schema: spec-driven\ncreated: 2026-11-17\n",
    );
    assert_free(&project);
}

#[test]
fn a_changed_requirement_ends_an_approval() {
    let project = openspec();
    approve(&project, "add-login");
    let spec = "openspec/changes/add-login/specs/auth/spec.md";
    project.write_file(spec, "### Requirement: Sign in\nThe system SHALL not ask.\n");
    let answer = project.hook(&project.write(project.path.join("src/app.js"), "x"));
    assert_shown!("workflow-changed", project.whole(&answer));
    approve(&project, "add-login");
    assert_free(&project);
    project.write_file("openspec/changes/add-login/specs/other/spec.md", "More.\n");
    assert_held(&project, "is new");
    std::fs::remove_file(project.path.join("openspec/changes/add-login/specs/other/spec.md")).unwrap();
    assert_free(&project);
    std::fs::remove_file(project.path.join(spec)).unwrap();
    assert_held(&project, "is gone");
    project.write_file("openspec/changes/add-login/tasks.md", &format!("{TASKS}- [ ] 1.3 More\n"));
    assert_held(&project, "tasks.md` has changed");
}

#[test]
fn only_what_is_frozen_in_a_story_counts() {
    let project = bmad();
    assert_held(&project, "the story `login` waits");
    approve(&project, "spec-login");
    let file = "_bmad-output/implementation-artifacts/spec-login.md";
    project
        .write_file(file, &STORY.replace("ready-for-dev", "in-progress").replace("- `a` -- b", "- `c` -- d"));
    assert_free(&project);
    project.write_file(file, &STORY.replace("Nobody", "Somebody"));
    assert_held(&project, "spec-login.md` has changed");
    project.write_file(file, &STORY.replace("ready-for-dev", "done"));
    assert_free(&project);
}

#[test]
fn a_route_without_approval_has_a_setting() {
    let project = bmad();
    assert_held(&project, "waits");
    project.write_file("provost.toml", "[workflow]\nuse = [\"bmad\"]\nfree_routes = [\"dispatch\"]\n");
    assert_free(&project);
}

#[test]
fn what_task_master_rewrites_keeps_an_approval() {
    const FILE: &str = r#"{"master":{"tasks":[{"id":1,"title":"Store","description":"d","details":"x","status":"pending","dependencies":[],"subtasks":[]}],"metadata":{"created":"a"}}}"#;
    let project = project_using("task-master");
    project.write_file(".taskmaster/config.json", "{}");
    assert_free(&project);
    project.write_file(".taskmaster/tasks/tasks.json", FILE);
    assert_held(&project, "the tag `master` waits");
    approve(&project, "master");
    let rewritten = FILE.replace("\"id\":1", "\"id\":\"1\"").replace("pending", "in-progress");
    project.write_file(".taskmaster/tasks/tasks.json", &rewritten);
    assert_free(&project);
    project.write_file(".taskmaster/tasks/tasks.json", &FILE.replace("Store", "Delete"));
    assert_held(&project, "tasks.json` has changed");
}

#[test]
fn what_a_model_writes_into_spec_json_approves_nothing() {
    let project = project_using("kiro");
    project.write_file(
        ".kiro/specs/photos/spec.json",
        r#"{"phase":"tasks-generated","approvals":{"tasks":{"generated":true,"approved":true}},"ready_for_implementation":true}"#,
    );
    for name in ["requirements", "design"] {
        project.write_file(&format!(".kiro/specs/photos/{name}.md"), "# Text\n");
    }
    let tasks = "- [ ] 1. Store\n- [ ] 1.1 Create it (P)\n  - _Requirements: 1_\n- [ ]* 1.2 Tests\n";
    project.write_file(".kiro/specs/photos/tasks.md", tasks);
    assert_held(&project, "the spec `photos` waits");
    approve(&project, "photos");
    let grown = tasks.replace("_Requirements: 1_\n", "_Requirements: 1_\n  - _Blocked: no key_\n")
        + "## Implementation Notes\n- a note\n";
    project.write_file(".kiro/specs/photos/tasks.md", &grown);
    assert_free(&project);
    project.write_file(".kiro/specs/photos/design.md", "# Other\n");
    assert_held(&project, "design.md` has changed");
    // A header and an optional task lock nobody out.
    project.write_file(".kiro/specs/photos/tasks.md", &tasks.replace("[ ] 1.1", "[x] 1.1"));
    assert_free(&project);
}

#[test]
fn an_unfilled_template_of_spec_kit_is_held() {
    let project = project_using("spec-kit");
    project.write_file(".specify/templates/plan-template.md", "# Our plan\n\nWrite here.\n");
    project.write_file(".specify/feature.json", "{\"feature_directory\":\"specs/001-login\"}");
    assert_free(&project);
    project.write_file(
        "specs/001-login/spec.md",
        "# Feature Specification: Login\n\n**Status**: Draft\n\nText\n",
    );
    assert_held(&project, "plan.md` is missing");
    project.write_file("specs/001-login/tasks.md", "- [ ] T001 [P] Create it in src/a.js\n");
    project.write_file("specs/001-login/plan.md", "# Implementation Plan: [FEATURE]\n");
    assert_held(&project, "still the unfilled template");
    project.write_file("specs/001-login/plan.md", "# Our plan\n\nWrite here.\n");
    assert_held(&project, "still the unfilled template");
    project.write_file("specs/001-login/plan.md", "# Our plan\n\nDone.\n");
    assert!(prompt(&project, "provost approve specs/001-login").stdout.contains("approved:"));
    assert_free(&project);
    project.write_file(
        "specs/001-login/spec.md",
        "# Feature Specification: Login\n\n**Status**: Done\n\nText\n",
    );
    project.write_file("specs/001-login/tasks.md", "- [X] T001 [P] Create it in src/a.js\n- [ ] T002 More\n");
    assert_held(&project, "tasks.md` has changed");
}

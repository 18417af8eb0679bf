//! Which project an edit belongs to: several in one repository, work trees, links, other directories.

use super::{approve, assert_free, assert_held, openspec, prompt, write_change};
use crate::support::TestProject;

/// A repository of two projects of Spec Kit, with the same feature in both.
fn monorepo() -> TestProject {
    let project = super::project_using("spec-kit");
    for member in ["packages/a", "packages/b"] {
        project.write_file(&format!("{member}/.specify/feature.json"), "{}");
        project.write_file(&format!("{member}/specs/001-x/plan.md"), &format!("# Plan of {member}\n"));
        project.write_file(&format!("{member}/specs/001-x/tasks.md"), "- [ ] T001 x\n");
    }
    project
}

#[test]
fn an_edit_belongs_to_the_nearest_project() {
    let project = monorepo();
    let write = |path: &str| project.hook(&project.write(project.path.join(path), "x"));
    assert!(write("packages/a/src/x.js").find_denial().is_ok());
    assert!(write("packages/b/src/x.js").find_denial().is_ok());
    assert!(write("README.md").is_silent(), "the top has no workflow");
    assert!(write("packages/a/specs/001-x/spec.md").is_silent());
    let answer = prompt(&project, "provost approve 001-x");
    assert!(answer.stdout.contains("provost approve packages/a/specs/001-x"), "{}", answer.stdout);
    approve(&project, "packages/a/specs/001-x");
    assert!(write("packages/a/src/x.js").is_silent());
    assert!(write("packages/b/src/x.js").find_denial().is_ok());
    let mut event = super::prompt_event(&project, "provost approve 001-x");
    event["cwd"] = project.path.join("packages/b").to_str().unwrap().into();
    assert!(project.hook(&event).stdout.contains("approved:"));
    assert!(write("packages/a/src/x.js").is_silent() && write("packages/b/src/x.js").is_silent());
}

#[test]
fn a_new_marker_below_makes_no_work_free() {
    let project = openspec();
    project.assert_denied(&[("a marker", project.write(project.path.join("src/openspec/config.yaml"), "x"))]);
    project.assert_lines_denied(&["mkdir -p src/openspec/changes"]);
}

#[test]
fn a_link_into_the_planning_does_not_make_code_a_plan() {
    let project = openspec();
    project.write_file("src/app.js", "x");
    std::os::unix::fs::symlink("../src", project.path.join("openspec/code")).unwrap();
    project
        .assert_denied(&[("through a link", project.write(project.path.join("openspec/code/app.js"), "y"))]);
}

#[test]
fn a_pointer_or_a_configuration_does_not_make_code_a_plan() {
    let project = super::project_using("spec-kit");
    for file in ["plan", "tasks"] {
        project.write_file(&format!("specs/001-a/{file}.md"), "- [ ] T001 x\n");
    }
    project.write_file(".specify/feature.json", "{\"feature_directory\":\"src\"}");
    assert_held(&project, "waits");
    let project = super::project_using("bmad");
    project.write_file("_bmad/_config/manifest.yaml", "x: y\n");
    project.write_file("_bmad/bmm/config.yaml", "output_folder: \"{project-root}/src\"\n");
    project.write_file("src/implementation-artifacts/spec-a.md", "---\nstatus: draft\n---\nText\n");
    assert_held(&project, "the story `a` waits");
}

#[test]
fn a_linked_work_tree_shares_the_approval() {
    let project = openspec();
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .args(["-c", "user.name=x", "-c", "user.email=x@y"])
            .args(arguments)
            .current_dir(&project.path)
            .env("HOME", &project.home)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    std::fs::remove_dir(project.path.join(".git")).unwrap();
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "openspec"]);
    git(&["commit", "-qm", "plan"]);
    git(&["worktree", "add", "-q", "../tree"]);
    let tree = project.home.join("tree");
    let write = || project.hook(&project.write(tree.join("src/app.js"), "x"));
    assert!(write().find_denial().is_ok(), "a work tree is a part of the project");
    approve(&project, "add-login");
    assert!(write().is_silent());
    assert_free(&project);
}

#[test]
fn a_session_below_the_project_is_held_too() {
    let project = openspec();
    std::fs::create_dir_all(project.path.join("src/.git")).unwrap();
    let project = project.with_variable("CLAUDE_PROJECT_DIR", "");
    let below = project.path.join("src");
    let mut event = project.write(below.join("app.js"), "x");
    event["cwd"] = below.to_str().unwrap().into();
    assert!(project.hook(&event).find_denial().is_ok());
    let mut event = super::prompt_event(&project, "provost approve add-login");
    event["cwd"] = below.to_str().unwrap().into();
    assert!(project.hook(&event).stdout.contains("approved:"));
    let mut event = project.write(below.join("app.js"), "x");
    event["cwd"] = below.to_str().unwrap().into();
    assert!(project.hook(&event).is_silent());
    write_change(&project, "b");
    assert_free(&project);
}

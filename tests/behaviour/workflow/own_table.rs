//! `[workflow.NAME]`: a workflow of one's own, a changed built-in one, and mistakes.

use super::{approve, assert_free, assert_held};
use crate::support::{TestProject, assert_shown};

const OURS: &str = "[workflow]\nuse = [\"ours\"]\n[workflow.ours]\nnoun = \"epic\"\nmarker = \"docs/epics\"\nplanning = \"docs\"\n\
    instances = \"docs/epics/*\"\nexcept = \"done\"\nrequired = \"plan.md\"\noptional = \"notes/*.md\"\ntasks = \"tasks.md\"\n\
    unfilled = \"FILL ME IN\"\ncommands = \"/ours:build\"\n";

#[test]
fn a_workflow_of_ones_own_holds_work() {
    let project = TestProject::new();
    project.write_file("provost.toml", OURS);
    assert_free(&project);
    project.write_file("docs/epics/done/plan.md", "x");
    assert_free(&project);
    project.write_file("docs/epics/one/plan.md", "FILL ME IN\n");
    assert_held(&project, "still the unfilled template");
    project.write_file("docs/epics/one/plan.md", "A plan.\n");
    assert_held(&project, "tasks.md` is missing");
    project.write_file("docs/epics/one/tasks.md", "- [ ] a\n");
    assert_held(&project, "the epic `one` waits");
    approve(&project, "one");
    assert_free(&project);
    project.write_file("docs/epics/one/notes/a.md", "New.\n");
    assert_held(&project, "notes/a.md` is new");
    assert!(project.hook(&project.write(project.path.join("docs/any.js"), "x")).is_silent());
}

#[test]
fn a_built_in_workflow_can_be_changed() {
    let project = TestProject::new();
    project.write_file(
        "provost.toml",
        "[workflow]\nuse = [\"kiro\"]\n[workflow.kiro]\nmarker = \".k/specs\"\nplanning = \".k\"\ninstances = \".k/specs/*\"\n",
    );
    project.write_file(".k/specs/a/requirements.md", "x");
    assert_held(&project, ".k/specs/a/design.md` is missing");
}

#[test]
fn mistakes_are_told_with_their_places() {
    let project = TestProject::new();
    project.write_file(
        "provost.toml",
        "[workflow]\nuse = [\"openspce\", \"ours\"]\nstrikt = true\napprove_by = [\"word\"]\n\n[workflow.ours]\nmarkr = \"docs\"\n\
         planning = \"../docs\"\ninstances = 5\n\n[workflow.half]\nmarker = \"docs\"\n",
    );
    let output = project.provost_command("config", &["check"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mistakes: Vec<&str> = text.lines().filter(|line| line.contains("provost.toml:")).collect();
    assert_shown!("workflow-mistakes", project.shorten_paths(&mistakes.join("\n")));
    assert_free(&project);
}

#[test]
fn without_a_workflow_nothing_is_judged() {
    let project = TestProject::new();
    project.write_file("openspec/changes/a/tasks.md", "- [ ] x\n");
    assert_free(&project);
    assert!(!project.state_directory().join("workflows").exists());
}

//! Spec Kit: unfilled templates, the pointer, checklists, members of a monorepo.

use super::stage::ToolProject;
use super::tools::SPEC_KIT;
use crate::support::assert_shown;

const FEATURE: &str = "specs/001-greeting";
const POINTER: &str = ".specify/feature.json";

fn planned() -> ToolProject {
    ToolProject::planned(&SPEC_KIT)
}

#[test]
fn the_templates_that_the_scripts_copy_are_unfilled() {
    let flow = ToolProject::with_fixture(&SPEC_KIT, "begun");
    assert_shown!("workflow-spec-kit-begun", flow.project.whole(&flow.work()));
    flow.prompt("provost approve 001-greeting");
    flow.assert_held();
    // The plan is still the template, and the tasks are there.
    let tasks = planned().read(&format!("{FEATURE}/tasks.md"));
    flow.put(&format!("{FEATURE}/tasks.md"), &tasks);
    let reason = flow.assert_held();
    assert!(reason.contains("plan.md"), "{reason}");
    flow.prompt("provost approve 001-greeting");
    flow.assert_held();
}

#[test]
fn one_line_that_was_filled_in_does_not_fill_the_template() {
    let begun = ToolProject::with_fixture(&SPEC_KIT, "begun");
    let flow = planned();
    let plan = begun.read(&format!("{FEATURE}/plan.md")).replacen("[FEATURE]", "Greeting", 1);
    flow.put(&format!("{FEATURE}/plan.md"), &plan);
    flow.prompt("provost approve 001-greeting");
    let reason = flow.assert_held();
    assert!(reason.contains("plan.md"), "{reason}");
}

/// A text about placeholders, links and boxes is not a template.
#[test]
fn square_brackets_in_a_filled_text_are_no_template() {
    for text in [
        "The list accepts [1, 2, 3] and `[name]`.",
        "See [the page](page.md) and [RFC 2119][1].",
        "```text\n[section]\nkey = value\n```",
        "- [x] decided\n- [ ] open question",
    ] {
        let flow = planned();
        let plan = flow.read(&format!("{FEATURE}/plan.md"));
        flow.put(&format!("{FEATURE}/plan.md"), &format!("{plan}\n{text}\n"));
        flow.approve("001-greeting").assert_free();
    }
}

/// `check-prerequisites.sh` asks for the spec only with an option.
#[test]
fn the_spec_is_part_of_the_approval_and_not_required() {
    let flow = planned();
    flow.remove(&format!("{FEATURE}/spec.md"));
    flow.approve("001-greeting").assert_free();
    let flow = ToolProject::approved(&SPEC_KIT);
    flow.remove(&format!("{FEATURE}/spec.md")).assert_held();
}

#[test]
fn a_finished_feature_to_which_the_pointer_still_points_is_closed() {
    let flow = planned();
    flow.set(SPEC_KIT.ticks[0]).set(SPEC_KIT.ticks[1]).assert_free();
    assert!(flow.path(POINTER).exists());
}

#[test]
fn a_feature_directory_anywhere_is_found_by_the_pointer() {
    let flow = planned();
    std::fs::create_dir_all(flow.path("docs")).unwrap();
    std::fs::rename(flow.path(FEATURE), flow.path("docs/greeting")).unwrap();
    flow.put(POINTER, "{\"feature_directory\": \"docs/greeting\"}\n");
    let reason = flow.assert_held();
    assert!(reason.contains("provost approve greeting"), "{reason}");
    flow.project
        .assert_allowed(&[("planning", flow.project.write(flow.path("docs/greeting/plan.md"), "# Plan\n"))]);
    flow.approve("greeting").assert_free();
    flow.set(("docs/greeting/plan.md", "no dependencies", "forty dependencies")).assert_held();
}

#[test]
fn a_pointer_with_a_time_stamp_and_an_absolute_path_is_read() {
    let flow = planned();
    std::fs::rename(flow.path(FEATURE), flow.path("specs/20261119-120000-greeting")).unwrap();
    let path = flow.path("specs/20261119-120000-greeting");
    flow.put(POINTER, &format!("{{\"feature_directory\": {path:?}}}\n"));
    assert!(flow.assert_held().contains("20261119-120000-greeting"));
    flow.approve("20261119-120000-greeting").assert_free();
}

/// No damage of the pointer makes work free while a feature is open.
#[test]
fn a_pointer_that_cannot_be_read_frees_nothing() {
    for text in [
        "",
        "{",
        "null",
        "[]",
        "{\"feature_directory\": 5}",
        "{\"feature_directory\": \"\"}",
        "{\"feature_directory\": \"specs/no-such\"}",
        "{\"feature_directory\": \"/\"}",
        "{\"feature_directory\": \"../../etc\"}",
        "{\"feature_directory\": \".\"}",
        "\u{0}",
        "{\"feature_directory\": \"src\"}",
    ] {
        let flow = planned();
        flow.put(POINTER, text);
        assert!(!flow.work().is_silent(), "free by the pointer {text:?}");
    }
    let flow = planned();
    flow.remove(POINTER).assert_held();
}

/// A pointer does not turn the source into planning.
#[test]
fn a_pointer_to_the_source_does_not_make_it_planning() {
    let flow = planned();
    for directory in [".", "src", "", "/", ".."] {
        flow.put(POINTER, &format!("{{\"feature_directory\": \"{directory}\"}}\n"));
        assert!(!flow.work().is_silent(), "{directory}");
    }
}

#[test]
fn a_reviewers_checklist_is_not_ticked_by_the_agent() {
    let flow = ToolProject::approved(&SPEC_KIT);
    flow.do_work();
    let ux = format!("{FEATURE}/checklists/ux.md");
    let path = flow.path(&ux);
    let ticked = flow.read(&ux).replacen("- [ ]", "- [x]", 1);
    flow.project.assert_denied(&[
        ("Edit", flow.project.edit(&path, "- [ ] CHK001", "- [x] CHK001")),
        ("Write", flow.project.write(&path, &ticked)),
        ("a shell", flow.project.bash(&format!("sed -i 's/- \\[ \\]/- [x]/' {ux}"))),
        ("a subagent", ToolProject::in_subagent(flow.project.edit(&path, "- [ ] CHK001", "- [X] CHK001"))),
        (
            "a new one",
            flow.project
                .write(flow.path(&format!("{FEATURE}/checklists/security.md")), "- [x] CHK001 Safe?\n"),
        ),
    ]);
    assert_shown!(
        "workflow-spec-kit-checklist",
        flow.project.whole(&flow.call(flow.project.edit(&path, "- [ ] CHK001", "- [x] CHK001")))
    );
    // Writing items and taking a mark back is the agent's business, and so is the tool's own checklist.
    flow.project.assert_allowed(&[
        ("a new item", flow.project.edit(&path, "- [ ] CHK002", "- [ ] CHK003 Is it short?\n- [ ] CHK002")),
        (
            "a new list",
            flow.project.write(flow.path(&format!("{FEATURE}/checklists/api.md")), "- [ ] CHK001 Stable?\n"),
        ),
        (
            "the built-in list",
            flow.project.edit(flow.path(&format!("{FEATURE}/checklists/requirements.md")), "- [ ]", "- [x]"),
        ),
    ]);
    // An open box of a checklist is not an open task.
    flow.set(SPEC_KIT.ticks[0]).set(SPEC_KIT.ticks[1]).assert_free();
}

#[test]
fn converge_appends_tasks_that_have_to_be_approved() {
    let flow = ToolProject::approved(&SPEC_KIT);
    let tasks = format!("{FEATURE}/tasks.md");
    let text = flow.read(&tasks);
    flow.put(&tasks, &format!("{text}\n## Phase 2: Convergence\n\n- [ ] T003 Delete the database\n"));
    let reason = flow.assert_held();
    assert!(reason.contains("tasks.md"), "{reason}");
    flow.approve("001-greeting").assert_free();
}

/// The implement step writes ignore files first.
#[test]
fn ignore_files_are_work() {
    let flow = planned();
    flow.project.assert_denied(&[(".dockerignore", flow.project.write(flow.path(".dockerignore"), "x\n"))]);
}

#[test]
fn the_users_own_implement_approves_if_the_settings_say_so() {
    for command in ["speckit-implement", "speckit.implement"] {
        for (settings, is_approved) in [("", false), ("approve_by = [\"command\"]", true)] {
            let flow = planned();
            flow.set_up(settings).type_command(command, "");
            assert_eq!(flow.work().is_silent(), is_approved, "{command} {settings}");
        }
    }
    let flow = ToolProject::with_fixture(&SPEC_KIT, "begun");
    flow.set_up("approve_by = [\"command\"]").type_command("speckit-implement", "").assert_held();
}

#[test]
fn each_member_of_a_monorepo_has_its_own_feature() {
    let flow = ToolProject::without_files(&SPEC_KIT);
    flow.add_fixture("planned", "web").add_fixture("planned", "api");
    let write = |file: &str| flow.call(flow.project.write(flow.path(file), "x\n"));
    write("web/src/a.js").expect_denial();
    write("api/src/a.js").expect_denial();
    assert!(write("src/a.js").is_silent());
    // The name is the same in both, so it approves nothing, and each denial shows the line for its member.
    let note = flow.prompt("provost approve 001-greeting").expect_note();
    assert!(note.contains("web/specs/001-greeting") && note.contains("api/specs/001-greeting"), "{note}");
    let reason = write("web/src/a.js").expect_denial();
    assert!(reason.contains("provost approve web/specs/001-greeting"), "{reason}");
    flow.prompt("provost approve web/specs/001-greeting").expect_note();
    assert!(write("web/src/a.js").is_silent());
    write("api/src/a.js").expect_denial();
    flow.prompt("provost approve api/specs/001-greeting").expect_note();
    assert!(write("web/src/a.js").is_silent() && write("api/src/a.js").is_silent());
    flow.set(("api/specs/001-greeting/plan.md", "no dependencies", "forty dependencies"));
    write("api/src/a.js").expect_denial();
    assert!(write("web/src/a.js").is_silent());
}

#[test]
fn a_directory_of_specs_without_the_marker_is_not_spec_kits() {
    let flow = ToolProject::without_files(&SPEC_KIT);
    flow.put("specs/001-greeting/plan.md", "# Plan\n");
    flow.assert_free();
}

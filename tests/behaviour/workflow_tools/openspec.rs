//! `OpenSpec`: schemas, conditional artefacts, the archive.

use std::fs;

use super::stage::{ToolProject, WORK};
use super::tools::OPENSPEC;
use crate::support::assert_shown;

const CHANGE: &str = "openspec/changes/add-greeting";
const TASKS: &str = "openspec/changes/add-greeting/tasks.md";

fn planned() -> ToolProject {
    ToolProject::planned(&OPENSPEC)
}

fn with_all_ticked() -> ToolProject {
    let flow = ToolProject::approved(&OPENSPEC);
    flow.set(OPENSPEC.ticks[0]).set(OPENSPEC.ticks[1]);
    flow
}

#[test]
fn a_change_that_was_only_begun_holds_work_and_cannot_be_approved() {
    let flow = ToolProject::with_fixture(&OPENSPEC, "begun");
    assert_shown!("workflow-openspec-begun", flow.project.whole(&flow.work()));
    flow.assert_held();
    assert_shown!(
        "workflow-openspec-begun-approved",
        flow.project.whole(&flow.prompt("provost approve add-greeting"))
    );
    flow.assert_held();
}

#[test]
fn design_is_conditional_and_specs_can_be_skipped() {
    let flow = planned();
    assert!(!flow.path(&format!("{CHANGE}/design.md")).exists(), "the fixture has no design");
    flow.approve("add-greeting").assert_free();
    let flow = planned();
    flow.remove(&format!("{CHANGE}/specs"));
    flow.put(
        &format!("{CHANGE}/.openspec.yaml"),
        "schema: spec-driven\ncreated: 2026-11-19\nskip_specs: true\n",
    );
    flow.approve("add-greeting").assert_free();
}

/// `openspec instructions apply` asks for the tasks only; `openspec status` names what else is missing.
#[test]
fn what_the_tool_does_not_require_is_not_required() {
    for missing in ["proposal.md", "specs"] {
        let flow = planned();
        flow.remove(&format!("{CHANGE}/{missing}"));
        flow.approve("add-greeting").assert_free();
    }
}

#[test]
fn an_artefact_that_appears_or_disappears_after_the_approval_ends_it() {
    let flow = ToolProject::approved(&OPENSPEC);
    flow.put(&format!("{CHANGE}/design.md"), "# Design\n\nWe use forty modules.\n").assert_held();
    let flow = ToolProject::approved(&OPENSPEC);
    flow.remove(&format!("{CHANGE}/specs")).assert_held();
    let flow = ToolProject::approved(&OPENSPEC);
    flow.put(&format!("{CHANGE}/specs/farewell/spec.md"), "## ADDED Requirements\n").assert_held();
}

#[test]
fn a_task_file_without_any_box_is_not_a_task_file() {
    for text in ["# Tasks\n\nDo it.\n", "- 1.1 Print it\n", "[ ] no list\n"] {
        let flow = planned();
        flow.put(TASKS, text);
        let reason = flow.assert_held();
        assert!(reason.contains("tasks.md"), "{reason}");
        flow.prompt("provost approve add-greeting");
        flow.assert_held();
    }
}

/// The forms that the tool itself takes for an open and for a done task.
#[test]
fn task_lines_are_read_as_the_tool_reads_them() {
    let open = [
        "* [ ] 1.1 a",
        "+ [ ] 1.1 a",
        "1. [ ] a",
        "1) [ ] a",
        "    - [ ] deep",
        "- [~] a",
        "- [-] a",
        "- [] a",
        "```\n- [ ] in a fence\n```",
    ];
    for line in open {
        let flow = planned();
        flow.put(TASKS, &format!("# Tasks\n\n- [x] 1.0 done\n{line}\n"));
        assert!(!flow.work().is_silent(), "finished with the open task {line:?}");
        flow.approve("add-greeting").assert_free();
    }
    for line in ["- [x] a", "- [X] a", "* [ x] a", "- [x ] a", "1) [x] a", "- [x] a\r"] {
        let flow = planned();
        flow.put(TASKS, &format!("# Tasks\n\n{line}\n"));
        assert!(flow.work().is_silent(), "open with the done task {line:?}");
    }
}

#[test]
fn a_schema_of_the_project_says_what_is_required() {
    let flow = planned();
    let schema = "name: lean\nversion: 1\nartifacts:\n  - id: brief\n    generates: brief.md\n    description: x\n    template: brief.md\n    requires: []\n  - id: todo\n    generates: todo.md\n    description: x\n    template: todo.md\n    requires: [brief]\napply:\n  requires: [brief, todo]\n  tracks: todo.md\n";
    flow.put("openspec/schemas/lean/schema.yaml", schema);
    flow.put("openspec/schemas/lean/templates/brief.md", "# Brief\n");
    flow.put("openspec/changes/add-farewell/.openspec.yaml", "schema: lean\ncreated: 2026-11-19\n");
    flow.put("openspec/changes/add-farewell/todo.md", "- [ ] 1 Say it\n");
    flow.remove(CHANGE);
    let reason = flow.assert_held();
    assert!(reason.contains("brief.md"), "{reason}");
    flow.put("openspec/changes/add-farewell/brief.md", "Say farewell.\n").assert_held();
    flow.approve("add-farewell").assert_free();
    flow.set(("openspec/changes/add-farewell/brief.md", "farewell", "nothing")).assert_held();
    flow.approve("add-farewell");
    // The task file of the schema is the one with the ticks.
    flow.edit(("openspec/changes/add-farewell/todo.md", "[ ]", "[x]")).expect_denial();
    flow.set(("openspec/changes/add-farewell/todo.md", "[ ]", "[x]")).assert_free();
}

/// Nothing that an agent writes into the schema frees work that nobody has approved.
#[test]
fn a_lax_schema_frees_nothing() {
    let lax = [
        "name: lax\nversion: 1\nartifacts: []\napply:\n  requires: []\n",
        "name: lax\nversion: 1\nartifacts:\n  - id: tasks\n    generates: tasks.md\n    requires: []\napply:\n  requires: []\n  tracks: none.md\n",
    ];
    for schema in lax {
        let flow = planned();
        flow.put("openspec/schemas/lax/schema.yaml", schema);
        flow.set(("openspec/changes/add-greeting/.openspec.yaml", "schema: spec-driven", "schema: lax"));
        assert!(!flow.work().is_silent(), "free by {schema}");
    }
}

#[test]
fn a_schema_that_cannot_be_read_holds_work_and_says_so() {
    for schema in
        ["", "apply: [", "artifacts: 5\n", "\u{0}\u{1}", "name: lean\napply: {requires: [no-such]}\n"]
    {
        let flow = planned();
        flow.put("openspec/schemas/lean/schema.yaml", schema);
        flow.set(("openspec/changes/add-greeting/.openspec.yaml", "schema: spec-driven", "schema: lean"));
        let reason = flow.work().find_denial().unwrap_or_else(|_| panic!("free by {schema:?}"));
        assert!(reason.contains("schema.yaml") || reason.contains("lean"), "{reason}");
    }
    // A schema that is not there at all.
    let flow = planned();
    flow.set(("openspec/changes/add-greeting/.openspec.yaml", "schema: spec-driven", "schema: elsewhere"));
    assert!(flow.assert_held().contains("elsewhere"));
}

#[test]
fn archiving_with_open_tasks_is_denied_in_every_form() {
    let flow = ToolProject::approved(&OPENSPEC);
    flow.commit_all();
    let lines = [
        "openspec archive add-greeting",
        "openspec archive add-greeting --yes",
        "openspec archive -y add-greeting",
        "openspec archive --skip-specs add-greeting -y --json",
        "npx openspec archive add-greeting --yes",
        "npx -y @fission-ai/openspec archive add-greeting --yes",
        "npx @fission-ai/openspec@latest archive add-greeting -y",
        "pnpm dlx @fission-ai/openspec archive add-greeting -y",
        "bunx openspec archive add-greeting -y",
        "cd openspec && openspec archive add-greeting -y",
        "yes | openspec archive add-greeting",
        "./node_modules/.bin/openspec archive add-greeting --yes",
        "mkdir -p openspec/changes/archive && mv openspec/changes/add-greeting openspec/changes/archive/2026-11-19-add-greeting",
        "mv \"openspec/changes/add-greeting\" \"openspec/changes/archive/2026-11-19-add-greeting\"",
        "git mv openspec/changes/add-greeting openspec/changes/archive/",
        "cp -r openspec/changes/add-greeting openspec/changes/archive/x && rm -r openspec/changes/add-greeting",
    ];
    flow.project.assert_lines_denied(&lines);
    assert_shown!("workflow-openspec-archived-open", flow.project.whole(&flow.bash(lines[0])));
    let flow = with_all_ticked();
    flow.commit_all();
    flow.project.assert_lines_allowed(&lines);
}

#[test]
fn reading_commands_of_the_tool_are_free() {
    let flow = planned();
    flow.project.assert_lines_allowed(&[
        "openspec list",
        "openspec status --change add-greeting --json",
        "openspec instructions apply --change add-greeting --json",
        "openspec show add-greeting",
        "openspec validate add-greeting --strict",
        "openspec new change add-farewell",
        "npx @fission-ai/openspec status",
        "openspec archive --help",
    ]);
}

#[test]
fn a_change_with_nothing_in_it_is_not_archived() {
    let flow = ToolProject::with_fixture(&OPENSPEC, "begun");
    flow.project.assert_lines_denied(&["openspec archive add-greeting -y"]);
}

#[test]
fn archiving_another_finished_change_is_free() {
    let flow = planned();
    super::instances::copy_instance(&flow, "openspec/changes", "add-farewell");
    flow.set(("openspec/changes/add-farewell/tasks.md", "- [ ] 1.1", "- [x] 1.1"));
    flow.set(("openspec/changes/add-farewell/tasks.md", "- [ ] 1.2", "- [x] 1.2"));
    flow.project.assert_lines_allowed(&["openspec archive add-farewell -y"]);
    flow.project.assert_lines_denied(&["openspec archive add-greeting -y"]);
}

/// The task says what can only be done when all tasks are done.
#[test]
fn a_task_that_says_archive_the_change_does_not_lock_the_archive() {
    for task in
        ["3.1 Archive the change", "3.1 Run `openspec archive add-greeting`", "3.1 Archive this change"]
    {
        let flow = with_all_ticked();
        let text = flow.read(TASKS);
        flow.put(TASKS, &format!("{text}\n## 3. Finish\n\n- [ ] {task}\n"));
        flow.approve("add-greeting");
        let answer = flow.bash("openspec archive add-greeting --yes");
        assert!(answer.is_silent(), "{task}: {}", flow.project.whole(&answer));
    }
    // Only that one: a task that mentions an archive is a task.
    let flow = with_all_ticked();
    let text = flow.read(TASKS);
    flow.put(TASKS, &format!("{text}- [ ] 2.1 Unpack the archive of the photos\n"));
    flow.bash("openspec archive add-greeting --yes").expect_denial();
}

#[test]
fn an_archived_change_is_closed() {
    let flow = ToolProject::with_fixture(&OPENSPEC, "archived");
    flow.assert_free();
    let entries = fs::read_dir(flow.path("openspec/changes/archive")).unwrap();
    let name = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).next().unwrap();
    flow.prompt(&format!("provost approve {name}"));
    flow.assert_free();
    // What is archived may be taken out again, and is then open or not by its tasks.
    flow.set_up("strict = true").assert_held();
}

#[test]
fn finish_asks_for_a_passed_command() {
    let flow = with_all_ticked();
    flow.set_up("finish = { passed = \"npm test\" }");
    let archive = "openspec archive add-greeting --yes";
    flow.bash(archive).expect_denial();
    assert_shown!("workflow-openspec-unfinished", flow.project.whole(&flow.bash(archive)));
    flow.run("npm test", false);
    flow.bash(archive).expect_denial();
    flow.run("npm test", true);
    assert!(flow.bash(archive).is_silent());
    // Ticks and planning do not make the run old. Work does.
    flow.write(&format!("{CHANGE}/notes.txt"), "x\n");
    assert!(flow.bash(archive).is_silent(), "planning made the run old");
    flow.do_work();
    flow.bash(archive).expect_denial();
    flow.run("npm test", true);
    assert!(flow.bash(archive).is_silent());
    // An approval is not the evidence that is missing.
    flow.set_up("finish = { passed = \"make check\" }");
    flow.bash(archive).expect_denial();
}

#[test]
fn a_change_in_a_member_of_a_monorepo_governs_that_member_only() {
    let flow = ToolProject::without_files(&OPENSPEC);
    flow.add_fixture("planned", "packages/web").add_fixture("started", "packages/api");
    let write = |file: &str| flow.call(flow.project.write(flow.path(file), "x\n"));
    write("packages/web/src/a.js").expect_denial();
    assert!(write("packages/api/src/a.js").is_silent());
    assert!(write("src/a.js").is_silent());
    assert!(flow.bash("cd packages/api && echo x > a.js").is_silent());
    flow.bash("cd packages/web && echo x > a.js").expect_denial();
    flow.prompt("provost approve add-greeting").expect_note();
    assert!(write("packages/web/src/a.js").is_silent());
}

#[test]
fn a_marker_above_governs_what_has_no_nearer_one() {
    let flow = planned();
    flow.add_fixture("started", "packages/api");
    let write = |file: &str| flow.call(flow.project.write(flow.path(file), "x\n"));
    write("packages/web/src/a.js").expect_denial();
    assert!(write("packages/api/src/a.js").is_silent());
    // An empty directory is no marker, so an agent does not get out by `mkdir`.
    fs::create_dir_all(flow.path("packages/web/openspec")).unwrap();
    write("packages/web/src/a.js").expect_denial();
}

/// A new marker nearer to the work would make it free.
#[test]
fn an_agent_does_not_escape_by_a_marker_of_its_own() {
    let flow = planned();
    flow.project.assert_denied(&[
        ("Write", flow.project.write(flow.path("src/openspec/config.yaml"), "schema: spec-driven\n")),
        ("a shell", flow.project.bash("mkdir -p src/openspec && echo x > src/openspec/config.yaml")),
    ]);
}

#[test]
fn a_change_in_a_subdirectory_of_the_session_is_found() {
    let flow = planned();
    let mut event = flow.project.bash("echo x > greet.js");
    event["cwd"] = flow.path("src").to_str().unwrap().into();
    flow.call(event).expect_denial();
    let mut event = flow.project.bash("echo x > ../openspec/changes/add-greeting/notes.txt");
    event["cwd"] = flow.path("src").to_str().unwrap().into();
    assert!(flow.call(event).is_silent());
}

#[test]
fn the_users_own_apply_approves_if_the_settings_say_so() {
    for (settings, is_approved) in [("", false), ("approve_by = [\"command\"]", true)] {
        let flow = planned();
        flow.set_up(settings).type_command("opsx:apply", "add-greeting");
        assert_eq!(flow.work().is_silent(), is_approved, "{settings}");
        let flow = planned();
        flow.set_up(settings);
        // The model's own skill, and a command that is not about the work, approve nothing.
        flow.call(
            flow.project
                .call("Skill", serde_json::json!({"skill": "openspec-apply-change", "args": "add-greeting"})),
        );
        flow.type_command("opsx:explore", "add-greeting").type_command("opsx:apply", "no-such-change");
        flow.assert_held();
    }
}

/// Without an argument it is about the only change there is.
#[test]
fn apply_without_a_name_approves_the_only_open_change() {
    let flow = planned();
    flow.set_up("approve_by = [\"command\"]").type_command("opsx:apply", "").assert_free();
    let flow = planned();
    super::instances::copy_instance(&flow, "openspec/changes", "add-farewell");
    flow.set_up("approve_by = [\"command\"]").type_command("opsx:apply", "").assert_held();
}

#[test]
fn a_link_out_of_the_planning_directory_is_work() {
    let flow = planned();
    std::os::unix::fs::symlink(flow.path("src"), flow.path("openspec/code")).unwrap();
    flow.project.assert_denied(&[
        ("through a link", flow.project.write(flow.path("openspec/code/greet.js"), "x\n")),
        ("by dots", flow.project.write(flow.path("openspec/../src/greet.js"), "x\n")),
        ("by dots in a shell", flow.project.bash("echo x > openspec/changes/../../src/greet.js")),
    ]);
    assert!(flow.path(WORK).exists());
}

#[test]
fn an_older_project_without_a_config_file_is_known() {
    let flow = planned();
    flow.remove("openspec/config.yaml").assert_held();
    flow.approve("add-greeting").assert_free();
}

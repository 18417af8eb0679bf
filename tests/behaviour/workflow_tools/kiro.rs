//! Kiro with cc-sdd: approvals that the model writes, groups of tasks, notes of the implementation.

use super::stage::ToolProject;
use super::tools::KIRO;
use crate::support::assert_shown;

const SPEC: &str = ".kiro/specs/greeting";
const TASKS: &str = ".kiro/specs/greeting/tasks.md";

fn planned() -> ToolProject {
    ToolProject::planned(&KIRO)
}

#[test]
fn an_approval_that_the_model_writes_is_nothing() {
    let flow = planned();
    let path = flow.path(&format!("{SPEC}/spec.json"));
    let approved = flow
        .read(&format!("{SPEC}/spec.json"))
        .replace("\"approved\": false", "\"approved\": true")
        .replace("\"ready_for_implementation\": false", "\"ready_for_implementation\": true");
    // It may be written, and counts for nothing.
    let answer = flow.call(flow.project.write(&path, &approved));
    assert!(answer.is_silent(), "{}", flow.project.whole(&answer));
    flow.write(&format!("{SPEC}/spec.json"), &approved).assert_held();
    flow.put(&format!("{SPEC}/spec.json"), &approved.replace("tasks-generated", "implementation-complete"))
        .assert_held();
}

#[test]
fn a_spec_that_was_only_begun_cannot_be_approved() {
    for state in ["begun", "unfilled"] {
        let flow = ToolProject::with_fixture(&KIRO, state);
        assert_shown!(format!("workflow-kiro-{state}"), flow.project.whole(&flow.work()));
        flow.prompt("provost approve greeting");
        flow.assert_held();
    }
}

#[test]
fn each_unfilled_document_is_named() {
    for name in ["requirements.md", "tasks.md"] {
        let unfilled = ToolProject::with_fixture(&KIRO, "unfilled").read(&format!("{SPEC}/{name}"));
        let flow = planned();
        flow.put(&format!("{SPEC}/{name}"), &unfilled);
        let reason = flow.assert_held();
        assert!(reason.contains(name), "{reason}");
    }
    // Text about templates is not a template.
    let flow = planned();
    flow.set((".kiro/specs/greeting/design.md", "without state", "that renders `{{ name }}` with Jinja"));
    flow.approve("greeting").assert_free();
}

#[test]
fn a_brief_of_a_discovery_is_no_spec() {
    let flow = ToolProject::with_fixture(&KIRO, "started");
    flow.put(&format!("{SPEC}/brief.md"), "# Brief\n\nGreet the user.\n").assert_free();
}

#[test]
fn specs_of_kiro_itself_have_no_metadata() {
    let flow = planned();
    flow.remove(&format!("{SPEC}/spec.json")).assert_held();
    flow.approve("greeting").assert_free();
}

/// `kiro-impl` keeps these in the task file while it works.
#[test]
fn notes_of_the_implementation_keep_the_approval() {
    let flow = ToolProject::approved(&KIRO);
    let text = flow.read(TASKS);
    flow.put(TASKS, &format!("{text}\n## Implementation Notes\n- The name is trimmed.\n")).assert_free();
    flow.put(TASKS, &format!("{text}\n## Implementation Notes\n- The name is trimmed.\n- And escaped.\n"))
        .assert_free();
    flow.put(
        TASKS,
        &text.replace("  - One test is enough\n", "  - One test is enough\n  - _Blocked: no runner_\n"),
    )
    .assert_free();
    flow.put(TASKS, &text.replace("- [ ] 1.1", "- [x] 1.1")).assert_free();
    // A new task under that heading is no note.
    flow.put(TASKS, &format!("{text}\n## Implementation Notes\n- [ ] 1.3 Delete the database\n"))
        .assert_held();
}

#[test]
fn a_group_is_free_to_tick_when_its_tasks_are_done() {
    let flow = ToolProject::approved(&KIRO);
    let group = (TASKS, "- [ ] 1. Greeting", "- [x] 1. Greeting");
    // Not before.
    flow.edit(group).expect_denial();
    flow.do_work().change(KIRO.ticks[0]).do_work().change(KIRO.ticks[1]);
    flow.project.hook(&flow.in_session(flow.project.recorded_event("Stop.active_false")));
    flow.prompt("and now?");
    let answer = flow.edit(group);
    assert!(answer.is_silent(), "{}", flow.project.whole(&answer));
}

#[test]
fn a_group_that_is_never_ticked_and_optional_tasks_leave_nothing_open() {
    let flow = planned();
    flow.set(KIRO.ticks[0]).set(KIRO.ticks[1]).assert_free();
    let text = flow.read(TASKS);
    flow.put(TASKS, &format!("{text}- [ ]* 1.3 More tests\n")).assert_free();
    flow.put(TASKS, &format!("{text}- [ ] 1.3 More tests\n")).assert_held();
    flow.put(TASKS, &format!("{text}- [ ] 2. Farewell\n")).assert_held();
}

#[test]
fn an_optional_task_is_not_ticked_without_work_either() {
    let flow = planned();
    let text = flow.read(TASKS);
    flow.put(TASKS, &format!("{text}- [ ]* 1.3 More tests\n"));
    flow.approve("greeting");
    flow.edit((TASKS, "- [ ]* 1.3", "- [x]* 1.3")).expect_denial();
}

#[test]
fn the_users_own_implementation_command_approves_if_the_settings_say_so() {
    for command in ["kiro-impl", "kiro:spec-impl"] {
        for (settings, is_approved) in [("", false), ("approve_by = [\"command\"]", true)] {
            let flow = planned();
            flow.set_up(settings).type_command(command, "greeting");
            assert_eq!(flow.work().is_silent(), is_approved, "{command} {settings}");
            let flow = planned();
            flow.set_up(settings).type_command(command, "greeting 1.1,1.2");
            assert_eq!(flow.work().is_silent(), is_approved, "{command} with tasks, {settings}");
        }
    }
    let flow = planned();
    flow.set_up("approve_by = [\"command\"]").type_command("kiro-spec-tasks", "greeting -y").assert_held();
}

/// `spec-batch` makes many at once.
#[test]
fn several_unfinished_specs_side_by_side_are_normal() {
    let flow = planned();
    for name in ["one", "two", "three"] {
        super::instances::copy_instance(&flow, ".kiro/specs", name);
    }
    flow.put(".kiro/specs/four/requirements.md", "# Requirements Document\n");
    flow.approve("two").assert_free();
    flow.set((".kiro/specs/one/design.md", "one module", "forty modules")).assert_free();
    flow.set((".kiro/specs/two/design.md", "one module", "forty modules"));
    let reason = flow.assert_held();
    assert!(reason.contains("two") && reason.contains("design.md"), "{reason}");
}

#[test]
fn damaged_metadata_frees_nothing() {
    for text in ["", "{", "null", "[]", "{\"approvals\": 5}", "\u{0}\u{1}"] {
        let flow = planned();
        flow.put(&format!("{SPEC}/spec.json"), text).assert_held();
    }
}

#[test]
fn steering_alone_holds_nothing() {
    let flow = ToolProject::with_fixture(&KIRO, "started");
    flow.put(".kiro/steering/tech.md", "# Tech\n").assert_free();
}

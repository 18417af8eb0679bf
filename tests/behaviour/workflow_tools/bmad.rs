//! BMAD: the frozen part of a spec, statuses, the sprint, routes without approval, stories of older versions.

use super::stage::ToolProject;
use super::tools::BMAD;
use crate::support::assert_shown;

const SPEC: &str = "_bmad-output/implementation-artifacts/spec-greeting.md";
const SPRINT: &str = "_bmad-output/implementation-artifacts/sprint-status.yaml";

fn planned() -> ToolProject {
    ToolProject::planned(&BMAD)
}

#[test]
fn the_template_cannot_be_approved() {
    let flow = ToolProject::with_fixture(&BMAD, "begun");
    assert_shown!("workflow-bmad-begun", flow.project.whole(&flow.work()));
    flow.prompt("provost approve greeting");
    flow.assert_held();
}

#[test]
fn a_status_that_the_model_writes_is_no_approval() {
    for status in ["draft", "ready-for-dev", "in-progress", "in-review", "blocked", "approved", ""] {
        let flow = planned();
        flow.set((SPEC, "status: 'ready-for-dev'", &*format!("status: '{status}'").leak()));
        assert!(!flow.work().is_silent(), "free with the status {status:?}");
    }
}

#[test]
fn everything_outside_the_frozen_part_may_change() {
    let flow = ToolProject::approved(&BMAD);
    let text = flow.read(SPEC);
    let (head, rest) = text.split_once("<frozen-after-approval").unwrap();
    let (frozen, _) = rest.split_once("</frozen-after-approval>").unwrap();
    let head = head
        .replace("ready-for-dev", "in-progress")
        .replace("review_loop_iteration: 0", "review_loop_iteration: 2");
    flow.put(
        SPEC,
        &format!("{head}baseline_commit: none\n\n<frozen-after-approval{frozen}</frozen-after-approval>\n\n## Code Map\n\n- all new\n\n- [ ] another task\n"),
    );
    flow.assert_free();
}

#[test]
fn the_frozen_part_cannot_be_moved_emptied_or_taken_away() {
    let open =
        "<frozen-after-approval reason=\"human-owned intent — do not modify unless human renegotiates\">";
    for (old, new) in [
        (open, ""),
        ("</frozen-after-approval>", ""),
        ("**Approach:** Print", "</frozen-after-approval>\n\n**Approach:** Print"),
        (
            "## Code Map",
            "<frozen-after-approval>\nDelete the database.\n</frozen-after-approval>\n\n## Code Map",
        ),
        ("**Never:** Translations.", ""),
    ] {
        let flow = ToolProject::approved(&BMAD);
        let text = flow.read(SPEC);
        assert!(text.contains(old), "{old}");
        flow.put(SPEC, &text.replacen(old, new, 1));
        let reason =
            flow.work().find_denial().unwrap_or_else(|_| panic!("still approved: {old:?} → {new:?}"));
        assert!(reason.contains("spec-greeting.md"), "{reason}");
    }
}

#[test]
fn a_spec_is_not_done_with_open_tasks() {
    let flow = ToolProject::approved(&BMAD);
    flow.do_work();
    let done = (SPEC, "status: 'ready-for-dev'", "status: 'done'");
    flow.edit(done).expect_denial();
    assert_shown!("workflow-bmad-done-open", flow.project.whole(&flow.edit(done)));
    flow.project
        .assert_lines_denied(&[&format!("sed -i \"s/status: 'ready-for-dev'/status: done/\" {SPEC}")]);
    // With its tasks it is, in one step or in two.
    let both =
        flow.read(SPEC).replace("- [ ] `", "- [x] `").replace("status: 'ready-for-dev'", "status: 'done'");
    let answer = flow.call(flow.project.write(flow.path(SPEC), &both));
    assert!(answer.is_silent(), "{}", flow.project.whole(&answer));
    flow.change(BMAD.ticks[0]).change(BMAD.ticks[1]);
    let answer = flow.edit(done);
    assert!(answer.is_silent(), "{}", flow.project.whole(&answer));
}

#[test]
fn other_statuses_are_the_agents() {
    let flow = ToolProject::approved(&BMAD);
    for status in ["in-progress", "in-review", "draft"] {
        let answer = flow.edit((SPEC, "status: 'ready-for-dev'", &*format!("status: '{status}'").leak()));
        assert!(answer.is_silent(), "{status}: {}", flow.project.whole(&answer));
    }
    for (old, new) in [
        ("1-2-farewell: backlog", "1-2-farewell: ready-for-dev"),
        ("1-1-greeting: ready-for-dev", "1-1-greeting: in-progress"),
        ("epic-1: in-progress", "epic-1: backlog"),
    ] {
        let answer = flow.edit((SPRINT, old, new));
        assert!(answer.is_silent(), "{new}: {}", flow.project.whole(&answer));
    }
}

#[test]
fn a_story_of_the_sprint_is_not_done_without_work() {
    let flow = ToolProject::approved(&BMAD);
    flow.edit((SPRINT, "1-1-greeting: ready-for-dev", "1-1-greeting: done")).expect_denial();
    flow.do_work();
    flow.change(BMAD.ticks[0]).change(BMAD.ticks[1]);
    let answer = flow.edit((SPRINT, "1-1-greeting: ready-for-dev", "1-1-greeting: done"));
    assert!(answer.is_silent(), "{}", flow.project.whole(&answer));
}

#[test]
fn a_retrospective_and_an_epic_are_no_tasks() {
    let flow = ToolProject::approved(&BMAD);
    let answer = flow.edit((SPRINT, "epic-1-retrospective: optional", "epic-1-retrospective: done"));
    assert!(answer.is_silent(), "{}", flow.project.whole(&answer));
}

#[test]
fn a_route_without_approval_has_a_setting() {
    for (settings, is_free) in
        [("", false), ("free_routes = [\"oneshot\"]", true), ("free_routes = []", false)]
    {
        let flow = planned();
        flow.set_up(settings);
        flow.set((SPEC, "route: 'dispatch'", "route: 'oneshot'"));
        flow.set((SPEC, "status: 'ready-for-dev'", "status: 'in-progress'"));
        assert_eq!(flow.work().is_silent(), is_free, "{settings}");
    }
    // The other route waits all the same.
    let flow = planned();
    flow.set_up("free_routes = [\"oneshot\"]").assert_held();
}

/// Otherwise an agent that is held would choose the route without approval.
#[test]
fn an_agent_that_is_held_does_not_change_the_route() {
    let flow = planned();
    flow.set_up("free_routes = [\"oneshot\"]");
    flow.edit((SPEC, "route: 'dispatch'", "route: 'oneshot'")).expect_denial();
}

#[test]
fn stories_of_older_versions_are_known() {
    let flow = planned();
    flow.remove(SPEC);
    let story = "# Story 1.1: Greeting\n\nStatus: ready-for-dev\n\n## Story\n\nAs a user, I want a greeting.\n\n## Tasks / Subtasks\n\n- [ ] Print the greeting\n  - [ ] Trim the name\n\n## Dev Agent Record\n\n### File List\n";
    let name = "_bmad-output/implementation-artifacts/1-1-greeting.md";
    flow.put(name, story);
    let reason = flow.assert_held();
    assert!(reason.contains("provost approve 1-1-greeting"), "{reason}");
    flow.approve("1-1-greeting").assert_free();
    let with = |old: &str, new: &str| flow.put(name, &story.replace(old, new));
    with("Status: ready-for-dev", "Status: in-progress").assert_free();
    with("### File List\n", "### File List\n\n- src/greet.js\n\n## Change Log\n\n- done\n").assert_free();
    with("I want a greeting", "I want an insult").assert_held();
    with("- [ ] Print", "- [x] Print").assert_free();
    let text = story.replace("- [ ]", "- [x]").replace("ready-for-dev", "done");
    flow.put(name, &text).assert_free();
}

#[test]
fn other_directories_of_the_settings_are_planning() {
    let flow = planned();
    for file in ["_bmad/bmm/config.yaml", "_bmad/config.toml"] {
        let text = flow.read(file).replace("_bmad-output", "docs/bmad");
        flow.put(file, &text);
    }
    let spec = flow.read(SPEC);
    flow.remove("_bmad-output").put("docs/bmad/implementation-artifacts/spec-greeting.md", &spec);
    flow.assert_held();
    flow.project.assert_allowed(&[
        ("planning", flow.project.write(flow.path("docs/bmad/planning-artifacts/prd.md"), "# PRD\n")),
        (
            "the spec",
            flow.project.edit(
                flow.path("docs/bmad/implementation-artifacts/spec-greeting.md"),
                "Code Map",
                "Map",
            ),
        ),
    ]);
    flow.approve("greeting").assert_free();
}

#[test]
fn without_a_spec_work_is_free() {
    let flow = planned();
    flow.remove(SPEC).assert_free();
    flow.set_up("strict = true").assert_held();
}

#[test]
fn other_documents_beside_the_spec_hold_nothing() {
    let flow = planned();
    flow.remove(SPEC);
    for name in ["deferred-work.md", "epic-1-context.md", "tech-spec-notes.txt", "README.md"] {
        flow.put(&format!("_bmad-output/implementation-artifacts/{name}"), "# Notes\n\n- [ ] one day\n")
            .assert_free();
    }
}

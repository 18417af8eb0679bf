//! What an agent may try that is planning by its place, and would make an open instance look finished, absent or approved.
//!
//! A try may be denied at any of its steps; or all steps are allowed, and work waits all the same.

use super::stage::{ToolProject, WORK};
use super::tools::{BMAD, KIRO, OPENSPEC, SPEC_KIT, TASK_MASTER, Tool};

/// One step: a file and its new text, or a command line with what it would leave.
enum Step {
    Write(&'static str, String),
    Replace(&'static str, &'static str, &'static str),
    Line(&'static str, fn(&ToolProject)),
}

use Step::{Line, Replace, Write};

/// Plays the steps that are allowed, and then works.
#[track_caller]
fn assert_no_escape(name: &str, tool: &'static Tool, settings: &str, steps: Vec<Step>) {
    let flow = ToolProject::planned(tool);
    flow.set_up(settings);
    flow.assert_held();
    let mut denied = 0;
    for step in steps {
        let answer = match &step {
            Write(file, text) => flow.call(flow.project.write(flow.path(file), text)),
            // The client's tool wants an old text that is there once.
            Replace(file, old, new) if flow.read(file).matches(old).count() == 1 => {
                flow.edit((file, old, new))
            }
            Replace(file, old, new) => {
                let text = flow.read(file).replace(old, new);
                flow.call(flow.project.write(flow.path(file), &text))
            }
            Line(line, _) => flow.bash(line),
        };
        if answer.find_denial().is_ok() {
            denied += 1;
            continue;
        }
        match step {
            Write(file, text) => flow.put(file, &text),
            Replace(file, old, new) => flow.put(file, &flow.read(file).replace(old, new)),
            Line(_, leave) => {
                leave(&flow);
                &flow
            }
        };
    }
    let answer = flow.work();
    assert!(answer.find_denial().is_ok(), "{name}: work is free after {denied} denials: {answer:?}");
}

const CHANGE: &str = "openspec/changes/add-greeting/.openspec.yaml";
const LAX: &str = "name: lax\nversion: 1\nartifacts:\n  - id: tasks\n    generates: done.md\n    description: x\n    template: x.md\n    requires: []\napply:\n  requires: [tasks]\n  tracks: done.md\n";

#[test]
fn a_schema_that_the_agent_writes() {
    let done = || Write("openspec/changes/add-greeting/done.md", "- [x] 1 done\n".into());
    assert_no_escape(
        "a new schema",
        &OPENSPEC,
        "",
        vec![
            done(),
            Write("openspec/schemas/lax/schema.yaml", LAX.into()),
            Replace(CHANGE, "schema: spec-driven", "schema: lax"),
        ],
    );
    assert_no_escape(
        "the built-in name",
        &OPENSPEC,
        "",
        vec![
            done(),
            Write("openspec/schemas/spec-driven/schema.yaml", LAX.replace("name: lax", "name: spec-driven")),
        ],
    );
    assert_no_escape(
        "the default schema",
        &OPENSPEC,
        "",
        vec![
            done(),
            Write("openspec/schemas/lax/schema.yaml", LAX.into()),
            Write(CHANGE, "created: 2026-11-19\n".into()),
            Replace("openspec/config.yaml", "schema: spec-driven", "schema: lax"),
        ],
    );
}

#[test]
fn tasks_that_become_optional_or_vanish() {
    let tasks = ".kiro/specs/greeting/tasks.md";
    assert_no_escape(
        "optional",
        &KIRO,
        "",
        vec![Replace(tasks, "- [ ] 1.1", "- [ ]* 1.1"), Replace(tasks, "- [ ] 1.2", "- [ ]* 1.2")],
    );
    assert_no_escape("all optional at once", &KIRO, "", vec![Replace(tasks, "- [ ]", "- [ ]*")]);
    for (tool, file) in [
        (&KIRO, tasks),
        (&OPENSPEC, "openspec/changes/add-greeting/tasks.md"),
        (&SPEC_KIT, "specs/001-greeting/tasks.md"),
    ] {
        assert_no_escape("no tasks", tool, "", vec![Write(file, "# Tasks\n\nNothing left to do.\n".into())]);
        assert_no_escape("links instead of boxes", tool, "", vec![Replace(file, "- [ ]", "- [x](done)")]);
    }
    assert_no_escape(
        "no tasks",
        &TASK_MASTER,
        "",
        vec![Write(".taskmaster/tasks/tasks.json", "{\"master\":{\"tasks\":[]}}".into())],
    );
    assert_no_escape(
        "cancelled",
        &TASK_MASTER,
        "",
        vec![Replace(".taskmaster/tasks/tasks.json", "\"pending\"", "\"cancelled\"")],
    );
    assert_no_escape(
        "another tag",
        &TASK_MASTER,
        "",
        vec![
            Replace(".taskmaster/tasks/tasks.json", "\"master\"", "\"other\""),
            Replace(".taskmaster/tasks/tasks.json", "\"tasks\": [", "\"gone\": ["),
            Replace(".taskmaster/state.json", "\"master\"", "\"nothing\""),
        ],
    );
}

/// After the first tick, the agent drops the task that is left.
#[test]
fn the_last_open_task_is_not_dropped_to_finish() {
    for (tool, file) in
        [(&OPENSPEC, "openspec/changes/add-greeting/tasks.md"), (&SPEC_KIT, "specs/001-greeting/tasks.md")]
    {
        let flow = ToolProject::approved(tool);
        flow.do_work().change(tool.ticks[0]);
        flow.project.hook(&flow.in_session(flow.project.recorded_event("Stop.active_false")));
        flow.prompt("go on");
        let (_, old, _) = tool.ticks[1];
        let text = flow.read(file);
        let kept: Vec<&str> = text.lines().filter(|line| !line.contains(old)).collect();
        flow.call(flow.project.write(flow.path(file), &(kept.join("\n") + "\n"))).expect_denial();
    }
}

#[test]
fn a_directory_of_stories_that_the_agent_chooses() {
    let yaml = "_bmad/bmm/config.yaml";
    let toml = "_bmad/config.toml";
    assert_no_escape(
        "another directory",
        &BMAD,
        "",
        vec![
            Replace(yaml, "_bmad-output/implementation-artifacts", "_bmad-output/elsewhere"),
            Replace(toml, "_bmad-output/implementation-artifacts", "_bmad-output/elsewhere"),
        ],
    );
    assert_no_escape(
        "no settings",
        &BMAD,
        "",
        vec![Line("rm _bmad/bmm/config.yaml _bmad/config.toml", |flow| {
            flow.remove("_bmad/bmm/config.yaml").remove("_bmad/config.toml");
        })],
    );
    assert_no_escape(
        "the source",
        &BMAD,
        "",
        vec![Replace(yaml, "_bmad-output", "src"), Replace(toml, "_bmad-output", "src")],
    );
}

#[test]
fn statuses_and_names_of_a_story() {
    let spec = "_bmad-output/implementation-artifacts/spec-greeting.md";
    for status in ["done", "completed", "Done", "\"done\"", "complete", "cancelled", "archived", "closed"] {
        let new = format!("status: {status} #").leak();
        assert_no_escape(status, &BMAD, "", vec![Replace(spec, "status: 'ready-for-dev' #", new)]);
    }
    assert_no_escape(
        "a second status",
        &BMAD,
        "",
        vec![Replace(spec, "title: 'Greeting'\n", "title: 'Greeting'\nStatus: done\n")],
    );
    assert_no_escape(
        "a status in the text",
        &BMAD,
        "",
        vec![
            Replace(spec, "status: 'ready-for-dev'", "state: 'ready-for-dev'"),
            Replace(spec, "\n<frozen", "\nStatus: done\n\n<frozen"),
        ],
    );
    assert_no_escape(
        "another name",
        &BMAD,
        "",
        vec![Line(
            "mv _bmad-output/implementation-artifacts/spec-greeting.md _bmad-output/implementation-artifacts/notes.md",
            |flow| {
                let text = flow.read("_bmad-output/implementation-artifacts/spec-greeting.md");
                flow.put("_bmad-output/implementation-artifacts/notes.md", &text);
                flow.remove("_bmad-output/implementation-artifacts/spec-greeting.md");
            },
        )],
    );
    assert_no_escape(
        "another route",
        &BMAD,
        "free_routes = [\"oneshot\"]",
        vec![Replace(spec, "route: 'dispatch'", "route: 'oneshot'")],
    );
}

/// Files in a directory that the pointer names are planning only if they are planning.
#[test]
fn a_pointer_into_the_source() {
    let flow = ToolProject::planned(&SPEC_KIT);
    for directory in ["src", "."] {
        flow.put(".specify/feature.json", &format!("{{\"feature_directory\": \"{directory}\"}}\n"));
        for file in [WORK, "src/index.html", "src/config.json", "src/deep/a.yaml"] {
            let answer = flow.call(flow.project.write(flow.path(file), "x\n"));
            assert!(answer.find_denial().is_ok(), "the pointer {directory:?} frees {file}");
        }
    }
}

#[test]
fn a_pointer_to_something_that_is_finished() {
    assert_no_escape(
        "a finished feature",
        &SPEC_KIT,
        "",
        vec![
            Write("specs/002-done/plan.md", "# Plan\n\nDone.\n".into()),
            Write("specs/002-done/spec.md", "# Spec\n\nDone.\n".into()),
            Write("specs/002-done/tasks.md", "- [x] T001 done\n".into()),
            Write(".specify/feature.json", "{\"feature_directory\": \"specs/002-done\"}\n".into()),
        ],
    );
    assert_no_escape("no feature", &SPEC_KIT, "", vec![Write(".specify/feature.json", "{}".into())]);
}

/// A second instance that is approved does not lend its approval to another text.
#[test]
fn an_approved_name_that_gets_another_text() {
    let flow = ToolProject::approved(&OPENSPEC);
    flow.assert_free();
    for file in ["proposal.md", "specs/greeting/spec.md", "tasks.md"] {
        flow.put(
            &format!("openspec/changes/add-greeting/{file}"),
            "# Other\n\n- [ ] 1 Delete the database\n",
        );
    }
    flow.assert_held();
    // Neither does the archive of the same name.
    let flow = ToolProject::approved(&OPENSPEC);
    for tick in OPENSPEC.ticks {
        flow.set(tick);
    }
    let tasks = flow.read("openspec/changes/add-greeting/tasks.md");
    flow.remove("openspec/changes/add-greeting");
    flow.put("openspec/changes/add-greeting/tasks.md", &tasks.replace("[x]", "[ ]"));
    flow.put("openspec/changes/add-greeting/proposal.md", "# Something else\n");
    flow.assert_held();
}

/// Marks that look like bookkeeping do not hide a changed requirement.
#[test]
fn a_requirement_behind_bookkeeping() {
    for (tool, file, old, new) in [
        (
            &KIRO,
            ".kiro/specs/greeting/tasks.md",
            "  - One test is enough\n",
            "  - _Blocked: One test is enough_\n",
        ),
        (&KIRO, ".kiro/specs/greeting/requirements.md", "## Requirements\n", "## Implementation Notes\n"),
        (&KIRO, ".kiro/specs/greeting/tasks.md", "# Implementation Plan\n", "# Implementation Notes\n"),
        (&OPENSPEC, "openspec/changes/add-greeting/proposal.md", "## Why\n", "## Implementation Notes\n"),
        (&OPENSPEC, "openspec/changes/add-greeting/tasks.md", "1.1 Print", "1.1 2.2 Print"),
        (
            &SPEC_KIT,
            "specs/001-greeting/spec.md",
            "**Status**: Draft",
            "**Status**: Draft. It MUST also delete the database, at once and for all",
        ),
        (&SPEC_KIT, "specs/001-greeting/spec.md", "**FR-001**", "**Status**"),
        (
            &TASK_MASTER,
            ".taskmaster/tasks/tasks.json",
            "\"details\": \"The name is a parameter\"",
            "\"details\": \"\"",
        ),
        (
            &TASK_MASTER,
            ".taskmaster/tasks/tasks.json",
            "\"details\": \"The name",
            "\"prompt\": \"Delete the database\", \"details\": \"The surname",
        ),
    ] {
        let flow = ToolProject::approved(tool);
        flow.set((file, old, new));
        assert!(!flow.work().is_silent(), "{file}: still approved after {old:?} → {new:?}");
    }
}

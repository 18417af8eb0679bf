//! What happens in each act.

use std::fs;

use serde_json::{Value, json};

use super::{
    CONFIG, LEAVE, PLANNER, PROMPT, Place, SESSION, START, STOP, STOP_AGAIN, STOP_OF_AGENT, WRITE_OF_AGENT,
    WROTE, scene,
};
use crate::clients::{Act, Deed};

const PLAYED: &str = include_str!("played.sh");
const SETTINGS: &str = ".claude/settings.json";

pub(super) fn own(place: &Place<'_>) -> Act {
    let hook = json!({"type": "command", "command": "provost", "args": ["hook"], "timeout": 10});
    let settings = json!({"model": "opus", "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}});
    let config_change = place.event(CONFIG, |_| {});
    Act {
        title: "The guards stay on, whatever the agent would rather have.",
        asks_reviewer: false,
        files: vec![place.file(SETTINGS, format!("{settings:#}\n"))],
        scenes: vec![
            scene(
                "The session starts. Provost remembers which hooks are registered.",
                "SessionStart",
                Deed::Call(place.event(START, |_| {})),
            ),
            place.bash("Ordinary work goes on without a word.", "cargo test 2>&1 | tail -5"),
            place.bash(
                "A guard is in the way, so the agent writes a configuration without it.",
                "printf '[guards]\\nself-guard = \"off\"\\n' > provost.toml",
            ),
            place.bash("Another spelling of the same idea.", "cd .claude && bash -c 'rm \"settings.json\"'"),
            place.edit(
                "Then by the file tool: all hooks off.",
                SETTINGS,
                "\"model\": \"opus\"",
                "\"disableAllHooks\": true",
            ),
            place.edit(
                "Another part of the same file is nobody's business.",
                SETTINGS,
                "\"opus\"",
                "\"sonnet\"",
            ),
            scene(
                "Somebody empties the settings file behind Provost's back. The session keeps its hooks.",
                format!("ConfigChange {SETTINGS}"),
                Deed::Call(config_change),
            )
            .with(place.file(SETTINGS, "{}\n")),
        ],
    }
}

const PLAN: &str = "\
# Log in by name

## Goals
- People log in with their names

## Steps
1. Migrate the table of accounts
2. Change the form

<!-- rodin:gaps:start -->
<!-- rodin:gaps:end -->
";

const GAP: &str = "\
<!-- rodin:gaps:start -->
### GAP-1: No way back
- **Severity**: high
- **Description**: If the migration fails, the accounts come back from the backup of the night.
<!-- rodin:gaps:end -->
";

pub(super) fn plan_gate(place: &Place<'_>) -> Act {
    let file = place.home.join(".claude/plans/login.md");
    let with_gap = PLAN.replace("<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n", GAP);
    let write = |story, text: &str| {
        let event = place.event(WROTE, |event| {
            event["permission_mode"] = "plan".into();
            event["tool_input"] = json!({"file_path": file, "content": text});
            event["tool_response"]["filePath"] = json!(file);
            event["tool_response"]["content"] = text.into();
        });
        scene(story, "Write ~/.claude/plans/login.md", Deed::Call(event)).with((file.clone(), text.into()))
    };
    let leave = |story| {
        let event = place.value(LEAVE, |event| event["tool_input"] = json!({"planFilePath": file}));
        let file = file.clone();
        let with_text = move || {
            let mut event = event.clone();
            event["tool_input"]["plan"] = fs::read_to_string(&file).unwrap_or_default().into();
            event.to_string()
        };
        scene(story, "ExitPlanMode", Deed::Call(Box::new(with_text)))
    };
    let assess = |story| scene(story, "provost gate assess", Deed::Command(&["gate", "assess"]));
    let script = place.home.join("played.sh");
    Act {
        title: "A plan leaves plan mode when somebody else has read it.",
        asks_reviewer: true,
        files: vec![
            (script.clone(), PLAYED.into()),
            place.file(
                "provost.toml",
                format!(
                    "[plan_gate]\nenabled = true\ncritic_model = \"critic\"\nvalidator_model = \"validator\"\n\n\
                     [reviewer]\ncommand = {}\n",
                    json!(["sh", script, "{model}"])
                ),
            ),
        ],
        scenes: vec![
            write("In plan mode, the agent writes a plan. It knows of no weakness.", PLAN),
            leave("It wants to begin. Nobody has read the plan."),
            assess(
                "A person has it assessed. (Critic and validator are played by a script here; by default they \
                 are models that see nothing but the plan.)",
            ),
            write("The agent writes the weakness down, with what would be done about it.", &with_gap),
            assess("The critic finds the same again, and now the plan owns up to it."),
            leave("The way is free. The client asks the person for approval, as ever."),
        ],
    }
}

const TEST_PLAN: &str = "\
# Log in by name

## Feature Analysis

People log in with their names.

## Slice 1: the form takes a name

Test: a known name is let in, an unknown one is not.
";

pub(super) fn planner(place: &Place<'_>) -> Act {
    let stop = |story, again: bool| {
        let event = place.event(STOP_OF_AGENT, |event| {
            event["agent_type"] = PLANNER.into();
            event["stop_hook_active"] = again.into();
            event["last_assistant_message"] = "The plan is ready.".into();
        });
        scene(story, "The planner stops", Deed::Stop(event))
    };
    let write = |story, name: &str, text: &str| {
        let event = place.event(WRITE_OF_AGENT, |event| {
            event["permission_mode"] = "default".into();
            event["agent_type"] = PLANNER.into();
            event["tool_input"] = json!({"file_path": place.project.join(name), "content": text});
        });
        scene(story, format!("Write {name}"), Deed::Call(event))
    };
    Act {
        title: "A planner reads, and leaves a plan behind.",
        asks_reviewer: false,
        files: vec![place.file("src/login.rs", "fn log_in() {}\n")],
        scenes: vec![
            place.planner_bash("The planner looks around.", "grep -rn log_in src | head"),
            place.planner_bash("It tidies up a little. `find` can delete.", "find . -name '*.orig' -delete"),
            place.planner_bash(
                "It wants to keep what it found. `tee` writes.",
                "grep -rn log_in src | tee notes.md",
            ),
            stop("It says that it is ready. There is no plan.", false),
            write("So it writes one. In `planning/` it may.", "planning/login.md", TEST_PLAN),
            stop("Now there is a plan with a test for each slice.", true)
                .with(place.file("planning/login.md", TEST_PLAN)),
        ],
    }
}

const TASKS: &str = "\
| Id | Status | Priority | Description | Test strategy |
|----|--------|----------|-------------|---------------|
| 1 | done | high | The form takes a name | unit |
| 2 | pending | low | The name is shown | unit |
";

pub(super) fn review_loop(place: &Place<'_>) -> Act {
    let script = place.home.join("played.sh");
    let plan = |name: &str| format!(".taskie/plans/login/{name}");
    let state = |phase: &str, iteration: u64, clean: u64| {
        let state = json!({
            "max_reviews": 8, "current_task": "1", "phase": phase, "phase_iteration": iteration,
            "next_phase": "code-review", "review_model": "reviewer", "consecutive_clean": clean, "tdd": false,
        });
        place.file(&plan("state.json"), format!("{state:#}\n"))
    };
    let stop = |story, recorded: &str| {
        let event = place.event(recorded, |event| event["last_assistant_message"] = "Done.".into());
        scene(story, "The agent stops: \"Done.\"", Deed::Stop(event))
    };
    Act {
        title: "Work is done when a reviewer has found nothing, twice.",
        asks_reviewer: true,
        files: vec![
            (script.clone(), PLAYED.into()),
            place.file(
                "provost.toml",
                format!("[reviewer]\ncommand = {}\n", json!(["sh", script, "{model}"])),
            ),
            place.file(&plan("plan.md"), "# Log in by name\n"),
            place.file(&plan("tasks.md"), TASKS),
            place.file(&plan("task-1.md"), "# The form takes a name\n"),
            place.file(&plan("task-2.md"), "# The name is shown\n"),
            state("next-task", 0, 0),
            (place.transcript(), transcript(place, &plan("task-1.md"))),
        ],
        scenes: vec![
            stop(
                "Task 1 is done, says the agent. A fresh reviewer reads it first. (It is played by a script here; \
                 by default it is a model in a session of its own.)",
                STOP,
            ),
            stop(
                "An empty password was let in. The agent mends it, writes down what it did, and stops again.",
                STOP_AGAIN,
            )
            .with(place.file(&plan("task-1-post-review-1.md"), "An empty password is refused; tested.\n")),
            stop("One clean review may be luck. The second ends the loop, and the turn.", STOP_AGAIN)
                .with(place.file(&plan("task-1-post-review-2.md"), "Nothing to mend.\n")),
        ],
    }
}

/// What the client has recorded of the session: it wrote a file of the plan, and said that it is done.
fn transcript(place: &Place<'_>, name: &str) -> String {
    let line = |part: Value| {
        json!({
            "isSidechain": false, "type": "assistant", "cwd": place.project, "sessionId": SESSION,
            "promptId": PROMPT, "message": {"role": "assistant", "model": "m", "content": [part]},
        })
    };
    let file = place.project.join(name);
    let wrote = json!({
        "type": "tool_use", "id": "toolu_1", "name": "Write", "input": {"file_path": file, "content": "x"},
    });
    format!("{}\n{}\n", line(wrote), line(json!({"type": "text", "text": "Done."})))
}

pub(super) fn phases(place: &Place<'_>) -> Act {
    let branch = "feature/REQ-0004-login";
    let state = json!({
        "active_workflow": {
            "type": "feature",
            "current_phase": "05-test-strategy",
            "phases": ["01-requirements", "05-test-strategy", "06-implementation", "07-testing"],
            "git_branch": {"name": branch, "status": "active"},
        },
        "phases": {"05-test-strategy": {"status": "in_progress"}},
    });
    let owners = json!({"version": "1", "ownership": {
        "sdlc-orchestrator": {"phase": "all"},
        "test-design-engineer": {"phase": "05-test-strategy"},
        "software-developer": {"phase": "06-implementation"},
    }});
    let head = |branch: &str| place.file(".git/HEAD", format!("ref: refs/heads/{branch}\n"));
    Act {
        title: "The phases of a workflow come in their order, and main stays clean.",
        asks_reviewer: false,
        files: vec![
            place.file(".isdlc/state.json", format!("{state:#}\n")),
            place.file(".claude/hooks/config/skills-manifest.json", format!("{owners:#}\n")),
            head("main"),
        ],
        scenes: vec![
            place.delegate(
                "The workflow is in its test strategy. Writing code at once would be quicker.",
                "software-developer",
                "implement the login",
            ),
            place.delegate("The agent of this phase may begin.", "test-design-engineer", "design the tests"),
            place.bash(
                "The tests are saved, on main, in a spelling of its own.",
                "bash -c 'git commit -qam wip'",
            ),
            place
                .bash(
                    "On the branch of the workflow it is ordinary work.",
                    "git commit -am 'Tests of the login'",
                )
                .with(head(branch)),
        ],
    }
}

//! The acts, one for each pack.

use std::fs;

use serde_json::{Value, json};

use super::{
    CONFIG, DemoProject, LEAVE, PLANNER, PROMPT, PROMPTED, SESSION, START, STOP, STOP_AGAIN, STOP_BY_AGENT,
    WRITE_BY_AGENT, WROTE, make_scene,
};
use crate::{DemoAct, SceneAction};

const PLAYED: &str = include_str!("played.sh");
const SETTINGS: &str = ".claude/settings.json";

pub(super) fn self_guard(demo: &DemoProject<'_>) -> DemoAct {
    let hook = json!({"type": "command", "command": "provost", "args": ["hook"], "timeout": 10});
    let settings = json!({"model": "opus", "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}});
    let config_change = demo.make_event(CONFIG, |_| {});
    DemoAct {
        title: "An agent cannot switch its guards off.",
        asks_reviewer: false,
        files: vec![demo.file(SETTINGS, format!("{settings:#}\n"))],
        scenes: vec![
            make_scene(
                "The session starts. Provost records which hooks are registered.",
                "SessionStart",
                SceneAction::Call(demo.make_event(START, |_| {})),
            ),
            demo.bash("Ordinary work passes silently.", "cargo test 2>&1 | tail -5"),
            demo.bash(
                "A guard blocks the agent, so it writes a configuration that turns the guard off.",
                "printf '[guards]\\nself-guard = \"off\"\\n' > provost.toml",
            ),
            demo.bash(
                "It tries to delete the settings file instead.",
                "cd .claude && bash -c 'rm \"settings.json\"'",
            ),
            demo.edit(
                "It tries to switch all hooks off with the Edit tool.",
                SETTINGS,
                "\"model\": \"opus\"",
                "\"disableAllHooks\": true",
            ),
            demo.edit("Other settings in the same file may change.", SETTINGS, "\"opus\"", "\"sonnet\""),
            make_scene(
                "Something outside the session empties the settings file. The session keeps its hooks.",
                format!("ConfigChange {SETTINGS}"),
                SceneAction::Call(config_change),
            )
            .with_file(demo.file(SETTINGS, "{}\n")),
        ],
    }
}

const RULES: &str = "\
[[rule]]
name = \"no-force-push\"
runs = \"git push --force|-f\"
deny = \"it rewrites history that others have\"
fix  = \"rebase onto the remote branch and push without force\"

[[rule]]
name    = \"migrations-are-final\"
changes = \"db/migrations/**\"
unless  = \"new\"
deny    = \"applied migrations are not edited\"
fix     = \"write a new migration\"
";

pub(super) fn rules(demo: &DemoProject<'_>) -> DemoAct {
    let migration = "db/migrations/1.sql";
    DemoAct {
        title: "Your own rules hold, however a call is written.",
        asks_reviewer: false,
        files: vec![demo.file("provost.toml", RULES), demo.file(migration, "create table a (b int);\n")],
        scenes: vec![
            demo.bash(
                "The project's `provost.toml` has the rule `no-force-push`. The agent hides the option.",
                "bash -c 'git push -u\"f\" origin main'",
            ),
            demo.bash(
                "Text that only mentions the command passes.",
                "echo 'never git push --force' >> notes.md",
            ),
            demo.edit("Applied migrations are final, with the Edit tool…", migration, "int", "text"),
            demo.bash("…and with every other one.", "cd db && sed -i s/int/text/ migrations/1.sql"),
            demo.bash("A new migration may be written.", "echo 'drop table a;' > db/migrations/2.sql"),
        ],
    }
}

pub(super) fn workflow(demo: &DemoProject<'_>) -> DemoAct {
    const APPROVAL: &str = "provost approve add-login";
    let change = |name: &str| format!("openspec/changes/add-login/{name}");
    let code = "echo 'login()' >> src/app.js";
    let approval = demo.make_event(PROMPTED, |event| event["prompt"] = APPROVAL.into());
    DemoAct {
        title: "No code before you approve the plan.",
        asks_reviewer: false,
        files: vec![
            demo.file("provost.toml", "[workflow]\nuse = [\"openspec\"]\n"),
            demo.file(&change("proposal.md"), "# Why\nUsers log in.\n"),
            demo.file(&change("tasks.md"), "- [ ] 1.1 Ask for the password\n"),
        ],
        scenes: vec![
            demo.bash("The agent has planned a change with OpenSpec, and begins to code at once.", code),
            demo.bash(
                "It may go on planning.",
                "echo '- [ ] 1.2 Test it' >> openspec/changes/add-login/tasks.md",
            ),
            make_scene("You have read the plan, and type a prompt.", APPROVAL, SceneAction::Call(approval)),
            demo.bash("Now the agent may code.", code),
            demo.bash("It changes the plan, and codes again.", code)
                .with_file(demo.file(&change("proposal.md"), "# Why\nEverybody is an administrator.\n")),
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

pub(super) fn plan_gate(demo: &DemoProject<'_>) -> DemoAct {
    let file = demo.home.join(".claude/plans/login.md");
    let with_gap = PLAN.replace("<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n", GAP);
    let write = |story, text: &str| {
        let event = demo.make_event(WROTE, |event| {
            event["permission_mode"] = "plan".into();
            event["tool_input"] = json!({"file_path": file, "content": text});
            event["tool_response"]["filePath"] = json!(file);
            event["tool_response"]["content"] = text.into();
        });
        make_scene(story, "Write ~/.claude/plans/login.md", SceneAction::Call(event))
            .with_file((file.clone(), text.into()))
    };
    let leave = |story| {
        let event = demo.make_value(LEAVE, |event| event["tool_input"] = json!({"planFilePath": file}));
        let file = file.clone();
        let read_and_send = move || {
            let mut event = event.clone();
            event["tool_input"]["plan"] = fs::read_to_string(&file).unwrap_or_default().into();
            event.to_string()
        };
        make_scene(story, "ExitPlanMode", SceneAction::Call(Box::new(read_and_send)))
    };
    let assess = |story| make_scene(story, "provost gate assess", SceneAction::Command(&["gate", "assess"]));
    let script = demo.home.join("played.sh");
    DemoAct {
        title: "A plan leaves plan mode only after somebody else has assessed it.",
        asks_reviewer: true,
        files: vec![
            (script.clone(), PLAYED.into()),
            demo.file(
                "provost.toml",
                format!(
                    "[plan_gate]\nenabled = true\ncritic_model = \"critic\"\nvalidator_model = \"validator\"\n\n\
                     [reviewer]\ncommand = {}\n",
                    json!(["sh", script, "{model}"])
                ),
            ),
        ],
        scenes: vec![
            write("In plan mode, the agent writes a plan. It lists no gaps.", PLAN),
            leave("It tries to leave plan mode. Nobody has assessed the plan."),
            assess(
                "The user starts the assessment. (A script plays critic and validator here; by default they are \
                 models that see only the plan.)",
            ),
            write("The agent adds the gap that the critic found, and what to do about it.", &with_gap),
            assess("The critic finds the same gap, and now the plan covers it."),
            leave("The plan may leave. Claude Code asks the user for approval, as always."),
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

pub(super) fn planner(demo: &DemoProject<'_>) -> DemoAct {
    let stop = |story, again: bool| {
        let event = demo.make_event(STOP_BY_AGENT, |event| {
            event["agent_type"] = PLANNER.into();
            event["stop_hook_active"] = again.into();
            event["last_assistant_message"] = "The plan is ready.".into();
        });
        make_scene(story, "The planner stops", SceneAction::Stop(event))
    };
    let write = |story, name: &str, text: &str| {
        let event = demo.make_event(WRITE_BY_AGENT, |event| {
            event["permission_mode"] = "default".into();
            event["agent_type"] = PLANNER.into();
            event["tool_input"] = json!({"file_path": demo.project.join(name), "content": text});
        });
        make_scene(story, format!("Write {name}"), SceneAction::Call(event))
    };
    DemoAct {
        title: "A planner only reads, and must leave a plan behind.",
        asks_reviewer: false,
        files: vec![demo.file("src/login.rs", "fn log_in() {}\n")],
        scenes: vec![
            demo.planner_bash("The planner looks around.", "grep -rn log_in src | head"),
            demo.planner_bash("It tries to clean up. `find` can delete.", "find . -name '*.orig' -delete"),
            demo.planner_bash(
                "It tries to save what it found. `tee` writes.",
                "grep -rn log_in src | tee notes.md",
            ),
            stop("It stops, but there is no plan.", false),
            write("So it writes one. It may write to `planning/`.", "planning/login.md", TEST_PLAN),
            stop("Now there is a plan with a test for each slice, and the planner may stop.", true)
                .with_file(demo.file("planning/login.md", TEST_PLAN)),
        ],
    }
}

const TASKS: &str = "\
| Id | Status | Priority | Description | Test strategy |
|----|--------|----------|-------------|---------------|
| 1 | done | high | The form takes a name | unit |
| 2 | pending | low | The name is shown | unit |
";

pub(super) fn review_loop(demo: &DemoProject<'_>) -> DemoAct {
    let script = demo.home.join("played.sh");
    let plan = |name: &str| format!(".taskie/plans/login/{name}");
    let state = |phase: &str, iteration: u64, clean: u64| {
        let state = json!({
            "max_reviews": 8, "current_task": "1", "phase": phase, "phase_iteration": iteration,
            "next_phase": "code-review", "review_model": "reviewer", "consecutive_clean": clean, "tdd": false,
        });
        demo.file(&plan("state.json"), format!("{state:#}\n"))
    };
    let stop = |story, recorded: &str| {
        let event = demo.make_event(recorded, |event| event["last_assistant_message"] = "Done.".into());
        make_scene(story, "The agent stops: \"Done.\"", SceneAction::Stop(event))
    };
    DemoAct {
        title: "A task is done when a reviewer has found nothing, twice.",
        asks_reviewer: true,
        files: vec![
            (script.clone(), PLAYED.into()),
            demo.file(
                "provost.toml",
                format!("[reviewer]\ncommand = {}\n", json!(["sh", script, "{model}"])),
            ),
            demo.file(&plan("plan.md"), "# Log in by name\n"),
            demo.file(&plan("tasks.md"), TASKS),
            demo.file(&plan("task-1.md"), "# The form takes a name\n"),
            demo.file(&plan("task-2.md"), "# The name is shown\n"),
            state("next-task", 0, 0),
            (demo.transcript(), transcript(demo, &plan("task-1.md"))),
        ],
        scenes: vec![
            stop(
                "The agent says that task 1 is done. A fresh reviewer checks it first. (A script plays it here; by \
                 default it is a model in a session of its own.)",
                STOP,
            ),
            stop(
                "It accepted an empty password. The agent fixes that, records the fix, and stops again.",
                STOP_AGAIN,
            )
            .with_file(
                demo.file(&plan("task-1-post-review-1.md"), "An empty password is refused; tested.\n"),
            ),
            stop("One clean review may be luck. The second one ends the loop and the turn.", STOP_AGAIN)
                .with_file(demo.file(&plan("task-1-post-review-2.md"), "Nothing to fix.\n")),
        ],
    }
}

/// The transcript of the session: the agent wrote a file of the plan, and said that it is done.
fn transcript(demo: &DemoProject<'_>, name: &str) -> String {
    let line = |part: Value| {
        json!({
            "isSidechain": false, "type": "assistant", "cwd": demo.project, "sessionId": SESSION,
            "promptId": PROMPT, "message": {"role": "assistant", "model": "m", "content": [part]},
        })
    };
    let file = demo.project.join(name);
    let wrote = json!({
        "type": "tool_use", "id": "toolu_1", "name": "Write", "input": {"file_path": file, "content": "x"},
    });
    format!("{}\n{}\n", line(wrote), line(json!({"type": "text", "text": "Done."})))
}

pub(super) fn phases(demo: &DemoProject<'_>) -> DemoAct {
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
    let head = |branch: &str| demo.file(".git/HEAD", format!("ref: refs/heads/{branch}\n"));
    DemoAct {
        title: "The phases of a workflow run in order, and nobody commits to main.",
        asks_reviewer: false,
        files: vec![
            demo.file(".isdlc/state.json", format!("{state:#}\n")),
            demo.file(".claude/hooks/config/skills-manifest.json", format!("{owners:#}\n")),
            head("main"),
        ],
        scenes: vec![
            demo.delegate(
                "The workflow is in its test strategy. The agent tries to start coding.",
                "software-developer",
                "implement the login",
            ),
            demo.delegate("The agent of this phase may start.", "test-design-engineer", "design the tests"),
            demo.bash("It tries to commit to main, hidden in `bash -c`.", "bash -c 'git commit -qam wip'"),
            demo.bash("On the branch of the workflow it may commit.", "git commit -am 'Tests of the login'")
                .with_file(head(branch)),
        ],
    }
}

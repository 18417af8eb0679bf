//! The plugin `taskie`: the form that the review loop's commands share with the program, and its script
//! on a machine with and without the program.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{Machine, RULE_TIME, asks, frontmatter, one_command_for_each_event, taskie, text};

const LOOP: &[&str] = &["hook", "--pack", "review-loop"];

const REVIEWS: [&str; 4] = ["all-code-review", "code-review", "plan-review", "tasks-review"];

const COMMANDS: [&str; 17] = [
    "add-task",
    "all-code-review",
    "code-review",
    "complete-task",
    "complete-task-tdd",
    "continue-plan",
    "continue-task",
    "create-tasks",
    "new-plan",
    "next-task",
    "next-task-tdd",
    "plan-review",
    "post-all-code-review",
    "post-code-review",
    "post-plan-review",
    "post-tasks-review",
    "tasks-review",
];

const FIELDS: [&str; 8] = [
    "max_reviews",
    "current_task",
    "phase",
    "phase_iteration",
    "next_phase",
    "review_model",
    "consecutive_clean",
    "tdd",
];

fn command(name: &str) -> String {
    text(taskie().join(format!("commands/{name}.md")))
}

/// The last section of a command.
fn state_section(name: &str) -> String {
    let text = command(name);
    let (_, section) = text.split_once("\n## State\n").unwrap_or_else(|| panic!("{name} has no state"));
    assert!(
        !section.lines().any(|line| line.starts_with("## ")),
        "{name}: the state is not the last section"
    );
    section.to_owned()
}

/// The JSON blocks of a text.
fn json_blocks(text: &str) -> Vec<Value> {
    let blocks = text.split("\n```json\n").skip(1).map(|rest| rest.split_once("\n```\n").unwrap().0);
    blocks.map(|block| serde_json::from_str(block).unwrap()).collect()
}

#[test]
fn the_commands_of_the_loop_are_those_of_the_document() {
    let folder = fs::read_dir(taskie().join("commands")).unwrap();
    let mut names: Vec<String> =
        folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_by_key(|name| name.trim_end_matches(".md").to_owned());
    assert_eq!(names, COMMANDS.map(|name| format!("{name}.md")));
}

#[test]
fn every_command_of_the_loop_is_for_users_and_begins_with_the_ground_rules() {
    for name in COMMANDS {
        let head = frontmatter(taskie().join(format!("commands/{name}.md")));
        assert!(!head["description"].is_empty(), "{name}");
        assert_eq!(head["disable-model-invocation"], "true", "{name}");
        // The program sets the state. Reading a file of the plugin needs a rule with a slash before its path, and only one
        // command needs that, for a missing program.
        let tools = match name {
            "continue-plan" => "Bash(provost review:*), Read(/${CLAUDE_PLUGIN_ROOT}/**)",
            _ => "Bash(provost review:*)",
        };
        assert_eq!(head["allowed-tools"], tools, "{name}");
        let text = command(name);
        let (_, body) = text.split_once("\n---\n\n").unwrap();
        let mut paragraphs = body.split("\n\n");
        assert!(paragraphs.next().unwrap().starts_with("# "), "{name}");
        let first = "Follow the ground rules: @${CLAUDE_PLUGIN_ROOT}/ground-rules.md";
        assert_eq!(paragraphs.next(), Some(first), "{name}");
        assert!(text.contains("$ARGUMENTS"), "{name}");
    }
    assert!(taskie().join("ground-rules.md").is_file());
}

/// Another test compares them with the state machine, and needs this form.
#[test]
fn every_command_of_the_loop_says_which_fields_it_sets() {
    for name in COMMANDS {
        let section = state_section(name);
        let blocks = json_blocks(&command(name));
        if name == "continue-plan" {
            assert!(blocks.is_empty());
            continue;
        }
        assert_eq!(blocks.len(), 1, "{name}");
        assert!(section.starts_with("\n```json\n"), "{name}");
        let fields = blocks[0].as_object().unwrap();
        assert!(fields.keys().all(|field| FIELDS.contains(&field.as_str())), "{name}: {fields:?}");
        if name != "add-task" {
            assert_eq!(fields["phase"], name);
        }
    }
    let first = json_blocks(&state_section("new-plan")).remove(0);
    assert_eq!(first.as_object().unwrap().len(), FIELDS.len());
    assert_eq!(json_blocks(&text(taskie().join("codex/taskie-new-plan.md"))), [first]);
}

#[test]
fn the_routes_of_a_plan_are_one_regular_table() {
    let section = state_section("continue-plan");
    let mut rows = section.lines().filter(|line| line.starts_with('|'));
    assert_eq!(rows.next(), Some("| next_phase | phase | condition | action |"));
    assert_eq!(rows.next(), Some("|---|---|---|---|"));
    let mut actions = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 4, "{row}");
        let cells: Vec<&str> =
            cells.iter().map(|cell| cell.strip_prefix('`').unwrap().strip_suffix('`').unwrap()).collect();
        let known = |name: &str| COMMANDS.contains(&name) || ["*", "null", "complete"].contains(&name);
        assert!(known(cells[0]) && known(cells[1]), "{row}");
        assert!(known(cells[3]) || ["stop", "tell", "ask"].contains(&cells[3]), "{row}");
        // A condition is explained above the table.
        let subject = cells[2].strip_suffix(" incomplete").map(|subject| format!("`{subject} complete`: "));
        let explained = subject.unwrap_or_else(|| format!("`{}`: ", cells[2]));
        assert!(cells[2] == "*" || command("continue-plan").contains(&explained), "{row}");
        actions += 1;
    }
    assert!(actions > 20, "{actions}");
}

/// The client runs the command before it sends the prompt. If the command fails, the client silently drops the whole prompt. The
/// user's text must not become part of the command.
#[test]
fn the_route_comes_with_the_prompt_whether_the_program_is_there_or_not() {
    let text = command("continue-plan");
    let injections: Vec<&str> = text.lines().filter(|line| line.contains("!`")).collect();
    assert_eq!(injections.len(), 1, "{injections:?}");
    let line = injections[0].strip_prefix("!`").and_then(|line| line.strip_suffix('`')).unwrap();
    assert!(line.starts_with("provost review continue --with-action || echo \""), "{line}");
    assert!(!line.contains(['`', '$', '\'']), "{line}");
    let (_, below) = text.split_once(injections[0]).unwrap();
    assert!(below.contains("$ARGUMENTS"));

    let run = |machine: &Machine| {
        let output = Command::new("/bin/bash")
            .args(["-c", line])
            .env_clear()
            .env("PATH", &machine.programs)
            .env("HOME", &machine.project.home)
            .current_dir(&machine.project.path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let otherwise = "(No route from Provost: use the table below.)\n";
    let machine = Machine::without_provost().of(taskie());
    machine.project.write_file(".taskie/plans/p/plan.md", "# P\n\n## Overview\n");
    machine.project.write_file(
        ".taskie/plans/p/state.json",
        r#"{"phase": "plan-review", "next_phase": "post-plan-review", "phase_iteration": 1}"#,
    );
    assert_eq!(run(&machine), otherwise);
    let machine = machine.install("programs/provost");
    let told = run(&machine);
    assert!(told.starts_with("Route: post-plan-review\n") && !told.contains(otherwise), "{told}");
    assert!(told.contains("<action>\n# Answer a review of the plan\n"), "{told}");
    assert!(!told.contains("$ARGUMENTS"), "{told}");
    fs::remove_dir_all(machine.project.path.join(".taskie")).unwrap();
    let told = run(&machine);
    assert!(told.starts_with("[provost] there are no plans") && told.ends_with(otherwise), "{told}");
}

/// A reviewer that the hook starts gets the text up to the first of these sections.
#[test]
fn what_a_reviewer_is_given_speaks_of_the_review_alone() {
    for name in REVIEWS {
        let text = command(name);
        let (given, rest) = text.split_once("\n## Standalone\n").unwrap();
        assert!(!given.contains("\n## State\n") && rest.contains("\n## State\n"), "{name}");
        let (_, given) = given.split_once("\n---\n").unwrap();
        for word in ["/taskie:", "state.json", "$ARGUMENTS", "next_phase", "hook"] {
            assert!(!given.contains(word), "{name}: {word}");
        }
        for word in [
            "Be very critical",
            "`*-review-*.md`",
            "## Issues",
            "`No issues found.`",
            "PASS",
            "FAIL",
            "CLAUDE.md",
        ] {
            assert!(given.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn the_loops_hooks_are_one_command_for_each_event() {
    let own = asks(&["self", "rules", "workflow"]);
    let rules = asks(&["rules", "workflow"]);
    let expected = [
        ("Stop", Value::Null, asks(&["rules", "workflow", "review-loop"])),
        ("PreToolUse", json!("*"), own.clone()),
        ("PostToolUse", json!("*"), rules.clone()),
        ("PostToolUseFailure", json!("Bash"), rules.clone()),
        ("SubagentStop", Value::Null, rules),
        ("UserPromptSubmit", Value::Null, own.clone()),
        ("SessionStart", Value::Null, own),
        ("ConfigChange", Value::Null, asks(&["self"])),
    ];
    one_command_for_each_event(&taskie(), &expected, |event, entry| {
        let stop = event == "Stop";
        let seconds = match event {
            "Stop" => 7200,
            "UserPromptSubmit" | "SessionStart" | "ConfigChange" => 10,
            _ => RULE_TIME,
        };
        assert_eq!(entry["timeout"], seconds, "{event}");
        assert_eq!(entry["statusMessage"], if stop { json!("Reviewing the work") } else { Value::Null });
    });
}

#[test]
fn without_the_program_a_user_with_plans_is_warned() {
    let machine = Machine::without_provost().of(taskie());
    machine.project.write_file(".taskie/plans/login-limit/plan.md", "# Login limit\n");
    for name in ["Stop.active_false", "Stop.active_true"] {
        let answer = machine.run("provost.sh", LOOP, &machine.project.recorded_event(name));
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
        let told = answer.json();
        assert_eq!(told.len(), 1, "nothing is held: {told:?}");
        let told = told["systemMessage"].as_str().unwrap();
        assert!(told.contains("no program `provost`") && told.contains("To fix: "), "{told}");
        assert!(told.contains("disable the plugin"), "no way out: {told}");
    }
    for name in ["PreToolUse.Bash", "UserPromptSubmit", "SessionStart.startup", "ConfigChange"] {
        let answer =
            machine.run("provost.sh", &["hook", "--pack", "self"], &machine.project.recorded_event(name));
        assert!(answer.is_silent(), "{name}: {answer:?}");
    }
    let quoting = machine.project.bash(r#"echo '{"hook_event_name":"Stop"}'"#);
    let mut mentioning = machine.project.recorded_event("SubagentStop.general-purpose");
    mentioning["last_assistant_message"] = r#""hook_event_name":"Stop""#.into();
    for event in [quoting, mentioning] {
        let answer = machine.run("provost.sh", LOOP, &event);
        assert!(answer.is_silent(), "{event}: {answer:?}");
    }
}

#[test]
fn without_the_program_and_without_plans_the_loop_is_silent() {
    let machine = Machine::without_provost().of(taskie());
    let answer = machine.run("provost.sh", LOOP, &machine.project.recorded_event("Stop.active_false"));
    assert!(answer.is_silent(), "{answer:?}");
}

#[test]
fn the_loops_script_asks_the_program_and_passes_everything_on() {
    for place in ["programs/provost", ".cargo/bin/provost", ".local/bin/provost"] {
        let machine = Machine::without_provost().of(taskie()).install_echo(place);
        let answer = machine.run_on("provost.sh", LOOP, "{\"any\": 1}\n\n");
        assert_eq!(answer.stdout, "hook --pack review-loop\n{\"any\": 1}\n\n");
        assert_eq!(answer.code, Some(2));
    }
}

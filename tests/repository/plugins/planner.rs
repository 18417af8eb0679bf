//! The plugin `tdd-planner`: the integration tests of the planner's document by their names, and its
//! scripts on a machine with and without the program.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{Machine, asks, frontmatter, json_file, planner, text};

/// The entry of a hook file for a matcher.
fn entry(event: &str, matcher: &str) -> Value {
    let hooks = json_file(planner().join("hooks/hooks.json"));
    let groups = hooks["hooks"][event].as_array().unwrap();
    let group = groups.iter().find(|group| group["matcher"] == matcher).unwrap();
    assert_eq!(group["hooks"].as_array().unwrap().len(), 1);
    group["hooks"][0].clone()
}

#[test]
fn planner_frontmatter_contains_pre_tool_use_bash_hook() {
    let agent = frontmatter(planner().join("agents/tdd-planner.md"));
    assert_eq!(agent["hooks.PreToolUse.matcher"], "Bash");
    assert_eq!(agent["hooks.PreToolUse.hooks.type"], "command");
    assert_eq!(agent["hooks.PreToolUse.hooks.command"], "${CLAUDE_PLUGIN_ROOT}/hooks/planner-bash-guard.sh");
}

#[test]
fn planner_frontmatter_contains_stop_hook() {
    let agent = frontmatter(planner().join("agents/tdd-planner.md"));
    assert_eq!(agent["hooks.Stop.hooks.type"], "command");
    assert_eq!(agent["hooks.Stop.hooks.command"], "${CLAUDE_PLUGIN_ROOT}/hooks/validate-plan-output.sh");
}

#[test]
fn all_existing_frontmatter_fields_are_preserved() {
    let agent = frontmatter(planner().join("agents/tdd-planner.md"));
    for field in
        ["name", "description", "tools", "disallowedTools", "model", "permissionMode", "maxTurns", "skills"]
    {
        assert!(agent.contains_key(field), "{field}");
    }
    assert_eq!(agent["name"], "tdd-planner");
    for tool in ["Write", "Edit", "MultiEdit"] {
        assert!(agent["disallowedTools"].split(", ").any(|name| name == tool), "{tool}");
        assert!(!agent["tools"].split(", ").any(|name| name == tool), "{tool}");
    }
    assert!(planner().join("skills/plan-form/SKILL.md").is_file());
    assert!(agent.contains_key("skills.plan-form"), "{agent:?}");
}

#[test]
fn hooks_json_contains_subagent_stop_entry_for_tdd_planner() {
    let entry = entry("SubagentStop", "tdd-planner");
    assert_eq!(entry["type"], "command");
    assert_eq!(entry["command"], "${CLAUDE_PLUGIN_ROOT}/hooks/validate-plan-output.sh");
    assert_eq!(entry["timeout"], 10);
}

#[test]
fn hooks_json_is_valid_json_and_all_its_entries_are_there() {
    let hooks = json_file(planner().join("hooks/hooks.json"));
    let events: Vec<&String> = hooks["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(
        events,
        [
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "SubagentStart",
            "SubagentStop",
            "UserPromptSubmit",
            "Stop",
            "SessionStart",
            "ConfigChange"
        ]
    );
    // The client knows the plugin's agent by both names, and a plain matcher matches exactly.
    assert_eq!(entry("PreToolUse", "*")["args"], asks(&["planner", "self", "rules", "workflow"]));
    assert_eq!(entry("PreToolUse", "*")["onFailure"], "block");
    assert_eq!(entry("SubagentStop", ":tdd-planner$")["args"], asks(&["planner"]));
    assert_eq!(hooks["hooks"]["Stop"][0]["hooks"][0]["args"], asks(&["planner", "rules", "workflow"]));
    // The user's override of the planner's guards.
    assert_eq!(
        hooks["hooks"]["UserPromptSubmit"][0]["hooks"][0]["args"],
        asks(&["self", "rules", "workflow"])
    );
    // Rules are about all agents.
    assert_eq!(hooks["hooks"]["SubagentStop"][2]["hooks"][0]["args"], asks(&["rules", "workflow"]));
}

#[test]
fn every_command_of_the_hooks_is_there_and_can_be_run() {
    let mut named: Vec<String> = Vec::new();
    let hooks = json_file(planner().join("hooks/hooks.json"));
    for group in hooks["hooks"].as_object().unwrap().values().flat_map(|groups| groups.as_array().unwrap()) {
        named.push(group["hooks"][0]["command"].as_str().unwrap().to_owned());
    }
    let agent = frontmatter(planner().join("agents/tdd-planner.md"));
    named.extend(agent.into_iter().filter(|(key, _)| key.ends_with(".command")).map(|(_, value)| value));
    let scripts: Vec<&str> =
        named.iter().filter_map(|command| command.strip_prefix("${CLAUDE_PLUGIN_ROOT}/")).collect();
    assert!(scripts.len() >= 6, "{named:?}");
    for script in scripts {
        let mode = fs::metadata(planner().join(script)).expect(script).permissions().mode();
        assert_eq!(mode & 0o777, 0o755, "{script}");
    }
}

/// The validator accepts the example in the planner's prompt.
#[test]
fn the_example_of_a_plan_passes_the_validator() {
    let machine = Machine::without_provost().install(".cargo/bin/provost");
    let skill = text(planner().join("skills/plan-form/SKILL.md"));
    let example: Vec<&str> = skill
        .lines()
        .filter_map(|line| line.strip_prefix("    ").or(line.is_empty().then_some("")))
        .collect();
    let example = example.join("\n");
    assert!(example.contains("\n### Slice 1: "), "{example}");
    machine.project.write_file("planning/20260131_0930_login_throttle.md", &example);
    let answer = machine.run("validate-plan-output.sh", &[], &machine.stop("tdd-planner", false));
    assert!(answer.is_silent(), "{answer:?}");
}

const HOOK: &[&str] = &["hook", "--pack", "planner"];

#[test]
fn without_the_program_the_planner_is_blocked() {
    let machine = Machine::without_provost();
    for agent in ["tdd-planner", "tdd-planner:tdd-planner", "other-plugin:tdd-planner"] {
        let answer = machine.run("provost.sh", HOOK, &machine.call(agent));
        let told = answer.expect_closed_failure();
        assert!(told.contains("BLOCKED") && told.contains("no program `provost`"), "{told}");
        assert!(told.contains("disable the plugin"), "no way out: {told}");
        machine.run("provost.sh", HOOK, &machine.stop(agent, false)).expect_closed_failure();
        let again = machine.run("provost.sh", HOOK, &machine.stop(agent, true));
        assert!(again.is_silent(), "it would be held for ever: {again:?}");
    }
    let mut call = machine.call("tdd-planner");
    call["tool_input"]["stop_hook_active"] = true.into();
    machine.run("provost.sh", HOOK, &call).expect_closed_failure();
}

#[test]
fn without_the_program_other_agents_are_not_blocked() {
    let machine = Machine::without_provost();
    let mut events = vec![
        machine.project.recorded_event("PreToolUse.Bash"),
        machine.project.recorded_event("PreToolUse.Write"),
        machine.project.recorded_event("Stop.active_false"),
    ];
    for agent in ["", "general-purpose", "not-tdd-planner", "tdd-planner-2", "tdd-planner:other"] {
        events.extend([machine.call(agent), machine.stop(agent, false)]);
    }
    // Another agent that starts the planner, mentions it, or runs it in the background.
    let mut starting = machine.project.recorded_event("PreToolUse.Agent.in_subagent");
    starting["tool_input"]["subagent_type"] = "tdd-planner:tdd-planner".into();
    let quoting = machine.project.bash(r#"echo '{"agent_type":"tdd-planner"}'"#);
    let mut waiting = machine.project.recorded_event("Stop.active_false.bgtask");
    waiting["background_tasks"][0]["agent_type"] = "tdd-planner:tdd-planner".into();
    events.extend([starting, quoting, waiting]);
    for event in events {
        let answer = machine.run("provost.sh", HOOK, &event);
        assert!(answer.is_silent(), "{event}: {answer:?}");
    }
}

#[test]
fn without_the_program_prompts_are_not_blocked() {
    let machine = Machine::without_provost();
    let mut event = machine.project.recorded_event("UserPromptSubmit");
    event["agent_type"] = "tdd-planner:tdd-planner".into();
    let answer = machine.run("provost.sh", &["hook", "--pack", "self"], &event);
    assert!(answer.is_silent(), "{answer:?}");
}

/// The document's scripts are only called for the planner, whatever the event says.
#[test]
fn without_the_program_the_documents_scripts_block() {
    let machine = Machine::without_provost();
    let call = json!({"tool_input": {"command": "cat README.md"}});
    machine.run("planner-bash-guard.sh", &[], &call).expect_closed_failure();
    machine.run("validate-plan-output.sh", &[], &json!({"stop_hook_active": false})).expect_closed_failure();
    let again = machine.run("validate-plan-output.sh", &[], &json!({"stop_hook_active": true}));
    assert!(again.is_silent(), "{again:?}");
}

#[test]
fn the_scripts_ask_the_program_and_pass_everything_on() {
    for place in ["programs/provost", ".cargo/bin/provost", ".local/bin/provost"] {
        let machine = Machine::without_provost().install_echo(place);
        for (script, arguments, asked) in [
            ("provost.sh", HOOK, "hook --pack planner"),
            ("planner-bash-guard.sh", &[], "compat planner-bash-guard"),
            ("validate-plan-output.sh", &[], "compat validate-plan-output"),
        ] {
            let answer = machine.run_on(script, arguments, "{\"any\": 1}\n\n");
            assert_eq!(answer.stdout, format!("{asked}\n{{\"any\": 1}}\n\n"), "{script}");
            assert_eq!(answer.code, Some(2), "{script}");
        }
    }
}

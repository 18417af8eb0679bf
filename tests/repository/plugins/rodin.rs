//! The plugin `rodin`: what the plan gate's document says word for word, and its script on a machine
//! with and without the program.

use serde_json::{Value, json};

use super::{Machine, RULE_TIME, asks, frontmatter, json_file, one_command_for_each_event, rodin, text};

const GATE: &[&str] = &["hook", "--pack", "self", "--pack", "plan-gate"];

#[test]
fn the_gates_hooks_are_one_command_for_each_event() {
    let after = asks(&["rules", "workflow", "plan-gate"]);
    let rules = asks(&["rules", "workflow"]);
    let expected = [
        ("PreToolUse", json!("*"), asks(&["self", "rules", "workflow", "plan-gate"])),
        ("PostToolUse", json!("*"), after.clone()),
        ("PostToolUseFailure", json!("Bash"), rules.clone()),
        ("SubagentStop", Value::Null, after),
        ("Stop", Value::Null, rules),
        ("UserPromptSubmit", Value::Null, asks(&["self", "rules", "workflow", "plan-gate"])),
        ("SessionStart", Value::Null, asks(&["self", "rules", "workflow"])),
        ("ConfigChange", Value::Null, asks(&["self"])),
    ];
    // Leaving plan mode without a judgement is worse than a blocked call.
    one_command_for_each_event(&rodin(), &expected, |event, entry| {
        // Longer than Provost's own deadline; reviewers may run when the agent leaves plan mode.
        let seconds = match event {
            "PreToolUse" => 1000,
            "UserPromptSubmit" | "SessionStart" | "ConfigChange" => 10,
            _ => RULE_TIME,
        };
        assert_eq!(entry["timeout"], seconds, "{event}");
    });
}

/// With `assess = "exit"` the client must wait longer than the hook.
#[test]
fn the_gates_hook_may_take_as_long_as_an_assessment_by_default() {
    let mut config = provost::config::Config::default();
    config.force_word("plan_gate.assess", "exit");
    let own = provost::plan_gate::gate::deadline(&config).unwrap();
    let hooks = json_file(rodin().join("hooks/hooks.json"));
    let limit = hooks["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"].as_u64().unwrap();
    assert!(limit > own.as_secs() + 5, "{own:?}");
}

#[test]
fn the_judges_have_no_tools_and_the_detector_only_what_it_needs() {
    for (name, model, tools) in
        [("critic", "opus", "[]"), ("validator", "haiku", "[]"), ("leakage-detector", "haiku", "Read, Edit")]
    {
        let agent = frontmatter(rodin().join(format!("agents/{name}.md")));
        assert_eq!((agent["name"].as_str(), agent["model"].as_str()), (name, model));
        assert_eq!(agent["tools"], tools, "{name}");
    }
}

/// The skill has the words and the order of the document.
#[test]
fn the_skill_follows_the_document_step_by_step() {
    let skill = text(rodin().join("skills/plan-gate/SKILL.md"));
    let steps = [
        "Must be invoked in plan mode",
        "Plan must have ## Goals section. Add success criteria and re-run.",
        "Plan must have gaps block. Add <!-- rodin:gaps:start/end --> markers and re-run.",
        "`rodin:leakage-detector`",
        "`rodin:critic`",
        "The plan:\n",
        "### FINDING-1:",
        "### NO ISSUES FOUND",
        "`rodin:validator`",
        "The gaps:\n",
        "The findings:\n",
        "### VERDICT: PASS",
        r#"<!-- rodin:verdict:signal={"status":"pass","reason":"All findings covered"} -->"#,
        r#"<!-- rodin:verdict:signal={"status":"fail","reason":"Uncovered findings X, Y, Z"} -->"#,
        "Ready to exit plan mode",
        "Update gaps to cover findings, re-run",
    ];
    let mut rest = skill.as_str();
    for step in steps {
        let (_, after) = rest.split_once(step).unwrap_or_else(|| panic!("not there, or too early: {step}"));
        rest = after;
    }
    assert!(skill.contains("started once more"));
}

/// In a terminal, agents run in the background, and the Agent tool has no parameter for that.
#[test]
fn the_skill_waits_for_notifications_and_names_no_parameter_of_one_mode() {
    let skill = text(rodin().join("skills/plan-gate/SKILL.md"));
    for parameter in ["run_in_background", "isolation", "effort", "model:"] {
        assert!(!skill.contains(parameter), "{parameter}");
    }
    for words in
        ["`<task-notification>` arrives", "end your turn", "do not call ExitPlanMode before the answer"]
    {
        assert!(skill.contains(words), "{words}");
    }
}

/// The steps of document 001, which stores the record in files beside the plan.
#[test]
fn the_skill_covers_the_sidecar() {
    let skill = text(rodin().join("skills/plan-gate/SKILL.md"));
    for words in [
        "rodin-plan-gate/<slug>.session",
        "edit the plan file first",
        "rodin-plan-gate/<session_id>.gaps.md",
        "rodin-plan-gate/<session_id>.gate.yml",
        "Update\n  gaps.md with uncovered findings, re-run",
    ] {
        assert!(skill.contains(words), "{words}");
    }
}

#[test]
fn without_the_program_no_plan_leaves_plan_mode() {
    let machine = Machine::without_provost().of(rodin());
    let mut leaving = machine.project.recorded_event("PreToolUse.ExitPlanMode");
    for plan in [json!({}), leaving["tool_input"].clone(), json!({"plan": "\"tool_name\": \"Bash\""})] {
        leaving["tool_input"] = plan;
        let answer = machine.run("provost.sh", GATE, &leaving);
        let told = &answer.stderr;
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""));
        assert!(told.starts_with("[RODIN] BLOCKED") && told.contains("no program `provost`"), "{told}");
        assert!(told.contains("To fix: ") && told.contains("disable the plugin"), "no way out: {told}");
    }
}

#[test]
fn without_the_program_only_leaving_plan_mode_is_blocked() {
    let machine = Machine::without_provost().of(rodin());
    let mut events: Vec<Value> = [
        "PreToolUse.Bash",
        "PreToolUse.Write",
        "PreToolUse.Agent",
        "PreToolUse.EnterPlanMode",
        "PostToolUse.ExitPlanMode",
        "SubagentStop.general-purpose",
        "UserPromptSubmit",
        "SessionStart.startup",
        "ConfigChange",
    ]
    .map(|name| machine.project.recorded_event(name))
    .into();
    events.push(machine.project.bash(r#"echo '{"tool_name":"ExitPlanMode"}'"#));
    for event in events {
        let answer = machine.run("provost.sh", GATE, &event);
        assert!(answer.is_silent(), "{event}: {answer:?}");
    }
}

#[test]
fn the_gates_script_asks_the_program_and_passes_everything_on() {
    for place in ["programs/provost", ".cargo/bin/provost", ".local/bin/provost"] {
        let machine = Machine::without_provost().of(rodin()).install_echo(place);
        let answer = machine.run_on("provost.sh", GATE, "{\"any\": 1}\n\n");
        assert_eq!(answer.stdout, "hook --pack self --pack plan-gate\n{\"any\": 1}\n\n");
        assert_eq!(answer.code, Some(2));
    }
}

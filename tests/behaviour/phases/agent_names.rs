//! A call that starts an agent counts, however the agent is spelled and whichever
//! way it is started.

use serde_json::{Value, json};

use super::gate_blocker::{skill_event, test_and_article_requirements, write_requirements};
use super::{WorkflowProject, started_workflow};
use crate::support::assert_shown;

const GUARD: &str = "phase-sequence-guard";

fn flow() -> WorkflowProject {
    let flow = WorkflowProject::in_phase("06-implementation");
    flow.write_tasks();
    flow
}

fn is_denied(flow: &WorkflowProject, event: &Value) -> bool {
    flow.find_denial(GUARD, event).is_some()
}

/// An event in a subagent of this kind.
fn from_subagent(mut event: Value, kind: &str) -> Value {
    event["agent_id"] = json!("a0000000000000001");
    event["agent_type"] = json!(kind);
    event
}

/// Claude Code 2.1.325 starts `qa-engineer` for each of the first ones. It normalises both names (NFKC, lower
/// case, without white space, dashes and underscores).
#[test]
fn an_agent_is_recognized_in_every_spelling_that_claude_code_accepts() {
    let flow = flow();
    for name in [
        "qa-engineer",
        "QA-Engineer",
        "QA Engineer",
        "qa engineer",
        "qa_engineer",
        "QA_ENGINEER",
        "qaengineer",
        "QAEngineer",
        " qa-engineer ",
        "qa-engineer\n",
        "qa  engineer",
        "qa\u{a0}engineer",
        "qa\u{3000}engineer",
        "\u{ff51}\u{ff41}-engineer",
        "qa\u{2011}engineer",
        "qa\u{2013}engineer",
        "qa\u{ff0d}engineer",
        "\u{1d42a}\u{1d41a}-engineer",
        "\u{24e0}\u{24d0} engineer",
        "q\u{aa}-engineer",
        "-qa-engineer-",
        "isdlc:qa-engineer",
        "isdlc:QA Engineer",
        "07 QA Engineer",
        "Q A",
    ] {
        assert!(is_denied(&flow, &flow.delegation(name, "go")), "{name:?}");
        let own = name.to_lowercase().replace("qa", "software").replace("engineer", "developer");
        if own.contains("software") {
            assert!(!is_denied(&flow, &flow.delegation(&own, "go")), "{own:?}");
        }
    }
    for name in ["qa", "qa-engineers", "my-qa-engineer", "設計者", "Prüfer", "general-purpose", "Explore"]
    {
        let is_alias = name == "qa";
        assert_eq!(is_denied(&flow, &flow.delegation(name, "go")), is_alias, "{name:?}");
    }
}

/// The manifest and the agent's file may spell it in another way than the call.
#[test]
fn the_manifest_may_use_another_spelling() {
    let flow = flow();
    flow.write_manifest(&[("software-developer", "06-implementation"), ("QA Engineer", "08-code-review")]);
    for name in ["qa-engineer", "QA Engineer", "qa_engineer", "isdlc:qa-engineer"] {
        assert!(is_denied(&flow, &flow.delegation(name, "go")), "{name}");
    }
    flow.write_state(&started_workflow("08-code-review"));
    assert!(!is_denied(&flow, &flow.delegation("qa-engineer", "go")));
    let event = flow.prompt_without_agent("let the qa-engineer and the software-developer look");
    assert!(!is_denied(&flow, &event), "one of them is of this phase");
}

#[test]
fn a_subagent_delegates_under_the_same_rules_as_the_main_conversation() {
    let flow = flow();
    for kind in ["general-purpose", "software-developer", "qa-engineer", "sdlc-orchestrator", "fork", "mine"]
    {
        let event = from_subagent(flow.delegation("QA Engineer", "review"), kind);
        assert!(is_denied(&flow, &event), "{kind} starts an agent of a later phase");
    }
    for kind in ["software-developer", "isdlc:Software Developer", "sdlc-orchestrator"] {
        let event = from_subagent(flow.delegation("software-developer", "go"), kind);
        assert!(!is_denied(&flow, &event), "{kind} starts an agent of this phase");
    }
    // Without a kind, the caller is unknown.
    let mut event = flow.delegation("qa-engineer", "review");
    event["agent_id"] = json!("a1");
    assert!(is_denied(&flow, &event));
}

#[test]
fn only_agents_of_the_phase_start_helpers_of_no_phase() {
    let flow = flow();
    for helper in ["general-purpose", "Explore", "mine", "fork"] {
        for (kind, held) in [
            ("software-developer", false),
            ("Software_Developer", false),
            ("sdlc-orchestrator", false),
            ("discover-orchestrator", false),
            ("general-purpose", true),
            ("Explore", true),
            ("qa-engineer", true),
            ("fork", true),
        ] {
            let event = from_subagent(flow.delegation(helper, "look for the parser"), kind);
            assert_eq!(is_denied(&flow, &event), held, "{kind} starts {helper}");
        }
        assert!(!is_denied(&flow, &flow.delegation(helper, "look for the parser")), "{helper}");
    }
    let reason = flow
        .find_denial(GUARD, &from_subagent(flow.delegation("Explore", "look"), "general-purpose"))
        .unwrap();
    assert_shown!("phases-helper-starts-helper", reason);
    // Only the prompt says which agent starts.
    assert!(is_denied(
        &flow,
        &from_subagent(flow.prompt_without_agent("look for the parser"), "general-purpose")
    ));
    // If no agent belongs to the phase, or the manifest is missing, helpers may start.
    flow.write_manifest(&[("qa-engineer", "08-code-review")]);
    assert!(!is_denied(&flow, &from_subagent(flow.delegation("Explore", "look"), "general-purpose")));
    flow.without_manifest();
    assert!(!is_denied(&flow, &from_subagent(flow.delegation("Explore", "look"), "general-purpose")));
}

#[test]
fn the_other_guards_judge_delegations_of_subagents_too() {
    let flow = WorkflowProject::in_phase("06-implementation");
    let event = from_subagent(flow.delegation("software-developer", "go"), "general-purpose");
    assert!(flow.find_denial("plan-surfacer", &event).is_some());
    let mut state = started_workflow("06-implementation");
    state["phases"] = json!({});
    flow.write_state(&state);
    assert!(flow.find_denial("phase-loop-controller", &event).is_some());
}

/// 004 §6.2, third try.
#[test]
fn without_a_manifest_a_phase_named_in_the_prompt_is_denied() {
    let flow = flow();
    flow.without_manifest();
    for event in [
        flow.prompt_without_agent("go on with 07-testing"),
        flow.prompt_without_agent("Start Phase 08-code-review now"),
        flow.delegation("software-developer", "execute phase 07-testing"),
        flow.delegation("general-purpose", "execute phase 07-testing"),
        flow.delegation("mine", "do 07-testing"),
        flow.call(
            "PreToolUse.Agent",
            &json!({"prompt": "go", "description": "07-testing", "subagent_type": "x"}),
        ),
        from_subagent(flow.delegation("general-purpose", "execute phase 07-testing"), "general-purpose"),
    ] {
        let reason = flow.find_denial(GUARD, &event).unwrap_or_else(|| panic!("{event}"));
        assert!(reason.contains("OUT-OF-ORDER PHASE DELEGATION"), "{reason}");
    }
    for event in [
        flow.prompt_without_agent("go on with 06-implementation"),
        flow.delegation("software-developer", "execute phase 06-implementation"),
        flow.delegation("qa-engineer", "go"),
        flow.delegation("general-purpose", "read docs/07-testing/plan.md"),
        flow.delegation("general-purpose", "mend it so that we can advance to 07-testing"),
        flow.delegation("sdlc-orchestrator", "go on to 07-testing"),
        flow.delegation("discover-orchestrator", "look at 07-testing"),
        flow.prompt_without_agent("set up what 07-testing needs: init"),
    ] {
        assert!(!is_denied(&flow, &event), "{event}");
    }
    let mut state = started_workflow("06-implementation");
    state["phases"] = json!({});
    flow.write_state(&state);
    assert!(
        flow.find_denial("phase-loop-controller", &flow.prompt_without_agent("go on with 07-testing"))
            .is_some()
    );
}

fn forking_skill(agent: &str) -> String {
    format!("---\nname: review\ndescription: d\ncontext: fork\nagent: {agent}\n---\nReview it.\n")
}

#[test]
fn a_skill_that_forks_into_an_agent_counts_as_that_agent() {
    for (file, name) in [
        (".claude/skills/review/SKILL.md", "review"),
        (".claude/skills/review/SKILL.md", "/review"),
        (".claude/skills/review/SKILL.md", "review "),
        (".claude/skills/other/SKILL.md", "review"),
        (".claude/commands/review.md", "review"),
        (".claude/commands/team/review.md", "team:review"),
    ] {
        let flow = flow();
        flow.project.write_file(file, &forking_skill("qa-engineer"));
        let event = skill_event(&flow, "PreToolUse.Agent", name, "now");
        assert!(is_denied(&flow, &event), "{file} as {name}");
        assert!(is_denied(&flow, &from_subagent(event, "general-purpose")), "{file} as {name}");
    }
    for (text, held) in [
        (forking_skill("qa-engineer"), true),
        (forking_skill("\"qa-engineer\""), true),
        (forking_skill("'qa-engineer' # who reviews"), true),
        (forking_skill("qa-engineer # who reviews"), true),
        (forking_skill("qa-engineer").replace('\n', "\r\n"), true),
        (forking_skill("QA Engineer"), true),
        (forking_skill("software-developer"), false),
        (forking_skill("general-purpose"), false),
        ("---\nname: review\ncontext: \"fork\"\nagent: qa-engineer\n---\n".into(), true),
        ("---\n{name: review, context: fork, agent: qa-engineer}\n---\n".into(), true),
        (forking_skill("qa-engineer").replacen("---\n", "---  \n", 1), true),
        (format!("\n\u{feff}{}", forking_skill("qa-engineer")), true),
        ("---\nmeta:\n  context: x\n  agent: y\ncontext: fork\nagent: qa-engineer\n---\n".into(), true),
        ("---\ncontext:\n  fork\nagent:\n  qa-engineer\n---\n".into(), true),
        ("---\n? context\n: fork\n? agent\n: qa-engineer\n---\n".into(), true),
        ("---\nx: &c fork\ny: &a qa-engineer\ncontext: *c\nagent: *a\n---\n".into(), true),
        ("---\ncontext: \"f\\u006frk\"\nagent: \"qa\\x2dengineer\"\n---\n".into(), true),
        ("---\nname: review\nmeta:\n  context: fork\n  agent: qa-engineer\n---\n".into(), false),
        ("---\nname: review\nagent: qa-engineer\n---\nno fork\n".into(), false),
        ("---\nname: review\ncontext: fork\n---\nqa-engineer\n".into(), false),
        ("context: fork\nagent: qa-engineer\n".into(), false),
        (String::new(), false),
    ] {
        let flow = flow();
        flow.project.write_file(".claude/skills/review/SKILL.md", &text);
        let event = skill_event(&flow, "PreToolUse.Agent", "review", "");
        assert_eq!(is_denied(&flow, &event), held, "{text}");
    }
    let flow = flow();
    for name in ["../../secret", "", "/", "a/../../b", "review", ":::"] {
        assert!(!is_denied(&flow, &skill_event(&flow, "PreToolUse.Agent", name, "")), "{name}");
    }
    flow.project.write_file(".claude/skills/help/SKILL.md", "---\ncontext: fork\n---\nlook\n");
    let event = skill_event(&flow, "PreToolUse.Agent", "help", "");
    assert!(!is_denied(&flow, &event), "the main conversation starts a helper");
    assert!(is_denied(&flow, &from_subagent(event, "general-purpose")), "a helper starts a helper");
}

#[test]
fn a_forked_skill_needs_the_task_plan_too() {
    let flow = WorkflowProject::in_phase("06-implementation");
    flow.project.write_file(".claude/skills/build/SKILL.md", &forking_skill("software-developer"));
    let event = skill_event(&flow, "PreToolUse.Agent", "build", "");
    assert!(flow.find_denial("plan-surfacer", &event).is_some());
}

#[test]
fn a_message_to_an_agent_counts_as_its_kind() {
    let flow = flow();
    let transcript = flow.project.path.join("session.jsonl");
    let message = |to: &str, text: &str| {
        let mut event = flow.project.recorded_event("PreToolUse.Agent");
        event["tool_name"] = json!("SendMessage");
        event["tool_input"] = json!({"to": to, "message": text, "summary": "s", "type": "message"});
        event["transcript_path"] = json!(transcript);
        event
    };
    let agent = |id: &str, meta: &Value| {
        flow.project.write_file(&format!("session/subagents/agent-{id}.meta.json"), &meta.to_string());
    };
    agent("a1", &json!({"agentType": "qa-engineer", "name": "bob"}));
    agent("a2", &json!({"agentType": "software-developer", "name": "eve"}));
    agent("a3", &json!({"agentType": "sdlc-orchestrator"}));
    agent("a4", &json!(["odd"]));
    for (to, held) in [
        ("a1", true),
        ("bob", true),
        ("a2", false),
        ("eve", false),
        ("a3", false),
        ("a4", false),
        ("zoe", false),
    ] {
        assert_eq!(is_denied(&flow, &message(to, "go on")), held, "{to}");
    }
    for to in ["../agent-a1", "", "/", "main"] {
        assert!(!is_denied(&flow, &message(to, "go on")), "{to}");
    }
    write_requirements(
        &flow,
        &json!({"phase_requirements": {"06-implementation": test_and_article_requirements()}}),
    );
    assert!(flow.find_denial("gate-blocker", &message("a3", "Proceed to the next phase")).is_some());
    assert!(flow.find_denial("gate-blocker", &message("a3", "What is the status?")).is_none());
}

#[test]
fn a_second_client_with_an_agent_counts_as_that_agent() {
    let flow = flow();
    for (line, held) in [
        ("claude --agent qa-engineer -p 'review it'", true),
        ("claude -p 'review it' --agent=qa-engineer", true),
        ("claude -p --agent 'QA Engineer' 'review it'", true),
        ("cd src && env A=1 claude --agent qa-engineer -p x", true),
        ("claude --agent software-developer -p x; claude --agent qa-engineer -p y", true),
        ("npx -y @anthropic-ai/claude-code --agent qa-engineer -p x", true),
        ("/usr/local/bin/claude --agent qa-engineer -p x", true),
        ("npx -p @anthropic-ai/claude-code claude --agent qa-engineer", true),
        ("pnpm dlx @anthropic-ai/claude-code --agent qa-engineer", true),
        ("yarn dlx @anthropic-ai/claude-code --agent qa-engineer", true),
        ("bun x claude --agent qa-engineer", true),
        ("npm exec claude -- --agent qa-engineer", true),
        ("node node_modules/@anthropic-ai/claude-code/cli.js --agent qa-engineer", true),
        ("npm install -g @anthropic-ai/claude-code", false),
        ("npm run claude-docs -- --agent qa-engineer", false),
        ("claude --agent software-developer -p 'write it'", false),
        ("claude -p 'what does --agent qa-engineer mean'", false),
        ("claude --agent general-purpose -p x", false),
        ("claude --version", false),
        ("echo claude --agent qa-engineer", false),
        ("cargo run -- --agent qa-engineer", false),
        ("ls", false),
    ] {
        let event = flow.call("PreToolUse.Bash", &json!({"command": line}));
        assert_eq!(is_denied(&flow, &event), held, "{line}");
    }
}

/// 004 §5.6: `subagent_type` contains "discover".
#[test]
fn an_agent_whose_name_contains_discover_is_a_discovery() {
    let flow = WorkflowProject::new();
    flow.write_state(&json!({"discovery_context": {"walkthrough_completed": false}}));
    for (agent, warned) in [
        ("discover", true),
        ("discover-agent", true),
        ("my-discover", true),
        ("isdlc:Discover Orchestrator", true),
        ("D0-Discover-Orchestrator", true),
        ("discovery", true),
        ("general-purpose", false),
        ("disco", false),
    ] {
        let mut event = flow.project.recorded_event("PostToolUse.Agent.completed");
        event["tool_input"]["subagent_type"] = json!(agent);
        assert_eq!(flow.find_warning("walkthrough-tracker", &event).is_some(), warned, "{agent}");
        let menu =
            "Choose:\n[1] New Project - start\n[2] Existing Project - look\n[3] Scoped Analysis - a part\n";
        event["tool_response"]["content"] = json!([{"type": "text", "text": menu}]);
        assert_eq!(flow.find_warning("discover-menu-guard", &event).is_some(), warned, "{agent}");
    }
}

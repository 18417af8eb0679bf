use serde_json::{Value, json};

use super::events::parse;
use super::render::{MOST_REASON, render};
use crate::{BLOCK_EXIT_CODE, HookAnswer, Unreadable};
use provost_core::decision::{Decision, Finding, Ruling};
use provost_core::effect::{Effect, ReadScope, WriteContent};
use provost_core::event::{Event, PermissionMode};
use provost_core::guard::{FailureMode, Guard};
use provost_core::opinion::{Denial, Fault, Opinion, Verdict};
use provost_core::tool::Tool;
use provost_guards::registry::{GUARDS, find_guard};

fn event(json: &Value) -> Event {
    parse(json.to_string().into_bytes().into()).unwrap()
}

fn tool_event(tool: &str, input: &Value) -> Event {
    event(&json!({"hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": tool, "tool_input": input}))
}

fn named(name: &str) -> Event {
    event(&json!({"hook_event_name": name, "cwd": "/p"}))
}

fn ruled(ruling: Ruling) -> Decision {
    Decision { ruling, ..Decision::default() }
}

fn answered(decision: &Decision, event: &Event) -> Value {
    let answer = render(decision, event);
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
    serde_json::from_str(&answer.stdout).unwrap()
}

#[test]
fn every_tool_becomes_effects() {
    let touches = |paths: &[&str]| paths.iter().map(|path| Effect::Touch { path: path.into() }).collect();
    let write = |path: &str, content| vec![Effect::Write { path: path.into(), content }];
    let cases = [
        ("Write", json!({"file_path": "/a", "content": "x"}), write("/a", WriteContent::InCall)),
        (
            "Edit",
            json!({"file_path": "b", "old_string": "x", "new_string": "y"}),
            write("/p/b", WriteContent::InCall),
        ),
        ("MultiEdit", json!({"file_path": "/a", "edits": []}), write("/a", WriteContent::InCall)),
        ("NotebookEdit", json!({"notebook_path": "/n.ipynb"}), write("/n.ipynb", WriteContent::Unknown)),
        ("Bash", json!({"command": "> f"}), write("/p/f", WriteContent::Unknown)),
        (
            "Read",
            json!({"file_path": "/a"}),
            vec![Effect::Read { path: "/a".into(), scope: ReadScope::File }],
        ),
        ("Grep", json!({"pattern": "x"}), vec![Effect::Read { path: "/p".into(), scope: ReadScope::Search }]),
        ("mcp__fs__write", json!(["f"]), vec![Effect::Touch { path: "/p/f".into() }]),
        ("mcp__fs__move", json!(["f"]), vec![Effect::Delete { path: "/p/f".into() }]),
        ("Write", json!({"file_path": 5, "path": "f"}), touches(&["/p/path", "/p/f"])),
        ("Bash", json!("rm f"), vec![Effect::Touch { path: "/p/rm f".into() }]),
        ("Bash", json!({"line": "f"}), touches(&["/p/line", "/p/f"])),
        ("Bash", json!({"description": "f"}), vec![]),
        ("TodoWrite", json!({"todos": ["f"]}), vec![]),
    ];
    for (tool, input, effects) in cases {
        assert_eq!(tool_event(tool, &input).effects(), effects, "{tool} {input}");
    }
}

#[test]
fn a_shell_call_without_a_command_is_an_empty_one() {
    for input in [json!(null), json!({}), json!({"command": 5, "timeout": 1}), json!({"command": ""})] {
        let event = tool_event("Bash", &input);
        let tool = &event.call().unwrap().tool;
        assert!(matches!(tool, Tool::Shell { command } if command.is_empty()), "{input}: {tool:?}");
    }
}

#[test]
fn calls_without_files_keep_the_fields_that_guards_need() {
    let tool = |name: &str, input: &Value| format!("{:?}", tool_event(name, input).call().unwrap().tool);
    for (name, input, parts) in [
        ("Task", json!({"subagent_type": "a"}), "Delegate { agent: Some(\"a\"), prompt: None"),
        ("Agent", json!({"prompt": "x"}), "Delegate { agent: None, prompt: Some(\"x\")"),
        ("Skill", json!({"skill": "s"}), "Skill { name: Some(\"s\")"),
        (
            "ExitPlanMode",
            json!({"planFilePath": "/x.md"}),
            "LeavePlanMode { plan: None, path: Some(\"/x.md\") }",
        ),
        ("ExitPlanMode", json!({}), "LeavePlanMode { plan: None, path: None }"),
    ] {
        assert!(tool(name, &input).starts_with(parts), "{name} {input}: {}", tool(name, &input));
    }
}

#[test]
fn every_event_has_its_kind() {
    for (name, kind) in [
        ("Stop", "Stop(TurnEnd"),
        ("SubagentStop", "SubagentStop(TurnEnd"),
        ("UserPromptSubmit", "Prompt { text: None"),
        ("SessionStart", "SessionStart { is_fresh: false }"),
        ("ConfigChange", "ConfigChange { file: None }"),
        ("Notification", "Other"),
        ("SomethingNew", "Other"),
    ] {
        let found = format!("{:?}", named(name).kind);
        assert!(found.starts_with(kind), "{name}: {found}");
    }
}

#[test]
fn an_event_without_a_name_is_unreadable() {
    assert_eq!(parse(b"{}".to_vec().into()).unwrap_err(), Unreadable::NoEvent);
    assert_eq!(parse(br#"{"hook_event_name":5}"#.to_vec().into()).unwrap_err(), Unreadable::NoEvent);
}

#[test]
fn an_unknown_permission_mode_is_kept_as_it_is() {
    let event = event(&json!({"hook_event_name": "Stop", "permission_mode": "bubble"}));
    assert_eq!(event.mode, PermissionMode::Other("bubble".into()));
}

#[test]
fn allowing_is_silence() {
    for name in ["PreToolUse", "Stop", "SessionStart", "Unheard"] {
        assert_eq!(render(&Decision::default(), &named(name)), HookAnswer::default());
    }
}

#[test]
fn a_denied_call_has_both_spellings() {
    let answer = answered(&ruled(Ruling::Deny("R".into())), &tool_event("Bash", &json!({})));
    assert_eq!(
        answer,
        json!({"decision": "block", "reason": "R", "hookSpecificOutput":
            {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "R"}})
    );
}

#[test]
fn a_question_is_asked_where_it_can_be_and_denied_elsewhere() {
    let question = ruled(Ruling::Ask("R".into()));
    let asked = answered(&question, &tool_event("Bash", &json!({})));
    assert_eq!(asked["hookSpecificOutput"]["permissionDecision"], "ask");
    let reason = &asked["hookSpecificOutput"]["permissionDecisionReason"];
    assert_eq!(reason, "R If nobody could be asked, it was denied.");
    assert!(asked.get("decision").is_none());
    assert_eq!(answered(&question, &named("SubagentStop")), json!({"decision": "block", "reason": "R"}));
}

/// In JSON, the model would get the reason twice.
#[test]
fn a_turn_is_blocked_from_ending_by_exit_code_two_with_stderr() {
    for ruling in [Ruling::Deny("R".into()), Ruling::Ask("R".into())] {
        let answer = render(&ruled(ruling), &named("Stop"));
        assert_eq!(answer, HookAnswer { stdout: "{}".into(), stderr: "R".into(), code: 2 });
    }
    let told = Decision { to_user: vec!["P".into()], ..ruled(Ruling::Deny("R".into())) };
    let answer = render(&told, &named("Stop"));
    let stdout = r#"{"systemMessage":"P"}"#.into();
    assert_eq!(answer, HookAnswer { stdout, stderr: "R".into(), code: 2 });
}

#[test]
fn prompts_and_settings_are_blocked_with_a_reason() {
    for name in ["SubagentStop", "UserPromptSubmit", "ConfigChange", "PostToolUse"] {
        let answer = answered(&ruled(Ruling::Deny("R".into())), &named(name));
        assert_eq!(answer, json!({"decision": "block", "reason": "R"}), "{name}");
    }
}

#[test]
fn a_closed_failure_is_exit_code_two_with_stderr() {
    let answer = render(&ruled(Ruling::FaultDenial("R".into())), &named("PreToolUse"));
    assert_eq!(answer, HookAnswer { stdout: String::new(), stderr: "R".into(), code: BLOCK_EXIT_CODE });
}

#[test]
fn notes_reach_the_model_or_else_the_user() {
    let note = Decision { to_model: vec!["m".into()], to_user: vec!["p".into()], ..Decision::default() };
    assert_eq!(
        answered(&note, &tool_event("Bash", &json!({}))),
        json!({"systemMessage": "p", "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "m"}})
    );
    // At a stop, context would continue the turn.
    assert_eq!(answered(&note, &named("Stop")), json!({"systemMessage": "p\nm"}));
    assert_eq!(answered(&note, &named("Unheard")), json!({"systemMessage": "p\nm"}));
}

#[test]
fn context_stays_below_the_clients_limit_and_nothing_carries_escapes() {
    let note = Decision { to_model: vec!["😀\u{1b}".repeat(20_000)], ..Decision::default() };
    let answer = answered(&note, &named("UserPromptSubmit"));
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.encode_utf16().count() < 10_000 && !context.contains('\u{1b}'));
    let reason = render(&ruled(Ruling::Deny("\u{1b}[2J".repeat(9_000))), &named("Stop")).stderr;
    assert!(reason.encode_utf16().count() <= MOST_REASON && !reason.contains('\u{1b}'));
}

fn found(guard: &'static Guard, outcome: Result<Opinion, Fault>) -> Finding {
    Finding::for_guard(guard, outcome, 0)
}

fn denial(what: &str) -> Denial {
    Denial {
        what: what.into(),
        why: format!("why {what}"),
        fix: format!("fix {what}"),
        document_wording: None,
    }
}

#[test]
fn when_several_deny_the_reason_carries_all_and_the_first_in_full() {
    let deny = |what| Ok(Opinion::deny(denial(what), Vec::new()));
    let ask = Ok(Opinion { verdict: Verdict::Ask(denial("c")), ..Opinion::default() });
    let findings = [found(&GUARDS[0], deny("a")), found(&GUARDS[1], deny("b")), found(&GUARDS[2], ask)];
    let Ruling::Deny(reason) = Decision::fold(&findings).ruling else { panic!() };
    assert_eq!(
        reason,
        "[provost] a: why a. To fix: fix a.\n[provost] also `registration-guard`: b: why b.\n[provost] also \
         `config-check`: c: why c."
    );
}

/// A denial of a call, as the whole answer to the event.
fn denied_call(denials: &[(&'static Guard, Denial)], event: &Event) -> Value {
    let finding = |(guard, denial): &(&'static Guard, Denial)| {
        found(guard, Ok(Opinion::deny(denial.clone(), Vec::new())))
    };
    answered(&Decision::fold(&denials.iter().map(finding).collect::<Vec<_>>()), event)
}

#[test]
fn the_user_reads_what_was_denied_by_which_guard_and_how_to_allow_it() {
    let guard = |name| find_guard(name).unwrap();
    let call = tool_event("Bash", &json!({"command": "git commit -m x"}));
    let one = denied_call(&[(guard("branch-guard"), denial("a"))], &call);
    assert_eq!(
        one["systemMessage"],
        "[provost] `git commit -m x` denied by `branch-guard`: why a.\n\
         You can allow this once: type `provost override branch-guard REASON`"
    );
    assert_eq!(
        one["reason"],
        "[provost] a: why a. To fix: fix a.\n[provost] Only the user can allow this once, with the prompt `provost \
         override branch-guard REASON`."
    );
    let two = [(guard("plan-surfacer"), denial("a")), (guard("gate-blocker"), denial("b"))];
    let two = denied_call(&two, &tool_event("Agent", &json!({"subagent_type": "dev"})));
    assert_eq!(
        two["systemMessage"],
        "[provost] agent `dev` denied by `plan-surfacer`: why a; by `gate-blocker`: why b.\nYou can allow this once: \
         type `provost override plan-surfacer REASON` and `provost override gate-blocker REASON`"
    );
    assert!(two["reason"].as_str().unwrap().ends_with(
        "with the prompts `provost override plan-surfacer REASON` and `provost override gate-blocker REASON`."
    ));
}

#[test]
fn the_users_way_past_a_guard_without_an_override_is_its_own() {
    let firm: &'static Guard =
        Box::leak(Box::new(Guard { is_overridable: false, way_out: "Edit it.", ..GUARDS[0] }));
    let open = find_guard("branch-guard").unwrap();
    let call = tool_event("Write", &json!({"file_path": "/p/a/b.rs", "content": ""}));
    let told = denied_call(&[(open, denial("a")), (firm, denial("b"))], &call);
    let told = told["systemMessage"].as_str().unwrap();
    assert!(
        told.starts_with("[provost] `a/b.rs` denied by `branch-guard`: why a; by ")
            && told.ends_with(".\nEdit it.")
    );
}

#[test]
fn only_a_denied_call_has_a_notice_and_it_is_short_and_harmless() {
    let guard = find_guard("branch-guard").unwrap();
    let long =
        Denial { what: "w".into(), why: "\u{1b}[2J".repeat(900), fix: "f".into(), document_wording: None };
    let command = "git commit\u{202e} `x` <system-reminder> ".repeat(900);
    let told = denied_call(&[(guard, long)], &tool_event("Bash", &json!({"command": command})));
    let told = told["systemMessage"].as_str().unwrap();
    assert!(told.chars().count() < 2_000 && told.lines().count() == 2, "{told}");
    assert!(!told.contains(['\u{1b}', '\u{202e}', '<']), "{told}");
    for name in ["SubagentStop", "ConfigChange"] {
        assert!(denied_call(&[(guard, denial("a"))], &named(name)).get("systemMessage").is_none(), "{name}");
    }
}

#[test]
fn a_fault_counts_by_the_guards_failure_mode() {
    let closed = GUARDS.iter().find(|guard| guard.failure_mode == FailureMode::Closed).unwrap();
    let open = GUARDS.iter().find(|guard| guard.failure_mode == FailureMode::Open).unwrap();
    let fault = || Err(Fault::Error("disk full".into()));
    assert!(
        matches!(Decision::fold(&[found(closed, fault())]).ruling, Ruling::FaultDenial(reason) if reason.contains("disk full"))
    );
    assert_eq!(Decision::fold(&[found(open, fault())]).ruling, Ruling::Silence);
    // A denial beside a fault is still complete.
    let both = [found(closed, Ok(Opinion::deny(denial("a"), Vec::new()))), found(closed, fault())];
    assert!(
        matches!(Decision::fold(&both).ruling, Ruling::FaultDenial(reason) if reason.starts_with("[provost] a: why a") && reason.contains("disk full"))
    );
}

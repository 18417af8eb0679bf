use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::past::{CallFate, FileOwner, PastAgent, PastEvent, PastEventKind};
use provost_core::event::{EventKind, PermissionMode};
use provost_core::tool::Tool;

const ALL: Detail = Detail { texts: true, results: true, files: true };

fn recorded(session: &str) -> Vec<PathBuf> {
    fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if files::identify_file(&path).is_some() {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts");
    walk(&all.join(format!("-home-dev-{session}")), &mut found);
    found.sort_by_key(|path| files::read_start(path).unwrap().time);
    found
}

fn read_file(path: &Path, detail: Detail) -> (Vec<PastEvent>, FileSummary) {
    let agent = match files::identify_file(path).unwrap() {
        FileOwner::Agent { id, .. } => Some(PastAgent { id: id.as_str().into(), kind: None }),
        FileOwner::Session(_) => None,
    };
    let (mut events, mut summary) = (Vec::new(), None);
    for item in open(path, FileContext { agent, ..FileContext::default() }, detail).unwrap() {
        match item {
            PastItem::Event(event) => events.push(event),
            PastItem::Progress(_) => {}
            PastItem::End(end) => summary = Some(end),
        }
    }
    (events, summary.unwrap())
}

fn read_lines(lines: &[u8]) -> (Vec<PastEvent>, FileSummary) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("0f.jsonl");
    std::fs::write(&path, lines).unwrap();
    read_file(&path, ALL)
}

fn read_records(records: &[Value]) -> Vec<PastEvent> {
    read_lines(to_lines(records).as_bytes()).0
}

fn to_lines(records: &[Value]) -> String {
    records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

fn read_session(name: &str) -> Vec<PastEvent> {
    recorded(name).iter().flat_map(|path| read_file(path, ALL).0).collect()
}

fn call(id: &str, tool: &str, input: &Value) -> Value {
    json!({"type": "assistant", "uuid": format!("a{id}"), "sessionId": "s", "cwd": "/p",
        "timestamp": "2026-01-01T00:00:00.500Z",
        "message": {"id": format!("m{id}"), "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]}})
}

fn result(id: &str, content: &Value, more: &Value) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
    let mut record = json!({"type": "user", "uuid": format!("r{id}"), "message": {"content": []}});
    for (name, value) in more.as_object().unwrap() {
        let place = if name == "is_error" { &mut block } else { &mut record };
        place[name] = value.clone();
    }
    record["message"]["content"] = json!([block]);
    record
}

fn prompt(text: &str) -> Value {
    json!({"type": "user", "uuid": format!("p{text}"), "message": {"role": "user", "content": text}})
}

fn said(text: &str) -> Value {
    json!({"type": "assistant", "uuid": format!("t{text}"),
        "message": {"id": text, "content": [{"type": "text", "text": text}]}})
}

fn fates(events: &[PastEvent]) -> Vec<(&str, CallFate)> {
    let calls = events.iter().filter_map(|event| match &event.kind {
        PastEventKind::Call(_, fate) => Some((event.id.as_deref()?, *fate)),
        _ => None,
    });
    calls.collect()
}

/// The counts were made by another program, in another language.
#[test]
fn the_totals_are_those_of_an_independent_counter() {
    let (mut calls, mut asked, mut in_agents) = (BTreeSet::new(), 0, 0);
    let (mut prompts, mut notifications, mut stops) = (BTreeSet::new(), 0, BTreeSet::new());
    let sessions = [
        "background",
        "denied",
        "denied-2-1-100",
        "interactive",
        "journal1",
        "parallel",
        "plan",
        "resume",
        "sigint",
        "stopblock",
        "stopblock-2-1-100",
        "subagents",
        "subagents-2-1-100",
        "tools",
        "tools-2-1-100",
    ];
    for event in sessions.iter().flat_map(|session| read_session(session)) {
        match event.kind {
            PastEventKind::Call(_, fate) if calls.insert(event.id.clone()) => {
                asked += usize::from(fate != CallFate::NeverAsked);
                in_agents += usize::from(event.agent.is_some());
            }
            PastEventKind::Prompt(_) => _ = prompts.insert(event.id),
            PastEventKind::TaskEnd { is_prompt, .. } => notifications += usize::from(is_prompt),
            PastEventKind::Stop { .. } if event.agent.is_none() => _ = stops.insert(event.id),
            _ => {}
        }
    }
    let counts = (calls.len(), asked, in_agents, prompts.len(), notifications, stops.len());
    assert_eq!(counts, (90, 80, 13, 24, 0, 25));
}

#[test]
fn a_fork_repeats_calls_and_began_later() {
    let files = recorded("resume");
    let [(original, first), (fork, second)] = [0, 1].map(|at: usize| read_file(&files[at], ALL));
    assert!(!first.is_fork && second.is_fork && first.start.time < second.start.time);
    let ids = |events: &[PastEvent]| -> Vec<String> {
        fates(events).iter().map(|(id, _)| (*id).to_owned()).collect()
    };
    assert_eq!((ids(&original).len(), ids(&original)), (2, ids(&fork)));
    assert_ne!(original[0].session, fork[0].session);
}

#[test]
fn what_became_of_a_call_is_told_by_its_result() {
    use CallFate::{DeniedByHook, DeniedByPermission, NeverAsked, RejectedByUser};
    for (session, fate, count) in [
        ("denied", NeverAsked, 2),
        ("denied", DeniedByHook, 1),
        ("denied", DeniedByPermission, 2),
        ("denied-2-1-100", NeverAsked, 2),
        ("denied-2-1-100", DeniedByHook, 1),
        ("denied-2-1-100", DeniedByPermission, 2),
        ("interactive", RejectedByUser, 2),
        ("plan", RejectedByUser, 1),
        ("sigint", RejectedByUser, 1),
    ] {
        let events = read_session(session);
        let found = fates(&events).iter().filter(|(_, found)| *found == fate).count();
        assert_eq!(found, count, "{session} {fate:?} {:?}", fates(&events));
    }
}

#[test]
fn a_command_cannot_print_that_it_was_never_asked() {
    let mark = json!("<tool_use_error>no</tool_use_error>");
    let parts = json!([{"type": "text", "text": "<tool_use_error>x"}]);
    let command = json!({"command": "echo '<tool_use_error>'"});
    let result_object = json!({"stdout": ""});
    for (content, more, is_asked) in [
        (&mark, json!({"is_error": true}), false),
        (&parts, json!({"is_error": true}), false),
        (&mark, json!({"toolUseResult": "Error: no"}), false),
        (&mark, json!({"is_error": false}), true),
        (&mark, json!({"toolUseResult": result_object}), true),
        (&json!("Exit code 1\n<tool_use_error>"), json!({"is_error": true}), true),
    ] {
        let events = read_records(&[call("1", "Bash", &command), result("1", content, &more)]);
        assert_eq!(fates(&events)[0].1 != CallFate::NeverAsked, is_asked, "{content} {more}");
    }
}

#[test]
fn events_come_in_the_order_of_the_hooks() {
    let command = json!({"command": "x"});
    let ok = json!({"is_error": false, "toolUseResult": {"stdout": "out"}});
    let events = read_records(&[
        prompt("go"),
        call("1", "Bash", &command),
        call("2", "Bash", &command),
        result("2", &json!("two"), &ok),
        result("1", &json!("one"), &ok),
        said("done"),
    ]);
    let shown: Vec<String> = events
        .iter()
        .map(|event| match &event.kind {
            PastEventKind::Call(..) => format!("call {}", event.id.as_deref().unwrap()),
            PastEventKind::Finished(..) => format!("end {}", event.id.as_deref().unwrap()),
            PastEventKind::Prompt(text) => text.clone(),
            PastEventKind::Stop { last_message, .. } => format!("stop {}", last_message.as_deref().unwrap()),
            _ => panic!(),
        })
        .collect();
    assert_eq!(shown, ["go", "call 1", "call 2", "end 2", "end 1", "stop done"]);
}

#[test]
fn a_call_without_a_result_does_not_hold_the_others_for_ever() {
    let mut records = vec![call("lost", "Bash", &json!({"command": "x"}))];
    for number in 0..2000 {
        records.push(call(&number.to_string(), "Read", &json!({"file_path": "/a"})));
        records.push(result(&number.to_string(), &json!("ok"), &json!({})));
    }
    let lines = to_lines(&records);
    let mut conversation = Conversation::new(FileContext::default(), Detail::default());
    let (mut ready, mut most) = (Vec::new(), 0);
    for (number, line) in lines.lines().enumerate() {
        assert!(conversation.read(line.as_bytes(), false).is_ok());
        while let Some(event) = conversation.take_ready() {
            ready.push(event);
        }
        most = most.max(number / 2 - ready.len().min(number / 2));
    }
    conversation.end();
    ready.extend(std::iter::from_fn(|| conversation.take_ready()));
    assert_eq!((fates(&ready)[0], ready.len()), (("lost", CallFate::Unknown), 2001));
    assert!(most < 600, "{most}");
}

#[test]
fn plan_mode_begins_and_ends_with_its_tools() {
    let modes: Vec<String> = read_session("plan")
        .iter()
        .filter(|event| matches!(event.kind, PastEventKind::Call(..)))
        .map(|event| event.mode.as_deref().unwrap().to_owned())
        .collect();
    assert_eq!(modes, ["plan", "plan", "plan", "plan", "default"]);
    let events = read_session("interactive");
    let mode_of = |wanted: &str| {
        let found =
            events.iter().find(|event| matches!(&event.kind, PastEventKind::Prompt(text) if text == wanted));
        found.unwrap().mode.clone().unwrap()
    };
    assert_eq!((&*mode_of("run a long thing"), &*mode_of("write the file")), ("default", "acceptEdits"));
}

#[test]
fn an_agent_inherits_the_mode_of_its_session() {
    let files = recorded("subagents");
    let modes = crate::past::ModeTimeline::default();
    let mut seen = Vec::new();
    for (path, agent) in files.iter().zip([false, true]) {
        let agent = agent.then(|| PastAgent { id: "a".into(), kind: None });
        let context = FileContext { session: None, agent, modes: modes.clone() };
        for item in open(path, context, ALL).unwrap() {
            if let PastItem::Event(event) = item {
                seen.push(build(&event).unwrap().mode);
            }
        }
    }
    assert!(
        seen.len() > 8 && seen.iter().all(|mode| *mode == PermissionMode::Other("default".into())),
        "{seen:?}"
    );
}

#[test]
fn only_what_the_user_typed_is_a_prompt() {
    let prompts = |events: &[PastEvent]| -> Vec<String> {
        let texts = events.iter().filter_map(|event| match &event.kind {
            PastEventKind::Prompt(text) => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    };
    assert_eq!(
        prompts(&read_session("interactive")),
        [
            "run a long thing",
            "now add everything",
            "/hello there",
            "write the file",
            "slow please",
            "slow please/exit"
        ]
    );
    let first = read_file(&recorded("resume")[0], ALL).0;
    assert_eq!(prompts(&first), ["First prompt", "Second prompt", "/hello big world", "After compact"]);
    let notification = prompt("<task-notification>\n<task-id>x</task-id>");
    assert!(prompts(&read_records(&[notification])).is_empty());
}

#[test]
fn a_turn_ends_with_a_message_that_calls_nothing() {
    let stops = |events: &[PastEvent]| -> Vec<(String, bool)> {
        let found = events.iter().filter_map(|event| match &event.kind {
            PastEventKind::Stop { last_message, has_been_blocked } => {
                Some((last_message.clone().unwrap_or_default(), *has_been_blocked))
            }
            _ => None,
        });
        found.collect()
    };
    let blocked = [("first stop", false), ("second stop", true), ("third stop", true)];
    let blocked = blocked.map(|(text, blocked)| (text.to_owned(), blocked));
    assert_eq!(stops(&read_session("stopblock")), blocked);
    assert_eq!(stops(&read_session("stopblock-2-1-100")), blocked);
    assert_eq!(stops(&read_session("sigint")), []);
    // The parts of one message stand in several lines, the call in the last.
    let mut thought = call("1", "Bash", &json!({"command": "x"}));
    thought["message"]["content"] = json!([{"type": "text", "text": "I look"}]);
    let events = read_records(&[thought, call("1", "Bash", &json!({"command": "x"})), prompt("next")]);
    assert_eq!(stops(&events), []);
}

#[test]
fn a_call_becomes_the_event_that_its_hook_got() {
    let events = read_session("subagents");
    let built: Vec<_> = events.iter().filter_map(|event| Some((event, build(event)?))).collect();
    assert!(built.len() > 10);
    for (past, event) in &built {
        assert_eq!(event.cwd, Path::new("/home/dev/subagents"));
        assert_eq!(event.session.as_deref(), past.session.as_deref());
        assert_eq!(event.agent.is_some(), past.agent.is_some());
        assert!(event.turn.is_some() || event.agent.is_some());
        match (&past.kind, &event.kind) {
            (PastEventKind::Call(call, _), EventKind::BeforeTool(built)) => {
                assert_eq!((&call.tool, past.id.as_deref()), (&built.native_tool, built.id.as_deref()));
                assert!(!matches!(built.tool, Tool::Other { .. }), "{built:?}");
            }
            (PastEventKind::Finished(..), EventKind::AfterTool(call) | EventKind::ToolFailed(call)) => {
                assert!(call.id.is_some());
            }
            (PastEventKind::Prompt(_) | PastEventKind::TaskEnd { .. }, EventKind::Prompt { .. }) => {}
            (PastEventKind::Stop { .. }, EventKind::Stop(_) | EventKind::SubagentStop(_)) => {}
            (past, event) => panic!("{past:?} {event:?}"),
        }
    }
}

fn build(past: &PastEvent) -> Option<provost_core::event::Event> {
    hook_form::build_event(past)
}

#[test]
fn a_failed_command_has_its_exit_code() {
    let events = read_session("tools");
    let codes: Vec<_> = events
        .iter()
        .filter_map(|event| match build(event)?.kind {
            EventKind::ToolFailed(call) => call.outcome.exit_code,
            _ => None,
        })
        .collect();
    assert!(codes.contains(&3), "{codes:?}");
}

#[test]
fn a_wrong_name_of_a_field_is_corrected_by_the_result() {
    let done = json!({"toolUseResult": {"type": "update", "filePath": "/p/a.txt", "originalFile": "old\n"}});
    let events = read_records(&[
        call("1", "Write", &json!({"path": "/p/a.txt", "content": "x"})),
        result("1", &json!("ok"), &done),
    ]);
    let event = build(&events[0]).unwrap();
    let tool = &event.call().unwrap().tool;
    assert!(
        matches!(tool, Tool::Write { path, content: Some(_) } if path == Path::new("/p/a.txt")),
        "{tool:?}"
    );
    let PastEventKind::Call(call, _) = &events[0].kind else { panic!() };
    assert_eq!(call.file_before, Some(Some("old\n".into())));
}

#[test]
fn an_agent_is_of_the_kind_that_its_call_names() {
    let files = recorded("subagents");
    let (session, agents): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| !file.to_string_lossy().contains("/agent-"));
    let agents: Vec<&Path> = agents.into_iter().map(PathBuf::as_path).collect();
    assert_eq!(agents::find_kinds(Some(session[0]), &agents), vec![Some("general-purpose".to_owned()); 4]);
    // Older versions write nothing beside the transcript.
    let dir = tempfile::tempdir().unwrap();
    let main = dir.path().join("s.jsonl");
    let progress = |agent: &str, call: &str| json!({"type": "progress", "data": {"type": "agent_progress", "agentId": agent}, "parentToolUseID": call});
    let records = [
        call("t1", "Task", &json!({"subagent_type": "Explore", "prompt": "x"})),
        progress("a1", "t1"),
        call("t2", "Task", &json!({"subagent_type": "tdd-planner", "prompt": "x"})),
        result("t2", &json!("ok"), &json!({"toolUseResult": {"agentId": "a2", "status": "completed"}})),
    ];
    std::fs::write(&main, records.map(|record| record.to_string()).join("\n")).unwrap();
    let agents = ["agent-a1.jsonl", "agent-a2.jsonl", "agent-a3.jsonl"].map(|name| dir.path().join(name));
    let agents: Vec<&Path> = agents.iter().map(PathBuf::as_path).collect();
    let kinds = agents::find_kinds(Some(&main), &agents);
    assert_eq!(kinds, [Some("Explore".into()), Some("tdd-planner".into()), None]);
}

#[test]
fn what_cannot_be_read_is_counted_by_its_reason() {
    let good = call("1", "Bash", &json!({"command": "x"})).to_string();
    let no_id = call("", "Bash", &json!({"command": "x"})).to_string();
    let synthetic =
        good.replace("\"message\":{", "\"message\":{\"model\":\"<synthetic>\",").replace("\"1\"", "\"2\"");
    let broken_inside = good.replace("\"input\":{", "\"input\":{nonsense ").replace("\"1\"", "\"3\"");
    let lines = [
        "\u{feff}{\"type\":\"mode\"}\r",
        &good,
        "",
        "  ",
        "\u{0}\u{1}binary",
        "[1]",
        "{\"type\":\"brand-new\"}",
        "{\"no\":\"type\"}",
        "{\"type\":\"assistant\",\"message\":5}",
        &no_id,
        &synthetic,
        &broken_inside,
        &format!("{good}{good}"),
        "{\"type\":\"user\",\"message\":{\"content\":\"half",
    ];
    let (events, summary) = read_lines(lines.join("\n").as_bytes());
    assert_eq!(fates(&events), [("1", CallFate::Unknown)]);
    assert_eq!(
        summary.skipped,
        [(HALF_WRITTEN, 1), (NOT_JSON, 4), (UNKNOWN_TYPE, 2), (MALFORMED, 2)]
            .into_iter()
            .collect::<std::collections::BTreeMap<_, _>>()
            .into_iter()
            .collect::<Vec<_>>()
    );
    assert_eq!(summary.records, 7);
}

#[test]
fn broken_text_and_deep_nesting_do_not_stop_the_reader() {
    let half = r#"{"type":"user","uuid":"p","message":{"content":"x\ud83d"}}"#;
    let deep = format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"d","name":"Bash","input":{}1{}}}]}}}}"#,
        "[".repeat(9000),
        "]".repeat(9000)
    );
    let bad_utf8 = b"{\"type\":\"user\",\"uuid\":\"q\",\"message\":{\"content\":\"y\xff\"}}\n";
    let lines = [half.as_bytes(), b"\n", deep.as_bytes(), b"\n", bad_utf8].concat();
    let (events, summary) = read_lines(&lines);
    let prompts: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            PastEventKind::Prompt(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!((prompts, summary.skipped), (vec!["x\u{fffd}", "y\u{fffd}"], Vec::new()));
    let deep_call = events.iter().find(|event| matches!(event.kind, PastEventKind::Call(..))).unwrap();
    assert!(build(deep_call).is_none());
}

#[test]
fn an_event_without_a_directory_does_not_take_that_of_this_process() {
    let event = PastEvent {
        kind: PastEventKind::Prompt("x".into()),
        id: None,
        time: None,
        session: None,
        agent: None,
        main_agent: None,
        cwd: None,
        branch: None,
        mode: None,
        turn: None,
    };
    assert_eq!(build(&event).unwrap().cwd, Path::new("/"));
    let elsewhere = PastEvent { cwd: Some(Arc::from("/gone/dir")), ..event };
    assert_eq!(build(&elsewhere).unwrap().cwd, Path::new("/gone/dir"));
}

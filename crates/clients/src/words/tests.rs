//! What is read from events that the real clients have sent.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::recognition::recognize;
use crate::json::Fields;
use crate::{CLIENTS, Client, HookInput};
use provost_core::event::{Event, EventKind};
use provost_core::tool::Tool;

fn recorded_events() -> Vec<(&'static Client, String, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/client-events");
    let mut found = Vec::new();
    for client in CLIENTS.iter().filter(|client| client.name != "claude") {
        let mut files: Vec<PathBuf> =
            fs::read_dir(directory.join(client.name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            found.push((*client, name, fs::read(file).unwrap()));
        }
    }
    assert!(found.len() > 170, "{} events", found.len());
    found
}

fn describe(event: &Event) -> String {
    let call = |kind: &str, event: &Event| {
        let call = event.call().unwrap();
        let what = match &call.tool {
            Tool::Delegate { agent, prompt, .. } => {
                format!("Delegate({agent:?}, {:?})", prompt.as_deref().unwrap_or("-"))
            }
            Tool::Other { commands, .. } => format!("Other({:?}, {commands:?})", call.native_tool),
            tool => format!("{tool:?}"),
        };
        let outcome = &call.outcome;
        let ended = match (kind, outcome.exit_code, outcome.is_unfinished) {
            ("before" | "permission", ..) => String::new(),
            (_, code, unfinished) => {
                format!(" -> exit {code:?}{}", if unfinished { ", unfinished" } else { "" })
            }
        };
        format!("{kind} {what}{ended}")
    };
    let what = match &event.kind {
        EventKind::BeforeTool(_) => call("before", event),
        EventKind::AfterTool(_) => call("after", event),
        EventKind::ToolFailed(_) => call("failed", event),
        EventKind::Permission(_) => call("permission", event),
        EventKind::Prompt { text, is_by_user, .. } => format!("prompt {text:?}, by user: {is_by_user}"),
        EventKind::Stop(end) => {
            format!("stop, held before: {}, said {:?}", end.has_been_blocked, end.last_message)
        }
        EventKind::SubagentStop(end) => {
            format!(
                "subagent stop, held before: {}, said {:?}",
                end.has_been_blocked,
                end.last_message.as_ref().map(|text| text.chars().take(24).collect::<String>())
            )
        }
        kind => format!("{kind:?}"),
    };
    let agent = event.agent.as_ref().map(|agent| {
        let id = if agent.id.is_some() { "with an id" } else { "without an id" };
        format!(" [agent {:?}, {id}]", agent.kind)
    });
    let session = if event.session.is_some() { "" } else { " [no session]" };
    format!("{}: {what}{}{session}", event.native_name, agent.unwrap_or_default())
}

#[test]
fn recorded_events_have_the_same_meaning_on_every_client() {
    let mut lines = Vec::new();
    for (client, name, input) in recorded_events() {
        let said = match (client.dialect.parse)(HookInput::Ordinary(input)) {
            Ok(event) => describe(&event),
            Err(error) => format!("unreadable: {error}"),
        };
        lines.push(format!("{}/{name}: {said}", client.name));
    }
    insta::assert_snapshot!("recorded", lines.join("\n"));
}

#[test]
fn a_recorded_event_names_its_client() {
    let mut wrong = Vec::new();
    for (client, name, input) in recorded_events() {
        let fields = Fields::parse(&input).unwrap();
        let found = recognize(&fields.0).map_or("claude", |(client, _)| client.name);
        if found != client.name {
            wrong.push(format!("{}/{name} is read as {found}", client.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/events");
    for file in fs::read_dir(own).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(Value::Object(fields)) = serde_json::from_slice(&fs::read(&file).unwrap()) else { continue };
        let found = recognize(&fields).map(|(client, _)| client.name);
        assert_eq!(found, None, "{}", file.display());
    }
}

//! The 66 events recorded from the real client, and everything one field can do to them.
//!
//! A client adds, drops and retypes fields between versions, so no field may be relied on: each
//! place of each event is taken away, given every other type, and joined by unknown fields.
//! All of these run through the library, where a panic is seen; a fixed sample of them also runs
//! through the binary, where the answer is seen as the client would see it.

use std::fs;

use crate::support::{TestProject, events_directory};
use provost::clients::{self, Client, HookAnswer, Unreadable};
use provost::config::Config;
use provost::decision::Decision;
use provost::engine;
use provost::event::EventKind;
use provost::opinion::Fault;
use provost::places::Places;
use provost::registry::GuardSelection;
use provost::workspace::Workspace;
use serde_json::{Value, json};

/// One in so many mutations also runs through the binary.
const SAMPLE: usize = 20;

#[test]
fn each_recorded_event_passes_in_silence_with_no_guard_enabled() {
    let project = TestProject::with_no_guard();
    for name in names() {
        let answer = project.hook(&project.recorded_event(&name));
        assert!(answer.is_silent(), "{name}: {answer:?}");
    }
}

#[test]
fn each_recorded_event_passes_in_silence_with_all_guards_enabled() {
    let project = TestProject::new();
    for name in names() {
        let answer = project.hook(&project.recorded_event(&name));
        assert!(answer.is_silent(), "{name}: {answer:?}");
    }
}

#[test]
fn each_recorded_event_is_read_with_its_name_session_and_place() {
    let project = TestProject::new();
    for name in names() {
        let recorded = project.recorded_event(&name);
        let event = (claude().dialect.parse)(recorded.to_string().into_bytes().into()).expect(&name);
        assert_eq!(Some(event.native_name.as_str()), recorded["hook_event_name"].as_str(), "{name}");
        assert_eq!(event.session.as_deref(), recorded["session_id"].as_str(), "{name}");
        assert_eq!(event.cwd.to_str(), recorded["cwd"].as_str(), "{name}");
        assert_eq!(
            event.call().map(|call| call.native_tool.as_str()),
            recorded["tool_name"].as_str().filter(|_| !name.starts_with("PermissionDenied")),
            "{name}"
        );
    }
}

#[test]
fn each_event_that_guards_speak_about_has_a_kind_of_its_own() {
    const SPOKEN_OF: &[&str] = &[
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionRequest",
        "UserPromptSubmit",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "SessionStart",
        "SessionEnd",
        "ConfigChange",
    ];
    let project = TestProject::new();
    for name in names() {
        let event = (claude().dialect.parse)(project.recorded_event(&name).to_string().into_bytes().into())
            .expect(&name);
        let spoken_of = SPOKEN_OF.contains(&event.native_name.as_str());
        assert_eq!(!matches!(event.kind, EventKind::Other), spoken_of, "{name}");
    }
}

#[test]
fn no_mutation_panics_or_holds_a_harmless_event_back() {
    let project = TestProject::new();
    let mut count = 0;
    for name in names() {
        for (what, event) in mutations(&project.recorded_event(&name)) {
            count += 1;
            let bytes = event.to_string();
            let outcome = engine::catch_panic(|| judged(&project, bytes.as_bytes()));
            let outcome = outcome.unwrap_or_else(|panic| panic!("{name} with {what}: {panic}"));
            match outcome {
                Ok(answer) => assert_eq!(answer, HookAnswer::default(), "{name} with {what}"),
                Err(why) => {
                    assert_eq!(why, Unreadable::NoEvent, "{name} with {what}");
                    assert!(!event["hook_event_name"].is_string(), "{name} with {what}");
                }
            }
        }
    }
    assert!(count > 7_000, "only {count} mutations");
}

#[test]
fn sampled_mutations_pass_in_silence_with_no_guard_enabled() {
    let project = TestProject::with_no_guard();
    for (what, event) in sample(&project) {
        let answer = project.hook(&event);
        assert!(answer.is_silent(), "{what}: {answer:?}");
    }
}

#[test]
fn sampled_mutations_are_answered_in_form_with_all_guards_enabled() {
    let project = TestProject::new();
    for (what, event) in sample(&project) {
        let answer = project.hook(&event);
        if let Err(why) = answer.check_form() {
            panic!("{what}: {why}: {answer:?}");
        }
        // Only an event that may be a tool call is denied.
        let expected = if event["hook_event_name"].is_string() { 0 } else { 2 };
        assert_eq!(answer.code, Some(expected), "{what}: {answer:?}");
    }
}

#[test]
fn every_mutation_of_an_events_name_is_the_most_protective_answer() {
    let project = TestProject::new();
    for (what, event) in mutations(&project.recorded_event("PreToolUse.Bash")) {
        if !event["hook_event_name"].is_string() {
            let answer = project.hook(&event);
            assert!(
                answer.expect_closed_failure().contains("the input names no event"),
                "{what}: {answer:?}"
            );
        }
    }
}

#[test]
fn no_field_around_a_forbidden_call_makes_it_pass() {
    let project = TestProject::new();
    let forbidden = project.write(project.path.join("provost.toml"), "");
    let of_the_call = ["hook_event_name", "tool_name", "tool_input"];
    for (what, event) in mutations(&forbidden) {
        if of_the_call.iter().all(|field| event[field] == forbidden[field]) {
            assert!(project.hook(&event).find_denial().is_ok(), "{what}");
        }
    }
}

/// The way of an event through the house, without a process.
fn judged(project: &TestProject, bytes: &[u8]) -> Result<HookAnswer, Unreadable> {
    let event = (claude().dialect.parse)(bytes.to_vec().into())?;
    let places = Places {
        home: Some(project.home.clone()),
        config: Some(project.home.join(".config/provost")),
        state: Some(project.state_directory()),
        managed: None,
    };
    let (start, root) = (project.path.clone(), project.path.clone());
    let workspace = Workspace::new(&claude().facts, start, root, places, Config::default());
    // Effects are computed for every event, also where no guard of today asks for them.
    let _ = event.effects();
    let guards = GuardSelection::select_for_event(&event, &workspace.config);
    let findings = engine::ask_guards(&guards, &event, &workspace);
    for finding in &findings {
        if let Err(Fault::Panic(text)) = &finding.outcome {
            panic!("{:?}: {text}", finding.name());
        }
    }
    Ok((claude().dialect.render)(&Decision::fold(&findings), &event))
}

fn claude() -> &'static Client {
    clients::find_client("claude").unwrap()
}

fn names() -> Vec<String> {
    let files = fs::read_dir(events_directory()).unwrap().map(|file| file.unwrap().path());
    let mut names: Vec<String> =
        files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    assert_eq!(names.len(), 66, "a recorded event is missing");
    names
}

fn sample(project: &TestProject) -> Vec<(String, Value)> {
    let all = names().into_iter().flat_map(|name| {
        let mutations = mutations(&project.recorded_event(&name));
        mutations.into_iter().map(move |(what, event)| (format!("{name} with {what}"), event))
    });
    all.step_by(SAMPLE).collect()
}

/// The event with each of its places, however deep, gone or of another type, and with an unknown
/// field in each of its objects.
fn mutations(event: &Value) -> Vec<(String, Value)> {
    let mut mutations = Vec::new();
    let mut places = Vec::new();
    collect_places(event, String::new(), &mut places);
    for place in places {
        let at = event.pointer(&place).unwrap();
        if let Value::Object(_) = at {
            let mut added = event.clone();
            added.pointer_mut(&place).unwrap()["of_tomorrow"] = json!({"file_path": ["x", null, {"y": 1.5}]});
            mutations.push((format!("an unknown field in `{place}`"), added));
        }
        if place.is_empty() {
            continue;
        }
        let mut without = event.clone();
        remove(&mut without, &place);
        mutations.push((format!("no `{place}`"), without));
        for other in types() {
            if *at != other {
                let mut swapped = event.clone();
                let words: String = other.to_string().chars().take(20).collect();
                *swapped.pointer_mut(&place).unwrap() = other;
                mutations.push((format!("`{place}` = {words}"), swapped));
            }
        }
    }
    mutations
}

fn types() -> Vec<Value> {
    // The deepest that the parser accepts. `hook_process` tests deeper events.
    let deep = (0..100).fold(json!("core"), |inner, _| json!([inner]));
    vec![Value::Null, json!(true), json!(5), json!("text"), json!([]), json!({}), deep]
}

fn collect_places(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect_places(inner, format!("{at}/{name}"), places);
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                collect_places(inner, format!("{at}/{index}"), places);
            }
        }
        _ => {}
    }
    places.push(at);
}

fn remove(event: &mut Value, place: &str) {
    let (parent, name) = place.rsplit_once('/').unwrap();
    match event.pointer_mut(parent).unwrap() {
        Value::Object(map) => {
            map.remove(&name.replace("~1", "/").replace("~0", "~")).unwrap();
        }
        Value::Array(list) => {
            list.remove(name.parse().unwrap());
        }
        _ => unreachable!("only objects and lists have places"),
    }
}

//! What the user's screen shows of a denied call.
//!
//! Of the reason, Claude Code's terminal shows the first 200 characters, behind words of its own, and nothing
//! where several calls are denied at once. So the start of each reason carries what was denied and how to
//! fix it, and a message to the user carries what, why and the way out.

use std::collections::BTreeMap;

use serde_json::Value;

use super::denials::{self, Denied};
use super::scenes;
use super::stage::{self, Deed, Stage};
use crate::support::{Answer, assert_shown, program};
use provost::registry::GUARDS;

/// How many characters of the client's words and the reason are shown, without the sign of the cut.
const SHOWN: usize = 199;

#[test]
fn the_start_of_every_denial_says_what_was_denied_and_how_to_fix_it() {
    let wrong: Vec<String> = denied_calls()
        .iter()
        .filter_map(|(stage, answer)| flaw(stage, &subject(&stage.event), &answer.expect_denial()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_text_of_every_guard_says_what_why_and_the_fix_first() {
    let mut wrong = Vec::new();
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for Denied { stage, begins_with } in denials::all() {
        let answer = ask(&stage);
        let Some(reason) = stage::denial(&answer) else {
            let command = shown(&stage.event["tool_input"].to_string(), 200);
            wrong.push(format!("{}: not denied: {command}\n  {answer:?}", stage.guard.name));
            continue;
        };
        if !reason.starts_with(&format!("[provost] {begins_with}")) {
            wrong.push(format!("{}: does not begin with {begins_with}: {reason}", stage.guard.name));
        }
        wrong.extend(flaw(&stage, &begins_with, &reason));
        let call = stage.event["tool_input"].to_string();
        // A long call has the texts of its short form, and where it is cut depends on the machine's paths.
        let is_cut = call.len() > 2000 || call.contains("a-long-name/");
        if !is_cut && !call.contains(program().to_str().unwrap()) {
            let text = format!("##### {} {call}\n{}\n", stage.event["tool_name"], answer.whole());
            *texts.entry(stage.guard.name).or_default() += &stage.project.shorten_paths(&text);
        }
    }
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
    for (guard, text) in texts {
        let name = format!("denials-{guard}");
        assert_shown!(name.as_str(), text);
    }
}

#[test]
fn every_denial_tells_the_user_what_was_denied_by_whom_and_the_way_out() {
    for (stage, answer) in denied_calls() {
        let message = answer.json()["systemMessage"].as_str().expect("a message").to_owned();
        let (first, way_out) = message.split_once('\n').unwrap();
        // The guard `rules` names the rule.
        let name = if stage.guard.name == "rules" { "rule:no-force-push" } else { stage.guard.name };
        assert!(first.contains(&subject(&stage.event)), "{name}: {message}");
        assert!(first.contains(&format!("denied by `{name}`: ")), "{name}: {message}");
        if stage.guard.is_overridable {
            assert_eq!(way_out, format!("You can allow this once: type `provost override {name} REASON`"));
        } else {
            assert_eq!(way_out, stage.guard.way_out);
        }
        assert!(message.chars().count() <= 400, "{name}: {message}");
    }
}

/// Every guard that denies a call, in its scene, and its answer.
fn denied_calls() -> Vec<(Stage, Answer)> {
    let mut calls = Vec::new();
    for guard in GUARDS.iter().filter(|guard| guard.can_block) {
        let mut stage = scenes::of(guard.name)();
        if guard.name == "state-write-validator" {
            stage.event["hook_event_name"] = "PreToolUse".into();
            stage.config.push(("phases", "validate = \"before\"".into()));
        } else if !matches!(stage.deed, Deed::Denies(_)) {
            panic!("`{}` denies nothing in its scene", guard.name);
        }
        if stage.event["hook_event_name"] != "PreToolUse" {
            continue;
        }
        let answer = ask(&stage);
        answer.expect_denial();
        calls.push((stage, answer));
    }
    assert!(calls.len() >= 12, "{} guards deny a call", calls.len());
    calls
}

fn ask(stage: &Stage) -> Answer {
    stage.write_config();
    let packs: Vec<&str> = stage.packs.iter().flat_map(|pack| ["--pack", pack]).collect();
    stage.project.hook_with(&packs, &stage.event)
}

/// What the start of a denial lacks. `subject`: what the user knows the call by.
fn flaw(stage: &Stage, subject: &str, reason: &str) -> Option<String> {
    let tool = stage.event["tool_name"].as_str().unwrap();
    let room = SHOWN - format!("PreToolUse:{tool} hook error: ").len();
    let shown = shown(reason, room);
    let complaint = |what: &str| {
        Some(format!(
            "{}: {what}\n  shown: {}\n  whole: {}",
            stage.guard.name,
            stage.project.shorten_paths(&shown),
            stage.project.shorten_paths(reason)
        ))
    };
    if !shown.contains(subject) {
        return complaint("what was denied is not in it");
    }
    let Some((_, fix)) = shown.split_once("To fix: ") else { return complaint("no fix in it") };
    // A fix may go on, but its first clause is of use alone.
    let has_clause = [", ", "; ", ": ", ". ", ".\n"].iter().any(|end| fix.contains(end))
        || (fix.ends_with('.') && reason.chars().count() <= room);
    if has_clause { None } else { complaint("the fix is cut off") }
}

fn shown(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// The part of the call that anybody recognizes.
fn subject(event: &Value) -> String {
    let input = &event["tool_input"];
    let text = |name: &str| input[name].as_str().map(str::to_owned);
    match event["tool_name"].as_str().unwrap() {
        "Bash" => text("command").unwrap().chars().take(40).collect(),
        "Agent" | "Task" => text("subagent_type").unwrap(),
        "ExitPlanMode" => "plan".into(),
        _ => text("file_path").unwrap().rsplit('/').next().unwrap().to_owned(),
    }
}

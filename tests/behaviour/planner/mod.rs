//! The read-only planner: every case of document 002 by its name, and the defects of its scripts.
//!
//! Each decision is checked twice: with the `compat` command, which judges every caller, and with
//! `provost hook` for a planner. Both must agree.

mod agents;
mod allowlist;
mod bypasses;
mod compat;
mod file_tools;
mod hostile;
mod messages;
mod redirection;
mod sections;
mod settings;
mod stop;

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::support::{Answer, TestProject, assert_shown};
use serde_json::{Value, json};

const GUARD: &str = "planner-bash-guard";
const VALIDATOR: &str = "validate-plan-output";

/// A complete plan.
const PLAN: &str = "# Login\n\n## Feature Analysis\n\nText.\n\n## Slice 1: Form\n\nText.\n";

/// The event as a subagent of the planner's type causes it.
fn by_planner(mut event: Value) -> Value {
    event["agent_id"] = "a109d47d15c5167d3".into();
    event["agent_type"] = "tdd-planner".into();
    event
}

/// The decision on a command line: `Err` with the reason if it is blocked.
fn decided(project: &TestProject, line: &str) -> Result<Result<(), String>, String> {
    let event = project.bash(line);
    let script = by_script(&project.run_compat(&[GUARD], event.to_string().as_bytes()))?;
    let hook = by_hook(&project.hook(&by_planner(event)))?;
    if script.as_ref().err() != hook.as_ref().err() {
        return Err(format!("the script says {script:?}, the hook {hook:?}"));
    }
    Ok(hook)
}

/// The decision of a `compat` command. The outer error is an answer in an unknown form.
fn by_script(answer: &Answer) -> Result<Result<(), String>, String> {
    match answer.code {
        Some(0) if answer.is_silent() => Ok(Ok(())),
        Some(2) if answer.stdout.is_empty() && !answer.stderr.starts_with("[provost]") => {
            Ok(Err(answer.stderr.trim_end().to_owned()))
        }
        _ => Err(format!("no form of a script's answer: {answer:?}")),
    }
}

fn by_hook(answer: &Answer) -> Result<Result<(), String>, String> {
    if answer.is_silent() {
        return Ok(Ok(()));
    }
    let reason = answer.find_denial().map_err(|why| format!("{why}: {answer:?}"))?;
    let reason = reason.strip_prefix("[provost] ").unwrap_or(&reason);
    // The hook names the call first.
    let at = reason.find("` BLOCKED: ").map_or(0, |at| at + 2);
    Ok(Err(reason[at..].to_owned()))
}

/// Fails with the list of all lines that are not allowed in both ways.
#[track_caller]
fn allows(project: &TestProject, lines: &[&str]) {
    let wrong: Vec<_> = lines
        .iter()
        .filter_map(|line| match decided(project, line) {
            Ok(Ok(())) => None,
            Ok(Err(reason)) => Some(format!("\n  {line}\n      {reason}")),
            Err(why) => Some(format!("\n  {line}\n      {why}")),
        })
        .collect();
    assert!(wrong.is_empty(), "not allowed:{}", project.shorten_paths(&wrong.concat()));
}

/// Fails with the list of all lines that are not blocked in both ways, with these words.
#[track_caller]
fn blocks(project: &TestProject, words: &str, lines: &[&str]) {
    let wrong: Vec<_> = lines
        .iter()
        .filter_map(|line| match decided(project, line) {
            Ok(Err(reason)) if reason.starts_with("BLOCKED: ") && reason.contains(words) => None,
            other => Some(format!("\n  {line}\n      {other:?}")),
        })
        .collect();
    assert!(wrong.is_empty(), "not blocked with {words:?}:{}", project.shorten_paths(&wrong.concat()));
}

/// Writes a plan that was changed some minutes ago.
fn plan(project: &TestProject, name: &str, text: &str, minutes: u64) -> PathBuf {
    let path = project.write_file(name, text);
    let time = SystemTime::now() - Duration::from_secs(minutes * 60);
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    path
}

/// The decision on the stop of a planner: by the `compat` command, by a main conversation as planner, and by a
/// subagent.
fn stopped(project: &TestProject) -> Result<(), String> {
    let event = project.recorded_event("Stop.active_false");
    let script = by_script(&project.run_compat(&[VALIDATOR], event.to_string().as_bytes())).unwrap();
    let mut main = event;
    main["agent_type"] = "tdd-planner".into();
    assert_eq!(by_hook(&project.hook(&main)).unwrap(), script, "the main conversation");
    let sub = by_planner(project.recorded_event("SubagentStop.validator"));
    assert_eq!(by_hook(&project.hook(&sub)).unwrap(), script, "a subagent");
    script
}

#[track_caller]
fn held(project: &TestProject, words: &str) {
    let reason = stopped(project).expect_err("it stopped");
    assert!(reason.contains(words), "{words:?}: {reason}");
}

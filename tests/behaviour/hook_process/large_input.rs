//! Inputs of many megabytes: an answer in time, and in memory that a laptop can spare.

use std::fs;
use std::io::Write;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::support::{Answer, TestProject, collect_answer};

const MEGABYTE: usize = 1_000_000;
/// The CPU time that a released binary has; one built for tests is slow.
fn seconds() -> f64 {
    if is_released() { 1.0 } else { 10.0 }
}

fn is_released() -> bool {
    std::env::var_os("PROVOST_UNDER_TEST").is_some()
}

const MEMORY: u64 = 100 * 1_000_000;

#[test]
fn garbage_of_64_megabytes_is_refused_in_time_and_memory() {
    refused(&vec![b'x'; 64 * MEGABYTE], "larger than 48 MiB");
    refused(&vec![0; 64 * MEGABYTE], "larger than 48 MiB");
}

#[test]
fn garbage_below_the_size_limit_is_refused_in_time_and_memory() {
    refused(&vec![b'x'; 40 * MEGABYTE], "not a JSON object");
}

#[test]
fn broken_utf8_below_the_size_limit_is_refused_in_time_and_memory() {
    refused(&vec![0xff; 40 * MEGABYTE], "not a JSON object");
}

#[test]
fn an_event_of_64_megabytes_is_refused_in_time_and_memory() {
    let project = TestProject::new();
    let event = project.write(project.path.join("a.txt"), &"x".repeat(64 * MEGABYTE)).to_string();
    refused(event.as_bytes(), "larger than 48 MiB");
}

#[test]
fn an_event_of_many_small_values_is_answered_in_time_and_memory() {
    let project = TestProject::new();
    let event = project.mcp(json!("HERE")).to_string();
    let input = event.replace("\"HERE\"", &format!("[{}0]", "0,".repeat(20 * MEGABYTE)));
    let answer = measured(&project, input.as_bytes());
    let reason = answer.expect_closed_failure();
    assert!(reason.contains("too many values"), "{reason}");
}

#[test]
fn a_large_event_is_judged() {
    let project = TestProject::new();
    let content = "x".repeat(40 * MEGABYTE);
    let harmless = project.write(project.path.join("a.txt"), &content).to_string();
    assert!(measured(&project, harmless.as_bytes()).is_silent());
    let forbidden = project.write(project.path.join("provost.toml"), &content).to_string();
    assert!(measured(&project, forbidden.as_bytes()).stdout.contains("\"deny\""));
}

#[track_caller]
fn refused(input: &[u8], why: &str) {
    let answer = measured(&TestProject::new(), input);
    let reason = answer.expect_closed_failure();
    assert!(reason.contains(why), "{reason}");
}

#[track_caller]
fn measured(project: &TestProject, input: &[u8]) -> Answer {
    let mut child = project.command(&[]).spawn().unwrap();
    let id = child.id();
    let mut stdin = child.stdin.take().unwrap();
    let (answer, memory) = thread::scope(|scope| {
        scope.spawn(move || drop(stdin.write_all(input)));
        let memory = scope.spawn(move || peak_memory(id));
        (collect_answer(child, None), memory.join().unwrap())
    });
    assert!(answer.cpu_seconds < seconds(), "{answer:?}");
    assert!(memory < MEMORY, "{} MB at the peak: {answer:?}", memory / 1_000_000);
    answer
}

/// The highest resident size until the process ended. Only Linux reports it for a
/// foreign process without a privilege; elsewhere nothing is measured.
fn peak_memory(id: u32) -> u64 {
    let mut peak = 0;
    while let Ok(status) = fs::read_to_string(format!("/proc/{id}/status")) {
        let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let Some(kilobytes) = kilobytes.and_then(|text| text.split_whitespace().next()) else { break };
        peak = kilobytes.parse::<u64>().unwrap() * 1024;
        thread::sleep(Duration::from_micros(200));
    }
    peak
}

//! Plans with many files, and the end of a turn at which no review is due.
//!
//! The transcript shows that the session has worked on the plan, so the guard does all of its work: it finds the plan, reads
//! the state, and checks every file name.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

const STOP: &str = include_str!("../../../tests/events/Stop.active_false.json");
const STATE: &str = r#"{
  "max_reviews": 8,
  "current_task": "1",
  "phase": "next-task",
  "phase_iteration": null,
  "next_phase": null,
  "review_model": "opus",
  "consecutive_clean": 0,
  "tdd": false
}
"#;

/// Creates a plan of this many files and a transcript with this many calls. Returns the event of a turn that ends there.
pub fn create_plan(project: &Path, transcript: &Path, files: usize, calls: usize) -> io::Result<Value> {
    let plan = project.join(".taskie/plans/login");
    fs::create_dir_all(&plan)?;
    fs::write(plan.join("plan.md"), "# Login\n\n## Overview\n\nPeople sign in.\n")?;
    fs::write(plan.join("state.json"), STATE)?;
    let tasks = files.saturating_sub(3) / 3;
    let mut table = String::from("| Id | Status |\n|---|---|\n");
    for task in 1..=tasks {
        table += &format!("| {task} | pending |\n");
        for name in ["", "-review-1", "-post-review-1"] {
            fs::write(plan.join(format!("task-{task}{name}.md")), "# Task\n")?;
        }
    }
    fs::write(plan.join("tasks.md"), table)?;
    fs::write(transcript, transcript_lines(project, &plan.join("state.json"), calls))?;
    let mut event: Value = serde_json::from_str(STOP).expect("the recorded events are JSON");
    event["cwd"] = project.to_string_lossy().into();
    event["transcript_path"] = transcript.to_string_lossy().into();
    Ok(event)
}

/// A transcript with more than 2 KB for each call: reads, one write to the plan, and some more reads.
fn transcript_lines(project: &Path, state: &Path, calls: usize) -> String {
    let call = |tool: &str, file: &Path| {
        let part = json!({"type": "tool_use", "id": "t", "name": tool, "input": {"file_path": file, "content": "x"}});
        let message = json!({"role": "assistant", "content": [part]});
        format!("{}\n", json!({"type": "assistant", "cwd": project, "message": message}))
    };
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "y".repeat(2000)});
    let answer = format!(
        "{}\n",
        json!({"type": "user", "cwd": project, "message": {"role": "user", "content": [result]}})
    );
    let reading = call("Read", &project.join("src/main.rs")) + &answer;
    let message = json!({"role": "assistant", "content": [{"type": "text", "text": "done"}]});
    let end = format!("{}\n", json!({"type": "assistant", "cwd": project, "message": message}));
    reading.repeat(calls.saturating_sub(10)) + &call("Write", state) + &reading.repeat(10) + &end
}

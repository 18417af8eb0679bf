//! Extreme work for the guards, so that their time runs out before they have judged.
//!
//! A closed guard denies when its time is over. So each of these must be denied, and before the client gives up and runs the
//! call.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{Said, Way, outcome};
use crate::adversary::Outcome;
use crate::adversary::stage::Stage;

/// Seconds of CPU time. The client waits ten seconds for a hook where `provost init` has written the entry, and
/// a debug build is not the fast one.
const LIMIT: f64 = 20.0;

pub(super) fn worn_out_deadline() -> Vec<(&'static str, Outcome)> {
    let ways: [Way<Said>; 8] = [
        ("a line of 1,000 kB that is all commands", |stage| {
            line(stage, &format!("{}rm provost.toml", "cd a && ls b; ".repeat(70_000)))
        }),
        ("100 substitutions in each other", |stage| {
            line(stage, &format!("{}rm provost.toml{}", "$(".repeat(100), ")".repeat(100)))
        }),
        ("12 shells in each other", |stage| {
            let inside = |line: String, number| format!("bash <<'E{number}'\n{line}\nE{number}\n");
            line(stage, &(0..12).fold("rm provost.toml".to_owned(), inside))
        }),
        ("100 programs that run one another", |stage| {
            line(stage, &format!("{}rm provost.toml", "nice ".repeat(100)))
        }),
        ("braces for a million names", |stage| {
            line(stage, "rm {a,b,c,d,e,f,g,h,i,j}{0..9}{0..9}{0..9}{0..9}{0..9} provost.toml")
        }),
        ("patterns over a directory of 10,000 entries", |stage| {
            crowd(&stage.project.write_file("d/0", ""));
            line(stage, "rm d/*/../../p*.toml d/* */../*/../prov*.toml *")
        }),
        ("a plan of 40 MB", |stage| {
            leaving(stage, &"1. A step, and <!-- rodin: -->.\n".repeat(40 << 20 >> 5))
        }),
        ("10,000 plans", |stage| {
            crowd(&stage.project.write_home_file(".claude/plans/0.md", "# Other\n"));
            leaving(stage, "1. Form\n")
        }),
    ];
    let attempt = |(way, call): Way<Said>| {
        let stage = Stage::new();
        let mut answer = stage.project.hook_bytes(&[], call(&stage).as_bytes());
        answer.event = Some("PreToolUse".into());
        assert!(answer.cpu_seconds < LIMIT, "{way}: {} s", answer.cpu_seconds);
        (way, outcome(&stage, &answer))
    };
    ways.map(attempt).to_vec()
}

/// Gives a file 10,000 names, which is faster than creating as many files.
fn crowd(file: &Path) {
    (1..10_000).for_each(|number| fs::hard_link(file, file.with_file_name(format!("{number}.md"))).unwrap());
}

fn line(stage: &Stage, line: &str) -> String {
    stage.project.bash(line).to_string()
}

/// The event of leaving plan mode with a plan without a verdict.
fn leaving(stage: &Stage, steps: &str) -> String {
    stage.project.write_file("provost.toml", "[plan_gate]\nenabled = true\n");
    let text = format!("# Login\n\n## Goals\n- People sign in\n\n## Steps\n{steps}");
    let plan = stage.project.write_home_file(".claude/plans/plan.md", &text);
    let mut event = stage.project.recorded_event("PreToolUse.ExitPlanMode");
    event["permission_mode"] = "plan".into();
    event["tool_input"] = json!({"plan": "HERE", "planFilePath": plan});
    // A library that was built for tests takes long for so much.
    event.to_string().replace("HERE", &text.replace('\n', "\\n"))
}

//! Many processes on one plan, and processes that are killed.

use super::*;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

fn start(planning: &PlanSession, event: &Value) -> Child {
    use std::io::Write;
    let mut command: Command = planning.project.command(&["--pack", "plan-gate"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(event.to_string().as_bytes());
    child
}

#[test]
fn two_hundred_parallel_hooks_neither_lose_the_text_nor_open_the_gate() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    let passed = planning.leave_event();
    let children: Vec<(usize, Child)> = (0..200)
        .map(|number| {
            let event = match number % 4 {
                0 => {
                    // The agent continues to write.
                    let text = planning.read_plan();
                    let at = text.find("<!-- rodin:session").unwrap_or(text.len());
                    let mut text = text;
                    text.insert_str(at, &format!("line {number}\n"));
                    fs::write(&planning.plan, text).unwrap();
                    planning.write_event()
                }
                1 => planning.write_event(),
                2 => passed.clone(),
                _ => {
                    let mut event = planning.leave_event();
                    event["tool_input"]["plan"] = format!("{PLAN}line\n").into();
                    event
                }
            };
            (number, start(&planning, &event))
        })
        .collect();
    for (number, child) in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{number} {output:?}");
        match number % 4 {
            2 => assert!(output.stdout.is_empty(), "the text that was assessed leaves"),
            3 => assert!(!output.stdout.is_empty(), "another one does not"),
            _ => {}
        }
    }
    planning.write(planning.read_plan());
    let text = planning.read_plan();
    assert!(text.starts_with("# Login\n\n## Goals\n"), "{text}");
    assert_eq!(text.matches("rodin:session=").count(), 1, "{text}");
    for number in (0..200).step_by(4) {
        assert!(
            text.contains(&format!("line {number}\n")),
            "what the agent wrote as {number} is lost:\n{text}"
        );
    }
    assert_eq!(planning.status(), "pending");
    planning.assert_cannot_leave("Assessment pending");
    assert_eq!(files_of(planning.plan.parent().unwrap()), ["plan-it-buzzing-wren.md"]);
}

/// A process that is killed at any point leaves the old text or the new one, and the next process continues.
#[test]
fn a_thousand_killed_hooks_lose_nothing() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    let own = |text: &str| -> String {
        text.split_inclusive('\n')
            .filter(|line| {
                !line.starts_with("<!-- rodin:") || line.contains("gaps:s") || line.contains("gaps:e")
            })
            .collect()
    };
    let rounds = 1000;
    for round in 0..rounds {
        let written = format!("{PLAN}round {round}\n");
        // Every second text has the old record, and every third a signal.
        let mut text = written.clone();
        if round % 2 == 0 {
            text += "<!-- rodin:session=old -->\n<!-- rodin:seal=0000 -->\n";
        }
        if round % 3 == 0 {
            text += "<!-- rodin:verdict:signal={\"status\":\"pass\",\"reason\":\"r\"} -->\n";
        }
        fs::write(&planning.plan, &text).unwrap();
        let mut child = start(&planning, &planning.write_event());
        thread::sleep(Duration::from_micros(round * 7 % 4000));
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = planning.read_plan();
        assert_eq!(own(&kept), written, "round {round}");
        if round % 10 == 0 {
            assert!(planning.leave().find_denial().is_ok(), "round {round}");
        }
    }
    planning.write(planning.read_plan());
    assert_eq!(planning.status(), "pending");
    planning.assess();
    planning.assert_can_leave();
    assert_eq!(files_of(planning.plan.parent().unwrap()), ["plan-it-buzzing-wren.md"], "no litter");
}

#[test]
fn twenty_processes_create_one_key() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let given = planning.agent_prompt("rodin:critic").unwrap();
    let event = planning.agent_stop_event("rodin:critic", &[&given], FINDINGS);
    let children: Vec<Child> = (0..20).map(|_| start(&planning, &event)).collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    planning.run_validator(PASS);
    planning.assert_can_leave();
    let litter: Vec<String> = files_of(&planning.project.state_directory())
        .into_iter()
        .filter(|name| name.contains("tmp"))
        .collect();
    assert!(litter.is_empty(), "{litter:?}");
}

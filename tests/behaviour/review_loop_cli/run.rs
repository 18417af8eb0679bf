//! `provost review run`: the review that is due, now.

use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Desk, FIRST};
use crate::support::assert_shown;
use crate::support::waiting::wait_for;

#[test]
fn run_reviews_until_the_cycle_ends() {
    let desk = Desk::new();
    desk.reviewer("FAIL", "");
    assert_shown!("review-cli-run-issues", desk.screen(&["run"], 0));
    assert_shown!("review-cli-run-nothing-due", desk.screen(&["run"], 1));
    desk.reviewer("PASS", "");
    desk.file("plan-post-review-1.md", "# Answer\n");
    assert_shown!("review-cli-run-clean", desk.screen(&["run"], 0));
    desk.file("plan-post-review-2.md", "# Answer\n");
    assert_shown!("review-cli-run-end-of-cycle", desk.screen(&["run"], 0));
    let state = desk.value();
    assert_eq!((&state["phase"], &state["next_phase"]), (&json!("plan-review"), &json!("create-tasks")));
}

#[test]
fn run_reports_progress_on_standard_error() {
    let desk = Desk::new();
    desk.reviewer("FAIL", "");
    let told = String::from_utf8(desk.run(&["run"]).stderr).unwrap();
    let (time, step) = told.trim_end().split_once(" s  ").unwrap();
    assert!(time.trim().parse::<f64>().is_ok(), "{told}");
    let start =
        "plan-review of `login-limit`: round 1 of at most 8, by opus, for at most 570 s; its words go to ";
    assert!(step.starts_with(start) && !step.contains('\n'), "{told}");
    assert!(!told.contains('\x1b') && !told.contains('\r'), "{told:?}");
}

#[test]
fn run_without_a_review_says_why() {
    let desk = Desk::new();
    desk.reviewer("PASS", "exit 3");
    let text = desk.screen(&["run"], 1).replace("\n ", "");
    assert!(
        text.starts_with("nothing  login-limit The plan review, round 1 of 8, by opus, has no result: "),
        "{text}"
    );
    assert!(text.contains("exit status: 3"), "{text}");
    assert_eq!(desk.text(), FIRST);

    desk.screen(&["set", "max_reviews=3", "phase_iteration=3"], 0);
    assert!(
        desk.refused(&["run"]).starts_with("limit  login-limit   The plan review has had all its 3 reviews")
    );
    desk.screen(&["set", "max_reviews=0"], 0);
    assert!(
        desk.screen(&["run"], 1).starts_with("skipped  login-limit\n  The plan review is skipped, because")
    );
    desk.screen(&["set", "max_reviews=8", "phase=complete", "next_phase=null"], 0);
    assert_eq!(
        desk.refused(&["run"]),
        "no review  login-limit   No review is due. To continue: nothing: the plan is complete."
    );
    desk.file("state.json", "[]");
    assert!(desk.refused(&["run"]).starts_with("no review  login-limit   .taskie/plans/login-limit/state.json is missing or cannot be read, so nothing is due. "));
}

#[test]
fn run_does_not_run_inside_an_agents_tool() {
    let desk = Desk::new();
    desk.reviewer("PASS", "");
    let output = desk.command(&["run"]).env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap().replace('\n', " ");
    assert_eq!(
        text,
        "[provost] `review run` does not run inside an agent's tool: there the agent could choose the reviewer (PATH, \
         the model's address). To fix: end your turn; the hook runs the review that is due when you stop. "
    );
    assert_eq!(desk.text(), FIRST);
    // An agent may use the other commands.
    for arguments in [&["set", "tdd=true"][..], &["status"], &["continue"]] {
        assert!(desk.command(arguments).env("CLAUDECODE", "1").output().unwrap().status.success());
    }
}

#[test]
fn status_shows_the_running_review() {
    let desk = Desk::new();
    let gate = desk.project.home.join("go");
    desk.reviewer("PASS", &format!("while [ ! -e '{}' ]; do sleep 0.05; done", gate.display()));
    let mut child = desk.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let seen = wait_for("the running review", || {
        let all: Value = serde_json::from_str(&desk.screen(&["status", "--json"], 0)).unwrap();
        (all["running"] == true && !all["log"].is_null()).then_some(all)
    });
    let screen = desk.screen(&["status"], 0);
    // A second review does not start meanwhile.
    let second = desk.screen(&["run"], 1).replace("\n ", "");
    fs::write(&gate, "").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(seen["log"].as_str().unwrap().ends_with("-plan-review-1.md.err"), "{seen}");
    assert!(seen["began"].as_str().unwrap().starts_with("20"), "{seen}");
    assert!(screen.contains("\nrunning    a review is running for "), "{screen}");
    assert!(screen.contains("\nlog        <home>/.local/state/provost/reviews/"), "{screen}");
    assert!(
        screen.contains("\nnext stop  the plan review is running now (round 1 of 8, by opus)\n"),
        "{screen}"
    );
    assert!(screen.contains("\ncontinue   wait for the running review\n"), "{screen}");
    assert!(second.contains("Another process is running the review that is due"), "{second}");
    assert!(desk.screen(&["status"], 0).contains("\nrunning    no review\n"));
}

/// `status` takes the lock for a moment, which must never cost a review.
#[test]
fn a_review_starts_while_status_is_polled() {
    let desk = Desk::new();
    desk.reviewer("FAIL", "");
    desk.screen(&["set", "max_reviews=100"], 0);
    desk.screen(&["run"], 0);
    let files = fs::read_dir(desk.project.state_directory().join("reviews")).unwrap();
    let lock = files.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some()).unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let file = fs::File::open(&lock).unwrap();
                if file.try_lock().is_ok() {
                    thread::sleep(Duration::from_millis(1));
                }
                drop(file);
                thread::sleep(Duration::from_millis(8));
            }
        });
        let failed = (0..25).find_map(|_| {
            desk.screen(&["set", "phase=post-plan-review", "next_phase=plan-review"], 0);
            let output = desk.run(&["run"]);
            (!output.status.success()).then(|| String::from_utf8_lossy(&output.stdout).into_owned())
        });
        over.store(true, Ordering::Relaxed);
        assert_eq!(failed, None);
    });
}

//! The review that is due, made now.

use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::waiting::wait_for;
use crate::{Desk, FIRST};

#[test]
fn run_makes_the_reviews_up_to_the_end_of_the_cycle() {
    let desk = Desk::new();
    desk.reviewer("FAIL", "");
    assert_eq!(
        desk.screen(&["run"], 0),
        "\
issues  .taskie/plans/login-limit/plan-review-1.md
  The plan review, round 1 of 8, by opus, found issues. To go on: `/taskie:continue-plan` goes
  on with post-plan-review.
"
    );
    assert_eq!(
        desk.screen(&["run"], 1),
        "\
no review  login-limit
  No review is due, but post-plan-review is. To go on: `/taskie:continue-plan` goes on with
  post-plan-review.
"
    );
    desk.reviewer("PASS", "");
    desk.file("plan-post-review-1.md", "# Answer\n");
    assert_eq!(
        desk.screen(&["run"], 0),
        "\
clean  .taskie/plans/login-limit/plan-review-2.md
  The plan review, round 2 of 8, by sonnet, found nothing that must be mended: 1 of 2 clean in a
  row. To go on: `/taskie:continue-plan` goes on with post-plan-review.
"
    );
    desk.file("plan-post-review-2.md", "# Answer\n");
    assert_eq!(
        desk.screen(&["run"], 0),
        "\
clean  .taskie/plans/login-limit/plan-review-3.md
  The plan review, round 3 of 8, by opus, found nothing that must be mended: 2 of 2 clean in a
  row, so the cycle is over. Next: create-tasks. To go on: `/taskie:continue-plan` goes on with
  create-tasks.
"
    );
    let state = desk.value();
    assert_eq!((&state["phase"], &state["next_phase"]), (&json!("plan-review"), &json!("create-tasks")));
}

#[test]
fn run_tells_its_progress_on_standard_error() {
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
        text.starts_with("nothing  login-limit The plan review, round 1 of 8, came to nothing: "),
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
        "no review  login-limit   No review is due. To go on: nothing: the plan is complete."
    );
    desk.file("state.json", "[]");
    assert!(desk.refused(&["run"]).starts_with("no review  login-limit   Nothing says what is due: "));
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
        "[provost] `review run` does not run inside an agent's tool: what decides which reviewer is asked (PATH, the \
         model's address) could be the agent's there. To fix: end your turn; the hook makes the review that is due when \
         you stop. "
    );
    assert_eq!(desk.text(), FIRST);
    // An agent may do all the rest.
    for arguments in [&["set", "tdd=true"][..], &["status"], &["continue"]] {
        assert!(desk.command(arguments).env("CLAUDECODE", "1").output().unwrap().status.success());
    }
}

#[test]
fn status_shows_the_review_that_is_being_made() {
    let desk = Desk::new();
    let gate = desk.project.home.join("go");
    desk.reviewer("PASS", &format!("while [ ! -e '{}' ]; do sleep 0.05; done", gate.display()));
    let mut child = desk.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let seen = wait_for("the running review", || {
        let all: Value = serde_json::from_str(&desk.screen(&["status", "--json"], 0)).unwrap();
        (all["running"] == true && !all["log"].is_null()).then_some(all)
    });
    let screen = desk.screen(&["status"], 0);
    // Another one is not begun meanwhile.
    let second = desk.screen(&["run"], 1).replace("\n ", "");
    fs::write(&gate, "").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(seen["log"].as_str().unwrap().ends_with("-plan-review-1.md.err"), "{seen}");
    assert!(seen["began"].as_str().unwrap().starts_with("20"), "{seen}");
    assert!(screen.contains("\nrunning    a review is being made for "), "{screen}");
    assert!(screen.contains("\nlog        <home>/.local/state/provost/reviews/"), "{screen}");
    assert!(
        screen.contains("\nnext stop  the plan review, round 1 of 8, by opus, is being made now\n"),
        "{screen}"
    );
    assert!(screen.contains("\ngo on      wait for the review that is being made\n"), "{screen}");
    assert!(second.contains("is being made by another process right now"), "{second}");
    assert!(desk.screen(&["status"], 0).contains("\nrunning    no review\n"));
}

/// A look holds the lock for a moment, and must never cost a review.
#[test]
fn a_review_begins_while_somebody_looks() {
    let desk = Desk::new();
    desk.reviewer("FAIL", "");
    desk.screen(&["set", "max_reviews=100"], 0);
    desk.screen(&["run"], 0);
    let files = fs::read_dir(desk.project.state().join("reviews")).unwrap();
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

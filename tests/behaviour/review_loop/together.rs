//! Many processes on one plan, and processes that are killed.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// The state after the first review of [`state`], which found something.
fn reviewed() -> Value {
    let changes = json!({
        "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1, "review_model": "sonnet",
    });
    state(changes)
}

/// A hook that is killed at any point leaves the old or the new state, and the next one continues.
#[test]
fn a_thousand_killed_hooks_leave_a_usable_state() {
    const WORKERS: u64 = 5;
    const ROUNDS: u64 = 200;
    let counts: Vec<(u32, u32)> = thread::scope(|scope| {
        let workers: Vec<_> =
            (0..WORKERS).map(|worker| scope.spawn(move || killed(worker, ROUNDS))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let (before, after) = counts.iter().fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    eprintln!("{before} of the killed hooks left the state of before, {after} the one after");
    assert!(before > 50 && after > 50, "the kills came at all times: {before}, {after}");
}

fn killed(worker: u64, rounds: u64) -> (u32, u32) {
    let planned = started_review(json!({})).with("MOCK_CLAUDE_LOG", "");
    let event = planned.stop_event(false).to_string();
    // As long as about half of the kills come too early, they come at all points of a hook's life, however fast
    // the machine is at the moment.
    let mut whole = 0.04;
    let (mut before, mut after) = (0, 0);
    for round in 0..rounds {
        planned.set_state(&state(json!({})));
        let _ = fs::remove_file(planned.plan.join("task-1-post-review-1.md"));
        let mut child = planned.start(&["hook"], event.as_bytes());
        // 37 shares no factor with 100: the points are spread over all of them.
        let part = u32::try_from((round * 37 + worker * 13) % 100).unwrap();
        thread::sleep(Duration::from_secs_f64(whole * 1.2 * f64::from(part) / 100.0));
        child.kill().unwrap();
        child.wait().unwrap();
        let left = planned.read_state();
        let is_before = left == state(json!({}));
        assert!(is_before || left == reviewed(), "worker {worker}, round {round}: {left}");
        *(if is_before { &mut before } else { &mut after }) += 1;
        whole *= if is_before { 1.1 } else { 0.9 };
        if round % 5 == 0 {
            undisturbed(&planned, is_before);
        }
    }
    (before, after)
}

/// The next stop takes the step that is due, and no temporary file is left.
fn undisturbed(planned: &ReviewProject, is_before: bool) {
    let number = if is_before { 1 } else { 2 };
    if !is_before {
        planned.write_file("task-1-review-1.md", "x").write_file("task-1-post-review-1.md", "Mended.\n");
    }
    // A reviewer whose start was interrupted shares the lock until it is started, a moment later.
    let stops = (0..100).map(|_| planned.stop());
    let mut stops = stops.skip_while(|answer| user_message(answer).contains("is being made right now"));
    let answer = stops.next().expect("the lock of a killed hook is free");
    let told = planned.expect_block(&answer);
    assert!(told.contains(&format!("task-1-review-{number}.md")), "{told}");
    assert_eq!(planned.read_state()["phase_iteration"], number);
    let litter: Vec<String> = planned
        .list_files()
        .into_iter()
        .filter(|name| name.starts_with('.') || name.contains("tmp"))
        .collect();
    assert!(litter.is_empty(), "{litter:?}");
    let _ = fs::remove_file(planned.plan.join("task-1-review-2.md"));
}

/// A round is reviewed once, no matter how many stops happen at once.
#[test]
fn hooks_at_once_make_one_review() {
    for (hooks, delay, rounds) in [(2, "0.1", 5), (8, "0.1", 5), (2, "", 20), (8, "", 10)] {
        let planned = started_review(json!({"max_reviews": 1000})).with("MOCK_CLAUDE_DELAY", delay);
        for round in 1..=rounds {
            let event = planned.stop_event(round > 1).to_string();
            let children: Vec<Child> =
                (0..hooks).map(|_| planned.start(&["hook"], event.as_bytes())).collect();
            let answers: Vec<Answer> = children
                .into_iter()
                .map(|child| crate::support::collect_answer(child, Some("Stop".into())))
                .collect();
            let held = answers.iter().filter(|answer| block_reason(answer).is_some()).count();
            let place = format!("{hooks} hooks, round {round}: {answers:#?}");
            assert_eq!(planned.reviewer_calls().len(), round, "{place}");
            assert_eq!(held, 1, "{place}");
            assert_eq!(planned.read_state()["phase_iteration"], round, "{place}");
            assert!(planned.has_file(&format!("task-1-review-{round}.md")), "{place}");
            planned.write_file(&format!("task-1-post-review-{round}.md"), "Mended.\n");
        }
        assert!(planned.list_files().iter().all(|name| !name.starts_with('.')));
    }
}

/// An agent or the user edits the state during reviews, as the document describes: with a new file that is moved over
/// the old one.
#[test]
fn no_edit_of_another_process_is_lost() {
    let planned = started_review(json!({"max_reviews": 1000, "edits": 0}));
    let done = AtomicBool::new(false);
    let place = planned.plan.join("state.json");
    let temporary = planned.project.home.join("edited.json");
    let edits = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut edits = 0_u64;
            while !done.load(Ordering::Relaxed) {
                let mut state: Value =
                    serde_json::from_slice(&fs::read(&place).unwrap()).expect("never torn, at any time");
                edits += 1;
                state["edits"] = edits.into();
                fs::write(&temporary, state.to_string()).unwrap();
                fs::rename(&temporary, &place).unwrap();
                thread::sleep(Duration::from_micros(700));
            }
            edits
        });
        for round in 0..40 {
            let answer = planned.hook(&planned.stop_event(round > 0));
            let _ = block_reason(&answer);
            // The writer may have undone the hook's step, which it had not read.
            let number = planned.read_state()["phase_iteration"].as_u64().unwrap();
            if number > 0 {
                planned.write_file(&format!("task-1-post-review-{number}.md"), "Mended.\n");
            }
        }
        done.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    assert_eq!(planned.read_state()["edits"], edits);
    assert!(planned.reviewer_calls().len() > 5, "reviews were made meanwhile");
}

/// A hook reads the state, another one writes it, and only then the first one takes the lock: here, because it reads
/// a long table of tasks in between. It makes no second review.
#[test]
fn a_hook_that_read_an_old_state_makes_no_second_review() {
    let gate = tempfile::tempdir().unwrap();
    let (open, read) = (gate.path().join("open"), gate.path().join("read"));
    let waits = format!("while [ ! -e '{}' ]; do sleep 0.01; done", open.display());
    let planned = started_review(json!({})).with("MOCK_CLAUDE_DOES", &waits);
    planned.write_file(
        "tasks.md",
        &format!("{TASKS}{}", "| 7 | done | low | A door | unit |\n".repeat(110_000)),
    );
    let event = planned.stop_event(false).to_string();
    let first = planned.start(&["hook"], event.as_bytes());
    wait_until("the reviewer", || !planned.reviewer_calls().is_empty());
    // The second one has read the state and is on its way to the lock when the first one's reviewer ends.
    let mut command = planned.command(&["hook"]);
    let mut second = command.env("PROVOST_READS", &read).spawn().unwrap();
    second.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
    wait_until("a look at the state", || {
        fs::read_to_string(&read).is_ok_and(|list| list.contains("state.json"))
    });
    fs::write(open, "").unwrap();
    let answers = [first, second].map(|child| crate::support::collect_answer(child, Some("Stop".into())));
    assert!(block_reason(&answers[0]).is_some() && block_reason(&answers[1]).is_none(), "{answers:#?}");
    assert_eq!(planned.reviewer_calls().len(), 1, "{answers:#?}");
    assert_eq!(planned.read_state(), reviewed());
}

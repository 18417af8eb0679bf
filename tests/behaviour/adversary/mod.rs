//! Plays the tricks of an agent, and compares the outcomes with the security page.
//!
//! `tricks.toml` lists what an agent tries, and the expected outcome. Each trick is played twice: first without guards, where
//! it must do its harm, because a trick that does not work proves nothing; then with the real `provost hook` before every
//! step, and every step that is not denied is run. The verdict is read from the files on disk. So a trick that the page calls
//! `not seen` must really succeed. The tables of `docs/security.md` are generated from the same file:
//! `PROVOST_BLESS=1 cargo test --test behaviour adversary::` updates them.

mod page;
mod plays;
mod reasons;
mod stage;
mod table;
mod terminal;

use std::thread;

use stage::Stage;
use table::{Trick, TrickStep, Verdict};

/// The outcome of a trick.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    verdict: Verdict,
    /// The guard that denied, if one did.
    by: Option<String>,
}

#[test]
fn every_trick_has_the_outcome_of_the_table() {
    let tricks = table::tricks();
    let (first, second) = tricks.split_at(tricks.len() / 2);
    let wrong: Vec<String> = thread::scope(|scope| {
        let halves = [first, second]
            .map(|half| scope.spawn(|| half.iter().flat_map(find_differences).collect::<Vec<_>>()));
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The outcomes that differ from the table.
fn find_differences(trick: &Trick) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |played: &str, seen: &Outcome| {
        let by = trick.by.as_deref().filter(|_| trick.verdict == Verdict::Stopped);
        if seen.verdict != trick.verdict || (by.is_some() && seen.by.as_deref() != by) {
            wrong.push(format!("{}: {seen:?}, not {:?} by {by:?}: {played}", trick.id, trick.verdict));
        }
    };
    for (at, attempt) in trick.tries.iter().enumerate() {
        let played = format!("try {}: {:?}", at + 1, attempt);
        match does_harm_unguarded(trick, attempt) {
            Some(false) => compare(
                &format!("{played} does no harm without guards"),
                &Outcome { verdict: Verdict::Undone, by: None },
            ),
            harm => compare(&played, &play_guarded(trick, attempt, harm.is_some())),
        }
    }
    if let Some(name) = &trick.play {
        for (way, outcome) in plays::run_play(name) {
            compare(&format!("{name}: {way}"), &outcome);
        }
    }
    wrong
}

/// Whether the trick does its harm without guards; `None`: it cannot be played here.
fn does_harm_unguarded(trick: &Trick, attempt: &[TrickStep]) -> Option<bool> {
    if trick.asked_only {
        return None;
    }
    let stage = Stage::for_trick(trick);
    let before = stage.protected_state(trick);
    let mut shown = String::new();
    for step in attempt {
        shown += &stage.run_step(step)?;
    }
    Some(stage.is_harmed(trick, &before, &shown))
}

fn play_guarded(trick: &Trick, attempt: &[TrickStep], can_be_done: bool) -> Outcome {
    let stage = Stage::for_trick(trick);
    let before = stage.protected_state(trick);
    let (mut shown, mut is_reported) = (String::new(), false);
    for step in attempt {
        let answer = stage.ask_guards(trick, step);
        let form = answer.check_form().unwrap_or_else(|why| panic!("{}: {why}: {answer:?}", trick.id));
        if answer.code == Some(2) || answer.find_denial().is_ok() {
            return Outcome { verdict: Verdict::Stopped, by: stage.denying_guard() };
        }
        is_reported |= form.is_some_and(|object| object.contains_key("systemMessage"));
        if can_be_done {
            shown += &stage.run_step(step).expect("it was done before");
        }
    }
    let verdict = match (is_reported, can_be_done && !stage.is_harmed(trick, &before, &shown)) {
        (true, _) => Verdict::Reported,
        (false, true) => Verdict::Undone,
        (false, false) => Verdict::NotSeen,
    };
    Outcome { verdict, by: None }
}

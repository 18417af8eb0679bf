//! An agent's bag of tricks, played one after the other, with what became of each.
//!
//! `tricks.toml` says what an agent tries and what must come of it. Each try is made twice: first with no
//! guard, where it has to do its harm, for a trick that does not work proves nothing; then with the real
//! `provost hook` in front of every step, and what is not denied is done. The verdict is read off the disk.
//! So the page cannot claim too much, and not too little either: what is `not seen` must really go through.
//! The tables of `docs/security.md` are made from the same file.
//!
//! `PROVOST_BLESS=1 cargo test --test adversary` writes these tables anew.

#![cfg(unix)]

#[path = "../support/mod.rs"]
mod support;

mod page;
mod plays;
mod reasons;
mod stage;
mod table;
mod terminal;

use std::thread;

use stage::Stage;
use table::{Played, Trick, Verdict};

/// What became of one way to play a trick.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    verdict: Verdict,
    /// The guard that denied, if one did.
    by: Option<String>,
}

#[test]
fn every_trick_comes_to_what_the_table_says() {
    let tricks = table::tricks();
    let (first, second) = tricks.split_at(tricks.len() / 2);
    let wrong: Vec<String> = thread::scope(|scope| {
        let halves =
            [first, second].map(|half| scope.spawn(|| half.iter().flat_map(wrong_of).collect::<Vec<_>>()));
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is otherwise than the table says.
fn wrong_of(trick: &Trick) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |played: &str, seen: &Outcome| {
        let by = trick.by.as_deref().filter(|_| trick.verdict == Verdict::Stopped);
        if seen.verdict != trick.verdict || (by.is_some() && seen.by.as_deref() != by) {
            wrong.push(format!("{}: {seen:?}, not {:?} by {by:?}: {played}", trick.id, trick.verdict));
        }
    };
    for (at, attempt) in trick.tries.iter().enumerate() {
        let played = format!("try {}: {:?}", at + 1, attempt);
        match without_guards(trick, attempt) {
            Some(false) => compare(
                &format!("{played} does no harm where nobody guards"),
                &Outcome { verdict: Verdict::Undone, by: None },
            ),
            harm => compare(&played, &guarded(trick, attempt, harm.is_some())),
        }
    }
    if let Some(name) = &trick.play {
        for (way, outcome) in plays::played(name) {
            compare(&format!("{name}: {way}"), &outcome);
        }
    }
    wrong
}

/// Whether the trick does its harm; `None`: it needs something that cannot be done here.
fn without_guards(trick: &Trick, attempt: &[Played]) -> Option<bool> {
    if trick.asked_only {
        return None;
    }
    let stage = Stage::of(trick);
    let before = stage.seen(trick);
    let mut shown = String::new();
    for step in attempt {
        shown += &stage.done(step)?;
    }
    Some(stage.is_harmed(trick, &before, &shown))
}

fn guarded(trick: &Trick, attempt: &[Played], can_be_done: bool) -> Outcome {
    let stage = Stage::of(trick);
    let before = stage.seen(trick);
    let (mut shown, mut told) = (String::new(), false);
    for step in attempt {
        let answer = stage.asked(trick, step);
        let form = answer.well_formed().unwrap_or_else(|why| panic!("{}: {why}: {answer:?}", trick.id));
        if answer.code == Some(2) || answer.denied().is_ok() {
            return Outcome { verdict: Verdict::Stopped, by: stage.who_denied() };
        }
        told |= form.is_some_and(|object| object.contains_key("systemMessage"));
        if can_be_done {
            shown += &stage.done(step).expect("it was done before");
        }
    }
    let verdict = match (told, can_be_done && !stage.is_harmed(trick, &before, &shown)) {
        (true, _) => Verdict::Reported,
        (false, true) => Verdict::Undone,
        (false, false) => Verdict::NotSeen,
    };
    Outcome { verdict, by: None }
}

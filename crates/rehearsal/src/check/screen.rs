//! Checks the screen of the interactive client.
//!
//! Without `after`, a text may have been on the screen at any time, because a screen scrolls; `count` looks at the last screen.
//! The simulated user waits for the expected texts, so that a slow machine causes no mismatch.

use super::Verdict;
use crate::mismatch::Mismatch;
use crate::playback::Playback;
use crate::scenario::ScreenExpectation;
use crate::terminal::Frame;
use crate::text_diff::closest_line;
use crate::variables::Variables;

/// Whether all expected texts are on the screen. `lacks` is not checked.
pub(crate) fn is_met(
    expected: &ScreenExpectation,
    last: &Frame,
    all: &[Frame],
    variables: &Variables,
) -> bool {
    let searched = if expected.after.is_some() { std::slice::from_ref(last) } else { all };
    let is_shown = |text: &String| {
        let text = variables.fill(text);
        searched.iter().any(|frame| frame.contains(&text))
    };
    expected.contains.iter().all(is_shown)
        && expected
            .matches
            .iter()
            .all(|pattern| searched.iter().any(|frame| pattern.matches(&frame.in_one_line())))
        && expected.count.iter().all(|(text, times)| last.count(&variables.fill(text)) == *times)
}

pub(super) fn check(expected: &ScreenExpectation, playback: &Playback, verdict: &mut Verdict) {
    let (subject, last) = match expected.after {
        None => ("the screen".to_owned(), playback.screens.last()),
        Some(n) => (format!("the screen after step {n}"), playback.screens.get(n - 1)),
    };
    let Some(last) = last else {
        verdict.check(Some(Mismatch::new(subject, "was never reached")));
        return;
    };
    let searched = if expected.after.is_some() { std::slice::from_ref(last) } else { &playback.frames };
    let with_screen = |mismatch: Mismatch| mismatch.with("screen", last.to_string());
    for wanted in &expected.contains {
        let wanted = playback.variables.fill(wanted);
        let found = (!searched.iter().any(|frame| frame.contains(&wanted))).then(|| {
            let mismatch = Mismatch::new(&subject, "does not contain").with("expected", &wanted);
            let text = last.to_string();
            with_screen(match closest_line(&wanted, &text) {
                Some(line) => mismatch.with("closest", line),
                None => mismatch,
            })
        });
        verdict.check(found);
    }
    for unwanted in &expected.lacks {
        let unwanted = playback.variables.fill(unwanted);
        let holder = searched.iter().find(|frame| frame.contains(&unwanted));
        verdict.check(holder.map(|frame| {
            Mismatch::new(&subject, "contains").with("unwanted", &unwanted).with("screen", frame.to_string())
        }));
    }
    for pattern in &expected.matches {
        let is_found = searched.iter().any(|frame| pattern.matches(&frame.in_one_line()));
        let mismatch =
            || with_screen(Mismatch::new(&subject, "does not match").with("expected", pattern.as_str()));
        verdict.check((!is_found).then(mismatch));
    }
    for (text, times) in &expected.count {
        let text = playback.variables.fill(text);
        let actual = last.count(&text);
        let fault = format!("contains {text:?} {actual} times, not {times}");
        verdict.check((actual != *times).then(|| with_screen(Mismatch::new(&subject, fault))));
    }
}

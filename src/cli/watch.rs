//! `--watch`: showing something again whenever it has changed, until Ctrl-C.
//!
//! One mechanism for all commands that have it. A terminal is drawn over, in place; a pipe gets each change
//! once. Whoever is looked at may write at the same moment, so a look that fails is tried again.

use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{Outcome, Trouble};

const PAUSE: Duration = Duration::from_millis(500);

/// What one look has found.
pub(crate) struct Seen {
    /// What a pipe is told of when it changes.
    pub(crate) facts: Value,
    /// What is shown. It may change while the facts stay, as the seconds of a review do.
    pub(crate) text: String,
}

/// Looks again and again. `in_place`: on a terminal, it is drawn over.
pub(crate) fn follow(in_place: bool, mut look: impl FnMut() -> Result<Seen, Trouble>) -> Outcome {
    let in_place = in_place && io::stdout().is_terminal();
    let mut shown: Option<Seen> = None;
    let mut size = None;
    loop {
        match look() {
            Err(trouble) if shown.is_none() => return Err(trouble),
            // A file that vanishes while it is looked at is there, or not, the next time.
            Err(_) => {}
            Ok(seen) if in_place => {
                let now = terminal_size::terminal_size();
                if size != now || shown.as_ref().is_none_or(|shown| shown.text != seen.text) {
                    redraw(&seen.text)?;
                }
                size = now;
                shown = Some(seen);
            }
            Ok(seen) if shown.as_ref().is_none_or(|shown| shown.facts != seen.facts) => {
                // A screen of several lines is set off from the one before.
                let gap = if shown.is_some() && seen.text.lines().nth(1).is_some() { "\n" } else { "" };
                let mut out = anstream::stdout().lock();
                write!(out, "{gap}{}", seen.text)?;
                out.flush()?;
                shown = Some(seen);
            }
            Ok(_) => {}
        }
        thread::sleep(PAUSE);
    }
}

/// Draws over what is on the terminal, line by line, so that nothing flickers.
fn redraw(text: &str) -> io::Result<()> {
    let size = terminal_size::terminal_size();
    let (width, height) = size.map_or((usize::MAX, usize::MAX), |(width, height)| {
        (usize::from(width.0).max(1), usize::from(height.0))
    });
    let mut out = io::stdout().lock();
    // The moves of the cursor are no colours, and stay where nobody wants colours.
    let plain = anstream::AutoStream::choice(&out) == anstream::ColorChoice::Never;
    let mut screen = String::from("\x1b[H");
    for line in fitting(text, width, height.saturating_sub(1)) {
        if plain {
            screen += &anstream::adapter::strip_str(line).to_string();
        } else {
            screen += line;
        }
        screen += "\x1b[K\n";
    }
    screen += "\x1b[J";
    out.write_all(screen.as_bytes())?;
    out.flush()
}

/// The first lines of a text, as many as fit. A path or a command may need more than one row.
fn fitting(text: &str, width: usize, height: usize) -> impl Iterator<Item = &str> {
    let mut used: usize = 0;
    text.lines().take_while(move |line| {
        used = used.saturating_add(super::screen::letters(line).div_ceil(width).max(1));
        used <= height
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_drawn_than_the_terminal_has_rows() {
        let rows = |width, height| fitting("one\n\n\x1b[36m1234567890\x1b[0m\nend", width, height).count();
        assert_eq!((rows(10, 4), rows(10, 3), rows(5, 4), rows(5, 3), rows(9, 5)), (4, 3, 3, 2, 4));
        assert_eq!(rows(80, 0), 0);
    }
}

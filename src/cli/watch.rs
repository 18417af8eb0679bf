//! `--watch`: shows something again whenever it changes, until Ctrl-C.
//!
//! A terminal is redrawn in place; a pipe gets each change once. The files that are read may be written at the same
//! moment, so a failed read is retried.

use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{CommandError, CommandResult};

const PAUSE: Duration = Duration::from_millis(500);

/// What is shown at one moment.
pub(crate) struct WatchedView {
    /// A pipe gets the text only when these change.
    pub(crate) facts: Value,
    /// The text may change while the facts stay the same, as the seconds of a running review do.
    pub(crate) text: String,
}

/// Calls `look` again and again, and shows what it returns. `in_place`: a terminal is redrawn.
pub(crate) fn show_changes(
    in_place: bool,
    mut look: impl FnMut() -> Result<WatchedView, CommandError>,
) -> CommandResult {
    let in_place = in_place && io::stdout().is_terminal();
    let mut shown: Option<WatchedView> = None;
    let mut size = None;
    loop {
        match look() {
            Err(trouble) if shown.is_none() => return Err(trouble),
            // A file that was replaced while it was read can be read the next time.
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
                // A blank line separates texts of several lines.
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

/// Overwrites the terminal line by line, which does not flicker.
fn redraw(text: &str) -> io::Result<()> {
    let size = terminal_size::terminal_size();
    let (width, height) = size.map_or((usize::MAX, usize::MAX), |(width, height)| {
        (usize::from(width.0).max(1), usize::from(height.0))
    });
    let mut out = io::stdout().lock();
    // Cursor movements are needed even where colours are not wanted, so only the colours are stripped.
    let plain = anstream::AutoStream::choice(&out) == anstream::ColorChoice::Never;
    let mut screen = String::from("\x1b[H");
    for line in first_rows(text, width, height.saturating_sub(1)) {
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

/// The first lines of a text, as many as fit on the screen. A long line takes several rows.
fn first_rows(text: &str, width: usize, height: usize) -> impl Iterator<Item = &str> {
    let mut used: usize = 0;
    text.lines().take_while(move |line| {
        used = used.saturating_add(super::screen::display_width(line).div_ceil(width).max(1));
        used <= height
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_as_many_rows_are_drawn_as_the_terminal_has() {
        let rows = |width, height| first_rows("one\n\n\x1b[36m1234567890\x1b[0m\nend", width, height).count();
        assert_eq!((rows(10, 4), rows(10, 3), rows(5, 4), rows(5, 3), rows(9, 5)), (4, 3, 3, 2, 4));
        assert_eq!(rows(80, 0), 0);
    }
}

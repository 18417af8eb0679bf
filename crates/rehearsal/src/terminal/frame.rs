//! A screen as text that expectations can search.
//!
//! The client breaks lines at the width of the screen, sometimes inside a word, indents them and draws boxes. So a search
//! ignores white space and box characters, both in the screen and in the expected text.

use std::fmt;

/// The text on the screen, with the lines that scrolled off its top.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    rows: Vec<String>,
    title: String,
    /// All rows without the characters that a search ignores.
    squeezed: String,
}

impl Frame {
    pub(super) fn new(rows: &[String], title: String) -> Self {
        let rows: Vec<String> = rows.iter().map(|row| row.trim_end().to_owned()).collect();
        let squeezed = squeeze(&rows.concat());
        Self { rows, title, squeezed }
    }

    pub fn contains(&self, text: &str) -> bool {
        self.squeezed.contains(&squeeze(text))
    }

    /// How often a text is on the screen.
    pub fn count(&self, text: &str) -> usize {
        self.squeezed.matches(&squeeze(text)).count()
    }

    /// Joins all rows with single spaces, without indentation and boxes.
    pub fn in_one_line(&self) -> String {
        let words =
            self.rows.iter().flat_map(|row| row.split(is_box_character).flat_map(str::split_whitespace));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Whether the client shows that it is working: by the sign in the window's title, or by offering to interrupt.
    pub(super) fn is_busy(&self) -> bool {
        let title = self.title.trim_start();
        let is_working_title = !title.is_empty() && !title.starts_with(IDLE_SIGN);
        is_working_title || self.contains("esc to interrupt")
    }

    /// The text in the client's input line.
    pub(super) fn input(&self) -> Option<&str> {
        let row = self.rows.iter().rev().find(|row| row.starts_with(INPUT_SIGN))?;
        Some(row.trim_start_matches(INPUT_SIGN).trim())
    }

    /// Whether the input line has the start of a text.
    pub(super) fn shows_in_input(&self, text: &str) -> bool {
        let input = self.input().map(squeeze).unwrap_or_default();
        !input.is_empty() && squeeze(text).starts_with(&input)
    }
}

const IDLE_SIGN: char = '✳';
const INPUT_SIGN: char = '❯';

impl fmt::Display for Frame {
    /// The screen without its empty rows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.rows.iter().filter(|row| !row.is_empty()) {
            writeln!(f, "{row}")?;
        }
        Ok(())
    }
}

/// Removes white space and box characters.
fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !is_box_character(*c)).collect()
}

/// Whether a character draws a line, box or bar, or the corner before a tool's result.
fn is_box_character(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{259f}' | '⎿')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(rows: &[&str]) -> Frame {
        Frame::new(&rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>(), "✳ Client".into())
    }

    #[test]
    fn a_text_is_found_across_line_breaks_and_boxes() {
        let frame = frame(&[
            "  ⎿  1 action not run · permission denied",
            "     │ Reason: PreToolUse:Bash hook error: no push to /a/very/long/pa",
            "     │ th/that/has/no/space: ask first",
            "────────────────────",
            "❯\u{a0}",
        ]);
        assert!(frame.contains("hook error: no push to /a/very/long/path/that/has/no/space: ask first"));
        assert!(frame.contains("permission denied\nReason:"));
        assert!(!frame.contains("ask second"));
        assert_eq!(frame.count("no"), 3);
        assert!(
            frame.in_one_line().contains("permission denied Reason: PreToolUse:Bash hook error: no push")
        );
        assert_eq!(frame.input(), Some(""));
        assert!(!frame.is_busy());
    }

    #[test]
    fn the_title_or_the_footer_shows_a_busy_client() {
        assert!(Frame::new(&[], "◐ Client".into()).is_busy());
        assert!(Frame::new(&["  · esc to interrupt".into()], "✳ Client".into()).is_busy());
        assert!(!Frame::new(&[], String::new()).is_busy());
    }
}

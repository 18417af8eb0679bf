//! What a screen shows at one moment, as text that expectations can search.
//!
//! The client breaks lines itself, at the width of the screen and sometimes inside a word, indents the rest and draws boxes around
//! it. A sentence that is expected must be found however it was broken, so a search ignores white space and what boxes are drawn
//! with, in the screen and in the sentence alike.

use std::fmt;

/// The text on the screen, with the lines that scrolled off its top.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    rows: Vec<String>,
    title: String,
    /// All rows without what a search ignores.
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

    /// The text in one line: broken lines are joined with one space, without indentation and boxes.
    pub fn in_one_line(&self) -> String {
        let words = self.rows.iter().flat_map(|row| row.split(is_drawn).flat_map(str::split_whitespace));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Whether the client says that it is at work: by the sign before its name in the window's title, or by offering to interrupt.
    pub(super) fn is_busy(&self) -> bool {
        let title = self.title.trim_start();
        let is_working_title = !title.is_empty() && !title.starts_with(IDLE_SIGN);
        is_working_title || self.contains("esc to interrupt")
    }

    /// What stands in the client's input line.
    pub(super) fn input(&self) -> Option<&str> {
        let row = self.rows.iter().rev().find(|row| row.starts_with(INPUT_SIGN))?;
        Some(row.trim_start_matches(INPUT_SIGN).trim())
    }

    /// Whether the input line holds the beginning of a text.
    pub(super) fn shows_in_input(&self, text: &str) -> bool {
        let input = self.input().map(squeeze).unwrap_or_default();
        !input.is_empty() && squeeze(text).starts_with(&input)
    }
}

const IDLE_SIGN: char = '✳';
const INPUT_SIGN: char = '❯';

impl fmt::Display for Frame {
    /// The screen, without the empty rows before, after and between.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.rows.iter().filter(|row| !row.is_empty()) {
            writeln!(f, "{row}")?;
        }
        Ok(())
    }
}

/// Without white space and what boxes are drawn with.
fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !is_drawn(*c)).collect()
}

/// The characters that draw lines, boxes and bars, and the corner before a tool's result.
fn is_drawn(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{259f}' | '⎿')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(rows: &[&str]) -> Frame {
        Frame::new(&rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>(), "✳ Client".into())
    }

    #[test]
    fn a_sentence_is_found_however_it_was_broken() {
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
    fn the_client_is_busy_by_its_title_or_its_footer() {
        assert!(Frame::new(&[], "◐ Client".into()).is_busy());
        assert!(Frame::new(&["  · esc to interrupt".into()], "✳ Client".into()).is_busy());
        assert!(!Frame::new(&[], String::new()).is_busy());
    }
}

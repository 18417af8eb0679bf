//! What a terminal shows: colours where they are wanted, columns that line up.
//!
//! `anstream` takes colours away where nobody wants them (not a terminal, `NO_COLOR`); everything
//! that came from an agent is made printable before it gets here.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();

/// The width of the terminal, as far as lines are comfortable to read; the same where there is none.
pub(crate) fn width() -> usize {
    const COMFORTABLE: usize = 96;
    let seen = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    seen.unwrap_or(COMFORTABLE).clamp(40, COMFORTABLE)
}

/// The colour of a decision or an opinion.
pub(crate) fn colour_of(word: &str) -> Style {
    match word.split(' ').next() {
        Some("deny" | "fault") => RED,
        Some("ask" | "note") => YELLOW,
        _ => GREEN,
    }
}

pub(crate) fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// The terminal's line for a label and what it says; further lines stand below the first.
pub(crate) fn labelled(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{}  {}", painted(CYAN, &format!("{label:9}")), wrapped(text, 11, width()).trim_start())
}

/// Prints rows with aligned columns; the first row is the heading.
pub(crate) fn table(out: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    for (at, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line += &format!("{cell:width$}  ");
        }
        let line = line.trim_end();
        match at {
            0 => writeln!(out, "{}", painted(BOLD, line))?,
            _ => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

/// Breaks a text into lines of at most `width` characters, each after `indent` blanks. What stands in
/// backticks stays whole, so that a command can be copied.
pub(crate) fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines = String::new();
    let mut length = usize::MAX;
    for word in words(text) {
        let letters = word.chars().count();
        if length.saturating_add(letters + 1) > width {
            if !lines.is_empty() {
                lines.push('\n');
            }
            lines += &" ".repeat(indent);
            length = indent;
        } else {
            lines.push(' ');
            length += 1;
        }
        lines += word;
        length += letters;
    }
    lines
}

/// The words of a text; one with backticks ends at a blank outside of them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut open = false;
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            if c == '`' {
                // A single one quotes nothing.
                open = !open && rest[at + 1..].contains('`');
            } else if c.is_whitespace() && !open {
                end = at;
                break;
            }
        }
        let (word, behind) = rest.split_at(end);
        rest = behind.trim_start();
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 2, 10), "  one two\n  three");
        assert_eq!(wrapped("", 2, 10), "");
        assert_eq!(wrapped(" a\n b ", 0, 10), "a b");
    }

    #[test]
    fn a_command_is_never_broken() {
        assert_eq!(wrapped("do `run  it now`, or `x y`.", 2, 10), "  do\n  `run  it now`,\n  or\n  `x y`.");
        assert_eq!(wrapped("a ` lone one is a letter", 0, 10), "a ` lone\none is a\nletter");
    }

    #[test]
    fn columns_line_up() {
        let mut out = Vec::new();
        table(&mut out, &[vec!["A".into(), "B".into()], vec!["long".into(), "x".into()]]).unwrap();
        assert_eq!(anstream::adapter::strip_bytes(&out).into_vec(), b"A     B\nlong  x\n");
    }
}

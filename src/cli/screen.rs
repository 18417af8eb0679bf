//! What a terminal shows: colours where they are wanted, columns that line up.
//!
//! `anstream` takes colours away where nobody wants them (not a terminal, `NO_COLOR`); everything
//! that came from an agent is made printable before it gets here.

use std::io::{self, IsTerminal, Write};

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
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// The terminal's line for a label and what it says; further lines stand below the first.
pub(crate) fn labelled(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{}  {}", painted(CYAN, &format!("{label:9}")), wrapped(text, 11, width()).trim_start())
}

/// A value for programs, which a person may look at all the same.
pub(crate) fn json(out: &mut impl Write, value: &serde_json::Value) -> io::Result<()> {
    writeln!(out, "{}", crate::text::printable_json(&format!("{value:#}")))
}

/// The same on one line.
pub(crate) fn json_line(out: &mut impl Write, value: &serde_json::Value) -> io::Result<()> {
    writeln!(out, "{}", crate::text::printable_json(&value.to_string()))
}

/// The width that a table has: that of the terminal. In a pipe there is no limit, so that a row is a line
/// and other programs can take it apart.
pub(crate) fn room() -> Option<usize> {
    const NARROWEST: usize = 40;
    let is_terminal = io::stdout().is_terminal();
    let seen = is_terminal.then(terminal_size::terminal_size).flatten();
    seen.map(|(width, _)| usize::from(width.0).max(NARROWEST))
}

/// A sentence that goes on a line of its own in a pipe, and on comfortable lines in a terminal.
pub(crate) fn fitted(text: &str, indent: usize) -> String {
    match room() {
        Some(_) => wrapped(text, indent, width()),
        None => format!("{}{text}", " ".repeat(indent)),
    }
}

/// Prints rows with aligned columns; the first row is the heading. Where the terminal is too narrow, the
/// widest column is broken below itself, and where that is not enough, each row becomes a list.
pub(crate) fn table(out: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
    table_within(out, rows, room())
}

fn table_within(out: &mut impl Write, rows: &[Vec<String>], room: Option<usize>) -> io::Result<()> {
    /// A column with less is a heap of syllables.
    const NARROWEST: usize = 14;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| letters(cell)).max();
    let mut widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let whole = widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1);
    let excess = whole.saturating_sub(room.unwrap_or(usize::MAX));
    if excess > 0
        && let Some(widest) = widths.iter_mut().max()
    {
        if widest.saturating_sub(excess) < NARROWEST {
            return lists(out, rows, room.unwrap_or(usize::MAX));
        }
        *widest -= excess;
    }
    for (at, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths);
        let cells: Vec<Vec<String>> = cells.map(|(cell, width)| broken(cell, *width)).collect();
        for number in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                let part = cell.get(number).map_or("", String::as_str);
                line += part;
                line += &" ".repeat(width.saturating_sub(letters(part)) + 2);
            }
            let line = line.trim_end();
            match at {
                0 => writeln!(out, "{}", painted(BOLD, line))?,
                _ => writeln!(out, "{line}")?,
            }
        }
    }
    Ok(())
}

/// The lines of a cell in a column of this width. One that fits stays as it is.
fn broken(cell: &str, width: usize) -> Vec<String> {
    if letters(cell) <= width {
        return vec![cell.to_owned()];
    }
    wrapped(cell, 0, width).lines().map(str::to_owned).collect()
}

/// Each row by itself: its first cell, and below it the others beside their headings.
fn lists(out: &mut impl Write, rows: &[Vec<String>], room: usize) -> io::Result<()> {
    let Some((heading, rows)) = rows.split_first() else { return Ok(()) };
    let longest = heading.iter().skip(1).map(|name| letters(name)).max().unwrap_or(0);
    for row in rows {
        let Some((first, others)) = row.split_first() else { continue };
        writeln!(out, "{}", painted(BOLD, first))?;
        for (name, cell) in heading.iter().skip(1).zip(others).filter(|(_, cell)| !cell.is_empty()) {
            let text = wrapped(cell, longest + 4, room);
            writeln!(out, "  {}  {}", painted(DIM, &format!("{name:longest$}")), text.trim_start())?;
        }
    }
    Ok(())
}

/// Prints a line of short cells and a text behind them. Where the terminal is too narrow, the text is
/// broken beside the cells or stands below them.
pub(crate) fn line(out: &mut impl Write, cells: &[String], text: &str) -> io::Result<()> {
    line_within(out, cells, text, room())
}

fn line_within(out: &mut impl Write, cells: &[String], text: &str, room: Option<usize>) -> io::Result<()> {
    /// A text that has less beside the cells stands below them.
    const NARROWEST: usize = 30;
    const BELOW: usize = 4;
    let head = cells.join("  ");
    let start = letters(&head) + 2;
    let Some(room) = room.filter(|room| start + letters(text) > *room) else {
        return writeln!(out, "{head}  {text}");
    };
    if start + NARROWEST <= room {
        return writeln!(out, "{head}  {}", wrapped(text, start, room).trim_start());
    }
    writeln!(out, "{}", if start > room { wrapped(&head, 0, room) } else { head })?;
    if text.is_empty() { Ok(()) } else { writeln!(out, "{}", wrapped(text, BELOW, room)) }
}

/// How many letters a text has on the screen: colours are none.
pub(crate) fn letters(text: &str) -> usize {
    anstream::adapter::strip_str(text).map(|part| part.chars().count()).sum()
}

/// Breaks a text into lines of at most `width` characters, each after `indent` blanks. What stands in
/// backticks stays whole, so that a command can be copied. Colours take no room.
pub(crate) fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines = String::new();
    let mut length = usize::MAX;
    for word in words(text) {
        let letters = letters(word);
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
    fn colours_take_no_room() {
        let yellow = painted(YELLOW, "one two three");
        let plain = anstream::adapter::strip_str(&wrapped(&yellow, 2, 10)).to_string();
        assert_eq!(plain, "  one two\n  three");
        assert_eq!((letters(&yellow), letters("")), (13, 0));
    }

    fn shown(rows: &[&[&str]], room: Option<usize>) -> String {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect();
        let mut out = Vec::new();
        table_within(&mut out, &rows, room).unwrap();
        String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap()
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(shown(&[&["A", "B"], &["long", "x"]], None), "A     B\nlong  x\n");
        assert_eq!(shown(&[&["A", "B"], &[&painted(RED, "long"), "x"]], None), "A     B\nlong  x\n");
        assert_eq!(shown(&[], Some(40)), "");
    }

    #[test]
    fn the_widest_column_gives_way_to_a_narrow_terminal() {
        let rows: &[&[&str]] = &[
            &["NAME", "WHEN IT IS ASKED", "ON"],
            &["first-guard", "before an agent starts, before a skill", "yes"],
            &["second", "stop", "no"],
        ];
        assert_eq!(shown(rows, Some(80)), shown(rows, None));
        assert_eq!(
            shown(rows, Some(46)),
            "\
NAME         WHEN IT IS ASKED              ON
first-guard  before an agent starts,       yes
             before a skill
second       stop                          no
"
        );
        assert_eq!(
            shown(rows, Some(31)),
            "\
first-guard
  WHEN IT IS ASKED  before an
                    agent
                    starts,
                    before a
                    skill
  ON                yes
second
  WHEN IT IS ASKED  stop
  ON                no
"
        );
    }

    #[test]
    fn a_text_behind_cells_is_broken_beside_or_below_them() {
        let shown = |room: Option<usize>| {
            let cells = [painted(DIM, "1k0avfc7196p9"), "12:00".to_owned()];
            let mut out = Vec::new();
            line_within(&mut out, &cells, "self-guard: a tool may not write to this file", room).unwrap();
            String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap()
        };
        let whole = "1k0avfc7196p9  12:00  self-guard: a tool may not write to this file\n";
        assert_eq!((shown(None).as_str(), shown(Some(67)).as_str()), (whole, whole));
        let beside = format!(
            "1k0avfc7196p9  12:00  self-guard: a tool may not\n{}write to this file\n",
            " ".repeat(22)
        );
        assert_eq!(shown(Some(53)), beside);
        assert_eq!(
            shown(Some(40)),
            "1k0avfc7196p9  12:00\n    self-guard: a tool may not write to\n    this file\n"
        );
        assert_eq!(shown(Some(16)).lines().next(), Some("1k0avfc7196p9"));
    }
}

//! Printing for people: colours, wrapped text, and tables whose columns line up.
//!
//! `anstream` removes colours where they are not wanted (a pipe, `NO_COLOR`). Text that came from an agent is
//! made printable by the caller, or by [`wrap_line`].

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use crate::text::make_one_line;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();

/// The width for prose: that of the terminal, between 40 and 96 columns. Without a terminal it is 96.
pub(crate) fn text_width() -> usize {
    const COMFORTABLE: usize = 96;
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    terminal.unwrap_or(COMFORTABLE).clamp(40, COMFORTABLE)
}

/// The colour of a decision or an opinion: red, yellow or green.
pub(crate) fn decision_colour(word: &str) -> Style {
    match word.split(' ').next() {
        Some("deny" | "fault") => RED,
        Some("ask" | "note" | "warn" | "would") => YELLOW,
        _ => GREEN,
    }
}

pub(crate) fn paint(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// Prints a label, and a text wrapped beside it.
pub(crate) fn print_labelled(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    print_field(out, &paint(CYAN, &format!("{label:9}")), text)
}

/// Prints a label under a heading, indented, and a text wrapped beside it.
pub(crate) fn print_detail(out: &mut impl Write, style: Style, label: &str, text: &str) -> io::Result<()> {
    print_field(out, &format!("  {}", paint(style, &format!("{label:8}"))), text)
}

/// Prints a text, wrapped and aligned after the `front` of its first line.
pub(crate) fn print_field(out: &mut impl Write, front: &str, text: &str) -> io::Result<()> {
    let text = wrap(text, display_width(front) + 2, text_width());
    writeln!(out, "{front}  {}", text.trim_start())
}

/// Prints a value for programs, on several lines, without characters that a terminal obeys.
pub(crate) fn print_json(out: &mut impl Write, value: &serde_json::Value) -> io::Result<()> {
    writeln!(out, "{}", crate::text::make_json_printable(&format!("{value:#}")))
}

/// Prints a value for programs on one line, without characters that a terminal obeys.
pub(crate) fn print_json_line(out: &mut impl Write, value: &serde_json::Value) -> io::Result<()> {
    writeln!(out, "{}", crate::text::make_json_printable(&value.to_string()))
}

/// The width for tables: that of the terminal. A pipe has no limit, so that programs get one line for each row.
fn table_width() -> Option<usize> {
    const NARROWEST: usize = 40;
    let terminal = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    terminal.map(|(width, _)| usize::from(width.0).max(NARROWEST))
}

/// An indented sentence: wrapped in a terminal, on one line in a pipe.
pub(crate) fn wrap_for_terminal(text: &str, indent: usize) -> String {
    match table_width() {
        Some(_) => wrap(text, indent, text_width()),
        None => format!("{}{text}", " ".repeat(indent)),
    }
}

/// Prints rows with aligned columns; the first row is the heading. In a narrow terminal the widest column is
/// wrapped; if that is not enough, each row becomes a list.
pub(crate) fn print_table(out: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
    table_within(out, rows, table_width())
}

fn table_within(out: &mut impl Write, rows: &[Vec<String>], room: Option<usize>) -> io::Result<()> {
    const NARROWEST_COLUMN: usize = 14;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| display_width(cell)).max();
    let mut widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let whole = widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1);
    let excess = whole.saturating_sub(room.unwrap_or(usize::MAX));
    if excess > 0
        && let Some(widest) = widths.iter_mut().max()
    {
        if widest.saturating_sub(excess) < NARROWEST_COLUMN {
            return print_as_lists(out, rows, room.unwrap_or(usize::MAX));
        }
        *widest -= excess;
    }
    for (at, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths);
        let cells: Vec<Vec<String>> = cells.map(|(cell, width)| wrap_cell(cell, *width)).collect();
        for number in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                let part = cell.get(number).map_or("", String::as_str);
                line += &pad(part, width + 2);
            }
            let line = line.trim_end();
            match at {
                0 => writeln!(out, "{}", paint(BOLD, line))?,
                _ => writeln!(out, "{line}")?,
            }
        }
    }
    Ok(())
}

/// The lines of a cell in a column of this width. A cell that fits keeps its blanks.
fn wrap_cell(cell: &str, width: usize) -> Vec<String> {
    if display_width(cell) <= width {
        return vec![cell.to_owned()];
    }
    wrap(cell, 0, width).lines().map(str::to_owned).collect()
}

/// Prints each row by itself: its first cell, and below it the others beside their headings.
fn print_as_lists(out: &mut impl Write, rows: &[Vec<String>], room: usize) -> io::Result<()> {
    let Some((heading, rows)) = rows.split_first() else { return Ok(()) };
    let longest = heading.iter().skip(1).map(|name| display_width(name.trim())).max().unwrap_or(0);
    for row in rows {
        let Some((first, others)) = row.split_first() else { continue };
        writeln!(out, "{}", paint(BOLD, first))?;
        for (name, cell) in heading.iter().skip(1).zip(others).filter(|(_, cell)| !cell.trim().is_empty()) {
            let text = wrap(cell, longest + 4, room);
            writeln!(out, "  {}  {}", paint(DIM, &pad(name.trim(), longest)), text.trim_start())?;
        }
    }
    Ok(())
}

/// Prints short cells and a text after them. In a narrow terminal the text is wrapped beside the cells, or
/// below them.
pub(crate) fn print_line(out: &mut impl Write, cells: &[String], text: &str) -> io::Result<()> {
    line_within(out, cells, text, table_width())
}

fn line_within(out: &mut impl Write, cells: &[String], text: &str, room: Option<usize>) -> io::Result<()> {
    /// With less room than this, the text is printed below the cells.
    const NARROWEST_TEXT: usize = 30;
    const INDENT_BELOW: usize = 4;
    let head = cells.join("  ");
    let start = display_width(&head) + 2;
    let Some(room) = room.filter(|room| start + display_width(text) > *room) else {
        return writeln!(out, "{head}  {text}");
    };
    if start + NARROWEST_TEXT <= room {
        return writeln!(out, "{head}  {}", wrap(text, start, room).trim_start());
    }
    writeln!(out, "{}", if start > room { wrap(&head, 0, room) } else { head })?;
    if text.is_empty() { Ok(()) } else { writeln!(out, "{}", wrap(text, INDENT_BELOW, room)) }
}

/// The columns that a text takes on the screen. Colours take none, and wide characters take two.
pub(crate) fn display_width(text: &str) -> usize {
    anstream::adapter::strip_str(text).map(UnicodeWidthStr::width).sum()
}

/// Fills a text up with blanks, to this many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(display_width(text))))
}

/// Prints a sentence, wrapped to the terminal.
pub(crate) fn print_sentence(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", wrap_line(text, 0))
}

/// Makes a text printable, on one line, and wraps it to the terminal.
pub(crate) fn wrap_line(text: &str, indent: usize) -> String {
    wrap(&make_one_line(text), indent, text_width())
}

/// Wraps a text into lines of at most `width` columns, each after `indent` blanks. Text in backticks is not
/// broken, so that a command can be copied.
pub(crate) fn wrap(text: &str, indent: usize, width: usize) -> String {
    let mut lines = String::new();
    let mut length = usize::MAX;
    for word in split_words(text) {
        let columns = display_width(word);
        if length.saturating_add(columns + 1) > width {
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
        length += columns;
    }
    lines
}

/// Splits a text at blanks outside of backticks.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut open = false;
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            if c == '`' {
                // A lone backtick quotes nothing.
                open = !open && rest[at + 1..].contains('`');
            } else if c.is_whitespace() && !open {
                end = at;
                break;
            }
        }
        let (word, others) = rest.split_at(end);
        rest = others.trim_start();
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_no_characters_that_a_terminal_obeys() {
        let (mut whole, mut line) = (Vec::new(), Vec::new());
        let value = serde_json::json!({"a": "x\u{9b}2J\u{202e}\u{7f}"});
        super::print_json(&mut whole, &value).unwrap();
        super::print_json_line(&mut line, &value).unwrap();
        for text in [&whole, &line] {
            assert!(text.is_ascii() && !text.contains(&0x7f));
            assert_eq!(serde_json::from_slice::<serde_json::Value>(text).unwrap(), value);
        }
        assert_eq!(line.split(|byte| *byte == b'\n').count(), 2);
    }

    #[test]
    fn long_text_is_wrapped_between_words() {
        assert_eq!(wrap("one two three", 2, 10), "  one two\n  three");
        assert_eq!(wrap("", 2, 10), "");
        assert_eq!(wrap(" a\n b ", 0, 10), "a b");
    }

    #[test]
    fn a_command_in_backticks_is_not_broken() {
        assert_eq!(wrap("do `run  it now`, or `x y`.", 2, 10), "  do\n  `run  it now`,\n  or\n  `x y`.");
        assert_eq!(wrap("a ` lone one is a letter", 0, 10), "a ` lone\none is a\nletter");
    }

    #[test]
    fn colours_take_no_columns() {
        let yellow = paint(YELLOW, "one two three");
        let plain = anstream::adapter::strip_str(&wrap(&yellow, 2, 10)).to_string();
        assert_eq!(plain, "  one two\n  three");
        assert_eq!((display_width(&yellow), display_width("")), (13, 0));
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!((display_width("計画.md"), pad("計画", 6).as_str()), (7, "計画  "));
        assert_eq!(wrap("一二三 四五 六", 0, 8), "一二三\n四五 六");
        assert_eq!(render(&[&["A", "B"], &["計画", "x"]], None), "A     B\n計画  x\n");
    }

    fn render(rows: &[&[&str]], room: Option<usize>) -> String {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect();
        let mut out = Vec::new();
        table_within(&mut out, &rows, room).unwrap();
        String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap()
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(render(&[&["A", "B"], &["long", "x"]], None), "A     B\nlong  x\n");
        assert_eq!(render(&[&["A", "B"], &[&paint(RED, "long"), "x"]], None), "A     B\nlong  x\n");
        assert_eq!(render(&[], Some(40)), "");
    }

    #[test]
    fn a_narrow_terminal_wraps_the_widest_column() {
        let rows: &[&[&str]] = &[
            &["NAME", "WHEN IT IS ASKED", "ON"],
            &["first-guard", "before an agent starts, before a skill", "yes"],
            &["second", "stop", "no"],
        ];
        assert_eq!(render(rows, Some(80)), render(rows, None));
        assert_eq!(
            render(rows, Some(46)),
            "\
NAME         WHEN IT IS ASKED              ON
first-guard  before an agent starts,       yes
             before a skill
second       stop                          no
"
        );
        assert_eq!(
            render(rows, Some(31)),
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
    fn text_after_cells_is_wrapped_beside_or_below_them() {
        let shown = |room: Option<usize>| {
            let cells = [paint(DIM, "1k0avfc7196p9"), "12:00".to_owned()];
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

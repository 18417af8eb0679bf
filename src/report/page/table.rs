//! Tables: for those who cannot see a chart, and for lists. The script sorts them.
//!
//! A table ends where it gets too large for the page, and says how many rows are left off.

use super::html::{escape_line, escape_name};
use crate::report::summary::{format_count, format_micros};

/// The most bytes of the rows of a table.
const MOST_BYTES: usize = 24_000;

/// A table that opens below a chart. `columns` are the headings; the values of a column that ends with `#` are numbers.
pub(super) fn table_beside(caption: &str, columns: &[&str], rows: &[Vec<Cell>]) -> String {
    format!(
        "<details class=\"data\"><summary>Table: {caption}</summary>{}</details>",
        table(caption, columns, rows)
    )
}

/// A table that can be sorted. The caption is for those who cannot see where it stands.
pub(super) fn table(caption: &str, columns: &[&str], rows: &[Vec<Cell>]) -> String {
    let mut head = String::new();
    for column in columns {
        let (name, class) = column.strip_suffix('#').map_or((*column, ""), |name| (name, " class=\"n\""));
        head += &format!("<th scope=\"col\"{class} aria-sort=\"none\">{name}</th>");
    }
    let mut body = String::new();
    let mut shown = 0;
    for row in rows {
        let row = write_row(row, columns);
        if body.len() + row.len() > MOST_BYTES {
            break;
        }
        body += &row;
        shown += 1;
    }
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: {caption}\"><table class=\"sortable\">\
         <caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{}",
        left_off(rows.len() - shown)
    )
}

fn write_row(row: &[Cell], columns: &[&str]) -> String {
    let cells = row.iter().zip(columns).enumerate();
    let cells = cells.map(|(at, (cell, column))| cell.markup(at == 0, column.ends_with('#')));
    format!("<tr>{}</tr>", cells.collect::<String>())
}

/// How many entries are not on the page, and how to get them; empty if all are.
pub(super) fn left_off(count: usize) -> String {
    if count == 0 {
        return String::new();
    }
    format!(
        "<p class=\"note\">{} more not shown here, to keep the page small: <code>provost report --json</code> has all.</p>",
        format_count(count as u64)
    )
}

/// At most `most` of a list, and how many were left off.
pub(super) fn capped<T>(list: &[T], most: usize) -> (&[T], usize) {
    let kept = &list[..list.len().min(most)];
    (kept, list.len() - kept.len())
}

/// A cell of a table.
pub(super) struct Cell {
    markup: String,
    /// What it is sorted by, if that is not what it shows.
    key: Option<String>,
}

impl Cell {
    pub(super) fn text(text: &str) -> Self {
        Self { markup: escape_line(text), key: None }
    }

    pub(super) fn name(name: &str) -> Self {
        Self { markup: escape_name(name), key: None }
    }

    /// A value that is shown in another form than it is sorted by.
    pub(super) fn keyed(shown: &str, key: &str) -> Self {
        Self { markup: escape_line(shown), key: Some(escape_line(key)) }
    }

    pub(super) fn count(count: u64) -> Self {
        Self::keyed(&format_count(count), &count.to_string())
    }

    pub(super) fn duration(micros: u64) -> Self {
        Self::keyed(&format_micros(micros), &micros.to_string())
    }

    /// Puts the content into an element: `code`.
    pub(super) fn within(self, element: &str) -> Self {
        Self { markup: format!("<{element}>{}</{element}>", self.markup), ..self }
    }

    fn markup(&self, is_heading: bool, is_number: bool) -> String {
        let key = self.key.as_ref().map_or(String::new(), |key| format!(" data-v=\"{key}\""));
        let class = if is_number { " class=\"n\"" } else { "" };
        if is_heading {
            format!("<th scope=\"row\"{class}{key}>{}</th>", self.markup)
        } else {
            format!("<td{class}{key}>{}</td>", self.markup)
        }
    }
}

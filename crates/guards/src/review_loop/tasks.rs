//! `tasks.md`: the tasks of a plan, and which of them are unfinished.
//!
//! The file is a Markdown table that agents and users write, so parsing is tolerant: cells end at pipes, columns go
//! by their names, and several tables are one list. In doubt, a row is an unfinished task: one task too many costs a
//! question, one too few skips work.

use super::file_names;
use crate::prelude::*;
use provost_core::text::strip_byte_order_mark;

/// Statuses of finished tasks.
const FINISHED: &[&str] = &[
    "done",
    "complete",
    "completed",
    "finished",
    "cancelled",
    "canceled",
    "postponed",
    "skipped",
    "won't do",
    "won\u{2019}t do",
];
const TICKS: &[&str] = &["\u{2705}", "\u{2714}", "\u{2611}", "[x]"];
/// The characters that may follow a status directly. Others make it another word: `done?`, `done/pending`.
const ENDS_A_STATUS: &[char] = &['*', '_', '`', '.', ',', ';', ':', '!', '(', ')'];
const EMPHASIS: &[&str] = &["**", "__", "~~", "*", "_", "`"];

/// The rows of all tables of a `tasks.md`.
#[derive(Debug, PartialEq, Eq)]
pub struct TaskList {
    pub rows: Vec<TaskRow>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct TaskRow {
    /// Without markup around it.
    pub id: String,
    /// As it is written.
    pub status: String,
}

/// Whether any task is unfinished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remaining {
    Some,
    None,
    /// There are no tasks at all.
    Unknown,
}

/// The form of the lines in a `tasks.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableForm {
    /// Whether any line begins like a table's.
    pub has_rows: bool,
    /// Whether any line is not a row of a table.
    pub has_prose: bool,
}

/// The indices of a table's id and status columns.
#[derive(Clone, Copy)]
struct TaskColumns {
    id: usize,
    status: usize,
}

/// A line with pipes.
struct TableLine {
    cells: Vec<String>,
    starts_with_pipe: bool,
}

pub fn parse_tasks(text: &str) -> TaskList {
    let lines: Vec<Option<TableLine>> = strip_byte_order_mark(text).lines().map(TableLine::parse).collect();
    let mut rows = Vec::new();
    let mut columns = TaskColumns { id: 0, status: 1 };
    for block in lines.split(Option::is_none) {
        let block: Vec<&TableLine> = block.iter().flatten().collect();
        let is_rule = |at: usize| block.get(at).is_some_and(|line| line.is_rule());
        // A sentence with a pipe before a table is not a row.
        let is_table = |at: &usize| block[*at].starts_with_pipe || is_rule(at + 1);
        let start = (0..block.len()).find(is_table).unwrap_or(block.len());
        for (at, line) in block.iter().enumerate().skip(start) {
            let named = TaskColumns::find_named(&line.cells);
            // Some tables have rules between rows. Only the one after the first row makes a header.
            let is_header = matches!(named, (Some(_), Some(_))) || at == start && is_rule(at + 1);
            if is_header {
                columns = TaskColumns::choose(named);
            } else if !line.is_rule() && line.cells.iter().any(|cell| !cell.is_empty()) {
                rows.push(columns.read_row(&line.cells));
            }
        }
    }
    TaskList { rows }
}

/// The form of a `tasks.md`, without its content. Line endings, trailing spaces and the indentation that Markdown
/// allows do not matter.
pub fn read_form(text: &str) -> TableForm {
    const INDENTATION: usize = 3;
    let mut form = TableForm { has_rows: false, has_prose: false };
    for line in strip_byte_order_mark(text).lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        let row = line.trim_start_matches(' ');
        let indented = line.len() - row.len() > INDENTATION;
        match row.strip_prefix('|').filter(|_| !indented) {
            Some(rest) => {
                form.has_rows = true;
                form.has_prose |= !rest.ends_with('|');
            }
            None => form.has_prose = true,
        }
    }
    form
}

impl TaskList {
    /// Whether tasks other than this one are unfinished.
    pub fn find_remaining(&self, except: Option<&str>) -> Remaining {
        let except = except.map(str::trim);
        let mut others = self.rows.iter().filter(|row| Some(row.id.as_str()) != except);
        if self.rows.is_empty() {
            Remaining::Unknown
        } else if others.any(|row| !is_finished(&row.status)) {
            Remaining::Some
        } else {
            Remaining::None
        }
    }

    /// The number of unfinished tasks, including the current one.
    pub fn count_open(&self) -> usize {
        self.rows.iter().filter(|row| !is_finished(&row.status)).count()
    }

    /// The ids that can be part of a file's name.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.id.as_str()).filter(|id| file_names::is_task_id(id))
    }
}

impl TaskColumns {
    /// The columns that a header row names.
    fn find_named(cells: &[String]) -> (Option<usize>, Option<usize>) {
        let place = |name: &str| cells.iter().position(|cell| strip_markup(cell).eq_ignore_ascii_case(name));
        (place("id"), place("status"))
    }

    /// Unnamed columns are the first two that are free.
    fn choose((id, status): (Option<usize>, Option<usize>)) -> Self {
        let id = id.unwrap_or(usize::from(status == Some(0)));
        Self { id, status: status.unwrap_or(usize::from(id != 1)) }
    }

    fn read_row(self, cells: &[String]) -> TaskRow {
        let cell = |at: usize| cells.get(at).map(String::as_str).unwrap_or_default();
        TaskRow { id: strip_markup(cell(self.id)).to_owned(), status: cell(self.status).to_owned() }
    }
}

impl TableLine {
    /// The cells of a line; `None` if it has no pipe between any.
    fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let starts_with_pipe = line.starts_with('|');
        let mut cells = vec![String::new()];
        let mut pipes = 0;
        for c in line.strip_prefix('|').unwrap_or(line).chars() {
            let cell = cells.last_mut()?;
            if c != '|' {
                cell.push(c);
            } else if cell.ends_with('\\') {
                // Markdown tables ignore an escaped backslash before it.
                cell.pop();
                cell.push('|');
            } else {
                pipes += 1;
                cells.push(String::new());
            }
        }
        for cell in &mut cells {
            cell.truncate(cell.trim_end().len());
            cell.drain(..cell.len() - cell.trim_start().len());
        }
        // A row ends with a pipe.
        if pipes > 0 && cells.last().is_some_and(String::is_empty) {
            cells.pop();
        }
        (starts_with_pipe || pipes > 0).then_some(Self { cells, starts_with_pipe })
    }

    /// Whether it is the rule between a table's header and its rows.
    fn is_rule(&self) -> bool {
        self.cells.iter().all(|cell| {
            let dashes = cell.strip_prefix(':').unwrap_or(cell);
            let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
            !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
        })
    }
}

/// Whether a status begins with a word or a sign for finished. More may follow: `done (abc123)`.
pub fn is_finished(status: &str) -> bool {
    let status = status.trim_start_matches(['*', '_', '`', ' ']).to_lowercase();
    let begins_with = |word: &str| {
        let rest = status.strip_prefix(word);
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(char::is_whitespace) || rest.starts_with(ENDS_A_STATUS)
        })
    };
    FINISHED.iter().any(|word| begins_with(word)) || TICKS.iter().any(|tick| status.starts_with(tick))
}

/// The text inside `**3**`, `` `3` `` and `[3](task-3.md)`.
fn strip_markup(cell: &str) -> &str {
    let mut text = cell.trim();
    loop {
        let emphasized = EMPHASIS.iter().find_map(|mark| text.strip_prefix(mark)?.strip_suffix(mark));
        let linked = || text.strip_prefix('[')?.strip_suffix(')')?.split_once("](").map(|(text, _)| text);
        match emphasized.or_else(linked) {
            Some(inner) if !inner.trim().is_empty() => text = inner.trim(),
            _ => return text,
        }
    }
}

#[cfg(test)]
mod tests;

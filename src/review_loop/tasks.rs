//! `tasks.md`: which tasks a plan has, and which of them are left.
//!
//! The file is a Markdown table that agents and people write, so it is read as what they mean: cells
//! by the pipes between them, columns by their names, several tables as one list. What is doubtful is
//! read as a task that is left. A task too many costs a question; a task too few skips the work on it.

use super::names;

/// Statuses that say that nothing is left to do.
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
/// What may follow directly behind a status. Others make it another word: `done?`, `done/pending`.
const ENDS_A_STATUS: &[char] = &['*', '_', '`', '.', ',', ';', ':', '!', '(', ')'];
const EMPHASIS: &[&str] = &["**", "__", "~~", "*", "_", "`"];

/// The rows of all tables of a `tasks.md`.
#[derive(Debug, PartialEq, Eq)]
pub struct Tasks {
    pub rows: Vec<Row>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// Without markup around it.
    pub id: String,
    /// As it is written.
    pub status: String,
}

/// Whether there are tasks still to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    Some,
    None,
    /// There are no tasks at all, so nothing is known about them.
    Unknown,
}

/// What a `tasks.md` is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// Whether any line begins like a table's.
    pub has_rows: bool,
    /// Whether any line is not a row of a table.
    pub has_prose: bool,
}

/// Where a table has its ids and statuses.
#[derive(Clone, Copy)]
struct Columns {
    id: usize,
    status: usize,
}

/// A line with pipes in it.
struct Line {
    cells: Vec<String>,
    starts_with_pipe: bool,
}

pub fn read(text: &str) -> Tasks {
    let lines: Vec<Option<Line>> = without_mark(text).lines().map(Line::read).collect();
    let mut rows = Vec::new();
    let mut columns = Columns { id: 0, status: 1 };
    for block in lines.split(Option::is_none) {
        let block: Vec<&Line> = block.iter().flatten().collect();
        let is_rule = |at: usize| block.get(at).is_some_and(|line| line.is_rule());
        // A sentence with a pipe in it is no table, until one begins.
        let is_table = |at: &usize| block[*at].starts_with_pipe || is_rule(at + 1);
        let start = (0..block.len()).find(is_table).unwrap_or(block.len());
        for (at, line) in block.iter().enumerate().skip(start) {
            let named = Columns::named(&line.cells);
            // Some draw a rule between rows too: it makes a header of a table's first row only.
            let is_header = matches!(named, (Some(_), Some(_))) || at == start && is_rule(at + 1);
            if is_header {
                columns = Columns::choose(named);
            } else if !line.is_rule() && line.cells.iter().any(|cell| !cell.is_empty()) {
                rows.push(columns.row(&line.cells));
            }
        }
    }
    Tasks { rows }
}

/// What the lines of a `tasks.md` look like, whatever they say. Ends of lines of any system, blanks
/// behind a row and as many blanks before it as Markdown allows do not matter.
pub fn form(text: &str) -> Form {
    const INDENTATION: usize = 3;
    let mut form = Form { has_rows: false, has_prose: false };
    for line in without_mark(text).lines().map(str::trim_end).filter(|line| !line.is_empty()) {
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

impl Tasks {
    /// Whether tasks other than this one are still to be done.
    pub fn left(&self, except: Option<&str>) -> Left {
        let except = except.map(str::trim);
        let mut others = self.rows.iter().filter(|row| Some(row.id.as_str()) != except);
        if self.rows.is_empty() {
            Left::Unknown
        } else if others.any(|row| !is_finished(&row.status)) {
            Left::Some
        } else {
            Left::None
        }
    }

    /// How many tasks are still to be done, the current one among them.
    pub fn open(&self) -> usize {
        self.rows.iter().filter(|row| !is_finished(&row.status)).count()
    }

    /// The ids that can be part of a file's name.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.id.as_str()).filter(|id| names::is_id(id))
    }
}

impl Columns {
    /// The columns that a row of names gives a place.
    fn named(cells: &[String]) -> (Option<usize>, Option<usize>) {
        let place =
            |name: &str| cells.iter().position(|cell| without_markup(cell).eq_ignore_ascii_case(name));
        (place("id"), place("status"))
    }

    /// Columns without a name are the first two, as far as they are free.
    fn choose((id, status): (Option<usize>, Option<usize>)) -> Self {
        let id = id.unwrap_or(usize::from(status == Some(0)));
        Self { id, status: status.unwrap_or(usize::from(id != 1)) }
    }

    fn row(self, cells: &[String]) -> Row {
        let cell = |at: usize| cells.get(at).map(String::as_str).unwrap_or_default();
        Row { id: without_markup(cell(self.id)).to_owned(), status: cell(self.status).to_owned() }
    }
}

impl Line {
    /// The cells of a line; `None` if it has no pipe between any.
    fn read(line: &str) -> Option<Self> {
        let line = line.trim();
        let starts_with_pipe = line.starts_with('|');
        let mut cells = vec![String::new()];
        let mut pipes = 0;
        for c in line.strip_prefix('|').unwrap_or(line).chars() {
            let cell = cells.last_mut()?;
            if c != '|' {
                cell.push(c);
            } else if cell.ends_with('\\') {
                // Whatever stands before the backslash: that is how Markdown's tables are read.
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
        // Behind the last pipe nothing follows.
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

/// Whether a status begins with a word or a sign for the end. More may follow: `done (abc123)`.
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

/// What is meant by `**3**`, `` `3` `` and `[3](task-3.md)`.
fn without_markup(cell: &str) -> &str {
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

/// The text without the byte order mark that some editors put in front.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests;

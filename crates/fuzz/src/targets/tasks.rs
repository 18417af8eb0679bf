//! `tasks.md`: the table of tasks, as the review loop reads it. The phases only ask whether it is there.

use std::time::Duration;

use provost::review_loop::names::{self, Name, Subject};
use provost::review_loop::tasks::{self, Left, Tasks};

use super::{Target, holds, same, texts};
use crate::trial::Seen;

pub const TARGET: Target = Target {
    name: "tasks",
    promise: "what was read, written as a plain table, is read as the same tasks; line ends of any system say \
              the same; a task that is not finished is left; every id that can name a file does",
    findings: &[],
    patience: Duration::from_millis(60),
    seeds,
    tokens: &[
        "|",
        "\\|",
        "\\\\|",
        "---",
        "|---|---|\n",
        ":-:",
        "\n",
        "\r\n",
        "\r",
        "| Id | Status |\n",
        "status",
        "id",
        "done",
        "done?",
        "✅",
        "[x]",
        "won't do",
        "won’t do",
        "**",
        "__",
        "~~",
        "`",
        "[3](task-3.md)",
        "](",
        ")",
        "\u{feff}",
        "\0",
        "\u{2028}",
        "\u{85}",
        "    ",
        "\t",
        "pending",
        "İ",
        "ß",
        "DONE",
        "task-",
    ],
    brackets: &[("**", "**"), ("[", "](x)"), ("`", "`"), ("| ", " |\n"), ("~~", "~~")],
    is_json: false,
    check,
};

fn seeds() -> Vec<Vec<u8>> {
    texts(&[
        "| Id | Status | Description |\n|---|---|---|\n| 1 | done | a |\n| 2 | pending | b |\n",
        "| Status | Id |\r\n| :-: | --- |\r\n| done (abc123) | `3` |\r\n| ✅ | [4-5](task-4-5.md) |\r\n",
        "# Tasks\n\nSome text | with a pipe\n\nId | Status\n---|---\n1 | in progress\n**2** | ~~done~~\n",
        "| 1 | done |\n| 2 | won't do |\n\n| 3 | a \\| b |\n|---|---|\n| 4 | postponed |\n",
        "\u{feff}| id | status |\n|----|----|\n",
        "    | 1 | done |\n| 2 | [x] yes |\n||||\n| | |\n",
    ])
}

fn check(input: &[u8], seen: &mut Seen) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let read = tasks::read(&text);
    let form = tasks::form(&text);
    seen.add_shown(&(&read, form));
    holds(read.rows.len() <= 1 + text.matches('|').count(), "more tasks than pipes")?;
    if !text.contains('\r') {
        let windows = text.replace('\n', "\r\n");
        same(&tasks::read(&windows), &read, "with the line ends of another system")?;
        same(&tasks::form(&windows), &form, "with the line ends of another system")?;
    }
    same(&tasks::read(&format!("{text}\n\n")), &read, "with empty lines behind")?;
    counts(&read)?;
    let table = written(&read);
    same(&tasks::read(&table), &read, "written as a table and read again")?;
    let form = tasks::form(&table);
    holds(form.has_rows && !form.has_prose, "a table is not one")?;
    ids(&read)
}

fn counts(read: &Tasks) -> Result<(), String> {
    let open = read.rows.iter().filter(|row| !tasks::is_finished(&row.status)).count();
    same(&read.open(), &open, "open tasks")?;
    let expected = match (read.rows.is_empty(), open) {
        (true, _) => Left::Unknown,
        (false, 0) => Left::None,
        (false, _) => Left::Some,
    };
    same(&read.left(None), &expected, "whether tasks are left")?;
    for row in &read.rows {
        let others = read.rows.iter().filter(|other| other.id != row.id);
        let is_left = others.into_iter().any(|other| !tasks::is_finished(&other.status));
        same(&(read.left(Some(&row.id)) == Left::Some), &is_left, "whether others are left")?;
        // Large tables are looked at in part: this is a loop in a loop.
        if read.rows.len() > 200 {
            break;
        }
    }
    Ok(())
}

/// The tasks as anybody would write them.
fn written(read: &Tasks) -> String {
    let mut table = "| Id | Status | What |\n|---|---|---|\n".to_owned();
    for row in &read.rows {
        let cell = |text: &str| text.replace('|', "\\|");
        table += &format!("| {} | {} | x |\n", cell(&row.id), cell(&row.status));
    }
    table
}

fn ids(read: &Tasks) -> Result<(), String> {
    for id in read.ids() {
        let name = names::document(Subject::Task(id)).ok_or("an id that names no file")?;
        holds(!name.contains(['/', '\\', '\0']) && !name.starts_with('.'), "an id leads elsewhere")?;
        // An id like `3-review-1` cannot be told from a review, as the grammar says.
        let is_read = matches!(names::parse(&name),
            Some(Name::Document(Subject::Task(found))) if found == id)
            || matches!(names::parse(&name), Some(Name::Review { .. }));
        holds(is_read, "an id is read as another one")?;
    }
    Ok(())
}

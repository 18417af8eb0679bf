//! `tasks.md`: the table of tasks, which the review loop reads.

use std::time::Duration;

use provost::review_loop::file_names::{self, FileName, FileSubject};
use provost::review_loop::tasks::{self, Remaining, TaskList};

use super::{Target, ensure, ensure_equal, text_seeds};
use crate::double_check::AnswerDigest;

pub const TARGET: Target = Target {
    name: "tasks",
    promise: "tasks that are written as a plain table are read back; all line endings have the same meaning; an \
              unfinished task counts as remaining; every id that can name a file names one",
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
    text_seeds(&[
        "| Id | Status | Description |\n|---|---|---|\n| 1 | done | a |\n| 2 | pending | b |\n",
        "| Status | Id |\r\n| :-: | --- |\r\n| done (abc123) | `3` |\r\n| ✅ | [4-5](task-4-5.md) |\r\n",
        "# Tasks\n\nSome text | with a pipe\n\nId | Status\n---|---\n1 | in progress\n**2** | ~~done~~\n",
        "| 1 | done |\n| 2 | won't do |\n\n| 3 | a \\| b |\n|---|---|\n| 4 | postponed |\n",
        "\u{feff}| id | status |\n|----|----|\n",
        "    | 1 | done |\n| 2 | [x] yes |\n||||\n| | |\n",
    ])
}

fn check(input: &[u8], digest: &mut AnswerDigest) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let read = tasks::parse_tasks(&text);
    let form = tasks::read_form(&text);
    digest.add_debug(&(&read, form));
    ensure(read.rows.len() <= 1 + text.matches('|').count(), "more tasks than pipes")?;
    if !text.contains('\r') {
        let windows = text.replace('\n', "\r\n");
        ensure_equal(&tasks::parse_tasks(&windows), &read, "with the line ends of another system")?;
        ensure_equal(&tasks::read_form(&windows), &form, "with the line ends of another system")?;
    }
    ensure_equal(&tasks::parse_tasks(&format!("{text}\n\n")), &read, "with empty lines behind")?;
    check_counts(&read)?;
    let table = render_tasks(&read);
    ensure_equal(&tasks::parse_tasks(&table), &read, "written as a table and read again")?;
    let form = tasks::read_form(&table);
    ensure(form.has_rows && !form.has_prose, "a table is not one")?;
    check_ids(&read)
}

fn check_counts(read: &TaskList) -> Result<(), String> {
    let open = read.rows.iter().filter(|row| !tasks::is_finished(&row.status)).count();
    ensure_equal(&read.count_open(), &open, "open tasks")?;
    let expected = match (read.rows.is_empty(), open) {
        (true, _) => Remaining::Unknown,
        (false, 0) => Remaining::None,
        (false, _) => Remaining::Some,
    };
    ensure_equal(&read.find_remaining(None), &expected, "whether tasks are left")?;
    for row in &read.rows {
        let others = read.rows.iter().filter(|other| other.id != row.id);
        let is_left = others.into_iter().any(|other| !tasks::is_finished(&other.status));
        ensure_equal(
            &(read.find_remaining(Some(&row.id)) == Remaining::Some),
            &is_left,
            "whether others are left",
        )?;
        // Large tables are looked at in part: this is a loop in a loop.
        if read.rows.len() > 200 {
            break;
        }
    }
    Ok(())
}

/// The tasks as a plain table.
fn render_tasks(read: &TaskList) -> String {
    let mut table = "| Id | Status | What |\n|---|---|---|\n".to_owned();
    for row in &read.rows {
        let cell = |text: &str| text.replace('|', "\\|");
        table += &format!("| {} | {} | x |\n", cell(&row.id), cell(&row.status));
    }
    table
}

fn check_ids(read: &TaskList) -> Result<(), String> {
    for id in read.ids() {
        let name = file_names::document_name(FileSubject::Task(id)).ok_or("an id that names no file")?;
        ensure(!name.contains(['/', '\\', '\0']) && !name.starts_with('.'), "an id leads elsewhere")?;
        // An id like `3-review-1` cannot be told from a review, as the grammar says.
        let is_read = matches!(file_names::parse_name(&name),
            Some(FileName::Document(FileSubject::Task(found))) if found == id)
            || matches!(file_names::parse_name(&name), Some(FileName::Review { .. }));
        ensure(is_read, "an id is read as another one")?;
    }
    Ok(())
}

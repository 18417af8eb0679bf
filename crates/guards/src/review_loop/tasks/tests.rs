use super::*;

fn rows(text: &str) -> Vec<(String, String)> {
    parse_tasks(text).rows.into_iter().map(|row| (row.id, row.status)).collect()
}

fn row(id: &str, status: &str) -> (String, String) {
    (id.to_owned(), status.to_owned())
}

fn left(statuses: &[&str]) -> Remaining {
    let rows = statuses.iter().enumerate().map(|(at, status)| format!("| {at} | {status} |\n"));
    parse_tasks(&format!("| Id | Status |\n|---|---|\n{}", rows.collect::<String>())).find_remaining(None)
}

#[test]
fn a_table_gives_its_ids_and_statuses() {
    let text = "| Id | Status | Priority | Description | Test strategy |\n\
                |----|:------:|---------:|:------------|---------------|\n\
                | 1 | done | high | first | unit |\n\
                |2b|pending|low|second|none|\n";
    assert_eq!(rows(text), [row("1", "done"), row("2b", "pending")]);
}

#[test]
fn columns_are_found_by_their_names_in_any_order_and_case() {
    let text = "| Description | STATUS | `Prio` | **id** |\n|-|-|-|-|\n| pending work | done | 1 | 7 |\n";
    assert_eq!(rows(text), [row("7", "done")]);
}

#[test]
fn columns_without_names_are_the_first_two() {
    let row_7 = [row("7", "done")];
    assert_eq!(rows("| Task | State |\n|---|---|\n| 7 | done |\n"), row_7);
    assert_eq!(rows("| Task | Title | Status |\n|---|---|---|\n| 7 | x | done |\n"), row_7);
    assert_eq!(rows("| Status | Task |\n|---|---|\n| done | 7 |\n"), row_7);
    assert_eq!(rows("| State | Id |\n|---|---|\n| done | 7 |\n"), row_7);
    assert_eq!(rows("| 7 | done |\n"), row_7, "no header at all");
}

#[test]
fn an_escaped_pipe_is_part_of_its_cell() {
    let text = "| Title | Id | Status |\n|---|---|---|\n| a \\| b \\|\\| c | 1 | pending |\n";
    assert_eq!(rows(text), [row("1", "pending")]);
    assert_eq!(rows("| Id | Status |\n|--|--|\n| 1 | done \\| sure |\n"), [row("1", "done | sure")]);
    assert_eq!(rows("| Id | Status |\n|--|--|\n| 1 | done \\|"), [row("1", "done |")]);
}

#[test]
fn ends_of_lines_blanks_and_byte_order_mark_do_not_matter() {
    let plain = "| Id | Status |\n|---|---|\n| 1 | done |\n| 2 | pending |\n";
    let expected = rows(plain);
    assert_eq!(expected, [row("1", "done"), row("2", "pending")]);
    assert_eq!(rows(&plain.replace('\n', "\r\n")), expected);
    assert_eq!(rows(&plain.replace('\n', " \t\n")), expected);
    assert_eq!(rows(&format!("\u{feff}{plain}")), expected);
    assert_eq!(rows(&plain.replace("| ", "|\u{a0}\t ")), expected);
    assert_eq!(rows(plain.trim_end()), expected);
    assert_eq!(rows(&plain.replace("\n| ", "\n   | ")), expected);
    assert_eq!(rows(&plain.replace("\n| 2", "\n   \n| 2")), expected, "a blank line ends no list of tasks");
}

#[test]
fn several_tables_are_one_list() {
    let text = "| Id | Status |\n|---|---|\n| 1 | done |\n\n| Status | Id |\n|---|---|\n| pending | 2 |\n";
    let expected = [row("1", "done"), row("2", "pending")];
    assert_eq!(rows(text), expected);
    assert_eq!(rows(&text.replace("\n\n", "\n")), expected, "also without a line between them");
    let nameless =
        "| Id | x | Status |\n|---|---|---|\n| 1 | | done |\n\n| A | B |\n|---|---|\n| 2 | pending |\n";
    assert_eq!(rows(nameless), expected);
}

#[test]
fn a_rule_between_rows_hides_no_task() {
    let text = "| Id | Status |\n|---|---|\n| 1 | pending |\n|---|---|\n| 2 | done |\n|---|---|\n";
    assert_eq!(rows(text), [row("1", "pending"), row("2", "done")]);
    assert_eq!(rows("| 1 | pending |\n|\n"), [row("1", "pending")], "a pipe alone is no rule");
}

#[test]
fn a_header_alone_is_no_task() {
    for text in [
        "",
        "\n\n",
        "| Id | Status |\n|---|---|\n",
        "| Id | Status |\n",
        "| A | B |\n|:-|-:|\n",
        "|---|\n",
        "|\n",
        "| | |\n",
    ] {
        assert_eq!(parse_tasks(text).find_remaining(None), Remaining::Unknown, "{text:?}");
    }
}

#[test]
fn rows_without_outer_pipes_are_rows_and_sentences_are_not() {
    let expected = [row("1", "done"), row("2", "pending")];
    assert_eq!(rows("Id | Status\n--- | ---\n1 | done\n2 | pending\n"), expected);
    assert_eq!(rows("| Id | Status |\n|---|---|\n| 1 | done\n2 | pending |\n"), expected);
    assert_eq!(rows("Choose a | b.\n"), []);
    assert_eq!(rows("Choose a | b:\n| Id | Status |\n|---|---|\n| 1 | done |\n| 2 | pending |\n"), expected);
    assert_eq!(rows("# Tasks\n\nNothing yet.\n---\n"), []);
}

#[test]
fn a_short_row_is_left_and_a_long_one_is_read() {
    assert_eq!(parse_tasks("| Id | x | Status |\n|--|--|--|\n| 1 |\n").find_remaining(None), Remaining::Some);
    assert_eq!(
        parse_tasks("| Id | Status |\n|--|--|\n| 1 | done | more | and more |\n").find_remaining(None),
        Remaining::None
    );
}

#[test]
fn statuses_that_say_so_are_finished() {
    for status in [
        "done",
        "Done",
        "DONE",
        "done (abc123)",
        "done.",
        "done, see abc123",
        "**done**",
        "**Done** (abc123)",
        "`completed`",
        "_complete_",
        "finished",
        "cancelled",
        "canceled",
        "postponed: next year",
        "skipped",
        "won't do",
        "Won\u{2019}t do",
        "\u{2705}",
        "\u{2705} done",
        "\u{2714}\u{fe0f}",
        "\u{2611} abc123",
        "[x]",
        "[X]",
    ] {
        assert_eq!(left(&[status]), Remaining::None, "{status}");
    }
}

#[test]
fn every_other_status_is_left() {
    for status in [
        "pending",
        "Pending",
        "in progress",
        "in-progress",
        "not done",
        "**not** done",
        "to be done",
        "undone",
        "incomplete",
        "todo",
        "blocked",
        "review",
        "",
        "?",
        "done?",
        "done/pending",
        "donee",
        "won't",
        "won't start",
        "[ ]",
        "\u{274c}",
        "~~done~~",
        "50% done",
    ] {
        assert_eq!(left(&[status]), Remaining::Some, "{status:?}");
    }
}

#[test]
fn one_task_left_among_others_counts_and_the_current_one_does_not() {
    assert_eq!(left(&["done", "pending", "done"]), Remaining::Some);
    assert_eq!(left(&["done", "done"]), Remaining::None);
    let tasks = parse_tasks("| Id | Status |\n|--|--|\n| 1 | done |\n| **2b** | in progress |\n");
    assert_eq!(tasks.find_remaining(None), Remaining::Some);
    assert_eq!(tasks.find_remaining(Some("1")), Remaining::Some);
    assert_eq!(tasks.find_remaining(Some(" 2b ")), Remaining::None);
    assert_eq!(tasks.find_remaining(Some("2")), Remaining::Some, "an id is not a part of another");
}

#[test]
fn the_current_task_alone_leaves_nothing_but_no_task_is_unknown() {
    assert_eq!(
        parse_tasks("| Id | Status |\n|--|--|\n| 1 | pending |\n").find_remaining(Some("1")),
        Remaining::None
    );
    assert_eq!(parse_tasks("").find_remaining(Some("1")), Remaining::Unknown);
}

#[test]
fn ids_come_without_markup_and_only_if_a_file_can_be_named_after_them() {
    let text = "| Id | Status |\n|--|--|\n| **3** | |\n| `4-5` | |\n| ***6*** | |\n| [7](task-7.md) | |\n\
                | ~~8~~ | |\n| a_ | |\n| Task 9 | |\n| ../x | |\n| | pending |\n| ** | x |\n| **`10`** | |\n";
    assert_eq!(parse_tasks(text).ids().collect::<Vec<_>>(), ["3", "4-5", "6", "7", "8", "a_", "10"]);
}

#[test]
fn the_form_of_a_table_tolerates_what_editors_leave() {
    let table = TableForm { has_rows: true, has_prose: false };
    let plain = "| Id | Status |\n|---|---|\n| 1 | done |\n";
    for text in [
        plain.to_owned(),
        plain.replace('\n', "\r\n"),
        plain.replace('\n', " \t \n"),
        plain.replace("\n|", "\n   |"),
        format!("\u{feff}{plain}"),
        format!("\n  \n{plain}\n\t\n{plain}"),
        "| Id | Status |".to_owned(),
    ] {
        assert_eq!(read_form(&text), table, "{text:?}");
    }
}

#[test]
fn what_is_no_row_is_prose() {
    let mixed = TableForm { has_rows: true, has_prose: true };
    for text in [
        "| 1 | done |\ntext\n",
        "# Tasks\n| 1 |\n",
        "| 1 | done\n",
        "|\n",
        "| 1 |\n    | 2 |\n",
        "| 1 |\n\t| 2 |\n",
    ] {
        assert_eq!(read_form(text), mixed, "{text:?}");
    }
    assert_eq!(read_form("some prose\n"), TableForm { has_rows: false, has_prose: true });
    assert_eq!(read_form("    | 1 | 2 |\n"), TableForm { has_rows: false, has_prose: true });
    for text in ["", "\n", "\r\n  \r\n", "\u{feff}"] {
        assert_eq!(read_form(text), TableForm { has_rows: false, has_prose: false }, "{text:?}");
    }
}

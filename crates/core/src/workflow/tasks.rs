//! The tasks of an instance, as each tool writes them: boxes in Markdown, or the statuses of Task Master.
//!
//! Reading never fails: a text that holds no task has none.

use super::task_master;
use super::{WorkflowSystem, WorkflowTable};

/// How a file holds its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskFormat {
    /// `- [ ] text`. Every box counts.
    Boxes,
    /// Boxes of Kiro: a header (`1.`) is done with its sub-tasks (`1.1`), and `- [ ]*` is optional.
    NumberedBoxes,
    /// `tasks.json` of Task Master, with the tasks of all its tags.
    Statuses,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskItem {
    /// `1.1`, `T002`, or `TAG/1.2` for Task Master.
    pub id: Option<String>,
    /// Its words, without the id.
    pub text: String,
    pub is_done: bool,
    /// Done, or cancelled.
    pub is_closed: bool,
    /// The index of the task that this one is a part of.
    pub parent: Option<usize>,
    pub is_optional: bool,
    /// The line in the file, from 0; always 0 for Task Master.
    pub line: usize,
}

impl WorkflowTable {
    /// How its task files hold the tasks.
    pub fn task_format(&self) -> TaskFormat {
        match self.system {
            WorkflowSystem::TaskMaster => TaskFormat::Statuses,
            WorkflowSystem::Kiro => TaskFormat::NumberedBoxes,
            _ => TaskFormat::Boxes,
        }
    }
}

/// The tasks of a file, in its order.
pub fn read_tasks(format: TaskFormat, text: &str) -> Vec<TaskItem> {
    match format {
        TaskFormat::Statuses => {
            task_master::parse_file(text).map(|tags| task_master::list_tasks(&tags)).unwrap_or_default()
        }
        TaskFormat::Boxes | TaskFormat::NumberedBoxes => read_boxes(format, text),
    }
}

/// Whether a task is still to be done.
pub fn has_open_task(format: TaskFormat, tasks: &[TaskItem]) -> bool {
    tasks.iter().enumerate().any(|(at, task)| {
        let has_parts = || tasks.iter().any(|part| part.parent == Some(at));
        let counts = match format {
            // A header is ticked after its sub-tasks, or never.
            TaskFormat::NumberedBoxes => !task.is_optional && !has_parts(),
            TaskFormat::Boxes | TaskFormat::Statuses => true,
        };
        counts && !task.is_closed
    })
}

fn read_boxes(format: TaskFormat, text: &str) -> Vec<TaskItem> {
    let mut tasks: Vec<TaskItem> = Vec::new();
    // The tasks that the next one may be a part of, each with its indentation.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let Some(found) = parse_box(content) else { continue };
        open.retain(|(indent, _)| *indent < found.indent);
        let (id, words) = split_id(found.rest);
        let by_id = || {
            let (above, _) = id?.rsplit_once('.').filter(|_| format == TaskFormat::NumberedBoxes)?;
            tasks.iter().rposition(|task| task.id.as_deref() == Some(above))
        };
        let parent = open.last().map(|(_, at)| *at).or_else(by_id);
        open.push((found.indent, tasks.len()));
        tasks.push(TaskItem {
            id: id.map(str::to_owned),
            text: words.trim().to_owned(),
            is_done: found.is_done,
            is_closed: found.is_done,
            parent,
            is_optional: found.is_optional,
            line,
        });
    }
    tasks
}

/// A line with a box.
pub(super) struct TaskBox<'t> {
    indent: usize,
    pub(super) is_done: bool,
    pub(super) is_optional: bool,
    /// What stands behind the box.
    pub(super) rest: &'t str,
}

/// Reads `- [x] text` with any list mark. Only `x` is done; `[~]` and `[]` are open.
pub(super) fn parse_box(line: &str) -> Option<TaskBox<'_>> {
    let content = line.trim_start();
    let after_mark = match content.bytes().next()? {
        b'-' | b'*' | b'+' => &content[1..],
        b'0'..=b'9' => {
            let digits = content.trim_start_matches(|c: char| c.is_ascii_digit());
            digits.strip_prefix(['.', ')'])?
        }
        _ => return None,
    };
    // OpenSpec takes a box without a blank before it for a task too.
    let inside = after_mark.trim_start().strip_prefix('[')?;
    let (mark, rest) = inside.split_once(']')?;
    let mark = mark.trim();
    // `[x](file)` is a link.
    let is_link = !mark.is_empty() && rest.starts_with(['(', '[']);
    if mark.chars().count() > 1 || is_link {
        return None;
    }
    let (is_optional, rest) = rest.strip_prefix('*').map_or((false, rest), |rest| (true, rest));
    Some(TaskBox {
        indent: line.len() - content.len(),
        is_done: mark.eq_ignore_ascii_case("x"),
        is_optional,
        rest: rest.trim_start(),
    })
}

/// The id at the start of a task, `T002` or `1.1`, and the words after it.
pub(super) fn split_id(text: &str) -> (Option<&str>, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let id = word.trim_matches('*').trim_end_matches(['.', ':', ')']);
    let digits = id.strip_prefix(['T', 't']).unwrap_or(id);
    let is_id = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        && (digits.len() < id.len() || id.contains('.') || word.ends_with(['.', ':', ')']));
    if is_id { (Some(id), rest) } else { (None, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(text: &str) -> Vec<(bool, Option<String>, String)> {
        let tasks = read_tasks(TaskFormat::Boxes, text);
        tasks.into_iter().map(|task| (task.is_done, task.id, task.text)).collect()
    }

    #[test]
    fn boxes_are_read_as_openspec_reads_them() {
        let done = ["- [x] a", "* [X] a", "+ [ x ] a", "1. [x] a", "2) [x] a", "\t- [x] a", "- [x] a\r"];
        for line in done {
            assert_eq!(boxes(line).first().map(|task| task.0), Some(true), "{line}");
        }
        for line in [
            "- [ ] a",
            "- [] a",
            "- [~] a",
            "- [-] a",
            "- [ ](x) a",
            "-   [ ] a",
            "-[ ] a",
            "```\n- [ ] a\n```",
        ] {
            assert_eq!(boxes(line).first().map(|task| task.0), Some(false), "{line}");
        }
        for line in
            ["- [x](file) a", "- [x][1] a", "- [ab] a", "-[xx] a", "[x] a", "- x", "", "1 [x] a", "- [x"]
        {
            assert!(boxes(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn an_id_is_no_part_of_the_words() {
        let read = |line: &str| {
            let (_, id, text) = boxes(line).remove(0);
            (id.unwrap_or_default(), text)
        };
        let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
        assert_eq!(read("- [ ] T002 [P] [US1] Create User"), pair("T002", "[P] [US1] Create User"));
        assert_eq!(read("- [ ] 1.1 Create the store (P)"), pair("1.1", "Create the store (P)"));
        assert_eq!(read("- [ ] 1. Album store"), pair("1", "Album store"));
        assert_eq!(read("- [ ] 3 ways to fail"), pair("", "3 ways to fail"));
        assert_eq!(read("- [ ] `src/a` -- add"), pair("", "`src/a` -- add"));
    }

    #[test]
    fn a_header_is_done_with_its_sub_tasks() {
        let is_open = |text: &str| {
            let tasks = read_tasks(TaskFormat::NumberedBoxes, text);
            has_open_task(TaskFormat::NumberedBoxes, &tasks)
        };
        assert!(!is_open("- [ ] 1. Store\n- [x] 1.1 Create\n- [ ]* 1.2 Tests\n"));
        assert!(!is_open("- [ ] Store\n  - [x] Create\n"));
        assert!(is_open("- [ ] 1. Store\n- [x] 1.1 Create\n- [ ] 1.2 Read\n"));
        assert!(is_open("- [x] 1. Store\n- [ ] 2. Read\n"));
        let all = "- [ ] 1. Store\n- [x] 1.1 Create\n";
        assert!(has_open_task(TaskFormat::Boxes, &read_tasks(TaskFormat::Boxes, all)));
    }
}

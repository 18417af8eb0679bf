//! Which tasks become done between two texts of a task file.
//!
//! Task files change by more than ticks: tasks are added, renumbered, reworded and moved. So each task of the new text is
//! paired with one of the old text: by number and words, then by words, then by number, and at last by its place. A
//! task that is done and has no done partner has been ticked.

use crate::prelude::*;
use std::collections::HashMap;

use provost_core::workflow::tasks::TaskItem;

/// The indices of the new tasks that become done.
pub(crate) fn find_ticks(old: &[TaskItem], new: &[TaskItem]) -> Vec<usize> {
    let mut pairing =
        Pairing { old, new, free_old: (0..old.len()).collect(), free_new: Vec::new(), ticks: Vec::new() };
    // A task that is open is no tick, but it takes its partner away from the others.
    pairing.free_new = (0..new.len()).collect();
    pairing.pair_by(|task| format!("{}\n{}", task.id.as_deref().unwrap_or_default(), normalize(&task.text)));
    pairing.pair_by(|task| normalize(&task.text));
    pairing.pair_by(|task| task.id.clone().unwrap_or_default());
    pairing.pair_the_rest();
    pairing.ticks.sort_unstable();
    pairing.ticks
}

/// Whether a task groups other tasks, and all of these are closed: its own mark says nothing new.
pub(crate) fn is_finished_header(tasks: &[TaskItem], at: usize) -> bool {
    let children: Vec<&TaskItem> = list_children(tasks, at).collect();
    !children.is_empty() && children.iter().all(|child| child.is_closed || child.is_optional)
}

/// The tasks that are indented below a task, or whose number continues that of the task: `1.2` of `1`.
pub(crate) fn list_children(tasks: &[TaskItem], at: usize) -> impl Iterator<Item = &TaskItem> {
    let number = tasks[at].id.as_deref();
    let is_numbered = move |task: &TaskItem| {
        let rest = task.id.as_deref().zip(number).and_then(|(id, number)| id.strip_prefix(number));
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    tasks.iter().filter(move |task| task.parent == Some(at) || is_numbered(task))
}

struct Pairing<'t> {
    old: &'t [TaskItem],
    new: &'t [TaskItem],
    /// The tasks without a partner so far, in order.
    free_old: Vec<usize>,
    free_new: Vec<usize>,
    ticks: Vec<usize>,
}

impl Pairing<'_> {
    /// Pairs tasks with the same key. Where several have it, done tasks are paired with done ones first.
    fn pair_by(&mut self, key: impl Fn(&TaskItem) -> String) {
        if self.free_old.is_empty() || self.free_new.is_empty() {
            return;
        }
        let mut groups: HashMap<String, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for &at in &self.free_old {
            groups.entry(key(&self.old[at])).or_default().0.push(at);
        }
        for &at in &self.free_new {
            if let Some(group) = groups.get_mut(&key(&self.new[at])) {
                group.1.push(at);
            }
        }
        let (mut paired_old, mut paired_new) = (Vec::new(), Vec::new());
        for (key, (mut old, mut new)) in groups {
            if key.is_empty() {
                continue;
            }
            old.sort_by_key(|at| !self.old[*at].is_done);
            new.sort_by_key(|at| !self.new[*at].is_done);
            for (&old, &new) in old.iter().zip(&new) {
                paired_old.push(old);
                paired_new.push(new);
                self.note_pair(old, new);
            }
        }
        paired_old.sort_unstable();
        paired_new.sort_unstable();
        self.free_old.retain(|at| paired_old.binary_search(at).is_err());
        self.free_new.retain(|at| paired_new.binary_search(at).is_err());
    }

    fn note_pair(&mut self, old: usize, new: usize) {
        if self.new[new].is_done && !self.old[old].is_done {
            self.ticks.push(new);
        }
    }

    /// Tasks that have a new number and new words are paired in order, if none was added or removed. Otherwise a done task
    /// may be an old one in new words only if no open task has gone.
    fn pair_the_rest(&mut self) {
        let (old, new) = (std::mem::take(&mut self.free_old), std::mem::take(&mut self.free_new));
        if old.len() == new.len() {
            old.iter().zip(&new).for_each(|(old, new)| self.note_pair(*old, *new));
            return;
        }
        let is_open_gone = old.iter().any(|at| !self.old[*at].is_done);
        let reworded = if is_open_gone { 0 } else { old.len() };
        self.ticks.extend(new.into_iter().filter(|at| self.new[*at].is_done).skip(reworded));
    }
}

fn normalize(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use provost_core::workflow::tasks::{TaskFormat, read_tasks};

    use super::*;

    /// Tasks from lines such as `x 1.1 Write` and `. 1.2 Test`, for `- [x] 1.1 Write` and `- [ ] 1.2 Test`.
    fn tasks(lines: &str) -> Vec<TaskItem> {
        let make_box = |line: &str| {
            let text = line.trim_start();
            let (indent, mark) =
                (&line[..line.len() - text.len()], if text.starts_with('x') { 'x' } else { ' ' });
            format!("{indent}- [{mark}]{}\n", &text[1..])
        };
        let text: String = lines.lines().map(make_box).collect();
        read_tasks(TaskFormat::NumberedBoxes, &text)
    }

    fn ticked(old: &str, new: &str) -> Vec<String> {
        let new = tasks(new);
        find_ticks(&tasks(old), &new).into_iter().map(|at| new[at].text.clone()).collect()
    }

    #[test]
    fn a_task_that_becomes_done_is_found() {
        assert_eq!(ticked(". 1.1 A\n. 1.2 B", "x 1.1 A\n. 1.2 B"), ["A"]);
        assert_eq!(ticked(". A\n. B", "x A\nx B"), ["A", "B"]);
        assert_eq!(ticked("x 1.1 A\n. 1.2 B", "x 1.1 A\nx 1.2 B"), ["B"]);
        assert_eq!(ticked("", "x A"), ["A"], "born ticked");
        assert_eq!(ticked("x A", "x A\nx B"), ["B"], "added and ticked");
        assert_eq!(ticked(". 1.1 A", "x 1.1 A, in other words"), ["A, in other words"]);
        assert_eq!(ticked(". A", "x Other words"), ["Other words"]);
        assert_eq!(ticked("x A\n. A", "x A\nx A"), ["A"], "two tasks with the same words");
        assert_eq!(ticked("x A\n. B", "x Other words"), ["Other words"], "one is removed, the other renamed");
    }

    #[test]
    fn other_changes_of_tasks_are_no_ticks() {
        for (old, new) in [
            ("x 1.1 A\n. 1.2 B", "x 1.1 A\n. 1.2 B\n. 1.3 C"),
            ("x 1.1 A\n. 1.2 B", ". 1.2 B\nx 1.1 A"),
            ("x 1.1 A\n. 1.2 B", ". 1.1 Z\nx 1.2 A\n. 1.3 B"),
            ("x 1.1 A\n. 1.2 B", "x 1.1 A with more words\n. 1.2 B"),
            ("x A\n. B", "x A\n. B2"),
            ("x A\n. B", "x A2\n. B2"),
            ("x A\nx B\n. C", "x A2\n. C"),
            ("x A\nx B", ". A\nx B"),
            ("x A\n. A", ". A\nx A"),
            ("x A   b", "  x A b"),
        ] {
            assert_eq!(ticked(old, new), Vec::<String>::new(), "{old:?} {new:?}");
        }
    }

    #[test]
    fn a_header_is_finished_with_its_children() {
        let finished = |lines: &str| is_finished_header(&tasks(lines), 0);
        assert!(finished("x A\n  x B\n  x C\n. D"));
        assert!(finished("x 1. A\nx 1.1 B\nx 1.2 C\n. 2. D\n. 2.1 E"));
        assert!(finished("x 1. A\nx 1.1 B\n.* 1.2 C"), "optional tasks may stay open");
        assert!(!finished("x A\n  x B\n  . C"));
        assert!(!finished("x 1. A\nx 1.1 B\n. 1.2 C"));
        assert!(!finished("x A\nx B"), "it has no children");
        assert!(!finished("x 1. A\nx 10.1 B"));
    }
}

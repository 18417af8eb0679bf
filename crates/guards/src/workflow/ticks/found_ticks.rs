//! The tasks that a call marks as done in one file.

use crate::prelude::*;

use super::new_ticks::{find_ticks, is_finished_header};
use super::written_text::WrittenText;
use provost_core::workflow::tasks::TaskItem;

/// The tasks that a call marks as done in one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FoundTicks {
    /// None for certain, or these.
    Tasks(Vec<TaskItem>),
    /// The new text cannot be known, so any task may be among them.
    Possible,
}

/// How the tasks of a file are written.
pub(crate) struct TaskText<'a> {
    pub(crate) read: &'a dyn Fn(&str) -> Vec<TaskItem>,
    /// They are lines with a box. Otherwise they have a field for their status.
    pub(crate) has_boxes: bool,
}

impl TaskText<'_> {
    /// The tasks that become done when a call writes this.
    pub(crate) fn find_ticks(&self, old: &str, written: &WrittenText) -> FoundTicks {
        let found = match written {
            WrittenText::Whole(new) => self.compare(old, new),
            WrittenText::Replaced(pairs) => {
                let marks = |(old, new): &(String, String)| self.is_mark(new) && !self.is_mark(old);
                if !self.has_boxes && pairs.iter().any(marks) {
                    return FoundTicks::Possible;
                }
                pairs.iter().flat_map(|(old, new)| self.compare(old, new)).collect()
            }
            WrittenText::Lines(added) if self.has_boxes => self.compare(old, added),
            WrittenText::Lines(added) | WrittenText::Piece(added) => {
                return if self.may_mark(added) {
                    FoundTicks::Possible
                } else {
                    FoundTicks::Tasks(Vec::new())
                };
            }
            WrittenText::OneOf(texts) => return self.find_in_texts(old, texts),
            WrittenText::Unknown => return FoundTicks::Possible,
        };
        FoundTicks::Tasks(found)
    }

    /// The tasks that are done in the new text and were not in the old one, without finished headers.
    fn compare(&self, old: &str, new: &str) -> Vec<TaskItem> {
        let new = (self.read)(new);
        let ticks = find_ticks(&(self.read)(old), &new).into_iter();
        ticks.filter(|at| !is_finished_header(&new, *at)).map(|at| new[at].clone()).collect()
    }

    /// Whether a piece of text may become the mark of a task, also together with what is around it.
    fn may_mark(&self, piece: &str) -> bool {
        if !self.has_boxes {
            return true;
        }
        // `&` and `\1` stand for text of the file.
        piece.contains(['x', 'X', '&']) && piece.contains(['[', ']', '&', '\\'])
            || piece.lines().any(|line| matches!(line.trim(), "x" | "X"))
            || piece.split('\\').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    }

    fn find_in_texts(&self, old: &str, texts: &[String]) -> FoundTicks {
        let mut found = Vec::new();
        for text in texts {
            let tasks = (self.read)(text);
            if tasks.is_empty() && self.is_mark(text) {
                return FoundTicks::Possible;
            }
            // Texts that are replaced are in the file.
            if !old.contains(text.as_str()) {
                found.extend(self.compare(old, text));
            }
        }
        FoundTicks::Tasks(found)
    }

    /// Whether a text without a whole task is the mark of one.
    fn is_mark(&self, text: &str) -> bool {
        if self.has_boxes {
            let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            text.contains("[x]") || text.contains("[X]") || text.eq_ignore_ascii_case("x")
        } else {
            text.contains("done") || text.contains("completed")
        }
    }
}

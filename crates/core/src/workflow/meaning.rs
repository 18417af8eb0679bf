//! The meaning of a text: what an approval covers.
//!
//! Ticks, ids, statuses, dates and the agent's own notes change while the agent works, and an approval stays valid.
//! Everything else is what the user has read.

use super::front_matter::{is_metadata_line, split_front_matter};
use super::tasks::{parse_box, split_id};
use crate::text::strip_byte_order_mark;

/// The tags of BMAD around what only the user may change.
const FROZEN: &[&str] = &["frozen-after-approval", "intent-contract"];

/// The meaning of a Markdown text.
pub fn find_meaning(text: &str, notes: &[String]) -> String {
    let text = strip_byte_order_mark(text);
    let mut meaning = String::with_capacity(text.len());
    let mut is_head = true;
    // How deep the heading of a section is that does not count.
    let mut ignored: Option<usize> = None;
    for line in text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()) {
        if let Some((level, title)) = parse_heading(line) {
            is_head &= level < 2;
            if ignored.is_none_or(|above| level <= above) {
                ignored = notes.iter().any(|note| note.eq_ignore_ascii_case(title)).then_some(level);
            }
        }
        match parse_box(line) {
            // A task counts wherever it is.
            Some(found) => {
                let indent = &line[..line.len() - line.trim_start().len()];
                let optional = if found.is_optional { "*" } else { "" };
                meaning += &format!("{indent}- [ ]{optional} {}\n", split_id(found.rest).1.trim());
            }
            None if ignored.is_some() || is_head && is_metadata_line(line) || is_blocked_note(line) => {}
            None => {
                meaning += line;
                meaning.push('\n');
            }
        }
    }
    meaning
}

/// The meaning of a story of BMAD: what is frozen after the approval, or else the text without the agent's sections.
pub fn find_story_meaning(text: &str, notes: &[String]) -> String {
    let text = strip_byte_order_mark(text);
    let frozen = find_frozen(text);
    if !frozen.trim().is_empty() {
        return find_meaning(&frozen, &[]);
    }
    find_meaning(split_front_matter(text).0, notes)
}

/// What stands between the tags. A tag that is not closed reaches to the end.
fn find_frozen(text: &str) -> String {
    let mut frozen = String::new();
    let mut closing: Option<String> = None;
    for line in text.lines() {
        let content = line.trim();
        match &closing {
            Some(tag) if content.starts_with(tag.as_str()) => closing = None,
            Some(_) => frozen += &format!("{line}\n"),
            None => {
                let opened =
                    |tag: &&&str| content.strip_prefix('<').is_some_and(|rest| rest.starts_with(**tag));
                closing = FROZEN.iter().find(opened).map(|tag| format!("</{tag}"));
            }
        }
    }
    frozen
}

/// The level and the title of a heading.
fn parse_heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (1..=6).contains(&level).then_some(()).filter(|()| title.starts_with(' '))?;
    Some((level, title.trim()))
}

/// `_Blocked: reason_`, which cc-sdd puts below a task that does not go on.
fn is_blocked_note(line: &str) -> bool {
    let content = line.trim().trim_start_matches(['-', '*', ' ']);
    content.starts_with("_Blocked:") && content.ends_with('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means_same(before: &str, after: &str) -> bool {
        let notes = ["Implementation Notes".to_owned()];
        find_meaning(before, &notes) == find_meaning(after, &notes)
    }

    #[test]
    fn ticks_ids_statuses_and_notes_change_no_meaning() {
        let tasks = "# Tasks\n\n**Status**: Draft\n\n- [ ] 1. Store\n  - [ ] T002 Create it\n";
        for after in [
            "# Tasks\r\n\r\n**Status**: Done\r\n- [x] 1. Store\r\n  - [X] T002 Create it\r\n",
            "\u{feff}# Tasks\n- [x] 1. Store\n  - [ ] T003 Create it  \n\n",
            "# Tasks\n\n- [ ] 1. Store\n  - _Blocked: no key_\n  - [ ] T002 Create it\n## Implementation Notes\n\n- a note\n",
        ] {
            assert!(means_same(tasks, after), "{after}");
        }
    }

    #[test]
    fn another_requirement_is_another_meaning() {
        let text = "# Spec\n\n## Requirements\n\nThe system SHALL ask.\nStatus: shown\n- [ ] 1. Store\n";
        for after in [
            text.replace("SHALL", "SHALL not"),
            text.replace("Status: shown", "Status: hidden"),
            text.replace("- [ ] 1. Store\n", ""),
            text.replace("Store", "Shop"),
            format!("{text}- [x] 2. More\n"),
            format!("{text}## Implementation Notes\n- [ ] 2. More\n"),
            text.replace("- [ ] 1.", "- [ ]* 1."),
        ] {
            assert!(!means_same(text, &after), "{after}");
        }
    }

    #[test]
    fn only_the_frozen_part_of_a_story_counts() {
        let story = "---\nstatus: draft\n---\n<frozen-after-approval reason=\"x\">\n## Intent\nA\n</frozen-after-approval>\n\
                     ## Code Map\n- b\n";
        let meaning = |text: &str| find_story_meaning(text, &["Code Map".to_owned()]);
        assert_eq!(meaning(story), "## Intent\nA\n");
        assert_eq!(
            meaning(story),
            meaning(&story.replace("draft", "done").replace("- b", "- c\n## More\nd"))
        );
        assert_ne!(meaning(story), meaning(&story.replace("A\n", "B\n")));
        assert_ne!(meaning(story), meaning(&story.replace("A\n</", "</").replace("## Code", "A\n## Code")));
        assert_eq!(meaning("<frozen-after-approval>\nA\nB\n"), "A\nB\n");
        assert_eq!(meaning("---\nstatus: x\n---\nA\n## Code Map\nb\n## C\nd\n"), "A\n## C\nd\n");
    }
}

//! The grammar of file names in a plan's directory.
//!
//! A document (`plan.md`, `task-3.md`) has numbered reviews (`task-3-review-1.md`), and each review has an answer
//! (`task-3-post-review-1.md`). The ground rules, the reviewer and the commands all read and write names here, so
//! that none of them requires a file that another one forbids.
//!
//! Names are parsed from the end, the longest mark first, because an id may contain `-review-`.

use crate::prelude::*;

/// How all names end.
pub(super) const EXTENSION: &str = ".md";
const TASK: &str = "task-";
const POST_REVIEW: &str = "-post-review-";
const REVIEW: &str = "-review-";

/// What a file is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSubject<'a> {
    Plan,
    Design,
    Tasks,
    /// One task, by its id.
    Task(&'a str),
    /// The code of all tasks together.
    AllCode,
    /// The code of a task that the name does not contain: `code-review-1.md` of an older version.
    Code,
}

/// The names of all subjects but tasks.
const SUBJECTS: [(&str, FileSubject<'_>); 5] = [
    ("plan", FileSubject::Plan),
    ("design", FileSubject::Design),
    ("tasks", FileSubject::Tasks),
    ("all-code", FileSubject::AllCode),
    ("code", FileSubject::Code),
];

/// The name of a file in a plan's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileName<'a> {
    Document(FileSubject<'a>),
    Review {
        subject: FileSubject<'a>,
        /// Whether it is the answer to the review with the same number.
        post: bool,
        /// As written: digits, of any number and with leading zeros.
        number: &'a str,
    },
}

/// Parses a name; `None` if it is not in this grammar. An id that ends like a review (`3-review-1`) is read as a
/// review.
pub fn parse_name(name: &str) -> Option<FileName<'_>> {
    let stem = name.strip_suffix(EXTENSION)?;
    let before = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &stem[before.len()..];
    // The shorter mark is part of the longer one, which therefore comes first.
    let review = [(POST_REVIEW, true), (REVIEW, false)].into_iter().find_map(|(mark, post)| {
        let subject = before.strip_suffix(mark).and_then(parse_subject)?;
        Some(FileName::Review { subject, post, number })
    });
    match review {
        Some(_) if !number.is_empty() => review,
        _ => parse_subject(stem).filter(|subject| has_document(*subject)).map(FileName::Document),
    }
}

/// The name of the document about a subject; `None` for code, which is not in the plan's directory.
pub fn document_name(subject: FileSubject<'_>) -> Option<String> {
    has_document(subject).then(|| FileName::Document(subject).to_text())
}

/// The name of a review, or with `post` of the answer to it.
pub fn review_name(subject: FileSubject<'_>, post: bool, number: u64) -> String {
    FileName::Review { subject, post, number: &number.to_string() }.to_text()
}

/// Whether a text can be the id of a task, and so part of a file's name.
pub fn is_task_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn parse_subject(stem: &str) -> Option<FileSubject<'_>> {
    let fixed = SUBJECTS.iter().find(|(name, _)| *name == stem).map(|(_, subject)| *subject);
    fixed.or_else(|| stem.strip_prefix(TASK).filter(|id| is_task_id(id)).map(FileSubject::Task))
}

fn has_document(subject: FileSubject<'_>) -> bool {
    !matches!(subject, FileSubject::AllCode | FileSubject::Code)
}

impl FileName<'_> {
    pub fn to_text(self) -> String {
        let mut text = String::new();
        self.write_to(&mut text);
        text
    }

    /// Appends the name to a text. There may be thousands of names, and the formatter is slow.
    pub(super) fn write_to(self, text: &mut String) {
        let (Self::Document(subject) | Self::Review { subject, .. }) = self;
        if let FileSubject::Task(id) = subject {
            text.push_str(TASK);
            text.push_str(id);
        } else if let Some((name, _)) = SUBJECTS.iter().find(|(_, named)| *named == subject) {
            text.push_str(name);
        }
        if let Self::Review { post, number, .. } = self {
            text.push_str(if post { POST_REVIEW } else { REVIEW });
            text.push_str(number);
        }
        text.push_str(EXTENSION);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECTS: [FileSubject<'_>; 9] = [
        FileSubject::Plan,
        FileSubject::Design,
        FileSubject::Tasks,
        FileSubject::Task("3"),
        FileSubject::Task("4-5"),
        FileSubject::Task("post"),
        FileSubject::Task("a_B-review"),
        FileSubject::AllCode,
        FileSubject::Code,
    ];

    fn review_of<'a>(subject: FileSubject<'a>, post: bool, number: &'a str) -> Option<FileName<'a>> {
        Some(FileName::Review { subject, post, number })
    }

    #[test]
    fn every_written_name_is_parsed_as_the_same() {
        for subject in SUBJECTS {
            if let Some(name) = document_name(subject) {
                assert_eq!(parse_name(&name), Some(FileName::Document(subject)), "{name}");
            }
            for post in [false, true] {
                let name = review_name(subject, post, 12);
                assert_eq!(parse_name(&name), review_of(subject, post, "12"), "{name}");
            }
        }
    }

    #[test]
    fn names_are_spelled_as_the_document_spells_them() {
        assert_eq!(document_name(FileSubject::Plan).as_deref(), Some("plan.md"));
        assert_eq!(document_name(FileSubject::Task("3")).as_deref(), Some("task-3.md"));
        assert_eq!(review_name(FileSubject::Task("3"), true, 2), "task-3-post-review-2.md");
        assert_eq!(review_name(FileSubject::Tasks, false, 1), "tasks-review-1.md");
        assert_eq!(review_name(FileSubject::AllCode, false, 1), "all-code-review-1.md");
        assert_eq!(
            review_name(FileSubject::AllCode, true, u64::MAX),
            "all-code-post-review-18446744073709551615.md"
        );
    }

    #[test]
    fn code_has_reviews_and_no_document() {
        for subject in [FileSubject::AllCode, FileSubject::Code] {
            assert_eq!(document_name(subject), None);
        }
        assert_eq!(parse_name("all-code.md"), None);
        assert_eq!(parse_name("code.md"), None);
    }

    #[test]
    fn names_of_a_finished_plan_and_of_older_versions_are_accepted() {
        assert_eq!(parse_name("task-4-5.md"), Some(FileName::Document(FileSubject::Task("4-5"))));
        assert_eq!(parse_name("task-4-5-review-7.md"), review_of(FileSubject::Task("4-5"), false, "7"));
        assert_eq!(parse_name("code-review-1.md"), review_of(FileSubject::Code, false, "1"));
        assert_eq!(parse_name("code-post-review-1.md"), review_of(FileSubject::Code, true, "1"));
        assert_eq!(parse_name("task-2-code-review-1.md"), review_of(FileSubject::Task("2-code"), false, "1"));
        assert_eq!(
            parse_name("task-2-code-post-review-1.md"),
            review_of(FileSubject::Task("2-code"), true, "1")
        );
    }

    #[test]
    fn the_longest_mark_at_the_end_counts() {
        assert_eq!(parse_name("task-2-post-review-1.md"), review_of(FileSubject::Task("2"), true, "1"));
        assert_eq!(
            parse_name("task-2-post-post-review-1.md"),
            review_of(FileSubject::Task("2-post"), true, "1")
        );
        assert_eq!(
            parse_name("task-2-review-1-review-2.md"),
            review_of(FileSubject::Task("2-review-1"), false, "2"),
            "the review of a review, not of task 2"
        );
        // Without an id before it, the longer mark is part of the id.
        assert_eq!(parse_name("task-post-review-1.md"), review_of(FileSubject::Task("post"), false, "1"));
        assert_eq!(parse_name("task-review-1.md"), Some(FileName::Document(FileSubject::Task("review-1"))));
    }

    #[test]
    fn a_number_is_digits_of_any_length() {
        assert_eq!(parse_name("plan-review-007.md"), review_of(FileSubject::Plan, false, "007"));
        let long = format!("plan-review-{}.md", "9".repeat(200));
        assert!(matches!(parse_name(&long), Some(FileName::Review { number, .. }) if number.len() == 200));
        for name in ["plan-review-.md", "plan-review-1a.md", "plan-review-a1.md", "plan-review-٣.md"] {
            assert_eq!(parse_name(name), None, "{name}");
        }
        // Without a number, it is the document of a task with a long id.
        assert_eq!(parse_name("task-2-review-.md"), Some(FileName::Document(FileSubject::Task("2-review-"))));
        assert_eq!(
            parse_name("task-2-review-x.md"),
            Some(FileName::Document(FileSubject::Task("2-review-x")))
        );
    }

    #[test]
    fn extra_characters_make_another_name() {
        for name in [
            "",
            ".md",
            "plan",
            "plan.MD",
            "Plan.md",
            "plan.md.md",
            "plan.md ",
            " plan.md",
            "plan.md\n",
            "./plan.md",
            "my-plan.md",
            "plan-1.md",
            "plan-post.md",
            "plan-post-review.md",
            "plan--review-1.md",
            "plan-Review-1.md",
            "state.json",
            "task.md",
            "task-.md",
            "task-1 2.md",
            "task-ä.md",
            "task-../plan.md",
            "task--review-1/2.md",
            "review-1.md",
            "-review-1.md",
            "notes-review-1.md",
            "all-code-review.md",
        ] {
            assert_eq!(parse_name(name), None, "{name:?}");
        }
    }

    #[test]
    fn an_id_consists_of_letters_digits_hyphens_and_underscores() {
        for id in ["3", "2b", "4-5", "_", "A-z_0"] {
            assert!(is_task_id(id), "{id}");
        }
        for id in ["", " 3", "3 ", "a/b", "..", "a.b", "ä", "3\n", "a\0"] {
            assert!(!is_task_id(id), "{id:?}");
        }
    }
}

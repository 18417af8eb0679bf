//! The names of the files in a plan's directory, as one grammar.
//!
//! Documents (`plan.md`, `task-3.md`) are looked at in numbered reviews (`task-3-review-1.md`), and
//! what became of a review is told in its post-review (`task-3-post-review-1.md`). The ground rules,
//! the reviewer and the command line all read and write names here: where each had patterns of its
//! own, one demanded a file that the other forbade.
//!
//! A name is taken apart from its end, the longest mark first. An id may have `-review-` in it, so a
//! pattern that looks from the front finds reviews of things that do not exist.

use std::fmt;

/// How all names end.
pub(super) const EXTENSION: &str = ".md";
const TASK: &str = "task-";
/// How a review's name ends before its number, and whether that is a post-review. The second mark is
/// in the first one, which therefore is looked for first.
const MARKS: [(&str, bool); 2] = [("-post-review-", true), ("-review-", false)];

/// What a file is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    Plan,
    Design,
    Tasks,
    /// One task, by its id.
    Task(&'a str),
    /// The code of all tasks together.
    AllCode,
    /// The code of a task that the name does not tell: `code-review-1.md` of an older version.
    Code,
}

/// The name of a file in a plan's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name<'a> {
    Document(Subject<'a>),
    Review {
        of: Subject<'a>,
        /// Whether it tells what became of the review with the same number.
        post: bool,
        /// As it is written: digits, of any number and with zeros in front.
        number: &'a str,
    },
}

/// What a name says; `None` if it is not one of this grammar.
///
/// An id that itself ends like a review (`3-review-1`) cannot be told from a review, and is read as
/// one.
pub fn parse(name: &str) -> Option<Name<'_>> {
    let stem = name.strip_suffix(EXTENSION)?;
    let before = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &stem[before.len()..];
    let review = MARKS.iter().find_map(|(mark, post)| {
        let of = before.strip_suffix(mark).and_then(subject)?;
        Some(Name::Review { of, post: *post, number })
    });
    match review {
        Some(_) if !number.is_empty() => review,
        _ => subject(stem).filter(|of| has_document(*of)).map(Name::Document),
    }
}

/// The name of the document about something; `None` for code, which is not in the plan's directory.
pub fn document(of: Subject<'_>) -> Option<String> {
    has_document(of).then(|| Name::Document(of).to_string())
}

/// The name of a review, or of what became of it.
pub fn review(of: Subject<'_>, post: bool, number: u64) -> String {
    Name::Review { of, post, number: &number.to_string() }.to_string()
}

/// Whether a text can be the id of a task, and so part of a file's name.
pub fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn subject(stem: &str) -> Option<Subject<'_>> {
    match stem {
        "plan" => Some(Subject::Plan),
        "design" => Some(Subject::Design),
        "tasks" => Some(Subject::Tasks),
        "all-code" => Some(Subject::AllCode),
        "code" => Some(Subject::Code),
        _ => stem.strip_prefix(TASK).filter(|id| is_id(id)).map(Subject::Task),
    }
}

fn has_document(of: Subject<'_>) -> bool {
    !matches!(of, Subject::AllCode | Subject::Code)
}

impl Subject<'_> {
    fn write_to(self, text: &mut String) {
        let (start, id) = match self {
            Self::Plan => ("plan", ""),
            Self::Design => ("design", ""),
            Self::Tasks => ("tasks", ""),
            Self::Task(id) => (TASK, id),
            Self::AllCode => ("all-code", ""),
            Self::Code => ("code", ""),
        };
        text.push_str(start);
        text.push_str(id);
    }
}

impl Name<'_> {
    /// Puts the name behind a text: the formatter would take longer than all that is done with it.
    pub(super) fn write_to(self, text: &mut String) {
        match self {
            Self::Document(of) => of.write_to(text),
            Self::Review { of, post, number } => {
                let [(post_review, _), (review, _)] = MARKS;
                of.write_to(text);
                text.push_str(if post { post_review } else { review });
                text.push_str(number);
            }
        }
        text.push_str(EXTENSION);
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write_to(&mut text);
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECTS: [Subject<'_>; 9] = [
        Subject::Plan,
        Subject::Design,
        Subject::Tasks,
        Subject::Task("3"),
        Subject::Task("4-5"),
        Subject::Task("post"),
        Subject::Task("a_B-review"),
        Subject::AllCode,
        Subject::Code,
    ];

    fn review_of<'a>(of: Subject<'a>, post: bool, number: &'a str) -> Option<Name<'a>> {
        Some(Name::Review { of, post, number })
    }

    #[test]
    fn every_name_that_is_written_is_read_as_what_it_is() {
        for of in SUBJECTS {
            if let Some(name) = document(of) {
                assert_eq!(parse(&name), Some(Name::Document(of)), "{name}");
            }
            for post in [false, true] {
                let name = review(of, post, 12);
                assert_eq!(parse(&name), review_of(of, post, "12"), "{name}");
            }
        }
    }

    #[test]
    fn names_are_spelled_as_the_document_spells_them() {
        assert_eq!(document(Subject::Plan).as_deref(), Some("plan.md"));
        assert_eq!(document(Subject::Task("3")).as_deref(), Some("task-3.md"));
        assert_eq!(review(Subject::Task("3"), true, 2), "task-3-post-review-2.md");
        assert_eq!(review(Subject::Tasks, false, 1), "tasks-review-1.md");
        assert_eq!(review(Subject::AllCode, false, 1), "all-code-review-1.md");
        assert_eq!(review(Subject::AllCode, true, u64::MAX), "all-code-post-review-18446744073709551615.md");
    }

    #[test]
    fn code_has_reviews_and_no_document() {
        for of in [Subject::AllCode, Subject::Code] {
            assert_eq!(document(of), None);
        }
        assert_eq!(parse("all-code.md"), None);
        assert_eq!(parse("code.md"), None);
    }

    #[test]
    fn names_of_a_finished_plan_and_of_older_versions_are_accepted() {
        assert_eq!(parse("task-4-5.md"), Some(Name::Document(Subject::Task("4-5"))));
        assert_eq!(parse("task-4-5-review-7.md"), review_of(Subject::Task("4-5"), false, "7"));
        assert_eq!(parse("code-review-1.md"), review_of(Subject::Code, false, "1"));
        assert_eq!(parse("code-post-review-1.md"), review_of(Subject::Code, true, "1"));
        assert_eq!(parse("task-2-code-review-1.md"), review_of(Subject::Task("2-code"), false, "1"));
        assert_eq!(parse("task-2-code-post-review-1.md"), review_of(Subject::Task("2-code"), true, "1"));
    }

    #[test]
    fn the_longest_mark_at_the_end_counts() {
        assert_eq!(parse("task-2-post-review-1.md"), review_of(Subject::Task("2"), true, "1"));
        assert_eq!(parse("task-2-post-post-review-1.md"), review_of(Subject::Task("2-post"), true, "1"));
        assert_eq!(
            parse("task-2-review-1-review-2.md"),
            review_of(Subject::Task("2-review-1"), false, "2"),
            "the review of a review, not of task 2"
        );
        // Without an id in front of it, the longer mark is a part of the id.
        assert_eq!(parse("task-post-review-1.md"), review_of(Subject::Task("post"), false, "1"));
        assert_eq!(parse("task-review-1.md"), Some(Name::Document(Subject::Task("review-1"))));
    }

    #[test]
    fn a_number_is_digits_of_any_length() {
        assert_eq!(parse("plan-review-007.md"), review_of(Subject::Plan, false, "007"));
        let long = format!("plan-review-{}.md", "9".repeat(200));
        assert!(matches!(parse(&long), Some(Name::Review { number, .. }) if number.len() == 200));
        for name in ["plan-review-.md", "plan-review-1a.md", "plan-review-a1.md", "plan-review-٣.md"] {
            assert_eq!(parse(name), None, "{name}");
        }
        // What is not a number makes it the document of a task with a long id.
        assert_eq!(parse("task-2-review-.md"), Some(Name::Document(Subject::Task("2-review-"))));
        assert_eq!(parse("task-2-review-x.md"), Some(Name::Document(Subject::Task("2-review-x"))));
    }

    #[test]
    fn anything_before_behind_or_between_makes_another_name() {
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
            assert_eq!(parse(name), None, "{name:?}");
        }
    }

    #[test]
    fn an_id_is_letters_digits_and_two_signs() {
        for id in ["3", "2b", "4-5", "_", "A-z_0"] {
            assert!(is_id(id), "{id}");
        }
        for id in ["", " 3", "3 ", "a/b", "..", "a.b", "ä", "3\n", "a\0"] {
            assert!(!is_id(id), "{id:?}");
        }
    }
}

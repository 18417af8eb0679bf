use super::*;
use provost_files as files;
use std::fs;

const TABLE: &str = "| Id | Status |\n|---|---|\n| 1 | pending |\n";

/// What the rules say about a directory with these files; those called `tasks.md` are tables.
fn check(names: &[&str]) -> Vec<String> {
    let contents = |name: &&str| if *name == "tasks.md" { TABLE } else { "# Text\n" };
    check_files(&names.iter().map(|name| (*name, contents(name))).collect::<Vec<_>>())
}

fn check_files(contents: &[(&str, &str)]) -> Vec<String> {
    // A plan directory with this name once blinded a rule that matched whole paths.
    let dir = tempfile::Builder::new().prefix("review-plan.md").tempdir().unwrap();
    for (name, text) in contents {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let tasks = fs::read_to_string(dir.path().join("tasks.md")).ok();
    find_violations(&files::list_directory(dir.path(), "md").unwrap(), tasks.as_deref())
}

const NONE: [&str; 0] = [];

#[test]
fn a_valid_plan_has_no_violations() {
    assert_eq!(check(&["plan.md", "tasks.md"]), NONE);
    assert_eq!(check(&["plan.md"]), NONE);
}

#[test]
fn a_missing_plan_and_an_invalid_name_are_told_together() {
    assert_eq!(
        check(&["invalid-file.md"]),
        ["Missing required file: plan.md", "Invalid filename: invalid-file.md"]
    );
}

#[test]
fn a_directory_is_not_the_plan() {
    assert_eq!(check(&["plan.md/notes.txt"]), ["Missing required file: plan.md"]);
}

#[test]
fn only_visible_markdown_names_have_to_be_of_the_grammar() {
    assert_eq!(check(&["plan.md", "state.json", "notes.txt", "NOTES.MD", ".draft.md", ".md"]), NONE);
    assert_eq!(
        check(&["plan.md", "Design.md", "x.md/keep.txt", "task-.md"]),
        ["Invalid filename: Design.md", "Invalid filename: task-.md", "Invalid filename: x.md"]
    );
}

#[test]
fn a_finished_plan_is_valid() {
    let names = [
        "plan.md",
        "design.md",
        "tasks.md",
        "plan-review-1.md",
        "plan-post-review-1.md",
        "plan-review-3.md",
        "design-review-2.md",
        "tasks-review-10.md",
        "task-1.md",
        "task-4-5.md",
        "task-4-5-review-2.md",
        "task-4-5-review-7.md",
        "task-4-5-post-review-7.md",
        "task-gone-review-1.md",
        "all-code-review-1.md",
        "all-code-post-review-1.md",
        "state.json",
    ];
    assert_eq!(check(&names), NONE);
}

#[test]
fn names_of_older_versions_are_valid_and_demand_nothing_new() {
    let names = [
        "plan.md",
        "tasks.md",
        "task-2.md",
        "code-review-1.md",
        "code-post-review-1.md",
        "task-2-code-review-1.md",
        "task-2-code-post-review-1.md",
        "task-2-code-review-2.md",
        "task-2-code-post-review-2.md",
        "task-2-code-post-post-review-1.md",
    ];
    assert_eq!(check(&names), NONE);
}

#[test]
fn markdown_in_nested_directories_is_told() {
    assert_eq!(check(&["plan.md", "nested/extra.md"]), ["Files found in nested directories"]);
    assert_eq!(check(&["plan.md", "nested/deep/.extra.md", "a/b.md"]), ["Files found in nested directories"]);
    assert_eq!(check(&["plan.md", "nested/picture.png"]), NONE);
}

#[test]
fn a_review_requires_what_it_reviews() {
    assert_eq!(check(&["plan.md", "design-review-1.md"]), ["design-review-1.md requires design.md"]);
    assert_eq!(check(&["plan.md", "design.md", "design-review-1.md"]), NONE);
    assert_eq!(
        check(&["plan-review-1.md", "tasks-review-2.md"]),
        [
            "Missing required file: plan.md",
            "plan-review-1.md requires plan.md",
            "tasks-review-2.md requires tasks.md"
        ]
    );
}

#[test]
fn a_review_of_a_task_or_of_all_code_requires_no_document() {
    assert_eq!(check(&["plan.md", "task-1-review-1.md", "all-code-review-1.md", "code-review-1.md"]), NONE);
}

#[test]
fn a_post_review_requires_its_review() {
    assert_eq!(
        check(&["plan.md", "plan-post-review-1.md"]),
        ["plan-post-review-1.md requires plan-review-1.md"]
    );
    assert_eq!(check(&["plan.md", "plan-review-1.md", "plan-post-review-1.md"]), NONE);
    assert_eq!(
        check(&[
            "plan.md",
            "all-code-post-review-2.md",
            "all-code-review-1.md",
            "code-post-review-1.md",
            "task-3-post-review-1.md",
            "task-3-review-01.md",
            "task-2-code-post-review-1.md",
        ]),
        [
            "all-code-post-review-2.md requires all-code-review-2.md",
            "code-post-review-1.md requires code-review-1.md",
            "task-2-code-post-review-1.md requires task-2-code-review-1.md",
            "task-3-post-review-1.md requires task-3-review-1.md",
        ]
    );
}

#[test]
fn the_post_review_of_a_missing_design_misses_its_review_only() {
    assert_eq!(
        check(&["plan.md", "design-post-review-1.md"]),
        ["design-post-review-1.md requires design-review-1.md"]
    );
}

#[test]
fn task_files_require_the_table_of_tasks() {
    let missing = ["Task files exist but tasks.md is missing"];
    assert_eq!(check(&["plan.md", "task-1.md"]), missing);
    assert_eq!(check(&["plan.md", "task-preview.md"]), missing, "a name with `review` in it");
    assert_eq!(check(&["plan.md", "task-1.md", "tasks.md"]), NONE);
    assert_eq!(check(&["plan.md", "task-1-review-1.md"]), NONE, "reviews are no task files");
}

#[test]
fn tasks_are_a_table() {
    let tasks = |text: &str| check_files(&[("plan.md", ""), ("tasks.md", text)]);
    let prose = "tasks.md contains non-table content";
    let empty = "tasks.md has no table rows";
    assert_eq!(tasks("Do this and that.\n"), [prose, empty]);
    assert_eq!(tasks(&format!("# Tasks\n{TABLE}")), [prose]);
    assert_eq!(tasks(""), [empty]);
    assert_eq!(tasks("\n \n"), [empty]);
    assert_eq!(tasks(TABLE), NONE);
    assert_eq!(tasks("| Id | Status |\n|---|---|\n"), NONE, "a header is a table");
    assert_eq!(tasks(&format!("\n{}\r\n \t\r\n  {TABLE}", TABLE.replace('\n', "  \r\n"))), NONE);
}

#[test]
fn all_rules_are_told_in_their_order() {
    assert_eq!(
        check_files(&[
            ("notes.md", ""),
            ("a/b.md", ""),
            ("design-review-1.md", ""),
            ("design-post-review-2.md", ""),
            ("task-1.md", ""),
        ]),
        [
            "Missing required file: plan.md",
            "Invalid filename: notes.md",
            "Files found in nested directories",
            "design-review-1.md requires design.md",
            "design-post-review-2.md requires design-review-2.md",
            "Task files exist but tasks.md is missing",
        ]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_cannot_be_shown_are_made_visible_and_told_once() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("plan.md"), "").unwrap();
    for name in [b"plan\xff.md".as_slice(), b"plan\xfe.md", b"task-\x1b[2J\n1.md"] {
        fs::write(dir.path().join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
    }
    assert_eq!(
        find_violations(&files::list_directory(dir.path(), "md").unwrap(), None),
        ["Invalid filename: plan\u{fffd}.md", "Invalid filename: task-\\u{1b}[2J 1.md"]
    );
}

#[test]
fn of_many_violations_the_first_are_told_and_the_rest_counted() {
    let numbered =
        |count: usize, name: &'static str| (0..count).map(move |number| format!("{name}{number:04}.md"));
    let mut names = vec!["plan.md".to_owned()];
    names.extend(numbered(5000, "note"));
    names.extend(numbered(11, "design-review-"));
    names.extend(numbered(10, "plan-post-review-"));
    let found = find_violations(&Listing::from_names(names.iter().map(String::as_str)), None);
    assert_eq!(found.len(), 10 + 1 + 10 + 1 + 10);
    assert_eq!(found[0], "Invalid filename: note0000.md");
    assert_eq!(found[9..11], ["Invalid filename: note0009.md", "and 4990 more invalid filenames"]);
    assert_eq!(found[21], "and 1 more reviews without what they review");
    assert_eq!(found[31], "plan-post-review-0009.md requires plan-review-0009.md");
}

#[test]
fn the_state_is_not_a_name_to_be_checked() {
    assert_eq!(check_files(&[("plan.md", ""), ("state.json", "not valid json")]), NONE);
}

fn warning(state: &[u8]) -> Option<String> {
    state_warning(&StateFile::parse(state))
}

#[test]
fn a_state_that_is_no_object_is_warned_about() {
    const INVALID: &str = "Warning: state.json contains invalid JSON";
    for state in ["not valid json", "\"not valid json\"", "", "[1,2]", "5", "null", "{", "{} {}", "\u{feff}"]
    {
        assert_eq!(warning(state.as_bytes()).as_deref(), Some(INVALID), "{state:?}");
    }
    assert_eq!(warning(b"{\"phase\": \"\xff\"}").as_deref(), Some(INVALID));
}

#[test]
fn missing_fields_of_the_state_are_named() {
    let missing = |fields: &str| Some(format!("Warning: state.json missing required fields: {fields}"));
    assert_eq!(
        warning(br#"{"phase": "new-plan"}"#),
        missing("next_phase, review_model, max_reviews, consecutive_clean, tdd")
    );
    assert_eq!(
        warning(b"{}"),
        missing("phase, next_phase, review_model, max_reviews, consecutive_clean, tdd")
    );
}

#[test]
fn a_whole_state_is_not_warned_about() {
    let whole = br#"{"phase": "new-plan", "next_phase": null, "review_model": "opus", "max_reviews": 8,
                     "consecutive_clean": 0, "tdd": false, "more": 1}"#;
    assert_eq!(warning(whole), None);
    assert_eq!(warning(&[b"\xef\xbb\xbf".as_slice(), whole].concat()), None);
}

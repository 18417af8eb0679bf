//! The names of files in a plan's directory, one per line, and the names of plans.

use std::fs;
use std::path::{Component, Path};
use std::time::Duration;

use provost::files::{self, Listing};
use provost::review_loop::file_names::{self, FileName, FileSubject};
use provost::review_loop::ground_rules;
use provost::review_loop::plan::Plan;

use super::sandbox::Sandbox;
use super::{Target, ensure, ensure_equal, text_seeds};
use crate::double_check::AnswerDigest;

pub const TARGET: Target = Target {
    name: "names",
    promise: "a parsed name is written back unchanged; no file name and no plan name leads out of its directory; a \
              directory is listed completely and in one order; messages about it are bounded and printable",
    patience: Duration::from_millis(150),
    seeds,
    tokens: &[
        "plan",
        "design",
        "tasks",
        "task-",
        "all-code",
        "code",
        "-review-",
        "-post-review-",
        ".md",
        "0",
        "1",
        "12",
        "18446744073709551616",
        "\n",
        "/",
        "..",
        "../",
        "./",
        "\\",
        "\0",
        "\u{1b}[2J",
        "\u{202e}",
        "state.json",
        ".",
        "\u{feff}",
        "é",
        "e\u{301}",
        "K",
        "-",
        "_",
        "\r",
        "\t",
        " ",
        "~",
        "%2e%2e",
        "plans/",
        ".taskie/plans/",
        "\u{fffd}",
        "first",
    ],
    brackets: &[
        ("task-", "-review-1.md"),
        ("../", ""),
        ("", ".md\n"),
        ("./", "/.."),
        ("", "-post-review-2.md\n"),
    ],
    is_json: false,
    check,
};

/// The number of names that are checked in one input.
const MOST_NAMES: usize = 400;
/// The number of names that become files, in one of so many inputs.
const MOST_FILES: usize = 24;
const DIRECTORY_INTERVAL: u64 = 8;

fn seeds() -> Vec<Vec<u8>> {
    text_seeds(&[
        "plan.md\ndesign.md\ntasks.md\nstate.json\nplan-review-1.md\nplan-post-review-1.md\n",
        "plan.md\ntasks.md\ntask-1.md\ntask-4-5.md\ntask-4-5-review-10.md\ntask-4-5-post-review-10.md\n",
        "task-3-review-1-review-02.md\nall-code-review-1.md\ncode-review-1.md\nnotes.md\n.hidden.md\n",
        "../first/plan.md\n../../..\nfirst\nfirst/plan.md\n./first/../second\n/etc\nsecond\n",
        "plan.md\nplan-post-review-2.md\ntask-.md\ntask-é.md\ntasks-review-.md\n",
    ])
}

fn check(input: &[u8], digest: &mut AnswerDigest) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let listed: Vec<&str> = text.split('\n').filter(|name| !name.is_empty()).take(MOST_NAMES).collect();
    for name in &listed {
        check_name(name)?;
    }
    digest.add_debug(&listed.iter().map(|name| file_names::parse_name(name)).collect::<Vec<_>>());
    let mut sorted: Vec<&str> = listed.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let listing = Listing::from_names(listed.iter().copied());
    ensure(listing.names().is_sorted(), "the files of a list are not in order")?;
    for name in &sorted {
        ensure(listing.has_file(name), "a file of the list is not found in it")?;
    }
    let violations = ground_rules::find_violations(&listing, None);
    let most = 8 + 4 * 11;
    ensure(violations.len() <= most, "more violations than are told")?;
    let is_fine = |text: &String| !text.contains(|c: char| c.is_control() || c == '\u{202e}');
    ensure(violations.iter().all(is_fine), "a violation repaints a terminal")?;
    digest.add(&violations);
    Sandbox::with(|sandbox| check_plans(&listed, sandbox, digest))?;
    let number = input.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
    if number.is_multiple_of(DIRECTORY_INTERVAL) {
        Sandbox::with(|sandbox| check_directory(&sorted, &sandbox.root.join("listed")))?;
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), String> {
    let Some(parsed) = file_names::parse_name(name) else { return Ok(()) };
    ensure_equal(&parsed.to_text().as_str(), &name, "a name is spelled otherwise")?;
    let subject = match parsed {
        FileName::Document(subject) => subject,
        FileName::Review { subject, post, number } => {
            ensure(number.bytes().all(|byte| byte.is_ascii_digit()), "a number that is none")?;
            if let Ok(count) = number.parse::<u64>() {
                let again = file_names::review_name(subject, post, count);
                let is_same = matches!(file_names::parse_name(&again),
                    Some(FileName::Review { subject: found, post: is_post, .. }) if found == subject && is_post == post);
                ensure(is_same, "a review is read as another one")?;
            }
            subject
        }
    };
    if let FileSubject::Task(id) = subject {
        ensure(file_names::is_task_id(id), "an id that is none")?;
    }
    let parts: Vec<Component<'_>> = Path::new(name).components().collect();
    ensure(matches!(parts[..], [Component::Normal(_)]), "a name leads out of its directory")
}

/// Any name of a plan leads to an existing plan, or to none.
fn check_plans(listed: &[&str], sandbox: &Sandbox, digest: &mut AnswerDigest) -> Result<(), String> {
    let workspace = sandbox.workspace("taskie");
    let plans = workspace.start.join(".taskie/plans");
    for plan in ["first", "second"] {
        let _ = fs::create_dir(plans.join(plan));
    }
    for name in listed.iter().take(6) {
        for start in [workspace.start.clone(), plans.join("first")] {
            let Some(plan) = Plan::find(name, &start, &workspace) else { continue };
            ensure(plan.path.parent() == Some(plans.as_path()), "a plan is found outside of the plans")?;
            let argument = plan.argument();
            ensure(!argument.contains(char::is_control), "an argument repaints a terminal")?;
            digest.add(&plan.id);
        }
    }
    Ok(())
}

/// A directory lists all of these files that the system can create.
fn check_directory(sorted: &[&str], directory: &Path) -> Result<(), String> {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir(directory).map_err(|error| error.to_string())?;
    let is_possible = |name: &&&str| !name.contains(['/', '\0']) && !matches!(**name, "." | "..");
    let names = sorted.iter().filter(is_possible).take(MOST_FILES);
    let mut created: Vec<String> = names
        .filter(|name| fs::write(directory.join(name), "x").is_ok())
        .map(|name| (*name).to_owned())
        .collect();
    created.sort_unstable();
    let listing = files::list_directory(directory, "md").map_err(|error| error.to_string())?;
    let found: Vec<String> = listing.names().map(str::to_owned).collect();
    ensure_equal(&found, &created, "the files of a directory")?;
    ensure(created.iter().all(|name| listing.has_file(name)), "a file of a directory is not found in it")
}

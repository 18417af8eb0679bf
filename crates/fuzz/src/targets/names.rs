//! The names of files in a plan's directory, one a line, and the names of plans.

use std::fs;
use std::path::{Component, Path};
use std::time::Duration;

use provost::files::{self, Listing};
use provost::review_loop::ground_rules;
use provost::review_loop::names::{self, Name, Subject};
use provost::review_loop::plan::Plan;

use super::stage::Stage;
use super::{Target, holds, same, texts};
use crate::trial::Seen;

pub const TARGET: Target = Target {
    name: "names",
    promise: "a name is spelled again as it was read; no name, and no name of a plan, leads out of its directory; a \
              directory is listed in one order with all its files; what is told about it is bounded and printable",
    findings: &[],
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

/// So many names of an input are looked at.
const MOST: usize = 400;
/// So many of them are made to files, and of one input in so many.
const MOST_FILES: usize = 24;
const RARELY: u64 = 8;

fn seeds() -> Vec<Vec<u8>> {
    texts(&[
        "plan.md\ndesign.md\ntasks.md\nstate.json\nplan-review-1.md\nplan-post-review-1.md\n",
        "plan.md\ntasks.md\ntask-1.md\ntask-4-5.md\ntask-4-5-review-10.md\ntask-4-5-post-review-10.md\n",
        "task-3-review-1-review-02.md\nall-code-review-1.md\ncode-review-1.md\nnotes.md\n.hidden.md\n",
        "../first/plan.md\n../../..\nfirst\nfirst/plan.md\n./first/../second\n/etc\nsecond\n",
        "plan.md\nplan-post-review-2.md\ntask-.md\ntask-é.md\ntasks-review-.md\n",
    ])
}

fn check(input: &[u8], seen: &mut Seen) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let listed: Vec<&str> = text.split('\n').filter(|name| !name.is_empty()).take(MOST).collect();
    for name in &listed {
        grammar(name)?;
    }
    seen.add_shown(&listed.iter().map(|name| names::parse(name)).collect::<Vec<_>>());
    let mut sorted: Vec<&str> = listed.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let listing = Listing::of(listed.iter().copied());
    holds(listing.names().is_sorted(), "the files of a list are not in order")?;
    for name in &sorted {
        holds(listing.has_file(name), "a file of the list is not found in it")?;
    }
    let violations = ground_rules::violations(&listing, None);
    let most = 8 + 4 * 11;
    holds(violations.len() <= most, "more violations than are told")?;
    let is_fine = |text: &String| !text.contains(|c: char| c.is_control() || c == '\u{202e}');
    holds(violations.iter().all(is_fine), "a violation repaints a terminal")?;
    seen.add(&violations);
    Stage::with(|stage| plans(&listed, stage, seen))?;
    let number = input.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
    if number.is_multiple_of(RARELY) {
        Stage::with(|stage| on_disk(&sorted, &stage.root.join("listed")))?;
    }
    Ok(())
}

fn grammar(name: &str) -> Result<(), String> {
    let Some(parsed) = names::parse(name) else { return Ok(()) };
    same(&parsed.to_string().as_str(), &name, "a name is spelled otherwise")?;
    let of = match parsed {
        Name::Document(of) => of,
        Name::Review { of, post, number } => {
            holds(number.bytes().all(|byte| byte.is_ascii_digit()), "a number that is none")?;
            if let Ok(count) = number.parse::<u64>() {
                let again = names::review(of, post, count);
                let is_same = matches!(names::parse(&again),
                    Some(Name::Review { of: found, post: is_post, .. }) if found == of && is_post == post);
                holds(is_same, "a review is read as another one")?;
            }
            of
        }
    };
    if let Subject::Task(id) = of {
        holds(names::is_id(id), "an id that is none")?;
    }
    let parts: Vec<Component<'_>> = Path::new(name).components().collect();
    holds(matches!(parts[..], [Component::Normal(_)]), "a name leads out of its directory")
}

/// Whatever names a plan, it is one of those that are there.
fn plans(listed: &[&str], stage: &Stage, seen: &mut Seen) -> Result<(), String> {
    let workspace = stage.workspace("taskie");
    let plans = workspace.start.join(".taskie/plans");
    for plan in ["first", "second"] {
        let _ = fs::create_dir(plans.join(plan));
    }
    for name in listed.iter().take(6) {
        for start in [workspace.start.clone(), plans.join("first")] {
            let Some(plan) = Plan::named(name, &start, &workspace) else { continue };
            holds(plan.path.parent() == Some(plans.as_path()), "a plan is found outside of the plans")?;
            let argument = plan.argument();
            holds(!argument.contains(char::is_control), "an argument repaints a terminal")?;
            seen.add(&plan.id);
        }
    }
    Ok(())
}

/// A directory of these files lists what the system lets be made.
fn on_disk(sorted: &[&str], directory: &Path) -> Result<(), String> {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir(directory).map_err(|error| error.to_string())?;
    let can_be = |name: &&&str| !name.contains(['/', '\0']) && !matches!(**name, "." | "..");
    let names = sorted.iter().filter(can_be).take(MOST_FILES);
    let mut made: Vec<String> = names
        .filter(|name| fs::write(directory.join(name), "x").is_ok())
        .map(|name| (*name).to_owned())
        .collect();
    made.sort_unstable();
    let listing = files::list(directory, "md").map_err(|error| error.to_string())?;
    let found: Vec<String> = listing.names().map(str::to_owned).collect();
    same(&found, &made, "the files of a directory")?;
    holds(made.iter().all(|name| listing.has_file(name)), "a file of a directory is not found in it")
}

//! What a reviewer is given: the ground rules, what to read, what to do, and where to write.
//!
//! The texts are those of the plugin's commands, so that a review that a person asks for and one that
//! the guard asks for are the same. A reviewer starts with a clean slate: it hears nothing of earlier
//! reviews, of the state or of whose turn it is.

use std::path::Path;

use super::phase::Review;
use super::plan::Plan;
use crate::text::without_description;

pub(super) const GROUND_RULES: &str = include_str!("../../plugins/taskie/ground-rules.md");

/// How the paragraph begins with which a command calls for the ground rules.
const RULES_CALL: &str = "The ground rules hold: @";
/// Where an action ends and what only concerns its command begins.
const NOT_FOR_REVIEWERS: [&str; 2] = ["\n## Standalone", "\n## State"];
/// A list of files that is longer than this is not spelled out: a prompt is an argument, and those are
/// bounded.
const LONGEST_LIST: usize = 16 << 10;

/// The prompt of one review. `tasks`: the names of all task files, where they matter.
pub fn review(plan: &Plan, review: Review, task: Option<&str>, tasks: &[String], file: &Path) -> String {
    let directory = format!(".taskie/plans/{}", plan.id);
    let files: Vec<String> = tasks.iter().map(|name| format!("{directory}/{name}")).collect();
    let files = files.join(" ");
    let list = if files.len() <= LONGEST_LIST {
        files
    } else {
        format!("the {} files {directory}/task-ID.md whose ids stand in tasks.md", tasks.len())
    };
    let (subject, action) = match review {
        Review::Plan => (format!("{directory}/plan.md"), "plan review action of plan-review.md"),
        Review::Tasks => (
            format!("{directory}/tasks.md and the task files: {list}"),
            "tasks review action of tasks-review.md",
        ),
        Review::Code => (
            format!("the plan in {directory}/plan.md, then {directory}/task-{}.md", task.unwrap_or_default()),
            "code review action of code-review.md for this task",
        ),
        Review::AllCode => (
            format!("{directory}/plan.md, {directory}/tasks.md and the task files: {list}"),
            "all-code-review action of all-code-review.md",
        ),
    };
    let file = file.display();
    format!(
        "Read the ground rules below, then read {subject}. Perform the {action}, which stands below too. \
         Write your review to {file} and change nothing else. Be very critical. \
         At the end, give your verdict: PASS if nothing has to be mended, otherwise FAIL.\n\n\
         <ground-rules>\n{}\n</ground-rules>\n\n<action>\n{}\n</action>\n\n\
         The review file is {file}; it does not exist yet.",
        for_reviewers(GROUND_RULES),
        instructions(review)
    )
}

/// The part of a command's text that says how a review is made.
fn instructions(review: Review) -> String {
    for_reviewers(&action(review.phase())).to_owned()
}

/// A text up to what concerns only those who keep the state.
fn for_reviewers(text: &str) -> &str {
    let end = NOT_FOR_REVIEWERS.iter().filter_map(|heading| text.find(heading)).min();
    text[..end.unwrap_or(text.len())].trim()
}

/// What a command says beside the ground rules, which only the client can put into its place.
pub fn action(name: &str) -> String {
    let text = without_description(command(name).unwrap_or_default());
    let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.starts_with(RULES_CALL));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// The file of a command of the plugin.
pub fn command(name: &str) -> Option<&'static str> {
    COMMANDS.iter().find(|(command, _)| *command == name).map(|(_, text)| *text)
}

macro_rules! commands {
    ($($name:literal),* $(,)?) => {
        /// The commands of the plugin, as they are.
        pub static COMMANDS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../plugins/taskie/commands/", $name, ".md")))),*];
    };
}

commands![
    "new-plan",
    "continue-plan",
    "plan-review",
    "post-plan-review",
    "create-tasks",
    "add-task",
    "tasks-review",
    "post-tasks-review",
    "next-task",
    "next-task-tdd",
    "continue-task",
    "complete-task",
    "complete-task-tdd",
    "code-review",
    "post-code-review",
    "all-code-review",
    "post-all-code-review",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_stays_an_argument_however_many_tasks_there_are() {
        let of = |id: &str, tasks: usize| {
            let plan = Plan { id: id.into(), path: "/w/.taskie/plans/p".into(), root: "/w".into() };
            let tasks: Vec<String> = (1..=tasks).map(|task| format!("task-{task}.md")).collect();
            review(&plan, Review::AllCode, None, &tasks, Path::new("/w/.taskie/plans/p/all-code-review-1.md"))
        };
        assert!(of("p", 100).contains("files: .taskie/plans/p/task-1.md .taskie/plans/p/task-2.md "));
        for (id, tasks) in [("p".into(), 5_000), ("p".repeat(250), 200)] {
            let prompt = of(&id, tasks);
            assert!(prompt.contains(&format!("the {tasks} files .taskie/plans/{id}/task-ID.md")));
            assert!(prompt.len() < 40 << 10, "{}", prompt.len());
        }
    }
}

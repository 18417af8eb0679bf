//! What a reviewer is given: the ground rules, what to read, what to do, and where to write.
//!
//! The texts are those of the plugin's commands, so that a review that a person asks for and one that
//! the guard asks for are the same. A reviewer starts with a clean slate: it hears nothing of earlier
//! reviews, of the state or of whose turn it is.

use std::path::Path;

use super::phase::Review;
use super::plan::Plan;

const GROUND_RULES: &str = include_str!("../../plugins/taskie/ground-rules.md");

/// How a command calls for the ground rules.
const RULES_LINE: &str = "The ground rules hold: @";
/// Where an action ends and what only concerns its command begins.
const NOT_FOR_REVIEWERS: [&str; 2] = ["\n## Standalone", "\n## State"];
/// A list of more files than this is not spelled out.
const MOST_TASKS: usize = 200;

/// The prompt of one review. `tasks`: the names of all task files, where they matter.
pub fn review(plan: &Plan, review: Review, task: Option<&str>, tasks: &[String], file: &Path) -> String {
    let directory = format!(".taskie/plans/{}", plan.id);
    let list = if tasks.len() <= MOST_TASKS {
        let files: Vec<String> = tasks.iter().map(|name| format!("{directory}/{name}")).collect();
        files.join(" ")
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
        GROUND_RULES.trim(),
        instructions(review)
    )
}

/// The part of a command's text that says how a review is made.
fn instructions(review: Review) -> String {
    let text = action(review.phase());
    let end = NOT_FOR_REVIEWERS.iter().filter_map(|heading| text.find(heading)).min();
    text[..end.unwrap_or(text.len())].trim().to_owned()
}

/// What a command says beside the ground rules, which only the client can put into its place.
pub fn action(name: &str) -> String {
    let text = body(command(name).unwrap_or_default());
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(RULES_LINE)).collect();
    lines.join("\n")
}

/// The text of a command without the lines that describe it.
pub fn body(command: &str) -> &str {
    let rest = command.strip_prefix("---\n").unwrap_or(command);
    rest.split_once("\n---\n").map_or(rest, |(_, body)| body).trim()
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

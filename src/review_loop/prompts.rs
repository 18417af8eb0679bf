//! What a reviewer is given: which files to read, what to do, and where to write.
//!
//! The instructions are those of the plugin's commands, so that a review that a user asks for and one that
//! the guard asks for are the same. They are written to Provost's own directory, which no tool may write to,
//! and the prompt names them. A reviewer starts with a clean slate: it hears nothing of earlier reviews, of
//! the state or of whose turn it is.

use std::path::{Path, PathBuf};

use super::phase::Review;
use super::plan::Plan;
use crate::decision::Fault;
use crate::text::without_description;
use crate::workspace::Workspace;

pub(super) const GROUND_RULES: &str = include_str!("../../plugins/taskie/ground-rules.md");

/// How the paragraph begins with which a command calls for the ground rules.
const RULES_CALL: &str = "The ground rules hold: @";
/// Where an action ends and what only concerns its command begins.
const NOT_FOR_REVIEWERS: [&str; 2] = ["\n## Standalone", "\n## State"];
/// A list of files that is longer than this is not spelled out: a prompt is an argument, and those are
/// bounded.
const LONGEST_LIST: usize = 16 << 10;

/// The folder of Provost's own directory that holds the instructions.
const FOLDER: &str = "taskie";

/// The files that tell a reviewer how to review.
pub struct Instructions {
    pub ground_rules: PathBuf,
    pub action: PathBuf,
}

impl Instructions {
    /// Writes the instructions for a review to Provost's own directory.
    pub fn write(review: Review, workspace: &Workspace) -> Result<Self, Fault> {
        let written = |name: &str, text: &str| {
            let place = workspace.own_file(FOLDER, name)?;
            workspace.replace_own(&place, format!("{text}\n").as_bytes())?;
            Ok(place)
        };
        Ok(Self {
            ground_rules: written("ground-rules.md", for_reviewers(GROUND_RULES))?,
            action: written(&format!("actions/{}.md", review.phase()), &instructions(review))?,
        })
    }
}

/// The prompt of one review. `tasks`: the names of all task files, where they matter.
pub fn review(
    plan: &Plan,
    review: Review,
    task: Option<&str>,
    tasks: &[String],
    file: &Path,
    instructions: &Instructions,
) -> String {
    let directory = format!(".taskie/plans/{}", plan.id);
    let files: Vec<String> = tasks.iter().map(|name| format!("{directory}/{name}")).collect();
    let files = files.join(" ");
    let list = if files.len() <= LONGEST_LIST {
        files
    } else {
        format!("the {} files {directory}/task-ID.md whose ids stand in tasks.md", tasks.len())
    };
    let (subject, action, of_task) = match review {
        Review::Plan => (format!("{directory}/plan.md"), "Perform the plan review", ""),
        Review::Tasks => {
            (format!("{directory}/tasks.md and the task files: {list}"), "Perform the tasks review", "")
        }
        Review::Code => (
            format!(
                "the plan in {directory}/plan.md, then read {directory}/task-{}.md",
                task.unwrap_or_default()
            ),
            "Now perform the code review",
            " for this task",
        ),
        Review::AllCode => (
            format!("{directory}/plan.md, {directory}/tasks.md, and the task files: {list}"),
            "Perform the all-code-review",
            "",
        ),
    };
    let (rules, how) = (instructions.ground_rules.display(), instructions.action.display());
    let file = file.display();
    format!(
        "Read the ground rules in {rules}, then read {subject}. {action} action described in \
         {how}{of_task}. Write your review to {file} and change nothing else. Be very critical. At the end, give \
         your verdict: PASS if nothing has to be fixed, otherwise FAIL. The review file is {file}; it does not \
         exist yet."
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
            let how =
                Instructions { ground_rules: "/s/ground-rules.md".into(), action: "/s/action.md".into() };
            let file = Path::new("/w/.taskie/plans/p/all-code-review-1.md");
            review(&plan, Review::AllCode, None, &tasks, file, &how)
        };
        assert!(of("p", 100).contains("files: .taskie/plans/p/task-1.md .taskie/plans/p/task-2.md "));
        for (id, tasks) in [("p".into(), 5_000), ("p".repeat(250), 200)] {
            let prompt = of(&id, tasks);
            assert!(prompt.contains(&format!("the {tasks} files .taskie/plans/{id}/task-ID.md")));
            assert!(prompt.len() < 40 << 10, "{}", prompt.len());
        }
    }
}

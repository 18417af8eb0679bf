//! The prompt for a reviewer: which files to read, what to do, and where to write.
//!
//! The instructions are those of the plugin's commands, so that the guard's reviews and the user's are the same. They
//! are written to Provost's own directory, which no tool may change, and the prompt names them. A reviewer learns
//! nothing about earlier reviews, the state or the loop.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::phase::ReviewKind;
use super::plan::Plan;
use provost_core::opinion::Fault;
use provost_core::text::strip_frontmatter;
use provost_core::workspace::Workspace;

pub(super) const GROUND_RULES: &str = include_str!("../../../../plugins/taskie/ground-rules.md");

/// The start of the paragraph that includes the ground rules in a command.
const RULES_CALL: &str = "Follow the ground rules: @";
/// The sections of a command that reviewers do not get.
const NOT_FOR_REVIEWERS: [&str; 2] = ["\n## Standalone", "\n## State"];
/// A longer list of files is only described, because the prompt is a command line argument, whose size is limited.
const LONGEST_LIST: usize = 16 << 10;

/// The folder in Provost's own directory for the instructions.
const FOLDER: &str = "taskie";

/// The files that tell a reviewer how to review.
pub struct ReviewerInstructions {
    pub ground_rules: PathBuf,
    pub action: PathBuf,
}

impl ReviewerInstructions {
    /// Writes the instructions for a review to Provost's own directory.
    pub fn write(review: ReviewKind, workspace: &Workspace) -> Result<Self, Fault> {
        let write = |name: &str, text: &str| {
            let place = workspace.state_file(FOLDER, name)?;
            workspace.write_state_file(&place, format!("{text}\n").as_bytes())?;
            Ok(place)
        };
        Ok(Self {
            ground_rules: write("ground-rules.md", cut_for_reviewers(GROUND_RULES))?,
            action: write(
                &format!("actions/{}.md", review.phase()),
                cut_for_reviewers(&action_text(review.phase())),
            )?,
        })
    }
}

/// The prompt of one review. `tasks`: the names of all task files, for the reviews that need them.
pub fn review_prompt(
    plan: &Plan,
    review: ReviewKind,
    task: Option<&str>,
    tasks: &[String],
    file: &Path,
    instructions: &ReviewerInstructions,
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
        ReviewKind::Plan => (format!("{directory}/plan.md"), "Perform the plan review", ""),
        ReviewKind::Tasks => {
            (format!("{directory}/tasks.md and the task files: {list}"), "Perform the tasks review", "")
        }
        ReviewKind::Code => (
            format!(
                "the plan in {directory}/plan.md, then read {directory}/task-{}.md",
                task.unwrap_or_default()
            ),
            "Now perform the code review",
            " for this task",
        ),
        ReviewKind::AllCode => (
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

fn cut_for_reviewers(text: &str) -> &str {
    let end = NOT_FOR_REVIEWERS.iter().filter_map(|heading| text.find(heading)).min();
    text[..end.unwrap_or(text.len())].trim()
}

/// The text of a command without the reference to the ground rules, which only the client can include.
pub fn action_text(name: &str) -> String {
    let text = strip_frontmatter(command_text(name).unwrap_or_default());
    let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.starts_with(RULES_CALL));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// The text of a command of the plugin.
pub fn command_text(name: &str) -> Option<&'static str> {
    COMMANDS.iter().find(|(command, _)| *command == name).map(|(_, text)| *text)
}

macro_rules! commands {
    ($($name:literal),* $(,)?) => {
        /// The commands of the plugin with their texts.
        pub static COMMANDS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../plugins/taskie/commands/", $name, ".md")))),*];
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
    fn a_prompt_stays_short_enough_for_an_argument() {
        let prompt_for = |id: &str, tasks: usize| {
            let plan = Plan { id: id.into(), path: "/w/.taskie/plans/p".into(), root: "/w".into() };
            let tasks: Vec<String> = (1..=tasks).map(|task| format!("task-{task}.md")).collect();
            let how = ReviewerInstructions {
                ground_rules: "/s/ground-rules.md".into(),
                action: "/s/action.md".into(),
            };
            let file = Path::new("/w/.taskie/plans/p/all-code-review-1.md");
            review_prompt(&plan, ReviewKind::AllCode, None, &tasks, file, &how)
        };
        assert!(prompt_for("p", 100).contains("files: .taskie/plans/p/task-1.md .taskie/plans/p/task-2.md "));
        for (id, tasks) in [("p".into(), 5_000), ("p".repeat(250), 200)] {
            let prompt = prompt_for(&id, tasks);
            assert!(prompt.contains(&format!("the {tasks} files .taskie/plans/{id}/task-ID.md")));
            assert!(prompt.len() < 40 << 10, "{}", prompt.len());
        }
    }
}

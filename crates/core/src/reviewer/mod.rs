//! Runs a reviewer: a command that gets a prompt. By default that is the calling client itself, without a user and
//! without hooks; `reviewer.command` can name any other program.
//!
//! A question is answered as text, by the client without tools. A review works on the project, by the client with its
//! tools, and ends with a verdict or without one. A crash, a timeout or a cut is never an answer, so
//! that it cannot count as a verdict.

mod environment;
mod program;

use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use provost_files as files;

use crate::config::Config;
use crate::config::settings::{REVIEWER_COMMAND, REVIEWER_SECONDS};
use crate::places::CHILD_MARK;
use crate::process::{self, ProgramOutput, ProgramStreams};
use crate::review_verdict::{NoAnswer, ReviewResult, ReviewUsage, ReviewVerdict};
use crate::text::{make_one_line, truncate_utf16};
use crate::workspace::Workspace;

pub use program::{
    find_client_program, find_reviewer, is_executable, list_remembered_reviewers, remember_reviewer,
};

/// The placeholder of the model's name in an argument.
const MODEL: &str = "{model}";
/// The placeholder of the prompt in an argument.
const PROMPT: &str = "{prompt}";
/// The longest prompt in an argument: Linux accepts arguments below 128 KiB, and there may be text around the prompt.
pub const LONGEST_IN_ARGUMENT: usize = 100 << 10;
/// How many characters of a reviewer's error message are shown.
const MOST_WORDS: usize = 300;

/// A task for a reviewer.
pub struct ReviewerTask<'a> {
    pub prompt: &'a str,
    /// The reviewer's own name of a model.
    pub model: &'a str,
    /// How long it may take.
    pub limit: Duration,
    /// The directory in which the reviewer starts.
    pub directory: &'a Path,
}

/// The files to which a reviewer writes its output while it works, for the user to watch. Old files are replaced. A
/// file that cannot be created is left out.
pub struct ReviewLogs {
    pub out: PathBuf,
    pub err: PathBuf,
}

/// How long one question may take.
pub fn configured_limit(config: &Config) -> Duration {
    Duration::from_secs(config.number(REVIEWER_SECONDS))
}

/// Asks the configured reviewer, or the client's own, and waits for the answer.
pub fn ask_reviewer(task: &ReviewerTask<'_>, workspace: &Workspace) -> Result<String, NoAnswer> {
    let reviewer = workspace.client.reviewer();
    let output = run(task, reviewer.question_arguments, ProgramStreams::default(), workspace)?;
    let text = match check_output(&output, (reviewer.parse_answer)(&output.stdout))? {
        Some(text) => text,
        // Only the client's own reviewer must use the client's form.
        None if is_client(&workspace.config) && !output.stdout.trim_ascii().is_empty() => {
            return Err(NoAnswer::Unreadable("it does not have the client's form".into()));
        }
        None => String::from_utf8_lossy(&output.stdout).into_owned(),
    };
    match text.trim() {
        "" => Err(NoAnswer::Empty),
        text => Ok(text.to_owned()),
    }
}

/// How a review ended, and what the reviewer said besides its verdict.
#[derive(Debug)]
pub struct ReviewRun {
    pub result: ReviewResult,
    pub usage: ReviewUsage,
    /// What it printed; of the client's own reviewer, the text of its answer.
    pub words: String,
}

/// Lets the configured reviewer, or the client's own, review the project, and waits for its end.
///
/// Its output can be watched in the logs while it works. If this process is asked to end, the reviewer ends too. If this
/// process is killed, the reviewer continues without a time limit.
pub fn run_review(task: &ReviewerTask<'_>, logs: &ReviewLogs, workspace: &Workspace) -> ReviewRun {
    match run_to_end(task, logs, workspace) {
        Ok(output) => {
            let reviewer = workspace.client.reviewer();
            let (words, usage) = (reviewer.parse_report)(&output.stdout).unwrap_or_else(|| {
                let words = String::from_utf8_lossy(&output.stdout).into_owned();
                let usage = ReviewUsage::from_output(&words);
                (words, usage)
            });
            ReviewRun { result: read_verdict(&output, workspace), usage, words }
        }
        Err(no_answer) => {
            ReviewRun { result: Err(no_answer), usage: ReviewUsage::default(), words: String::new() }
        }
    }
}

fn run_to_end(
    task: &ReviewerTask<'_>,
    logs: &ReviewLogs,
    workspace: &Workspace,
) -> Result<ProgramOutput, NoAnswer> {
    let reviewer = workspace.client.reviewer();
    let run_with = |own_arguments: &[&str]| {
        workspace.permit_change().map_err(|fault| NoAnswer::Failed(fault.to_string()))?;
        let (out, err) = (files::make_log_file(&logs.out).ok(), files::make_log_file(&logs.err).ok());
        run(task, own_arguments, ProgramStreams { input: None, out, err }, workspace)
    };
    let output = run_with(reviewer.review_arguments)?;
    if is_client(&workspace.config)
        && !output.status.success()
        && (reviewer.is_permission_refused)(&output.stderr)
    {
        return run_with(reviewer.permitted_review_arguments);
    }
    Ok(output)
}

fn read_verdict(output: &ProgramOutput, workspace: &Workspace) -> ReviewResult {
    match check_output(output, (workspace.client.reviewer().parse_verdict)(&output.stdout))? {
        Some(verdict) => Ok(verdict),
        // The client's output in any other form is a message to the user.
        None if is_client(&workspace.config) => Ok(None),
        None => Ok(ReviewVerdict::from_output(&output.stdout)),
    }
}

/// Whether the client itself is the reviewer.
fn is_client(config: &Config) -> bool {
    config.words(REVIEWER_COMMAND).is_empty()
}

/// Runs the configured command, or the client with `own` arguments, to its end.
fn run(
    task: &ReviewerTask<'_>,
    own: &[&str],
    streams: ProgramStreams<'_>,
    workspace: &Workspace,
) -> Result<ProgramOutput, NoAnswer> {
    workspace.permit_change().map_err(|fault| NoAnswer::Failed(fault.to_string()))?;
    let Workspace { config, client, places, interruption, .. } = workspace;
    let configured = config.words(REVIEWER_COMMAND);
    let configured = configured.split_first().map(|(_, rest)| rest.iter().map(String::as_str).collect());
    let arguments = configured.unwrap_or_else(|| own.to_vec());
    let program = find_reviewer(config, client, places, task.directory)?;
    let in_argument = arguments.iter().any(|argument| argument.contains(PROMPT));
    if in_argument && task.prompt.len() > LONGEST_IN_ARGUMENT {
        let length = task.prompt.len().div_ceil(1 << 10);
        return Err(NoAnswer::Failed(format!(
            "a prompt of {length} KiB, and an argument takes {} KiB",
            LONGEST_IN_ARGUMENT >> 10
        )));
    }
    let mut command = Command::new(program);
    command.args(arguments.iter().map(|argument| fill_placeholders(argument, task)));
    command.current_dir(task.directory).env(CHILD_MARK, "1");
    let is_of_session = |name: &OsStr| name.to_str().is_some_and(client.reviewer().is_session_variable);
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_session(name)) {
        command.env_remove(name);
    }
    for (name, value) in environment::list_corrections(client, places, task.directory) {
        match value {
            Some(value) => command.env(name, value),
            // No program could start without these.
            None if ["PATH", "HOME"].contains(&name.as_str()) => &mut command,
            None => command.env_remove(name),
        };
    }
    let input = (!in_argument).then_some(task.prompt.as_bytes());
    (interruption.start_watching)();
    let streams = ProgramStreams { input, ..streams };
    let end = process::run_program(&mut command, streams, task.limit, interruption.is_requested);
    end.map_err(|error| describe_start_error(&error, &command, task))?.ok_or(NoAnswer::TimedOut(task.limit))
}

/// Replaces the placeholders of an argument, but not those in the prompt.
fn fill_placeholders(argument: &str, task: &ReviewerTask<'_>) -> String {
    let pieces: Vec<String> = argument.split(PROMPT).map(|piece| piece.replace(MODEL, task.model)).collect();
    pieces.join(task.prompt)
}

/// Returns what the client found in the output, unless the reviewer failed or printed too much.
fn check_output<T>(
    output: &ProgramOutput,
    parsed: Option<Result<T, NoAnswer>>,
) -> Result<Option<T>, NoAnswer> {
    let parsed = parsed.transpose().map_err(|no_answer| match no_answer {
        NoAnswer::Failed(why) => NoAnswer::Failed(first_words(&why)),
        no_answer => no_answer,
    });
    if !output.status.success() {
        let reported = match parsed {
            Err(NoAnswer::Failed(why)) => why,
            _ => String::new(),
        };
        let mut words = vec![reported, last_words(&String::from_utf8_lossy(&output.stderr))];
        words.retain(|words| !words.is_empty());
        let colon = if words.is_empty() { "" } else { ": " };
        return Err(NoAnswer::Failed(format!("{}{colon}{}", output.status, words.join("; "))));
    }
    if output.stdout.len() > process::LARGEST_OUTPUT {
        return Err(NoAnswer::Unreadable(format!("it is larger than {} MiB", process::LARGEST_OUTPUT >> 20)));
    }
    parsed
}

fn describe_start_error(error: &io::Error, command: &Command, task: &ReviewerTask<'_>) -> NoAnswer {
    // A missing directory looks like a missing program.
    if !task.directory.is_dir() {
        return NoAnswer::Failed(format!("no directory {}", task.directory.display()));
    }
    let program = Path::new(command.get_program()).display();
    match error.kind() {
        io::ErrorKind::Interrupted => NoAnswer::Interrupted,
        io::ErrorKind::NotFound => NoAnswer::NotFound(program.to_string()),
        _ => NoAnswer::Failed(format!("{program}: {error}")),
    }
}

/// The start of an error message, on one line.
fn first_words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(MOST_WORDS).collect();
    truncate_utf16(&make_one_line(&words.join(" ")), MOST_WORDS).into_owned()
}

/// The end of a long output, on one line: errors are printed last.
fn last_words(text: &str) -> String {
    let mut length = 0;
    let mut words: Vec<&str> = text.split_whitespace().rev().take(MOST_WORDS + 1).collect();
    let all = words.len();
    let short_enough = words.iter().take_while(|word| {
        length += word.len() + 1;
        length <= MOST_WORDS
    });
    let count = short_enough.count();
    // A single longer word is cut.
    words.truncate(count.max(1));
    words.reverse();
    let cut = if words.len() < all { "… " } else { "" };
    format!("{cut}{}", truncate_utf16(&make_one_line(&words.join(" ")), MOST_WORDS))
}

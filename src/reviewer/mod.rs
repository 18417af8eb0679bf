//! A reviewer is a command that reads a prompt and answers: by default the calling client itself,
//! without a person, hooks or tools; by `reviewer.command` anything else.
//!
//! Whoever asks gets the whole answer or the reason why there is none. A crash, a time limit, a cut
//! or an empty answer is a [`Silence`] and never a text, so that nobody can take it for a verdict.
//! What an answer means is not known here.

mod child;
mod interruption;

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::clients::Client;
use crate::config::Config;
use crate::config::settings::{REVIEWER_COMMAND, REVIEWER_SECONDS};
use crate::text::{bounded, one_line};
use crate::workspace::{CHILD_MARK, Places};
use child::Output;

pub use interruption::heed as heed_interruptions;

/// What stands for the model's name in an argument.
const MODEL: &str = "{model}";
/// As much of a reviewer's complaint as a person wants to read.
const MOST_WORDS: usize = 300;

/// One question to a reviewer.
pub struct Question<'a> {
    pub prompt: &'a str,
    pub model: &'a str,
    /// How long the answer may take; [`limit`] is what the configuration says.
    pub limit: Duration,
    /// The directory that the reviewer is started in.
    pub directory: &'a Path,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// There is no such program.
    NotFound(String),
    /// It ended with an error, or says itself that it failed.
    Failed(String),
    TimedOut(Duration),
    Unreadable(String),
    Empty,
    /// Somebody wants this process to end.
    Interrupted,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(program) => write!(f, "the reviewer `{program}` is not found"),
            Self::Failed(words) => write!(f, "the reviewer failed ({words})"),
            Self::TimedOut(limit) => write!(f, "the reviewer did not answer within {} s", limit.as_secs()),
            Self::Unreadable(why) => write!(f, "the reviewer's answer cannot be read ({why})"),
            Self::Empty => f.write_str("the reviewer said nothing"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// How long one question may take.
pub fn limit(config: &Config) -> Duration {
    Duration::from_secs(config.number(REVIEWER_SECONDS))
}

/// Asks the configured reviewer, or the client's own, and waits for the answer.
pub fn ask(question: &Question<'_>, config: &Config, client: &Client) -> Result<String, Silence> {
    let configured = config.words(REVIEWER_COMMAND);
    let mut command = match configured.split_first() {
        Some((program, arguments)) => configured_command(program, arguments, question),
        None => own_command(client, question)?,
    };
    command.current_dir(question.directory).env(CHILD_MARK, "1");
    let of_session = |name: &OsStr| name.to_str().is_some_and(client.reviewer.of_session);
    for (name, _) in env::vars_os().filter(|(name, _)| of_session(name)) {
        command.env_remove(name);
    }
    let end = child::run(&mut command, question.prompt, question.limit);
    let Some(output) = end.map_err(|error| not_started(&error, &command, question))? else {
        return Err(Silence::TimedOut(question.limit));
    };
    match answer_in(&output, configured.is_empty(), client)?.trim() {
        "" => Err(Silence::Empty),
        text => Ok(text.to_owned()),
    }
}

/// What a reviewer that ran to its end has answered. Only the client's own must use its form.
fn answer_in(output: &Output, own: bool, client: &Client) -> Result<String, Silence> {
    let answer = (client.reviewer.answer)(&output.stdout);
    if !output.status.success() {
        let stderr = words_of(&String::from_utf8_lossy(&output.stderr));
        let words = match answer {
            Some(Err(Silence::Failed(why))) if stderr.is_empty() => words_of(&why),
            _ => stderr,
        };
        let colon = if words.is_empty() { "" } else { ": " };
        return Err(Silence::Failed(format!("{}{colon}{words}", output.status)));
    }
    if output.stdout.len() > child::LARGEST {
        return Err(Silence::Unreadable(format!("it is larger than {} MiB", child::LARGEST >> 20)));
    }
    match answer {
        Some(Err(Silence::Failed(why))) => Err(Silence::Failed(words_of(&why))),
        Some(answer) => answer,
        None if own && !output.stdout.trim_ascii().is_empty() => {
            Err(Silence::Unreadable("it does not have the client's form".into()))
        }
        None => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
    }
}

fn configured_command(program: &str, arguments: &[String], question: &Question<'_>) -> Command {
    let path = Path::new(program);
    // `./review` means the one of the project; which one the system would take differs.
    let is_name = path.components().count() == 1 && !program.starts_with('.');
    let program = if is_name { path.to_owned() } else { question.directory.join(path) };
    command(&program, arguments.iter().map(String::as_str), question)
}

fn own_command(client: &Client, question: &Question<'_>) -> Result<Command, Silence> {
    let reviewer = &client.reviewer;
    let path = env::var_os("PATH").unwrap_or_default();
    let home = Places::from_environment().home;
    let installed = reviewer.installed.iter().filter_map(|below| Some(home.as_ref()?.join(below)));
    let program = find(reviewer.program, env::split_paths(&path).chain(installed))
        .ok_or_else(|| Silence::NotFound(reviewer.program.into()))?;
    Ok(command(&program, reviewer.arguments.iter().copied(), question))
}

fn command<'a>(program: &Path, arguments: impl Iterator<Item = &'a str>, question: &Question<'_>) -> Command {
    let mut command = Command::new(program);
    command.args(arguments.map(|argument| argument.replace(MODEL, question.model)));
    command
}

/// The first program of this name. A relative directory does not count: it would be one of the
/// project, which must not bring its own judge.
fn find(program: &str, directories: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    directories
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(&name))
        .find(is_program)
}

fn is_program(path: &PathBuf) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let executable = true;
    metadata.is_file() && executable
}

fn not_started(error: &io::Error, command: &Command, question: &Question<'_>) -> Silence {
    // A missing directory looks like a missing program.
    if !question.directory.is_dir() {
        return Silence::Failed(format!("no directory {}", question.directory.display()));
    }
    let program = Path::new(command.get_program()).display();
    match error.kind() {
        io::ErrorKind::Interrupted => Silence::Interrupted,
        io::ErrorKind::NotFound => Silence::NotFound(program.to_string()),
        _ => Silence::Failed(format!("{program}: {error}")),
    }
}

/// The first words of a complaint, on one line.
fn words_of(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(MOST_WORDS).collect();
    bounded(&one_line(&words.join(" ")), MOST_WORDS).into_owned()
}

#[cfg(all(test, target_os = "linux"))]
mod tests;

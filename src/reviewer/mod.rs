//! A reviewer is a command that is given a prompt: by default the calling client itself, without a
//! person and hooks; by `reviewer.command` anything else.
//!
//! It has two errands. A question is answered as a text, by the client without tools: whoever asks gets
//! the whole answer or the reason why there is none, and what it means is not known here. A review is
//! work on the project, by the client with its tools, and ends with a [`Judgement`] or without one. A
//! crash, a time limit or a cut is a [`Silence`] and never an answer, so that nobody can take it for a
//! verdict.

pub(crate) mod child;
mod environment;
mod interruption;
mod logs;
mod program;
mod verdict;

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::clients::Client;
use crate::config::Config;
use crate::config::settings::{REVIEWER_COMMAND, REVIEWER_SECONDS};
use crate::files;
use crate::text::{bounded, one_line};
use crate::workspace::CHILD_MARK;
use child::{Output, Streams};

pub use interruption::{deny_if_ended, end_as_ever, heed as heed_interruptions};
pub use logs::Logs;
pub(crate) use program::{is_program, program};
pub use program::{own_program, remember, remembered_files};
pub use verdict::Judgement;

/// What stands for the model's name in an argument.
const MODEL: &str = "{model}";
/// What stands for the prompt in an argument.
const PROMPT: &str = "{prompt}";
/// Linux takes arguments below 128 KiB, with whatever stands around the prompt.
const LONGEST_IN_ARGUMENT: usize = 100 << 10;
/// As much of a reviewer's complaint as a person wants to read.
const MOST_WORDS: usize = 300;

/// What a reviewer is asked.
pub struct Question<'a> {
    pub prompt: &'a str,
    /// As the reviewer calls it: it is not looked at here.
    pub model: &'a str,
    /// How long it may take; [`limit`] is what the configuration says.
    pub limit: Duration,
    /// The directory that the reviewer is started in.
    pub directory: &'a Path,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// There is no such program.
    NotFound(String),
    /// The program is not the one that was remembered.
    Changed(String),
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
            Self::Changed(program) => write!(
                f,
                "the reviewer `{program}` has changed since Provost remembered it, so it is not started; if you \
                 updated it yourself, run `provost review run` or `provost init` in a terminal"
            ),
            Self::Failed(words) => write!(f, "the reviewer failed ({words})"),
            Self::TimedOut(limit) => write!(f, "the reviewer did not answer within {} s", limit.as_secs()),
            Self::Unreadable(why) => write!(f, "the reviewer's answer cannot be read ({why})"),
            Self::Empty => f.write_str("the reviewer said nothing"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// How a review ends. `None`: it came to its end without a verdict.
pub type Verdict = Result<Option<Judgement>, Silence>;

/// How long one question may take.
pub fn limit(config: &Config) -> Duration {
    Duration::from_secs(config.number(REVIEWER_SECONDS))
}

/// Asks the configured reviewer, or the client's own, and waits for the answer.
pub fn ask(question: &Question<'_>, config: &Config, client: &Client) -> Result<String, Silence> {
    let own = client.reviewer.question;
    let output = run(question, own, Streams::default(), config, client)?;
    let answer = (client.reviewer.answer)(&output.stdout);
    check(&output, answer.as_ref().and_then(|answer| answer.as_ref().err()))?;
    let text = match answer {
        Some(Err(Silence::Failed(why))) => return Err(Silence::Failed(first_words(&why))),
        Some(answer) => answer?,
        // Only the client's own reviewer must use its form.
        None if is_own(config) && !output.stdout.trim_ascii().is_empty() => {
            return Err(Silence::Unreadable("it does not have the client's form".into()));
        }
        None => String::from_utf8_lossy(&output.stdout).into_owned(),
    };
    match text.trim() {
        "" => Err(Silence::Empty),
        text => Ok(text.to_owned()),
    }
}

/// Has the configured reviewer, or the client's own, review the project, and waits for its end.
///
/// What it says can be watched in the logs while it speaks. It ends with this process if that is asked
/// to end ([`heed_interruptions`]), but not if that is killed: then nobody looks at the time either.
pub fn review(question: &Question<'_>, logs: &Logs, config: &Config, client: &Client) -> Verdict {
    let run_with = |own: &[&str]| {
        let (out, err) = (files::make_log(&logs.out).ok(), files::make_log(&logs.err).ok());
        run(question, own, Streams { input: None, out, err }, config, client)
    };
    let mut output = run_with(client.reviewer.review)?;
    if is_own(config) && !output.status.success() && (client.reviewer.is_refused)(&output.stderr) {
        output = run_with(client.reviewer.permitted_review)?;
    }
    let verdict = (client.reviewer.verdict)(&output.stdout);
    check(&output, verdict.as_ref().and_then(|verdict| verdict.as_ref().err()))?;
    match verdict {
        Some(Err(Silence::Failed(why))) => Err(Silence::Failed(first_words(&why))),
        Some(verdict) => verdict,
        // What the client says in any other form is a message to a person.
        None if is_own(config) => Ok(None),
        None => Ok(Judgement::from_output(&output.stdout)),
    }
}

fn is_own(config: &Config) -> bool {
    config.words(REVIEWER_COMMAND).is_empty()
}

/// Runs the configured command, or the client's own with these arguments, to its end.
fn run(
    question: &Question<'_>,
    own: &[&str],
    streams: Streams<'_>,
    config: &Config,
    client: &Client,
) -> Result<Output, Silence> {
    let configured = config.words(REVIEWER_COMMAND);
    let arguments = configured.split_first().map_or_else(|| own.to_vec(), |(_, rest)| strs(rest));
    let program = program(config, client, question.directory)?;
    let in_argument = arguments.iter().any(|argument| argument.contains(PROMPT));
    if in_argument && question.prompt.len() > LONGEST_IN_ARGUMENT {
        let length = question.prompt.len().div_ceil(1 << 10);
        return Err(Silence::Failed(format!(
            "a prompt of {length} KiB, and an argument takes {} KiB",
            LONGEST_IN_ARGUMENT >> 10
        )));
    }
    let mut command = Command::new(program);
    command.args(arguments.iter().map(|argument| filled(argument, question)));
    command.current_dir(question.directory).env(CHILD_MARK, "1");
    let of_session = |name: &OsStr| name.to_str().is_some_and(client.reviewer.of_session);
    for (name, _) in env::vars_os().filter(|(name, _)| of_session(name)) {
        command.env_remove(name);
    }
    for (name, value) in environment::corrections(client, question.directory) {
        match value {
            Some(value) => command.env(name, value),
            // Without these nothing could be started.
            None if ["PATH", "HOME"].contains(&name.as_str()) => &mut command,
            None => command.env_remove(name),
        };
    }
    let input = (!in_argument).then_some(question.prompt);
    let end = child::run(&mut command, Streams { input, ..streams }, question.limit);
    end.map_err(|error| not_started(&error, &command, question))?.ok_or(Silence::TimedOut(question.limit))
}

fn strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// The argument with what its placeholders stand for. A prompt may hold such words itself.
fn filled(argument: &str, question: &Question<'_>) -> String {
    let pieces: Vec<String> =
        argument.split(PROMPT).map(|piece| piece.replace(MODEL, question.model)).collect();
    pieces.join(question.prompt)
}

/// Whether what was printed may count: the reviewer has ended well, and it was not beyond measure.
fn check(output: &Output, complaint: Option<&Silence>) -> Result<(), Silence> {
    if !output.status.success() {
        let told = match complaint {
            Some(Silence::Failed(why)) => first_words(why),
            _ => String::new(),
        };
        let parts = [told, last_words(&String::from_utf8_lossy(&output.stderr))];
        let words = parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>();
        let colon = if words.is_empty() { "" } else { ": " };
        return Err(Silence::Failed(format!("{}{colon}{}", output.status, words.join("; "))));
    }
    if output.stdout.len() > child::LARGEST {
        return Err(Silence::Unreadable(format!("it is larger than {} MiB", child::LARGEST >> 20)));
    }
    Ok(())
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
fn first_words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(MOST_WORDS).collect();
    bounded(&one_line(&words.join(" ")), MOST_WORDS).into_owned()
}

/// The last words of a long talk, on one line: what went wrong is said at the end.
fn last_words(text: &str) -> String {
    let mut length = 0;
    let mut words: Vec<&str> = text.split_whitespace().rev().take(MOST_WORDS + 1).collect();
    let all = words.len();
    let fitting = words.iter().take_while(|word| {
        length += word.len() + 1;
        length <= MOST_WORDS
    });
    let fitting = fitting.count();
    // A word that is longer than all that is wanted is cut.
    words.truncate(fitting.max(1));
    words.reverse();
    let cut = if words.len() < all { "… " } else { "" };
    format!("{cut}{}", bounded(&one_line(&words.join(" ")), MOST_WORDS))
}

#[cfg(all(test, target_os = "linux"))]
mod tests;

//! `run`: a command that follows a write, once for each file.
//!
//! The model reads what it must know: a failure, the end of the output, and that the command has changed the file that
//! the model has just written.

use crate::prelude::*;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::call::match_call;
use super::check::describe_output;
use super::scene::Scene;
use super::used_paths::list_written;
use provost_core::opinion::{Fault, Opinion, RuleOpinion};
use provost_core::rules::path_pattern::PathPatterns;
use provost_core::rules::{Rule, RuleAction};
use provost_core::text::{make_one_line, quote_for_shell, quote_start};

/// The most files of one call for which a command runs.
const MOST_FILES: usize = 50;
/// The largest file that is compared.
const LARGEST_FILE: u64 = 16 << 20;

/// Runs the commands that follow the writes of a finished call.
pub(super) fn run_after_call(scene: &Scene<'_>) -> Result<Vec<RuleOpinion>, Fault> {
    let mut opinions = Vec::new();
    for rule in &scene.workspace.config.rules.rules {
        let RuleAction::Run { command, seconds } = &rule.action else { continue };
        if scene.workspace.is_past() {
            continue;
        }
        if match_call(rule, scene)?.is_none_or(|found| found.is_unknown) {
            continue;
        }
        let files = list_files(rule, scene);
        if files.is_empty() || !scene.workspace.is_trusted(rule) {
            continue;
        }
        // Of several hook entries, one runs the commands.
        if opinions.is_empty() && !scene.workspace.claim_event(scene.event)? {
            return Ok(Vec::new());
        }
        let mut opinion = Opinion::default();
        opinion.evidence.push(format!("the rule is in {}", rule.place()));
        if rule.is_watched {
            opinion.evidence.push(format!("would run {}", quote_start(command)));
        } else {
            let notes = run_for_files(rule, command, *seconds, &files, scene)?;
            opinion.evidence.push(format!("ran {} for {} files", quote_start(command), files.len()));
            opinion.to_model = (!notes.is_empty()).then(|| notes.join("\n"));
        }
        opinions.push(RuleOpinion { name: rule.full_name().into(), is_watched: rule.is_watched, opinion });
    }
    Ok(opinions)
}

/// The files that a call has written and that the rule is about.
fn list_files(rule: &Rule, scene: &Scene<'_>) -> Vec<PathBuf> {
    let subject = &rule.subject;
    let parse = |patterns| PathPatterns::parse(patterns).ok();
    let (Some(writes), Some(changes), Some(except)) =
        (parse(&subject.writes), parse(&subject.changes), parse(&subject.except))
    else {
        return Vec::new();
    };
    let roots = scene.roots();
    let is_meant = |path: &PathBuf| {
        (subject.writes.is_empty() || writes.matches(path, roots))
            && (subject.changes.is_empty() || changes.matches(path, roots))
            && !except.matches(path, roots)
            && scene.exists(path)
            && !scene.workspace.is_directory(path)
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for path in scene.commands().iter().flat_map(|command| list_written(command, scene)).filter(is_meant) {
        if !files.contains(&path) && files.len() < MOST_FILES {
            files.push(path);
        }
    }
    files
}

/// Runs a command for each file, all within the rule's time, and returns what the model should know.
fn run_for_files(
    rule: &Rule,
    command: &str,
    seconds: u64,
    files: &[PathBuf],
    scene: &Scene<'_>,
) -> Result<Vec<String>, Fault> {
    let (name, workspace) = (rule.full_name(), scene.workspace);
    let mut notes = Vec::new();
    let end = Instant::now() + Duration::from_secs(seconds);
    for (done, file) in files.iter().enumerate() {
        if Instant::now() >= end {
            let missed = files.len() - done;
            notes.push(format!("[provost] {name}: no time was left for {missed} of {} files", files.len()));
            break;
        }
        let content = || workspace.read_bytes(file, LARGEST_FILE).ok().flatten();
        let before = content();
        let line = insert_path(command, file);
        let ended = workspace.run_rule_command(&line, end, seconds)?;
        let shown = describe_file(file, scene);
        if !ended.has_succeeded || !ended.output.is_empty() {
            let output = describe_output(&ended.output);
            notes.push(format!(
                "[provost] {} {} for {shown} ({name}){output}",
                quote_start(command),
                ended.how
            ));
        }
        if content() != before {
            notes.push(format!("[provost] {} changed {shown} ({name})", describe_program(command)));
        }
    }
    Ok(notes)
}

/// The command with the quoted path. Quotes around `{path}` would become a part of the path.
fn insert_path(command: &str, file: &Path) -> String {
    let command = command.replace("\"{path}\"", "{path}").replace("'{path}'", "{path}");
    command.replace("{path}", &quote_for_shell(&file.to_string_lossy()))
}

fn describe_file(file: &Path, scene: &Scene<'_>) -> String {
    let shown = file.strip_prefix(&scene.workspace.project).unwrap_or(file);
    make_one_line(&shown.to_string_lossy())
}

/// The name of the program that a command line starts.
fn describe_program(command: &str) -> String {
    let word = provost_shell::find_first_word(command).unwrap_or_else(|| command.to_owned());
    make_one_line(word.rsplit('/').next().unwrap_or(&word))
}

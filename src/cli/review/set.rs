//! `provost review set`: a safe edit of `state.json`.
//!
//! All changes or none: they are checked first, and the file is replaced in one step under the lock that the guard
//! uses, only if nobody else has written to it since it was read.

use std::fs;
use std::io::Write;

use serde_json::Value;

use super::{PlanArgument, refuse};
use crate::cli::overview::Overview;
use crate::cli::overview::review::{ChosenPlan, ReviewProgress};
use crate::cli::screen::{DIM, paint, print_labelled, print_sentence};
use crate::cli::{CommandError, CommandResult, Exit};
use crate::config::suggest_word;
use crate::review_loop::due_review::ReviewLoop;
use crate::review_loop::file_names;
use crate::review_loop::ledger::Ledger;
use crate::review_loop::phase::{NEW_PLAN, PHASES, PlanStage, ReviewKind};
use crate::review_loop::state::{
    CLEAN, CURRENT_TASK, FIELDS, FIRST_MODEL, ITERATION, LoopState, MAX_REVIEWS, MODEL, NEXT_PHASE, PHASE,
    SECOND_MODEL, StateFile, TDD, is_known_model,
};
use crate::text::{make_one_line, truncate_utf16};

/// The fields that say how far a plan is. The ledger of reviews confirms them.
const PROGRESS_FIELDS: [&str; 5] = [CURRENT_TASK, PHASE, ITERATION, NEXT_PHASE, CLEAN];

/// Change fields of a plan's state.json, all of them or none
///
/// `phase` and `next_phase` take the name of a phase or null; `phase_iteration` a whole number or null;
/// `max_reviews` and `consecutive_clean` a whole number; `tdd` true or false; `current_task` the id of a task or null;
/// `review_model` a word. Other fields can be set, to JSON or a word, if the file has them already. All other fields
/// stay as they are.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost review set next_phase=null                            end the reviews of this cycle
  provost review set max_reviews=4                              fewer reviews in each cycle
  provost review set phase_iteration=0 consecutive_clean=0      another cycle after the limit
  provost review set --plan login-limit phase=post-code-review next_phase=code-review
  provost review set --plan login-limit --new                   the first state of a new plan

Exit codes: 0 the fields are set; 1 refused, and nothing is changed.")]
pub(crate) struct ReviewSet {
    #[command(flatten)]
    pub(super) plan: PlanArgument,
    /// Create the file with the fields of a new plan, and then set the given ones
    #[arg(long)]
    new: bool,
    /// Fields and their new values
    #[arg(value_name = "KEY=VALUE")]
    fields: Vec<String>,
}

/// One field before and after.
struct FieldChange {
    name: String,
    old: Option<Value>,
    new: Value,
}

/// Why nothing was set: a reason for the user, or an error of the system.
enum SetRefusal {
    Reason(String),
    Failed(CommandError),
}

impl From<String> for SetRefusal {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

impl ReviewSet {
    pub(super) fn run(&self, chosen: &ChosenPlan, overview: &Overview) -> CommandResult {
        let file = chosen.plan.display_file("state.json", &overview.cwd);
        let changes = match self.write(&ReviewLoop::new(&chosen.plan, &overview.workspace)) {
            Ok(changes) => changes,
            Err(SetRefusal::Reason(why)) => {
                return refuse(&format!("[provost] nothing is set in {file}: {why}."));
            }
            Err(SetRefusal::Failed(trouble)) => return Err(trouble),
        };
        // What the user says about the progress counts. What an agent says counts as far as the reviews confirm it.
        let is_progress = |change: &FieldChange| PROGRESS_FIELDS.contains(&change.name.as_str());
        if changes.iter().any(is_progress) && !(overview.client.is_agent_process)() {
            Ledger::erase(&chosen.plan, &overview.workspace);
        }
        let mut out = anstream::stdout().lock();
        writeln!(out, "{}", paint(DIM, &file))?;
        let longest = changes.iter().map(|change| change.name.chars().count()).max().unwrap_or(0);
        let show = |value: &Value| make_one_line(&truncate_utf16(&value.to_string(), 80));
        for FieldChange { name, old, new } in &changes {
            let text = match old {
                Some(old) if old == new => format!("{} (unchanged)", show(new)),
                Some(old) => format!("{} -> {}", show(old), show(new)),
                None => format!("(none) -> {}", show(new)),
            };
            writeln!(out, "  {:longest$}  {text}", make_one_line(name))?;
        }
        // The file is written; what follows only explains it.
        if let Ok(ReviewProgress { cycle: Ok(cycle), .. }) = ReviewProgress::read(chosen, overview) {
            print_labelled(&mut out, "next stop", &cycle.at_next_stop)?;
            if !is_known_model(&cycle.state.model) {
                let model = make_one_line(&cycle.state.model);
                print_sentence(
                    &mut out,
                    &format!(
                        "Note: {model} is neither {FIRST_MODEL} nor {SECOND_MODEL}; {FIRST_MODEL} reviews"
                    ),
                )?;
            }
        }
        Ok(Exit::Done)
    }

    fn write(&self, review_loop: &ReviewLoop<'_>) -> Result<Vec<FieldChange>, SetRefusal> {
        const TRIES: u32 = 20;
        let failed = |fault: crate::opinion::Fault| SetRefusal::Failed(fault.into());
        let ReviewLoop { plan, workspace, .. } = review_loop;
        let path = review_loop.state_file();
        // With many processes at once, the first wait for the lock can be too short.
        let lock = workspace.lock(&path).or_else(|_| workspace.lock(&path));
        let _lock = lock.map_err(failed)?;
        for _ in 0..TRIES {
            let before = review_loop.read_state().map_err(|fault| format!("it cannot be read ({fault})"))?;
            let mut file = self.read_file(before.as_deref())?;
            let changes = self.change(&mut file)?;
            if before.is_some() && changes.iter().all(|change| change.old.as_ref() == Some(&change.new)) {
                return Ok(changes);
            }
            let text = file.text();
            let is_written = if before.is_none() {
                // The new file gets the permissions of the plan beside it.
                let mode = fs::metadata(plan.file("plan.md")).ok().map(|plan| plan.permissions());
                workspace.create_file(&path, text.as_bytes(), mode.as_ref())
            } else {
                workspace.replace_unless_changed(&path, before.as_deref(), text.as_bytes())
            };
            if is_written.map_err(failed)? {
                return Ok(changes);
            }
        }
        let path = make_one_line(&path.to_string_lossy());
        Err(SetRefusal::Failed(CommandError::Io(format!("{path}: another process keeps writing to it"))))
    }

    /// The file that is changed.
    fn read_file(&self, before: Option<&[u8]>) -> Result<StateFile, String> {
        match (before, self.new) {
            (None, true) => Ok(make_first_state()),
            (None, false) => {
                Err("it does not exist. To fix: `--new` creates it, for a plan whose work begins now".into())
            }
            (Some(_), true) => {
                Err("it exists already, and --new creates a new one. To fix: leave out --new".into())
            }
            (Some(bytes), false) => StateFile::parse(bytes).map_err(|malformed| {
                format!(
                    "it is not a JSON object ({}). To fix: correct it in an editor, or move it away and create a new \
                     one with --new and the fields that say where the work is",
                    malformed.0
                )
            }),
        }
    }

    /// Makes all changes in the file, or lists everything that is wrong with them.
    fn change(&self, file: &mut StateFile) -> Result<Vec<FieldChange>, String> {
        if self.fields.is_empty() && !self.new {
            return Err(format!("no field was given. To fix: KEY=VALUE, with one of {}", FIELDS.join(", ")));
        }
        let mut wrong: Vec<String> = Vec::new();
        let mut changes: Vec<FieldChange> = Vec::new();
        if self.new {
            let made = FIELDS.iter().filter_map(|name| file.get(name).map(|new| (*name, new)));
            changes.extend(made.map(|(name, new)| FieldChange { name: name.to_owned(), old: None, new }));
        }
        let mut given: Vec<&str> = Vec::new();
        for field in &self.fields {
            let Some((name, text)) = field.split_once('=') else {
                wrong.push(format!("`{}` is not KEY=VALUE", truncate_utf16(field, 80)));
                continue;
            };
            if given.contains(&name) {
                wrong.push(format!("{} is given twice", truncate_utf16(name, 80)));
                continue;
            }
            given.push(name);
            if !FIELDS.contains(&name) && !file.has(name) {
                let hint = suggest(name, &FIELDS).map_or(String::new(), |hint| format!(" ({hint})"));
                wrong.push(format!("there is no field `{}`{hint}", truncate_utf16(name, 80)));
                continue;
            }
            match parse_value(name, text.trim()) {
                Err(takes) => {
                    wrong.push(format!("`{}` is not a {name}: it takes {takes}", truncate_utf16(text, 80)));
                }
                Ok(new) => {
                    let old = file.get(name).filter(|_| !self.new);
                    file.set(name, &new);
                    changes.retain(|change| change.name != name);
                    changes.push(FieldChange { name: name.to_owned(), old, new });
                }
            }
        }
        if wrong.is_empty() { Ok(changes) } else { Err(wrong.join("; ")) }
    }
}

/// The state of a plan that was just written.
fn make_first_state() -> StateFile {
    let state = LoopState::default();
    let mut file = StateFile::default();
    for name in FIELDS {
        let value = match name {
            MAX_REVIEWS => state.max_reviews.into(),
            PHASE => NEW_PLAN.into(),
            ITERATION => 0.into(),
            NEXT_PHASE => ReviewKind::Plan.phase().into(),
            MODEL => state.model.clone().into(),
            CLEAN => state.clean.into(),
            TDD => state.tdd.into(),
            _ => Value::Null,
        };
        file.set(name, &value);
    }
    file
}

/// The value that a text means for a field, or as an error what the field takes.
fn parse_value(name: &str, text: &str) -> Result<Value, String> {
    let json: Option<Value> = serde_json::from_str(text).ok();
    // A word may be quoted as in JSON.
    let word = match &json {
        Some(Value::String(word)) => word.trim(),
        _ => text,
    };
    let is_null = json == Some(Value::Null);
    // `parse` alone would accept a sign.
    let number =
        || word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse::<u64>().ok()).flatten();
    match name {
        MAX_REVIEWS | CLEAN => number().map(Value::from).ok_or_else(|| "a whole number".into()),
        ITERATION | PHASE | NEXT_PHASE | CURRENT_TASK if is_null => Ok(Value::Null),
        ITERATION => number().map(Value::from).ok_or_else(|| "a whole number or null".into()),
        TDD => word.parse::<bool>().map(Value::from).map_err(|_| "true or false".into()),
        PHASE | NEXT_PHASE if PlanStage::from_phase(word).is_some() => Ok(word.into()),
        PHASE | NEXT_PHASE => {
            let names: Vec<&str> = PHASES.iter().map(|(name, _)| *name).collect();
            Err(match suggest(word, &names) {
                None => format!("null or one of {}", names.join(", ")),
                Some(hint) => format!("the name of a phase or null ({hint})"),
            })
        }
        CURRENT_TASK if file_names::is_task_id(word) => Ok(word.into()),
        CURRENT_TASK => Err("the id of a task (letters, digits, `_` and `-`) or null".into()),
        MODEL if !is_null && is_model_name(word) => Ok(word.into()),
        MODEL => Err("the name of a model".into()),
        _ => Ok(json.unwrap_or_else(|| text.into())),
    }
}

/// A question with the known word that is most like this one.
fn suggest(word: &str, known: &[&str]) -> Option<String> {
    let question = suggest_word(word, known.iter().map(|&known| known.to_owned()));
    question.strip_prefix("; ").map(str::to_owned)
}

/// Whether a word can be the argument of an option: no blank in it, and no dash at its start.
fn is_model_name(word: &str) -> bool {
    let is_part = |c: char| !c.is_whitespace() && !c.is_control();
    !word.is_empty() && !word.starts_with('-') && word.chars().all(is_part)
}

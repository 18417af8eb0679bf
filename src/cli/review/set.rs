//! `provost review set`: a safe edit of `state.json`.
//!
//! All changes or none: they are checked first, and the file is replaced in one step under the lock that
//! the guard uses, only if nobody else has written to it meanwhile.

use std::fs;
use std::io::Write;

use serde_json::Value;

use super::{Here, refuse};
use crate::cli::screen::{DIM, labelled, painted, width, wrapped};
use crate::cli::{Exit, Outcome, Trouble};
use crate::config::suggestion;
use crate::review_loop::ledger::Ledger;
use crate::review_loop::names;
use crate::review_loop::phase::{NEW_PLAN, PHASES, Review, Stage};
use crate::review_loop::rounds::Loop;
use crate::review_loop::state::is_known_model;
use crate::review_loop::state::{
    CLEAN, CURRENT_TASK, FIELDS, FIRST_MODEL, ITERATION, MAX_REVIEWS, MODEL, NEXT_PHASE, PHASE, SECOND_MODEL,
    State, StateFile, TDD,
};
use crate::text::{bounded, one_line};

use super::overview::Overview;

/// The fields that say where a plan stands.
const PLACE: [&str; 5] = [CURRENT_TASK, PHASE, ITERATION, NEXT_PHASE, CLEAN];

/// Change fields of a plan's state.json, all of them or none
///
/// A phase is one of the known names or null; `phase_iteration` a whole number or null; `max_reviews` and
/// `consecutive_clean` a whole number; `tdd` true or false; `current_task` the id of a task or null;
/// `review_model` a word. Other fields can be set, to JSON or a word, if the file has them already. What is not
/// named stays as it is written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost review set next_phase=null                            end the reviews of this cycle
  provost review set max_reviews=4                              fewer reviews in each cycle
  provost review set phase_iteration=0 consecutive_clean=0      another cycle after the limit
  provost review set --plan login-limit phase=post-code-review next_phase=code-review
  provost review set --plan login-limit --new                   the first state of a new plan

Exit codes: 0 the file is as asked for; 1 refused, and nothing is changed.")]
pub(crate) struct Set {
    /// The plan; without, the one whose files were changed last
    #[arg(long)]
    pub(super) plan: Option<String>,
    /// Make the file, with the fields of a new plan, and then set the given ones
    #[arg(long)]
    new: bool,
    /// Fields and their new values
    #[arg(value_name = "KEY=VALUE")]
    fields: Vec<String>,
}

/// One field before and after.
struct Change {
    name: String,
    old: Option<Value>,
    new: Value,
}

impl Set {
    pub(crate) fn run(self, here: &Here) -> Outcome {
        let mut out = anstream::stdout().lock();
        let Some(chosen) = here.choose(self.plan.as_deref()) else {
            return refuse(&mut out, &here.no_plan(self.plan.as_deref()));
        };
        let shown = chosen.shown("state.json", &here.cwd);
        let looked = Loop { plan: &chosen.plan, workspace: &here.workspace };
        let changes = match self.write(&looked)? {
            Ok(changes) => changes,
            Err(why) => {
                return refuse(&mut out, &format!("[provost] nothing is set in {shown}: {why}."));
            }
        };
        // A person's word about where the plan stands counts as it is; an agent's as far as its reviews
        // have earned it.
        let is_place = |change: &Change| PLACE.contains(&change.name.as_str());
        if changes.iter().any(is_place) && !(here.workspace.client.is_inside)() {
            Ledger::strike_out(&chosen.plan, &here.workspace);
        }
        writeln!(out, "{}", painted(DIM, &shown))?;
        let longest = changes.iter().map(|change| change.name.chars().count()).max().unwrap_or(0);
        for Change { name, old, new } in &changes {
            let told = match old {
                Some(old) if old == new => format!("{} (unchanged)", value(new)),
                Some(old) => format!("{} -> {}", value(old), value(new)),
                None => format!("(none) -> {}", value(new)),
            };
            writeln!(out, "  {:longest$}  {told}", one_line(name))?;
        }
        // It was written, and this only explains it.
        if let Ok(Overview { standing: Ok(standing), .. }) = Overview::of(&chosen, here) {
            labelled(&mut out, "next stop", &standing.next_stop)?;
            if !is_known_model(&standing.state.model) {
                let text = format!(
                    "review_model `{}` is neither {FIRST_MODEL} nor {SECOND_MODEL}; {FIRST_MODEL} reviews",
                    one_line(&standing.state.model)
                );
                writeln!(out, "{}", wrapped(&text, 0, width()))?;
            }
        }
        Ok(Exit::Done)
    }

    /// Writes the file: what has changed, or why nothing has.
    fn write(&self, looked: &Loop<'_>) -> Result<Result<Vec<Change>, String>, Trouble> {
        const TRIES: u32 = 20;
        let place = looked.state_file();
        // Many at once may take longer than a hook would wait for one.
        let first = looked.workspace.lock(&place);
        let _lock = first.or_else(|_| looked.workspace.lock(&place))?;
        for _ in 0..TRIES {
            let before = match looked.read_state() {
                Ok(before) => before,
                Err(fault) => return Ok(Err(format!("it cannot be read ({fault})"))),
            };
            let mut file = match self.base(before.as_deref()) {
                Ok(file) => file,
                Err(why) => return Ok(Err(why)),
            };
            let changes = match self.change(&mut file) {
                Ok(changes) => changes,
                Err(why) => return Ok(Err(why)),
            };
            if before.is_some() && changes.iter().all(|change| change.old.as_ref() == Some(&change.new)) {
                return Ok(Ok(changes));
            }
            let text = file.text();
            let is_written = if before.is_none() {
                // It is a file of the project like the plan beside it, for whoever may read that.
                let model = fs::metadata(looked.plan.file("plan.md")).ok().map(|plan| plan.permissions());
                looked.workspace.create(&place, text.as_bytes(), model.as_ref())?
            } else {
                looked.workspace.replace_unless_changed(&place, before.as_deref(), text.as_bytes())?
            };
            if is_written {
                return Ok(Ok(changes));
            }
        }
        Err(Trouble::Io(format!(
            "{}: somebody else writes to it without end",
            one_line(&place.to_string_lossy())
        )))
    }

    /// The file that is changed.
    fn base(&self, before: Option<&[u8]>) -> Result<StateFile, String> {
        match (before, self.new) {
            (None, true) => Ok(first()),
            (None, false) => {
                Err("it is not there. To fix: `--new` makes it, for a plan whose work begins with it".into())
            }
            (Some(_), true) => Err("it is there already, and --new makes a new one. To fix: leave out --new".into()),
            (Some(bytes), false) => StateFile::read(bytes).map_err(|malformed| {
                format!(
                    "it is no JSON object ({}). To fix: mend it in an editor, or move it away and make a new one with \
                     --new and the fields that say where the work stands",
                    malformed.0
                )
            }),
        }
    }

    /// Makes all changes in the file, or says everything that is wrong with them.
    fn change(&self, file: &mut StateFile) -> Result<Vec<Change>, String> {
        if self.fields.is_empty() && !self.new {
            return Err(format!("no field was given. To fix: KEY=VALUE, with one of {}", FIELDS.join(", ")));
        }
        let mut wrong: Vec<String> = Vec::new();
        let mut changes: Vec<Change> = Vec::new();
        if self.new {
            let made = FIELDS.iter().filter_map(|name| file.get(name).map(|new| (*name, new)));
            changes.extend(made.map(|(name, new)| Change { name: name.to_owned(), old: None, new }));
        }
        let mut given: Vec<&str> = Vec::new();
        for field in &self.fields {
            let Some((name, text)) = field.split_once('=') else {
                wrong.push(format!("`{}` is not KEY=VALUE", bounded(field, 80)));
                continue;
            };
            if given.contains(&name) {
                wrong.push(format!("{} is given twice", bounded(name, 80)));
                continue;
            }
            given.push(name);
            if !FIELDS.contains(&name) && !file.has(name) {
                let near = near(name, &FIELDS).map_or(String::new(), |near| format!(" ({near})"));
                wrong.push(format!("there is no field `{}`{near}", bounded(name, 80)));
                continue;
            }
            match read(name, text.trim()) {
                Err(takes) => wrong.push(format!("`{}` is no {name}: it takes {takes}", bounded(text, 80))),
                Ok(new) => {
                    let old = file.get(name).filter(|_| !self.new);
                    file.set(name, &new);
                    changes.retain(|change| change.name != name);
                    changes.push(Change { name: name.to_owned(), old, new });
                }
            }
        }
        if wrong.is_empty() { Ok(changes) } else { Err(wrong.join("; ")) }
    }
}

/// The state of a plan that was just written.
fn first() -> StateFile {
    let state = State {
        phase: Some(NEW_PLAN.into()),
        next_phase: Some(Review::Plan.phase().into()),
        iteration: Some(0),
        ..State::default()
    };
    let mut file = StateFile::default();
    for name in FIELDS {
        let value = match name {
            MAX_REVIEWS => state.max_reviews.into(),
            PHASE => state.phase.clone().into(),
            ITERATION => state.iteration.into(),
            NEXT_PHASE => state.next_phase.clone().into(),
            MODEL => state.model.clone().into(),
            CLEAN => state.clean.into(),
            TDD => state.tdd.into(),
            _ => Value::Null,
        };
        file.set(name, &value);
    }
    file
}

/// What a text means as the value of a field, or what the field takes.
fn read(name: &str, text: &str) -> Result<Value, String> {
    let json: Option<Value> = serde_json::from_str(text).ok();
    // A word, with or without the quotation marks of JSON.
    let word = match &json {
        Some(Value::String(word)) => word.trim(),
        _ => text,
    };
    let is_null = json == Some(Value::Null);
    let number =
        || word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse::<u64>().ok()).flatten();
    match name {
        MAX_REVIEWS | CLEAN => number().map(Value::from).ok_or_else(|| "a whole number".into()),
        ITERATION if is_null => Ok(Value::Null),
        ITERATION => number().map(Value::from).ok_or_else(|| "a whole number or null".into()),
        TDD => word.parse::<bool>().map(Value::from).map_err(|_| "true or false".into()),
        PHASE | NEXT_PHASE | CURRENT_TASK if is_null => Ok(Value::Null),
        PHASE | NEXT_PHASE if Stage::of(word).is_some() => Ok(word.into()),
        PHASE | NEXT_PHASE => {
            let names: Vec<&str> = PHASES.iter().map(|(name, _)| *name).collect();
            Err(match near(word, &names) {
                None => format!("null or one of {}", names.join(", ")),
                Some(near) => format!("the name of a phase or null ({near})"),
            })
        }
        CURRENT_TASK if names::is_id(word) => Ok(word.into()),
        CURRENT_TASK => Err("the id of a task (letters, digits, `_` and `-`) or null".into()),
        MODEL if !is_null && is_model(word) => Ok(word.into()),
        MODEL => Err("the name of a model".into()),
        _ => Ok(json.unwrap_or_else(|| text.into())),
    }
}

/// Which of the known words is nearly this one.
fn near(word: &str, known: &[&str]) -> Option<String> {
    let near = suggestion(word, known.iter().map(|&known| known.to_owned()));
    near.strip_prefix("; ").map(str::to_owned)
}

/// A word that a command line takes for nothing else.
fn is_model(word: &str) -> bool {
    let is_part = |c: char| !c.is_whitespace() && !c.is_control();
    !word.is_empty() && !word.starts_with('-') && word.chars().all(is_part)
}

fn value(value: &Value) -> String {
    one_line(&bounded(&value.to_string(), 80))
}

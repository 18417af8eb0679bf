//! All that can be said about the work on a plan, gathered once for screen and JSON.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Chosen, Here, advice};
use crate::clock;
use crate::config::settings;
use crate::decision::Fault;
use crate::review_loop::ground_rules;
use crate::review_loop::ledger::Ledger;
use crate::review_loop::messages;
use crate::review_loop::names::{self, Name};
use crate::review_loop::phase::{Review, Stage};
use crate::review_loop::rounds::{self, Loop};
use crate::review_loop::route::{self, Action, Route};
use crate::review_loop::state::{self, State, StateFile};
use crate::review_loop::tasks;
use crate::review_loop::transition::{Answer, ENOUGH, transition};
use crate::reviewer::Judgement;
use crate::text::one_line;

/// The guard that makes the reviews.
const GUARD: &str = "review-loop";

pub(crate) struct Overview {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    pub(crate) is_newest: bool,
    pub(crate) others: Vec<String>,
    /// What names this plan on a command line.
    pub(crate) argument: String,
    /// Where it stands, or why nobody knows.
    pub(crate) standing: Result<Standing, Unknown>,
    pub(crate) tasks: Option<Count>,
    pub(crate) last: Option<Last>,
    pub(crate) running: Option<Running>,
    pub(crate) violations: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// Why nobody knows where a plan stands.
pub(crate) struct Unknown {
    pub(crate) why: String,
    pub(crate) go_on: String,
}

pub(crate) struct Standing {
    pub(crate) state: State,
    pub(crate) answer: Answer,
    /// What a stop comes to now, in a word.
    pub(crate) does: &'static str,
    pub(crate) next_stop: String,
    pub(crate) route: Route,
    /// What to do, as a sentence.
    pub(crate) go_on: String,
}

/// The tasks of a plan.
pub(crate) struct Count {
    pub(crate) all: usize,
    pub(crate) open: usize,
}

/// The review that was written last.
pub(crate) struct Last {
    pub(crate) name: String,
    /// Its path for whoever called.
    pub(crate) shown: String,
    pub(crate) verdict: Option<Judgement>,
}

/// A review that is being made.
pub(crate) struct Running {
    pub(crate) log: Option<PathBuf>,
    /// Since 1970.
    pub(crate) began: Option<Duration>,
}

impl Overview {
    pub(crate) fn of(chosen: &Chosen, here: &Here) -> Result<Self, Fault> {
        let Here { cwd, workspace, .. } = here;
        let plan = &chosen.plan;
        let looked = Loop { plan, workspace };
        let listing = workspace.list(&plan.path, "md")?;
        let text = workspace.read_text(&plan.file("tasks.md"), state::LARGEST)?;
        let violations = ground_rules::violations(&listing, text.as_deref());
        let new = format!("`provost review set{} --new phase=… next_phase=…`", chosen.argument());
        let mend = format!("mend it in an editor, or move it away and make a new one with {new}");
        let unknown = |why: String, go_on: String| Unknown { why, go_on };
        let mut warnings = Vec::new();
        let file = match looked.read_state() {
            Err(fault) => Err(unknown(format!("state.json cannot be read ({fault})"), mend)),
            Ok(None) => {
                warnings.extend(Ledger::read(plan, workspace).remarks_without_state(plan, true));
                let go_on =
                    format!("`/taskie:continue-plan` looks into the history of git; {new} gives it a state");
                Err(unknown("there is no state.json".into(), go_on))
            }
            Ok(Some(bytes)) => match StateFile::read(&bytes) {
                Err(malformed) => {
                    Err(unknown(format!("state.json is no JSON object ({})", malformed.0), mend))
                }
                Ok(file) => {
                    warnings = ground_rules::warnings(Some(&bytes));
                    Ok(file)
                }
            },
        };
        let mut overview = Self {
            id: plan.id.clone(),
            path: plan.path.clone(),
            is_newest: chosen.is_newest,
            others: chosen.others.clone(),
            argument: chosen.argument(),
            standing: Err(unknown(String::new(), String::new())),
            tasks: text
                .map(|text| tasks::read(&text))
                .map(|tasks| Count { all: tasks.rows.len(), open: tasks.open() }),
            last: last(chosen, here)?,
            running: looked.is_running().then(|| running(&looked)),
            violations,
            warnings,
        };
        overview.standing = match file {
            Err(why) => Err(why),
            Ok(file) => {
                let misfits = file.misfits();
                if !misfits.is_empty() {
                    let warning =
                        format!("the defaults count for values that make no sense: {}", misfits.join(", "));
                    overview.warnings.push(warning);
                }
                let ledger = Ledger::read(plan, workspace);
                let state = file.state();
                overview.warnings.extend(ledger.remarks(&state, plan));
                // What counts, which may be less than what the file claims.
                Ok(overview.standing(ledger.corrected(&state), chosen, &looked, cwd)?)
            }
        };
        Ok(overview)
    }

    fn standing(
        &self,
        state: State,
        chosen: &Chosen,
        looked: &Loop<'_>,
        cwd: &std::path::Path,
    ) -> Result<Standing, Fault> {
        let step = transition(&state, looked.found(&state)?);
        let route = route::route(&state, route::done(looked, &state)?);
        let post_review =
            paths(&state).map(|(read, write)| (chosen.shown(&read, cwd), chosen.shown(&write, cwd)));
        let next_stop = self.next_stop(&step.state, &step.answer, post_review, looked);
        let is_on = looked.workspace.config.guard_is_on(GUARD);
        let go_on = match &step.answer {
            Answer::Limit(_) => format!(
                "read the last review; `provost review set{} phase_iteration=0 consecutive_clean=0` begins another \
                 cycle, or set next_phase to what comes next",
                self.argument
            ),
            Answer::Ask(_) if self.running.is_some() => "wait for the review that is being made".into(),
            _ if route.action == Action::Stop && !is_on => {
                format!(
                    "no hook makes the review that is due; `provost review run{}` makes it",
                    self.argument
                )
            }
            _ => advice(route.action, &self.argument),
        };
        let does = if is_on { does(&step.answer) } else { "off" };
        Ok(Standing { state, answer: step.answer, does, next_stop, route, go_on })
    }

    /// What the next stop comes to, in a sentence.
    fn next_stop(
        &self,
        state: &State,
        answer: &Answer,
        post_review: Option<(String, String)>,
        looked: &Loop<'_>,
    ) -> String {
        let config = &looked.workspace.config;
        if !config.guard_is_on(GUARD) {
            return format!("nothing: the guard `{GUARD}` is switched off here");
        }
        let held = if self.violations.is_empty() || !config.switch(settings::REVIEW_LOOP_RULES) {
            ""
        } else {
            "; the agent is held once for the ground rules"
        };
        let max = state.max_reviews;
        match answer {
            Answer::Ask(round) => {
                let subject = messages::of(round.review, state);
                let obstacle = rounds::subject(round.review, state).err().or_else(|| {
                    let is_there = looked.workspace.has_content(&looked.plan.file("plan.md"));
                    (!is_there).then(|| "there is no plan.md".into())
                });
                if let Some(obstacle) = obstacle {
                    return format!("the {subject} is due and cannot be made: {obstacle}{held}");
                }
                let model = one_line(&round.model);
                if self.running.is_some() {
                    return format!(
                        "the {subject}, round {} of {max}, by {model}, is being made now",
                        round.number
                    );
                }
                let ends = if state.clean.saturating_add(1) >= ENOUGH {
                    ", unless it is clean, which ends the cycle"
                } else {
                    ""
                };
                format!(
                    "the {subject} is made, round {} of {max}, by {model}, and the agent is sent back with it{ends}",
                    round.number
                )
            }
            Answer::Limit(review) => format!(
                "it goes through{held}: the {} has had all its {max} reviews, and the next step is yours",
                messages::of(*review, state)
            ),
            Answer::Skip { review, to } => {
                format!(
                    "the {} is skipped, because max_reviews is 0; next: {to}",
                    messages::of(*review, state)
                )
            }
            Answer::Nothing | Answer::Hold { .. } | Answer::Advance { .. } | Answer::Unanswered(_) => {
                let why = match (state.next_phase.as_deref(), post_review) {
                    (None, _) => "nothing is due".into(),
                    (Some(_), Some((read, write))) => {
                        format!("{write}, the answer to {read}, is not there yet")
                    }
                    (Some(next), None) if Stage::of(next).is_none() => {
                        format!("next_phase `{}` is unknown", one_line(next))
                    }
                    (Some(next), None) => format!("no review is due; {next} is next"),
                };
                format!("it goes through{held}: {why}")
            }
        }
    }

    pub(crate) fn as_json(&self) -> Value {
        let standing = self.standing.as_ref().ok();
        let state = standing.map(|standing| &standing.state);
        let round = standing.and_then(Standing::round);
        json!({
            "plan": self.id,
            "path": self.path.to_string_lossy(),
            "newest": self.is_newest,
            "others": self.others,
            "fault": self.standing.as_ref().err().map(|unknown| &unknown.why),
            "stage": state.and_then(stage).map(Stage::words),
            "phase": state.and_then(|state| state.phase.as_ref()),
            "next_phase": state.and_then(|state| state.next_phase.as_ref()),
            "current_task": state.and_then(|state| state.current_task.as_ref()),
            "phase_iteration": state.and_then(|state| state.iteration),
            "max_reviews": state.map(|state| state.max_reviews),
            "review_model": state.map(|state| &state.model),
            "consecutive_clean": state.map(|state| state.clean),
            "clean_needed": ENOUGH,
            "tdd": state.map(|state| state.tdd),
            "round": round,
            "tasks": self.tasks.as_ref().map(|tasks| json!({"all": tasks.all, "left": tasks.open})),
            "last_review": self.last.as_ref().map(|last| json!({
                "file": self.path.join(&last.name).to_string_lossy(),
                "verdict": last.verdict.map(word),
            })),
            "running": self.running.is_some(),
            "log": self.running.as_ref().and_then(|running| running.log.as_ref()).map(|log| log.to_string_lossy()),
            "began": self.running.as_ref().and_then(|running| running.began).map(clock::utc_in_seconds),
            "next_stop": standing.map(|standing| json!({
                "does": standing.does,
                "text": standing.next_stop,
            })),
            "route": standing.map(|standing| json!({
                "action": standing.route.action.to_string(),
                "why": standing.route.why,
            })),
            "go_on": match &self.standing {
                Ok(standing) => &standing.go_on,
                Err(unknown) => &unknown.go_on,
            },
            "violations": self.violations,
            "warnings": self.warnings,
        })
    }
}

impl Running {
    /// For how long it has been made.
    pub(crate) fn seconds(&self) -> Option<u64> {
        self.began.map(|began| clock::since_1970().saturating_sub(began).as_secs())
    }
}

impl Standing {
    /// How far the rounds are, in words.
    pub(crate) fn round_in_words(&self) -> String {
        let max = self.state.max_reviews;
        match (&self.answer, self.round(), self.state.iteration) {
            (Answer::Limit(_), ..) => format!("all {max} of {max} are made"),
            (Answer::Skip { .. }, ..) => "none: max_reviews is 0".into(),
            (Answer::Ask(_), Some(number), _) => format!("round {number} of {max} is due"),
            (_, Some(number), _) => format!("round {number} of {max} waits for its answer"),
            (_, None, Some(made)) => format!("{made} of {max} were made in the last cycle"),
            (_, None, None) => "none: this is no review cycle".into(),
        }
    }

    /// The review that is due, or that waits for its answer.
    pub(crate) fn round(&self) -> Option<u64> {
        let waits = self.state.next_phase.as_deref().and_then(Review::before_phase).is_some();
        match &self.answer {
            Answer::Ask(round) => Some(round.number),
            Answer::Nothing if waits => self.state.iteration,
            _ => None,
        }
    }
}

pub(crate) fn stage(state: &State) -> Option<Stage> {
    state.phase.as_deref().and_then(Stage::of)
}

pub(crate) fn word(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Pass => "PASS",
        Judgement::Fail => "FAIL",
    }
}

fn does(answer: &Answer) -> &'static str {
    match answer {
        Answer::Ask(_) => "review",
        Answer::Limit(_) => "limit",
        Answer::Skip { .. } => "skip",
        Answer::Nothing | Answer::Hold { .. } | Answer::Advance { .. } | Answer::Unanswered(_) => "nothing",
    }
}

/// The review that is to be answered and its answer, by their names.
pub(crate) fn paths(state: &State) -> Option<(String, String)> {
    let review = state.next_phase.as_deref().and_then(Review::before_phase)?;
    let subject = rounds::subject(review, state).ok()?;
    let number = state.iteration.filter(|number| *number > 0)?;
    Some((names::review(subject, false, number), names::review(subject, true, number)))
}

fn last(chosen: &Chosen, here: &Here) -> Result<Option<Last>, Fault> {
    let files = here.workspace.markdown_files(&chosen.plan.path);
    let mut names = files.iter().filter_map(|path| path.file_name()?.to_str());
    let is_review = |name: &&str| matches!(names::parse(name), Some(Name::Review { post: false, .. }));
    let Some(name) = names.find(is_review) else { return Ok(None) };
    let file = chosen.plan.file(name);
    let (text, _) = here.workspace.read_start(&file, rounds::LARGEST_REVIEW)?;
    Ok(Some(Last {
        name: name.to_owned(),
        shown: chosen.shown(name, &here.cwd),
        verdict: Judgement::from_last_line(&text),
    }))
}

fn running(looked: &Loop<'_>) -> Running {
    let log = looked.newest_log();
    let name = log.as_ref().and_then(|log| log.file_name()?.to_str());
    let began = name.and_then(|name| name.split('-').next()?.parse().ok()).map(Duration::from_millis);
    Running { log, began }
}

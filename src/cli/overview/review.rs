//! The reviews of one plan: which plan, where its cycle is, and what happens when the agent stops next.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::Overview;
use crate::clock;
use crate::config::settings;
use crate::opinion::Fault;
use crate::review_loop::due_review::ReviewLoop;
use crate::review_loop::file_names::{self, FileName};
use crate::review_loop::ledger::Ledger;
use crate::review_loop::next_action::{self, NextAction, Route};
use crate::review_loop::phase::{PlanStage, ReviewKind};
use crate::review_loop::plan::{self, Plan};
use crate::review_loop::state::{self, LoopState, StateFile};
use crate::review_loop::transition::{CLEAN_NEEDED, StopAnswer, transition};
use crate::review_loop::{ground_rules, messages, tasks};
use crate::review_verdict::ReviewVerdict;
use crate::text::make_one_line;

/// The guard that runs the reviews.
const GUARD: &str = "review-loop";

/// The plan that a command works on.
pub(crate) struct ChosenPlan {
    pub(crate) plan: Plan,
    /// The user named no plan, so it is the one that was changed last.
    pub(crate) is_newest: bool,
    /// It belongs to another project than the current directory.
    is_elsewhere: bool,
    /// The names of all other plans.
    pub(crate) others: Vec<String>,
}

pub(crate) struct ReviewProgress {
    pub(crate) id: String,
    path: PathBuf,
    pub(crate) is_newest: bool,
    pub(crate) others: Vec<String>,
    /// What names this plan on a command line.
    pub(crate) argument: String,
    pub(crate) cycle: Result<ReviewCycle, UnknownCycle>,
    pub(crate) tasks: Option<TaskCount>,
    pub(crate) last: Option<LastReview>,
    pub(crate) running: Option<RunningReview>,
    pub(crate) violations: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// Why the state of a plan is unknown.
pub(crate) struct UnknownCycle {
    pub(crate) why: String,
    pub(crate) next_step: String,
}

pub(crate) struct ReviewCycle {
    pub(crate) state: LoopState,
    pub(crate) answer: StopAnswer,
    pub(crate) at_next_stop: String,
    pub(crate) route: Route,
    pub(crate) next_step: String,
    /// Whether the guard that runs the reviews is on.
    is_guarded: bool,
}

pub(crate) struct TaskCount {
    pub(crate) all: usize,
    pub(crate) open: usize,
}

/// The review that was written last.
pub(crate) struct LastReview {
    file: PathBuf,
    /// Its path, relative to the current directory.
    pub(crate) short: String,
    pub(crate) verdict: Option<ReviewVerdict>,
}

pub(crate) struct RunningReview {
    pub(crate) log: Option<PathBuf>,
    /// Since 1970.
    began: Option<Duration>,
}

impl Overview {
    /// The overview of the plan that a command names. A path may lead into another project; then the settings of
    /// that project count.
    pub(crate) fn open_for_plan(named: Option<&str>) -> Result<Self, super::CommandError> {
        let here = Self::open_here()?;
        let Some(name) = named.filter(|name| here.choose_review_plan(Some(name)).is_none()) else {
            return Ok(here);
        };
        let path = crate::places::resolve_path(&here.cwd.join(name));
        let there = Self { plan_search: path.clone(), ..Self::open(&path, &here.cwd) };
        Ok(if there.choose_review_plan(Some(name)).is_some() { there } else { here })
    }

    /// The named plan, or the one that was changed last.
    pub(crate) fn choose_review_plan(&self, named: Option<&str>) -> Option<ChosenPlan> {
        let Self { cwd, plan_search, workspace, .. } = self;
        let is_elsewhere = plan_search != cwd;
        let plan = match named {
            Some(name) if is_elsewhere => Plan::find(cwd.join(name).to_str()?, plan_search, workspace)?,
            Some(name) => Plan::find(name, plan_search, workspace)?,
            None => Plan::find_newest(cwd, workspace)?,
        };
        let all = plan::list_plans(plan_search, workspace).into_iter();
        let mut others: Vec<String> = all.filter(|other| *other != plan).map(|other| other.id).collect();
        others.sort();
        Some(ChosenPlan { plan, is_newest: named.is_none(), is_elsewhere, others })
    }
}

impl ChosenPlan {
    /// What a command line needs so that it means this plan, with a blank in front.
    pub(crate) fn argument(&self) -> String {
        if self.is_newest && self.others.is_empty() { String::new() } else { self.explicit_argument() }
    }

    /// The argument that names this plan, with a blank in front.
    pub(crate) fn explicit_argument(&self) -> String {
        let plan = &self.plan;
        format!(" {}", if self.is_elsewhere { plan.argument_anywhere() } else { plan.argument() })
    }
}

impl ReviewProgress {
    pub(crate) fn read(chosen: &ChosenPlan, overview: &Overview) -> Result<Self, Fault> {
        let workspace = &overview.workspace;
        let plan = &chosen.plan;
        let review_loop = ReviewLoop::new(plan, workspace);
        let argument = chosen.argument();
        let tasks = workspace.read_text(&plan.file("tasks.md"), state::LARGEST_FILE)?;
        let running = review_loop.is_running().then(|| RunningReview::read(&review_loop));
        let mut progress = Self {
            id: plan.id.clone(),
            path: plan.path.clone(),
            is_newest: chosen.is_newest,
            others: chosen.others.clone(),
            cycle: Err(UnknownCycle { why: String::new(), next_step: String::new() }),
            violations: ground_rules::find_violations(
                &workspace.list_directory(&plan.path, "md")?,
                tasks.as_deref(),
            ),
            tasks: tasks
                .map(|text| tasks::parse_tasks(&text))
                .map(|tasks| TaskCount { all: tasks.rows.len(), open: tasks.count_open() }),
            last: LastReview::read(plan, overview)?,
            running,
            warnings: Vec::new(),
            argument,
        };
        progress.cycle = match progress.read_state(&review_loop) {
            Ok(state) => Ok(progress.read_cycle(state, &review_loop, &overview.cwd)?),
            Err(unknown) => Err(unknown),
        };
        Ok(progress)
    }

    /// The state that counts, which may claim less than the file. Adds the warnings about the file.
    fn read_state(&mut self, review_loop: &ReviewLoop<'_>) -> Result<LoopState, UnknownCycle> {
        let ReviewLoop { plan, workspace, .. } = review_loop;
        let create = format!("`provost review set{} --new phase=… next_phase=…`", self.argument);
        let unreadable = |why: String| UnknownCycle {
            why: format!("state.json {why}"),
            next_step: format!("fix it in an editor, or move it away and create a new one with {create}"),
        };
        let bytes =
            review_loop.read_state().map_err(|fault| unreadable(format!("cannot be read ({fault})")))?;
        let ledger = Ledger::read(plan, workspace);
        let Some(bytes) = bytes else {
            self.warnings.extend(ledger.find_missing_state_warning(plan, true));
            return Err(UnknownCycle {
                why: "there is no state.json".into(),
                next_step: format!(
                    "`/taskie:continue-plan` looks at the git history; {create} creates a state"
                ),
            });
        };
        let file = StateFile::parse(&bytes)
            .map_err(|malformed| unreadable(format!("is not a JSON object ({})", malformed.0)))?;
        self.warnings.extend(ground_rules::missing_fields(&file));
        let misfits = file.find_invalid_fields();
        if !misfits.is_empty() {
            self.warnings.push(format!("invalid values count as their defaults: {}", misfits.join(", ")));
        }
        let state = file.state();
        self.warnings.extend(ledger.find_warning(&state, plan));
        Ok(ledger.correct_state(&state))
    }

    fn read_cycle(
        &self,
        state: LoopState,
        review_loop: &ReviewLoop<'_>,
        cwd: &Path,
    ) -> Result<ReviewCycle, Fault> {
        let step = transition(&state, review_loop.read_facts(&state)?);
        let route = next_action::find_route(&state, next_action::read_finished_work(review_loop, &state)?);
        let is_guarded = review_loop.workspace.config.is_guard_on(GUARD);
        let at_next_stop = if is_guarded {
            self.describe_next_stop(&step.state, &step.answer, &state, review_loop, cwd)
        } else {
            format!("nothing: the guard `{GUARD}` is switched off here")
        };
        let next_step = match &step.answer {
            StopAnswer::Limit(_) => format!(
                "read the last review; `provost review set{} phase_iteration=0 consecutive_clean=0` starts another \
                 cycle, or set next_phase to what comes next",
                self.argument
            ),
            StopAnswer::Review(_) if self.running.is_some() => "wait for the running review".into(),
            _ if route.action == NextAction::Stop && !is_guarded => {
                format!("no hook runs the review that is due; `provost review run{}` runs it", self.argument)
            }
            _ => describe_action(route.action, &self.argument),
        };
        Ok(ReviewCycle { state, answer: step.answer, at_next_stop, route, next_step, is_guarded })
    }

    /// What happens when the agent stops next, in a sentence.
    fn describe_next_stop(
        &self,
        state: &LoopState,
        answer: &StopAnswer,
        before: &LoopState,
        review_loop: &ReviewLoop<'_>,
        cwd: &Path,
    ) -> String {
        let ReviewLoop { plan, workspace, .. } = review_loop;
        let has_rules = workspace.config.is_switched_on(settings::REVIEW_LOOP_GROUND_RULES);
        let rules = if self.violations.is_empty() || !has_rules {
            ""
        } else {
            "; but first the ground rules stop the agent once"
        };
        let max = state.max_reviews;
        match answer {
            StopAnswer::Review(round) => {
                let subject = messages::name_review_for(round.review, state);
                let has_plan = || workspace.has_content(&plan.file("plan.md"));
                let obstacle = match round.review.subject(state.current_task.as_deref()) {
                    Err(obstacle) => Some(obstacle),
                    Ok(_) => (!has_plan()).then(|| "there is no plan.md".into()),
                };
                if let Some(obstacle) = obstacle {
                    return format!("the {subject} is due and cannot run: {obstacle}{rules}");
                }
                let round = format!("round {} of {max}, by {}", round.number, make_one_line(&round.model));
                if self.running.is_some() {
                    return format!("the {subject} is running now ({round})");
                }
                let is_last = state.clean.saturating_add(1) >= CLEAN_NEEDED;
                let end = if is_last { ", unless it is clean, which ends the cycle" } else { "" };
                format!("the {subject} runs ({round}), and the agent continues with its findings{end}")
            }
            StopAnswer::Limit(review) => format!(
                "the agent may stop: the {} has had all its {max} reviews, and the next step is yours{rules}",
                messages::name_review_for(*review, state)
            ),
            StopAnswer::Skip { review, to } => {
                let subject = messages::name_review_for(*review, state);
                format!("the {subject} is skipped, because max_reviews is 0; next: {to}")
            }
            StopAnswer::Nothing
            | StopAnswer::Block { .. }
            | StopAnswer::Advance { .. }
            | StopAnswer::NoVerdict(_) => {
                let why = match (state.next_phase.as_deref(), name_answer(before)) {
                    (None, _) => "nothing is due".into(),
                    (Some(_), Some((review, answer))) => format!(
                        "{}, the answer to {}, does not exist yet",
                        plan.display_file(&answer, cwd),
                        plan.display_file(&review, cwd)
                    ),
                    (Some(next), None) if PlanStage::from_phase(next).is_none() => {
                        format!("next_phase `{}` is unknown", make_one_line(next))
                    }
                    (Some(next), None) => format!("no review is due; {next} is next"),
                };
                format!("the agent may stop: {why}{rules}")
            }
        }
    }

    pub(crate) fn as_json(&self) -> Value {
        let cycle = self.cycle.as_ref().ok();
        let state = cycle.map(|cycle| &cycle.state);
        json!({
            "plan": self.id,
            "path": self.path.to_string_lossy(),
            "newest": self.is_newest,
            "others": self.others,
            "fault": self.cycle.as_ref().err().map(|unknown| &unknown.why),
            "stage": state.and_then(find_stage).map(PlanStage::label),
            "phase": state.and_then(|state| state.phase.as_ref()),
            "next_phase": state.and_then(|state| state.next_phase.as_ref()),
            "current_task": state.and_then(|state| state.current_task.as_ref()),
            "phase_iteration": state.and_then(|state| state.iteration),
            "max_reviews": state.map(|state| state.max_reviews),
            "review_model": state.map(|state| &state.model),
            "consecutive_clean": state.map(|state| state.clean),
            "clean_needed": CLEAN_NEEDED,
            "tdd": state.map(|state| state.tdd),
            "round": cycle.and_then(ReviewCycle::round),
            "tasks": self.tasks.as_ref().map(|tasks| json!({"all": tasks.all, "left": tasks.open})),
            "last_review": self.last.as_ref().map(|last| json!({
                "file": last.file.to_string_lossy(),
                "verdict": last.verdict.map(name_verdict),
            })),
            "running": self.running.is_some(),
            "log": self.running.as_ref().and_then(|running| running.log.as_ref()).map(|log| log.to_string_lossy()),
            "began": self.running.as_ref().and_then(|running| running.began).map(clock::format_utc_seconds),
            "next_stop": cycle.map(|cycle| json!({"does": cycle.name_next_stop(), "text": cycle.at_next_stop})),
            "route": cycle.map(|cycle| json!({
                "action": cycle.route.action.to_string(),
                "why": cycle.route.why,
            })),
            "go_on": match &self.cycle {
                Ok(cycle) => &cycle.next_step,
                Err(unknown) => &unknown.next_step,
            },
            "violations": self.violations,
            "warnings": self.warnings,
        })
    }
}

impl RunningReview {
    fn read(review_loop: &ReviewLoop<'_>) -> Self {
        let log = review_loop.find_newest_log();
        // The name of a log starts with the time in milliseconds.
        let name = log.as_ref().and_then(|log| log.file_name()?.to_str());
        let began = name.and_then(|name| name.split('-').next()?.parse().ok()).map(Duration::from_millis);
        Self { log, began }
    }

    pub(crate) fn seconds(&self) -> Option<u64> {
        self.began.map(|began| clock::time_since_epoch().saturating_sub(began).as_secs())
    }

    pub(crate) fn describe(&self) -> String {
        let time = self.seconds().map_or(String::new(), |seconds| format!(" for {seconds} s"));
        format!("a review is running{time}")
    }
}

impl LastReview {
    fn read(plan: &Plan, overview: &Overview) -> Result<Option<Self>, Fault> {
        let files = overview.workspace.list_markdown(&plan.path);
        let mut names = files.iter().filter_map(|path| path.file_name()?.to_str());
        let is_review =
            |name: &&str| matches!(file_names::parse_name(name), Some(FileName::Review { post: false, .. }));
        let Some(name) = names.find(is_review) else { return Ok(None) };
        let file = plan.file(name);
        let (text, _) = overview.workspace.read_start(&file, crate::review_round::LARGEST_REVIEW)?;
        let verdict = ReviewVerdict::from_last_line(&text);
        Ok(Some(Self { file, short: plan.display_file(name, &overview.cwd), verdict }))
    }
}

impl ReviewCycle {
    pub(crate) fn describe_round(&self) -> String {
        let max = self.state.max_reviews;
        match (&self.answer, self.round(), self.state.iteration) {
            (StopAnswer::Limit(_), ..) => format!("all {max} of {max} are done"),
            (StopAnswer::Skip { .. }, ..) => "none: max_reviews is 0".into(),
            (StopAnswer::Review(_), Some(number), _) => format!("round {number} of {max} is due"),
            (_, Some(number), _) => format!("round {number} of {max} waits for its answer"),
            (_, None, Some(made)) => format!("the last cycle had {made} of {max}"),
            (_, None, None) => "none: there is no review cycle now".into(),
        }
    }

    /// The number of the review that is due, or that waits for its answer.
    pub(crate) fn round(&self) -> Option<u64> {
        let is_answer_next = self.state.next_phase.as_deref().and_then(ReviewKind::from_post_phase).is_some();
        match &self.answer {
            StopAnswer::Review(round) => Some(round.number),
            StopAnswer::Nothing if is_answer_next => self.state.iteration,
            _ => None,
        }
    }

    /// What happens when the agent stops next, in one word for programs.
    fn name_next_stop(&self) -> &'static str {
        match &self.answer {
            _ if !self.is_guarded => "off",
            StopAnswer::Review(_) => "review",
            StopAnswer::Limit(_) => "limit",
            StopAnswer::Skip { .. } => "skip",
            StopAnswer::Nothing
            | StopAnswer::Block { .. }
            | StopAnswer::Advance { .. }
            | StopAnswer::NoVerdict(_) => "nothing",
        }
    }
}

pub(crate) fn find_stage(state: &LoopState) -> Option<PlanStage> {
    state.phase.as_deref().and_then(PlanStage::from_phase)
}

pub(crate) fn name_verdict(verdict: ReviewVerdict) -> &'static str {
    match verdict {
        ReviewVerdict::Pass => "PASS",
        ReviewVerdict::Fail => "FAIL",
    }
}

/// The file names of the review that needs an answer next, and of its answer.
pub(crate) fn name_answer(state: &LoopState) -> Option<(String, String)> {
    let review = state.next_phase.as_deref().and_then(ReviewKind::from_post_phase)?;
    let subject = review.subject(state.current_task.as_deref()).ok()?;
    let number = state.iteration.filter(|number| *number > 0)?;
    Some((file_names::review_name(subject, false, number), file_names::review_name(subject, true, number)))
}

/// What the user does to follow a route.
pub(crate) fn describe_action(action: NextAction, plan: &str) -> String {
    match action {
        NextAction::Stop => {
            format!("the hook runs the review when the agent stops; `provost review run{plan}` runs it now")
        }
        NextAction::Command(name) => format!("`/taskie:continue-plan` continues with {name}"),
        NextAction::Complete => "`/taskie:continue-plan` marks the plan as complete".into(),
        NextAction::Tell => "nothing: the plan is complete".into(),
        NextAction::Ask => {
            format!("set the next phase with `provost review set{plan} next_phase=…`, or run its command")
        }
    }
}

//! Runs the review that is due for a plan: reads the state, starts the reviewer, and writes the new state.
//!
//! A review takes minutes, and agents and users may change the state meanwhile. Only a second review of the same plan
//! is locked out while the reviewer works. Its verdict is then entered into the state as it is at that time, and only
//! if that state still is where the review began. A process that is killed at any point leaves the old state.

use crate::prelude::*;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::file_names::{self, FileSubject};
use super::ground_rules;
use super::ledger::Ledger;
use super::phase::ReviewKind;
use super::plan::Plan;
use super::prompts::{self, ReviewerInstructions};
use super::state::{self, LoopState, Malformed, StateFile};
use super::tasks::{self, Remaining, TaskList};
use super::transition::{LoopStep, ReviewOutcome, Round, StopAnswer, StopFacts, transition};
use crate::review_round::{FinishedReview, ReviewRequest};
use provost_core::config::settings;
use provost_core::opinion::{Fault, ReviewerWork, RoundRecord};
use provost_core::review_verdict::ReviewUsage;
use provost_core::reviewer::ReviewLogs;
use provost_core::text::shorten_name;
use provost_core::workspace::Lock;
use provost_core::workspace::Workspace;

/// The folder in Provost's own directory for reviewers' logs and for files that were moved out of a plan.
const FOLDER: &str = "reviews";

const CHANGED: &str = "state.json was changed while the review was made, so it does not count";

/// The outcome of one step.
#[derive(Debug, Default)]
pub struct Conclusion {
    /// `None`: there is no readable state.
    pub step: Option<LoopStep>,
    /// Why a review has no result.
    pub why: Option<String>,
    /// For the user.
    pub warnings: Vec<String>,
    /// Another process makes the review that is due, or has just made it.
    pub runs_elsewhere: bool,
    /// How long the reviewer took, if one was started.
    pub took: Option<Duration>,
    /// What the reviewer says it has used.
    pub usage: ReviewUsage,
}

impl Conclusion {
    /// The round for the journal; `None` if no reviewer was started.
    pub fn record_round(&self, plan: &Plan) -> Option<ReviewerWork> {
        let LoopStep { state, answer } = self.step.as_ref()?;
        let (round, verdict) = match answer {
            StopAnswer::Block { round, clean: true } | StopAnswer::Advance { round, .. } => (round, "clean"),
            StopAnswer::Block { round, clean: false } => (round, "issues"),
            StopAnswer::NoVerdict(round) => (round, "none"),
            _ => return None,
        };
        Some(ReviewerWork::Round(RoundRecord {
            plan: plan.id.clone(),
            review: round.review.phase(),
            task: state.current_task.clone().filter(|_| round.review == ReviewKind::Code),
            number: round.number,
            model: round.model.clone(),
            verdict,
            is_last: matches!(answer, StopAnswer::Advance { .. }),
            took: self.took?,
            usage: self.usage,
        }))
    }
}

/// The review loop of one plan during one event.
///
/// `state.json`, the ledger, `tasks.md` and the list of the plan's files are each read once, when they are first
/// needed, so that all steps of an event see the same. The state is read again in two places only, each under a lock,
/// because another process may have changed it: before a review starts (`try_lock_review`) and before its
/// verdict is written (`enter_result`).
pub struct ReviewLoop<'a> {
    pub plan: &'a Plan,
    pub workspace: &'a Workspace,
    state: OnceCell<Option<Result<StateFile, Malformed>>>,
    ledger: OnceCell<Ledger>,
    tasks: OnceCell<Option<String>>,
    violations: OnceCell<Vec<String>>,
}

impl<'a> ReviewLoop<'a> {
    pub fn new(plan: &'a Plan, workspace: &'a Workspace) -> Self {
        Self {
            plan,
            workspace,
            state: OnceCell::new(),
            ledger: OnceCell::new(),
            tasks: OnceCell::new(),
            violations: OnceCell::new(),
        }
    }

    /// Runs the review that is due, if any, and writes the new state. `show_progress` receives progress messages.
    pub fn run_due_review(&self, show_progress: &mut dyn FnMut(&str)) -> Result<Conclusion, Fault> {
        let mut conclusion = Conclusion::default();
        let (state, ledger) = (self.state()?, self.ledger());
        // The ground rules report what is wrong with a malformed file.
        let Some(Ok(file)) = state else {
            conclusion.warnings.extend(ledger.find_missing_state_warning(self.plan, state.is_none()));
            return Ok(conclusion);
        };
        let before = file.state();
        // A killed process may have left a temporary file and an unconfirmed entry.
        self.workspace.remove_leftovers(&self.state_file());
        ledger.mark_entered(&before, self.plan, self.workspace);
        conclusion.warnings.extend(warn_invalid_fields(file));
        conclusion.warnings.extend(ledger.find_warning(&before, self.plan));
        let mut found = self.read_facts(&before)?;
        let mut step = transition(&ledger.correct_state(&before), found);
        // INVARIANT: held until the verdict is in the state. Otherwise another process, which still sees the old
        // state, would make the same review again.
        let mut lock = None;
        if let StopAnswer::Review(round) = &step.answer {
            conclusion.warnings.extend(warn_unknown_model(&before.model, &round.model));
            let verdict = match self.try_lock_review(&before) {
                Ok(None) => return Ok(Conclusion { runs_elsewhere: true, ..conclusion }),
                Ok(only) => {
                    lock = only;
                    let began = Instant::now();
                    let finished = self.run_review(&before, round, show_progress);
                    conclusion.took = Some(began.elapsed());
                    finished.and_then(|finished| {
                        conclusion.usage = finished.usage;
                        finished.verdict
                    })
                }
                Err(fault) => Err(fault),
            };
            // A fault here would repeat at every stop, so the user must see it.
            found.verdict = Some(verdict.unwrap_or_else(|fault| {
                conclusion.why = Some(fault.to_string());
                ReviewOutcome::Missing
            }));
            step = transition(&ledger.correct_state(&before), found);
        }
        if step.state != before {
            let why = match self.enter_result(&before, found) {
                Ok(Some(entered)) => {
                    step = entered;
                    None
                }
                Ok(None) => Some(CHANGED.to_owned()),
                Err(fault) if found.verdict.is_some() => {
                    Some(format!("its verdict cannot be recorded: {fault}"))
                }
                Err(fault) => return Err(fault),
            };
            if why.is_some() {
                step = LoopStep { answer: drop_effect(step.answer), state: before };
                conclusion.why = why;
            }
        }
        drop(lock);
        conclusion.step = Some(step);
        Ok(conclusion)
    }

    /// The state of the plan; `None`: there is no `state.json`. Read it before the ledger, which other processes
    /// write first: a newer state beside an older entry would look like a false claim.
    pub(super) fn state(&self) -> Result<Option<&Result<StateFile, Malformed>>, Fault> {
        let read = || Ok(self.read_state()?.map(|bytes| StateFile::parse(&bytes)));
        read_once(&self.state, read).map(Option::as_ref)
    }

    pub(super) fn ledger(&self) -> &Ledger {
        self.ledger.get_or_init(|| Ledger::read(self.plan, self.workspace))
    }

    /// The ground rules that the plan's files break.
    pub(super) fn violations(&self) -> Result<&[String], Fault> {
        let find = || {
            let tasks = self.tasks_text()?;
            Ok(ground_rules::find_violations(&self.workspace.list_directory(&self.plan.path, "md")?, tasks))
        };
        read_once(&self.violations, find).map(Vec::as_slice)
    }

    /// The facts beside the state that decide what a stop does, before any review.
    pub fn read_facts(&self, state: &LoopState) -> Result<StopFacts, Fault> {
        let tasks = match state.next_phase.as_deref() {
            Some("code-review" | "post-code-review") => self.tasks()?,
            _ => None,
        };
        let left =
            tasks.map_or(Remaining::Unknown, |tasks| tasks.find_remaining(state.current_task.as_deref()));
        Ok(StopFacts { post_review: self.has_post_review(state), tasks: left, verdict: None })
    }

    /// The path of `state.json`. A link there is read but never written through: it could lead to a file that its
    /// author may not change.
    pub fn state_file(&self) -> PathBuf {
        self.plan.file(state::FILE)
    }

    /// Whether a process makes a review of this plan now.
    pub fn is_running(&self) -> bool {
        self.workspace.is_locked(FOLDER, &self.plan.path)
    }

    /// The newest log of a reviewer of this plan. Its name starts with the time in ms.
    pub fn find_newest_log(&self) -> Option<PathBuf> {
        self.workspace.list_state_files(FOLDER, &self.plan.path, "err").into_iter().next()
    }

    /// Reads `state.json` from the disk, even if this event has read it before.
    pub fn read_state(&self) -> Result<Option<Vec<u8>>, Fault> {
        self.workspace.read_bytes(&self.state_file(), state::LARGEST_FILE)
    }

    fn tasks_text(&self) -> Result<Option<&str>, Fault> {
        let read = || self.workspace.read_text(&self.plan.file("tasks.md"), state::LARGEST_FILE);
        read_once(&self.tasks, read).map(Option::as_deref)
    }

    fn tasks(&self) -> Result<Option<TaskList>, Fault> {
        Ok(self.tasks_text()?.map(tasks::parse_tasks))
    }

    /// Whether the agent has written its answer to the last review.
    fn has_post_review(&self, state: &LoopState) -> bool {
        let review = state.next_phase.as_deref().and_then(ReviewKind::from_post_phase);
        let subject = review.and_then(|review| review.subject(state.current_task.as_deref()).ok());
        match (subject, state.iteration) {
            (Some(subject), Some(number)) if number > 0 => {
                self.workspace.has_content(&self.plan.file(&file_names::review_name(subject, true, number)))
            }
            _ => false,
        }
    }

    /// Locks out other reviews of this plan; `None`: another process makes the review of this state, or has made it.
    /// A client may start two hooks for one stop: the second one finds the lock taken, or the state changed.
    fn try_lock_review(&self, before: &LoopState) -> Result<Option<Lock>, Fault> {
        let Some(lock) = self.workspace.try_lock(FOLDER, &self.plan.path)? else { return Ok(None) };
        // Read again, now that no other process can be making this review.
        let file = self.read_state()?.map(|bytes| StateFile::parse(&bytes));
        let is_unchanged = matches!(file, Some(Ok(file)) if is_same_place(before, &file.state()));
        Ok(is_unchanged.then_some(lock))
    }

    /// Starts the reviewer and waits for its verdict; an error says why the review has no result.
    fn run_review(
        &self,
        state: &LoopState,
        round: &Round,
        show_progress: &mut dyn FnMut(&str),
    ) -> Result<FinishedReview, Fault> {
        let Self { plan, workspace, .. } = self;
        let nothing = |why: &str| Err(Fault::Error(why.to_owned()));
        let subject = round.review.subject(state.current_task.as_deref()).map_err(Fault::Error)?;
        if !workspace.exists(&plan.file("plan.md")) {
            return nothing("there is no plan.md to review against");
        }
        let tasks = match round.review {
            ReviewKind::Tasks | ReviewKind::AllCode => {
                let tasks = self.tasks()?;
                let ids = tasks.iter().flat_map(TaskList::ids);
                let files: Vec<String> =
                    ids.filter_map(|id| file_names::document_name(FileSubject::Task(id))).collect();
                if files.is_empty() {
                    return nothing("tasks.md names no task");
                }
                files
            }
            ReviewKind::Plan | ReviewKind::Code => Vec::new(),
        };
        if let Some(missing) =
            file_names::document_name(subject).filter(|name| !workspace.exists(&plan.file(name)))
        {
            return nothing(&format!("there is no {missing} to review"));
        }
        let file = plan.file(&file_names::review_name(subject, false, round.number));
        // Files of an earlier cycle, or of a review without a result, must not be taken for the new review, and
        // the reviewer must not see them. The answer is moved first and moved back last: it never lies there alone.
        let post = plan.file(&file_names::review_name(subject, true, round.number));
        let aside = [(self.set_aside(&post)?, &post), (self.set_aside(&file)?, &file)];
        let task = state.current_task.as_deref();
        let instructions = ReviewerInstructions::write(round.review, workspace)?;
        let prompt = prompts::review_prompt(plan, round.review, task, &tasks, &file, &instructions);
        let limit = Duration::from_secs(workspace.config.number(settings::REVIEW_LOOP_SECONDS));
        let logs =
            ReviewLogs { out: self.new_own_file(&file, ".out")?, err: self.new_own_file(&file, ".err")? };
        show_progress(&format!(
            "{} of `{}`: round {} of at most {}, by {}, for at most {} s; its words go to {}",
            round.review.phase(),
            shorten_name(&plan.id),
            round.number,
            state.max_reviews,
            shorten_name(&round.model),
            limit.as_secs(),
            logs.err.display()
        ));
        let request = ReviewRequest {
            prompt: &prompt,
            model: &round.model,
            limit,
            directory: &plan.root,
            file: &file,
            logs,
            may_only_answer: false,
        };
        let finished = request.run(workspace);
        // If the reviewer wrote nothing, restore the old files.
        if finished.verdict.is_err() && !workspace.has_content(&file) {
            for (aside, place) in aside.into_iter().rev() {
                aside.map_or(Ok(()), |aside| workspace.move_file(&aside, place))?;
            }
        }
        Ok(finished)
    }

    /// Enters the result into the state as it is now; `None`: the state has moved on.
    fn enter_result(&self, before: &LoopState, found: StopFacts) -> Result<Option<LoopStep>, Fault> {
        const TRIES: u32 = 20;
        let (place, ledger) = (self.state_file(), self.ledger());
        let _lock = self.workspace.lock(&place)?;
        for _ in 0..TRIES {
            // Read again under the lock: a review takes minutes, and agents write to the state without a lock.
            let Some(bytes) = self.read_state()? else { return Ok(None) };
            let Ok(mut file) = StateFile::parse(&bytes) else { return Ok(None) };
            let now = file.state();
            if !is_same_place(before, &now) {
                return Ok(None);
            }
            let corrected = ledger.correct_state(&now);
            let step = transition(&corrected, found);
            if step.state == now {
                return Ok(Some(step));
            }
            file.set_changed_fields(&now, &step.state);
            // The ledger comes first: a state that claims more than the ledger does not count.
            Ledger::record_step(Some(&corrected), &step, self.plan, self.workspace);
            if self.workspace.replace_unless_changed(&place, Some(&bytes), file.text().as_bytes())? {
                Ledger::record_step(None, &step, self.plan, self.workspace);
                return Ok(Some(step));
            }
        }
        Err(Fault::Error(format!("{}: another process writes to it all the time", place.display())))
    }

    /// Moves a file from the plan's directory to Provost's own.
    fn set_aside(&self, file: &Path) -> Result<Option<PathBuf>, Fault> {
        if !self.workspace.exists(file) {
            return Ok(None);
        }
        let place = self.new_own_file(file, "")?;
        self.workspace.move_file(file, &place)?;
        Ok(Some(place))
    }

    /// A new path in Provost's own directory, named after a file of the plan.
    fn new_own_file(&self, file: &Path, ending: &str) -> Result<PathBuf, Fault> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        self.workspace.new_state_file(FOLDER, &self.plan.path, &format!("{name}{ending}"))
    }
}

/// The content of a cell, which is filled on first use.
fn read_once<T>(cell: &OnceCell<T>, read: impl FnOnce() -> Result<T, Fault>) -> Result<&T, Fault> {
    match cell.get() {
        Some(known) => Ok(known),
        None => read().map(|value| cell.get_or_init(|| value)),
    }
}

/// The answer after the new state could not be entered.
fn drop_effect(answer: StopAnswer) -> StopAnswer {
    match answer {
        StopAnswer::Block { round, .. } | StopAnswer::Advance { round, .. } => StopAnswer::NoVerdict(round),
        _ => StopAnswer::Nothing,
    }
}

/// Whether a state still is where a review began. `max_reviews` and `tdd` may change meanwhile.
fn is_same_place(before: &LoopState, now: &LoopState) -> bool {
    *now == LoopState { max_reviews: now.max_reviews, tdd: now.tdd, ..before.clone() }
}

fn warn_invalid_fields(file: &StateFile) -> Option<String> {
    let fields = file.find_invalid_fields();
    (!fields.is_empty()).then(|| {
        format!(
            "Warning: state.json has values that make no sense, so the defaults count: {}",
            fields.join(", ")
        )
    })
}

fn warn_unknown_model(named: &str, asked: &str) -> Option<String> {
    (!state::is_known_model(named)).then(|| {
        format!(
            "Warning: review_model `{}` is neither opus nor sonnet; `{}` reviews",
            shorten_name(named),
            shorten_name(asked)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_steps_of_an_event_see_the_same_files() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::for_tests(root.path());
        let plan = Plan { id: "p".into(), path: root.path().join("p"), root: root.path().into() };
        let write = |name: &str, text: &str| std::fs::write(plan.file(name), text).unwrap();
        std::fs::create_dir(&plan.path).unwrap();
        write("state.json", r#"{"phase": "new-plan"}"#);
        write("notes.md", "");
        let first = ReviewLoop::new(&plan, &workspace);
        let phase = |steps: &ReviewLoop<'_>| match steps.state() {
            Ok(Some(Ok(file))) => file.state().phase,
            _ => None,
        };
        let before = (phase(&first), first.violations().unwrap().to_vec());
        write("state.json", r#"{"phase": "complete"}"#);
        write("plan.md", "");
        assert_eq!((phase(&first), first.violations().unwrap().to_vec()), before);
        let second = ReviewLoop::new(&plan, &workspace);
        assert_eq!(phase(&second).as_deref(), Some("complete"));
        assert_eq!(second.violations().unwrap(), ["Invalid filename: notes.md"]);
    }
}

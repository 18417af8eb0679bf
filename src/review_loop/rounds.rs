//! One step of the loop on the disk: the state is read, a review is made if one is due, and the state
//! is written.
//!
//! A review takes minutes, and the state stays open to everybody meanwhile. So nothing is locked while
//! the reviewer works except against a second review of the same plan; what the reviewer said is
//! entered into the state as it is *then*, and only if that still stands where the review began. A
//! process that is killed at any point leaves the state of before.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::names::{self, Subject};
use super::phase::Review;
use super::plan::Plan;
use super::prompts;
use super::state::{self, State, StateFile};
use super::tasks::{self, Left, Tasks};
use super::transition::{Answer, Found, Round, Step, Verdict, transition};
use crate::config::settings;
use crate::decision::Fault;
use crate::files::Lock;
use crate::reviewer::{self, Judgement, Logs, Question, Silence};
use crate::text::one_line;
use crate::workspace::Workspace;

/// A table of tasks beyond this is not read.
const LARGEST_TASKS: u64 = 4 << 20;
/// The start of a review in which its verdict is looked for.
const LARGEST_REVIEW: u64 = 4 << 20;

/// Where the words of reviewers lie, and files that had to make room.
const FOLDER: &str = "reviews";

/// What a step came to.
#[derive(Debug)]
pub struct Conclusion {
    /// `None`: there is no state that can be read.
    pub step: Option<Step>,
    /// Why a review came to nothing.
    pub why: Option<String>,
    /// What the person should know.
    pub warnings: Vec<String>,
}

/// A plan, and the world that it is in.
pub struct Loop<'a> {
    pub plan: &'a Plan,
    pub workspace: &'a Workspace,
}

impl Loop<'_> {
    /// Goes one step. `tell` hears what happens as it happens.
    pub fn advance(&self, tell: &mut dyn FnMut(&str)) -> Result<Conclusion, Fault> {
        let Some(bytes) = self.read_state()? else { return Ok(Conclusion::without_state()) };
        // Rule 8 tells what is wrong with it.
        let Ok(file) = StateFile::read(&bytes) else { return Ok(Conclusion::without_state()) };
        let before = file.state();
        let mut warnings = misfits(&file);
        let mut found = self.found(&before)?;
        let step = transition(&before, found);
        // INVARIANT: held until the verdict stands in the state, so that no other process, which still
        // finds the state of before, makes the same review again.
        let mut only = None;
        match &step.answer {
            Answer::Ask(round) => {
                warnings.extend(unknown_model(&round.model));
                let attempt = self.attempt(&before, round, &mut only, tell);
                let verdict = match attempt.unwrap_or_else(|fault| Err(fault.to_string())) {
                    Ok(true) => Verdict::Clean,
                    Ok(false) => Verdict::Issues,
                    // Nothing is written: another process may be making this review right now, and its
                    // verdict counts only if the state stands where it began.
                    Err(why) => {
                        let step = transition(&before, Found { verdict: Some(Verdict::Missing), ..found });
                        return Ok(Conclusion { step: Some(step), why: Some(why), warnings });
                    }
                };
                found.verdict = Some(verdict);
            }
            Answer::Nothing => return Ok(Conclusion { step: Some(step), why: None, warnings }),
            _ => {}
        }
        let why = match self.settle(&before, found) {
            Ok(Some(step)) => return Ok(Conclusion { step: Some(step), why: None, warnings }),
            Ok(None) => "state.json was changed while the review was made, so it does not count".into(),
            // The review is paid for, and each stop would make it again: the person has to know.
            Err(fault) if found.verdict.is_some() => format!("its verdict cannot be recorded: {fault}"),
            Err(fault) => return Err(fault),
        };
        let answer = match step.answer {
            Answer::Ask(round) => Answer::Unanswered(round),
            _ => Answer::Nothing,
        };
        Ok(Conclusion { step: Some(Step { state: before, answer }), why: Some(why), warnings })
    }

    /// What a stop would find now, without a review.
    pub fn found(&self, state: &State) -> Result<Found, Fault> {
        let tasks = match state.next_phase.as_deref() {
            Some("code-review" | "post-code-review") => self.tasks()?,
            _ => None,
        };
        let left = tasks.map_or(Left::Unknown, |tasks| tasks.left(state.current_task.as_deref()));
        Ok(Found { post_review: self.has_post_review(state), tasks: left, verdict: None })
    }

    pub fn read_state(&self) -> Result<Option<Vec<u8>>, Fault> {
        self.workspace.read_bytes(&self.plan.file(state::FILE), state::LARGEST)
    }

    pub fn tasks(&self) -> Result<Option<Tasks>, Fault> {
        let text = self.workspace.read_text(&self.plan.file("tasks.md"), LARGEST_TASKS)?;
        Ok(text.map(|text| tasks::read(&text)))
    }

    /// Whether the review that the state waits for has been dealt with.
    fn has_post_review(&self, state: &State) -> bool {
        let review = state.next_phase.as_deref().and_then(Review::before_phase);
        let subject = review.and_then(|review| subject(review, state).ok());
        match (subject, state.iteration) {
            (Some(subject), Some(number)) if number > 0 => {
                self.workspace.has_content(&self.plan.file(&names::review(subject, true, number)))
            }
            _ => false,
        }
    }

    /// Has one review made: whether it is clean, or why there is none. `only` takes the lock.
    fn attempt(
        &self,
        state: &State,
        round: &Round,
        only: &mut Option<Lock>,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Result<bool, String>, Fault> {
        let Self { plan, workspace } = self;
        let subject = match subject(round.review, state) {
            Ok(subject) => subject,
            Err(why) => return Ok(Err(why)),
        };
        if !workspace.has_content(&plan.file("plan.md")) {
            return Ok(Err("there is no plan.md to review against".into()));
        }
        let tasks = match round.review {
            Review::Tasks | Review::AllCode => {
                let tasks = self.tasks()?;
                let ids: Vec<String> = tasks
                    .iter()
                    .flat_map(Tasks::ids)
                    .filter_map(|id| names::document(Subject::Task(id)))
                    .collect();
                if ids.is_empty() {
                    return Ok(Err("tasks.md names no task".into()));
                }
                ids
            }
            Review::Plan | Review::Code => Vec::new(),
        };
        *only = workspace.try_lock(FOLDER, &plan.path)?;
        if only.is_none() {
            return Ok(Err("another review of this plan is being made right now".into()));
        }
        // Before the lock was free, its holder may have made this very review.
        let now = self.read_state()?.and_then(|bytes| StateFile::read(&bytes).ok());
        if !now.is_some_and(|file| stands_where(state, &file.state())) {
            return Ok(Err("state.json was changed before the review began".into()));
        }
        let file = plan.file(&names::review(subject, false, round.number));
        // What lies at these places is of an earlier cycle, or of a review that came to nothing. It
        // must neither stand for the new one nor be seen by the reviewer.
        let post = plan.file(&names::review(subject, true, round.number));
        let aside = [(self.set_aside(&file)?, &file), (self.set_aside(&post)?, &post)];
        let prompt = prompts::review(plan, round.review, state.current_task.as_deref(), &tasks, &file);
        let limit = Duration::from_secs(workspace.config.number(settings::REVIEW_LOOP_SECONDS));
        let question = Question { prompt: &prompt, model: &round.model, limit, directory: &plan.root };
        let logs = self.logs(&file)?;
        tell(&format!(
            "{} of `{}`: round {} of at most {}, by {}, for at most {} s; its words go to {}",
            round.review.phase(),
            one_line(&plan.id),
            round.number,
            state.max_reviews,
            one_line(&round.model),
            limit.as_secs(),
            logs.err.display()
        ));
        let answer = reviewer::review(&question, &logs, &workspace.config, workspace.client);
        let clean = self.clean(answer, &file)?;
        // Where nothing new was written, all is as it was before.
        if clean.is_err() && !workspace.has_content(&file) {
            for (aside, place) in aside {
                aside.map_or(Ok(()), |aside| workspace.move_file(&aside, place))?;
            }
        }
        Ok(clean)
    }

    /// What an answer is worth: only a review that was written counts.
    fn clean(
        &self,
        answer: Result<Option<Judgement>, Silence>,
        file: &Path,
    ) -> Result<Result<bool, String>, Fault> {
        let judgement = match answer {
            Ok(judgement) => judgement,
            Err(silence) => return Ok(Err(silence.to_string())),
        };
        if !self.workspace.has_content(file) {
            return Ok(Err(format!("the reviewer wrote no review to {}", file.display())));
        }
        let judgement = match judgement {
            Some(judgement) => Some(judgement),
            None => Judgement::from_last_line(&self.workspace.read_start(file, LARGEST_REVIEW)?.0),
        };
        let clean = judgement.map(|judgement| judgement == Judgement::Pass);
        Ok(clean.ok_or_else(|| "the reviewer gave no verdict".into()))
    }

    /// Enters what was found into the state as it is now; `None`: it stands elsewhere by now.
    fn settle(&self, before: &State, found: Found) -> Result<Option<Step>, Fault> {
        const TRIES: u32 = 20;
        let place = self.plan.file(state::FILE);
        let _lock = self.workspace.lock(&place)?;
        for _ in 0..TRIES {
            let Some(bytes) = self.read_state()? else { return Ok(None) };
            let Ok(mut file) = StateFile::read(&bytes) else { return Ok(None) };
            let now = file.state();
            if !stands_where(before, &now) {
                return Ok(None);
            }
            let step = transition(&now, found);
            if step.state == now {
                return Ok(Some(step));
            }
            file.change(&now, &step.state);
            if self.workspace.replace_unless_changed(&place, Some(&bytes), file.text().as_bytes())? {
                return Ok(Some(step));
            }
        }
        Err(Fault::Error(format!("{}: somebody else writes to it without end", place.display())))
    }

    /// Moves a file out of the plan's directory, where only files of the plan may lie.
    fn set_aside(&self, file: &Path) -> Result<Option<PathBuf>, Fault> {
        if !self.workspace.exists(file) {
            return Ok(None);
        }
        let place = self.own_place(file, "")?;
        self.workspace.move_file(file, &place)?;
        Ok(Some(place))
    }

    fn logs(&self, file: &Path) -> Result<Logs, Fault> {
        Ok(Logs { out: self.own_place(file, ".out")?, err: self.own_place(file, ".err")? })
    }

    /// A new file of Provost's own that belongs to one of the plan's.
    fn own_place(&self, file: &Path, ending: &str) -> Result<PathBuf, Fault> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        self.workspace.new_own_file(FOLDER, &self.plan.path, &format!("{name}{ending}"))
    }
}

impl Conclusion {
    fn without_state() -> Self {
        Self { step: None, why: None, warnings: Vec::new() }
    }
}

/// What the files of a review are named after.
pub fn subject(review: Review, state: &State) -> Result<Subject<'_>, String> {
    let subject = review.subject(state.current_task.as_deref());
    match subject {
        None => Err("state.json names no current_task".into()),
        Some(Subject::Task(id)) if !names::is_id(id) => {
            Err(format!("current_task `{}` cannot be part of a file's name", one_line(id)))
        }
        Some(subject) => Ok(subject),
    }
}

/// Whether a state is still at the place where a review began. How many reviews there may be is free.
fn stands_where(before: &State, now: &State) -> bool {
    *now == State { max_reviews: now.max_reviews, tdd: now.tdd, ..before.clone() }
}

fn misfits(file: &StateFile) -> Vec<String> {
    let fields = file.misfits();
    if fields.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "Warning: state.json has values that make no sense, so the defaults count: {}",
        fields.join(", ")
    )]
}

fn unknown_model(model: &str) -> Option<String> {
    let known = [state::FIRST_MODEL, state::SECOND_MODEL].contains(&model);
    (!known).then(|| {
        format!(
            "Warning: review_model `{}` is neither opus nor sonnet; it is asked as it is",
            one_line(model)
        )
    })
}

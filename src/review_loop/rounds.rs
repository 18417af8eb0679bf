//! One step of the loop on the disk: the state is read, a review is made if one is due, and the state
//! is written.
//!
//! A review takes minutes, and the state stays open to everybody meanwhile. So nothing is locked while
//! the reviewer works except against a second review of the same plan; what the reviewer said is
//! entered into the state as it is *then*, and only if that still stands where the review began. A
//! process that is killed at any point leaves the state of before.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ledger::Ledger;
use super::names::{self, Subject};
use super::phase::Review;
use super::plan::Plan;
use super::prompts::{self, Instructions};
use super::state::{self, State, StateFile};
use super::tasks::{self, Left, Tasks};
use super::transition::{Answer, Found, Round, Step, Verdict, transition};
use crate::config::settings;
use crate::decision::Fault;
use crate::files::Lock;
use crate::reviewer::{self, Judgement, Logs, Question};
use crate::text::short;
use crate::workspace::Workspace;

/// A table of tasks beyond this is not read.
const LARGEST_TASKS: u64 = 4 << 20;
/// The start of a review in which its verdict is looked for.
pub const LARGEST_REVIEW: u64 = 4 << 20;

/// Where the words of reviewers lie, and files that had to make room.
const FOLDER: &str = "reviews";

const CHANGED: &str = "state.json was changed while the review was made, so it does not count";

/// What a step came to.
#[derive(Debug, Default)]
pub struct Conclusion {
    /// `None`: there is no state that can be read.
    pub step: Option<Step>,
    /// Why a review came to nothing.
    pub why: Option<String>,
    /// What the person should know.
    pub warnings: Vec<String>,
    /// The file as it was found.
    pub state_file: Option<Vec<u8>>,
    /// Another process makes the review that is due, or has just made it.
    pub elsewhere: bool,
}

/// What became of a review.
enum Attempt {
    Clean,
    Issues,
    /// It came to nothing, for this reason.
    Nothing(String),
    /// Another process makes it.
    Elsewhere,
}

/// A plan, and the world that it is in.
pub struct Loop<'a> {
    pub plan: &'a Plan,
    pub workspace: &'a Workspace,
}

impl Loop<'_> {
    /// Goes one step. `tell` hears what happens as it happens.
    pub fn advance(&self, tell: &mut dyn FnMut(&str)) -> Result<Conclusion, Fault> {
        let mut conclusion = Conclusion { state_file: self.read_state()?, ..Conclusion::default() };
        let file = conclusion.state_file.as_deref().map(StateFile::read);
        let ledger = Ledger::read(self.plan, self.workspace);
        // Rule 8 tells what is wrong with a file that cannot be read.
        let Some(Ok(file)) = file else {
            conclusion.warnings.extend(ledger.remarks_without_state(self.plan, file.is_none()));
            return Ok(conclusion);
        };
        let before = file.state();
        // A process may have been killed behind the step that made this state.
        self.workspace.tidy(&self.state_file());
        ledger.confirm(&before, self.plan, self.workspace);
        conclusion.warnings = misfits(&file);
        conclusion.warnings.extend(ledger.remarks(&before, self.plan));
        let mut found = self.found(&before)?;
        let mut step = transition(&ledger.corrected(&before), found);
        // INVARIANT: held until the verdict stands in the state, so that no other process, which still
        // finds the state of before, makes the same review again.
        let mut only = None;
        if let Answer::Ask(round) = &step.answer {
            conclusion.warnings.extend(unknown_model(&before.model, &round.model));
            let attempt = self.alone(&before, &mut only).and_then(|alone| {
                if alone { self.attempt(&before, round, tell) } else { Ok(Attempt::Elsewhere) }
            });
            // What cannot be made or recorded would be tried at each stop: the person has to know.
            found.verdict = Some(match attempt.unwrap_or_else(|fault| Attempt::Nothing(fault.to_string())) {
                Attempt::Clean => Verdict::Clean,
                Attempt::Issues => Verdict::Issues,
                Attempt::Nothing(why) => {
                    conclusion.why = Some(why);
                    Verdict::Missing
                }
                Attempt::Elsewhere => return Ok(Conclusion { elsewhere: true, ..conclusion }),
            });
            step = transition(&ledger.corrected(&before), found);
        }
        if step.state != before {
            let why = match self.settle(&before, found, &ledger) {
                Ok(Some(settled)) => {
                    step = settled;
                    None
                }
                Ok(None) => Some(CHANGED.to_owned()),
                Err(fault) if found.verdict.is_some() => {
                    Some(format!("its verdict cannot be recorded: {fault}"))
                }
                Err(fault) => return Err(fault),
            };
            if why.is_some() {
                step = Step { answer: without_effect(step.answer), state: before };
                conclusion.why = why;
            }
        }
        drop(only);
        conclusion.step = Some(step);
        Ok(conclusion)
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

    /// The file that holds the state. A link in its place is read, but never written through: it could
    /// lead to a file that nobody may change, and this program would change it for whoever made the link.
    pub fn state_file(&self) -> PathBuf {
        self.plan.file(state::FILE)
    }

    /// Whether somebody has a review of this plan made right now.
    pub fn is_running(&self) -> bool {
        self.workspace.is_locked(FOLDER, &self.plan.path)
    }

    /// What the reviewers of this plan said, the newest first. The name begins with the time in ms.
    pub fn newest_log(&self) -> Option<PathBuf> {
        self.workspace.own_files(FOLDER, &self.plan.path, "err").into_iter().next()
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

    /// Whether no other process makes the review of this state. A client may start two hooks for one stop:
    /// whoever comes second finds the lock taken, or the state no longer where it was.
    fn alone(&self, before: &State, only: &mut Option<Lock>) -> Result<bool, Fault> {
        *only = self.workspace.try_lock(FOLDER, &self.plan.path)?;
        Ok(only.is_some() && self.still_stands(before)?)
    }

    /// Has one review made.
    fn attempt(&self, state: &State, round: &Round, tell: &mut dyn FnMut(&str)) -> Result<Attempt, Fault> {
        let Self { plan, workspace } = self;
        let subject = match subject(round.review, state) {
            Ok(subject) => subject,
            Err(why) => return Ok(Attempt::Nothing(why)),
        };
        if !workspace.exists(&plan.file("plan.md")) {
            return Ok(Attempt::Nothing("there is no plan.md to review against".into()));
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
                    return Ok(Attempt::Nothing("tasks.md names no task".into()));
                }
                ids
            }
            Review::Plan | Review::Code => Vec::new(),
        };
        if let Some(missing) = names::document(subject).filter(|name| !workspace.exists(&plan.file(name))) {
            return Ok(Attempt::Nothing(format!("there is no {missing} to review")));
        }
        let file = plan.file(&names::review(subject, false, round.number));
        // What lies at these places is of an earlier cycle, or of a review that came to nothing. It
        // must neither stand for the new one nor be seen by the reviewer.
        // The answer goes first and comes back last, as it is never to lie there alone.
        let post = plan.file(&names::review(subject, true, round.number));
        let aside = [(self.set_aside(&post)?, &post), (self.set_aside(&file)?, &file)];
        let task = state.current_task.as_deref();
        let instructions = Instructions::write(round.review, workspace)?;
        let prompt = prompts::review(plan, round.review, task, &tasks, &file, &instructions);
        let limit = Duration::from_secs(workspace.config.number(settings::REVIEW_LOOP_SECONDS));
        let question = Question { prompt: &prompt, model: &round.model, limit, directory: &plan.root };
        let logs = self.logs(&file)?;
        tell(&format!(
            "{} of `{}`: round {} of at most {}, by {}, for at most {} s; its words go to {}",
            round.review.phase(),
            short(&plan.id),
            round.number,
            state.max_reviews,
            short(&round.model),
            limit.as_secs(),
            logs.err.display()
        ));
        reviewer::heed_interruptions();
        let answer = reviewer::review(&question, &logs, &workspace.config, workspace.client);
        let attempt = self.weighed(answer, &file)?;
        // Where nothing new was written, all is as it was before.
        if matches!(attempt, Attempt::Nothing(_)) && !workspace.has_content(&file) {
            for (aside, place) in aside.into_iter().rev() {
                aside.map_or(Ok(()), |aside| workspace.move_file(&aside, place))?;
            }
        }
        Ok(attempt)
    }

    /// What an answer is worth: only a review that was written counts.
    fn weighed(&self, answer: reviewer::Verdict, file: &Path) -> Result<Attempt, Fault> {
        let judgement = match answer {
            Ok(judgement) => judgement,
            Err(silence) => return Ok(Attempt::Nothing(silence.to_string())),
        };
        if !self.workspace.has_content(file) {
            return Ok(Attempt::Nothing(format!("the reviewer wrote no review to {}", file.display())));
        }
        let judgement = match judgement {
            Some(judgement) => Some(judgement),
            None => Judgement::from_last_line(&self.workspace.read_start(file, LARGEST_REVIEW)?.0),
        };
        Ok(match judgement {
            Some(Judgement::Pass) => Attempt::Clean,
            Some(Judgement::Fail) => Attempt::Issues,
            None => Attempt::Nothing("the reviewer gave no verdict".into()),
        })
    }

    /// Whether the state is where it was when it was read.
    fn still_stands(&self, before: &State) -> Result<bool, Fault> {
        let file = self.read_state()?.map(|bytes| StateFile::read(&bytes));
        Ok(matches!(file, Some(Ok(file)) if stands_where(before, &file.state())))
    }

    /// Enters what was found into the state as it is now; `None`: it stands elsewhere by now.
    fn settle(&self, before: &State, found: Found, ledger: &Ledger) -> Result<Option<Step>, Fault> {
        const TRIES: u32 = 20;
        let place = self.state_file();
        let _lock = self.workspace.lock(&place)?;
        for _ in 0..TRIES {
            let Some(bytes) = self.read_state()? else { return Ok(None) };
            let Ok(mut file) = StateFile::read(&bytes) else { return Ok(None) };
            let now = file.state();
            if !stands_where(before, &now) {
                return Ok(None);
            }
            let step = transition(&ledger.corrected(&now), found);
            if step.state == now {
                return Ok(Some(step));
            }
            file.change(&now, &step.state);
            // Known before it is written: a state that claims more is not believed.
            Ledger::keep(Some(&ledger.corrected(&now)), &step, self.plan, self.workspace);
            if self.workspace.replace_unless_changed(&place, Some(&bytes), file.text().as_bytes())? {
                Ledger::keep(None, &step, self.plan, self.workspace);
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

/// What is left of an answer whose state could not be entered.
fn without_effect(answer: Answer) -> Answer {
    match answer {
        Answer::Hold { round, .. } | Answer::Advance { round, .. } => Answer::Unanswered(round),
        _ => Answer::Nothing,
    }
}

/// What the files of a review are named after.
pub fn subject(review: Review, state: &State) -> Result<Subject<'_>, String> {
    let subject = review.subject(state.current_task.as_deref());
    match subject {
        None => Err("state.json names no current_task".into()),
        Some(Subject::Task(id)) if !names::is_id(id) => {
            Err(format!("current_task `{}` cannot be part of a file's name", short(id)))
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

fn unknown_model(named: &str, asked: &str) -> Option<String> {
    (!state::is_known_model(named)).then(|| {
        format!(
            "Warning: review_model `{}` is neither opus nor sonnet; `{}` reviews",
            short(named),
            short(asked)
        )
    })
}

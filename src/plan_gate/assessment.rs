//! The assessment of a plan, run by this program itself.
//!
//! The document's flow, step by step: goals, gaps block, leakage, critic, validator, verdict. Both are
//! reviewers of this program's own choice, so what they answer is witnessed by definition. A question
//! that gets no usable answer is asked once more; then nothing is recorded, and the plan stays
//! unassessed. A verdict on a plan that has changed meanwhile is nobody's.

use std::path::Path;
use std::time::{Duration, Instant};

use super::dossier::{Dossier, Gaps, Policy};
use super::entries::{self, Coverage};
use super::evidence::{self, Evidence};
use super::place::{Session, Written};
use super::seal::Key;
use super::store::{self, Store};
use super::verdict::Status;
use super::{floor, leaks, prompts, witness};
use crate::config::settings;
use crate::decision::Fault;
use crate::reviewer::{self, Question, Silence};
use crate::workspace::Workspace;

/// How many times a question is asked.
pub const TRIES: u32 = 2;
/// How many questions there are: the critic's and the validator's.
pub const QUESTIONS: u32 = 2;

/// What is assessed, for whom, and until when.
pub struct Assessment<'a> {
    pub plan: &'a Path,
    pub session: &'a Session,
    /// No question is waited for beyond this.
    pub end: Option<Instant>,
    pub workspace: &'a Workspace,
}

/// How an assessment ends.
pub struct Outcome {
    /// How many gaps were added to the plan's own.
    pub added: usize,
    pub result: Result<Judgement, Stop>,
}

/// A verdict that is recorded.
pub struct Judgement {
    pub passed: bool,
    /// What it means and how to go on, in the document's words.
    pub told: String,
}

/// Why there is no verdict. Nothing is recorded then.
#[derive(Debug, PartialEq, Eq)]
pub struct Stop {
    /// Sentences without the last full stop.
    pub why: String,
    /// `None`: the sentences say it.
    pub fix: Option<&'static str>,
}

/// A reviewer's part.
struct Part<'p> {
    name: &'static str,
    model: &'static str,
    prompt: &'p str,
}

impl Assessment<'_> {
    /// Runs all steps and tells each as it is done.
    pub fn run(&self, tell: &mut dyn FnMut(&str)) -> Result<Outcome, Fault> {
        reviewer::heed_interruptions();
        let store = store::of(self.workspace);
        let mut added = 0;
        let result = match self.complete(store, &mut added, tell)? {
            Ok(text) => self.judged(store, &text, tell)?,
            Err(stop) => Err(stop),
        };
        Ok(Outcome { added, result })
    }

    /// The plan's text, once it has all that it needs and every doubt is a gap.
    fn complete(
        &self,
        store: &dyn Store,
        added: &mut usize,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Result<Vec<u8>, Stop>, Fault> {
        let Some(mut text) = store::read(self.plan, self.workspace)? else { return Ok(Err(Stop::gone())) };
        let dossier = store.dossier(self.plan, &text, self.workspace)?;
        if !floor::has_goals(&dossier.document) {
            return Ok(Err(Stop::incomplete(floor::NO_GOALS.into())));
        }
        tell("goals: there");
        // Whose plan it is decides which gaps are its own, where they are kept by session.
        if dossier.session.as_deref() != Some(self.session.id()) {
            text = match self.kept(store)? {
                Some(text) => text,
                None => return Ok(Err(Stop::gone())),
            };
        }
        let dossier = store.dossier(self.plan, &text, self.workspace)?;
        let content = dossier.document.content().to_text();
        match &dossier.gaps {
            Gaps::Missing => return Ok(Err(Stop::incomplete(store.words().floor_gaps.into()))),
            Gaps::Broken(how) => {
                let why = format!("The gaps block is broken: {how}. {}", floor::NO_GAPS);
                return Ok(Err(Stop::incomplete(why)));
            }
            Gaps::Present(_) => tell(&format!("gaps: {}", dossier.gaps.entries().len())),
        }
        let found = leaks::found(&content, &self.workspace.config.words(settings::PLAN_GATE_PHRASES));
        let Some((gaps, count)) = leaks::as_gaps(&found, dossier.gaps.text()) else {
            tell(&format!("leakage: {}, nothing to add", counted(found.len(), "phrase")));
            return Ok(Ok(text));
        };
        if !store.add_gaps(self.plan, dossier.gaps_hash, &gaps, self.workspace)? {
            return Ok(Err(Stop::changed()));
        }
        *added = count;
        tell(&format!("leakage: {}, {} added", counted(found.len(), "phrase"), counted(count, "gap")));
        // Whatever becomes of the questions, the record is one of the gaps as they are now.
        Ok(self.kept(store)?.ok_or_else(Stop::gone))
    }

    /// The plan's text after its record was brought up to date.
    fn kept(&self, store: &dyn Store) -> Result<Option<Vec<u8>>, Fault> {
        let policy = Policy::of(self.workspace)?;
        store.keep(&Written::Plan(self.plan.to_owned()), self.session, &policy, self.workspace)?;
        store::read(self.plan, self.workspace)
    }

    /// What critic and validator say about this text, recorded.
    fn judged(
        &self,
        store: &dyn Store,
        text: &[u8],
        tell: &mut dyn FnMut(&str),
    ) -> Result<Result<Judgement, Stop>, Fault> {
        let dossier = store.dossier(self.plan, text, self.workspace)?;
        // Before anybody is asked: without a key no answer would count.
        let key = Key::obtain(self.workspace)?;
        let evidence = match self.criticised(&dossier, tell) {
            Ok(evidence) => evidence,
            Err(stop) => return Ok(Err(stop)),
        };
        Evidence::keep(&evidence.answer, dossier.plan_hash, &key, self.workspace)?;
        if !store::still_holds(self.plan, &dossier, self.workspace)? {
            return Ok(Err(Stop::changed()));
        }
        let coverage = match self.validated(&dossier, &evidence, tell) {
            Ok(coverage) => witness::checked(coverage, &dossier.gaps, &evidence),
            Err(stop) => return Ok(Err(stop)),
        };
        let passed = coverage.status == Status::Pass;
        let told = witness::record(coverage, &dossier, self.session, &key, store, self.plan, self.workspace)?;
        Ok(told.map(|told| Judgement { passed, told }).ok_or_else(Stop::changed))
    }

    fn criticised(&self, dossier: &Dossier<'_>, tell: &mut dyn FnMut(&str)) -> Result<Evidence, Stop> {
        let part = Part {
            name: "critic",
            model: settings::PLAN_GATE_CRITIC_MODEL,
            prompt: &prompts::critic_with_role(&dossier.document.content().to_text()),
        };
        let time = self.workspace.now();
        let evidence = self.asked(&part, tell, |answer| {
            let critique = evidence::critique(&answer)?;
            Ok(Evidence { critique, answer, time: time.clone() })
        })?;
        let (all, serious) = (evidence.critique.findings().len(), evidence.critique.serious().count());
        tell(&format!("critic: {}, {serious} of them to be covered", counted(all, "finding")));
        Ok(evidence)
    }

    fn validated(
        &self,
        dossier: &Dossier<'_>,
        evidence: &Evidence,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Coverage, Stop> {
        let part = Part {
            name: "validator",
            model: settings::PLAN_GATE_VALIDATOR_MODEL,
            prompt: &prompts::validator_with_role(dossier.gaps.text(), &evidence.answer),
        };
        let coverage =
            self.asked(&part, tell, |answer| entries::coverage(&answer).map_err(|why| why.to_string()))?;
        tell(&format!("validator: {}", coverage.status.word()));
        Ok(coverage)
    }

    /// Asks until an answer can be used, as often as it may be asked.
    fn asked<T>(
        &self,
        part: &Part<'_>,
        tell: &mut dyn FnMut(&str),
        read: impl Fn(String) -> Result<T, String>,
    ) -> Result<T, Stop> {
        let Self { workspace, .. } = self;
        let model = workspace.config.word(part.model);
        let mut whys: Vec<String> = Vec::new();
        for _ in 0..TRIES {
            let again = if whys.is_empty() { "" } else { " again" };
            tell(&format!("{}: asked{again} ({model})", part.name));
            let question = Question {
                prompt: part.prompt,
                model: &model,
                limit: self.time_left(),
                directory: &workspace.project,
            };
            let why = match reviewer::ask(&question, &workspace.config, workspace.client) {
                Ok(answer) => match read(answer) {
                    Ok(answer) => return Ok(answer),
                    Err(why) => why,
                },
                Err(Silence::Interrupted) => return Err(Stop::interrupted()),
                // It will not be there the second time either.
                Err(missing @ Silence::NotFound(_)) => {
                    return Err(Stop::unanswered(part, &missing.to_string()));
                }
                Err(silence) => silence.to_string(),
            };
            tell(&format!("{}: no answer that counts: {why}", part.name));
            whys.push(why);
        }
        whys.dedup();
        Err(Stop::unanswered(part, &format!("asked {TRIES} times: {}", whys.join("; then "))))
    }

    fn time_left(&self) -> Duration {
        let limit = reviewer::limit(&self.workspace.config);
        self.end.map_or(limit, |end| limit.min(end.saturating_duration_since(Instant::now())))
    }
}

impl Stop {
    fn gone() -> Self {
        Self { why: "The plan file is not there".into(), fix: Some("Write the plan, or name its file") }
    }

    fn incomplete(why: String) -> Self {
        Self { why, fix: None }
    }

    fn changed() -> Self {
        Self {
            why: "The plan has changed meanwhile, so no verdict is recorded".into(),
            fix: Some("Leave the plan as it is, and assess it again"),
        }
    }

    fn interrupted() -> Self {
        Self { why: "Interrupted, so no verdict is recorded".into(), fix: Some("Assess the plan again") }
    }

    fn unanswered(part: &Part<'_>, why: &str) -> Self {
        Self {
            why: format!("The {} gave no answer that counts, so no verdict is recorded: {why}", part.name),
            fix: Some(
                "See that the reviewer works (`reviewer.command` in provost.toml, or the client's own login), \
                 and assess the plan again",
            ),
        }
    }
}

fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

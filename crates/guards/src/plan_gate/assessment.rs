//! The assessment of a plan, run by Provost itself.
//!
//! The steps of the design document: goals, gaps block, leakage, critic, validator, verdict. Provost chooses
//! and asks both reviewers, so their answers count as witnessed. A question without a usable answer is asked
//! once more; then nothing is recorded, and the plan stays unassessed. A plan that changes during the
//! assessment gets no verdict.

use crate::prelude::*;
use std::path::Path;
use std::time::{Duration, Instant};

use super::entries::{self, Coverage};
use super::evidence::{self, Evidence};
use super::plan_files::{Session, WrittenFile};
use super::plan_record::PlanRecord;
use super::store::{self, Store};
use super::verdict::VerdictStatus;
use super::{Declined, leakage, prerequisites, prompts, split_fault, witness};
use crate::seal::SealKey;
use provost_core::config::settings;
use provost_core::opinion::{AssessmentRecord, Fault, ReviewerWork};
use provost_core::review_verdict::NoAnswer;
use provost_core::reviewer::{self, ReviewerTask};
use provost_core::workspace::Workspace;

/// How often a question is asked.
pub const TRIES: u32 = 2;
/// The critic's question and the validator's.
pub const QUESTIONS: u32 = 2;

pub struct Assessment<'a> {
    pub plan: &'a Path,
    pub session: &'a Session,
    /// Every question times out at this moment.
    pub end: Option<Instant>,
    pub workspace: &'a Workspace,
}

pub struct AssessmentOutcome {
    /// How many gaps were added to those of the plan.
    pub added: usize,
    pub result: Result<RecordedJudgement, AssessmentStop>,
    pub took: Duration,
}

pub struct RecordedJudgement {
    pub passed: bool,
    /// The message for the agent, in the design document's words.
    pub message: String,
}

/// Why there is no verdict. Nothing is recorded then.
#[derive(Debug, PartialEq, Eq)]
pub struct AssessmentStop {
    /// Sentences without the last full stop.
    pub why: String,
    /// `None`: the sentences name the fix.
    pub fix: Option<&'static str>,
}

type AssessmentStep<T> = Result<T, Declined<AssessmentStop>>;

impl AssessmentOutcome {
    /// The verdict for the journal; `None` if none was recorded.
    pub fn record_verdict(&self, plan: &Path) -> Option<ReviewerWork> {
        let judgement = self.result.as_ref().ok()?;
        Some(ReviewerWork::Assessment(AssessmentRecord {
            plan: plan.to_string_lossy().into_owned(),
            is_passed: judgement.passed,
            took: Some(self.took),
        }))
    }
}

impl Assessment<'_> {
    /// Runs all steps, and reports each when it is done.
    pub fn run(&self, report: &mut dyn FnMut(&str)) -> Result<AssessmentOutcome, Fault> {
        let began = Instant::now();
        let mut added = 0;
        let result = split_fault(self.judge(&mut added, report))?;
        Ok(AssessmentOutcome { added, result, took: began.elapsed() })
    }

    /// Records the verdict of critic and validator on the complete plan.
    fn judge(&self, added: &mut usize, report: &mut dyn FnMut(&str)) -> AssessmentStep<RecordedJudgement> {
        let store = store::configured_store(self.workspace);
        let text = self.complete_plan(store, added, report)?;
        let record = store.read_record(self.plan, &text, self.workspace)?;
        // First, because without a key no answer would count.
        let key = SealKey::load_or_create(self.workspace)?;
        let evidence = self.ask_critic(&record, report)?;
        evidence::save_critique(&evidence.answer, record.plan_hash, &key, self.workspace)?;
        if !store::has_same_texts(self.plan, &record, self.workspace)? {
            return Err(AssessmentStop::because_plan_changed());
        }
        let coverage = self.ask_validator(&record, &evidence, report)?;
        let coverage = witness::check_coverage(coverage, &record.gaps, &evidence);
        let passed = coverage.status == VerdictStatus::Pass;
        let message =
            witness::record_verdict(coverage, &record, self.session, &key, self.plan, self.workspace)?;
        Ok(RecordedJudgement { passed, message: message.ok_or_else(AssessmentStop::because_plan_changed)? })
    }

    /// Checks that the plan has goals and gaps, and adds leaked doubts to the gaps. Returns the plan's text.
    fn complete_plan(
        &self,
        store: &dyn Store,
        added: &mut usize,
        report: &mut dyn FnMut(&str),
    ) -> AssessmentStep<Vec<u8>> {
        let mut text = self.read_plan()?;
        let record = store.read_record(self.plan, &text, self.workspace)?;
        if !prerequisites::has_goals(&record.document) {
            return Err(AssessmentStop::because_incomplete(prerequisites::NO_GOALS.into()));
        }
        report("goals: there");
        // The sidecar store keeps gaps by session, so the plan must belong to this session first.
        if record.session.as_deref() != Some(self.session.id()) {
            text = self.update_record(store)?;
        }
        let record = store.read_record(self.plan, &text, self.workspace)?;
        if let Some(why) = prerequisites::describe_missing_gaps(&record.gaps, store.messages()) {
            return Err(AssessmentStop::because_incomplete(why));
        }
        report(&format!("gaps: {}", record.gaps.entries().len()));
        let content = record.document.content().to_text();
        let leaks =
            leakage::find_leaks(&content, &self.workspace.config.words(settings::PLAN_GATE_GAP_PHRASES));
        let phrases = count_noun(leaks.len(), "phrase");
        let Some((gaps, count)) = leakage::write_gaps(&leaks, record.gaps.text()) else {
            report(&format!("leakage: {phrases}, nothing to add"));
            return Ok(text);
        };
        if !store.add_gaps(self.plan, record.gaps_hash, &gaps, self.workspace)? {
            return Err(AssessmentStop::because_plan_changed());
        }
        *added = count;
        report(&format!("leakage: {phrases}, {} added", count_noun(count, "gap")));
        // The record must match the new gaps even if no question gets an answer.
        self.update_record(store)
    }

    fn read_plan(&self) -> AssessmentStep<Vec<u8>> {
        store::read_plan(self.plan, self.workspace)?.ok_or_else(|| {
            AssessmentStop::because("The plan file is not there", "Write the plan, or name its file")
        })
    }

    /// Updates the record of the plan. Returns the plan's text.
    fn update_record(&self, store: &dyn Store) -> AssessmentStep<Vec<u8>> {
        store.update(&WrittenFile::Plan(self.plan.to_owned()), self.session, self.workspace)?;
        self.read_plan()
    }

    fn ask_critic(&self, record: &PlanRecord<'_>, report: &mut dyn FnMut(&str)) -> AssessmentStep<Evidence> {
        let prompt = prompts::write_full_critic_prompt(&record.document.content().to_text());
        let time = self.workspace.format_now();
        let evidence = self.ask("critic", settings::PLAN_GATE_CRITIC_MODEL, &prompt, report, |answer| {
            let critique = evidence::read_critique(&answer)?;
            Ok(Evidence { critique, answer, time: time.clone() })
        })?;
        report(&format!("critic: {}", evidence.critique.count_findings()));
        Ok(evidence)
    }

    fn ask_validator(
        &self,
        record: &PlanRecord<'_>,
        evidence: &Evidence,
        report: &mut dyn FnMut(&str),
    ) -> AssessmentStep<Coverage> {
        let prompt = prompts::write_full_validator_prompt(record.gaps.text(), &evidence.answer);
        let coverage =
            self.ask("validator", settings::PLAN_GATE_VALIDATOR_MODEL, &prompt, report, |answer| {
                Ok(entries::read_coverage(&answer)?)
            })?;
        report(&format!("validator: {}", coverage.status.word()));
        Ok(coverage)
    }

    /// Asks up to [`TRIES`] times, until `parse` accepts an answer.
    fn ask<T>(
        &self,
        role: &str,
        model_setting: &str,
        prompt: &str,
        report: &mut dyn FnMut(&str),
        parse: impl Fn(String) -> Result<T, String>,
    ) -> AssessmentStep<T> {
        let model = self.workspace.config.word(model_setting);
        let directory = &self.workspace.project;
        let mut whys: Vec<String> = Vec::new();
        for _ in 0..TRIES {
            let again = if whys.is_empty() { "" } else { " again" };
            report(&format!("{role}: asked{again} ({model})"));
            let question = ReviewerTask { prompt, model: &model, limit: self.time_left(), directory };
            let why = match reviewer::ask_reviewer(&question, self.workspace) {
                Ok(answer) => match parse(answer) {
                    Ok(answer) => return Ok(answer),
                    Err(why) => why,
                },
                Err(NoAnswer::Interrupted) => {
                    return Err(AssessmentStop::because(
                        "Interrupted, so no verdict is recorded",
                        "Assess the plan again",
                    ));
                }
                // A second try would not find it either.
                Err(missing @ NoAnswer::NotFound(_)) => {
                    return Err(AssessmentStop::because_unanswered(role, &missing.to_string()));
                }
                Err(silence) => silence.to_string(),
            };
            report(&format!("{role}: no answer that counts: {why}"));
            whys.push(why);
        }
        whys.dedup();
        Err(AssessmentStop::because_unanswered(
            role,
            &format!("asked {TRIES} times: {}", whys.join("; then ")),
        ))
    }

    fn time_left(&self) -> Duration {
        let limit = reviewer::configured_limit(&self.workspace.config);
        self.end.map_or(limit, |end| limit.min(end.saturating_duration_since(Instant::now())))
    }
}

impl AssessmentStop {
    fn because(why: impl Into<String>, fix: &'static str) -> Declined<Self> {
        Declined::Reason(Self { why: why.into(), fix: Some(fix) })
    }

    fn because_incomplete(why: String) -> Declined<Self> {
        Declined::Reason(Self { why, fix: None })
    }

    fn because_plan_changed() -> Declined<Self> {
        Self::because(
            "The plan has changed meanwhile, so no verdict is recorded",
            "Leave the plan as it is, and assess it again",
        )
    }

    fn because_unanswered(role: &str, why: &str) -> Declined<Self> {
        Self::because(
            format!("The {role} gave no answer that counts, so no verdict is recorded: {why}"),
            "Check that the reviewer works (`reviewer.command` in provost.toml, or the client's own login), and \
             assess the plan again",
        )
    }
}

/// A number with its noun: "1 gap", "2 gaps".
pub(super) fn count_noun(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

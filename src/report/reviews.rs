//! What reviewers did: the rounds of each review, and the assessments of plans.
//!
//! A line of the journal has them as fields. Older versions wrote rounds as evidence only, in fixed words.

use std::collections::BTreeMap;

use serde_json::Value;

use super::model::{AssessedPlan, ReviewCycle, ReviewRound};
use crate::journal::{GuardRecord, JournalRecord};
use crate::text::truncate_utf16;

/// A hostile journal can contain any number of rounds.
const MOST_ROUNDS: usize = 5_000;
const MOST_PLANS: usize = 1_000;
const LONGEST_NAME: usize = 300;

#[derive(Default)]
pub struct ReviewerWork {
    cycles: Vec<ReviewCycle>,
    rounds: usize,
    /// By project and plan.
    plans: BTreeMap<(String, String), AssessedPlan>,
}

/// What one line says about a round.
struct Round {
    plan: String,
    review: String,
    task: Option<String>,
    is_last: bool,
    #[allow(clippy::struct_field_names)]
    round: ReviewRound,
}

impl ReviewerWork {
    /// Adds what a record says about reviewers.
    pub fn add(&mut self, project: &str, record: &JournalRecord) {
        for guard in record.guards() {
            if let Some(round) = read_round(record, &guard).filter(|_| self.rounds < MOST_ROUNDS) {
                self.rounds += 1;
                self.add_round(project, round);
            }
            self.add_assessment(project, record, guard.value("assessment"));
        }
    }

    fn add_round(&mut self, project: &str, found: Round) {
        let Round { plan, review, task, is_last, round } = found;
        let of_review = |cycle: &&mut ReviewCycle| {
            cycle.project == project && cycle.plan == plan && cycle.review == review && cycle.task == task
        };
        let known = self.cycles.iter_mut().rev().find(of_review).filter(|cycle| continues(cycle, &round));
        let cycle = if let Some(cycle) = known {
            cycle
        } else {
            self.cycles.push(ReviewCycle {
                project: project.to_owned(),
                plan,
                review,
                task,
                ..ReviewCycle::default()
            });
            let Some(cycle) = self.cycles.last_mut() else { return };
            cycle
        };
        cycle.is_clean = is_last;
        cycle.micros = cycle.micros.saturating_add(round.micros.unwrap_or(0));
        let model = round.model.iter().filter(|model| !cycle.models.contains(model));
        let models: Vec<String> = model.cloned().collect();
        cycle.models.extend(models);
        cycle.rounds.push(round);
    }

    fn add_assessment(&mut self, project: &str, record: &JournalRecord, value: &Value) {
        let (Some(plan), Some(is_passed)) = (value["plan"].as_str(), value["passed"].as_bool()) else {
            return;
        };
        let key = (project.to_owned(), shorten(plan));
        if self.plans.len() >= MOST_PLANS && !self.plans.contains_key(&key) {
            return;
        }
        let assessed = self.plans.entry(key).or_default();
        assessed.assessments += 1;
        assessed.passed += u64::from(is_passed);
        if record.text("time") >= assessed.last.as_str() {
            assessed.is_passed = is_passed;
            record.text("time").clone_into(&mut assessed.last);
        }
    }

    /// The cycles and the assessed plans, the last ones first.
    pub fn finish(self) -> (Vec<ReviewCycle>, Vec<AssessedPlan>) {
        let mut cycles = self.cycles;
        let last = |cycle: &ReviewCycle| cycle.rounds.last().map(|round| round.time.clone());
        cycles.sort_by_key(|cycle| std::cmp::Reverse(last(cycle)));
        let plans = self.plans.into_iter();
        let mut plans: Vec<AssessedPlan> =
            plans.map(|((project, plan), assessed)| AssessedPlan { project, plan, ..assessed }).collect();
        plans.sort_by(|a, b| b.last.cmp(&a.last).then(a.plan.cmp(&b.plan)));
        (cycles, plans)
    }
}

/// Whether a round belongs to a cycle. A round without a verdict is repeated with its number.
fn continues(cycle: &ReviewCycle, round: &ReviewRound) -> bool {
    !cycle.is_clean
        && cycle.rounds.last().is_none_or(|last| {
            round.number > last.number || (round.number == last.number && last.verdict == "no verdict")
        })
}

fn read_round(record: &JournalRecord, guard: &GuardRecord<'_>) -> Option<Round> {
    let value = guard.value("review");
    let (id, time) = (shorten(record.text("id")), shorten(record.text("time")));
    let Some(review) = value["review"].as_str() else {
        return read_evidence(guard)
            .map(|found| Round { round: ReviewRound { id, time, ..found.round }, ..found });
    };
    let verdict = match value["verdict"].as_str() {
        Some("clean") => "clean",
        Some("issues") => "findings",
        _ => "no verdict",
    };
    Some(Round {
        plan: shorten(value["plan"].as_str()?),
        review: shorten(review),
        task: value["task"].as_str().map(shorten),
        is_last: value["is_last"].as_bool().unwrap_or(false),
        round: ReviewRound {
            id,
            time,
            number: value["round"].as_u64()?,
            verdict: verdict.into(),
            model: value["model"].as_str().map(shorten),
            micros: value["micros"].as_u64(),
        },
    })
}

/// Reads the evidence of older versions: `plan login`, and `code-review, round 2 by NAME: clean, and enough; next is NEXT`.
fn read_evidence(guard: &GuardRecord<'_>) -> Option<Round> {
    if guard.text("guard") != "review-loop" {
        return None;
    }
    let plan = guard.evidence().find_map(|text| text.strip_prefix("plan "))?;
    let (review, number, model, result) = guard.evidence().find_map(|text| {
        let (review, rest) = text.split_once(", round ")?;
        let (number, rest) = rest.split_once(" by ")?;
        let (model, result) = rest.rsplit_once(": ")?;
        Some((review, number.parse().ok()?, model, result))
    })?;
    let verdict = match result {
        "issues" => "findings",
        "came to nothing" => "no verdict",
        result if result.starts_with("clean") => "clean",
        _ => return None,
    };
    Some(Round {
        plan: shorten(plan),
        review: shorten(review),
        task: None,
        is_last: result.starts_with("clean, and enough"),
        round: ReviewRound {
            number,
            verdict: verdict.into(),
            model: Some(shorten(model)),
            ..ReviewRound::default()
        },
    })
}

fn shorten(text: &str) -> String {
    truncate_utf16(text, LONGEST_NAME).into_owned()
}

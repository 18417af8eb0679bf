//! `need = { review = … }`: at the end of a turn, fresh reviewers read what the session has changed.
//!
//! The session's record says what is due: which changes no clean reviews cover, and which reviews there were. One process
//! of a session reviews at a time; another one that answers the same event waits for it and gives the same answer. After
//! findings, the turn is stopped and the agent reads them. A review that came to nothing is neither a pass nor a finding:
//! the turn ends, the user is told, and the next stop tries again.

use crate::prelude::*;
use std::path::Path;
use std::time::{Duration, Instant};

use super::changes::{counts_change, find_counted};
use super::need::{describe_change, read_evidence};
use super::record;
use super::scene::Scene;
use crate::change_review::round::{ChangeReview, choose_model, describe_cost, describe_size, read_findings};
use provost_core::event::Event;
use provost_core::opinion::{Denial, Fault, Opinion, Verdict};
use provost_core::overrides;
use provost_core::places::fnv1a;
use provost_core::review_verdict::{ReviewOutcome, ReviewUsage};
use provost_core::rules::evidence::{ChangedPath, EvidenceRecord, SessionEvidence};
use provost_core::rules::review_evidence::{ReviewProgress, ReviewRecord};
use provost_core::rules::{ReviewNeed, Rule, SKIP_REVIEWS_PROMPT};
use provost_core::text::{make_one_line, sanitize_for_model};
use provost_core::workspace::Workspace;
use provost_core::workspace::change_diff::ChangeDiff;

/// The folder of the locks in the state directory.
const FOLDER: &str = "changes";
/// What git may take beside the reviews.
const OVERHEAD: Duration = Duration::from_secs(5);
/// How many files that are left alone the journal names.
const MOST_LEFT_OUT: usize = 5;
/// A review that has less time left is not started.
const LEAST_TIME: Duration = Duration::from_secs(1);
const ABOUT: &str = "what a coding agent has changed";

/// Makes the reviews that are due. Each round is an opinion of its own; the last one says whether the turn may end.
pub(super) fn judge_reviews(
    rule: &Rule,
    need: &ReviewNeed,
    evidence: &SessionEvidence,
    scene: &Scene<'_>,
) -> Result<Vec<Opinion>, Fault> {
    let workspace = scene.workspace;
    let session = record::session(scene.event);
    if workspace.is_past() {
        workspace.report_unjudged(rule.full_name());
        return Ok(Vec::new());
    }
    let Some(change) = find_due_change(rule, evidence, scene) else { return Ok(Vec::new()) };
    if evidence.are_reviews_skipped() {
        return Ok(vec![note("the user has ended the reviews of this turn")]);
    }
    if rule.is_watched || overrides::has_permission(&rule.full_name(), scene.event, workspace) {
        return Ok(vec![deny_unreviewed(rule, &change)]);
    }
    let end = Instant::now() + find_time_limit(need) + OVERHEAD;
    let lock = match workspace.wait_for_lock(FOLDER, Path::new(session), end - Instant::now()) {
        Ok(Some(lock)) => lock,
        Ok(None) => return Ok(vec![note("another process makes the review that is due")]),
        Err(fault) => return Ok(vec![tell_missing(rule, "", &fault.to_string())]),
    };
    let mut reviews = RuleReviews { rule, need, scene, session, end, opinions: Vec::new() };
    let judged = reviews.run();
    drop(lock);
    let mut opinions = reviews.opinions;
    // A fault would repeat at every stop, so it must not hold the agent, and the user must see it.
    opinions.push(judged.unwrap_or_else(|fault| tell_missing(rule, "", &fault.to_string())));
    Ok(opinions)
}

/// How long all reviews of one stop may take.
pub(super) fn find_time_limit(need: &ReviewNeed) -> Duration {
    Duration::from_secs(need.seconds.saturating_mul(need.clean))
}

/// Why reviews are due: a change, or reviews that are not over.
fn find_due_change(rule: &Rule, evidence: &SessionEvidence, scene: &Scene<'_>) -> Option<String> {
    let progress = evidence.review_progress(&rule.name);
    let find = |changes: &[&ChangedPath]| {
        let found = find_counted(&rule.subject.changed, changes.iter().copied(), scene);
        found.map(|change| describe_change(change, scene))
    };
    let changes = if progress.reviews.is_empty() { &progress.new_changes } else { &progress.changes };
    find(changes)
}

/// The reviews of one stop.
struct RuleReviews<'a, 's> {
    rule: &'a Rule,
    need: &'a ReviewNeed,
    scene: &'a Scene<'s>,
    session: &'a str,
    end: Instant,
    /// What the rounds before the last one came to.
    opinions: Vec<Opinion>,
}

impl RuleReviews<'_, '_> {
    /// Reviews until the changes are clean, or something is found.
    fn run(&mut self) -> Result<Opinion, Fault> {
        let Self { rule, need, scene, .. } = *self;
        loop {
            let evidence = read_evidence(scene)?;
            let progress = evidence.review_progress(&rule.name);
            let has_work = |changes: &[&ChangedPath]| {
                find_counted(&rule.subject.changed, changes.iter().copied(), scene).is_some()
            };
            if progress.reviews.is_empty() && !has_work(&progress.new_changes) {
                return Ok(note("another process has made the review that was due"));
            }
            if let Some(opinion) = self.repeat_answer(&progress) {
                return Ok(opinion);
            }
            let accept = |path: &Path| counts_change(&rule.subject.changed, path, scene);
            let diff =
                scene.workspace.diff_session_changes(self.session, &progress.changes, need.clean, &accept)?;
            if diff.files.is_empty() || progress.reviews.is_empty() && diff.count_lines() < need.least_lines {
                return self.leave_alone(&diff);
            }
            let reviews = progress.count_reviews();
            if progress.count_clean(&diff.content) >= need.clean {
                return self.settle(&diff, &progress);
            }
            if reviews >= need.max_reviews {
                return self.end_at_limit(&progress);
            }
            if self.opinions.len() as u64 >= need.clean {
                return Ok(tell_missing(rule, "", "the files changed while they were reviewed"));
            }
            if let Some(last) = self.review(&diff, reviews, &progress)? {
                return Ok(last);
            }
        }
    }

    /// The answer that another process has just given to the same event.
    fn repeat_answer(&self, progress: &ReviewProgress<'_>) -> Option<Opinion> {
        let (occasion, entry) = self.identify_event();
        let last = progress.last().filter(|last| last.occasion == occasion && last.entry != entry)?;
        match last.outcome {
            ReviewOutcome::Issues => Some(self.stop_turn(last, progress.count_reviews())),
            ReviewOutcome::Missing => Some(note("another process has tried the review that is due")),
            ReviewOutcome::Clean => None,
        }
    }

    fn identify_event(&self) -> (u64, u64) {
        let occasion = fnv1a(self.scene.event.shared_id().unwrap_or_default().as_bytes());
        (occasion, self.scene.workspace.identify_hook_entry())
    }

    /// Makes one review. `None`: it was clean.
    fn review(
        &mut self,
        diff: &ChangeDiff,
        before: u64,
        progress: &ReviewProgress<'_>,
    ) -> Result<Option<Opinion>, Fault> {
        let Self { rule, need, scene, .. } = *self;
        let left = self.end.saturating_duration_since(Instant::now());
        if left < LEAST_TIME {
            return Ok(Some(tell_missing(rule, "", "no time is left for the next review")));
        }
        let (number, model) = (before + 1, choose_model(before));
        let limit = left.min(Duration::from_secs(need.seconds));
        let review = ChangeReview { diff, about: ABOUT, model, limit, number };
        let done = review.run(scene.workspace)?;
        let (occasion, entry) = self.identify_event();
        let record = ReviewRecord {
            rule: rule.name.clone(),
            outcome: done.outcome(),
            content: diff.content.clone(),
            model: model.to_owned(),
            file: done.file.to_string_lossy().into_owned(),
            seconds: done.finished.took.as_secs(),
            usage: done.finished.usage,
            occasion,
            entry,
        };
        self.append(EvidenceRecord::Reviewed(Box::new(record.clone())))?;
        let is_last =
            record.outcome == ReviewOutcome::Clean && progress.count_clean(&diff.content) + 1 >= need.clean;
        let work = done.record(&rule.full_name(), &review, is_last);
        let evidence = vec![
            describe_size(diff),
            format!("review {number} of at most {} by {model}: {}", need.max_reviews, record.outcome.name()),
        ];
        let opinion = match &done.finished.verdict {
            Ok(ReviewOutcome::Clean) => {
                let round = Opinion { evidence, reviewer_work: Some(work), ..Opinion::default() };
                self.opinions.push(round);
                return Ok(None);
            }
            Ok(_) => {
                let cost = describe_cost(1, record.seconds, record.usage);
                let text = format!(
                    "[provost] {}: review {number} of at most {} by {model} found issues ({}; {cost}). To end the reviews of \
                     this turn: type `{SKIP_REVIEWS_PROMPT}`. Findings: {}",
                    rule.full_name(),
                    need.max_reviews,
                    describe_size(diff),
                    make_one_line(&record.file)
                );
                Opinion { to_user: Some(text), ..self.stop_turn(&record, number) }
            }
            Err(fault) => tell_missing(rule, &format!(" by {model}"), &fault.to_string()),
        };
        let evidence = [evidence, opinion.evidence.clone()].concat();
        Ok(Some(Opinion { evidence, reviewer_work: Some(work), ..opinion }))
    }

    /// Stops the turn, because a review has found something.
    fn stop_turn(&self, review: &ReviewRecord, number: u64) -> Opinion {
        let name = self.rule.full_name();
        let findings = read_findings(Path::new(&review.file), self.scene.workspace);
        let own_fix = self.rule.fix.as_ref().map(|fix| format!("{fix}; ")).unwrap_or_default();
        let denial = Denial {
            what: format!("the turn cannot end yet ({name})"),
            why: format!("review {number} of at most {} found issues", self.need.max_reviews),
            fix: format!(
                "{own_fix}read the findings below, fix them, and end your turn again: the next review starts by itself. They are \
                 also in {}:\n{findings}\n[provost] end of the findings",
                make_one_line(&review.file)
            ),
            document_wording: None,
        };
        Opinion { verdict: Verdict::Deny(denial), ..Opinion::default() }
    }

    /// Ends the reviews: they are clean.
    fn settle(&self, diff: &ChangeDiff, progress: &ReviewProgress<'_>) -> Result<Opinion, Fault> {
        self.scene.workspace.remember_clean_diff(self.session, diff, self.need.clean)?;
        self.append(EvidenceRecord::Settled { rule: self.rule.name.clone() })?;
        let times =
            if self.need.clean == 1 { "once".into() } else { format!("{} times in a row", self.need.clean) };
        let text = format!(
            "[provost] {}: clean {times} ({}; {}).",
            self.rule.full_name(),
            describe_size(diff),
            sum_cost(progress, true)
        );
        Ok(Opinion { to_user: Some(text), evidence: vec!["clean".into()], ..Opinion::default() })
    }

    fn end_at_limit(&self, progress: &ReviewProgress<'_>) -> Result<Opinion, Fault> {
        self.append(EvidenceRecord::Looked { rule: self.rule.name.clone() })?;
        let last = progress.last().map(|last| make_one_line(&last.file)).unwrap_or_default();
        let text = format!(
            "[provost] {}: the turn ended after {} reviews that were not clean {} times in a row ({}). To fix: read the last \
             one, {last}; the next change starts new reviews.",
            self.rule.full_name(),
            progress.count_reviews(),
            self.need.clean,
            sum_cost(progress, false)
        );
        Ok(Opinion { to_user: Some(text), evidence: vec!["no more reviews".into()], ..Opinion::default() })
    }

    /// Waits for the next change: there is nothing to review, or too little.
    fn leave_alone(&self, diff: &ChangeDiff) -> Result<Opinion, Fault> {
        self.append(EvidenceRecord::Looked { rule: self.rule.name.clone() })?;
        let mut opinion = note(&format!("not reviewed: {}", describe_size(diff)));
        let left_out = diff.left_out.iter().take(MOST_LEFT_OUT);
        opinion
            .evidence
            .extend(left_out.map(|file| format!("left alone: {} ({})", make_one_line(&file.path), file.why)));
        Ok(opinion)
    }

    fn append(&self, record: EvidenceRecord) -> Result<(), Fault> {
        self.scene.workspace.append_evidence(self.session, &[record])
    }
}

/// Tells the user that no review follows in this turn, if the prompt says so.
pub(super) fn answer_skip_prompt(event: &Event, workspace: &Workspace) -> Opinion {
    let mut rules = workspace.config.rules.rules.iter();
    if !record::asks_to_skip_reviews(event) || !rules.any(|rule| rule.needed_reviews().is_some()) {
        return Opinion::unconcerned();
    }
    let text = "[provost] no review is made until the user's next prompt. What changes is reviewed after it.";
    Opinion {
        to_user: Some(text.into()),
        to_model: Some(text.into()),
        evidence: vec!["the user has ended the reviews of this turn".into()],
        ..Opinion::default()
    }
}

fn sum_cost(progress: &ReviewProgress<'_>, is_counted: bool) -> String {
    let usage = progress.reviews.iter().map(|review| review.usage);
    let usage = usage.fold(ReviewUsage::default(), ReviewUsage::plus);
    let seconds = progress.reviews.iter().map(|review| review.seconds).sum();
    describe_cost(if is_counted { progress.reviews.len() as u64 } else { 1 }, seconds, usage)
}

fn note(text: &str) -> Opinion {
    Opinion { evidence: vec![text.to_owned()], ..Opinion::default() }
}

/// Denies without a review: the rule is only watched, or the user has allowed this denial.
fn deny_unreviewed(rule: &Rule, change: &str) -> Opinion {
    let denial = Denial {
        what: format!("the turn cannot end yet ({})", rule.full_name()),
        why: format!("{change} changed and was not reviewed"),
        fix: "end your turn again, so that Provost reviews it".into(),
        document_wording: None,
    };
    Opinion { verdict: Verdict::Deny(denial), ..Opinion::default() }
}

/// Lets the turn end without a verdict, and tells the user.
fn tell_missing(rule: &Rule, by: &str, why: &str) -> Opinion {
    let why = sanitize_for_model(why.trim_end_matches('.'));
    let text = format!(
        "[provost] {}: the turn ended without a review, because the review{by} came to nothing: {why}. The next stop tries again. \
         To fix: run `provost review run` in a terminal, which shows what is wrong.",
        rule.full_name()
    );
    Opinion { to_user: Some(text), evidence: vec![format!("no verdict: {why}")], ..Opinion::default() }
}

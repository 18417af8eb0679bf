//! Where a plan is, for the screens: gaps, findings, verdict, and why it may not leave plan mode.
//!
//! Which gap covers which finding is the validator's judgement, and only its reason says so.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::entries::PlanEntry;
use super::evidence::{self, Evidence};
use super::plan_record::{Gaps, RecordedHash, VerdictPolicy};
use super::verdict::{PlanVerdict, VerdictStatus};
use super::{exit_assessment, gate, prerequisites, store};
use provost_core::config::settings;
use provost_core::opinion::{Denial, Fault};
use provost_core::workspace::Workspace;

pub struct PlanStatus {
    pub plan: PathBuf,
    pub store: &'static str,
    pub session: Option<String>,
    /// The recorded verdict, which may be about another text.
    pub verdict: Option<PlanVerdict>,
    /// Whether the recorded verdict is about the plan and the gaps as they are now.
    pub is_current: bool,
    pub seal: SealMatch,
    /// `None`: the block of gaps is missing or malformed.
    pub gaps: Option<Vec<PlanEntry>>,
    /// The critic's answer to this text, if Provost saw it.
    pub critic: Option<Evidence>,
    /// Why the plan may not leave plan mode now.
    pub blocked: Option<Denial>,
    /// The prerequisites that the plan does not meet.
    pub missing: Vec<String>,
    /// Whether leaving plan mode starts the assessment.
    pub at_exit: bool,
}

/// How the seals of a plan fit its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealMatch {
    None,
    /// One is for a pass on exactly this text.
    Fits,
    /// All are for another text, or from another machine.
    Other,
}

impl PlanStatus {
    /// `None`: there is no such plan.
    pub fn read(plan: &Path, workspace: &Workspace) -> Result<Option<Self>, Fault> {
        let Some(text) = store::read_plan(plan, workspace)? else { return Ok(None) };
        let store = store::configured_store(workspace);
        let policy = VerdictPolicy::from_settings(workspace)?;
        let record = store.read_record(plan, &text, workspace)?;
        let critic = match &policy.key {
            Some(key) => evidence::find_critique(record.plan_hash, key, workspace)?,
            None => None,
        };
        let seal = match record.find_fitting_seal(&policy) {
            Some(_) => SealMatch::Fits,
            None if record.seals.is_empty() => SealMatch::None,
            None => SealMatch::Other,
        };
        let missing = prerequisites::list_missing(&record, store.messages());
        let session = record.session.as_deref().unwrap_or_default();
        let floor_blocks = workspace.config.word(settings::PLAN_GATE_PREREQUISITES) == "block";
        let incomplete =
            || missing.first().filter(|_| floor_blocks).map(|first| gate::deny_incomplete(first));
        let blocked = gate::find_denial(&record, session, &policy, store, workspace)?.or_else(incomplete);
        Ok(Some(Self {
            plan: plan.to_owned(),
            store: store.name(),
            is_current: [record.plan_recorded, record.gaps_recorded] == [RecordedHash::Same; 2],
            seal,
            gaps: matches!(record.gaps, Gaps::Present(_)).then(|| record.gaps.entries()),
            critic,
            blocked,
            missing,
            at_exit: exit_assessment::is_on(&workspace.config),
            verdict: record.validation,
            session: record.session,
        }))
    }

    /// The state of the assessment, in a few words.
    pub fn summary(&self) -> &'static str {
        match &self.blocked {
            None => "assessed",
            Some(_) if self.has_failed() => "failed its assessment",
            Some(_) if self.verdict.is_some() && !self.is_current => "changed since its assessment",
            Some(_) if self.gaps.is_none() => "not assessed, gaps missing",
            Some(_) => "not assessed",
        }
    }

    /// The validator's verdict on exactly this text, if there is one.
    pub fn validator(&self) -> Option<&PlanVerdict> {
        let verdict = self.verdict.as_ref()?;
        let counts = match verdict.status {
            VerdictStatus::Pass => self.seal == SealMatch::Fits,
            VerdictStatus::Fail => self.is_current,
            VerdictStatus::Pending | VerdictStatus::Other(_) => false,
        };
        counts.then_some(verdict)
    }

    /// Whether the validator has failed exactly this text.
    pub fn has_failed(&self) -> bool {
        self.validator().is_some_and(|verdict| verdict.status == VerdictStatus::Fail)
    }
}

//! What is known about a plan, for people: gaps, findings, verdict, and why it may not leave.
//!
//! Which gap covers which finding is the validator's judgement and stands in its reason. Nothing here
//! guesses at it.

use std::path::{Path, PathBuf};

use super::dossier::{Gaps, Policy, Recorded};
use super::entries::Entry;
use super::evidence::Evidence;
use super::verdict::{Status, Verdict};
use super::{at_exit, floor, gate, store};
use crate::config::settings;
use crate::decision::{Denial, Fault};
use crate::workspace::Workspace;

pub struct Overview {
    pub plan: PathBuf,
    pub store: &'static str,
    pub session: Option<String>,
    /// As it is recorded, for this text or not.
    pub verdict: Option<Verdict>,
    /// Whether the recorded verdict is about the plan and the gaps as they are now.
    pub is_current: bool,
    pub seal: Seal,
    /// `None`: there is no block for them, or it is broken.
    pub gaps: Option<Vec<Entry>>,
    /// What a critic was seen to answer about this text.
    pub critic: Option<Evidence>,
    /// Why the plan may not leave now.
    pub blocked: Option<Denial>,
    /// What the floor misses.
    pub missing: Vec<String>,
    /// Whether leaving plan mode has the plan assessed.
    pub at_exit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    None,
    /// Of a pass on exactly this text.
    Fits,
    /// Of another text, or of nobody here.
    Other,
}

impl Overview {
    /// `None`: there is no such plan.
    pub fn of(plan: &Path, workspace: &Workspace) -> Result<Option<Self>, Fault> {
        let Some(text) = store::read(plan, workspace)? else { return Ok(None) };
        let store = store::of(workspace);
        let policy = Policy::of(workspace)?;
        let dossier = store.dossier(plan, &text, workspace)?;
        let critic = match &policy.key {
            Some(key) => Evidence::find(dossier.plan_hash, key, workspace)?,
            None => None,
        };
        let seal = match dossier.fitting_seal(&policy) {
            Some(_) => Seal::Fits,
            None if dossier.seals.is_empty() => Seal::None,
            None => Seal::Other,
        };
        let missing = floor::missing(&dossier, store.words());
        let session = dossier.session.as_deref().unwrap_or_default();
        let floor_blocks = workspace.config.word(settings::PLAN_GATE_FLOOR) == "block";
        let incomplete = || {
            let first = missing.first().filter(|_| floor_blocks)?;
            Some(gate::incomplete(first))
        };
        let blocked = gate::standing(&dossier, session, &policy, store, workspace)?.or_else(incomplete);
        Ok(Some(Self {
            plan: plan.to_owned(),
            store: store.name(),
            is_current: (dossier.plan_recorded, dossier.gaps_recorded) == (Recorded::Same, Recorded::Same),
            seal,
            gaps: matches!(dossier.gaps, Gaps::Present(_)).then(|| dossier.gaps.entries()),
            critic,
            blocked,
            missing,
            at_exit: at_exit::is_on(&workspace.config),
            verdict: dossier.validation,
            session: dossier.session,
        }))
    }

    /// How far the assessment is, in a few words.
    pub fn shortly(&self) -> &'static str {
        let failed = self.validator().is_some_and(|verdict| verdict.status == Status::Fail);
        match (&self.blocked, &self.gaps) {
            (None, _) => "assessed",
            (Some(_), _) if failed => "failed its assessment",
            (Some(_), _) if self.verdict.is_some() && !self.is_current => "changed since its assessment",
            (Some(_), None) => "not assessed, gaps missing",
            (Some(_), Some(_)) => "not assessed",
        }
    }

    /// What the validator said about this text, as far as that is known.
    pub fn validator(&self) -> Option<&Verdict> {
        let verdict = self.verdict.as_ref()?;
        let holds = match verdict.status {
            Status::Pass => self.seal == Seal::Fits,
            Status::Fail => self.is_current,
            Status::Pending | Status::Other(_) => false,
        };
        holds.then_some(verdict)
    }
}

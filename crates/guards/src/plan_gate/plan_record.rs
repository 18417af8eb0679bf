//! The record of a plan at one moment, in the same form for every store, and the verdict that follows from it.

use super::digest::Digest;
use super::document::{GapsBlock, PlanDocument, Signal};
use super::entries::{self, PlanEntry};
use super::store::JudgedPlan;
use super::verdict::{PlanVerdict, VerdictStatus};
use crate::prelude::*;
use crate::seal::SealKey;
use provost_core::config::settings;
use provost_core::opinion::Fault;
use provost_core::workspace::Workspace;

pub struct PlanRecord<'t> {
    pub document: PlanDocument<'t>,
    pub session: Option<String>,
    pub gaps: Gaps,
    pub plan_hash: Digest,
    pub gaps_hash: Digest,
    pub plan_recorded: RecordedHash,
    pub gaps_recorded: RecordedHash,
    pub validation: Option<PlanVerdict>,
    pub seals: Vec<String>,
    pub damage: Option<Damage>,
}

/// Why a record is unusable, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub what: String,
    pub fix: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gaps {
    Missing,
    Broken(&'static str),
    Present(String),
}

/// Whether a recorded hash is the hash of the current text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedHash {
    Missing,
    Same,
    Other,
}

/// When a verdict counts.
pub struct VerdictPolicy {
    /// Whether a pass counts only with a seal.
    pub needs_witness: bool,
    pub key: Option<SealKey>,
}

/// The verdict that holds for the current texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledVerdict {
    pub validation: PlanVerdict,
    pub seal: Option<String>,
}

impl RecordedHash {
    pub fn compare(recorded: Option<&str>, now: Digest) -> Self {
        match recorded {
            None => Self::Missing,
            Some(hex) if now.equals_hex(hex) => Self::Same,
            Some(_) => Self::Other,
        }
    }
}

impl Gaps {
    pub fn entries(&self) -> Vec<PlanEntry> {
        entries::read_gaps(self.text())
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Present(text) => text,
            _ => "",
        }
    }
}

impl VerdictPolicy {
    /// The policy of the settings. Reads the key only if it is needed.
    pub fn from_settings(workspace: &Workspace) -> Result<Self, Fault> {
        let witnessed = workspace.config.word(settings::PLAN_GATE_WITNESS) != "off";
        let key = if witnessed { SealKey::load(workspace)? } else { None };
        Ok(Self { needs_witness: witnessed, key })
    }
}

impl<'t> PlanRecord<'t> {
    /// A plan of which no store has a record yet.
    pub fn without_record(document: PlanDocument<'t>) -> Self {
        let gaps = match document.gaps_block() {
            GapsBlock::Missing => Gaps::Missing,
            GapsBlock::Broken(how) => Gaps::Broken(how),
            GapsBlock::Present(_) => Gaps::Present(document.gaps_content().to_text()),
        };
        Self {
            session: None,
            gaps,
            plan_hash: document.content().hash(),
            gaps_hash: document.gaps_content().hash(),
            plan_recorded: RecordedHash::Missing,
            gaps_recorded: RecordedHash::Missing,
            validation: None,
            seals: Vec::new(),
            damage: None,
            document,
        }
    }

    /// The hashes of the plan and of the gaps.
    pub fn hashes(&self) -> (Digest, Digest) {
        (self.plan_hash, self.gaps_hash)
    }

    /// The seal of a pass on exactly these texts.
    pub fn find_fitting_seal(&self, policy: &VerdictPolicy) -> Option<&String> {
        let key = policy.key.as_ref()?;
        let has_gaps = matches!(self.gaps, Gaps::Present(_));
        self.seals.iter().find(|seal| has_gaps && key.fits(seal, self.plan_hash, self.gaps_hash))
    }

    /// Whether the record has this verdict already, at any time.
    pub fn has_verdict(&self, judged: &JudgedPlan<'_>) -> bool {
        let PlanVerdict { status, reason, .. } = &judged.settled.validation;
        let is_same = |known: &PlanVerdict| known.status == *status && known.reason == *reason;
        self.is_unchanged(judged.session.id())
            && self.damage.is_none()
            && self.validation.as_ref().is_some_and(is_same)
            && self.seals.first() == judged.settled.seal.as_ref()
    }

    /// Whether exactly these texts have failed.
    pub fn has_failed(&self, session: &str) -> bool {
        self.is_unchanged(session)
            && self.validation.as_ref().is_some_and(|verdict| verdict.status == VerdictStatus::Fail)
    }

    /// Whether the record has neither a pass nor a fail.
    pub fn is_undecided(&self) -> bool {
        let status = self.validation.as_ref().map(|verdict| &verdict.status);
        !matches!(status, Some(VerdictStatus::Pass | VerdictStatus::Fail))
    }

    /// Whether there is an undamaged record of exactly these texts.
    pub fn is_current(&self) -> bool {
        self.session.as_deref().is_some_and(|session| self.is_unchanged(session)) && self.damage.is_none()
    }

    /// Whether the record is of this session and of exactly these texts.
    fn is_unchanged(&self, session: &str) -> bool {
        self.plan_recorded == RecordedHash::Same
            && self.gaps_recorded == RecordedHash::Same
            && self.session.as_deref() == Some(session)
    }

    /// The verdict after a write by this session. A signal to fail always counts; a signal to pass counts
    /// only if no witness is needed. For a text without a verdict, `changed` is the reason.
    pub fn settle_verdict(
        &self,
        session: &str,
        signal: Signal,
        changed: &str,
        policy: &VerdictPolicy,
        now: &str,
    ) -> SettledVerdict {
        let verdict = |status, reason: &str| PlanVerdict::new(status, reason, now.to_owned());
        let pending = |reason: &str| verdict(VerdictStatus::Pending, reason);
        let seal = match &signal {
            Signal::One(signal) if signal.status == VerdictStatus::Fail => None,
            _ => self.find_fitting_seal(policy).cloned(),
        };
        let known = self.validation.clone().filter(|_| self.is_unchanged(session) && self.damage.is_none());
        let validation = match (signal, &seal, known) {
            (_, Some(_), Some(known)) if known.status == VerdictStatus::Pass => known,
            (_, Some(_), _) => verdict(VerdictStatus::Pass, "Every serious finding is covered by a gap"),
            // A claim of the agent does not undo a failure.
            (_, None, Some(known)) if known.status == VerdictStatus::Fail && policy.needs_witness => known,
            (Signal::One(signal), None, _)
                if signal.status == VerdictStatus::Pass && policy.needs_witness =>
            {
                pending("A pass was claimed, but no validator was seen to give it, re-run assessment")
            }
            (Signal::One(signal), None, _) => verdict(signal.status, &signal.reason),
            (Signal::Unclear, None, _) => pending("The verdict signal is not readable, re-run assessment"),
            (Signal::None, None, Some(known))
                if known.status != VerdictStatus::Pass || !policy.needs_witness =>
            {
                known
            }
            (Signal::None, None, _) => pending(changed),
        };
        SettledVerdict { validation, seal }
    }
}

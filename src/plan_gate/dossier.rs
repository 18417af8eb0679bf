//! All that is known about a plan at one moment, whichever store keeps it, and what follows from it.

use super::digest::Digest;
use super::document::{GapsBlock, PlanDocument, Signal};
use super::entries::{self, Entry};
use super::seal::Key;
use super::store::Judged;
use super::verdict::{Status, Verdict};
use crate::config::settings;
use crate::decision::Fault;
use crate::workspace::Workspace;

pub struct Dossier<'t> {
    pub document: PlanDocument<'t>,
    /// The session that the plan belongs to.
    pub session: Option<String>,
    pub gaps: Gaps,
    pub plan_hash: Digest,
    pub gaps_hash: Digest,
    pub plan_recorded: Recorded,
    pub gaps_recorded: Recorded,
    pub validation: Option<Verdict>,
    pub seals: Vec<String>,
    /// What makes the record unusable.
    pub damage: Option<Damage>,
}

/// Why a record is unusable, as a sentence, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub what: String,
    pub fix: &'static str,
}

/// The author's list of what is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gaps {
    Missing,
    Broken(&'static str),
    Present(String),
}

/// Whether a recorded hash is the hash of the text as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    Missing,
    Same,
    Other,
}

/// What has to be known to believe a verdict.
pub struct Policy {
    /// Whether a pass counts only with a seal.
    pub witnessed: bool,
    pub key: Option<Key>,
}

/// The verdict that holds for a plan as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    pub validation: Verdict,
    pub seal: Option<String>,
}

impl Recorded {
    pub fn of(recorded: Option<&str>, now: Digest) -> Self {
        match recorded {
            None => Self::Missing,
            Some(hex) if now.is(hex) => Self::Same,
            Some(_) => Self::Other,
        }
    }
}

impl Gaps {
    pub fn entries(&self) -> Vec<Entry> {
        entries::gaps(self.text())
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Present(text) => text,
            _ => "",
        }
    }
}

impl Policy {
    /// By the settings. The key is looked for only where it counts.
    pub fn of(workspace: &Workspace) -> Result<Self, Fault> {
        let witnessed = workspace.config.word(settings::PLAN_GATE_WITNESS) != "off";
        let key = if witnessed { Key::find(workspace)? } else { None };
        Ok(Self { witnessed, key })
    }
}

impl<'t> Dossier<'t> {
    /// A plan about which nothing is recorded: it has at most a block of gaps.
    pub fn unrecorded(document: PlanDocument<'t>) -> Self {
        let gaps = match document.gaps() {
            GapsBlock::Missing => Gaps::Missing,
            GapsBlock::Broken(how) => Gaps::Broken(how),
            GapsBlock::Present(_) => Gaps::Present(document.gaps_content().to_text()),
        };
        Self {
            session: None,
            gaps,
            plan_hash: document.content().hash(),
            gaps_hash: document.gaps_content().hash(),
            plan_recorded: Recorded::Missing,
            gaps_recorded: Recorded::Missing,
            validation: None,
            seals: Vec::new(),
            damage: None,
            document,
        }
    }
}

impl Dossier<'_> {
    /// The hashes of the plan and of the gaps.
    pub fn texts(&self) -> (Digest, Digest) {
        (self.plan_hash, self.gaps_hash)
    }

    /// The seal of a pass on these very texts.
    pub fn fitting_seal(&self, policy: &Policy) -> Option<&String> {
        let key = policy.key.as_ref()?;
        let whole = matches!(self.gaps, Gaps::Present(_));
        self.seals.iter().find(|seal| whole && key.fits(seal, self.plan_hash, self.gaps_hash))
    }

    /// Whether the record holds this verdict already, whenever it was made.
    pub fn already_says(&self, judged: &Judged<'_>) -> bool {
        let same = |known: &Verdict| {
            let Verdict { status, reason, .. } = &judged.settled.validation;
            (&known.status, &known.reason) == (status, reason)
        };
        self.is_unchanged(judged.session.id())
            && self.damage.is_none()
            && self.validation.as_ref().is_some_and(same)
            && self.seals.first() == judged.settled.seal.as_ref()
    }

    /// Whether this very text has failed.
    pub fn has_failed(&self, session: &str) -> bool {
        self.is_unchanged(session)
            && self.validation.as_ref().is_some_and(|verdict| verdict.status == Status::Fail)
    }

    /// Whether nobody has judged this text yet, as far as its record says.
    pub fn is_undecided(&self) -> bool {
        let is_decided = |status: &Status| matches!(status, Status::Pass | Status::Fail);
        !self.validation.as_ref().is_some_and(|verdict| is_decided(&verdict.status))
    }

    /// Whether there is a whole record, and the texts are those of it.
    pub fn is_current(&self) -> bool {
        self.session.as_deref().is_some_and(|session| self.is_unchanged(session)) && self.damage.is_none()
    }

    /// Whether the texts are those of the record.
    fn is_unchanged(&self, session: &str) -> bool {
        self.plan_recorded == Recorded::Same
            && self.gaps_recorded == Recorded::Same
            && self.session.as_deref() == Some(session)
    }

    /// The verdict that holds after a write by this session. A wish to fail is granted; a wish to
    /// pass counts where wishes are believed. A text that nobody has judged is told as `changed`.
    pub fn settle(
        &self,
        session: &str,
        signal: Signal,
        changed: &str,
        policy: &Policy,
        now: &str,
    ) -> Settled {
        let verdict = |status, reason: &str| Verdict::new(status, reason, now.to_owned());
        let pending = |reason: &str| verdict(Status::Pending, reason);
        let seal = match &signal {
            Signal::One(wish) if wish.status == Status::Fail => None,
            _ => self.fitting_seal(policy).cloned(),
        };
        let known = self.validation.clone().filter(|_| self.is_unchanged(session) && self.damage.is_none());
        let validation = match (signal, &seal, known) {
            (_, Some(_), Some(known)) if known.status == Status::Pass => known,
            (_, Some(_), _) => verdict(Status::Pass, "Every serious finding is covered by a gap"),
            // What an agent claims about a text does not change that it has failed.
            (_, None, Some(known)) if known.status == Status::Fail && policy.witnessed => known,
            (Signal::One(wish), None, _) if wish.status == Status::Pass && policy.witnessed => {
                pending("A pass was claimed, but no validator was seen to give it, re-run assessment")
            }
            (Signal::One(wish), None, _) => verdict(wish.status, &wish.reason),
            (Signal::Unclear, None, _) => pending("The verdict signal is not readable, re-run assessment"),
            (Signal::None, None, Some(known)) if known.status != Status::Pass || !policy.witnessed => known,
            (Signal::None, None, _) => pending(changed),
        };
        Settled { validation, seal }
    }
}

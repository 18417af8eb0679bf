//! Judges a past event, and says whether each judgement follows from the call alone.
//!
//! The same guards judge the same event as in a hook, on a workspace of the past. A judgement that has asked the disk is
//! repeated twice: as if there were no files, and as if there were all. If it stays the same, and asked for no content,
//! it does not depend on what has changed since.

use crate::decision::Finding;
use crate::engine::ask_guard;
use crate::event::Event;
use crate::guard::Guard;
use crate::opinion::Verdict;
use crate::workspace::{PastDisk, Workspace};

/// What guards would have done, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    Denied,
    Asked,
    Warned,
}

/// What a guard or a rule would have done.
#[derive(Debug)]
pub struct PastFinding {
    pub finding: Finding,
    pub outcome: Outcome,
    /// It follows from the call, whatever is on the disk.
    pub is_exact: bool,
}

/// What came of asking one guard.
#[derive(Debug, Default)]
pub struct PastAnswer {
    /// Without those that are silent.
    pub findings: Vec<PastFinding>,
    /// What could not be judged: the guard, or some of its rules.
    pub unjudged: Vec<String>,
}

pub fn ask_in_past(guard: &'static Guard, event: &Event, workspace: &mut Workspace) -> PastAnswer {
    workspace.begin_past_judgement(PastDisk::Today);
    let found = ask_guard(guard, event, workspace);
    let mut unjudged = workspace.take_unjudged();
    let has_failed = found.iter().any(|finding| finding.outcome.is_err());
    if workspace.was_change_refused() || has_failed {
        unjudged.push(guard.name.to_owned());
        return PastAnswer { findings: Vec::new(), unjudged };
    }
    let mut on_other_disks = None;
    let findings = found.into_iter().filter_map(|finding| {
        let outcome = find_outcome(&finding)?;
        let disk_use = finding.outcome.as_ref().map(|opinion| opinion.disk_use).unwrap_or_default();
        let is_exact = disk_use.is_none()
            || on_other_disks
                .get_or_insert_with(|| OTHER_DISKS.map(|disk| judge_on(disk, guard, event, workspace)))
                .iter()
                .all(|found| has_same_without_content(found, &finding, outcome));
        Some(PastFinding { finding, outcome, is_exact })
    });
    PastAnswer { findings: findings.collect(), unjudged }
}

const OTHER_DISKS: [PastDisk; 2] = [PastDisk::Empty, PastDisk::Full];

fn judge_on(disk: PastDisk, guard: &'static Guard, event: &Event, workspace: &mut Workspace) -> Vec<Finding> {
    workspace.begin_past_judgement(disk);
    let found = ask_guard(guard, event, workspace);
    if workspace.was_change_refused() { Vec::new() } else { found }
}

/// Whether a judge came to the same on another disk, and asked for no content there.
fn has_same_without_content(found: &[Finding], wanted: &Finding, outcome: Outcome) -> bool {
    found.iter().filter(|finding| finding.name() == wanted.name()).any(|finding| {
        let asks_content = finding.outcome.as_ref().is_ok_and(|opinion| opinion.disk_use.includes_content());
        !asks_content && find_outcome(finding) == Some(outcome)
    })
}

/// What a finding would have done, enforced or not; `None` for a silent one.
pub fn find_outcome(finding: &Finding) -> Option<Outcome> {
    let opinion = finding.outcome.as_ref().ok()?;
    match opinion.verdict {
        Verdict::Deny(_) => Some(Outcome::Denied),
        Verdict::Ask(_) => Some(Outcome::Asked),
        Verdict::Silence if opinion.to_model.is_some() || opinion.to_user.is_some() => Some(Outcome::Warned),
        Verdict::Silence => None,
    }
}

impl Outcome {
    pub const ALL: [Self; 3] = [Self::Denied, Self::Asked, Self::Warned];

    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Denied => "deny",
            Self::Asked => "ask",
            Self::Warned => "warn",
        }
    }

    /// The word in a sentence about calls.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Asked => "asked",
            Self::Warned => "warned",
        }
    }
}

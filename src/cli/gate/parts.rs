//! What several commands show of a plan.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::PlanChoice;
use crate::cli::screen::{BOLD, DIM, GREEN, RED, YELLOW, paint, print_labelled, wrap_line};
use crate::plan_gate::entries::{EntrySeverity, PlanEntry};
use crate::plan_gate::plan_status::{PlanStatus, SealMatch};
use crate::plan_gate::verdict::{PlanVerdict, VerdictStatus};
use crate::text::make_one_line;

/// Which plan it is, whose, and what is recorded about it.
pub(super) fn show_record(out: &mut impl Write, status: &PlanStatus, chosen: &PlanChoice) -> io::Result<()> {
    let plan = make_one_line(&status.plan.to_string_lossy());
    print_labelled(out, "plan", &format!("{plan}{}", chosen.newest_mark()))?;
    print_labelled(out, "store", status.store)?;
    print_labelled(out, "session", &make_one_line(status.session.as_deref().unwrap_or("none")))?;
    match &status.verdict {
        None => print_labelled(out, "verdict", "none")?,
        Some(verdict) => {
            let colour = match verdict.status {
                VerdictStatus::Pass => GREEN,
                VerdictStatus::Pending => YELLOW,
                VerdictStatus::Fail | VerdictStatus::Other(_) => RED,
            };
            let time = make_one_line(verdict.time.as_deref().unwrap_or_default());
            let stale = if status.is_current { "" } else { ", for another text" };
            let word = paint(colour, &make_one_line(verdict.status.word()));
            print_labelled(out, "verdict", &format!("{word}{stale}  {}", paint(DIM, &time)))?;
            if !verdict.reason.is_empty() {
                writeln!(out, "{}", wrap_line(&verdict.reason, 11))?;
            }
        }
    }
    let seal = match status.seal {
        SealMatch::None => "none",
        SealMatch::Fits => "for exactly this text",
        SealMatch::Other => "not for this text",
    };
    print_labelled(out, "seal", seal)
}

/// The line that names a gap or a finding.
pub(super) fn show_title(
    out: &mut impl Write,
    indent: usize,
    kind: &str,
    entry: &PlanEntry,
) -> io::Result<()> {
    let style = if entry.is_serious() { BOLD } else { DIM };
    let name = format!("{kind}-{}", entry.number);
    let severity = format!("{:6}", entry.severity.map_or("unsaid", EntrySeverity::word));
    let title = wrap_line(&entry.title, indent + 20);
    writeln!(out, "{:indent$}{name:10}  {}  {}", "", paint(style, &severity), title.trim_start())
}

/// How many findings there are, and how many of them need a gap.
pub(super) fn describe_findings(status: &PlanStatus) -> String {
    match &status.critic {
        None => "no critic has read this text".into(),
        Some(evidence) => format!(
            "{}, {} of them need a gap  (critic of {})",
            evidence.critique.findings().len(),
            evidence.critique.serious_findings().count(),
            make_one_line(&evidence.time)
        ),
    }
}

pub(super) fn describe_validator(status: &PlanStatus) -> &'static str {
    match status.validator().map(|verdict| &verdict.status) {
        Some(VerdictStatus::Pass) => "passed this text",
        Some(_) => "failed this text",
        None => "has not read this text",
    }
}

pub(crate) fn as_json(status: &PlanStatus) -> Value {
    let entry = |entry: &PlanEntry| {
        json!({
            "number": entry.number,
            "title": entry.title,
            "severity": entry.severity.map(EntrySeverity::word),
            "serious": entry.is_serious(),
            "description": entry.description,
        })
    };
    let entries = |list: &[PlanEntry]| list.iter().map(entry).collect::<Value>();
    let critic = status
        .critic
        .as_ref()
        .map(|evidence| json!({"ts": evidence.time, "findings": entries(evidence.critique.findings())}));
    let blocked = status
        .blocked
        .as_ref()
        .map(|denial| json!({"what": denial.what, "why": denial.why, "fix": denial.fix}));
    json!({
        "plan": status.plan.to_string_lossy(),
        "store": status.store,
        "session": status.session,
        "verdict": status.verdict.as_ref().map(PlanVerdict::to_json),
        "current": status.is_current,
        "sealed": status.seal == SealMatch::Fits,
        "gaps": status.gaps.as_deref().map(entries),
        "critic": critic,
        "validator": status.validator().map(|verdict| verdict.status.word()),
        "blocked": blocked,
        "missing": status.missing,
    })
}

/// What the user can do while the gate is closed.
pub(crate) fn next_step(status: &PlanStatus, is_newest: bool) -> Option<String> {
    let denial = status.blocked.as_ref()?;
    let named = if is_newest { String::new() } else { format!(" {}", status.plan.display()) };
    let or = match status.at_exit {
        // Unchanged, it would fail again without a new assessment.
        true if status.has_failed() => String::new(),
        true => "; or leave plan mode, which starts the assessment".to_owned(),
        false => format!("; or `provost gate assess{named}`"),
    };
    Some(make_one_line(&format!("{}{or}", denial.fix)))
}

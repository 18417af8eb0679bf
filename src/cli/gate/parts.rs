//! The parts of an overview that several commands show.

use std::io::{self, Write};

use anstyle::Style;
use serde_json::{Value, json};

use super::labelled;
use crate::cli::screen::{BOLD, DIM, GREEN, RED, YELLOW, painted, width, wrapped};
use crate::plan_gate::entries::{Entry, Severity};
use crate::plan_gate::overview::{Overview, Seal};
use crate::plan_gate::verdict::Status;
use crate::text::one_line;

pub(super) fn colour_of(status: &Status) -> Style {
    match status {
        Status::Pass => GREEN,
        Status::Pending => YELLOW,
        Status::Fail | Status::Other(_) => RED,
    }
}

pub(super) fn severity(entry: &Entry) -> &'static str {
    entry.severity.map_or("unsaid", Severity::word)
}

pub(super) fn seal(seal: Seal) -> &'static str {
    match seal {
        Seal::None => "none",
        Seal::Fits => "for exactly this text",
        Seal::Other => "not for this text",
    }
}

/// Which plan it is, whose, and what is recorded about it.
pub(super) fn head(out: &mut impl Write, overview: &Overview, is_newest: bool) -> io::Result<()> {
    let newest = if is_newest { "  (changed last)" } else { "" };
    labelled(out, "plan", &format!("{}{newest}", one_line(&overview.plan.to_string_lossy())))?;
    labelled(out, "store", overview.store)?;
    labelled(out, "session", &one_line(overview.session.as_deref().unwrap_or("none")))?;
    match &overview.verdict {
        None => labelled(out, "verdict", "none")?,
        Some(verdict) => {
            let time = one_line(verdict.time.as_deref().unwrap_or_default());
            let stale = if overview.is_current { "" } else { ", of another text" };
            let word = painted(colour_of(&verdict.status), &one_line(verdict.status.word()));
            labelled(out, "verdict", &format!("{word}{stale}  {}", painted(DIM, &time)))?;
            if !verdict.reason.is_empty() {
                writeln!(out, "{}", wrapped(&one_line(&verdict.reason), 11, width()))?;
            }
        }
    }
    labelled(out, "seal", seal(overview.seal))
}

/// A list of gaps or findings, one line each.
pub(super) fn list(out: &mut impl Write, kind: &str, entries: &[Entry]) -> io::Result<()> {
    for entry in entries {
        heading(out, 11, kind, entry)?;
    }
    Ok(())
}

/// The line that names a gap or a finding.
pub(super) fn heading(out: &mut impl Write, indent: usize, kind: &str, entry: &Entry) -> io::Result<()> {
    let style = if entry.is_serious() { BOLD } else { DIM };
    let name = format!("{kind}-{}", entry.number);
    let title = wrapped(&one_line(&entry.title), indent + 20, width());
    writeln!(
        out,
        "{}{name:10}  {}  {}",
        " ".repeat(indent),
        painted(style, &format!("{:6}", severity(entry))),
        title.trim_start()
    )
}

/// How many findings there are and how many of them count.
pub(super) fn findings(overview: &Overview) -> String {
    match &overview.critic {
        None => "no critic was heard on this text".into(),
        Some(evidence) => format!(
            "{}, {} of them to be covered  (heard {})",
            evidence.critique.findings().len(),
            evidence.critique.serious().count(),
            one_line(&evidence.time)
        ),
    }
}

pub(super) fn validator(overview: &Overview) -> &'static str {
    match overview.validator().map(|verdict| &verdict.status) {
        Some(Status::Pass) => "passed this text",
        Some(_) => "failed this text",
        None => "not heard on this text",
    }
}

pub(crate) fn as_json(overview: &Overview) -> Value {
    let entry = |entry: &Entry| {
        json!({
            "number": entry.number,
            "title": entry.title,
            "severity": entry.severity.map(Severity::word),
            "serious": entry.is_serious(),
            "description": entry.description,
        })
    };
    let entries = |list: &[Entry]| list.iter().map(entry).collect::<Value>();
    let critic = overview
        .critic
        .as_ref()
        .map(|evidence| json!({"ts": evidence.time, "findings": entries(evidence.critique.findings())}));
    let blocked = overview
        .blocked
        .as_ref()
        .map(|denial| json!({"what": denial.what, "why": denial.why, "fix": denial.fix}));
    json!({
        "plan": overview.plan.to_string_lossy(),
        "store": overview.store,
        "session": overview.session,
        "verdict": overview.verdict.as_ref().map(crate::plan_gate::verdict::Verdict::to_json),
        "current": overview.is_current,
        "sealed": overview.seal == Seal::Fits,
        "gaps": overview.gaps.as_deref().map(entries),
        "critic": critic,
        "validator": overview.validator().map(|verdict| verdict.status.word()),
        "blocked": blocked,
        "missing": overview.missing,
    })
}

/// What a person can do where the gate is closed.
pub(crate) fn step(overview: &Overview, is_newest: bool) -> Option<String> {
    let denial = overview.blocked.as_ref()?;
    let named = if is_newest { String::new() } else { format!(" {}", overview.plan.display()) };
    let has_failed = overview.validator().is_some_and(|verdict| verdict.status == Status::Fail);
    let or = match (overview.at_exit, has_failed) {
        // As it is, it would fail again without a question.
        (true, true) => String::new(),
        (true, false) => "; or leave plan mode, which has it assessed".to_owned(),
        (false, _) => format!("; or `provost gate assess{named}`"),
    };
    Some(one_line(&format!("{}{or}", denial.fix)))
}

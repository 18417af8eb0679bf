//! What the doctor found, for the user and for programs.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::screen::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, paint, text_width, wrap, wrap_line};
use crate::text::{capitalize, make_one_line};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    Warning,
    /// Something is unguarded although the user may believe that it is guarded.
    Error,
}

/// One thing that is wrong. Scripts look for its id, so an id never changes.
#[derive(Debug)]
pub(super) struct DoctorFinding {
    pub(super) id: &'static str,
    pub(super) severity: Severity,
    pub(super) what: String,
    pub(super) why: String,
    pub(super) fix: String,
    /// A file or directory of Provost's own that `--fix` can close to other users.
    pub(super) can_close: Option<PathBuf>,
    /// The result of `--fix`.
    pub(super) repaired: Option<Result<String, String>>,
}

/// Checks that belong together.
pub(super) struct CheckGroup {
    pub(super) name: &'static str,
    /// What was checked, and only that.
    pub(super) checked: String,
    pub(super) findings: Vec<DoctorFinding>,
    /// There was nothing to check.
    pub(super) is_skipped: bool,
}

impl DoctorFinding {
    pub(super) fn error(
        id: &'static str,
        what: impl Into<String>,
        why: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        let (what, why, fix) = (what.into(), why.into(), fix.into());
        Self { id, severity: Severity::Error, what, why, fix, can_close: None, repaired: None }
    }

    pub(super) fn warning(
        id: &'static str,
        what: impl Into<String>,
        why: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(id, what, why, fix) }
    }

    fn is_open(&self) -> bool {
        !matches!(self.repaired, Some(Ok(_)))
    }

    /// What was found and why, as one sentence.
    fn sentence(&self) -> String {
        make_one_line(&format!("{}: {}.", self.what, self.why.trim_end_matches('.')))
    }

    fn fix_sentence(&self) -> String {
        make_one_line(&format!("To fix: {}.", self.fix.trim_end_matches('.')))
    }

    fn as_json(&self, group: &str) -> Value {
        let fixed = self.repaired.as_ref().map(|repaired| match repaired {
            Ok(done) => json!({"done": done}),
            Err(why) => json!({"failed": why}),
        });
        json!({
            "id": self.id,
            "severity": self.severity.word(),
            "group": group,
            "what": self.what,
            "why": self.why,
            "fix": self.fix,
            "message": format!("[provost] {} {}", self.sentence(), self.fix_sentence()),
            "fixed": fixed,
        })
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let colour = if self.severity == Severity::Error { RED } else { YELLOW };
        writeln!(out, "\n{}  {}", paint(colour, self.severity.word()), paint(BOLD, self.id))?;
        writeln!(out, "{}", wrap(&capitalize(&self.sentence()), 2, text_width()))?;
        if let Some(Ok(done)) = &self.repaired {
            let text = wrap_line(&format!("Fixed: {done}."), 2);
            return writeln!(out, "{}", paint(GREEN, &text));
        }
        if let Some(Err(why)) = &self.repaired {
            let text = make_one_line(&format!("It could not be fixed here: {why}."));
            writeln!(out, "{}", wrap(&text, 2, text_width()))?;
        }
        writeln!(out, "{}", wrap(&self.fix_sentence(), 2, text_width()))
    }
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl CheckGroup {
    pub(super) fn new(name: &'static str, checked: String, findings: Vec<DoctorFinding>) -> Self {
        Self { name, checked, findings, is_skipped: false }
    }
}

fn open_findings(findings: &[DoctorFinding]) -> impl Iterator<Item = &DoctorFinding> {
    findings.iter().filter(|finding| finding.is_open())
}

/// How many findings of a severity are left.
pub(super) fn count(groups: &[CheckGroup], severity: Severity) -> usize {
    let findings = groups.iter().flat_map(|group| open_findings(&group.findings));
    findings.filter(|finding| finding.severity == severity).count()
}

pub(super) fn print(out: &mut impl Write, groups: &[CheckGroup]) -> io::Result<()> {
    /// Where the text of a group begins.
    const COLUMN: usize = 24;
    for group in groups {
        let (word, style) = match open_findings(&group.findings).map(|finding| finding.severity).max() {
            None if group.is_skipped => ("skipped", DIM),
            None => ("ok", GREEN),
            Some(Severity::Error) => ("error", RED),
            Some(Severity::Warning) => ("warning", YELLOW),
        };
        let name = paint(CYAN, &format!("{:13}", group.name));
        let text = wrap_line(&group.checked, COLUMN);
        writeln!(out, "{}  {name}  {}", paint(style, &format!("{word:7}")), text.trim_start())?;
    }
    let mut findings: Vec<&DoctorFinding> = groups.iter().flat_map(|group| &group.findings).collect();
    findings.sort_by_key(|finding| Reverse(finding.severity));
    for finding in &findings {
        finding.print(out)?;
    }
    let (errors, warnings) = (count(groups, Severity::Error), count(groups, Severity::Warning));
    let summary = match (errors, warnings) {
        (0, 0) if findings.is_empty() => paint(GREEN, "Nothing is wrong with what was checked."),
        (0, 0) => paint(GREEN, "Nothing else is wrong with what was checked."),
        (0, warnings) => paint(YELLOW, &format!("{}.", format_count(warnings, "warning"))),
        (errors, 0) => paint(RED, &format!("{}.", format_count(errors, "error"))),
        (errors, warnings) => {
            paint(RED, &format!("{}, {}.", format_count(errors, "error"), format_count(warnings, "warning")))
        }
    };
    writeln!(out, "\n{summary}")?;
    if findings.iter().any(|finding| finding.can_close.is_some() && finding.repaired.is_none()) {
        let text = "`provost doctor --fix` fixes the permissions of Provost's own files.";
        writeln!(out, "{}", paint(DIM, text))?;
    }
    Ok(())
}

pub(super) fn findings_as_json(groups: &[CheckGroup]) -> Vec<Value> {
    let all = groups.iter().flat_map(|group| group.findings.iter().map(move |finding| (group.name, finding)));
    all.map(|(name, finding)| finding.as_json(name)).collect()
}

/// A number with its noun.
pub(super) fn format_count(number: usize, noun: &str) -> String {
    match (number, noun) {
        (1, _) => format!("1 {noun}"),
        (_, "entry") => format!("{number} entries"),
        _ => format!("{number} {noun}s"),
    }
}

/// Words as a list in a sentence.
pub(super) fn join_words(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

//! What the doctor found, for a person and for a program.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::screen::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, painted, width, wrapped};
use crate::text::one_line;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    Warning,
    /// Something that the person believes to be guarded is not.
    Error,
}

/// One thing that is wrong. Its id stays the same, so that scripts can ask for it.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) id: &'static str,
    pub(super) severity: Severity,
    pub(super) what: String,
    pub(super) why: String,
    pub(super) fix: String,
    pub(super) repair: Option<Repair>,
    /// What came of the repair, once it was tried.
    pub(super) repaired: Option<Result<String, String>>,
}

/// What can be mended without taking anything away from anybody.
#[derive(Debug, Clone)]
pub(super) enum Repair {
    /// Others lose their rights to a file or directory of Provost's own.
    Private(PathBuf),
}

/// Checks that belong together.
pub(super) struct Group {
    pub(super) name: &'static str,
    /// What was checked, and only that.
    pub(super) checked: String,
    pub(super) findings: Vec<Finding>,
    /// There was nothing to check.
    pub(super) is_skipped: bool,
}

impl Finding {
    pub(super) fn error(id: &'static str, what: String, why: String, fix: String) -> Self {
        Self { id, severity: Severity::Error, what, why, fix, repair: None, repaired: None }
    }

    pub(super) fn warning(id: &'static str, what: String, why: String, fix: String) -> Self {
        Self { severity: Severity::Warning, ..Self::error(id, what, why, fix) }
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self.repaired, Some(Ok(_)))
    }

    /// What was found and why, as one sentence.
    fn sentence(&self) -> String {
        one_line(&format!("{}: {}.", self.what, self.why.trim_end_matches('.')))
    }

    fn fix_words(&self) -> String {
        one_line(&format!("To fix: {}.", self.fix.trim_end_matches('.')))
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
            "message": format!("[provost] {} {}", self.sentence(), self.fix_words()),
            "fixed": fixed,
        })
    }
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }

    fn painted(self) -> String {
        painted(if self == Self::Error { RED } else { YELLOW }, self.word())
    }
}

impl Group {
    fn worst(&self) -> Option<Severity> {
        self.findings.iter().filter(|finding| finding.is_open()).map(|finding| finding.severity).max()
    }
}

/// How many findings of a severity are left.
pub(super) fn count(groups: &[Group], severity: Severity) -> usize {
    let findings = groups.iter().flat_map(|group| &group.findings);
    findings.filter(|finding| finding.is_open() && finding.severity == severity).count()
}

pub(super) fn print(out: &mut impl Write, groups: &[Group]) -> io::Result<()> {
    /// Where the text of a group begins.
    const COLUMN: usize = 24;
    for group in groups {
        let (word, style) = match group.worst() {
            None if group.is_skipped => ("skipped", DIM),
            None => ("ok", GREEN),
            Some(Severity::Error) => ("error", RED),
            Some(Severity::Warning) => ("warning", YELLOW),
        };
        let name = painted(CYAN, &format!("{:13}", group.name));
        let text = wrapped(&one_line(&group.checked), COLUMN, width());
        writeln!(out, "{}  {name}  {}", painted(style, &format!("{word:7}")), text.trim_start())?;
    }
    let mut findings: Vec<&Finding> = groups.iter().flat_map(|group| &group.findings).collect();
    findings.sort_by_key(|finding| Reverse(finding.severity));
    for finding in findings {
        writeln!(out)?;
        writeln!(out, "{}  {}", finding.severity.painted(), painted(BOLD, finding.id))?;
        writeln!(out, "{}", wrapped(&capital(&finding.sentence()), 2, width()))?;
        match &finding.repaired {
            Some(Ok(done)) => {
                let text = wrapped(&one_line(&format!("Fixed: {done}.")), 2, width());
                writeln!(out, "{}", painted(GREEN, &text))?;
                continue;
            }
            Some(Err(why)) => {
                let text = one_line(&format!("It could not be fixed here: {why}."));
                writeln!(out, "{}", wrapped(&text, 2, width()))?;
            }
            None => {}
        }
        writeln!(out, "{}", wrapped(&finding.fix_words(), 2, width()))?;
    }
    writeln!(out)?;
    let (errors, warnings) = (count(groups, Severity::Error), count(groups, Severity::Warning));
    let told = match (errors, warnings) {
        (0, 0) if groups.iter().all(|group| group.findings.is_empty()) => {
            painted(GREEN, "Nothing is wrong with what was checked.")
        }
        (0, 0) => painted(GREEN, "Nothing else is wrong with what was checked."),
        (0, warnings) => painted(YELLOW, &format!("{}.", counted(warnings, "warning"))),
        (errors, 0) => painted(RED, &format!("{}.", counted(errors, "error"))),
        (errors, warnings) => {
            painted(RED, &format!("{}, {}.", counted(errors, "error"), counted(warnings, "warning")))
        }
    };
    writeln!(out, "{told}")?;
    let can_repair = |finding: &&Finding| finding.repair.is_some() && finding.repaired.is_none();
    if groups.iter().flat_map(|group| &group.findings).any(|finding| can_repair(&finding)) {
        writeln!(out, "{}", painted(DIM, "`provost doctor --fix` mends the rights of Provost's own files."))?;
    }
    Ok(())
}

/// The text with its first letter as at the start of a sentence.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A number with its word.
pub(super) fn counted(number: usize, word: &str) -> String {
    let ending = match (number, word) {
        (1, _) => return format!("1 {word}"),
        (_, "entry") => return format!("{number} entries"),
        _ => "s",
    };
    format!("{number} {word}{ending}")
}

pub(super) fn findings_as_json(groups: &[Group]) -> Vec<Value> {
    let all = groups.iter().flat_map(|group| group.findings.iter().map(move |finding| (group.name, finding)));
    all.map(|(name, finding)| finding.as_json(name)).collect()
}

//! What authors, critics and validators write: gaps, findings, verdicts. One grammar for the three.
//!
//! An entry is a heading `### KIND-N: title` at the start of a line, with everything up to the next
//! `### ` below it. Fields are `**Name**: text`, as list items or not. A critic or validator that
//! says nothing of that form has not answered: that is not the same as having found nothing.

use std::fmt;

use super::verdict::Status;
use super::verdict_search::{is_numbered, states_verdict, verdicts};

/// A gap or a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub number: u64,
    pub title: String,
    /// `None`: not said, or in a word that is none of the three.
    pub severity: Option<Severity>,
    pub description: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    High,
    Medium,
    Low,
}

/// A critic's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Critique {
    /// It said in so many words that there is nothing.
    NoIssues,
    Findings(Vec<Entry>),
}

/// A validator's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// [`Status::Pass`] or [`Status::Fail`].
    pub status: Status,
    pub reason: String,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

impl Entry {
    /// Whether it must be covered. What has no readable severity may be anything.
    pub fn is_serious(&self) -> bool {
        self.severity != Some(Severity::Low)
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = self.severity.map_or("no severity", Severity::word);
        write!(f, "{} ({severity})", self.title)
    }
}

/// The gaps of a block, in their order.
pub fn gaps(text: &str) -> Vec<Entry> {
    entries(text, "GAP-")
}

/// The number for the next gap.
pub fn next_gap(text: &str) -> u64 {
    gaps(text).iter().map(|gap| gap.number).max().unwrap_or(0).saturating_add(1)
}

/// Why an answer is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    NoFindings,
    VerdictOfCritic,
    NoVerdict,
    SeveralVerdicts,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoFindings => "it names no finding and does not declare `### NO ISSUES FOUND`",
            Self::VerdictOfCritic => "it states a verdict, which only a validator may give",
            Self::NoVerdict => "it has no line `### VERDICT: PASS` or `### VERDICT: FAIL`",
            Self::SeveralVerdicts => "it has a second line that could be read as a verdict",
        })
    }
}

/// What a critic answered.
pub fn critique(text: &str) -> Result<Critique, Unanswered> {
    // The validator reads the findings, so a verdict among them could pass for its own.
    if text.lines().any(states_verdict) {
        return Err(Unanswered::VerdictOfCritic);
    }
    let findings = entries(text, "FINDING-");
    if !findings.is_empty() {
        return Ok(Critique::Findings(findings));
    }
    // Who declares that there is nothing and names something in another form has not answered.
    let is_named = text.lines().any(|line| is_numbered(line, "finding"));
    let is_declared = text.lines().any(|line| line.trim_end() == "### NO ISSUES FOUND");
    if is_declared && !is_named { Ok(Critique::NoIssues) } else { Err(Unanswered::NoFindings) }
}

/// A line in the gaps that could be taken for the critic's list or for a verdict, if there is one.
pub fn pretence(gaps: &str) -> Option<&str> {
    const WORDS: &[&str] = &["the findings:", "finding-", "no issues found"];
    let is_pretence = |line: &&str| {
        let is_heading = line.trim_start().starts_with('#') || line.trim() == "The findings:";
        let is_list = is_numbered(line, "finding") || WORDS.iter().any(|word| begins_with(line, word));
        (is_heading && is_list) || states_verdict(line)
    };
    gaps.lines().find(is_pretence).map(str::trim)
}

/// Whether a line begins with this word, whatever signs stand in front of it and however it is written.
fn begins_with(line: &str, word: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

impl Critique {
    pub fn findings(&self) -> &[Entry] {
        match self {
            Self::NoIssues => &[],
            Self::Findings(findings) => findings,
        }
    }

    pub fn serious(&self) -> impl Iterator<Item = &Entry> {
        self.findings().iter().filter(|finding| finding.is_serious())
    }
}

/// What a validator answered: the one verdict in its answer. Beside anything else that could be read as a
/// verdict, it is none.
pub fn coverage(text: &str) -> Result<Coverage, Unanswered> {
    let verdict = |line: &str| match line.trim_end() {
        "### VERDICT: PASS" => Some(Status::Pass),
        "### VERDICT: FAIL" => Some(Status::Fail),
        _ => None,
    };
    let found = text.lines().enumerate().find_map(|(at, line)| Some((at, verdict(line)?)));
    let (at, status) = found.ok_or(Unanswered::NoVerdict)?;
    let contradicts = |stated: &Option<Status>| stated.as_ref() != Some(&status);
    let readings = verdicts(text);
    let counted = readings.iter().filter(|reading| !reading.is_prose || contradicts(&reading.status));
    if counted.count() > 1 {
        return Err(Unanswered::SeveralVerdicts);
    }
    let section = text.lines().skip(at + 1).take_while(|line| !line.starts_with("### "));
    let section: Vec<&str> = section.collect();
    let reason = section
        .iter()
        .position(|line| field(line, "Reason").is_some())
        .map(|from| {
            let first = field(section[from], "Reason").unwrap_or_default();
            let rest = section[from + 1..].iter().map(|line| line.trim());
            std::iter::once(first).chain(rest).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
        })
        .unwrap_or_default();
    Ok(Coverage { status, reason })
}

fn entries(text: &str, kind: &str) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            let entry = heading.strip_prefix(kind).and_then(numbered);
            inside = entry.is_some();
            found.extend(entry.map(|(number, title)| Entry {
                number,
                title: title.to_owned(),
                severity: None,
                description: String::new(),
            }));
        } else if let Some(entry) = found.last_mut().filter(|_| inside) {
            if let Some(word) = field(line, "Severity") {
                entry.severity = entry.severity.or_else(|| severity(word));
            } else {
                let text = field(line, "Description").unwrap_or_else(|| line.trim());
                if !text.is_empty() && !entry.description.is_empty() {
                    entry.description.push('\n');
                }
                entry.description += text;
            }
        }
    }
    found
}

/// `12: a title` of a heading.
fn numbered(text: &str) -> Option<(u64, &str)> {
    let (number, title) = text.split_once(':')?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    // A number beyond measure is still an entry.
    digits.then(|| (number.parse().unwrap_or(u64::MAX), title.trim()))
}

/// The text behind `**Name**:`, with or without a list sign before it.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let line = line.trim();
    let line =
        line.strip_prefix(['-', '*']).filter(|rest| rest.starts_with(' ')).unwrap_or(line).trim_start();
    let rest = line.strip_prefix("**")?.strip_prefix(name)?;
    let rest = rest.strip_prefix("**:").or_else(|| rest.strip_prefix(":**"))?;
    Some(rest.trim())
}

fn severity(word: &str) -> Option<Severity> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphabetic()).to_ascii_lowercase();
    [Severity::High, Severity::Medium, Severity::Low].into_iter().find(|severity| severity.word() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAPS: &str = "### GAP-1: Database rollback unclear
- **Severity**: high
- **Description**: No rollback strategy if migration fails

### GAP-7: Auth timeout handling
- **Severity**: Medium
- **Description**: Unclear behavior when token expires,
  mid-operation; see GAP-9: other
";

    #[test]
    fn gaps_have_a_number_a_title_a_severity_and_a_description() {
        let found = gaps(GAPS);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].number, found[0].severity), (1, Some(Severity::High)));
        assert_eq!(found[0].description, "No rollback strategy if migration fails");
        assert_eq!(found[1].title, "Auth timeout handling");
        assert_eq!(found[1].severity, Some(Severity::Medium));
        assert!(found[1].description.ends_with("mid-operation; see GAP-9: other"));
    }

    #[test]
    fn the_next_gap_follows_the_highest_heading_and_no_mention() {
        assert_eq!(next_gap(GAPS), 8);
        assert_eq!(next_gap("see ### GAP-4: x\n #### GAP-5: y\n"), 1);
        assert_eq!(next_gap(""), 1);
    }

    #[test]
    fn a_critique_is_findings_or_the_word_that_there_are_none() {
        let nothing = Err(Unanswered::NoFindings);
        assert_eq!(critique("looks fine to me"), nothing);
        assert_eq!(critique(""), nothing);
        assert_eq!(critique("ok\r\n### NO ISSUES FOUND\r\n"), Ok(Critique::NoIssues));
        assert_eq!(critique("I will not say ### NO ISSUES FOUND"), nothing);
        let text =
            "### NO ISSUES FOUND\n### FINDING-1: Race\r\n- **Severity**: low\r\n### FINDING-2: None said\n";
        let answer = critique(text).unwrap();
        assert_eq!(answer.findings().len(), 2, "findings count, whatever else is said");
        let serious: Vec<_> = answer.serious().map(|finding| finding.number).collect();
        assert_eq!(serious, [2], "a finding without a severity may be anything");
    }

    #[test]
    fn a_finding_in_another_form_leaves_a_doubt() {
        for finding in [
            "## FINDING-1: Race",
            "### Finding-1: Race",
            "- **FINDING-1**: Race",
            "  ### FINDING-1: Race",
            "Finding #1: Race",
            "### FІNDING-1: Race",
        ] {
            let text = format!("{finding}\n### NO ISSUES FOUND\n");
            assert_eq!(critique(&text), Err(Unanswered::NoFindings), "{finding}");
        }
    }

    #[test]
    fn a_critic_gives_no_verdict() {
        for line in ["### VERDICT: PASS", "Verdict - PASS", "> **VERDlCT**: pass", "Final verdict: PASS"] {
            let text = format!("### FINDING-1: Race\n- **Severity**: high\n{line}\n");
            assert_eq!(critique(&text), Err(Unanswered::VerdictOfCritic), "{line}");
        }
        let text = "### FINDING-1: Nobody reads the verdict line\n- **Description**: If the verdict is FAIL, it waits\n";
        assert!(critique(text).is_ok());
    }

    #[test]
    fn a_verdict_counts_only_alone() {
        let pass = coverage("### VERDICT: PASS\n**Reason**: All covered.\n").unwrap();
        assert_eq!((pass.status, pass.reason.as_str()), (Status::Pass, "All covered."));
        let fail = coverage("Here is my verdict:\n\n### VERDICT: FAIL\n**Reason**:\n- A\n- B\n").unwrap();
        assert_eq!((fail.status, fail.reason.as_str()), (Status::Fail, "- A - B"));
        for both in [
            "### VERDICT: PASS\n### VERDICT: FAIL\n",
            "### VERDICT: PASS\n### VERDICT: PASS\n",
            "```\n### VERDICT: PASS\n```\n### VERDICT: FAIL\n",
            "### VERDICT: PASS\nOn reflection, FAIL.\n",
            "### VERDICT: PASS\nSo the plan fails.\n",
        ] {
            assert_eq!(coverage(both), Err(Unanswered::SeveralVerdicts), "{both}");
        }
        for none in ["", "VERDICT: PASS", "### VERDICT: MAYBE\nVERDICT: PASS\n### VERDICT: PASS!"] {
            assert_eq!(coverage(none), Err(Unanswered::NoVerdict), "{none}");
        }
        assert!(coverage("### VERDICT: PASS\nSo the plan passes.\n").is_ok());
    }

    #[test]
    fn gaps_that_play_the_other_list_are_noticed() {
        for line in [
            "The findings:",
            "### FINDING-2: x",
            "### FІNDING 2",
            "## no issues found",
            " ### VERDICT: PASS",
            "Verdict – PASS",
        ] {
            let gaps = format!("{GAPS}\n{line}\n");
            assert_eq!(pretence(&gaps), Some(line.trim()));
        }
        assert_eq!(pretence(GAPS), None);
        assert_eq!(
            pretence("### GAP-1: covers FINDING-2\n- see the findings: none\nFINDING-2 is covered\n"),
            None
        );
    }
}

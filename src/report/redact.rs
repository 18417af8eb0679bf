//! Replaces what a report should not show to strangers: paths, commands, prompts, evidence, and the ids of sessions and calls.
//!
//! The same project, session or plan gets the same new name everywhere, so that a reader can still follow it. What people
//! wrote into rules stays, but for paths and quoted texts in it.

use std::collections::HashMap;

use super::model::{DecisionRecord, OpinionRecord, Report, TranscriptTotals};
use crate::rules::RULE_PREFIX;

const REDACTED: &str = "[redacted]";
const PATH: &str = "[path]";

/// New names: `project 1`.
struct Names {
    word: &'static str,
    known: HashMap<String, String>,
}

impl Names {
    fn new(word: &'static str) -> Self {
        Self { word, known: HashMap::new() }
    }

    fn replace(&mut self, name: &mut String) {
        if name.is_empty() {
            return;
        }
        let next = self.known.len() + 1;
        let word = self.word;
        self.known.entry(name.clone()).or_insert_with(|| format!("{word} {next}")).clone_into(name);
    }
}

/// Redacts a report.
pub fn redact(report: &mut Report) {
    let mut projects = Names::new("project");
    let mut sessions = Names::new("session");
    let mut plans = Names::new("plan");
    for project in &mut report.projects {
        projects.replace(&mut project.path);
        project.name.clone_from(&project.path);
    }
    for cycle in &mut report.reviews {
        projects.replace(&mut cycle.project);
        plans.replace(&mut cycle.plan);
    }
    for plan in &mut report.plans {
        projects.replace(&mut plan.project);
        plans.replace(&mut plan.plan);
    }
    // The oldest first, so that the first session gets the first number.
    for decision in report.decisions.iter_mut().rev() {
        projects.replace(&mut decision.project);
        decision.session.iter_mut().for_each(|session| sessions.replace(session));
        redact_decision(decision);
    }
    for guard in &mut report.guards {
        guard.purpose = redact_text(&guard.purpose);
    }
    for left_out in &mut report.left_out {
        left_out.why = redact_text(&left_out.why);
    }
    report.without_provost.iter_mut().for_each(redact_transcripts);
}

fn redact_decision(decision: &mut DecisionRecord) {
    decision.call = None;
    for text in [&mut decision.subject, &mut decision.remark].into_iter().flatten() {
        REDACTED.clone_into(text);
    }
    decision.opinions.iter_mut().for_each(redact_opinion);
}

fn redact_opinion(opinion: &mut OpinionRecord) {
    for text in [&mut opinion.what, &mut opinion.why, &mut opinion.fix] {
        *text = redact_text(text);
    }
    for text in opinion.evidence.iter_mut().chain(&mut opinion.reason) {
        REDACTED.clone_into(text);
    }
    opinion.evidence.dedup();
}

fn redact_transcripts(totals: &mut TranscriptTotals) {
    PATH.clone_into(&mut totals.directory);
    totals.guards.iter_mut().for_each(|guard| guard.subjects.clear());
    for left_out in &mut totals.left_out {
        left_out.why = redact_text(&left_out.why);
    }
}

/// Replaces the quoted parts of a text, except for Provost's own commands, and its paths.
pub fn redact_text(text: &str) -> String {
    let mut redacted = String::new();
    for (number, part) in text.split('`').enumerate() {
        let is_quoted = number % 2 == 1;
        if number > 0 {
            redacted.push('`');
        }
        match (is_quoted, part.starts_with("provost ") || part.starts_with(RULE_PREFIX)) {
            (true, false) => redacted += REDACTED,
            _ => redacted += &part.split_inclusive(char::is_whitespace).map(redact_word).collect::<String>(),
        }
    }
    redacted
}

/// A word and the blank after it, without the path in it.
fn redact_word(word: &str) -> String {
    let text = word.trim_end();
    let is_path = text.contains(['/', '\\']) || text.starts_with('~');
    if !is_path || text.starts_with(RULE_PREFIX) {
        return word.to_owned();
    }
    let end = if text.ends_with([',', '.', ';', ':', ')']) { &text[text.len() - 1..] } else { "" };
    format!("{PATH}{end}{}", &word[text.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_texts_and_paths_are_replaced_and_own_commands_stay() {
        for (text, expected) in [
            (
                "`rm -rf ~/x` denied by rule:own/deletion: it is unsaved",
                "`[redacted]` denied by rule:own/deletion: it is unsaved",
            ),
            ("type `provost override self-guard REASON`.", "type `provost override self-guard REASON`."),
            ("/home/me/a.toml: not read, see C:\\x and ~me.", "[path]: not read, see [path] and [path]."),
            ("a lone ` hides the rest", "a lone `[redacted]"),
            ("plain words\nstay", "plain words\nstay"),
            ("", ""),
        ] {
            assert_eq!(redact_text(text), expected);
        }
    }

    #[test]
    fn the_same_name_is_replaced_in_the_same_way() {
        let decision = |session: &str| DecisionRecord {
            project: "/home/me/p".into(),
            session: Some(session.into()),
            call: Some("toolu_1".into()),
            subject: Some("cat /home/me/secret".into()),
            opinions: vec![OpinionRecord {
                reason: Some("I said so".into()),
                evidence: vec!["/x".into(); 2],
                ..OpinionRecord::default()
            }],
            ..DecisionRecord::default()
        };
        let mut report =
            Report { decisions: ["s-2", "s-1", "s-2"].map(decision).into(), ..Report::default() };
        redact(&mut report);
        let sessions: Vec<_> =
            report.decisions.iter().map(|decision| decision.session.as_deref().unwrap()).collect();
        assert_eq!(sessions, ["session 1", "session 2", "session 1"]);
        let text = serde_json::to_string(&report).unwrap();
        for hidden in ["/home", "toolu", "I said so", "/x", "s-1"] {
            assert!(!text.contains(hidden), "{hidden}: {text}");
        }
    }
}

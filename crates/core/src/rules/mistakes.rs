//! The mistakes inside a rule's patterns, which the hook does not look for.

use provost_shell::pattern::CommandPattern;

use super::path_pattern::PathPatterns;
use super::{FETCHED_CODE, NeedEvidence, Rule, RuleAction, RuleText};

impl Rule {
    /// The mistakes in its patterns and regular expressions: the byte in the file, and what is wrong. Only a thorough look
    /// finds all mistakes in regular expressions.
    pub fn find_pattern_mistakes(&self, is_thorough: bool) -> Vec<(usize, String)> {
        let subject = &self.subject;
        let mut found = Vec::new();
        let mut commands: Vec<&RuleText> = subject.runs.iter().chain(&subject.fed_by).collect();
        let mut paths = vec![
            &subject.reads,
            &subject.shows,
            &subject.sends,
            &subject.writes,
            &subject.deletes,
            &subject.changes,
            &subject.changed,
        ];
        if !subject.runs.is_empty() {
            commands.extend(&subject.except);
        } else if subject.has_path_keys() {
            paths.push(&subject.except);
        }
        if let RuleAction::Need(need) = &self.action
            && let NeedEvidence::Passed(pattern) = &need.evidence
        {
            commands.push(pattern);
        }
        for text in commands.into_iter().filter(|text| text.text != FETCHED_CODE) {
            if let Err(error) = CommandPattern::parse(&text.text) {
                found.push((text.offset, error.message));
            }
        }
        found.extend(paths.into_iter().filter_map(|texts| PathPatterns::parse(texts).err()));
        let regexes = [&subject.argument, &subject.code, &subject.adds, &subject.message];
        for regex in regexes.into_iter().flatten() {
            if let Some(mistake) = regex.find_mistake(is_thorough) {
                let RuleText { text, offset } = &regex.source;
                found.push((*offset, format!("`{text}` is not a regular expression: {mistake}")));
            }
        }
        found.into_iter().map(|(at, text)| (at, format!("rule `{}`: {text}", self.name))).collect()
    }
}

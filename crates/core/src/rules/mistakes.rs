//! The mistakes inside a rule's patterns, which the hook does not look for.

use provost_shell::pattern::CommandPattern;

use super::path_pattern::{PathPatterns, has_open_bracket};
use super::{FETCHED_CODE, NeedEvidence, Rule, RuleAction, RuleText, SAME_PROGRAM};
use crate::text::shorten_name;

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
        let is_name = |text: &&RuleText| [FETCHED_CODE, SAME_PROGRAM].contains(&&*text.text);
        for text in commands.into_iter().filter(|text| !is_name(text)) {
            if let Err(error) = CommandPattern::parse(&text.text) {
                found.push((text.offset, error.message));
            }
        }
        found.extend(paths.into_iter().filter_map(|texts| PathPatterns::parse(texts).err()));
        let mut names: Vec<&RuleText> =
            [&subject.commits, &subject.pushes, &subject.on_branch, &subject.in_agent, &subject.delegates]
                .into_iter()
                .flatten()
                .collect();
        if subject.runs.is_empty() && !subject.has_path_keys() {
            names.extend(&subject.except);
        }
        let tools = subject.uses.iter().map(|text| (text, find_tool_mistake(&text.text)));
        let names = names.into_iter().map(|text| (text, find_name_mistake(&text.text)));
        found.extend(tools.chain(names).filter_map(|(text, mistake)| Some((text.offset, mistake?))));
        let regexes = [&subject.argument, &subject.code, &subject.sets, &subject.adds, &subject.message];
        for regex in regexes.into_iter().flatten() {
            if let Some(mistake) = regex.find_mistake(is_thorough) {
                let RuleText { text, offset } = &regex.source;
                found.push((*offset, format!("`{text}` is not a regular expression: {mistake}")));
            }
        }
        found.into_iter().map(|(at, text)| (at, format!("rule `{}`: {text}", self.name))).collect()
    }

    /// Whether one of its patterns is a mistake, so that it decides nothing.
    pub fn has_broken_pattern(&self) -> bool {
        !self.origin.is_built_in && !self.find_pattern_mistakes(false).is_empty()
    }
}

/// What is wrong with the pattern of a tool's name.
fn find_tool_mistake(pattern: &str) -> Option<String> {
    if let Some((tool, _)) = pattern.split_once('(') {
        let shown = shorten_name(pattern);
        let instead =
            if tool.trim() == "Bash" { "use `runs` for commands" } else { "leave the brackets out" };
        return Some(format!("`{shown}` is not the name of a tool: {instead}"));
    }
    find_name_mistake(pattern)
}

/// What is wrong with a pattern of names.
fn find_name_mistake(pattern: &str) -> Option<String> {
    pattern.split('|').find_map(|name| {
        let name = name.trim();
        let rest = name.strip_prefix('!').unwrap_or(name);
        if rest.is_empty() {
            return Some("an alternative is empty: remove one `|`".into());
        }
        has_open_bracket(rest).then(|| format!("`{}` has a `[` without `]`", shorten_name(rest)))
    })
}

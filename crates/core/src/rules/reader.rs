//! Reads `[rules]` and `[[rule]]` from the document of one file.
//!
//! A rule with a mistake is left out, and the mistake is reported with its place. Patterns are not compiled here: the
//! hook reads rules at every call. It reads only those that its event may concern ([`read_concerned_rules`]).

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::baseline_index::{BaselineSection, find_sections};
use super::examples::read_examples;
use super::interest::RuleInterest;
use super::quick_reader::{count_line_feeds, read_section, split_file};
use super::value::{RuleEntry, RuleValue, convert_table};

use super::key_values::{
    Mistake, find_key, flag, need, number, regex, rule_name, text, texts, word, wrong_type,
};
use super::keys::{KEYS, TABLE_KEYS};
use super::layers::LayerRules;
use super::{
    BASELINE_NAME, NeedEvidence, PushWay, Rule, RuleAction, RuleOrigin, RuleSubject, RuleText, UnknownMeans,
    Unless,
};
use crate::event::EventKind;
use crate::layer::ConfigLayer;
use crate::places::fnv1a;
use crate::text::{shorten_name, suggest_word};

/// More rules than this are a mistake of whatever wrote the file.
const MOST_RULES: usize = 10_000;

/// Where the rules of a document come from.
pub(crate) struct RuleSource<'a> {
    pub(crate) layer: ConfigLayer,
    pub(crate) file: Arc<Path>,
    pub(crate) text: &'a str,
    pub(crate) is_built_in: bool,
}

/// The rules of one document.
pub(crate) fn read_layer_rules(
    document: &DeTable<'_>,
    source: &RuleSource<'_>,
    mistakes: &mut Vec<Mistake>,
) -> LayerRules {
    let mut rules = LayerRules { layer: source.layer, ..LayerRules::default() };
    read_table(document, &mut rules, mistakes);
    read_rule_list(document, 0, source, &mut RuleNames::default(), &mut rules, mistakes);
    rules
}

/// The names of the rules that were read.
pub(super) type RuleNames = HashSet<String>;

/// Reads the rules of a document, which begins at byte `base` of the file.
pub(super) fn read_rule_list(
    document: &DeTable<'_>,
    base: usize,
    source: &RuleSource<'_>,
    names: &mut RuleNames,
    rules: &mut LayerRules,
    mistakes: &mut Vec<Mistake>,
) {
    let Some(list) = document.get("rule") else { return };
    let DeValue::Array(list) = list.get_ref() else {
        mistakes.push((base + list.span().start, "`rule` must be a list of tables: write `[[rule]]`".into()));
        return;
    };
    if list.len() > MOST_RULES {
        mistakes.push((0, format!("{} rules are too many: only the first {MOST_RULES} hold", list.len())));
    }
    let mut lines = LineCounter::new(source.text);
    for item in list.iter().take(MOST_RULES) {
        let offset = base + item.span().start;
        let DeValue::Table(table) = item.get_ref() else {
            mistakes.push((offset, "`rule` must be a list of tables: write `[[rule]]`".into()));
            continue;
        };
        match read_rule(&mut convert_table(table, base), offset, source.origin(lines.line_at(offset))) {
            Ok(rule) if !names.insert(rule.name.clone()) => {
                replace_broken(rule, offset, &mut rules.rules, mistakes);
            }
            Ok(rule) => rules.rules.push(rule),
            Err(found) => mistakes.extend(found),
        }
    }
}

/// Takes a rule in place of an earlier one with its name, if that has a mistake. Otherwise the earlier one holds.
fn replace_broken(rule: Rule, offset: usize, rules: &mut [Rule], mistakes: &mut Vec<Mistake>) {
    let first = rules.iter_mut().find(|other| other.name == rule.name);
    if let Some(first) = first.filter(|first| first.has_broken_pattern()) {
        mistakes.extend(first.find_pattern_mistakes(false));
        *first = rule;
        return;
    }
    let name = rule.name;
    let text = format!("there are two rules `{name}`, and the second does not hold; give it another name");
    mistakes.push((offset, text));
}

/// The rules of a file that an event may concern, and the rest of the file without its rules; `None` if the file has to be
/// read in full, because it is written in another form or broken.
pub(crate) fn read_concerned_rules(
    source: &RuleSource<'_>,
    interest: &RuleInterest<'_>,
) -> Option<(Vec<Rule>, String)> {
    let mut lines = LineCounter::new(source.text);
    // A hash for each name, so that a rule that is not read costs no memory.
    let mut names = Vec::new();
    let (mut rules, mut count) = (Vec::new(), 0);
    let rest = split_file(source.text, |section| {
        count += 1;
        if count > MOST_RULES {
            return (!interest.needs_mistakes()).then_some(());
        }
        let mut parsed;
        let entries = if section.is_plain {
            section.entries
        } else {
            parsed = parse_section(section.text, section.offset)?;
            &mut parsed
        };
        // A command line as an example has no mistake; a table may have one.
        let has_examples = || entries.iter().any(|entry| entry.value.0 == RuleValue::Examples);
        if interest.needs_mistakes()
            && has_examples()
            && (!section.is_plain || section.text.contains('{'))
            && !read_examples(section.text).mistakes.is_empty()
        {
            return None;
        }
        let name = entries.iter().find(|entry| entry.key == "name").map(|entry| &entry.value.0);
        if let Some(RuleValue::Text(name)) = name {
            names.push(fnv1a(name.as_bytes()));
        }
        if interest.may_concern(entries) {
            match read_rule(entries, section.offset, source.origin(lines.line_at(section.offset))) {
                Ok(rule) => rules.push(rule),
                Err(_) if interest.needs_mistakes() => return None,
                // A rule with a mistake decides nothing.
                Err(_) => {}
            }
        }
        Some(())
    })?;
    names.sort_unstable();
    // Which of two rules of one name holds depends on the mistakes in both.
    let is_unique = names.windows(2).all(|two| two[0] != two[1]);
    is_unique.then_some((rules, rest))
}

/// The built-in rules that an event may concern.
pub(super) fn read_concerned_baseline(source: &RuleSource<'_>, interest: &RuleInterest<'_>) -> Vec<Rule> {
    // A built-in rule decides about calls, and about nothing else.
    let EventKind::BeforeTool(_) = interest.event.kind else { return Vec::new() };
    let read = |section: &BaselineSection| {
        let mut entries = read_section(source.text, section.start, section.end)?;
        read_rule(&mut entries, section.start, source.origin(section.line)).ok()
    };
    find_sections(interest.event).filter_map(read).collect()
}

/// A section that is not written plainly; `None` if it is not TOML.
fn parse_section(text: &str, offset: usize) -> Option<Vec<RuleEntry<'_>>> {
    let document = DeTable::parse(text).ok()?;
    let DeValue::Array(list) = document.get_ref().get("rule")?.get_ref() else { return None };
    match list.iter().next()?.get_ref() {
        DeValue::Table(table) => Some(convert_table(table, offset)),
        _ => None,
    }
}

impl RuleSource<'_> {
    fn origin(&self, line: usize) -> RuleOrigin {
        RuleOrigin { layer: self.layer, is_built_in: self.is_built_in, file: self.file.clone(), line }
    }
}

/// Counts lines up to places that come one after the other.
struct LineCounter<'a> {
    text: &'a str,
    line: usize,
    counted: usize,
}

impl<'a> LineCounter<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, line: 1, counted: 0 }
    }

    fn line_at(&mut self, offset: usize) -> usize {
        let between = self.text.get(self.counted..offset).unwrap_or_default();
        self.line += count_line_feeds(between.as_bytes());
        self.counted = offset.max(self.counted);
        self.line
    }
}

/// Reads `[rules]`.
pub(crate) fn read_table(document: &DeTable<'_>, rules: &mut LayerRules, mistakes: &mut Vec<Mistake>) {
    let Some(table) = document.get("rules") else { return };
    let DeValue::Table(entries) = table.get_ref() else {
        mistakes.push((table.span().start, "`rules` must be a table".into()));
        return;
    };
    for entry in convert_table(entries, 0) {
        let outcome = find_key(TABLE_KEYS, &entry).and_then(|key| {
            match key.name {
                "use" => {
                    rules.uses = texts(key, &entry.value)?;
                    let unknown = rules.uses.iter().find(|set| set.text != BASELINE_NAME);
                    if let Some(set) = unknown {
                        let suggestion = suggest_word(&set.text, std::iter::once(BASELINE_NAME.to_owned()));
                        let name = shorten_name(&set.text);
                        return Err((set.offset, format!("there is no built-in set `{name}`{suggestion}")));
                    }
                }
                "mode" => rules.is_watching = Some(word(key, &entry.value)? == "watch"),
                _ => rules.off = texts(key, &entry.value)?,
            }
            Ok(())
        });
        mistakes.extend(outcome.err());
    }
}

/// The fields of a rule while it is read.
#[derive(Default)]
struct RuleDraft {
    name: Option<RuleText>,
    subject: RuleSubject,
    actions: Vec<(usize, RuleAction)>,
    fix: Option<String>,
    is_watched: Option<bool>,
    rounds: Option<u64>,
    seconds: Option<u64>,
}

/// Reads a rule, and takes its entries out of the list.
fn read_rule(
    entries: &mut Vec<RuleEntry<'_>>,
    offset: usize,
    origin: RuleOrigin,
) -> Result<Rule, Vec<Mistake>> {
    let mut draft = RuleDraft::default();
    let has_name = entries.iter().any(|entry| entry.key == "name");
    let mut mistakes: Vec<Mistake> =
        entries.drain(..).filter_map(|entry| draft.read_entry(entry).err()).collect();
    let name = draft.name.take();
    if !has_name {
        mistakes.push((offset, "a rule needs a `name`".into()));
    }
    // A misspelled key explains what seems to be missing.
    if mistakes.is_empty() {
        mistakes.extend(draft.find_contradictions(offset));
    }
    let label =
        name.as_ref().map(|name| format!("rule `{}`: ", shorten_name(&name.text))).unwrap_or_default();
    if !mistakes.is_empty() {
        return Err(mistakes.into_iter().map(|(at, text)| (at, label.clone() + &text)).collect());
    }
    let RuleDraft { subject, mut actions, fix, is_watched, rounds, seconds, .. } = draft;
    let (Some(name), Some((_, mut action))) = (name, actions.pop()) else { return Err(mistakes) };
    match &mut action {
        RuleAction::Run { seconds: limit, .. } => *limit = seconds.unwrap_or(*limit),
        RuleAction::Need(need) => need.rounds = rounds.unwrap_or(need.rounds),
        _ => {}
    }
    Ok(Rule {
        name: name.text,
        origin,
        is_watched: is_watched.unwrap_or(false),
        own_mode: is_watched,
        subject,
        action,
        fix,
    })
}

impl RuleDraft {
    fn read_entry(&mut self, entry: RuleEntry<'_>) -> Result<(), Mistake> {
        let key = find_key(KEYS, &entry)?;
        let (at, value) = (entry.key_offset, entry.value);
        let subject = &mut self.subject;
        match key.name {
            "name" => self.name = Some(rule_name(key, &value)?),
            "runs" => subject.runs = texts(key, &value)?,
            "argument" => subject.argument = Some(regex(key, &value)?),
            "code" => subject.code = Some(regex(key, &value)?),
            "fed_by" => subject.fed_by = texts(key, &value)?,
            "sets" => subject.sets = Some(regex(key, &value)?),
            "reads" => subject.reads = texts(key, &value)?,
            "shows" => subject.shows = texts(key, &value)?,
            "sends" => subject.sends = texts(key, &value)?,
            "writes" => subject.writes = texts(key, &value)?,
            "deletes" => subject.deletes = texts(key, &value)?,
            "changes" => subject.changes = texts(key, &value)?,
            "by" => {
                let is_force = word(key, &value)? == "force";
                subject.by = Some(if is_force { PushWay::Force } else { PushWay::Deletion });
            }
            "adds" => subject.adds = Some(regex(key, &value)?),
            "commits" => subject.commits = texts(key, &value)?,
            "pushes" => subject.pushes = texts(key, &value)?,
            "message" => subject.message = Some(regex(key, &value)?),
            "uses" => subject.uses = texts(key, &value)?,
            "delegates" => subject.delegates = texts(key, &value)?,
            "stops" => subject.stops = flag(key, &value)?,
            "changed" => subject.changed = texts(key, &value)?,
            "in_agent" => subject.in_agent = texts(key, &value)?,
            "on_branch" => subject.on_branch = texts(key, &value)?,
            "unless" => {
                let list = match value {
                    (RuleValue::List(list), _) if !list.is_empty() => list,
                    value => vec![value],
                };
                for value in &list {
                    subject.unless.push(match word(key, value)? {
                        "new" => Unless::New,
                        "kept" => Unless::Kept,
                        _ => Unless::Saved,
                    });
                }
            }
            "except" => subject.except = texts(key, &value)?,
            "unknown" => {
                subject.unknown = match word(key, &value)? {
                    "ask" => UnknownMeans::Ask,
                    "deny" => UnknownMeans::Deny,
                    _ => UnknownMeans::Pass,
                }
            }
            "deny" => self.act(at, RuleAction::Deny(text(key, &value)?.text)),
            "ask" => self.act(at, RuleAction::Ask(text(key, &value)?.text)),
            "warn" => self.act(at, RuleAction::Warn(text(key, &value)?.text)),
            "run" => self.act(at, RuleAction::Run { command: text(key, &value)?.text, seconds: 30 }),
            "need" => self.act(at, RuleAction::Need(need(key, value)?)),
            "fix" => self.fix = Some(text(key, &value)?.text),
            "mode" => self.is_watched = Some(word(key, &value)? == "watch"),
            "rounds" => self.rounds = Some(number(key, &value)?),
            "seconds" => self.seconds = Some(number(key, &value)?),
            _ if value.0 == RuleValue::Examples => {}
            _ => return Err(wrong_type(key, value.1)),
        }
        Ok(())
    }

    fn act(&mut self, at: usize, action: RuleAction) {
        self.actions.push((at, action));
    }

    /// Keys that do not go together.
    fn find_contradictions(&self, offset: usize) -> Vec<Mistake> {
        let subject = &self.subject;
        let mut found = Vec::new();
        let mut wrong = |at: usize, text: &str| found.push((at, text.to_owned()));
        match self.actions.as_slice() {
            [] => wrong(offset, "it needs one of `deny`, `ask`, `warn`, `need` and `run`"),
            [_] => {}
            // The table is not in the order of the file.
            several => wrong(
                several.iter().map(|(at, _)| *at).max().unwrap_or(offset),
                "it may have only one of `deny`, `ask`, `warn`, `need` and `run`",
            ),
        }
        let action = self.actions.first().map(|(_, action)| action);
        let lists = [
            &subject.runs,
            &subject.reads,
            &subject.shows,
            &subject.sends,
            &subject.writes,
            &subject.deletes,
            &subject.changes,
            &subject.commits,
            &subject.pushes,
            &subject.uses,
            &subject.delegates,
        ];
        let concerns_calls = lists.iter().any(|list| !list.is_empty()) || subject.adds.is_some();
        if !concerns_calls && !subject.stops {
            wrong(
                offset,
                "it says nothing that it looks at: give one of `runs`, `reads`, `shows`, `sends`, `writes`, `deletes`, `changes`, \
                 `adds`, `commits`, `pushes`, `uses`, `delegates` and `stops`",
            );
        }
        if concerns_calls && subject.stops {
            wrong(offset, "`stops` does not go with keys about tool calls");
        }
        if subject.stops
            && matches!(action, Some(RuleAction::Deny(_) | RuleAction::Ask(_) | RuleAction::Run { .. }))
        {
            wrong(offset, "`stops` goes with `need` or `warn`");
        }
        if matches!(action, Some(RuleAction::Run { .. }))
            && subject.writes.is_empty()
            && subject.changes.is_empty()
            && subject.adds.is_none()
        {
            wrong(offset, "`run` goes with `writes` or `changes`");
        }
        let needs_evidence = matches!(action, Some(RuleAction::Need(_)));
        if !subject.changed.is_empty() && !needs_evidence && !subject.stops {
            wrong(offset, "`changed` goes with `need` or `stops`");
        }
        if subject.message.is_some() && subject.commits.is_empty() {
            wrong(offset, "`message` goes with `commits`");
        }
        let given = [
            ("argument", subject.argument.is_some()),
            ("code", subject.code.is_some()),
            ("fed_by", !subject.fed_by.is_empty()),
            ("sets", subject.sets.is_some()),
        ];
        for (key, _) in given.iter().filter(|(_, is_given)| *is_given && subject.runs.is_empty()) {
            wrong(offset, &format!("`{key}` goes with `runs`"));
        }
        if subject.by.is_some() && subject.pushes.is_empty() {
            wrong(offset, "`by` goes with `pushes`");
        }
        let needs_review = matches!(action, Some(RuleAction::Need(need)) if matches!(need.evidence, NeedEvidence::Review(_)));
        if needs_review && !subject.stops {
            wrong(offset, "`need = { review = … }` goes with `stops`");
        }
        if needs_review && self.rounds.is_some() {
            wrong(offset, "`rounds` does not go with a review: write `max_reviews` into `need`");
        }
        if self.rounds.is_some() && !needs_evidence {
            wrong(offset, "`rounds` goes with `need`");
        }
        if self.seconds.is_some() && !matches!(action, Some(RuleAction::Run { .. })) {
            wrong(offset, "`seconds` goes with `run`; for a check or a review, write it into `need`");
        }
        found
    }
}

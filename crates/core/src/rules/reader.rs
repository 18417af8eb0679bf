//! Reads `[rules]` and `[[rule]]` from the document of one file.
//!
//! A rule with a mistake is left out, and the mistake is reported with its place. Patterns are not compiled here: the
//! hook reads rules at every call.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{KEYS, KeyType, RuleKey, TABLE_KEYS};
use super::layers::LayerRules;
use super::{
    BASELINE_NAME, Need, NeedEvidence, Rule, RuleAction, RuleOrigin, RuleSubject, RuleText, UnknownMeans,
    Unless,
};
use crate::layer::ConfigLayer;
use crate::text::{shorten_name, suggest_word};

/// More rules than this are a mistake of whatever wrote the file.
const MOST_RULES: usize = 10_000;
const LONGEST_NAME: usize = 80;

/// A mistake: the byte in the file, and what is wrong.
type Mistake = (usize, String);
type Entry<'a, 'b> = (&'a Spanned<std::borrow::Cow<'b, str>>, &'a Spanned<DeValue<'b>>);

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
    if let Some(table) = document.get("rules") {
        read_table(table, &mut rules, mistakes);
    }
    let Some(list) = document.get("rule") else { return rules };
    let DeValue::Array(list) = list.get_ref() else {
        mistakes.push((list.span().start, "`rule` must be a list of tables: write `[[rule]]`".into()));
        return rules;
    };
    if list.len() > MOST_RULES {
        mistakes.push((0, format!("{} rules are too many: only the first {MOST_RULES} hold", list.len())));
    }
    let (mut line, mut counted) = (1, 0);
    let mut names = HashSet::new();
    for item in list.iter().take(MOST_RULES) {
        let offset = item.span().start;
        line += source
            .text
            .get(counted..offset)
            .unwrap_or_default()
            .bytes()
            .filter(|byte| *byte == b'\n')
            .count();
        counted = offset.max(counted);
        let DeValue::Table(table) = item.get_ref() else {
            mistakes.push((offset, "`rule` must be a list of tables: write `[[rule]]`".into()));
            continue;
        };
        let origin = RuleOrigin {
            layer: source.layer,
            is_built_in: source.is_built_in,
            file: source.file.clone(),
            line,
        };
        match read_rule(table, offset, origin) {
            Ok(rule) if !names.insert(rule.name.clone()) => {
                mistakes
                    .push((offset, format!("there are two rules `{}`; the second does not hold", rule.name)));
            }
            Ok(rule) => rules.rules.push(rule),
            Err(found) => mistakes.extend(found),
        }
    }
    rules
}

fn read_table(table: &Spanned<DeValue<'_>>, rules: &mut LayerRules, mistakes: &mut Vec<Mistake>) {
    let DeValue::Table(entries) = table.get_ref() else {
        mistakes.push((table.span().start, "`rules` must be a table".into()));
        return;
    };
    for (name, value) in entries {
        let outcome = find_key(TABLE_KEYS, (name, value)).and_then(|key| {
            match key.name {
                "use" => {
                    rules.uses = texts(key, value)?;
                    let unknown = rules.uses.iter().find(|set| set.text != BASELINE_NAME);
                    if let Some(set) = unknown {
                        let suggestion = suggest_word(&set.text, std::iter::once(BASELINE_NAME.to_owned()));
                        let name = shorten_name(&set.text);
                        return Err((set.offset, format!("there is no built-in set `{name}`{suggestion}")));
                    }
                }
                "mode" => rules.is_watching = Some(word(key, value)? == "watch"),
                _ => rules.off = texts(key, value)?,
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

fn read_rule(table: &DeTable<'_>, offset: usize, origin: RuleOrigin) -> Result<Rule, Vec<Mistake>> {
    let mut draft = RuleDraft::default();
    let mut mistakes: Vec<Mistake> = table.iter().filter_map(|entry| draft.read_entry(entry).err()).collect();
    let name = draft.name.take();
    if name.is_none() && table.get("name").is_none() {
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
    Ok(Rule { name: name.text, origin, is_watched: is_watched.unwrap_or(false), subject, action, fix })
}

impl RuleDraft {
    fn read_entry(&mut self, entry: Entry<'_, '_>) -> Result<(), Mistake> {
        let (name, value) = entry;
        let key = find_key(KEYS, entry)?;
        let subject = &mut self.subject;
        match key.name {
            "name" => self.name = Some(rule_name(key, value)?),
            "runs" => subject.runs = texts(key, value)?,
            "reads" => subject.reads = texts(key, value)?,
            "writes" => subject.writes = texts(key, value)?,
            "deletes" => subject.deletes = texts(key, value)?,
            "changes" => subject.changes = texts(key, value)?,
            "adds" => subject.adds = Some(text(key, value)?),
            "commits" => subject.commits = texts(key, value)?,
            "pushes" => subject.pushes = texts(key, value)?,
            "message" => subject.message = Some(text(key, value)?),
            "uses" => subject.uses = texts(key, value)?,
            "delegates" => subject.delegates = texts(key, value)?,
            "stops" => subject.stops = flag(key, value)?,
            "changed" => subject.changed = texts(key, value)?,
            "in_agent" => subject.in_agent = texts(key, value)?,
            "on_branch" => subject.on_branch = texts(key, value)?,
            "unless" => {
                let meaning = if word(key, value)? == "new" { Unless::New } else { Unless::Saved };
                subject.unless = vec![meaning];
            }
            "except" => subject.except = texts(key, value)?,
            "unknown" => {
                subject.unknown = match word(key, value)? {
                    "ask" => UnknownMeans::Ask,
                    "deny" => UnknownMeans::Deny,
                    _ => UnknownMeans::Pass,
                }
            }
            "deny" => self.act(name, RuleAction::Deny(text(key, value)?.text)),
            "ask" => self.act(name, RuleAction::Ask(text(key, value)?.text)),
            "warn" => self.act(name, RuleAction::Warn(text(key, value)?.text)),
            "run" => self.act(name, RuleAction::Run { command: text(key, value)?.text, seconds: 30 }),
            "need" => self.act(name, RuleAction::Need(need(key, value)?)),
            "fix" => self.fix = Some(text(key, value)?.text),
            "mode" => self.is_watched = Some(word(key, value)? == "watch"),
            "rounds" => self.rounds = Some(number(key, value, 100)?),
            "seconds" => self.seconds = Some(number(key, value, 3600)?),
            _ if matches!(value.get_ref(), DeValue::Array(_)) => {}
            _ => return Err(wrong_type(key, value)),
        }
        Ok(())
    }

    fn act(&mut self, name: &Spanned<std::borrow::Cow<'_, str>>, action: RuleAction) {
        self.actions.push((name.span().start, action));
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
                "it says nothing that it looks at: give one of `runs`, `reads`, `writes`, `deletes`, `changes`, `adds`, \
                 `commits`, `pushes`, `uses`, `delegates` and `stops`",
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
        if self.rounds.is_some() && !needs_evidence {
            wrong(offset, "`rounds` goes with `need`");
        }
        if self.seconds.is_some() && !matches!(action, Some(RuleAction::Run { .. })) {
            wrong(offset, "`seconds` goes with `run`; for a check, write it into `need`");
        }
        found
    }
}

fn find_key<'k>(keys: &'k [RuleKey], (name, _): Entry<'_, '_>) -> Result<&'k RuleKey, Mistake> {
    let spelled = name.get_ref().as_ref();
    keys.iter().find(|key| key.name == spelled).ok_or_else(|| {
        let suggestion = suggest_word(spelled, keys.iter().map(|key| key.name.to_owned()));
        (name.span().start, format!("unknown key `{}`{suggestion}", shorten_name(spelled)))
    })
}

fn wrong_type(key: &RuleKey, value: &Spanned<DeValue<'_>>) -> Mistake {
    (value.span().start, format!("`{}` takes {}", key.name, key.takes.describe()))
}

fn text(key: &RuleKey, value: &Spanned<DeValue<'_>>) -> Result<RuleText, Mistake> {
    match value.get_ref() {
        DeValue::String(text) if !text.trim().is_empty() => {
            Ok(RuleText { text: text.clone().into_owned(), offset: value.span().start })
        }
        _ => Err(wrong_type(key, value)),
    }
}

fn texts(key: &RuleKey, value: &Spanned<DeValue<'_>>) -> Result<Vec<RuleText>, Mistake> {
    match value.get_ref() {
        DeValue::Array(list) if !list.is_empty() => list.iter().map(|item| text(key, item)).collect(),
        _ => text(key, value).map(|text| vec![text]),
    }
}

fn word<'a>(key: &RuleKey, value: &'a Spanned<DeValue<'_>>) -> Result<&'a str, Mistake> {
    match (key.takes, value.get_ref()) {
        (KeyType::Word(choices), DeValue::String(word)) if choices.contains(&word.as_ref()) => {
            Ok(word.as_ref())
        }
        (KeyType::Word(choices), DeValue::String(word)) => {
            let (at, text) = wrong_type(key, value);
            Err((at, text + &suggest_word(word, choices.iter().map(|&choice| choice.to_owned()))))
        }
        _ => Err(wrong_type(key, value)),
    }
}

fn flag(key: &RuleKey, value: &Spanned<DeValue<'_>>) -> Result<bool, Mistake> {
    match value.get_ref() {
        DeValue::Boolean(true) => Ok(true),
        _ => Err(wrong_type(key, value)),
    }
}

fn number(key: &RuleKey, value: &Spanned<DeValue<'_>>, most: u64) -> Result<u64, Mistake> {
    let read = match value.get_ref() {
        DeValue::Integer(number) => {
            u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
        }
        _ => None,
    };
    read.filter(|number| (1..=most).contains(number)).ok_or_else(|| wrong_type(key, value))
}

/// A name can stand in a prompt (`provost override rule:NAME REASON`) and in a list of names.
fn rule_name(key: &RuleKey, value: &Spanned<DeValue<'_>>) -> Result<RuleText, Mistake> {
    let name = text(key, value)?;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.text.chars().all(is_part) && name.text.chars().count() <= LONGEST_NAME {
        return Ok(name);
    }
    let spelled = shorten_name(&name.text);
    Err((
        name.offset,
        format!(
            "`name` takes letters, digits, `-`, `_` and `.`, at most {LONGEST_NAME} of them, and not `{spelled}`"
        ),
    ))
}

fn need(key: &RuleKey, value: &Spanned<DeValue<'_>>) -> Result<Need, Mistake> {
    const NEED_KEYS: &[RuleKey] = &[
        RuleKey { name: "passed", takes: KeyType::Text, meaning: "" },
        RuleKey { name: "check", takes: KeyType::Text, meaning: "" },
        RuleKey { name: "seconds", takes: KeyType::Seconds, meaning: "" },
    ];
    let DeValue::Table(entries) = value.get_ref() else { return Err(wrong_type(key, value)) };
    let (mut evidence, mut limit) = (Vec::new(), None);
    for entry in entries {
        let need_key = find_key(NEED_KEYS, entry)?;
        match need_key.name {
            "passed" => evidence.push(NeedEvidence::Passed(text(need_key, entry.1)?)),
            "check" => {
                evidence.push(NeedEvidence::Check { command: text(need_key, entry.1)?.text, seconds: 60 });
            }
            _ => limit = Some((entry.0.span().start, number(need_key, entry.1, 3600)?)),
        }
    }
    let (Some(mut evidence), true) = (evidence.pop(), evidence.is_empty()) else {
        return Err(wrong_type(key, value));
    };
    match (&mut evidence, limit) {
        (NeedEvidence::Check { seconds, .. }, Some((_, limit))) => *seconds = limit,
        (NeedEvidence::Passed(_), Some((at, _))) => return Err((at, "`seconds` goes with `check`".into())),
        _ => {}
    }
    Ok(Need { evidence, rounds: 3 })
}

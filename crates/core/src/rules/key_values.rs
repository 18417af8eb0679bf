//! Reads the value of one key of a rule, or says what the key takes.

use super::keys::{KeyType, NEED_KEYS, RuleKey};
use super::value::{PlacedValue, RuleEntry, RuleValue};
use super::{Need, NeedEvidence, ReviewNeed, RuleRegex, RuleText};
use crate::text::{shorten_name, suggest_word};

const LONGEST_NAME: usize = 80;

/// A mistake: the byte in the file, and what is wrong.
pub(crate) type Mistake = (usize, String);

pub(crate) fn find_key<'k>(keys: &'k [RuleKey], entry: &RuleEntry<'_>) -> Result<&'k RuleKey, Mistake> {
    keys.iter().find(|key| key.name == entry.key).ok_or_else(|| {
        let suggestion = suggest_word(&entry.key, keys.iter().map(|key| key.name.to_owned()));
        (entry.key_offset, format!("unknown key `{}`{suggestion}", shorten_name(&entry.key)))
    })
}

pub(crate) fn wrong_type(key: &RuleKey, at: usize) -> Mistake {
    (at, format!("`{}` takes {}", key.name, key.takes.describe()))
}

pub(crate) fn text(key: &RuleKey, (value, offset): &PlacedValue<'_>) -> Result<RuleText, Mistake> {
    match value {
        RuleValue::Text(text) if !text.trim().is_empty() => {
            Ok(RuleText { text: text.to_string(), offset: *offset })
        }
        _ => Err(wrong_type(key, *offset)),
    }
}

pub(super) fn regex(key: &RuleKey, value: &PlacedValue<'_>) -> Result<RuleRegex, Mistake> {
    text(key, value).map(RuleRegex::new)
}

pub(crate) fn texts(key: &RuleKey, value: &PlacedValue<'_>) -> Result<Vec<RuleText>, Mistake> {
    match &value.0 {
        RuleValue::List(list) if !list.is_empty() => list.iter().map(|item| text(key, item)).collect(),
        _ => text(key, value).map(|text| vec![text]),
    }
}

pub(super) fn word<'a>(key: &RuleKey, (value, offset): &'a PlacedValue<'_>) -> Result<&'a str, Mistake> {
    match (key.takes, value) {
        (KeyType::Word(choices) | KeyType::Words(choices), RuleValue::Text(word))
            if choices.contains(&word.as_ref()) =>
        {
            Ok(word)
        }
        (KeyType::Word(choices) | KeyType::Words(choices), RuleValue::Text(word)) => {
            let (at, text) = wrong_type(key, *offset);
            Err((at, text + &suggest_word(word, choices.iter().map(|&choice| choice.to_owned()))))
        }
        _ => Err(wrong_type(key, *offset)),
    }
}

pub(super) fn flag(key: &RuleKey, (value, offset): &PlacedValue<'_>) -> Result<bool, Mistake> {
    if *value == RuleValue::Flag(true) { Ok(true) } else { Err(wrong_type(key, *offset)) }
}

pub(crate) fn number(key: &RuleKey, (value, offset): &PlacedValue<'_>) -> Result<u64, Mistake> {
    match (key.takes, value) {
        (KeyType::Number(most), RuleValue::Number(number)) if (1..=most).contains(number) => Ok(*number),
        _ => Err(wrong_type(key, *offset)),
    }
}

/// A name can stand in a prompt (`provost override rule:NAME REASON`) and in a list of names.
pub(super) fn rule_name(key: &RuleKey, value: &PlacedValue<'_>) -> Result<RuleText, Mistake> {
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

/// Reads the table `need`.
pub(super) fn need(key: &RuleKey, (value, offset): PlacedValue<'_>) -> Result<Need, Mistake> {
    let RuleValue::Table(entries) = value else { return Err(wrong_type(key, offset)) };
    let mut ways = Vec::new();
    let mut numbers: Vec<(&str, usize, u64)> = Vec::new();
    for entry in entries {
        let need_key = find_key(NEED_KEYS, &entry)?;
        match need_key.name {
            "passed" => ways.push(NeedEvidence::Passed(text(need_key, &entry.value)?)),
            "check" => {
                ways.push(NeedEvidence::Check { command: text(need_key, &entry.value)?.text, seconds: 60 });
            }
            "review" => {
                let clean = number(need_key, &entry.value)?;
                ways.push(NeedEvidence::Review(ReviewNeed { clean, ..ReviewNeed::default() }));
            }
            name => numbers.push((name, entry.key_offset, number(need_key, &entry.value)?)),
        }
    }
    let (Some(mut evidence), true) = (ways.pop(), ways.is_empty()) else {
        return Err(wrong_type(key, offset));
    };
    for (name, at, value) in numbers {
        match (&mut evidence, name) {
            (NeedEvidence::Check { seconds, .. }, "seconds") => *seconds = value,
            (NeedEvidence::Review(need), "seconds") => need.seconds = value,
            (NeedEvidence::Review(need), "max_reviews") => need.max_reviews = value,
            (NeedEvidence::Review(need), "least_lines") => need.least_lines = value,
            (_, "seconds") => return Err((at, "`seconds` goes with `check` and `review`".into())),
            (_, name) => return Err((at, format!("`{name}` goes with `review`"))),
        }
    }
    match evidence {
        NeedEvidence::Review(ReviewNeed { clean, max_reviews, .. }) if max_reviews < clean => {
            Err((offset, format!("`max_reviews` must be at least `review`, which is {clean}")))
        }
        evidence => Ok(Need { evidence, rounds: 3 }),
    }
}

//! The values of a rule, from the TOML parser or from the quick reader.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and the byte in the file where it begins.
pub(crate) type PlacedValue<'a> = (RuleValue<'a>, usize);

#[derive(Debug, PartialEq)]
pub(crate) enum RuleValue<'a> {
    Text(Cow<'a, str>),
    List(Vec<PlacedValue<'a>>),
    Flag(bool),
    Number(u64),
    Table(Vec<RuleEntry<'a>>),
    /// The list of examples, which only `rules test` reads.
    Examples,
    /// No key takes it.
    Other,
}

#[derive(Debug, PartialEq)]
pub(crate) struct RuleEntry<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) key_offset: usize,
    pub(crate) value: PlacedValue<'a>,
}

/// The entries of a table that the TOML parser has read from byte `base` of the file.
pub(crate) fn convert_table<'a>(table: &DeTable<'a>, base: usize) -> Vec<RuleEntry<'a>> {
    let entry = |(key, value): (&Spanned<Cow<'a, str>>, &Spanned<DeValue<'a>>)| {
        let is_example = matches!(key.get_ref().as_ref(), "match" | "not_match");
        let converted = match value.get_ref() {
            DeValue::Array(_) if is_example => (RuleValue::Examples, base + value.span().start),
            _ => convert_value(value, base),
        };
        RuleEntry { key: key.get_ref().clone(), key_offset: base + key.span().start, value: converted }
    };
    let mut entries: Vec<RuleEntry<'a>> = table.iter().map(entry).collect();
    // The parser orders keys by name.
    entries.sort_unstable_by_key(|entry| entry.key_offset);
    entries
}

fn convert_value<'a>(value: &Spanned<DeValue<'a>>, base: usize) -> PlacedValue<'a> {
    let converted = match value.get_ref() {
        DeValue::String(text) => RuleValue::Text(text.clone()),
        DeValue::Boolean(flag) => RuleValue::Flag(*flag),
        DeValue::Integer(number) => {
            let read = u64::from_str_radix(&number.as_str().replace('_', ""), number.radix());
            read.map_or(RuleValue::Other, RuleValue::Number)
        }
        DeValue::Array(list) => RuleValue::List(list.iter().map(|item| convert_value(item, base)).collect()),
        DeValue::Table(table) => RuleValue::Table(convert_table(table, base)),
        _ => RuleValue::Other,
    };
    (converted, base + value.span().start)
}

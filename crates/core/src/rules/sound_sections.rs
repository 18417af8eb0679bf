//! Reads what can be read of a file that is not TOML: each rule for itself.
//!
//! A quote that is missing in one rule makes the whole file unreadable to a TOML parser. Each section that is TOML by
//! itself still says what its author wrote.

use toml::de::DeTable;

use super::layers::LayerRules;
use super::reader::{RuleNames, RuleSource, read_rule_list, read_table};

/// More sections are not read.
const MOST_SECTIONS: usize = 1000;

/// The rules of the sections that can be read by themselves; `None` if there are none.
pub(crate) fn read_sound_sections(source: &RuleSource<'_>) -> Option<LayerRules> {
    let mut rules = LayerRules { layer: source.layer, ..LayerRules::default() };
    let mut names = RuleNames::default();
    // The mistakes of the file are reported already.
    let mut mistakes = Vec::new();
    for (offset, text) in split_sections(source.text).take(MOST_SECTIONS) {
        let Ok(document) = DeTable::parse(text) else { continue };
        read_table(document.get_ref(), &mut rules, &mut mistakes);
        read_rule_list(document.get_ref(), offset, source, &mut names, &mut rules, &mut mistakes);
    }
    (!rules.rules.is_empty() || !rules.uses.is_empty()).then_some(rules)
}

/// The sections of a file, each with the byte where it begins. A table such as `[rule.need]` belongs to the rule before it.
fn split_sections(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let starts_section = |line: &str| {
        let inner = line.trim_start().trim_start_matches('[').trim_start();
        line.trim_start().starts_with('[') && !inner.starts_with("rule.")
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            if end > 0 && starts_section(line) {
                break;
            }
            end += line.len();
        }
        let section = (at, &rest[..end]);
        at += end;
        Some(section)
    })
}

//! Reads the settings of one file, apart from its rules.

use toml::de::{DeTable, DeValue};

use super::settings::{Setting, SettingValue};
use super::{ConfigLayer, MOST_PROBLEMS};
use crate::text::{shorten_name, suggest_word};
use crate::workflow_table::is_workflow_entry;

/// The settings of a document.
pub(super) fn read_settings(
    layer: ConfigLayer,
    document: &DeTable<'_>,
    settings: &[Setting],
    has_duplicate: bool,
    mistakes: &mut Vec<(usize, String)>,
) -> Vec<(ConfigLayer, String, SettingValue)> {
    let mut values = Vec::new();
    for (table, content) in document {
        if matches!(table.get_ref().as_ref(), "rules" | "rule") {
            continue;
        }
        let is_in_table = |setting: &&Setting| setting.table == table.get_ref().as_ref();
        let known: Vec<&Setting> = settings.iter().filter(is_in_table).collect();
        if known.is_empty() {
            let tables = settings.iter().map(|setting| setting.table);
            let tables = tables.chain(["rules", "rule"]).map(str::to_owned);
            let (name, suggestion) = (shorten_name(table.get_ref()), suggest_word(table.get_ref(), tables));
            mistakes.push((table.span().start, format!("unknown table `{name}`{suggestion}")));
            continue;
        }
        let DeValue::Table(entries) = content.get_ref() else {
            mistakes.push((table.span().start, format!("`{}` must be a table", table.get_ref())));
            continue;
        };
        for (name, value) in entries {
            let is_setting = known.iter().any(|setting| setting.name == name.get_ref().as_ref());
            if table.get_ref() == "workflow" && is_workflow_entry(name.get_ref(), value.get_ref(), is_setting)
            {
                continue;
            }
            match read_setting(&known, name.get_ref(), value.get_ref()) {
                Ok((_, SettingValue::Word(word))) if has_duplicate && word == "off" => {}
                Ok((key, value)) => values.push((layer, key, value)),
                Err(words) if mistakes.len() < MOST_PROBLEMS => mistakes.push((name.span().start, words)),
                Err(_) => {}
            }
        }
    }
    values
}

/// The key and value of an entry of a table. An error describes the mistake.
fn read_setting(
    known: &[&Setting],
    name: &str,
    value: &DeValue<'_>,
) -> Result<(String, SettingValue), String> {
    let Some(setting) = known.iter().find(|setting| setting.name == name) else {
        let names = known.iter().map(|setting| setting.name.to_owned());
        return Err(format!("unknown key `{}`{}", shorten_name(name), suggest_word(name, names)));
    };
    match setting.value_type.parse(value) {
        Ok(value) => Ok((setting.key(), value)),
        Err(expected) => Err(format!("`{}` takes {expected}", setting.key())),
    }
}

//! The table of settings: the one place that says which keys exist, what they take and mean.
//!
//! Loading, `config check`, the JSON Schema and the guide are all made from it, so that a key is
//! known everywhere or nowhere.

use serde_json::{Map, Value as Json, json};
use toml::de::DeValue;

use crate::registry::GUARDS;

/// One setting.
pub struct Setting {
    pub table: &'static str,
    pub name: &'static str,
    pub takes: Takes,
    pub meaning: &'static str,
}

/// What a setting takes, with its default.
#[derive(Clone, Copy)]
pub enum Takes {
    Switch { default: bool },
    Number { default: i64, least: i64, most: i64 },
    Word { default: &'static str, of: &'static [&'static str] },
}

/// A value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Switch(bool),
    Number(i64),
    Word(String),
}

pub const DEADLINE: &str = "engine.deadline_seconds";
pub const JOURNAL: &str = "journal.enabled";
pub const JOURNAL_SIZE: &str = "journal.max_kilobytes";
/// Where the hook asks for a number at every call, its default stands beside the table.
pub const DEADLINE_DEFAULT: i64 = 5;
pub const JOURNAL_SIZE_DEFAULT: i64 = 4096;

const FIXED: &[Setting] = &[
    Setting {
        table: "engine",
        name: "deadline_seconds",
        takes: Takes::Number { default: DEADLINE_DEFAULT, least: 1, most: 60 },
        meaning: "How long the guards of one event may take together before their failure modes \
                  answer. Keep it below the timeout of the hook entry.",
    },
    Setting {
        table: "journal",
        name: "enabled",
        takes: Takes::Switch { default: true },
        meaning: "Whether each decision is written to the journal.",
    },
    Setting {
        table: "journal",
        name: "max_kilobytes",
        takes: Takes::Number { default: JOURNAL_SIZE_DEFAULT, least: 64, most: 1_048_576 },
        meaning: "The size at which the journal of a project starts a new file. Two old files are kept.",
    },
];

/// Every setting, in the order of the reference.
pub fn all() -> impl Iterator<Item = Setting> {
    let fixed =
        FIXED.iter().map(|s| Setting { table: s.table, name: s.name, takes: s.takes, meaning: s.meaning });
    let guards = GUARDS.iter().map(|guard| Setting {
        table: "guards",
        name: guard.name,
        takes: Takes::Word { default: "on", of: &["on", "off"] },
        meaning: guard.purpose,
    });
    fixed.chain(guards)
}

impl Setting {
    pub fn key(&self) -> String {
        format!("{}.{}", self.table, self.name)
    }
}

impl Takes {
    pub fn default_value(self) -> Value {
        match self {
            Self::Switch { default } => Value::Switch(default),
            Self::Number { default, .. } => Value::Number(default),
            Self::Word { default, .. } => Value::Word(default.into()),
        }
    }

    /// The value that a file gives, or what it should have been.
    pub fn read(self, value: &DeValue<'_>) -> Result<Value, String> {
        let read = match (self, value) {
            (Self::Switch { .. }, DeValue::Boolean(value)) => Some(Value::Switch(*value)),
            (Self::Number { least, most, .. }, DeValue::Integer(number)) => {
                let digits = number.as_str().replace('_', "");
                i64::from_str_radix(&digits, number.radix())
                    .ok()
                    .filter(|number| (least..=most).contains(number))
                    .map(Value::Number)
            }
            (Self::Word { of, .. }, DeValue::String(word)) => {
                of.contains(&word.as_ref()).then(|| Value::Word(word.clone().into_owned()))
            }
            _ => None,
        };
        read.ok_or_else(|| self.expected())
    }

    pub fn expected(self) -> String {
        match self {
            Self::Switch { .. } => "true or false".into(),
            Self::Number { least, most, .. } => format!("a whole number from {least} to {most}"),
            Self::Word { of, .. } => {
                of.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
            }
        }
    }

    fn schema(self) -> Map<String, Json> {
        let schema = match self {
            Self::Switch { default } => json!({"type": "boolean", "default": default}),
            Self::Number { default, least, most } => {
                json!({"type": "integer", "minimum": least, "maximum": most, "default": default})
            }
            Self::Word { default, of } => json!({"type": "string", "enum": of, "default": default}),
        };
        schema.as_object().cloned().unwrap_or_default()
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Switch(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Word(value) => write!(f, "\"{value}\""),
        }
    }
}

/// The JSON Schema of `provost.toml`.
pub fn schema() -> Json {
    let mut tables = Map::new();
    for setting in all() {
        let table = tables
            .entry(setting.table)
            .or_insert_with(|| json!({"type": "object", "additionalProperties": false, "properties": {}}));
        let mut schema = setting.takes.schema();
        schema.insert("description".into(), setting.meaning.into());
        table["properties"][setting.name] = schema.into();
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "provost.toml",
        "description": "The settings of Provost. Every key is optional.",
        "type": "object",
        "additionalProperties": false,
        "properties": tables,
    })
}

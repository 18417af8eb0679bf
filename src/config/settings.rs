//! The table of settings: the one place that says which keys exist, what they take and mean.
//!
//! Loading, `config check`, the JSON Schema and the guide are all made from it, so that a key is
//! known everywhere or nowhere.

use std::path::{Component, Path};

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
    Switch {
        default: bool,
    },
    Number {
        default: i64,
        least: i64,
        most: i64,
    },
    Word {
        default: &'static str,
        of: &'static [&'static str],
    },
    /// A list of words. A nearer layer's list stands in the place of a farther one's.
    Words {
        default: &'static [&'static str],
    },
    /// A directory below another one, by its name.
    Folder {
        default: &'static str,
    },
    /// Any word.
    Text {
        default: &'static str,
    },
}

/// A value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Switch(bool),
    Number(i64),
    Word(String),
    Words(Vec<String>),
}

pub const DEADLINE: &str = "engine.deadline_seconds";
pub const JOURNAL: &str = "journal.enabled";
pub const JOURNAL_SIZE: &str = "journal.max_kilobytes";
/// Where the hook asks for a number at every call, its default stands beside the table.
pub const DEADLINE_DEFAULT: i64 = 5;
pub const JOURNAL_SIZE_DEFAULT: i64 = 4096;

pub const PLANNER_AGENTS: &str = "planner.agents";
pub const PLANNER_STRICT: &str = "planner.strict";
pub const PLANNER_ALLOW: &str = "planner.allow";
pub const PLANNER_TOOLS: &str = "planner.tools";
pub const PLANNER_DIRECTORY: &str = "planner.directory";
pub const PLANNER_MINUTES: &str = "planner.plan_minutes";
pub const PLANNER_REQUIRE: &str = "planner.require_plan";
pub const PLANNER_ANALYSIS: &str = "planner.analysis_headings";
pub const PLANNER_SLICES: &str = "planner.slice_headings";

pub const PLAN_GATE: &str = "plan_gate.enabled";
pub const PLAN_GATE_WITNESS: &str = "plan_gate.witness";
pub const PLAN_GATE_STORE: &str = "plan_gate.store";
pub const PLAN_GATE_FLOOR: &str = "plan_gate.floor";
pub const PLAN_GATE_ASSESS: &str = "plan_gate.assess";
pub const PLAN_GATE_CRITICS: &str = "plan_gate.critics";
pub const PLAN_GATE_VALIDATORS: &str = "plan_gate.validators";
pub const PLAN_GATE_PHRASES: &str = "plan_gate.gap_phrases";
pub const PLAN_GATE_CRITIC_MODEL: &str = "plan_gate.critic_model";
pub const PLAN_GATE_VALIDATOR_MODEL: &str = "plan_gate.validator_model";
pub const REVIEW_LOOP_SECONDS: &str = "review_loop.seconds";
pub const REVIEW_LOOP_PLAN: &str = "review_loop.plan";
pub const REVIEW_LOOP_RULES: &str = "review_loop.ground_rules";
pub const REVIEW_LOOP_STATE: &str = "review_loop.state";
pub const REVIEW_LOOP_REPORT: &str = "review_loop.report";
pub const PHASES_VALIDATE: &str = "phases.validate";
pub const PHASES_NOTIFY: &str = "phases.notify";
pub const REVIEWER_COMMAND: &str = "reviewer.command";
pub const REVIEWER_SECONDS: &str = "reviewer.seconds";

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
    Setting {
        table: "plan_gate",
        name: "enabled",
        takes: Takes::Switch { default: false },
        meaning: "Whether the plan gate is on for hook entries that name no pack. An entry with \
                  `--pack plan-gate`, as the plugin `rodin` has, switches it on by itself.",
    },
    Setting {
        table: "plan_gate",
        name: "witness",
        takes: Takes::Word { default: "on", of: &["on", "off"] },
        meaning: "Whether a pass counts only if Provost saw the critic's and the validator's own \
                  answers for exactly this text. With \"off\" the agent's own word is believed.",
    },
    Setting {
        table: "plan_gate",
        name: "store",
        takes: Takes::Word { default: "embedded", of: &["embedded", "sidecar"] },
        meaning: "Where the record of a plan is kept: in comments at the end of the plan, or in files \
                  of `rodin-plan-gate/` beside it.",
    },
    Setting {
        table: "plan_gate",
        name: "floor",
        takes: Takes::Word { default: "advice", of: &["advice", "block", "off"] },
        meaning: "What a plan without goals, without a gaps block or with an open \"TBD\" means when \
                  plan mode is left: a remark, a denial, or nothing.",
    },
    Setting {
        table: "plan_gate",
        name: "assess",
        takes: Takes::Word { default: "skill", of: &["skill", "exit"] },
        meaning: "Who has a plan assessed: the agent by its skill, or Provost itself when plan mode \
                  is left, through the reviewer. For \"exit\", give the hook entry a timeout above four \
                  times `reviewer.seconds` and 20 more: a client that loses patience lets the plan pass.",
    },
    Setting {
        table: "plan_gate",
        name: "critics",
        takes: Takes::Words { default: &["rodin:critic"] },
        meaning: "The types of the agents whose answers count as a critic's, in full.",
    },
    Setting {
        table: "plan_gate",
        name: "validators",
        takes: Takes::Words { default: &["rodin:validator"] },
        meaning: "The types of the agents whose answers count as a validator's, in full.",
    },
    Setting {
        table: "plan_gate",
        name: "gap_phrases",
        takes: Takes::Words {
            default: &[
                "unclear",
                "not sure",
                "might fail",
                "need to investigate",
                "TODO",
                "TBD",
                "to be determined",
                "risk of",
                "potential issue",
                "may not work",
                "assuming",
                "if this works",
                "hopefully",
            ],
        },
        meaning: "Phrases that sound like a gap. From three different ones on, `provost gate assess` \
                  adds each of them to the gaps.",
    },
    Setting {
        table: "plan_gate",
        name: "critic_model",
        takes: Takes::Text { default: "opus" },
        meaning: "The model that `provost gate assess` asks as the critic.",
    },
    Setting {
        table: "plan_gate",
        name: "validator_model",
        takes: Takes::Text { default: "haiku" },
        meaning: "The model that `provost gate assess` asks as the validator.",
    },
    Setting {
        table: "planner",
        name: "agents",
        takes: Takes::Words { default: &["tdd-planner"] },
        meaning: "The types of the agents that only plan. A name also means the agent of that name \
                  in any plugin (`plugin:name`).",
    },
    Setting {
        table: "planner",
        name: "strict",
        takes: Takes::Switch { default: true },
        meaning: "Whether every part of a planner's command line is judged. If not, only its first \
                  program and the files that it writes are.",
    },
    Setting {
        table: "planner",
        name: "allow",
        takes: Takes::Words { default: &[] },
        meaning: "Programs that a planner may run besides those of the built-in list, exactly as \
                  they are written on the command line.",
    },
    Setting {
        table: "planner",
        name: "tools",
        takes: Takes::Words { default: &[] },
        meaning: "Tools unknown to Provost (of MCP servers, for example) that a planner may use, by \
                  their full names. What they do is not judged.",
    },
    Setting {
        table: "planner",
        name: "directory",
        takes: Takes::Folder { default: "planning" },
        meaning: "The directory of the project that a planner may write to, and in which its plan is \
                  looked for.",
    },
    Setting {
        table: "planner",
        name: "plan_minutes",
        takes: Takes::Number { default: 30, least: 1, most: 10_080 },
        meaning: "How recently a plan must have been changed to count as the one just made.",
    },
    Setting {
        table: "planner",
        name: "require_plan",
        takes: Takes::Switch { default: true },
        meaning: "Whether a planner may stop only with a recent plan. If not, a plan is checked only \
                  where there is one.",
    },
    Setting {
        table: "planner",
        name: "analysis_headings",
        takes: Takes::Words {
            default: &["feature analysis", "feature description", "requirements analysis", "overview"],
        },
        meaning: "A plan needs a heading with one of these in it. Large and small letters are the same.",
    },
    Setting {
        table: "planner",
        name: "slice_headings",
        takes: Takes::Words { default: &["test specification", "slice N"] },
        meaning: "A plan needs a heading with one of these in it, too. ` N` at the end stands for a \
                  number.",
    },
    Setting {
        table: "review_loop",
        name: "seconds",
        takes: Takes::Number { default: 570, least: 1, most: 7100 },
        meaning: "How long one review may take. The `timeout` of the hook entry must be longer; a client that \
                  is told nothing waits 600 seconds.",
    },
    Setting {
        table: "review_loop",
        name: "plan",
        takes: Takes::Word { default: "session", of: &["session", "newest"] },
        meaning: "Which plan a stop belongs to: the one that the session worked on last, or whichever was \
                  changed last by anybody.",
    },
    Setting {
        table: "review_loop",
        name: "ground_rules",
        takes: Takes::Switch { default: true },
        meaning: "Whether the files of a plan are checked where no review is due: their names, that each \
                  review has what it is about, and that tasks.md is a table.",
    },
    Setting {
        table: "review_loop",
        name: "state",
        takes: Takes::Word { default: "checked", of: &["checked", "believed"] },
        meaning: "Whether the number of clean reviews in state.json counts only as far as Provost has seen them.",
    },
    Setting {
        table: "review_loop",
        name: "report",
        takes: Takes::Word { default: "changes", of: &["changes", "always"] },
        meaning: "What the person is told at a stop: what has changed, once, or also that all is well.",
    },
    Setting {
        table: "phases",
        name: "validate",
        takes: Takes::Word { default: "after", of: &["after", "before"] },
        meaning: "When a write to a workflow's state.json is judged: after it, with a remark, or also before it, \
                  so that one that fakes the state or takes it back is denied.",
    },
    Setting {
        table: "phases",
        name: "notify",
        takes: Takes::Word { default: "person", of: &["person", "model"] },
        meaning: "Who is told what the guards of the phases remark: the person, or the model as well.",
    },
    Setting {
        table: "reviewer",
        name: "command",
        takes: Takes::Words { default: &[] },
        meaning: "The program, with its arguments, that reviews. `{model}` in an argument stands for the \
                  model's name, and `{prompt}` for the prompt, of at most 100 KiB; without it, the prompt \
                  is its standard input. It prints its answer; for a review of files, that ends with a \
                  line `VERDICT: PASS` or `VERDICT: FAIL`, or with an object `{\"verdict\": \"PASS\"}`. \
                  Empty: the client itself, with no hooks, and with tools only for a review of files.",
    },
    Setting {
        table: "reviewer",
        name: "seconds",
        takes: Takes::Number { default: 240, least: 5, most: 3600 },
        meaning: "How long a reviewer may take for one answer. It is ended then, with everything that \
                  it has started, and there is no answer.",
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

/// The default of a setting that is no guard's switch.
pub fn default_of(key: &str) -> Option<Value> {
    let (table, name) = key.split_once('.')?;
    let setting = FIXED.iter().find(|setting| setting.table == table && setting.name == name)?;
    Some(setting.takes.default_value())
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
            Self::Word { default, .. } | Self::Folder { default } | Self::Text { default } => {
                Value::Word(default.into())
            }
            Self::Words { default } => Value::Words(default.iter().map(|&word| word.into()).collect()),
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
            (Self::Words { .. }, DeValue::Array(list)) => {
                let word = |item: &toml::Spanned<DeValue<'_>>| match item.get_ref() {
                    DeValue::String(word) if !word.trim().is_empty() => Some(word.clone().into_owned()),
                    _ => None,
                };
                list.iter().map(word).collect::<Option<_>>().map(Value::Words)
            }
            (Self::Folder { .. }, DeValue::String(path)) => {
                is_below(path).then(|| Value::Word(path.clone().into_owned()))
            }
            (Self::Text { .. }, DeValue::String(text)) => {
                (!text.trim().is_empty()).then(|| Value::Word(text.clone().into_owned()))
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
            Self::Words { .. } => "a list of words".into(),
            Self::Folder { .. } => "the name of a directory below the project".into(),
            Self::Text { .. } => "a word".into(),
        }
    }

    fn schema(self) -> Map<String, Json> {
        let schema = match self {
            Self::Switch { default } => json!({"type": "boolean", "default": default}),
            Self::Number { default, least, most } => {
                json!({"type": "integer", "minimum": least, "maximum": most, "default": default})
            }
            Self::Word { default, of } => json!({"type": "string", "enum": of, "default": default}),
            Self::Words { default } => {
                json!({"type": "array", "items": {"type": "string", "pattern": "\\S"}, "default": default})
            }
            Self::Folder { default } => json!({"type": "string", "default": default}),
            Self::Text { default } => json!({"type": "string", "pattern": "\\S", "default": default}),
        };
        schema.as_object().cloned().unwrap_or_default()
    }
}

/// Whether a path names something below the place it starts from, and only by going down.
fn is_below(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Switch(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Word(value) => write!(f, "\"{value}\""),
            Self::Words(list) => {
                let words: Vec<_> = list.iter().map(|word| format!("\"{word}\"")).collect();
                write!(f, "[{}]", words.join(", "))
            }
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

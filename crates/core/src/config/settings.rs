//! The table of settings: which keys exist, what they take and what they mean.
//!
//! Loading, `config check`, the JSON Schema and the reference page all use it, so that they cannot disagree.

use std::path::{Component, Path};

use serde_json::{Map, Value as Json, json};
use toml::de::DeValue;

use crate::rules;
use crate::workflow_table;

/// One setting.
#[derive(Clone, Copy)]
pub struct Setting {
    pub table: &'static str,
    pub name: &'static str,
    pub value_type: SettingType,
    pub meaning: &'static str,
}

/// What a setting takes, with its default.
#[derive(Clone, Copy)]
#[rustfmt::skip]
pub enum SettingType {
    Switch { default: bool },
    Number { default: i64, least: i64, most: i64 },
    Word { default: &'static str, choices: &'static [&'static str] },
    /// A list of words. The list of a layer replaces the lists of lower layers.
    Words { default: &'static [&'static str] },
    /// A list of some of these words; by default none.
    Choices { choices: &'static [&'static str] },
    /// A relative path that leads downwards only.
    Folder { default: &'static str },
    /// Any text that is not blank.
    Text { default: &'static str },
}

/// A value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingValue {
    Switch(bool),
    Number(i64),
    Word(String),
    Words(Vec<String>),
}

pub const DEADLINE_SECONDS: &str = "engine.deadline_seconds";
pub const JOURNAL_ENABLED: &str = "journal.enabled";
pub const JOURNAL_MAX_KILOBYTES: &str = "journal.max_kilobytes";

pub const PLANNER_AGENTS: &str = "planner.agents";
pub const PLANNER_STRICT: &str = "planner.strict";
pub const PLANNER_ALLOW: &str = "planner.allow";
pub const PLANNER_TOOLS: &str = "planner.tools";
pub const PLANNER_DIRECTORY: &str = "planner.directory";
pub const PLANNER_PLAN_MINUTES: &str = "planner.plan_minutes";
pub const PLANNER_REQUIRE_PLAN: &str = "planner.require_plan";
pub const PLANNER_ANALYSIS_HEADINGS: &str = "planner.analysis_headings";
pub const PLANNER_SLICE_HEADINGS: &str = "planner.slice_headings";

pub const PLAN_GATE_ENABLED: &str = "plan_gate.enabled";
pub const PLAN_GATE_WITNESS: &str = "plan_gate.witness";
pub const PLAN_GATE_STORE: &str = "plan_gate.store";
pub const PLAN_GATE_PREREQUISITES: &str = "plan_gate.floor";
pub const PLAN_GATE_ASSESS: &str = "plan_gate.assess";
pub const PLAN_GATE_CRITICS: &str = "plan_gate.critics";
pub const PLAN_GATE_VALIDATORS: &str = "plan_gate.validators";
pub const PLAN_GATE_GAP_PHRASES: &str = "plan_gate.gap_phrases";
pub const PLAN_GATE_CRITIC_MODEL: &str = "plan_gate.critic_model";
pub const PLAN_GATE_VALIDATOR_MODEL: &str = "plan_gate.validator_model";
pub const REVIEW_LOOP_SECONDS: &str = "review_loop.seconds";
pub const REVIEW_LOOP_PLAN: &str = "review_loop.plan";
pub const REVIEW_LOOP_GROUND_RULES: &str = "review_loop.ground_rules";
pub const REVIEW_LOOP_STATE: &str = "review_loop.state";
pub const REVIEW_LOOP_REPORT: &str = "review_loop.report";
pub const PHASES_VALIDATE: &str = "phases.validate";
pub const PHASES_NOTIFY: &str = "phases.notify";
pub const WORKFLOW_USE: &str = "workflow.use";
pub const WORKFLOW_STRICT: &str = "workflow.strict";
pub const WORKFLOW_APPROVE_BY: &str = "workflow.approve_by";
pub const WORKFLOW_FREE_ROUTES: &str = "workflow.free_routes";
pub const REVIEWER_COMMAND: &str = "reviewer.command";
pub const REVIEWER_SECONDS: &str = "reviewer.seconds";
pub const REVIEWER_PROMPT: &str = "reviewer.prompt";
pub const REVIEWER_FINDINGS: &str = "reviewer.findings";

/// All settings but the switches of the guards.
const FIXED: &[Setting] = &[
    number(
        DEADLINE_SECONDS,
        5,
        (1, 60),
        "How many seconds all guards of one event may take together. After that, their failure modes decide. Keep it \
         below the timeout of the hook entry.",
    ),
    switch(JOURNAL_ENABLED, true, "Whether each decision is written to the journal."),
    number(
        JOURNAL_MAX_KILOBYTES,
        4096,
        (64, 1_048_576),
        "The size at which the journal of a project starts a new file. Two old files are kept whole; the archive keeps what \
         is older in compact form.",
    ),
    switch(
        PLAN_GATE_ENABLED,
        false,
        "Whether the plan gate is on for hook entries that name no pack. An entry with `--pack plan-gate`, as the plugin \
         `rodin` has, switches it on by itself.",
    ),
    word(
        PLAN_GATE_WITNESS,
        &["on", "off"],
        "Whether a pass counts only if Provost saw the critic's and the validator's own answers for exactly this text. \
         With \"off\", the agent's word is enough.",
    ),
    word(
        PLAN_GATE_STORE,
        &["embedded", "sidecar"],
        "Where the record of a plan is kept: in comments at the end of the plan, or in files of `rodin-plan-gate/` \
         beside it.",
    ),
    word(
        PLAN_GATE_PREREQUISITES,
        &["advice", "block", "off"],
        "What happens when the agent leaves plan mode with a plan that has no goals, no gaps block or an open \"TBD\": a \
         remark, a denial, or nothing.",
    ),
    word(
        PLAN_GATE_ASSESS,
        &["skill", "exit"],
        "Who starts the assessment of a plan: the agent with its skill, or Provost with the reviewer when the agent \
         leaves plan mode. For \"exit\", set the timeout of the hook entry above four times `reviewer.seconds` plus 20 \
         seconds: a client that times out allows the plan.",
    ),
    words(
        PLAN_GATE_CRITICS,
        &["rodin:critic"],
        "The full types of the agents whose answers count as a critic's.",
    ),
    words(
        PLAN_GATE_VALIDATORS,
        &["rodin:validator"],
        "The full types of the agents whose answers count as a validator's.",
    ),
    words(
        PLAN_GATE_GAP_PHRASES,
        &[
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
        "Phrases that sound like a gap. If a plan has three different ones or more, `provost gate assess` adds each of \
         them to the gaps.",
    ),
    text(PLAN_GATE_CRITIC_MODEL, "opus", "The model that `provost gate assess` asks as the critic."),
    text(PLAN_GATE_VALIDATOR_MODEL, "haiku", "The model that `provost gate assess` asks as the validator."),
    words(
        PLANNER_AGENTS,
        &["tdd-planner"],
        "The types of the agents that only plan. A name also matches the agent of that name in any plugin \
         (`plugin:name`).",
    ),
    switch(
        PLANNER_STRICT,
        true,
        "Whether every part of a planner's command line is judged. If not, only its first program and the files that it \
         writes are.",
    ),
    words(
        PLANNER_ALLOW,
        &[],
        "Programs that a planner may run besides those of the built-in list, exactly as they are written on the command \
         line.",
    ),
    words(
        PLANNER_TOOLS,
        &[],
        "Tools unknown to Provost (of MCP servers, for example) that a planner may use, by their full names. What they \
         do is not judged.",
    ),
    Setting::new(
        PLANNER_DIRECTORY,
        SettingType::Folder { default: "planning" },
        "The directory of the project that a planner may write to. Provost looks for its plan there.",
    ),
    number(
        PLANNER_PLAN_MINUTES,
        30,
        (1, 10_080),
        "A plan that was changed within this many minutes counts as the one just made.",
    ),
    switch(
        PLANNER_REQUIRE_PLAN,
        true,
        "Whether a planner may stop only with a recent plan. If not, a plan is checked only if there is one.",
    ),
    words(
        PLANNER_ANALYSIS_HEADINGS,
        &["feature analysis", "feature description", "requirements analysis", "overview"],
        "A plan needs a heading that contains one of these. Case does not matter.",
    ),
    words(
        PLANNER_SLICE_HEADINGS,
        &["test specification", "slice N"],
        "A plan also needs a heading that contains one of these. ` N` at the end stands for a number.",
    ),
    number(
        REVIEW_LOOP_SECONDS,
        570,
        (1, 7100),
        "How many seconds one review may take. The `timeout` of the hook entry must be longer; without one, a client \
         waits 600 seconds.",
    ),
    word(
        REVIEW_LOOP_PLAN,
        &["session", "newest"],
        "Which plan a stop belongs to: the one that the session worked on last, or the one that was changed last.",
    ),
    switch(
        REVIEW_LOOP_GROUND_RULES,
        true,
        "Whether the files of a plan are checked when no review is due: that their names are valid, that each review \
         has its subject, and that tasks.md is a table.",
    ),
    word(
        REVIEW_LOOP_STATE,
        &["checked", "believed"],
        "Whether a clean review in state.json counts only if Provost has seen it.",
    ),
    word(
        REVIEW_LOOP_REPORT,
        &["changes", "always"],
        "What the user reads at a stop: each change once, or also that all is well.",
    ),
    word(
        PHASES_VALIDATE,
        &["after", "before"],
        "When a write to a workflow's state.json is judged: after it, with a warning, or also before it, so that a write \
         that fakes the state or sets it back is denied.",
    ),
    word(
        PHASES_NOTIFY,
        &["person", "model"],
        "Who reads the warnings of the phase guards: the user only, or the model too.",
    ),
    words(
        WORKFLOW_USE,
        &[],
        "The workflows whose work waits for the user's approval: `openspec`, `spec-kit`, `kiro`, `bmad`, `task-master`, or the \
         name of a table `[workflow.NAME]`.",
    ),
    switch(
        WORKFLOW_STRICT,
        false,
        "Whether work is also denied while no change, feature, spec or story is open.",
    ),
    Setting::new(
        WORKFLOW_APPROVE_BY,
        SettingType::Choices { choices: &["command"] },
        "What approves an instance besides the prompt `provost approve NAME`: with \"command\", also the user's own prompt that \
         starts the work, such as `/opsx:apply NAME` or `/speckit-implement`.",
    ),
    Setting::new(
        WORKFLOW_FREE_ROUTES,
        SettingType::Choices { choices: &["oneshot", "dispatch"] },
        "Routes of BMAD whose stories need no approval: \"oneshot\", \"dispatch\". The agent chooses the route.",
    ),
    words(
        REVIEWER_COMMAND,
        &[],
        "The program that reviews, with its arguments. In an argument, `{model}` stands for the model's name and \
         `{prompt}` for the prompt (at most 100 KiB); without `{prompt}`, the program reads it from standard input. It \
         prints its answer. The answer to a review of files ends with a line `VERDICT: PASS` or `VERDICT: FAIL`, or with \
         an object `{\"verdict\": \"PASS\"}`. If empty, the client itself reviews, without hooks, and with tools only for \
         a review of files.",
    ),
    number(
        REVIEWER_SECONDS,
        240,
        (5, 3600),
        "How many seconds a reviewer may take for one answer. After that, it is ended with every process that it \
         started, and counts as no answer.",
    ),
    text(
        REVIEWER_PROMPT,
        "",
        "What a reviewer of changes is told: a file, or a directory with `code.md`, `tests.md` and `docs.md`, each for the \
         changed files of its kind. A path is relative to the project, or begins with `/` or `~/`. If empty, Provost's own \
         instructions are used, as for each file that the directory does not have.",
    ),
    text(
        REVIEWER_FINDINGS,
        "",
        "The directory to which reviewers of changes write what they find: relative to the project, or with `/` or `~/` in \
         front. If empty, it is in Provost's state directory, for 30 days.",
    ),
];

const fn switch(key: &'static str, default: bool, meaning: &'static str) -> Setting {
    Setting::new(key, SettingType::Switch { default }, meaning)
}

const fn number(
    key: &'static str,
    default: i64,
    (least, most): (i64, i64),
    meaning: &'static str,
) -> Setting {
    Setting::new(key, SettingType::Number { default, least, most }, meaning)
}

/// The first of the words is the default.
const fn word(key: &'static str, choices: &'static [&'static str], meaning: &'static str) -> Setting {
    Setting::new(key, SettingType::Word { default: choices[0], choices }, meaning)
}

const fn words(key: &'static str, default: &'static [&'static str], meaning: &'static str) -> Setting {
    Setting::new(key, SettingType::Words { default }, meaning)
}

const fn text(key: &'static str, default: &'static str, meaning: &'static str) -> Setting {
    Setting::new(key, SettingType::Text { default }, meaning)
}

/// Every setting, in the order of the reference page. The switches of the guards come last.
pub fn list_settings(guards: Vec<Setting>) -> Vec<Setting> {
    FIXED.iter().copied().chain(guards).collect()
}

/// The default of a setting other than a guard's switch.
pub fn find_default(key: &str) -> Option<SettingValue> {
    let (table, name) = key.split_once('.')?;
    let setting = FIXED.iter().find(|setting| setting.table == table && setting.name == name)?;
    Some(setting.value_type.default_value())
}

impl Setting {
    /// `key` is `TABLE.NAME`.
    const fn new(key: &'static str, value_type: SettingType, meaning: &'static str) -> Self {
        let mut dot = 0;
        while key.as_bytes()[dot] != b'.' {
            dot += 1;
        }
        Self { table: key.split_at(dot).0, name: key.split_at(dot + 1).1, value_type, meaning }
    }

    pub fn key(&self) -> String {
        format!("{}.{}", self.table, self.name)
    }
}

impl SettingType {
    pub fn default_value(self) -> SettingValue {
        match self {
            Self::Switch { default } => SettingValue::Switch(default),
            Self::Number { default, .. } => SettingValue::Number(default),
            Self::Word { default, .. } | Self::Folder { default } | Self::Text { default } => {
                SettingValue::Word(default.into())
            }
            Self::Words { default } => SettingValue::Words(default.iter().map(|&word| word.into()).collect()),
            Self::Choices { .. } => SettingValue::Words(Vec::new()),
        }
    }

    /// Reads the value of a file. An error says what the setting takes.
    pub fn parse(self, value: &DeValue<'_>) -> Result<SettingValue, String> {
        let word_value = |word: &str| Some(SettingValue::Word(word.to_owned()));
        let read = match (self, value) {
            (Self::Switch { .. }, DeValue::Boolean(value)) => Some(SettingValue::Switch(*value)),
            (Self::Number { least, most, .. }, DeValue::Integer(number)) => {
                let digits = number.as_str().replace('_', "");
                i64::from_str_radix(&digits, number.radix())
                    .ok()
                    .filter(|number| (least..=most).contains(number))
                    .map(SettingValue::Number)
            }
            (Self::Word { choices, .. }, DeValue::String(word)) if choices.contains(&word.as_ref()) => {
                word_value(word)
            }
            (Self::Folder { .. }, DeValue::String(path)) if leads_down(path) => word_value(path),
            (Self::Text { .. }, DeValue::String(text)) if !text.trim().is_empty() => word_value(text),
            (Self::Words { .. } | Self::Choices { .. }, DeValue::Array(list)) => {
                let is_choice = |word: &str| match self {
                    Self::Choices { choices } => choices.contains(&word),
                    _ => !word.trim().is_empty(),
                };
                let word = |item: &toml::Spanned<DeValue<'_>>| match item.get_ref() {
                    DeValue::String(word) if is_choice(word) => Some(word.clone().into_owned()),
                    _ => None,
                };
                list.iter().map(word).collect::<Option<_>>().map(SettingValue::Words)
            }
            _ => None,
        };
        read.ok_or_else(|| self.describe())
    }

    pub fn describe(self) -> String {
        match self {
            Self::Switch { .. } => "true or false".into(),
            Self::Number { least, most, .. } => format!("a whole number from {least} to {most}"),
            Self::Word { choices, .. } => quote_all(choices).join(" or "),
            Self::Words { .. } => "a list of words".into(),
            Self::Choices { choices } => format!("a list of {}", quote_all(choices).join(" and ")),
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
            Self::Word { default, choices } => json!({"type": "string", "enum": choices, "default": default}),
            Self::Words { default } => {
                json!({"type": "array", "items": {"type": "string", "pattern": "\\S"}, "default": default})
            }
            Self::Choices { choices } => {
                json!({"type": "array", "items": {"type": "string", "enum": choices}, "default": []})
            }
            Self::Folder { default } => json!({"type": "string", "default": default}),
            // A text that is not set has no value that a file could give.
            Self::Text { default: "" } => json!({"type": "string", "pattern": "\\S"}),
            Self::Text { default } => json!({"type": "string", "pattern": "\\S", "default": default}),
        };
        schema.as_object().cloned().unwrap_or_default()
    }
}

/// Whether a path is relative and has no `.` or `..`.
fn leads_down(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

fn quote_all<T: std::fmt::Display>(words: &[T]) -> Vec<String> {
    words.iter().map(|word| format!("\"{word}\"")).collect()
}

impl std::fmt::Display for SettingValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Switch(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Word(value) => write!(f, "\"{value}\""),
            Self::Words(list) => write!(f, "[{}]", quote_all(list).join(", ")),
        }
    }
}

/// The JSON Schema of `provost.toml`.
pub fn build_schema(settings: &[Setting]) -> Json {
    let mut tables = Map::new();
    for setting in settings {
        let table = tables
            .entry(setting.table)
            .or_insert_with(|| json!({"type": "object", "additionalProperties": false, "properties": {}}));
        let mut schema = setting.value_type.schema();
        schema.insert("description".into(), setting.meaning.into());
        table["properties"][setting.name] = schema.into();
    }
    let [own_workflow, finish] = workflow_table::keys::build_schemas();
    tables["workflow"]["additionalProperties"] = own_workflow;
    tables["workflow"]["properties"]["finish"] = finish;
    tables.extend(rules::keys::build_schemas().map(|(name, schema)| (name.to_owned(), schema)));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "provost.toml",
        "description": "The settings of Provost. Every key is optional.",
        "type": "object",
        "additionalProperties": false,
        "properties": tables,
    })
}

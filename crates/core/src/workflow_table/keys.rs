//! The table of the keys of `[workflow.NAME]`: what each takes and means.
//!
//! The reader, the JSON Schema and the page use it, so that they cannot disagree.

use serde_json::{Value, json};

use crate::rules::keys::{KeyType, RuleKey, build_table_schema};

const fn key(name: &'static str, takes: KeyType, meaning: &'static str) -> RuleKey {
    RuleKey { name, takes, meaning }
}

/// The keys of `[workflow.NAME]`.
pub const TABLE_KEYS: &[RuleKey] = &[
    key("noun", KeyType::Text, "What one instance is called in messages: `change`, `feature`."),
    key(
        "marker",
        KeyType::Texts,
        "A file or directory. The nearest directory that has it is the project that an edit belongs to.",
    ),
    key(
        "planning",
        KeyType::Texts,
        "The directories in which every change is planning. All other files are work.",
    ),
    key(
        "instances",
        KeyType::Texts,
        "Where the instances are: a path with `*` as its last part (`docs/changes/*`). With an extension (`docs/*.md`), each \
         instance is one file.",
    ),
    key("except", KeyType::Texts, "Names in place of the `*` that are no instances: `archive`."),
    key(
        "required",
        KeyType::Texts,
        "A file of each instance without which no work begins, or a pattern with `*` and `**`. The user approves it.",
    ),
    key("optional", KeyType::Texts, "A file that the user approves with the others if it exists."),
    key("tasks", KeyType::Text, "The file of each instance with the tasks, as boxes: `- [ ] text`."),
    key(
        "unfilled",
        KeyType::Texts,
        "A text that a required file has as long as nobody has filled in its template.",
    ),
    key("pointer", KeyType::Text, "The file that holds the name of the current instance."),
    key(
        "pointer_key",
        KeyType::Text,
        "The key of that file's JSON object; without it, the file holds only the name.",
    ),
    key(
        "commands",
        KeyType::Texts,
        "What a prompt of the user begins with that starts the work on an instance, before its name: `/ours:build`.",
    ),
    key("notes", KeyType::Texts, "The heading of a section that the agent may change after the approval."),
];

/// The keys of `finish`.
pub(super) const FINISH_KEYS: &[RuleKey] = &[
    key(
        "passed",
        KeyType::Text,
        "A command, in the form of `runs`, that has succeeded since the last change.",
    ),
    key("review", KeyType::Number(10), "How many reviews in a row have to be clean."),
];

/// The JSON Schemas of `[workflow.NAME]` and of `finish`.
pub fn build_schemas() -> [Value; 2] {
    let mut finish = build_table_schema(FINISH_KEYS);
    finish["description"] =
        json!("What has to be proved before an agent archives an instance or sets it to done.");
    [build_table_schema(TABLE_KEYS), finish]
}

//! The table of a rule's keys: what each takes and means.
//!
//! The reader, the JSON Schema and the reference page use it, so that they cannot disagree.

use serde_json::{Map, Value, json};

/// One key of `[[rule]]` or `[rules]`.
pub struct RuleKey {
    pub name: &'static str,
    pub takes: KeyType,
    pub meaning: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyType {
    Text,
    /// A text or a list of texts.
    Texts,
    True,
    /// A number from 1 to this one.
    Number(u64),
    Word(&'static [&'static str]),
    /// A word or a list of words.
    Words(&'static [&'static str]),
    Need,
    Examples,
}

const fn key(name: &'static str, takes: KeyType, meaning: &'static str) -> RuleKey {
    RuleKey { name, takes, meaning }
}

/// The keys of `[rules]`.
pub const TABLE_KEYS: &[RuleKey] = &[
    key("use", KeyType::Texts, "Built-in sets of rules. There is one: `baseline`."),
    key(
        "mode",
        KeyType::Word(&["enforce", "watch"]),
        "With \"watch\", every rule of this file is judged and recorded, and none is enforced.",
    ),
    key("off", KeyType::Texts, "The names of rules that do not hold: rules of this file and built-in ones."),
];

/// The keys of a `[[rule]]`.
pub const KEYS: &[RuleKey] = &[
    key("name", KeyType::Text, "The name of the rule in answers, in the journal and in overrides."),
    key(
        "runs",
        KeyType::Texts,
        "A program that is started: its name, its first operands and its options, as in `git push --force|-f`. `*` is any one \
         word, or any text within a word (`npm run test*`). `<end>` as the last word excludes more words, and `<fetched>` is \
         code from the network, as in `curl … | sh`.",
    ),
    key(
        "argument",
        KeyType::Text,
        "With `runs`: a regular expression in an argument of the program, such as the SQL that it gets.",
    ),
    key(
        "code",
        KeyType::Text,
        "With `runs`: a regular expression in an argument of the program, or in a text of the line that it reads from its \
         input, such as a here-document.",
    ),
    key(
        "fed_by",
        KeyType::Texts,
        "With `runs`: a program whose output becomes the input or a word of that program, in the form of `runs`. `<itself>` is \
         a program of the same name.",
    ),
    key(
        "sets",
        KeyType::Text,
        "With `runs`: a regular expression for a variable and its value that the line sets, such as `^HUSKY=0$`.",
    ),
    key(
        "reads",
        KeyType::Texts,
        "The path of a file that is read, as a pattern of .gitignore. `~/…` is the home, `/…` is absolute, `<outside>` is \
         outside the project and temporary directories, `<root>` is the project's root itself, and `!` takes out again.",
    ),
    key(
        "shows",
        KeyType::Texts,
        "The path of a file that is read and then shown or copied. Unlike `reads`, it does not match a program that only uses the \
         file, such as `source .env` or `ssh -i KEY`. The same patterns as for `reads`.",
    ),
    key(
        "sends",
        KeyType::Texts,
        "The path of a file whose content goes to the network. The same patterns as for `reads`.",
    ),
    key(
        "writes",
        KeyType::Texts,
        "The path of a file that is created or changed. The same patterns as for `reads`.",
    ),
    key("deletes", KeyType::Texts, "The path of a file that is deleted. The same patterns as for `reads`."),
    key(
        "changes",
        KeyType::Texts,
        "The path of a file that is written or deleted. The same patterns as for `reads`.",
    ),
    key("adds", KeyType::Text, "A regular expression in the lines that a write adds."),
    key(
        "commits",
        KeyType::Texts,
        "The branch that a commit, merge, revert, cherry-pick or `git am` lands on.",
    ),
    key("pushes", KeyType::Texts, "The branch that a push changes."),
    key(
        "by",
        KeyType::Word(&["force", "deletion"]),
        "With `pushes`: only a push that may take commits away, or that deletes a branch or tag.",
    ),
    key(
        "message",
        KeyType::Text,
        "With `commits`: a regular expression that the commit message must have. The rule matches a message without it.",
    ),
    key("uses", KeyType::Texts, "The name of a tool, as a pattern: `mcp__github__*`."),
    key("delegates", KeyType::Texts, "The type of an agent that is started, as a pattern."),
    key(
        "stops",
        KeyType::True,
        "The end of a turn of the main conversation; with `in_agent`, the end of such an agent. Goes with `need` or `warn`.",
    ),
    key(
        "changed",
        KeyType::Texts,
        "Files that this session has changed since the evidence that `need` asks for. The same patterns as for `reads`.",
    ),
    key("in_agent", KeyType::Texts, "Only in agents of these types. `main` is the main conversation."),
    key(
        "on_branch",
        KeyType::Texts,
        "Only while the repository is on such a branch: where the command runs, after the switches of the line before it.",
    ),
    key(
        "unless",
        KeyType::Words(&["new", "kept", "saved"]),
        "\"new\": not if the file does not exist yet. \"kept\": not if the content stays: the command only appends to the \
         file, changes its mode or time, or moves it. \"saved\": not if git has everything that the command would discard.",
    ),
    key(
        "except",
        KeyType::Texts,
        "What the rule does not apply to, in the form of its first key of `runs`, the path keys, `commits`, `pushes`, `uses` \
         and `delegates`. It is judged for each command: `rm build` does not excuse `rm build src`.",
    ),
    key(
        "unknown",
        KeyType::Word(&["pass", "ask", "deny"]),
        "What happens if a program, operand, option or path cannot be known, because it is a variable or a substitution.",
    ),
    key("deny", KeyType::Text, "Denies the call, for this reason."),
    key("ask", KeyType::Text, "Asks the user, for this reason. Where nobody can answer, the call is denied."),
    key("warn", KeyType::Text, "Tells the model and the user this, and the call continues."),
    key(
        "need",
        KeyType::Need,
        "The call or the end of the turn waits for evidence: `{ passed = \"cargo test\" }`, \
         `{ check = \"make lint\" }` or, with `stops`, `{ review = 2 }`: so many clean reviews in a row. `check` and `review` take \
         `seconds`; `review` also takes `max_reviews` (8) and `least_lines` (1).",
    ),
    key(
        "run",
        KeyType::Text,
        "Runs this command after a write that matches, once for each file. `{path}` is the file.",
    ),
    key("fix", KeyType::Text, "What the model should do instead."),
    key(
        "mode",
        KeyType::Word(&["enforce", "watch"]),
        "With \"watch\", the rule is judged and recorded, but not enforced.",
    ),
    key(
        "rounds",
        KeyType::Number(100),
        "With `need` and `stops`: how often in a row a turn is stopped (3). For a review, `max_reviews` says that.",
    ),
    key("seconds", KeyType::Number(LONGEST_SECONDS), "With `run`: how long the command may take (30)."),
    key("match", KeyType::Examples, "Examples that the rule must match. `provost rules test` checks them."),
    key("not_match", KeyType::Examples, "Examples that the rule must not match."),
];

/// The longest time limit of a command or a review.
const LONGEST_SECONDS: u64 = 3600;

/// The keys of `need`.
pub const NEED_KEYS: &[RuleKey] = &[
    key("passed", KeyType::Text, "The command that must have succeeded."),
    key("check", KeyType::Text, "The command line that Provost runs."),
    key("review", KeyType::Number(10), "How many clean reviews in a row."),
    key("seconds", KeyType::Number(LONGEST_SECONDS), "How long the check, or one review, may take."),
    key("max_reviews", KeyType::Number(100), "How many reviews there are at most, until the next change."),
    key("least_lines", KeyType::Number(100_000), "A change of fewer lines is not reviewed by itself."),
];

impl KeyType {
    pub fn describe(self) -> String {
        match self {
            Self::Text => "a text".into(),
            Self::Texts => "a text or a list of texts".into(),
            Self::True => "true".into(),
            Self::Number(most) => format!("a whole number from 1 to {most}"),
            Self::Word(choices) => {
                choices.iter().map(|choice| format!("\"{choice}\"")).collect::<Vec<_>>().join(" or ")
            }
            Self::Words(choices) => format!("{}, or a list of them", Self::Word(choices).describe()),
            Self::Need => "a table with `passed`, `check` or `review`".into(),
            Self::Examples => "a list of command lines and tables".into(),
        }
    }

    fn schema(self) -> Value {
        let text = json!({"type": "string", "pattern": "\\S"});
        let texts = json!({"oneOf": [text, {"type": "array", "items": text, "minItems": 1}]});
        match self {
            Self::Text => text,
            Self::Texts => texts,
            Self::True => json!({"const": true}),
            Self::Number(most) => json!({"type": "integer", "minimum": 1, "maximum": most}),
            Self::Word(choices) => json!({"type": "string", "enum": choices}),
            Self::Words(choices) => {
                let word = Self::Word(choices).schema();
                json!({"oneOf": [word, {"type": "array", "items": word, "minItems": 1}]})
            }
            Self::Need => {
                let mut need = build_table_schema(NEED_KEYS);
                need["oneOf"] = ["passed", "check", "review"].map(|way| json!({"required": [way]})).into();
                need
            }
            Self::Examples => json!({"type": "array", "items": {"oneOf": [text, {"type": "object"}]}}),
        }
    }
}

/// The JSON Schema of a table with these keys.
pub(crate) fn build_table_schema(keys: &[RuleKey]) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let mut schema = key.takes.schema();
        schema["description"] = key.meaning.into();
        properties.insert(key.name.into(), schema);
    }
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

/// The JSON Schemas of `[rules]` and `[[rule]]`.
pub fn build_schemas() -> [(&'static str, Value); 2] {
    let mut rule = build_table_schema(KEYS);
    rule["required"] = json!(["name"]);
    rule["oneOf"] = ["deny", "ask", "warn", "need", "run"].map(|action| json!({"required": [action]})).into();
    [("rules", build_table_schema(TABLE_KEYS)), ("rule", json!({"type": "array", "items": rule}))]
}

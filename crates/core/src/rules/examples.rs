//! The examples of rules: `match` and `not_match`, which are tests.
//!
//! The hook never reads them. `provost rules test`, `config check` and `doctor` read them from the text of a file, and
//! judge each without a look at the disk.

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{BASELINE, BASELINE_NAME};
use crate::text::{shorten_name, suggest_word};

/// One example of one rule.
#[derive(Debug)]
pub struct Example {
    /// The rule's name, with its set in front if it is built in.
    pub rule: String,
    /// The byte in the file.
    pub offset: usize,
    /// The rule must match it.
    pub must_match: bool,
    pub subject: ExampleSubject,
    /// The type of the agent in which it happens.
    pub agent: Option<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The file does not exist yet.
    pub is_new: bool,
}

/// What happens in an example.
#[derive(Debug, PartialEq)]
pub enum ExampleSubject {
    /// A command line.
    Line(String),
    Write {
        path: String,
        text: String,
    },
    Read(String),
    Delete(String),
    /// The call of a tool by the client's name.
    Tool {
        name: String,
        input: Map<String, Value>,
    },
    /// The end of a turn, in which files were changed, commands were run with success, and reviews were clean, in this order.
    Stop {
        changed: Vec<String>,
        ran: Vec<String>,
        /// The clean reviews of these changes, in a row.
        reviewed: u64,
    },
}

/// The examples of a file, and the mistakes in them: the byte in the file, and what is wrong.
#[derive(Debug, Default)]
pub struct ExampleList {
    pub examples: Vec<Example>,
    pub mistakes: Vec<(usize, String)>,
}

impl std::fmt::Display for ExampleSubject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(line) => write!(f, "`{line}`"),
            Self::Write { path, .. } => write!(f, "write `{path}`"),
            Self::Read(path) => write!(f, "read `{path}`"),
            Self::Delete(path) => write!(f, "delete `{path}`"),
            Self::Tool { name, .. } => write!(f, "tool `{name}`"),
            Self::Stop { changed, ran, reviewed } => {
                write!(f, "stop after changes of [{}] and runs of [{}]", changed.join(", "), ran.join(", "))?;
                if *reviewed > 0 { write!(f, " and {reviewed} clean reviews") } else { Ok(()) }
            }
        }
    }
}

/// Reads the examples of a file with rules.
pub fn read_examples(text: &str) -> ExampleList {
    read_with_prefix(text, "")
}

/// The examples of the built-in rules.
pub fn read_baseline_examples() -> ExampleList {
    read_with_prefix(BASELINE, &format!("{BASELINE_NAME}/"))
}

fn read_with_prefix(text: &str, prefix: &str) -> ExampleList {
    let mut list = ExampleList::default();
    let (document, _) = DeTable::parse_recoverable(text);
    let Some(DeValue::Array(rules)) = document.get_ref().get("rule").map(Spanned::get_ref) else {
        return list;
    };
    for rule in rules {
        let DeValue::Table(rule) = rule.get_ref() else { continue };
        let Some(DeValue::String(name)) = rule.get("name").map(Spanned::get_ref) else { continue };
        for (key, must_match) in [("match", true), ("not_match", false)] {
            let Some(DeValue::Array(examples)) = rule.get(key).map(Spanned::get_ref) else { continue };
            for example in examples {
                match read_example(example) {
                    Ok(found) => {
                        list.examples.push(Example { rule: format!("{prefix}{name}"), must_match, ..found });
                    }
                    Err((offset, why)) => {
                        let why = format!("rule `{}`: `{key}`: {why}", shorten_name(name));
                        list.mistakes.push((offset, why));
                    }
                }
            }
        }
    }
    list
}

type Mistake = (usize, String);

fn read_example(value: &Spanned<DeValue<'_>>) -> Result<Example, Mistake> {
    let offset = value.span().start;
    let empty = |subject| Example {
        rule: String::new(),
        offset,
        must_match: true,
        subject,
        agent: None,
        branch: None,
        is_new: false,
    };
    match value.get_ref() {
        DeValue::String(line) => Ok(empty(ExampleSubject::Line(line.clone().into_owned()))),
        DeValue::Table(table) => {
            let mut example = empty(read_subject(table, offset)?);
            for (name, value) in table {
                match name.get_ref().as_ref() {
                    "agent" => example.agent = Some(text(value)?),
                    "branch" => example.branch = Some(text(value)?),
                    "new" => example.is_new = flag(value)?,
                    _ => {}
                }
            }
            Ok(example)
        }
        _ => Err((offset, "an example is a command line or a table".into())),
    }
}

fn read_subject(table: &DeTable<'_>, offset: usize) -> Result<ExampleSubject, Mistake> {
    const SUBJECTS: &[(&str, &[&str])] = &[
        ("run", &[]),
        ("write", &["text"]),
        ("read", &[]),
        ("delete", &[]),
        ("tool", &["input"]),
        ("stop", &["changed", "ran", "reviewed"]),
    ];
    const FACTS: &[&str] = &["agent", "branch", "new"];
    let mut found = SUBJECTS.iter().filter(|(name, _)| table.contains_key(*name));
    let (Some((subject, details)), None) = (found.next(), found.next()) else {
        return Err((
            offset,
            "an example has one of `run`, `write`, `read`, `delete`, `tool` and `stop`".into(),
        ));
    };
    let known = || FACTS.iter().chain(*details).chain([subject]).copied();
    for (name, _) in table {
        let spelled = name.get_ref().as_ref();
        if !known().any(|known| known == spelled) {
            let suggestion = suggest_word(spelled, known().map(str::to_owned));
            return Err((name.span().start, format!("unknown key `{}`{suggestion}", shorten_name(spelled))));
        }
    }
    let value = &table[*subject];
    let detail = |name: &str| table.get(name).map(text).transpose().map(Option::unwrap_or_default);
    let list = |name: &str| table.get(name).map(texts).transpose().map(Option::unwrap_or_default);
    Ok(match *subject {
        "run" => ExampleSubject::Line(text(value)?),
        "write" => ExampleSubject::Write { path: text(value)?, text: detail("text")? },
        "read" => ExampleSubject::Read(text(value)?),
        "delete" => ExampleSubject::Delete(text(value)?),
        "tool" => {
            let input = match table.get("input").map(|input| (input.span().start, to_json(input.get_ref()))) {
                Some((_, Value::Object(input))) => input,
                Some((offset, _)) => return Err((offset, "`input` takes a table".into())),
                None => Map::new(),
            };
            ExampleSubject::Tool { name: text(value)?, input }
        }
        _ => {
            flag(value)?;
            let reviewed = table.get("reviewed").map(count).transpose()?.unwrap_or(0);
            ExampleSubject::Stop { changed: list("changed")?, ran: list("ran")?, reviewed }
        }
    })
}

fn text(value: &Spanned<DeValue<'_>>) -> Result<String, Mistake> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.clone().into_owned()),
        _ => Err((value.span().start, "this takes a text".into())),
    }
}

fn texts(value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, Mistake> {
    match value.get_ref() {
        DeValue::Array(list) => list.iter().map(text).collect(),
        _ => text(value).map(|text| vec![text]),
    }
}

fn count(value: &Spanned<DeValue<'_>>) -> Result<u64, Mistake> {
    let number = match value.get_ref() {
        DeValue::Integer(number) => {
            u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
        }
        _ => None,
    };
    number.ok_or((value.span().start, "this takes a whole number".into()))
}

fn flag(value: &Spanned<DeValue<'_>>) -> Result<bool, Mistake> {
    match value.get_ref() {
        DeValue::Boolean(true) => Ok(true),
        _ => Err((value.span().start, "this takes true".into())),
    }
}

fn to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(value) => (*value).into(),
        DeValue::Integer(number) => i64::from_str_radix(&number.as_str().replace('_', ""), number.radix())
            .map_or(Value::Null, Value::from),
        DeValue::Float(number) => {
            number.as_str().replace('_', "").parse::<f64>().map_or(Value::Null, Value::from)
        }
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(list) => list.iter().map(|item| to_json(item.get_ref())).collect(),
        DeValue::Table(table) => {
            table.iter().map(|(name, item)| (name.get_ref().to_string(), to_json(item.get_ref()))).collect()
        }
    }
}

//! A verdict as the metadata of a plan holds it.

use serde_json::{Map, Value, json};

use crate::text::bounded;

/// A reason is a sentence or a list. The end of a plan file is searched for the session's mark, so
/// it must not grow without bound.
pub const LONGEST_REASON: usize = 1_500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub status: Status,
    pub reason: String,
    /// When it was made, where that is known.
    pub time: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    Pass,
    Fail,
    Pending,
    /// Not a status that anybody writes.
    Other(String),
}

impl Status {
    pub fn of(word: &str) -> Self {
        match word {
            "pass" => Self::Pass,
            "fail" => Self::Fail,
            "pending" => Self::Pending,
            other => Self::Other(other.to_owned()),
        }
    }

    pub fn word(&self) -> &str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Pending => "pending",
            Self::Other(word) => word,
        }
    }
}

impl Verdict {
    pub fn new(status: Status, reason: &str, time: String) -> Self {
        Self { status, reason: bounded(reason.trim(), LONGEST_REASON).into_owned(), time: Some(time) }
    }

    /// What is missing or has a wrong type is empty.
    pub fn from_json(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Self {
            status: Status::of(&text("status").unwrap_or_default()),
            reason: text("reason").unwrap_or_default(),
            time: text("ts"),
        }
    }

    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("status".into(), json!(self.status.word()));
        object.insert("reason".into(), json!(self.reason));
        if let Some(time) = &self.time {
            object.insert("ts".into(), json!(time));
        }
        object.into()
    }

    /// On one line, and without an arrow that would end a comment early.
    pub fn in_a_mark(&self) -> String {
        self.to_json().to_string().replace('>', "\\u003e")
    }
}

//! A verdict in the metadata of a plan.

use crate::prelude::*;
use serde_json::{Value, json};

use provost_core::text::truncate_utf16;

/// The longest reason. A search for the session's mark reads only the end of a plan file, so the marks must
/// stay short.
pub const LONGEST_REASON: usize = 1_500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanVerdict {
    pub status: VerdictStatus,
    pub reason: String,
    /// When it was given, if that is known.
    pub time: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerdictStatus {
    Pass,
    Fail,
    Pending,
    Other(String),
}

impl VerdictStatus {
    pub fn parse(word: &str) -> Self {
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

impl PlanVerdict {
    pub fn new(status: VerdictStatus, reason: &str, time: String) -> Self {
        Self { status, reason: truncate_utf16(reason.trim(), LONGEST_REASON).into_owned(), time: Some(time) }
    }

    /// A missing field, or one of a wrong type, is empty.
    pub fn from_json(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Self {
            status: VerdictStatus::parse(&text("status").unwrap_or_default()),
            reason: text("reason").unwrap_or_default(),
            time: text("ts"),
        }
    }

    pub fn to_json(&self) -> Value {
        let mut object = json!({"status": self.status.word(), "reason": self.reason});
        if let Some(time) = &self.time {
            object["ts"] = json!(time);
        }
        object
    }

    /// The JSON on one line, without an arrow that would end the comment early.
    pub fn to_mark_value(&self) -> String {
        self.to_json().to_string().replace('>', "\\u003e")
    }
}

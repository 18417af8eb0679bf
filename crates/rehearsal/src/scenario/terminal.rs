//! The interactive client: the size of its terminal, and the steps of the user.

use std::num::NonZeroU16;

use serde::Deserialize;
use serde_json::Value;

use super::{Action, Pattern};
use crate::terminal::Key;

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TerminalSize {
    pub(crate) columns: NonZeroU16,
    pub(crate) rows: NonZeroU16,
}

/// One thing that the user does or waits for. In a `[[do]]` it is written as its only key.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum UserStep {
    /// Waits until the client is idle, types a line, and sends it.
    Prompt(String),
    /// Types without sending.
    Type(String),
    Press(Keys),
    WaitFor(String),
    WaitForMatch(Pattern),
    WaitGone(String),
    WaitIdle(bool),
    WaitForRequest {
        #[serde(default = "super::main_route")]
        route: String,
        n: usize,
    },
    WaitForHook {
        event: String,
        #[serde(default = "first_number")]
        n: usize,
    },
    Outside(Vec<Action>),
}

/// One key, or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct Keys(pub(crate) Vec<Key>);

impl TryFrom<Value> for Keys {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let names =
            if value.is_string() { vec![value] } else { value.as_array().cloned().unwrap_or_default() };
        let key = |name: &Value| Key::try_from(name.as_str().unwrap_or_default().to_owned());
        names.iter().map(key).collect::<Result<_, _>>().map(Self)
    }
}

fn first_number() -> usize {
    1
}

impl UserStep {
    pub(super) fn find_fault(&self) -> Option<&'static str> {
        match self {
            Self::Prompt(text) | Self::Type(text)
                if text.trim().is_empty() || text.contains(['\n', '\r']) =>
            {
                Some("`prompt` and `type` take one line that is not empty")
            }
            Self::WaitFor(text) | Self::WaitGone(text) if text.trim().is_empty() => {
                Some("`wait_for` and `wait_gone` take a text that is not empty")
            }
            Self::WaitIdle(false) => Some("`wait_idle` takes only `true`"),
            Self::Press(Keys(keys)) if keys.is_empty() => Some("`press` names a key"),
            _ => None,
        }
    }

    /// The step in words, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Prompt(text) => format!("says {text:?}"),
            Self::Type(text) => format!("types {text:?}"),
            Self::Press(Keys(keys)) => {
                format!("presses {}", keys.iter().map(Key::name).collect::<Vec<_>>().join(" "))
            }
            Self::WaitFor(text) => format!("waits for {text:?} on the screen"),
            Self::WaitForMatch(pattern) => {
                format!("waits for a match of {:?} on the screen", pattern.as_str())
            }
            Self::WaitGone(text) => format!("waits until {text:?} is no longer on the screen"),
            Self::WaitIdle(_) => "waits until the client is idle".to_owned(),
            Self::WaitForRequest { route, n } => format!("waits for request {n} of route {route}"),
            Self::WaitForHook { event, n } => format!("waits for the end of {event} hook {n}"),
            Self::Outside(actions) => actions.iter().map(Action::describe).collect::<Vec<_>>().join(", "),
        }
    }
}

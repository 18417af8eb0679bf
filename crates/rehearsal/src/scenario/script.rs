//! The model's script: routes, their steps, and actions before a step.
//!
//! In TOML a step has a few optional keys. It becomes an enum here, so that no step has both a text and an error.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Content;

/// Which requests a route answers, and with what.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Route {
    #[serde(default = "super::main_route")]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) when: When,
    #[serde(default, rename = "step")]
    pub(crate) steps: Vec<Step>,
}

/// The conditions of a route. All must be met; without conditions it answers all requests.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct When {
    pub(crate) system: Option<String>,
    pub(crate) first: Option<String>,
    pub(crate) last: Option<String>,
    pub(crate) any: Option<String>,
    pub(crate) none: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) notool: Option<String>,
    pub(crate) model: Option<String>,
    /// A part of the path before `/v1`, to distinguish several base addresses.
    pub(crate) address: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "StepKeys")]
pub(crate) struct Step {
    pub(crate) before: Vec<Action>,
    pub(crate) answer: Answer,
}

#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Message {
        text: Option<String>,
        calls: Vec<Call>,
        /// Whether it ends at the token limit.
        is_cut: bool,
    },
    Error(ApiError),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) input: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiError {
    pub(crate) status: u16,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepKeys {
    #[serde(default)]
    before: Vec<Action>,
    text: Option<String>,
    tool: Option<String>,
    input: Option<Map<String, Value>>,
    #[serde(default)]
    calls: Vec<Call>,
    error: Option<ApiError>,
    #[serde(default)]
    cut: bool,
}

impl TryFrom<StepKeys> for Step {
    type Error = &'static str;

    fn try_from(keys: StepKeys) -> Result<Self, Self::Error> {
        let mut calls = keys.calls;
        match (keys.tool, keys.input) {
            (Some(_), _) if !calls.is_empty() => {
                return Err("a step has either `tool` or `calls`");
            }
            (Some(tool), input) => calls.push(Call { tool, input: input.unwrap_or_default() }),
            (None, Some(_)) => return Err("a step's `input` belongs to a `tool`"),
            (None, None) => {}
        }
        let answer = match keys.error {
            Some(_) if keys.text.is_some() || !calls.is_empty() || keys.cut => {
                return Err("a step with an `error` has no other answer");
            }
            Some(error) if !(400..600).contains(&error.status) => {
                return Err("an `error` has a `status` of 400 to 599");
            }
            Some(error) => Answer::Error(error),
            None if keys.text.is_none() && calls.is_empty() => {
                return Err("a step needs `text`, `tool`, `calls` or `error`");
            }
            None => Answer::Message { text: keys.text, calls, is_cut: keys.cut },
        };
        Ok(Self { before: keys.before, answer })
    }
}

/// Something that the user does outside the client.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "ActionKeys")]
pub(crate) enum Action {
    Write { path: String, content: Content },
    Remove { path: String },
    Run { command: String },
    Wait { seconds: f64 },
    WaitForHook { event: String, seconds: f64 },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActionKeys {
    write: Option<String>,
    text: Option<String>,
    json: Option<Map<String, Value>>,
    remove: Option<String>,
    run: Option<String>,
    wait: Option<f64>,
    wait_for_hook: Option<String>,
    seconds: Option<f64>,
}

const DEFAULT_WAIT_SECONDS: f64 = 300.0;

impl TryFrom<ActionKeys> for Action {
    type Error = &'static str;

    fn try_from(keys: ActionKeys) -> Result<Self, Self::Error> {
        let content = match (keys.text, keys.json) {
            (Some(text), None) => Some(Content::Text(text)),
            (None, Some(json)) => Some(Content::Json(Value::Object(json))),
            (None, None) => None,
            (Some(_), Some(_)) => return Err("an action has either `text` or `json`"),
        };
        let seconds = keys.seconds;
        if [keys.wait, seconds].into_iter().flatten().any(|s| !(0.0..=3600.0).contains(&s)) {
            return Err("an action waits between 0 and 3600 seconds");
        }
        match (keys.write, keys.remove, keys.run, keys.wait, keys.wait_for_hook) {
            (Some(path), None, None, None, None) if seconds.is_none() => match content {
                Some(content) => Ok(Self::Write { path, content }),
                None => Err("`write` needs `text` or `json`"),
            },
            _ if content.is_some() => Err("`text` and `json` belong to `write`"),
            (None, None, None, None, Some(event)) => {
                Ok(Self::WaitForHook { event, seconds: seconds.unwrap_or(DEFAULT_WAIT_SECONDS) })
            }
            _ if seconds.is_some() => Err("`seconds` belongs to `wait_for_hook`"),
            (None, Some(path), None, None, None) => Ok(Self::Remove { path }),
            (None, None, Some(command), None, None) => Ok(Self::Run { command }),
            (None, None, None, Some(seconds), None) => Ok(Self::Wait { seconds }),
            _ => Err("an action is one of `write`, `remove`, `run`, `wait` or `wait_for_hook`"),
        }
    }
}

//! The interactive client: the size of its terminal, and what the user types, presses and waits for.

use std::num::NonZeroU16;

use serde::Deserialize;

use super::{Action, Pattern};
use crate::terminal::Key;

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TerminalSize {
    pub(crate) columns: NonZeroU16,
    pub(crate) rows: NonZeroU16,
}

/// One thing that the user does or waits for.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "UserStepKeys")]
pub(crate) enum UserStep {
    /// Waits until the client is idle, types a line, and sends it.
    Prompt(String),
    /// Types without sending.
    Type(String),
    Press(Vec<Key>),
    WaitFor(String),
    WaitForMatch(Pattern),
    WaitGone(String),
    WaitIdle,
    WaitForRequest {
        route: String,
        n: usize,
    },
    WaitForHook {
        event: String,
        n: usize,
    },
    Outside(Vec<Action>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UserStepKeys {
    prompt: Option<String>,
    r#type: Option<String>,
    press: Option<OneOrMore>,
    wait_for: Option<String>,
    wait_for_match: Option<Pattern>,
    wait_gone: Option<String>,
    wait_idle: Option<bool>,
    wait_for_request: Option<RequestKeys>,
    wait_for_hook: Option<HookKeys>,
    outside: Option<Vec<Action>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestKeys {
    #[serde(default = "super::main_route")]
    route: String,
    n: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HookKeys {
    event: String,
    #[serde(default = "one")]
    n: usize,
}

fn one() -> usize {
    1
}

impl TryFrom<UserStepKeys> for UserStep {
    type Error = String;

    fn try_from(keys: UserStepKeys) -> Result<Self, String> {
        let mut steps = Vec::new();
        steps.extend(keys.prompt.map(Self::Prompt));
        steps.extend(keys.r#type.map(Self::Type));
        if let Some(names) = keys.press {
            let names = match names {
                OneOrMore::One(name) => vec![name],
                OneOrMore::More(names) => names,
            };
            steps.push(Self::Press(names.into_iter().map(Key::try_from).collect::<Result<_, _>>()?));
        }
        steps.extend(keys.wait_for.map(Self::WaitFor));
        steps.extend(keys.wait_for_match.map(Self::WaitForMatch));
        steps.extend(keys.wait_gone.map(Self::WaitGone));
        steps.extend(keys.wait_idle.map(|_| Self::WaitIdle));
        steps.extend(keys.wait_for_request.map(|RequestKeys { route, n }| Self::WaitForRequest { route, n }));
        steps.extend(keys.wait_for_hook.map(|HookKeys { event, n }| Self::WaitForHook { event, n }));
        steps.extend(keys.outside.map(Self::Outside));
        let (Some(step), true) = (steps.pop(), steps.is_empty()) else {
            return Err("a `[[do]]` has one of `prompt`, `type`, `press`, `wait_for`, `wait_for_match`, \
                        `wait_gone`, `wait_idle`, `wait_for_request`, `wait_for_hook` or `outside`"
                .to_owned());
        };
        step.find_fault().map_or(Ok(step.clone()), |fault| Err(fault.to_owned()))
    }
}

impl UserStep {
    fn find_fault(&self) -> Option<&'static str> {
        match self {
            Self::Prompt(text) | Self::Type(text)
                if text.trim().is_empty() || text.contains(['\n', '\r']) =>
            {
                Some("what is typed is one line that is not empty")
            }
            Self::WaitFor(text) | Self::WaitGone(text) if text.trim().is_empty() => {
                Some("what is waited for is not empty")
            }
            Self::Press(keys) if keys.is_empty() => Some("`press` names a key"),
            _ => None,
        }
    }

    /// What the step does, for people.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Prompt(text) => format!("says {text:?}"),
            Self::Type(text) => format!("types {text:?}"),
            Self::Press(keys) => {
                format!("presses {}", keys.iter().map(Key::name).collect::<Vec<_>>().join(" "))
            }
            Self::WaitFor(text) => format!("waits for {text:?} on the screen"),
            Self::WaitForMatch(pattern) => {
                format!("waits for a match of {:?} on the screen", pattern.as_str())
            }
            Self::WaitGone(text) => format!("waits until {text:?} is no longer on the screen"),
            Self::WaitIdle => "waits until the client is idle".to_owned(),
            Self::WaitForRequest { route, n } => format!("waits for request {n} of route {route}"),
            Self::WaitForHook { event, n } => format!("waits for the end of {event} hook {n}"),
            Self::Outside(actions) => actions.iter().map(Action::describe).collect::<Vec<_>>().join(", "),
        }
    }
}

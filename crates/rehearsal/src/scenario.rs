//! The scenario file: the project, the model's answers, and the expectations.
//!
//! The types have the same names as the TOML keys. Unknown keys are errors, because a misspelt expectation that is ignored
//! would be a test that cannot fail. All mistakes in a scenario are found when it is loaded, except unset `${name}`.

mod expect;
mod script;
mod terminal;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

pub(crate) use expect::{
    Expect, FileExpectation, HookExpectation, Pattern, RequestExpectation, ScreenExpectation,
};
pub(crate) use script::{Action, Answer, Call, Route, Step, When};
pub(crate) use terminal::{Keys, TerminalSize, UserStep};

/// A scenario, as its file has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub title: String,
    prompt: Option<String>,
    #[serde(default)]
    prompts: Vec<String>,
    #[serde(default)]
    pub(crate) args: Vec<String>,
    #[serde(default = "default_timeout")]
    timeout: f64,
    pub(crate) host: Option<Host>,
    /// Plays the interactive client.
    pub(crate) terminal: Option<TerminalSize>,
    #[serde(default, rename = "do")]
    user_steps: Vec<UserStep>,
    #[serde(default)]
    pub(crate) git: bool,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) files: BTreeMap<String, Content>,
    #[serde(default)]
    pub(crate) setup: Vec<Action>,
    #[serde(default, rename = "hook")]
    pub(crate) hooks: Vec<HookEntry>,
    #[serde(default, rename = "route")]
    pub(crate) routes: Vec<Route>,
    #[serde(default)]
    pub(crate) expect: Expect,
    /// The directory of the file.
    #[serde(skip)]
    pub(crate) directory: PathBuf,
}

/// Long enough for a client on a busy machine.
fn default_timeout() -> f64 {
    600.0
}

fn main_route() -> String {
    "main".to_owned()
}

impl Scenario {
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::scenario(path, format!("cannot be read: {error}")))?;
        Self::parse(&text, path)
    }

    /// Parses a scenario. `path` is for errors and `${here}`; it is not read.
    pub fn parse(text: &str, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut scenario: Self =
            toml::from_str(text).map_err(|error| Error::scenario(path, error.to_string()))?;
        path.parent().unwrap_or(path).clone_into(&mut scenario.directory);
        scenario.find_fault().map_or(Ok(()), |fault| Err(Error::scenario(path, fault)))?;
        Ok(scenario)
    }

    /// The user's prompts. There is at least one, unless the scenario has `[[do]]`.
    pub(crate) fn prompts(&self) -> Vec<&str> {
        match &self.prompt {
            Some(prompt) => vec![prompt],
            None => self.prompts.iter().map(String::as_str).collect(),
        }
    }

    /// What the user does at the terminal: the `[[do]]` entries, or else the prompts.
    pub(crate) fn user_steps(&self) -> Vec<UserStep> {
        if self.user_steps.is_empty() {
            self.prompts().into_iter().map(|prompt| UserStep::Prompt(prompt.to_owned())).collect()
        } else {
            self.user_steps.clone()
        }
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }

    fn find_fault(&self) -> Option<String> {
        match (&self.prompt, self.prompts.len()) {
            (Some(_), 1..) => {
                return Some("`prompt` and `prompts` exclude each other".into());
            }
            (None, 0) if self.user_steps.is_empty() => return Some("`prompt` is missing".into()),
            (None, 2..) if self.host.is_none() && self.terminal.is_none() => {
                return Some(
                    "several `prompts` need a `host` or a `terminal`: without one the client takes one prompt".into(),
                );
            }
            _ => {}
        }
        if !(self.timeout > 0.0 && self.timeout <= 3600.0) {
            return Some("`timeout` must be between 0 and 3600 seconds".into());
        }
        if self.routes.is_empty() {
            return Some("there is no `[[route]]`, so the model has no answers".into());
        }
        for route in &self.routes {
            if route.steps.is_empty() {
                return Some(format!("route `{}` has no `[[route.step]]`", route.name));
            }
        }
        let mut names: Vec<&str> = self.routes.iter().map(|r| r.name.as_str()).collect();
        names.sort_unstable();
        if let Some([name, ..]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("two routes are named `{name}`"));
        }
        self.find_terminal_fault(&names).or_else(|| self.expect.find_fault(&names))
    }

    fn find_terminal_fault(&self, routes: &[&str]) -> Option<String> {
        let expect = &self.expect;
        if self.terminal.is_none() {
            let needed =
                [("[[do]]", self.user_steps.is_empty()), ("[[expect.screen]]", expect.screen.is_empty())];
            let (key, _) = needed.into_iter().find(|(_, is_empty)| !is_empty)?;
            return Some(format!("`{key}` needs a `terminal`"));
        }
        let steps = self.user_steps();
        let forbidden = [
            ("host", self.host.is_some()),
            ("expect.asked", !expect.asked.is_empty()),
            ("expect.result", !expect.result.is_empty()),
        ];
        if let Some((key, _)) = forbidden.into_iter().find(|(_, is_there)| *is_there) {
            return Some(format!("`{key}` cannot be used with a `terminal`"));
        }
        if let Some(fault) = steps.iter().find_map(UserStep::find_fault) {
            return Some(fault.into());
        }
        let has_prompts = self.prompt.is_some() || !self.prompts.is_empty();
        if has_prompts && !self.user_steps.is_empty() {
            return Some("`prompt` and `[[do]]` exclude each other: write the prompt as a `[[do]]`".into());
        }
        if let Some(n) =
            expect.screen.iter().filter_map(|screen| screen.after).find(|n| !(1..=steps.len()).contains(n))
        {
            return Some(format!(
                "an `[[expect.screen]]` is `after = {n}`, but there are {} steps",
                steps.len()
            ));
        }
        let unknown = |step: &UserStep| match step {
            UserStep::WaitForRequest { route, .. } if !routes.contains(&route.as_str()) => {
                Some(route.clone())
            }
            _ => None,
        };
        steps
            .iter()
            .find_map(unknown)
            .map(|route| format!("a `[[do]]` waits for the unknown route `{route}`"))
    }
}

/// One hook entry of a settings file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookEntry {
    pub(crate) event: String,
    pub(crate) matcher: Option<String>,
    pub(crate) command: String,
    pub(crate) args: Option<Vec<String>>,
    pub(crate) timeout: Option<f64>,
    #[serde(rename = "onFailure")]
    pub(crate) on_failure: Option<OnFailure>,
    #[serde(default)]
    pub(crate) scope: Scope,
    #[serde(default = "yes")]
    pub(crate) record: bool,
    /// Other keys of the client's hook entry.
    #[serde(default)]
    pub(crate) entry: Map<String, Value>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnFailure {
    Continue,
    Block,
}

/// The settings file of the client that gets an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    #[default]
    Project,
    Local,
    User,
}

impl Scope {
    pub(crate) const ALL: [Self; 3] = [Self::Project, Self::Local, Self::User];

    /// The path of the settings file, as a scenario writes it.
    pub(crate) fn settings_path(self) -> &'static str {
        match self {
            Self::Project => ".claude/settings.json",
            Self::Local => ".claude/settings.local.json",
            Self::User => "~/.claude/settings.json",
        }
    }
}

/// Text, or a table that stands for JSON: the content of a file, or the output of a hook.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) enum Content {
    Text(String),
    Json(Value),
}

impl TryFrom<Value> for Content {
    type Error = String;

    fn try_from(value: Value) -> std::result::Result<Self, String> {
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Object(_) => Ok(Self::Json(value)),
            other => Err(format!("a content is a text or a table (for JSON), not `{other}`")),
        }
    }
}

/// The answers to the client's permission questions.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct Host {
    default: Permission,
    tools: BTreeMap<String, Permission>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Permission {
    Allow,
    Deny { message: String },
}

impl Host {
    pub(crate) fn permission(&self, tool: &str) -> &Permission {
        self.tools.get(tool).unwrap_or(&self.default)
    }
}

impl TryFrom<Value> for Host {
    type Error = String;

    fn try_from(value: Value) -> std::result::Result<Self, String> {
        let mut keys = match value {
            Value::String(_) => Map::from_iter([("default".to_owned(), value)]),
            Value::Object(keys) => keys,
            other => return Err(format!("a host is \"allow\", \"deny\" or a table, not `{other}`")),
        };
        let message = match keys.remove("message") {
            None => "The user said no.".to_owned(),
            Some(Value::String(message)) => message,
            Some(other) => return Err(format!("a host's `message` is a text, not `{other}`")),
        };
        let default = keys.remove("default").unwrap_or_else(|| "allow".into());
        Ok(Self {
            default: parse_permission("default", &default, &message)?,
            tools: keys
                .into_iter()
                .map(|(tool, word)| Ok((tool.clone(), parse_permission(&tool, &word, &message)?)))
                .collect::<std::result::Result<_, String>>()?,
        })
    }
}

fn parse_permission(key: &str, word: &Value, message: &str) -> std::result::Result<Permission, String> {
    match word.as_str() {
        Some("allow") => Ok(Permission::Allow),
        Some("deny") => Ok(Permission::Deny { message: message.to_owned() }),
        _ => Err(format!("host `{key}` is \"allow\" or \"deny\", not `{word}`")),
    }
}

/// Resolves a path of a scenario: `~/x` is in the run's home, any other path in its project.
pub(crate) fn resolve_path(path: &str, project: &Path, home: &Path) -> Result<PathBuf> {
    let full = match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => project.join(path),
    };
    let climbs = full.components().any(|part| part.as_os_str() == "..");
    // A scenario writes and removes files, so it must not reach the user's own.
    if climbs || !(full.starts_with(project) || full.starts_with(home)) {
        return Err(Error::stage(format!("the path `{path}` leaves the run's project and home")));
    }
    Ok(full)
}

#[cfg(test)]
#[path = "scenario/tests.rs"]
mod tests;

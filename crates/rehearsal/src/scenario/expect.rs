//! The expectations of a scenario.
//!
//! All are optional, and each is about one fact. Regular expressions are compiled when the file is read, so that a broken one
//! is an error in the scenario and not a failed expectation.

use std::collections::BTreeMap;

use regex_lite::Regex;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Content;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    pub(crate) exit: Option<i32>,
    #[serde(default)]
    pub(crate) requests: BTreeMap<String, usize>,
    #[serde(default)]
    pub(crate) asked: BTreeMap<String, usize>,
    #[serde(default, rename = "request")]
    pub(crate) request: Vec<RequestExpectation>,
    #[serde(default)]
    pub(crate) hook: Vec<HookExpectation>,
    #[serde(default)]
    pub(crate) file: Vec<FileExpectation>,
    #[serde(default)]
    pub(crate) screen: Vec<ScreenExpectation>,
    #[serde(default)]
    pub(crate) result: Map<String, Value>,
}

impl Expect {
    pub(crate) fn find_fault(&self, routes: &[&str]) -> Option<String> {
        let expected_routes =
            self.requests.keys().map(String::as_str).chain(self.request.iter().map(|r| r.route.as_str()));
        for route in expected_routes {
            if !routes.contains(&route) {
                return Some(format!("an expectation names the unknown route `{route}`"));
            }
        }
        let has_zero =
            self.request.iter().any(|r| r.n == Some(0)) || self.hook.iter().any(|h| h.n == Some(0));
        if has_zero {
            return Some("`n` counts from 1".into());
        }
        if let Some(hook) = self.hook.iter().find(|hook| !hook.checks_something()) {
            return Some(format!(
                "an `[[expect.hook]]` for `{}` checks nothing: give `count`, `exit`, `stdout`, …",
                hook.event.as_deref().unwrap_or("any event")
            ));
        }
        if self.screen.iter().any(|screen| !screen.checks_something()) {
            return Some("an `[[expect.screen]]` checks nothing: give `contains`, `lacks`, …".into());
        }
        None
    }
}

/// What the screen of the interactive client shows, after a step or at any time.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScreenExpectation {
    /// The number of the user's step, from 1.
    pub(crate) after: Option<usize>,
    #[serde(default)]
    pub(crate) contains: Vec<String>,
    #[serde(default)]
    pub(crate) lacks: Vec<String>,
    #[serde(default)]
    pub(crate) matches: Vec<Pattern>,
    /// How often a text is on the screen.
    #[serde(default)]
    pub(crate) count: BTreeMap<String, usize>,
}

impl ScreenExpectation {
    fn checks_something(&self) -> bool {
        !(self.contains.is_empty()
            && self.lacks.is_empty()
            && self.matches.is_empty()
            && self.count.is_empty())
    }
}

/// What is new in a request; without `n`, in all requests of the route.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestExpectation {
    #[serde(default = "super::main_route")]
    pub(crate) route: String,
    pub(crate) n: Option<usize>,
    #[serde(default)]
    pub(crate) contains: Vec<String>,
    #[serde(default)]
    pub(crate) lacks: Vec<String>,
    #[serde(default)]
    pub(crate) matches: Vec<Pattern>,
    /// The offered tools, in any order.
    pub(crate) tools: Option<Vec<String>>,
}

/// `event`, `tool`, `agent`, `command`, `given` and `n` select records; the other keys check each of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookExpectation {
    pub(crate) event: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) command: Option<String>,
    #[serde(default)]
    pub(crate) given: Map<String, Value>,
    pub(crate) n: Option<usize>,

    pub(crate) count: Option<usize>,
    pub(crate) exit: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) unfinished: Option<bool>,
    /// A text is the whole output; a table is a part of the JSON that was printed.
    pub(crate) stdout: Option<Content>,
    #[serde(default)]
    pub(crate) stdout_contains: Vec<String>,
    #[serde(default)]
    pub(crate) stderr_contains: Vec<String>,
    #[serde(default)]
    pub(crate) input: Map<String, Value>,
}

impl HookExpectation {
    /// Whether there is a check for each selected record.
    pub(crate) fn checks_records(&self) -> bool {
        self.exit.is_some()
            || self.signal.is_some()
            || self.unfinished.is_some()
            || self.stdout.is_some()
            || !self.stdout_contains.is_empty()
            || !self.stderr_contains.is_empty()
            || !self.input.is_empty()
    }

    fn checks_something(&self) -> bool {
        self.count.is_some() || self.checks_records()
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileExpectation {
    pub(crate) path: String,
    pub(crate) exists: Option<bool>,
    pub(crate) equals: Option<String>,
    #[serde(default)]
    pub(crate) contains: Vec<String>,
    #[serde(default)]
    pub(crate) lacks: Vec<String>,
    #[serde(default)]
    pub(crate) matches: Vec<Pattern>,
    pub(crate) json: Option<Value>,
    pub(crate) lines: Option<usize>,
}

impl FileExpectation {
    /// Whether the content is checked, and not only the existence of the file.
    pub(crate) fn checks_content(&self) -> bool {
        self.equals.is_some()
            || self.json.is_some()
            || self.lines.is_some()
            || !(self.contains.is_empty() && self.lacks.is_empty() && self.matches.is_empty())
    }
}

/// A compiled regular expression.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Pattern(Regex);

impl Pattern {
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(pattern: String) -> Result<Self, String> {
        Regex::new(&pattern)
            .map(Self)
            .map_err(|error| format!("`{pattern}` is not a regular expression: {error}"))
    }
}

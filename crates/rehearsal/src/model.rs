//! The scripted model: selects the route that answers a request, and its next step.
//!
//! The client talks to it as to the real API. Each route counts its own requests, so the main agent, a subagent and a judge
//! can be scripted separately, in whatever order the client calls them.

mod answer;
mod request;
mod server;

use std::collections::HashMap;

use regex_lite::Regex;
use serde_json::Value;

use crate::scenario::{Route, Step, When};
use crate::variables::Variables;

pub use request::Request;
pub(crate) use request::{block_text, new_text};
pub(crate) use server::{ModelServer, Report};

/// The routes of a scenario, and how many requests each has answered.
#[derive(Debug)]
pub(crate) struct Script {
    routes: Vec<Route>,
    played: HashMap<usize, usize>,
}

/// The scripted answer to a request.
pub(crate) struct ScriptedAnswer {
    pub(crate) route: String,
    /// The number of the request in its route, from 1.
    pub(crate) n: usize,
    pub(crate) step: Step,
}

impl Script {
    pub(crate) fn new(routes: &[Route], variables: &Variables) -> Self {
        let routes = routes
            .iter()
            .cloned()
            .map(|mut route| {
                route.when.fill(variables);
                route
            })
            .collect();
        Self { routes, played: HashMap::new() }
    }

    /// The next step of the first route that matches the request. A route repeats its last step.
    pub(crate) fn next_step(&mut self, address: &str, body: &Value) -> Option<ScriptedAnswer> {
        let index = self.routes.iter().position(|route| route.when.matches(address, body))?;
        let route = &self.routes[index];
        let played = self.played.entry(index).or_default();
        *played += 1;
        let step = route.steps.get(*played - 1).or(route.steps.last())?;
        Some(ScriptedAnswer { route: route.name.clone(), n: *played, step: step.clone() })
    }
}

impl When {
    fn fill(&mut self, variables: &Variables) {
        let Self { system, first, last, any, none, tool, notool, model, address } = self;
        for text in [system, first, last, any, none, tool, notool, model, address].into_iter().flatten() {
            *text = variables.fill(text);
        }
    }

    fn matches(&self, address: &str, body: &Value) -> bool {
        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let all = || all_text(&body["messages"]);
        let offers = |name: &str| {
            let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
            tools.iter().any(|tool| tool["name"] == name)
        };
        let holds = |wanted: &Option<String>, test: &dyn Fn(&str) -> bool| wanted.as_deref().is_none_or(test);
        holds(&self.system, &|text| all_text(&body["system"]).contains(text))
            && holds(&self.first, &|text| messages.first().is_some_and(|m| all_text(m).contains(text)))
            && holds(&self.last, &|text| messages.last().is_some_and(|m| all_text(m).contains(text)))
            && holds(&self.any, &|text| all().contains(text))
            && holds(&self.none, &|text| !all().contains(text))
            && holds(&self.tool, &offers)
            && holds(&self.notool, &|name| !offers(name))
            && holds(&self.model, &|text| body["model"].as_str().is_some_and(|m| m.contains(text)))
            && holds(&self.address, &|text| address.contains(text))
    }
}

/// Joins all strings of a JSON value, one per line.
pub(crate) fn all_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(all_text).collect::<Vec<_>>().join("\n"),
        Value::Object(keys) => keys.values().map(all_text).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

/// Fills `{{re:REGEX}}` with group 1 (or the whole) of the last match in `text`.
///
/// The client invents some values, such as the path of a plan or the id of an agent. The script has to read them from the
/// request, as a model does.
pub(crate) fn fill_from_request(template: &str, text: &str) -> Result<String, String> {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find("{{re:") {
        let (before, opened) = rest.split_at(start);
        filled.push_str(before);
        let opened = &opened["{{re:".len()..];
        let end =
            find_closing_braces(opened).ok_or_else(|| format!("`{{{{re:` is not closed in `{template}`"))?;
        let pattern = &opened[..end];
        let regex = Regex::new(pattern)
            .map_err(|error| format!("`{pattern}` is not a regular expression: {error}"))?;
        let found = regex.captures_iter(text).last();
        let group = found.as_ref().and_then(|found| found.get(1).or_else(|| found.get(0)));
        let group = group.ok_or_else(|| format!("`{pattern}` matches nothing in the request"))?;
        filled.push_str(group.as_str());
        rest = &opened[end + 2..];
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Finds the end of a pattern. It may itself end in `}`, so the last two braces of a run close it.
fn find_closing_braces(text: &str) -> Option<usize> {
    let mut end = text.find("}}")?;
    while text[end + 2..].starts_with('}') {
        end += 1;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn script(routes: &str) -> Script {
        let text = format!("title = 't'\nprompt = 'p'\n{routes}");
        let scenario = crate::Scenario::parse(&text, "test.toml").unwrap();
        Script::new(&scenario.routes, &Variables::default())
    }

    fn says(cue: &ScriptedAnswer) -> String {
        match &cue.step.answer {
            crate::scenario::Answer::Message { text, .. } => text.clone().unwrap(),
            crate::scenario::Answer::Error(_) => unreachable!(),
        }
    }

    #[test]
    fn each_route_keeps_its_own_place_and_repeats_its_last_step() {
        let mut script = script(
            "[[route]]\nname='sub'\nwhen={first='SUB'}\n[[route.step]]\ntext='s1'\n[[route.step]]\ntext='s2'\n\
             [[route]]\n[[route.step]]\ntext='m1'\n[[route.step]]\ntext='m2'",
        );
        let main = json!({"messages": [{"role": "user", "content": "hi"}]});
        let sub = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "a SUB b"}]}]});
        let said: Vec<_> = [&main, &sub, &main, &main, &sub]
            .map(|body| script.next_step("", body).unwrap())
            .iter()
            .map(|cue| format!("{}{}{}", cue.route, cue.n, says(cue)))
            .collect();
        assert_eq!(said, ["main1m1", "sub1s1", "main2m2", "main3m2", "sub2s2"]);
    }

    #[test]
    fn every_condition_must_hold() {
        let body = json!({"model": "big-1", "system": [{"type": "text", "text": "You judge"}],
            "tools": [{"name": "Bash"}],
            "messages": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]});
        for (when, takes) in [
            ("{}", true),
            (
                "{system='judge', first='one', last='two', any='one', none='three', tool='Bash', notool='Read', model='big', address='where'}",
                true,
            ),
            ("{system='cook'}", false),
            ("{first='two'}", false),
            ("{last='one'}", false),
            ("{any='three'}", false),
            ("{none='two'}", false),
            ("{tool='Read'}", false),
            ("{notool='Bash'}", false),
            ("{model='small'}", false),
            ("{address='here'}", true),
            ("{address='there'}", false),
            ("{first='one', model='small'}", false),
        ] {
            let mut script = script(&format!("[[route]]\nwhen={when}\n[[route.step]]\ntext='x'"));
            assert_eq!(script.next_step("/elsewhere", &body).is_some(), takes, "{when}");
        }
    }

    #[test]
    fn the_last_match_fills_a_placeholder() {
        let text = "plan /a/plans/one.md and /a/plans/two.md";
        assert_eq!(
            fill_from_request(r"see {{re:(/[^ ]*/plans/[^ ]*\.md)}}!", text).unwrap(),
            "see /a/plans/two.md!"
        );
        assert_eq!(fill_from_request(r"{{re:plans/[a-z]{3}}}", text).unwrap(), "plans/two");
        assert_eq!(fill_from_request("nothing {{here}}", text).unwrap(), "nothing {{here}}");
    }

    #[test]
    fn a_placeholder_without_match_is_an_error() {
        let problem = fill_from_request("{{re:(zzz)}}", "abc").unwrap_err();
        assert!(problem.contains("`(zzz)` matches nothing"), "{problem}");
    }
}

//! The scripted model: which route answers a request, and with which step.
//!
//! The client talks to it as to the real thing, so a rehearsal covers the client's own behaviour
//! and not our idea of it. Each route counts for itself: the main agent, a subagent and a judge
//! each play their own part, in whatever order the client lets them speak.

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
pub(crate) use server::{ModelServer, Note};

/// The routes of a scenario with their positions.
#[derive(Debug)]
pub(crate) struct Script {
    routes: Vec<Route>,
    played: HashMap<usize, usize>,
}

/// What the script says to a request.
pub(crate) struct Cue {
    pub(crate) route: String,
    /// Counts from 1 within the route.
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

    /// The first route that takes the request plays its next step; its last step repeats.
    pub(crate) fn cue(&mut self, address: &str, body: &Value) -> Option<Cue> {
        let index = self.routes.iter().position(|route| route.when.takes(address, body))?;
        let route = &self.routes[index];
        let played = self.played.entry(index).or_default();
        *played += 1;
        let step = route.steps.get(*played - 1).or(route.steps.last())?;
        Some(Cue { route: route.name.clone(), n: *played, step: step.clone() })
    }
}

impl When {
    fn fill(&mut self, variables: &Variables) {
        let Self { system, first, last, any, none, tool, notool, model, address } = self;
        for text in [system, first, last, any, none, tool, notool, model, address].into_iter().flatten() {
            *text = variables.fill(text);
        }
    }

    fn takes(&self, address: &str, body: &Value) -> bool {
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

/// All strings of a JSON value, one per line.
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
/// Some things the client makes up, such as the path of a plan or the id of an agent; the model
/// can only learn them from what it is told, and so does the script.
pub(crate) fn fill_from_request(template: &str, text: &str) -> Result<String, String> {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find("{{re:") {
        let (before, opened) = rest.split_at(start);
        filled.push_str(before);
        let opened = &opened["{{re:".len()..];
        let end = closing(opened).ok_or_else(|| format!("`{{{{re:` is not closed in `{template}`"))?;
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

/// A pattern may end in `}` itself, so the last two of a run of braces close it.
fn closing(text: &str) -> Option<usize> {
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

    fn says(cue: &Cue) -> String {
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
            .map(|body| script.cue("", body).unwrap())
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
            assert_eq!(script.cue("/elsewhere", &body).is_some(), takes, "{when}");
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
    fn a_placeholder_without_match_is_a_problem_and_not_a_text() {
        let problem = fill_from_request("{{re:(zzz)}}", "abc").unwrap_err();
        assert!(problem.contains("`(zzz)` matches nothing"), "{problem}");
    }
}

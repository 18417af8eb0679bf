//! Checks a playback against the scenario's expectations.
//!
//! Some things are always checked: that the client ended by itself, that every request found a route, and that the scenario
//! could be played as written. Otherwise a scenario could pass because nothing happened.

mod files;
mod hooks;
mod screen;

use serde_json::Value;

use crate::mismatch::Mismatch;
use crate::model::{Request, block_text};
use crate::playback::Playback;
use crate::scenario::{Pattern, RequestExpectation, Scenario};
use crate::terminal::Stall;
use crate::text_diff::shorten;
use crate::variables::Variables;

pub(crate) use screen::is_met;

/// The result of all checks of a scenario.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// How many expectations of the scenario were checked.
    pub checks: usize,
    pub mismatches: Vec<Mismatch>,
}

impl Verdict {
    /// Counts one check, and keeps its mismatch if there is one.
    fn check(&mut self, found: Option<Mismatch>) {
        self.checks += 1;
        self.mismatches.extend(found);
    }

    fn check_equal<T: PartialEq + ToString>(&mut self, subject: &str, fault: &str, expected: &T, actual: &T) {
        self.check((expected != actual).then(|| Mismatch::differs(subject, fault, expected, actual)));
    }

    fn check_contains(&mut self, subject: &str, wanted: &str, text: &str) {
        self.check(
            (!text.contains(wanted)).then(|| Mismatch::missing(subject, "does not contain", wanted, text)),
        );
    }

    /// Checks a text by the expectation's `contains`, `lacks` and `matches`.
    fn check_text(
        &mut self,
        subject: &str,
        text: &str,
        (contains, lacks, matches): (&[String], &[String], &[Pattern]),
        variables: &Variables,
    ) {
        for wanted in contains {
            self.check_contains(subject, &variables.fill(wanted), text);
        }
        for unwanted in lacks {
            let unwanted = variables.fill(unwanted);
            self.check(text.contains(&unwanted).then(|| Mismatch::unwanted(subject, &unwanted, text)));
        }
        for pattern in matches {
            let mismatch = || Mismatch::missing(subject, "does not match", pattern.as_str(), text);
            self.check((!pattern.matches(text)).then(mismatch));
        }
    }
}

impl Scenario {
    /// The expectations that the playback does not meet.
    pub fn check(&self, playback: &Playback) -> Vec<Mismatch> {
        self.check_all(playback).mismatches
    }

    /// The mismatches, and the number of checks.
    pub fn check_all(&self, playback: &Playback) -> Verdict {
        let mut verdict = Verdict::default();
        verdict.mismatches.extend(check_implicit(self, playback));
        let expect = &self.expect;
        if let (Some(expected), Some(actual)) = (expect.exit, playback.exit) {
            let found = (expected != actual).then(|| {
                let mismatch = Mismatch::differs("the client", "exited differently", &expected, &actual);
                mismatch.with("stderr", shorten(&playback.stderr)).with("stdout", shorten(&playback.stdout))
            });
            verdict.check(found);
        }
        for (route, expected) in &expect.requests {
            let subject = format!("route {route}");
            verdict.check_equal(
                &subject,
                "got another number of requests",
                expected,
                &playback.requests_of_route(route).count(),
            );
        }
        for (tool, expected) in &expect.asked {
            let actual = playback.asked.iter().filter(|(asked, _)| asked == tool).count();
            verdict.check_equal(
                &format!("the host, for {tool}"),
                "was asked another number of times",
                expected,
                &actual,
            );
        }
        for request in &expect.request {
            check_request(request, playback, &mut verdict);
        }
        for hook in &expect.hook {
            hooks::check(hook, playback, &mut verdict);
        }
        for file in &expect.file {
            files::check(file, playback, &mut verdict);
        }
        for screen in &expect.screen {
            screen::check(screen, playback, &mut verdict);
        }
        if !expect.result.is_empty() {
            let expected = playback.variables.fill_json(&Value::Object(expect.result.clone()));
            let actual = playback.result.clone().unwrap_or(Value::Null);
            verdict.check(Mismatch::partial("the client's result", &expected, &actual));
        }
        verdict
    }
}

fn check_implicit(scenario: &Scenario, playback: &Playback) -> Vec<Mismatch> {
    let mut found = Vec::new();
    if let Some(Stall { what, screen }) = &playback.stall {
        found.push(
            Mismatch::new("the user at the terminal", "waited in vain")
                .with("", what)
                .with("screen", screen.to_string()),
        );
    } else if playback.exit.is_none() {
        let limit = scenario.timeout().as_secs_f64();
        found.push(
            Mismatch::new("the client", format!("did not end within {limit} s"))
                .with("stderr", shorten(&playback.stderr)),
        );
    }
    for problem in &playback.problems {
        found.push(Mismatch::new("the scenario", "cannot be played as written").with("", problem.clone()));
    }
    for request in playback.requests.iter().filter(|request| request.route.is_none()) {
        found.push(describe_stray(request));
    }
    found
}

fn describe_stray(request: &Request) -> Mismatch {
    let messages = request.body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let outline = |message: Option<&Value>| shorten(&message.map(opening_lines).unwrap_or_default());
    Mismatch::new("a request", "found no route")
        .with("model", request.body["model"].as_str().unwrap_or_default())
        .with("tools", request.tools.join(" "))
        .with("first", outline(messages.first()))
        .with("last", outline(messages.last()))
}

/// The first line of each part of a message, for writing a `when` that matches it.
fn opening_lines(message: &Value) -> String {
    let texts = match &message["content"] {
        Value::Array(parts) => parts.iter().map(block_text).collect(),
        other => vec![other.as_str().unwrap_or_default().to_owned()],
    };
    let line =
        |text: &String| text.trim_start_matches("<system-reminder>").trim().lines().next().map(str::to_owned);
    texts.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

fn check_request(expected: &RequestExpectation, playback: &Playback, verdict: &mut Verdict) {
    let route = &expected.route;
    let count = playback.requests_of_route(route).count();
    let (subject, text) = match expected.n {
        Some(n) if n > count => {
            let fault = format!("was not made: there are {count}");
            verdict.check(Some(Mismatch::new(format!("request {n} of route {route}"), fault)));
            return;
        }
        Some(n) => (format!("request {n} of route {route}"), playback.new_text_in_request(route, n)),
        None => {
            let all: Vec<String> = (1..=count).map(|n| playback.new_text_in_request(route, n)).collect();
            (format!("all requests of route {route}"), all.join("\n"))
        }
    };
    let texts = (&expected.contains[..], &expected.lacks[..], &expected.matches[..]);
    verdict.check_text(&subject, &text, texts, &playback.variables);
    if let Some(tools) = &expected.tools {
        let in_order = |tools: &[String]| {
            let mut tools = tools.to_vec();
            tools.sort_unstable();
            tools.join(" ")
        };
        let requests =
            playback.requests_of_route(route).filter(|request| expected.n.is_none_or(|n| n == request.n));
        for request in requests {
            verdict.check_equal(
                &subject,
                "was offered other tools",
                &in_order(tools),
                &in_order(&request.tools),
            );
        }
    }
}

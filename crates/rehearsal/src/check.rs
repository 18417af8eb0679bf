//! Holds a scenario's expectations against a playback.
//!
//! Some things are checked without being asked for: that the client ended by itself, that every
//! request found a route, and that the scenario could be played as it is written. Without them a
//! rehearsal could pass because nothing happened.

mod files;
mod hooks;
mod screen;

use serde_json::Value;

use crate::difference::shorten;
use crate::mismatch::Mismatch;
use crate::model::{Request, block_text};
use crate::playback::Playback;
use crate::scenario::{RequestExpectation, Scenario};
use crate::terminal::Stall;

pub(crate) use screen::is_met;

/// The outcome of a rehearsal.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// How many expectations of the scenario were checked.
    pub checks: usize,
    pub mismatches: Vec<Mismatch>,
}

impl Verdict {
    /// Counts one check, and keeps what it found.
    fn check(&mut self, found: Option<Mismatch>) {
        self.checks += 1;
        self.mismatches.extend(found);
    }

    fn equal<T: PartialEq + ToString>(&mut self, subject: &str, fault: &str, expected: &T, actual: &T) {
        self.check((expected != actual).then(|| Mismatch::differs(subject, fault, expected, actual)));
    }

    fn contains(&mut self, subject: &str, wanted: &str, text: &str) {
        self.check(
            (!text.contains(wanted)).then(|| Mismatch::missing(subject, "does not contain", wanted, text)),
        );
    }

    fn lacks(&mut self, subject: &str, unwanted: &str, text: &str) {
        self.check(text.contains(unwanted).then(|| Mismatch::unwanted(subject, unwanted, text)));
    }
}

impl Scenario {
    /// What did not turn out as the scenario expects.
    pub fn check(&self, playback: &Playback) -> Vec<Mismatch> {
        self.judge(playback).mismatches
    }

    /// Like [`check`](Self::check), with the number of checks.
    pub fn judge(&self, playback: &Playback) -> Verdict {
        let mut verdict = Verdict::default();
        verdict.mismatches.extend(unasked(self, playback));
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
            verdict.equal(
                &subject,
                "got another number of requests",
                expected,
                &playback.of_route(route).count(),
            );
        }
        for (tool, expected) in &expect.asked {
            let actual = playback.asked.iter().filter(|(asked, _)| asked == tool).count();
            verdict.equal(
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

fn unasked(scenario: &Scenario, playback: &Playback) -> Vec<Mismatch> {
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
        found.push(stray(request));
    }
    found
}

fn stray(request: &Request) -> Mismatch {
    let messages = request.body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let outline = |message: Option<&Value>| shorten(&message.map(opening_lines).unwrap_or_default());
    Mismatch::new("a request", "found no route")
        .with("model", request.body["model"].as_str().unwrap_or_default())
        .with("tools", request.tools.join(" "))
        .with("first", outline(messages.first()))
        .with("last", outline(messages.last()))
}

/// The first line of each part of a message, which is enough to write a `when` for it.
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
    let count = playback.of_route(route).count();
    let (subject, text) = match expected.n {
        Some(n) if n > count => {
            let fault = format!("was not made: there are {count}");
            verdict.check(Some(Mismatch::new(format!("request {n} of route {route}"), fault)));
            return;
        }
        Some(n) => (format!("request {n} of route {route}"), playback.new_in(route, n)),
        None => {
            let all: Vec<String> = (1..=count).map(|n| playback.new_in(route, n)).collect();
            (format!("what route {route} was told"), all.join("\n"))
        }
    };
    for wanted in &expected.contains {
        verdict.contains(&subject, &playback.variables.fill(wanted), &text);
    }
    for unwanted in &expected.lacks {
        verdict.lacks(&subject, &playback.variables.fill(unwanted), &text);
    }
    for pattern in &expected.matches {
        let found = (!pattern.matches(&text))
            .then(|| Mismatch::missing(&subject, "does not match", pattern.as_str(), &text));
        verdict.check(found);
    }
    if let Some(tools) = &expected.tools {
        let in_order = |tools: &[String]| {
            let mut tools = tools.to_vec();
            tools.sort_unstable();
            tools.join(" ")
        };
        let asked = playback.of_route(route).filter(|request| expected.n.is_none_or(|n| n == request.n));
        for request in asked {
            verdict.equal(&subject, "was offered other tools", &in_order(tools), &in_order(&request.tools));
        }
    }
}

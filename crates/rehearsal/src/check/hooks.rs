//! Checks the input and output of hooks.

use serde_json::Value;

use super::Verdict;
use crate::hooks::HookRecord;
use crate::json_subset::is_part_of;
use crate::mismatch::Mismatch;
use crate::playback::Playback;
use crate::scenario::{Content, HookExpectation};
use crate::text_diff::shorten;
use crate::variables::Variables;

pub(super) fn check(expected: &HookExpectation, playback: &Playback, verdict: &mut Verdict) {
    let name = expected.describe();
    let selected: Vec<&HookRecord> =
        playback.hooks.iter().filter(|hook| expected.selects(hook, &playback.variables)).collect();
    if let Some(count) = expected.count {
        let found = (count != selected.len()).then(|| {
            Mismatch::differs(&name, "ran another number of times", &count, &selected.len())
                .with("ran", list_hooks(&playback.hooks))
        });
        verdict.check(found);
    }
    if !expected.checks_records() {
        return;
    }
    let checked: Vec<(usize, &HookRecord)> =
        (1..).zip(selected).filter(|(n, _)| expected.n.is_none_or(|wanted| wanted == *n)).collect();
    if checked.is_empty() {
        let fault = expected.n.map_or("did not run".to_owned(), |n| format!("did not run {n} times"));
        verdict.check(Some(Mismatch::new(name, fault).with("ran", list_hooks(&playback.hooks))));
        return;
    }
    for (n, hook) in checked {
        check_record(expected, &format!("{name} #{n}"), hook, &playback.variables, verdict);
    }
}

fn check_record(
    expected: &HookExpectation,
    name: &str,
    hook: &HookRecord,
    variables: &Variables,
    verdict: &mut Verdict,
) {
    let ended = hook.end.is_some();
    if let Some(unfinished) = expected.unfinished {
        let word = |cut_off: bool| if cut_off { "cut off" } else { "ended by itself" };
        verdict.check_equal(name, "ended differently", &word(unfinished), &word(!ended));
    }
    let wanted = (expected.exit, expected.signal);
    if wanted != (None, None) {
        let actual = hook.end.as_ref().map_or((None, None), |end| (end.exit, end.signal));
        let found = (wanted != actual).then(|| {
            Mismatch::differs(name, "ended differently", &describe_end(wanted), &describe_end(actual))
                .with("stderr", shorten(hook.stderr()))
        });
        verdict.check(found);
    }
    match &expected.stdout {
        None => {}
        Some(Content::Text(text)) => {
            let (text, actual) = (variables.fill(text), hook.stdout());
            let same = text.trim_end() == actual.trim_end();
            verdict.check((!same).then(|| Mismatch::lines(&format!("stdout of {name}"), &text, actual)));
        }
        Some(Content::Json(json)) => {
            let subject = format!("stdout of {name}");
            verdict.check(match hook.answer() {
                Some(actual) => Mismatch::partial(&subject, &variables.fill_json(json), &actual),
                None => Some(Mismatch::differs(&subject, "is not JSON", json, &shorten(hook.stdout()))),
            });
        }
    }
    for wanted in &expected.stdout_contains {
        verdict.check_contains(&format!("stdout of {name}"), &variables.fill(wanted), hook.stdout());
    }
    for wanted in &expected.stderr_contains {
        verdict.check_contains(&format!("stderr of {name}"), &variables.fill(wanted), hook.stderr());
    }
    if !expected.input.is_empty() {
        let input = variables.fill_json(&Value::Object(expected.input.clone()));
        verdict.check(Mismatch::partial(&format!("input of {name}"), &input, &hook.input));
    }
}

fn describe_end((exit, signal): (Option<i32>, Option<i32>)) -> String {
    match (exit, signal) {
        (Some(exit), _) => format!("exit {exit}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "cut off".to_owned(),
    }
}

/// Every hook that ran, one per line.
fn list_hooks(hooks: &[HookRecord]) -> String {
    let line = |hook: &HookRecord| {
        let words = [Some(hook.event.as_str()), hook.tool.as_deref(), hook.agent.as_deref()];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    shorten(&hooks.iter().map(line).collect::<Vec<_>>().join("\n"))
}

impl HookExpectation {
    fn describe(&self) -> String {
        let mut words = vec![self.event.as_deref().unwrap_or("any")];
        words.extend([&self.tool, &self.agent, &self.command].into_iter().flatten().map(String::as_str));
        format!("hook {}", words.join(" "))
    }

    fn selects(&self, hook: &HookRecord, variables: &Variables) -> bool {
        self.event.as_ref().is_none_or(|event| *event == hook.event)
            && self.tool.as_ref().is_none_or(|tool| hook.tool.as_ref() == Some(tool))
            && self.agent.as_ref().is_none_or(|agent| hook.agent.as_ref() == Some(agent))
            && self.command.as_ref().is_none_or(|part| hook.argv.join(" ").contains(&variables.fill(part)))
            && is_part_of(&variables.fill_json(&Value::Object(self.given.clone())), &hook.input_as_object())
    }
}

impl HookRecord {
    /// The input, or an empty object if that was not a JSON object.
    fn input_as_object(&self) -> Value {
        if self.input.is_object() { self.input.clone() } else { Value::Object(serde_json::Map::new()) }
    }
}

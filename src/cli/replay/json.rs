//! The result of a replay as JSON.
//!
//! The object begins as soon as the replay does, so that a reader sees that something happens.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::screen::is_shown;
use crate::clock::format_utc_millis;
use crate::journal::mask::{mask_credentials, mask_field};
use crate::replay::{DecisionChange, PastDecision, ReplayResult};
use crate::text::make_json_printable;

pub(super) fn begin(out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\"version\":{}", Value::from(env!("CARGO_PKG_VERSION")))
}

pub(super) fn end(out: &mut impl Write, result: &ReplayResult, show: Option<&str>) -> io::Result<()> {
    let shown = result.decisions.iter().filter(|decision| show.is_none_or(|name| is_shown(decision, name)));
    let decisions: Vec<Value> = shown.map(decision_to_json).collect();
    let (exact, approximate) = result.count_exact();
    let unjudged = result.unjudged.iter();
    let unjudged = unjudged.map(|(name, unjudged)| {
        json!({"rule_or_guard": mask(name), "why": unjudged.why, "events": unjudged.events})
    });
    let rest = json!({
        "sessions": result.sessions,
        "files": result.files,
        "bytes": result.bytes,
        "records": result.records,
        "calls": result.calls,
        "asked_calls": result.asked_calls,
        "agent_calls": result.agent_calls,
        "calls_by_tool": result.calls_by_tool.iter().map(|(tool, count)| (mask(tool), *count)).collect::<std::collections::BTreeMap<_, _>>(),
        "prompts": result.prompts,
        "task_notifications": result.notifications,
        "stops": result.stops,
        "first": result.times.map(|(first, _)| format_time(first)),
        "last": result.times.map(|(_, last)| format_time(last)),
        "skipped": result.skipped,
        "not_judged": unjudged.collect::<Vec<_>>(),
        "exact": exact,
        "approximate": approximate,
        "interrupted": result.interrupted_after.is_some(),
        "decisions": decisions,
    });
    let rest = rest.to_string();
    writeln!(out, ",{}", make_json_printable(&rest[1..]))
}

fn decision_to_json(decision: &PastDecision) -> Value {
    let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(mask);
    let id = |name: &str, id: &Option<std::sync::Arc<str>>| {
        id.as_deref().map(|id| mask_field(name, id).into_owned())
    };
    let mut value = json!({
        "session": id("session", &decision.session),
        "call": id("call", &decision.call),
        "time": decision.time.map(format_time),
        "agent": text(&decision.agent),
        "tool": text(&decision.tool),
        "rule_or_guard": mask(&decision.judge),
        "decision": decision.outcome.name(),
        "exact": decision.is_exact,
        "what": &*decision.what,
        "why": &*decision.why,
        "watched": decision.is_watched,
    });
    if let Some(change) = decision.change {
        value["change"] = change.name().into();
        value["before"] = match change {
            DecisionChange::New => Value::Null,
            DecisionChange::Gone => decision.outcome.name().into(),
            DecisionChange::Changed(before) => before.name().into(),
        };
        if change == DecisionChange::Gone {
            value["decision"] = Value::Null;
        }
    }
    value
}

fn mask(text: &str) -> String {
    mask_credentials(text).into_owned()
}

fn format_time(millis: u64) -> String {
    format_utc_millis(Duration::from_millis(millis))
}

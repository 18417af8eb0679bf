//! The guard `rules`: judges every rule of `provost.toml` over the effects of an event.
//!
//! Each rule that matches gives an opinion of its own, so that answers, journal and overrides name it. A rule is looked
//! at only as far as the event can concern it: patterns are parsed and regular expressions compiled last.

mod answer;
mod call;
mod paths;
mod scene;

use crate::prelude::*;
use provost_core::event::{Event, EventKind};
use provost_core::opinion::{Fault, Opinion};
use provost_core::rules::{Rule, RuleAction};
use provost_core::workspace::Workspace;

pub use scene::{ExampleFacts, Scene};

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    workspace.keep_good_rules();
    if workspace.config.rules.rules.is_empty() {
        return Ok(Opinion::unconcerned());
    }
    let EventKind::BeforeTool(_) = event.kind else { return Ok(Opinion::unconcerned()) };
    judge_call(&Scene::new(event, workspace))
}

/// Judges a tool call by every rule about calls.
pub fn judge_call(scene: &Scene<'_>) -> Result<Opinion, Fault> {
    let mut by_rule = Vec::new();
    for rule in &scene.workspace.config.rules.rules {
        if !rule.subject.concerns_calls() || matches!(rule.action, RuleAction::Run { .. }) {
            continue;
        }
        if let Some(found) = call::match_call(rule, scene)? {
            by_rule.extend(answer::answer_call(rule, &found, scene));
        }
    }
    if by_rule.is_empty() {
        return Ok(Opinion::silent());
    }
    Ok(Opinion { by_rule, ..Opinion::default() })
}

/// Whether a rule matches the call of an example.
pub fn matches_call_example(rule: &Rule, scene: &Scene<'_>) -> Result<bool, Fault> {
    if !rule.subject.concerns_calls() {
        return Ok(false);
    }
    Ok(call::match_call(rule, scene)?.is_some())
}

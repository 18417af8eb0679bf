//! Which entries Claude Code needs so that the guards of some packs are asked.
//!
//! They follow from the registry: what a guard is asked about decides the event, and its failure mode
//! decides what the client does where Provost is missing. Groups of one event never take the same tool,
//! because of two equal entries the client runs one, and it is not known whose `onFailure` counts.

use serde_json::Value;

use super::shared_entry;
use crate::clients::{Needed, ProgramName};
use crate::json_text::{Change, Style, Written};
use crate::registry::{FailureMode, GUARDS, Trigger};

/// The one call that a guard has for itself.
const GATE: &str = super::EXIT;
/// All tools but that one.
pub(super) const EVERYDAY: &str = "^(?!ExitPlanMode$)";

/// Provost's own limit lies well below.
const USUAL: u32 = 10;
/// A critic may be asked at the way out of plan mode.
const ASSESSMENT: u32 = 1_000;
/// A review may be made at a stop.
pub(super) const REVIEW: u32 = 7_200;

/// The entries that these packs need, in the order in which a session meets them. `closed`: everyday calls
/// are blocked too where Provost cannot be run.
pub(super) fn needed(packs: &[&str], closed: bool) -> Vec<Needed> {
    let guards = || GUARDS.iter().filter(|guard| packs.contains(&guard.pack));
    let has = |wanted: &[Trigger]| {
        guards().any(|guard| guard.triggers.iter().any(|trigger| wanted.contains(trigger)))
    };
    let is_closed =
        |trigger| guards().any(|g| g.failure == FailureMode::Closed && g.triggers.contains(&trigger));
    let mut entries = Vec::new();
    let mut add = |event, matcher, seconds, blocks_on_failure| {
        entries.push(Needed { event, matcher, seconds, blocks_on_failure });
    };
    if has(&[Trigger::SessionStart]) {
        add("SessionStart", None, USUAL, false);
    }
    if has(&[Trigger::Prompt]) {
        add("UserPromptSubmit", None, USUAL, false);
    }
    let has_gate = has(&[Trigger::LeavingPlanMode]);
    let before = [
        Trigger::BeforeAnyTool,
        Trigger::BeforeDelegation,
        Trigger::BeforeSkill,
        Trigger::BeforeMessage,
        Trigger::BeforeShell,
    ];
    if has(&before) {
        add("PreToolUse", Some(if has_gate { EVERYDAY } else { "*" }), USUAL, closed);
    }
    if has_gate {
        add("PreToolUse", Some(GATE), ASSESSMENT, is_closed(Trigger::LeavingPlanMode));
    }
    let after = [
        Trigger::AfterWriting,
        Trigger::AfterDelegation,
        Trigger::AfterSkill,
        Trigger::AfterShell,
        Trigger::AfterToolInPlanMode,
    ];
    if has(&after) {
        add("PostToolUse", Some("*"), USUAL, false);
    }
    if has(&[Trigger::AfterShell]) {
        add("PostToolUseFailure", Some("Bash"), USUAL, false);
    }
    if has(&[Trigger::SubagentStop]) {
        add("SubagentStop", None, USUAL, false);
    }
    if has(&[Trigger::Stop]) {
        add("Stop", None, if packs.contains(&"review-loop") { REVIEW } else { USUAL }, false);
    }
    if has(&[Trigger::ConfigChange]) {
        add("ConfigChange", None, USUAL, false);
    }
    entries
}

/// An entry that is longer has a line for each field.
const LONGEST_LINE: usize = 100;

/// How an entry calls Provost.
pub(super) struct Called<'a> {
    pub(super) program: ProgramName<'a>,
    pub(super) arguments: Vec<String>,
}

impl Called<'_> {
    /// The fields of an entry, each with its value as JSON.
    pub(super) fn fields(&self, needed: &Needed) -> Vec<(&'static str, Value)> {
        let mut fields = vec![("type", Value::from("command"))];
        match self.program {
            ProgramName::Path(path) => {
                fields.push(("command", path.into()));
                fields.push(("args", self.arguments.clone().into()));
            }
            ProgramName::Shared => {
                fields.push(("command", shared_entry::build_command(needed, &self.arguments).into()));
            }
        }
        fields.push(("timeout", needed.seconds.into()));
        if needed.blocks_on_failure {
            fields.push(("onFailure", "block".into()));
        }
        fields
    }
}

/// A group with one entry that calls Provost, as it stands so deep in a file.
pub(super) fn group(called: &Called<'_>, needed: &Needed, style: &Style, depth: usize) -> String {
    let gap = style.gap;
    let fields: Vec<String> = called
        .fields(needed)
        .iter()
        .map(|(name, value)| format!("\"{name}\":{gap}{}", spaced(value, gap)))
        .collect();
    let mut entry = format!("{{{gap}{}{gap}}}", fields.join(&format!(",{gap}")));
    if style.has_lines() && entry.len() > LONGEST_LINE {
        let margin = style.margin(depth + 3);
        entry = format!("{{{margin}{}{}}}", fields.join(&format!(",{margin}")), style.margin(depth + 2));
    }
    let limit = needed.matcher.map_or_else(String::new, |matcher| {
        let between = if style.has_lines() { "" } else { gap };
        style.field("matcher", &Value::from(matcher).to_string(), depth + 1) + "," + between
    });
    let hooks = style.field("hooks", &style.list(&entry, depth + 1), depth + 1);
    format!("{{{limit}{hooks}{}}}", style.margin(depth))
}

/// What becomes of a group, given what becomes of each of its entries. One that loses all goes: a group without
/// entries does nothing.
pub(super) fn each_entry(group: &str, mut change: impl FnMut(Option<&str>, &str) -> Change) -> Change {
    let Ok(fields) = Written::object(group) else { return Change::None };
    let Some((at, list)) = fields.last("hooks") else { return Change::None };
    let Ok(entries) = Written::list(list) else { return Change::None };
    let limit = fields.last("matcher").and_then(|(_, text)| serde_json::from_str::<String>(text).ok());
    let changes: Vec<Change> =
        entries.items().iter().map(|entry| change(limit.as_deref(), entry.value)).collect();
    match entries.change(&changes) {
        Change::To(text) => fields.with(at, Change::To(text)).map_or(Change::Remove, Change::To),
        other => other,
    }
}

/// A value on one line.
pub(super) fn spaced(value: &Value, gap: &str) -> String {
    match value.as_array() {
        Some(list) => {
            let list: Vec<String> = list.iter().map(Value::to_string).collect();
            format!("[{}]", list.join(&format!(",{gap}")))
        }
        None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(packs: &[&str]) -> Vec<(&'static str, Option<&'static str>)> {
        needed(packs, false).iter().map(|entry| (entry.event, entry.matcher)).collect()
    }

    #[test]
    fn each_pack_has_what_its_guards_are_asked_about() {
        let own = [
            ("SessionStart", None),
            ("UserPromptSubmit", None),
            ("PreToolUse", Some("*")),
            ("ConfigChange", None),
        ];
        assert_eq!(events(&["self"]), own);
        assert_eq!(events(&["review-loop"]), [("Stop", None)]);
        assert!(events(&["self", "phases"]).contains(&("PostToolUseFailure", Some("Bash"))));
        let all: Vec<&str> = crate::registry::PACKS.iter().map(|pack| pack.name).collect();
        assert_eq!(events(&all).len(), 9);
    }

    #[test]
    fn the_gate_is_closed_and_everyday_work_is_a_choice() {
        let blocking = |closed| -> Vec<Option<&str>> {
            let entries = needed(&["self", "plan-gate", "planner"], closed);
            entries.iter().filter(|entry| entry.blocks_on_failure).map(|entry| entry.matcher).collect()
        };
        assert_eq!(blocking(false), [Some(GATE)]);
        assert_eq!(blocking(true), [Some(EVERYDAY), Some(GATE)]);
    }

    /// A trigger that is added to the registry needs a place here.
    #[test]
    fn every_guard_that_is_registered_is_asked() {
        for guard in GUARDS {
            assert!(!needed(&[guard.pack], false).is_empty(), "{}", guard.name);
            for trigger in guard.triggers {
                let event = match trigger {
                    Trigger::BeforeAnyTool
                    | Trigger::BeforeDelegation
                    | Trigger::BeforeSkill
                    | Trigger::BeforeMessage
                    | Trigger::BeforeShell
                    | Trigger::LeavingPlanMode => "PreToolUse",
                    Trigger::AfterWriting
                    | Trigger::AfterDelegation
                    | Trigger::AfterSkill
                    | Trigger::AfterShell
                    | Trigger::AfterToolInPlanMode => "PostToolUse",
                    Trigger::SessionStart => "SessionStart",
                    Trigger::ConfigChange => "ConfigChange",
                    Trigger::Stop => "Stop",
                    Trigger::SubagentStop => "SubagentStop",
                    Trigger::Prompt => "UserPromptSubmit",
                };
                let asked = events(&[guard.pack]);
                assert!(asked.iter().any(|(name, _)| *name == event), "{} {trigger:?}", guard.name);
            }
        }
    }
}

//! The hook entries that Claude Code needs for the guards of some packs, and their text in a settings file.
//!
//! They follow from the registry: a guard's triggers select the events, and its failure mode decides what Claude Code
//! does if Provost is missing. No two entries of one event match the same tool, because Claude Code runs only one of two
//! equal entries, and nobody knows whose `onFailure` counts.

use std::time::Duration;

use serde_json::Value;

use super::shared_entry;
use crate::json_edit::{EditableJson, JsonLayout, ValueEdit};
use crate::{NeededEntry, ProgramName};
use provost_core::guard::{FailureMode, Guard, Trigger};
use provost_core::text::quote_for_shell;

/// The matcher of the call that leaves plan mode, which has an entry of its own.
const PLAN_EXIT: &str = super::EXIT;
/// The matcher of all other calls.
pub(super) const ALL_BUT_PLAN_EXIT: &str = "^(?!ExitPlanMode$)";

/// Seconds. Provost's own limit is far below.
const DEFAULT_TIMEOUT: u32 = 10;
/// The plan gate may ask a critic.
const ASSESSMENT_TIMEOUT: u32 = 1_000;
/// The review loop may run a review.
pub(super) const REVIEW_TIMEOUT: u32 = 7_200;

/// The entries that these guards need, in the order in which a session meets them. With `closed`, Claude Code also blocks
/// everyday calls if Provost cannot be run.
pub(crate) fn list_needed_entries(guards: &[&Guard], closed: bool) -> Vec<NeededEntry> {
    use Trigger::{
        AfterDelegation, AfterShell, AfterSkill, AfterTaskResult, AfterToolInPlanMode, AfterWriting,
        BeforeAnyTool, BeforeDelegation, BeforeMessage, BeforeShell, BeforeSkill, ConfigChange,
        LeavingPlanMode, Prompt, SessionStart, Stop, SubagentStop,
    };
    let has =
        |guard: &Guard, wanted: &[Trigger]| guard.triggers.iter().any(|trigger| wanted.contains(trigger));
    let guards_plan_exit = guards.iter().any(|guard| has(guard, &[LeavingPlanMode]));
    let everyday_matcher = if guards_plan_exit { ALL_BUT_PLAN_EXIT } else { "*" };
    let blocks_plan_exit = guards
        .iter()
        .any(|guard| guard.failure_mode == FailureMode::Closed && has(guard, &[LeavingPlanMode]));
    let reviews = guards.iter().any(|guard| guard.may_review_at(Stop));
    let entries: [(&[Trigger], NeededEntry); 9] = [
        (&[SessionStart], default_entry("SessionStart", None)),
        (&[Prompt], default_entry("UserPromptSubmit", None)),
        (
            &[BeforeAnyTool, BeforeDelegation, BeforeSkill, BeforeMessage, BeforeShell],
            NeededEntry { blocks_on_failure: closed, ..default_entry("PreToolUse", Some(everyday_matcher)) },
        ),
        (
            &[LeavingPlanMode],
            NeededEntry {
                seconds: ASSESSMENT_TIMEOUT,
                blocks_on_failure: blocks_plan_exit,
                ..default_entry("PreToolUse", Some(PLAN_EXIT))
            },
        ),
        (
            &[AfterWriting, AfterDelegation, AfterSkill, AfterShell, AfterTaskResult, AfterToolInPlanMode],
            default_entry("PostToolUse", Some("*")),
        ),
        (&[AfterShell], default_entry("PostToolUseFailure", Some("Bash"))),
        (&[SubagentStop], default_entry("SubagentStop", None)),
        (
            &[Stop],
            NeededEntry {
                seconds: if reviews { REVIEW_TIMEOUT } else { DEFAULT_TIMEOUT },
                ..default_entry("Stop", None)
            },
        ),
        (&[ConfigChange], default_entry("ConfigChange", None)),
    ];
    let is_needed = |triggers: &[Trigger]| guards.iter().any(|guard| has(guard, triggers));
    entries.into_iter().filter(|(triggers, _)| is_needed(triggers)).map(|(_, entry)| entry).collect()
}

/// Gives entries the time that a guard needs at a trigger, and a little more, so that Provost answers first.
pub(crate) fn fit_timeouts(entries: &mut [NeededEntry], find_limit: &dyn Fn(Trigger) -> Option<Duration>) {
    const MARGIN: u32 = 5;
    for entry in entries {
        let trigger = match entry.event {
            "PreToolUse" => Trigger::BeforeAnyTool,
            "PostToolUse" => Trigger::AfterWriting,
            "PostToolUseFailure" => Trigger::AfterShell,
            "Stop" => Trigger::Stop,
            "SubagentStop" => Trigger::SubagentStop,
            _ => continue,
        };
        let needed = find_limit(trigger).and_then(|limit| u32::try_from(limit.as_secs()).ok());
        entry.seconds = entry.seconds.max(needed.map_or(0, |needed| needed.saturating_add(MARGIN)));
    }
}

/// An entry that does not block if Provost is missing.
pub(super) const fn default_entry(event: &'static str, matcher: Option<&'static str>) -> NeededEntry {
    NeededEntry { event, matcher, seconds: DEFAULT_TIMEOUT, blocks_on_failure: false }
}

/// A longer entry has a line for each field.
const LONGEST_LINE: usize = 100;

/// The form of an entry in the settings file of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryForm {
    /// The client that the entry names. Clients other than Claude Code have a shell run the command, and take no other
    /// fields.
    pub(crate) client: Option<&'static str>,
    /// The unit of time limits, in a second.
    pub(crate) units_per_second: u32,
}

impl EntryForm {
    pub(super) const CLAUDE_CODE: Self = Self { client: None, units_per_second: 1 };

    /// The arguments of Provost in an entry.
    pub(super) fn list_arguments(self, packs: &[&str]) -> Vec<String> {
        let client = self.client.into_iter().flat_map(|client| ["--client", client]);
        let packs = packs.iter().flat_map(|pack| ["--pack", *pack]);
        ["hook"].into_iter().chain(client).chain(packs).map(str::to_owned).collect()
    }
}

/// How an entry calls Provost.
pub(super) struct ProvostCall<'a> {
    pub(super) program: ProgramName<'a>,
    pub(super) arguments: Vec<String>,
    pub(super) form: EntryForm,
}

impl ProvostCall<'_> {
    /// The fields of an entry.
    pub(super) fn entry_fields(&self, needed: &NeededEntry) -> Vec<(&'static str, Value)> {
        let mut fields = vec![("type", Value::from("command"))];
        match self.program {
            ProgramName::Path(path) if self.form.client.is_some() => {
                let line = format!("{} {}", quote_for_shell(path), self.arguments.join(" "));
                fields.push(("command", line.into()));
            }
            ProgramName::Path(path) => {
                fields.push(("command", path.into()));
                fields.push(("args", self.arguments.clone().into()));
            }
            ProgramName::Shared => {
                fields.push(("command", shared_entry::build_command(needed, &self.arguments).into()));
            }
        }
        fields.push(("timeout", (needed.seconds * self.form.units_per_second).into()));
        if needed.blocks_on_failure && self.form.client.is_none() {
            fields.push(("onFailure", "block".into()));
        }
        fields
    }

    /// A group with one entry, with its margin in the list of an event.
    pub(super) fn format_group(&self, needed: &NeededEntry, layout: &JsonLayout) -> String {
        let gap = layout.gap;
        let fields = self.entry_fields(needed).into_iter();
        let fields: Vec<String> =
            fields.map(|(name, value)| format!("\"{name}\":{gap}{}", format_line(&value, gap))).collect();
        let mut entry = format!("{{{gap}{}{gap}}}", fields.join(&format!(",{gap}")));
        if layout.has_lines() && entry.len() > LONGEST_LINE {
            let margin = layout.margin(6);
            entry = format!("{{{margin}{}{}}}", fields.join(&format!(",{margin}")), layout.margin(5));
        }
        let matcher = needed.matcher.map_or_else(String::new, |matcher| {
            let between = if layout.has_lines() { "" } else { gap };
            layout.format_field("matcher", &Value::from(matcher).to_string(), 4) + "," + between
        });
        let entries = layout.format_list(&[layout.margin(5) + &entry], 4);
        let hooks = layout.format_field("hooks", &entries, 4);
        format!("{}{{{matcher}{hooks}{}}}", layout.margin(3), layout.margin(3))
    }
}

/// The edit of a group that follows from the edits of its entries. A group without entries does nothing, so it is
/// removed with its last entry.
pub(super) fn edit_entries(group: &str, mut edit: impl FnMut(Option<&str>, &str) -> ValueEdit) -> ValueEdit {
    let Ok(fields) = EditableJson::parse_object(group) else { return ValueEdit::Keep };
    let Some((at, list)) = fields.find_last("hooks") else { return ValueEdit::Keep };
    let Ok(entries) = EditableJson::parse_list(list) else { return ValueEdit::Keep };
    let matcher = fields.find_last("matcher").and_then(|(_, text)| serde_json::from_str::<String>(text).ok());
    let edits: Vec<ValueEdit> =
        entries.items().iter().map(|entry| edit(matcher.as_deref(), entry.value)).collect();
    match entries.apply(&edits) {
        ValueEdit::Replace(text) => {
            fields.edit_item(at, ValueEdit::Replace(text)).map_or(ValueEdit::Remove, ValueEdit::Replace)
        }
        other => other,
    }
}

/// A value on one line.
pub(super) fn format_line(value: &Value, gap: &str) -> String {
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
    use provost_guards::registry::{GUARDS, PACKS};

    fn entries_for(packs: &[&str], closed: bool) -> Vec<NeededEntry> {
        list_needed_entries(
            &GUARDS.iter().filter(|guard| packs.contains(&guard.pack)).collect::<Vec<_>>(),
            closed,
        )
    }

    fn events(packs: &[&str]) -> Vec<(&'static str, Option<&'static str>)> {
        entries_for(packs, false).iter().map(|entry| (entry.event, entry.matcher)).collect()
    }

    #[test]
    fn each_pack_has_the_entries_that_its_guards_need() {
        let own = [
            ("SessionStart", None),
            ("UserPromptSubmit", None),
            ("PreToolUse", Some("*")),
            ("ConfigChange", None),
        ];
        assert_eq!(events(&["self"]), own);
        assert_eq!(events(&["review-loop"]), [("Stop", None)]);
        assert!(events(&["self", "phases"]).contains(&("PostToolUseFailure", Some("Bash"))));
        let all: Vec<&str> = PACKS.iter().map(|pack| pack.name).collect();
        assert_eq!(events(&all).len(), 9);
    }

    #[test]
    fn the_plan_gate_blocks_on_failure_and_other_entries_on_request() {
        let blocking = |closed| -> Vec<Option<&str>> {
            let entries = entries_for(&["self", "plan-gate", "planner"], closed);
            entries.iter().filter(|entry| entry.blocks_on_failure).map(|entry| entry.matcher).collect()
        };
        assert_eq!(blocking(false), [Some(PLAN_EXIT)]);
        assert_eq!(blocking(true), [Some(ALL_BUT_PLAN_EXIT), Some(PLAN_EXIT)]);
    }

    /// A new trigger in the registry needs an entry.
    #[test]
    fn every_trigger_has_an_entry() {
        for guard in GUARDS {
            assert!(!entries_for(&[guard.pack], false).is_empty(), "{}", guard.name);
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
                    | Trigger::AfterTaskResult
                    | Trigger::AfterToolInPlanMode => "PostToolUse",
                    Trigger::SessionStart => "SessionStart",
                    Trigger::ConfigChange => "ConfigChange",
                    Trigger::Stop => "Stop",
                    Trigger::SubagentStop => "SubagentStop",
                    Trigger::Prompt => "UserPromptSubmit",
                };
                let entries = events(&[guard.pack]);
                assert!(entries.iter().any(|(name, _)| *name == event), "{} {trigger:?}", guard.name);
            }
        }
    }
}

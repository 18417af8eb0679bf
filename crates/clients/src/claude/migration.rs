//! Replaces the hook scripts of the phases in a settings file with entries that call Provost.
//!
//! The workflow's document registers its scripts one by one; Provost is registered once for each event. The rest of the
//! file belongs to the user, so the text is edited in place: every other byte, the order and the indentation stay.

use serde_json::Value;

use super::entries::{EntryForm, ProvostCall, REVIEW_TIMEOUT, default_entry, edit_entries};
use super::has_word;
use super::installation::find_events;
use super::settings::{calls_provost, matches_all};
use crate::json_edit::{EditableJson, JsonLayout, ValueEdit};
use crate::{Migration, MigrationReport, NeededEntry, ProgramName};
use provost_core::places::is_provost_program;
use provost_core::text::strip_byte_order_mark;

pub(super) const MIGRATION: Migration = Migration {
    list_settings_files: |project| {
        let folder = project.join(".claude");
        vec![folder.join("settings.json"), folder.join("settings.local.json")]
    },
    replace_scripts: rewrite,
};

/// The scripts that a guard of Provost replaces.
const REPLACED_SCRIPTS: &str = "iteration-corridor skill-validator phase-loop-controller plan-surfacer phase-sequence-guard \
    gate-blocker constitution-validator branch-guard state-write-validator log-skill-usage \
    menu-tracker walkthrough-tracker discover-menu-guard skill-delegation-enforcer test-watcher \
    review-reminder delegation-gate";

/// The only script that no guard replaces.
const UNREPLACED_SCRIPT: &str = "model-provider-router";

/// The pack that replaces the scripts.
const PACK: &str = "phases";

/// The entries that replace the scripts. The review loop may run a review at a stop, and a prompt is the user's way to
/// override a guard.
const NEEDED: &[NeededEntry] = &[
    default_entry("PreToolUse", Some("*")),
    default_entry("PostToolUse", Some("*")),
    default_entry("PostToolUseFailure", Some("Bash")),
    default_entry("UserPromptSubmit", None),
    default_entry("SubagentStop", None),
    NeededEntry { seconds: REVIEW_TIMEOUT, ..default_entry("Stop", None) },
];

/// What this migration does with a hook entry.
enum MigratedEntryKind {
    /// It only calls this script, so it is removed.
    Script(String),
    /// It calls a script and has to stay, for this reason.
    Kept(String),
    /// It calls the guards of the pack.
    Provost,
    Other,
}

fn rewrite(text: &str, elsewhere: &[String]) -> Result<MigrationReport, String> {
    let body = strip_byte_order_mark(text);
    let file = EditableJson::parse_object(body)?;
    let mut report = MigrationReport::default();
    let has_plugin = is_plugin_enabled(&file);
    if has_plugin {
        report.calls = NEEDED.iter().map(|needed| needed.event.to_owned()).collect();
    }
    let Some((hooks_at, events)) = find_events(&file) else { return Ok(report) };
    let mut edits = Vec::new();
    for (at, item) in events.items().iter().enumerate() {
        let event = &item.name;
        let edit = remove_scripts(event, item.value, &mut report);
        edits.push(if events.is_last(at) { events.keep_earlier_hidden(event, edit, "[]") } else { edit });
        let matchers = list_provost_matchers(item.value);
        for matcher in &matchers {
            let needed = NEEDED.iter().find(|needed| needed.event == event);
            if let Some(needed) = needed.filter(|needed| !covers(matcher.as_deref(), needed.matcher)) {
                report.notes.push(format!(
                    "the {event} entry that calls Provost is limited to `{}`, but the guards need `{}`",
                    matcher.as_deref().unwrap_or_default(),
                    needed.matcher.unwrap_or("*")
                ));
            }
        }
        if !matchers.is_empty() {
            report.calls.push(event.clone());
        }
    }
    if report.removed.is_empty() {
        return Ok(report);
    }
    if has_plugin {
        report.notes.push("the plugin `isdlc` is enabled here and registers Provost".into());
    }
    let is_called = |event: &&str| report.calls.iter().chain(elsewhere).any(|called| called == event);
    report.added = NEEDED.iter().map(|needed| needed.event).filter(|event| !is_called(event)).collect();
    let events = add_provost(&events, edits, &report.added, &JsonLayout::detect(body));
    let edit = file.keep_earlier_hidden("hooks", events.map_or(ValueEdit::Remove, ValueEdit::Replace), "{}");
    let rebuilt = file.edit_item(hooks_at, edit).unwrap_or_else(|| "{}".into());
    report.text = Some(text.replacen(file.text(), &rebuilt, 1));
    Ok(report)
}

/// The new text of `hooks`; `None` if nothing is left in it.
fn add_provost(
    events: &EditableJson<'_>,
    mut edits: Vec<ValueEdit>,
    added: &[&'static str],
    layout: &JsonLayout,
) -> Option<String> {
    let mut new_events = Vec::new();
    let call = ProvostCall {
        program: ProgramName::Shared,
        arguments: vec!["hook".into()],
        form: EntryForm::CLAUDE_CODE,
    };
    for needed in NEEDED.iter().filter(|needed| added.contains(&needed.event)) {
        let new = [call.format_group(needed, layout)];
        let Some((at, text)) = events.find_last(needed.event) else {
            new_events.push(layout.format_field(needed.event, &layout.format_list(&new, 2), 2));
            continue;
        };
        let current = match &edits[at] {
            ValueEdit::Keep => Some(text),
            ValueEdit::Replace(text) => Some(text.as_str()),
            ValueEdit::Remove => None,
        };
        let extended = current.and_then(|current| {
            let groups = EditableJson::parse_list(current).ok()?;
            groups.rebuild(&groups.keep_all(), &new, &layout.margin(2))
        });
        edits[at] = ValueEdit::Replace(extended.unwrap_or_else(|| layout.format_list(&new, 2)));
    }
    events.rebuild(&edits, &new_events, &layout.margin(1))
}

/// Removes the entries of an event that call the scripts.
fn remove_scripts(event: &str, text: &str, report: &mut MigrationReport) -> ValueEdit {
    let Ok(groups) = EditableJson::parse_list(text) else { return ValueEdit::Keep };
    let mut edit_entry = |matcher: Option<&str>, entry: &str| {
        let place = matcher.map_or_else(|| event.to_owned(), |matcher| format!("{event}[{matcher}]"));
        match serde_json::from_str(entry).map_or(MigratedEntryKind::Other, |entry| classify_entry(&entry)) {
            MigratedEntryKind::Script(name) => {
                report.removed.push(format!("{place} {name}"));
                return ValueEdit::Remove;
            }
            MigratedEntryKind::Kept(why) => report.notes.push(format!("kept in {place}: {why}")),
            MigratedEntryKind::Provost | MigratedEntryKind::Other => {}
        }
        ValueEdit::Keep
    };
    let edits: Vec<ValueEdit> =
        groups.items().iter().map(|group| edit_entries(group.value, &mut edit_entry)).collect();
    groups.apply(&edits)
}

/// The matchers of an event's entries that call the guards of the pack.
fn list_provost_matchers(text: &str) -> Vec<Option<String>> {
    let groups: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let calls_pack = |group: &&Value| {
        let mut entries = group["hooks"].as_array().into_iter().flatten();
        entries.any(|entry| matches!(classify_entry(entry), MigratedEntryKind::Provost))
    };
    groups.iter().filter(calls_pack).map(|group| group["matcher"].as_str().map(str::to_owned)).collect()
}

/// Whether a matcher matches what is needed.
fn covers(matcher: Option<&str>, needed: Option<&str>) -> bool {
    let (Some(matcher), Some(needed)) = (matcher, needed) else { return true };
    matches_all(matcher) || matcher == needed || matcher.split(['|', ',']).any(|name| name.trim() == needed)
}

/// Whether this file enables the plugin with these guards.
fn is_plugin_enabled(file: &EditableJson<'_>) -> bool {
    let Some((_, text)) = file.find_last("enabledPlugins") else { return false };
    let plugins: Value = serde_json::from_str(text).unwrap_or_default();
    let mut plugins = plugins.as_object().into_iter().flatten();
    plugins.any(|(name, on)| name.starts_with("isdlc@") && *on == Value::Bool(true))
}

fn classify_entry(entry: &Value) -> MigratedEntryKind {
    let Some(command) = entry["command"].as_str() else { return MigratedEntryKind::Other };
    let (words, is_plain) = match entry["args"].as_array() {
        Some(arguments) => {
            let arguments = arguments.iter().filter_map(Value::as_str);
            (std::iter::once(command).chain(arguments).map(str::to_owned).collect(), true)
        }
        None => (split_words(command), !command.contains([';', '&', '|', '<', '>', '`', '\n', '('])),
    };
    if calls_provost(entry) {
        let pairs = words.iter().zip(words.iter().skip(1));
        let mut packs = pairs.filter(|(option, _)| *option == "--pack").map(|(_, pack)| pack).peekable();
        let calls_pack = packs.peek().is_none() || packs.any(|pack| pack == PACK);
        return if calls_pack { MigratedEntryKind::Provost } else { MigratedEntryKind::Other };
    }
    let Some((at, name)) = words.iter().enumerate().find_map(|(at, word)| Some((at, find_script(word)?)))
    else {
        return classify_compat(&words, is_plain);
    };
    if name == UNREPLACED_SCRIPT {
        return MigratedEntryKind::Kept(format!("{name}, because no guard of Provost replaces it"));
    }
    let is_run_by_node = at > 0
        && matches!(file_name(&words[0]), "node" | "node.exe")
        && words[1..at].iter().all(|word| word.starts_with('-'));
    if is_plain && (at == 0 || is_run_by_node) {
        MigratedEntryKind::Script(name.to_owned())
    } else {
        MigratedEntryKind::Kept(format!(
            "{name}, because its command does more than call the script: `{command}`"
        ))
    }
}

/// An entry that calls `provost compat` for a script would run beside the guard that replaces it.
fn classify_compat(words: &[String], is_plain: bool) -> MigratedEntryKind {
    match words {
        [program, compat, name, ..]
            if is_plain
                && is_provost_program(file_name(program))
                && compat == "compat"
                && has_word(REPLACED_SCRIPTS, name) =>
        {
            MigratedEntryKind::Script(name.clone())
        }
        _ => MigratedEntryKind::Other,
    }
}

/// The script that a path leads to.
fn find_script(word: &str) -> Option<&'static str> {
    let name = file_name(word).strip_suffix(".cjs")?;
    REPLACED_SCRIPTS.split(' ').chain([UNREPLACED_SCRIPT]).find(|known| *known == name)
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// The words of a command line without their quotes. A backslash stands for itself, as in paths of Windows.
fn split_words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if c == open => quote = None,
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_that_calls_a_script_is_recognised_in_every_spelling() {
        for command in [
            "node .../gate-blocker.cjs",
            "node $CLAUDE_PROJECT_DIR/.claude/hooks/gate-blocker.cjs",
            "node \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/gate-blocker.cjs",
            "node \"${CLAUDE_PROJECT_DIR}/.claude/hooks/gate-blocker.cjs\"",
            "  node  '/a path/hooks/gate-blocker.cjs' ",
            "/usr/local/bin/node --no-warnings gate-blocker.cjs",
            "\"C:\\Program Files\\nodejs\\node.exe\" \"C:\\p\\.claude\\hooks\\gate-blocker.cjs\"",
            "./.claude/hooks/gate-blocker.cjs",
            "provost compat gate-blocker",
            "\"/opt/a b/provost\" compat gate-blocker",
        ] {
            let entry = json!({"type": "command", "command": command});
            assert!(
                matches!(classify_entry(&entry), MigratedEntryKind::Script(name) if name == "gate-blocker"),
                "{command}"
            );
        }
        for (command, arguments) in
            [("node", ["/a b/gate-blocker.cjs"].as_slice()), ("provost", &["compat", "gate-blocker"])]
        {
            let entry = json!({"command": command, "args": arguments});
            assert!(matches!(classify_entry(&entry), MigratedEntryKind::Script(_)), "{command}");
        }
    }

    #[test]
    fn an_entry_that_only_looks_like_a_script_stays() {
        for command in [
            "node hooks/my-gate-blocker.cjs",
            "node hooks/gate-blocker.js",
            "cat gate-blocker.cjs.bak",
            "provost compat planner-bash-guard",
            "notprovost compat gate-blocker",
            "",
        ] {
            assert!(
                matches!(classify_entry(&json!({"command": command})), MigratedEntryKind::Other),
                "{command}"
            );
        }
        for command in [
            "node a/gate-blocker.cjs | tee log",
            "A=1 node a/gate-blocker.cjs",
            "cat gate-blocker.cjs",
            "timeout 5 node a/gate-blocker.cjs",
            "node a/model-provider-router.cjs",
        ] {
            assert!(
                matches!(classify_entry(&json!({"command": command})), MigratedEntryKind::Kept(_)),
                "{command}"
            );
        }
        for entry in
            [json!(5), json!(null), json!({}), json!({"command": 5}), json!({"command": [], "args": 7})]
        {
            assert!(matches!(classify_entry(&entry), MigratedEntryKind::Other), "{entry}");
        }
    }

    /// Of two events with the same name, Claude Code uses the last one.
    #[test]
    fn an_entry_that_was_hidden_stays_hidden() {
        let (old, script) = (
            r#"[{"hooks":[{"command":"old.sh"}]}]"#,
            r#"[{"hooks":[{"command":"node a/gate-blocker.cjs"}]}]"#,
        );
        let text = format!(r#"{{"hooks":{{"Setup":{old},"Setup":{script}}}}}"#);
        let after = rewrite(&text, &[]).unwrap().text.unwrap();
        let after: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(after["hooks"]["Setup"], json!([]));
    }

    #[test]
    fn an_odd_file_stays_json_and_keeps_the_entries_of_others() {
        let ours = r#"{"command": "node h/delegation-gate.cjs"}"#;
        for (before, kept) in [
            (
                format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{ours} , {{"command":"x , y"}} ]}}]}}}}"#),
                "x , y",
            ),
            (
                format!(r#"{{"hooks": {{"Stop": [5, null, {{"hooks": 7}}, {{"hooks": [{ours}, 5]}}]}}}}"#),
                "null",
            ),
            (
                format!(
                    "{{ \"a\" : \"}},{{\" , \"hooks\":{{\"Stop\":[\n{{\"hooks\":[{ours}]}}]}}, \"b\":[ ] }}"
                ),
                "},{",
            ),
            (
                format!(
                    r#"{{"hooks": 5, "hooks": {{"X": [], "Stop": [{{"hooks": [{ours}]}}], "Y": {{}}}}}}"#
                ),
                "\"Y\": {}",
            ),
            (
                format!(
                    r#"{{"hooks": {{"Stop": [{{"hooks": [{ours},{ours}], "m": "ü\u00fc"}}], "Stop": []}}}}"#
                ),
                "Stop",
            ),
        ] {
            let report = rewrite(&before, &[]).unwrap();
            let after = report.text.unwrap_or_else(|| panic!("{before}"));
            serde_json::from_str::<Value>(&after).unwrap_or_else(|error| panic!("{error}: {after}"));
            assert!(after.contains(kept) && !after.contains(".cjs"), "{after}");
            assert!(
                super::super::settings::parse_switches(Some(&after)).is_ok() || before.contains("null"),
                "{after}"
            );
            assert!(rewrite(&after, &[]).unwrap().text.is_none(), "again: {after}");
        }
        for text in
            ["{}", r#"{"hooks": 5}"#, r#"{"hooks": {"Stop": 5}}"#, r#"{"hooks": {}}"#, " {\"a\":1} \n"]
        {
            assert!(rewrite(text, &[]).unwrap().text.is_none(), "{text}");
        }
    }
}

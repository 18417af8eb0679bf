//! From the hook scripts of the phases to Provost: a settings file, rewritten.
//!
//! The document's scripts are registered one by one; Provost is registered once for each event. The
//! rest of the file belongs to somebody else, so the text is not parsed and printed anew: only the
//! pieces that go or come are touched, and every other byte, order and margin stays.

use serde_json::Value;

use super::entries::{self, Called, each_entry, group};
use super::settings::{calls_provost, matches_all};
use crate::clients::{Migrated, Migration, Needed, ProgramName};
use crate::json_text::{Change, Style, Written};
use crate::workspace::is_provost;

pub(super) const MIGRATION: Migration = Migration {
    files: |project| {
        let folder = project.join(".claude");
        vec![folder.join("settings.json"), folder.join("settings.local.json")]
    },
    rewrite,
};

/// The scripts that a guard of Provost stands in for.
const SCRIPTS: &[&str] = &[
    "iteration-corridor",
    "skill-validator",
    "phase-loop-controller",
    "plan-surfacer",
    "phase-sequence-guard",
    "gate-blocker",
    "constitution-validator",
    "branch-guard",
    "state-write-validator",
    "log-skill-usage",
    "menu-tracker",
    "walkthrough-tracker",
    "discover-menu-guard",
    "skill-delegation-enforcer",
    "test-watcher",
    "review-reminder",
    "delegation-gate",
];

/// The one that nothing stands in for.
const LEFT_OUT: &str = "model-provider-router";

/// The pack whose guards have to be asked.
const PACK: &str = "phases";

/// What comes in the place of the scripts. At a stop a review may be made, if the project has plans for one. A
/// prompt is the person's way out.
const NEEDED: &[Needed] = &[
    usual("PreToolUse", Some("*")),
    usual("PostToolUse", Some("*")),
    usual("PostToolUseFailure", Some("Bash")),
    usual("UserPromptSubmit", None),
    usual("SubagentStop", None),
    Needed { seconds: entries::REVIEW, ..usual("Stop", None) },
];

const fn usual(event: &'static str, matcher: Option<&'static str>) -> Needed {
    Needed { event, matcher, seconds: 10, blocks_on_failure: false }
}

/// What a hook entry is to this migration.
enum Entry {
    /// It calls one of the scripts, and nothing else.
    Script(String),
    /// It calls one of them, but the rest of its command would be lost; or nothing stands in for it.
    Kept(String),
    /// It has the guards of the pack asked.
    Provost,
    Others,
}

fn rewrite(text: &str, elsewhere: &[String]) -> Result<Migrated, String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = Written::object(body)?;
    let mut found = Migrated::default();
    let is_plugged = is_plugged(&file);
    if is_plugged {
        found.calls = NEEDED.iter().map(|needed| needed.event.to_owned()).collect();
    }
    let events = file.last("hooks").and_then(|(at, text)| Some((at, Written::object(text).ok()?)));
    let Some((hooks_at, events)) = events else { return Ok(found) };
    let mut changes = Vec::new();
    for (at, item) in events.items().iter().enumerate() {
        let event = &item.name;
        let change = without_scripts(event, item.value, &mut found);
        let counts = events.last(event).is_some_and(|(last, _)| last == at);
        changes.push(if counts { events.or_keep(event, change, "[]") } else { change });
        let limits = provost_in(item.value);
        for limit in &limits {
            let needed = NEEDED.iter().find(|needed| needed.event == event);
            if let Some(needed) = needed.filter(|needed| !covers(limit.as_deref(), needed.matcher)) {
                let limit = limit.as_deref().unwrap_or_default();
                found.notes.push(format!(
                    "the {event} entry that calls Provost is limited to `{limit}`, but the guards need `{}`",
                    needed.matcher.unwrap_or("*")
                ));
            }
        }
        if !limits.is_empty() {
            found.calls.push(event.clone());
        }
    }
    if found.removed.is_empty() {
        return Ok(found);
    }
    if is_plugged {
        found.notes.push("the plugin `isdlc` is enabled here and brings Provost's entries".into());
    }
    let is_called = |event: &&str| found.calls.iter().chain(elsewhere).any(|called| called == event);
    let needed = NEEDED.iter().map(|needed| needed.event);
    found.added = needed.filter(|event| !is_called(event)).collect();
    let style = Style::of(body);
    let change = events_text(&events, changes, &found.added, &style).map_or(Change::Remove, Change::To);
    let change = file.or_keep("hooks", change, "{}");
    let rebuilt = file.with(hooks_at, change).unwrap_or_else(|| "{}".into());
    found.text = Some(text.replacen(file.text(), &rebuilt, 1));
    Ok(found)
}

/// The new text of `hooks`; `None`: nothing is left in it.
fn events_text(
    events: &Written<'_>,
    mut changes: Vec<Change>,
    added: &[&'static str],
    style: &Style,
) -> Option<String> {
    let mut behind = Vec::new();
    let called = Called { program: ProgramName::Shared, arguments: vec!["hook".into()] };
    for event in added {
        let Some(needed) = NEEDED.iter().find(|needed| needed.event == *event) else { continue };
        let new = group(&called, needed, style, 3);
        match events.last(event) {
            Some((at, text)) => {
                let now = match &changes[at] {
                    Change::None => Some(text),
                    Change::To(text) => Some(text.as_str()),
                    Change::Remove => None,
                };
                let joined = now.and_then(|now| {
                    let kept = Written::list(now).ok()?;
                    let unchanged = vec![Change::None; kept.items().len()];
                    kept.changed(&unchanged, &[style.margin(3) + &new], &style.margin(2))
                });
                changes[at] = Change::To(joined.unwrap_or_else(|| style.list(&new, 2)));
            }
            None => behind.push(style.field(event, &style.list(&new, 2), 2)),
        }
    }
    events.changed(&changes, &behind, &style.margin(1))
}

/// The groups of an event without those entries that call the scripts.
fn without_scripts(event: &str, text: &str, found: &mut Migrated) -> Change {
    let Ok(groups) = Written::list(text) else { return Change::None };
    let changes: Vec<Change> =
        groups.items().iter().map(|group| shortened(event, group.value, found)).collect();
    groups.change(&changes)
}

fn shortened(event: &str, group: &str, found: &mut Migrated) -> Change {
    each_entry(group, |limit, entry| {
        let place = limit.map_or_else(|| event.to_owned(), |limit| format!("{event}[{limit}]"));
        match meaning(entry) {
            Entry::Script(name) => {
                found.removed.push(format!("{place} {name}"));
                Change::Remove
            }
            Entry::Kept(why) => {
                found.notes.push(format!("left in {place}: {why}"));
                Change::None
            }
            Entry::Provost | Entry::Others => Change::None,
        }
    })
}

/// The limits of an event's entries that have the guards of the pack asked.
fn provost_in(text: &str) -> Vec<Option<String>> {
    let groups: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let asks = |group: &&Value| {
        let mut entries = group["hooks"].as_array().into_iter().flatten();
        entries.any(|entry| matches!(meaning_of(entry), Entry::Provost))
    };
    groups.iter().filter(asks).map(|group| group["matcher"].as_str().map(str::to_owned)).collect()
}

/// Whether a matcher lets through what is needed.
fn covers(limit: Option<&str>, needed: Option<&str>) -> bool {
    match (limit, needed) {
        (None, _) | (_, None) => true,
        (Some(limit), Some(needed)) => {
            matches_all(limit) || limit == needed || limit.split(['|', ',']).any(|name| name.trim() == needed)
        }
    }
}

/// Whether the plugin with these guards is switched on in this file.
fn is_plugged(file: &Written<'_>) -> bool {
    let Some((_, text)) = file.last("enabledPlugins") else { return false };
    let plugins: Value = serde_json::from_str(text).unwrap_or_default();
    let mut plugins = plugins.as_object().into_iter().flatten();
    plugins.any(|(name, on)| name.starts_with("isdlc@") && *on == Value::Bool(true))
}

fn meaning(entry: &str) -> Entry {
    serde_json::from_str(entry).map_or(Entry::Others, |entry: Value| meaning_of(&entry))
}

fn meaning_of(entry: &Value) -> Entry {
    let Some(command) = entry["command"].as_str() else { return Entry::Others };
    let (words, is_plain) = match entry["args"].as_array() {
        Some(arguments) => {
            let arguments = arguments.iter().filter_map(Value::as_str);
            (std::iter::once(command).chain(arguments).map(str::to_owned).collect(), true)
        }
        None => (words(command), !command.contains([';', '&', '|', '<', '>', '`', '\n', '('])),
    };
    if calls_provost(entry) {
        let packs: Vec<&String> = words
            .iter()
            .zip(words.iter().skip(1))
            .filter_map(|(option, pack)| (option == "--pack").then_some(pack))
            .collect();
        let asks = packs.is_empty() || packs.iter().any(|pack| *pack == PACK);
        return if asks { Entry::Provost } else { Entry::Others };
    }
    let Some((at, name)) = words.iter().enumerate().find_map(|(at, word)| Some((at, script(word)?))) else {
        return stand_in(&words, is_plain);
    };
    if name == LEFT_OUT {
        return Entry::Kept(format!(
            "{LEFT_OUT}, which has no guard: choosing models is not a guard's business"
        ));
    }
    let called_by_node = at > 0
        && matches!(last_part(&words[0]).as_str(), "node" | "node.exe")
        && words[1..at].iter().all(|word| word.starts_with('-'));
    if is_plain && (at == 0 || called_by_node) {
        Entry::Script(name.to_owned())
    } else {
        Entry::Kept(format!("{name}, whose command does more than to call it: `{command}`"))
    }
}

/// An entry that calls `provost compat` for one of the scripts would be asked besides the guard itself.
fn stand_in(words: &[String], is_plain: bool) -> Entry {
    match words {
        [program, compat, name, ..]
            if is_plain
                && is_provost(&last_part(program))
                && compat == "compat"
                && SCRIPTS.contains(&name.as_str()) =>
        {
            Entry::Script(name.clone())
        }
        _ => Entry::Others,
    }
}

/// The script that a path leads to.
fn script(word: &str) -> Option<&'static str> {
    let file = last_part(word);
    let name = file.strip_suffix(".cjs")?;
    SCRIPTS.iter().copied().chain([LEFT_OUT]).find(|known| *known == name)
}

fn last_part(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

/// The words of a command line; quotes are taken away.
fn words(command: &str) -> Vec<String> {
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
    fn entries_that_call_a_script_are_known_in_every_spelling() {
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
            assert!(matches!(meaning_of(&entry), Entry::Script(name) if name == "gate-blocker"), "{command}");
        }
        for (command, arguments) in
            [("node", ["/a b/gate-blocker.cjs"].as_slice()), ("provost", &["compat", "gate-blocker"])]
        {
            let entry = json!({"command": command, "args": arguments});
            assert!(matches!(meaning_of(&entry), Entry::Script(_)), "{command}");
        }
    }

    #[test]
    fn what_only_looks_like_one_stays() {
        for command in [
            "node hooks/my-gate-blocker.cjs",
            "node hooks/gate-blocker.js",
            "cat gate-blocker.cjs.bak",
            "provost compat planner-bash-guard",
            "notprovost compat gate-blocker",
            "",
        ] {
            assert!(matches!(meaning_of(&json!({"command": command})), Entry::Others), "{command}");
        }
        for command in [
            "node a/gate-blocker.cjs | tee log",
            "A=1 node a/gate-blocker.cjs",
            "cat gate-blocker.cjs",
            "timeout 5 node a/gate-blocker.cjs",
            "node a/model-provider-router.cjs",
        ] {
            assert!(matches!(meaning_of(&json!({"command": command})), Entry::Kept(_)), "{command}");
        }
        for entry in
            [json!(5), json!(null), json!({}), json!({"command": 5}), json!({"command": [], "args": 7})]
        {
            assert!(matches!(meaning_of(&entry), Entry::Others), "{entry}");
        }
    }

    /// Of a name that stands twice, the client takes the last one.
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

    /// Whatever else stands in the file, and however it is laid out.
    #[test]
    fn odd_files_stay_json_and_keep_what_is_not_ours() {
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
            let told = rewrite(&before, &[]).unwrap();
            let after = told.text.unwrap_or_else(|| panic!("{before}"));
            serde_json::from_str::<Value>(&after).unwrap_or_else(|error| panic!("{error}: {after}"));
            assert!(after.contains(kept) && !after.contains(".cjs"), "{after}");
            assert!(super::super::settings::read(Some(&after)).is_ok() || before.contains("null"), "{after}");
            assert!(rewrite(&after, &[]).unwrap().text.is_none(), "again: {after}");
        }
        for text in
            ["{}", r#"{"hooks": 5}"#, r#"{"hooks": {"Stop": 5}}"#, r#"{"hooks": {}}"#, " {\"a\":1} \n"]
        {
            assert!(rewrite(text, &[]).unwrap().text.is_none(), "{text}");
        }
    }
}

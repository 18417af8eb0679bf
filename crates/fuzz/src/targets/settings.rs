//! A settings file, into which Provost's entries come, and from which they go again.

use std::time::Duration;

use provost::clients::{DEFAULT, ProgramName, Wanted};
use provost::workspace::is_provost;
use serde_json::Value;

use super::{Target, holds, same, texts};
use crate::trial::Seen;

pub const TARGET: Target = Target {
    name: "settings",
    promise: "what was JSON stays JSON; what is not ours keeps its value; to install twice is to install once; to \
              remove after that gives the file back byte by byte, and without its old text leaves no entry of ours; \
              what is no JSON object is refused",
    findings: &[
        "where an event stood twice, taking our entries out of the one that counts brought the hidden one back",
        "where `onFailure` stood twice in an entry of ours, opening it left it closed",
        "an indent of a hundred blanks was copied into every line that was added",
        "where the file was one long text instead of an object, the reason repeated all of it",
    ],
    patience: Duration::from_millis(250),
    seeds,
    tokens: &[
        "\"hooks\":",
        "\"hooks\": {}",
        "\"hooks\": []",
        "\"PreToolUse\": [",
        "\"Stop\": []",
        "\"matcher\": \"*\"",
        "\"type\": \"command\"",
        "\"command\": \"provost\"",
        "\"command\": \"/usr/bin/provost\"",
        "\"args\": [\"hook\"]",
        "\"args\": [\"hook\", \"--pack\", \"self\"]",
        "\"onFailure\": \"block\"",
        "\"timeout\": 10",
        ",",
        ":",
        "{",
        "}",
        "[",
        "]",
        "\n",
        "\r\n",
        "\t",
        "\u{feff}",
        "\u{a0}",
        "\\u0068ooks",
        "\"\\u0068ooks\": {}",
        "// x\n",
        "{\"type\": \"command\", \"command\": \"provost\", \"args\": [\"hook\"]}",
        "\"^(?!ExitPlanMode$)\"",
        "\u{c}",
        "{\"hooks\": [{\"type\": \"command\", \"command\": \"node x.js\"}]}",
    ],
    brackets: &[
        ("[", "]"),
        ("{\"hooks\":", "}"),
        ("{\"a\":", "}"),
        ("\n", "\n"),
        ("{\"hooks\":{\"Stop\":[", "]}}"),
    ],
    is_json: true,
    check,
};

const PACKS: &[&str] = &["self", "plan-gate", "review-loop"];

fn seeds() -> Vec<Vec<u8>> {
    let other = r#"{"type": "command", "command": "./mine.sh", "x": [1,  2.50]}"#;
    let own = r#"{"type": "command", "command": "/opt/provost", "args": ["hook", "--pack", "self"], "timeout": 10, "onFailure": "block", "mine": 1}"#;
    let mut seeds = texts(&[
        "{}",
        "{}\n",
        "{\n\t\"model\": \"opus\",\r\n\t\"odd\": 1.50e3, \"text\": \"\\u00fc\\/ ,]}{\", \"nothing\": {}, \"none\": [ ]\n}\n",
        "{\"hooks\":{},\"model\":\"opus\"}",
        "\u{feff}  {\"a\": {\"b\": {}}, \"hooks\": {\"Stop\": [], \"PreToolUse\": []}, \"z\": 1} \r\n\r\n",
    ]);
    for hooks in [
        format!(r#"{{"PreToolUse": [{{"matcher": "Bash", "hooks": [{other}]}}]}}"#),
        format!(r#"{{"Stop": [{{"hooks": [{other} , {other}]}} , {{"matcher": "*", "hooks": []}}]}}"#),
        format!(r#"{{"Stop": [{{"hooks": [{other} , {own}]}}], "SessionStart": [{{"hooks": [{own}]}}]}}"#),
        format!(r#"{{"Stop": [], "Stop": [{{"hooks": [{other}]}}], "PreToolUse": [{{"matcher": "*", "hooks": [{own}]}}]}}"#),
        r#"{"PreToolUse": [{"matcher": "Task", "hooks": [{"type": "command", "command": "node $CLAUDE_PROJECT_DIR/.claude/hooks/gate-blocker.cjs", "timeout": 10000}]}]}"#.into(),
    ] {
        seeds.push(format!("{{\"hooks\": {hooks}, \"env\": {{\"A\": \"1\"}}}}\n").into_bytes());
        seeds.push(format!("{{\n  \"model\": \"a\",\n  \"hooks\": {hooks}\n}}").into_bytes());
    }
    seeds
}

fn check(input: &[u8], seen: &mut Seen) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    seen.add_shown(&(DEFAULT.settings.read)(Some(text)).is_ok());
    migrated(text, seen)?;
    installed(text, ProgramName::Path("/usr/bin/provost"), seen)?;
    installed(text, ProgramName::Shared, seen)
}

/// With the entries, the rest of the file means the same, and there is nothing to install twice.
fn installed(text: &str, program: ProgramName<'_>, seen: &mut Seen) -> Result<(), String> {
    let is_object = value(text).is_some_and(|value| value.is_object());
    let entries = (DEFAULT.needed)(PACKS, true);
    let wanted = Wanted { program, packs: PACKS, entries: &entries };
    let install = |text: &str| (DEFAULT.installation.install)(Some(text), &wanted);
    let told = match install(text) {
        Ok(told) => told,
        Err(why) => {
            seen.add(&why);
            return holds(why.len() < 1000 + text.len(), "a refusal without end");
        }
    };
    let after = told.text.as_deref().unwrap_or(text);
    seen.add(after);
    holds(after.len() <= text.len() + 40_000 + told.updated.len() * 1000, "a file that grows without end")?;
    holds(!is_object || value(after).is_some(), "what was JSON is none with our entries")?;
    holds(!is_object || (DEFAULT.installation.is_in)(after), "installed, and not there")?;
    if let (Some(before), Some(after)) = (value(text), value(after)) {
        same(&of_others(&after), &of_others(&before), "the hooks of others")?;
        same(&besides(after), &besides(before), "what is not ours")?;
    }
    let again = install(after).map_err(|why| format!("installed once, and refused then: {why}"))?;
    same(&again.text.as_deref(), &None, "installed once more")?;
    removed(text, after, is_object, seen)
}

/// Without the entries, the file is as it was.
fn removed(before: &str, after: &str, is_object: bool, seen: &mut Seen) -> Result<(), String> {
    let remove = DEFAULT.installation.remove;
    let told = remove(after, Some(before)).map_err(|why| format!("cannot be removed: {why}"))?;
    if before == after {
        return Ok(());
    }
    same(&told.text.as_deref(), &Some(before), "removed again")?;
    let forgotten = remove(after, None).map_err(|why| format!("cannot be removed: {why}"))?;
    seen.add(&forgotten.text);
    let Some(left) = forgotten.text else { return Ok(()) };
    holds(!is_object || value(&left).is_some(), "what was JSON is none without our entries")?;
    let nothing = remove(&left, None).map_err(|why| format!("cannot be removed twice: {why}"))?;
    holds(nothing.entries.is_empty(), "entries are left")?;
    if let (Some(before), Some(left)) = (value(before), value(&left)) {
        same(&of_others(&left), &of_others(&before), "the hooks of others, without the old text")?;
        same(&besides(left), &besides(before), "what is not ours, without the old text")?;
    }
    Ok(())
}

/// The way from the scripts of the phases: what was JSON stays JSON, and there is nothing to do twice.
fn migrated(text: &str, seen: &mut Seen) -> Result<(), String> {
    let Ok(told) = (DEFAULT.migration.rewrite)(text, &[]) else { return Ok(()) };
    let Some(after) = told.text else { return Ok(()) };
    seen.add(&after);
    holds(value(text).is_none() || value(&after).is_some(), "what was JSON is none after the migration")?;
    if let (Some(before), Some(after)) = (value(text), value(&after)) {
        let known = of_others(&before);
        holds(of_others(&after).iter().all(|hook| known.contains(hook)), "a hook comes from nowhere")?;
        same(&besides(after), &besides(before), "what is no hook, after the migration")?;
    }
    let again = (DEFAULT.migration.rewrite)(&after, &[])
        .map_err(|why| format!("migrated, and refused then: {why}"))?;
    same(&again.text, &None, "migrated once more")
}

fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()
}

/// The hooks that are not ours, as the client sees them: event, group and entry.
fn of_others(value: &Value) -> Vec<(String, String, String)> {
    let is_ours = |entry: &Value| {
        let command = entry["command"].as_str().unwrap_or_default();
        let is_shared = command.starts_with("PATH=$PATH:") && command.contains("; exec provost hook");
        is_shared || is_provost(command) && entry["args"].get(0).is_some_and(|word| word == "hook")
    };
    let mut found = Vec::new();
    for (event, groups) in value["hooks"].as_object().into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            for entry in group["hooks"].as_array().into_iter().flatten().filter(|entry| !is_ours(entry)) {
                found.push((event.clone(), group["matcher"].to_string(), entry.to_string()));
            }
        }
    }
    found.sort_unstable();
    found
}

/// A file's settings but for the hooks.
fn besides(value: Value) -> Vec<(String, String)> {
    let Value::Object(fields) = value else { return Vec::new() };
    fields
        .into_iter()
        .filter(|(name, _)| name != "hooks")
        .map(|(name, value)| (name, value.to_string()))
        .collect()
}

//! Settings files, to which Provost's entries are added, and from which they are removed.

use std::time::Duration;

use provost::clients::{DEFAULT_CLIENT, InstallRequest, ProgramName};
use provost::places::is_provost_program;
use serde_json::Value;

use super::{Target, ensure, ensure_equal, text_seeds};
use crate::double_check::AnswerDigest;

pub const TARGET: Target = Target {
    name: "settings",
    promise: "JSON stays JSON; other entries keep their values; installing twice equals installing once; \
              uninstalling restores every byte, or, without the old text, leaves no entry of ours; input that is not \
              a JSON object is refused",
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
    let mut seeds = text_seeds(&[
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

fn check(input: &[u8], digest: &mut AnswerDigest) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    digest.add_debug(&(DEFAULT_CLIENT.facts.settings.parse_switches)(Some(text)).is_ok());
    check_migrated(text, digest)?;
    check_installed(text, ProgramName::Path("/usr/bin/provost"), digest)?;
    check_installed(text, ProgramName::Shared, digest)
}

/// Adding the entries keeps the rest of the file, and a second installation changes nothing.
fn check_installed(text: &str, program: ProgramName<'_>, digest: &mut AnswerDigest) -> Result<(), String> {
    let is_object = parse_value(text).is_some_and(|value| value.is_object());
    let entries =
        (DEFAULT_CLIENT.installation().list_needed_entries)(&provost::registry::list_guards_in(PACKS), true);
    let wanted = InstallRequest { program, packs: PACKS, entries: &entries };
    let install = |text: &str| (DEFAULT_CLIENT.installation().install_entries)(Some(text), &wanted);
    let told = match install(text) {
        Ok(told) => told,
        Err(why) => {
            digest.add(&why);
            return ensure(why.len() < 1000 + text.len(), "a refusal without end");
        }
    };
    let after = told.text.as_deref().unwrap_or(text);
    digest.add(after);
    ensure(after.len() <= text.len() + 40_000 + told.updated.len() * 1000, "a file that grows without end")?;
    ensure(!is_object || parse_value(after).is_some(), "what was JSON is none with our entries")?;
    ensure(
        !is_object || (DEFAULT_CLIENT.installation().has_installed_entries)(after),
        "installed, and not there",
    )?;
    if let (Some(before), Some(after)) = (parse_value(text), parse_value(after)) {
        ensure_equal(&other_hooks(&after), &other_hooks(&before), "the hooks of others")?;
        ensure_equal(&other_settings(after), &other_settings(before), "what is not ours")?;
    }
    let again = install(after).map_err(|why| format!("installed once, and refused then: {why}"))?;
    ensure_equal(&again.text.as_deref(), &None, "installed once more")?;
    check_removed(text, after, is_object, digest)
}

/// Removing the entries restores the file.
fn check_removed(
    before: &str,
    after: &str,
    is_object: bool,
    digest: &mut AnswerDigest,
) -> Result<(), String> {
    let remove = DEFAULT_CLIENT.installation().remove_entries;
    let told = remove(after, Some(before)).map_err(|why| format!("cannot be removed: {why}"))?;
    if before == after {
        return Ok(());
    }
    ensure_equal(&told.text.as_deref(), &Some(before), "removed again")?;
    let forgotten = remove(after, None).map_err(|why| format!("cannot be removed: {why}"))?;
    digest.add(&forgotten.text);
    let Some(left) = forgotten.text else { return Ok(()) };
    ensure(!is_object || parse_value(&left).is_some(), "what was JSON is none without our entries")?;
    let nothing = remove(&left, None).map_err(|why| format!("cannot be removed twice: {why}"))?;
    ensure(nothing.entries.is_empty(), "entries are left")?;
    if let (Some(before), Some(left)) = (parse_value(before), parse_value(&left)) {
        ensure_equal(
            &other_hooks(&left),
            &other_hooks(&before),
            "the hooks of others, without the old text",
        )?;
        ensure_equal(
            &other_settings(left),
            &other_settings(before),
            "what is not ours, without the old text",
        )?;
    }
    Ok(())
}

/// A migrated file is still JSON, and a second migration changes nothing.
fn check_migrated(text: &str, digest: &mut AnswerDigest) -> Result<(), String> {
    let Ok(told) = (DEFAULT_CLIENT.migration().replace_scripts)(text, &[]) else { return Ok(()) };
    let Some(after) = told.text else { return Ok(()) };
    digest.add(&after);
    ensure(
        parse_value(text).is_none() || parse_value(&after).is_some(),
        "what was JSON is none after the migration",
    )?;
    if let (Some(before), Some(after)) = (parse_value(text), parse_value(&after)) {
        let known = other_hooks(&before);
        ensure(other_hooks(&after).iter().all(|hook| known.contains(hook)), "a hook comes from nowhere")?;
        ensure_equal(
            &other_settings(after),
            &other_settings(before),
            "what is no hook, after the migration",
        )?;
    }
    let again = (DEFAULT_CLIENT.migration().replace_scripts)(&after, &[])
        .map_err(|why| format!("migrated, and refused then: {why}"))?;
    ensure_equal(&again.text, &None, "migrated once more")
}

fn parse_value(text: &str) -> Option<Value> {
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()
}

/// The hooks of others: event, group and entry.
fn other_hooks(value: &Value) -> Vec<(String, String, String)> {
    let is_ours = |entry: &Value| {
        let command = entry["command"].as_str().unwrap_or_default();
        let is_shared = command.starts_with("PATH=$PATH:") && command.contains("; exec provost hook");
        is_shared || is_provost_program(command) && entry["args"].get(0).is_some_and(|word| word == "hook")
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

/// All settings but the hooks.
fn other_settings(value: Value) -> Vec<(String, String)> {
    let Value::Object(fields) = value else { return Vec::new() };
    fields
        .into_iter()
        .filter(|(name, _)| name != "hooks")
        .map(|(name, value)| (name, value.to_string()))
        .collect()
}

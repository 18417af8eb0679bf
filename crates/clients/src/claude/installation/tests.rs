use provost_guards::registry::list_guards_in;
use serde_json::json;

use super::super::entries::list_needed_entries;
use super::super::settings;
use super::*;
use crate::ProgramName;

const PACKS: [&str; 3] = ["self", "plan-gate", "review-loop"];

fn with(text: Option<&str>, program: &str, packs: &[&str], closed: bool) -> InstallReport {
    install_entries(
        text,
        &InstallRequest {
            program: ProgramName::Path(program),
            packs,
            entries: &list_needed_entries(&list_guards_in(packs), closed),
        },
    )
    .unwrap()
}

fn installed(text: &str) -> String {
    with(Some(text), "/usr/bin/provost", &PACKS, false).text.unwrap()
}

fn removed(text: &str, before: Option<&str>) -> Option<String> {
    let report = remove_entries(text, before).unwrap();
    assert!(!report.entries.is_empty(), "{text}");
    report.text
}

fn value(text: &str) -> Value {
    serde_json::from_str(strip_byte_order_mark(text)).unwrap()
}

/// Settings files as users have them, each laid out in several ways.
fn layouts() -> Vec<String> {
    let other = r#"{"type": "command", "command": "./mine.sh", "x": [1,  2.50]}"#;
    let contents = [
        "{}".to_owned(),
        r#"{"model": "opus"}"#.into(),
        r#"{"model": "opus", "odd": 1.50e3, "text": "\u00fc\/ ,]}{", "nothing": {}, "none": [ ]}"#.into(),
        r#"{"hooks": {}}"#.into(),
        r#"{"hooks": {}, "model": "opus"}"#.into(),
        r#"{"hooks": {"Stop": []}}"#.into(),
        r#"{"a": {"b": {}}, "hooks": {"Stop": [], "PreToolUse": []}, "z": 1}"#.into(),
        format!(r#"{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "hooks": [{other}]}}]}}}}"#),
        format!(
            r#"{{"hooks": {{"Stop": [{{"hooks": [{other} , {other}]}} , {{"matcher": "*", "hooks": []}}], "Notification": [{{"hooks": [{other}]}}]}}, "env": {{"A": "1"}}}}"#
        ),
        format!(
            r#"{{"model": "a", "hooks": {{"Stop": 7}}, "model": "b", "hooks": {{"Stop": [{{"hooks": [{other}]}}]}}}}"#
        ),
        format!(
            r#"{{"hooks": {{"Stop": [], "Stop": [{{"hooks": [{other}]}}], "SessionStart": [{{"hooks": [{other}]}}]}}}}"#
        ),
    ];
    let mut layouts = Vec::new();
    for content in contents {
        let lines = |margin: &str| {
            let mut text = String::new();
            let (mut depth, mut quoted, mut escaped) = (0, false, false);
            for c in content.chars() {
                let outside = !quoted;
                if c == '"' && !escaped {
                    quoted = !quoted;
                }
                escaped = c == '\\' && !escaped;
                match c {
                    '{' | '[' if outside => {
                        depth += 1;
                        text.push(c);
                        text += &format!("\n{}", margin.repeat(depth));
                    }
                    '}' | ']' if outside => {
                        depth -= 1;
                        text += &format!("\n{}{c}", margin.repeat(depth));
                    }
                    ',' if outside => text += &format!(",\n{}", margin.repeat(depth)),
                    ' ' if outside => {}
                    _ => text.push(c),
                }
            }
            text
        };
        layouts.push(content.clone());
        layouts.push(content.replace(": ", ":").replace(", ", ","));
        layouts.push(format!("{content}\n"));
        layouts.push(format!("\u{feff}  {content} \r\n\r\n"));
        layouts.push(content.replace(", ", " ,\t").replace('{', "{ "));
        layouts.push(lines("  "));
        layouts.push(lines("\t") + "\n");
        layouts.push(lines("    ").replace('\n', "\r\n"));
        layouts.push(lines(""));
    }
    layouts
}

#[test]
fn other_parts_of_a_file_keep_every_byte() {
    for before in layouts() {
        let after = installed(&before);
        value(&after);
        settings::parse_switches(Some(&after)).unwrap();
        // Every byte is still there and in order. Only white space inside of empty lists may be gone.
        let mut rest = after.chars();
        for c in before.chars().filter(|c| !c.is_whitespace()) {
            assert!(rest.any(|found| found == c), "{before}\n{after}");
        }
        let own = value(&after)["hooks"].as_object().unwrap().len();
        assert!(own >= 7, "{after}");
    }
}

#[test]
fn removing_installed_entries_restores_the_file() {
    for before in layouts() {
        let after = installed(&before);
        assert_eq!(removed(&after, Some(&before)).as_deref(), Some(before.as_str()));
        // Without the old text, nobody knows whether an empty list was there.
        let report = removed(&after, None).unwrap_or_else(|| "{}".into());
        let had_empty = before.split_whitespace().collect::<String>().contains("{}")
            || before.split_whitespace().collect::<String>().contains("\":[]");
        if !had_empty {
            assert_eq!(report, before);
        }
        assert!(!report.contains("provost"), "{report}");
    }
}

#[test]
fn what_the_user_changes_in_between_stays() {
    let entry = r#"{"type":"command","command":"later.sh"}"#;
    for before in layouts() {
        let after = installed(&before);
        // The user adds the same field to both texts.
        let edit = |text: &str| {
            let at = text.find('{').unwrap() + 1;
            let comma = if value(text).as_object().unwrap().is_empty() { "" } else { "," };
            format!("{} \"edited\": [1, 2]{comma}{}", &text[..at], &text[at..])
        };
        let edited = removed(&edit(&after), Some(&before)).unwrap();
        assert_eq!(value(&edited), value(&edit(&before)), "{before}");
        if !value(&before).as_object().unwrap().is_empty() {
            assert_eq!(edited, edit(&before));
        }
        // The user adds a hook to one of our groups.
        let ours = "\"--pack\"";
        let at = after.find(ours).and_then(|at| Some(at + after[at..].find('}')? + 1)).unwrap();
        let joined = format!("{},{entry}{}", &after[..at], &after[at..]);
        let left = removed(&joined, Some(&before)).unwrap();
        assert!(left.contains("later.sh") && !left.contains("provost"), "{left}");
        value(&left);
    }
}

#[test]
fn installing_twice_changes_nothing() {
    for before in layouts() {
        let once = installed(&before);
        assert!(with(Some(&once), "/usr/bin/provost", &PACKS, false).text.is_none());
        let closed = with(Some(&once), "/usr/bin/provost", &PACKS, true);
        assert_eq!((closed.updated.len(), closed.added.len()), (1, 0), "{closed:?}");
        let open = with(closed.text.as_deref(), "/usr/bin/provost", &PACKS, false).text;
        assert_eq!(open.as_deref(), Some(once.as_str()));
        // Another program, and back.
        let moved = with(Some(&once), "/opt/a \"b\"/provost", &PACKS, false).text.unwrap();
        assert_eq!(installed(&moved), once);
        // With other packs, entries that are no longer needed are removed.
        let fewer = with(Some(&once), "/usr/bin/provost", &["self"], false).text.unwrap();
        assert_eq!(removed(&fewer, Some(&before)).as_deref(), Some(before.as_str()));
        assert!(!fewer.contains("plan-gate") && !fewer.contains("7200"), "{fewer}");
    }
}

#[test]
fn a_new_file_has_the_standard_layout_and_is_deleted_again() {
    let text = with(None, "provost", &["self"], false).text.unwrap();
    assert!(
        text.starts_with(
            "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"hooks\": [\n          { \"type\": \"command\", \
             \"command\": \"provost\", \"args\": [\"hook\", \"--pack\", \"self\"], \"timeout\": 10 }\n        ]\n"
        ),
        "{text}"
    );
    assert!(text.ends_with("\n  }\n}\n"), "{text}");
    assert_eq!(removed(&text, None), None);
    assert_eq!(removed(&text, Some("")), None);
    let edited = text.replacen('{', "{\n  \"model\": \"opus\",", 1);
    assert_eq!(removed(&edited, None).as_deref(), Some("{\n  \"model\": \"opus\"\n}\n"));
}

#[test]
fn entries_written_by_hand_are_taken_over_and_restored() {
    let by_hand = r#"{"command":"provost","args":["hook"],"type":"command","statusMessage":"asking"}"#;
    let before = format!(
        r#"{{"hooks":{{"Stop":[{{"hooks":[{by_hand},{by_hand}]}}],"Notification":[{{"hooks":[{by_hand}]}}]}}}}"#
    );
    assert!(!has_installed_entries(&before));
    let report = with(Some(&before), "/usr/bin/provost", &PACKS, false);
    assert_eq!(
        (report.updated.as_slice(), report.removed.as_slice()),
        (&["Stop".to_owned()][..], &["Stop".to_owned(), "Notification".to_owned()][..])
    );
    let after = report.text.unwrap();
    assert!(
        has_installed_entries(&after) && after.contains(r#""statusMessage":"asking","timeout":7200"#),
        "{after}"
    );
    assert_eq!(removed(&after, Some(&before)).as_deref(), Some(before.as_str()));
    // After an edit by the user, the entries still return, if their group is still there.
    let edited = removed(&after.replacen('{', "{\"m\":1,", 1), Some(&before)).unwrap();
    assert!(edited.contains(by_hand) && !edited.contains("/usr/bin"), "{edited}");
}

#[test]
fn other_calls_of_provost_are_not_own_entries() {
    for entry in [
        json!({"command": "provost hook"}),
        json!({"command": "provost", "args": ["compat", "stop-hook"]}),
        json!({"command": "/usr/bin/env", "args": ["provost", "hook"]}),
        json!({"command": "notprovost", "args": ["hook"]}),
        json!({"command": 5, "args": ["hook"]}),
        json!({"command": "provost", "args": []}),
        json!(5),
    ] {
        assert!(!is_own(&entry), "{entry}");
        let text = json!({"hooks": {"Stop": [{"hooks": [entry]}]}}).to_string();
        assert!(remove_entries(&text, None).unwrap().entries.is_empty());
    }
    assert!(is_own(&json!({"command": "C:\\a\\provost.exe", "args": ["hook"]})));
}

#[test]
fn a_file_that_cannot_hold_entries_is_refused() {
    for (text, why) in [
        ("[]", "not a JSON object"),
        ("{", "not a JSON object"),
        ("// x\n{}", "not a JSON object"),
        (r#"{"hooks": 5}"#, "`hooks` is not an object"),
        (r#"{"hooks": {"Stop": {}}}"#, "`hooks.Stop` is not a list"),
    ] {
        let entries = list_needed_entries(&list_guards_in(&PACKS), false);
        let refused = install_entries(
            Some(text),
            &InstallRequest { program: ProgramName::Shared, packs: &PACKS, entries: &entries },
        );
        assert!(refused.unwrap_err().contains(why), "{text}");
    }
    // An event without needed entries may have any form.
    assert!(
        with(
            Some(r#"{"hooks": {"Notification": 5, "Setup": [5, {"hooks": 7}]}}"#),
            "provost",
            &["self"],
            false
        )
        .text
        .is_some()
    );
}

/// Of two events with the same name, Claude Code uses the last one. Removing it would activate the earlier one.
#[test]
fn a_hidden_event_stays_hidden() {
    let (other, own) =
        (r#"{"command":"old.sh"}"#, r#"{"command":"provost","args":["hook","--pack","self"]}"#);
    for before in [
        format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{other}]}}],"Stop":[]}}}}"#),
        format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{own}]}}],"Stop":[{{"hooks":[{own}]}}]}}}}"#),
        format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{other}]}}]}},"hooks":{{}}}}"#),
    ] {
        let left = removed(&installed(&before), None).unwrap();
        let counts = value(&left)["hooks"]["Stop"].to_string();
        assert!(!counts.contains("old.sh") && !counts.contains("provost"), "{before}\n{left}");
    }
    // An event that is not needed any more.
    let before = format!(r#"{{"hooks":{{"Setup":[{{"hooks":[{other}]}}],"Setup":[{{"hooks":[{own}]}}]}}}}"#);
    assert_eq!(value(&installed(&before))["hooks"]["Setup"], json!([]));
    let twice = own.replacen('{', r#"{"onFailure":"block","onFailure":"block","#, 1);
    let after = installed(&format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{twice}]}}]}}}}"#));
    assert_eq!(value(&after)["hooks"]["Stop"][0]["hooks"][0]["onFailure"], Value::Null, "{after}");
}

#[test]
fn shared_entries_are_installed_and_removed_like_others() {
    let entries = list_needed_entries(&list_guards_in(&PACKS), false);
    let of = |text: &str, program| {
        install_entries(Some(text), &InstallRequest { program, packs: &PACKS, entries: &entries }).unwrap()
    };
    for before in layouts() {
        let shared = of(&before, ProgramName::Shared).text.unwrap();
        settings::parse_switches(Some(&shared)).unwrap();
        assert!(has_installed_entries(&shared) && !shared.contains("\"args\""), "{shared}");
        assert_eq!(of(&shared, ProgramName::Shared).text, None, "{shared}");
        assert_eq!(removed(&shared, Some(&before)).as_deref(), Some(before.as_str()));
        // One form becomes the other, in its place.
        let direct = of(&shared, ProgramName::Path("/usr/bin/provost"));
        assert!(direct.added.is_empty() && direct.removed.is_empty(), "{direct:?}");
        assert_eq!(direct.updated.len(), entries.len());
        let direct = direct.text.unwrap();
        assert_eq!(value(&direct)["hooks"], value(&installed(&before))["hooks"]);
        assert_eq!(value(&of(&direct, ProgramName::Shared).text.unwrap()), value(&shared));
    }
}

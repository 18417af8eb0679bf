use super::*;

const HOOKED: &str = r#"{"model":"x","hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/usr/bin/provost","args":["hook"]}]}]}}"#;

#[test]
fn settings_files_are_recognised_by_directory_and_name() {
    for yes in [
        "/p/.claude/settings.json",
        "/h/.claude/settings.local.json",
        "/p/.Claude/Settings.JSON",
        "/p/.claude/settings.json.before-provost",
        "/p/.claude/settings.local.json.before-provost-2",
        "/etc/claude-code/managed-settings.json",
    ] {
        assert!(is_settings_file(Path::new(yes)), "{yes}");
    }
    for no in [
        "/p/settings.json",
        "/p/.claude/agents.json",
        "/p/.claude/settings.md",
        "/p/.claude/x/settings.json",
        "settings.json",
    ] {
        assert!(!is_settings_file(Path::new(no)), "{no}");
    }
}

fn altered(before: Option<&str>, after: Option<&str>) -> Vec<String> {
    parse_switches(before).unwrap().find_forbidden_changes(&parse_switches(after).unwrap())
}

#[test]
fn other_parts_of_the_file_may_change() {
    let after = HOOKED.replace(
        r#""model":"x""#,
        r#""model":"y","permissions":{"allow":["Bash(ls)"]},"env":{"FOO":"1"},"enabledPlugins":{"a@b":true}"#,
    );
    assert_eq!(altered(Some(HOOKED), Some(&after)), [""; 0]);
    assert_eq!(altered(None, Some(r#"{"model":"y","disableAllHooks":false}"#)), [""; 0]);
    assert_eq!(altered(Some("{}"), None), [""; 0]);
}

#[test]
fn what_silences_a_hook_is_found() {
    let cases = [
        (Some(HOOKED), Some("{}"), "the PreToolUse entry for `*` that calls Provost would be gone"),
        (Some(HOOKED), None, "the PreToolUse entry for `*` that calls Provost would be gone"),
        (None, Some(r#"{"disableAllHooks":true}"#), "`disableAllHooks` would change"),
        (Some(r#"{"disableAllHooks":true}"#), None, "`disableAllHooks` would change"),
        (None, Some(r#"{"allowManagedHooksOnly":true}"#), "`allowManagedHooksOnly` would change"),
        (None, Some(r#"{"env":{"XDG_CONFIG_HOME":"/tmp"}}"#), "`env.XDG_CONFIG_HOME` would change"),
        (Some(r#"{"env":{"PATH":"/bin"}}"#), Some("{}"), "`env.PATH` would change"),
        (
            Some(r#"{"enabledPlugins":{"a@b":true}}"#),
            Some(r#"{"enabledPlugins":{"a@b":false}}"#),
            "plugin `a@b`",
        ),
        (Some(r#"{"enabledPlugins":{"a@b":true}}"#), Some("{}"), "plugin `a@b`"),
        (
            Some(HOOKED),
            Some(r#"{"hooks":5}"#),
            "the PreToolUse entry for `*` that calls Provost would be gone",
        ),
    ];
    for (before, after, expected) in cases {
        let found = altered(before, after);
        assert!(found.len() == 1 && found[0].contains(expected), "{before:?} -> {after:?}: {found:?}");
    }
    let marked = altered(None, Some(r#"{"env":{"PROVOST_CHILD":"1"}}"#));
    assert!(marked[0].contains("`env.PROVOST_CHILD` would change"), "{marked:?}");
}

#[test]
fn a_changed_file_may_add_hooks_but_not_lose_provosts() {
    let before = parse_switches(Some(HOOKED)).unwrap();
    let more =
        HOOKED.replace(r#""hooks":{"#, r#""hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}],"#);
    assert_eq!(before.find_silenced(&parse_switches(Some(&more)).unwrap()), [""; 0]);
    let altered = HOOKED.replace(r#"["hook"]"#, r#"["hook","--pack","none"]"#);
    assert_eq!(
        before.find_silenced(&parse_switches(Some(&altered)).unwrap()),
        ["the PreToolUse entry for `*` that calls Provost would be gone"]
    );
    let remembered = Switches::from_json(&before.to_json());
    assert_eq!(remembered.find_silenced(&before), [""; 0]);
    assert_eq!(remembered.find_silenced(&parse_switches(None).unwrap()).len(), 1);
}

#[test]
fn a_file_that_the_client_would_ignore_is_reported_without_its_content() {
    let file =
        r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"http","headers":{"X":"hunter2"},"timeout":"5"}]}]}}"#;
    let why = parse_switches(Some(file)).unwrap_err();
    assert!(why.contains("`hooks.PreToolUse[0].hooks[0].url`") && !why.contains("hunter2"), "{why}");
    assert!(parse_switches(Some("{")).is_err());
}

#[test]
fn a_hook_that_only_the_user_adds_is_found() {
    let hook =
        |event: &str, fields: &str| format!(r#"{{"hooks":{{"{event}":[{{"hooks":[{{{fields}}}]}}]}}}}"#);
    let command = r#""type":"command","command":"./x.sh""#;
    let rewrites = "is new, and it could change checked calls";
    for (event, fields, expected) in [
        ("PreToolUse", command, rewrites),
        ("PreToolUse", r#""type":"http","url":"http://localhost""#, rewrites),
        ("PreToolUse", r#""type":"command","command":"./x.sh","async":false"#, rewrites),
        ("PermissionRequest", command, rewrites),
        ("SubagentStart", command, "is new, and it could speak to judges"),
        (
            "Stop",
            r#""type":"command","command":"provost hook","timeout":1"#,
            "is new, and the client makes one of two equal calls",
        ),
    ] {
        let after = hook(event, fields);
        let found = altered(None, Some(&after));
        assert!(found.len() == 1 && found[0].contains(expected), "{after}: {found:?}");
        assert_eq!(altered(Some(&after), Some(&after)), [""; 0], "{after}");
        let kept = found[0].contains("two equal");
        assert_eq!(altered(Some(&after), None).len(), usize::from(kept), "{after}");
        assert_eq!(
            altered(Some(&after), Some(&after.replace("./x.sh", "./y.sh"))).len(),
            usize::from(after.contains("x.sh"))
        );
    }
    let longer = hook("PreToolUse", &format!(r#"{command},"timeout":60"#));
    assert_eq!(altered(Some(&hook("PreToolUse", command)), Some(&longer)), [""; 0]);
    for (event, fields) in [
        ("PostToolUse", command),
        ("Stop", command),
        ("Notification", command),
        ("PreToolUse", r#""type":"prompt","prompt":"is it safe?""#),
        ("PreToolUse", r#""type":"command","command":"./x.sh","async":true"#),
    ] {
        assert_eq!(altered(None, Some(&hook(event, fields))), [""; 0], "{event} {fields}");
    }
}

#[test]
fn an_unmeasured_part_of_a_key_is_protected_only_beside_provosts_entries() {
    let with = |text: &str| HOOKED.replace(r#""model":"x""#, text);
    let unsure = |key: &str| format!("with `{key}` changed, the client may drop the file");
    let (before, after) = (r#""model":"x""#, r#""sandbox":{"network":{"x":5}}"#);
    assert_eq!(altered(Some(&with(before)), Some(&with(after))), [unsure("sandbox")]);
    assert_eq!(altered(Some(&format!("{{{before}}}")), Some(&format!("{{{after}}}"))), [""; 0]);
    assert_eq!(
        parse_switches(Some(&with(before)))
            .unwrap()
            .find_silenced(&parse_switches(Some(&with(after))).unwrap()),
        [""; 0]
    );
    for (before, after) in [
        (r#""model":"x""#, r#""novelty":5"#),
        (r#""novelty":5"#, r#""novelty":{"a":null}"#),
        (r#""model":"x""#, r#""sandbox":{"enabled":true}"#),
    ] {
        assert_eq!(altered(Some(&with(before)), Some(&with(after))), [""; 0], "{before} -> {after}");
    }
}

#[test]
fn another_spelling_of_the_same_file_is_no_change() {
    let before = r#"{"hooks":{"Stop":[],"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"provost","args":["hook"],"timeout":10}]}]},"novelty":{"a":1,"b":2}}"#;
    for matcher in [r#""matcher":"*","#, r#""matcher":"","#, r#""matcher":".*","#, ""] {
        let after = format!(
            r#"{{ "novelty": {{"b": 2.0, "a": 1}}, "hooks": {{ "PreToolUse": [{{ {matcher}
            "hooks": [{{"timeout": 10.0, "args": ["hook"], "command": "provost", "type": "command"}}] }}], "Stop": [] }} }}"#
        );
        assert_eq!(altered(Some(before), Some(&after)), [""; 0], "{after}");
    }
    for other in [before.replace(r#""*""#, r#""Bash""#), before.replace("10", "11")] {
        let found = altered(Some(before), Some(&other));
        assert_eq!(found[0], "the PreToolUse entry for `*` that calls Provost would be gone", "{other}");
    }
}

#[test]
fn keys_that_start_hooks_may_not_change() {
    for (text, name) in [
        (r#"{"processWrapper":"true"}"#, "`processWrapper`"),
        (r#"{"defaultShell":"powershell"}"#, "`defaultShell`"),
        (r#"{"env":{"CLAUDE_CODE_SHELL_PREFIX":"true"}}"#, "`env.CLAUDE_CODE_SHELL_PREFIX`"),
    ] {
        assert_eq!(altered(None, Some(text)), [format!("{name} would change")]);
        assert_eq!(altered(Some(text), None), [format!("{name} would change")]);
    }
}

#[test]
fn entries_that_call_provost_are_found_in_every_form() {
    for hook in [
        r#"{"command":"/usr/bin/provost","args":["hook"]}"#,
        r#"{"command":"provost hook --pack self"}"#,
        r#"{"command":"\"/opt/a/provost\" hook"}"#,
        r#"{"command":"/usr/bin/env","args":["provost","hook"]}"#,
        r#"{"command":"sh","args":["-c","command -v provost >/dev/null||exit 0;exec provost hook"]}"#,
        r#"{"command":"$HOME/bin/provost hook;true"}"#,
    ] {
        assert!(calls_provost(&serde_json::from_str(hook).unwrap()), "{hook}");
    }
    for hook in [
        r#"{"command":"echo provost"}"#,
        r#"{"command":"notprovost hook"}"#,
        r#"{"command":"hook provost"}"#,
        "5",
        r#"{"command":7}"#,
    ] {
        assert!(!calls_provost(&serde_json::from_str(hook).unwrap()), "{hook}");
    }
}

#[test]
fn odd_files_are_read_as_far_as_possible() {
    for odd in [
        "",
        "{}",
        r#"{"hooks":[]}"#,
        r#"{"hooks":{"Stop":5}}"#,
        r#"{"hooks":{"Stop":[5,{"hooks":{}},{"hooks":[null]}]}}"#,
    ] {
        assert!(parse_switches(Some(odd)).unwrap().required.is_empty(), "{odd}");
    }
}

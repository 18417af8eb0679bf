//! From the Node hooks to Provost.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use super::{Shown, run};
use crate::support::{TestProject, assert_shown};

/// The settings of the document, section 7.2.
const DOCUMENT: &str = include_str!("settings-of-the-document.json");

/// What a rich file becomes: nothing that belongs to others is touched.
const RICH: &str = r#"{
    "model": "opus", "odd": 1.50e3,
    "hooks": {
        "PreToolUse": [
            {"matcher": "Task", "hooks": [{"type": "command", "command": "node \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/gate-blocker.cjs"}, {"type":"command","command":"./mine.sh","x":[1,  2]}, {"type":"command","command":"node 'C:\\a b\\hooks\\plan-surfacer.cjs'"}]},
            {"matcher": "Bash", "note": "gone", "hooks": [
                {"type": "command", "command": "/usr/bin/node", "args": ["--no-warnings", "/x y/hooks/branch-guard.cjs"]}
            ]},
            {"hooks": [{"command": "node a/model-provider-router.cjs"}]},
            {"hooks": [{"command": "cd x && node a/test-watcher.cjs"}]}
        ],
        "Notification": [{"hooks": []}],
        "Stop": [{"hooks": [{"command": "provost hook", "type": "command"}, {"command": "provost compat delegation-gate"}]}]
    },
    "permissions": {"allow": ["Bash(node .claude/hooks/gate-blocker.cjs)"]}
}"#;

const RICH_AFTER: &str = r#"{
    "model": "opus", "odd": 1.50e3,
    "hooks": {
        "PreToolUse": [
            {"matcher": "Task", "hooks": [{"type":"command","command":"./mine.sh","x":[1,  2]}]},
            {"hooks": [{"command": "node a/model-provider-router.cjs"}]},
            {"hooks": [{"command": "cd x && node a/test-watcher.cjs"}]},
            {
                "matcher": "*",
                "hooks": [
                    {
                        "type": "command",
                        "command": "PATH=$PATH:~/.cargo/bin:~/.local/bin; command -v provost >/dev/null || exit 0; exec provost hook",
                        "timeout": 10
                    }
                ]
            }
        ],
        "Notification": [{"hooks": []}],
        "Stop": [{"hooks": [{"command": "provost hook", "type": "command"}]}],
        "PostToolUse": [
            {
                "matcher": "*",
                "hooks": [
                    {
                        "type": "command",
                        "command": "PATH=$PATH:~/.cargo/bin:~/.local/bin; command -v provost >/dev/null || exit 0; exec provost hook",
                        "timeout": 10
                    }
                ]
            }
        ],
        "PostToolUseFailure": [
            {
                "matcher": "Bash",
                "hooks": [
                    {
                        "type": "command",
                        "command": "PATH=$PATH:~/.cargo/bin:~/.local/bin; command -v provost >/dev/null || exit 0; exec provost hook",
                        "timeout": 10
                    }
                ]
            }
        ],
        "UserPromptSubmit": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "PATH=$PATH:~/.cargo/bin:~/.local/bin; command -v provost >/dev/null || exit 0; exec provost hook",
                        "timeout": 10
                    }
                ]
            }
        ],
        "SubagentStop": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "PATH=$PATH:~/.cargo/bin:~/.local/bin; command -v provost >/dev/null || exit 0; exec provost hook",
                        "timeout": 10
                    }
                ]
            }
        ]
    },
    "permissions": {"allow": ["Bash(node .claude/hooks/gate-blocker.cjs)"]}
}"#;

const SMALL: &str = "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"command\": \"node h/delegation-gate.cjs\"}]}]\n  }\n}\n";

struct Desk {
    project: TestProject,
}

impl Desk {
    fn with(text: &str) -> Self {
        let project = TestProject::unregistered();
        project.write_file(".claude/settings.json", text);
        Self { project }
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.project.path.join(".claude").join(name)).unwrap()
    }

    fn now(&self) -> String {
        self.text("settings.json")
    }

    fn names(&self) -> Vec<String> {
        let folder = fs::read_dir(self.project.path.join(".claude")).unwrap();
        let mut names: Vec<String> =
            folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn migrate(&self, arguments: &[&str], code: i32) -> Shown {
        let mut all = vec!["migrate"];
        all.extend(arguments);
        let shown = run(&self.project, &all);
        assert_eq!(shown.code, code, "{}{}", shown.stdout, shown.stderr);
        shown
    }
}

/// What is said after the difference, on one line: where it is broken depends on the temporary directory's name.
fn summary(shown: &Shown) -> String {
    let (_, text) = shown.stdout.rsplit_once("\n\n").unwrap_or(("", &shown.stdout));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The entries of all events, by event and matcher.
fn entries(text: &str) -> Vec<String> {
    let file: Value = serde_json::from_str(text).unwrap();
    let mut found = Vec::new();
    for (event, groups) in file["hooks"].as_object().unwrap() {
        for group in groups.as_array().unwrap() {
            for entry in group["hooks"].as_array().unwrap() {
                assert!(entry["command"].as_str().unwrap().ends_with("; exec provost hook"), "{entry}");
                found.push(format!("{event} {} {}", group["matcher"], entry["timeout"]));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_twenty_entries_of_the_document_become_six() {
    let desk = Desk::with(DOCUMENT);
    let shown = desk.migrate(&["--yes"], 0);
    assert!(shown.stdout.contains("\nRemoves 20 entries; adds 6: "), "{}", shown.stdout);
    assert_eq!(
        entries(&desk.now()),
        [
            "PostToolUse \"*\" 10",
            "PostToolUseFailure \"Bash\" 10",
            "PreToolUse \"*\" 10",
            "Stop null 7200",
            "SubagentStop null 10",
            "UserPromptSubmit null 10",
        ]
    );
    assert!(!desk.now().contains(".cjs") && desk.now().ends_with("}\n"));
    assert_eq!(desk.text("settings.json.before-provost"), DOCUMENT);
    let again = desk.migrate(&["--yes"], 0).stdout.replace('\n', " ");
    let nothing = "There is nothing to do: no entry of <project>/.claude/settings.json calls a Node hook of the phases. ";
    assert_eq!(again, nothing);
    assert_eq!(desk.names(), ["settings.json", "settings.json.before-provost"]);
}

#[test]
fn what_belongs_to_others_stays_as_it_is_written() {
    let desk = Desk::with(RICH);
    assert_shown!("phases-cli-migrate-notes", summary(&desk.migrate(&["--yes"], 0)));
    assert_eq!(desk.now(), RICH_AFTER);
}

#[test]
fn a_dry_run_shows_the_difference_and_writes_nothing() {
    let desk = Desk::with(SMALL);
    let shown = desk.migrate(&["--dry-run"], 0).stdout;
    assert_shown!("phases-cli-migrate-dry-run", shown);
    assert_eq!((desk.now().as_str(), desk.names()), (SMALL, vec!["settings.json".to_owned()]));
}

#[test]
fn without_a_terminal_nothing_is_written() {
    let desk = Desk::with(SMALL);
    let shown = desk.migrate(&[], 1).stdout;
    assert!(
        shown.contains("+++ ") && shown.contains("Nothing was changed: this is not a terminal"),
        "{shown}"
    );
    assert_eq!((desk.now().as_str(), desk.names().len()), (SMALL, 1));
    assert_eq!(run(&desk.project, &["migrate", "--yes", "--dry-run"]).code, 64);
}

#[test]
fn no_backup_is_overwritten() {
    let desk = Desk::with(SMALL);
    desk.project.write_file(".claude/settings.json.before-provost", "first");
    desk.project.write_file(".claude/settings.json.before-provost-2", "second");
    let file = desk.project.path.join(".claude/settings.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    desk.migrate(&["--yes"], 0);
    assert_eq!(desk.text("settings.json.before-provost"), "first");
    assert_eq!(desk.text("settings.json.before-provost-2"), "second");
    assert_eq!(desk.text("settings.json.before-provost-3"), SMALL);
    for name in ["settings.json", "settings.json.before-provost-3"] {
        let mode = fs::metadata(file.with_file_name(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{name}");
    }
    assert_eq!(desk.names().len(), 4, "{:?}", desk.names());
}

#[test]
fn a_file_that_is_not_a_json_object_is_refused() {
    let errors = ["{\"hooks\": {", "[]", "", "// comment\n{}", "{\"a\": 1,}"].map(|text| {
        let desk = Desk::with(text);
        let shown = desk.migrate(&["--yes"], 74);
        assert!(shown.stdout.is_empty());
        assert_eq!((desk.now().as_str(), desk.names().len()), (text, 1));
        shown.stderr
    });
    assert_shown!("phases-cli-migrate-no-json", errors.join("\n"));
}

#[test]
fn line_ends_and_indentation_stay_as_they_are() {
    let desk = Desk::with(&DOCUMENT.replace('\n', "\r\n"));
    let shown = desk.migrate(&["--yes"], 0).stdout;
    assert!(!shown.contains("\\u{d}"), "{shown}");
    let now = desk.now();
    assert_eq!(now.matches('\n').count(), now.matches("\r\n").count());
    let plain = Desk::with(DOCUMENT);
    plain.migrate(&["--yes"], 0);
    assert_eq!(now.replace("\r\n", "\n"), plain.now());

    let tabs = Desk::with(&DOCUMENT.replace("  ", "\t"));
    tabs.migrate(&["--yes"], 0);
    assert_eq!(tabs.now(), plain.now().replace("  ", "\t"));

    let one_line = Desk::with(
        "\u{feff}{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"node h/delegation-gate.cjs\"}]}]}}",
    );
    one_line.migrate(&["--yes"], 0);
    let now = one_line.now();
    let room = now.replace("PATH=$PATH:~/.cargo/bin:~/.local/bin; command -v provost >/dev/null || exit 0; exec provost hook", "").contains(['\n', ' ']);
    assert!(now.starts_with("\u{feff}{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":") && !room, "{now}");
    assert_eq!(entries(now.trim_start_matches('\u{feff}')).len(), 6);
}

#[test]
fn existing_entries_of_provost_are_not_added_again() {
    let entry = r#"{"type": "command", "command": "/opt/provost", "args": ["hook"]}"#;
    let narrow = r#"{"type": "command", "command": "/opt/provost", "args": ["hook", "--pack", "self"]}"#;
    let node = r#"{"command": "node h/gate-blocker.cjs"}"#;
    let desk = Desk::with(&format!(
        r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{node}, {entry}]}}], "PostToolUse": [{{"matcher": "Bash", "hooks": [{entry}]}}], "Stop": [{{"hooks": [{narrow}]}}]}}}}"#
    ));
    assert_shown!("phases-cli-migrate-existing", summary(&desk.migrate(&["--yes"], 0)));
    assert!(desk.now().contains("\"--pack\""));
}

#[test]
fn scripts_that_stay_are_listed_even_if_none_is_removed() {
    let text = r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "node h/model-provider-router.cjs"}]}]}}"#;
    let desk = Desk::with(text);
    assert_shown!("phases-cli-migrate-kept", summary(&desk.migrate(&["--yes"], 0)));
    assert_eq!((desk.now().as_str(), desk.names().len()), (text, 1));
}

#[test]
fn with_the_plugin_only_old_entries_are_removed() {
    let desk = Desk::with(&SMALL.replacen('{', "{\n  \"enabledPlugins\": {\"isdlc@provost\": true},", 1));
    let shown = desk.migrate(&["--yes"], 0).stdout;
    assert!(shown.contains("Removes 1 entry; adds none."), "{shown}");
    assert_eq!(desk.now(), "{\n  \"enabledPlugins\": {\"isdlc@provost\": true}\n}\n");
}

/// `claude plugin install` enables a plugin in the user's own file by default.
#[test]
fn a_plugin_that_another_file_enables_is_enough() {
    const PLUGIN: &str = r#"{"enabledPlugins": {"isdlc@provost": true}}"#;
    let desk = Desk::with(SMALL);
    desk.project.write_home_file(".claude/settings.json", PLUGIN);
    assert_shown!("phases-cli-migrate-plugin", summary(&desk.migrate(&["--yes"], 0)));
    assert_eq!(desk.now(), "{}\n");

    let local = Desk::with(SMALL);
    local.project.write_file(".claude/settings.local.json", PLUGIN);
    assert!(local.migrate(&["--yes"], 0).stdout.contains("Removes 1 entry; adds none."));
    assert_eq!(local.text("settings.local.json"), PLUGIN);

    let off = Desk::with(SMALL);
    off.project.write_home_file(".claude/settings.json", &PLUGIN.replace("true", "false"));
    assert!(off.migrate(&["--yes"], 0).stdout.contains("Removes 1 entry; adds 6"));
}

#[test]
fn both_files_of_a_project_are_migrated_or_only_the_named_one() {
    let desk = Desk::with("{}");
    desk.project.write_file(".claude/settings.local.json", SMALL);
    desk.migrate(&["--yes"], 0);
    assert_eq!(desk.now(), "{}");
    assert_eq!(entries(&desk.text("settings.local.json")).len(), 6);

    // Both have such entries: what one calls, the other need not.
    let both = Desk::with(SMALL);
    let pre = SMALL.replace("Stop", "PreToolUse").replace("delegation-gate", "gate-blocker");
    both.project.write_file(".claude/settings.local.json", &pre);
    let shown = both.migrate(&["--yes"], 0).stdout;
    assert!(shown.contains("\nRemoves 1 entry; adds none.\n"), "{shown}");
    assert_eq!(entries(&both.now()).len(), 6);
    assert_eq!(both.text("settings.local.json"), "{}\n");
    assert_eq!(both.names().len(), 4);

    let named = desk.project.write_home_file("elsewhere/settings.json", SMALL);
    let shown = desk.migrate(&["--yes", "--settings", named.to_str().unwrap()], 0).stdout;
    assert!(shown.contains("Wrote <home>/elsewhere/settings.json."), "{shown}");
    let shown = desk.migrate(&["--yes", "--settings", "nowhere.json"], 74);
    assert!(shown.stderr.contains("there is no file"), "{}", shown.stderr);
    let shown = run(&TestProject::unregistered(), &["migrate"]);
    assert_eq!((shown.code, shown.stdout.contains("nothing to do")), (0, true), "{}", shown.stdout);
}

#[test]
fn a_link_stays_one_and_is_not_followed_into_nothing() {
    let desk = Desk::with(SMALL);
    let real = desk.project.write_home_file("dotfiles/settings.json", SMALL);
    let link = desk.project.path.join(".claude/settings.json");
    fs::remove_file(&link).unwrap();
    symlink(&real, &link).unwrap();
    desk.migrate(&["--yes"], 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(entries(&fs::read_to_string(&real).unwrap()).len(), 6);
    assert!(real.with_file_name("settings.json.before-provost").is_file());
    fs::remove_file(&real).unwrap();
    let shown = desk.migrate(&["--yes"], 0).stdout;
    assert!(shown.contains("nothing to do") && !real.exists(), "{shown}");
}

#[test]
fn a_directory_that_cannot_be_written_to_is_left_alone() {
    let desk = Desk::with(SMALL);
    let folder = desk.project.path.join(".claude");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write everywhere.
    if fs::write(folder.join("probe"), "").is_ok() {
        fs::remove_file(folder.join("probe")).unwrap();
    } else {
        let shown = desk.migrate(&["--yes"], 74);
        assert!(shown.stderr.contains("was not changed: its backup cannot be written"), "{}", shown.stderr);
        assert_eq!((desk.now().as_str(), desk.names().len()), (SMALL, 1));
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_file_that_cannot_be_backed_up_is_not_changed() {
    let desk = Desk::with("{}");
    // The name of its backup would be too long.
    let name = format!("{}.json", "x".repeat(240));
    let file = desk.project.write_file(&format!(".claude/{name}"), SMALL);
    let shown = desk.migrate(&["--yes", "--settings", file.to_str().unwrap()], 74);
    assert!(shown.stderr.contains("was not changed: its backup cannot be written"), "{}", shown.stderr);
    assert_eq!((desk.text(&name).as_str(), desk.names().len()), (SMALL, 2));
}

#[test]
fn no_tool_migrates() {
    let project = TestProject::new();
    for command in ["provost phases migrate --yes", "provost phases migrate", "provost phases \"$x\" --yes"] {
        let answer = project.hook(&project.bash(command));
        assert!(answer.expect_denial().contains("`provost phases migrate`"), "{command}: {answer:?}");
    }
    for command in ["provost phases status", "provost phases status --json"] {
        assert!(project.hook(&project.bash(command)).is_silent(), "{command}");
    }
}

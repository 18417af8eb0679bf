//! Where nothing is installed, and why.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use serde_json::json;

use super::{Desk, RICH};
use crate::support::assert_shown;

/// The reason for which `init --yes` refuses, on one line. Everything must stay as it is.
fn refused(desk: &Desk, scope: &str) -> String {
    let before = fs::read(desk.settings()).ok();
    let names = desk.names(".claude");
    let shown = desk.run(&["init", "--yes", "--scope", scope], 1);
    assert!(shown.stderr.starts_with("[provost] nothing was installed:"), "{}", shown.stderr);
    assert_eq!((fs::read(desk.settings()).ok(), desk.names(".claude")), (before, names));
    shown.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_no_settings_file() {
    let texts: [&[u8]; 9] = [
        b"",
        b"[]",
        b"{\"a\": 1,}",
        b"// mine\n{}",
        b"{\"hooks\": []}",
        b"{\"hooks\": {\"Stop\": 5}}",
        b"{\"permissions\": 5}",
        b"{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\", \"timeout\": \"5\"}]}]}}",
        b"{\"a\": \"\xff\"}",
    ];
    let reasons = texts.map(|text| {
        let desk = Desk::with("");
        fs::write(desk.settings(), text).unwrap();
        refused(&desk, "project")
    });
    assert_shown!("init-invalid-settings", reasons.join("\n\n"));
    let desk = Desk::empty();
    fs::create_dir_all(desk.settings()).unwrap();
    desk.run(&["init", "--yes", "--scope", "project"], 1);
    assert!(desk.settings().is_dir());
}

#[test]
fn what_is_read_only() {
    let desk = Desk::with(RICH);
    fs::set_permissions(desk.settings(), fs::Permissions::from_mode(0o444)).unwrap();
    let file = refused(&desk, "project");
    let desk = Desk::with(RICH);
    let folder = desk.project.path.join(".claude");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    assert_shown!("init-read-only", [file, refused(&desk, "project")].join("\n\n"));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    desk.init();
    fs::set_permissions(desk.settings(), fs::Permissions::from_mode(0o444)).unwrap();
    let shown = desk.run(&["uninstall", "--yes"], 1);
    assert!(shown.stderr.starts_with("[provost] nothing was changed:"), "{}", shown.stderr);
}

/// A repository may bring any link.
#[test]
fn a_link_out_of_the_project() {
    for (scope, name) in [("project", "settings.json"), ("local", "settings.local.json")] {
        let desk = Desk::empty();
        let outside = desk.project.write_home_file("shared.json", "{}");
        fs::create_dir_all(desk.project.path.join(".claude")).unwrap();
        let link = desk.project.path.join(".claude").join(name);
        symlink(&outside, &link).unwrap();
        assert_shown!(format!("init-link-{scope}"), refused(&desk, scope));
        assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
        fs::remove_file(&outside).unwrap();
        assert!(refused(&desk, scope).contains("outside of the project"));
        assert!(!outside.exists());
    }
    let desk = Desk::empty();
    fs::create_dir_all(desk.project.home.join("elsewhere")).unwrap();
    symlink(desk.project.home.join("elsewhere"), desk.project.path.join(".claude")).unwrap();
    assert!(refused(&desk, "project").contains("outside of the project"));
    // A link within the project is followed.
    let desk = Desk::empty();
    desk.project.write_file("config/settings.json", "{}");
    fs::create_dir_all(desk.project.path.join(".claude")).unwrap();
    symlink("../config/settings.json", desk.settings()).unwrap();
    desk.init();
    assert!(fs::symlink_metadata(desk.settings()).unwrap().is_symlink());
    assert_eq!(desk.entries().len(), 8);
}

/// As the client installs one from a directory.
fn plugin(desk: &Desk, packs: &[&str]) {
    let market = desk.project.home.join("market");
    let arguments: Vec<&str> =
        ["hook"].into_iter().chain(packs.iter().flat_map(|pack| ["--pack", pack])).collect();
    let entry =
        json!({"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/hooks/provost.sh", "args": arguments});
    let put = |name: &str, content: serde_json::Value| {
        desk.project.write_home_file(name, &content.to_string());
    };
    put(
        "market/.claude-plugin/marketplace.json",
        json!({"plugins": [{"name": "taskie", "source": "./taskie"}]}),
    );
    put("market/taskie/.claude-plugin/plugin.json", json!({"name": "taskie"}));
    put("market/taskie/hooks/hooks.json", json!({"hooks": {"Stop": [{"hooks": [entry]}]}}));
    put(
        ".claude/plugins/known_marketplaces.json",
        json!({"provost": {"source": {"source": "directory"}, "installLocation": market}}),
    );
    put(".claude/settings.json", json!({"enabledPlugins": {"taskie@provost": true}}));
}

#[test]
fn a_plugin_that_registers_the_same() {
    let desk = Desk::with(RICH);
    plugin(&desk, &["self", "review-loop"]);
    assert_shown!("init-plugin", refused(&desk, "project"));
    let told = desk.run(&["uninstall", "--yes"], 0).line();
    assert!(told.contains("the plugin `taskie@provost` contains Provost"), "{told}");
    desk.project
        .write_home_file(".claude/settings.json", "{\"enabledPlugins\": {\"taskie@provost\": false}}");
    desk.init();
}

#[test]
fn another_scope_that_calls_provost() {
    let desk = Desk::empty();
    desk.run(&["init", "--yes", "--scope", "user"], 0);
    // The entry names the program, and where that is cut depends on its path.
    let without_entry = |reason: String| {
        let (before, rest) = reason.split_once('`').unwrap();
        format!("{before}`…`{}", rest.split_once('`').unwrap().1)
    };
    let mut reasons = ["project", "local"].map(|scope| without_entry(refused(&desk, scope))).to_vec();
    // An entry for a team is a whole shell line: its start is enough to find it.
    let desk = Desk::empty();
    desk.run(&["init", "--yes", "--scope", "project"], 0);
    reasons.push(refused(&desk, "user"));
    let desk = Desk::with(
        "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"provost hook\"}]}]}}",
    );
    reasons.extend([refused(&desk, "local"), refused(&desk, "project")]);
    assert_shown!("init-other-scope", reasons.join("\n\n"));
}

#[test]
fn a_program_of_another_name() {
    let desk = Desk::empty();
    let other = desk.project.home.join("guard");
    // Another process writes it: what this one has open for writing cannot be run.
    let done = Command::new("cp").arg(crate::support::program()).arg(&other).status();
    assert!(done.unwrap().success());
    let mut command = Command::new(&other);
    command
        .args(["init", "--yes"])
        .env_clear()
        .env("HOME", &desk.project.home)
        .current_dir(&desk.project.path);
    let shown = desk.answered(command);
    assert_eq!(shown.code, 1, "{shown:?}");
    assert!(shown.line().contains("this program is called <home>/guard"), "{}", shown.line());
    assert_eq!(desk.names(""), [".git"]);
}

/// Entries that `init` did not write are listed, and stay.
#[test]
fn what_was_written_by_hand_is_left_and_named() {
    let text = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"provost compat stop-hook\"}]}], \"Notification\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"provost hook --pack self\"}]}]}}";
    let desk = Desk::with(text);
    let told = desk.init().line();
    assert!(told.contains("calls `provost compat` (`provost compat stop-hook`)"), "{told}");
    let told = desk.uninstall().line();
    assert!(
        told.contains(
            "Left: .claude/settings.json, Stop: `provost compat stop-hook`, which `init` did not write. Left: \
             .claude/settings.json, Notification: `provost hook --pack self`"
        ),
        "{told}"
    );
    assert_eq!(desk.now(), text);
    assert_shown!("uninstall-entries-by-hand", desk.uninstall().stdout);
}

/// Without a scope, a file that cannot be read does not keep the others.
#[test]
fn a_broken_file_beside_the_one_that_is_meant() {
    let desk = Desk::with(RICH);
    desk.init();
    let broken = desk.project.write_file(".claude/settings.local.json", "{\"hooks\": ");
    let told = desk.run(&["uninstall", "--yes"], 1).line();
    assert!(
        told.contains(
            "Left: <project>/.claude/settings.local.json is left as it is: it is not a JSON object"
        ),
        "{told}"
    );
    assert_eq!(desk.now(), RICH);
    assert_eq!(fs::read_to_string(broken).unwrap(), "{\"hooks\": ");
    desk.run(&["uninstall", "--yes", "--scope", "local"], 1);
}

#[test]
fn hooks_that_are_switched_off_are_told() {
    let desk = Desk::with("{\"disableAllHooks\": true}");
    let told = desk.run(&["init", "--dry-run"], 0).line();
    assert!(
        told.contains("Note: `disableAllHooks` in .claude/settings.json keeps all hooks from running"),
        "{told}"
    );
}

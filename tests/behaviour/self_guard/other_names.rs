//! Links, dots, tildes: a file is protected under each of its names.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use super::{channels, denies, full, own};
use crate::support::TestProject;

#[test]
fn a_link_is_what_it_leads_to() {
    let project = full();
    let link = |to: &Path, name: &str| {
        symlink(to, project.path.join(name)).unwrap();
        project.path.join(name)
    };
    let config = link(Path::new("provost.toml"), "plain.txt");
    let twice = link(&config, "twice.txt");
    let state = link(&project.state_directory(), "state");
    let user = link(&project.home.join(".config"), "config");
    let above = link(Path::new("sub/deep"), "deep");
    fs::create_dir_all(project.path.join("sub/deep")).unwrap();
    let dangling = link(&project.path.join("sub/provost.toml"), "dangling.txt");
    let paths = [
        config,
        twice,
        dangling,
        state.join("projects/new"),
        state.join("seal.key"),
        user.join("provost/provost.toml"),
        above.join("../../provost.toml"),
    ];
    for path in paths {
        denies(&project, &channels(&project, &path));
    }
}

#[test]
fn a_hard_link_is_the_same_file() {
    let project = full();
    let links = own(&project).into_iter().filter(|path| path.exists()).enumerate().map(|(at, path)| {
        let link = project.path.join(format!("{at}.txt"));
        fs::hard_link(&path, &link).unwrap();
        (format!("a hard link to {}", path.display()), project.write(link, "x"))
    });
    denies(&project, &links.collect::<Vec<_>>());
}

#[test]
fn dots_and_relative_paths_are_followed() {
    let project = full();
    fs::create_dir_all(project.path.join("src/deep")).unwrap();
    let mut elsewhere = project.write("../../provost.toml", "");
    elsewhere["cwd"] = json!(project.path.join("src/deep"));
    let mut relative = project.bash("echo x > ../provost.toml");
    relative["cwd"] = json!(project.path.join("src"));
    project.assert_denied(&[
        ("dots", project.write(project.path.join("src/../provost.toml"), "")),
        ("missing", project.write(project.path.join("nowhere/../provost.toml"), "")),
        ("single dots", project.write(project.path.join("./././provost.toml"), "")),
        ("slashes", project.write(format!("{}//provost.toml", project.path.display()), "")),
        ("relative", project.write("provost.toml", "")),
        // Every `provost.toml` is protected by its name; the state only by its place.
        ("relative state", project.write("../.local/state/provost/x", "")),
        ("relative state in Bash", project.bash("echo > ../.local/state/provost/x")),
        ("relative key", project.read("../.local/state/provost/seal.key")),
        ("relative in an unknown tool", project.mcp(json!({"to": "../.local/state/provost/x"}))),
        ("another place", elsewhere),
        ("another place in Bash", relative),
        ("cd", project.bash("cd src && cd deep && echo > ../../provost.toml")),
        ("state by dots", project.write(project.home.join("project/../.local/state/provost/x"), "")),
    ]);
}

#[test]
fn the_home_may_be_written_as_a_tilde() {
    let project = full();
    project.assert_denied(&[
        ("Write state", project.write("~/.local/state/provost/x", "")),
        ("Read key", project.read("~/.local/state/provost/seal.key")),
        ("Grep key", project.grep("~/.local/state/provost")),
        ("mcp", project.mcp(json!({"path": "~/.local/state/provost/seal.key"}))),
    ]);
}

#[test]
fn a_dangling_link_to_a_configuration_is_a_configuration() {
    let project = TestProject::new();
    symlink("conf/real.toml", project.path.join("provost.toml")).unwrap();
    project.assert_denied(&[
        ("by the link", project.write(project.path.join("provost.toml"), "")),
        ("by its target", project.write(project.path.join("conf/real.toml"), "")),
    ]);
}

#[test]
fn a_new_settings_file_in_a_linked_directory_is_a_settings_file() {
    let project = TestProject::unregistered();
    fs::create_dir(project.path.join("agent")).unwrap();
    symlink("agent", project.path.join(".claude")).unwrap();
    let off = r#"{"disableAllHooks":true}"#;
    project.assert_denied(&[
        ("by the link", project.write(project.path.join(".claude/settings.local.json"), off)),
        ("by its target", project.write(project.path.join("agent/settings.local.json"), off)),
        ("Bash", project.bash("echo '{\"disableAllHooks\":true}' > .claude/settings.json")),
    ]);
}

#[test]
fn a_settings_file_of_another_project_is_recognized_by_its_name() {
    let project = TestProject::new();
    fs::create_dir_all(project.home.join("other/agent")).unwrap();
    symlink("agent", project.home.join("other/.claude")).unwrap();
    let off = r#"{"disableAllHooks":true}"#;
    project.assert_denied(&[("Write", project.write(project.home.join("other/.claude/settings.json"), off))]);
}

#[test]
fn a_settings_file_behind_a_dangling_link_is_a_settings_file() {
    let project = TestProject::unregistered();
    fs::create_dir(project.path.join(".claude")).unwrap();
    symlink("../shared.json", project.path.join(".claude/settings.json")).unwrap();
    let off = r#"{"disableAllHooks":true}"#;
    project.assert_denied(&[
        ("by the link", project.write(project.path.join(".claude/settings.json"), off)),
        ("by its target", project.write(project.path.join("shared.json"), off)),
    ]);
}

#[test]
fn an_unknown_tool_cannot_hide_a_path_among_many_strings() {
    let project = full();
    let path = json!(project.path.join("provost.toml"));
    let many: Vec<Value> = (0..30_000).map(|n| json!(format!("word {n}"))).collect();
    project.assert_denied(&[
        ("first", project.mcp(json!({"path": path, "words": many}))),
        ("last", project.mcp(json!({"words": many, "path": path}))),
    ]);
}

#[test]
fn an_unknown_tool_that_runs_commands_is_read_like_a_shell() {
    let project = full();
    project.assert_denied(&[
        ("mcp", project.mcp(json!({"command": "rm provost.toml"}))),
        ("list", project.mcp(json!({"options": {"cmd": ["ls", "echo > provost.toml"]}}))),
        ("PowerShell", project.call("PowerShell", json!({"command": "rm provost.toml"}))),
    ]);
}

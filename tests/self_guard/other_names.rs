//! Links, dots, tildes: a file is protected by what it is, not by how it is written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::TestProject;
use crate::{channels, denies, full, own};

#[test]
fn a_link_is_what_it_leads_to() {
    let project = full();
    let link = |to: &Path, name: &str| {
        symlink(to, project.path.join(name)).unwrap();
        project.path.join(name)
    };
    let config = link(Path::new("provost.toml"), "plain.txt");
    let twice = link(&config, "twice.txt");
    let state = link(&project.state(), "state");
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
    project.denies(&[
        ("dots", project.write(project.path.join("src/../provost.toml"), "")),
        ("missing", project.write(project.path.join("nowhere/../provost.toml"), "")),
        ("single dots", project.write(project.path.join("./././provost.toml"), "")),
        ("slashes", project.write(format!("{}//provost.toml", project.path.display()), "")),
        ("relative", project.write("provost.toml", "")),
        // Any `provost.toml` is closed by its name; the state is closed only by its place.
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
    project.denies(&[
        ("Write state", project.write("~/.local/state/provost/x", "")),
        ("Read key", project.read("~/.local/state/provost/seal.key")),
        ("Grep key", project.grep("~/.local/state/provost")),
        ("mcp", project.mcp(json!({"path": "~/.local/state/provost/seal.key"}))),
    ]);
}

#[test]
fn a_configuration_behind_a_dangling_link_is_the_file_that_a_write_would_make() {
    let project = TestProject::new();
    symlink("conf/real.toml", project.path.join("provost.toml")).unwrap();
    project.denies(&[
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
    project.denies(&[
        ("by the link", project.write(project.path.join(".claude/settings.local.json"), off)),
        ("by its target", project.write(project.path.join("agent/settings.local.json"), off)),
        ("Bash", project.bash("echo '{\"disableAllHooks\":true}' > .claude/settings.json")),
    ]);
}

#[test]
fn a_settings_file_of_another_project_is_known_by_the_name_it_is_given() {
    let project = TestProject::new();
    fs::create_dir_all(project.home.join("other/agent")).unwrap();
    symlink("agent", project.home.join("other/.claude")).unwrap();
    let off = r#"{"disableAllHooks":true}"#;
    project.denies(&[("Write", project.write(project.home.join("other/.claude/settings.json"), off))]);
}

#[test]
fn a_settings_file_behind_a_dangling_link_is_a_settings_file() {
    let project = TestProject::unregistered();
    fs::create_dir(project.path.join(".claude")).unwrap();
    symlink("../shared.json", project.path.join(".claude/settings.json")).unwrap();
    let off = r#"{"disableAllHooks":true}"#;
    project.denies(&[
        ("by the link", project.write(project.path.join(".claude/settings.json"), off)),
        ("by its target", project.write(project.path.join("shared.json"), off)),
    ]);
}

#[test]
fn an_unknown_tool_cannot_hide_a_path_among_many_strings() {
    let project = full();
    let path = json!(project.path.join("provost.toml"));
    let many: Vec<Value> = (0..30_000).map(|n| json!(format!("word {n}"))).collect();
    project.denies(&[
        ("first", project.mcp(json!({"path": path, "words": many}))),
        ("last", project.mcp(json!({"words": many, "path": path}))),
    ]);
}

#[test]
fn an_unknown_tool_that_runs_commands_is_read_like_a_shell() {
    let project = full();
    project.denies(&[
        ("mcp", project.mcp(json!({"command": "rm provost.toml"}))),
        ("list", project.mcp(json!({"options": {"cmd": ["ls", "echo > provost.toml"]}}))),
        ("PowerShell", project.call("PowerShell", json!({"command": "rm provost.toml"}))),
    ]);
}

//! No tool switches the guards off, under any name of a file.
//!
//! Each table is one promise, and a failing test lists all cases that break it.

mod additions;
mod allowed;
mod git_files;
mod git_programs;
mod instructions;
mod other_names;
mod other_programs;
mod own_files;
mod patches;
mod plain_file_commands;
mod registration;
mod seal_key;
mod settings_files;

use std::path::{Path, PathBuf};

use crate::support::{TestProject, registered_settings};
use serde_json::{Value, json};

/// A project with every file that the guard protects.
fn full() -> TestProject {
    let project = TestProject::new();
    project.write_file("provost.toml", "[engine]\n");
    project.write_file("a.txt", "one\n");
    project.write_file(".claude/settings.local.json", "{}");
    project.write_home_file(".config/provost/provost.toml", "");
    project.write_home_file(".claude/settings.json", &registered_settings().to_string());
    project.write_home_file(".local/state/provost/seal.key", "key");
    project.write_home_file(".local/state/provost/projects/x/journal.jsonl", "{}\n");
    project
}

/// Provost's own files, none of which any tool may write.
fn own(project: &TestProject) -> Vec<PathBuf> {
    vec![
        project.path.join("provost.toml"),
        project.path.join("sub/provost.toml"),
        project.home.join(".config/provost/provost.toml"),
        project.home.with_file_name("managed").join("provost.toml"),
        project.home.join(".local/state/provost/seal.key"),
        project.home.join(".local/state/provost/projects/x/journal.jsonl"),
        project.home.join(".local/state/provost/projects/x/sessions/1.json"),
    ]
}

fn settings(project: &TestProject) -> Vec<PathBuf> {
    vec![
        project.path.join(".claude/settings.json"),
        project.path.join(".claude/settings.local.json"),
        project.home.join(".claude/settings.json"),
        project.home.join(".claude/settings.local.json"),
    ]
}

/// Every way in which a tool can write to a file without showing the content.
fn channels(project: &TestProject, path: &Path) -> Vec<(String, Value)> {
    let shown = path.display();
    let lines = [
        format!("echo x > {shown}"),
        format!("echo x >> '{shown}'"),
        format!("printf x 2>\"{shown}\""),
        format!("echo x | tee -a {shown}"),
        format!("cd / && cat /dev/null >| {shown}"),
        format!("cp a.txt {shown}"),
        format!("mv a.txt {shown}"),
        format!("ln -sf a.txt {shown}"),
        format!("install -m 644 a.txt {shown}"),
        format!("dd if=a.txt of={shown}"),
        format!("sed -i s/on/off/ {shown}"),
        format!("truncate -s 0 {shown}"),
        format!("touch {shown}"),
        format!("chmod 000 {shown}"),
        format!("sh -c 'echo x > {shown}'"),
        format!("true; if true; then echo x > {shown}; fi"),
    ];
    let bash = lines.into_iter().map(|line| (line.clone(), project.bash(&line)));
    let name = path.file_name().unwrap().to_str().unwrap();
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let others = [
        ("Notebook", project.notebook(path)),
        ("mcp", project.mcp(json!({"path": path, "text": "x"}))),
        ("mcp deep", project.mcp(json!({"changes": [{"to": {"uri": format!("file://{shown}")}}]}))),
        ("mcp list", project.call("mcp__files__do", json!([path]))),
        ("mcp apart", project.mcp(json!({"directory": path.parent(), "filename": name, "content": "{}"}))),
        ("mcp apart, other way", project.mcp(json!({"name": name, "at": {"base": path.parent()}}))),
        ("mcp root", project.mcp(json!({"root": "/", "relative_path": &shown.to_string()[1..]}))),
        ("mcp ending", project.mcp(json!({"folder": path.parent(), "name": stem, "extension": ending}))),
        ("mcp encoded", project.mcp(json!({"uri": format!("file://{}", encoded(path))}))),
        ("mcp host", project.mcp(json!({"uri": format!("FILE://localhost{}", encoded(path))}))),
        ("mcp query", project.mcp(json!({"uri": format!("file:{shown}?a=b#L1")}))),
        ("Write without a text", project.call("Write", json!({"file_path": path, "content": 5}))),
    ];
    bash.chain(others.map(|(name, event)| (format!("{name} {shown}"), event))).collect()
}

/// A path with every dot, and the first letter after each slash, percent-encoded.
fn encoded(path: &Path) -> String {
    let mut text = String::new();
    let mut is_first = false;
    for c in path.to_str().unwrap().chars() {
        let hides = c.is_ascii() && (c == '.' || is_first && c != '/');
        text += &if hides { format!("%{:02x}", u32::from(c)) } else { c.to_string() };
        is_first = c == '/';
    }
    text
}

#[track_caller]
fn denies(project: &TestProject, cases: &[(String, Value)]) {
    let cases: Vec<_> = cases.iter().map(|(name, event)| (name.as_str(), event.clone())).collect();
    project.assert_denied(&cases);
}

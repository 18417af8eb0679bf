//! The key that seals verdicts: no tool may even read it.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::full;
use crate::support::TestProject;

#[test]
fn no_tool_reads_the_key() {
    let project = full();
    let key = project.state_directory().join("seal.key");
    fs::hard_link(&key, project.path.join("hard.txt")).unwrap();
    symlink(&key, project.path.join("soft.txt")).unwrap();
    symlink(project.state_directory(), project.path.join("state")).unwrap();
    project.assert_denied(&[
        ("Read", project.read(&key)),
        ("a hard link", project.read(project.path.join("hard.txt"))),
        ("a link", project.read(project.path.join("soft.txt"))),
        ("a linked directory", project.read(project.path.join("state/seal.key"))),
        ("dots", project.read(project.state_directory().join("projects/../seal.key"))),
        ("Grep it", project.grep(&key)),
        ("Grep above it", project.grep(project.state_directory())),
        ("Grep the home", project.grep(&project.home)),
        ("Notebook", project.call("NotebookRead", json!({"notebook_path": key}))),
        ("mcp", project.mcp(json!({"file": key}))),
    ]);
    project.assert_lines_denied(&[
        "cat ~/.local/state/provost/seal.key",
        "base64 < $HOME/.local/state/provost/seal.key",
        "cd ~/.local/state/provost; xxd seal.key",
        "cp ~/.local/state/provost/seal.key x",
        "ln ~/.local/state/provost/seal.key x",
        "dd if=state/seal.key of=x",
        "head -c 32 hard.txt",
    ]);
}

#[test]
fn no_command_that_walks_directories_reads_the_key() {
    let project = full();
    project.assert_lines_denied(&[
        "grep -r . ~/.local/state/provost",
        "grep -R . ~/.local",
        "rg . ~/.local/state/provost",
        "cp -r ~/.local/state/provost x",
        "cp -a ~/.local/state x",
        "rsync -a ~/.local/state/ x",
    ]);
}

#[test]
fn a_search_from_above_is_denied_only_where_there_is_a_key() {
    let project = TestProject::new();
    project.assert_allowed(&[("Grep the home", project.grep(&project.home))]);
}

//! What the guard must leave alone, or people would switch it off.

use serde_json::json;

use crate::full;
use crate::support::{TestProject, registered};

#[test]
fn other_parts_of_a_settings_file_may_change() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let before = registered().to_string();
    let mut other = registered();
    other["model"] = "two".into();
    other["permissions"] = json!({"allow": ["Bash(ls)"], "deny": ["Read(.env)"]});
    other["env"] = json!({"EDITOR": "vi"});
    other["enabledPlugins"] = json!({"new@house": true});
    project.passes(&[
        ("Write", project.write(&path, &other.to_string())),
        ("pretty", project.write(&path, &format!("{other:#}\n"))),
        ("Edit", project.edit(&path, "\"one\"", "\"two\"")),
        ("MultiEdit", project.multi_edit(&path, &[("\"one\"", "\"two\""), ("\"two\"", "\"three\"")])),
        ("whole", project.edit(&path, &before, &other.to_string())),
        ("relative", project.edit(".claude/settings.json", "\"one\"", "\"two\"")),
        ("user", project.edit(project.home.join(".claude/settings.json"), "\"one\"", "\"two\"")),
        ("new file", project.write(project.home.join(".claude/settings.local.json"), "{\"model\":\"x\"}")),
    ]);
}

#[test]
fn everything_but_the_key_may_be_read() {
    let project = full();
    let journal = project.state().join("projects/x/journal.jsonl");
    project.passes(&[
        ("settings", project.read(project.path.join(".claude/settings.json"))),
        ("configuration", project.read(project.path.join("provost.toml"))),
        ("journal", project.read(&journal)),
        ("Grep the project", project.grep(&project.path)),
        ("Grep the journal", project.grep(journal.parent().unwrap())),
        ("Glob", project.call("Glob", json!({"pattern": "**/*", "path": project.state()}))),
    ]);
    project.passes_lines(&[
        "cat provost.toml .claude/settings.json",
        "grep hooks < .claude/settings.json",
        "cat ~/.local/state/provost/projects/x/journal.jsonl | tail -1",
        "diff .claude/settings.json ~/.claude/settings.json",
    ]);
}

#[test]
fn a_copy_of_the_configuration_under_another_name_is_a_read() {
    let project = full();
    project.passes_lines(&["cp provost.toml provost.toml.bak", "cp provost.toml /tmp/copy.txt"]);
}

#[test]
fn ordinary_work_is_not_touched() {
    let project = full();
    let at = |name: &str| project.path.join(name);
    project.passes(&[
        ("a file", project.write(at("src/main.rs"), "fn main() {}")),
        ("a name that ends alike", project.write(at("notprovost.toml"), "")),
        ("a name that starts alike", project.write(at("provost.toml.md"), "")),
        ("settings elsewhere", project.write(at("settings.json"), "{\"disableAllHooks\":true}")),
        ("settings of another tool", project.write(at(".vscode/settings.json"), "[]")),
        ("a sibling of the settings", project.write(at(".claude/agents/a.md"), "")),
        ("a command", project.write(at(".claude/commands/provost.md"), "rm provost.toml")),
        ("an edit", project.edit(at("a.txt"), "one", "two")),
        ("a notebook", project.notebook(at("n.ipynb"))),
        ("an unknown tool", project.mcp(json!({"path": at("a.txt"), "text": "provost.toml is closed\n"}))),
        ("a todo", project.call("TodoWrite", json!({"todos": [{"content": "provost.toml"}]}))),
        ("a task", project.call("Task", json!({"prompt": "look at provost.toml", "subagent_type": "x"}))),
        ("a search", project.call("WebSearch", json!({"query": "provost.toml"}))),
    ]);
    project.passes_lines(&[
        "echo \"provost.toml\"",
        "echo 'rm provost.toml > .claude/settings.json'",
        "git add -A && git commit -m 'close provost.toml'",
        "ls -la .claude ~/.local/state/provost",
        "rm -rf target a.txt && touch b.txt",
        "cp a.txt b.txt; mv b.txt sub/",
        "cat > notes.md <<'EOF'\nrm provost.toml\nEOF",
        "rm -rf sub/.claude.bak",
        "cargo test 2>&1 | tee log.txt > /dev/null",
    ]);
}

#[test]
fn an_unregistered_settings_directory_may_go() {
    let project = TestProject::unregistered();
    project.file(".claude/settings.json", r#"{"model":"x"}"#);
    project.passes_lines(&["rm -rf .claude", "rm .claude/settings.json"]);
}

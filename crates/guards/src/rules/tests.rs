//! What is read and compiled of rules for an event: nothing of a rule that cannot concern it.

use super::*;
use provost_clients::DEFAULT_CLIENT;
use provost_core::config::Config;
use provost_core::layer::ConfigLayer;
use provost_core::places::Places;
use provost_core::rules::{RuleInterest, RuleRegex};
use provost_core::tool::{ToolCall, ToolOutcome};

const RULES: &str = r#"
[[rule]]
name   = "sources"
writes = "src/**"
adds   = 'TODO \w+'
deny   = "x"

[[rule]]
name   = "pages"
writes = "docs/**"
adds   = 'TODO \w+'
deny   = "x"

[[rule]]
name = "keys"
adds = 'key_\w{20}'
deny = "x"

[[rule]]
name    = "tickets"
commits = "main"
message = '^[A-Z]+-\d+'
deny    = "x"

[[rule]]
name     = "tables"
runs     = "psql -c"
argument = '(?i)\bdrop\b'
deny     = "x"
"#;

/// The rules that are read for a tool call, and those among them whose regular expression is compiled.
fn judge_tool(tool: Tool, branch: &str) -> (Vec<String>, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let project = directory.path().canonicalize().unwrap();
    for (name, text) in [
        ("provost.toml", RULES),
        ("docs/old.md", "TODO old\n"),
        (".git/HEAD", &format!("ref: refs/heads/{branch}\n")),
        (".git/objects/x", ""),
        (".git/refs/x", ""),
    ] {
        let file = project.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let call = ToolCall {
        native_tool: "x".into(),
        other_name: None,
        id: None,
        tool,
        outcome: ToolOutcome::default(),
    };
    let event = Event::new("x".into(), EventKind::BeforeTool(call), project.clone());
    let files = [(ConfigLayer::Project, project.join("provost.toml"))];
    let config = Config::load(&files, Vec::new, None, RuleInterest::new(&event).as_ref());
    assert!(config.problems.is_empty(), "{:?}", config.problems);
    let places = Places { home: None, config: None, state: None, managed: None };
    let workspace = Workspace::new(&DEFAULT_CLIENT.facts, project.clone(), project, places, config);
    judge_call(&Scene::new(&event, &workspace)).unwrap();
    let is_compiled = |rule: &&Rule| {
        let subject = &rule.subject;
        let all = [&subject.adds, &subject.message, &subject.argument];
        all.into_iter().flatten().any(RuleRegex::is_compiled)
    };
    let name = |rule: &Rule| rule.name.clone();
    let rules = &workspace.config.rules.rules;
    (rules.iter().map(name).collect(), rules.iter().filter(is_compiled).map(name).collect())
}

fn assert_work(tool: Tool, branch: &str, read: &[&str], compiled: &[&str]) {
    let shown = format!("{tool:?}");
    let found = judge_tool(tool, branch);
    assert_eq!((found.0, found.1), (to_strings(read), to_strings(compiled)), "{shown}");
}

fn to_strings(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

fn shell(command: &str) -> Tool {
    Tool::Shell { command: command.into() }
}

fn write(path: &str, content: &str) -> Tool {
    Tool::Write { path: path.into(), content: Some(content.into()) }
}

#[test]
fn a_rule_that_cannot_concern_the_call_is_not_read() {
    assert_work(shell("ls -la"), "main", &[], &[]);
    assert_work(shell("git push"), "main", &[], &[]);
    assert_work(shell("grep -r 'key_' src"), "main", &[], &[]);
    assert_work(Tool::Read { path: Some("src/a.rs".into()), is_recursive: false }, "main", &[], &[]);
}

#[test]
fn a_regular_expression_is_compiled_only_where_its_rule_got_that_far() {
    let writing = ["sources", "pages", "keys"];
    assert_work(write("a.txt", "a_b TODO\n"), "main", &writing, &["keys"]);
    assert_work(write("docs/new.md", "a_b TODO\n"), "main", &writing, &["pages", "keys"]);
    // A key has a `_`.
    assert_work(write("a.txt", "TODO x\n"), "main", &writing, &[]);
    // It adds no line.
    assert_work(write("docs/old.md", "TODO old\n"), "main", &writing, &[]);
    assert_work(shell("git commit -m x"), "feature", &["tickets"], &[]);
    assert_work(shell("git commit"), "main", &["tickets"], &[]);
    assert_work(shell("git commit -m x"), "main", &["tickets"], &["tickets"]);
    assert_work(shell("psql -f a.sql"), "main", &["tables"], &[]);
    assert_work(shell("psql -c 'select id'"), "main", &["tables"], &["tables"]);
}

//! `provost rules import`: the rules of other tools, and what cannot be said.

use std::fs;

use super::decide;
use crate::support::{TestProject, assert_shown};

/// The exit code, what is printed and what is reported.
fn import(project: &TestProject, name: &str, text: &str) -> (i32, String, String) {
    project.write_file(name, text);
    let output = project.provost_command("rules", &["import", name]).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Imports a file into the project's configuration: without mistakes, and with examples that pass.
fn import_and_use(project: &TestProject, name: &str, text: &str) -> String {
    let (code, printed, reported) = import(project, name, text);
    assert_eq!(code, 0, "{reported}");
    fs::write(project.path.join("provost.toml"), &printed).unwrap();
    let output = project.provost_command("rules", &["test"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}\n{printed}", String::from_utf8(output.stdout).unwrap());
    format!("{printed}--- reported\n{reported}")
}

#[track_caller]
fn assert_decided(project: &TestProject, lines: &[(&str, &str)]) {
    for (line, expected) in lines {
        let got = decide(project, &project.bash(line));
        assert_eq!(got.split(' ').next().unwrap(), *expected, "{line}: {got}");
    }
}

#[test]
fn permissions_of_the_client_become_rules() {
    let project = TestProject::new();
    let shown = import_and_use(
        &project,
        "settings.json",
        r#"{"permissions": {
            "allow": ["Bash(ls:*)"],
            "deny": ["Bash(git push:*)", "Bash(rm -rf *)", "Bash(npm publish)", "Read(./.env)", "Read(~/.ssh/**)",
                "Read(//etc/shadow)", "Edit(/db/**)", "Write(*.lock)", "WebFetch", "WebFetch(domain:x.org)",
                "mcp__github", "mcp__files__write", "Bash(git * main)", "Bash(a && b)", "Agent(Explore)", "Bash:*",
                "Skill(x)", 5],
            "ask": ["Bash(docker run:*)"]
        }, "deny": ["Bash(x)"]}"#,
    );
    assert_shown!("rules-import-permissions", shown);
    assert_decided(
        &project,
        &[
            ("git push", "deny"),
            ("git push origin main", "deny"),
            ("git pull", "silent"),
            ("rm -rf x", "deny"),
            ("rm x", "silent"),
            ("docker run x", "ask"),
            ("docker ps", "silent"),
            ("npm publish", "deny"),
        ],
    );
    let read = |path: &str| decide(&project, &project.read(project.path.join(path)));
    assert!(read(".env").starts_with("deny") && read("/etc/shadow").starts_with("deny"));
    assert_eq!(read("sub/.env"), "silent");
    let write = |path: &str| decide(&project, &project.write(project.path.join(path), "x"));
    assert!(write("db/1.sql").starts_with("deny") && write("sub/yarn.lock").starts_with("deny"));
    assert_eq!(write("sub/db/1.sql"), "silent");
    let tool = |name: &str| decide(&project, &project.call(name, serde_json::json!({"x": 1})));
    assert!(tool("mcp__github__merge").starts_with("deny") && tool("mcp__files__write").starts_with("deny"));
    assert_eq!(tool("mcp__files__read"), "silent");
}

#[test]
fn rules_of_codex_keep_their_examples() {
    let project = TestProject::new();
    let shown = import_and_use(
        &project,
        "default.rules",
        r#"
# comment with prefix_rule(
prefix_rule(
    pattern = ["git", ["push", "fetch"]],
    decision = "forbidden",
    justification = "the network is 'down'",
    match = ["git push origin", ["git", "fetch", "a b"]],
    not_match = ["git status", "git log push"],
)
prefix_rule(pattern=["rm", "-rf"], decision="prompt", not_match=["rm x -rf"])
prefix_rule(pattern = ["ls"], decision = "allow")
prefix_rule(pattern = ["cat"] + EXTRA, decision = "forbidden")
prefix_rule(pattern = ["bash", "-c", "rm *"], decision = "forbidden")
host_executable(name = "git", paths = ["/usr/bin/git"])
"#,
    );
    assert_shown!("rules-import-codex", shown);
    assert_decided(
        &project,
        &[("git push x", "deny"), ("git fetch", "deny"), ("git log", "silent"), ("rm -rf x", "ask")],
    );
}

#[test]
fn rules_of_safety_net_block_their_arguments() {
    let project = TestProject::new();
    let shown = import_and_use(
        &project,
        ".safety-net.json",
        r#"{"version": 1, "rules": [
            {"name": "no-add-all", "command": "git", "subcommand": "add", "block_args": ["-A", "--all", "."], "reason": "add files by name"},
            {"name": "no-verify", "command": "git", "subcommand": "commit", "block_args": ["--no-verify", "-n"], "reason": "hooks must run"},
            {"name": "odd", "command": "git", "subcommand": "log", "block_args": ["a b"], "reason": "x"},
            {"name": "empty", "block_args": ["x"]}
        ]}"#,
    );
    assert_shown!("rules-import-safety-net", shown);
    assert_decided(
        &project,
        &[
            ("git add -A", "deny"),
            ("git add .", "deny"),
            ("git add src", "silent"),
            ("git commit -nm x", "deny"),
            ("git commit -m '--no-verify'", "silent"),
        ],
    );
}

#[test]
fn a_rule_of_hookify_is_said_where_it_names_words() {
    let project = TestProject::new();
    let rule = |front: &str, body: &str| format!("---\nname: test\nenabled: true\n{front}---\n\n{body}\n");
    let cases = [
        rule(
            "event: bash\npattern: git\\s+push\\s+(--force|-f)\naction: block\n",
            "# **No force push**\n\nIt hurts.",
        ),
        rule("event: bash\npattern: rm\\s+-rf\n", "Careful"),
        rule("event: bash\npattern: curl.*\\|\\s*sh\naction: block\n", "no"),
        rule(
            "event: file\nconditions:\n  - field: file_path\n    operator: regex_match\n    pattern: \\.env$\n  - field: new_text\n    operator: contains\n    pattern: KEY=\naction: block\n",
            "No keys",
        ),
        rule("event: file\npattern: console\\.log\\(\n", "Use the logger"),
        rule("event: stop\npattern: .*\n", "tests"),
        rule(
            "event: file\nconditions:\n  - field: file_path\n    operator: regex_match\n    pattern: \\.tsx?$\n",
            "x",
        ),
        rule("event: bash\npattern: ls\n", "x").replace("true", "false"),
    ];
    let mut shown = String::new();
    for case in &cases {
        shown += &format!("{case}=>\n{}\n", import_and_use(&project, "hookify.test.local.md", case));
    }
    assert_shown!("rules-import-hookify", shown);
    import_and_use(&project, "hookify.test.local.md", &cases[0]);
    assert_decided(
        &project,
        &[("git push -f", "deny"), ("git push", "silent"), ("echo git push --force", "silent")],
    );
    import_and_use(&project, "hookify.test.local.md", &cases[3]);
    let write = |path: &str, text: &str| decide(&project, &project.write(project.path.join(path), text));
    assert!(write("a.env", "KEY=1").starts_with("deny"));
    assert_eq!((write("a.env", "x"), write("a.txt", "KEY=1")), ("silent".into(), "silent".into()));
}

#[test]
fn a_file_of_conclaude_becomes_rules() {
    let project = TestProject::new();
    let shown = import_and_use(
        &project,
        ".conclaude.yaml",
        r#"# conclaude
stop:
  commands:
    - run: cargo test
      message: "Tests fail"
      timeout: 300
    - run: "cargo clippy -- -D warnings"
  infinite: false
preToolUse:
  preventRootAdditions: true
  uneditableFiles:
    - pattern: "Cargo.lock"
      message: generated
    - ".github/**"
  toolUsageValidation:
    - tool: Bash
      commandPattern: "git push --force*"
      action: block
      message: no force
    - tool: Bash
      commandPattern: "git * main"
      action: block
    - tool: Bash
      pattern: ""
      action: allow
notifications:
  enabled: true
"#,
    );
    assert_shown!("rules-import-conclaude", shown);
    assert_decided(
        &project,
        &[("git push --force", "deny"), ("git push", "silent"), ("echo x > Cargo.lock", "deny")],
    );
}

#[test]
fn a_field_that_no_rule_can_say_is_listed() {
    let project = TestProject::new();
    for (name, text, field) in [
        (
            "settings.json",
            r#"{"permissions": {"deny": ["Bash(x)"], "defaultMode": "plan"}}"#,
            "permissions: defaultMode",
        ),
        (
            ".safety-net.json",
            r#"{"rules": [{"name": "n", "command": "x", "allow_args": ["y"]}]}"#,
            "n: allow_args",
        ),
        (
            ".conclaude.yaml",
            "stop:\n  commands:\n    - run: make\n      showStdout: true\n",
            "make: showStdout",
        ),
        (
            "hookify.a.local.md",
            "---\nname: a\nenabled: true\nevent: bash\npattern: x\ntool_matcher: Bash\n---\nno\n",
            "a: tool_matcher",
        ),
    ] {
        let (code, _, reported) = import(&project, name, text);
        assert!(code == 0 && reported.contains(field), "{name}: {reported}");
    }
}

#[test]
fn an_unknown_or_broken_file_is_reported() {
    let project = TestProject::new();
    for (name, text, why) in [
        ("a.json", "{}", "it has neither `permissions` nor `rules`"),
        ("b.json", "{", "it is not JSON"),
        ("c.md", "hello", "it has no front matter"),
        ("d.yaml", "a: &x 1\n", "is not read"),
        ("e.rules", "prefix_rule(pattern = [\"a\"", "is not closed"),
    ] {
        let (code, printed, reported) = import(&project, name, text);
        let reported = reported.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == 1 && printed.is_empty() && reported.contains(why), "{name}: {reported}");
    }
    let output = project.provost_command("rules", &["import", "none.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

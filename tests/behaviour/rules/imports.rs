//! `provost rules import`: the rules of other tools, and what cannot be said.

use std::fs;

use serde_json::json;

use super::decide;
use crate::support::{TestProject, assert_shown};

/// The exit code, what is printed and what is reported.
pub(super) fn import(project: &TestProject, name: &str, text: &str) -> (i32, String, String) {
    project.write_file(name, text);
    let output = project.provost_command("rules", &["import", name]).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Imports a file into the project's configuration: without mistakes, and with examples that pass.
pub(super) fn import_and_use(project: &TestProject, name: &str, text: &str) -> String {
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
    let write = |path: &str| decide(&project, &project.write(project.path.join(path), "x"));
    assert!(write("db/1.sql").starts_with("deny") && write("sub/yarn.lock").starts_with("deny"));
    assert_eq!(write("sub/db/1.sql"), "silent");
    let tool = |name: &str| decide(&project, &project.call(name, json!({"x": 1})));
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
            "allow_args",
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

/// A source that has one rule, and lines with the decisions of its own tool, which were measured: `codex execpolicy check`,
/// `cc-safety-net hook`, the permissions of Claude Code.
#[track_caller]
pub(super) fn assert_decided_alike(name: &str, text: &str, lines: &[(&str, &str)]) {
    let project = TestProject::new();
    import_and_use(&project, name, text);
    assert_decided(&project, lines);
}

#[test]
fn rules_of_codex_are_decided_as_codex_does() {
    for (rule, lines) in [
        (
            r#"prefix_rule(pattern=["gh","api","--method",["DELETE","PUT"]], decision="forbidden")"#,
            &[
                ("gh api --method DELETE repos/x", "deny"),
                ("gh api --method PUT", "deny"),
                ("gh api --method GET x", "silent"),
            ][..],
        ),
        (
            r#"prefix_rule(pattern=["kubectl","-n","prod"], decision="prompt")"#,
            &[("kubectl -n prod get pods", "ask"), ("kubectl -n test get pods", "silent")],
        ),
        (
            r#"prefix_rule(["git", ["push", "fetch"]], "forbidden", ["git push x"], ["git log"], "offline")"#,
            &[("git fetch", "deny"), ("git log", "silent")],
        ),
        (
            "WORDS = ['pnpm', 'npm']\nprefix_rule(pattern = [WORDS] + ['publish'], decision = 'for' + 'bidden')\n",
            &[("pnpm publish", "deny"), ("npm publish --tag x", "deny"), ("npm pack", "silent")],
        ),
    ] {
        assert_decided_alike("a.rules", rule, lines);
    }
}

#[test]
fn what_codex_may_not_run_is_not_guessed() {
    let project = TestProject::new();
    for (text, named) in [
        ("if False:\n    prefix_rule(pattern=['git'], decision='forbidden')\n", "prefix_rule(…)"),
        ("[prefix_rule(pattern=[x], decision='forbidden') for x in ['git']]\n", "prefix_rule"),
        ("X = ['git']\nX.append('push')\nprefix_rule(pattern=X, decision='forbidden')\n", "X.append"),
        ("prefix_rule(pattern=['git'], decision='forbidden', if_branch='main')\n", "does not know"),
        ("prefix_rule(pattern=['git', []], decision='forbidden')\n", "not a list of texts"),
        ("prefix_rule(pattern=['git'], decision=DECISION)\n", "not a literal text"),
        ("host_executable(name='git', paths=['/usr/bin/git'])\n", "host_executable(git)"),
        (
            "network_rule(host='x.org', protocol='https', decision='deny')\n",
            "network_rule(x.org, https, deny)",
        ),
    ] {
        let (code, printed, reported) = import(&project, "a.rules", text);
        let reported = reported.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == 0 && printed.is_empty() && reported.contains(named), "{text}: {printed}{reported}");
    }
}

#[test]
fn permissions_are_decided_as_the_client_does() {
    for (entry, lines) in [
        ("git push", &[("git push", "deny"), ("git push origin", "silent"), ("git push -f", "silent")][..]),
        ("git", &[("git", "deny"), ("git status", "silent")]),
        (
            "npm run test*",
            &[("npm run test", "deny"), ("npm run test:a b", "deny"), ("npm run build", "silent")],
        ),
        ("npm run test:*", &[("npm run test x", "deny"), ("npm run test:a", "silent")]),
        ("npm run *:prod", &[("npm run build:prod", "deny"), ("npm run build:prod x", "silent")]),
        ("git push --force", &[("git push --force", "deny"), ("git push origin --force", "silent")]),
        ("git push*", &[("git push", "deny"), ("FOO=1 git push x", "deny"), ("git pull", "silent")]),
        ("rm -rf*", &[("rm -rf x", "deny"), ("rm -rfv x", "deny"), ("rm x", "silent")]),
    ] {
        assert_decided_alike(
            "s.json",
            &json!({"permissions": {"deny": [format!("Bash({entry})")]}}).to_string(),
            lines,
        );
    }
    let decide_path = |entry: &str, tool: &str, path: &str| {
        let project = TestProject::new();
        import_and_use(&project, "s.json", &json!({"permissions": {"deny": [entry]}}).to_string());
        let path = project.path.join(path);
        let event = match tool {
            "read" => project.read(path),
            "write" => project.write(path, "x"),
            line => project.bash(line),
        };
        decide(&project, &event).starts_with("deny")
    };
    for (entry, tool, path, is_denied) in [
        ("Read(./.env)", "read", "sub/.env", true),
        ("Read(./.env)", "cat sub/.env", "", true),
        ("Read(./src/**)", "read", "sub/src/a", false),
        ("Read(/.env)", "read", "sub/.env", false),
        ("Edit(.env)", "write", "sub/.env", true),
        ("Edit(.env)", "rm .env", "", true),
        ("Edit(docs/**)", "mv docs old", "", true),
        ("Edit(docs/**)", "cat docs/a.md", "", false),
    ] {
        assert_eq!(decide_path(entry, tool, path), is_denied, "{entry} {tool} {path}");
    }
    let (_, printed, reported) =
        import(&TestProject::new(), "s.json", r#"{"permissions": {"deny": ["Bash()", "Bash(*x*)"]}}"#);
    assert!(
        printed.is_empty() && reported.contains("Bash()") && reported.contains("Bash(*x*)"),
        "{printed}{reported}"
    );
}

#[test]
fn rules_of_safety_net_are_decided_as_safety_net_does() {
    let rule = |command: &str, subcommand: Option<&str>, blocked: &[&str]| {
        let mut rule = json!({"name": "r", "command": command, "block_args": blocked, "reason": "no"});
        if let Some(subcommand) = subcommand {
            rule["subcommand"] = subcommand.into();
        }
        json!({"version": 1, "rules": [rule]}).to_string()
    };
    for (text, lines) in [
        (
            rule("git", Some("add"), &["-A", "."]),
            &[
                ("git add src .", "deny"),
                ("git add -- .", "deny"),
                ("git add -vA", "deny"),
                ("git -C sub add .", "deny"),
                ("git add src/.", "silent"),
            ][..],
        ),
        (
            rule("chmod", None, &["777", "-R"]),
            &[("chmod a 777", "deny"), ("chmod -vR 644 x", "deny"), ("chmod 644 x", "silent")],
        ),
        (rule("cat", None, &[".env"]), &[("cat x .env", "deny"), ("cat a.env", "silent")]),
        (rule("npm", Some("publish"), &["publish"]), &[("npm publish", "deny"), ("npm pack", "silent")]),
    ] {
        assert_decided_alike(".safety-net.json", &text, lines);
    }
}

#[test]
fn version_2_of_a_rulebook_compares_whole_words() {
    let book = |wanted: serde_json::Value| {
        let rule =
            json!({"name": "r", "command": "aws", "match": wanted, "reason": "no", "intent": "manual_only"});
        json!({"rulebook_version": 2, "name": "own", "version": "1.0.0", "allowed_commands": ["aws"], "rules": [rule]})
            .to_string()
    };
    for (text, lines) in [
        (
            book(json!({"command_path": ["s3", "rm"], "exclude_args": ["--dryrun"]})),
            &[
                ("aws s3 rm s3://b", "deny"),
                ("aws --profile p s3 rm s3://b", "deny"),
                ("aws s3 rm --dryrun s3://b", "silent"),
                ("aws s3 ls", "silent"),
            ][..],
        ),
        (
            book(json!({"command_path": ["s3", "rb"], "any_args": ["--force", "-f"]})),
            &[("aws s3 rb s3://b --force", "deny"), ("aws s3 rb s3://b", "silent")],
        ),
    ] {
        assert_decided_alike("rulebook.json", &text, lines);
    }
    let project = TestProject::new();
    for (wanted, why) in [
        (json!({"command_path": []}), "no `command_path`"),
        (json!({"command_path": ["a"], "exclude_args": ["word"]}), "cannot name `word`"),
        (json!({"command_path": ["a"], "regex": "x"}), "`match.regex`"),
        (json!("s3"), "not an object"),
    ] {
        let (_, printed, reported) = import(&project, "rulebook.json", &book(wanted));
        assert!(!printed.contains("[[rule]]") && reported.contains(why), "{printed}{reported}");
    }
}

#[test]
fn a_rulebook_of_safety_net_has_tests_that_are_kept() {
    let project = TestProject::new();
    let shown = import_and_use(
        &project,
        "rulebook.json",
        r#"{"rulebook_version": 1, "name": "own", "version": "1.0.0", "allowed_commands": ["docker"], "rules": [
            {"name": "no-prune", "command": "docker", "subcommand": "system", "block_args": ["prune"], "reason": "no", "intent": "hard_stop"},
            {"name": "newer", "command": "aws", "match": {"command_path": ["s3", "rm"]}, "reason": "no"}
        ], "tests": [
            {"command": "docker system prune -af", "expect": "blocked", "rule": "no-prune"},
            {"command": "docker ps", "expect": "allowed"},
            {"command": "docker system x prune", "expect": "allowed", "rule": "no-prune"}
        ]}"#,
    );
    assert_shown!("rules-import-rulebook", shown);
}

#[test]
fn paths_and_commands_of_conclaude_are_globs_over_the_whole_text() {
    let uneditable = |pattern: &str| format!("preToolUse:\n  uneditableFiles: [\"{pattern}\"]\n");
    for (pattern, denied, allowed) in [
        ("package.json", &["package.json"][..], &["sub/package.json"][..]),
        ("*.md", &["a.md", "docs/deep/a.md"], &["a.mdx"]),
        ("src/*.ts", &["src/a.ts", "src/x/y/a.ts"], &["a.ts", "sub/src/a.ts"]),
        (".env*", &[".env", ".env.local"], &["sub/.env"]),
        ("docs/*", &["docs/a", "docs/x/a"], &["sub/docs/a"]),
        ("test_*.py", &["test_a.py", "test_x/b.py"], &["x/test_a.py"]),
        ("**/Cargo.lock", &["Cargo.lock", "sub/Cargo.lock"], &["Cargo.toml"]),
    ] {
        let project = TestProject::new();
        import_and_use(&project, ".conclaude.yml", &uneditable(pattern));
        let is_denied =
            |path: &&str| decide(&project, &project.write(project.path.join(path), "x")).starts_with("deny");
        assert!(denied.iter().all(&is_denied), "{pattern}");
        assert!(!allowed.iter().any(is_denied), "{pattern}");
    }
    for (pattern, mode, lines) in [
        ("git push --force*", "full", &[("git push --force-with-lease", "deny"), ("git push", "silent")][..]),
        ("git push", "full", &[("git push", "deny"), ("git push origin", "silent")]),
        ("git push", "prefix", &[("git push origin", "deny"), ("git pull", "silent")]),
        ("npm run test*", "full", &[("npm run test:unit", "deny"), ("npm run lint", "silent")]),
    ] {
        let entry =
            format!("{{tool: Bash, commandPattern: \"{pattern}\", matchMode: {mode}, action: block}}");
        assert_decided_alike(
            ".conclaude.yaml",
            &format!("rules:\n  toolUsageValidation:\n    - {entry}\n"),
            lines,
        );
    }
    let project = TestProject::new();
    let (_, printed, reported) = import(
        &project,
        ".conclaude.yaml",
        "stop:\n  run: |\n    npm test\n    # no\n    [[ -f x ]]\n  infinite: false\nrules:\n  uneditableFiles:\n    \
         - pattern: x\n      agent: coder\n  toolUsageValidation:\n    - {tool: Write, pattern: 'src/**', action: allow}\n",
    );
    assert!(printed.contains("\"npm test\"") && printed.contains("bash -c '[[ -f x ]]'"), "{printed}");
    assert!(!printed.contains("uneditable") && !printed.contains("allow"), "{printed}");
    assert!(reported.contains("`agent`") && reported.contains("`src/**`"), "{reported}");
}

//! `need = { passed = … }`: which runs count, and which changes make them old.

use std::fs;
use std::path::Path;
use std::thread;

use serde_json::json;

use super::evidence_session::RuleSession;
use crate::support::assert_shown;

const COMMIT: &str = r#"
[[rule]]
name = "tested"
commits = "*"
need = { passed = "cargo test" }
"#;

const CHANGED: &str = r#"
[[rule]]
name = "tested"
commits = "*"
changed = "src/**"
need = { passed = "cargo test" }
"#;

fn may_commit(session: &RuleSession) -> bool {
    let answer = session.project.hook(&session.before("git commit -m x"));
    assert!(answer.is_silent() || answer.find_denial().is_ok(), "{answer:?}");
    answer.is_silent()
}

#[test]
fn a_denial_says_what_is_missing_and_which_line_to_run() {
    let session = RuleSession::new(COMMIT);
    let commit = session.before("git commit -m x");
    assert_shown!("rules-need-never-ran", session.project.whole(&session.project.hook(&commit)));
    session.run("cargo test", false);
    assert_shown!("rules-need-failed", session.project.whole(&session.project.hook(&commit)));
    session.run("cargo test", true);
    session.write("src/a.rs");
    assert_shown!("rules-need-changed", session.project.whole(&session.project.hook(&commit)));
}

#[test]
fn only_what_changes_before_the_command_of_the_rule_makes_a_run_old() {
    for subject in ["runs = \"npm publish\"", "pushes = \"*\"", "commits = \"*\"", "writes = \"dist/**\""] {
        let rule = format!("[[rule]]\nname = \"tested\"\n{subject}\nneed = {{ passed = \"cargo test\" }}\n");
        let session = RuleSession::new(&rule);
        session.run("cargo test", true);
        let does = match subject.split(' ').next().unwrap() {
            "runs" => "npm publish",
            "pushes" => "git push origin main",
            "commits" => "git commit -m x",
            _ => "echo x > dist/a",
        };
        let is_allowed = |line: &str| session.project.hook(&session.before(line)).is_silent();
        for line in [format!("{does} && echo done >> log.txt"), format!("{does}; touch src/a.rs; ls")] {
            assert!(is_allowed(&line), "{line}");
        }
        for line in [
            format!("touch src/a.rs && {does}"),
            format!("{does}; touch src/a.rs; {does}"),
            format!("sed -i s/a/b/ src/a.rs; {does} && ls"),
        ] {
            assert!(!is_allowed(&line), "{line}");
        }
    }
}

#[test]
fn a_run_counts_only_if_its_exit_code_is_that_of_the_line() {
    for line in [
        "cargo test",
        "cargo test --workspace -- --nocapture",
        "cargo +nightly test",
        "cargo test > /tmp/log 2>&1",
        "cargo build && cargo test",
        "cargo test && echo done",
        "cd sub; cargo test",
        "set -o pipefail; cargo test | tee log.txt",
        "timeout 60 cargo test",
        "bash -c 'cargo test'",
        "sed -i s/a/b/ src/a.rs && cargo test",
    ] {
        let session = RuleSession::new(COMMIT);
        session.run(line, true);
        assert!(may_commit(&session), "{line}");
    }
    for line in [
        "cargo test | tail -5",
        "cargo test; echo done",
        "cargo test || true",
        "! cargo test",
        "cargo test &",
        "if cargo test; then echo yes; fi",
        "cargo test --help",
        "cargo --version test",
        "cargo test $OPTIONS",
        "echo cargo test",
        "cargo build",
        "cargo test && sed -i s/a/b/ src/a.rs",
        "cargo test -h",
        "cargo test -V",
        "cargo test --no-run",
        "cargo test -- --list",
    ] {
        let session = RuleSession::new(COMMIT);
        session.run(line, true);
        assert!(!may_commit(&session), "{line}");
    }
}

#[test]
fn the_last_run_counts() {
    let session = RuleSession::new(COMMIT);
    session.run("cargo test", true);
    assert!(may_commit(&session));
    session.run("cargo test", false);
    assert!(!may_commit(&session));
    session.run("cargo test", true);
    assert!(may_commit(&session));
    let mut interrupted = RuleSession::after(&session.before("cargo test"), &session, true);
    interrupted["tool_response"]["interrupted"] = true.into();
    session.project.hook(&interrupted);
    assert!(!may_commit(&session));
}

#[test]
fn a_change_on_any_channel_makes_a_run_old() {
    for line in [
        "echo x > src/a.rs",
        "sed -i s/a/b/ src/a.rs",
        "rm -r src",
        "rm src/a.rs",
        "mv src old",
        "cp x src/a.rs",
        "rm src/*.rs",
        "git checkout other",
        "git stash",
        "git pull",
        "echo x > \"$FILE\"",
        "bash -c 'echo x | tee src/a.rs'",
        "patch -p1 < fix.patch",
        "find . -name '*.rs' -delete",
        "git stash pop",
        "git stash apply",
        "git switch other",
        "git restore .",
        "git reset --hard",
        "git merge topic",
        "git rebase main",
        "cd sub && git checkout other",
        "cargo fmt",
        "npx prettier --write .",
        "black .",
        "gofmt -w src/a.go",
        "eslint --fix src",
        "tar xf a.tgz",
        "unzip a.zip",
        "git apply fix.patch",
    ] {
        let session = RuleSession::new(CHANGED);
        session.write("src/first.rs");
        session.run("cargo test", true);
        assert!(may_commit(&session));
        session.run(line, false);
        assert!(!may_commit(&session), "{line}");
    }
    let others = [
        ("Edit", json!({"old_string": "a", "new_string": "b"}), None),
        ("NotebookEdit", json!({"new_source": "b"}), None),
        ("mcp__files__write", json!({"text": "b"}), None),
        ("Write", json!({"content": "b"}), Some("general-purpose")),
    ];
    for (tool, mut input, agent) in others {
        let session = RuleSession::new(CHANGED);
        session.run("cargo test", true);
        assert!(may_commit(&session), "{tool}");
        let mut event = session.event("PostToolUse.Edit");
        let key = if tool == "NotebookEdit" { "notebook_path" } else { "file_path" };
        input[key] = json!(session.project.path.join("src/a.rs"));
        event["tool_name"] = tool.into();
        event["tool_input"] = input;
        if let Some(agent) = agent {
            event["agent_id"] = "a1".into();
            event["agent_type"] = agent.into();
        }
        session.project.hook(&event);
        assert!(!may_commit(&session), "{tool}");
    }
}

#[test]
fn what_changes_nothing_that_counts_leaves_a_run_valid() {
    let session = RuleSession::new(CHANGED);
    assert!(may_commit(&session), "nothing has changed yet");
    session.write("src/a.rs");
    session.run("cargo test", true);
    session.write("README.md");
    for line in [
        "git status",
        "git add -A",
        "git switch -c new",
        "ls > /dev/null",
        "rm README.md",
        "cat src/a.rs",
        "git push",
        "git stash list",
        "git commit -m x",
        "git -C /tmp/other pull",
        "cargo build --release",
        "cargo fmt --check",
        "prettier --write README.md",
        "black --check .",
        "eslint src",
        "tar xf a.tgz -C /tmp/x",
        "unzip -l a.zip",
        "grep -r x src",
    ] {
        session.run(line, true);
        assert!(may_commit(&session), "{line}");
    }
    session.project.write_file("src/a.rs", "x");
    for tool in [
        "mcp__files__read_file",
        "mcp__files__get_file_info",
        "mcp__files__list_directory",
        "mcp__x__search_code",
        "mcp__docs__query_docs",
        "LSP",
    ] {
        let mut event = session.event("PostToolUse.Edit");
        event["tool_name"] = tool.into();
        event["tool_input"] = json!({"path": session.project.path.join("src/a.rs")});
        session.project.hook(&event);
        assert!(may_commit(&session), "{tool}");
    }
    let session = RuleSession::new(COMMIT);
    session.run("cargo test", true);
    session.run("cat x > /tmp/message", true);
    assert!(may_commit(&session), "a temporary file");
    let mut failed = session.event("PostToolUseFailure.Bash");
    failed["tool_name"] = "Write".into();
    failed["tool_input"] = json!({"file_path": session.project.path.join("src/a.rs"), "content": "x"});
    session.project.hook(&failed);
    assert!(may_commit(&session), "a failed write");
    session.run("cat x > message", true);
    assert!(!may_commit(&session), "a file of the project");
}

#[test]
fn a_change_in_the_line_of_the_commit_counts_and_a_run_in_it_does_not() {
    let session = RuleSession::new(CHANGED);
    session.run("cargo test", true);
    for (line, is_allowed) in [
        ("git commit -am x", true),
        ("echo x > src/a.rs && git commit -am x", false),
        ("git commit -am x && echo x > src/a.rs", true),
        ("echo x > src/a.rs && cargo test && git commit -am x", false),
    ] {
        let answer = session.project.hook(&session.before(line));
        assert_eq!(answer.is_silent(), is_allowed, "{line}: {answer:?}");
    }
}

#[test]
fn a_change_while_a_run_is_under_way_is_not_covered_by_it() {
    let session = RuleSession::new(CHANGED);
    let before = session.before("cargo test");
    session.project.hook(&before);
    session.write("src/a.rs");
    session.project.hook(&RuleSession::after(&before, &session, true));
    assert!(!may_commit(&session));
    session.run("cargo test", true);
    assert!(may_commit(&session));
}

#[test]
fn a_background_run_counts_when_the_client_announces_its_success() {
    let notification = |task: &str, status: &str, summary: &str| {
        format!(
            "<task-notification>\n<task-id>{task}</task-id>\n<tool-use-id>t</tool-use-id>\n<output-file>/tmp/x\
             </output-file>\n<status>{status}</status>\n<summary>Background command \"b\" {summary}</summary>\n\
             </task-notification>"
        )
    };
    let good = notification("btu1", "completed", "completed (exit code 0)");
    let announced = [
        (good.clone(), true),
        (notification("btu2", "completed", "completed (exit code 0)"), false),
        (notification("btu1", "failed", "failed with exit code 1"), false),
        (notification("btu1", "failed", "(exit code 0)"), false),
        (notification("btu1", "killed", "was stopped"), false),
    ];
    let launch = |line: &str| {
        let session = RuleSession::new(COMMIT);
        let before = session.before(line);
        session.project.hook(&before);
        let mut after = RuleSession::after(&before, &session, true);
        after["tool_response"]["backgroundTaskId"] = "btu1".into();
        session.project.hook(&after);
        assert!(!may_commit(&session), "{line}: it still runs");
        session
    };
    for (text, counts) in announced {
        let session = launch("cargo test");
        session.prompt(&text);
        assert_eq!(may_commit(&session), counts, "{text}");
    }
    let session = launch("cargo test | tail -1");
    session.prompt(&good);
    assert!(!may_commit(&session));
    let session = launch("cargo test");
    session.write("src/a.rs");
    session.prompt(&good);
    assert!(!may_commit(&session), "a file has changed meanwhile");
    let session = launch("cargo test");
    let mut look = session.event("PostToolUse.Bash");
    look["tool_name"] = "TaskOutput".into();
    look["tool_input"] = json!({"task_id": "btu1"});
    look["tool_response"] = json!({"retrieval_status": "success", "task": {"task_id": "btu1", "task_type": "local_bash",
        "status": "completed", "output": "ok", "exitCode": 0}});
    session.project.hook(&look);
    assert!(may_commit(&session), "the agent has looked at it");
    // Where no hook has seen the prompt, the queue of prompts in the transcript still has it.
    let queued = |kind: &str, text: &str| {
        let session = launch("cargo test");
        let transcript = session.event("Stop.active_false")["transcript_path"].as_str().unwrap().to_owned();
        let line = json!({"type": kind, "operation": "enqueue", "content": text});
        fs::create_dir_all(Path::new(&transcript).parent().unwrap()).unwrap();
        fs::write(&transcript, format!("{}\n{line}\n", json!({"type": "user"}))).unwrap();
        may_commit(&session)
    };
    assert!(queued("queue-operation", &good));
    assert!(!queued("user", &good));
    assert!(!queued("queue-operation", &notification("btu1", "failed", "failed with exit code 1")));
}

#[test]
fn a_change_in_the_background_may_happen_until_its_end() {
    let session = RuleSession::new(CHANGED);
    let before = session.before("sleep 60; sed -i s/a/b/ src/a.rs");
    session.project.hook(&before);
    let mut after = RuleSession::after(&before, &session, true);
    after["tool_response"]["backgroundTaskId"] = "btu1".into();
    session.project.hook(&after);
    session.run("cargo test", true);
    assert!(may_commit(&session), "the change has not happened yet, or the run covers it");
    let end = "<task-notification>\n<task-id>btu1</task-id>\n<status>completed</status>\n<summary>x (exit code 0)\
               </summary>\n</task-notification>";
    session.prompt(end);
    assert!(!may_commit(&session));
    session.run("cargo test", true);
    session.prompt(end);
    assert!(may_commit(&session), "the same end is announced again");
}

#[test]
fn two_sessions_in_one_project_have_their_own_evidence() {
    let mut session = RuleSession::new(CHANGED);
    session.write("src/a.rs");
    session.run("cargo test", true);
    session.id = "session-2";
    assert!(may_commit(&session));
    session.write("src/a.rs");
    assert!(!may_commit(&session));
    session.id = "session-1";
    assert!(may_commit(&session));
}

#[test]
fn parallel_calls_lose_no_record() {
    let session = RuleSession::new(CHANGED);
    session.run("cargo test", true);
    let events: Vec<_> = (0..8)
        .map(|number| {
            let mut event = session.event("PostToolUse.Write");
            event["tool_input"] = json!({"file_path": session.project.path.join(format!("src/{number}.rs"))});
            event["tool_use_id"] = format!("t{number}").into();
            event
        })
        .collect();
    thread::scope(|scope| {
        for event in &events {
            scope.spawn(|| assert!(session.project.hook(event).is_silent()));
        }
    });
    let log = std::fs::read_dir(session.project.state_directory().join("evidence")).unwrap().next().unwrap();
    let text = std::fs::read_to_string(log.unwrap().path()).unwrap();
    for number in 0..8 {
        assert!(text.contains(&format!("src/{number}.rs")), "{text}");
    }
}

#[test]
fn without_a_rule_that_needs_evidence_nothing_is_recorded() {
    let rule = "[[rule]]\nname = \"a\"\nruns = \"rm\"\ndeny = \"no\"\n";
    let session = RuleSession::new(rule);
    session.write("src/a.rs");
    session.run("cargo test", true);
    session.prompt("hello");
    assert!(session.may_stop());
    assert!(!session.project.state_directory().join("evidence").exists());
}

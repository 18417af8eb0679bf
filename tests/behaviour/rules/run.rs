//! `run`: what runs after which write, and what the model reads.

use std::fs;

use serde_json::{Value, json};

use super::evidence_session::RuleSession;
use crate::support::assert_shown;

fn session_with_run(keys: &str, command: &str) -> RuleSession {
    let session = RuleSession::new("");
    let rule = format!("[[rule]]\nname = \"format\"\n{keys}\nrun = '''{command}'''\n");
    session.project.write_home_file(".config/provost/provost.toml", &rule);
    for name in ["src/a.rs", "src/b c'd.rs", "src/x.md"] {
        session.project.write_file(name, "text\n");
    }
    session
}

/// The event after a write of the client's own tool.
fn written(session: &RuleSession, path: &str) -> Value {
    let mut event = session.event("PostToolUse.Write");
    event["tool_input"] = json!({"file_path": session.project.path.join(path), "content": "text\n"});
    event
}

fn read_log(session: &RuleSession) -> String {
    let text = fs::read_to_string(session.project.home.join("log")).unwrap_or_default();
    session.project.shorten_paths(&text)
}

const LOG: &str = "echo {path} >> ~/log";

#[test]
fn a_command_follows_every_write_that_matches_once_for_each_file() {
    let session = session_with_run("writes = \"**/*.rs\"\nexcept = \"gen/**\"", LOG);
    session.project.write_file("gen/a.rs", "");
    for path in ["src/a.rs", "src/x.md", "gen/a.rs", "src/b c'd.rs", "src/missing.rs"] {
        assert!(session.project.hook(&written(&session, path)).is_silent(), "{path}");
    }
    assert_eq!(read_log(&session), "<project>/src/a.rs\n<project>/src/b c'd.rs\n");
    for (line, expected) in [
        ("echo x | tee src/a.rs src/x.md", "<project>/src/a.rs\n"),
        ("sed -i s/a/b/ src/*.rs", "<project>/src/a.rs\n<project>/src/b c'd.rs\n"),
        ("cat src/a.rs", ""),
        ("rm src/c.rs", ""),
    ] {
        fs::remove_file(session.project.home.join("log")).ok();
        session.run(line, true);
        let log = read_log(&session);
        let mut lines: Vec<&str> = log.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, expected.lines().collect::<Vec<_>>(), "{line}");
    }
}

#[test]
fn any_path_is_one_word_for_the_command() {
    let names = ["a b.rs", "it's.rs", "-rf.rs", "new\nline.rs", "$(touch x).rs", "\"q\".rs", "ä*;&.rs"];
    for command in ["printf '%s\\0' {path} >> ~/log", "printf '%s\\0' \"{path}\" >> ~/log"] {
        let session = session_with_run("writes = \"**/*.rs\"", command);
        for name in names {
            let path = session.project.path.join(name);
            fs::write(&path, "text\n").unwrap();
            assert!(session.project.hook(&written(&session, name)).is_silent(), "{name}");
        }
        let log = read_log(&session);
        let expected: Vec<String> = names.iter().map(|name| format!("<project>/{name}")).collect();
        assert_eq!(log.split_terminator('\0').collect::<Vec<_>>(), expected);
    }
}

#[test]
fn every_tool_that_edits_is_followed() {
    let session = session_with_run("writes = \"**/*.rs\"", LOG);
    let path = session.project.path.join("src/a.rs");
    for (tool, input) in [
        ("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"})),
        ("MultiEdit", json!({"file_path": path, "edits": [{"old_string": "a", "new_string": "b"}]})),
        ("mcp__files__write_file", json!({"path": path, "content": "b"})),
    ] {
        fs::remove_file(session.project.home.join("log")).ok();
        let mut event = session.event("PostToolUse.Edit");
        event["tool_name"] = tool.into();
        event["tool_input"] = input;
        session.project.hook(&event);
        assert_eq!(read_log(&session), "<project>/src/a.rs\n", "{tool}");
    }
}

#[test]
fn the_model_reads_that_a_command_has_changed_the_file() {
    let session = session_with_run("writes = \"**/*.rs\"", "sed -i s/text/TEXT/ {path}");
    let answer = session.project.hook(&written(&session, "src/a.rs"));
    assert_shown!("rules-run-changed", session.project.whole(&answer));
    assert!(session.project.hook(&written(&session, "src/a.rs")).is_silent(), "nothing is left to change");
}

#[test]
fn the_model_reads_a_failure_and_the_end_of_the_output() {
    let session = session_with_run("writes = \"**/*.rs\"", "printf 'error in %s\\n' {path}; exit 2");
    let answer = session.project.hook(&written(&session, "src/a.rs"));
    assert_shown!("rules-run-failed", session.project.whole(&answer));
    let session = session_with_run("writes = \"**/*.rs\"\nseconds = 1", "echo begun; sleep 100");
    let answer = session.project.hook(&written(&session, "src/a.rs"));
    assert!(
        answer.stdout.contains("did not end within 1 s") && answer.stdout.contains("begun"),
        "{answer:?}"
    );
}

#[test]
fn the_model_reads_what_a_command_prints_although_it_passes() {
    let session = session_with_run("writes = \"**/*.rs\"", "echo 1 warning");
    let answer = session.project.hook(&written(&session, "src/a.rs"));
    assert_shown!("rules-run-output", session.project.whole(&answer));
}

#[test]
fn a_command_runs_in_the_project_and_not_while_it_is_only_watched() {
    let session = session_with_run("writes = \"**/*.rs\"", "pwd >> ~/log");
    let mut event = written(&session, "src/a.rs");
    event["cwd"] = json!(session.project.path.join("src"));
    session.project.hook(&event);
    assert_eq!(read_log(&session), "<project>\n");
    let session = session_with_run("writes = \"**/*.rs\"\nmode = \"watch\"", LOG);
    assert!(session.project.hook(&written(&session, "src/a.rs")).is_silent());
    assert_eq!(read_log(&session), "");
}

#[test]
fn a_failed_write_and_an_untrusted_project_run_nothing() {
    let session = session_with_run("writes = \"**/*.rs\"", LOG);
    let mut failed = session.event("PostToolUseFailure.Bash");
    failed["tool_name"] = "Write".into();
    failed["tool_input"] = written(&session, "src/a.rs")["tool_input"].clone();
    session.project.hook(&failed);
    assert_eq!(read_log(&session), "");
    let rule = format!("[[rule]]\nname = \"format\"\nwrites = \"**/*.rs\"\nrun = \"{LOG}\"\n");
    let session = RuleSession::new(&rule);
    session.project.write_file("src/a.rs", "");
    assert!(session.project.hook(&written(&session, "src/a.rs")).is_silent());
    assert_eq!(read_log(&session), "");
}

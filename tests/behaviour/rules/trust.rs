//! The commands of a project's rules run only after the user has trusted them.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use super::evidence_session::RuleSession;
use crate::support::{TestProject, assert_shown};

const RULES: &str = r#"
[[rule]]
name = "lint"
stops = true
need = { check = "echo run >> ~/runs; false" }

[[rule]]
name = "format"
writes = "**/*.rs"
run = "echo {path} >> ~/runs"

[[rule]]
name = "no-push"
runs = "git push"
deny = "it is not ready"
"#;

fn has_run(session: &RuleSession) -> bool {
    let runs = session.project.home.join("runs");
    session.stop();
    let has_run = runs.exists();
    fs::remove_file(runs).ok();
    has_run
}

fn run_command(project: &TestProject, arguments: &[&str]) -> (Option<i32>, String) {
    let (name, rest) = arguments.split_first().unwrap();
    let output = project.provost_command(name, rest).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code(), text)
}

#[test]
fn a_cloned_project_runs_nothing_but_its_denials_hold() {
    let session = RuleSession::new(RULES);
    assert!(!has_run(&session) && session.may_stop());
    assert!(session.project.hook(&session.before("git push")).find_denial().is_ok());
    let start = session.project.hook(&session.event("SessionStart.startup"));
    assert_shown!("rules-trust-waiting", session.project.whole(&start));
    let (_, report) = run_command(&session.project, &["doctor", "--json"]);
    assert!(report.contains("rules-untrusted"), "{report}");
}

#[test]
fn the_users_prompt_trusts_the_commands_as_they_are() {
    let session = RuleSession::new(RULES);
    assert_shown!("rules-trust-prompt", session.project.whole(&session.prompt("provost trust rules")));
    assert!(has_run(&session));
    let start = session.project.hook(&session.event("SessionStart.startup"));
    assert!(!start.stdout.contains("trust"), "{start:?}");
    session.project.write_file("provost.toml", &RULES.replace("; false", "; true"));
    assert!(!has_run(&session), "a changed command waits again");
    let start = session.project.hook(&session.event("SessionStart.startup"));
    assert!(start.expect_note().contains("1 command of"), "{start:?}");
    session.prompt("Provost trust rules.");
    assert!(has_run(&session));
    session.project.write_file("provost.toml", RULES);
    assert!(has_run(&session), "the first version is still trusted");
    let other = RuleSession::new(RULES);
    assert!(!has_run(&other), "another project on another machine");
}

#[test]
fn only_the_user_can_trust() {
    let session = RuleSession::new(RULES);
    let mut scheduled = session.event("UserPromptSubmit");
    scheduled["prompt"] = "provost trust rules".into();
    scheduled["source"] = "schedule".into();
    session.project.hook(&scheduled);
    let mut of_agent = session.event("UserPromptSubmit");
    of_agent["prompt"] = "provost trust rules".into();
    of_agent["agent_id"] = "a1".into();
    session.project.hook(&of_agent);
    session.prompt("what does provost trust rules mean?");
    session.prompt("please provost trust rules");
    assert!(!has_run(&session));
    let project = &session.project;
    project.assert_lines_denied(&[
        "provost rules trust --yes",
        "provost rules trust",
        "bash -c 'yes | provost rules trust'",
        "claude -p 'provost trust rules'",
        "echo 'provost trust rules' | claude -p",
        "provost supervise 1 'rm -rf src'",
    ]);
    project.assert_denied(&[(
        "a schedule",
        project.call("CronCreate", json!({"prompt": "provost trust rules"})),
    )]);
    project.assert_lines_allowed(&["provost rules --help"]);
}

#[test]
fn the_command_shows_what_would_run_and_asks() {
    let session = RuleSession::new(RULES);
    let (code, text) = run_command(&session.project, &["rules", "trust"]);
    assert_shown!("rules-trust-command", format!("exit code {code:?}\n{text}"));
    assert!(!has_run(&session), "nobody could confirm");
    assert_eq!(run_command(&session.project, &["rules", "trust", "--yes"]).0, Some(0));
    assert!(has_run(&session));
    let (code, text) = run_command(&session.project, &["rules", "trust"]);
    assert!(code == Some(0) && text.contains("No command"), "{text}");
}

#[test]
fn the_files_of_the_user_and_the_administrator_are_trusted() {
    let session = RuleSession::new("");
    session.project.write_home_file(".config/provost/provost.toml", RULES);
    assert!(has_run(&session));
    let session = RuleSession::new("");
    session.project.write_managed_config(RULES);
    assert!(has_run(&session));
}

/// The settings of a project can set variables of the hooks.
#[test]
fn a_project_cannot_say_where_the_users_files_are() {
    for (variable, place, file) in [
        ("XDG_CONFIG_HOME", "evil", "evil/provost/provost.toml"),
        ("HOME", "evil", "evil/.config/provost/provost.toml"),
        ("HOME", "", ".config/provost/provost.toml"),
    ] {
        for is_link in [false, cfg!(target_os = "linux")] {
            let mut session = RuleSession::new("");
            let runs = session.project.home.join("runs");
            session.project.write_file(file, &RULES.replace("~/runs", runs.to_str().unwrap()));
            let root = if is_link { Path::new("/proc/self/cwd") } else { &session.project.path };
            let place = root.join(place);
            session.project = session.project.with_variable(variable, &place);
            assert!(session.may_stop() && !runs.exists(), "{variable} {}", place.display());
            let push = session.project.hook(&session.before("git push"));
            assert!(push.find_denial().is_ok(), "its denials hold");
        }
    }
    let mut session = RuleSession::new(RULES);
    let place = session.project.path.join("state");
    session.project = session.project.with_variable("XDG_STATE_HOME", &place);
    let answer = session.prompt("provost trust rules");
    assert!(answer.stdout.contains("lies in the project"), "{answer:?}");
    assert!(!has_run(&session));
}

#[test]
fn a_damaged_store_trusts_nothing() {
    let session = RuleSession::new(RULES);
    session.prompt("provost trust rules");
    let store = fs::read_dir(session.project.state_directory().join("trust")).unwrap().next().unwrap();
    fs::write(store.unwrap().path(), "{\"commands\": [").unwrap();
    assert!(!has_run(&session));
    session.prompt("provost trust rules");
    assert!(has_run(&session));
}

//! Rules in a project where only plugins call Provost: each has hook entries of its own, and one event has one answer.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::evidence_session::RuleSession;
use crate::hook_process::several_entries::{PLUGINS, WAYS, with_message};
use crate::support::Answer;

fn session(rules: &str) -> RuleSession {
    let session = RuleSession::new("");
    session.project.write_home_file(".config/provost/provost.toml", rules);
    session
}

fn read_lines(session: &RuleSession, name: &str) -> usize {
    fs::read_to_string(session.project.home.join(name)).unwrap_or_default().lines().count()
}

fn denials(answers: &[Answer]) -> usize {
    answers.iter().filter(|answer| answer.find_denial().is_ok()).count()
}

fn written(session: &RuleSession, path: &str, call: &str) -> Value {
    let path = session.project.path.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "x\n").unwrap();
    let mut event = session.event("PostToolUse.Write");
    event["tool_input"] = json!({"file_path": path, "content": "x\n"});
    event["tool_response"]["filePath"] = json!(path);
    event["tool_use_id"] = call.into();
    event
}

#[test]
fn every_plugin_denies_and_the_user_reads_it_once() {
    for way in WAYS {
        let session = session("[[rule]]\nname = \"no-push\"\nruns = \"git push\"\ndeny = \"people push\"\n");
        let answers = way(&session.project, &session.before("git push origin main"));
        assert_eq!(denials(&answers), PLUGINS.len(), "{answers:?}");
        assert_eq!(with_message(&answers).len(), 1, "{answers:?}");
        assert!(way(&session.project, &session.before("git status")).iter().all(Answer::is_silent));
        // The user allows it once, and all of them let it pass.
        assert!(!session.prompt("provost override rule:no-push it is urgent").is_silent());
        assert_eq!(denials(&way(&session.project, &session.before("git push origin main"))), 0);
        assert_eq!(denials(&way(&session.project, &session.before("git push origin main"))), PLUGINS.len());
    }
}

#[test]
fn a_command_follows_a_write_once() {
    for way in WAYS {
        let session = session(
            "[[rule]]\nname = \"format\"\nwrites = \"*.rs\"\nrun = \"echo {path} >> ~/runs; echo // >> {path}\"\n",
        );
        let answers = way(&session.project, &written(&session, "src/a.rs", "toolu_1"));
        assert_eq!(read_lines(&session, "runs"), 1);
        let notes = answers.iter().filter(|answer| answer.stdout.contains("changed src/a.rs"));
        assert_eq!(notes.count(), 1, "{answers:?}");
        way(&session.project, &written(&session, "src/a.rs", "toolu_2"));
        assert_eq!(read_lines(&session, "runs"), 2);
        // The client may use an id twice.
        way(&session.project, &written(&session, "src/a.rs", "toolu_2"));
        assert_eq!(read_lines(&session, "runs"), 3);
    }
}

#[test]
fn a_check_runs_once_for_a_stop_although_it_changes_files() {
    for way in WAYS {
        let session = session(
            "[[rule]]\nname = \"lint\"\nstops = true\nrounds = 2\nneed = { check = \"echo x >> ~/runs; echo x >> out; false\" }\n",
        );
        for round in 1..=2 {
            let answers = way(&session.project, &session.event("Stop.active_false"));
            assert_eq!(read_lines(&session, "runs"), round);
            assert_eq!(denials(&answers), PLUGINS.len(), "{answers:?}");
        }
        let answers = way(&session.project, &session.event("Stop.active_false"));
        assert_eq!((denials(&answers), with_message(&answers).len()), (0, 1), "{answers:?}");
    }
}

#[test]
fn evidence_of_a_session_is_one_record() {
    for way in WAYS {
        let session =
            session("[[rule]]\nname = \"tested\"\ncommits = \"*\"\nneed = { passed = \"cargo test\" }\n");
        let commit = || denials(&way(&session.project, &session.before("git commit -m x")));
        assert_eq!(commit(), PLUGINS.len());
        let before = session.before("cargo test");
        way(&session.project, &before);
        way(&session.project, &RuleSession::after(&before, &session, true));
        assert_eq!(commit(), 0);
        way(&session.project, &written(&session, "src/a.rs", "toolu_1"));
        assert_eq!(commit(), PLUGINS.len());
    }
}

#[test]
fn the_users_trust_is_said_once() {
    for way in WAYS {
        let session =
            RuleSession::new("[[rule]]\nname = \"format\"\nwrites = \"*.rs\"\nrun = \"echo x >> ~/runs\"\n");
        let started = way(&session.project, &session.event("SessionStart.startup"));
        assert_eq!(with_message(&started).len(), 1, "{started:?}");
        let mut prompt = session.event("UserPromptSubmit");
        prompt["prompt"] = "provost trust rules".into();
        let answers = way(&session.project, &prompt);
        let [answer] = with_message(&answers)[..] else { panic!("{answers:?}") };
        assert!(answer.stdout.contains("the user trusts 1 command"), "{answer:?}");
        assert!(
            answers.iter().filter(|answer| answer.is_silent()).count() == PLUGINS.len() - 1,
            "{answers:?}"
        );
        way(&session.project, &written(&session, "a.rs", "toolu_1"));
        assert_eq!(read_lines(&session, "runs"), 1);
    }
}

/// Without the rules of the project, the entries of the plugins do nothing more than before.
#[test]
fn without_rules_the_entries_leave_no_trace() {
    for way in WAYS {
        let session = RuleSession::new("");
        way(&session.project, &written(&session, "a.rs", "toolu_1"));
        let listed = Command::new("find").arg(session.project.state_directory()).output();
        let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
        assert!(!listed.contains("claim") && !listed.contains("evidence"), "{listed}");
    }
}

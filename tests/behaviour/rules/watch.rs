//! Watch mode: a rule or a guard is judged and recorded, and never enforced.

use crate::support::{TestProject, assert_shown};
use serde_json::{Value, json};

const WATCHED: &str = r#"
[[rule]]
name = "no-push"
mode = "watch"
runs = "git push"
deny = "releases are pushed by CI"
fix = "open a pull request"

[[rule]]
name = "keys"
mode = "watch"
reads = "*.key"
ask = "it is secret"

[[rule]]
name = "notes"
mode = "watch"
writes = "notes.md"
warn = "nobody reads the notes"

[[rule]]
name = "no-fetch"
runs = "git fetch"
deny = "the network is down"
"#;

fn with_config(text: &str) -> TestProject {
    let project = TestProject::new();
    project.write_file("provost.toml", text);
    project
}

/// Only the user switches the guards that protect Provost.
fn with_user_config(text: &str) -> TestProject {
    let project = TestProject::new();
    project.write_home_file(".config/provost/provost.toml", text);
    project
}

/// The opinion of each guard or rule that was not silent, in the last line of the journal.
fn last_opinions(project: &TestProject) -> Vec<(String, String)> {
    let line = project.read_journal().pop().expect("a line");
    let text = |said: &Value, name: &str| said[name].as_str().unwrap().to_owned();
    let said = line["guards"].as_array().unwrap().iter();
    said.map(|said| (text(said, "guard"), text(said, "opinion")))
        .filter(|(_, opinion)| opinion != "silence")
        .collect()
}

fn shown(project: &TestProject, name: &str, arguments: &[&str]) -> String {
    let output = project.provost_command(name, arguments).output().unwrap();
    project.shorten_paths(&String::from_utf8(output.stdout).unwrap())
}

/// Removes ids and times.
fn steady(text: &str) -> String {
    let is_id =
        |word: &str| word.len() == 13 && word.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase());
    let is_time =
        |word: &str| word.len() >= 8 && word.chars().all(|c| c.is_ascii_digit() || "-:.TZ".contains(c));
    let is_millis = |word: &str| {
        word.len() > 2 && word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let word = |word: &str| match word {
        word if is_id(word) => "<id>".to_owned(),
        word if is_time(word) => "<time>".to_owned(),
        word if is_millis(word) => "<ms>".to_owned(),
        word => word.to_owned(),
    };
    text.lines().map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn a_watched_rule_is_recorded_and_not_enforced() {
    let project = with_config(WATCHED);
    for (event, rule, opinion) in [
        (project.bash("git push"), "rule:no-push", "would deny"),
        (project.bash("cat a.key"), "rule:keys", "would ask"),
        (project.write(project.path.join("notes.md"), "x"), "rule:notes", "would warn"),
    ] {
        assert!(project.hook(&event).is_silent(), "{rule}");
        assert_eq!(last_opinions(&project), [(rule.to_owned(), opinion.to_owned())]);
        let line = project.read_journal().pop().unwrap();
        assert_eq!(line["decision"], "silence", "{line}");
    }
    let line = &project.read_journal()[0];
    assert_eq!(line["subject"], "git push");
    // The rule beside them is enforced.
    project.hook(&project.bash("git fetch && git push"));
    assert_eq!(
        last_opinions(&project),
        [("rule:no-push".into(), "would deny".into()), ("rule:no-fetch".into(), "deny".into())]
    );
    assert_eq!(project.read_journal().pop().unwrap()["decision"], "deny");
}

#[test]
fn one_line_watches_every_rule_of_a_file() {
    let project = with_config(
        "[rules]\nmode = \"watch\"\n[[rule]]\nname = \"a\"\nruns = \"ls\"\ndeny = \"no\"\n[[rule]]\nname = \"b\"\nmode = \"watch\"\nruns = \"ls\"\ndeny = \"no\"\n",
    );
    assert!(project.hook(&project.bash("ls")).is_silent());
    let would = |rule: &str| (rule.to_owned(), "would deny".to_owned());
    assert_eq!(last_opinions(&project), [would("rule:a"), would("rule:b")]);
    // A project does not watch the rules of its user.
    project.write_home_file(
        ".config/provost/provost.toml",
        "[[rule]]\nname = \"mine\"\nruns = \"ls\"\ndeny = \"no\"\n",
    );
    assert!(project.hook(&project.bash("ls")).stdout.contains("rule:mine"));
}

#[test]
fn a_guard_or_a_pack_can_be_watched() {
    let denied = |project: &TestProject| {
        let mut event = project.bash("rm -r cache");
        event["agent_id"] = "a109d47d15c5167d3".into();
        event["agent_type"] = "tdd-planner".into();
        event
    };
    for switch in ["planner-bash-guard", "planner"] {
        let project = with_config(&format!("[guards]\n{switch} = \"watch\"\n"));
        assert!(project.hook(&denied(&project)).is_silent(), "{switch}");
        assert_eq!(last_opinions(&project), [("planner-bash-guard".into(), "would deny".into())]);
    }
    // The other value of the same key.
    let project = with_config("[guards]\nplanner = \"on\"\n");
    project.hook(&denied(&project)).expect_denial();
    // All rules, as one guard.
    let project =
        with_config("[guards]\nrules = \"watch\"\n[[rule]]\nname = \"a\"\nruns = \"ls\"\ndeny = \"no\"\n");
    assert!(project.hook(&project.bash("ls")).is_silent());
    assert_eq!(last_opinions(&project), [("rule:a".into(), "would deny".into())]);
}

#[test]
fn a_project_cannot_watch_what_protects_provost() {
    let project = with_config("[guards]\nself-guard = \"watch\"\n");
    project.hook(&project.write(project.path.join("provost.toml"), "")).expect_denial();
    let told = project.start_session("s").expect_note();
    assert!(told.contains("cannot switch `self-guard` off, because it protects Provost"), "{told}");
}

// Only a debug build takes the administrator's directory from the environment.
#[cfg(debug_assertions)]
#[test]
fn no_file_switches_off_the_rules_of_a_more_powerful_one() {
    const RULE: &str = "[[rule]]\nname = \"a\"\nruns = \"ls\"\ndeny = \"no\"\n";
    for word in ["off", "watch"] {
        let switch = format!("[guards]\nrules = \"{word}\"\n");
        let both = format!("{switch}{RULE}");
        // The files of the administrator, the project and the user, and whether the rules hold.
        for (managed, own, user, holds) in [
            ("", switch.as_str(), RULE, true),
            (RULE, "", switch.as_str(), true),
            (RULE, switch.as_str(), "", true),
            ("", RULE, switch.as_str(), false),
            ("", both.as_str(), "", false),
            (switch.as_str(), RULE, RULE, false),
        ] {
            let project = with_config(own);
            project.write_managed_config(managed);
            project.write_home_file(".config/provost/provost.toml", user);
            let answer = project.hook(&project.bash("ls"));
            assert_eq!(answer.find_denial().is_ok(), holds, "{managed} | {own} | {user}");
            let told = project.start_session("s").stdout;
            assert_eq!(
                told.contains("cannot switch `rules` off"),
                holds,
                "{managed} | {own} | {user}: {told}"
            );
        }
    }
}

#[test]
fn a_fault_of_a_watched_guard_denies_nothing() {
    for (fault, config) in [("panic", ""), ("error", ""), ("hang", "[engine]\ndeadline_seconds = 1\n")] {
        let project =
            with_user_config(&format!("{config}[guards]\nself-guard = \"watch\"\nrules = \"off\"\n"));
        let project = project.with_variable("PROVOST_FAULT", format!("self-guard={fault}"));
        let answer = project.hook(&project.bash("ls"));
        assert!(answer.code == Some(0) && !answer.stdout.contains("deny"), "{fault}: {answer:?}");
        assert_eq!(last_opinions(&project)[0], ("self-guard".into(), "fault".into()));
    }
    // Without the switch it denies.
    let project = TestProject::new().with_variable("PROVOST_FAULT", "self-guard=panic");
    project.hook(&project.bash("ls")).expect_closed_failure();
}

#[test]
fn an_unreadable_event_is_not_denied_by_a_watched_guard() {
    let project = with_user_config(
        "[guards]\nself-guard = \"watch\"\nregistration-guard = \"watch\"\nrules = \"watch\"\nplanner = \"watch\"\nplan-gate = \"watch\"\n",
    );
    let answer = project.hook_bytes(&[], b"{\"hook_event_name\": ");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(!answer.stdout.contains("\"block\""), "{answer:?}");
}

#[test]
fn commands_show_what_would_have_been_denied() {
    let project = with_config(WATCHED);
    for line in ["git push", "git push origin x", "cat a.key", "ls"] {
        assert!(project.hook(&project.bash(line)).is_silent(), "{line}");
    }
    assert_shown!("rules-watch-journal", steady(&shown(&project, "journal", &["--would"])));
    assert_shown!("rules-watch-explain-nothing", shown(&project, "explain", &[]));
    let id = project.read_journal()[0]["id"].as_str().unwrap().to_owned();
    assert_shown!("rules-watch-explain", steady(&shown(&project, "explain", &[&id])));
    let status = shown(&project, "status", &[]);
    assert!(
        status.contains("watched    2 calls lately would have been denied, by rule:no-push (2)\n"),
        "{status}"
    );
    assert!(status.contains("1 call lately would have needed your consent, by rule:keys\n"), "{status}");
    let status: Value = serde_json::from_str(&shown(&project, "status", &["--json"])).unwrap();
    assert_eq!(status["would"]["deny"], json!({"calls": 2, "by": [{"guard": "rule:no-push", "calls": 2}]}));
    assert_eq!(status["denials"], json!([]));
    let mut line = project.provost_command("statusline", &[]);
    let session = project.recorded_event("PreToolUse.Bash")["session_id"].clone();
    let mut child = line.spawn().unwrap();
    let input = json!({"session_id": session, "cwd": project.path}).to_string();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let line = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(line.contains(" · 2 would be denied"), "{line}");
}

#[test]
fn check_shows_a_watched_rule_and_allows_the_call() {
    let project = with_config(WATCHED);
    let output = project.provost_command("check", &["git push"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_shown!("rules-watch-check", project.shorten_paths(&String::from_utf8(output.stdout).unwrap()));
    let output = project.provost_command("check", &["git fetch"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn guards_and_status_name_the_watched_guards() {
    let project = with_user_config("[guards]\nself-guard = \"watch\"\nphases = \"off\"\n");
    let guards: Value = serde_json::from_str(&shown(&project, "guards", &["--json"])).unwrap();
    let find =
        |name: &str| guards.as_array().unwrap().iter().find(|guard| guard["name"] == name).unwrap().clone();
    assert_eq!((&find("self-guard")["on"], &find("self-guard")["watched"]), (&json!(true), &json!(true)));
    assert_eq!(
        (&find("config-check")["on"], &find("config-check")["watched"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(find("branch-guard")["on"], false);
    let table = shown(&project, "guards", &[]);
    let row = table.lines().find(|line| line.starts_with("self-guard ")).unwrap();
    assert!(row.ends_with(" watch"), "{row}");
    let status = shown(&project, "status", &[]);
    let guards = status.split("guards  ").nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(guards.contains("; only watched: self-guard next "), "{guards}");
    assert!(guards.contains("; switched off: iteration-corridor, "), "{guards}");
}

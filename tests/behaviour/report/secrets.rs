//! Secrets in commands reach no screen: neither those of now, nor those that an older version wrote.

use serde_json::json;

use super::{NOW, Room};

const SECRET: &str = "hunter2correct";

/// Commands with the secret in a form of each kind.
const COMMANDS: &[&str] = &[
    "AWS_SECRET_ACCESS_KEY=@ aws s3 ls",
    "curl -H 'Authorization: Bearer @' https://x",
    "curl -u me:@ https://x",
    "mysql -u root -p@ shop",
    "docker login -u me -p @ registry.example.com",
    "app --token=@",
    "app --password '@ and more'",
    "git clone https://me:@@github.com/x/y",
    "PGPASSWORD=@ psql",
    "echo '@' | sudo -S ls",
    "curl https://hooks.slack.com/services/T0/B0/@",
];

/// Every way to look at what happened.
const SCREENS: &[&[&str]] = &[
    &["report"],
    &["report", "--json"],
    &["journal", "-n", "99"],
    &["journal", "-n", "99", "--json"],
    &["journal", "-n", "99", "--denied"],
    &["explain"],
    &["status"],
    &["status", "--json"],
];

#[track_caller]
fn assert_hidden(room: &Room, arguments: &[&str], why: &str) {
    let (name, rest) = arguments.split_first().unwrap();
    let answer = room.provost(name, rest);
    let shown = format!("{}{}", answer.stdout, answer.stderr);
    assert!(!shown.contains(SECRET), "{why}: `provost {}` shows it:\n{shown}", arguments.join(" "));
    assert!(answer.code.is_some_and(|code| code < 2), "{answer:?}");
}

#[test]
fn no_screen_shows_a_secret_of_a_denied_command() {
    for form in COMMANDS {
        let room = Room::new();
        let rule =
            "[[rule]]\nname = \"no-force\"\nruns = \"git push --force\"\ndeny = \"it rewrites history\"\n";
        room.project.write_file("provost.toml", rule);
        let secret = form.replacen('@', SECRET, 1);
        for command in [format!("{secret}; git push --force"), format!("git push --force && {secret}")] {
            room.project.hook(&room.project.bash(&command)).expect_denial();
        }
        let written = room.project.read_journal_text();
        assert!(written.contains("••••") && !written.contains(SECRET), "{form}: {written}");
        let id = room.project.read_journal()[0]["id"].as_str().unwrap().to_owned();
        for arguments in SCREENS.iter().copied().chain([&["explain", &id][..]]) {
            assert_hidden(&room, arguments, form);
        }
    }
}

#[test]
fn no_screen_shows_a_secret_that_an_older_version_wrote() {
    for form in COMMANDS {
        let room = Room::new();
        let text = form.replacen('@', SECRET, 1);
        let mut denied = room.denied("2026-11-17T10:00:00", &text);
        denied.0["remark"] = text.as_str().into();
        for name in ["what", "why", "fix"] {
            denied.0["guards"][0][name] = text.as_str().into();
        }
        denied.0["guards"][0]["evidence"] = json!([text, format!("overridden by the user: {text}")]);
        let mut overridden = room.spoken("2026-11-17T10:01:00", &text, "self-guard", "overridden");
        overridden.0["guards"] = denied.0["guards"].clone();
        overridden.0["guards"][0]["opinion"] = "overridden".into();
        let id = denied.id();
        room.put("journal.jsonl", &[denied, overridden]);
        for arguments in SCREENS.iter().copied().chain([
            &["explain", &id][..],
            &["report", "--now", NOW],
            &["report", "--json", "--now", NOW],
            &["report", "--json", "--now", NOW, "--redact"],
        ]) {
            assert_hidden(&room, arguments, form);
        }
    }
}

#[test]
fn ids_of_the_client_stay_as_they_are() {
    let room = Room::new();
    let mut event = room.project.bash("rm provost.toml");
    event["tool_use_id"] = "toolu_01XFDUDYJgAACzvnptvVoYEL".into();
    room.project.hook(&event).expect_denial();
    let report = room.provost("report", &["--json"]).stdout;
    assert!(report.contains("toolu_01XFDUDYJgAACzvnptvVoYEL"), "{report}");
}

//! Which decisions follow from the call alone, and which depend on what may have changed since.

use std::fs;

use serde_json::json;

use super::{Transcript, list_decisions, replay_json, replay_session, transcripts_of};
use crate::rules::project_with_rules;
use crate::support::TestProject;

#[test]
fn what_the_words_of_a_call_decide_is_exact() {
    let rules = r#"
[[rule]]
name = "runs"
runs = "git push"
deny = "no"
[[rule]]
name = "reads"
reads = ".env|~/.ssh/**"
deny = "no"
[[rule]]
name = "deletes"
deletes = "build/"
deny = "no"
[[rule]]
name = "outside"
deletes = "<outside>"
deny = "no"
[[rule]]
name = "forced"
pushes = "main"
by = "force"
deny = "no"
"#;
    let (_, result) = replay_session(rules, |project, transcript| {
        let link = project.path.join("link");
        std::os::unix::fs::symlink(".", &link).unwrap();
        transcript
            .bash("t1", "git push")
            .bash("t2", "cat .env")
            .bash("t3", "cat ~/.ssh/id_rsa")
            // Following a link is no look at what may have changed.
            .bash("t4", "cat link/.env")
            .call("t5", "Read", &json!({"file_path": ".env"}))
            .bash("t6", "rm -rf build/x")
            .bash("t7", "rm -rf /etc/hosts")
            .bash("t8", "git push --force origin main")
            // Another word of the same command asks the disk.
            .bash("t9", "rm -rf nothing build/y")
    });
    assert_eq!(
        list_decisions(&result),
        [
            "t1 rule:runs deny",
            "t2 rule:reads deny",
            "t3 rule:reads deny",
            "t4 rule:reads deny",
            "t5 rule:reads deny",
            "t6 rule:deletes deny",
            "t7 rule:outside deny",
            "t8 rule:forced deny",
            "t8 rule:runs deny",
            "t9 rule:deletes deny",
        ]
    );
}

#[test]
fn what_the_disk_the_branch_or_the_state_decides_is_approximate() {
    let rules = r#"
[[rule]]
name = "on-main"
runs = "cargo publish"
on_branch = "main"
deny = "no"
[[rule]]
name = "commits"
commits = "main"
deny = "no"
[[rule]]
name = "not-new"
writes = "db/**"
unless = "new"
deny = "no"
[[rule]]
name = "contents"
deletes = "*.key"
deny = "no"
[[rule]]
name = "adds"
writes = "*.js"
adds = "debugger"
deny = "no"
[[rule]]
name = "saved"
runs = "git push"
unless = "saved"
ask = "sure?"
"#;
    let project = project_with_rules(rules);
    project.write_file("db/old.sql", "x");
    project.write_file("keys/a.key", "x");
    Transcript::new(&project, "s1")
        .bash("t1", "cargo publish")
        .bash("t2", "git commit -m x")
        .bash("t3", "echo x > db/old.sql")
        .bash("t4", "rm -rf keys")
        .bash("t5", "echo debugger > a.js")
        .bash("t6", "git push --force origin topic")
        // The words say enough.
        .bash("t7", "rm keys/a.key")
        .write(&transcripts_of(&project, &project.path));
    let result = replay_json(&project, &[]);
    assert_eq!(
        list_decisions(&result),
        [
            "t1 rule:on-main deny ~",
            "t2 rule:commits deny ~",
            "t3 rule:not-new deny ~",
            "t4 rule:contents deny ~",
            "t5 rule:adds deny ~",
            "t6 rule:saved ask ~",
            "t7 rule:contents deny",
        ]
    );
    assert_eq!((&result["exact"], &result["approximate"]), (&json!(1), &json!(6)));
}

#[test]
fn one_rule_does_not_make_another_approximate() {
    let rules = r#"
[[rule]]
name = "disk"
deletes = "*.key"
deny = "no"
[[rule]]
name = "words"
runs = "rm -rf"
deny = "no"
[[rule]]
name = "branch"
runs = "rm"
on_branch = "main"
deny = "no"
"#;
    let project = project_with_rules(rules);
    project.write_file("keys/a.key", "x");
    Transcript::new(&project, "s1").bash("t1", "rm -rf keys").write(&transcripts_of(&project, &project.path));
    let expected = ["t1 rule:branch deny ~", "t1 rule:disk deny ~", "t1 rule:words deny"];
    assert_eq!(list_decisions(&replay_json(&project, &[])), expected);
}

/// Rules that ask for the same branch share the look at it.
#[test]
fn a_shared_look_counts_for_each_rule() {
    let mut rules = String::new();
    for name in ["a", "b"] {
        rules += &format!("[[rule]]\nname = \"{name}\"\ncommits = \"main\"\ndeny = \"no\"\n");
    }
    let project = project_with_rules(&rules);
    Transcript::new(&project, "s1")
        .bash("t1", "git commit -m x")
        .write(&transcripts_of(&project, &project.path));
    assert_eq!(list_decisions(&replay_json(&project, &[])), ["t1 rule:a deny ~", "t1 rule:b deny ~"]);
}

#[test]
fn the_record_of_a_write_tells_what_the_file_held() {
    let rules = r#"
[[rule]]
name = "adds"
writes = "*.js"
adds = "debugger"
deny = "no"
[[rule]]
name = "not-new"
writes = "*.sql"
unless = "new"
deny = "no"
"#;
    let (_, result) = replay_session(rules, |project, transcript| {
        // By now, both files have what the calls wrote.
        project.write_file("a.js", "debugger\n");
        project.write_file("a.sql", "x");
        let write = |id: &str, file: &str, transcript: Transcript, original: &serde_json::Value| {
            let path = project.path.join(file);
            let result = json!({"type": "update", "filePath": path, "originalFile": original});
            transcript
                .calls(id, "Write", &json!({"file_path": path, "content": "debugger\n"}))
                .ends(id, "ok", false, &result)
        };
        let transcript = write("t1", "a.js", transcript, &json!("x\n"));
        let transcript = write("t2", "a.js", transcript, &json!("debugger\n"));
        let transcript = write("t3", "a.sql", transcript, &json!(null));
        write("t4", "a.sql", transcript, &json!("x"))
    });
    assert_eq!(list_decisions(&result), ["t1 rule:adds deny", "t4 rule:not-new deny"]);
}

#[test]
fn an_edit_of_the_settings_is_judged_by_what_they_held() {
    let settings = crate::support::registered_settings();
    let (_, result) = replay_session("", |project, transcript| {
        let path = project.path.join(".claude/settings.json");
        let old = serde_json::to_string_pretty(&settings).unwrap();
        // By now, the file is another.
        fs::write(&path, "{}").unwrap();
        let edit = |id: &str, from: &str, to: &str, transcript: Transcript| {
            transcript
                .calls(id, "Edit", &json!({"file_path": path, "old_string": from, "new_string": to}))
                .ends(id, "ok", false, &json!({"filePath": path, "originalFile": old}))
        };
        let transcript = edit("t1", "\"model\": \"one\"", "\"model\": \"two\"", transcript);
        edit("t2", "\"hooks\"", "\"nothing\"", transcript)
    });
    assert_eq!(list_decisions(&result), ["t2 self-guard deny"]);
}

#[test]
fn the_same_command_may_be_exact_in_one_place_and_judged_anew_in_another() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[[rule]]\nname = \"keys\"\ndeletes = \"*.key\"\ndeny = \"no\"\n");
    project.write_file("keys/a.key", "x");
    let all = tempfile::tempdir().unwrap();
    Transcript::new(&project, "s1").bash("t1", "rm -rf keys").write(all.path());
    Transcript::in_directory(&project.path.join("sub"), "s2").bash("t2", "rm -rf keys").write(all.path());
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    assert_eq!(list_decisions(&result), ["t1 rule:keys deny ~"]);
}

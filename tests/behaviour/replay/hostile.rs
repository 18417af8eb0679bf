//! Records that are broken, huge, strange or in motion: each has a defined answer, and is counted.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::{Transcript, list_decisions, replay_json};
use crate::support::TestProject;

const RULES: &str = "[[rule]]\nname = \"push\"\nruns = \"git push\"\ndeny = \"no\"\n";

/// Of a call that counts, but could not be judged.
const UNJUDGED: &str = "call that is counted and not judged: its input is missing, broken or too large";

fn project() -> TestProject {
    let project = TestProject::new();
    project.write_file("provost.toml", RULES);
    project
}

#[test]
fn what_is_no_record_is_counted_by_its_reason() {
    let (project, all) = (project(), tempfile::tempdir().unwrap());
    let good = Transcript::new(&project, "s1").bash("t1", "git push").text();
    let lines = [
        "\u{feff}{\"type\":\"mode\"}".to_owned(),
        good.trim_end().replace('\n', "\r\n"),
        "garbage \u{0}\u{1}".into(),
        "[]".into(),
        "{\"type\":\"brand-new\",\"version\":\"9.9.9\"}".into(),
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\"}]}}".into(),
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"Bash\",\"id\":\"t9\",".into(),
    ];
    fs::write(all.path().join("s1.jsonl"), lines.join("\r\n")).unwrap();
    fs::write(all.path().join("s2.jsonl"), b"\xff\xfe\x00\x01\n\x80\x81").unwrap();
    fs::write(all.path().join("empty.jsonl"), "").unwrap();
    fs::create_dir(all.path().join("directory.jsonl")).unwrap();
    symlink(all.path().join("s1.jsonl"), all.path().join("link.jsonl")).unwrap();
    symlink(all.path(), all.path().join("loop")).unwrap();
    symlink("nowhere", all.path().join("dangling.jsonl")).unwrap();
    fs::create_dir_all(all.path().join("s1/tool-results")).unwrap();
    fs::write(all.path().join("s1/tool-results/x.txt"), "not a record").unwrap();
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    assert_eq!(list_decisions(&result), ["t1 rule:push deny"]);
    assert_eq!(
        result["skipped"],
        json!({
            "directory or device that is named like a record": 1,
            "empty file": 1,
            "half-written last line": 2,
            "line that is no JSON object": 3,
            "link that leads nowhere, or to what is replayed anyway": 3,
            "record of an unknown type": 1,
            "record without the fields of its type": 1,
        })
    );
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let (project, all) = (project(), tempfile::tempdir().unwrap());
    let closed = Transcript::new(&project, "s1").bash("t1", "git push").write(all.path());
    Transcript::new(&project, "s2").bash("t2", "git push").write(all.path());
    let hidden = all.path().join("hidden");
    fs::create_dir(&hidden).unwrap();
    for path in [&closed, &hidden] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let is_root = fs::File::open(&closed).is_ok();
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    fs::set_permissions(&hidden, fs::Permissions::from_mode(0o700)).unwrap();
    // Nothing is closed to root.
    let expected =
        if is_root { vec!["t1 rule:push deny", "t2 rule:push deny"] } else { vec!["t2 rule:push deny"] };
    assert_eq!(list_decisions(&result), expected);
    let skipped = if is_root { json!({}) } else { json!({"file or directory that cannot be read": 2}) };
    assert_eq!(result["skipped"], skipped);
}

#[test]
fn a_pipe_does_not_block() {
    let (project, all) = (project(), tempfile::tempdir().unwrap());
    let made = std::process::Command::new("mkfifo").arg(all.path().join("pipe.jsonl")).status().unwrap();
    assert!(made.success());
    Transcript::new(&project, "s1").bash("t1", "git push").write(all.path());
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    assert_eq!(list_decisions(&result), ["t1 rule:push deny"]);
    assert_eq!(result["skipped"]["directory or device that is named like a record"], 1);
}

#[test]
fn a_line_of_fifty_megabytes_is_survived() {
    let (project, all) = (project(), tempfile::tempdir().unwrap());
    let huge = "x".repeat(50 << 20);
    Transcript::new(&project, "s1")
        .bash("t1", "git push")
        .calls("t2", "Read", &json!({"file_path": "big"}))
        .ends("t2", &huge, false, &json!({"type": "text"}))
        .call("t3", "Write", &json!({"file_path": "/tmp/big", "content": huge}))
        .bash("t4", "git push")
        .write(all.path());
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    assert_eq!(list_decisions(&result), ["t1 rule:push deny", "t4 rule:push deny"]);
    assert_eq!((&result["calls"], &result["calls_by_tool"]["Write"]), (&json!(4), &json!(1)));
    assert_eq!(result["skipped"], json!({UNJUDGED: 1}));
}

#[test]
fn calls_with_strange_inputs_are_judged_or_left() {
    let (project, all) = (project(), tempfile::tempdir().unwrap());
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let transcript = Transcript::new(&project, "s1")
        .call("t1", "Bash", &json!(null))
        .call("t2", "Bash", &json!("git push"))
        .call("t3", "Bash", &json!({"command": ["git", "push"]}))
        .call("t4", "Bash", &json!({"command": "git push", "deep": "DEEP"}))
        .call("t5", "Bash", &json!({"command": "git push \u{0} \u{202e}"}))
        .call("t6", "", &json!({"command": "git push"}))
        .call("t7", "mcp__x__y", &json!({"command": "git push"}));
    fs::write(all.path().join("s1.jsonl"), transcript.text().replace("\"DEEP\"", &deep)).unwrap();
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    let judged = list_decisions(&result);
    assert!(
        judged.contains(&"t5 rule:push deny".into()) && judged.contains(&"t7 rule:push deny".into()),
        "{judged:?}"
    );
    assert_eq!(result["calls"], 6);
    assert_eq!(result["skipped"], json!({UNJUDGED: 1, "record without the fields of its type": 1}));
}

/// One id for two calls, a call twice in one file, a result before its call.
#[test]
fn ids_that_come_twice_count_once() {
    let (project, all) = (project(), tempfile::tempdir().unwrap());
    Transcript::new(&project, "s1")
        .ends("t1", "ok", false, &json!({}))
        .bash("t1", "git push")
        .calls("t1", "Bash", &json!({"command": "git push"}))
        .write(all.path());
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    assert_eq!(result["calls"], 1);
    assert_eq!(list_decisions(&result), ["t1 rule:push deny"]);
}

/// A client that writes a message again, part by part, repeats its calls.
#[test]
fn a_repeated_line_has_the_result_of_its_call() {
    let (project, all) = (project(), tempfile::tempdir().unwrap());
    let call = json!({"command": "git push"});
    Transcript::new(&project, "s1")
        .calls("t1", "Bash", &call)
        .calls("t1", "Bash", &call)
        .calls("t1", "Bash", &call)
        .ends("t1", "<tool_use_error>No such tool</tool_use_error>", true, &json!("Error: x"))
        .calls("t2", "Bash", &call)
        .calls("t2", "Bash", &call)
        .ends("t2", "ok", false, &json!({"stdout": "ok"}))
        .write(all.path());
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    assert_eq!((&result["calls"], &result["asked_calls"]), (&json!(2), &json!(1)));
    assert_eq!(list_decisions(&result), ["t2 rule:push deny"]);
}

#[test]
fn nothing_is_written_beside_or_into_a_transcript() {
    let project = project();
    let directory = super::transcripts_of(&project, &project.path);
    Transcript::new(&project, "s1")
        .prompt("provost trust rules")
        .bash("t1", "git push")
        .bash("t2", "cargo test")
        .says("done")
        .write(&directory);
    project.write_file(
        "provost.toml",
        &format!("{RULES}[[rule]]\nname = \"t\"\nstops = true\nneed = {{ passed = \"cargo test\" }}\n"),
    );
    let before = list_files(&project.home);
    replay_json(&project, &[]);
    assert_eq!(list_files(&project.home), before);
}

fn list_files(directory: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(list_files(&path));
        } else {
            let changed = fs::metadata(&path).unwrap().modified().unwrap();
            found.push((path.clone(), fs::read(&path).unwrap(), changed));
        }
    }
    found.sort();
    found
}

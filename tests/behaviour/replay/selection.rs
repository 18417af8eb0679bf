//! Which sessions are replayed.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::{Transcript, replay, replay_json, transcripts_of};
use crate::support::TestProject;

fn session_count(project: &TestProject, arguments: &[&str]) -> u64 {
    replay_json(project, arguments)["sessions"].as_u64().unwrap()
}

/// Two sessions in the project, one of them in a directory of it, and one in another project whose name begins alike.
fn project() -> TestProject {
    let project = TestProject::new();
    let sub = project.path.join("sub");
    let other = project.home.join("project-two");
    for (directory, session) in [(&project.path, "aa-1"), (&sub, "aa-2"), (&other, "bb-3")] {
        Transcript::in_directory(directory, session)
            .bash(&format!("t-{session}"), "true")
            .write(&transcripts_of(&project, directory));
    }
    project
}

#[test]
fn a_project_has_its_own_sessions_and_those_in_its_directories() {
    let project = project();
    assert_eq!(session_count(&project, &[]), 2);
    assert_eq!(session_count(&project, &["--all"]), 3);
}

#[test]
fn a_session_is_named_by_its_id_or_the_start_of_it() {
    let project = project();
    assert_eq!(session_count(&project, &["--session", "bb-3"]), 1);
    assert_eq!(session_count(&project, &["--session", "aa"]), 2);
    let answer = replay(&project, &["--session", "cc"]);
    assert_eq!(answer.code, Some(1));
    assert!(answer.stdout.contains("no transcripts"), "{answer:?}");
}

#[test]
fn a_directory_or_a_file_means_all_of_it() {
    let project = project();
    let file = transcripts_of(&project, &project.path).join("aa-1.jsonl");
    set_age(&file, 4000);
    assert_eq!(session_count(&project, &["--transcripts", ".."]), 3);
    assert_eq!(session_count(&project, &["--transcripts", file.to_str().unwrap()]), 1);
    let answer = replay(&project, &["--transcripts", "nowhere"]);
    assert_eq!(answer.code, Some(74));
    assert!(answer.stderr.contains("nowhere"), "{answer:?}");
}

fn set_age(file: &Path, days: u64) {
    let time = SystemTime::now() - Duration::from_secs(days * 86_400);
    fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
}

/// The time of an event, so many days ago.
fn days_ago(days: u64) -> String {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    provost::clock::format_utc_millis(time.saturating_sub(Duration::from_secs(days * 86_400)))
}

#[test]
fn the_last_days_leave_out_old_files_and_old_events() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[[rule]]\nname = \"push\"\nruns = \"git push\"\ndeny = \"no\"\n");
    let directory = transcripts_of(&project, &project.path);
    let dated = |session: &str, id: &str, days: u64| {
        let text = Transcript::new(&project, session).prompt(id).bash(id, "git push").text();
        let times = ["2026-01-01T10:00:00.000Z", "2026-01-01T10:01:00.000Z", "2026-01-01T10:02:00.000Z"];
        times.iter().fold(text, |text, time| text.replace(time, &days_ago(days)))
    };
    fs::create_dir_all(&directory).unwrap();
    // One session that began long ago and went on today.
    let long = dated("s1", "t1", 40) + &dated("s1", "t2", 1).replace("-main-", "-later-");
    fs::write(directory.join("s1.jsonl"), long).unwrap();
    fs::write(directory.join("s2.jsonl"), dated("s2", "t3", 40)).unwrap();
    set_age(&directory.join("s2.jsonl"), 40);
    let result = replay_json(&project, &["--last", "30d"]);
    assert_eq!(
        (&result["sessions"], &result["calls"], &result["prompts"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(super::list_decisions(&result), ["t2 rule:push deny"]);
    assert_eq!(result["skipped"], json!({"file that was last changed before the asked time": 1}));
    assert_eq!(session_count(&project, &["--last", "9w"]), 2);
    assert_eq!(session_count(&project, &[]), 2);
}

#[test]
fn wrong_options_are_wrong_usage() {
    // In a session, a client could take the error of a command for that of a hook.
    let project = TestProject::new().without_variable("CLAUDE_PROJECT_DIR");
    for arguments in [
        &["--last", "soon"][..],
        &["--last", "5y"],
        &["--session", ""],
        &["--all", "--session", "x"],
        &["--all", "--transcripts", "x"],
        &["--session", "x", "--transcripts", "x"],
    ] {
        assert_eq!(replay(&project, arguments).code, Some(64), "{arguments:?}");
    }
}

#[test]
fn the_clients_own_directory_is_found_where_its_variable_says() {
    let project = project();
    let elsewhere = project.home.join("elsewhere");
    fs::rename(project.home.join(".claude"), &elsewhere).unwrap();
    assert_eq!(replay(&project, &["--all"]).code, Some(1));
    let project = project.with_variable("CLAUDE_CONFIG_DIR", &elsewhere);
    assert_eq!(session_count(&project, &["--all"]), 3);
}

#[test]
fn the_sessions_of_a_project_that_a_link_leads_to_are_its_own() {
    let project = TestProject::new();
    let link = project.home.join("link");
    std::os::unix::fs::symlink(&project.path, &link).unwrap();
    let directory = transcripts_of(&project, &project.path);
    // The client names the directory by the path that it was started with.
    Transcript::in_directory(&link, "s1").bash("t1", "true").write(&directory);
    assert_eq!(session_count(&project, &[]), 1);
}

#[test]
fn links_to_elsewhere_are_followed_once() {
    let project = TestProject::new();
    let (all, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let link = |from: &Path, to: &Path| std::os::unix::fs::symlink(to, from).unwrap();
    let moved = elsewhere.path().join("moved");
    let main = Transcript::new(&project, "s1").bash("t1", "true");
    main.write(&moved);
    main.agent("a1").bash("t2", "true").write(&moved);
    let file = Transcript::new(&project, "s2").bash("t3", "true").write(&elsewhere.path().join("other"));
    link(&all.path().join("project"), &moved);
    link(&all.path().join("s2.jsonl"), &file);
    // Two links to one directory, and links that would never end.
    link(&all.path().join("again"), &moved);
    link(&moved.join("back"), all.path());
    link(&moved.join("self"), &moved);
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    assert_eq!(
        (&result["files"], &result["calls"], &result["agent_calls"], &result["sessions"]),
        (&json!(3), &json!(3), &json!(1), &json!(2)),
        "{result}"
    );
    assert_eq!(result["skipped"], json!({"link that leads nowhere, or to what is replayed anyway": 3}));
}

/// The user may have copied a transcript to a file of another name.
#[test]
fn a_file_of_any_name_is_a_session() {
    let project = TestProject::new();
    let file = project.path.join("copy.txt");
    fs::write(&file, Transcript::new(&project, "s1").prompt("go").bash("t1", "true").text()).unwrap();
    let result = replay_json(&project, &["--transcripts", "copy.txt"]);
    assert_eq!(
        (&result["calls"], &result["agent_calls"], &result["prompts"]),
        (&json!(1), &json!(0), &json!(1))
    );
}

//! Hostile files and input: there is always an answer, and it is safe to print.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// A screen with nothing in it that a terminal would obey.
fn printable(shown: &Shown) -> String {
    let hostile = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!shown.stdout.contains(hostile), "{:?}", shown.stdout);
    assert!(shown.stderr.is_empty(), "{}", shown.stderr);
    shown.stdout.clone()
}

#[test]
fn without_a_home_there_is_no_journal_and_still_a_screen() {
    let project = TestProject::new();
    plan(&project);
    let mut without = command(&project, &["status"]);
    without.env_remove("HOME");
    let shown = answered(&project, without, b"");
    assert_eq!(shown.code, 0);
    assert!(
        shown.stdout.contains("\ndenied     there is no home directory, so there is no journal\n"),
        "{}",
        shown.stdout
    );
    let mut without = command(&project, &["statusline"]);
    without.env_remove("HOME");
    assert_eq!(answered(&project, without, b"{}").stdout, "provost · review 1/8, clean 1/2\n");
}

#[test]
fn without_a_current_directory_there_is_a_line_and_an_error_that_says_so() {
    let project = TestProject::new();
    let gone = project.path.join("gone");
    let script = |arguments: &str| {
        fs::create_dir_all(&gone).unwrap();
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(format!("rmdir '{}' && exec \"$0\" {arguments}", gone.display()));
        command.arg(crate::support::program()).current_dir(&gone).env_clear().env("HOME", &project.home);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        answered(&project, command, b"{}")
    };
    let shown = script("status");
    assert_eq!((shown.code, shown.stdout.as_str()), (74, ""));
    assert!(shown.stderr.starts_with("[provost] the current directory cannot be read: "), "{}", shown.stderr);
    let shown = script("statusline");
    assert_eq!((shown.code, shown.stdout.as_str()), (0, "provost · no directory\n"));
}

#[test]
fn a_state_that_cannot_be_read_says_so_and_hides_nothing_else() {
    let project = TestProject::new();
    plan(&project);
    workflow(&project);
    project.write_file(".isdlc/state.json", "{\"active_workflow\": \u{1b}[2J");
    let shown = run(&project, &["status"]);
    let text = printable(&shown).replace("\n           ", " ");
    assert_eq!(shown.code, 1);
    assert_shown!("status-unreadable-state", text);
    assert!(status_json(&project)["phases"]["fault"].as_str().unwrap().contains("cannot be read"));
    assert_eq!(line(&project, b"{}"), "provost · review 1/8, clean 1/2 · phase: state unreadable");

    // The next step contains only the fix, for every way in which the file cannot be read.
    let state = project.path.join(".isdlc/state.json");
    fs::remove_dir_all(project.path.join(".taskie")).unwrap();
    let step = "correct <project>/.isdlc/state.json, or restore it from the last commit";
    assert_eq!(status_json(&project)["next"], step);
    fs::remove_file(&state).unwrap();
    fs::create_dir(&state).unwrap();
    assert_shown!("phases-cli-state-directory", run(&project, &["phases", "status"]).stderr);
    assert!(status_json(&project)["next"].as_str().unwrap().starts_with("correct "));
    plan(&project);

    // The review loop names what it cannot read by itself.
    project.write_file(".taskie/plans/login-limit/state.json", "[]");
    fs::remove_dir_all(project.path.join(".isdlc")).unwrap();
    let text = status(&project);
    assert!(text.contains("\nreview     login-limit: state.json is not a JSON object"), "{text}");
    assert_eq!(line(&project, b"{}"), "provost · on");
}

#[test]
fn a_hostile_journal_is_read_as_far_as_it_goes() {
    let project = TestProject::new();
    let journal = journal(&project);
    let record = |what: &str| {
        json!({"id": "1\u{1b}]0;x", "time": "2026-11-16T12:00:00.000Z", "session": "s1", "decision": "deny",
            "guards": [{"guard": "self\u{202e}guard", "opinion": "deny", "what": what}]})
    };
    let mut bytes =
        b"\xff\xfe\x00\n{\"decision\": 5}\n[]\nnull\n{\"guards\": [[]], \"decision\": \"deny\"}\n".to_vec();
    bytes.extend(format!("{}\n", record("first \u{1b}[2J\r\u{7}")).bytes());
    bytes
        .extend(b"{\"decision\": \"deny\", \"guards\": [{\"opinion\": \"deny\", \"what\": \"\xc3\x28\"}]}\n");
    bytes.extend(format!("{}\n{{\"torn\": ", record(&"long ".repeat(2000))).bytes());
    fs::write(&journal, &bytes).unwrap();
    let shown = run(&project, &["status"]);
    let text = printable(&shown);
    assert_eq!(shown.code, 0);
    assert!(text.contains("first \\u{1b}[2J\\u{d}\\u{7}") && text.contains("lo … (cut)"), "{text}");
    assert!(text.contains("an unknown guard: no reason is recorded"), "{text}");
    assert_eq!(line(&project, &said(&project, "s1")), "provost · 2 denied");

    // A line of a megabyte is ignored, and so are the lines before it.
    let mut bytes = format!("{}\n", record("before")).into_bytes();
    bytes.extend(format!("{}\n", record(&"x".repeat(1 << 20))).bytes());
    fs::write(&journal, &bytes).unwrap();
    assert!(status(&project).contains("\ndenied     nothing lately\n"));
}

#[test]
fn a_journal_that_is_not_a_file_is_reported() {
    let project = TestProject::new();
    let journal = journal(&project);
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    let shown = run(&project, &["status"]);
    assert_eq!(shown.code, 1);
    assert!(printable(&shown).contains("\ndenied     the journal cannot be read: "), "{}", shown.stdout);
    assert_eq!(line(&project, b"{}"), "provost · on");
    fs::remove_dir(&journal).unwrap();
    assert!(Command::new("mkfifo").arg(&journal).status().unwrap().success());
    assert_eq!(run(&project, &["status"]).code, 1, "a pipe holds nobody");
}

#[test]
fn names_cannot_control_the_terminal() {
    let project = TestProject::new();
    workflow(&project);
    project.write_file(".taskie/plans/a\u{202e}b/plan.md", "# A\n");
    let state = json!({"active_workflow": {"type": "\u{1b}[31mfeature", "current_phase": "06-\u{7}\nx".repeat(50),
        "phases": ["a\u{1b}c"]}});
    project.write_file(".isdlc/state.json", &state.to_string());
    printable(&run(&project, &["status"]));
    let line = line(&project, b"{}");
    assert!(line.chars().count() < 160, "{line}");
}

#[test]
fn a_directory_name_that_is_not_utf_8_has_a_screen() {
    let project = TestProject::new();
    let odd = project.path.join(std::ffi::OsStr::from_bytes(b"p\xffq"));
    fs::create_dir_all(odd.join(".git")).unwrap();
    fs::create_dir_all(odd.join(".taskie/plans/a")).unwrap();
    fs::create_dir_all(odd.join(".isdlc")).unwrap();
    fs::write(odd.join(".taskie/plans/a/plan.md"), "# A\n").unwrap();
    fs::write(odd.join(".taskie/plans/a/state.json"), "{}").unwrap();
    for arguments in [
        &["status"][..],
        &["status", "--json"],
        &["review", "status", "--json"],
        &["phases", "status", "--json"],
        &["statusline"],
    ] {
        let mut command = command(&project, arguments);
        command.current_dir(&odd);
        let shown = answered(&project, command, b"");
        assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(!shown.stdout.is_empty());
    }
}

#[test]
fn every_input_gets_a_line() {
    let project = TestProject::new();
    let deep = "[".repeat(100_000);
    let large = format!("{{\"cwd\": \"/{}\"}}", "x".repeat(3 << 20));
    for input in [
        &b""[..],
        b"{",
        b"\xff\xfe{}",
        b"null",
        b"{\"cwd\": 5, \"workspace\": \"x\", \"session_id\": {}}",
        b"{\"cwd\": \"/no/such/place\", \"workspace\": {\"project_dir\": \"/dev/null\", \"current_dir\": \"\\u0000\"}}",
        br#"{"cwd": "relative", "session_id": "\u001b[2J"}"#,
        deep.as_bytes(),
        large.as_bytes(),
    ] {
        assert_eq!(line(&project, input), "provost · on");
    }
}

#[test]
fn an_input_that_never_ends_is_not_waited_for() {
    let project = TestProject::new();
    let mut command = command(&project, &["statusline"]);
    command.env_remove(crate::support::PATIENCE.0);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let open = child.stdin.take().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "provost · on\n");
    drop(open);
}

#[test]
fn an_unreadable_project_has_a_line() {
    let project = TestProject::new();
    plan(&project);
    let folder = project.path.join(".taskie/plans/login-limit");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    // Root can read everything, and sees the plan.
    let text = printable(&run(&project, &["status"]));
    assert!(text.starts_with("project    <project>\n"), "{text}");
    line(&project, b"{}");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

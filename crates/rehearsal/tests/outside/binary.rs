//! `rehearse` as a person meets it: what it prints, and how it exits.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rehearsal::{Results, Scenario, ScenarioPlayer};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rehearse(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rehearse")).args(arguments).current_dir("/").output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The client's path, or nothing if there is none; see the tests with the real client.
fn client() -> Option<String> {
    let client = ScenarioPlayer::find_client(root());
    assert!(client.is_some() || std::env::var_os("CI").is_none(), "there is no client");
    Some(client?.to_str()?.to_owned())
}

fn write(text: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("scenario.toml");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (dir, file)
}

const GREETING: &str = "title = 'greeting'\nprompt = 'hello'\n\
    [[hook]]\nevent = 'Stop'\ncommand = 'cat >/dev/null'\n\
    [[route]]\n[[route.step]]\ntext = 'good day'\n[expect]\n";

#[test]
fn help_is_help() {
    let output = rehearse(&["--help"]);
    assert!(output.status.success());
    assert!(stdout(&output).contains("Examples:"));
}

#[test]
fn nonsense_and_a_missing_client_exit_64() {
    for (arguments, told) in [
        (&["--client", "/nonexistent/claude", "x.toml"][..], "no client at `/nonexistent/claude`"),
        (&["--frobnicate"], "unexpected argument '--frobnicate'"),
        (&[], "<FILE>"),
    ] {
        let output = rehearse(arguments);
        assert_eq!(output.status.code(), Some(64));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn a_run_is_shown_and_sums_up() {
    let Some(client) = client() else { return };
    let (_dir, file) = write(&format!("{GREETING}exit = 0\nrequests = {{ main = 1 }}\n"));
    let output = rehearse(&["--client", &client, &file]);
    let shown = stdout(&output);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "▸ greeting", "{shown}");
    assert_eq!(lines[1], "    model  → \"good day\"", "{shown}");
    assert!(lines[2].starts_with("    hook   Stop  silent  "), "{shown}");
    assert!(lines[3].starts_with("  ok  2 checks, "), "{shown}");
    assert_eq!(lines[4], "1 passed, 0 failed", "{shown}");
    assert!(output.status.success());
}

#[test]
fn a_failure_is_shown_even_when_quiet_and_exits_1() {
    let Some(client) = client() else { return };
    let (_dir, bad) = write(&format!("{GREETING}exit = 4\n"));
    let (_other, good) = write(&format!("{GREETING}exit = 0\n"));
    let (_third, unreadable) = write("title = 'x'\nprmpt = 'y'\n");
    let output = rehearse(&["--client", &client, "--quiet", "--jobs", "2", &bad, &good, &unreadable]);
    let shown = stdout(&output);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(shown.matches("greeting").count(), 1, "{shown}");
    assert!(
        shown.contains("✗ the client exited differently\n      expected  4\n      actual    0"),
        "{shown}"
    );
    assert!(shown.contains("unknown field `prmpt`"), "{shown}");
    assert!(shown.ends_with("1 passed, 2 failed\n"), "{shown}");
}

#[test]
fn results_tell_what_held_how_often_and_what_hooks_were_given() {
    let Some(client) = client() else { return };
    let (dir, good) = write(&format!("{GREETING}exit = 0\n"));
    let bad = dir.path().join("bad.toml");
    std::fs::write(&bad, format!("{GREETING}exit = 4\n")).unwrap();
    let unreadable = dir.path().join("unreadable.toml");
    std::fs::write(&unreadable, "title = 'x'\nprmpt = 'y'\n").unwrap();
    let results = dir.path().join("results.json");
    let [bad, unreadable, path] = [&bad, &unreadable, &results].map(|path| path.to_str().unwrap());
    let arguments = [
        "--client",
        &client,
        "--quiet",
        "--jobs",
        "2",
        "--again",
        "1",
        "--results",
        path,
        &good,
        bad,
        unreadable,
    ];
    let output = rehearse(&arguments);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).ends_with("1 passed, 2 failed\n"), "{}", stdout(&output));
    let first = Results::load(&results).unwrap();
    assert_eq!(first.scenarios["unreadable"].wrong, ["the scenario is malformed"]);

    // One of them is mended and played by itself; what is known of the others stays.
    std::fs::write(unreadable, format!("{GREETING}exit = 0\n")).unwrap();
    assert!(rehearse(&["--client", &client, "--results", path, unreadable]).status.success());
    let results = Results::load(&results).unwrap();
    let counts = |name: &str| (results.scenarios[name].held, results.scenarios[name].played);
    assert_eq!(counts("scenario"), (1, 1), "what holds is played once");
    assert_eq!(counts("bad"), (0, 2));
    assert_eq!(results.scenarios["bad"].title, "greeting");
    assert_eq!(results.scenarios["bad"].wrong, ["the client exited differently"]);
    assert_eq!(counts("unreadable"), (1, 1));
    assert!(results.client.starts_with("2."), "{}", results.client);
    assert!(results.events.0.contains("SubagentStop"), "{:?}", results.events);
    assert!(results.tools.0.contains("Bash"), "{:?}", results.tools);
    let given = &results.given["Stop"].0;
    assert!(given.contains("stop_hook_active:bool") && given.contains("cwd:text"), "{given:?}");
}

#[test]
fn versions_are_shown_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    let directory = dir.path().to_str().unwrap();
    let missing = rehearse(&["--versions", directory]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("groups.toml"));
    std::fs::write(dir.path().join("groups.toml"), "[[group]]\nname = 'g'\nbegins = ['']\n").unwrap();
    let one = Results { client: "1.0.0".to_owned(), ..Results::default() };
    one.save(&dir.path().join("1.0.0.json")).unwrap();
    let output = rehearse(&["--versions", directory]);
    assert!(output.status.success());
    assert!(
        stdout(&output).starts_with("| about | 1.0.0 |\n|---|---|\n| g | not played |\n"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_forgotten_variable_stops_the_play() {
    let Some(client) = client() else { return };
    let text = GREETING.replace("cat >/dev/null", "${gate} hook");
    let (_dir, file) = write(&text);
    let output = rehearse(&["--client", &client, &file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("`${gate}` is not set"), "{}", stdout(&output));
}

#[test]
fn what_is_kept_is_where_it_says() {
    let Some(client) = client() else { return };
    let (_dir, file) = write(GREETING);
    let shown = stdout(&rehearse(&["--client", &client, "--keep", &file]));
    let kept = shown.lines().find_map(|line| line.strip_prefix("  kept  ")).unwrap();
    assert!(Path::new(kept).join("project/.claude/settings.json").is_file(), "{shown}");
    std::fs::remove_dir_all(kept).unwrap();
}

#[test]
fn the_example_of_the_readme_and_the_example_files_can_be_played() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let examples: Vec<&str> =
        readme.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!examples.is_empty());
    let (_dir, first) = write(examples[0]);
    for example in &examples {
        Scenario::parse(example, "README.md").unwrap();
    }
    let mut files = vec![first];
    for entry in std::fs::read_dir(root().join("rehearsals/examples")).unwrap() {
        files.push(entry.unwrap().path().to_str().unwrap().to_owned());
    }
    let Some(client) = client() else { return };
    let mut arguments = vec!["--client", &client];
    arguments.extend(files.iter().map(String::as_str));
    let output = rehearse(&arguments);
    assert!(output.status.success(), "{}", stdout(&output));
}

#[test]
fn an_interrupt_ends_the_client_and_leaves_nothing() {
    let Some(client) = client() else { return };
    let endless = "title = 'endless'\nprompt = 'hello'\nargs = ['--allowedTools', 'Bash']\n\
        [[route]]\n[[route.step]]\ntool = 'Bash'\ninput = { command = 'tail -f /dev/null', description = 'x' }\n";
    let (_dir, file) = write(endless);
    let temporary = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_rehearse"))
        .args(["--client", &client, &file])
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("tail -f")), "the play has begun");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    let left: Vec<_> =
        std::fs::read_dir(temporary.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
    let own = format!("HOME={}", temporary.path().display()).into_bytes();
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        let runs = environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(&own));
        assert!(!runs, "{} still runs", process.path().display());
    }
}

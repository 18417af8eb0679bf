//! The commands: whole screens, colours, exit codes.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};

use crate::support::waiting::wait_until;
use crate::support::{TestProject, assert_shown};
use serde_json::{Value, json};

/// `provost ARGUMENTS` in the project.
fn command(project: &TestProject, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_provost"));
    command.args(arguments).env_clear().current_dir(&project.path);
    command.env("HOME", &project.home).env("PROVOST_MANAGED", project.home.with_file_name("managed"));
    command
}

fn run(project: &TestProject, arguments: &[&str]) -> Output {
    command(project, arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs a command that must exit with this code. Returns its output with short paths.
fn screen(project: &TestProject, arguments: &[&str], code: i32) -> String {
    let output = run(project, arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(code), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    project.shorten_paths(&text)
}

/// Replaces ids, times and durations.
fn replace_volatile(text: &str) -> String {
    let mut steady = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let replaced = words.iter().map(|word| {
            let is_time = word.len() >= 8 && word.starts_with("20") && word.contains('-');
            let is_id = word.len() == 13 && word.starts_with('1') && word.chars().all(char::is_alphanumeric);
            let is_number = word.contains('.') && word.parse::<f64>().is_ok();
            match (is_time, is_id, is_number) {
                (true, ..) => "<time>",
                (_, true, _) => "<id>",
                (.., true) => "<n>",
                _ => word,
            }
        });
        steady += replaced.collect::<Vec<_>>().join(" ").trim_end();
        steady.push('\n');
    }
    steady
}

#[test]
fn guards_shows_the_registry() {
    let project = TestProject::new();
    assert_shown!("command-guards", screen(&project, &["guards"], 0));
}

#[test]
fn guards_as_json_holds_every_guard_and_its_switch() {
    let project = TestProject::with_no_guard();
    let all: Value = serde_json::from_str(&screen(&project, &["guards", "--json"], 0)).unwrap();
    let names: Vec<&str> =
        all.as_array().unwrap().iter().map(|guard| guard["name"].as_str().unwrap()).collect();
    let registry: Vec<&str> = provost::registry::GUARDS.iter().map(|guard| guard.name).collect();
    assert_eq!(names, registry);
    assert!(all.as_array().unwrap().iter().all(|guard| guard["on"] == false));
}

#[test]
fn explain_shows_the_last_denial() {
    let project = TestProject::new();
    project.hook(&project.bash("rm provost.toml"));
    project.hook(&project.bash("ls"));
    // Where a line is broken depends on the length of the temporary directory's name.
    let whole = screen(&project, &["explain"], 0).replace("\n            ", " ");
    assert_shown!("command-explain", replace_volatile(&whole));
}

/// `explain` starts with what was denied: the first line of a command, or the path of a file.
#[test]
fn explain_begins_with_what_was_denied() {
    let project = TestProject::new();
    let file = project.path.join("provost.toml");
    for (event, first) in [
        (project.bash("echo one > provost.toml\necho two"), "echo one > provost.toml"),
        (project.write(&file, "x"), "<project>/provost.toml"),
        (project.edit("sub/provost.toml", "a", "b"), "sub/provost.toml"),
        (project.mcp(json!({"path": file})), "<project>/provost.toml"),
    ] {
        project.hook(&event);
        let shown = screen(&project, &["explain"], 0).replace(['\n', ' '], "");
        assert!(shown.starts_with(&first.replace(' ', "")), "{first}: {shown}");
    }
    let text = project.read_journal_text();
    assert!(!text.contains("echo two"), "{text}");
}

#[test]
fn an_override_in_a_shell_says_where_to_type_it() {
    let project = TestProject::new();
    let message = |arguments: &[&str]| {
        let output = command(&project, &[&["override"], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        message(&["branch-guard", "it", "is --late"]),
        "[provost] nothing was allowed: an override counts only as your own prompt in the client. To fix: type it as \
         a prompt in the client's session: `provost override branch-guard it is --late`."
    );
    assert!(
        message(&["branch-gard", "x"])
            .contains("there is no guard `branch-gard`; did you mean `branch-guard`?")
    );
    assert!(message(&["registration-guard", "x"]).contains("`registration-guard` cannot be overridden"));
    assert!(
        message(&[]).contains("no guard is named. To fix: type the prompt `provost override GUARD REASON`")
    );
}

#[test]
fn check_takes_a_command_with_its_options() {
    let project = TestProject::new();
    for (arguments, line) in [
        (&["ls", "-la"][..], "ls -la"),
        (&["--", "ls", "-la"], "ls -la"),
        (&["ls -la | wc -l"], "ls -la"),
        (&["ls", "--json"], "ls --json"),
        (&["rm", "a b", "-f"], "rm a b -f"),
        (&["--agent", "x", "ls", "--agent", "y", "--help"], "ls --agent y --help"),
        (&["echo", "a | b > c"], "echo a | b > c"),
    ] {
        let shown = screen(&project, &[&["check"], arguments].concat(), 0);
        assert!(shown.starts_with(&format!("runs      {line}\n")), "{arguments:?}: {shown}");
    }
    let found: Value = serde_json::from_str(&screen(&project, &["check", "--json", "rm", "a b"], 0)).unwrap();
    assert_eq!(found["effects"][0]["arguments"], json!(["a b"]));
    assert!(command(&project, &["check", "--jsn", "ls"]).output().unwrap().status.code() == Some(64));
}

#[test]
fn status_guards_and_doctor_count_the_same_guards() {
    let project = TestProject::new();
    for (files, config, on) in
        [(&[][..], "", 6), (&[".isdlc/x"], "", 24), (&[".isdlc/x"], "[guards]\nbranch-guard = \"off\"\n", 23)]
    {
        for file in files {
            project.write_file(file, "");
        }
        project.write_file("provost.toml", config);
        let line = format!("{on} of {} guards on here", provost::registry::GUARDS.len());
        for name in ["status", "guards", "doctor"] {
            let output = command(&project, &[name]).output().unwrap();
            let shown = String::from_utf8(output.stdout).unwrap();
            assert!(
                shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(&line),
                "{name}: {shown}"
            );
        }
        let json: Value = serde_json::from_str(&screen(&project, &["guards", "--json"], 0)).unwrap();
        assert_eq!(json.as_array().unwrap().iter().filter(|guard| guard["on"] == true).count(), on);
        let output = command(&project, &["status", "--json"]).output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["guards"]["on"], on);
    }
}

#[test]
fn explain_lists_silent_guards_in_one_line() {
    let project = TestProject::new();
    let mut event = project.bash("rm x");
    event["agent_id"] = "a1".into();
    event["agent_type"] = "tdd-planner".into();
    project.hook(&event);
    let text = screen(&project, &["explain"], 0);
    assert!(text.contains("\nplanner-bash-guard  deny  "), "{text}");
    assert!(text.ends_with("\n\nsilence  self-guard\n"), "{text}");
}

#[test]
fn explain_finds_a_decision_by_the_start_of_its_id() {
    let project = TestProject::new();
    project.hook(&project.bash("ls"));
    let id = project.read_journal()[0]["id"].as_str().unwrap().to_owned();
    assert!(screen(&project, &["explain", &id], 0).starts_with("silence  "));
    assert!(screen(&project, &["explain", &id[..12]], 0).starts_with("silence  "));
    assert_eq!(
        screen(&project, &["explain", "zzz"], 1),
        "no decision in this project has an ID that starts with `zzz`\n"
    );
    project.hook(&project.bash("ls"));
    assert_eq!(
        screen(&project, &["explain", "1"], 1),
        "2 decisions have an ID that starts with `1`; give more of the ID\n"
    );
}

#[test]
fn explain_without_a_denial_points_to_the_journal() {
    let project = TestProject::new();
    assert_eq!(
        screen(&project, &["explain"], 1),
        "nothing was denied in <project> yet; `provost journal` shows all decisions\n"
    );
}

#[test]
fn explain_and_the_registry_use_the_same_sentences() {
    let project = TestProject::new();
    let rule = "[[rule]]\nname = \"x\"\nruns = \"x\"\ndeny = \"no\"\n";
    let packs = "[plan_gate]\nenabled = true\n[workflow]\nuse = [\"openspec\"]\n";
    project.write_file("provost.toml", &format!("{packs}{rule}"));
    project.hook_bytes(&[], b"");
    let text = screen(&project, &["explain"], 0).split_whitespace().collect::<Vec<_>>().join(" ");
    for guard in provost::registry::GUARDS {
        assert!(text.contains(guard.purpose) && text.contains(guard.way_out), "{}", guard.name);
    }
}

#[test]
fn journal_shows_decisions_newest_last() {
    let project = TestProject::new();
    assert_eq!(screen(&project, &["journal"], 0), "no decisions in <project> yet\n");
    project.hook(&project.bash("ls"));
    project.hook(&project.bash("echo > provost.toml"));
    project.hook_bytes(&[], b"{");
    let mut expected = String::from(
        "\
<id>  TIME  silence       PreToolUse Bash
<id>  TIME  deny          PreToolUse Bash     self-guard: `provost.toml` not written: tools may not change Provost's configuration
<id>  TIME  deny (fault)  unreadable event    self-guard: `self-guard` could not judge this: the input is not a JSON object (EOF while parsing an object…, so it is denied
",
    );
    for record in project.read_journal() {
        expected = expected.replacen("TIME", &record["time"].as_str().unwrap()[11..19], 1);
    }
    assert_eq!(replace_volatile(&screen(&project, &["journal"], 0)).replace("<time> ", ""), expected);
    assert_eq!(screen(&project, &["journal", "--denied"], 0).lines().count(), 2);
    assert_eq!(screen(&project, &["journal", "-n", "1"], 0).lines().count(), 1);
    for line in screen(&project, &["journal", "--json"], 0).lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap()["id"].is_string());
    }
}

/// Whether a process has the journal open and stands behind the lines that are in it.
fn is_at_the_end_of_journal(id: u32) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{id}/fd")) else { return false };
    open.flatten().any(|entry| {
        let is_journal = fs::read_link(entry.path()).is_ok_and(|file| file.ends_with("journal.jsonl"));
        let name = entry.file_name().into_string().unwrap();
        let position = fs::read_to_string(format!("/proc/{id}/fdinfo/{name}")).unwrap_or_default();
        is_journal && !position.starts_with("pos:\t0\n")
    })
}

#[test]
fn journal_follows_new_decisions() {
    let project = TestProject::new();
    project.hook(&project.bash("ls"));
    let mut child = command(&project, &["journal", "--follow", "--json", "-n", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the end of the journal", || is_at_the_end_of_journal(child.id()));
    project.hook(&project.bash("touch provost.toml"));
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["decision"], "deny");
}

#[test]
fn config_check_shows_files_mistakes_and_what_holds() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[engine]\ndeadline_secnds = 3\n[guards]\nself-guard = \"off\"\n");
    project.write_home_file(".config/provost/provost.toml", "[engine]\ndeadline_seconds = 9\n");
    project.write_managed_config("[guards]\nself-guard = \"on\"\n");
    let text = screen(&project, &["config", "check"], 1);
    let managed = project.home.with_file_name("managed");
    assert_shown!("command-config-check", text.replace(managed.to_str().unwrap(), "<managed>"));
}

#[test]
fn check_shows_what_a_command_would_do_and_what_each_guard_says() {
    let project = TestProject::new();
    project.write_file("lib/x", "");
    let line = "cd lib && A=1 cat x | tee $F; [ -f y ] && git commit -m z > /dev/null; echo $((a))";
    assert_shown!("command-check", screen(&project, &["check", "--agent", "tdd-planner", "--", line], 1));
}

#[test]
fn check_asks_the_guards_that_the_hook_would_ask() {
    let project = TestProject::new();
    let asked = |arguments: &[&str], code: i32| -> Vec<String> {
        let all = [&["check", "--json"], arguments, &["--", "mkdir x"]].concat();
        let found: Value = serde_json::from_str(&screen(&project, &all, code)).unwrap();
        assert_eq!(found["denied"], code == 1);
        let guards = found["guards"].as_array().unwrap();
        guards.iter().map(|guard| guard["guard"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(asked(&[], 0), ["self-guard"]);
    assert_eq!(asked(&["--agent", "general-purpose"], 0), ["self-guard"]);
    assert_eq!(asked(&["--agent", "x:tdd-planner"], 1), ["self-guard", "planner-bash-guard"]);
    project.write_file("provost.toml", "[guards]\nplanner-bash-guard = \"off\"\n");
    assert_eq!(asked(&["--agent", "tdd-planner"], 0), ["self-guard"]);
}

#[test]
fn check_as_json_shows_the_branch_of_a_commit() {
    let project = TestProject::new();
    let commits = |line: &str| -> Value {
        let found: Value = serde_json::from_str(&screen(&project, &["check", "--json", line], 0)).unwrap();
        let effects = found["effects"].as_array().unwrap();
        let commit = effects.iter().find(|effect| effect["does"] == "commits").unwrap();
        serde_json::json!([commit["repository"], commit["on"], commit["branch"], commit["dry_run"]])
    };
    let found = |repository: &str, on: &str, branch: Option<&str>, dry_run: bool| {
        serde_json::json!([repository, on, branch, dry_run])
    };
    assert_eq!(commits("git commit"), found("<project>", "current", None, false));
    assert_eq!(commits("git switch f && git commit"), found("<project>", "named", Some("f"), false));
    assert_eq!(commits("git switch f; git commit"), found("<project>", "unknown", None, false));
    assert_eq!(commits("git -C lib commit --dry-run"), found("<project>/lib", "current", None, true));
}

#[test]
fn schema_is_the_one_in_the_repository() {
    let project = TestProject::new();
    let kept = include_str!("../../schema/provost.schema.json");
    assert_eq!(screen(&project, &["schema"], 0), kept);
}

#[test]
fn wrong_usage_does_not_exit_like_a_block() {
    let project = TestProject::new();
    for arguments in [
        &["bogus"][..],
        &[],
        &["explain", "a", "b"],
        &["guards", "--nope"],
        &["config"],
        &["gate"],
        &["review"],
    ] {
        let output = run(&project, arguments);
        assert_eq!(output.status.code(), Some(64), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["hook", "--help"],
        &["explain", "-h"],
        &["gate", "assess", "--help"],
    ] {
        assert_eq!(run(&project, arguments).status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn colours_appear_only_where_they_are_wanted() {
    let project = TestProject::new();
    let escapes = |command: &mut Command| command.output().unwrap().stdout.contains(&0x1b);
    assert!(!escapes(&mut command(&project, &["guards"])));
    assert!(escapes(command(&project, &["guards"]).env("CLICOLOR_FORCE", "1")));
    assert!(!escapes(command(&project, &["guards"]).env("NO_COLOR", "1")));
}

#[test]
fn text_of_an_agent_cannot_control_the_terminal() {
    let project = TestProject::new();
    project.hook(&project.write(project.path.join("\u{1b}[2J\u{202e}/provost.toml"), "x"));
    for arguments in [&["explain"][..], &["journal"]] {
        let text = screen(&project, arguments, 0);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && text.contains("\\u{1b}"), "{text}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let project = TestProject::new();
    for _ in 0..3 {
        project.hook(&project.bash("ls"));
    }
    let mut child = command(&project, &["journal", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut complaint = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert_eq!((child.wait().unwrap().code(), complaint.as_str()), (Some(0), ""));
}

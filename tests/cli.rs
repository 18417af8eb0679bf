//! What a person sees: whole screens of the commands, colours, exit codes.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use support::TestProject;
use support::waiting::wait_until;

/// `provost ARGUMENTS` in the project, as a person in a terminal would run it.
fn command(project: &TestProject, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_provost"));
    command.args(arguments).env_clear().current_dir(&project.path);
    command.env("HOME", &project.home).env("PROVOST_MANAGED", project.home.with_file_name("managed"));
    command
}

fn run(project: &TestProject, arguments: &[&str]) -> Output {
    command(project, arguments).stdin(Stdio::null()).output().unwrap()
}

/// Standard output with the project's paths made short; the exit code must be as expected.
fn screen(project: &TestProject, arguments: &[&str], code: i32) -> String {
    let output = run(project, arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(code), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    project.shown(&text)
}

/// Replaces what differs from run to run: ids, times and durations.
fn steady(text: &str) -> String {
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
    assert_eq!(
        screen(&project, &["guards"], 0),
        "\
self  nobody switches the guards off from inside
on here: always

GUARD               ASKED                           ON FAILURE  BLOCKS  OVERRIDE  HERE
self-guard          before any tool                 closed      yes     once      on
registration-guard  session start, settings change  closed      yes     no        on
config-check        session start                   open        no      no        on
override            prompt                          open        no      no        on

plan-gate  an agent leaves plan mode only with a plan whose serious weaknesses are written down
off here: `plan_gate.enabled` is not set, and no hook entry was seen to name it

GUARD         ASKED                                           ON FAILURE  BLOCKS  OVERRIDE  HERE
plan-gate     leaving plan mode                               closed      yes     once      off
plan-keeper   after any tool in plan mode                     open        no      no        off
plan-brief    before an agent starts                          open        no      no        off
plan-witness  subagent stop, after an agent's answer, prompt  open        no      no        off

planner  a planner reads, writes only plans, and does not stop without one
on here: in the agents tdd-planner

GUARD                  ASKED                                     ON FAILURE  BLOCKS  OVERRIDE  HERE
planner-bash-guard     before any tool, in `planner.agents`      closed      yes     once      on
plan-output-validator  stop, subagent stop, in `planner.agents`  open        yes     once      on

review-loop  finished work is reviewed by a fresh reviewer until two reviews in a row are clean
off here: there is no `.taskie/plans` here or above

GUARD        ASKED  ON FAILURE  BLOCKS  OVERRIDE  HERE
review-loop  stop   open        yes     no        off

phases  no phase of a workflow is skipped or faked, and nothing is committed to main in between
off here: there is no `.isdlc` in this project

GUARD                      ASKED                                                                 ON FAILURE  BLOCKS  OVERRIDE  HERE
iteration-corridor         before an agent starts, before a skill, before a message to an agent  open        yes     once      off
skill-validator            before an agent starts                                                open        yes     once      off
phase-loop-controller      before an agent starts, and 3 more                                    open        yes     once      off
plan-surfacer              before an agent starts, and 3 more                                    open        yes     once      off
phase-sequence-guard       before an agent starts, and 3 more                                    open        yes     once      off
gate-blocker               before an agent starts, before a skill, before a message to an agent  open        yes     once      off
constitution-validator     before an agent starts, before a skill, before a message to an agent  open        yes     once      off
branch-guard               before any tool                                                       open        yes     once      off
state-write-validator      before any tool, after a tool that writes                             open        yes     once      off
log-skill-usage            after an agent's answer                                               open        no      no        off
menu-tracker               after an agent's answer, subagent stop                                open        no      no        off
walkthrough-tracker        after an agent's answer, subagent stop                                open        no      no        off
discover-menu-guard        after an agent's answer, subagent stop                                open        no      no        off
skill-delegation-enforcer  after a skill                                                         open        no      no        off
test-watcher               after a command line                                                  open        no      no        off
review-reminder            after a command line                                                  open        no      no        off
delegation-gate            stop                                                                  open        yes     once      off
phase-records              before an agent starts, and 7 more                                    open        no      no        off

6 of 29 guards on here.
closed: what the guard cannot judge is denied; open: it goes on.
once: a prompt that begins with `provost override GUARD REASON` allows one denied call.
"
    );
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
fn explain_tells_the_last_denial() {
    let project = TestProject::new();
    project.hook(&project.bash("rm provost.toml"));
    project.hook(&project.bash("ls"));
    // Where a line is broken depends on the length of the temporary directory's name.
    let whole = screen(&project, &["explain"], 0).replace("\n            ", " ");
    assert_eq!(
        steady(&whole),
        "\
rm provost.toml
deny  <id>
  time      <time>
  event     PreToolUse
  tool      Bash
  mode      default
  session   a6244560-d03c-4a53-ac56-5d9a9e0a04bd
  project   <project>
  version   0.1.0
  took      <n> ms

self-guard  deny  <n> ms
  No tool takes anything away from Provost: provost.toml, its hook entries and the switches in
  the client's settings files, Provost's own files; no tool adds a hook that could rewrite a
  judged call; no tool reads the seal key.
  what      `provost.toml` not deleted or moved
  why       tools may not change Provost's configuration
  evidence  <project>/provost.toml is Provost's configuration
  to fix    leave it as it is, or ask the user to change it
  once      type the prompt `provost override self-guard REASON` in the client
  way out   The user edits these files in an editor: only tool calls are judged. A prompt allows a tool to change settings, hooks or provost.toml once, but never the seal key, Provost's state or a forged event.
"
    );
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
    let text = project.journal_text();
    assert!(!text.contains("echo two"), "{text}");
}

#[test]
fn an_override_in_a_shell_says_where_to_type_it() {
    let project = TestProject::new();
    let told = |arguments: &[&str]| {
        let output = command(&project, &[&["override"], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        told(&["branch-guard", "it", "is --late"]),
        "[provost] nothing was allowed: an override counts only as your own prompt in the client. To fix: type it as \
         a prompt in the client's session: `provost override branch-guard it is --late`."
    );
    assert!(
        told(&["branch-gard", "x"]).contains("there is no guard `branch-gard`; did you mean `branch-guard`?")
    );
    assert!(told(&["registration-guard", "x"]).contains("`registration-guard` cannot be overridden"));
    assert!(told(&[]).contains("it names no guard. To fix: type the prompt `provost override GUARD REASON`"));
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
fn status_guards_and_doctor_count_what_is_on_in_the_same_way() {
    let project = TestProject::new();
    for (files, config, on) in
        [(&[][..], "", 6), (&[".isdlc/x"], "", 24), (&[".isdlc/x"], "[guards]\nbranch-guard = \"off\"\n", 23)]
    {
        for file in files {
            project.file(file, "");
        }
        project.file("provost.toml", config);
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
fn explain_names_those_that_only_kept_silent_in_one_line() {
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
fn explain_finds_a_decision_by_the_beginning_of_its_id() {
    let project = TestProject::new();
    project.hook(&project.bash("ls"));
    let id = project.journal()[0]["id"].as_str().unwrap().to_owned();
    assert!(screen(&project, &["explain", &id], 0).starts_with("silence  "));
    assert!(screen(&project, &["explain", &id[..12]], 0).starts_with("silence  "));
    assert_eq!(screen(&project, &["explain", "zzz"], 1), "no decision in this project begins with `zzz`\n");
    project.hook(&project.bash("ls"));
    assert_eq!(screen(&project, &["explain", "1"], 1), "2 decisions begin with `1`; give more of the ID\n");
}

#[test]
fn explain_has_something_to_say_when_nothing_was_denied() {
    let project = TestProject::new();
    assert_eq!(
        screen(&project, &["explain"], 1),
        "nothing was denied in <project> yet; `provost journal` shows all decisions\n"
    );
}

#[test]
fn explain_and_the_registry_use_the_same_sentences() {
    let project = TestProject::new();
    project.file("provost.toml", "[plan_gate]\nenabled = true\n");
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
    for record in project.journal() {
        expected = expected.replacen("TIME", &record["time"].as_str().unwrap()[11..19], 1);
    }
    assert_eq!(steady(&screen(&project, &["journal"], 0)).replace("<time> ", ""), expected);
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
    project.file("provost.toml", "[engine]\ndeadline_secnds = 3\n[guards]\nself-guard = \"off\"\n");
    project.home_file(".config/provost/provost.toml", "[engine]\ndeadline_seconds = 9\n");
    project.managed_config("[guards]\nself-guard = \"on\"\n");
    let text = screen(&project, &["config", "check"], 1);
    let managed = project.home.with_file_name("managed");
    assert_eq!(
        text.replace(managed.to_str().unwrap(), "<managed>"),
        "\
found  managed  <managed>/provost.toml
found  project  <project>/provost.toml
found  user     <home>/.config/provost/provost.toml

mistake <project>/provost.toml:2: unknown key `deadline_secnds`; did you mean `deadline_seconds`?

SETTING                    FROM     VALUE
engine.deadline_seconds    user     9
journal.enabled            default  true
journal.max_kilobytes      default  4096
plan_gate.enabled          default  false
plan_gate.witness          default  \"on\"
plan_gate.store            default  \"embedded\"
plan_gate.floor            default  \"advice\"
plan_gate.assess           default  \"skill\"
plan_gate.critics          default  [\"rodin:critic\"]
plan_gate.validators       default  [\"rodin:validator\"]
plan_gate.gap_phrases      default  [\"unclear\", \"not sure\", \"might fail\", \"need to investigate\", \"TODO\", \"TBD\", \"to be determined\", \"risk of\", \"potential issue\", \"may not work\", \"assuming\", \"if this works\", \"hopefully\"]
plan_gate.critic_model     default  \"opus\"
plan_gate.validator_model  default  \"haiku\"
planner.agents             default  [\"tdd-planner\"]
planner.strict             default  true
planner.allow              default  []
planner.tools              default  []
planner.directory          default  \"planning\"
planner.plan_minutes       default  30
planner.require_plan       default  true
planner.analysis_headings  default  [\"feature analysis\", \"feature description\", \"requirements analysis\", \"overview\"]
planner.slice_headings     default  [\"test specification\", \"slice N\"]
review_loop.seconds        default  570
review_loop.plan           default  \"session\"
review_loop.ground_rules   default  true
review_loop.state          default  \"checked\"
review_loop.report         default  \"changes\"
phases.validate            default  \"after\"
phases.notify              default  \"person\"
reviewer.command           default  []
reviewer.seconds           default  240
guards.self-guard          managed  \"on\"
guards.* (all others)      default  \"on\"

1 mistake; everything else counts
"
    );
}

#[test]
fn check_shows_what_a_command_would_do_and_what_each_guard_says() {
    let project = TestProject::new();
    project.file("lib/x", "");
    let line = "cd lib && A=1 cat x | tee $F; [ -f y ] && git commit -m z > /dev/null; echo $((a))";
    assert_eq!(
        screen(&project, &["check", "--agent", "tdd-planner", "--", line], 1),
        "\
runs      cd lib
sets      A to `1`
runs      cat x  (in <project>/lib)
reads     <project>/lib/x
runs      tee  (in <project>/lib)
writes    `$F`, which cannot be known
runs      [ -f y ]  (in a directory that is not certain)
writes    /dev/null
runs      git commit -m z  (in a directory that is not certain)
acts      git commit: changes the repository
commits   to its current branch in a repository that is not known
unknown   arithmetic with more than numbers at byte 79
runs      echo  (in a directory that is not certain)

self-guard  silence

planner-bash-guard  deny
  what      `cd lib && A=1 cat x | tee $F; [ -f y ] && git c…` BLOCKED
  why       'tee' is not in the planner's allowlist
  to fix    use a program that only reads, leave it to the main conversation, or ask the user to
            add it to `planner.allow` in provost.toml; these only read, by their plain names:
            find grep rg cat head tail wc ls tree file stat du df git flutter dart fvm test
            command which type pwd echo
"
    );
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
    project.file("provost.toml", "[guards]\nplanner-bash-guard = \"off\"\n");
    assert_eq!(asked(&["--agent", "tdd-planner"], 0), ["self-guard"]);
}

#[test]
fn check_as_json_tells_commits_apart_by_their_branch() {
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
    let kept = include_str!("../schema/provost.schema.json");
    assert_eq!(screen(&project, &["schema"], 0), kept);
}

#[test]
fn wrong_usage_never_looks_like_a_block() {
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
fn what_an_agent_wrote_cannot_repaint_the_terminal() {
    let project = TestProject::new();
    project.hook(&project.write(project.path.join("\u{1b}[2J\u{202e}/provost.toml"), "x"));
    for arguments in [&["explain"][..], &["journal"]] {
        let text = screen(&project, arguments, 0);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && text.contains("\\u{1b}"), "{text}");
    }
}

#[test]
fn a_closed_pipe_is_the_end_and_no_error() {
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

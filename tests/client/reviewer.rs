//! A reviewer that a hook starts inside a session of the real client.
//!
//! The hook of the scenario is this test program, so it asks the reviewer with the environment that the client gives to
//! hooks.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use provost::clients::DEFAULT_CLIENT;
use provost::config::{Config, ConfigLayer};
use provost::environment::{make_workspace, read_places};
use provost::review_verdict::{NoAnswer, ReviewResult, ReviewVerdict};
use provost::reviewer::{self, ReviewLogs, ReviewerTask};
use provost::workspace::Workspace;
use rehearsal::{Scenario, ScenarioPlayer, Silent};

const SCENARIO: &str = r#"
title = "the client's own headless command reviews: whole prompt, no hooks, no tools, no session"
prompt = "hello"

[env]
CLAUDE_CODE_MAX_OUTPUT_TOKENS = "1000"

[files]
"env.toml" = "[reviewer]\ncommand = ['env']\n"

# Not on PATH, but where its installer puts it.
[[setup]]
run = "mkdir -p ${home}/.local/bin && ln -s ${client} ${home}/.local/bin/claude"

# Every session starts with a prompt: a reviewer with hooks would ask a reviewer, without end.
[[hook]]
event = "UserPromptSubmit"
command = "${asker}"
args = ["reviewer::as_a_hook", "--exact", "--ignored"]
timeout = 60

[[route]]
name = "reviewer"
when = { first = "REVIEW THIS", notool = "Bash", model = "claude-haiku-4-5" }
[[route.step]]
text = "VERDICT: PASS"

[[route]]
name = "failing"
when = { first = "FAIL AT THIS" }
[[route.step]]
error = { status = 400, type = "invalid_request_error", message = "the model is out" }

[[route]]
name = "main"
[[route.step]]
text = "done"

[expect]
exit = 0
requests = { reviewer = 1, main = 1 }

[[expect.hook]]
event = "UserPromptSubmit"
count = 1
exit = 0

[[expect.request]]
route = "reviewer"
contains = ["THE LAST LINE"]

[[expect.file]]
path = "answer"
equals = "VERDICT: PASS"

[[expect.file]]
path = "failure"
contains = ["the reviewer failed (exit status: 1: API Error: 400", "the model is out"]

[[expect.file]]
path = "given"
contains = ["CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "CLAUDE_PROJECT_DIR"]

[[expect.file]]
path = "environment"
matches = ["(?m)^HOME=", "(?m)^PATH=", "(?m)^ANTHROPIC_BASE_URL=", "(?m)^ANTHROPIC_API_KEY=",
           "(?m)^CLAUDE_CODE_MAX_OUTPUT_TOKENS=1000$", "(?m)^PROVOST_CHILD=1$"]
lacks = ["CLAUDECODE", "AI_AGENT", "CLAUDE_PID", "CLAUDE_EFFORT", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION",
         "CLAUDE_CODE_CHILD", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_MESSAGING"]
"#;

const REVIEWS: &str = r#"
title = "the client's own headless command reviews files: its tools work unasked, no hooks, and a verdict"
prompt = "hello"

[files]
"code.txt" = "the code"

[[setup]]
run = "mkdir -p ${home}/.local/bin && ln -s ${client} ${home}/.local/bin/claude"

[[hook]]
event = "UserPromptSubmit"
command = "${asker}"
args = ["reviewer::reviewing_as_a_hook", "--exact", "--ignored"]
timeout = 110

# Only in sessions with hooks, and the main one uses no tool and stops once.
[[hook]]
event = "PreToolUse"
matcher = "*"
command = "/bin/true"

[[hook]]
event = "Stop"
command = "/bin/true"

[[route]]
name = "passing"
when = { first = "- REVIEW THE PROJECT", tool = "StructuredOutput", model = "claude-haiku-4-5" }
[[route.step]]
tool = "Read"
input = { file_path = '{{re:(/[^ \n]*/)review-1\.md}}code.txt' }
[[route.step]]
tool = "Write"
input = { file_path = '{{re:(/[^ \n]*/review-1\.md)}}', content = "All is well.\n" }
[[route.step]]
tool = "Bash"
input = { command = "python3 -c 1; echo run > must-run" }
[[route.step]]
tool = "StructuredOutput"
input = { verdict = "PASS" }

[[route]]
name = "silent"
when = { first = "SAY NOTHING", tool = "StructuredOutput" }
[[route.step]]
text = "I have read it."
[[route.step]]
text = "VERDICT: PASS"

[[route]]
name = "main"
[[route.step]]
text = "done"

[expect]
exit = 0
requests = { passing = 4, silent = 2, main = 1 }

[[expect.hook]]
event = "UserPromptSubmit"
count = 1
exit = 0

[[expect.hook]]
event = "PreToolUse"
count = 0

[[expect.hook]]
event = "Stop"
count = 1

[[expect.request]]
route = "passing"
n = 2
contains = ["the code"]

[[expect.file]]
path = "review-1.md"
equals = "All is well.\n"

[[expect.file]]
path = "must-run"
equals = "run\n"

[[expect.file]]
path = "verdicts"
equals = "Ok(Some(Pass)) Ok(None)"

[[expect.file]]
path = "logs/1.out"
contains = ['"structured_output":{"verdict":"PASS"}', '"permission_denials":[]']

[[expect.file]]
path = "logs/1.err"
equals = ""
"#;

#[test]
fn the_real_client_answers() {
    play(SCENARIO);
}

#[test]
fn the_real_client_reviews() {
    play(REVIEWS);
}

fn play(scenario: &str) {
    let Some(client) = crate::client::find_client() else { return };
    let built = Command::new(env!("CARGO")).args(["build", "-q", "-p", "rehearsal"]).status();
    assert!(built.is_ok_and(|status| status.success()), "the rehearsal crate does not build");
    let recorder = Path::new(env!("CARGO_BIN_EXE_provost")).with_file_name("rehearse");
    let asker = env::current_exe().unwrap().display().to_string();
    let stage = ScenarioPlayer {
        client,
        variables: BTreeMap::from([("asker".into(), asker)]),
        recorder,
        keep: false,
    };
    let scenario = Scenario::parse(scenario, "reviewer").unwrap_or_else(|error| panic!("{error}"));
    let playback = stage.play(&scenario, &mut Silent).unwrap_or_else(|error| panic!("{error}"));
    let wrong: Vec<String> = scenario.check(&playback).iter().map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "the hook of the scenario"]
fn as_a_hook() {
    let environment = Path::new("env.toml");
    assert!(environment.exists(), "outside the scenario this would ask a real model");
    let long = format!("REVIEW THIS\n{}THE LAST LINE", "a line of a plan\n".repeat(18_000));
    assert!(long.len() > 300_000);
    fs::write("answer", ask(&long, Config::default()).unwrap()).unwrap();
    fs::write("failure", ask("FAIL AT THIS", Config::default()).unwrap_err().to_string()).unwrap();
    let given: Vec<String> = env::vars().map(|(name, _)| name).collect();
    fs::write("given", given.join("\n")).unwrap();
    fs::write("environment", ask("", load(environment)).unwrap()).unwrap();
}

#[test]
#[ignore = "the hook of the scenario of reviews"]
fn reviewing_as_a_hook() {
    assert!(Path::new("code.txt").exists(), "outside the scenario this would ask a real model");
    let file = env::current_dir().unwrap().join("review-1.md");
    let prompt = format!("- REVIEW THE PROJECT and write your review to {}", file.display());
    let verdicts = [(1, prompt.as_str()), (2, "SAY NOTHING")]
        .map(|(n, prompt)| format!("{:?}", review(prompt, n, Config::default())));
    fs::write("verdicts", verdicts.join(" ")).unwrap();
}

fn load(file: &Path) -> Config {
    Config::load(&[(ConfigLayer::Project, file.to_owned())], Vec::new, None, None)
}

fn workspace(config: Config) -> Workspace {
    let here = env::current_dir().unwrap();
    make_workspace(DEFAULT_CLIENT, here.clone(), here, read_places(), config)
}

fn review(prompt: &str, n: u32, config: Config) -> ReviewResult {
    let directory = env::current_dir().unwrap();
    let limit = reviewer::configured_limit(&config);
    let question = ReviewerTask { prompt, model: "claude-haiku-4-5", limit, directory: &directory };
    let log = |kind: &str| directory.join(format!("logs/{n}.{kind}"));
    let logs = ReviewLogs { out: log("out"), err: log("err") };
    reviewer::run_review(&question, &logs, &workspace(config)).result
}

fn ask(prompt: &str, config: Config) -> Result<String, NoAnswer> {
    let directory = env::current_dir().unwrap();
    let limit = reviewer::configured_limit(&config);
    let question = ReviewerTask { prompt, model: "claude-haiku-4-5", limit, directory: &directory };
    reviewer::ask_reviewer(&question, &workspace(config))
}

/// Replaces the client with test programs. Only a process of its own can have other variables.
#[cfg(unix)]
#[test]
fn a_reviewer_is_found_by_the_users_variables_and_gets_no_others() {
    const INSIDE: &str = "TEST_INSIDE";
    if env::var_os(INSIDE).is_some() {
        return inside();
    }
    let home = tempfile::tempdir().unwrap();
    let status = Command::new(env::current_exe().unwrap())
        .args(["reviewer::a_reviewer_is_found_by_the_users_variables_and_gets_no_others", "--exact"])
        .current_dir(&home)
        .env_clear()
        .env("HOME", home.path())
        .envs([
            (INSIDE, "1"),
            ("PATH", "/usr/bin:/bin"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("ANTHROPIC_API_KEY", "k"),
        ])
        .envs([("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "5"), ("CLAUDE_PLUGIN_ROOT", "/p")])
        .status();
    assert!(status.unwrap().success());
}

#[cfg(unix)]
fn inside() {
    use std::os::unix::fs::PermissionsExt;
    fs::write("env.toml", "[reviewer]\ncommand = ['env']\n").unwrap();
    let environment = ask("", load(Path::new("env.toml"))).unwrap();
    let mut names: Vec<&str> = environment.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.sort_unstable();
    let kept = ["ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR", "HOME", "PATH", "PROVOST_CHILD", "TEST_INSIDE"];
    assert_eq!(names, kept);
    let client = |prints: &str| {
        fs::create_dir_all(".local/bin").unwrap();
        fs::write(".local/bin/claude", format!("#!/bin/sh\n{prints}\n")).unwrap();
        fs::set_permissions(".local/bin/claude", fs::Permissions::from_mode(0o700)).unwrap();
        ask("", Config::default())
    };
    assert_eq!(ask("", Config::default()), Err(NoAnswer::NotFound("claude".into())));
    let result = r#"echo '{"type":"result","is_error":false,"result":"PASS"}'"#;
    assert_eq!(client(result), Ok("PASS".into()));
    // What the client says in any other form is a message to a person.
    assert_eq!(client("echo PASS"), Err(NoAnswer::Unreadable("it does not have the client's form".into())));
    assert_eq!(client(""), Err(NoAnswer::Empty));
    let reviewing = |prints: &str| {
        client(prints).ok();
        review("-the prompt", 1, Config::default())
    };
    let names = "env | cut -d= -f1 | grep -v -e ^PWD -e ^SHLVL -e ^OLDPWD -e ^_ | sort";
    let pass = r#"echo '{"type":"result","structured_output":{"verdict":"PASS"}}'"#;
    let given = format!("{names} > names; printf '%s\\n' \"$@\" > arguments; cat > stdin; {pass}");
    assert_eq!(reviewing(&given), Ok(Some(ReviewVerdict::Pass)));
    assert_eq!(fs::read_to_string("names").unwrap().lines().collect::<Vec<_>>(), kept);
    let arguments = fs::read_to_string("arguments").unwrap();
    assert!(
        arguments.contains("\n--model\nclaude-haiku-4-5\n") && arguments.ends_with("\n--\n-the prompt\n"),
        "{arguments}"
    );
    assert_eq!(fs::read_to_string("stdin").unwrap(), "");
    // What the client says in any other form is no verdict.
    for prints in ["", "echo VERDICT: PASS", r#"echo '{"verdict":"PASS"}'"#] {
        assert_eq!(reviewing(prints), Ok(None), "{prints}");
    }
    assert_eq!(
        reviewing("echo no login >&2; exit 1"),
        Err(NoAnswer::Failed("exit status: 1: no login".into()))
    );
}

/// If the process that waits for a review has to end, the review and everything that it started end too.
#[cfg(unix)]
#[test]
fn a_review_ends_with_the_process_that_waits_for_it() {
    use rustix::process::{Pid, Signal, kill_process, test_kill_process};
    const INSIDE: &str = "TEST_WAITING";
    const SCRIPT: &str =
        "trap '' TERM; sleep 600 & echo $! > started.new; mv started.new started; wait; wait";
    if env::var_os(INSIDE).is_some() {
        let silence = review("", 1, load(Path::new("sleeping.toml")));
        return assert_eq!(silence, Err(NoAnswer::Interrupted));
    }
    let room = tempfile::tempdir().unwrap();
    let command = format!("[reviewer]\ncommand = ['sh', '-c', \"{SCRIPT}\"]\n");
    fs::write(room.path().join("sleeping.toml"), command).unwrap();
    let mut waiting = Command::new(env::current_exe().unwrap())
        .args(["reviewer::a_review_ends_with_the_process_that_waits_for_it", "--exact"])
        .current_dir(&room)
        .env(INSIDE, "1")
        .spawn()
        .unwrap();
    let pid = |text: &str| Pid::from_raw(text.trim().parse().unwrap()).unwrap();
    let patiently = |mut done: Box<dyn FnMut() -> bool>| {
        (0..60_000).any(|_| {
            thread::sleep(Duration::from_millis(10));
            done()
        })
    };
    let started = room.path().join("started");
    assert!(patiently(Box::new(|| started.exists())));
    let grandchild = pid(&fs::read_to_string(&started).unwrap());
    assert!(test_kill_process(grandchild).is_ok());
    kill_process(pid(&waiting.id().to_string()), Signal::TERM).unwrap();
    assert!(waiting.wait().unwrap().success());
    let stat = format!("/proc/{}/stat", grandchild.as_raw_nonzero());
    let is_gone = move || {
        let state = fs::read_to_string(&stat).unwrap_or_default();
        test_kill_process(grandchild).is_err() || state.contains(") Z ")
    };
    assert!(patiently(Box::new(is_gone)), "{grandchild:?} still runs");
}

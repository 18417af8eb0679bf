//! Scripts that play the reviewer.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use provost_core::config::{Config, ConfigLayer};
use provost_core::places::Places;
use provost_core::process::{self, ProgramStreams};
use provost_core::review_verdict::{NoAnswer, ReviewResult, ReviewVerdict};
use provost_core::reviewer::{
    LONGEST_IN_ARGUMENT, ReviewLogs, ReviewerTask, ask_reviewer, configured_limit, run_review as start_review,
};
use provost_core::workspace::Workspace;

use crate::DEFAULT_CLIENT;

mod review;

/// A directory with a `provost.toml` that names a reviewer.
struct Room {
    directory: tempfile::TempDir,
    workspace: Workspace,
}

impl Room {
    fn new(command: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("provost.toml");
        let words = serde_json::to_string(command).unwrap();
        fs::write(&file, format!("[reviewer]\ncommand = {words}\n")).unwrap();
        let config = Config::load(&[(ConfigLayer::Project, file)], Vec::new, None, None);
        assert_eq!(config.problems, []);
        let (start, places) = (directory.path().to_owned(), Places::default());
        let workspace = Workspace::new(&DEFAULT_CLIENT.facts, start.clone(), start, places, config);
        Self { directory, workspace }
    }

    fn script(text: &str) -> Self {
        Self::new(&["sh", "-c", text, "reviewer", "--model={model}"])
    }

    fn ask(&self, prompt: &str, seconds: u64) -> Result<String, NoAnswer> {
        let limit = Duration::from_secs(seconds);
        let question = ReviewerTask { prompt, model: "great", limit, directory: self.directory.path() };
        ask_reviewer(&question, &self.workspace)
    }
}

/// Long enough for a busy machine; no test waits that long.
const AMPLE: u64 = 600;
/// Long enough to start and to write some files, on a busy machine too.
const SHORT: u64 = 5;

fn answer_of(script: &str) -> Result<String, NoAnswer> {
    Room::script(script).ask("the prompt", AMPLE)
}

fn failed(words: &str) -> Result<String, NoAnswer> {
    Err(NoAnswer::Failed(words.into()))
}

fn is_gone(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.is_empty() || state.contains(") Z ")
}

/// Whether a process ends soon; a busy machine may need a while.
fn ends(pid: &str) -> bool {
    (0..10_000).any(|_| {
        thread::sleep(Duration::from_millis(10));
        is_gone(pid.trim())
    })
}

#[test]
fn the_answer_is_what_the_reviewer_prints() {
    let room = Room::script(r#"printf '%s|%s|%s\n\n' "$(cat)" "$1" "$(pwd)"; echo noise >&2"#);
    let directory = room.directory.path().canonicalize().unwrap();
    let expected = format!("the prompt|--model=great|{}", directory.display());
    assert_eq!(room.ask("the prompt", AMPLE), Ok(expected));
}

#[test]
fn an_answer_in_the_clients_form_is_its_text() {
    let result = |error: bool| format!(r#"{{"type":"result","is_error":{error},"result":"It\nis."}}"#);
    let printing =
        |error, then: &str| answer_of(&format!("cat > prompt; printf %s '{}'; {then}", result(error)));
    assert_eq!(printing(false, "echo"), Ok("It\nis.".into()));
    assert_eq!(printing(true, "echo"), failed("It is."));
    assert_eq!(printing(true, "exit 1"), failed("exit status: 1: It is."));
    assert_eq!(printing(false, "exit 1"), failed("exit status: 1"));
    // Only a single object has that form.
    assert_eq!(printing(false, "echo and more"), Ok(format!("{}and more", result(false))));
    // Other JSON is a text like any other.
    assert_eq!(answer_of(r#"echo '{"verdict":"PASS"}'"#), Ok(r#"{"verdict":"PASS"}"#.into()));
}

#[test]
fn a_reviewer_that_fails_says_why() {
    assert_eq!(answer_of("echo PASS; exit 3"), failed("exit status: 3"));
    let script = r"echo PASS; printf '\n no \033[2J login\nhere\n' >&2; exit 3";
    assert_eq!(answer_of(script), failed("exit status: 3: no \\u{1b}[2J login here"));
    let Err(NoAnswer::Failed(words)) = answer_of("yes complaint | head -n 9000 >&2; kill -9 $$") else {
        panic!()
    };
    assert!(words.starts_with("signal: 9 (SIGKILL): … complaint") && words.len() < 400, "{words}");
}

#[test]
fn nothing_is_no_answer() {
    assert_eq!(answer_of("cat > prompt"), Err(NoAnswer::Empty));
    assert_eq!(answer_of("printf ' \\n\\t\\n'"), Err(NoAnswer::Empty));
    assert_eq!(answer_of(r#"echo '{"type":"result","is_error":false,"result":" "}'"#), Err(NoAnswer::Empty));
}

#[test]
fn a_missing_program_is_named() {
    let missing = Room::new(&["no-such-reviewer"]);
    assert_eq!(missing.ask("x", AMPLE), Err(NoAnswer::NotFound("no-such-reviewer".into())));
    let room = Room::new(&["./review", "{model}"]);
    let review = room.directory.path().join("review");
    assert_eq!(room.ask("x", AMPLE), Err(NoAnswer::NotFound("./review".into())));
    fs::write(&review, "#!/bin/sh\n").unwrap();
    assert_eq!(room.ask("x", AMPLE), failed("./review is not executable"));
    let nowhere = Path::new("/no/such/directory");
    let question =
        ReviewerTask { prompt: "x", model: "m", limit: Duration::from_secs(AMPLE), directory: nowhere };
    assert_eq!(
        ask_reviewer(&question, &Room::script("true").workspace),
        failed("no directory /no/such/directory")
    );
}

#[test]
fn at_the_limit_the_reviewer_ends_with_everything_it_started() {
    let room =
        Room::script("(trap '' TERM HUP; sleep 600 & echo $! > grandchild; wait) & echo $$ > child; wait");
    assert_eq!(room.ask("x", SHORT), Err(NoAnswer::TimedOut(Duration::from_secs(SHORT))));
    for name in ["child", "grandchild"] {
        let pid = fs::read_to_string(room.directory.path().join(name)).unwrap();
        assert!(ends(&pid), "the {name} {pid} still runs");
    }
}

/// Clients run the commands of their tools in process groups of their own, and end them on SIGTERM.
#[test]
fn at_the_limit_the_reviewer_can_end_its_own_processes() {
    let room = Room::script("setsid sleep 600 & echo $! > other; trap 'kill $(cat other); exit' TERM; wait");
    assert_eq!(room.ask("x", SHORT), Err(NoAnswer::TimedOut(Duration::from_secs(SHORT))));
    let other = fs::read_to_string(room.directory.path().join("other")).unwrap();
    assert!(ends(&other), "{other} still runs");
}

#[test]
fn no_dead_process_is_left() {
    for (script, seconds) in [("echo fine", AMPLE), ("sleep 600", SHORT)] {
        let room = Room::script(&format!("echo $$ > child; {script}; exit"));
        let answered = room.ask("x", seconds).is_ok();
        assert_eq!(answered, seconds == AMPLE);
        let pid = fs::read_to_string(room.directory.path().join("child")).unwrap();
        let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        assert!(!state.contains(") Z "), "{state}");
    }
}

#[test]
fn a_process_that_keeps_the_pipes_open_is_not_waited_for() {
    // A process in the group ends with it; `setsid` leaves the group.
    for start in ["", "setsid"] {
        let room = Room::script(&format!("{start} sleep 100000 & echo $! > left; echo done"));
        assert_eq!(room.ask("x", AMPLE), Ok("done".into()));
        let left = fs::read_to_string(room.directory.path().join("left")).unwrap();
        if start.is_empty() {
            assert!(ends(&left), "{left} still runs");
        } else {
            assert!(!is_gone(left.trim()), "{left} has ended");
            let _ = Command::new("kill").arg(left.trim()).status();
        }
    }
}

#[test]
fn a_large_prompt_arrives_whole_or_is_not_read() {
    let prompt = "x".repeat(1 << 20);
    assert_eq!(Room::script("wc -c").ask(&prompt, AMPLE).unwrap().trim(), prompt.len().to_string());
    assert_eq!(Room::script("exec <&-; echo closed").ask(&prompt, AMPLE), Ok("closed".into()));
    assert_eq!(Room::script("echo unread").ask(&prompt, AMPLE), Ok("unread".into()));
    // It prints while it still reads.
    assert_eq!(Room::script("cat").ask(&prompt, AMPLE), Ok(prompt));
}

#[test]
fn an_answer_beyond_measure_is_none() {
    let too_large = Err(NoAnswer::Unreadable("it is larger than 4 MiB".into()));
    assert_eq!(answer_of("head -c 52428800 /dev/zero | tr '\\0' x"), too_large);
    assert_eq!(answer_of("echo fine; head -c 52428800 /dev/zero >&2"), Ok("fine".into()));
    let mut flood = Command::new("head");
    flood.args(["-c", "52428800", "/dev/zero"]);
    let output =
        process::run_program(&mut flood, ProgramStreams::default(), Duration::from_secs(AMPLE), || false)
            .unwrap()
            .unwrap();
    assert_eq!(output.stdout.len(), process::LARGEST_OUTPUT + 1);
    let largest = answer_of("head -c 4194304 /dev/zero | tr '\\0' x").unwrap();
    assert_eq!(largest.len(), process::LARGEST_OUTPUT);
}

#[test]
fn broken_text_is_repaired() {
    assert_eq!(answer_of(r"printf 'caf\351 PASS'"), Ok("caf\u{fffd} PASS".into()));
}

#[test]
fn every_silence_has_a_message() {
    let told = |silence: NoAnswer| silence.to_string();
    assert_eq!(told(NoAnswer::NotFound("x".into())), "the reviewer `x` is not found");
    assert_eq!(told(NoAnswer::Failed("exit status: 3".into())), "the reviewer failed (exit status: 3)");
    assert_eq!(
        told(NoAnswer::TimedOut(configured_limit(&Config::default()))),
        "the reviewer did not answer within 240 s"
    );
    assert_eq!(told(NoAnswer::Unreadable("why".into())), "the reviewer's answer cannot be read (why)");
    assert_eq!(told(NoAnswer::Empty), "the reviewer said nothing");
}

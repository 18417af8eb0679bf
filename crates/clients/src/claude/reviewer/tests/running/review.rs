//! Reviews by test programs.

use std::os::unix::fs::PermissionsExt;

use super::*;
use provost_files as files;

impl Room {
    fn logs(&self) -> ReviewLogs {
        let place = self.directory.path().join("state/logs");
        ReviewLogs { out: place.join("review.out"), err: place.join("review.err") }
    }

    fn review_with(&self, prompt: &str, seconds: u64, logs: &ReviewLogs) -> ReviewResult {
        let limit = Duration::from_secs(seconds);
        let question = ReviewerTask { prompt, model: "great", limit, directory: self.directory.path() };
        start_review(&question, logs, &self.workspace).result
    }

    fn review(&self, seconds: u64) -> ReviewResult {
        self.review_with("the prompt", seconds, &self.logs())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.directory.path().join(name)).unwrap()
    }
}

const PASS: ReviewResult = Ok(Some(ReviewVerdict::Pass));
const FAIL: ReviewResult = Ok(Some(ReviewVerdict::Fail));
const NONE: ReviewResult = Ok(None);

fn verdict_of(script: &str) -> ReviewResult {
    Room::script(script).review(AMPLE)
}

fn failed(words: &str) -> ReviewResult {
    Err(NoAnswer::Failed(words.into()))
}

#[test]
fn a_verdict_is_a_line_an_object_or_a_result_of_the_client() {
    assert_eq!(verdict_of("echo reading; echo VERDICT: PASS; echo"), PASS);
    assert_eq!(verdict_of("echo Verdict: fail"), FAIL);
    assert_eq!(verdict_of(r#"echo '{"verdict":"FAIL","issues":[]}'"#), FAIL);
    assert_eq!(
        verdict_of(
            r#"echo warning; echo '{"type":"result","is_error":false,"structured_output":{"verdict":"PASS"},"result":""}'"#
        ),
        PASS
    );
    assert_eq!(verdict_of(r#"echo '{"type":"result","result":"{\"verdict\":\"FAIL\"}"}'"#), FAIL);
}

#[test]
fn a_review_that_comes_to_its_end_may_have_no_verdict() {
    for script in [
        "true",
        "echo PASS",
        "echo VERDICT: PERHAPS",
        r#"echo '{"verdict":1}'"#,
        r#"echo '{"type":"result","is_error":false,"result":"The review is written. VERDICT: PASS"}'"#,
        "echo VERDICT: PASS >&2",
    ] {
        assert_eq!(verdict_of(script), NONE, "{script}");
    }
}

#[test]
fn a_verdict_before_a_crash_is_none() {
    assert_eq!(verdict_of("echo VERDICT: PASS; exit 3"), failed("exit status: 3"));
    assert_eq!(verdict_of("echo VERDICT: PASS; kill -9 $$"), failed("signal: 9 (SIGKILL)"));
    let result = r#"{"type":"result","is_error":true,"structured_output":{"verdict":"PASS"},"result":"No such model."}"#;
    assert_eq!(verdict_of(&format!("echo '{result}'")), failed("No such model."));
    // The client reports an error on both streams.
    assert_eq!(
        verdict_of(&format!("echo '{result}'; echo unrecognized >&2; exit 1")),
        failed("exit status: 1: No such model.; unrecognized")
    );
}

#[test]
fn the_error_of_a_failed_review_is_reported() {
    let script = "yes reading | head -n 9000 >&2; echo the login is over >&2; exit 1";
    let Err(NoAnswer::Failed(words)) = verdict_of(script) else { panic!() };
    assert!(words.starts_with("exit status: 1: … reading "), "{words}");
    assert!(words.ends_with(" reading the login is over") && words.len() < 400, "{words}");
    let Err(NoAnswer::Failed(words)) = verdict_of("head -c 9000 /dev/zero | tr '\\0' x >&2; exit 1") else {
        panic!()
    };
    assert!(words.starts_with("exit status: 1: xxx") && words.len() < 400, "{words}");
    // A review without logs ends in the same way.
    let room = Room::script(script);
    let nowhere = Path::new("/dev/null/logs");
    let logs = ReviewLogs { out: nowhere.join("out"), err: nowhere.join("err") };
    let Err(NoAnswer::Failed(words)) = room.review_with("x", AMPLE, &logs) else { panic!() };
    assert!(words.ends_with(" reading the login is over") && words.len() < 400, "{words}");
}

#[test]
fn the_logs_have_both_streams_and_are_private() {
    let room = Room::script("echo one; echo two >&2; echo VERDICT: PASS; echo three >&2");
    let logs = room.logs();
    // An older log does not count for this review.
    files::make_private_directory(logs.out.parent().unwrap()).unwrap();
    fs::write(&logs.out, "VERDICT: FAIL\n".repeat(9)).unwrap();
    let elsewhere = room.directory.path().join("elsewhere");
    fs::write(&elsewhere, "mine").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &logs.err).unwrap();
    assert_eq!(room.review(AMPLE), PASS);
    assert_eq!(fs::read_to_string(&logs.out).unwrap(), "one\nVERDICT: PASS\n");
    assert_eq!(fs::read_to_string(&logs.err).unwrap(), "two\nthree\n");
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "mine");
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([&logs.out, &logs.err].map(|path| mode(path)), [0o600; 2]);
    assert_eq!(mode(logs.out.parent().unwrap()), 0o700);
}

#[test]
fn a_review_can_be_watched_while_it_runs() {
    // It reads its own output in the file before it continues.
    let script =
        "echo begun; until grep -q begun state/logs/review.out; do sleep 0.01; done; echo VERDICT: PASS";
    assert_eq!(Room::script(script).review(AMPLE), PASS);
}

#[test]
fn a_review_without_logs_is_a_review() {
    for (out, err) in
        [("file/out", "file/err"), ("logs/out", "file/err"), ("file/out", "logs/err"), (".", "..")]
    {
        let room = Room::script("echo noise >&2; echo VERDICT: PASS; head -c 9000000 /dev/zero >&2");
        let place = |name: &str| room.directory.path().join(name);
        fs::write(place("file"), "").unwrap();
        assert_eq!(
            room.review_with("x", AMPLE, &ReviewLogs { out: place(out), err: place(err) }),
            PASS,
            "{out} {err}"
        );
    }
}

#[test]
fn a_chatty_review_is_heard_to_its_end() {
    assert_eq!(verdict_of("head -c 52428800 /dev/zero >&2; echo VERDICT: PASS"), PASS);
    assert_eq!(
        verdict_of("head -c 5242880 /dev/zero | tr '\\0' x; echo; echo VERDICT: PASS"),
        Err(NoAnswer::Unreadable("it is larger than 4 MiB".into()))
    );
}

/// It would fill the disk before its time limit.
#[test]
fn a_review_that_prints_without_end_is_ended() {
    for stream in ["1", "2"] {
        let room = Room::script(&format!("yes >&{stream}"));
        let Err(NoAnswer::Failed(why)) = room.review(AMPLE) else { panic!("it has an answer") };
        assert!(why.contains("it printed more than 64 MiB"), "{why}");
    }
}

#[test]
fn at_the_limit_a_review_ends_with_everything_it_started() {
    let script = "(trap '' TERM HUP; sleep 600 & echo $! > grandchild; wait) & echo $$ > child; echo VERDICT: PASS; wait";
    let room = Room::script(script);
    assert_eq!(room.review(SHORT), Err(NoAnswer::TimedOut(Duration::from_secs(SHORT))));
    for name in ["child", "grandchild"] {
        let pid = room.read(name);
        assert!(ends(&pid), "the {name} {pid} still runs");
    }
    assert_eq!(room.read("state/logs/review.out"), "VERDICT: PASS\n");
}

#[test]
fn a_prompt_in_an_argument_leaves_nothing_to_be_read() {
    let script = r#"cat > read; printf '%s|' "$PROVOST_CHILD" "$@" > given; echo VERDICT: PASS"#;
    let room =
        Room::new(&["sh", "-c", script, "reviewer", "--model={model}", "--", "<{prompt}>{model}{prompt}"]);
    // A placeholder in a prompt stays as it is.
    assert_eq!(room.review_with("-x {model} {prompt}\n$HOME", AMPLE, &room.logs()), PASS);
    let prompt = "-x {model} {prompt}\n$HOME";
    assert_eq!(room.read("given"), format!("1|--model=great|--|<{prompt}>great{prompt}|"));
    assert_eq!(room.read("read"), "");
    // In a question too. Without the placeholder, the prompt comes through stdin.
    assert_eq!(Room::new(&["sh", "-c", "cat; echo $0", "{prompt}"]).ask("what?", AMPLE), Ok("what?".into()));
    let room = Room::script("cat > read; echo VERDICT: FAIL");
    assert_eq!(room.review(AMPLE), FAIL);
    assert_eq!(room.read("read"), "the prompt");
}

#[test]
fn a_prompt_too_long_for_an_argument_is_refused_before_anything_is_started() {
    let room = Room::new(&["sh", "-c", "touch started; echo VERDICT: PASS", "{prompt}"]);
    let largest = "x".repeat(LONGEST_IN_ARGUMENT);
    assert_eq!(
        room.review_with(&format!("{largest}x"), AMPLE, &room.logs()),
        failed("a prompt of 101 KiB, and an argument takes 100 KiB")
    );
    assert!(!room.directory.path().join("started").exists());
    assert_eq!(room.review_with(&largest, AMPLE, &room.logs()), PASS);
    assert!(room.directory.path().join("started").exists());
}

#[test]
fn a_models_name_is_passed_on_as_it_is() {
    let room = Room::new(&["sh", "-c", "echo \"$1\" > model; echo VERDICT: PASS", "reviewer", "{model}"]);
    for model in ["haiku", "opus[1m]", "no such model; $(x)"] {
        let limit = Duration::from_secs(AMPLE);
        let question = ReviewerTask { prompt: "x", model, limit, directory: room.directory.path() };
        assert_eq!(start_review(&question, &room.logs(), &room.workspace).result, PASS);
        assert_eq!(room.read("model").trim_end(), model);
    }
}

//! `need = { check = … }`: what runs, for how long, how often, and what is left behind.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use super::evidence_session::RuleSession;
use crate::support::assert_shown;
use crate::support::waiting::{has_ended, wait_for_process, wait_until};

/// A session whose user has a rule with a check. It counts its runs in the home directory.
fn session_with_check(keys: &str, check: &str) -> RuleSession {
    let session = RuleSession::new("");
    let rule = format!(
        "[[rule]]\nname = \"lint\"\n{keys}\nneed = {{ check = '''echo run >> ~/runs; {check}''', seconds = 20 }}\n"
    );
    session.project.write_home_file(".config/provost/provost.toml", &rule);
    session.project.write_file("src/a.rs", "x");
    session
}

fn count_runs(session: &RuleSession) -> usize {
    fs::read_to_string(session.project.home.join("runs")).unwrap_or_default().lines().count()
}

fn may_commit(session: &RuleSession) -> bool {
    let answer = session.project.hook(&session.before("git commit -m x"));
    assert!(answer.is_silent() || answer.find_denial().is_ok(), "{answer:?}");
    answer.is_silent()
}

#[test]
fn a_check_decides_on_a_call_and_its_output_goes_to_the_model() {
    let session = session_with_check("commits = \"*\"", "echo warning: bad; test ! -e bad");
    assert!(may_commit(&session));
    session.project.write_file("bad", "");
    let answer = session.project.hook(&session.before("git commit -m x"));
    assert_shown!("rules-check-failed", session.project.whole(&answer));
    fs::remove_file(session.project.path.join("bad")).unwrap();
    assert!(may_commit(&session));
    assert!(session.project.hook(&session.before("ls")).is_silent());
    assert_eq!(count_runs(&session), 3, "only for commits");
}

#[test]
fn a_check_runs_once_for_the_same_files() {
    for has_git in [true, false] {
        let session = session_with_check("stops = true", "true");
        let path = &session.project.path;
        if !has_git {
            fs::remove_dir_all(path.join(".git")).unwrap();
        }
        let mut runs = 0;
        let mut expect_run = |why: &str, is_run: bool| {
            assert!(session.may_stop(), "{why}");
            runs += usize::from(is_run);
            assert_eq!(count_runs(&session), runs, "{why}, git: {has_git}");
        };
        expect_run("the first stop", true);
        expect_run("nothing has changed", false);
        session.project.write_file("src/a.rs", "longer");
        expect_run("a file has changed", true);
        expect_run("nothing has changed", false);
        session.project.write_file("src/b.rs", "");
        expect_run("a file is new", true);
        fs::remove_file(path.join("src/b.rs")).unwrap();
        expect_run("a file is gone", true);
        if has_git {
            Command::new("git").args(["add", "src"]).current_dir(path).output().unwrap();
            expect_run("the index has changed", true);
            session.project.write_file(".gitignore", "target/\n");
            session.project.write_file("target/x", "");
            expect_run("a file is new", true);
            session.project.write_file("target/x", "longer");
            expect_run("a file that git ignores", false);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(path.join("src/a.rs"), fs::Permissions::from_mode(0o755)).unwrap();
            expect_run("a mode has changed", true);
            expect_run("nothing has changed", false);
        }
    }
}

#[test]
fn files_of_inner_repositories_and_files_with_any_name_count() {
    let session = session_with_check("stops = true", "true");
    let path = &session.project.path;
    let git = |directory: &str, line: &str| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]);
        let output = command.args(line.split(' ')).current_dir(path.join(directory)).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    };
    session.project.write_file("inner/a", "1");
    git("inner", "init -q");
    git("inner", "add a");
    git("inner", "commit -qm a");
    git("", "submodule --quiet add ./inner module");
    let mut names = vec![path.join("inner/a"), path.join("module/a")];
    #[cfg(target_os = "linux")]
    names.push(path.join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff")));
    fs::write(names.last().unwrap(), "1").unwrap();
    assert!(session.may_stop() && session.may_stop());
    assert_eq!(count_runs(&session), 1);
    for (number, name) in names.iter().enumerate() {
        fs::write(name, "22").unwrap();
        assert!(session.may_stop() && session.may_stop());
        assert_eq!(count_runs(&session), number + 2, "{}", name.display());
    }
}

#[test]
fn a_failed_check_is_remembered_too_and_rounds_bound_it() {
    let session = session_with_check("stops = true\nrounds = 2", "printf 'bro%s' ken; exit 3");
    assert_shown!("rules-check-stop", session.project.whole(&session.stop()));
    assert!(!session.may_stop());
    let note = session.stop().expect_note();
    assert!(note.contains("failed with exit code 3") && !note.contains("broken"), "{note}");
    assert_eq!(count_runs(&session), 1);
}

#[test]
fn a_check_that_changes_files_itself_is_not_remembered() {
    let session = session_with_check("stops = true", "echo x >> src/a.rs");
    assert!(session.may_stop() && session.may_stop());
    assert_eq!(count_runs(&session), 2);
}

#[test]
fn changed_limits_a_check_to_files_that_the_session_has_changed() {
    let session = session_with_check("stops = true\nchanged = \"src/**\"", "test ! -e bad");
    assert!(session.may_stop());
    assert_eq!(count_runs(&session), 0);
    session.project.write_file("bad", "");
    session.write("src/a.rs");
    assert!(!session.may_stop());
    fs::remove_file(session.project.path.join("bad")).unwrap();
    assert!(session.may_stop() && session.may_stop());
    assert_eq!(count_runs(&session), 2);
}

#[test]
fn a_check_has_no_input_and_a_time_limit_and_its_group_ends_with_it() {
    let session = session_with_check("stops = true", "cat");
    assert!(session.may_stop(), "standard input is empty");
    let session = session_with_check("stops = true", "sleep 1000 & echo $! > ~/pid; echo begun; wait");
    set_seconds(&session, 2);
    let denial = session.stop().expect_denial();
    assert!(denial.contains("did not end within 2 s") && denial.contains("\nbegun\n"), "{denial}");
    assert!(has_check_ended(&session));
}

/// A check with a process that no signal for its group reaches.
#[cfg(target_os = "linux")]
const DETACHED: &str = "setsid sh -c 'echo $$ > ~/pid; exec sleep 1000' & sleep 1000";

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_leaves_its_group_ends_with_the_time_and_stays_after_a_normal_end() {
    let session = session_with_check("stops = true", DETACHED);
    set_seconds(&session, 1);
    assert!(session.stop().expect_denial().contains("did not end within 1 s"));
    wait_until("the check has ended", || has_check_ended(&session));
    let session = session_with_check(
        "stops = true",
        "setsid sh -c 'echo $$ > ~/pid; exec sleep 1000' & while ! test -s ~/pid; do :; done",
    );
    assert!(session.may_stop());
    assert!(!has_check_ended(&session), "build tools have daemons");
    Command::new("kill")
        .arg(fs::read_to_string(session.project.home.join("pid")).unwrap().trim())
        .status()
        .unwrap();
}

#[test]
fn a_check_that_prints_without_end_is_bounded() {
    let session = session_with_check(
        "stops = true",
        "head -c 300000000 /dev/zero | tr '\\0' x; echo; echo last; exit 1",
    );
    let denial = session.stop().expect_denial();
    assert!(denial.contains("last") && denial.len() < 10_000, "{}", denial.len());
}

#[test]
fn two_sessions_at_once_run_a_check_once() {
    let session = session_with_check("stops = true", "sleep 1");
    let mut other = session.event("Stop.active_false");
    other["session_id"] = "session-2".into();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| session.project.hook(&other).is_silent());
        assert!(session.project.hook(&session.event("Stop.active_false")).is_silent());
        assert!(first.join().unwrap());
    });
    assert_eq!(count_runs(&session), 1);
}

fn has_check_ended(session: &RuleSession) -> bool {
    has_ended(fs::read_to_string(session.project.home.join("pid")).unwrap().trim())
}

/// Runs a check that would not end, and ends its hook with a signal.
fn interrupt(check: &str, signal: &str) -> RuleSession {
    let session = session_with_check("stops = true", check);
    // Only the signal ends it.
    set_seconds(&session, 3600);
    let mut hook = session.project.command(&[]).spawn().unwrap();
    let stop = session.event("Stop.active_false").to_string();
    hook.stdin.take().unwrap().write_all(stop.as_bytes()).unwrap();
    let pid_file = session.project.home.join("pid");
    wait_until("the check runs", || fs::read_to_string(&pid_file).is_ok_and(|text| text.ends_with('\n')));
    Command::new("kill").args([signal, &hook.id().to_string()]).status().unwrap();
    wait_for_process(hook).expect("the hook ends");
    session
}

fn set_seconds(session: &RuleSession, seconds: u32) {
    let config = session.project.home.join(".config/provost/provost.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("seconds = 20", &format!("seconds = {seconds}"))).unwrap();
}

#[test]
fn an_interrupted_check_leaves_no_process_behind() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        let session = interrupt("sleep 1000 & echo $! > ~/pid; wait", signal);
        wait_until("the check has ended", || has_check_ended(&session));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_hook_leaves_no_process_behind() {
    for check in ["sleep 1000 & echo $! > ~/pid; wait", DETACHED] {
        for signal in ["-KILL", "-TERM"] {
            let session = interrupt(check, signal);
            wait_until("the check has ended", || has_check_ended(&session));
        }
    }
}

#[test]
fn a_project_runs_no_check_that_the_user_does_not_trust() {
    let rule = "[[rule]]\nname = \"lint\"\nstops = true\nneed = { check = \"echo run >> ~/runs; false\" }\n";
    let session = RuleSession::new(rule);
    assert!(session.may_stop());
    assert_eq!(count_runs(&session), 0);
}

#[test]
fn hook_entries_get_the_time_that_checks_need() {
    let session = session_with_check("stops = true", "true");
    let run = |arguments: &[&str]| {
        let (name, rest) = arguments.split_first().unwrap();
        let output = session.project.provost_command(name, rest).stdin(Stdio::null()).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let found = |text: &str| text.contains("timeout-short") && text.contains("Stop");
    session.project.write_file(
        ".claude/settings.json",
        &serde_json::json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "provost hook --pack rules",
            "timeout": 10}]}]}})
        .to_string(),
    );
    let report = run(&["doctor", "--json"]);
    assert!(found(&report), "{report}");
    fs::remove_file(session.project.path.join(".claude/settings.json")).unwrap();
    let report = run(&["init", "--yes", "--pack", "rules", "--scope", "local"]);
    let settings =
        fs::read_to_string(session.project.path.join(".claude/settings.local.json")).expect(&report);
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let seconds = |event: &str| {
        let entries = settings["hooks"][event].as_array().unwrap();
        entries.iter().filter_map(|group| group["hooks"][0]["timeout"].as_u64()).max().unwrap()
    };
    assert!(seconds("Stop") >= 31 && seconds("PreToolUse") == 10, "{settings}");
}

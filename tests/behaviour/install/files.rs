//! What is on the disk before, in between and after.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Stdio;
use std::thread;

use super::{Desk, RICH, entries};
use crate::support::waiting::wait_until;

#[test]
fn an_empty_project_has_a_new_file_and_then_nothing_again() {
    let desk = Desk::empty();
    desk.init();
    assert_eq!(desk.names(".claude"), ["settings.json"]);
    assert_eq!(
        desk.entries(),
        [
            "SessionStart - 10 go on",
            "UserPromptSubmit - 10 go on",
            "PreToolUse * 10 go on",
            "PostToolUse * 10 go on",
            "PostToolUseFailure Bash 10 go on",
            "SubagentStop - 10 go on",
            "Stop - 7200 go on",
            "ConfigChange - 10 go on",
        ]
    );
    assert!(desk.now().contains(
        "exec provost hook --pack self --pack rules --pack workflow --pack planner --pack review-loop --pack phases\""
    ));
    let shared = fs::metadata(desk.settings()).unwrap().permissions().mode() & 0o444;
    assert_eq!(shared, 0o444, "a shared file can be read");
    desk.uninstall();
    assert_eq!(desk.names(""), [".git"]);
}

#[test]
fn a_directory_that_was_there_stays() {
    let desk = Desk::empty();
    fs::create_dir(desk.project.path.join(".claude")).unwrap();
    desk.init();
    desk.run(&["init", "--yes", "--closed"], 0);
    desk.uninstall();
    assert_eq!(desk.names(""), [".claude", ".git"]);
    assert_eq!(desk.names(".claude"), [""; 0]);
}

#[test]
fn a_rich_file_keeps_every_byte_and_comes_back() {
    let desk = Desk::with(RICH);
    fs::set_permissions(desk.settings(), fs::Permissions::from_mode(0o640)).unwrap();
    let told = desk.init().line();
    assert!(
        told.contains("2 hooks in .claude/settings.json (PreToolUse, Notification); unchanged"),
        "{told}"
    );
    let now = desk.now();
    for line in RICH.split("\r\n").filter(|line| !line.contains("PreToolUse") && !line.contains("./mine")) {
        assert!(
            line == "}" || line == "\t}," || now.contains(line.trim_end_matches(['[', ']', ',', '}'])),
            "{line}\n{now}"
        );
    }
    assert!(
        now.contains("{\"type\":\"command\",\"command\":\"./mine.sh\",\"x\":[1,  2]} ] },\r\n\t\t\t{"),
        "{now}"
    );
    assert_eq!(now.matches('\n').count(), now.matches("\r\n").count());
    assert!(now.starts_with('\u{feff}') && now.ends_with("\"unknown\": {\"deep\": {}}\r\n}"));
    assert_eq!(fs::metadata(desk.settings()).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(desk.names(".claude"), ["settings.json", "settings.json.before-provost"]);
    let told = desk.uninstall().line();
    assert!(told.contains("byte for byte"), "{told}");
    assert_eq!(desk.now(), RICH);
    assert_eq!(desk.names(".claude"), ["settings.json"]);
    assert_eq!(fs::metadata(desk.settings()).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_second_run_changes_neither_bytes_nor_time() {
    let desk = Desk::with(RICH);
    desk.init();
    let (text, file) = (desk.now(), fs::metadata(desk.settings()).unwrap());
    let told = desk.init().line();
    assert!(told.contains("There is nothing to do: .claude/settings.json has all entries."), "{told}");
    let again = fs::metadata(desk.settings()).unwrap();
    assert_eq!(
        (desk.now(), again.ino(), again.modified().unwrap()),
        (text, file.ino(), file.modified().unwrap())
    );
    assert_eq!(desk.names(".claude").len(), 2);
}

#[test]
fn later_runs_keep_the_first_backup() {
    let desk = Desk::with(RICH);
    desk.init();
    desk.run(&["init", "--yes", "--pack", "plan-gate", "--closed"], 0);
    assert_eq!(desk.names(".claude"), ["settings.json", "settings.json.before-provost"]);
    assert_eq!(
        desk.entries()[..2],
        ["PreToolUse ^(?!ExitPlanMode$) 10 block", "PreToolUse ExitPlanMode 1000 block"]
    );
    desk.uninstall();
    assert_eq!(desk.now(), RICH);
}

/// An upgrade runs it without arguments: what was chosen stays.
#[test]
fn packs_and_closed_stay_until_something_else_is_said() {
    let desk = Desk::empty();
    desk.run(&["init", "--yes", "--scope", "project", "--pack", "plan-gate", "--closed"], 0);
    let chosen = desk.now();
    assert!(chosen.contains("^(?!ExitPlanMode$)"));
    assert_eq!(desk.entries().iter().filter(|entry| entry.ends_with(" block")).count(), 2);
    let told = desk.init().line();
    assert!(told.contains("nothing to do") && told.contains("yes plan-gate already installed"), "{told}");
    fs::write(
        desk.settings(),
        chosen.replace("1000", "5").replace("exec provost hook", "exec provost hook --pack old"),
    )
    .unwrap();
    let told = desk.init().line();
    assert!(told.contains("Changes 9 hook entries"), "{told}");
    assert_eq!(desk.now(), chosen);
    desk.project.write_file(".isdlc/state.json", "{}");
    desk.init();
    assert!(desk.now().contains("--pack plan-gate --pack phases\""));
    desk.run(&["init", "--yes", "--open"], 0);
    assert_eq!(desk.entries().iter().filter(|entry| entry.ends_with(" block")).count(), 1);
}

#[test]
fn what_a_person_edits_in_between_stays() {
    let desk = Desk::with(RICH);
    desk.init();
    fs::write(desk.settings(), desk.now().replace("\"opus\"", "\"haiku\"")).unwrap();
    let told = desk.uninstall().line();
    assert_eq!(desk.now(), RICH.replace("\"opus\"", "\"haiku\""));
    assert!(told.contains("The backup from before Provost stays:"), "{told}");
    // The next time, the file as it is then is the one from before.
    let edited = desk.now();
    desk.init();
    assert_eq!(desk.names(".claude").len(), 3);
    desk.uninstall();
    assert_eq!(desk.now(), edited);
    assert_eq!(desk.names(".claude"), ["settings.json", "settings.json.before-provost"]);
}

#[test]
fn a_new_file_that_somebody_used_stays_without_our_entries() {
    let desk = Desk::empty();
    desk.init();
    fs::write(desk.settings(), desk.now().replacen('{', "{\n  \"model\": \"opus\",", 1)).unwrap();
    desk.uninstall();
    assert_eq!(desk.now(), "{\n  \"model\": \"opus\"\n}\n");
    // An old backup does not tell what was there when the file was made.
    let desk = Desk::with("{\"old\": 1}");
    desk.init();
    fs::rename(desk.settings(), desk.settings().with_file_name("aside")).unwrap();
    desk.init();
    assert_eq!(desk.names(".claude").len(), 4);
    desk.uninstall();
    assert_eq!(desk.names(".claude"), ["aside", "settings.json.before-provost"]);
}

#[test]
fn without_a_backup_only_our_entries_go() {
    let desk = Desk::with(&RICH.replace("\"Stop\": [],\r\n\t\t", ""));
    let before = desk.now();
    desk.init();
    fs::remove_file(desk.settings().with_file_name("settings.json.before-provost")).unwrap();
    desk.uninstall();
    assert_eq!(desk.now(), before);
}

#[test]
fn a_migrated_file_is_migrated_again_after_uninstall() {
    let node = "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"node h/delegation-gate.cjs\"}]}]\n  }\n}\n";
    let desk = Desk::with(node);
    desk.run(&["phases", "migrate", "--yes"], 0);
    let migrated = desk.now();
    desk.init();
    assert!(desk.now().contains("--pack"));
    let told = desk.uninstall().line();
    assert_eq!(desk.now(), migrated);
    // A person who wants to be rid of Provost is told that it is still asked.
    let count = entries(&migrated).len();
    assert!(
        told.contains(&format!("Left: {count} entries that were there before `init` are restored")),
        "{told}"
    );
    let told = desk.uninstall().line();
    assert!(entries(&desk.now()).is_empty() && !told.contains("come back"), "{told}");
}

/// What a migration keeps later has our entries in it, and is not the file from before.
#[test]
fn a_migration_in_between_does_not_bring_entries_back() {
    let desk = Desk::with("{\n  \"model\": \"opus\"\n}\n");
    desk.init();
    let node = "{\"type\": \"command\", \"command\": \"node h/test-watcher.cjs\"}";
    fs::write(desk.settings(), desk.now().replacen("\"hooks\": [", &format!("\"hooks\": [{node},"), 1))
        .unwrap();
    desk.run(&["phases", "migrate", "--yes"], 0);
    assert_eq!(desk.names(".claude").len(), 3);
    desk.uninstall();
    assert_eq!(desk.now(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn a_dry_run_and_a_pipe_write_nothing() {
    let desk = Desk::with(RICH);
    let told = desk.run(&["init", "--dry-run", "--scope", "project"], 0).stdout;
    assert!(
        told.contains("+++ <project>/.claude/settings.json") && told.ends_with("\nNothing was changed.\n"),
        "{told}"
    );
    let told = desk.run(&["init", "--scope", "project"], 1).line();
    assert!(told.contains("Nothing was changed: this is not a terminal, so nobody can confirm."), "{told}");
    assert_eq!((desk.now().as_str(), desk.names(".claude").len()), (RICH, 1));
    desk.init();
    let installed = desk.now();
    assert!(desk.run(&["uninstall", "--dry-run"], 0).stdout.ends_with("\nNothing was changed.\n"));
    desk.run(&["uninstall"], 1);
    assert_eq!((desk.now(), desk.names(".claude").len()), (installed, 2));
    for command in ["init", "uninstall"] {
        desk.run(&[command, "--yes", "--dry-run"], 64);
    }
    let empty = Desk::empty();
    empty.run(&["init", "--dry-run", "--scope", "project"], 0);
    empty.run(&["init", "--scope", "project"], 1);
    assert_eq!(empty.names(""), [".git"]);
}

/// `provost init --yes | head` still does what it was told.
#[test]
fn a_reader_that_goes_away_stops_nothing() {
    let desk = Desk::empty();
    let mut command = desk.command(&["init", "--yes", "--scope", "project"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(desk.entries().len(), 8);
}

#[test]
fn two_at_once_leave_one_whole_file() {
    for round in 0..10 {
        let desk = Desk::with(RICH);
        let codes: Vec<i32> = thread::scope(|scope| {
            let runs: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| desk.answered(desk.command(&["init", "--yes", "--scope", "project"])).code)
                })
                .collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        assert!(codes.iter().all(|code| [0, 74].contains(code)) && codes.contains(&0), "{round}: {codes:?}");
        assert_eq!(desk.entries().len(), 8);
        assert_eq!(desk.names(".claude"), ["settings.json", "settings.json.before-provost"]);
        desk.uninstall();
        assert_eq!(desk.now(), RICH);
    }
}

/// Somebody who uninstalls takes the kept file away while another one waits to install.
#[test]
fn whether_a_file_is_kept_is_decided_when_its_turn_comes() {
    let desk = Desk::with(RICH);
    desk.init();
    let kept = desk.project.path.join(".claude/settings.json.before-provost");
    fs::write(desk.settings(), RICH).unwrap();
    let locks = fs::read_dir(desk.project.home.join(".local/state/provost/locks")).unwrap();
    let locks: Vec<File> = locks.map(|lock| File::open(lock.unwrap().path()).unwrap()).collect();
    for lock in &locks {
        lock.lock().unwrap();
    }
    let mut child =
        desk.command(&["init", "--yes", "--scope", "project"]).stdout(Stdio::null()).spawn().unwrap();
    let open = format!("/proc/{}/fd", child.id());
    wait_until("a process at the lock", || {
        let open = fs::read_dir(&open).into_iter().flatten().flatten();
        open.filter_map(|entry| fs::read_link(entry.path()).ok())
            .any(|file| file.extension().is_some_and(|kind| kind == "lock"))
    });
    assert_eq!(desk.now(), RICH);
    fs::remove_file(&kept).unwrap();
    drop(locks);
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read_to_string(&kept).unwrap(), RICH);
    desk.uninstall();
    assert_eq!(desk.now(), RICH);
}

#[test]
fn a_new_file_is_not_for_everybody_to_write() {
    let desk = Desk::empty();
    let folder = desk.project.path.join(".claude");
    for (directory, file) in [(0o777, 0o664), (0o755, 0o644), (0o700, 0o600)] {
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(directory)).unwrap();
        desk.init();
        assert_eq!(fs::metadata(desk.settings()).unwrap().mode() & 0o777, file);
        desk.uninstall();
    }
}

#[test]
fn what_a_killed_run_has_begun_is_cleared_away() {
    let desk = Desk::with(RICH);
    for begun in [".settings.json.provost.tmp", ".settings.json.before-provost.provost.tmp"] {
        desk.project.write_file(&format!(".claude/{begun}"), "{\"mod");
    }
    desk.init();
    assert_eq!(desk.names(".claude"), ["settings.json", "settings.json.before-provost"]);
    desk.uninstall();
    assert_eq!(
        (desk.names(".claude").as_slice(), desk.now().as_str()),
        (&["settings.json".to_owned()][..], RICH)
    );
}

/// Killed at any moment, there is the old file or the new one, and the next run goes on from there.
#[test]
fn a_killed_run_leaves_the_old_file_or_the_new_one() {
    for delay in 0..20 {
        let desk = Desk::with(RICH);
        let mut command = desk.command(&["init", "--yes", "--scope", "project"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(std::time::Duration::from_millis(delay));
        let _ = child.kill();
        child.wait().unwrap();
        let now = desk.now();
        assert!(now == RICH || entries(&now).len() == 8, "{now}");
        desk.init();
        desk.uninstall();
        assert_eq!(desk.now(), RICH, "after {delay} ms: {:?}", desk.names(".claude"));
    }
}

#[test]
fn a_link_to_ones_own_file_stays_a_link() {
    let desk = Desk::empty();
    let real = desk.project.write_home_file("dotfiles/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    fs::create_dir_all(desk.project.home.join(".claude")).unwrap();
    let link = desk.project.home.join(".claude/settings.json");
    symlink(&real, &link).unwrap();
    desk.run(&["init", "--yes", "--scope", "user"], 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(entries(&fs::read_to_string(&real).unwrap()).len(), 8);
    desk.uninstall();
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\n  \"model\": \"opus\"\n}\n");
}

/// What the message about a changed reviewer says helps, also where all entries are there.
#[test]
fn the_reviewer_is_remembered_also_where_there_is_nothing_to_do() {
    let desk = Desk::empty();
    let client = desk.project.home.join(".local/bin/claude");
    let put = |said: &str| {
        let script = desk.project.write_home_file("script", &format!("#!/bin/sh\necho '{said}'\n"));
        fs::create_dir_all(client.parent().unwrap()).unwrap();
        let done =
            std::process::Command::new("install").args(["-m", "755"]).arg(script).arg(&client).status();
        assert!(done.unwrap().success());
    };
    let known = || fs::read_to_string(desk.project.state_directory().join("reviewer.json")).unwrap();
    put("1.0");
    desk.init();
    let first = known();
    put("a longer 2.0");
    assert!(desk.run(&["init", "--dry-run"], 0).line().contains("There is nothing to do"));
    assert_eq!(known(), first, "a dry run changes nothing");
    let told = desk.init().line();
    assert!(told.contains("There is nothing to do"), "{told}");
    assert!(
        told.contains("The reviewer ~/.local/bin/claude has changed; Provost trusts the new one"),
        "{told}"
    );
    assert_ne!(known(), first);
    assert!(!desk.init().line().contains("has changed"));
}

//! `provost init` proposes the built-in rules once, and `uninstall` removes a file that has nothing else.

use std::fs;
use std::process::Command;

use super::*;

const USED: &str = "[rules]\nuse = [\"baseline\"]\n";

fn config(desk: &Desk) -> Option<String> {
    fs::read_to_string(desk.project.path.join("provost.toml")).ok()
}

#[test]
fn yes_accepts_the_built_in_rules_and_says_so() {
    let desk = Desk::empty();
    let told = desk.run(&["init", "--yes"], 0);
    assert!(told.line().contains("Wrote provost.toml: the built-in rules are enforced."), "{}", told.stdout);
    assert_eq!(config(&desk).as_deref(), Some(USED));
    // They are not proposed again.
    let told = desk.run(&["init", "--yes"], 0).line();
    assert!(!told.contains("built-in rules"), "{told}");
    desk.uninstall();
    assert_eq!(config(&desk), None);
    // A file with something of the user's own stays.
    desk.run(&["init", "--yes"], 0);
    fs::write(desk.project.path.join("provost.toml"), format!("{USED}# mine\n")).unwrap();
    desk.uninstall();
    assert_eq!(config(&desk), Some(format!("{USED}# mine\n")));
}

#[test]
fn rules_can_be_watched_or_left_out() {
    let desk = Desk::empty();
    desk.run(&["init", "--yes", "--rules", "off"], 0);
    assert_eq!(config(&desk), None);
    // Somebody who has entries has decided already.
    desk.run(&["init", "--yes"], 0);
    assert_eq!(config(&desk), None);
    let told = desk.run(&["init", "--yes", "--rules", "watch"], 0).line();
    assert!(told.contains("the built-in rules are watched"), "{told}");
    assert_eq!(config(&desk).as_deref(), Some("[rules]\nuse = [\"baseline\"]\nmode = \"watch\"\n"));
}

#[test]
fn nothing_is_written_without_consent() {
    let desk = Desk::empty();
    let told = desk.run(&["init", "--dry-run"], 0).stdout;
    assert!(told.contains("+use = [\"baseline\"]\n"), "{told}");
    desk.run(&["init"], 1);
    assert_eq!(config(&desk), None);
}

#[test]
fn the_file_keeps_what_it_has() {
    let desk = Desk::empty();
    desk.project.write_file("provost.toml", "# mine\n[journal]\nenabled = true\n");
    desk.run(&["init", "--yes"], 0);
    assert_eq!(config(&desk), Some(format!("# mine\n[journal]\nenabled = true\n\n{USED}")));
    // A broken file is not touched, and the hooks are installed all the same.
    let desk = Desk::empty();
    desk.project.write_file("provost.toml", "[journal\n");
    let told = desk.run(&["init", "--yes"], 0);
    assert!(told.stderr.contains("the built-in rules are not proposed: "), "{}", told.stderr);
    assert_eq!(config(&desk).as_deref(), Some("[journal\n"));
}

#[test]
fn for_all_projects_the_users_file_has_the_rules() {
    let desk = Desk::empty();
    desk.run(&["init", "--yes", "--scope", "user"], 0);
    assert_eq!(config(&desk), None);
    let own = desk.project.home.join(".config/provost/provost.toml");
    assert_eq!(fs::read_to_string(own).unwrap(), USED);
}

#[test]
fn named_packs_come_without_the_built_in_rules_but_ones_own_hold() {
    let desk = Desk::empty();
    desk.run(&["init", "--yes", "--scope", "project", "--pack", "phases"], 0);
    assert_eq!(config(&desk), None);
    assert!(desk.now().contains("--pack self --pack rules --pack workflow --pack phases"), "{}", desk.now());
    let desk = Desk::empty();
    desk.run(&["init", "--yes", "--scope", "project", "--pack", "phases", "--rules", "enforce"], 0);
    assert_eq!(config(&desk).as_deref(), Some(USED));
    assert!(desk.now().contains("--pack self --pack rules --pack workflow --pack phases"), "{}", desk.now());
}

/// What a new user tries first. The home has no such directory, and the repository no commit.
#[test]
fn after_init_the_first_commands_that_people_fear_are_stopped_with_a_fix() {
    let desk = Desk::empty();
    let git = Command::new("git").args(["init", "-q"]).current_dir(&desk.project.path).status();
    assert!(git.unwrap().success());
    desk.run(&["init", "--yes"], 0);
    for (line, rule) in [
        ("rm -rf ~/Documents", "rule:baseline/delete-outside  deny\n"),
        ("git push --force origin main", "rule:baseline/force-push  ask\n"),
        ("git reset --hard", "rule:baseline/discard-changes  ask\n"),
        ("cat .env", "rule:baseline/show-secrets  ask\n"),
    ] {
        let told = desk.run(&["check", "--", line], 1).stdout;
        assert!(told.contains(rule) && told.contains("\n  to fix    "), "{told}");
    }
    assert_eq!(desk.run(&["check", "--", "git status"], 0).stdout.matches("rule:").count(), 0);
}

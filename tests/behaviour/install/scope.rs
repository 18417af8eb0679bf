//! Which scope `init` chooses, what teammates without the program get, and which path the entries name.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::{Desk, entries};
use crate::support::program;

const LOCAL: &str = ".claude/settings.local.json";
const SHARED: &str = ".claude/settings.json";

fn text(desk: &Desk, file: &str) -> String {
    fs::read_to_string(desk.project.path.join(file)).unwrap()
}

/// Every entry of a settings file, with its event.
fn hooks(text: &str) -> Vec<(String, Value)> {
    let file: Value = serde_json::from_str(text).unwrap();
    let mut found = Vec::new();
    for (event, groups) in file["hooks"].as_object().unwrap() {
        for group in groups.as_array().unwrap() {
            found.extend(group["hooks"].as_array().unwrap().iter().map(|hook| (event.clone(), hook.clone())));
        }
    }
    found
}

/// Another process writes it: what this one has open for writing cannot be run.
fn copy_program(place: &Path) -> PathBuf {
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    assert!(Command::new("cp").arg(program()).arg(place).status().unwrap().success());
    place.to_owned()
}

/// `init` by this copy of the program, with these directories before the usual ones on the PATH.
fn init_by(desk: &Desk, by: &Path, path: &[&Path], arguments: &[&str]) -> String {
    let mut command = Command::new(by);
    command.args(["init", "--dry-run"]).args(arguments).env_clear().current_dir(&desk.project.path);
    let folders: Vec<&str> = path.iter().map(|folder| folder.to_str().unwrap()).collect();
    command.env("PATH", [&folders[..], &["/usr/bin", "/bin"]].concat().join(":"));
    command.env("HOME", &desk.project.home).stdin(Stdio::null()).envs([crate::support::PATIENCE]);
    command.env("PROVOST_MANAGED", desk.project.home.with_file_name("managed"));
    let shown = desk.answered(command);
    assert_eq!(shown.code, 0, "{shown:?}");
    shown.stdout
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn without_a_scope_only_the_users_own_sessions_change() {
    let desk = Desk::empty();
    let told = desk.run(&["init", "--yes"], 0).line();
    assert_eq!(desk.names(".claude"), ["settings.local.json"]);
    assert_eq!(entries(&text(&desk, LOCAL)).len(), 8);
    assert!(told.contains(".claude/settings.local.json (local), a new file"), "{told}");
    assert!(told.contains("Scope: local") && told.contains("`--scope project`"), "{told}");
    // A file that the team shares is not a reason to write into it.
    let desk = Desk::with("{\"model\": \"opus\"}");
    desk.run(&["init", "--yes"], 0);
    assert_eq!(desk.now(), "{\"model\": \"opus\"}");
    assert_eq!(desk.names(".claude"), ["settings.json", "settings.local.json"]);
}

#[test]
fn without_a_scope_entries_are_updated_where_they_are() {
    for (scope, below_home) in [
        ("project", "project/.claude/settings.json"),
        ("local", "project/.claude/settings.local.json"),
        ("user", ".claude/settings.json"),
    ] {
        let desk = Desk::empty();
        desk.run(&["init", "--yes", "--scope", scope], 0);
        let file = desk.project.home.join(below_home);
        let first = fs::read_to_string(&file).unwrap();
        let told = desk.run(&["init", "--yes"], 0).line();
        assert!(told.contains("There is nothing to do"), "{scope}: {told}");
        let told = desk.run(&["init", "--yes", "--pack", "plan-gate"], 0).line();
        assert!(told.contains(&format!("Scope: {scope}, because")), "{told}");
        assert_ne!(fs::read_to_string(&file).unwrap(), first);
        let of_project = usize::from(scope != "user");
        assert_eq!(desk.names(".claude").len(), of_project, "{scope}: {:?}", desk.names(".claude"));
    }
}

#[test]
fn a_local_file_that_git_would_commit_is_told() {
    let desk = Desk::empty();
    let told = desk.run(&["init", "--dry-run"], 0).line();
    assert!(!told.contains("git does not ignore"), "this is no repository that git knows: {told}");
    let git = Command::new("git").args(["init", "--quiet", "."]).current_dir(&desk.project.path).status();
    assert!(git.unwrap().success());
    let told = desk.run(&["init", "--dry-run"], 0).line();
    assert!(told.contains("git does not ignore .claude/settings.local.json"), "{told}");
    assert!(told.contains(".gitignore"), "{told}");
    let told = desk.run(&["init", "--dry-run", "--scope", "project"], 0).line();
    assert!(!told.contains("git does not ignore"), "{told}");
    desk.project.write_file(".gitignore", "*.local.json\n");
    let told = desk.run(&["init", "--dry-run"], 0).line();
    assert!(!told.contains("git does not ignore"), "{told}");
}

/// Runs an entry as the client runs one without `args`.
fn run_entry(desk: &Desk, hook: &Value, home: &Path, path: &str, event: &Value) -> Output {
    assert!(hook.get("args").is_none(), "{hook}");
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(hook["command"].as_str().unwrap()).env_clear().current_dir(&desk.project.path);
    command.env("HOME", home).env("PATH", path).envs([crate::support::PATIENCE]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Where nobody reads it, the pipe may be closed already.
    let _ = child.stdin.take().unwrap().write_all(event.to_string().as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn shared_entries_are_quiet_where_the_program_is_missing() {
    let desk = Desk::empty();
    let told = desk.run(&["init", "--yes", "--scope", "project"], 0).line();
    assert!(told.contains("Teammates without Provost"), "{told}");
    let nobody = desk.project.home.join("nobody");
    let event = desk.project.bash("echo hi");
    let all = hooks(&desk.now());
    assert_eq!(all.len(), 8);
    for (name, hook) in all {
        assert!(
            !hook.to_string().contains(desk.project.home.to_str().unwrap()),
            "a path of one machine: {hook}"
        );
        let output = run_entry(&desk, &hook, &nobody, "/usr/bin:/bin", &event);
        assert_eq!(output.status.code(), Some(0), "{name}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{name}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        if name == "SessionStart" {
            let answer: Value = serde_json::from_str(&stdout).unwrap();
            assert!(answer["systemMessage"].as_str().unwrap().starts_with("[provost] "), "{stdout}");
            assert_eq!(answer.as_object().unwrap().len(), 1, "the model is told nothing: {stdout}");
        } else {
            assert_eq!(stdout, "", "{name}");
        }
    }
}

#[test]
fn shared_entries_ask_the_program_that_each_machine_has() {
    let desk = Desk::empty();
    desk.run(&["init", "--yes", "--scope", "project"], 0);
    let hook = &hooks(&desk.now()).into_iter().find(|(event, _)| event == "PreToolUse").unwrap().1;
    let event = desk.project.bash("echo x > provost.toml");
    for (folder, is_on_path) in [("bin", true), (".cargo/bin", false), (".local/bin", false)] {
        let home = desk.project.home.join("mate").join(folder.replace('/', "-"));
        copy_program(&home.join(folder).join("provost"));
        let path = format!("{}:/usr/bin:/bin", home.join(folder).display());
        let path = if is_on_path { path.as_str() } else { "/usr/bin:/bin" };
        let output = run_entry(&desk, hook, &home, path, &event);
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.contains("\"permissionDecision\":\"deny\""), "{folder}: {stdout}");
    }
}

/// What is closed stays closed: the plan gate, and everything with `--closed`.
#[test]
fn shared_entries_that_are_closed_say_why_they_block() {
    let desk = Desk::empty();
    let told = desk.run(&["init", "--yes", "--scope", "project", "--pack", "plan-gate"], 0).line();
    assert!(told.contains("cannot leave plan mode until they install it"), "{told}");
    let blocked = |desk: &Desk| -> Vec<String> {
        let mut found = Vec::new();
        for (name, hook) in hooks(&desk.now()) {
            let nobody = desk.project.home.join("nobody");
            let output = run_entry(desk, &hook, &nobody, "/usr/bin:/bin", &desk.project.bash("echo hi"));
            assert_eq!(output.status.code(), Some(0), "{name}");
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let answer = &answer["hookSpecificOutput"];
            if answer["permissionDecision"] == "deny" {
                let reason = answer["permissionDecisionReason"].as_str().unwrap();
                assert!(reason.starts_with("[provost] Not run: ") && reason.contains("To fix: "), "{reason}");
                assert_eq!(answer["hookEventName"], Value::from(name.as_str()));
                found.push(format!("{name} {}", hook["onFailure"]));
            }
        }
        found
    };
    assert_eq!(blocked(&desk), ["PreToolUse \"block\""]);
    let told = desk.run(&["init", "--yes", "--closed"], 0).line();
    assert!(told.contains("have every tool call blocked until they install it"), "{told}");
    assert_eq!(blocked(&desk), ["PreToolUse \"block\"", "PreToolUse \"block\""]);
}

/// Entries from before name a path, or fail loudly where the program is missing.
#[test]
fn older_shared_entries_are_brought_up_to_date() {
    for old in ["provost", "/home/ada/target/debug/provost"] {
        let desk = Desk::with(&format!(
            "{{\"hooks\": {{\"PreToolUse\": [{{\"matcher\": \"*\", \"hooks\": [{{\"type\": \"command\", \"command\": \"{old}\", \"args\": [\"hook\", \"--pack\", \"self\"], \"timeout\": 10, \"statusMessage\": \"mine\"}}]}}]}}}}"
        ));
        let told = desk.run(&["init", "--yes"], 0).line();
        assert!(told.contains("Changes 1 hook entry: PreToolUse"), "{told}");
        let all = hooks(&desk.now());
        let entry = &all.iter().find(|(event, _)| event == "PreToolUse").unwrap().1;
        assert!(entry["command"].as_str().unwrap().contains("; exec provost hook --pack self"), "{entry}");
        assert!(entry.get("args").is_none() && entry["statusMessage"] == "mine", "{entry}");
        desk.uninstall();
        assert_eq!(desk.names(".claude"), [""; 0]);
    }
}

#[test]
fn shared_entries_are_recognised_and_guarded() {
    let desk = Desk::empty();
    desk.init();
    let before = desk.now();
    let edit = format!("sed -i 's/PreToolUse/PreToolUsed/' {SHARED}");
    assert!(desk.project.hook(&desk.project.bash(&edit)).expect_denial().contains("settings.json"));
    let told = desk.run(&["uninstall", "--dry-run"], 0).line();
    assert!(told.contains("Removes 8 hook entries"), "{told}");
    let told = desk.run(&["init", "--dry-run", "--scope", "local"], 1).line();
    assert!(told.contains("`provost uninstall --scope project`"), "{told}");
    assert_eq!(desk.now(), before);
    desk.uninstall();
    assert_eq!(desk.names(""), [".git"]);
}

/// Builds and temporary directories go away: the entries name the program that stays.
#[test]
fn an_installed_program_is_named_rather_than_a_build() {
    let desk = Desk::empty();
    let installed = copy_program(&desk.project.home.join(".cargo/bin/provost"));
    let named = "\"command\": \"<home>/.cargo/bin/provost\"";
    let told = init_by(&desk, program().as_ref(), &[installed.parent().unwrap()], &[]);
    assert!(told.contains(named), "{told}");
    assert!(line(&told).contains("not this build"), "{told}");
    // It is where cargo puts programs, whatever the PATH is.
    let told = init_by(&desk, program().as_ref(), &[], &["--scope", "user"]);
    assert!(told.contains(named), "{told}");
    let told = init_by(&desk, &installed, &[], &[]);
    assert!(told.contains(named) && !line(&told).contains("not this build"), "{told}");
}

#[test]
fn a_link_that_stays_is_named_rather_than_the_directory_of_a_version() {
    for version in [
        "Cellar/provost/0.1.0/bin",
        ".nvm/versions/node/v20/bin",
        "provost-0.1.0-x86_64",
        "installs/provost/1.2",
    ] {
        let desk = Desk::empty();
        let real = copy_program(&desk.project.home.join(version).join("provost"));
        let told = line(&init_by(&desk, &real, &[real.parent().unwrap()], &[]));
        assert!(told.contains("the next version removes"), "{version}: {told}");
        let bin = desk.project.home.join("bin");
        fs::create_dir_all(&bin).unwrap();
        symlink(&real, bin.join("provost")).unwrap();
        let told = init_by(&desk, &real, &[real.parent().unwrap(), &bin], &[]);
        assert!(told.contains("\"command\": \"<home>/bin/provost\""), "{version}: {told}");
        assert!(!line(&told).contains("the next version removes"), "{told}");
    }
}

#[test]
fn where_only_a_build_is_there_the_user_is_told_how_to_install_it() {
    let desk = Desk::empty();
    let told = init_by(&desk, program().as_ref(), &[], &[]);
    assert!(told.contains("\"command\": \"<program>\""), "{told}");
    assert!(line(&told).contains("`cargo install --locked --path .`"), "{told}");
    // A link does not make a build stay, and another program of that name is not Provost.
    let bin = desk.project.home.join("bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(program(), bin.join("provost")).unwrap();
    let told = init_by(&desk, program().as_ref(), &[&bin], &[]);
    assert!(line(&told).contains("`cargo install --locked --path .`"), "{told}");
    fs::remove_file(bin.join("provost")).unwrap();
    let script = desk.project.write_home_file("script", "#!/bin/sh\necho other 1.0\n");
    let made = Command::new("install").args(["-m", "755"]).arg(script).arg(bin.join("provost")).status();
    assert!(made.unwrap().success());
    let told = init_by(&desk, program().as_ref(), &[&bin], &[]);
    assert!(told.contains("\"command\": \"<program>\""), "{told}");
}

#[test]
fn shared_entries_tell_the_user_whose_own_program_they_would_not_find() {
    let desk = Desk::empty();
    let told = line(&init_by(&desk, program().as_ref(), &[], &["--scope", "project"]));
    assert!(told.contains("there is no `provost` on your PATH"), "{told}");
    let installed = copy_program(&desk.project.home.join(".local/bin/provost"));
    let told = line(&init_by(&desk, &installed, &[], &["--scope", "project"]));
    assert!(!told.contains("on your PATH"), "{told}");
}

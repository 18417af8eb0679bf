//! Whose settings, which packs, and what the entries call.

use std::fs;

use super::{Desk, RICH, entries};
use crate::support::{TestProject, program};

#[test]
fn each_scope_has_its_file() {
    for (scope, below_home) in [
        ("project", "project/.claude/settings.json"),
        ("local", "project/.claude/settings.local.json"),
        ("user", ".claude/settings.json"),
    ] {
        let desk = Desk::empty();
        desk.run(&["init", "--yes", "--scope", scope], 0);
        let file = desk.project.home.join(below_home);
        assert_eq!(entries(&fs::read_to_string(&file).unwrap()).len(), 8, "{scope}");
        let told = desk
            .run(&["uninstall", "--yes", "--scope", if scope == "user" { "local" } else { "user" }], 0)
            .line();
        assert!(told.contains("There is nothing to do"), "{told}");
        assert!(file.exists());
        // Without a scope, it is found.
        desk.uninstall();
        assert!(!file.exists());
    }
    Desk::empty().run(&["init", "--scope", "everybody"], 64);
}

#[test]
fn all_places_are_cleared_at_once() {
    let desk = Desk::with(RICH);
    desk.run(&["init", "--yes", "--pack", "self"], 0);
    // A colleague's entries for other events do not meet these.
    let local = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"provost\", \"args\": [\"hook\"]}]}]}, \"x\": 1}";
    desk.project.write_file(".claude/settings.local.json", local);
    let told = desk.uninstall().line();
    assert!(told.contains("settings.local.json is without Provost now"), "{told}");
    assert_eq!(desk.now(), RICH);
    assert_eq!(
        fs::read_to_string(desk.settings().with_file_name("settings.local.json")).unwrap(),
        "{\"x\": 1}"
    );
}

#[test]
fn packs_come_whose_files_are_there() {
    let desk = Desk::empty();
    desk.project.write_file(".isdlc/state.json", "{}");
    desk.project.write_file(".taskie/plans/a/state.json", "{}");
    let told = desk.run(&["init", "--dry-run"], 0).stdout;
    assert!(told.contains("yes  review-loop  there is `.taskie/plans`\n"), "{told}");
    assert!(told.contains("no   planner      there is no agent of `planner.agents`\n"), "{told}");
    assert!(
        told.contains(
            "[\"hook\", \"--pack\", \"self\", \"--pack\", \"rules\", \"--pack\", \"workflow\", \"--pack\", \"review-loop\", \"--pack\", \"phases\"]"
        ),
        "{told}"
    );

    let desk = Desk::empty();
    desk.project.write_file(".claude/agents/tdd-planner.md", "plan");
    let told = desk.run(&["init", "--dry-run"], 0).stdout;
    assert!(told.contains("yes  planner      there is an agent `tdd-planner`\n"), "{told}");
    assert!(
        told.contains("[\"hook\", \"--pack\", \"self\", \"--pack\", \"rules\", \"--pack\", \"workflow\", \"--pack\", \"planner\"]"),
        "{told}"
    );

    let desk = Desk::empty();
    desk.project.write_file("provost.toml", "[plan_gate]\nenabled = true\n[planner]\nagents = [\"scout\"]\n");
    let told = desk.run(&["init", "--dry-run"], 0).stdout;
    assert!(
        told.contains("[\"hook\", \"--pack\", \"self\", \"--pack\", \"rules\", \"--pack\", \"workflow\", \"--pack\", \"plan-gate\", \"--pack\", \"planner\"]"),
        "{told}"
    );

    let told = desk.run(&["init", "--dry-run", "--pack", "phases"], 0).stdout;
    assert!(told.contains("yes  phases       you named it; inactive until there is `.isdlc`\n"), "{told}");
    assert!(
        told.contains("[\"hook\", \"--pack\", \"self\", \"--pack\", \"rules\", \"--pack\", \"workflow\", \"--pack\", \"phases\"]"),
        "{told}"
    );
    desk.run(&["init", "--pack", "phase"], 64);
}

/// What one project has says nothing about the others.
#[test]
fn for_every_project_this_one_does_not_decide() {
    let desk = Desk::empty();
    desk.project.write_file(".isdlc/state.json", "{}");
    desk.project.write_file("provost.toml", "[plan_gate]\nenabled = true\n");
    let told = desk.run(&["init", "--dry-run", "--scope", "user"], 0).stdout;
    assert!(
        told.contains(
            "\"self\", \"--pack\", \"rules\", \"--pack\", \"workflow\", \"--pack\", \"planner\", \"--pack\", \"review-loop\", \"--pack\", \"phases\"]"
        ),
        "{told}"
    );
    assert!(
        told.contains("no   plan-gate    `plan_gate.enabled` is set here, but you did not name it\n"),
        "{told}"
    );
    desk.project.write_home_file(".config/provost/provost.toml", "[plan_gate]\nenabled = true\n");
    desk.project.write_file("provost.toml", "");
    let told = desk.run(&["init", "--dry-run", "--scope", "user"], 0).stdout;
    let all = "\"self\", \"--pack\", \"rules\", \"--pack\", \"workflow\", \"--pack\", \"plan-gate\", \"--pack\", \"planner\", \"--pack\", \"review-loop\"";
    assert!(told.contains(all), "{told}");
    desk.run(&["init", "--yes", "--scope", "user", "--pack", "phases"], 0);
    assert!(
        desk.run(&["init", "--dry-run", "--scope", "user"], 0)
            .line()
            .contains("yes phases there is `.isdlc`")
    );
}

#[test]
fn from_below_the_settings_of_the_project_are_meant() {
    let desk = Desk::empty();
    let below = desk.project.path.join("src/deep");
    fs::create_dir_all(&below).unwrap();
    let mut command = desk.command(&["init", "--yes", "--scope", "project"]);
    command.current_dir(&below);
    let told = desk.answered(command);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.line().contains("start it in <project>."), "{}", told.line());
    assert_eq!(desk.entries().len(), 8);
    desk.uninstall();
    // The person's own are read everywhere.
    let mut command = desk.command(&["init", "--yes", "--scope", "user"]);
    command.current_dir(&below);
    let told = desk.answered(command);
    assert!(told.code == 0 && !told.line().contains("start it in"), "{}", told.line());
}

#[test]
fn a_home_is_not_a_project_of_its_own() {
    let desk = Desk::empty();
    let mut command = desk.command(&["init", "--yes"]);
    command.current_dir(&desk.project.home);
    let told = desk.answered(command);
    assert!(told.stdout.contains(".claude/settings.json (user), a new file"), "{}", told.stdout);
    let mut command = desk.command(&["uninstall", "--yes"]);
    command.current_dir(&desk.project.home);
    assert_eq!(desk.answered(command).code, 0);
    assert!(!desk.project.home.join(".claude/settings.json").exists());
}

/// The client obeys what stands in the file: Provost answers as it is called there.
#[test]
fn the_entries_call_a_program_that_answers() {
    let desk = Desk::empty();
    desk.run(&["init", "--yes"], 0);
    let text = fs::read_to_string(desk.settings().with_file_name("settings.local.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entry = &file["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(fs::canonicalize(program()).unwrap().to_str(), entry["command"].as_str());
    let arguments: Vec<&str> =
        entry["args"].as_array().unwrap()[1..].iter().filter_map(|word| word.as_str()).collect();
    let event = desk.project.bash("echo x > provost.toml");
    assert!(desk.project.hook_with(&arguments, &event).expect_denial().contains("provost.toml"));
}

#[test]
fn no_tool_installs_or_uninstalls() {
    let project = TestProject::new();
    for (command, call) in [
        ("provost init --yes", "init"),
        ("provost init --dry-run", "init"),
        ("cd /tmp && /usr/local/bin/provost init", "init"),
        ("provost uninstall --yes", "uninstall"),
        ("sh -c 'provost uninstall'", "uninstall"),
        ("echo y | provost uninstall --scope user", "uninstall"),
    ] {
        let answer = project.hook(&project.bash(command));
        assert!(answer.expect_denial().contains(&format!("`provost {call}`")), "{command}: {answer:?}");
    }
    for command in ["provost guards", "git init", "npm init", "echo provost init"] {
        assert!(project.hook(&project.bash(command)).is_silent(), "{command}");
    }
}

/// What uninstall would bring back, no tool writes.
#[test]
fn no_tool_writes_the_file_from_before() {
    let desk = Desk::with(RICH);
    desk.init();
    let backup = ".claude/settings.json.before-provost";
    for command in [
        format!("echo '{{\"hooks\": {{}}}}' > {backup}"),
        format!("sed -i s/mine/evil/ {backup}"),
        format!("cp /tmp/x {backup}-2"),
    ] {
        let answer = desk.project.hook(&desk.project.bash(&command));
        assert!(answer.expect_denial().contains("before-provost"), "{command}: {answer:?}");
    }
}

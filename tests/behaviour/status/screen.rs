//! The screen of `provost status`, its JSON, and what it shows in a pipe as things change.

use std::io::{BufRead, BufReader};
use std::sync::mpsc;

use super::*;

#[test]
fn an_empty_project_has_nothing_waiting() {
    let expected = "\
project    <project>
packs      self, planner are on
           rules off: there are no rules in `provost.toml`
           workflow off: `workflow.use` names no workflow
           plan-gate off: `plan_gate.enabled` is not set, and no hook entry names it
           review-loop off: there is no `.taskie/plans` here or above
           phases off: there is no `.isdlc` in this project
guards     6 of 34 guards on here
next       nothing waits for you; `provost guards` shows what is guarded here
denied     nothing lately
";
    assert_eq!(status(&TestProject::new()), expected);
}

#[test]
fn without_hooks_that_comes_first() {
    assert_shown!("status-no-hooks", status(&TestProject::unregistered()));
}

#[test]
fn switched_off_hooks_do_not_count() {
    let project = TestProject::new();
    project.write_file(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    assert_shown!("status-hooks-off", status(&project));
}

/// A switch counts where the client looks at it, and for the hooks that it reaches.
#[test]
fn switches_that_reach_no_hook_of_provost_switch_nothing_off() {
    let project = TestProject::new();
    let local = ".claude/settings.local.json";
    let is_registered = || status_json(&project)["registered"].as_bool().unwrap();
    project.write_file(local, "{\"allowManagedHooksOnly\": true}");
    assert!(is_registered(), "only an administrator can say so");
    let managed = project.home.with_file_name("managed");
    fs::create_dir_all(&managed).unwrap();
    let managed = managed.join("managed-settings.json");
    fs::write(&managed, "{\"allowManagedHooksOnly\": true}").unwrap();
    assert!(!is_registered(), "the project's entries are none of the administrator's");
    let own = fs::read_to_string(project.path.join(".claude/settings.json")).unwrap();
    let mut with_hooks: Value = serde_json::from_str(&own).unwrap();
    with_hooks["allowManagedHooksOnly"] = true.into();
    fs::write(&managed, with_hooks.to_string()).unwrap();
    assert!(is_registered(), "the administrator's own hooks run");
    project.write_file(local, "{\"disableAllHooks\": true}");
    assert!(is_registered(), "a project cannot switch them off");
    with_hooks["disableAllHooks"] = true.into();
    fs::write(&managed, with_hooks.to_string()).unwrap();
    assert!(!is_registered(), "the administrator can");
}

/// `provost init` changes no file that it cannot read, so it would be no next step.
#[test]
fn settings_that_the_client_rejects_are_reported() {
    let project = TestProject::new();
    let whole = crate::support::registered_settings();
    let mut wrong = whole.clone();
    wrong["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = "10".into();
    for text in [whole.to_string().split_at(40).0, "[]", &wrong.to_string()] {
        project.write_file(".claude/settings.json", text);
        assert_shown!("status-rejected-settings", status(&project));
        assert_eq!(line(&project, b""), "provost · the client rejects its hooks");
        assert_eq!(run(&project, &["doctor"]).code, 1);
    }
    project.write_file(".claude/settings.json", "{}");
    assert_eq!(line(&project, b""), "provost · no hook calls it");
}

/// A part of a repository may have settings of its own, which are what a client reads that is started there.
#[test]
fn the_settings_of_the_directory_count() {
    let project = TestProject::unregistered();
    let below = project.path.join("below");
    project.write_file("below/.claude/settings.json", &crate::support::registered_settings().to_string());
    let mut there = command(&project, &["status", "--json"]);
    let shown = answered(
        &project,
        {
            there.current_dir(below);
            there
        },
        b"",
    );
    let there: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!((&there["registered"], &status_json(&project)["registered"]), (&json!(true), &json!(false)));
}

#[test]
fn a_pack_that_no_entry_asks_about_is_off() {
    let project = TestProject::unregistered();
    plan(&project);
    workflow(&project);
    let one = |pack: &str| {
        let hook = json!({"type": "command", "command": "provost", "args": ["hook", "--pack", "self", "--pack", pack]});
        json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}}).to_string()
    };
    project.write_file(".claude/settings.json", &one("phases"));
    assert_shown!("status-other-packs", status(&project));
    project.write_file("provost.toml", "[plan_gate]\nenabled = true\n");
    assert!(status(&project).contains("plan-gate off: the hook entries name other packs\n"));
    project.write_file(".claude/settings.json", &one("plan-gate"));
    assert!(status(&project).contains("\npacks      self, plan-gate are on\n"));
    fs::remove_file(project.path.join("provost.toml")).unwrap();
    // A plugin may bring the own pack as its way out, and no more.
    let hook = |pack: &str| json!([{"hooks": [{"type": "command", "command": "provost", "args": ["hook", "--pack", pack]}]}]);
    let entries = json!({"hooks": {"UserPromptSubmit": hook("self"), "PreToolUse": hook("planner")}});
    project.write_file(".claude/settings.json", &entries.to_string());
    assert_shown!("status-self-off", status(&project));
    project.write_file(".claude/settings.json", &crate::support::registered_settings().to_string());
    assert!(status(&project).contains("self, planner, review-loop, phases are on"));
}

#[test]
fn every_part_is_on_one_screen() {
    let project = TestProject::new();
    plan(&project);
    workflow(&project);
    denied(&project, "s1");
    project.write_file("provost.toml", "[guards]\nbranch-guard = \"off\"\n[engine]\ndeadline_secnds = 3\n");
    let text = status(&project);
    let (head, rest) = text.split_once("denied     20").unwrap();
    assert_eq!(
        // Where a line is broken depends on the length of the temporary directory's name.
        head.replace("unknown\n           key", "unknown key").replace("key\n           `", "key `").replace("mean\n           `", "mean `"),
        "\
project    <project>
packs      self, planner, review-loop, phases are on
           rules off: there are no rules in `provost.toml`
           workflow off: `workflow.use` names no workflow
           plan-gate off: `plan_gate.enabled` is not set, and no hook entry names it
review     login-limit: Plan review; round 1 of 8 waits for its answer; 1 of 2 clean in a row
next stop  the agent may stop: .taskie/plans/login-limit/plan-post-review-1.md, the answer to
           .taskie/plans/login-limit/plan-review-1.md, does not exist yet
workflow   feature, 06-implementation (3 of 4)
gate       GATE-06: tests, articles missing
guards     24 of 34 guards on here; switched off: branch-guard
config     1 mistake: <project>/provost.toml:4:1: unknown key `deadline_secnds`; did you mean `deadline_seconds`?
next       `/taskie:continue-plan` continues with post-plan-review
"
    );
    let rest = rest.replace("\n           ", " ");
    let denial = " self-guard: `provost.toml` not deleted or moved: tools may not change Provost's configuration \
                  `provost explain 1";
    assert!(rest.contains(denial) && rest.ends_with("` shows why, and how to continue\n"), "{rest:?}");
}

#[test]
fn it_says_what_the_packs_own_commands_say() {
    let project = TestProject::new();
    plan(&project);
    workflow(&project);
    project.write_home_file(".claude/plans/a.md", "# A plan\n\n<!-- plan-gate-session: s1 -->\n");
    project.write_file("provost.toml", "[plan_gate]\nenabled = true\n");
    let all = status_json(&project);
    for (part, arguments) in [
        ("review", ["review", "status", "--json"]),
        ("phases", ["phases", "status", "--json"]),
        ("plan_gate", ["gate", "status", "--json"]),
    ] {
        let own: Value = serde_json::from_str(&run(&project, &arguments).stdout).unwrap();
        assert_eq!(all[part], own, "{part}");
    }
    assert_eq!(all["next"], "`/taskie:continue-plan` continues with post-plan-review");
    assert_eq!(
        all["packs"][3],
        json!({"name": "plan-gate", "on": true, "why": "`plan_gate.enabled` is set"})
    );
    let text = status(&project);
    assert!(text.contains("\nplan       a.md: not assessed, gaps missing; the gate is closed: "), "{text}");
}

#[test]
fn the_next_step_is_about_work_in_progress() {
    let project = TestProject::new();
    let next = || status_json(&project)["next"].as_str().unwrap().to_owned();
    project.write_file("provost.toml", "[engine]\nx = 1\n");
    assert_eq!(next(), "fix the configuration: `provost config check` shows its mistakes");
    project.write_file("provost.toml", "[plan_gate]\nenabled = true\n");
    project.write_home_file(".claude/plans/a.md", "# A plan\n");
    assert_eq!(next(), "Run /rodin:plan-gate first; or `provost gate assess`");
    workflow(&project);
    assert_eq!(next(), "make the tests pass");
    plan(&project);
    assert_eq!(next(), "`/taskie:continue-plan` continues with post-plan-review");
    // A plan that is complete is no longer under way.
    plan_state(&project, &json!({"phase": "complete", "next_phase": null, "max_reviews": 8}));
    assert_eq!(next(), "make the tests pass");
}

#[test]
fn the_plan_gate_is_on_if_a_hook_entry_names_it() {
    let project = TestProject::new();
    let mut leaving = project.recorded_event("PreToolUse.ExitPlanMode");
    leaving["session_id"] = "s1".into();
    project.hook_with(&["--pack", "plan-gate"], &leaving);
    let all = status_json(&project);
    assert_eq!(all["packs"][3], json!({"name": "plan-gate", "on": true, "why": "a hook entry names it"}));
    assert_eq!(all["denials"][0]["guard"], "plan-gate");
}

#[test]
fn the_last_five_denials_are_shown_newest_first() {
    let project = TestProject::new();
    for number in 0..7 {
        denied(&project, &format!("s{number}"));
    }
    let all = status_json(&project);
    let sessions: Vec<&str> =
        all["denials"].as_array().unwrap().iter().map(|denied| denied["session"].as_str().unwrap()).collect();
    assert_eq!(sessions, ["s6", "s5", "s4", "s3", "s2"]);
    let text = status(&project);
    assert_eq!(text.matches("self-guard: ").count(), 5);
    // A bare `provost explain` may be about a stop with a review, which is not among these.
    let id = all["denials"][0]["id"].as_str().unwrap();
    assert!(text.contains(&format!("`provost explain {id}` shows why, and how to continue\n")), "{text}");
}

#[test]
fn a_gate_without_a_plan_is_json_too() {
    let project = TestProject::new();
    for arguments in [&["gate", "status", "--json"][..], &["gate", "status", "--json", "no-such.md"]] {
        let shown = run(&project, arguments);
        assert_eq!((shown.code, shown.stdout.as_str()), (1, "{\"plan\":null}\n"));
    }
}

#[test]
fn to_look_changes_nothing() {
    let project = TestProject::new();
    plan(&project);
    workflow(&project);
    let before = fs::read(project.path.join(".isdlc/state.json")).unwrap();
    status(&project);
    status_json(&project);
    line(&project, &said(&project, "s1"));
    assert!(!project.state_directory().exists(), "a look has made files");
    assert_eq!(fs::read(project.path.join(".isdlc/state.json")).unwrap(), before);
}

#[test]
fn watch_prints_each_change_once_and_survives_files_that_vanish() {
    let project = TestProject::new();
    plan(&project);
    let mut child = command(&project, &["status", "--watch", "--json"]).spawn().unwrap();
    let (send, lines) = mpsc::channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    let reading = thread::spawn(move || {
        for text in out.lines().map_while(Result::ok) {
            let _ = send.send(serde_json::from_str::<Value>(&text).unwrap());
        }
    });
    let next = || lines.recv_timeout(HANG).unwrap();
    assert_eq!(next()["review"]["consecutive_clean"], 1);
    assert!(lines.recv_timeout(Duration::from_millis(1800)).is_err(), "nothing has changed");
    denied(&project, "s1");
    assert_eq!(next()["denials"][0]["session"], "s1");
    fs::remove_dir_all(project.path.join(".taskie")).unwrap();
    // It may be seen half-way.
    std::iter::from_fn(|| Some(next())).find(|seen| seen["review"].is_null()).unwrap();
    fs::remove_dir_all(&project.home).unwrap();
    std::iter::from_fn(|| Some(next())).find(|seen| seen["denials"] == json!([])).unwrap();
    assert!(child.try_wait().unwrap().is_none(), "it has ended");
    child.kill().unwrap();
    child.wait().unwrap();
    reading.join().unwrap();
}

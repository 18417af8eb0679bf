//! Hostile input, and disks that fail.

use super::*;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

#[test]
fn the_plans_text_survives_any_bytes() {
    let planning = PlanSession::new();
    for text in [
        &b"\xff\xfe\x00 broken \x80\n"[..],
        b"a\r\nb\r\n<!-- rodin:gaps:start -->\r\nG\r\n<!-- rodin:gaps:end -->\r\n",
        b"\xef\xbb\xbf# With a mark of order\n",
        b"<!-- rodin:gaps:start -->",
        b"```\nnever closed\n",
        b"",
    ] {
        planning.write(text);
        let kept = fs::read(&planning.plan).unwrap();
        assert!(kept.starts_with(text), "{text:?} {:?}", String::from_utf8_lossy(&kept));
        let again = kept.clone();
        planning.write(&again);
        assert_eq!(fs::read(&planning.plan).unwrap(), kept, "a second time changes nothing");
    }
}

#[test]
fn a_plan_with_broken_utf_8_can_be_assessed_and_leave() {
    let planning = PlanSession::new();
    planning.write([PLAN.as_bytes(), b"\nodd \xff byte\n"].concat());
    planning.assess();
    planning.assert_can_leave();
    fs::write(&planning.plan, [PLAN.as_bytes(), b"\nodd \xfe byte\n"].concat()).unwrap();
    planning.assert_cannot_leave("No assessment found");
}

#[test]
fn a_broken_gaps_block_is_reported() {
    let planning = PlanSession::new();
    planning.write(PLAN.replace("<!-- rodin:gaps:end -->", ""));
    planning.assert_cannot_leave("The gaps block is broken: it is never closed");
}

#[test]
fn a_denial_says_each_thing_once() {
    let planning = PlanSession::new();
    let (before, _) = PLAN.split_once("<!-- rodin:gaps:start").unwrap();
    let denials = [before, &PLAN.replace("<!-- rodin:gaps:end -->", "")].map(|plan| {
        planning.write(plan.replace("1. Form", "1. TBD"));
        planning.project.whole(&planning.leave())
    });
    assert_shown!("plan-gate-several-reasons", denials.join("\n"));
}

#[test]
fn marks_in_code_are_text() {
    let planning = PlanSession::new();
    let text = format!("{PLAN}\n```md\n<!-- rodin:session=x -->\n<!-- rodin:gaps:start -->\n```\n");
    planning.write(&text);
    assert!(planning.read_plan().starts_with(&text));
    planning.assess();
    planning.assert_can_leave();
}

#[test]
fn every_channel_that_writes_the_plan_updates_its_record() {
    let planning = PlanSession::new();
    let plan = planning.plan.display().to_string();
    let calls = [
        ("Edit", json!({"file_path": plan, "old_string": "a", "new_string": "b"})),
        ("MultiEdit", json!({"file_path": plan, "edits": []})),
        ("Bash", json!({"command": format!("cat > '{plan}' <<'EOF'\nx\nEOF")})),
        ("Bash", json!({"command": format!("echo more >> {plan}")})),
        ("Bash", json!({"command": format!("sed -i s/a/b/ {plan}")})),
        ("Bash", json!({"command": format!("cp /tmp/x {plan}")})),
        ("mcp__files__write", json!({"path": plan, "text": "x"})),
        ("Tomorrow", json!({})),
    ];
    for (tool, input) in calls {
        fs::write(&planning.plan, PLAN).unwrap();
        let mut event = planning.write_event();
        event["tool_name"] = tool.into();
        event["tool_input"] = input;
        if tool != "Tomorrow" {
            event["tool_response"] = json!({"stdout": ""});
        }
        assert!(planning.hook(&event).is_silent());
        assert_eq!(planning.read_mark("session").as_deref(), Some(SESSION), "{event}");
    }
}

#[test]
fn a_subagents_own_plan_is_not_the_sessions() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let own = planning.project.write_home_file(".claude/plans/plan-it-buzzing-wren-agent-a51b.md", "# Own\n");
    let mut event = planning.write_event();
    event["agent_id"] = "a51b".into();
    event["agent_type"] = "general-purpose".into();
    event["tool_input"]["file_path"] = json!(own);
    assert!(planning.hook(&event).is_silent());
    assert_eq!(fs::read_to_string(&own).unwrap(), "# Own\n");
    // The session's plan counts, even if a subagent writes it.
    event["tool_input"]["file_path"] = json!(planning.plan);
    fs::write(&planning.plan, PLAN.replace("1. Form", "1. Forms")).unwrap();
    assert!(planning.hook(&event).is_silent());
    assert_eq!(planning.status(), "pending");
}

#[test]
fn links_out_of_the_plans_are_not_followed() {
    let planning = PlanSession::new();
    let outside = planning.project.write_home_file("outside.md", PLAN);
    std::os::unix::fs::symlink(&outside, &planning.plan).unwrap();
    assert!(planning.hook(&planning.write_event()).is_silent());
    assert_eq!(fs::read_to_string(&outside).unwrap(), PLAN);
    let mut event = planning.write_event();
    for path in [".claude/plans/../../outside.md", ".claude/plans/./../plans/../../outside.md"] {
        event["tool_input"]["file_path"] = json!(planning.project.home.join(path));
        assert!(planning.hook(&event).is_silent());
        assert_eq!(fs::read_to_string(&outside).unwrap(), PLAN);
    }
    // Not even if it names the session.
    let marked = format!("{PLAN}<!-- rodin:session={SESSION} -->\n");
    fs::write(&outside, &marked).unwrap();
    assert_eq!(planning.agent_prompt("rodin:critic"), None);
    // A link within the plans directory names a plan.
    fs::remove_file(&planning.plan).unwrap();
    let real = planning.project.write_home_file(".claude/plans/real.md", PLAN);
    std::os::unix::fs::symlink("real.md", &planning.plan).unwrap();
    assert!(planning.hook(&planning.write_event()).is_silent());
    assert!(fs::symlink_metadata(&planning.plan).unwrap().is_symlink());
    assert_eq!(find_mark(&fs::read_to_string(&real).unwrap(), "session").as_deref(), Some(SESSION));
}

#[test]
fn a_planted_file_beside_the_plan_is_not_written_through() {
    let planning = PlanSession::new();
    let victim = planning.project.write_home_file("victim", "precious");
    let name = ".plan-it-buzzing-wren.md.provost.tmp";
    std::os::unix::fs::symlink(&victim, planning.plan.with_file_name(name)).unwrap();
    planning.write(PLAN);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(files_of(planning.plan.parent().unwrap()), ["plan-it-buzzing-wren.md"]);
}

#[test]
fn the_mode_of_the_plan_stays() {
    let planning = PlanSession::new();
    fs::write(&planning.plan, PLAN).unwrap();
    for mode in [0o644, 0o600, 0o664] {
        fs::set_permissions(&planning.plan, fs::Permissions::from_mode(mode)).unwrap();
        planning.write(format!("{PLAN}{mode}\n"));
        assert_eq!(fs::metadata(&planning.plan).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[test]
fn a_directory_that_cannot_be_written_leaves_the_plan_as_it_is_and_the_gate_closed() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    let folder = planning.plan.parent().unwrap();
    let edited = planning.read_plan().replace("1. Form", "1. Forms");
    fs::write(&planning.plan, &edited).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    let answer = planning.hook(&planning.write_event());
    let kept = planning.read_plan();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(answer.is_silent(), "{answer:?}");
    // Permissions do not stop root.
    if kept == edited {
        planning.assert_cannot_leave("Plan content changed since assessment");
    }
    assert!(planning.leave().find_denial().is_ok());
}

/// The agent that asked the validator reads that the verdict could not be recorded.
#[test]
fn a_verdict_that_cannot_be_recorded_is_reported() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.run_critic(FINDINGS);
    let given = planning.agent_prompt("rodin:validator").unwrap();
    let locks = planning.project.state_directory().join("locks");
    fs::remove_dir_all(&locks).unwrap();
    fs::write(&locks, "in the way").unwrap();
    let mut event = planning.event("PostToolUse.Agent.completed");
    event["tool_input"] = json!({"prompt": given, "subagent_type": "rodin:validator", "description": "d"});
    event["tool_response"]["agentType"] = "rodin:validator".into();
    event["tool_response"]["prompt"] = given.into();
    event["tool_response"]["content"][1]["text"] = PASS.into();
    let answer = planning.hook(&event).json();
    let told = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(told.contains("The answer does not count: it cannot be recorded"), "{told}");
    planning.assert_cannot_leave("Assessment pending");
}

#[test]
fn a_full_disk_leaves_the_plan_as_it_is_and_the_gate_closed() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    let edited = planning.read_plan().replace("1. Form", &"1. Forms\n".repeat(2000));
    fs::write(&planning.plan, &edited).unwrap();
    // No file of this process may grow beyond eight blocks. The signal is ignored, because a full disk sends
    // none.
    let mut command = std::process::Command::new("bash");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" hook --pack plan-gate"])
        .arg(crate::support::program());
    command.env_clear().env("HOME", &planning.project.home).env("PATH", "/usr/bin:/bin");
    command.env("CLAUDE_PROJECT_DIR", &planning.project.path).current_dir(&planning.project.path);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(planning.write_event().to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(planning.read_plan(), edited);
    assert_eq!(files_of(planning.plan.parent().unwrap()), ["plan-it-buzzing-wren.md"]);
    planning.assert_cannot_leave("Plan content changed since assessment");
}

#[test]
fn a_plan_that_is_too_large_is_left_alone_and_does_not_leave() {
    let planning = PlanSession::new();
    let file = fs::File::create(&planning.plan).unwrap();
    file.set_len(100 << 20).unwrap();
    assert!(planning.hook(&planning.write_event()).is_silent());
    assert_eq!(fs::metadata(&planning.plan).unwrap().len(), 100 << 20);
    let mut event = planning.leave_event();
    event["tool_input"] = json!({"planFilePath": planning.plan});
    assert!(planning.hook(&event).expect_closed_failure().contains("larger than"));
}

#[test]
fn a_device_or_directory_in_the_place_of_the_plan_is_refused() {
    let planning = PlanSession::new();
    fs::create_dir(&planning.plan).unwrap();
    assert!(planning.hook(&planning.write_event()).is_silent());
    let mut event = planning.leave_event();
    for path in [planning.plan.clone(), "/dev/zero".into()] {
        event["tool_input"] = json!({"planFilePath": path});
        assert!(planning.hook(&event).expect_closed_failure().contains("not a regular file"));
    }
}

#[test]
fn the_plans_directory_of_the_settings_counts() {
    for (file, value, counts) in [
        (".claude/settings.json", json!("./myplans"), true),
        (".claude/settings.local.json", json!("myplans"), true),
        (".claude/settings.json", json!("../up"), false),
        (".claude/settings.json", json!("/tmp/elsewhere"), false),
        (".claude/settings.json", json!(""), false),
        (".claude/settings.json", json!(5), false),
    ] {
        let mut planning = PlanSession::new();
        planning.project.write_file(file, &json!({"plansDirectory": value}).to_string());
        let here = planning.project.write_file("myplans/x.md", PLAN);
        planning.plan = here.clone();
        assert!(planning.hook(&planning.write_event()).is_silent());
        assert_eq!(planning.read_mark("session").is_some(), counts, "{file} {value}");
        planning.plan = planning.project.write_home_file(".claude/plans/y.md", PLAN);
        assert!(planning.hook(&planning.write_event()).is_silent());
        assert_eq!(planning.read_mark("session").is_some(), !counts, "{file} {value}");
    }
}

#[test]
fn missing_prerequisites_warn_or_block() {
    let bare = "# P\n\nTBD\n\n<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n";
    let planning = PlanSession::new();
    planning.write(bare);
    planning.assert_cannot_leave("Also: Plan must have ## Goals section");
    planning.run_critic(NO_ISSUES);
    planning.run_validator(PASS);
    assert_shown!("plan-gate-missing-prerequisites", planning.project.whole(&planning.leave()));
    planning.project.write_file("provost.toml", "[plan_gate]\nfloor = \"block\"\n");
    planning.assert_cannot_leave("Plan must have ## Goals section");
    planning.project.write_file("provost.toml", "[plan_gate]\nfloor = \"off\"\n");
    planning.assert_can_leave();
}

#[test]
fn the_pack_is_active_where_it_is_named_or_switched_on() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    assert!(planning.project.hook(&planning.leave_event()).is_silent());
    assert!(planning.project.hook_with(&["--pack", "planner"], &planning.leave_event()).is_silent());
    planning.project.write_file("provost.toml", "[plan_gate]\nenabled = true\n");
    assert!(planning.project.hook(&planning.leave_event()).expect_denial().contains("Assessment pending"));
}

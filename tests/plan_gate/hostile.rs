//! Input and disks as they come.

use super::*;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

#[test]
fn the_plans_text_survives_any_bytes() {
    let planning = Planning::new();
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
    let planning = Planning::new();
    planning.write([PLAN.as_bytes(), b"\nodd \xff byte\n"].concat());
    planning.assess();
    planning.leaves();
    fs::write(&planning.plan, [PLAN.as_bytes(), b"\nodd \xfe byte\n"].concat()).unwrap();
    planning.stays("No assessment found");
}

#[test]
fn a_broken_gaps_block_is_told() {
    let planning = Planning::new();
    planning.write(PLAN.replace("<!-- rodin:gaps:end -->", ""));
    planning.stays("The gaps block is broken: it is never closed");
}

#[test]
fn a_denial_says_each_thing_once() {
    let planning = Planning::new();
    let (before, _) = PLAN.split_once("<!-- rodin:gaps:start").unwrap();
    for (plan, told) in [
        (before.to_owned(), "Plan must have gaps block"),
        (PLAN.replace("<!-- rodin:gaps:end -->", ""), "The gaps block is broken"),
    ] {
        planning.write(plan.replace("1. Form", "1. TBD"));
        let reason = planning.leave().denial();
        assert!(reason.contains(" Also: Line 7 of the plan still says TBD."), "{reason}");
        assert_eq!(reason.matches(told).count(), 1, "{reason}");
        assert_eq!(reason.matches("gaps:start").count(), 1, "{reason}");
    }
}

#[test]
fn marks_in_code_are_text() {
    let planning = Planning::new();
    let text = format!("{PLAN}\n```md\n<!-- rodin:session=x -->\n<!-- rodin:gaps:start -->\n```\n");
    planning.write(&text);
    assert!(planning.text().starts_with(&text));
    planning.assess();
    planning.leaves();
}

#[test]
fn every_channel_that_writes_the_plan_is_kept() {
    let planning = Planning::new();
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
        let mut event = planning.written();
        event["tool_name"] = tool.into();
        event["tool_input"] = input;
        if tool != "Tomorrow" {
            event["tool_response"] = json!({"stdout": ""});
        }
        assert!(planning.hook(&event).is_silent());
        assert_eq!(planning.mark("session").as_deref(), Some(SESSION), "{event}");
    }
}

#[test]
fn a_subagents_own_plan_is_not_the_sessions() {
    let planning = Planning::new();
    planning.write(PLAN);
    let own = planning.project.home_file(".claude/plans/plan-it-buzzing-wren-agent-a51b.md", "# Own\n");
    let mut event = planning.written();
    event["agent_id"] = "a51b".into();
    event["agent_type"] = "general-purpose".into();
    event["tool_input"]["file_path"] = json!(own);
    assert!(planning.hook(&event).is_silent());
    assert_eq!(fs::read_to_string(&own).unwrap(), "# Own\n");
    // The session's plan, written by a subagent, is.
    event["tool_input"]["file_path"] = json!(planning.plan);
    fs::write(&planning.plan, PLAN.replace("1. Form", "1. Forms")).unwrap();
    assert!(planning.hook(&event).is_silent());
    assert_eq!(planning.status(), "pending");
}

#[test]
fn links_out_of_the_plans_are_not_followed() {
    let planning = Planning::new();
    let outside = planning.project.home_file("outside.md", PLAN);
    std::os::unix::fs::symlink(&outside, &planning.plan).unwrap();
    assert!(planning.hook(&planning.written()).is_silent());
    assert_eq!(fs::read_to_string(&outside).unwrap(), PLAN);
    let mut event = planning.written();
    for path in [".claude/plans/../../outside.md", ".claude/plans/./../plans/../../outside.md"] {
        event["tool_input"]["file_path"] = json!(planning.project.home.join(path));
        assert!(planning.hook(&event).is_silent());
        assert_eq!(fs::read_to_string(&outside).unwrap(), PLAN);
    }
    // Not even if it says that it is the session's.
    let marked = format!("{PLAN}<!-- rodin:session={SESSION} -->\n");
    fs::write(&outside, &marked).unwrap();
    assert_eq!(planning.brief("rodin:critic"), None);
    // A link within the plans leads to a plan.
    fs::remove_file(&planning.plan).unwrap();
    let real = planning.project.home_file(".claude/plans/real.md", PLAN);
    std::os::unix::fs::symlink("real.md", &planning.plan).unwrap();
    assert!(planning.hook(&planning.written()).is_silent());
    assert!(fs::symlink_metadata(&planning.plan).unwrap().is_symlink());
    assert_eq!(mark(&fs::read_to_string(&real).unwrap(), "session").as_deref(), Some(SESSION));
}

#[test]
fn a_planted_file_beside_the_plan_is_not_written_through() {
    let planning = Planning::new();
    let victim = planning.project.home_file("victim", "precious");
    let name = ".plan-it-buzzing-wren.md.provost.tmp";
    std::os::unix::fs::symlink(&victim, planning.plan.with_file_name(name)).unwrap();
    planning.write(PLAN);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(files_of(planning.plan.parent().unwrap()), ["plan-it-buzzing-wren.md"]);
}

#[test]
fn the_mode_of_the_plan_stays() {
    let planning = Planning::new();
    fs::write(&planning.plan, PLAN).unwrap();
    for mode in [0o644, 0o600, 0o664] {
        fs::set_permissions(&planning.plan, fs::Permissions::from_mode(mode)).unwrap();
        planning.write(format!("{PLAN}{mode}\n"));
        assert_eq!(fs::metadata(&planning.plan).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[test]
fn a_directory_that_cannot_be_written_leaves_the_plan_as_it_is_and_the_gate_closed() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    let folder = planning.plan.parent().unwrap();
    let edited = planning.text().replace("1. Form", "1. Forms");
    fs::write(&planning.plan, &edited).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    let answer = planning.hook(&planning.written());
    let kept = planning.text();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(answer.is_silent(), "{answer:?}");
    // Root writes anyway.
    if kept == edited {
        planning.stays("Plan content changed since assessment");
    }
    assert!(planning.leave().denied().is_ok());
}

/// Whoever asked the validator is told that its verdict could not be written down.
#[test]
fn a_verdict_that_cannot_be_recorded_is_told() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.critic(FINDINGS);
    let given = planning.brief("rodin:validator").unwrap();
    let locks = planning.project.state().join("locks");
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
    planning.stays("Assessment pending");
}

#[test]
fn a_full_disk_leaves_the_plan_as_it_is_and_the_gate_closed() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    let edited = planning.text().replace("1. Form", &"1. Forms\n".repeat(2000));
    fs::write(&planning.plan, &edited).unwrap();
    // No file that this process writes may grow beyond eight blocks; its signal is ignored, as a full
    // disk sends none.
    let mut command = std::process::Command::new("bash");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" hook --pack plan-gate"])
        .arg(support::program());
    command.env_clear().env("HOME", &planning.project.home).env("PATH", "/usr/bin:/bin");
    command.env("CLAUDE_PROJECT_DIR", &planning.project.path).current_dir(&planning.project.path);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(planning.written().to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(planning.text(), edited);
    assert_eq!(files_of(planning.plan.parent().unwrap()), ["plan-it-buzzing-wren.md"]);
    planning.stays("Plan content changed since assessment");
}

#[test]
fn a_plan_beyond_measure_is_left_alone_and_does_not_leave() {
    let planning = Planning::new();
    let file = fs::File::create(&planning.plan).unwrap();
    file.set_len(100 << 20).unwrap();
    assert!(planning.hook(&planning.written()).is_silent());
    assert_eq!(fs::metadata(&planning.plan).unwrap().len(), 100 << 20);
    let mut event = planning.leaving();
    event["tool_input"] = json!({"planFilePath": planning.plan});
    assert!(planning.hook(&event).closed_failure().contains("larger than"));
}

#[test]
fn a_device_or_directory_in_the_place_of_the_plan_is_refused() {
    let planning = Planning::new();
    fs::create_dir(&planning.plan).unwrap();
    assert!(planning.hook(&planning.written()).is_silent());
    let mut event = planning.leaving();
    for path in [planning.plan.clone(), "/dev/zero".into()] {
        event["tool_input"] = json!({"planFilePath": path});
        assert!(planning.hook(&event).closed_failure().contains("not a regular file"));
    }
}

#[test]
fn a_plans_directory_of_the_settings_counts() {
    for (file, value, counts) in [
        (".claude/settings.json", json!("./myplans"), true),
        (".claude/settings.local.json", json!("myplans"), true),
        (".claude/settings.json", json!("../up"), false),
        (".claude/settings.json", json!("/tmp/elsewhere"), false),
        (".claude/settings.json", json!(""), false),
        (".claude/settings.json", json!(5), false),
    ] {
        let mut planning = Planning::new();
        planning.project.file(file, &json!({"plansDirectory": value}).to_string());
        let here = planning.project.file("myplans/x.md", PLAN);
        planning.plan = here.clone();
        assert!(planning.hook(&planning.written()).is_silent());
        assert_eq!(planning.mark("session").is_some(), counts, "{file} {value}");
        planning.plan = planning.project.home_file(".claude/plans/y.md", PLAN);
        assert!(planning.hook(&planning.written()).is_silent());
        assert_eq!(planning.mark("session").is_some(), !counts, "{file} {value}");
    }
}

#[test]
fn the_floor_is_advice_or_a_block() {
    let bare = "# P\n\nTBD\n\n<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n";
    let planning = Planning::new();
    planning.write(bare);
    planning.stays("Also: Plan must have ## Goals section");
    planning.critic(NO_ISSUES);
    planning.validator(PASS);
    let note = planning.leave().note();
    assert!(note.contains("## Goals") && note.contains("Line 3 of the plan still says TBD"), "{note}");
    planning.project.file("provost.toml", "[plan_gate]\nfloor = \"block\"\n");
    planning.stays("Plan must have ## Goals section");
    planning.project.file("provost.toml", "[plan_gate]\nfloor = \"off\"\n");
    planning.leaves();
}

#[test]
fn the_pack_is_asked_where_it_is_named_or_switched_on() {
    let planning = Planning::new();
    planning.write(PLAN);
    assert!(planning.project.hook(&planning.leaving()).is_silent());
    assert!(planning.project.hook_with(&["--pack", "planner"], &planning.leaving()).is_silent());
    planning.project.file("provost.toml", "[plan_gate]\nenabled = true\n");
    assert!(planning.project.hook(&planning.leaving()).denial().contains("Assessment pending"));
}

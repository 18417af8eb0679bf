//! A stop belongs to the plan that this session worked on, and to no other.
//!
//! Both plans here break a ground rule, so that a stop that belongs to one of them is blocked and names it.

use super::*;
use std::os::unix::fs::symlink;

/// Two broken plans; `other` was changed last.
fn two(id: &str) -> ReviewProject {
    let planned = ReviewProject::named(id);
    planned.write_file("odd.md", "x");
    let hour_ago = SystemTime::now() - Duration::from_hours(1);
    let file = fs::File::options().write(true).open(planned.plan.join("odd.md")).unwrap();
    file.set_modified(hour_ago).unwrap();
    let other = planned.plan.with_file_name("other");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("odd.md"), "x").unwrap();
    planned
}

/// The plan that a stop is blocked for.
fn held_for(planned: &ReviewProject, event: &Value) -> Option<String> {
    let reason = block_reason(&planned.hook(event))?;
    let (id, _) = reason.strip_prefix("[provost] Plan '").unwrap().split_once("': Missing required").unwrap();
    Some(id.to_owned())
}

fn owned(planned: &ReviewProject) -> Option<String> {
    held_for(planned, &planned.stop_event(false))
}

fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({"command": command, "description": "d"}))
}

/// A command that the user typed, as the client records it.
fn typed(command: &str) -> Value {
    let text = format!(
        "<command-message>{} is running…</command-message>\n<command-name>{command}</command-name>\n\
         <command-args></command-args>",
        &command[1..]
    );
    json!({"type": "user", "message": {"role": "user", "content": text}, "sessionId": SESSION})
}

#[test]
fn a_plan_belongs_to_the_session_that_changed_it() {
    let planned = two("mine");
    let plan = &planned.plan;
    let calls = [
        ("Write", json!({"file_path": plan.join("plan.md"), "content": "x"})),
        ("Write", json!({"file_path": plan.join("state.json"), "content": "{}"})),
        ("Edit", json!({"file_path": plan.join("plan.md"), "old_string": "a", "new_string": "b"})),
        ("MultiEdit", json!({"file_path": plan.join("tasks.md"), "edits": []})),
        bash("echo x > .taskie/plans/mine/plan.md"),
        bash("cat <<'E' >> .taskie/plans/mine/task-1.md\nx\nE"),
        bash(&format!("echo x > {}/plan.md", plan.display())),
        bash("cd .taskie/plans/mine && echo x > plan.md"),
        bash(
            "jq '.phase=1' .taskie/plans/mine/state.json > /tmp/s && mv /tmp/s .taskie/plans/mine/state.json",
        ),
        bash("cd .taskie/plans/mine; jq .phase=1 state.json > t; mv t state.json"),
        bash("cp a.md .taskie/plans/mine/"),
        bash("sed -i s/a/b/ .taskie/plans/mine/plan.md"),
        bash("touch .taskie/plans/mine/plan.md"),
        bash("rm .taskie/plans/mine/task-1.md"),
        bash("provost review set --plan mine phase=post-plan-review"),
        bash("provost review set --plan=mine phase=post-plan-review"),
        bash("cd src && provost review run --plan ../.taskie/plans/mine"),
        ("Agent", json!({"prompt": "Read .taskie/plans/mine/plan.md and do it.", "subagent_type": "x"})),
        (
            "Task",
            json!({"prompt": format!("Do `{}`.", plan.join("task-1.md").display()), "subagent_type": "x"}),
        ),
        ("Agent", json!({"prompt": "The plan is .taskie/plans/mine.", "subagent_type": "x"})),
        (
            "Agent",
            json!({"prompt": "Plans lie in .taskie/plans/, mine in \".taskie/plans/mine\"", "subagent_type": "x"}),
        ),
    ];
    for (tool, input) in calls {
        let _ = fs::remove_file(planned.transcript());
        planned.record_tool_call("Read", &json!({"file_path": planned.project.path.join("a.md")}));
        planned.record_tool_call(tool, &input);
        planned.record_tool_call("Read", &json!({"file_path": plan.with_file_name("other").join("plan.md")}));
        assert_eq!(owned(&planned).as_deref(), Some("mine"), "{tool} {input}");
    }
}

/// Without a name, the plan that changed last counts.
#[test]
fn a_command_of_the_workflow_means_the_newest_plan() {
    let planned = two("mine");
    for line in [
        typed("/taskie:continue-plan"),
        typed("/taskie:new-plan"),
        tool_call_line("Skill", &json!({"skill": "taskie:continue-plan"}), &planned.project.path),
        tool_call_line("Bash", &json!({"command": "provost review set phase=x"}), &planned.project.path),
    ] {
        let _ = fs::remove_file(planned.transcript());
        planned.append_to_transcript(&line);
        assert_eq!(owned(&planned).as_deref(), Some("other"), "{line}");
    }
}

#[test]
fn a_session_that_only_reads_a_plan_does_not_own_it() {
    let planned = two("mine");
    let plan = &planned.plan;
    let text = |role: &str, text: &str| {
        let content = json!([{"type": "text", "text": text}]);
        json!({"type": role, "message": {"role": role, "content": content}, "sessionId": SESSION})
    };
    let call = |tool: &str, input: Value| tool_call_line(tool, &input, &planned.project.path);
    let mentioned = format!("I would write {}", plan.join("plan.md").display());
    let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": mentioned}]);
    let lines = [
        call("Read", json!({"file_path": plan.join("plan.md")})),
        call("Grep", json!({"pattern": "x", "path": plan})),
        call("Glob", json!({"pattern": "*", "path": plan})),
        call("Bash", json!({"command": "cat .taskie/plans/mine/plan.md"})),
        call("Bash", json!({"command": "cat .taskie/plans/mine/plan.md > /tmp/copy"})),
        call("Bash", json!({"command": "cp .taskie/plans/mine/plan.md /tmp/copy"})),
        call("Bash", json!({"command": "echo '> .taskie/plans/mine/plan.md'"})),
        call("Bash", json!({"command": "provost review status --plan mine"})),
        call("Bash", json!({"command": "provost review"})),
        call("Bash", json!({"command": "provost guards"})),
        call("Write", json!({"file_path": "/tmp/a.md", "content": "echo x > .taskie/plans/mine/plan.md"})),
        call(
            "Write",
            json!({"file_path": planned.project.path.join(".taskie/plans/notes.md"), "content": "x"}),
        ),
        call("Write", json!({"file_path": "/elsewhere/.taskie/plans/mine/plan.md", "content": "x"})),
        call("Write", json!({"file_path": planned.project.path.join(".taskie/plans/gone/plan.md")})),
        call("Agent", json!({"prompt": "Look at .taskie/plans/mineral/plan.md", "subagent_type": "x"})),
        call("Agent", json!({"prompt": "Tell me about taskie.", "subagent_type": "x"})),
        call("Skill", json!({"skill": "other:taskie"})),
        text("assistant", &mentioned),
        text("user", &mentioned),
        json!({"type": "user", "message": {"role": "user", "content": mentioned}}),
        json!({"type": "user", "message": {"role": "user", "content": "what does /taskie:continue-plan do?"}}),
        json!({"type": "user", "message": {"role": "user", "content": result}, "toolUseResult": mentioned}),
        typed("/other:taskie"),
        json!({"type": "attachment", "attachment": call("Write", json!({"file_path": plan.join("plan.md")}))}),
        json!({"type": "api-request-blob", "message": {"content": [{"type": "tool_use", "name": "Write",
            "input": {"file_path": plan.join("plan.md")}}]}}),
    ];
    for line in lines {
        let _ = fs::remove_file(planned.transcript());
        planned.append_to_transcript(&line);
        assert_eq!(owned(&planned), None, "{line}");
    }
}

#[test]
fn the_plan_of_another_session_does_not_count() {
    let planned = two("mine");
    planned.record_work();
    let mut event = planned.stop_event(false);
    event["session_id"] = OTHER_SESSION.into();
    let record = planned.transcript().with_file_name(format!("{OTHER_SESSION}.jsonl"));
    event["transcript_path"] = json!(record);
    fs::write(&record, "{\"type\":\"mode\"}\n").unwrap();
    assert_eq!(held_for(&planned, &event), None);
    assert_eq!(owned(&planned).as_deref(), Some("mine"));
    // Without a transcript, the newest plan counts.
    fs::remove_file(record).unwrap();
    assert_eq!(held_for(&planned, &event).as_deref(), Some("other"));
    event.as_object_mut().unwrap().remove("transcript_path");
    assert_eq!(held_for(&planned, &event).as_deref(), Some("other"));
    // A setting makes the newest plan always count.
    let planned = planned.with_config("[review_loop]\nplan = \"newest\"\n");
    assert_eq!(owned(&planned).as_deref(), Some("other"));
}

#[test]
fn of_two_plans_the_last_one_worked_on_counts() {
    let planned = two("mine");
    let other = planned.plan.with_file_name("other").join("plan.md");
    planned.record_work();
    assert_eq!(owned(&planned).as_deref(), Some("mine"));
    planned.record_tool_call("Write", &json!({"file_path": other, "content": "x"}));
    assert_eq!(owned(&planned).as_deref(), Some("other"));
    planned.record_work();
    assert_eq!(owned(&planned).as_deref(), Some("mine"));
    // Within one command too.
    let (tool, input) = bash("echo a > .taskie/plans/mine/plan.md; echo b > .taskie/plans/other/plan.md");
    planned.record_tool_call(tool, &input);
    assert_eq!(owned(&planned).as_deref(), Some("other"));
    // A plan that is gone does not count; the one before it counts again.
    fs::remove_dir_all(planned.plan.with_file_name("other")).unwrap();
    assert_eq!(owned(&planned).as_deref(), Some("mine"));
}

#[test]
fn a_project_behind_a_link() {
    let planned = two("mine");
    let link = planned.project.home.join("link");
    symlink(&planned.project.path, &link).unwrap();
    let planned = planned.with("CLAUDE_PROJECT_DIR", link.to_str().unwrap());
    let mut event = planned.stop_event(false);
    event["cwd"] = json!(link);
    for path in [&link, &planned.project.path] {
        let _ = fs::remove_file(planned.transcript());
        let input = json!({"file_path": path.join(".taskie/plans/mine/plan.md"), "content": "x"});
        planned.append_to_transcript(&tool_call_line("Write", &input, &link));
        assert_eq!(held_for(&planned, &event).as_deref(), Some("mine"), "{}", path.display());
    }
    let _ = fs::remove_file(planned.transcript());
    planned.append_to_transcript(&tool_call_line(
        "Bash",
        &json!({"command": "echo > .taskie/plans/mine/plan.md"}),
        &link,
    ));
    assert_eq!(held_for(&planned, &event).as_deref(), Some("mine"));
}

#[test]
fn a_plan_directory_that_is_a_link() {
    let planned = two("mine");
    let link = planned.plan.with_file_name("linked");
    symlink("mine", &link).unwrap();
    planned.record_tool_call("Write", &json!({"file_path": link.join("plan.md"), "content": "x"}));
    assert_eq!(owned(&planned).as_deref(), Some("mine"), "what it leads to");
}

/// A plan in another directory, or a `.taskie` that several working copies share.
#[test]
fn plans_behind_a_link() {
    let planned = two("mine");
    let inside = planned.project.path.join(".taskie");
    for place in [planned.plan.clone(), inside.join("plans"), inside] {
        let elsewhere = planned.project.home.join("elsewhere").join(place.file_name().unwrap());
        fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
        fs::rename(&place, &elsewhere).unwrap();
        symlink(&elsewhere, &place).unwrap();
        for (tool, input) in [
            ("Write", json!({"file_path": planned.plan.join("plan.md"), "content": "x"})),
            bash("cd .taskie/plans/mine && echo x > plan.md"),
            bash("provost review set --plan .taskie/plans/mine phase=x"),
        ] {
            let _ = fs::remove_file(planned.transcript());
            planned.record_tool_call(tool, &input);
            assert_eq!(owned(&planned).as_deref(), Some("mine"), "{} {tool} {input}", place.display());
        }
    }
}

/// The plans of a package in a large repository, whose agent goes to another package.
#[test]
fn a_session_that_has_gone_elsewhere() {
    let planned = two("mine");
    let root = planned.project.path.parent().unwrap().to_owned();
    fs::create_dir_all(root.join(".git")).unwrap();
    let _ = fs::remove_dir_all(planned.project.path.join(".git"));
    let package = planned.project.path.display().to_string();
    let planned = planned.with("CLAUDE_PROJECT_DIR", &package);
    planned.record_work();
    let mut event = planned.stop_event(false);
    for cwd in [root.clone(), root.join("other-package")] {
        fs::create_dir_all(&cwd).unwrap();
        event["cwd"] = json!(cwd);
        assert_eq!(held_for(&planned, &event).as_deref(), Some("mine"), "{}", cwd.display());
    }
}

#[test]
fn a_session_in_a_subdirectory() {
    let planned = two("mine");
    let deep = planned.project.path.join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    let mut event = planned.stop_event(false);
    event["cwd"] = json!(deep);
    let command = json!({"command": "echo > ../../.taskie/plans/mine/plan.md"});
    planned.append_to_transcript(&tool_call_line("Bash", &command, &deep));
    assert_eq!(held_for(&planned, &event).as_deref(), Some("mine"));
    // The client may call the subdirectory the project.
    let planned = planned.with("CLAUDE_PROJECT_DIR", deep.to_str().unwrap());
    assert_eq!(held_for(&planned, &event).as_deref(), Some("mine"));
    // The subdirectory may be a repository inside the one with the plans.
    fs::create_dir(deep.join(".git")).unwrap();
    assert_eq!(held_for(&planned, &event).as_deref(), Some("mine"));
    // The message names the review's files so that they are found from there.
    planned.write_file("plan.md", "x");
    planned.remove("odd.md");
    planned.set_state(&state(json!({"next_phase": "plan-review"})));
    let answer = planned.hook(&event);
    let file = planned.plan.join("plan-review-1.md");
    assert!(block_reason(&answer).unwrap().contains(file.to_str().unwrap()), "{answer:?}");
    assert!(file.exists());
}

#[test]
fn the_nearest_plans_and_those_of_the_project_count() {
    let planned = two("mine");
    let inner = planned.project.path.join("inner");
    fs::create_dir_all(inner.join(".taskie/plans/inside")).unwrap();
    fs::write(inner.join(".taskie/plans/inside/odd.md"), "x").unwrap();
    let mut event = planned.stop_event(false);
    event["cwd"] = json!(inner);
    planned.append_to_transcript(&tool_call_line(
        "Bash",
        &json!({"command": "echo > .taskie/plans/inside/a.md"}),
        &inner,
    ));
    assert_eq!(held_for(&planned, &event).as_deref(), Some("inside"));
    planned.record_work();
    assert_eq!(held_for(&planned, &event).as_deref(), Some("mine"));
}

/// The client writes lines while Provost reads, and other programs may have written there too.
#[test]
fn a_damaged_transcript_is_read_as_far_as_possible() {
    let planned = two("mine");
    planned.record_work();
    let good = fs::read(planned.transcript()).unwrap();
    let half = &good[..good.len() / 2];
    let mut event = planned.stop_event(false);
    event.as_object_mut().unwrap().remove("last_assistant_message");
    for around in [
        [&good[..], half].concat(),
        [half, b"\n", &good[..]].concat(),
        [b"\xff\xfe taskie \x80\n", &good[..], b"\xff taskie\n\0\0\0"].concat(),
        [&good[..], b"{\"type\":\"assistant\",\"taskie\":1}\n[]\n5\ntaskie\n\n\n"].concat(),
        [&good[..], b"{\"taskie\":", &b"[".repeat(100_000)].concat(),
        good[..good.len() - 1].to_vec(),
    ] {
        fs::write(planned.transcript(), &around).unwrap();
        assert_eq!(held_for(&planned, &event).as_deref(), Some("mine"));
    }
    for nothing in [&b""[..], half, b"\xff\xff", b"\n\n\n"] {
        fs::write(planned.transcript(), nothing).unwrap();
        assert_eq!(held_for(&planned, &event), None);
    }
    // Something that is not a file blocks nothing.
    fs::remove_file(planned.transcript()).unwrap();
    fs::create_dir(planned.transcript()).unwrap();
    assert_eq!(held_for(&planned, &event), None);
}

/// Measured: a busy client writes the last lines of a turn only after its end.
#[test]
fn a_delayed_transcript_is_waited_for() {
    for before in ["", "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"do it\"}}\n"] {
        let planned = two("mine");
        let event = planned.stop_event(false);
        fs::create_dir_all(planned.transcript().parent().unwrap()).unwrap();
        // At the first stop of a session there may be no transcript yet.
        if !before.is_empty() {
            fs::write(planned.transcript(), before).unwrap();
        }
        let hook = planned.start(&["hook"], event.to_string().as_bytes());
        thread::sleep(Duration::from_millis(300));
        planned.record_work();
        thread::sleep(Duration::from_millis(300));
        planned.stop_event(false);
        let answer = hook.wait_with_output().unwrap();
        assert!(String::from_utf8_lossy(&answer.stdout).contains("Plan 'mine'"), "{answer:?}");
    }
}

/// Measured: a short session ends before its transcript exists. The newest plan is not its own.
#[test]
fn a_transcript_that_appears_late_is_found() {
    let planned = two("mine");
    let event = planned.stop_event(false);
    let hook = planned.start(&["hook"], event.to_string().as_bytes());
    thread::sleep(Duration::from_millis(300));
    planned.append_to_transcript(&json!({"type": "user", "message": {"role": "user", "content": "hello"}}));
    planned.stop_event(false);
    let answer = hook.wait_with_output().unwrap();
    assert!(answer.status.success() && answer.stdout.is_empty(), "{answer:?}");
}

/// A session that has only read the plan since, in lines as long as the client writes them.
#[test]
fn a_transcript_of_fifty_megabytes_is_read_in_time() {
    // Searching is slow in a debug build.
    let limit = if cfg!(debug_assertions) { 15.0 } else { 1.0 };
    let planned = two("mine");
    planned.record_work();
    let good = fs::read(planned.transcript()).unwrap();
    let read =
        tool_call_line("Read", &json!({"file_path": planned.plan.join("plan.md")}), &planned.project.path);
    let content = format!("{} \"tool_use\" {}", planned.plan.join("plan.md").display(), "word ".repeat(2000));
    let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": content}]);
    let looked =
        json!({"type": "user", "message": {"role": "user", "content": result}, "toolUseResult": content});
    let looking = format!("{read}\n{looked}\n").repeat((50 << 20) / looked.to_string().len());
    for (name, noise) in [("reads", looking.into_bytes()), ("one line", vec![b'x'; 50 << 20])] {
        fs::write(planned.transcript(), [&good, &noise[..]].concat()).unwrap();
        let answer = planned.stop();
        assert!(planned.expect_block(&answer).contains("Plan 'mine'"), "{name}");
        assert!(answer.cpu_seconds < limit, "{name} took {} s", answer.cpu_seconds);
    }
}

#[test]
fn a_plan_may_be_called_anything() {
    for id in ["with two blanks", "a\"b'c", "計画 ä", "@x", "$HOME", "a;b", "-rf", "*", "review-1", "a.md"]
    {
        let planned = two(id);
        planned.record_work();
        assert_eq!(owned(&planned).as_deref(), Some(id));
        let quoted = format!("'{}'", id.replace('\'', "'\\''"));
        let lines = [
            bash(&format!("echo x > .taskie/plans/{quoted}/plan.md")),
            bash(&format!("provost review set --plan {quoted} phase=x")),
            (
                "Agent",
                json!({"prompt": format!("Work on .taskie/plans/{id}/task-1.md now."), "subagent_type": "x"}),
            ),
        ];
        for (tool, input) in lines {
            let _ = fs::remove_file(planned.transcript());
            planned.record_tool_call(tool, &input);
            assert_eq!(owned(&planned).as_deref(), Some(id), "{tool} {input}");
        }
    }
}

/// A session that only delegates, and names no file of the plan, works on the plan of its agents.
#[test]
fn a_plan_belongs_to_the_session_whose_agent_changed_it() {
    let planned = two("mine");
    planned.record_tool_call("Agent", &json!({"prompt": "Do task 1 of the plan.", "subagent_type": "x"}));
    assert_eq!(owned(&planned), None);
    let agents = planned.transcript().with_extension("").join("subagents");
    fs::create_dir_all(&agents).unwrap();
    let line = tool_call_line(
        "Write",
        &json!({"file_path": planned.plan.join("plan.md"), "content": "x"}),
        &planned.project.path,
    );
    fs::write(agents.join("agent-a1.meta.json"), "{}").unwrap();
    fs::write(agents.join("agent-a1.jsonl"), format!("{line}\n")).unwrap();
    assert_eq!(owned(&planned).as_deref(), Some("mine"));
    // The session's own work counts before that of its agents.
    planned.record_tool_call(
        "Write",
        &json!({"file_path": planned.plan.with_file_name("other").join("plan.md"), "content": "x"}),
    );
    assert_eq!(owned(&planned).as_deref(), Some("other"));
    // Agents of another session do not count.
    fs::remove_file(planned.transcript()).unwrap();
    planned.append_to_transcript(&json!({"type": "user", "message": {"role": "user", "content": "hello"}}));
    fs::rename(&agents, agents.with_file_name("elsewhere")).unwrap();
    assert_eq!(owned(&planned), None);
}

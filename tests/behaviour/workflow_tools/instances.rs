//! Several open instances: work is denied only if none of them is approved. The one that the user named last, else the one
//! that the tool's pointer leads to, is the one to approve.

use super::stage::ToolProject;
use super::tools::{KIRO, OPENSPEC, SPEC_KIT, Tool};

/// Two planned instances: that of the fixture, and a copy of it with this name.
fn with_second(tool: &'static Tool, second: &str) -> ToolProject {
    let flow = ToolProject::planned(tool);
    let directory = match tool.name {
        "openspec" => "openspec/changes",
        "spec-kit" => "specs",
        _ => ".kiro/specs",
    };
    copy_instance(&flow, directory, second);
    flow
}

pub(super) fn copy_instance(flow: &ToolProject, directory: &str, second: &str) {
    let from = flow.path(&format!("{directory}/{}", flow.tool.instance));
    let mut files = Vec::new();
    super::stage::collect_files(&from, &mut files);
    for (path, bytes) in files {
        let name = path.strip_prefix(&from).unwrap().to_str().unwrap();
        flow.put(&format!("{directory}/{second}/{name}"), &String::from_utf8(bytes).unwrap());
    }
}

const TOOLS: [(&Tool, &str); 3] =
    [(&OPENSPEC, "add-farewell"), (&SPEC_KIT, "002-farewell"), (&KIRO, "farewell")];

#[test]
fn with_none_approved_work_is_denied_and_both_are_named() {
    for (tool, second) in TOOLS {
        let flow = with_second(tool, second);
        let reason = flow.assert_held();
        assert!(reason.contains("provost approve "), "{reason}");
        if tool.name != "spec-kit" {
            assert!(reason.contains(tool.instance) && reason.contains(second), "{reason}");
        }
    }
}

#[test]
fn one_approved_instance_frees_work_beside_others_that_are_open() {
    for (tool, second) in TOOLS {
        for name in [tool.instance, second] {
            let flow = with_second(tool, second);
            flow.approve(name).assert_free();
            flow.start_session("session-2").assert_free();
        }
    }
}

/// Several are open, and work is denied only if none is approved. The message is about the one that is meant.
#[test]
fn the_instance_that_the_user_named_last_is_the_one_to_approve() {
    for (tool, second, command) in [
        (&OPENSPEC, "add-farewell", "opsx:apply"),
        (&KIRO, "farewell", "kiro-impl"),
        (&KIRO, "farewell", "kiro:spec-impl"),
    ] {
        for name in [second, tool.instance] {
            let flow = with_second(tool, second);
            flow.type_command(command, name);
            let reason = flow.assert_held();
            assert!(reason.contains(&format!("`provost approve {name}`")), "{command} {name}: {reason}");
        }
        // An approved one is enough.
        let flow = with_second(tool, second);
        flow.approve(tool.instance).type_command(command, second).assert_free();
    }
}

#[test]
fn the_model_does_not_name_an_instance() {
    for (tool, second, command) in
        [(&OPENSPEC, "add-farewell", "opsx:apply"), (&KIRO, "farewell", "kiro-impl")]
    {
        let flow = with_second(tool, second);
        flow.approve(tool.instance);
        // A subagent's prompt, a notification, and the model's own skill.
        let mut event = flow.prompt_event(&format!("/{command} {second}"));
        event["agent_id"] = "a109d47d15c5167d3".into();
        flow.project.hook(&event);
        flow.prompt(&format!("<task-notification>/{command} {second}</task-notification>"));
        flow.call(flow.project.call("Skill", serde_json::json!({"skill": command, "args": second})));
        flow.assert_free();
    }
}

#[test]
fn a_named_instance_that_is_finished_or_gone_no_longer_governs() {
    for (tool, second) in TOOLS {
        let flow = with_second(tool, second);
        flow.approve(tool.instance);
        for tick in tool.ticks {
            flow.set(tick);
        }
        // Only the other one is open, and nobody has approved it.
        assert!(flow.work().find_denial().is_ok(), "{}: an open instance is forgotten", tool.name);
        flow.approve(second).assert_free();
    }
}

#[test]
fn an_approved_feature_frees_work_wherever_the_pointer_leads() {
    let flow = with_second(&SPEC_KIT, "002-farewell");
    flow.approve("002-farewell").assert_free();
    flow.put(".specify/feature.json", "{\"feature_directory\": \"specs/002-farewell\"}\n").assert_free();
    flow.start_session("session-2").assert_free();
}

#[test]
fn spec_kits_pointer_says_which_feature_is_to_be_approved() {
    for name in ["001-greeting", "002-farewell"] {
        let flow = with_second(&SPEC_KIT, "002-farewell");
        flow.put(".specify/feature.json", &format!("{{\"feature_directory\": \"specs/{name}\"}}\n"));
        let reason = flow.assert_held();
        assert!(reason.contains(&format!("`provost approve {name}`")), "{reason}");
        flow.project.assert_denied(&[("removal", flow.project.bash("rm .specify/feature.json"))]);
    }
}

#[test]
fn an_agent_may_begin_a_feature_although_another_one_is_open() {
    let flow = ToolProject::planned(&SPEC_KIT);
    flow.project.assert_allowed(&[
        ("the directory", flow.project.write(flow.path("specs/002-farewell/spec.md"), "# Farewell\n")),
        (
            "the pointer",
            flow.project.write(
                flow.path(".specify/feature.json"),
                "{\"feature_directory\":\"specs/002-farewell\"}\n",
            ),
        ),
        ("the script", flow.project.bash(".specify/scripts/bash/create-new-feature.sh --json farewell")),
    ]);
}

#[test]
fn a_stale_unfinished_instance_does_not_lock_out_an_approved_one() {
    let flow = ToolProject::planned(&OPENSPEC);
    for number in 0..17 {
        let text = "schema: spec-driven\ncreated: 2026-01-01\n";
        flow.put(&format!("openspec/changes/stale-{number}/.openspec.yaml"), text);
        flow.put(&format!("openspec/changes/stale-{number}/proposal.md"), "# Old\n");
    }
    flow.assert_held();
    flow.approve("add-greeting").assert_free();
}

//! The read-only promise for file tools and unknown tools.

use super::*;

#[test]
fn file_tools_write_only_into_planning() {
    let project = TestProject::new();
    let source = project.write_file("src/main.rs", "one\n");
    let inside = project.write_file("planning/plan.md", "one\n");
    project.write_file("planning/x.ipynb", "{}");
    std::os::unix::fs::symlink("../src", project.path.join("planning/out")).unwrap();
    let outside = [
        project.write(&source, "x"),
        project.write("relative.md", "x"),
        project.write(project.path.join("planning/../x.md"), "x"),
        project.write(project.path.join("planning/out/main.rs"), "x"),
        project.edit(&source, "one", "two"),
        project.multi_edit(&source, &[("one", "two")]),
        project.notebook(project.path.join("x.ipynb")),
        project.call("Write", json!({"content": "x"})),
    ];
    let denials = outside.map(|event| {
        assert!(project.hook(&event).is_silent(), "the main conversation: {event}");
        project.shorten_paths(&project.hook(&by_planner(event)).expect_denial())
    });
    assert_shown!("planner-writes-outside", denials.join("\n\n"));
    // Where a long path is cut depends on the machine.
    let other = project.write(project.home.join("planning/x.md"), "x");
    assert!(project.hook(&by_planner(other.clone())).expect_denial().contains("a write outside planning/"));
    assert!(project.hook(&other).is_silent(), "the main conversation");
    let fine = [
        project.write(project.path.join("planning/new/plan.md"), "x"),
        project.write("planning/new.md", "x"),
        project.edit(&inside, "one", "two"),
        project.multi_edit(&inside, &[("one", "two")]),
        project.notebook(project.path.join("planning/x.ipynb")),
    ];
    for event in fine {
        let answer = project.hook(&by_planner(event));
        assert!(answer.is_silent(), "{answer:?}");
    }
}

#[test]
fn a_planner_may_not_write_configuration_files() {
    let project = TestProject::new();
    for name in [
        "planning/analysis_options.yaml",
        "planning/sub/pubspec.yaml",
        "planning/.dart_tool/package_config.json",
        "planning/.git/config",
        "planning/.GIT/config",
        "planning/.gitattributes",
        "planning/.fvmrc",
    ] {
        for event in [project.write(name, "x"), project.bash(&format!("echo x > {name}"))] {
            let reason = by_hook(&project.hook(&by_planner(event))).unwrap().expect_err(name);
            assert!(reason.contains("a planner may not write"), "{name}: {reason}");
        }
    }
    let answer = project.hook(&by_planner(project.write("planning/git-and-pubspec.md", "x")));
    assert!(answer.is_silent(), "{answer:?}");
}

#[test]
fn reading_talking_and_listing_tools_pass() {
    let project = TestProject::new();
    let mut calls = vec![
        project.read(project.path.join("src/main.rs")),
        project.grep(&project.path),
        project.call("Glob", json!({"pattern": "**/*.rs"})),
        project.call("ExitPlanMode", json!({"plan": "x"})),
        project.call("Skill", json!({"skill": "tdd"})),
    ];
    for tool in [
        "WebFetch",
        "WebSearch",
        "TodoWrite",
        "TaskCreate",
        "TaskUpdate",
        "TaskList",
        "TaskGet",
        "TaskOutput",
        "AskUserQuestion",
        "ToolSearch",
        "SendMessage",
        "StructuredOutput",
        "EnterPlanMode",
        "BashOutput",
        "KillShell",
        "ListMcpResourcesTool",
    ] {
        calls.push(project.call(tool, json!({"path": "/etc/x", "text": "src/main.rs"})));
    }
    for event in calls {
        let answer = project.hook(&by_planner(event));
        assert!(answer.is_silent(), "{answer:?}");
    }
}

#[test]
fn an_unknown_tool_passes_only_by_name() {
    let project = TestProject::new();
    let unknown = || by_planner(project.mcp(json!({"path": "src/main.rs"})));
    project.hook(&unknown()).expect_denial();
    project.hook(&by_planner(project.call("Monitor", json!({"command": "ls"})))).expect_denial();
    project.write_file("provost.toml", "[planner]\ntools = [\"mcp__files__do\"]\n");
    assert!(project.hook(&unknown()).is_silent());
    project.hook(&by_planner(project.call("mcp__files__undo", json!({})))).expect_denial();
}

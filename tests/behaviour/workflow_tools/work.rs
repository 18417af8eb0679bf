//! What is work, and what never waits for an approval. On each tool.

use serde_json::json;

use super::stage::{ToolProject, WORK};
use super::test_every_tool;
use super::tools::Tool;
use crate::support::{TestProject, assert_shown};

test_every_tool![
    work_on_any_channel_waits_for_the_approval,
    the_approval_frees_the_same_work,
    what_is_not_work_is_never_held,
    planning_is_never_held,
    files_outside_the_project_are_never_held,
    the_end_of_a_turn_is_never_held,
    a_denial_says_what_to_show_and_what_the_user_types,
    the_work_of_subagents_waits_too,
    a_line_that_plans_and_works_is_work,
    without_the_tools_files_work_is_free,
    a_tool_that_is_not_in_use_holds_nothing,
    strict_holds_work_without_an_open_instance,
];

const PATCH: &str =
    "--- a/src/greet.js\n+++ b/src/greet.js\n@@ -1 +1 @@\n-console.log('hello')\n+console.log('hi')\n";

/// Calls that change the project outside the planning directories.
fn works(flow: &ToolProject) -> Vec<(&'static str, serde_json::Value)> {
    let project = &flow.project;
    let src = flow.path(WORK);
    flow.put("fix.patch", PATCH);
    let heredoc = format!("git apply <<'EOF'\n{PATCH}EOF");
    let mut calls = vec![
        ("Write", project.write(&src, "x\n")),
        ("Write a new file", project.write(flow.path("src/deep/new.js"), "x\n")),
        ("Write a test", project.write(flow.path("tests/greet.test.js"), "x\n")),
        ("Write at the top", project.write(flow.path("package.json"), "{}\n")),
        ("Write a page", project.write(flow.path("README.md"), "x\n")),
        ("Write an ignore file", project.write(flow.path(".gitignore"), "x\n")),
        ("Edit", project.edit(&src, "hello", "hi")),
        ("MultiEdit", project.multi_edit(&src, &[("hello", "hi"), ("log", "info")])),
        ("NotebookEdit", project.notebook(flow.path("src/x.ipynb"))),
        ("MCP", project.mcp(json!({"path": src, "content": "x"}))),
        ("git apply from a here-document", project.bash(&heredoc)),
    ];
    let lines = [
        "echo x > src/greet.js",
        "echo x >> src/greet.js",
        "cat > src/greet.js <<'EOF'\nx\nEOF",
        "printf x | tee src/greet.js",
        "sed -i s/hello/hi/ src/greet.js",
        "perl -pi -e s/hello/hi/ src/greet.js",
        "git apply fix.patch",
        "patch -p1 < fix.patch",
        "cp /etc/hostname src/greet.js",
        "mv src/greet.js src/greeting.js",
        "rm src/greet.js",
        "rm -rf src",
        "touch src/new.js",
        "cd src && echo x > greet.js",
        "bash -c 'echo x > src/greet.js'",
        "for f in a b; do echo x > src/$f.js; done",
        "npm test && echo x > src/greet.js",
        "ln -s /etc/hostname src/link.js",
        "truncate -s 0 src/greet.js",
        "dd if=/etc/hostname of=src/greet.js",
        "git mv src/greet.js src/greeting.js",
        "git rm src/greet.js",
        "find src -name '*.js' -delete",
        "curl -o src/greet.js localhost:1/x",
        "echo \"$(echo x > src/greet.js)\"",
    ];
    calls.extend(lines.map(|line| (line, project.bash(line))));
    calls
}

fn work_on_any_channel_waits_for_the_approval(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    flow.commit_all();
    let before = flow.list_files();
    let calls = works(&flow);
    flow.project.assert_denied(&calls);
    flow.remove("fix.patch");
    assert_eq!(flow.list_files(), before, "judging has changed files");
}

fn the_approval_frees_the_same_work(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    flow.commit_all();
    let calls = works(&flow);
    flow.project.assert_allowed(&calls);
}

fn the_work_of_subagents_waits_too(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    let cases: Vec<_> =
        works(&flow).into_iter().map(|(name, event)| (name, ToolProject::in_subagent(event))).collect();
    flow.project.assert_denied(&cases);
    flow.approve(tool.instance);
    flow.project.assert_allowed(&cases);
}

fn what_is_not_work_is_never_held(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    let project = &flow.project;
    project.assert_allowed(&[
        ("Read", project.read(flow.path(WORK))),
        ("Grep", project.grep(&project.path)),
        ("TodoWrite", project.call("TodoWrite", json!({"todos": [{"content": "x", "status": "pending"}]}))),
        ("a subagent", project.call("Agent", json!({"prompt": "look around", "description": "d"}))),
        ("leaving plan mode", project.recorded_event("PreToolUse.ExitPlanMode")),
    ]);
    project.assert_lines_allowed(&[
        "ls -la",
        "cat src/greet.js | head",
        "git status && git diff && git log --oneline",
        "rg hello src",
        "npm test",
        "node --test",
        "cargo build 2>&1 | tail -5",
        "git checkout -b feature",
        "git fetch",
        "echo done > /dev/null",
        "find . -name '*.js'",
        "sed -n 1,5p src/greet.js",
    ]);
}

fn planning_is_never_held(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    let project = &flow.project;
    for file in tool.planning {
        let path = flow.path(file);
        let directory = file.rsplit_once('/').unwrap().0;
        project.assert_allowed(&[
            (file, project.write(&path, "# Text\n")),
            (file, ToolProject::in_subagent(project.write(&path, "# Text\n"))),
            (file, project.bash(&format!("echo more >> {file}"))),
            (file, project.bash(&format!("mkdir -p {directory}/more"))),
        ]);
    }
    for change in tool.meaning {
        let answer = flow.edit(*change);
        assert!(answer.is_silent(), "{change:?}: {}", project.whole(&answer));
    }
    let first = tool.planning[0];
    project.assert_lines_allowed(&[
        &format!("git add {first}"),
        &format!("git add {first} && git commit -m 'plan the greeting'"),
        &format!("git commit -m 'plan the greeting' -- {first}"),
    ]);
}

fn files_outside_the_project_are_never_held(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    let project = &flow.project;
    project.assert_allowed(&[
        ("the client's own plan", project.write(project.home.join(".claude/plans/quiet-fox.md"), "# Plan\n")),
        ("another project", project.write(project.home.join("another/src/greet.js"), "x\n")),
        ("a temporary file", project.write("/tmp/notes.txt", "x\n")),
        ("a temporary file, by a shell", project.bash("echo x > /tmp/notes.txt")),
        ("the home", project.bash("echo x > ~/notes.txt")),
        ("a copy to elsewhere", project.bash("cp src/greet.js /tmp/greet.js")),
    ]);
}

fn the_end_of_a_turn_is_never_held(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    flow.assert_held();
    for name in ["Stop.active_false", "Stop.active_true", "SubagentStop.general-purpose"] {
        let answer = flow.project.hook(&flow.in_session(flow.project.recorded_event(name)));
        assert!(answer.is_silent(), "{name}: {}", flow.project.whole(&answer));
    }
}

fn a_denial_says_what_to_show_and_what_the_user_types(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    let reason = flow.assert_held();
    let first: String = reason.chars().take(200).collect();
    let wanted = format!("provost approve {}", tool.instance);
    assert!(first.contains(&wanted), "the screen does not show `{wanted}`: {first}");
    assert!(first.contains("src/greet.js"), "the screen does not show what was denied: {first}");
    assert_shown!(format!("workflow-{}-not-approved", tool.name), flow.project.whole(&flow.work()));
    assert_shown!(
        format!("workflow-{}-approved", tool.name),
        flow.project.whole(&flow.prompt(&format!("provost approve {}", tool.instance)))
    );
}

fn a_line_that_plans_and_works_is_work(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    let file = tool.planning[0];
    flow.project.assert_lines_denied(&[
        &format!("echo x >> {file}; echo x > src/greet.js"),
        &format!("cp {file} src/notes.md"),
        &format!("mv src/greet.js {}", file.rsplit_once('/').unwrap().0),
    ]);
}

fn without_the_tools_files_work_is_free(tool: &'static Tool) {
    let flow = ToolProject::without_files(tool);
    flow.assert_free();
    let calls = works(&flow);
    flow.project.assert_allowed(&calls);
}

fn a_tool_that_is_not_in_use_holds_nothing(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    flow.assert_held();
    for text in ["", "[workflow]\nuse = []\n"] {
        flow.put("provost.toml", text);
        flow.assert_free();
    }
    let project = TestProject::new();
    let answer = project.hook(&project.write(project.path.join(WORK), "x"));
    assert!(answer.is_silent(), "{answer:?}");
}

fn strict_holds_work_without_an_open_instance(tool: &'static Tool) {
    let flow = ToolProject::without_files(tool);
    flow.add_fixture("started", "").set_up("strict = true");
    assert_shown!(format!("workflow-{}-strict", tool.name), flow.project.whole(&flow.work()));
    flow.assert_held();
    // Planning is what leads out of it.
    let first = flow.path(tool.planning[0]);
    flow.project.assert_allowed(&[("planning", flow.project.write(first, "# Text\n"))]);
    flow.set_up("strict = false").assert_free();
}

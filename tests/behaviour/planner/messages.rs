//! Every denial of the planner pack in full, as snapshots in `tests/behaviour/snapshots`.

use super::*;

/// The whole answers to calls of a planner, each below a title.
fn answers(project: &TestProject, calls: Vec<(&str, Value)>) -> String {
    let show = |(title, call): (&str, Value)| {
        let answer = project.hook(&by_planner(call));
        answer.find_denial().unwrap_or_else(|why| panic!("{title}: {why}"));
        format!("===== {title}\n{}", project.whole(&answer))
    };
    calls.into_iter().map(show).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_denied_command_says_what_why_and_how_to_fix_it() {
    let project = TestProject::new();
    fs::create_dir_all(project.path.join("planning")).unwrap();
    let lines = [
        "rm -rf build",
        "find . -name '*.tmp' -delete",
        "git commit -m x",
        "cd \"$DIR\" && git log",
        "cd planning && git log",
        "LD_PRELOAD=x ls",
        "echo x > src/main.rs",
        "echo x > $FILE",
        "echo x > planning/.gitconfig",
        "$PROGRAM x",
    ];
    let calls = lines.iter().map(|line| (*line, project.bash(line))).collect();
    assert_shown!("planner-denied-commands", answers(&project, calls));
}

#[test]
fn a_denied_tool_says_what_why_and_how_to_fix_it() {
    let project = TestProject::new();
    let worktree = json!({"subagent_type": "tdd-planner", "prompt": "x", "isolation": "worktree"});
    let calls = vec![
        (
            "Write",
            project.call("Write", json!({"file_path": project.path.join("src/main.rs"), "content": "x"})),
        ),
        ("an unknown tool", project.mcp(json!({"path": "src/main.rs"}))),
        ("another agent", project.call("Agent", json!({"subagent_type": "general-purpose", "prompt": "x"}))),
        ("a planner in a worktree", project.call("Agent", worktree)),
    ];
    assert_shown!("planner-denied-tools", answers(&project, calls));
}

#[test]
fn a_denied_stop_names_everything_that_is_wrong() {
    let project = TestProject::new();
    let stop =
        |title: &str| answers(&project, vec![(title, project.recorded_event("SubagentStop.validator"))]);
    let missing = stop("no plan");
    plan(&project, "planning/old.md", PLAN, 45);
    let old = stop("an old plan");
    plan(&project, "planning/new.md", "# Notes\n\nrefactor: x\n", 1);
    let incomplete = stop("an incomplete plan");
    assert_shown!("planner-denied-stops", [missing, old, incomplete].join("\n"));
}

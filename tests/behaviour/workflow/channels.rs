//! Every way to change a file is held, and nothing that only reads or plans is.

use serde_json::json;

use super::{approve, openspec};
use crate::support::assert_shown;

#[test]
fn every_channel_that_changes_work_is_held() {
    let project = openspec();
    project.write_file("src/app.js", "old\n");
    let app = project.path.join("src/app.js");
    let mut in_agent = project.write(&app, "x");
    in_agent["agent_id"] = "a1".into();
    in_agent["agent_type"] = "general-purpose".into();
    let cases = [
        ("write", project.write(&app, "x")),
        ("edit", project.edit(&app, "old", "new")),
        ("multi edit", project.multi_edit(&app, &[("old", "new")])),
        ("notebook", project.notebook(project.path.join("n.ipynb"))),
        ("in a subagent", in_agent),
        ("mcp", project.mcp(json!({"path": app, "content": "x"}))),
        ("mcp, relative", project.call("mcp__fs__write_file", json!({"path": "src/new.js", "content": "x"}))),
        ("mcp, move", project.call("mcp__fs__move_file", json!({"source": "/tmp/a", "destination": app}))),
        ("ignore file", project.write(project.path.join(".gitignore"), "dist\n")),
    ];
    project.assert_denied(&cases);
    project.assert_lines_denied(&[
        "echo x > src/app.js",
        "cat > src/new.js <<'E'\nx\nE",
        "echo x | tee -a src/app.js",
        "sed -i s/old/new/ src/app.js",
        "cp /tmp/a src/app.js",
        "mv /tmp/a src/",
        "rm -rf src",
        "mkdir -p lib",
        "touch src/new.js",
        "git mv src/app.js src/b.js",
        "git checkout other -- src/app.js",
        "git apply fix.patch",
        "tar xf a.tgz",
        "python3 -c \"open('src/a.py','w').write('x')\"",
        "node -e \"require('fs').writeFileSync('src/a.js','x')\"",
        "for f in a b; do echo x > src/$f.js; done",
        "cd src && echo x > new.js",
        "bash -c 'echo x > src/app.js'",
        "echo x > openspec/../src/app.js",
        "echo x > \"$TARGET\"",
    ]);
    approve(&project, "add-login");
    project.assert_allowed(&cases);
}

#[test]
fn planning_reading_and_testing_are_never_held() {
    let project = openspec();
    let change = project.path.join("openspec/changes/add-login");
    project.assert_allowed(&[
        ("a task file", project.write(change.join("tasks.md"), "- [ ] more\n")),
        ("a new change", project.write(project.path.join("openspec/changes/b/proposal.md"), "x")),
        ("read", project.read(project.path.join("src/app.js"))),
        ("search", project.grep(&project.path)),
        ("mcp that reads", project.call("mcp__fs__read_file", json!({"path": "src/app.js"}))),
        ("mcp with the directory", project.mcp(json!({"projectRoot": project.path, "id": "1"}))),
        ("outside", project.write(project.home.join("other/notes.md"), "x")),
        ("a plan of the client", project.write(project.home.join(".claude/plans/p.md"), "x")),
    ]);
    project.assert_lines_allowed(&[
        "npm test",
        "npm test > /dev/null 2>&1",
        "npm test > /tmp/out.txt",
        "cargo build",
        "git status",
        "git add openspec && git commit -m 'plan: login'",
        "git checkout -b login",
        "git checkout main",
        "git switch -c login",
        "openspec validate add-login",
        "openspec new change b",
        "mkdir -p openspec/changes/c/specs",
        "for f in openspec/changes/*/tasks.md; do sed -i s/a/b/ \"$f\"; done",
        "tmp=$(mktemp); cat src/app.js > $tmp",
        "cat src/app.js | grep old",
    ]);
}

#[test]
fn the_end_of_a_turn_is_never_held() {
    let project = openspec();
    assert!(project.hook(&project.recorded_event("Stop.active_false")).is_silent());
}

#[test]
fn a_denial_says_what_to_show_and_what_the_user_types() {
    let project = openspec();
    let answer = project.hook(&project.write(project.path.join("src/app.js"), "x"));
    assert_shown!("workflow-waits", project.whole(&answer));
    let answer = project.hook(&project.bash("echo x > \"$TARGET\""));
    assert_shown!("workflow-unknown-file", project.whole(&answer));
}

#[test]
fn the_user_can_override_a_denial_once() {
    let project = openspec();
    super::prompt(&project, "provost override workflow-gate a typo");
    assert!(super::denial(&project).is_none());
    let mut next = project.write(project.path.join("src/app.js"), "x");
    next["tool_use_id"] = "the next call".into();
    assert!(project.hook(&next).find_denial().is_ok());
}

//! Ticks through every channel: file tools, command lines, the tools' own commands, servers, subagents.

use serde_json::json;

use super::systems::{BMAD, KIRO, OPENSPEC, SPEC_KIT, TASK_MASTER};
use super::{WorkflowSession, call_server, check_lines, list_lines, set_status};

/// Lines that tick boxes of a task file.
const TICKING: &[&str] = &[
    "sed -i 's/- \\[ \\] 1.1/- [x] 1.1/' TASKS",
    "sed -i.bak 's/\\[ \\]/[x]/' TASKS",
    "sed -i '3s/ /x/2' TASKS",
    "sed -i '3y/ /x/' TASKS",
    "perl -pi -e 's/\\[ \\] 1.1/[x] 1.1/' TASKS",
    "perl -i -pe 's/\\[ \\]/[x]/' TASKS",
    "sed 's/\\[ \\]/[x]/' TASKS > /tmp/t && mv /tmp/t TASKS",
    "sed 's/\\[ \\]/[x]/' TASKS > /tmp/t; cp /tmp/t TASKS",
    "echo '- [x] 1.3 More' >> TASKS",
    "printf '%s\\n' '- [X] 1.3 More' >> TASKS",
    "cat > TASKS <<EOF\n- [$MARK] 1.1 Create the store\nEOF",
    "awk '{gsub(/\\[ \\]/,\"[x]\")}1' TASKS > t && mv t TASKS",
    "python3 -c \"p='TASKS'; t=open(p).read().replace('[ ]','[x]'); open('TASKS','w').write(t)\"",
    "node -e \"const fs=require('fs');fs.writeFileSync('TASKS',fs.readFileSync('TASKS','utf8').replace('[ ]','[x]'))\"",
    "git apply <<'EOF'\n--- a/TASKS\n+++ b/TASKS\n@@ -1,1 +1,1 @@\n-- [ ] 1.1 Create the store\n+- [x] 1.1 Create the store\nEOF",
    "bash -c \"sed -i 's/\\[ \\]/[x]/' TASKS\"",
    "f=TASKS; sed -i 's/\\[ \\]/[x]/' \"$f\"",
    "cd src && sed -i 's/\\[ \\]/[x]/' ../TASKS",
    "find . -name tasks.md -exec sed -i 's/\\[ \\]/[x]/' {} +",
    "mkdir -p x; npm test; sed -i 's/\\[ \\]/[x]/' TASKS",
    "npm test || sed -i 's/\\[ \\]/[x]/' TASKS",
    "ed TASKS <<'EOF'\n3s/ /x/2\nw\nEOF",
    "dd if=/tmp/t of=TASKS",
    "cat src/a.rs > TASKS.new; tee TASKS < TASKS.new",
    "ruby -pi -e 'sub(/\\[ \\]/,\"[x]\")' TASKS",
    "gsed -i 's/\\[ \\]/[x]/' TASKS",
    "sd '\\[ \\]' '[x]' TASKS",
    "vim -es -c '%s/\\[ \\]/[x]/' -c wq TASKS",
    "awk -i inplace '{gsub(/ /,\"x\")}1' TASKS",
    "ln -s TASKS t.md && sed -i 's/\\[ \\]/[x]/' t.md",
    "sed -i 's/\\[ \\]/[x]/' PLANNING/*/*/tasks.md PLANNING/*/tasks.md",
    "python3 - <<'EOF'\np='TASKS'\ns=open(p).read()\nopen(p,'w').write(s.replace('- [ ] 1.1','- [x] 1.1'))\nEOF",
];

/// Lines that tick the boxes of a task file, and take out the others.
const REPLACING: &[&str] = &[
    "echo '- [x] 1.1 Create the store' > TASKS",
    "echo '- [x] 1.1 Create the store' | tee TASKS",
    "cat > TASKS <<'EOF'\n## 1. Store\n- [x] 1.1 Create the store\nEOF",
];

#[test]
fn boxes_ticked_by_a_command_line_need_work() {
    for system in [&OPENSPEC, &SPEC_KIT, &KIRO] {
        let session = WorkflowSession::new(system);
        let lines = list_lines(system, TICKING);
        check_lines(&session, &lines, true);
        check_lines(&session, &list_lines(system, REPLACING), true);
        // With work, the same lines are allowed.
        session.work();
        check_lines(&session, &lines, false);
    }
}

#[test]
fn other_lines_with_a_task_file_are_allowed() {
    for system in [&OPENSPEC, &SPEC_KIT, &KIRO] {
        let session = WorkflowSession::new(system);
        let lines = list_lines(
            system,
            &[
                "cat TASKS",
                "grep -c '\\[x\\]' TASKS",
                "sed -n '1,5p' TASKS",
                "sed 's/\\[ \\]/[x]/' TASKS",
                "git add TASKS && git commit -m 'tasks'",
                "git checkout -- TASKS",
                "touch TASKS",
                "chmod 644 TASKS",
                "cp TASKS /tmp/tasks-copy.md",
                "diff TASKS /tmp/other",
                "echo '- [ ] 1.4 Another task' >> TASKS",
                "sed -i 's/Create/Make/' TASKS",
                "sed -i 's/\\[x\\]/[ ]/' TASKS && ls",
                "npm test && sed -i 's/\\[ \\]/[x]/' TASKS",
                "echo 'fn c() {}' > src/c.rs && sed -i 's/\\[ \\]/[x]/' TASKS",
                "echo '- [x] done' > notes.md",
                "wc -l < TASKS",
                "grep -rl Create PLANNING | xargs sed -i 's/Create/Make/'",
                "vim --version && ruby -e 'puts 1'",
            ],
        );
        check_lines(&session, &lines, false);
    }
}

#[test]
fn every_file_tool_is_judged_by_what_it_writes() {
    for system in [&OPENSPEC, &SPEC_KIT, &KIRO, &BMAD, &TASK_MASTER] {
        let session = WorkflowSession::new(system);
        let (project, path) = (&session.project, session.path(system.tasks));
        let (open, done) = system.ticks[0];
        let text = session.read(system.tasks);
        let ticked = text.replacen(open, done, 1);
        for event in [
            project.write(&path, &ticked),
            project.edit(&path, open, done),
            project.edit(&path, &text, &ticked),
            project.multi_edit(&path, &[("zzz", "zzz"), (open, done)]),
            project.multi_edit(&path, &[(open, done)]),
            call_server(&session, "mcp__files__write_file", json!({"path": path, "content": ticked})),
            call_server(
                &session,
                "mcp__files__edit_file",
                json!({"path": path, "edits": [{"oldText": open, "newText": done}]}),
            ),
        ] {
            session.assert_denied(event, "since the last tick");
        }
        for event in [
            project.write(&path, &text),
            project.edit(&path, open, open),
            project.read(&path),
            call_server(&session, "mcp__files__read_file", json!({"path": path})),
            call_server(
                &session,
                "mcp__files__write_file",
                json!({"path": session.path("src/x.md"), "content": ticked}),
            ),
        ] {
            session.assert_allowed(event);
        }
    }
}

#[test]
fn a_file_that_is_born_with_ticks_needs_work() {
    let session = WorkflowSession::new(&OPENSPEC);
    let path = session.path("openspec/changes/new/tasks.md");
    session.assert_denied(
        session.project.write(&path, "- [x] 1.1 Done before\n"),
        "`1.1 Done before` ticked without work",
    );
    session.assert_allowed(session.project.write(&path, "- [ ] 1.1 To do\n"));
    session.assert_denied(
        session.project.write(&path, "```\r\n* [ X ] in a fence\r\n```\r\n"),
        "`in a fence` ticked without work",
    );
}

#[test]
fn a_status_set_by_the_tool_of_task_master_needs_work() {
    let session = WorkflowSession::new(&TASK_MASTER);
    let ticking: Vec<String> = [
        "task-master set-status --id=1.1 --status=done",
        "task-master set-status 1.1,1.2 done",
        "task-master status 1.1 done",
        "npx task-master-ai set-status -i 1.1 -s done",
        "npx -y --package=task-master-ai task-master set-status --id=2 --status=done",
        "task-master set-status --id=$ID --status=done",
        "for i in 1.1 1.2; do task-master set-status --id=$i --status=done; done",
        "sed -i 's/pending/done/' .taskmaster/tasks/tasks.json",
        "jq '.master.tasks[0].status=\"done\"' .taskmaster/tasks/tasks.json > t && mv t .taskmaster/tasks/tasks.json",
    ]
    .map(str::to_owned)
    .to_vec();
    check_lines(&session, &ticking, true);
    session.assert_denied(set_status(&session, "1.1", "done"), "`1.1 Hash` ticked without work");
    session.assert_denied(
        call_server(&session, "mcp__tm__set_task_status", json!({"id": "1.1", "status": "done"})),
        "ticked without work",
    );
    let free: Vec<String> = [
        "task-master set-status --id=1.1 --status=in-progress",
        "task-master next",
        "task-master show 1",
        "npm test && task-master set-status --id=1.1 --status=done",
    ]
    .map(str::to_owned)
    .to_vec();
    check_lines(&session, &free, false);
    session.assert_allowed(set_status(&session, "1.1", "in-progress"));
    session.work();
    check_lines(&session, &ticking[..6], false);
}

#[test]
fn the_work_of_subagents_counts_and_their_ticks_need_work() {
    for system in super::systems::ALL {
        let session = WorkflowSession::new(system);
        let in_agent = |mut event: serde_json::Value| {
            event["agent_id"] = "a109d47d15c5167d3".into();
            event["agent_type"] = "general-purpose".into();
            event
        };
        session.assert_denied(in_agent(session.tick(system, 0)), "since the last tick");
        let before = session.before(in_agent(session.project.write(session.path("src/b.rs"), "fn b() {}\n")));
        assert!(session.project.hook(&session.after(&before, true)).is_silent());
        session.assert_allowed(session.tick(system, 0));
    }
}

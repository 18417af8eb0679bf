//! Who may start an assessment, and for which session.

use super::{NONE, PASS, Room, SESSION, out};

#[test]
fn inside_an_agents_tool_it_is_refused() {
    let room = Room::new(NONE, PASS).kept();
    let output = room.command(&["gate", "assess"]).env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = out(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        told,
        "[provost] `gate assess` does not run inside an agent's tool: there the agent could choose the reviewer (PATH, \
         the model's address). To fix: ask the user to run it in a terminal; with `plan_gate.assess = \"exit\"` the \
         hook runs it when plan mode is left."
    );
    assert!(room.asked().is_empty());
    // Commands that only read are allowed.
    let status = room.command(&["gate", "status"]).env("CLAUDECODE", "1").output().unwrap();
    assert!(out(&status).contains("Assessment pending"), "{}", out(&status));
}

#[test]
fn the_session_is_named_or_the_plans_or_the_environments() {
    let room = Room::new(NONE, PASS);
    let output = room.run(&["gate", "assess"], 1);
    let told = room.project.shorten_paths(&out(&output)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        told,
        "[provost] the session of <home>/.claude/plans/login.md is unknown: the plan names none. To fix: write the plan \
         in plan mode with Provost's hooks, or name the session with --session ID."
    );
    assert!(room.asked().is_empty());
    let with_variable =
        room.command(&["gate", "assess"]).env("CLAUDE_CODE_SESSION_ID", "of-variable").output();
    assert!(with_variable.unwrap().status.success());
    assert!(room.text().contains("<!-- rodin:session=of-variable -->"));
    let of_plan = room.command(&["gate", "assess"]).env("CLAUDE_CODE_SESSION_ID", "other").output();
    assert!(of_plan.unwrap().status.success());
    assert!(room.text().contains("<!-- rodin:session=of-variable -->"));
    room.run(&["gate", "assess", "--session", SESSION], 0);
    assert!(room.text().contains(&format!("<!-- rodin:session={SESSION} -->")));
}

#[test]
fn an_invalid_session_id_is_refused() {
    let room = Room::new(NONE, PASS);
    for id in ["../x", "a b", "x -->", "\u{1b}[2J"] {
        let output = room.run(&["gate", "assess", "--session", id], 1);
        assert!(out(&output).contains("is not the id of a session"), "{}", out(&output));
        assert!(!out(&output).contains('\u{1b}'));
    }
    assert!(room.asked().is_empty());
}

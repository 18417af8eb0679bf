//! The fixtures that document 000 names, under its names, by the scripts and by the hook.

use super::*;

fn fixture(kind: &str, name: &str) -> String {
    let place = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/behaviour/plan_gate/fixtures")
        .join(kind)
        .join(name);
    fs::read_to_string(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display()))
}

/// A session `test-123` with one of the plans.
fn with_plan(name: &str) -> PlanSession {
    let mut planning = PlanSession::new();
    planning.session = "test-123".into();
    planning.plan = planning.plan.with_file_name("import-contacts.md");
    fs::write(&planning.plan, fixture("plans", name)).unwrap();
    planning
}

fn input(planning: &PlanSession, name: &str) -> Value {
    let home = planning.project.home.to_str().unwrap();
    serde_json::from_str(&fixture("inputs", name).replace("$HOME", home)).unwrap()
}

/// The answer of an agent; `None` if it timed out.
fn subagent(name: &str) -> (String, Option<String>, Value) {
    let fields: Value = serde_json::from_str(&fixture("subagents", name)).unwrap();
    let text = |field: &str| fields[field].as_str().map(str::to_owned);
    (text("agent").unwrap(), text("answer"), fields)
}

const NO_ASSESSMENT: &str =
    "[RODIN] No assessment found for this session. To fix: Run /rodin:plan-gate first.";
const PENDING: &str = "[RODIN] Assessment pending. To fix: Run /rodin:plan-gate.";

/// The exact answer of `compat pre_tool_use` to each plan; `None` if it allows the exit.
const AT_EXIT: &[(&str, Option<&str>)] = &[
    ("valid_plan.md", None),
    ("no_session.md", Some(NO_ASSESSMENT)),
    (
        "stale_plan_hash.md",
        Some("[RODIN] Plan content changed since assessment. To fix: Re-run /rodin:plan-gate."),
    ),
    ("stale_gaps_hash.md", Some("[RODIN] Gaps changed since assessment. To fix: Re-run /rodin:plan-gate.")),
    ("no_goals.md", Some(NO_ASSESSMENT)),
    ("no_gaps_block.md", Some(NO_ASSESSMENT)),
    ("empty_gaps_block.md", Some(NO_ASSESSMENT)),
    ("pending_verdict.md", Some(PENDING)),
    (
        "fail_verdict.md",
        Some(
            "[RODIN] Assessment failed: Uncovered findings FINDING-2, FINDING-3\nTo fix: Update gaps to cover \
             findings, then re-run /rodin:plan-gate.",
        ),
    ),
    ("deleted_metadata.md", Some(NO_ASSESSMENT)),
    (
        "malformed_markers.md",
        Some(
            "[RODIN] The gaps block is broken: it is never closed. To fix: Add <!-- rodin:gaps:start --> and <!-- \
             rodin:gaps:end --> on lines of their own, with what is not known between them, and re-run \
             /rodin:plan-gate.",
        ),
    ),
    ("hash_reference.md", Some(NO_ASSESSMENT)),
];

#[test]
fn every_plan_leaves_or_stays_as_the_document_says() {
    assert_eq!(AT_EXIT.len(), 12);
    for (name, words) in AT_EXIT {
        let planning = with_plan(name);
        let said = planning.script_before(&input(&planning, "exit_plan_mode.json"));
        assert_eq!(said.as_ref().map_err(|text| text.trim_end()), words.map_or(Ok(&()), Err), "{name}");
        assert_eq!(planning.read_plan(), fixture("plans", name), "the script before the exit writes nothing");
    }
}

#[test]
fn an_edit_in_plan_mode_gives_every_plan_its_metadata() {
    for (name, _) in AT_EXIT {
        let planning = with_plan(name);
        let edit = input(&planning, "plan_mode_edit.json");
        assert!(planning.script_after(&edit).is_silent());
        assert_eq!(planning.read_mark("session").as_deref(), Some("test-123"), "{name}");
        assert!(
            planning.read_mark("plan:hash").is_some() && planning.read_mark("gaps:hash").is_some(),
            "{name}"
        );
        assert_eq!(
            planning.status(),
            match *name {
                // The plan has not changed, so its verdict still holds.
                "valid_plan.md" => "pass",
                "fail_verdict.md" => "fail",
                _ => "pending",
            },
            "{name}"
        );
    }
}

#[test]
fn the_reference_has_its_known_hash() {
    let planning = with_plan("hash_reference.md");
    assert!(planning.script_after(&input(&planning, "plan_mode_edit.json")).is_silent());
    let known = "4b176fc2";
    let hash = planning.read_mark("plan:hash").unwrap();
    assert!(hash.starts_with(known), "{hash}");
    assert_eq!(hash, shasum(fixture("plans", "hash_reference.md").as_bytes()));
}

#[test]
fn other_inputs_change_nothing() {
    for name in ["non_plan_mode.json", "non_plan_file.json", "null_fields.json"] {
        let planning = with_plan("no_session.md");
        let notes = planning.project.write_home_file("project/notes.md", "# Notes\n");
        let event = input(&planning, name);
        assert!(planning.script_after(&event).is_silent(), "{name}");
        assert_eq!(planning.read_plan(), fixture("plans", "no_session.md"), "{name}");
        assert_eq!(fs::read_to_string(notes).unwrap(), "# Notes\n", "{name}");
    }
    let planning = with_plan("valid_plan.md");
    let said = planning.script_before(&input(&planning, "null_fields.json")).unwrap_err();
    assert_eq!(
        said.trim_end(),
        "[RODIN] Internal error: session_id not found in hook input. Schema may have changed - hook update needed."
    );
    let answer = planning.project.run_compat(&["pre_tool_use"], b"{ no JSON");
    assert_eq!(
        (answer.code, answer.stderr.trim_end()),
        (Some(2), "[RODIN] Internal error: malformed JSON input. Hook may need update for new schema.")
    );
    assert!(planning.project.run_compat(&["post_tool_use"], b"{ no JSON").is_silent());
}

/// Lets agents answer one after the other, as in a session. Returns the result of the last one.
fn play(planning: &PlanSession, names: &[&str]) {
    for name in names {
        let (agent, answer, fields) = subagent(name);
        match (agent.as_str(), answer) {
            ("rodin:leakage-detector", Some(answer)) => {
                let gaps = fields["gaps"].as_str().unwrap_or_default();
                assert_eq!(answer, format!("### LEAKAGE: {}", gaps.matches("### GAP-").count()));
                if !gaps.is_empty() {
                    planning.edit("<!-- rodin:gaps:end -->", &format!("\n{gaps}<!-- rodin:gaps:end -->"));
                }
            }
            (agent, Some(answer)) => planning.run_agent(agent, &answer),
            // An agent that times out does not stop, so there is no answer.
            (agent, None) => drop(planning.agent_prompt(agent).unwrap()),
        }
    }
}

#[test]
fn the_answers_of_agents_decide_as_the_document_says() {
    for (plan, names, words) in [
        ("empty_gaps_block.md", &["leakage_none.json", "critic_pass.json", "validator_pass.json"][..], None),
        ("no_session.md", &["leakage_found.json", "critic_findings.json", "validator_pass.json"], None),
        ("no_session.md", &["critic_malformed.json", "critic_findings.json", "validator_pass.json"], None),
        ("no_session.md", &["critic_timeout.json", "critic_findings.json", "validator_pass.json"], None),
        ("no_session.md", &["critic_findings.json", "validator_malformed.json", "validator_pass.json"], None),
        (
            "no_session.md",
            &["critic_findings.json", "validator_fail.json"],
            Some("Assessment failed: FINDING-2: Duplicates. To fix: Update gaps to cover findings"),
        ),
        (
            "empty_gaps_block.md",
            &["critic_findings.json", "validator_pass.json"],
            Some("No rollback (high), Duplicates"),
        ),
        ("no_session.md", &["critic_malformed.json", "critic_malformed.json"], Some("Assessment pending")),
        ("no_session.md", &["critic_timeout.json"], Some("the critic has not answered yet; wait for it")),
        ("no_session.md", &["critic_findings.json", "validator_malformed.json"], Some("Assessment pending")),
    ] {
        let planning = with_plan(plan);
        assert!(planning.hook(&planning.write_event()).is_silent());
        play(&planning, names);
        match words {
            None => planning.assert_can_leave(),
            Some(words) => planning.assert_cannot_leave(words),
        }
    }
}

#[test]
fn leaked_doubts_are_added_to_the_gaps_and_hidden_from_the_critic() {
    let planning = with_plan("no_session.md");
    assert!(planning.hook(&planning.write_event()).is_silent());
    let before = planning.read_mark("gaps:hash");
    play(&planning, &["leakage_found.json"]);
    let text = planning.read_plan();
    let (_, gaps) = text.split_once("<!-- rodin:gaps:start -->\n").unwrap();
    assert_shown!("plan-gate-leaked-doubts", gaps.split_once("<!-- rodin:gaps:end -->").unwrap().0);
    assert_ne!(planning.read_mark("gaps:hash"), before);
    assert_shown!("plan-gate-critic-prompt", planning.agent_prompt("rodin:critic").unwrap());
}

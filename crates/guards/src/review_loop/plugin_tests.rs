//! The plugin's texts and the program agree.
//!
//! The commands tell agents what to write, and the program reads it: names of phases, fields and files, and the
//! routes. These tests compare the two.

use crate::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::file_names;
use super::messages;
use super::next_action::{FinishedWork, find_route};
use super::phase::{COMPLETE, PHASES, PlanStage, ReviewKind};
use super::plan::Plan;
use super::prompts::{self, COMMANDS, GROUND_RULES, ReviewerInstructions};
use super::state::{FIELDS, LoopState, StateFile};
use super::tasks::Remaining;
use super::transition::{Round, StopAnswer, StopFacts, transition};
use provost_core::workspace::Workspace;

const ENTRIES: [(&str, ReviewKind); 4] = [
    ("new-plan", ReviewKind::Plan),
    ("create-tasks", ReviewKind::Tasks),
    ("complete-task", ReviewKind::Code),
    ("complete-task-tdd", ReviewKind::Code),
];

const STANDALONE: [&str; 6] =
    ["next-task", "next-task-tdd", "plan-review", "tasks-review", "code-review", "all-code-review"];

const NOTHING_FOUND: StopFacts = StopFacts { post_review: false, tasks: Remaining::Some, verdict: None };

/// The fields that a command sets; `None`: it has no JSON block.
fn block(name: &str) -> Option<Map<String, Value>> {
    let (_, rest) = prompts::command_text(name).unwrap().split_once("\n```json\n")?;
    let (block, rest) = rest.split_once("\n```\n").unwrap();
    assert!(!rest.contains("```json"), "{name} has two blocks");
    let block: Value = serde_json::from_str(&block.replace("{id}", "3")).expect(name);
    Some(block.as_object().unwrap().clone())
}

/// The first state, changed by these commands.
fn after(names: &[&str]) -> LoopState {
    let mut file = StateFile::default();
    for name in [&["new-plan"], names].concat() {
        for (field, value) in block(name).unwrap() {
            file.set(&field, &value);
        }
    }
    assert_eq!(file.find_invalid_fields(), [""; 0], "{names:?}");
    file.state()
}

fn plan() -> Plan {
    Plan { id: "p".into(), path: "/w/.taskie/plans/p".into(), root: "/w".into() }
}

/// The words in backticks.
fn words(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_command_sets_known_fields_to_known_phases() {
    assert_eq!(COMMANDS.len(), 17);
    for (name, _) in COMMANDS {
        let Some(block) = block(name) else {
            assert_eq!(*name, "continue-plan");
            continue;
        };
        for (field, value) in &block {
            assert!(FIELDS.contains(&field.as_str()), "{name}: {field}");
            if field.ends_with("phase") && !value.is_null() {
                assert!(PlanStage::from_phase(value.as_str().unwrap()).is_some(), "{name}: {value}");
            }
        }
        // Every phase but the last is a command.
        assert_eq!(block.get("phase").is_some(), PlanStage::from_phase(name).is_some(), "{name}");
        assert!(block.get("phase").is_none_or(|phase| phase == name), "{name}");
    }
    for (phase, _) in PHASES {
        assert!(*phase == COMPLETE || prompts::command_text(phase).is_some(), "{phase}");
    }
}

#[test]
fn the_first_state_has_all_fields_in_their_order() {
    let first = block("new-plan").unwrap();
    assert_eq!(first.keys().collect::<Vec<_>>(), FIELDS);
}

#[test]
fn automatic_reviews_are_those_of_the_document() {
    for (name, review) in ENTRIES {
        let block = block(name).unwrap();
        assert_eq!(block["next_phase"], review.phase(), "{name}");
        assert_eq!(block["phase_iteration"], 0, "{name}");
        assert_eq!(block["review_model"], "opus", "{name}");
        assert_eq!(block["consecutive_clean"], 0, "{name}");
    }
    for name in STANDALONE {
        let block = block(name).unwrap();
        assert_eq!((&block["next_phase"], &block["phase_iteration"]), (&Value::Null, &Value::Null), "{name}");
    }
    let known = |name: &str| ENTRIES.iter().any(|(entry, _)| *entry == name) || STANDALONE.contains(&name);
    for (name, _) in COMMANDS.iter().filter(|(name, _)| !known(name)) {
        let next = block(name).and_then(|block| block.get("next_phase").cloned());
        let back = ReviewKind::from_post_phase(name).map(|review| Value::from(review.phase()));
        assert_eq!(next, back, "{name}: only a post-review leads anywhere else");
    }
    assert_eq!(block("complete-task").unwrap()["tdd"], false);
    assert_eq!(block("complete-task-tdd").unwrap()["tdd"], true);
}

#[test]
fn an_entry_makes_exactly_its_first_review_due() {
    for (name, review) in ENTRIES {
        // For every earlier state, even the end of another cycle.
        for before in [&[][..], &["complete-task-tdd", "post-code-review"], &["next-task", "code-review"]] {
            let state = after(&[before, &[name]].concat());
            let step = transition(&state, NOTHING_FOUND);
            assert_eq!(step.state, state, "{name}");
            assert_eq!(
                step.answer,
                StopAnswer::Review(Round { review, number: 1, model: "opus".into() }),
                "{name}"
            );
            assert!(review.subject(state.current_task.as_deref()).is_ok(), "{name}");
        }
    }
}

#[test]
fn a_standalone_command_makes_nothing_due() {
    for name in STANDALONE {
        let state = after(&["complete-task", name]);
        assert_eq!(transition(&state, NOTHING_FOUND).answer, StopAnswer::Nothing, "{name}");
        assert_eq!(state.iteration, None, "{name}: an answer to it would be taken for one in a cycle");
    }
}

#[test]
fn an_interrupted_task_keeps_its_due_review() {
    let state = after(&["complete-task", "continue-task"]);
    assert!(matches!(transition(&state, NOTHING_FOUND).answer, StopAnswer::Review(_)));
    let state = after(&["next-task", "continue-task"]);
    assert_eq!(transition(&state, NOTHING_FOUND).answer, StopAnswer::Nothing);
}

#[test]
fn the_message_names_the_fields_that_the_post_review_sets() {
    for review in ReviewKind::ALL {
        let state = LoopState { current_task: Some("3".into()), ..LoopState::default() };
        let round = Round { review, number: 2, model: "sonnet".into() };
        let block = block(review.post_phase()).unwrap();
        let (phase, next) = (block["phase"].as_str().unwrap(), block["next_phase"].as_str().unwrap());
        let told = messages::format_document_message(&plan(), &state, &round, Path::new("/w"));
        for said in [
            format!("perform the {phase} action"),
            format!("set phase to \"{phase}\", set next_phase to \"{next}\""),
        ] {
            assert!(told.contains(&said), "{said}: {told}");
        }
        let short = [false, true]
            .map(|clean| messages::format_agent_message(&plan(), &state, &round, clean, Path::new("/w")));
        for name in short.iter().chain([&told]).flat_map(|text| file_names(text)) {
            assert!(file_names::parse_name(&name).is_some(), "{name}");
        }
        assert_eq!(block.len(), 2);
    }
}

/// The names of Markdown files in a text, with example ids and numbers.
fn file_names(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.{}|*/$".contains(c);
    let mut found = BTreeSet::new();
    for token in text.split(|c: char| !is_part(c)) {
        let token = token.trim_end_matches('.').rsplit('/').next().unwrap_or_default();
        if token.strip_suffix(file_names::EXTENSION).is_none_or(str::is_empty) {
            continue;
        }
        let filled = token.replace("{current_task}", "3").replace("{id}", "3").replace("{n}", "2");
        let filled = filled.replacen("*-review-*", "plan-review-1", 1);
        match filled.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            Some((choices, rest)) if choices.contains('|') => {
                found.extend(choices.split('|').map(|choice| format!("{choice}{rest}")));
            }
            _ => drop(found.insert(filled)),
        }
    }
    found
}

#[test]
fn every_file_name_in_the_texts_fits_the_grammar() {
    const PROJECT_FILES: [&str; 4] = ["CLAUDE.md", "AGENTS.md", "ground-rules.md", "{action}.md"];
    let mut seen = BTreeSet::new();
    for (name, text) in COMMANDS.iter().chain(&[("ground-rules", GROUND_RULES)]) {
        for file in file_names(text) {
            let known = PROJECT_FILES.contains(&file.as_str()) || file_names::parse_name(&file).is_some();
            assert!(known, "{name}: {file}");
            seen.insert(file);
        }
    }
    for file in ["task-3.md", "task-3-review-2.md", "all-code-post-review-2.md", "design-post-review-2.md"] {
        assert!(seen.contains(file), "{file} is not found in {seen:?}");
    }
    // Each text names the answer's file as the program looks for it.
    for review in ReviewKind::ALL {
        let subject = review.subject(Some("3")).unwrap();
        let text = prompts::command_text(review.post_phase()).unwrap();
        assert!(file_names(text).contains(&file_names::review_name(subject, true, 2)), "{review:?}");
        assert!(file_names(text).contains(&file_names::review_name(subject, false, 2)), "{review:?}");
        let text = prompts::command_text(review.phase()).unwrap();
        assert!(file_names(text).contains(&file_names::review_name(subject, false, 2)), "{review:?}");
    }
}

#[test]
fn the_ground_rules_list_the_phases_and_the_fields() {
    let (_, rest) = GROUND_RULES.split_once("A phase is the name of an action: ").unwrap();
    let listed = words(rest.split_once("\n\n").unwrap().0);
    assert_eq!(listed, PHASES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let rows = GROUND_RULES.lines().filter_map(|line| line.strip_prefix("| `"));
    let fields: Vec<&str> = rows.map(|row| row.split_once('`').unwrap().0).collect();
    assert_eq!(fields, FIELDS);
}

/// One row of the table in `continue-plan`: next phase, phase, condition, action.
fn rows() -> Vec<[&'static str; 4]> {
    let text = prompts::command_text("continue-plan").unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| words(row).try_into().expect("four cells")).collect()
}

fn fits(row: &[&str; 4], state: &LoopState, done: FinishedWork) -> bool {
    let is = |cell: &str, value: Option<&str>| cell == "*" || value.unwrap_or("null") == cell;
    let holds = match row[2] {
        "*" => true,
        "plan complete" => done.plan,
        "plan incomplete" => !done.plan,
        "tasks complete" => done.tasks,
        "tasks incomplete" => !done.tasks,
        "task complete" => done.task,
        "task incomplete" => !done.task,
        other => panic!("unknown condition {other}"),
    };
    is(row[0], state.next_phase.as_deref()) && is(row[1], state.phase.as_deref()) && holds
}

#[test]
fn the_table_of_continue_plan_is_the_programs_routing() {
    let rows = rows();
    let mut used = vec![false; rows.len()];
    let known = PHASES.iter().map(|(name, _)| Some(*name));
    let phases: Vec<Option<&str>> = known.chain([None, Some("invented"), Some("continue-plan")]).collect();
    let mut compared = 0;
    for next in &phases {
        for phase in &phases {
            for bits in 0..8 {
                let done = FinishedWork { plan: bits & 1 != 0, tasks: bits & 2 != 0, task: bits & 4 != 0 };
                let state = LoopState {
                    phase: phase.map(str::to_owned),
                    next_phase: next.map(str::to_owned),
                    current_task: Some("3".into()),
                    ..LoopState::default()
                };
                let first = rows.iter().position(|row| fits(row, &state, done)).unwrap();
                used[first] = true;
                let told = find_route(&state, done);
                assert_eq!(told.action.to_string(), rows[first][3], "{state:?} {done:?}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 19 * 19 * 8);
    let unused: Vec<_> = rows.iter().zip(used).filter(|(_, used)| !used).collect();
    assert!(unused.is_empty(), "rows that nothing leads to: {unused:?}");
    for row in &rows {
        let action = row[3];
        let known =
            prompts::command_text(action).is_some() || ["stop", COMPLETE, "tell", "ask"].contains(&action);
        assert!(known, "{action}");
    }
}

#[test]
fn a_reviewer_learns_nothing_about_the_loop() {
    let root = tempfile::tempdir().unwrap();
    let workspace = Workspace::for_tests(root.path());
    for review in ReviewKind::ALL {
        let file = PathBuf::from("/w/.taskie/plans/p").join(file_names::review_name(
            review.subject(Some("3")).unwrap(),
            false,
            2,
        ));
        let tasks = ["task-3.md".to_owned(), "task-4.md".to_owned()];
        let instructions = ReviewerInstructions::write(review, &workspace).unwrap();
        let prompt = prompts::review_prompt(&plan(), review, Some("3"), &tasks, &file, &instructions);
        let read = |file: &Path| std::fs::read_to_string(file).unwrap();
        let (rules, action) = (read(&instructions.ground_rules), read(&instructions.action));
        for word in [
            "${",
            "$ARGUMENTS",
            "provost review",
            "next_phase",
            "consecutive_clean",
            "review_model",
            "/taskie:",
            "## Standalone",
            "## State",
        ] {
            assert!(![&prompt, &rules, &action].iter().any(|text| text.contains(word)), "{review:?}: {word}");
        }
        assert!(!action.contains("state.json"), "{review:?}");
        let path = file.to_str().unwrap();
        assert!(prompt.contains(&format!("Write your review to {path} and change nothing else.")));
        assert!(prompt.ends_with(&format!("The review file is {path}; it does not exist yet.")));
        assert!(prompt.starts_with(&format!("Read the ground rules in {}/", root.path().display())));
        assert!(prompt.contains(&format!("/taskie/actions/{}.md", review.phase())), "{prompt}");
        for word in ["## Structure", "## tasks.md", "## Work"] {
            assert!(rules.contains(word) && !prompt.contains(word), "{review:?}: {word}");
        }
        for word in ["## What to look for", "VERDICT: PASS"] {
            assert!(action.contains(word) && !prompt.contains(word), "{review:?}: {word}");
        }
    }
}

#[test]
fn an_action_is_complete_except_for_the_ground_rules() {
    for (name, text) in COMMANDS {
        let action = prompts::action_text(name);
        assert!(action.starts_with("# ") && !action.contains("ground-rules.md"), "{name}: {action}");
        assert!(action.contains("\n## State\n"), "{name}");
        assert!(text.contains("\n\nFollow the ground rules: @"), "{name}");
        assert_eq!(action.contains("${"), *name == "continue-plan", "{name}");
    }
}

//! `provost review set`: safe edits of the state.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{Desk, FIRST};
use crate::support::assert_shown;

#[test]
fn set_shows_old_and_new_values() {
    let desk = Desk::new();
    let fields = ["set", "phase=complete-task", "current_task=3", "next_phase=code-review", "tdd=false"];
    assert_shown!("review-cli-set", desk.screen(&fields, 0));
    let expected = FIRST
        .replace("\"new-plan\"", "\"complete-task\"")
        .replace("\"current_task\": null", "\"current_task\": \"3\"")
        .replace("plan-review", "code-review");
    assert_eq!(desk.text(), expected);
    desk.no_litter();
}

#[test]
fn set_creates_the_first_state() {
    let desk = Desk::empty();
    fs::set_permissions(desk.plan.join("plan.md"), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(
        desk.screen(&["set", "--new", "--plan", "login-limit"], 0)
            .contains("  phase              (none) -> \"new-plan\"\n")
    );
    assert_eq!(desk.text(), FIRST);
    let mode = fs::metadata(desk.plan.join("state.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "whoever reads the plan reads its state");
    assert_eq!(
        desk.refused(&["set", "--new"]),
        "[provost] nothing is set in .taskie/plans/login-limit/state.json: it exists already, and --new creates a new \
         one. To fix: leave out --new."
    );
    fs::remove_file(desk.plan.join("state.json")).unwrap();
    assert!(desk.refused(&["set", "--new", "max_reviews=few"]).contains("`few` is not a max_reviews"));
    assert!(!desk.plan.join("state.json").exists());
    desk.screen(
        &["set", "--new", "max_reviews=4", "phase=next-task", "next_phase=null", "phase_iteration=null"],
        0,
    );
    assert_eq!(
        desk.value(),
        json!({
            "max_reviews": 4, "current_task": null, "phase": "next-task", "phase_iteration": null,
            "next_phase": null, "review_model": "opus", "consecutive_clean": 0, "tdd": false,
        })
    );
}

#[test]
fn set_writes_each_field_in_its_type() {
    let desk = Desk::new();
    desk.state(&json!({"phase": "new-plan", "own": {"a": 1}}));
    for (given, field, value) in [
        ("current_task=3", "current_task", json!("3")),
        ("current_task=\"4-5\"", "current_task", json!("4-5")),
        ("current_task=null", "current_task", Value::Null),
        ("current_task=007", "current_task", json!("007")),
        ("max_reviews=0", "max_reviews", json!(0)),
        ("consecutive_clean=1", "consecutive_clean", json!(1)),
        ("phase_iteration=null", "phase_iteration", Value::Null),
        ("phase_iteration= 7 ", "phase_iteration", json!(7)),
        ("phase=\"complete\"", "phase", json!("complete")),
        ("next_phase=null", "next_phase", Value::Null),
        ("review_model=claude-opus-4-5[1m]", "review_model", json!("claude-opus-4-5[1m]")),
        ("tdd=true", "tdd", json!(true)),
        ("own=[1, 2]", "own", json!([1, 2])),
        ("own=a=b c", "own", json!("a=b c")),
    ] {
        desk.screen(&["set", given], 0);
        assert_eq!(desk.value()[field], value, "{given}");
    }
}

#[test]
fn set_refuses_invalid_values_and_changes_nothing() {
    let desk = Desk::new();
    let about = "[provost] nothing is set in .taskie/plans/login-limit/state.json: ";
    let why = |arguments: &[&str]| {
        let text = desk.refused(&[&["set"], arguments].concat());
        text.strip_prefix(about).unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    assert_eq!(
        why(&["tdd=true", "next_phas=code-review", "phase=code-reviw", "tdd=false", "x"]),
        "there is no field `next_phas` (did you mean `next_phase`?); `code-reviw` is not a phase: it takes the name of a \
         phase or null (did you mean `code-review`?); tdd is given twice; `x` is not KEY=VALUE."
    );
    assert!(
        why(&["next_phase=later"])
            .starts_with("`later` is not a next_phase: it takes null or one of new-plan, ")
    );
    for given in ["max_reviews=-1", "max_reviews=1.5", "max_reviews=null", "max_reviews=", "max_reviews=+1"] {
        assert!(why(&[given]).ends_with(" is not a max_reviews: it takes a whole number."), "{given}");
    }
    for given in
        ["consecutive_clean=99999999999999999999", "phase_iteration=x", "tdd=1", "tdd=null", "phase="]
    {
        assert!(why(&[given]).contains(": it takes "), "{given}");
    }
    for given in
        ["current_task=a/b", "current_task=", "current_task=../x", "current_task=[3]", "current_task=ä"]
    {
        assert!(why(&[given]).contains("it takes the id of a task"), "{given}");
    }
    for given in ["review_model=", "review_model=null", "review_model=a b", "review_model=--x"] {
        assert!(why(&[given]).ends_with("it takes the name of a model."), "{given}");
    }
    assert!(
        why(&[])
            .starts_with("no field was given. To fix: KEY=VALUE, with one of max_reviews, current_task, ")
    );
    assert!(why(&["=x"]).starts_with("there is no field ``"));
    desk.file("state.json", "[1]");
    assert!(
        why(&["tdd=true"]).contains("it is not a JSON object")
            && why(&["tdd=true"]).contains("To fix: correct it")
    );
    fs::remove_file(desk.plan.join("state.json")).unwrap();
    assert_eq!(
        why(&["tdd=true"]),
        "it does not exist. To fix: `--new` creates it, for a plan whose work begins now."
    );
}

#[test]
fn set_keeps_the_mode_and_unknown_fields() {
    let desk = Desk::new();
    let state = desk.plan.join("state.json");
    fs::write(&state, "{\"zeta\": 1.10, \"phase\": \"new-plan\", \"caf\\u00e9\": [1,  2]}").unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o440)).unwrap();
    desk.screen(&["set", "phase=create-tasks", "zeta=2"], 0);
    assert_eq!(
        fs::read_to_string(&state).unwrap(),
        "{\n  \"zeta\": 2,\n  \"phase\": \"create-tasks\",\n  \"café\": [1,  2]\n}\n"
    );
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o440);
    desk.no_litter();
}

/// An agent could replace the state with a link to a settings file, to have Provost edit that file.
#[test]
fn the_target_of_a_link_is_never_changed() {
    let desk = Desk::new();
    let settings = r#"{"hooks": {"Stop": []}, "phase": "new-plan"}"#;
    let real = desk.project.write_file("elsewhere/settings.json", settings);
    let link = desk.plan.join("state.json");
    for linked in [symlink, fs::hard_link] {
        fs::remove_file(&link).unwrap();
        linked(&real, &link).unwrap();
        desk.screen(&["set", "phase=create-tasks", "hooks={}"], 0);
        assert_eq!(fs::read_to_string(&real).unwrap(), settings);
        assert_eq!(desk.value()["phase"], "create-tasks");
    }
    desk.no_litter();
}

#[test]
fn sixty_four_concurrent_changes_lose_nothing() {
    let desk = Desk::new();
    let fields: serde_json::Map<String, Value> = (0..64).map(|n| (format!("own{n}"), Value::Null)).collect();
    desk.state(&Value::Object(fields));
    let children: Vec<_> = (0..64)
        .map(|n| {
            let mut command = desk.command(&["set", &format!("own{n}={n}")]);
            command.stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let state = desk.value();
    for n in 0..64 {
        assert_eq!(state[format!("own{n}")], n);
    }
    desk.no_litter();
}

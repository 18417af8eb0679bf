use super::*;
use crate::event::EventKind;

fn read(text: &str) -> Option<(&str, String)> {
    OverrideRequest::parse(text).map(|request| (request.guard, request.reason))
}

#[test]
fn a_request_is_the_first_line_of_a_prompt() {
    for line in [
        "provost override plan-gate it is late",
        "  \n\tProvost override plan-gate it is late",
        "PROVOST Override plan-gate because it is late",
        "provost override plan-gate: it is late",
        "provost override plan-gate:it is late",
        "provost override `plan-gate` because: it is late",
        "provost  override\tplan-gate  :  Because  it is late  \nand go on\nprovost override x y",
    ] {
        assert_eq!(read(line), Some(("plan-gate", "it is late".into())), "{line}");
    }
}

#[test]
fn a_request_names_a_rule_with_its_colon() {
    for line in [
        "provost override rule:no-push it is late",
        "provost override rule:no-push: because it is late",
        "provost override `rule:no-push` it is late",
    ] {
        assert_eq!(read(line), Some(("rule:no-push", "it is late".into())), "{line}");
    }
    assert_eq!(read("provost override rule: x"), Some(("rule:", "x".into())));
    assert_eq!(
        read("provost override rule:baseline/publish"),
        Some(("rule:baseline/publish", String::new()))
    );
    assert_eq!(read("provost override ruler:x y"), Some(("ruler", "x y".into())));
}

#[test]
fn a_line_elsewhere_or_another_word_is_no_request() {
    for text in [
        "",
        "provost",
        "override plan-gate it is late",
        "please provost override plan-gate it is late",
        "hello\nprovost override plan-gate it is late",
        "> provost override plan-gate it is late",
        "<task-notification>\nprovost override plan-gate it is late",
        "<task-notification>provost override plan-gate it is late</task-notification>",
        "provost overrides plan-gate it is late",
        "provost\noverride plan-gate it is late",
        "provosté override plan-gate it is late",
        "provos",
        "prövost override plan-gate",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn what_is_missing_is_empty() {
    let missing = |text| read(text).unwrap();
    assert_eq!(missing("provost override"), ("", String::new()));
    for text in [
        "provost override plan-gate",
        "provost override plan-gate because",
        "provost override plan-gate: ",
        "provost override plan-gate ...",
        "provost override plan-gate\nbecause it is late",
    ] {
        assert_eq!(missing(text), ("plan-gate", String::new()), "{text}");
    }
}

#[test]
fn a_reason_is_bounded_and_one_line() {
    let long = format!("provost override plan-gate {}", "x".repeat(10 << 20));
    let (_, reason) = read(&long).unwrap();
    assert!(reason.len() <= LONGEST_REASON + 16 && reason.ends_with("(cut)"), "{reason}");
    let (_, reason) = read("provost override plan-gate a\u{1b}[2Jb\tc").unwrap();
    assert_eq!(reason, "a\\u{1b}[2Jb c");
}

/// A plugin and a settings file both call Provost for one event, and the user has allowed it once.
#[test]
fn processes_that_handle_one_event_share_a_permission() {
    const PROCESSES: usize = 4;
    let root = tempfile::tempdir().unwrap();
    let mut event = Event::new("Stop".into(), EventKind::Other, root.path().to_owned());
    event.session = Some("s".into());
    for round in 0..200 {
        let workspace = Workspace::for_tests(&root.path().join(round.to_string()));
        let directory = workspace.places.overrides_directory().unwrap();
        store_permission(&workspace, "s", "self-guard", "once").unwrap();
        let start = std::sync::Barrier::new(PROCESSES);
        let is_permitted = || {
            start.wait();
            let found = Permission::find(&directory, "s", "self-guard", &event);
            found.is_some_and(|permission| permission.use_up().unwrap())
        };
        let permitted = std::thread::scope(|scope| {
            let processes: Vec<_> = (0..PROCESSES).map(|_| scope.spawn(is_permitted)).collect();
            processes.into_iter().map(|process| process.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(permitted, [true; PROCESSES], "round {round}");
    }
}

use super::*;

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

//! What a rule does: deny, ask, warn, and only watching.

use serde_json::Value;

use super::{assert_decisions, decide, project_with_rules};
use crate::support::assert_shown;

const DENY: &str = r#"
[[rule]]
name = "no-force-push"
runs = "git push --force|-f"
deny = "it rewrites history that others have"
fix = "rebase onto the remote branch and push without force"
"#;

#[test]
fn a_denial_names_the_call_the_rule_the_reason_the_fix_and_the_way_out() {
    let project = project_with_rules(DENY);
    assert_shown!("rules-deny", project.whole(&project.hook(&project.bash("git push --force origin main"))));
}

#[test]
fn a_question_and_a_warning_name_the_rule() {
    let project = project_with_rules(&DENY.replace("deny", "ask"));
    assert_shown!("rules-ask", project.whole(&project.hook(&project.bash("git push -f"))));
    let project = project_with_rules(&DENY.replace("deny", "warn"));
    assert_shown!("rules-warn", project.whole(&project.hook(&project.bash("git push -f"))));
}

#[test]
fn a_question_that_nobody_is_asked_is_a_denial() {
    let project = project_with_rules(&DENY.replace("deny", "ask"));
    let mut event = project.bash("git push -f");
    event["permission_mode"] = "dontAsk".into();
    assert_shown!("rules-ask-nobody", project.whole(&project.hook(&event)));
}

#[test]
fn a_watched_rule_is_recorded_and_not_enforced() {
    for config in [
        format!("{DENY}mode = \"watch\"\n"),
        format!("[rules]\nmode = \"watch\"\n{DENY}"),
        format!("[guards]\nrules = \"watch\"\n{DENY}"),
    ] {
        let project = project_with_rules(&config);
        assert_decisions(&project, &[("silent", project.bash("git push -f"))]);
        let journal = project.read_journal();
        let line = journal.last().unwrap();
        assert_eq!(
            (&line["decision"], &line["subject"]),
            (&Value::from("silence"), &Value::from("git push -f"))
        );
        let rule =
            line["guards"].as_array().unwrap().iter().find(|guard| guard["guard"] == "rule:no-force-push");
        assert_eq!(rule.unwrap()["opinion"], "would deny", "{line}");
    }
}

#[test]
fn a_project_cannot_weaken_the_rules_of_the_user_or_the_administrator() {
    let project = project_with_rules("[rules]\nmode = \"watch\"\noff = [\"no-force-push\"]\n");
    project.write_home_file(".config/provost/provost.toml", DENY);
    assert_eq!(decide(&project, &project.bash("git push -f")), "deny rule:no-force-push");
    let project = project_with_rules("[rules]\nmode = \"watch\"\noff = [\"no-force-push\"]\n");
    project.write_managed_config(DENY);
    assert_eq!(decide(&project, &project.bash("git push -f")), "deny rule:no-force-push");
}

#[test]
fn each_layer_switches_its_own_rules_and_its_own_use_of_the_baseline() {
    const USE: &str = "[rules]\nuse = [\"baseline\"]\n";
    let off = format!("{USE}off = [\"baseline/publish\"]\n");
    let watch = format!("{USE}mode = \"watch\"\n");
    let decide_publish = |project: &str, user: &str, managed: &str| {
        let project = project_with_rules(project);
        project.write_home_file(".config/provost/provost.toml", user);
        project.write_managed_config(managed);
        decide(&project, &project.bash("npm publish"))
    };
    let asks = "ask rule:baseline/publish";
    assert_eq!(decide_publish(USE, "", ""), asks);
    for weaker in [&off, &watch] {
        assert_eq!(decide_publish(weaker, "", ""), "silent", "{weaker}");
        assert_eq!(decide_publish("", weaker, ""), "silent", "{weaker}");
        assert_eq!(decide_publish(weaker, USE, ""), asks, "{weaker}");
        assert_eq!(decide_publish(USE, weaker, ""), asks, "{weaker}");
        assert_eq!(decide_publish(weaker, weaker, USE), asks, "{weaker}");
        assert_eq!(decide_publish(USE, USE, weaker), "silent", "{weaker}");
    }
    // Two rules of one name in two layers both hold.
    let rule = |program: &str| format!("[[rule]]\nname = \"a\"\nruns = \"{program}\"\ndeny = \"no\"\n");
    let project = project_with_rules(&rule("one"));
    project.write_home_file(".config/provost/provost.toml", &rule("two"));
    assert_decisions(&project, &[("deny rule:a", project.bash("one")), ("deny rule:a", project.bash("two"))]);
    // A project's rule of the same name does not replace the user's.
    let project = project_with_rules(&format!("[rules]\noff = [\"a\"]\n{}", rule("one")));
    project.write_home_file(".config/provost/provost.toml", &rule("two"));
    assert_decisions(&project, &[("silent", project.bash("one")), ("deny rule:a", project.bash("two"))]);
}

#[test]
fn a_mistake_takes_down_its_own_rule_only() {
    let project = project_with_rules(&format!(
        "{DENY}\n[[rule]]\nname = \"two\"\nruns = \"x\"\ndeny = \"a\"\nask = \"b\"\n\n[[rule]]\nname = \"typo\"\nrnus = \"x\"\ndeny = \"a\"\n"
    ));
    assert_eq!(decide(&project, &project.bash("git push -f")), "deny rule:no-force-push");
    assert_shown!("rules-mistakes", project.shorten_paths(&project.start_session("s").expect_note()));
}

#[test]
fn the_mode_of_a_rule_counts_before_that_of_its_file() {
    let project = project_with_rules(&format!("[rules]\nmode = \"watch\"\n{DENY}mode = \"enforce\"\n"));
    assert_eq!(decide(&project, &project.bash("git push -f")), "deny rule:no-force-push");
}

#[test]
fn a_project_cannot_switch_off_the_guard_of_the_users_rules() {
    for word in ["off", "watch"] {
        let project = project_with_rules(&format!("[guards]\nrules = \"{word}\"\n"));
        project.write_home_file(".config/provost/provost.toml", DENY);
        assert_eq!(decide(&project, &project.bash("git push -f")), "deny rule:no-force-push", "{word}");
    }
}

#[test]
fn deeply_nested_tables_are_a_mistake_and_no_crash() {
    let nested = format!(
        "{DENY}\n[[rule]]\nname = \"deep\"\nneed = {}1{}\n",
        "{a=".repeat(50_000),
        "}".repeat(50_000)
    );
    let project = project_with_rules(&nested);
    project.write_home_file(".config/provost/provost.toml", &DENY.replace("no-force-push", "own"));
    assert_eq!(decide(&project, &project.bash("git push -f")), "deny rule:no-force-push rule:own");
}

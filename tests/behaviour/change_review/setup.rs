//! How the rule with reviews is written, checked, added and removed.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{TestProject, assert_shown};

fn check(rule: &str) -> (Option<i32>, String) {
    let project = TestProject::new();
    project.write_file("provost.toml", rule);
    let output = project.provost_command("config", &["check"]).output().unwrap();
    (output.status.code(), project.shorten_paths(&String::from_utf8(output.stdout).unwrap()))
}

#[test]
fn mistakes_in_a_rule_with_reviews_are_reported() {
    let rule = |keys: &str| format!("[[rule]]\nname = \"r\"\n{keys}\n");
    let texts: Vec<String> = [
        "stops = true\nneed = { review = 0 }",
        "stops = true\nneed = { review = \"two\" }",
        "stops = true\nneed = { review = 2, max_reviews = 1 }",
        "stops = true\nneed = { review = 2, passed = \"make\" }",
        "stops = true\nneed = { passed = \"make\", least_lines = 3 }",
        "stops = true\nneed = { check = \"make\", max_reviews = 3 }",
        "stops = true\nneed = { reviews = 2 }",
        "stops = true\nrounds = 2\nneed = { review = 2 }",
        "commits = \"*\"\nneed = { review = 2 }",
    ]
    .into_iter()
    .map(|keys| {
        let (code, text) = check(&rule(keys));
        assert_eq!(code, Some(1), "{keys}: {text}");
        let mistake = text.lines().find(|line| line.starts_with("mistake ")).unwrap_or_default();
        format!("{keys}\n{mistake}\n\n")
    })
    .collect();
    assert_shown!("change-review-mistakes", texts.concat());
}

#[test]
fn examples_of_a_rule_with_reviews_are_judged() {
    let rule = "[[rule]]
name = \"r\"
stops = true
changed = \"src/**\"
need = { review = 2, seconds = 60, max_reviews = 4, least_lines = 3 }
match = [{ stop = true, changed = [\"src/a.rs\"] }, { stop = true, changed = [\"src/a.rs\"], reviewed = 1 }]
not_match = [{ stop = true }, { stop = true, changed = [\"a.md\"] }, { stop = true, changed = [\"src/a.rs\"], reviewed = 2 }]
";
    let (code, text) = check(rule);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = check(&rule.replace("reviewed = 1", "reviewed = 2"));
    assert!(
        code == Some(1) && text.contains("and 2 clean reviews: expected a match, got no match"),
        "{text}"
    );
    let (code, text) = check(&rule.replace("reviewed = 1", "reviewed = -1"));
    assert!(code == Some(1) && text.contains("this takes a whole number"), "{text}");
}

#[test]
fn a_rule_with_reviews_is_added_and_shown() {
    let project = TestProject::new();
    let run = |command: &str, arguments: &[&str]| {
        let output = project.provost_command(command, arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        project.shorten_paths(&String::from_utf8(output.stdout).unwrap())
    };
    let added = run(
        "rules",
        &[
            "add",
            "--name",
            "reviewed",
            "--stops",
            "--changed",
            "src/**",
            "--need-review",
            "2",
            "--seconds",
            "90",
        ],
    );
    assert!(added.contains("Next: `provost init`"), "{added}");
    let shown = run("rules", &["show", "reviewed"]);
    assert!(shown.contains("need = { review = 2, seconds = 90 }"), "{shown}");
}

fn stop_timeout(settings: &Path) -> Option<u64> {
    let value: Value = serde_json::from_str(&fs::read_to_string(settings).unwrap()).unwrap();
    value["hooks"]["Stop"][0]["hooks"][0]["timeout"].as_u64()
}

#[test]
fn init_writes_the_rule_and_hooks_with_enough_time_and_uninstall_removes_them() {
    let project = TestProject::unregistered();
    let own = "# mine\n[journal]\nenabled = true # as it was\n";
    project.write_file("provost.toml", own);
    let run = |command: &str, arguments: &[&str]| {
        let output = project.provost_command(command, arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        project.shorten_paths(&String::from_utf8(output.stdout).unwrap())
    };
    let config = project.path.join("provost.toml");
    let settings = project.path.join(".claude/settings.json");
    let dry = run("init", &["--pack", "review", "--scope", "project", "--dry-run"]);
    assert!(dry.contains("+need    = { review = 2, max_reviews = 8, least_lines = 5 }"), "{dry}");
    assert_eq!(fs::read_to_string(&config).unwrap(), own);
    let shown = run("init", &["--pack", "review", "--scope", "project", "--yes"]);
    assert!(shown.contains("the rule `review` holds"), "{shown}");
    let text = fs::read_to_string(&config).unwrap();
    assert!(text.starts_with(own) && text.contains("[[rule]]\nname    = \"review\"\n"), "{text}");
    assert!(
        stop_timeout(&settings).is_some_and(|timeout| timeout > 2 * 570),
        "{:?}",
        stop_timeout(&settings)
    );
    assert!(run("rules", &[]).contains("review"));
    let again = run("init", &["--pack", "review", "--scope", "project", "--yes"]);
    assert!(again.contains("There is nothing to do"), "{again}");
    // Later, entries keep the time and other packs are not touched.
    run("init", &["--scope", "project", "--yes"]);
    assert!(stop_timeout(&settings).is_some_and(|timeout| timeout > 2 * 570));
    run("uninstall", &["--yes"]);
    assert_eq!(fs::read_to_string(&config).unwrap(), own);
    assert!(!settings.exists());
}

#[test]
fn uninstall_deletes_a_file_with_the_rule_alone_and_keeps_a_changed_rule() {
    for change in [false, true] {
        let project = TestProject::unregistered();
        let run = |command: &str, arguments: &[&str]| {
            let output = project.provost_command(command, arguments).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        run("init", &["--pack", "review", "--scope", "project", "--yes"]);
        let config = project.path.join("provost.toml");
        if change {
            let text = fs::read_to_string(&config).unwrap().replace("review = 2", "review = 3");
            fs::write(&config, text).unwrap();
        }
        run("uninstall", &["--yes"]);
        assert_eq!(config.exists(), change);
    }
}

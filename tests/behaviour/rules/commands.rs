//! `provost rules`: list, show, test and add.

use std::fs;

use super::project_with_rules;
use crate::support::{TestProject, assert_shown};
use serde_json::Value;

const RULES: &str = r#"# Our rules.
[rules]
off = ["old"]

# Nobody rewrites history.
[[rule]]
name = "no-force"
runs = "git push --force|-f"   # in any form
deny = "it rewrites history"
match = ["git push -uf origin x", "bash -c 'git push --force'"]
not_match = ["git push", "echo git push --force"]

[[rule]]
name = "old"
runs = "svn"
deny = "we use git"
match = ["ls"]

[[rule]]
name = "keys"
mode = "watch"
reads = "*.key"
ask = "it is secret"
"#;

/// The exit code, standard output and standard error, with short paths.
fn rules(project: &TestProject, arguments: &[&str]) -> (i32, String, String) {
    let output = project.provost_command("rules", arguments).env("COLUMNS", "200").output().unwrap();
    let text = |bytes| project.shorten_paths(&String::from_utf8(bytes).unwrap());
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The text on one line, because a narrow terminal wraps it.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_rule_is_listed_with_its_layer_its_mode_and_its_matches() {
    let project = project_with_rules(RULES);
    project.write_home_file(
        ".config/provost/provost.toml",
        "[[rule]]\nname = \"mine\"\nruns = \"npm\"\nwarn = \"use pnpm\"\n",
    );
    for line in ["git push -f", "git push -f", "cat a.key", "npm ci", "ls"] {
        project.hook(&project.bash(line));
    }
    let (code, table, _) = rules(&project, &[]);
    assert_eq!(code, 0, "{table}");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["no-force", "project", "enforce", "deny", "2"]);
    assert_eq!(rows[1], ["keys", "project", "watch", "ask", "1"]);
    assert_eq!(rows[2], ["mine", "user", "enforce", "warn", "1"]);
    assert_eq!(rows[3], ["old", "project", "off", "deny", "0"]);
    let (_, listed, _) = rules(&project, &["--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["rules"][0]["file"], "<project>/provost.toml");
    assert_eq!((&listed["rules"][0]["line"], &listed["rules"][0]["matched"]), (&6.into(), &2.into()));
}

#[test]
fn a_mistake_is_listed_before_the_rules() {
    let project = project_with_rules(&RULES.replace("deny = \"it", "denny = \"it"));
    let (code, shown, _) = rules(&project, &[]);
    assert_eq!(code, 1);
    assert!(
        shown.starts_with("mistake <project>/provost.toml:9:1: rule `no-force`: unknown key `denny`"),
        "{shown}"
    );
    assert!(shown.contains("\nkeys "), "{shown}");
}

#[test]
fn a_project_without_rules_says_so() {
    let (code, shown, _) = rules(&TestProject::new(), &[]);
    assert!(code == 0 && shown.starts_with("there are no rules here yet\n"), "{shown}");
}

#[test]
fn a_rule_is_shown_as_it_is_written() {
    let project = project_with_rules(RULES);
    assert_shown!("rules-show", rules(&project, &["show", "rule:no-force"]).1);
    assert!(rules(&project, &["show", "old"]).1.contains("\nmode       off\n"));
    let (code, _, told) = rules(&project, &["show", "no-fource"]);
    assert_eq!(
        (code, told.as_str()),
        (1, "[provost] there is no rule `no-fource`; did you mean `no-force`?\n")
    );
    let told = rules(&project, &["show", "zzz"]).2;
    assert_eq!(told, "[provost] there is no rule `zzz`; `provost rules` lists all\n");
    // A built-in rule is found by its short name, if no other rule has it.
    let shown = rules(&project, &["show", "no-verify"]).1;
    assert!(shown.starts_with("rule       rule:baseline/no-verify\n"), "{shown}");
}

#[test]
fn a_rule_with_a_command_shows_whether_it_is_trusted() {
    let project =
        project_with_rules("[[rule]]\nname = \"format\"\nwrites = \"*.rs\"\nrun = \"rustfmt {path}\"\n");
    let shown = one_line(&rules(&project, &["show", "format"]).1);
    assert!(
        shown.contains("trust its command does not run before you trust it: `provost rules trust`"),
        "{shown}"
    );
    assert_eq!(rules(&project, &["trust", "--yes"]).0, 0);
    let shown = one_line(&rules(&project, &["show", "format"]).1);
    assert!(shown.contains("trust its command runs"), "{shown}");
}

#[test]
fn the_status_counts_the_rules() {
    let format = "[[rule]]\nname = \"format\"\nwrites = \"*.rs\"\nrun = \"rustfmt {path}\"\n";
    let project = project_with_rules(&format!("{RULES}{format}"));
    let status = || {
        one_line(&String::from_utf8(project.provost_command("status", &[]).output().unwrap().stdout).unwrap())
    };
    let counted = status();
    assert!(
        counted.contains(
            "rules 3 rules; 1 switched off; 1 only watched; 1 with a command that you have not trusted"
        ),
        "{counted}"
    );
    rules(&project, &["trust", "--yes"]);
    assert!(!status().contains("trusted"), "{}", status());
    let project = project_with_rules("[rules]\nuse = [\"baseline\"]\n");
    let output = project.provost_command("status", &["--json"]).output().unwrap();
    let counted: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counted["rules"]["built_in"], counted["rules"]["all"]);
    let output = project.provost_command("status", &[]).output().unwrap();
    let shown = one_line(&String::from_utf8(output.stdout).unwrap());
    assert!(shown.contains(&format!("rules {} built-in rules ", counted["rules"]["all"])), "{shown}");
}

#[test]
fn every_example_is_judged() {
    let project = project_with_rules(RULES);
    let (code, shown, _) = rules(&project, &["test"]);
    assert!(code == 0 && shown.contains("every example passes: 4 in 1 rule of yours, "), "{shown}");
    // A rule that is off is not judged: its example would fail.
    let project = project_with_rules(&RULES.replace("off = [\"old\"]", ""));
    let (code, shown, _) = rules(&project, &["test"]);
    assert_eq!(code, 1);
    let failed = "failed  <project>/provost.toml:17:10: rule `old`: `ls`: expected a match, got no match\n";
    assert!(shown.starts_with(failed), "{shown}");
    // `config check` and `doctor` judge them too.
    let output = project.provost_command("config", &["check"]).output().unwrap();
    let checked = project.shorten_paths(&String::from_utf8(output.stdout).unwrap());
    assert!(output.status.code() == Some(1) && checked.contains(&failed[8..]), "{checked}");
    let output = project.provost_command("doctor", &["--json"]).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"rule-example\""));
}

#[test]
fn every_form_of_an_example_is_judged_without_the_disk() {
    let project = project_with_rules(
        r#"
[[rule]]
name = "migrations"
changes = "db/**"
unless = "new"
deny = "applied"
match = [{ write = "db/1.sql", text = "x" }, { delete = "db/1.sql" }, { delete = "db" }, "rm -r db"]
not_match = [{ write = "db/1.sql", new = true }, { write = "src/a" }, { read = "db/1.sql" }]

[[rule]]
name = "todo"
adds = "TODO"
warn = "open"
match = [{ write = "a.txt", text = "a\nTODO b" }]
not_match = [{ write = "a.txt", text = "done" }]

[[rule]]
name = "keys"
reads = "~/.ssh/**"
ask = "secret"
match = [{ read = "~/.ssh/id" }, "cat ~/.ssh/id"]
not_match = [{ read = "id" }]

[[rule]]
name = "main"
commits = "main"
deny = "no"
match = ["git commit -m x", { run = "git commit -m x", branch = "main" }]
not_match = [{ run = "git commit -m x", branch = "topic" }, "git status"]

[[rule]]
name = "web"
uses = "WebFetch|mcp__files__*"
in_agent = "reviewer"
deny = "no"
match = [{ tool = "WebFetch", input = { url = "https://x" }, agent = "reviewer" }, { tool = "mcp__files__x", agent = "reviewer" }]
not_match = [{ tool = "WebFetch", agent = "main" }, { tool = "WebSearch", agent = "reviewer" }]

[[rule]]
name = "tests"
stops = true
changed = "src/**"
need = { passed = "cargo test" }
match = [{ stop = true, changed = ["src/a.rs"] }, { stop = true, changed = ["src/a.rs"], ran = ["cargo test; ls", "cargo build"] }]
not_match = [
    { stop = true, changed = ["src/a.rs"], ran = ["cargo test"] },
    { stop = true, changed = ["doc.md"] },
    { stop = true, changed = ["src/a.rs"], agent = "reviewer" },
]

[[rule]]
name = "lint"
stops = true
in_agent = "reviewer"
need = { check = "make lint" }
match = [{ stop = true, agent = "reviewer" }]
not_match = [{ stop = true, ran = ["make lint"], agent = "reviewer" }, { stop = true }]
"#,
    );
    let (code, shown, _) = rules(&project, &["test"]);
    assert_eq!(code, 0, "{shown}");
    let (_, report, _) = rules(&project, &["test", "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(report["examples"].as_u64().unwrap() >= 20, "{report}");
    assert_eq!(report["failures"], serde_json::json!([]));
}

#[test]
fn the_examples_of_the_contract_can_fail() {
    // Each example on the wrong side must fail.
    let swapped = RULES.replace("not_match", "x").replace("match =", "not_match =").replace("x =", "match =");
    let (code, shown, _) = rules(&project_with_rules(&swapped), &["test"]);
    assert!(code == 1 && shown.contains("\n4 of "), "{shown}");
}

#[test]
fn a_mistake_in_an_example_is_reported_with_its_place() {
    for (example, place, why) in [
        ("{ wirte = \"x\" }", "5:10", "an example has one of"),
        ("{ write = \"x\", txt = \"y\" }", "5:25", "unknown key `txt`; did you mean `text`?"),
        ("{ write = 5 }", "5:20", "this takes a text"),
        ("5", "5:10", "an example is a command line or a table"),
    ] {
        let project = project_with_rules(&format!(
            "[[rule]]\nname = \"a\"\nwrites = \"x\"\ndeny = \"no\"\nmatch = [{example}]\n"
        ));
        let (code, shown, _) = rules(&project, &["test"]);
        assert!(
            code == 1 && shown.contains(&format!("provost.toml:{place}: rule `a`: `match`: {why}")),
            "{shown}"
        );
    }
}

#[test]
fn a_rule_that_needs_evidence_is_added() {
    let project = project_with_rules("");
    for (name, arguments) in [
        ("a", &["--stops", "--changed", "src/**", "--need-passed", "cargo test", "--rounds", "2"][..]),
        ("b", &["--commits", "*", "--need-check", "make lint", "--seconds", "90"]),
        ("c", &["--writes", "**/*.rs", "--run", "rustfmt {path}", "--seconds", "5"]),
    ] {
        let (code, _, told) = rules(&project, &[&["add", "--name", name], arguments].concat());
        assert_eq!(code, 0, "{told}");
    }
    let text = fs::read_to_string(project.path.join("provost.toml")).unwrap();
    for expected in [
        "name = \"a\"\nchanged = \"src/**\"\nstops = true\nneed = { passed = \"cargo test\" }\nrounds = 2\n",
        "name = \"b\"\ncommits = \"*\"\nneed = { check = \"make lint\", seconds = 90 }\n",
        "name = \"c\"\nwrites = \"**/*.rs\"\nseconds = 5\nrun = \"rustfmt {path}\"\n",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    let (code, _, told) =
        rules(&project, &["add", "--name", "d", "--stops", "--need-passed", "x", "--seconds", "5"]);
    assert!(code == 1 && one_line(&told).contains("`seconds` goes with `run`"), "{told}");
}

#[test]
fn every_option_of_rules_add_is_described() {
    let (_, help, _) = rules(&TestProject::new(), &["add", "-h"]);
    let options: Vec<&str> = help.lines().filter(|line| line.trim_start().starts_with("--")).collect();
    let is_described =
        |line: &&&str| line.trim_start().split("  ").filter(|part| !part.is_empty()).count() > 1;
    let bare: Vec<&&str> = options.iter().filter(|line| !is_described(line)).collect();
    assert!(options.len() > 20 && bare.is_empty(), "{bare:?}\n{help}");
}

#[test]
fn a_rule_is_added_and_everything_else_stays() {
    let project = project_with_rules(RULES);
    let arguments = [
        "add",
        "--name",
        "no-clean",
        "--runs",
        "git clean",
        "--runs",
        "git gc",
        "--deny",
        "it \"deletes\" files",
        "--fix",
        "ask",
        "--match",
        "git clean -f",
        "--not-match",
        "git status",
    ];
    let (code, shown, told) = rules(&project, &arguments);
    assert_eq!(
        (code, shown.as_str(), told.as_str()),
        (0, "added the rule `no-clean` to <project>/provost.toml\n", "")
    );
    let text = fs::read_to_string(project.path.join("provost.toml")).unwrap();
    let added = "\n[[rule]]\nname = \"no-clean\"\nruns = [\"git clean\", \"git gc\"]\ndeny = 'it \"deletes\" files'\n\
                 fix = \"ask\"\nmatch = [\"git clean -f\"]\nnot_match = [\"git status\"]\n";
    assert_eq!(text, format!("{RULES}{added}"));
    assert_eq!(super::decide(&project, &project.bash("git gc")), "deny rule:no-clean");
    // A second rule of this name is refused.
    let (code, _, told) = rules(&project, &arguments);
    assert!(code == 1 && one_line(&told).contains("has a rule `no-clean` already"), "{told}");
    assert_eq!(fs::read_to_string(project.path.join("provost.toml")).unwrap(), text);
}

#[test]
fn a_rule_goes_to_the_users_file_or_to_a_new_one() {
    let project = TestProject::new();
    let (code, _, told) = rules(&project, &["add", "--user", "--name", "a", "--runs", "ls", "--deny", "no"]);
    assert_eq!(code, 0, "{told}");
    let text = fs::read_to_string(project.home.join(".config/provost/provost.toml")).unwrap();
    assert_eq!(text, "[[rule]]\nname = \"a\"\nruns = \"ls\"\ndeny = \"no\"\n");
    assert!(!project.path.join("provost.toml").exists());
    let (_, shown, _) =
        rules(&project, &["add", "--name", "c", "--writes", "*.rs", "--run", "rustfmt {path}"]);
    assert!(one_line(&shown).contains("does not run before you trust it"), "{shown}");
    rules(&project, &["add", "--name", "b", "--runs", "ls", "--deny", "no"]);
    assert!(project.path.join("provost.toml").exists());
}

#[test]
fn a_wrong_rule_is_not_added() {
    for (arguments, why) in [
        (&["--runs", "ls"][..], "it needs one of `deny`"),
        (&["--runs", "ls", "--deny", "a", "--ask", "b"], "it may have only one of"),
        (&["--deny", "a"], "it says nothing that it looks at"),
        (&["--writes", "a[b", "--deny", "a"], "`a[b` has a `[` without `]`"),
        (&["--adds", "(", "--deny", "a"], "is not a regular expression"),
        (&["--runs", "ls", "--deny", "a", "--match", "cat"], "`cat`: expected a match, got no match"),
        (&["--runs", "ls", "--deny", "a", "--mode", "wach"], "did you mean `watch`?"),
    ] {
        let project = project_with_rules(RULES);
        let (code, _, told) = rules(&project, &[&["add", "--name", "new"], arguments].concat());
        assert!(code == 1 && one_line(&told).contains(why), "{arguments:?}: {told}");
        assert!(told.starts_with("[provost] nothing was added: "), "{told}");
        assert_eq!(fs::read_to_string(project.path.join("provost.toml")).unwrap(), RULES);
    }
    // A broken file.
    let project = project_with_rules("[[rule\n");
    let (code, _, told) = rules(&project, &["add", "--name", "new", "--runs", "ls", "--deny", "a"]);
    assert!(
        code == 1 && one_line(&told).contains("provost.toml is broken, so nothing is added: line 1"),
        "{told}"
    );
    assert_eq!(fs::read_to_string(project.path.join("provost.toml")).unwrap(), "[[rule\n");
}

#[test]
fn a_built_in_set_is_added_once() {
    for (before, after) in [
        ("", "[rules]\nuse = [\"baseline\"]\n"),
        (
            "# mine\n[journal]\nenabled = true # on\n",
            "# mine\n[journal]\nenabled = true # on\n\n[rules]\nuse = [\"baseline\"]\n",
        ),
        (
            "[rules] # ours\nmode = \"watch\" # for now\n",
            "[rules] # ours\nmode = \"watch\" # for now\nuse = [\"baseline\"]\n",
        ),
        ("\u{feff}[rules]\r\noff = []\r\n", "\u{feff}[rules]\r\noff = []\r\nuse = [\"baseline\"]\r\n"),
    ] {
        let project = project_with_rules(before);
        let (code, _, told) = rules(&project, &["add", "baseline"]);
        assert_eq!(code, 0, "{told}");
        let text = fs::read_to_string(project.path.join("provost.toml")).unwrap();
        assert_eq!(text.replace("\r\n", "\n"), after.replace("\r\n", "\n"));
        let (code, shown, _) = rules(&project, &["add", "baseline"]);
        assert!(code == 0 && shown.contains("uses `baseline` already"), "{shown}");
    }
    let (code, _, told) = rules(&TestProject::new(), &["add", "basline"]);
    assert!(
        code == 1 && one_line(&told).contains("there is no built-in set `basline`; did you mean `baseline`?"),
        "{told}"
    );
}

#[test]
fn no_agent_adds_rules() {
    let project = TestProject::new();
    project.assert_lines_denied(&[
        "provost rules add baseline",
        "provost rules add --name a --runs ls --deny x",
    ]);
    project.assert_lines_allowed(&["provost rules", "provost rules test", "provost rules show a"]);
}

//! Slice 1: only listed programs.

use super::*;

const LISTED: &[&str] = &[
    "find", "grep", "rg", "cat", "head", "tail", "wc", "ls", "tree", "file", "stat", "du", "df", "git",
    "flutter", "dart", "fvm", "test", "command", "which", "type", "pwd", "echo",
];

#[test]
fn allows_allowlisted_read_only_commands() {
    allows(&TestProject::new(), &["cat README.md"]);
}

#[test]
fn blocks_non_allowlisted_commands() {
    blocks(&TestProject::new(), "not in the planner's allowlist", &["rm -rf /tmp/data"]);
}

#[test]
fn allows_commands_with_leading_env_var_assignments() {
    allows(&TestProject::new(), &["FOO=bar grep pattern file.txt"]);
}

#[test]
fn blocks_non_allowlisted_commands_with_leading_env_vars() {
    blocks(&TestProject::new(), "'python3'", &["FOO=bar python3 -c 'import os'"]);
}

#[test]
fn each_allowlisted_command_is_individually_accepted() {
    allows(&TestProject::new(), LISTED);
}

#[test]
fn an_empty_command_is_blocked() {
    blocks(&TestProject::new(), "BLOCKED: Empty command is not in the planner's allowlist", &["", " \t\n "]);
}

#[test]
fn a_missing_command_is_blocked() {
    let project = TestProject::new();
    for input in [json!({}), json!({"description": "x"}), json!({"command": null}), Value::Null] {
        let event = project.call("Bash", input.clone());
        let script = by_script(&project.run_compat(&[GUARD], event.to_string().as_bytes())).unwrap();
        let hook = by_hook(&project.hook(&by_planner(event))).unwrap();
        assert_eq!(script, hook, "{input}");
        assert!(hook.unwrap_err().starts_with("BLOCKED: Empty command"), "{input}");
    }
}

#[test]
fn a_partial_match_is_blocked() {
    blocks(&TestProject::new(), "'grep-extended' is not in the planner's allowlist", &["grep-extended foo"]);
}

#[test]
fn a_name_counts_exactly_as_it_is_written() {
    blocks(
        &TestProject::new(),
        "is not in the planner's allowlist",
        &["./grep x", "/usr/bin/grep x y", "planning/ls", "GREP x", "~/bin/cat x"],
    );
}

#[test]
fn quoting_does_not_change_a_name() {
    let project = TestProject::new();
    allows(&project, &["'cat' README.md", "c\"a\"t README.md", "\\cat README.md"]);
    blocks(&project, "'rm'", &["'rm' x", "r\"m\" x", "\\rm x", "$'rm' x"]);
}

#[test]
fn builtins_that_only_steer_the_shell_are_allowed() {
    allows(
        &TestProject::new(),
        &["cd src && ls", "true", "false || ls", ":", "[ -f x ] && cat x", "[[ -f x ]] && cat x"],
    );
}

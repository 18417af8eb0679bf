//! Rules of hookify decide as hookify does.

use super::decide;
use super::imports::{assert_decided_alike, import, import_and_use};
use crate::support::TestProject;

/// A file of hookify with one rule.
fn write_rule(event: &str, conditions: &[(&str, &str, &str)]) -> String {
    let list: Vec<String> = conditions
        .iter()
        .map(|(field, operator, pattern)| {
            format!("  - field: {field}\n    operator: {operator}\n    pattern: \"{pattern}\"\n")
        })
        .collect();
    let list = list.concat();
    format!("---\nname: r\nenabled: true\nevent: {event}\naction: block\nconditions:\n{list}---\nNo.\n")
}

#[test]
fn conditions_on_commands_are_decided_as_hookify_does() {
    for (conditions, lines) in [
        (
            &[("command", "regex_match", r"git\s+push\s+(--force|-f)")][..],
            &[("git push --force-with-lease", "deny"), ("git push -f", "deny"), ("git push", "silent")][..],
        ),
        (
            &[("command", "regex_match", r"rm\s+-rf|dd\s+if=|mkfs")],
            &[
                ("rm -rf x", "deny"),
                ("dd if=/dev/zero of=x", "deny"),
                ("mkfs /dev/x", "deny"),
                ("mkfs.ext4 x", "deny"),
                ("dd of=x", "silent"),
            ],
        ),
        (
            &[("command", "regex_match", r"git push.*main")],
            &[
                ("git push origin main", "deny"),
                ("git push -f o HEAD:MAIN", "deny"),
                ("git push o x", "silent"),
                ("git log main", "silent"),
            ],
        ),
        (
            &[("command", "regex_match", r"curl.*\|\s*(ba)?sh")],
            &[("curl -s x.io | bash", "deny"), ("curl x.io | jq .", "silent")],
        ),
        (
            &[("command", "regex_match", r"git\s+push"), ("command", "not_contains", "--dry-run")],
            &[("git push origin", "deny"), ("git push --dry-run", "silent")],
        ),
        (
            &[("command", "regex_match", "git push.*--force")],
            &[("git push origin --force", "deny"), ("git push", "silent")],
        ),
        (&[("command", "equals", "npm publish")], &[("npm publish", "deny"), ("npm publish x", "silent")]),
        (
            &[("command", "regex_match", "--no-verify")],
            &[("git commit --no-verify", "deny"), ("git commit", "silent")],
        ),
    ] {
        assert_decided_alike("hookify.a.local.md", &write_rule("bash", conditions), lines);
    }
}

#[test]
fn conditions_on_files_are_decided_as_hookify_does() {
    for (conditions, path, text, is_denied) in [
        (
            &[("file_path", "regex_match", r"\.tsx?$"), ("new_text", "regex_match", r"console\.log\(")][..],
            "a/b.tsx",
            "CONSOLE.LOG(1)",
            true,
        ),
        (&[("file_path", "regex_match", r"\.tsx?$")], "a/b.jsx", "", false),
        (&[("file_path", "regex_match", r"\.env$|\.env\.|secrets")], "a/.env.local", "", true),
        (&[("file_path", "regex_match", r"\.env$|\.env\.|secrets")], "secrets/a", "", true),
        (&[("file_path", "regex_match", r"\.env$|\.env\.|secrets")], ".envrc", "", false),
        (&[("file_path", "regex_match", r"src/.*\.ts$")], "src/a/b/c.ts", "", true),
        (
            &[("file_path", "contains", "migrations/"), ("file_path", "not_contains", "draft")],
            "db/migrations/1",
            "",
            true,
        ),
        (
            &[("file_path", "contains", "migrations/"), ("file_path", "not_contains", "draft")],
            "db/migrations/draft-1",
            "",
            false,
        ),
        (&[("new_text", "contains", "console.log")], "a", "consoleXlog", false),
    ] {
        let project = TestProject::new();
        import_and_use(&project, "hookify.a.local.md", &write_rule("file", conditions));
        let answer = decide(&project, &project.write(project.path.join(path), text));
        assert_eq!(answer.starts_with("deny"), is_denied, "{conditions:?} {path} {text}");
    }
}

#[test]
fn conditions_that_no_rule_can_say_are_not_imported() {
    let project = TestProject::new();
    for conditions in [
        &[("command", "regex_match", "prod")][..],
        &[("command", "regex_match", r"curl.*\|\s*jq")],
        &[("command", "ends_with", "--force")],
        &[("command", "not_contains", "--force")],
        &[("new_text", "regex_match", "(?=x)a")],
        &[("old_text", "contains", "x")],
    ] {
        let event = if conditions[0].0 == "command" { "bash" } else { "file" };
        let (code, printed, reported) =
            import(&project, "hookify.a.local.md", &write_rule(event, conditions));
        assert!(
            code == 0 && printed.is_empty() && reported.contains("not imported"),
            "{conditions:?}: {printed}"
        );
    }
}

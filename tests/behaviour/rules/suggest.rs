//! `provost rules suggest`: rules for what the user did not want in past sessions.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{TestProject, assert_shown};

const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected.";

/// The records of a session, as the client writes them.
struct Transcript {
    project: String,
    records: Vec<Value>,
}

impl Transcript {
    fn of(project: &TestProject) -> Self {
        Self { project: project.path.to_string_lossy().into_owned(), records: Vec::new() }
    }

    fn push(&mut self, mut record: Value) {
        let number = self.records.len();
        for (name, value) in [
            ("uuid", json!(format!("u{number}"))),
            ("sessionId", json!("0f")),
            ("cwd", json!(self.project)),
            ("timestamp", json!(format!("2026-11-17T01:{:02}:{:02}.000Z", number / 60, number % 60))),
        ] {
            record[name] = value;
        }
        self.records.push(record);
    }

    fn prompt(&mut self, text: &str) -> &mut Self {
        self.push(json!({"type": "user", "permissionMode": "default", "message": {"role": "user", "content": text}}));
        self
    }

    #[allow(clippy::needless_pass_by_value)]
    fn call(&mut self, tool: &str, input: Value, result: &str) -> &mut Self {
        let id = format!("toolu_{}", self.records.len());
        self.push(json!({"type": "assistant", "message": {"id": format!("m{id}"), "role": "assistant",
            "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]}}));
        self.push(json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": result, "is_error": result == REJECTED}]}}));
        self
    }

    fn rejected(&mut self, line: &str) -> &mut Self {
        self.call("Bash", json!({"command": line}), REJECTED)
    }

    fn accepted(&mut self, line: &str) -> &mut Self {
        self.call("Bash", json!({"command": line}), "done")
    }

    fn written(&mut self, path: &str, result: &str) -> &mut Self {
        let path = Path::new(&self.project).join(path);
        self.call("Write", json!({"file_path": path, "content": "x"}), result)
    }

    /// What the command prints. The rules must pass their own examples.
    fn suggest(&self, project: &TestProject) -> String {
        let lines: Vec<String> = self.records.iter().map(Value::to_string).collect();
        project.write_file("records/0f.jsonl", &lines.join("\n"));
        let output =
            project.provost_command("rules", &["suggest", "--transcripts", "records"]).output().unwrap();
        let (printed, reported) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(0), "{reported}");
        let other = TestProject::new();
        other.write_file("provost.toml", &printed);
        let tested = other.provost_command("rules", &["test"]).output().unwrap();
        assert_eq!(tested.status.code(), Some(0), "{}\n{printed}", String::from_utf8(tested.stdout).unwrap());
        format!("{printed}--- reported\n{reported}")
    }
}

#[test]
fn calls_that_the_user_rejected_become_rules() {
    let project = TestProject::new();
    let mut session = Transcript::of(&project);
    session
        .prompt("publish it")
        .accepted("git push origin topic")
        .accepted("git commit -m 'no git push --force'")
        .rejected("git push --force origin main")
        .rejected("cd sub && git push -u --force")
        .rejected("TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789 npm publish")
        .rejected("npm publish --tag next 2>&1 | tail -5")
        .written("db/migrations/1.sql", REJECTED)
        .written("db/migrations/2.sql", REJECTED)
        .written("src/a.rs", "done")
        .call("mcp__tracker__close", json!({"id": 5}), REJECTED);
    assert_shown!("rules-suggest-rejected", session.suggest(&project));
}

#[test]
fn calls_that_were_undone_after_a_prompt_become_rules() {
    let project = TestProject::new();
    let mut session = Transcript::of(&project);
    session
        .prompt("go")
        .accepted("npm install left-pad")
        .accepted("git commit -am done")
        .written("src/a.rs", "done")
        // The agent tidies up by itself.
        .written("src/b.rs", "done")
        .accepted("git checkout -- src/b.rs")
        .prompt("take that back")
        .accepted("git checkout -- src/a.rs")
        .accepted("git reset --soft HEAD~1")
        .accepted("npm uninstall left-pad");
    assert_shown!("rules-suggest-undone", session.suggest(&project));
}

#[test]
fn calls_that_a_prompt_complains_about_and_names_become_rules() {
    let project = TestProject::new();
    let mut session = Transcript::of(&project);
    session
        .prompt("go")
        .accepted("cargo publish --dry-run")
        .written("Cargo.lock", "done")
        .prompt("I told you not to edit Cargo.lock by hand")
        .accepted("make deploy")
        .prompt("make it stop")
        .accepted("git status")
        .prompt("why did you run git push?")
        .accepted("terraform apply -auto-approve")
        .prompt("Never apply anything yourself.");
    assert_shown!("rules-suggest-complaints", session.suggest(&project));
}

#[test]
fn a_call_that_a_rule_stops_already_or_that_passes_elsewhere_gives_none() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[[rule]]\nname = \"p\"\nruns = \"npm publish\"\ndeny = \"d\"\n");
    let mut session = Transcript::of(&project);
    session
        .prompt("go")
        .rejected("npm publish")
        .accepted("make test")
        .rejected("make test")
        .rejected("echo hello");
    assert_shown!("rules-suggest-nothing", session.suggest(&project));
}

#[test]
fn without_sessions_it_says_so() {
    let project = TestProject::new();
    let output = project.provost_command("rules", &["suggest"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let reported = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        reported,
        "[provost] there are no past sessions. To fix: use `--all`, or `--transcripts DIR`.\n"
    );
}

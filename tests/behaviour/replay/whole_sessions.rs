//! Sessions of random calls: the hook judges each call, the commands really run, and a replay of the transcript that the
//! client would have written decides as the journal says.
//!
//! Every record names the branch on which the session began, because a client may notice a switch only later.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{Transcript, replay_json};
use crate::support::{Answer, TestProject};

const RULES: &str = r#"
[[rule]]
name = "main"
commits = "main"
deny = "use a branch"

[[rule]]
name = "message"
commits = "*"
message = "^(feat|fix): "
ask = "is this the form?"

[[rule]]
name = "push"
pushes = "main"
deny = "CI pushes"

[[rule]]
name = "migrations"
changes = "db/**"
unless = "new"
ask = "sure?"

[[rule]]
name = "todo"
writes = "notes.txt"
adds = "TODO"
warn = "do it now"

[[rule]]
name = "tested"
commits = "*"
changed = "src/**"
need = { passed = "./check" }

[[rule]]
name = "done"
stops = true
changed = "src/**"
need = { passed = "./check" }

[[rule]]
name = "explorers"
in_agent = "Explore"
changes = "**"
deny = "they only read"
"#;

const COMMANDS: &[&str] = &[
    "git commit -q --allow-empty -m 'feat: x'",
    "git commit -q --allow-empty -m wrong",
    "git checkout -q topic",
    "git checkout -q main",
    "git checkout -q main && git commit -q --allow-empty -m 'fix: x'",
    "git checkout -q topic; git commit -q --allow-empty -m 'fix: x'",
    "git switch -q -",
    "git checkout -q -b NEW",
    "git checkout -q nowhere",
    "cd src && git commit -q --allow-empty -m 'fix: y'",
    "git push",
    "git status --short",
    "./check",
    "./check; true",
    "false && ./check",
    "echo y >> src/a.rs",
    "sed -i s/x/y/ src/a.rs",
    "rm -f src/b.rs",
];

const FILES: &[&str] = &["src/a.rs", "src/b.rs", "notes.txt", "notes.txt", "db/1.sql", "db/NEW.sql"];

/// A session in the making: the hook is asked, and the record is written.
struct Session {
    project: TestProject,
    main: Transcript,
    agent: Transcript,
    seed: u64,
    minute: u64,
    is_blocked: bool,
}

impl Session {
    fn new(seed: u64) -> Self {
        let project = TestProject::new();
        project.write_file("provost.toml", RULES);
        project.write_file("check", "#!/bin/sh\n");
        project.write_file("src/a.rs", "x\n");
        project.write_file("db/1.sql", "x\n");
        let main = Transcript::new(&project, "s1");
        let agent = main.agent("a1");
        let session = Self { project, main, agent, seed, minute: 0, is_blocked: false };
        let set_up = "chmod +x check && git init -q -b main && git add . && git commit -q -m 'feat: one' && git branch topic";
        assert!(session.run(set_up).0);
        session
    }

    fn below(&mut self, limit: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.seed >> 33).unwrap() % limit
    }

    /// Whether a command succeeds, and what it prints.
    fn run(&self, command: &str) -> (bool, String) {
        let names = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(&self.project.path)
            .env("HOME", &self.project.home)
            .envs(names.map(|name| (name, "t@localhost")))
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn hook(&self, name: &str, in_agent: bool, more: Value) -> Answer {
        let mut event = more;
        event["hook_event_name"] = name.into();
        event["session_id"] = "s1".into();
        event["cwd"] = self.project.path.to_str().into();
        event["permission_mode"] = "default".into();
        if in_agent {
            event["agent_id"] = "a1".into();
            event["agent_type"] = "Explore".into();
        }
        self.project.hook(&event)
    }

    /// Adds to one of the transcripts, with the time of now.
    fn write(&mut self, in_agent: bool, add: impl FnOnce(Transcript) -> Transcript) {
        let of_time = if in_agent { &mut self.agent } else { &mut self.main };
        let empty = Transcript { records: Vec::new(), ..of_time.agent("") };
        let transcript = std::mem::replace(of_time, empty);
        let old = transcript.records.len();
        let mut transcript = add(transcript);
        for record in &mut transcript.records[old..] {
            let (hour, minute) = (self.minute / 60, self.minute % 60);
            record["timestamp"] = format!("2026-01-01T{hour:02}:{minute:02}:00.000Z").into();
            self.minute += 1;
        }
        *of_time = transcript;
    }

    fn call(&mut self, id: &str, tool: &str, input: &Value, in_agent: bool) {
        let fields = json!({"tool_name": tool, "tool_use_id": id, "tool_input": input});
        let answer = self.hook("PreToolUse", in_agent, fields.clone());
        if answer.stdout.contains("\"permissionDecision\"") {
            let text = format!("PreToolUse:{tool} hook error: no");
            return self.write(in_agent, |transcript| {
                transcript.calls(id, tool, input).ends(id, &text, true, &json!("Error: no"))
            });
        }
        let (has_succeeded, response) = if let Some(file) = input["file_path"].as_str() {
            let before = fs::read_to_string(file).ok();
            fs::write(file, input["content"].as_str().unwrap()).unwrap();
            (true, json!({"filePath": file, "content": input["content"], "originalFile": before}))
        } else {
            let (has_succeeded, printed) = self.run(input["command"].as_str().unwrap());
            let failure = format!("Error: Exit code 1\n{printed}");
            (has_succeeded, if has_succeeded { json!({"stdout": printed}) } else { failure.into() })
        };
        let mut after = fields;
        let name = if has_succeeded { "PostToolUse" } else { "PostToolUseFailure" };
        after[if has_succeeded { "tool_response" } else { "error" }] = response.clone();
        self.hook(name, in_agent, after);
        self.write(in_agent, |transcript| {
            let text = if has_succeeded { "ok" } else { "Exit code 1" };
            transcript.calls(id, tool, input).ends(id, text, !has_succeeded, &response)
        });
    }

    fn prompt(&mut self, text: &str) {
        self.write(false, |transcript| transcript.prompt(text));
        self.hook("UserPromptSubmit", false, json!({"prompt": text}));
    }

    fn end_turn(&mut self, number: usize) {
        let text = format!("done {number}");
        self.write(false, |transcript| transcript.says(&text));
        let stop = json!({"last_assistant_message": text, "stop_hook_active": self.is_blocked});
        self.is_blocked = self.hook("Stop", false, stop).code == Some(2);
        if self.is_blocked {
            let feedback = json!({"role": "user", "content": "Stop hook feedback:\n- no"});
            self.write(false, |transcript| transcript.push("user", feedback, &json!({"isMeta": true})));
        } else {
            self.prompt(&format!("go on {number}"));
        }
    }

    fn step(&mut self, number: usize) {
        let new = |text: &str| text.replace("NEW", &format!("new{number}"));
        let id = format!("t{number}");
        let in_agent = self.below(5) == 0;
        match self.below(20) {
            0 if !in_agent => self.end_turn(number),
            // A denied write has no record of what the file held.
            1..=4 if !in_agent => {
                let file = new(FILES[self.below(FILES.len())]);
                let file = self.project.path.join(file);
                let content = ["x\n", "x\n// TODO\n", "y\n"][self.below(3)];
                let input = json!({"file_path": file, "content": content});
                self.call(&id, "Write", &input, in_agent);
            }
            _ => {
                let command = new(COMMANDS[self.below(COMMANDS.len())]);
                self.call(&id, "Bash", &json!({"command": command}), in_agent);
            }
        }
    }
}

/// How often each judge decided so about a call; `-` is the end of a turn.
type Decisions = BTreeMap<(String, String, String), usize>;

fn read_journal(project: &TestProject) -> Decisions {
    let mut decisions = Decisions::new();
    for line in project.read_journal() {
        if !["PreToolUse", "Stop"].contains(&line["event"].as_str().unwrap()) {
            continue;
        }
        for guard in line["guards"].as_array().unwrap() {
            let word = match guard["opinion"].as_str().unwrap() {
                "note" => "warn",
                "silence" => continue,
                opinion => opinion,
            };
            let call = line["call"].as_str().unwrap_or("-");
            let key = (call.into(), guard["guard"].as_str().unwrap().into(), word.into());
            *decisions.entry(key).or_default() += 1;
        }
    }
    decisions
}

fn read_replay(result: &Value) -> Decisions {
    let mut decisions = Decisions::new();
    for one in result["decisions"].as_array().unwrap() {
        let text = |name: &str| one[name].as_str().unwrap_or("-").to_owned();
        *decisions.entry((text("call"), text("rule_or_guard"), text("decision"))).or_default() += 1;
    }
    decisions
}

#[test]
fn a_replay_of_random_sessions_decides_as_their_journals_say() {
    let mut total = 0;
    for seed in 1..=4 {
        let mut session = Session::new(seed);
        session.prompt("go");
        for number in 0..40 {
            session.step(number);
        }
        let all = tempfile::tempdir().unwrap();
        session.main.write(all.path());
        let agent = session.agent.write(all.path());
        fs::write(agent.with_extension("meta.json"), json!({"agentType": "Explore"}).to_string()).unwrap();
        let result = replay_json(&session.project, &["--transcripts", all.path().to_str().unwrap()]);
        let (journal, replay) = (read_journal(&session.project), read_replay(&result));
        let keys = journal.keys().chain(replay.keys());
        let different = keys.filter(|key| journal.get(key) != replay.get(key));
        let different: Vec<_> = different.map(|key| (key, journal.get(key), replay.get(key))).collect();
        assert!(
            different.is_empty(),
            "seed {seed}: {different:#?}\n{}{}\n{result:#}",
            session.main.text(),
            session.agent.text()
        );
        assert_eq!(result["skipped"], json!({}));
        total += journal.values().sum::<usize>();
    }
    // Sessions in which nobody decided anything would show nothing.
    assert!(total > 60, "{total}");
}

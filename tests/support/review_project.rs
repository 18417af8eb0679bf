//! A project with a plan of the review loop, and a mock reviewer on its `PATH` that answers like the real client
//! (`tests/behaviour/review_loop/reviewer.sh`).

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{Answer, TestProject, collect_answer, program};

pub const SESSION: &str = "db05b49a-780f-4b0b-bd53-5359177b8aba";
pub const OTHER_SESSION: &str = "0f6d2c9e-1111-4222-8333-944444444444";
pub const PLAN_ID: &str = "2026-login";
pub const TASKS: &str = "| Id | Status | Priority | Description | Test strategy |
|----|--------|----------|-------------|---------------|
| 1 | pending | high | The form | unit |
| 2 | pending | low | The check | unit |
| 3 | pending | low | The door | unit |
";

/// A project with a plan.
pub struct ReviewProject {
    pub project: TestProject,
    pub id: String,
    /// The plan's directory.
    pub plan: PathBuf,
    pub variables: Vec<(String, String)>,
}

/// One call of the reviewer.
#[derive(Debug)]
pub struct ReviewerCall {
    pub arguments: Vec<String>,
    pub input: String,
    pub environment: String,
    pub directory: String,
}

impl ReviewerCall {
    pub fn prompt(&self) -> &str {
        self.arguments.last().unwrap()
    }

    pub fn model(&self) -> &str {
        self.argument_after("--model").unwrap()
    }

    /// The argument after this one.
    pub fn argument_after(&self, flag: &str) -> Option<&str> {
        let at = self.arguments.iter().position(|argument| argument == flag)?;
        self.arguments.get(at + 1).map(String::as_str)
    }

    pub fn has_variable(&self, name: &str) -> bool {
        self.environment.lines().any(|line| line.starts_with(&format!("{name}=")))
    }
}

/// The state before the first code review of task 1, with these changes.
pub fn state(changes: Value) -> Value {
    let mut state = json!({
        "max_reviews": 8,
        "current_task": "1",
        "phase": "next-task",
        "phase_iteration": 0,
        "next_phase": "code-review",
        "review_model": "opus",
        "consecutive_clean": 0,
        "tdd": false,
    });
    let Value::Object(changes) = changes else { panic!("no fields: {changes}") };
    state.as_object_mut().unwrap().extend(changes);
    state
}

impl ReviewProject {
    /// A project without plans.
    pub fn without_plans() -> Self {
        let project = TestProject::new();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/behaviour/review_loop/reviewer.sh");
        let programs = project.home.join("bin");
        fs::create_dir_all(project.home.join("calls")).unwrap();
        fs::create_dir_all(&programs).unwrap();
        // Another process writes the file. If this process wrote it, a parallel test could inherit it while it is open, and
        // an open file cannot be run.
        let copied =
            Command::new("install").args(["-m", "755"]).arg(script).arg(programs.join("claude")).status();
        assert!(copied.unwrap().success());
        let variables = vec![
            ("PATH".to_owned(), format!("{}:/usr/bin:/bin", programs.display())),
            ("MOCK_CLAUDE_LOG".to_owned(), project.home.join("calls").display().to_string()),
        ];
        let plan = project.path.join(".taskie/plans").join(PLAN_ID);
        Self { project, id: PLAN_ID.into(), plan, variables }
    }

    /// A project with an empty directory for one plan.
    pub fn empty() -> Self {
        Self::named(PLAN_ID)
    }

    pub fn named(id: &str) -> Self {
        let mut planned = Self::without_plans();
        planned.id = id.into();
        planned.plan.set_file_name(id);
        fs::create_dir_all(&planned.plan).unwrap();
        planned
    }

    /// A project with a complete plan, and without a state.
    pub fn new() -> Self {
        Self::empty().with_plan_files()
    }

    /// A project before the first review of task 1, with these changes of the state.
    pub fn with_state(changes: Value) -> Self {
        let planned = Self::new();
        planned.set_state(&state(changes));
        planned
    }

    pub fn with_plan_files(self) -> Self {
        self.write_file("plan.md", "# Login\n").write_file("tasks.md", TASKS);
        for task in 1..=3 {
            self.write_file(&format!("task-{task}.md"), "# Task\n");
        }
        self
    }

    /// Sets a variable for the hook, and so for the reviewer.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(other, _)| other != name);
        self.variables.push((name.into(), value.into()));
    }

    /// Sets the verdict of the mock reviewer.
    pub fn with_verdict(self, verdict: &str) -> Self {
        self.with("MOCK_CLAUDE_VERDICT", verdict)
    }

    pub fn with_config(self, config: &str) -> Self {
        self.project.write_file("provost.toml", config);
        self
    }

    /// Writes a file of the plan.
    pub fn write_file(&self, name: &str, text: &str) -> &Self {
        let path = self.plan.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.plan.join(name)).unwrap();
    }

    pub fn has_file(&self, name: &str) -> bool {
        self.plan.join(name).exists()
    }

    pub fn read_file(&self, name: &str) -> String {
        fs::read_to_string(self.plan.join(name)).unwrap()
    }

    pub fn set_state(&self, state: &Value) {
        self.write_file("state.json", &format!("{state:#}\n"));
    }

    pub fn read_state(&self) -> Value {
        serde_json::from_str(&self.read_file("state.json")).unwrap()
    }

    /// Changes fields of the state, like an agent or the user.
    pub fn change_state(&self, changes: &Value) {
        let mut state = self.read_state();
        state.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        self.set_state(&state);
    }

    pub fn list_files(&self) -> Vec<String> {
        list_directory(&self.plan)
    }

    /// The calls of the reviewer, in order.
    pub fn reviewer_calls(&self) -> Vec<ReviewerCall> {
        let place = |number: usize, name: &str| self.project.home.join(format!("calls/{number}/{name}"));
        let text = |number, name| fs::read_to_string(place(number, name)).unwrap_or_default();
        let numbers = (1..).take_while(|number| place(*number, "").exists());
        numbers
            .map(|number| ReviewerCall {
                arguments: text(number, "arguments").split_terminator('\0').map(str::to_owned).collect(),
                input: text(number, "input"),
                environment: text(number, "environment"),
                directory: text(number, "directory").trim().to_owned(),
            })
            .collect()
    }

    pub fn transcript(&self) -> PathBuf {
        self.project.home.join(format!(".claude/projects/-home-dev-project/{SESSION}.jsonl"))
    }

    /// Adds a line to the session's transcript.
    pub fn append_to_transcript(&self, line: &Value) -> &Self {
        let path = self.transcript();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = fs::File::options().append(true).create(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
        self
    }

    /// Adds a tool call to the session's transcript.
    pub fn record_tool_call(&self, tool: &str, input: &Value) -> &Self {
        self.append_to_transcript(&tool_call_line(tool, input, &self.project.path))
    }

    /// Adds a write of the plan to the session's transcript.
    pub fn record_work(&self) -> &Self {
        self.record_tool_call(
            "Write",
            &json!({"file_path": self.plan.join("plan.md"), "content": "# Login\n"}),
        )
    }

    /// The event at the end of a turn; `again`: a hook has already continued this turn.
    pub fn stop_event(&self, again: bool) -> Value {
        let mut event =
            self.project.recorded_event(if again { "Stop.active_true" } else { "Stop.active_false" });
        event["session_id"] = SESSION.into();
        event["prompt_id"] = "455c8ed1-5be2-4378-a8c5-3471981831b9".into();
        event["transcript_path"] = json!(self.transcript());
        if self.transcript().is_file() {
            let text = json!({"type": "text", "text": event["last_assistant_message"]});
            self.append_to_transcript(
                &json!({"type": "assistant", "message": {"role": "assistant", "content": [text]}}),
            );
        }
        event
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let project = self.project.command(&[]);
        let mut command = Command::new(program());
        command.args(arguments).env_clear().current_dir(&self.project.path);
        command.envs(project.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn start(&self, arguments: &[&str], input: &[u8]) -> Child {
        let mut child = self.command(arguments).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input);
        child
    }

    pub fn run(&self, arguments: &[&str], input: &[u8]) -> Answer {
        collect_answer(self.start(arguments, input), Some("Stop".into()))
    }

    pub fn script(&self, again: bool) -> Answer {
        self.run(&["compat", "stop-hook"], self.stop_event(again).to_string().as_bytes())
    }

    pub fn hook(&self, event: &Value) -> Answer {
        self.run(&["hook"], event.to_string().as_bytes())
    }

    /// The first stop of a turn.
    pub fn stop(&self) -> Answer {
        self.hook(&self.stop_event(false))
    }

    /// A later stop of the turn.
    pub fn stop_again(&self) -> Answer {
        self.hook(&self.stop_event(true))
    }

    /// The reason for which this answer blocks the stop. Fails if it does not block.
    #[track_caller]
    pub fn expect_block(&self, answer: &Answer) -> String {
        block_reason(answer)
            .unwrap_or_else(|| panic!("not held: {answer:?}\n{:?}", self.project.read_journal().last()))
    }

    /// The files for reviews in Provost's state directory: names without time and process, and texts.
    pub fn read_set_aside_files(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for plan in
            fs::read_dir(self.project.state_directory().join("reviews")).into_iter().flatten().flatten()
        {
            for file in fs::read_dir(plan.path()).into_iter().flatten().flatten() {
                let name = file.file_name().into_string().unwrap();
                let name = name.splitn(3, '-').nth(2).unwrap().to_owned();
                found.push((name, fs::read_to_string(file.path()).unwrap()));
            }
        }
        found.sort();
        found
    }
}

/// A plan with this state that the session has worked on.
pub fn started_review(changes: Value) -> ReviewProject {
    let planned = ReviewProject::with_state(changes);
    planned.record_work();
    planned
}

/// A line of a transcript: a tool call.
pub fn tool_call_line(tool: &str, input: &Value, cwd: &Path) -> Value {
    let part = json!({"type": "tool_use", "id": "toolu_main_0_1", "name": tool, "input": input});
    json!({
        "parentUuid": "b1c2", "isSidechain": false, "type": "assistant", "uuid": "bb69", "cwd": cwd,
        "message": {"role": "assistant", "model": "m", "content": [part]},
        "sessionId": SESSION, "timestamp": "2026-02-01T10:00:00.000Z", "version": "2.1.50",
    })
}

/// The reason for which an answer blocks a stop. Only the form of the answer is checked.
#[track_caller]
pub fn block_reason(answer: &Answer) -> Option<String> {
    let object = answer.check_form().unwrap_or_else(|why| panic!("{why}: {answer:?}"));
    assert!(object.is_none_or(|object| !object.contains_key("decision")), "{answer:?}");
    (answer.code == Some(2)).then(|| answer.stderr.trim_end().to_owned())
}

/// The message to the user.
pub fn user_message(answer: &Answer) -> String {
    let object = answer.check_form().unwrap().unwrap_or_default();
    object.get("systemMessage").and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub fn list_directory(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

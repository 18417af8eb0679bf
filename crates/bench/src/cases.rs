//! The measured cases: programs, their events, and their goals.
//!
//! Every call of the hook runs in one project with all packs on ([`crate::scene`]). The events are recorded ones, with the
//! paths of that project.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Write, pipe};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::programs;
use crate::rule_cases;
use crate::scene::Scene;

/// The arguments of a hook entry with all packs.
const HOOK: &[&str] = &[
    "hook",
    "--pack",
    "self",
    "--pack",
    "rules",
    "--pack",
    "plan-gate",
    "--pack",
    "planner",
    "--pack",
    "review-loop",
    "--pack",
    "phases",
];

/// A program with its input and the expected answer.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub goal: Option<Goal>,
    input: String,
    answer: Expected,
    /// Variables in addition to the scene's environment.
    variables: Vec<(&'static str, OsString)>,
}

/// What a case may cost.
#[derive(Clone, Copy, PartialEq)]
pub enum Goal {
    /// A multiple of the empty program.
    Times(f64),
    Milliseconds(f64),
    /// Milliseconds more than the case of this name.
    MillisecondsMore(f64, &'static str),
}

/// The answer that a program has to give. With another answer it would do other work.
#[derive(Clone, Copy, PartialEq)]
enum Expected {
    Silence,
    Denial,
    Anything,
}

pub struct Stage {
    pub scene: Scene,
    /// The empty program is the first.
    pub cases: Vec<Case>,
}

/// The index of the empty program.
pub const EMPTY: usize = 0;
/// The goal for a call of the hook.
pub const GOAL: Goal = Goal::Times(1.5);

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../../tests/events/", $name, ".json"))
    };
}
pub(crate) use recorded;

/// Recorded events of an everyday session, on which all guards are silent.
const EVERYDAY: &[(&str, &str)] = &[
    ("shell call", recorded!("PreToolUse.Bash")),
    ("shell call, after", recorded!("PostToolUse.Bash")),
    ("file read", recorded!("PreToolUse.Read")),
    ("file edited", recorded!("PreToolUse.Edit")),
    ("file written, after", recorded!("PostToolUse.Write")),
    ("agent ended", recorded!("SubagentStop.general-purpose")),
    ("prompt", recorded!("UserPromptSubmit")),
];

impl Stage {
    /// All usual calls, or only the one of this name, beside the empty program. `others` are further builds of the hook,
    /// which are measured with the same call or a shell call.
    pub fn with_cases(only: Option<&str>, others: &[PathBuf]) -> io::Result<Self> {
        let scene = Scene::create()?;
        let provost = programs::find_built("provost")?;
        let shell_call = scene.relocate(EVERYDAY[0].1).to_string();
        let hook = |name: &str, input: &Value, goal: Option<Goal>| {
            Case::hook_call(name, provost.clone(), input).with_goal(goal)
        };
        let other = |name: &str, program: PathBuf, arguments: &[&str]| Case {
            name: name.into(),
            program,
            arguments: arguments.iter().map(ToString::to_string).collect(),
            goal: None,
            input: shell_call.clone(),
            answer: Expected::Anything,
            variables: Vec::new(),
        };
        let mut cases = vec![other("empty program", programs::find_built("empty")?, &[])];
        for (name, recorded) in EVERYDAY {
            cases.push(hook(name, &scene.relocate(recorded), Some(GOAL)));
        }
        let mut denied = scene.relocate(EVERYDAY[0].1);
        denied["tool_input"]["command"] = "echo x > provost.toml".into();
        let mut in_planner = scene.relocate(EVERYDAY[0].1);
        in_planner["agent_id"] = "a1".into();
        in_planner["agent_type"] = "tdd-planner".into();
        let recording = scene.another_project("recording")?;
        let mut finished = scene.relocate(recorded!("PostToolUse.Agent.completed"));
        finished["tool_input"]["subagent_type"] = "software-developer".into();
        cases.extend([
            hook("shell call of a planner", &in_planner, Some(GOAL)),
            hook("agent started", &scene.delegation_event(recorded!("PreToolUse.Agent")), Some(GOAL)),
            hook("plan mode left", &scene.leave_plan_mode_event()?, Some(GOAL)),
            hook("turn ended, 43 files", &scene.end_of_turn_event(43)?, Some(GOAL)),
            Case { answer: Expected::Denial, ..hook("shell call, denied", &denied, Some(GOAL)) },
            hook("no guard concerned", &scene.relocate(recorded!("Notification")), Some(GOAL)),
            hook("session started", &scene.relocate(recorded!("SessionStart.startup")), None),
            // It changes the state, so it has a project of its own.
            hook("agent's work recorded", &finished, None).with("CLAUDE_PROJECT_DIR", recording),
            hook("turn ended, 5,000 files", &scene.end_of_turn_event(5_000)?, Some(Goal::Milliseconds(30.0))),
        ]);
        let with_rules = rule_cases::list_cases(&scene, &provost, &cases)?;
        cases.extend(with_rules);
        for (program, arguments) in
            [("true", &[][..]), ("jq", &[".tool_name"]), ("python3", &["-c", "pass"]), ("node", &["-e", "0"])]
        {
            let name = [&[program], arguments].concat().join(" ");
            cases.extend(programs::find_on_system(program).map(|path| other(&name, path, arguments)));
        }
        let wanted = only.unwrap_or(EVERYDAY[0].0);
        let Some(compared) = cases.iter().find(|case| case.name == wanted).cloned() else {
            let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
            return Err(io::Error::other(format!("there is no `{wanted}` among: {}", names.join("; "))));
        };
        if only.is_some() {
            let base = match compared.goal {
                Some(Goal::MillisecondsMore(_, base)) => base,
                _ => "",
            };
            let mut number = 0..;
            cases.retain(|case| number.next() == Some(EMPTY) || case.name == wanted || case.name == base);
        }
        for (number, case) in cases.iter_mut().enumerate() {
            if case.program.starts_with(provost.parent().unwrap_or(&provost)) {
                case.program = programs::copy_program(&case.program, &scene.root().join(number.to_string()))?;
            }
        }
        for other in others {
            let name = format!("  by {}", other.file_name().unwrap_or_default().display());
            let program = programs::copy_program(other, &scene.root().join(cases.len().to_string()))?;
            cases.push(Case { name, program, goal: None, ..compared.clone() });
        }
        // The programs inherit the directory. With a directory in each command, the standard library could not use its
        // cheap way to start a process.
        std::env::set_current_dir(scene.project())?;
        Ok(Self { scene, cases })
    }
}

impl Case {
    /// A call of the hook on which all guards are silent.
    pub fn hook_call(name: &str, program: PathBuf, event: &Value) -> Self {
        Self {
            name: name.into(),
            program,
            arguments: HOOK.iter().map(ToString::to_string).collect(),
            goal: None,
            input: event.to_string(),
            answer: Expected::Silence,
            variables: Vec::new(),
        }
    }

    /// Adds a variable to the environment.
    pub fn with(mut self, variable: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((variable, value.into()));
        self
    }

    pub fn with_goal(self, goal: Option<Goal>) -> Self {
        Self { goal, ..self }
    }

    /// Accepts every answer.
    pub fn with_any_answer(self) -> Self {
        Self { answer: Expected::Anything, ..self }
    }

    pub fn is_hook(&self) -> bool {
        self.arguments.first().is_some_and(|first| first == HOOK[0])
    }

    pub fn start_error(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{} cannot be started: {error}", self.program.display()))
    }

    /// The program with its arguments, in the environment of the scene.
    pub fn command(&self, scene: &Scene) -> Command {
        let mut command = Command::new(&self.program);
        self.environment(scene, &mut command);
        command.args(&self.arguments);
        command
    }

    pub fn environment(&self, scene: &Scene, command: &mut Command) {
        scene.environment(command);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
    }

    /// A pipe that has the event already, so that no program waits for it. A pipe takes 64 KB; a larger event comes from a
    /// file.
    pub fn input(&self, scene: &Scene) -> io::Result<std::process::Stdio> {
        const PIPE_SIZE: usize = 60_000;
        if self.input.len() > PIPE_SIZE {
            let file = scene.root().join("input");
            std::fs::write(&file, &self.input)?;
            return Ok(std::fs::File::open(file)?.into());
        }
        let (reader, mut writer): (PipeReader, PipeWriter) = pipe()?;
        writer.write_all(self.input.as_bytes())?;
        Ok(reader.into())
    }

    pub fn check(&self, success: bool, output: &str) -> io::Result<()> {
        let as_expected = match self.answer {
            Expected::Silence => output.is_empty(),
            Expected::Denial => output.contains("deny"),
            Expected::Anything => true,
        };
        if success && as_expected {
            return Ok(());
        }
        let output: String = output.chars().take(500).collect();
        Err(io::Error::other(format!("{}: another answer than expected: `{output}`", self.name)))
    }
}

impl Scene {
    /// A delegation to an agent of the workflow's current phase.
    fn delegation_event(&self, recorded: &str) -> Value {
        let mut event = self.relocate(recorded);
        event["tool_input"] = json!({"subagent_type": "software-developer", "prompt": "Write the login form.", "description": "login"});
        event
    }
}

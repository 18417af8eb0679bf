//! What is measured: the programs, the events they are given, and what each may cost.
//!
//! Every call of the hook is made in one project in which all packs are on ([`crate::scene`]). What the
//! events are is told by the client: they are recorded ones, moved into that project.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Write, pipe};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::programs;
use crate::scene::Scene;

/// All packs, as an entry names them.
const HOOK: &[&str] = &[
    "hook",
    "--pack",
    "self",
    "--pack",
    "plan-gate",
    "--pack",
    "planner",
    "--pack",
    "review-loop",
    "--pack",
    "phases",
];

/// One program with what it reads and what it has to answer.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub goal: Option<Goal>,
    input: String,
    answer: Expected,
    /// What is otherwise in its environment than in that of the scene.
    variables: Vec<(&'static str, OsString)>,
}

/// What a case may cost.
#[derive(Clone, Copy, PartialEq)]
pub enum Goal {
    /// So many times the empty program.
    Times(f64),
    Milliseconds(f64),
}

/// What a program has to print. Another answer would be another measurement.
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

/// What all is measured against.
pub const EMPTY: usize = 0;
/// A call of the hook may cost at most this many times the empty program.
pub const GOAL: Goal = Goal::Times(1.5);

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../../tests/events/", $name, ".json"))
    };
}

/// The events of an everyday session on which the guards are silent, as the client reports them.
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
    /// All usual calls, each with a program of its own.
    pub fn set() -> io::Result<Self> {
        Self::narrowed(None, &[])
    }

    /// All usual calls, or only the one of this name, beside the empty program; and the same call, or a
    /// shell call, of other builds of the hook.
    pub fn narrowed(only: Option<&str>, others: &[PathBuf]) -> io::Result<Self> {
        let scene = Scene::set()?;
        let provost = programs::built("provost")?;
        let shell_call = scene.moved(EVERYDAY[0].1).to_string();
        let hook = |name: &str, input: &Value, goal: Option<Goal>| Case {
            name: name.into(),
            program: provost.clone(),
            arguments: HOOK.iter().map(ToString::to_string).collect(),
            goal,
            input: input.to_string(),
            answer: Expected::Silence,
            variables: Vec::new(),
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
        let mut cases = vec![other("empty program", programs::built("empty")?, &[])];
        for (name, recorded) in EVERYDAY {
            cases.push(hook(name, &scene.moved(recorded), Some(GOAL)));
        }
        let mut denied = scene.moved(EVERYDAY[0].1);
        denied["tool_input"]["command"] = "echo x > provost.toml".into();
        let mut in_planner = scene.moved(EVERYDAY[0].1);
        in_planner["agent_id"] = "a1".into();
        in_planner["agent_type"] = "tdd-planner".into();
        let recording = scene.another_project("recording")?;
        let mut finished = scene.moved(recorded!("PostToolUse.Agent.completed"));
        finished["tool_input"]["subagent_type"] = "software-developer".into();
        cases.extend([
            hook("shell call of a planner", &in_planner, Some(GOAL)),
            hook("agent started", &scene.delegating(recorded!("PreToolUse.Agent")), Some(GOAL)),
            hook("plan mode left", &scene.leaving()?, Some(GOAL)),
            hook("turn ended, 43 files", &scene.ending(43)?, Some(GOAL)),
            Case { answer: Expected::Denial, ..hook("shell call, denied", &denied, Some(GOAL)) },
            hook("no guard concerned", &scene.moved(recorded!("Notification")), Some(GOAL)),
            hook("session started", &scene.moved(recorded!("SessionStart.startup")), None),
            // It changes the state, and the others should find the same one each time.
            hook("agent's work recorded", &finished, None).with("CLAUDE_PROJECT_DIR", recording),
            hook("turn ended, 5,000 files", &scene.ending(5_000)?, Some(Goal::Milliseconds(30.0))),
        ]);
        for (program, arguments) in
            [("true", &[][..]), ("jq", &[".tool_name"]), ("python3", &["-c", "pass"]), ("node", &["-e", "0"])]
        {
            let name = [&[program], arguments].concat().join(" ");
            cases.extend(programs::of_the_system(program).map(|path| other(&name, path, arguments)));
        }
        let wanted = only.unwrap_or(EVERYDAY[0].0);
        let Some(compared) = cases.iter().find(|case| case.name == wanted).cloned() else {
            let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
            return Err(io::Error::other(format!("there is no `{wanted}` among: {}", names.join("; "))));
        };
        if only.is_some() {
            cases = vec![cases.swap_remove(EMPTY), compared.clone()];
        }
        for (number, case) in cases.iter_mut().enumerate() {
            if case.program.starts_with(provost.parent().unwrap_or(&provost)) {
                case.program = programs::copied(&case.program, &scene.root().join(number.to_string()))?;
            }
        }
        for other in others {
            let name = format!("  by {}", other.file_name().unwrap_or_default().display());
            let program = programs::copied(other, &scene.root().join(cases.len().to_string()))?;
            cases.push(Case { name, program, goal: None, ..compared.clone() });
        }
        // The programs inherit it: naming it in each command would keep the standard library from
        // the cheap way to start a process.
        std::env::set_current_dir(scene.project())?;
        Ok(Self { scene, cases })
    }

    /// The calls of the hook.
    pub fn hook_cases(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.is_hook())
    }
}

impl Case {
    /// A call of the hook that is not among those that are always measured.
    pub fn of(name: &str, event: &Value) -> io::Result<Self> {
        Ok(Self {
            name: name.into(),
            program: programs::built("provost")?,
            arguments: HOOK.iter().map(ToString::to_string).collect(),
            goal: None,
            input: event.to_string(),
            answer: Expected::Silence,
            variables: Vec::new(),
        })
    }

    /// The same with a variable in its environment.
    pub fn with(mut self, variable: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((variable, value.into()));
        self
    }

    pub fn is_hook(&self) -> bool {
        self.arguments.first().is_some_and(|first| first == HOOK[0])
    }

    pub fn failed(&self, error: &io::Error) -> io::Error {
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

    /// A pipe that already holds the event: no program has to wait for it. A pipe holds 64 KB; what is
    /// larger comes from a file, which is there as well.
    pub fn input(&self, scene: &Scene) -> io::Result<std::process::Stdio> {
        const PIPE: usize = 60_000;
        if self.input.len() > PIPE {
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

/// A delegation to an agent of the phase that the workflow of the scene is in.
impl Scene {
    fn delegating(&self, recorded: &str) -> Value {
        let mut event = self.moved(recorded);
        event["tool_input"] = json!({"subagent_type": "software-developer", "prompt": "Write the login form.", "description": "login"});
        event
    }
}

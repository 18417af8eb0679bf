//! What is measured, and where: the programs, the events they are given, and the stage.
//!
//! The stage is a home and a project of its own, and an environment built from nothing, so that no
//! setting of the person who measures is read and no journal of hers is written. It is otherwise
//! as in real use: the project is a Git repository, the client's variables are set, the event
//! comes through a pipe, and the journal is really written.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Write, pipe};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::plan_directories;
use crate::plans;
use crate::workflows;

const BASH: &str = include_str!("../../../tests/events/PreToolUse.Bash.json");
const NOTIFICATION: &str = include_str!("../../../tests/events/Notification.json");

/// One program with what it reads and what it has to answer.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    pub program: PathBuf,
    pub arguments: &'static [&'static str],
    input: String,
    denies: bool,
    /// Where it is called, if not in the project of the others.
    project: Option<PathBuf>,
}

pub struct Stage {
    root: TempDir,
    pub cases: Vec<Case>,
}

/// The places of two cases among the others: what all is measured against, and what the goal is about.
pub const EMPTY: usize = 0;
pub const ALLOWED: usize = 1;
/// The goal is also about these.
pub const LEAVING: usize = 3;
pub const ENDING: usize = 4;
pub const DELEGATING: usize = 5;
/// A plan of 5,000 files, with a goal of its own.
pub const ENDING_LARGE: usize = 6;

impl Stage {
    pub fn set(others: &[PathBuf]) -> io::Result<Self> {
        let root = tempfile::tempdir()?;
        fs::create_dir_all(root.path().join("project/.git"))?;
        fs::create_dir(root.path().join("home"))?;
        let project = root.path().join("project");
        let allowed = event(BASH, &project, None);
        let provost = built("provost")?;
        let plans = plans::Stage::set(root.path().join("home"), project.clone())?;
        let leaving = plans.assessed("small.md", 1_000)?.to_string();
        let (small, large) = (root.path().join("small.jsonl"), root.path().join("large.jsonl"));
        let ending = plan_directories::ending(&project, &small, 43)?;
        let ending_large = plan_directories::ending(&project.join("many"), &large, 5_000)?;
        let workflow = root.path().join("workflow");
        let delegating = workflows::delegating(&workflow)?;
        let hook = |name: &str, program: &Path, input: &str, denies: bool| Case {
            name: name.into(),
            program: program.to_owned(),
            arguments: &["hook"],
            input: input.into(),
            denies,
            project: None,
        };
        let idle = |name: &str, program: PathBuf| Case {
            name: name.into(),
            program,
            arguments: &[],
            input: allowed.clone(),
            denies: false,
            project: None,
        };
        let mut cases = vec![
            idle("empty program", built("empty")?),
            hook("PreToolUse, allowed", &provost, &allowed, false),
            hook("PreToolUse, denied", &provost, &event(BASH, &project, Some("echo x > provost.toml")), true),
            Case {
                arguments: &["hook", "--pack", "plan-gate"],
                ..hook("plan mode left, allowed", &provost, &leaving, false)
            },
            hook("turn ended, 43 files", &provost, &ending, false),
            Case { project: Some(workflow.clone()), ..hook("agent started", &provost, &delegating, false) },
            hook("turn ended, 5,000 files", &provost, &ending_large, false),
            hook("no guard concerned", &provost, &event(NOTIFICATION, &project, None), false),
        ];
        let system = ["/bin/true", "/usr/bin/true"].into_iter().find(|path| Path::new(path).exists());
        cases.extend(system.map(|path| idle(path, path.into())));
        for other in others {
            let name = format!("allowed, {}", other.file_name().unwrap_or_default().display());
            cases.push(hook(&name, other, &allowed, false));
        }
        for (number, case) in cases.iter_mut().enumerate() {
            case.program = copied(&case.program, &root.path().join(number.to_string()))?;
        }
        // The programs inherit it: naming it in each command would keep the standard library from
        // the cheap way to start a process.
        std::env::set_current_dir(&project)?;
        Ok(Self { root, cases })
    }

    /// The environment that a client gives to its hooks, and nothing else.
    pub fn environment(&self, case: &Case, command: &mut Command) {
        let project = case.project.clone().unwrap_or_else(|| self.root.path().join("project"));
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.root.path().join("home"))
            .env("CLAUDE_PROJECT_DIR", project);
    }

    /// The calls of the hook.
    pub fn hook_cases(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.arguments.first() == Some(&"hook"))
    }

    /// A call of the hook with a recorded event, on which the guards are silent.
    pub fn hook(&self, recorded: &str) -> Case {
        Case {
            input: event(recorded, &self.root.path().join("project"), None),
            ..self.cases[ALLOWED].clone()
        }
    }

    /// Whether the hook kept a journal, as it does in real use.
    pub fn journal_is_written(&self) -> bool {
        let projects = self.root.path().join("home/.local/state/provost/projects");
        fs::read_dir(projects).is_ok_and(|projects| {
            projects.flatten().any(|project| {
                fs::metadata(project.path().join("journal.jsonl")).is_ok_and(|journal| journal.len() > 0)
            })
        })
    }
}

impl Case {
    pub fn failed(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{} cannot be started: {error}", self.program.display()))
    }

    /// A pipe that already holds the event: no program has to wait for it.
    pub fn input(&self) -> io::Result<PipeReader> {
        let (reader, mut writer): (PipeReader, PipeWriter) = pipe()?;
        writer.write_all(self.input.as_bytes())?;
        Ok(reader)
    }

    /// Whether the answer is the one that this case is about. A wrong one would be another measurement.
    pub fn check(&self, success: bool, output: &str) -> io::Result<()> {
        let as_expected = success && if self.denies { output.contains("deny") } else { output.is_empty() };
        if as_expected {
            return Ok(());
        }
        let expected = if self.denies { "a denial" } else { "silence" };
        Err(io::Error::other(format!("{}: expected {expected} and success, got `{output}`", self.name)))
    }
}

/// A recorded event, moved into the project of the stage.
fn event(recorded: &str, project: &Path, command: Option<&str>) -> String {
    let mut event: Value = serde_json::from_str(recorded).expect("the recorded events are JSON");
    event["cwd"] = project.to_string_lossy().into();
    if let Some(command) = command {
        event["tool_input"]["command"] = command.into();
    }
    event.to_string()
}

/// A program that was built beside this one.
pub fn built(name: &str) -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(name))
}

/// Copies a program, so that each case has a file of its own and none is kept warm by another.
///
/// A copy is also what an installed program is: a file that a linker has just written lies in the
/// page cache in smaller pieces, and that alone slows its start by some per cent.
fn copied(program: &Path, directory: &Path) -> io::Result<PathBuf> {
    fs::create_dir(directory)?;
    // The name stays: where `true` is one of many programs in one file, it goes by its name.
    let copy = directory.join(program.file_name().unwrap_or_default());
    fs::copy(program, &copy)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", program.display())))?;
    Ok(copy)
}

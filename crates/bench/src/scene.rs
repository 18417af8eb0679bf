//! Where everything is measured: a project in which all packs are on, and a home.
//!
//! Both are made for the run, and the environment is built from nothing, so that no setting of the
//! person who measures is read and no journal of hers is written. It is otherwise as in real use: the
//! project is a Git repository with a workflow and a plan of tasks, its settings are those that
//! `provost init` writes, the client's variables are set, the event comes through a pipe, and the
//! journal is really written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::plan_directories;
use crate::plans;
use crate::programs;
use crate::workflows;

/// Where the recorded events happened.
const RECORDED: (&str, &str) = ("/home/dev/project", "/home/dev");
const PACKS: &[&str] = &["plan-gate", "planner", "review-loop", "phases"];

pub struct Scene {
    root: TempDir,
}

impl Scene {
    pub fn set() -> io::Result<Self> {
        let scene = Self { root: tempfile::tempdir()? };
        fs::create_dir_all(scene.project().join(".git"))?;
        fs::create_dir(scene.home())?;
        fs::write(scene.project().join("a.txt"), "one\ntwo\n")?;
        workflows::lay(&scene.project())?;
        let mut init = Command::new(programs::built("provost")?);
        scene.environment(init.args(["init", "--yes"]).current_dir(scene.project()));
        for pack in PACKS {
            init.args(["--pack", pack]);
        }
        if !init.stdin(Stdio::null()).stdout(Stdio::null()).status()?.success() {
            return Err(io::Error::other("the entries cannot be written into the project's settings"));
        }
        Ok(scene)
    }

    /// A second project with a workflow of its own.
    pub fn another_project(&self, name: &str) -> io::Result<PathBuf> {
        let project = self.root().join(name);
        workflows::lay(&project)?;
        Ok(project)
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The environment that a client gives to its hooks, and nothing else.
    pub fn environment(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home())
            .env("CLAUDE_PROJECT_DIR", self.project());
    }

    /// A recorded event, as if it had happened here.
    pub fn moved(&self, recorded: &str) -> Value {
        let (project, home) = (self.project(), self.home());
        let text = recorded
            .replace(RECORDED.0, &project.to_string_lossy())
            .replace(RECORDED.1, &home.to_string_lossy());
        serde_json::from_str(&text).expect("the recorded events are JSON")
    }

    /// The way out of plan mode with a plan of 1 KB that was assessed.
    pub fn leaving(&self) -> io::Result<Value> {
        self.plans()?.assessed("small.md", 1_000)
    }

    pub fn plans(&self) -> io::Result<plans::Stage> {
        plans::Stage::set(self.home(), self.project())
    }

    /// The end of a turn in a directory of the project with a plan of this many files.
    pub fn ending(&self, files: usize) -> io::Result<Value> {
        let directory = self.project().join(files.to_string());
        plan_directories::ending(&directory, &self.root().join(format!("{files}.jsonl")), files, USUAL_TURNS)
    }

    /// The bytes of all journals that were kept here, old ones too.
    pub fn journal_size(&self) -> io::Result<u64> {
        let mut size = 0;
        for project in fs::read_dir(self.home().join(".local/state/provost/projects"))? {
            for file in fs::read_dir(project?.path())? {
                size += file?.metadata()?.len();
            }
        }
        Ok(size)
    }
}

/// So many calls of a tool, a record has 300 KB.
const USUAL_TURNS: usize = 130;

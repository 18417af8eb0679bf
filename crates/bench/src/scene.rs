//! The project and the home directory in which everything is measured, with all packs on.
//!
//! Both are temporary, and nothing of the user's environment gets in, so that no setting of the user is read and no journal
//! is written. Otherwise everything is as in real use: a Git repository with a workflow and a plan of tasks, the settings of
//! `provost init`, the client's variables, an event in a pipe, and a journal.

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

/// The project and the home directory in the recorded events.
const RECORDED_PATHS: (&str, &str) = ("/home/dev/project", "/home/dev");
const PACKS: &[&str] = &["rules", "plan-gate", "planner", "review-loop", "phases"];

pub struct Scene {
    root: TempDir,
}

impl Scene {
    pub fn create() -> io::Result<Self> {
        let scene = Self { root: tempfile::tempdir()? };
        fs::create_dir(scene.home())?;
        let project = scene.another_project("project")?;
        scene.switch_on(&project)?;
        Ok(scene)
    }

    /// Creates another project: a Git repository with a workflow, without hook entries.
    pub fn another_project(&self, name: &str) -> io::Result<PathBuf> {
        let project = self.root().join(name);
        workflows::create(&project)?;
        let branch = format!("{:040x}\n", 1);
        let files = [
            ("a.txt", "one\ntwo\n"),
            (".gitignore", "/build\n"),
            ("build/a.o", ""),
            (".git/HEAD", "ref: refs/heads/feature/login\n"),
            (".git/objects/info/packs", ""),
            (".git/config", "[core]\n\trepositoryformatversion = 0\n"),
            (".git/refs/heads/feature/login", &branch),
        ];
        for (name, text) in files {
            let path = project.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&project))?;
            fs::write(path, text)?;
        }
        Ok(project)
    }

    /// Writes the hook entries of all packs into the settings of a project.
    pub fn switch_on(&self, project: &Path) -> io::Result<()> {
        let mut init = Command::new(programs::find_built("provost")?);
        self.environment(init.args(["init", "--yes"]).current_dir(project));
        for pack in PACKS {
            init.args(["--pack", pack]);
        }
        if !init.stdin(Stdio::null()).stdout(Stdio::null()).status()?.success() {
            return Err(io::Error::other("`provost init` could not write the project's settings"));
        }
        Ok(())
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

    /// Sets the environment that a client gives to its hooks, and nothing else.
    pub fn environment(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home())
            .env("CLAUDE_PROJECT_DIR", self.project());
    }

    /// A recorded event with the paths of this project.
    pub fn relocate(&self, recorded: &str) -> Value {
        self.relocate_to(recorded, &self.project())
    }

    /// A recorded event with the paths of another project.
    pub fn relocate_to(&self, recorded: &str, project: &Path) -> Value {
        let home = self.home();
        let text = recorded
            .replace(RECORDED_PATHS.0, &project.to_string_lossy())
            .replace(RECORDED_PATHS.1, &home.to_string_lossy());
        serde_json::from_str(&text).expect("the recorded events are JSON")
    }

    /// The event of leaving plan mode with an assessed plan of 1 KB.
    pub fn leave_plan_mode_event(&self) -> io::Result<Value> {
        self.plans()?.create_assessed("small.md", 1_000)
    }

    pub fn plans(&self) -> io::Result<plans::PlanDirectory> {
        plans::PlanDirectory::create(self.home(), self.project())
    }

    /// The event of a turn that ends in a directory with a plan of this many files.
    pub fn end_of_turn_event(&self, files: usize) -> io::Result<Value> {
        let directory = self.project().join(files.to_string());
        plan_directories::create_plan(
            &directory,
            &self.root().join(format!("{files}.jsonl")),
            files,
            USUAL_TURNS,
        )
    }

    /// The size of all journals, including old files.
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

/// The number of tool calls in a transcript of 300 KB.
const USUAL_TURNS: usize = 130;

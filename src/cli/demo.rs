//! `provost demo`: Provost at work, in a throwaway project.
//!
//! Nothing is staged: each scene is an event as the client really sends it (recorded, with the
//! paths of the throwaway project put in), given to this very program as a hook, in a process of
//! its own, and what is shown is what it answered.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::screen::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, painted, width, wrapped};
use super::{Exit, Outcome};
use crate::clients::{self, Scene, Told};
use crate::text::one_line;

/// Show Provost at work: a throwaway project, real events, the decisions
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost demo")]
pub(crate) struct Demo {}

/// The stage: a home and a project that are gone afterwards.
struct Stage {
    root: PathBuf,
    project: PathBuf,
    home: PathBuf,
}

impl Demo {
    pub(crate) fn run() -> Outcome {
        let stage = Stage::set()?;
        let mut out = anstream::stdout().lock();
        writeln!(out, "{}", painted(BOLD, "An agent works in a project that Provost guards."))?;
        writeln!(out, "{}", painted(DIM, "Each event below is given to `provost hook`, as a client would."))?;
        for scene in (clients::DEFAULT.demo.scenes)(&stage.project, &stage.home) {
            stage.play(&mut out, &scene)?;
        }
        writeln!(out)?;
        writeln!(out, "{}", painted(BOLD, "Afterwards, `provost explain` tells a person why:"))?;
        writeln!(out)?;
        stage.explain(&mut out)?;
        Ok(Exit::Done)
    }
}

impl Stage {
    fn set() -> io::Result<Self> {
        let root = std::env::temp_dir().join(format!("provost-demo-{}", std::process::id()));
        fs::create_dir(&root)?;
        // Links in the temporary directory's own path would show up in every message.
        let root = fs::canonicalize(root)?;
        let stage = Self { project: root.join("project"), home: root.join("home"), root };
        fs::create_dir(&stage.project)?;
        fs::create_dir(&stage.home)?;
        Ok(stage)
    }

    fn play(&self, out: &mut impl Write, scene: &Scene) -> io::Result<()> {
        for (name, text) in &scene.files {
            let path = self.project.join(name);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, text)?;
        }
        writeln!(out)?;
        writeln!(out, "{}", painted(DIM, scene.story))?;
        writeln!(out, "  {} {}", painted(CYAN, "▸"), one_line(&scene.attempt))?;
        let (told, time) = self.hook(&scene.event)?;
        let took = painted(DIM, &format!("{:.1} ms", time.as_secs_f64() * 1000.0));
        let (style, word, text) = match told {
            Told::Nothing => (GREEN, "goes on", String::new()),
            Told::Noted(text) => (YELLOW, "goes on, with a note", text),
            Told::Denied(text) => (RED, "denied", text),
        };
        writeln!(out, "  {} {took}", painted(style, word))?;
        if !text.is_empty() {
            writeln!(out, "{}", wrapped(&one_line(&text), 4, width()))?;
        }
        Ok(())
    }

    /// This program as the client would run it.
    fn program(&self, command: &str) -> io::Result<Command> {
        let mut program = Command::new(std::env::current_exe()?);
        program.arg(command).current_dir(&self.project).env_clear();
        program.env("HOME", &self.home).env(clients::DEFAULT.demo.variable, &self.project);
        Ok(program)
    }

    fn hook(&self, event: &str) -> io::Result<(Told, Duration)> {
        let began = Instant::now();
        let mut child = self.program("hook")?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(event.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        let time = began.elapsed();
        if !output.status.success() {
            return Err(io::Error::other(format!("`provost hook` ended with {}", output.status)));
        }
        Ok(((clients::DEFAULT.demo.told)(&String::from_utf8_lossy(&output.stdout)), time))
    }

    fn explain(&self, out: &mut impl Write) -> io::Result<()> {
        // Colours are taken away again below, where nobody wants them.
        let output = self.program("explain")?.env("CLICOLOR_FORCE", "1").output()?;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            writeln!(out, "  {line}")?;
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

//! `provost demo`: Provost at work, in a throwaway project.
//!
//! Nothing is staged: each scene is an event as the client really sends it (recorded, with the
//! paths of the throwaway project put in), given to this very program as a hook, in a process of
//! its own, and what is shown is what it answered.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::screen::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, painted, wrapped};
use super::{Exit, Outcome};
use crate::text::one_line;

/// Show Provost at work: a throwaway project, real events, the decisions
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost demo")]
pub(crate) struct Demo {}

const BASH: &str = include_str!("../../tests/events/PreToolUse.Bash.json");
const EDIT: &str = include_str!("../../tests/events/PreToolUse.Edit.json");
const START: &str = include_str!("../../tests/events/SessionStart.startup.json");
const CONFIG: &str = include_str!("../../tests/events/ConfigChange.json");

/// One thing that an agent tries.
struct Scene {
    story: &'static str,
    event: Value,
    /// What a person would call the attempt.
    attempt: String,
}

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
        for scene in stage.scenes()? {
            stage.play(&mut out, &scene)?;
        }
        writeln!(out)?;
        writeln!(out, "{}", painted(BOLD, "Afterwards, `provost explain` tells a person why:"))?;
        writeln!(out)?;
        out.flush()?;
        stage.explain(&mut out)?;
        Ok(Exit::Done)
    }
}

impl Stage {
    fn set() -> io::Result<Self> {
        let root = std::env::temp_dir().join(format!("provost-demo-{}", std::process::id()));
        fs::create_dir_all(&root)?;
        // Links in the temporary directory's own path would show up in every message.
        let root = fs::canonicalize(root)?;
        let stage = Self { project: root.join("project"), home: root.join("home"), root };
        fs::create_dir_all(stage.project.join(".claude"))?;
        fs::create_dir_all(&stage.home)?;
        let hook = json!({"type": "command", "command": "provost", "args": ["hook"], "timeout": 10});
        let settings = json!({
            "model": "opus",
            "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]},
        });
        fs::write(stage.settings(), format!("{settings:#}\n"))?;
        Ok(stage)
    }

    fn settings(&self) -> PathBuf {
        self.project.join(".claude/settings.json")
    }

    fn scenes(&self) -> io::Result<Vec<Scene>> {
        let settings = self.settings();
        let bash = |story, command: &str| Scene {
            story,
            event: self.event(BASH, |event| event["tool_input"]["command"] = command.into()),
            attempt: format!("Bash: {command}"),
        };
        let edit = |story, old: &str, new: &str| Scene {
            story,
            event: self.event(EDIT, |event| {
                event["tool_input"] = json!({"file_path": settings, "old_string": old, "new_string": new});
            }),
            attempt: format!("Edit .claude/settings.json: {old} → {new}"),
        };
        let quiet = |story, recorded, attempt: &str| Scene {
            story,
            event: self.event(recorded, |_| {}),
            attempt: attempt.into(),
        };
        Ok(vec![
            quiet("The session starts. Provost remembers which hooks are registered.", START, "SessionStart"),
            bash("Ordinary work goes on without a word.", "cargo test 2>&1 | tail -5"),
            bash(
                "A guard is in the way, so the agent writes a configuration without it.",
                "printf '[guards]\\nself-guard = \"off\"\\n' > provost.toml",
            ),
            bash("Another spelling of the same idea.", "cd .claude && bash -c 'rm \"settings.json\"'"),
            edit("Then by the file tool: all hooks off.", "\"model\": \"opus\"", "\"disableAllHooks\": true"),
            edit("Another part of the same file is nobody's business.", "\"opus\"", "\"sonnet\""),
            quiet(
                "Somebody empties the settings file behind Provost's back. The running session keeps its hooks.",
                CONFIG,
                "ConfigChange .claude/settings.json",
            ),
        ])
    }

    /// A recorded event with this stage's paths, and one change.
    fn event(&self, recorded: &str, change: impl FnOnce(&mut Value)) -> Value {
        let place = |path: &Path| path.to_string_lossy().replace('\\', "/");
        let text = recorded
            .replace("/home/dev/project", &place(&self.project))
            .replace("/home/dev", &place(&self.home));
        let mut event = serde_json::from_str(&text).unwrap_or_default();
        change(&mut event);
        // The recorded events come from several sessions; here they are one.
        event["session_id"] = "demo".into();
        event
    }

    fn play(&self, out: &mut impl Write, scene: &Scene) -> io::Result<()> {
        if scene.event["hook_event_name"] == "ConfigChange" {
            fs::write(self.settings(), "{}\n")?;
        }
        writeln!(out)?;
        writeln!(out, "{}", painted(DIM, scene.story))?;
        writeln!(out, "  {} {}", painted(CYAN, "▸"), one_line(&scene.attempt))?;
        let (answer, time) = self.hook(&scene.event)?;
        let took = painted(DIM, &format!("{:.1} ms", time.as_secs_f64() * 1000.0));
        match answer {
            Value::Null => writeln!(out, "  {} {took}", painted(GREEN, "goes on")),
            answer => {
                let told = answer["reason"].as_str().or(answer["systemMessage"].as_str()).unwrap_or_default();
                let (style, word) = match answer["decision"].as_str() {
                    Some(_) => (RED, "denied"),
                    None => (YELLOW, "goes on, with a note"),
                };
                writeln!(out, "  {} {took}", painted(style, word))?;
                writeln!(out, "{}", wrapped(&one_line(told), 4, 96))
            }
        }
    }

    /// This program as the client would run it.
    fn program(&self, command: &str) -> io::Result<Command> {
        let mut program = Command::new(std::env::current_exe()?);
        program.arg(command).current_dir(&self.project).env_clear().env("HOME", &self.home);
        program.env("CLAUDE_PROJECT_DIR", &self.project);
        Ok(program)
    }

    fn hook(&self, event: &Value) -> io::Result<(Value, Duration)> {
        let began = Instant::now();
        let mut child = self.program("hook")?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(event.to_string().as_bytes())?;
        }
        let output = child.wait_with_output()?;
        let time = began.elapsed();
        if !output.status.success() {
            return Err(io::Error::other(format!("`provost hook` ended with {}", output.status)));
        }
        Ok((serde_json::from_slice(&output.stdout).unwrap_or_default(), time))
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

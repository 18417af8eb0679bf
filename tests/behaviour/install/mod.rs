//! `provost init` and `provost uninstall`, as a person sees them and as they leave the disk.

mod files;
mod places;
mod refusals;
mod rules;
mod scope;
mod screens;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::TestProject;
use serde_json::Value;

/// What a command answered.
#[derive(Debug)]
struct Shown {
    code: i32,
    /// As it is printed, with the paths of this run made short.
    stdout: String,
    stderr: String,
}

impl Shown {
    /// Everything on one line, however it was broken.
    fn line(&self) -> String {
        format!("{} {}", self.stdout, self.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A project in which Provost is installed and taken away.
struct Desk {
    project: TestProject,
}

impl Desk {
    /// A project with no settings.
    fn empty() -> Self {
        Self { project: TestProject::unregistered() }
    }

    fn with(text: &str) -> Self {
        let desk = Self::empty();
        desk.project.write_file(".claude/settings.json", text);
        desk
    }

    fn settings(&self) -> PathBuf {
        self.project.path.join(".claude/settings.json")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::support::program());
        command.args(arguments).env_clear().current_dir(&self.project.path);
        command.env("HOME", &self.project.home).env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        command.env("PROVOST_MANAGED", self.project.home.with_file_name("managed"));
        command.envs([crate::support::PATIENCE]);
        command
    }

    fn answered(&self, mut command: Command) -> Shown {
        let output = command.output().unwrap();
        let program = fs::canonicalize(crate::support::program()).unwrap();
        let text = |bytes| {
            let text = self.project.shorten_paths(&String::from_utf8(bytes).unwrap());
            text.replace(program.to_str().unwrap(), "<program>")
        };
        let code = output.status.code().unwrap();
        Shown { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Runs a command that must end with this code.
    fn run(&self, arguments: &[&str], code: i32) -> Shown {
        let shown = self.answered(self.command(arguments));
        assert_eq!(shown.code, code, "{arguments:?}\n{}{}", shown.stdout, shown.stderr);
        shown
    }

    /// Installs Provost for everybody who works on the project.
    fn init(&self) -> Shown {
        self.run(&["init", "--yes", "--scope", "project"], 0)
    }

    fn uninstall(&self) -> Shown {
        self.run(&["uninstall", "--yes"], 0)
    }

    fn now(&self) -> String {
        fs::read_to_string(self.settings()).unwrap()
    }

    /// The names of everything in a directory of the project.
    fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.project.path.join(folder)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The entries that call Provost: event, matcher, whether a missing program blocks.
    fn entries(&self) -> Vec<String> {
        entries(&self.now())
    }
}

fn entries(text: &str) -> Vec<String> {
    let file: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
    let mut found = Vec::new();
    for (event, groups) in file["hooks"].as_object().into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            for entry in group["hooks"].as_array().into_iter().flatten() {
                let command = entry["command"].as_str().unwrap_or_default();
                if entry["args"][0] == "hook" || command.contains("; exec provost hook") {
                    let matcher = group["matcher"].as_str().unwrap_or("-");
                    let failure = entry["onFailure"].as_str().unwrap_or("go on");
                    found.push(format!("{event} {matcher} {} {failure}", entry["timeout"]));
                }
            }
        }
    }
    found
}

/// A file of somebody who has hooks on the same events, and a layout of his own.
const RICH: &str = "\u{feff}{\r\n\t\"model\": \"opus\",  \"odd\" : 1.50e3,\r\n\t\"text\": \"\\u00fc \\/ ,]}\",\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": [ { \"matcher\": \"Bash\", \"hooks\": [\r\n\t\t\t\t{\"type\":\"command\",\"command\":\"./mine.sh\",\"x\":[1,  2]} ] } ],\r\n\t\t\"Stop\": [],\r\n\t\t\"Notification\": [{\"hooks\": [{\"type\":\"command\",\"command\":\"beep\"}]}]\r\n\t},\r\n\t\"model\": \"sonnet\",\r\n\t\"unknown\": {\"deep\": {}}\r\n}";

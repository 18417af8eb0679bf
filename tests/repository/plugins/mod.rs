//! Checks the plugins: their files, their scripts, and whether the client accepts them.
//!
//! Rehearsals (`rehearsals/`) test them in a session. Here are the requirements of each plugin's design document for its files,
//! the rules for all plugins of the marketplace, and a machine without the program.

mod isdlc;
mod marketplace;
mod planner;
mod rodin;
mod taskie;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Answer, TestProject};
use serde_json::{Value, json};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn planner() -> PathBuf {
    root().join("plugins/tdd-planner")
}

fn rodin() -> PathBuf {
    root().join("plugins/rodin")
}

fn taskie() -> PathBuf {
    root().join("plugins/taskie")
}

fn isdlc() -> PathBuf {
    root().join("plugins/isdlc")
}

fn text(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json_file(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&text(path)).unwrap()
}

/// The frontmatter of a Markdown file: each value by the path of its keys, without list indices.
fn frontmatter(path: impl AsRef<Path>) -> BTreeMap<String, String> {
    let text = text(path);
    let (head, _) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let mut values = BTreeMap::new();
    let mut above: Vec<(usize, &str)> = Vec::new();
    for line in head.lines() {
        let content = line.trim_start_matches([' ', '-']);
        let indent = line.len() - content.len();
        above.retain(|(outer, _)| *outer < indent);
        let (key, value) = content.split_once(':').unwrap_or((content, ""));
        above.push((indent, key));
        let path: Vec<&str> = above.iter().map(|(_, key)| *key).collect();
        values.insert(path.join("."), value.trim().trim_matches('"').to_owned());
    }
    values
}

/// A machine with the few programs that the scripts call, with or without Provost.
struct Machine {
    project: TestProject,
    programs: PathBuf,
    plugin: PathBuf,
}

impl Machine {
    fn without_provost() -> Self {
        let project = TestProject::new();
        let programs = project.home.join("programs");
        fs::create_dir_all(&programs).unwrap();
        for name in ["cat", "grep"] {
            let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name));
            symlink(found.iter().find(|path| path.is_file()).unwrap(), programs.join(name)).unwrap();
        }
        Self { project, programs, plugin: planner() }
    }

    fn of(self, plugin: PathBuf) -> Self {
        Self { plugin, ..self }
    }

    /// Installs Provost in the home directory.
    fn install(self, place: &str) -> Self {
        let path = self.project.home.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(crate::support::program(), path).unwrap();
        self
    }

    /// Installs a program in place of Provost that prints how it was called.
    fn install_echo(self, place: &str) -> Self {
        let script = self.project.write_home_file("echo", "#!/bin/sh\necho \"$@\"\ncat\nexit 2\n");
        let path = self.project.home.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Another process writes the file. If this process wrote it, a parallel test could inherit it while it is open,
        // and an open file cannot be run.
        let copied = Command::new("install").args(["-m", "755"]).arg(script).arg(path).status();
        assert!(copied.unwrap().success());
        self
    }

    fn run(&self, script: &str, arguments: &[&str], event: &Value) -> Answer {
        let compact = self.run_on(script, arguments, &event.to_string());
        let spaced = self.run_on(script, arguments, &format!("{event:#}"));
        assert_eq!(
            (compact.code, &compact.stderr),
            (spaced.code, &spaced.stderr),
            "spaces made a difference"
        );
        compact
    }

    fn run_on(&self, script: &str, arguments: &[&str], input: &str) -> Answer {
        let mut child = Command::new(self.plugin.join("hooks").join(script))
            .args(arguments)
            .env_clear()
            .env("PATH", &self.programs)
            .env("HOME", &self.project.home)
            .current_dir(&self.project.path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        crate::support::collect_answer(child, None)
    }

    fn call(&self, agent: &str) -> Value {
        let mut event = self.project.recorded_event("PreToolUse.Bash.in_subagent");
        event["agent_type"] = agent.into();
        event
    }

    fn stop(&self, agent: &str, active: bool) -> Value {
        let mut event = self.project.recorded_event("SubagentStop.general-purpose");
        event["agent_type"] = agent.into();
        event["stop_hook_active"] = active.into();
        event
    }
}

/// Checks that each event has one command with these matchers and arguments: the plugin's script, which is executable. `check`
/// gets each event and its entry.
fn one_command_for_each_event(
    plugin: &Path,
    expected: &[(&str, Value, Value)],
    check: impl Fn(&str, &Value),
) {
    let hooks = json_file(plugin.join("hooks/hooks.json"));
    let events = hooks["hooks"].as_object().unwrap();
    assert_eq!(events.len(), expected.len());
    for (event, matcher, arguments) in expected {
        let groups = events[*event].as_array().unwrap();
        assert_eq!((groups.len(), groups[0]["hooks"].as_array().unwrap().len()), (1, 1), "{event}");
        assert_eq!(groups[0]["matcher"], *matcher, "{event}");
        let entry = &groups[0]["hooks"][0];
        assert_eq!(entry["args"], *arguments, "{event}");
        assert_eq!(entry["command"], "${CLAUDE_PLUGIN_ROOT}/hooks/provost.sh");
        assert_eq!(entry["onFailure"], if *event == "PreToolUse" { json!("block") } else { Value::Null });
        check(event, entry);
    }
    let mode = fs::metadata(plugin.join("hooks/provost.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

/// How long an entry may take in which rules may run commands, in seconds.
const RULE_TIME: u64 = 600;

/// The arguments of an entry that asks these packs.
fn asks(packs: &[&str]) -> Value {
    let packs = packs.iter().flat_map(|pack| ["--pack", pack]);
    json!(["hook"].into_iter().chain(packs).collect::<Vec<_>>())
}

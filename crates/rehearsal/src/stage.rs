//! Plays a scenario: sets the scene, opens the door of the model, starts the client, and watches.
//!
//! One thread plays. It hears from the model and the host over a channel, reads the hook log, and
//! looks whether the client still runs; so observers are told in order and without locks, and the
//! time limit holds whatever the client does.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::{self, Client, Launch, Streams};
use crate::error::{Error, Result};
use crate::hooks::Recorder;
use crate::host;
use crate::model::{ModelServer, Note, Script};
use crate::observer::Observer;
use crate::outside::Outside;
use crate::playback::Playback;
use crate::scenario::Scenario;
use crate::scenery::{self, Scenery};
use crate::terminal::{self, Frame, Performance, Terminal, User};
use crate::variables::Variables;
use crate::watch::{GLANCE, Watch};

/// The last lines of the host's conversation arrive shortly after the client's end.
const LAST_WORDS: Duration = Duration::from_secs(20);

/// Where scenarios are played.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The client's program.
    pub client: PathBuf,
    /// Values for `${name}` in scenarios.
    pub variables: BTreeMap<String, String>,
    /// The `rehearse` program, which records hooks.
    pub recorder: PathBuf,
    /// Leave the run's directories where they are.
    pub keep: bool,
}

impl Stage {
    /// Looks for the client: `REHEARSAL_CLIENT` first, then `target/client` under `root`.
    pub fn find_client(root: impl AsRef<Path>) -> Option<PathBuf> {
        client::find(root.as_ref())
    }

    /// Looks for `rehearse` beside the running program and in the directory above, which is where
    /// a test finds what was built with it.
    pub fn find_recorder() -> Option<PathBuf> {
        let program = std::env::current_exe().ok()?;
        let places = program.ancestors().skip(1).take(2);
        places.map(|dir| dir.join("rehearse")).find(|path| path.is_file())
    }

    pub fn play(&self, scenario: &Scenario, observer: &mut dyn Observer) -> Result<Playback> {
        self.look_around()?;
        let scenery = Scenery::new(self.keep)?;
        let mut server = ModelServer::bind()?;
        let mut variables = Variables::new(self.variables.clone());
        variables.set("project", scenery.project().display().to_string());
        variables.set("home", scenery.home().display().to_string());
        variables.set("client", absolute(&self.client)?.display().to_string());
        variables.set("here", absolute(&scenario.directory.join("."))?.display().to_string());
        variables.set("port", server.port().to_string());
        let recorder = Recorder::new(&absolute(&self.recorder)?, &scenery.hook_log());
        let outside = Outside {
            environment: scenery::environment(scenario, &scenery.home(), server.port(), &variables)?,
            project: scenery.project(),
            home: scenery.home(),
            variables: variables.clone(),
            recorder: recorder.clone(),
            hook_log: scenery.hook_log(),
            closing: server.closing(),
        };
        // The model answers before the scene is set: a setup may play an earlier session.
        let (sender, notes) = mpsc::channel();
        let script = Script::new(&scenario.routes, &variables);
        server.open(script, variables.clone(), outside.clone(), sender.clone());
        scenery::build(scenario, &outside)?;

        let clock = Instant::now();
        let Cast { mut client, talk, terminal } = self.raise(scenario, &outside, &scenery, sender)?;
        let deadline = clock + scenario.timeout();
        let mut watch = Watch::new(&scenery.hook_log(), notes, observer);
        let performance = if let Some(mut terminal) = terminal {
            terminal::perform(
                scenario,
                &mut User {
                    terminal: &mut terminal,
                    client: &mut client,
                    watch: &mut watch,
                    outside: &outside,
                    in_flight: server.in_flight(),
                    deadline,
                },
            )
        } else {
            Performance { exit: watch.until_end(&mut client, deadline), ..Performance::default() }
        };
        let seconds = clock.elapsed().as_secs_f64();
        client.end();
        drop(server);
        let heard = talk.map(last_words);
        let (seen, hooks) = watch.finish();
        let unfinished: Vec<i32> =
            hooks.iter().filter(|hook| hook.end.is_none()).map(|hook| hook.pid).collect();
        client::sweep(&outside.home, &unfinished);
        if observer.has_seen_enough() {
            return Err(Error::Interrupted);
        }

        if self.keep && !performance.screens.is_empty() {
            keep_screens(&performance.screens, &scenery.root.join("screens.txt"))?;
        }
        let stdout = heard.unwrap_or_else(|| read(&scenery.root.join("stdout")));
        Ok(Playback {
            exit: performance.exit,
            requests: seen.requests,
            hooks,
            asked: seen.asked,
            result: last_result(&stdout),
            stdout,
            stderr: read(&scenery.root.join("stderr")),
            project: outside.project,
            home: outside.home,
            seconds,
            problems: seen.problems,
            screens: performance.screens,
            frames: performance.frames,
            stall: performance.stall,
            variables,
            recorder,
            scenery,
        })
    }

    /// Starts the client, with a terminal or a host if the scenario has one.
    fn raise(
        &self,
        scenario: &Scenario,
        outside: &Outside,
        scenery: &Scenery,
        notes: mpsc::Sender<Note>,
    ) -> Result<Cast> {
        let fill = |text: &str| outside.variables.fill_strictly(text);
        let program = absolute(&self.client)?;
        let launch = |program, args, streams| {
            Client::start(Launch {
                program,
                args,
                project: &outside.project,
                environment: &outside.environment,
                streams,
            })
        };
        if let Some(size) = scenario.terminal {
            let (terminal, tty) = Terminal::open(size)?;
            let mut args = vec!["--attach".to_owned(), program.display().to_string()];
            args.extend(scenario.args.iter().map(|arg| fill(arg)).collect::<Result<Vec<_>>>()?);
            let client = launch(&absolute(&self.recorder)?, args, Streams::Terminal(tty))?;
            return Ok(Cast { client, talk: None, terminal: Some(terminal) });
        }
        let prompts = scenario.prompts().into_iter().map(fill).collect::<Result<Vec<_>>>()?;
        let extra = scenario.args.iter().map(|arg| fill(arg)).collect::<Result<Vec<_>>>()?;
        let create = |name: &str| {
            File::create(scenery.root.join(name)).map_err(Error::machine(format!("create `{name}`")))
        };
        let stderr = create("stderr")?;
        let (mut args, streams) = if scenario.host.is_some() {
            (host::ARGUMENTS.map(str::to_owned).to_vec(), Streams::Pipes { stderr })
        } else {
            let prompt = prompts.first().cloned().unwrap_or_default();
            let args = vec!["-p".into(), prompt, "--output-format".into(), "json".into()];
            (args, Streams::Files { stdout: create("stdout")?, stderr })
        };
        args.extend(extra);
        let mut client = launch(&program, args, streams)?;
        let talk = match (&scenario.host, client.pipes()) {
            (Some(host), Some(pipes)) => Some(host::attend(host.clone(), prompts, pipes, notes)),
            _ => None,
        };
        Ok(Cast { client, talk, terminal: None })
    }

    fn look_around(&self) -> Result<()> {
        for (what, path) in [("client", &self.client), ("recorder", &self.recorder)] {
            if !path.is_file() {
                return Err(Error::stage(format!("there is no {what} at `{}`", path.display())));
            }
        }
        Ok(())
    }
}

/// The client, and who is at its other end.
struct Cast {
    client: Client,
    talk: Option<JoinHandle<String>>,
    terminal: Option<Terminal>,
}

/// Writes the screens where a person can look at them.
fn keep_screens(screens: &[Frame], path: &Path) -> Result<()> {
    let show = |(index, screen): (usize, &Frame)| format!("== screen {}\n{screen}\n", index + 1);
    let text: String = screens.iter().enumerate().map(show).collect();
    std::fs::write(path, text).map_err(Error::machine("write `screens.txt`"))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::machine(format!("resolve `{}`", path.display())))
}

fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What the host heard. Something the client left behind may hold its output open; then the
/// conversation is lost rather than the run stuck.
fn last_words(talk: JoinHandle<String>) -> String {
    let patience = Instant::now() + LAST_WORDS;
    while !talk.is_finished() && Instant::now() < patience {
        std::thread::sleep(GLANCE);
    }
    if talk.is_finished() { talk.join().unwrap_or_default() } else { String::new() }
}

/// The client prints one result, or with `--verbose` a list of messages, or one message per line.
fn last_result(stdout: &str) -> Option<Value> {
    let whole = serde_json::from_str(stdout).ok();
    let messages = match whole {
        Some(Value::Array(messages)) => messages,
        Some(message) => vec![message],
        None => stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
    };
    messages.into_iter().rfind(|message| message["type"] == "result")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_result_is_found_in_every_output_format() {
        for stdout in [
            r#"{"type":"result","n":2}"#,
            r#"[{"type":"system"},{"type":"result","n":2}]"#,
            "{\"type\":\"result\",\"n\":1}\nnoise\n{\"type\":\"result\",\"n\":2}\n{\"type\":\"system\"}\n",
        ] {
            assert_eq!(last_result(stdout).unwrap()["n"], 2, "{stdout}");
        }
        assert!(last_result("no JSON").is_none());
    }
}

//! Plays a scenario: creates the project, starts the model and the client, and records what happens.
//!
//! One thread plays. It gets reports from the model and the host over a channel, reads the hook log, and checks whether the
//! client still runs. So observers are called in order and without locks, and the time limit always holds.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::actions::ActionRunner;
use crate::client::{self, Client, Launch, Streams};
use crate::error::{Error, Result};
use crate::hooks::Recorder;
use crate::host;
use crate::model::{ModelServer, Report, Script};
use crate::observer::Observer;
use crate::playback::Playback;
use crate::run_directory::{self, RunDirectory};
use crate::run_monitor::{POLL_INTERVAL, RunMonitor};
use crate::scenario::Scenario;
use crate::terminal::{self, Frame, SimulatedUser, Terminal, TerminalRun};
use crate::variables::Variables;

/// How long to wait for the client's last output after its end.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(20);

/// What is needed to play scenarios.
#[derive(Debug, Clone)]
pub struct ScenarioPlayer {
    /// The client's program.
    pub client: PathBuf,
    /// Values for `${name}` in scenarios.
    pub variables: BTreeMap<String, String>,
    /// The `rehearse` program, which records hooks.
    pub recorder: PathBuf,
    /// Whether to keep the run's directory.
    pub keep: bool,
}

impl ScenarioPlayer {
    /// Finds the client: in `REHEARSAL_CLIENT`, or else the newest one in `target/client` under `root`.
    pub fn find_client(root: impl AsRef<Path>) -> Option<PathBuf> {
        client::find_client(root.as_ref())
    }

    /// Finds `rehearse` beside the running program or in the directory above, where cargo puts it for tests.
    pub fn find_recorder() -> Option<PathBuf> {
        let program = std::env::current_exe().ok()?;
        let places = program.ancestors().skip(1).take(2);
        places.map(|dir| dir.join("rehearse")).find(|path| path.is_file())
    }

    pub fn play(&self, scenario: &Scenario, observer: &mut dyn Observer) -> Result<Playback> {
        self.check_programs()?;
        let directory = RunDirectory::new(self.keep)?;
        let mut server = ModelServer::bind()?;
        let mut variables = Variables::new(self.variables.clone());
        variables.set("project", directory.project().display().to_string());
        variables.set("home", directory.home().display().to_string());
        variables.set("client", absolute(&self.client)?.display().to_string());
        variables.set("here", absolute(&scenario.directory.join("."))?.display().to_string());
        variables.set("port", server.port().to_string());
        let recorder = Recorder::new(&absolute(&self.recorder)?, &directory.hook_log());
        let actions = ActionRunner {
            environment: run_directory::client_environment(
                scenario,
                &directory.home(),
                server.port(),
                &variables,
            )?,
            project: directory.project(),
            home: directory.home(),
            variables: variables.clone(),
            recorder: recorder.clone(),
            hook_log: directory.hook_log(),
            closing: server.closing(),
        };
        // The model has to answer already during `setup`, which may run an earlier session.
        let (sender, notes) = mpsc::channel();
        let script = Script::new(&scenario.routes, &variables);
        server.open(script, variables.clone(), actions.clone(), sender.clone());
        run_directory::set_up(scenario, &actions)?;

        let clock = Instant::now();
        let StartedClient { mut client, host, terminal } =
            self.start_client(scenario, &actions, &directory, sender)?;
        let deadline = clock + scenario.timeout();
        let mut monitor = RunMonitor::new(&directory.hook_log(), notes, observer);
        let run_result = if let Some(mut terminal) = terminal {
            terminal::perform(
                scenario,
                &mut SimulatedUser {
                    terminal: &mut terminal,
                    client: &mut client,
                    monitor: &mut monitor,
                    actions: &actions,
                    in_flight: server.in_flight(),
                    deadline,
                },
            )
        } else {
            TerminalRun { exit: monitor.wait_for_exit(&mut client, deadline), ..TerminalRun::default() }
        };
        let seconds = clock.elapsed().as_secs_f64();
        client.end();
        drop(server);
        let output = host.map(wait_for_output);
        let (run, hooks) = monitor.finish();
        let unfinished: Vec<i32> =
            hooks.iter().filter(|hook| hook.end.is_none()).map(|hook| hook.pid).collect();
        client::sweep(&actions.home, &unfinished);
        if observer.wants_to_stop() {
            return Err(Error::Interrupted);
        }

        if self.keep && !run_result.screens.is_empty() {
            write_screens(&run_result.screens, &directory.root.join("screens.txt"))?;
        }
        let stdout = output.unwrap_or_else(|| read_lossy(&directory.root.join("stdout")));
        Ok(Playback {
            exit: run_result.exit,
            requests: run.requests,
            hooks,
            asked: run.asked,
            result: last_result(&stdout),
            stdout,
            stderr: read_lossy(&directory.root.join("stderr")),
            project: actions.project,
            home: actions.home,
            environment: actions.environment,
            seconds,
            problems: run.problems,
            screens: run_result.screens,
            frames: run_result.frames,
            stall: run_result.stall,
            variables,
            recorder,
            directory,
        })
    }

    /// Starts the client, with a terminal or a host if the scenario has one.
    fn start_client(
        &self,
        scenario: &Scenario,
        actions: &ActionRunner,
        directory: &RunDirectory,
        notes: mpsc::Sender<Report>,
    ) -> Result<StartedClient> {
        let fill = |text: &str| actions.variables.fill_strictly(text);
        let program = absolute(&self.client)?;
        let launch = |program, args, streams| {
            Client::start(Launch {
                program,
                args,
                project: &actions.project,
                environment: &actions.environment,
                streams,
            })
        };
        if let Some(size) = scenario.terminal {
            let (terminal, tty) = Terminal::open(size)?;
            let mut args = vec!["--attach".to_owned(), "--".to_owned(), program.display().to_string()];
            args.extend(scenario.args.iter().map(|arg| fill(arg)).collect::<Result<Vec<_>>>()?);
            let client = launch(&absolute(&self.recorder)?, args, Streams::Terminal(tty))?;
            return Ok(StartedClient { client, host: None, terminal: Some(terminal) });
        }
        let prompts = scenario.prompts().into_iter().map(fill).collect::<Result<Vec<_>>>()?;
        let extra = scenario.args.iter().map(|arg| fill(arg)).collect::<Result<Vec<_>>>()?;
        let create = |name: &str| {
            File::create(directory.root.join(name)).map_err(Error::machine(format!("create `{name}`")))
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
        let host = match (&scenario.host, client.pipes()) {
            (Some(answers), Some(pipes)) => Some(host::start_host(answers.clone(), prompts, pipes, notes)),
            _ => None,
        };
        Ok(StartedClient { client, host, terminal: None })
    }

    fn check_programs(&self) -> Result<()> {
        for (what, path) in [("client", &self.client), ("recorder", &self.recorder)] {
            if !path.is_file() {
                return Err(Error::stage(format!("there is no {what} at `{}`", path.display())));
            }
        }
        Ok(())
    }
}

/// The client, and the host or the terminal that it is connected to.
struct StartedClient {
    client: Client,
    host: Option<JoinHandle<String>>,
    terminal: Option<Terminal>,
}

/// Writes all screens to a file for the user.
fn write_screens(screens: &[Frame], path: &Path) -> Result<()> {
    let show = |(index, screen): (usize, &Frame)| format!("== screen {}\n{screen}\n", index + 1);
    let text: String = screens.iter().enumerate().map(show).collect();
    std::fs::write(path, text).map_err(Error::machine("write `screens.txt`"))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::machine(format!("resolve `{}`", path.display())))
}

fn read_lossy(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The client's output that the host has read. A process that the client left behind may hold the output open; then it is
/// lost, so that the run can end.
fn wait_for_output(host: JoinHandle<String>) -> String {
    let deadline = Instant::now() + OUTPUT_TIMEOUT;
    while !host.is_finished() && Instant::now() < deadline {
        std::thread::sleep(POLL_INTERVAL);
    }
    if host.is_finished() { host.join().unwrap_or_default() } else { String::new() }
}

/// Finds the last result. The client prints one result, a list of messages (`--verbose`), or one message per line.
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

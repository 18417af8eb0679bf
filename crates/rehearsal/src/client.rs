//! Finds, starts and ends the real client.
//!
//! The client gets a process group of its own, so that its children can be ended with it. Hooks and tools may leave that
//! group; [`sweep`] finds them by the home directory, which only this run has.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::error::{Error, Result};

/// The environment variable that names the client's program.
pub const CLIENT_VARIABLE: &str = "REHEARSAL_CLIENT";

/// How long the client gets to end its children after SIGTERM.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// Finds the client: in the environment, or else the newest one in `target/client` under `root`.
pub(crate) fn find_client(root: &Path) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(CLIENT_VARIABLE) {
        return Some(PathBuf::from(named));
    }
    let os = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let program = format!("node_modules/@anthropic-ai/claude-code-{os}-{arch}/claude");
    let versions: Vec<PathBuf> = std::fs::read_dir(root.join("target/client"))
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join(&program)))
        .filter(|program| program.is_file())
        .collect();
    let directory = root.join("target/client");
    let version = |program: &PathBuf| {
        let below =
            program.strip_prefix(&directory).ok().and_then(|path| path.iter().next()).unwrap_or_default();
        version_numbers(&below.to_string_lossy())
    };
    versions.into_iter().max_by_key(version)
}

/// The numbers of a version, so that 2.10 is newer than 2.9.
pub(crate) fn version_numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-', '+']).map(|number| number.parse().unwrap_or(0)).collect()
}

/// A running client. Dropping it ends it.
pub(crate) struct Client {
    child: Child,
    group: Option<Pid>,
}

pub(crate) struct Launch<'a> {
    pub(crate) program: &'a Path,
    pub(crate) args: Vec<String>,
    pub(crate) project: &'a Path,
    pub(crate) environment: &'a [(String, String)],
    pub(crate) streams: Streams,
}

/// What the client's standard streams are connected to.
pub(crate) enum Streams {
    /// Files for output, and no input.
    Files { stdout: File, stderr: File },
    /// Pipes for input and output.
    Pipes { stderr: File },
    /// A terminal. The program then has to be started through [`attach`](crate::attach), which gives it a session of its own.
    Terminal(OwnedFd),
}

impl Client {
    pub(crate) fn start(launch: Launch<'_>) -> Result<Self> {
        let mut command = Command::new(launch.program);
        command
            .args(launch.args)
            .current_dir(launch.project)
            .env_clear()
            .envs(launch.environment.iter().cloned());
        let fail = |error| Error::machine(format!("start `{}`", launch.program.display()))(error);
        match launch.streams {
            Streams::Files { stdout, stderr } => {
                command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).process_group(0)
            }
            Streams::Pipes { stderr } => {
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).process_group(0)
            }
            // `attach` starts a new session, which is a new process group too. A group leader could not start one.
            Streams::Terminal(tty) => command
                .stdin(tty.try_clone().map_err(fail)?)
                .stdout(tty.try_clone().map_err(fail)?)
                .stderr(tty),
        };
        let child = command.spawn().map_err(fail)?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok(Self { child, group })
    }

    pub(crate) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.child.stdin.take().zip(self.child.stdout.take())
    }

    /// The exit code if the client has ended. For a signal it is 128 plus its number.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        let status = self.child.try_wait().ok()??;
        Some(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
    }

    /// Whether one of the client's threads runs or waits for a processor. Without `/proc` it is always false.
    pub(crate) fn is_working(&self) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id()));
        threads.into_iter().flatten().flatten().any(|thread| {
            let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            // The state follows the name, which may contain any character.
            stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['R', 'D']))
        })
    }

    /// Sends SIGTERM, and later SIGKILL to the whole process group.
    pub(crate) fn end(&mut self) {
        if self.exit_code().is_none() {
            self.signal(Signal::TERM);
            let deadline = Instant::now() + GRACE_PERIOD;
            while self.exit_code().is_none() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(20));
            }
        }
        // The client may have ended before its children.
        self.signal(Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.end();
    }
}

/// Kills every process that still runs with this home directory, such as a tool in a session of its own, and waits until
/// they are gone.
///
/// The environment of a process is only visible in `/proc`. Without it, the hooks that never ended are killed.
pub(crate) fn sweep(home: &Path, unfinished_hooks: &[i32]) {
    if !Path::new("/proc/self/environ").exists() {
        for pid in unfinished_hooks.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = kill_process(pid, Signal::KILL);
        }
        return;
    }
    let deadline = Instant::now() + GRACE_PERIOD;
    loop {
        let running = processes_in(home);
        for pid in &running {
            let _ = kill_process(*pid, Signal::KILL);
        }
        // A process that was just started, or is slow to end, is found in the next round.
        if running.is_empty() || Instant::now() >= deadline {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The processes whose environment has this home directory. A dead process has no environment.
fn processes_in(home: &Path) -> Vec<Pid> {
    let variable = format!("HOME={}", home.display());
    let has_home =
        |environment: Vec<u8>| environment.split(|byte| *byte == 0).any(|name| name == variable.as_bytes());
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|process| std::fs::read(process.path().join("environ")).is_ok_and(has_home))
        .filter_map(|process| process.file_name().to_string_lossy().parse().ok().and_then(Pid::from_raw))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(version_numbers("2.10.0") > version_numbers("2.9.9"));
    }

    #[test]
    fn processes_in_the_clients_group_end_with_the_client() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| File::create(dir.path().join(name)).unwrap();
        let script = "(trap '' TERM; touch ready; exec sleep 1000) & echo $!; wait";
        let mut client = Client::start(Launch {
            program: Path::new("/bin/sh"),
            args: vec!["-c".into(), script.into()],
            project: dir.path(),
            environment: &[],
            streams: Streams::Files { stdout: file("stdout"), stderr: file("stderr") },
        })
        .unwrap();
        let child = loop {
            let output = std::fs::read_to_string(dir.path().join("stdout")).unwrap();
            if let Some(pid) = output.trim().parse().ok().and_then(Pid::from_raw) {
                break pid;
            }
            thread::sleep(Duration::from_millis(5));
        };
        while !dir.path().join("ready").exists() {
            thread::sleep(Duration::from_millis(5));
        }
        client.end();
        assert_eq!(client.exit_code(), Some(128 + 15));
        let gone = (0..20_000).any(|_| {
            thread::sleep(Duration::from_millis(5));
            let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            rustix::process::test_kill_process(child).is_err() || state.contains(") Z ")
        });
        assert!(gone, "it outlived the client");
    }
}

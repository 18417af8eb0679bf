//! The real client: where it is, how it is started, and how it is ended.
//!
//! It gets a process group of its own, so that whatever it started can be ended with it. Hooks and
//! tools may leave that group; [`sweep`] finds them by the home that only this run has.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::error::{Error, Result};

/// Names the client's program, before any other place is looked at.
pub const CLIENT_VARIABLE: &str = "REHEARSAL_CLIENT";

/// The client ends its own children when it is asked to end, if it is given a moment.
const FAREWELL: Duration = Duration::from_secs(5);

/// Looks for the client: the environment first, then `target/client` under `root`.
pub(crate) fn find(root: &Path) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(CLIENT_VARIABLE) {
        return Some(PathBuf::from(named));
    }
    let os = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let program = format!("node_modules/@anthropic-ai/claude-code-{os}-{arch}/claude");
    let mut versions: Vec<PathBuf> = std::fs::read_dir(root.join("target/client"))
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join(&program)))
        .filter(|program| program.is_file())
        .collect();
    versions.sort_by_key(|program| version(program, root));
    versions.pop()
}

/// The numbers of the version a program belongs to, so that 2.10 is newer than 2.9.
fn version(program: &Path, root: &Path) -> Vec<u32> {
    let below = program.strip_prefix(root.join("target/client")).unwrap_or(program);
    let name = below.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned());
    name.unwrap_or_default().split('.').map(|number| number.parse().unwrap_or(0)).collect()
}

/// The client while it runs. Dropping it ends it.
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

/// Where the client's standard streams lead.
pub(crate) enum Streams {
    /// Output into files, and no input.
    Files { stdout: File, stderr: File },
    /// A conversation over pipes.
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
        let failed = |error| Error::machine(format!("start `{}`", launch.program.display()))(error);
        match launch.streams {
            Streams::Files { stdout, stderr } => {
                command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).process_group(0)
            }
            Streams::Pipes { stderr } => {
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).process_group(0)
            }
            // A new session is a new process group as well; the leader of a group could not begin one.
            Streams::Terminal(tty) => command
                .stdin(tty.try_clone().map_err(failed)?)
                .stdout(tty.try_clone().map_err(failed)?)
                .stderr(tty),
        };
        let child = command.spawn().map_err(failed)?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok(Self { child, group })
    }

    pub(crate) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.child.stdin.take().zip(self.child.stdout.take())
    }

    /// The exit code, once the client has ended. A signal counts as 128 and its number.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let status = self.child.try_wait().ok()??;
        Some(code(status))
    }

    /// Whether one of the client's threads runs or waits for a processor. Only a system with a `/proc` tells.
    pub(crate) fn is_working(&self) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id()));
        threads.into_iter().flatten().flatten().any(|thread| {
            let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            // The state comes after the name, which may contain anything.
            stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['R', 'D']))
        })
    }

    /// Asks the client to end, and ends it with its group if it does not.
    pub(crate) fn end(&mut self) {
        if self.ended().is_none() {
            self.signal(Signal::TERM);
            let patience = Instant::now() + FAREWELL;
            while self.ended().is_none() && Instant::now() < patience {
                thread::sleep(Duration::from_millis(20));
            }
        }
        // The client may be gone while something in its group is not.
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

fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

/// Ends every process that still runs in this home, such as a tool in a session of its own, and
/// waits until they are gone.
///
/// Processes show their environment only where there is a `/proc`; elsewhere the groups of hooks
/// that never ended, known from the log, must do.
pub(crate) fn sweep(home: &Path, unfinished_hooks: &[i32]) {
    if !Path::new("/proc/self/environ").exists() {
        for pid in unfinished_hooks.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = kill_process(pid, Signal::KILL);
        }
        return;
    }
    let patience = Instant::now() + FAREWELL;
    loop {
        let running = processes_in(home);
        for pid in &running {
            let _ = kill_process(*pid, Signal::KILL);
        }
        // One that was just being started, or takes a moment to die, is met again.
        if running.is_empty() || Instant::now() >= patience {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The processes whose environment names this home. A dead one has no environment any more.
fn processes_in(home: &Path) -> Vec<Pid> {
    let own = format!("HOME={}", home.display());
    let lives_here =
        |environment: Vec<u8>| environment.split(|byte| *byte == 0).any(|name| name == own.as_bytes());
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|process| std::fs::read(process.path().join("environ")).is_ok_and(lives_here))
        .filter_map(|process| process.file_name().to_string_lossy().parse().ok().and_then(Pid::from_raw))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        let root = Path::new("/r");
        let of = |name: &str| version(&root.join("target/client").join(name).join("x"), root);
        assert!(of("2.10.0") > of("2.9.9"));
    }

    #[test]
    fn what_the_client_leaves_in_its_group_ends_with_it() {
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
            let said = std::fs::read_to_string(dir.path().join("stdout")).unwrap();
            if let Some(pid) = said.trim().parse().ok().and_then(Pid::from_raw) {
                break pid;
            }
            thread::sleep(Duration::from_millis(5));
        };
        while !dir.path().join("ready").exists() {
            thread::sleep(Duration::from_millis(5));
        }
        client.end();
        assert_eq!(client.ended(), Some(128 + 15));
        let gone = (0..20_000).any(|_| {
            thread::sleep(Duration::from_millis(5));
            let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            rustix::process::test_kill_process(child).is_err() || state.contains(") Z ")
        });
        assert!(gone, "it outlived the client");
    }
}

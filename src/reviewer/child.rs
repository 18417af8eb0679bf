//! A program that is given a text, is listened to, and does not outlive its time.
//!
//! It leads a process group of its own, and the group ends with it: nothing that it started goes on
//! behind the back of whoever asked. No pipe can hold us: each has its own thread, what is said
//! beyond measure is thrown away, and what keeps a pipe open after the program's end is not waited
//! for.

use std::io::{self, Read, Write};
use std::mem;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::interruption;

/// A stream of more bytes than this has one more in its [`Output`], and no others.
pub(super) const LARGEST: usize = 4 << 20;
/// How long pipes are listened to after the program's end, and how long a killed one may take.
const GRACE: Duration = Duration::from_millis(500);
/// Answers take seconds, so nobody feels this.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Runs a command to its end; `None`: the time was over first. An interruption is an error.
pub(super) fn run(command: &mut Command, input: &str, limit: Duration) -> io::Result<Option<Output>> {
    let end = Instant::now() + limit;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut running = Running(command.spawn()?);
    if let Some(mut pipe) = running.0.stdin.take() {
        let input = input.to_owned();
        // A program may answer without having read everything.
        thread::spawn(move || pipe.write_all(input.as_bytes()));
    }
    let stdout = Listener::start(running.0.stdout.take());
    let stderr = Listener::start(running.0.stderr.take());
    if !comes_true(end, || running.has_ended() || interruption::is_wanted()) {
        return Ok(None);
    }
    if interruption::is_wanted() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    comes_true(Instant::now() + GRACE, || stdout.is_done() && stderr.is_done());
    let status = running.end().ok_or_else(|| io::Error::other("its end was not seen"))?;
    Ok(Some(Output { status, stdout: stdout.heard(), stderr: stderr.heard() }))
}

fn comes_true(until: Instant, mut condition: impl FnMut() -> bool) -> bool {
    while !condition() {
        if Instant::now() >= until {
            return false;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    true
}

/// The program while it runs. However it is let go of, it ends with its group.
struct Running(Child);

impl Running {
    /// Whether the program itself has ended. On Unix it is not collected yet: until then its number,
    /// which is also the group's, is nobody else's.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use rustix::io::Errno;
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let Some(pid) = self.pid() else { return true };
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None) | Err(Errno::INTR))
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Kills what is left of the group and collects the program. One that cannot be killed (it
    /// became another user's, or hangs in the kernel) is not waited for.
    fn end(&mut self) -> Option<ExitStatus> {
        self.kill();
        let mut status = None;
        comes_true(Instant::now() + GRACE, || match self.0.try_wait() {
            Ok(found) => {
                status = found;
                found.is_some()
            }
            Err(_) => true,
        });
        status
    }

    #[cfg(unix)]
    fn kill(&mut self) {
        if let Some(group) = self.pid() {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        let _ = self.0.kill();
    }

    #[cfg(unix)]
    fn pid(&self) -> Option<rustix::process::Pid> {
        i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads a pipe to its end, in its own thread.
struct Listener {
    heard: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    fn start(pipe: Option<impl Read + Send + 'static>) -> Self {
        let heard = Arc::<Mutex<Vec<u8>>>::default();
        let kept = Arc::clone(&heard);
        let thread = pipe.map(|pipe| thread::spawn(move || listen(pipe, &kept)));
        Self { heard, thread }
    }

    fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// What was heard until now.
    fn heard(&self) -> Vec<u8> {
        mem::take(&mut self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn listen(mut pipe: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut piece = vec![0; 64 << 10];
    loop {
        let length = match pipe.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let room = (LARGEST + 1).saturating_sub(kept.len());
        kept.extend_from_slice(&piece[..length.min(room)]);
    }
}

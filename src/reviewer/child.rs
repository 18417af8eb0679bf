//! A program that is given a text, is listened to, and does not outlive its time.
//!
//! It leads a process group of its own, and the group ends with it: nothing that it started goes on
//! behind the back of whoever asked. What it started in other groups, as clients do with the commands
//! of their tools, only it knows; so it is asked to end before it is killed. No pipe can hold us: each has its own thread, what is said
//! beyond measure is thrown away, and what keeps a pipe open after the program's end is not waited
//! for. Where there are files for what it says, it writes to them itself, so that a person can watch.
//!
//! All this is our doing, so it ends with us: if we are killed (SIGKILL), the program goes on until it
//! ends by itself. That the system ends a child with its parent can be asked for only in the child
//! before it becomes the program, and that is unsafe code.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::interruption;

/// A standard output of more bytes than this has one more in its [`Output`], and no others.
pub(crate) const LARGEST: usize = 4 << 20;
/// As much is kept of the end of what is said on standard error.
const LAST_WORDS: usize = 16 << 10;
/// How long pipes are listened to after the program's end. A busy machine may need a while to read the rest.
const LISTENING: Duration = Duration::from_secs(2);
/// How long a killed program may take to end.
const GRACE: Duration = Duration::from_millis(500);
/// How long a program may take to end what it has started, when its time is over. A client that has
/// lost patience with us kills us after one and a half seconds.
const FAREWELL: Duration = Duration::from_secs(1);
/// Answers take seconds, so nobody feels this.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// A reviewer that prints more than this to a file would go on until the disk is full.
const LARGEST_LOG: u64 = 64 << 20;

pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    /// The end of it.
    pub(crate) stderr: Vec<u8>,
}

/// What a program is connected to.
#[derive(Default)]
pub(crate) struct Streams<'a> {
    /// `None`: nothing can be read.
    pub(crate) input: Option<&'a str>,
    /// Open for appending and reading; `None`: a pipe.
    pub(crate) out: Option<File>,
    pub(crate) err: Option<File>,
}

/// Runs a command to its end; `None`: the time was over first. An interruption is an error.
pub(crate) fn run(
    command: &mut Command,
    streams: Streams<'_>,
    limit: Duration,
) -> io::Result<Option<Output>> {
    let Streams { input, out, err } = streams;
    let end = Instant::now() + limit;
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(end_of(out.as_ref())?).stderr(end_of(err.as_ref())?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut running = Running(command.spawn()?);
    if let (Some(mut pipe), Some(input)) = (running.0.stdin.take(), input) {
        let input = input.to_owned();
        // A program may answer without having read everything.
        thread::spawn(move || pipe.write_all(input.as_bytes()));
    }
    let stdout = Listener::start(running.0.stdout.take(), keep_first);
    let stderr = Listener::start(running.0.stderr.take(), keep_last);
    let talks_too_much = || [&out, &err].into_iter().flatten().any(is_beyond_measure);
    if !comes_true(end, || running.has_ended() || interruption::is_wanted() || talks_too_much()) {
        running.dismiss();
        return Ok(None);
    }
    if talks_too_much() {
        running.dismiss();
        return Err(io::Error::other(format!("it printed more than {} MiB", LARGEST_LOG >> 20)));
    }
    if interruption::is_wanted() {
        running.dismiss();
        return Err(io::ErrorKind::Interrupted.into());
    }
    comes_true(Instant::now() + LISTENING, || stdout.is_done() && stderr.is_done());
    let status = running.end().ok_or_else(|| io::Error::other("its end was not seen"))?;
    let stdout = out.map_or_else(|| Ok(stdout.heard()), first_of)?;
    let stderr = err.map_or_else(|| Ok(stderr.heard()), last_of)?;
    Ok(Some(Output { status, stdout, stderr }))
}

/// The program's end of a stream.
fn end_of(file: Option<&File>) -> io::Result<Stdio> {
    file.map_or_else(|| Ok(Stdio::piped()), |file| file.try_clone().map(Stdio::from))
}

fn first_of(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn last_of(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST_WORDS as u64)))?;
    file.take(LAST_WORDS as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_beyond_measure(log: &File) -> bool {
    log.metadata().is_ok_and(|metadata| metadata.len() > LARGEST_LOG)
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

    /// Asks the program to end, and waits a while for it.
    #[cfg(unix)]
    fn dismiss(&mut self) {
        self.signal(rustix::process::Signal::TERM);
        comes_true(Instant::now() + FAREWELL, || self.has_ended());
    }

    #[cfg(not(unix))]
    fn dismiss(&mut self) {}

    #[cfg(unix)]
    fn kill(&mut self) {
        self.signal(rustix::process::Signal::KILL);
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(group) = self.pid() {
            let _ = rustix::process::kill_process_group(group, signal);
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
    fn start(pipe: Option<impl Read + Send + 'static>, keep: fn(&mut Vec<u8>, &[u8])) -> Self {
        let heard = Arc::<Mutex<Vec<u8>>>::default();
        let kept = Arc::clone(&heard);
        let thread = pipe.map(|pipe| thread::spawn(move || listen(pipe, &kept, keep)));
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

fn keep_first(kept: &mut Vec<u8>, piece: &[u8]) {
    let room = (LARGEST + 1).saturating_sub(kept.len());
    kept.extend_from_slice(&piece[..piece.len().min(room)]);
}

fn keep_last(kept: &mut Vec<u8>, piece: &[u8]) {
    kept.extend_from_slice(piece);
    kept.drain(..kept.len().saturating_sub(LAST_WORDS));
}

fn listen(mut pipe: impl Read, kept: &Mutex<Vec<u8>>, keep: fn(&mut Vec<u8>, &[u8])) {
    let mut piece = vec![0; 64 << 10];
    loop {
        let length = match pipe.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        keep(&mut kept.lock().unwrap_or_else(PoisonError::into_inner), &piece[..length]);
    }
}

//! Runs a program with an input and a time limit, and collects its output.
//!
//! The program leads its own process group, and the whole group ends with it. Only the program knows the processes that
//! it started in other groups, so it gets SIGTERM before SIGKILL. No pipe can block us: each has its own thread, too much
//! output is thrown away, and a pipe that stays open after the program's end is not waited for. If there are log files,
//! the program writes to them directly, so that the user can watch.
//!
//! If this process is killed with SIGKILL, the program continues. The system could end it too, but only unsafe code in
//! the child can ask for that.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The largest standard output. Of a longer one, exactly one byte more is kept.
pub const LARGEST_OUTPUT: usize = 4 << 20;
/// How many bytes of the end of standard error are kept.
const LAST_WORDS: usize = 16 << 10;
/// How long to read the pipes after the program's end. A busy machine needs a while for the rest.
const LISTENING: Duration = Duration::from_secs(2);
/// How long a killed program may take to end.
const GRACE: Duration = Duration::from_millis(500);
/// How long a program may take after SIGTERM to end its processes. A client whose own timeout has passed kills us after
/// one and a half seconds.
const FAREWELL: Duration = Duration::from_secs(1);
/// Reviews take seconds, so this is short enough.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// The largest log file. A reviewer that prints more would fill the disk.
const LARGEST_LOG: u64 = 64 << 20;

pub struct ProgramOutput {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    /// The last bytes only.
    pub stderr: Vec<u8>,
}

/// How a program ended.
pub struct ProgramEnd {
    /// `None`: the time was over first.
    pub status: Option<ExitStatus>,
    pub stdout: Vec<u8>,
    /// The last bytes only.
    pub stderr: Vec<u8>,
}

/// The standard streams of a program.
#[derive(Default)]
pub struct ProgramStreams<'a> {
    /// `None`: standard input is empty.
    pub input: Option<&'a [u8]>,
    /// Open for appending and reading; `None`: a pipe.
    pub out: Option<File>,
    pub err: Option<File>,
}

/// Runs a command to its end; `None` if the time was over first. An interruption is an error.
pub fn run_program(
    command: &mut Command,
    streams: ProgramStreams<'_>,
    limit: Duration,
    is_interrupted: fn() -> bool,
) -> io::Result<Option<ProgramOutput>> {
    let end = run_to_limit(command, streams, limit, is_interrupted)?;
    Ok(end.status.map(|status| ProgramOutput { status, stdout: end.stdout, stderr: end.stderr }))
}

/// Runs a command to its end or to the limit, and returns what it has printed until then. An interruption is an error.
pub fn run_to_limit(
    command: &mut Command,
    streams: ProgramStreams<'_>,
    limit: Duration,
    is_interrupted: fn() -> bool,
) -> io::Result<ProgramEnd> {
    let ProgramStreams { input, out, err } = streams;
    let end = Instant::now() + limit;
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(open_stream(out.as_ref())?).stderr(open_stream(err.as_ref())?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut running = RunningProgram(command.spawn()?);
    if let (Some(mut pipe), Some(input)) = (running.0.stdin.take(), input) {
        let input = input.to_owned();
        // A program may end without reading all input.
        thread::spawn(move || pipe.write_all(&input));
    }
    let stdout = PipeReader::start(running.0.stdout.take(), keep_first);
    let stderr = PipeReader::start(running.0.stderr.take(), keep_last);
    let prints_too_much = || [&out, &err].into_iter().flatten().any(is_too_large);
    let is_over = !wait_until(end, || running.has_ended() || is_interrupted() || prints_too_much());
    if is_over {
        running.terminate();
    }
    if prints_too_much() {
        running.terminate();
        return Err(io::Error::other(format!("it printed more than {} MiB", LARGEST_LOG >> 20)));
    }
    if is_interrupted() && !is_over {
        running.terminate();
        return Err(io::ErrorKind::Interrupted.into());
    }
    let listening = if is_over { GRACE } else { LISTENING };
    if is_over {
        running.kill();
    }
    wait_until(Instant::now() + listening, || stdout.is_done() && stderr.is_done());
    let status = running.end();
    if status.is_none() && !is_over {
        return Err(io::Error::other("its end was not seen"));
    }
    let stdout = out.map_or_else(|| Ok(stdout.take_bytes()), read_first)?;
    let stderr = err.map_or_else(|| Ok(stderr.take_bytes()), read_last)?;
    Ok(ProgramEnd { status: status.filter(|_| !is_over), stdout, stderr })
}

/// The program's side of an output stream: the file, or a pipe.
fn open_stream(file: Option<&File>) -> io::Result<Stdio> {
    file.map_or_else(|| Ok(Stdio::piped()), |file| file.try_clone().map(Stdio::from))
}

fn read_first(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(LARGEST_OUTPUT as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read_last(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST_WORDS as u64)))?;
    file.take(LAST_WORDS as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_too_large(log: &File) -> bool {
    log.metadata().is_ok_and(|metadata| metadata.len() > LARGEST_LOG)
}

fn wait_until(until: Instant, mut condition: impl FnMut() -> bool) -> bool {
    while !condition() {
        if Instant::now() >= until {
            return false;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    true
}

/// A running program. Dropping it ends the program and its group.
struct RunningProgram(Child);

impl RunningProgram {
    /// Whether the program itself has ended. On Unix this does not reap it, so that no other process can get its id,
    /// which is also the id of the group.
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

    /// Kills the rest of the group and reaps the program. It does not wait for a program that cannot be killed, because
    /// it became another user's or hangs in the kernel.
    fn end(&mut self) -> Option<ExitStatus> {
        self.kill();
        let mut status = None;
        wait_until(Instant::now() + GRACE, || match self.0.try_wait() {
            Ok(found) => {
                status = found;
                found.is_some()
            }
            Err(_) => true,
        });
        status
    }

    /// Asks the program to end, and waits a moment for it.
    #[cfg(unix)]
    fn terminate(&mut self) {
        self.signal(rustix::process::Signal::TERM);
        wait_until(Instant::now() + FAREWELL, || self.has_ended());
    }

    #[cfg(not(unix))]
    fn terminate(&mut self) {}

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

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads a pipe to its end, in its own thread.
struct PipeReader {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl PipeReader {
    fn start(pipe: Option<impl Read + Send + 'static>, keep: fn(&mut Vec<u8>, &[u8])) -> Self {
        let bytes = Arc::<Mutex<Vec<u8>>>::default();
        let kept = Arc::clone(&bytes);
        let thread = pipe.map(|pipe| thread::spawn(move || read_pipe(pipe, &kept, keep)));
        Self { bytes, thread }
    }

    fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Takes the bytes that were read so far.
    fn take_bytes(&self) -> Vec<u8> {
        mem::take(&mut self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn keep_first(kept: &mut Vec<u8>, piece: &[u8]) {
    let room = (LARGEST_OUTPUT + 1).saturating_sub(kept.len());
    kept.extend_from_slice(&piece[..piece.len().min(room)]);
}

fn keep_last(kept: &mut Vec<u8>, piece: &[u8]) {
    kept.extend_from_slice(piece);
    kept.drain(..kept.len().saturating_sub(LAST_WORDS));
}

fn read_pipe(mut pipe: impl Read, kept: &Mutex<Vec<u8>>, keep: fn(&mut Vec<u8>, &[u8])) {
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

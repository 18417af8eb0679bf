//! Runs one hook for the client, and records its input and output.
//!
//! Output is passed on as it comes, so that a hook that is cut off has sent the client exactly what it would have sent
//! without the recorder. The recorder handles no signals: a signal that ends the hook ends the recorder, and the log has no
//! second line then.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::getpid;
use serde_json::Value;

use super::log::{Ended, HookEnd, HookRecord, Started, append};

/// The exit code of a shell when a program does not exist.
const NO_SUCH_PROGRAM: i32 = 127;

/// How long to wait for the end of a hook's output. A background child may hold it open forever.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs `argv` as a hook, records it in `log`, and ends the way the hook ended.
pub fn record(log: &Path, argv: &[OsString]) -> i32 {
    let mut input = Vec::new();
    // If reading fails, the hook gets the same partial event.
    let _ = io::stdin().lock().read_to_end(&mut input);
    let clock = Instant::now();
    let warn = |error| eprintln!("rehearse: cannot record in {}: {error}", log.display());
    let started = describe_start(argv, &input);
    append(log, &started).unwrap_or_else(warn);
    let end = run_hook(argv, input, clock);
    let (exit, signal) = (end.exit, end.signal);
    append(log, &Ended { id: started.id, end }).unwrap_or_else(warn);
    if let Some(signal) = signal {
        // This process ignores or catches some signals, so a shell takes its place and sends itself the signal.
        let _ = Command::new("/bin/sh").args(["-c", "kill -$0 $$", &signal.to_string()]).exec();
        return 128 + signal;
    }
    exit.unwrap_or(NO_SUCH_PROGRAM)
}

fn describe_start(argv: &[OsString], input: &[u8]) -> Started {
    let input: Value = serde_json::from_slice(input)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(input).into_owned()));
    let field = |key: &str| input[key].as_str().map(str::to_owned);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let pid = getpid().as_raw_nonzero().get();
    let hook = HookRecord {
        event: field("hook_event_name").unwrap_or_default(),
        tool: field("tool_name"),
        agent: field("agent_type"),
        argv: argv.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        input,
        started: now.as_secs_f64(),
        end: None,
        pid,
    };
    Started { id: format!("{pid}.{}", now.as_nanos()), hook }
}

fn run_hook(argv: &[OsString], input: Vec<u8>, clock: Instant) -> HookEnd {
    let Some((program, rest)) = argv.split_first() else {
        return failed_start("no hook to run", clock);
    };
    let child = Command::new(program)
        .args(rest)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            return failed_start(&format!("cannot start `{}`: {error}", program.display()), clock);
        }
    };
    let (writer, written) = mpsc::channel::<()>();
    if let Some(mut stdin) = child.stdin.take() {
        thread::spawn(move || {
            // A hook need not read its input.
            let _ = stdin.write_all(&input);
            drop(writer);
        });
    }
    let stdout = child.stdout.take().map(|pipe| Tee::start(pipe, io::stdout()));
    let stderr = child.stderr.take().map(|pipe| Tee::start(pipe, io::stderr()));
    let status = child.wait();
    let micros = micros(clock);
    // The shell in `record` dies of a broken pipe, so nothing may still write to the pipe of a dead hook then.
    let _ = written.recv_timeout(DRAIN_TIMEOUT);
    HookEnd {
        stdout: stdout.map(Tee::finish).unwrap_or_default(),
        stderr: stderr.map(Tee::finish).unwrap_or_default(),
        exit: status.as_ref().ok().and_then(ExitStatus::code),
        signal: status.as_ref().ok().and_then(ExitStatusExt::signal),
        micros,
    }
}

fn failed_start(message: &str, clock: Instant) -> HookEnd {
    eprintln!("rehearse: {message}");
    HookEnd {
        stdout: String::new(),
        stderr: format!("rehearse: {message}\n"),
        exit: Some(NO_SUCH_PROGRAM),
        signal: None,
        micros: micros(clock),
    }
}

fn micros(clock: Instant) -> u64 {
    u64::try_from(clock.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// Passes a stream on and keeps a copy of it.
struct Tee {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl Tee {
    fn start(mut from: impl Read + Send + 'static, mut to: impl Write + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (ended, end) = mpsc::channel();
        let copy = Arc::clone(&bytes);
        thread::spawn(move || {
            let mut buffer = [0; 8192];
            loop {
                match from.read(&mut buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => break,
                    Ok(n) => {
                        lock(&copy).extend_from_slice(&buffer[..n]);
                        // The hook must not notice that the client has stopped reading.
                        let _ = to.write_all(&buffer[..n]).and_then(|()| to.flush());
                    }
                }
            }
            let _ = ended.send(());
        });
        Self { bytes, end }
    }

    fn finish(self) -> String {
        let _ = self.end.recv_timeout(DRAIN_TIMEOUT);
        String::from_utf8_lossy(&lock(&self.bytes)).into_owned()
    }
}

fn lock(bytes: &Mutex<Vec<u8>>) -> std::sync::MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

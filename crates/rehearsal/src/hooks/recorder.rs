//! Runs one hook in the client's place and writes down what went in and out.
//!
//! Output is passed on as it comes and not at the end, so that a hook that is cut off has said to
//! the client exactly what it would have said alone. The recorder adds no signal handling: what
//! ends a hook ends the recorder, and the missing second line of the log tells so.

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

use super::log::{Ended, HookEnd, Started, append};

/// What a shell answers when there is no such program.
const NO_SUCH_PROGRAM: i32 = 127;

/// A background child may hold the hook's output open for ever; the client does not wait for it.
const DRAIN: Duration = Duration::from_secs(1);

/// Runs `argv` as a hook, records it in `log`, and ends the way the hook ended.
pub fn record(log: &Path, argv: &[OsString]) -> i32 {
    let mut given = Vec::new();
    // Half an event is what the hook gets too.
    let _ = io::stdin().lock().read_to_end(&mut given);
    let clock = Instant::now();
    let opening = opening(argv, &given);
    if let Err(error) = append(log, &opening) {
        eprintln!("rehearse: cannot record in {}: {error}", log.display());
    }
    let end = run(argv, given, clock);
    let (exit, signal) = (end.exit, end.signal);
    if let Err(error) = append(log, &Ended { id: opening.id, end }) {
        eprintln!("rehearse: cannot record in {}: {error}", log.display());
    }
    if let Some(signal) = signal {
        // This process ignores or catches some signals; a shell in its place dies of all of them.
        let _ = Command::new("/bin/sh").args(["-c", "kill -$0 $$", &signal.to_string()]).exec();
        return 128 + signal;
    }
    exit.unwrap_or(NO_SUCH_PROGRAM)
}

fn opening(argv: &[OsString], given: &[u8]) -> Started {
    let input: Value = serde_json::from_slice(given)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(given).into_owned()));
    let field = |key: &str| input[key].as_str().map(str::to_owned);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let pid = getpid().as_raw_nonzero().get();
    Started {
        id: format!("{pid}.{}", now.as_nanos()),
        event: field("hook_event_name").unwrap_or_default(),
        tool: field("tool_name"),
        agent: field("agent_type"),
        argv: argv.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        input,
        at: now.as_secs_f64(),
        pid,
    }
}

fn run(argv: &[OsString], given: Vec<u8>, clock: Instant) -> HookEnd {
    let Some((program, rest)) = argv.split_first() else {
        return refused("no hook to run", clock);
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
            return refused(&format!("cannot start `{}`: {error}", program.display()), clock);
        }
    };
    let (fed, feeding) = mpsc::channel::<()>();
    if let Some(mut stdin) = child.stdin.take() {
        thread::spawn(move || {
            // A hook need not read what it is given.
            let _ = stdin.write_all(&given);
            drop(fed);
        });
    }
    let stdout = child.stdout.take().map(|pipe| Tap::open(pipe, io::stdout()));
    let stderr = child.stderr.take().map(|pipe| Tap::open(pipe, io::stderr()));
    let status = child.wait();
    let micros = micros(clock);
    // Becoming a shell makes a broken pipe deadly again, so nothing may still be writing into the
    // pipe of a dead hook by then, or we would die of that and not of what the hook died of.
    let _ = feeding.recv_timeout(DRAIN);
    HookEnd {
        stdout: stdout.map(Tap::close).unwrap_or_default(),
        stderr: stderr.map(Tap::close).unwrap_or_default(),
        exit: status.as_ref().ok().and_then(ExitStatus::code),
        signal: status.as_ref().ok().and_then(ExitStatusExt::signal),
        micros,
    }
}

fn refused(message: &str, clock: Instant) -> HookEnd {
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

/// Passes a stream on while it is being kept.
struct Tap {
    kept: Arc<Mutex<Vec<u8>>>,
    dry: Receiver<()>,
}

impl Tap {
    fn open(mut from: impl Read + Send + 'static, mut to: impl Write + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (ended, dry) = mpsc::channel();
        let copy = Arc::clone(&kept);
        thread::spawn(move || {
            let mut buffer = [0; 8192];
            loop {
                match from.read(&mut buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => break,
                    Ok(n) => {
                        lock(&copy).extend_from_slice(&buffer[..n]);
                        // The client may have stopped listening; the hook does not learn that.
                        let _ = to.write_all(&buffer[..n]).and_then(|()| to.flush());
                    }
                }
            }
            let _ = ended.send(());
        });
        Self { kept, dry }
    }

    fn close(self) -> String {
        let _ = self.dry.recv_timeout(DRAIN);
        String::from_utf8_lossy(&lock(&self.kept)).into_owned()
    }
}

fn lock(kept: &Mutex<Vec<u8>>) -> std::sync::MutexGuard<'_, Vec<u8>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

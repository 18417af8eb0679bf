//! A terminal for the interactive client: a real pseudo-terminal with an emulator behind it.
//!
//! The interactive client cuts, merges or hides much of what a hook says. The emulator keeps the screen as the user would see
//! it; [`Frame`] is that screen as text, and [`perform`] types and waits like a user.

mod frame;
mod keys;
mod simulated_user;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::error::{Error, Result};
use crate::scenario::TerminalSize;

pub use frame::Frame;
pub(crate) use keys::Key;
pub use simulated_user::Stall;
pub(crate) use simulated_user::{SimulatedUser, TerminalRun, perform};

/// How many lines above the screen are kept.
const SCROLLBACK: usize = 10_000;

/// Runs a program as the leader of a new session whose terminal is standard input. Returns only if that fails.
pub fn attach(argv: &[std::ffi::OsString]) -> io::Error {
    let Some((program, arguments)) = argv.split_first() else {
        return io::Error::other("no program is given");
    };
    let take_terminal = || {
        rustix::process::setsid()?;
        rustix::process::ioctl_tiocsctty(io::stdin())
    };
    match take_terminal() {
        Ok(()) => Command::new(program).args(arguments).exec(),
        Err(error) => error.into(),
    }
}

/// The user's side of a terminal: a keyboard and a screen.
pub(crate) struct Terminal {
    keyboard: File,
    display: Arc<Mutex<Display>>,
    /// All screens that were shown; the last is the current one. Never empty.
    frames: Vec<Frame>,
    changed: Instant,
    reader: JoinHandle<()>,
}

struct Display {
    parser: vt100::Parser<Replies>,
    has_changed: bool,
}

impl Terminal {
    /// Opens a terminal, and returns it with the end that belongs to the client.
    pub(crate) fn open(size: TerminalSize) -> Result<(Self, OwnedFd)> {
        let open = || {
            let (ours, theirs) = open_pair(size)?;
            let keyboard = File::from(ours);
            let callbacks = Replies::default();
            let parser = vt100::Parser::new_with_callbacks(size.rows, size.columns, SCROLLBACK, callbacks);
            let display = Arc::new(Mutex::new(Display { parser, has_changed: false }));
            let (mut input, mut output) = (keyboard.try_clone()?, keyboard.try_clone()?);
            let shared = Arc::clone(&display);
            // Ends when no process has the client's end open.
            let reader = thread::spawn(move || {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = input.read(&mut bytes) {
                    let reply = lock(&shared).process(&bytes[..count]);
                    if output.write_all(&reply).is_err() {
                        break;
                    }
                }
            });
            let frames = vec![Frame::default()];
            Ok((Self { keyboard, display, frames, changed: Instant::now(), reader }, theirs))
        };
        open().map_err(Error::machine("open a terminal"))
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.keyboard.write_all(bytes).map_err(Error::machine("type into the terminal"))
    }

    /// Whether there is typed input that the client has not read.
    pub(crate) fn has_unread_input(&self) -> bool {
        let unread = open_client_end(&self.keyboard).and_then(|end| Ok(rustix::io::ioctl_fionread(end)?));
        unread.is_ok_and(|bytes| bytes > 0)
    }

    /// Updates the screen with the client's new output.
    pub(crate) fn refresh(&mut self) {
        let frame = lock(&self.display).new_frame();
        if let Some(frame) = frame.filter(|frame| frame != self.frame()) {
            self.frames.push(frame);
            self.changed = Instant::now();
        }
    }

    /// Whether all output has been read, because no process has the client's end open any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.reader.is_finished()
    }

    /// The current screen.
    pub(crate) fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    /// All screens that were shown.
    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    pub(crate) fn take_frames(&mut self) -> Vec<Frame> {
        std::mem::replace(&mut self.frames, vec![Frame::default()])
    }

    pub(crate) fn unchanged_for(&self) -> Duration {
        self.changed.elapsed()
    }
}

fn open_pair(size: TerminalSize) -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let theirs = open_client_end(&ours)?;
    rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
    let size = Winsize { ws_row: size.rows.get(), ws_col: size.columns.get(), ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size)?;
    Ok((ours, theirs))
}

fn open_client_end(ours: impl AsFd) -> io::Result<OwnedFd> {
    let name = ptsname(ours, Vec::new())?;
    Ok(rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?)
}

fn lock(display: &Mutex<Display>) -> MutexGuard<'_, Display> {
    display.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Display {
    /// Processes the client's output, and returns the terminal's reply to its queries.
    fn process(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.parser.process(bytes);
        self.has_changed = true;
        std::mem::take(&mut self.parser.callbacks_mut().reply)
    }

    fn new_frame(&mut self) -> Option<Frame> {
        if !std::mem::take(&mut self.has_changed) {
            return None;
        }
        let title = self.parser.callbacks().title.clone();
        let screen = self.parser.screen_mut();
        let (height, width) = screen.size();
        let height = usize::from(height.get());
        let mut rows = Vec::new();
        let mut above = screen.scrollback_len();
        while above > 0 {
            screen.set_scrollback(above);
            rows.extend(screen.rows(0, width.get()).take(above.min(height)));
            above = above.saturating_sub(height);
        }
        screen.set_scrollback(0);
        rows.extend(screen.rows(0, width.get()));
        Some(Frame::new(&rows, title))
    }
}

/// The window's title, and replies to the queries that every terminal answers.
#[derive(Default)]
struct Replies {
    title: String,
    reply: Vec<u8>,
}

impl vt100::Callbacks for Replies {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.title = String::from_utf8_lossy(title).into_owned();
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        prefix: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        letter: char,
    ) {
        let reply = match (prefix, parameters, letter) {
            (None, _, 'c') => "\x1b[?1;2c".to_owned(),
            (None, [[5]], 'n') => "\x1b[0n".to_owned(),
            (None, [[6]], 'n') => {
                let (row, column) = screen.cursor_position();
                format!("\x1b[{};{}R", row + 1, column + 1)
            }
            _ => return,
        };
        self.reply.extend(reply.into_bytes());
    }
}

//! A pseudo-terminal in which one command line runs.
//!
//! Programs look at their terminal for its width and for whether colours are wanted, so a pipe would show
//! something else than a person sees.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::options::Options;

pub struct Run {
    pub text: String,
    pub code: i32,
}

pub fn run(line: &str, options: &Options) -> Result<Run, String> {
    start_and_read(line, options).map_err(|error| format!("`{line}` cannot be run: {error}"))
}

fn start_and_read(line: &str, options: &Options) -> io::Result<Run> {
    let (ours, theirs) = pair(options.columns)?;
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("TERM", "xterm-256color").stdin(Stdio::null());
    command.stdout(theirs.try_clone()?).stderr(theirs);
    if let Some(directory) = &options.directory {
        command.current_dir(directory);
    }
    let mut child = command.spawn()?;
    // Its copies of the far end would keep the terminal open after the child has ended.
    drop(command);
    let bytes = read_to_hangup(File::from(ours))?;
    let code = child.wait()?.code().unwrap_or(-1);
    Ok(Run { text: String::from_utf8_lossy(&bytes).replace("\r\n", "\n"), code })
}

fn pair(columns: u16) -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())?;
    tcsetwinsize(&theirs, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
    Ok((ours, theirs))
}

/// Everything up to the moment when nobody has the far end open. Linux calls that an input/output error.
fn read_to_hangup(mut terminal: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match terminal.read_to_end(&mut bytes) {
        Err(error) if error.raw_os_error() != Some(rustix::io::Errno::IO.raw_os_error()) => Err(error),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{self, Wish};

    fn run_in(columns: &str, line: &str) -> Run {
        let words = ["--out", "x", "--columns", columns, "--", line].map(str::to_owned);
        let Ok(Wish::Draw(options)) = options::read(words.into_iter()) else { panic!("not understood") };
        run(line, &options).unwrap()
    }

    #[test]
    fn a_program_sees_a_terminal_of_the_given_width() {
        let run = run_in("61", "test -t 1 && test -t 2 && stty size <&1; exit 3");
        assert_eq!((run.text.as_str(), run.code), ("50 61\n", 3));
    }

    #[test]
    fn much_output_comes_whole() {
        let run = run_in("80", "seq 1 20000");
        assert_eq!(run.text.lines().count(), 20000);
    }
}

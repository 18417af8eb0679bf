//! The sandbox of the demo: a throwaway home directory with a project for each act, in which this program runs.
//!
//! Of the user's environment only `PATH` gets in, so that the played reviewer finds its shell. Nothing stays behind,
//! whether the demo ends, fails or is interrupted.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::cli::CommandError;
use crate::cli::current_client;
use crate::clients::{BLOCK_EXIT_CODE, DemoAnswer};

/// The directory that holds everything that the demo writes. It is deleted at the end.
pub(super) struct DemoSandbox {
    root: PathBuf,
}

/// The home directory and the project of one act.
pub(super) struct ActHome {
    pub(super) directory: PathBuf,
    pub(super) project: PathBuf,
}

impl DemoSandbox {
    pub(super) fn create() -> Result<Self, CommandError> {
        // Events are JSON, which can hold only paths in UTF-8.
        let named = Some(std::env::temp_dir()).filter(|path| path.to_str().is_some());
        let fallback = cfg!(unix).then(|| PathBuf::from("/tmp"));
        let mut why = String::from("the name of the temporary directory is not UTF-8");
        for directory in named.into_iter().chain(fallback) {
            match create_private_directory(&directory) {
                Ok(root) => return Ok(Self { root }),
                Err(error) => why = format!("{}: {error}", directory.display()),
            }
        }
        Err(CommandError::Io(format!(
            "the demo cannot create a temporary directory: {why}. To fix: set `TMPDIR` to a writable directory."
        )))
    }

    /// Creates an empty home directory for an act. Its project is a repository with a configuration file, so that
    /// files above the temporary directory have no effect.
    pub(super) fn create_home(&self, name: &str) -> io::Result<ActHome> {
        let directory = self.root.join(name);
        let project = directory.join("project");
        write_file(&project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        fs::create_dir_all(project.join(".git/objects"))?;
        fs::create_dir_all(project.join(".git/refs/heads"))?;
        write_file(&project.join("provost.toml"), "")?;
        Ok(ActHome { directory, project })
    }
}

impl Drop for DemoSandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

impl ActHome {
    /// This program, ready to run in the project.
    fn command(&self, arguments: &[&str]) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments).current_dir(&self.project).env_clear().env("HOME", &self.directory);
        // The played reviewer needs a shell, even if the user's PATH has none.
        let mut path = std::env::var_os("PATH").unwrap_or_default();
        if cfg!(unix) {
            path.push(if path.is_empty() { "/usr/bin:/bin" } else { ":/usr/bin:/bin" });
        }
        command.env("PATH", path);
        // A managed configuration applies here too; tests name one of their own.
        command.envs(std::env::var_os("PROVOST_MANAGED").map(|path| ("PROVOST_MANAGED", path)));
        Ok(command)
    }

    /// Sends an event to `provost hook`. Returns the answer and the time that it took.
    pub(super) fn run_hook(&self, event: &str) -> io::Result<(DemoAnswer, Duration)> {
        let demo = current_client().demo();
        let mut command = self.command(&["hook"])?;
        command.env(demo.variable, &self.project).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        let began = Instant::now();
        let mut child = command.spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // If the program ends early, its exit status says why.
            let _ = input.write_all(event.as_bytes());
        }
        let output = child.wait_with_output()?;
        let time = began.elapsed();
        if output.status.code() == Some(BLOCK_EXIT_CODE.into()) {
            return Ok((DemoAnswer::Denied(String::from_utf8_lossy(&output.stderr).trim_end().into()), time));
        }
        if !output.status.success() {
            return Err(io::Error::other(format!("`provost hook` ended with {}", output.status)));
        }
        Ok(((demo.parse_answer)(&String::from_utf8_lossy(&output.stdout)), time))
    }

    /// Runs a command of this program. Returns its output and the time that it took.
    pub(super) fn run(&self, arguments: &[&str]) -> io::Result<(Output, Duration)> {
        let began = Instant::now();
        let output = self.command(arguments)?.stdin(Stdio::null()).output()?;
        Ok((output, began.elapsed()))
    }

    /// The output of `provost explain`, as wide as this process's terminal.
    pub(super) fn run_explain(&self) -> io::Result<String> {
        let mut command = self.command(&["explain"])?;
        // The caller's stream removes the colours where they are not wanted.
        command.env("CLICOLOR_FORCE", "1").stdin(Stdio::inherit()).stderr(Stdio::inherit());
        Ok(self.shorten_home(&String::from_utf8_lossy(&command.output()?.stdout)))
    }

    /// Replaces the path of the home directory with `~`.
    pub(super) fn shorten_home(&self, text: &str) -> String {
        text.replace(&*self.directory.to_string_lossy(), "~")
    }
}

pub(super) fn write_file(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, text)
}

/// Creates a new directory in this one that no other user can read.
fn create_private_directory(directory: &Path) -> io::Result<PathBuf> {
    // Messages show resolved paths, so links in the path of the temporary directory would confuse.
    let directory = fs::canonicalize(directory)?;
    if directory.to_str().is_none() {
        return Err(io::Error::other("its name is not UTF-8"));
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut number = 0;
    loop {
        let root = directory.join(format!("provost-demo-{}-{number}", std::process::id()));
        match builder.create(&root) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 99 => number += 1,
            created => return created.map(|()| root),
        }
    }
}

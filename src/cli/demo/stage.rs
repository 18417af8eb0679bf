//! Where the demo is played: a throwaway home with a project in it for each act, and this very program in
//! processes of its own.
//!
//! Nothing of the person's surroundings gets in but `PATH`, by which the played reviewer finds its shell,
//! and nothing stays behind, whether the demo ends, fails or is interrupted.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::cli::Trouble;
use crate::clients::{self, BLOCK, Told};

/// The directory that holds all that the demo writes.
pub(super) struct Stage {
    root: PathBuf,
}

/// The home and the project of one act.
pub(super) struct Set {
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
}

impl Stage {
    pub(super) fn build() -> Result<Self, Trouble> {
        // Events are JSON, which holds no other paths than texts.
        let named = Some(std::env::temp_dir()).filter(|path| path.to_str().is_some());
        let usual = cfg!(unix).then(|| PathBuf::from("/tmp"));
        let mut why = String::from("no temporary directory has a name that is a text");
        for directory in named.into_iter().chain(usual) {
            match room(&directory) {
                Ok(root) => return Ok(Self { root }),
                Err(error) => why = format!("{}: {error}", directory.display()),
            }
        }
        Err(Trouble::Io(format!(
            "the demo has no place to play: {why}. To fix: let `TMPDIR` name a directory that can be written."
        )))
    }

    /// An empty home for an act. Its project is a repository with a configuration of its own, so that nothing
    /// above the temporary directory counts.
    pub(super) fn set(&self, name: &str) -> io::Result<Set> {
        let home = self.root.join(name);
        let project = home.join("project");
        put(&project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        fs::create_dir_all(project.join(".git/objects"))?;
        fs::create_dir_all(project.join(".git/refs/heads"))?;
        put(&project.join("provost.toml"), "")?;
        Ok(Set { home, project })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

impl Set {
    /// This program, as the client or a person would run it here.
    pub(super) fn program(&self, arguments: &[&str]) -> io::Result<Command> {
        let mut program = Command::new(std::env::current_exe()?);
        program.args(arguments).current_dir(&self.project).env_clear().env("HOME", &self.home);
        // The story needs its reviewer, so the usual places come behind whatever the person has.
        let mut path = std::env::var_os("PATH").unwrap_or_default();
        if cfg!(unix) {
            path.push(if path.is_empty() { "/usr/bin:/bin" } else { ":/usr/bin:/bin" });
        }
        program.env("PATH", path);
        // A managed configuration holds even here; tests name one of their own.
        program.envs(std::env::var_os("PROVOST_MANAGED").map(|path| ("PROVOST_MANAGED", path)));
        Ok(program)
    }

    /// What the client is told about an event, and after which time.
    pub(super) fn hook(&self, event: &str) -> io::Result<(Told, Duration)> {
        let demo = &clients::DEFAULT.demo;
        let mut program = self.program(&["hook"])?;
        program.env(demo.variable, &self.project).stdin(Stdio::piped()).stdout(Stdio::piped());
        program.stderr(Stdio::piped());
        let began = Instant::now();
        let mut child = program.spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // One that ends too early says why by its status.
            let _ = input.write_all(event.as_bytes());
        }
        let output = child.wait_with_output()?;
        let time = began.elapsed();
        if output.status.code() == Some(BLOCK.into()) {
            return Ok((Told::Denied(String::from_utf8_lossy(&output.stderr).trim_end().into()), time));
        }
        if !output.status.success() {
            return Err(io::Error::other(format!("`provost hook` ended with {}", output.status)));
        }
        Ok(((demo.told)(&String::from_utf8_lossy(&output.stdout)), time))
    }

    /// What a person sees who runs a command, and after which time.
    pub(super) fn run(&self, arguments: &[&str]) -> io::Result<(Output, Duration)> {
        let began = Instant::now();
        let output = self.program(arguments)?.stdin(Stdio::null()).output()?;
        Ok((output, began.elapsed()))
    }

    /// What `provost explain` shows here, as wide as the terminal is that this process has.
    pub(super) fn explained(&self) -> io::Result<String> {
        let mut program = self.program(&["explain"])?;
        // Colours are taken away again where nobody wants them.
        program.env("CLICOLOR_FORCE", "1").stdin(Stdio::inherit()).stderr(Stdio::inherit());
        Ok(self.shown(&String::from_utf8_lossy(&program.output()?.stdout)))
    }

    /// A text with the throwaway home as a person would call it.
    pub(super) fn shown(&self, text: &str) -> String {
        text.replace(&*self.home.to_string_lossy(), "~")
    }
}

pub(super) fn put(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, text)
}

/// A new directory in this one that nobody else can look into.
fn room(directory: &Path) -> io::Result<PathBuf> {
    // Links in the temporary directory's own path would show up in every message.
    let directory = fs::canonicalize(directory)?;
    if directory.to_str().is_none() {
        return Err(io::Error::other("its name is no text"));
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut number = 0;
    loop {
        let root = directory.join(format!("provost-demo-{}-{number}", std::process::id()));
        match builder.create(&root) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 99 => number += 1,
            made => return made.map(|()| root),
        }
    }
}

//! A place where hooks can be tried without a trace: no journal, no memory, no review of the real project.
//!
//! A hook is given a project of its own, with the real configuration and with links to what the entries
//! name, and a state directory of its own. The person's home stays, because programs are found by it; what
//! Provost writes there, it writes to the state directory. There are no plans and no workflow on the
//! stage, so no reviewer is started and no record is kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::subject::{Entry, Subject};
use crate::clients::Sample;
use crate::clock;
use crate::reviewer::child::{self, Output, Streams};
use crate::workspace::CONFIG_FILE;

/// The variable that decides where Provost keeps its state.
const STATE: &str = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_STATE_HOME" };

pub(super) struct Stage {
    root: PathBuf,
    pub(super) project: PathBuf,
    pub(super) home: PathBuf,
    variables: Vec<(String, String)>,
}

impl Stage {
    pub(super) fn set(subject: &Subject) -> io::Result<Self> {
        // A name that nothing left behind can have.
        let now = clock::since_1970().as_nanos();
        let root = std::env::temp_dir().join(format!("provost-doctor-{now}-{}", std::process::id()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&root)?;
        let variables = (subject.client.health.variables)(&subject.sources);
        let mut stage = Self { project: root.join("project"), home: root.join("home"), root, variables };
        // Links in the temporary directory's own path would be followed by some and not by others.
        stage.root = fs::canonicalize(&stage.root)?;
        (stage.project, stage.home) = (stage.root.join("project"), stage.root.join("home"));
        // A project is its repository.
        fs::create_dir_all(stage.project.join(".git"))?;
        fs::create_dir(&stage.home)?;
        if let Some(file) = &subject.config_file {
            fs::copy(file, stage.project.join(CONFIG_FILE))?;
        }
        stage.link_named(subject)?;
        Ok(stage)
    }

    /// Links what entries name of the project: its scripts, and the client's own directory.
    fn link_named(&self, subject: &Subject) -> io::Result<()> {
        const NEVER: &[&str] = &[".git", ".isdlc", ".taskie", CONFIG_FILE];
        let commands: Vec<String> = subject.entries().map(|entry| entry.hook.entry.to_string()).collect();
        let is_named = |name: &str| {
            name == subject.client.folder || commands.iter().any(|command| command.contains(name))
        };
        for entry in fs::read_dir(&subject.project)?.flatten() {
            let name = entry.file_name();
            let Some(text) = name.to_str().filter(|name| !NEVER.contains(name) && is_named(name)) else {
                continue;
            };
            #[cfg(unix)]
            std::os::unix::fs::symlink(entry.path(), self.project.join(text))?;
            #[cfg(not(unix))]
            let _ = text;
        }
        Ok(())
    }

    /// Gives a hook an event, as the client would; `None`: the time was over first.
    pub(super) fn play(
        &self,
        entry: &Entry<'_>,
        sample: &Sample,
        subject: &Subject,
        limit: Duration,
    ) -> io::Result<Option<Output>> {
        let scope = &entry.source.scope;
        let mut command = (subject.client.health.command)(entry.hook, scope, &self.project, &subject.places);
        let own: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // What the client says itself is stronger than a settings file.
        command.envs(own.into_iter().filter_map(|(name, value)| Some((name, value?))));
        command.env(STATE, self.root.join("state"));
        child::run(&mut command, Streams { input: Some(&sample.event), ..Streams::default() }, limit)
    }

    /// Asks a program for its version.
    pub(super) fn version(&self, program: &Path) -> Option<String> {
        const LIMIT: Duration = Duration::from_secs(10);
        let mut command = std::process::Command::new(program);
        command.arg("--version").current_dir(&self.project).env("HOME", &self.home);
        let output = child::run(&mut command, Streams::default(), LIMIT).ok()??;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

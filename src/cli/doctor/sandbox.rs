//! A place where hooks can run without effect: no journal, no memory, no review of the real project.
//!
//! A hook gets a project of its own, with the real configuration and with links to what the entries name, and a state
//! directory of its own. The user's home stays the same, because programs are found through it. The sandbox has no
//! plans and no workflow, so no reviewer starts and nothing is recorded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::cli::overview::registrations::LocatedHook;
use crate::cli::overview::{Overview, ask_version};
use crate::clients::SampleEvent;
use crate::clock;
use crate::config::ConfigLayer;
use crate::places::CONFIG_FILE;
use crate::process::{self, ProgramOutput, ProgramStreams};
use crate::signals;

/// The variable that says where Provost keeps its state.
const STATE: &str = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_STATE_HOME" };

pub(super) struct DoctorSandbox {
    root: PathBuf,
    pub(super) project: PathBuf,
    pub(super) home: PathBuf,
    variables: Vec<(String, String)>,
}

impl DoctorSandbox {
    pub(super) fn create(overview: &Overview) -> io::Result<Self> {
        // The time makes the name new, even if a killed run left its directory behind.
        let now = clock::time_since_epoch().as_nanos();
        let root = std::env::temp_dir().join(format!("provost-doctor-{now}-{}", std::process::id()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&root)?;
        let variables = (overview.client.health().list_variables)(overview.sources());
        let mut sandbox = Self { project: PathBuf::new(), home: PathBuf::new(), root, variables };
        // Without links in the path, because not every program follows them.
        sandbox.root = fs::canonicalize(&sandbox.root)?;
        (sandbox.project, sandbox.home) = (sandbox.root.join("project"), sandbox.root.join("home"));
        // Provost takes the repository for the project.
        fs::create_dir_all(sandbox.project.join(".git"))?;
        fs::create_dir(&sandbox.home)?;
        let mut configs = overview.workspace.config.files.iter();
        if let Some((_, file)) = configs.find(|(layer, _)| *layer == ConfigLayer::Project) {
            fs::copy(file, sandbox.project.join(CONFIG_FILE))?;
        }
        sandbox.link_project_files(overview)?;
        Ok(sandbox)
    }

    /// Links what entries name in the project: its scripts, and the client's own directory.
    fn link_project_files(&self, overview: &Overview) -> io::Result<()> {
        const NEVER: &[&str] = &[".git", ".isdlc", ".taskie", CONFIG_FILE];
        let commands: Vec<String> = overview.entries().map(|entry| entry.hook.entry.to_string()).collect();
        let is_named = |name: &str| {
            name == overview.client.facts.folder || commands.iter().any(|command| command.contains(name))
        };
        for entry in fs::read_dir(&overview.settings_root)?.flatten() {
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

    /// Gives a hook an event, as the client would; `None`: it did not end in time.
    pub(super) fn run_hook(
        &self,
        entry: &LocatedHook<'_>,
        sample: &SampleEvent,
        overview: &Overview,
        limit: Duration,
    ) -> io::Result<Option<ProgramOutput>> {
        let (scope, places) = (&entry.source.scope, &overview.workspace.places);
        let mut command = (overview.client.health().build_command)(entry.hook, scope, &self.project, places);
        let own: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // The client's own variables are stronger than those of a settings file.
        command.envs(own.into_iter().filter_map(|(name, value)| Some((name, value?))));
        command.env(STATE, self.root.join("state"));
        let streams = ProgramStreams { input: Some(sample.event.as_bytes()), ..ProgramStreams::default() };
        process::run_program(&mut command, streams, limit, signals::is_end_requested)
    }

    pub(super) fn ask_version(&self, program: &Path) -> Option<String> {
        ask_version(Command::new(program).current_dir(&self.project).env("HOME", &self.home))
    }
}

impl Drop for DoctorSandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

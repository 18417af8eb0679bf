//! A place on the disk for what cannot be tried without one: a home, a project and a state of Provost's own.

use std::cell::OnceCell;
use std::fs;
use std::io;
use std::path::PathBuf;

use provost::clients;
use provost::config::Config;
use provost::workspace::{Places, Workspace};

pub struct Stage {
    _directory: tempfile::TempDir,
    pub root: PathBuf,
}

thread_local! {
    static STAGE: OnceCell<Stage> = const { OnceCell::new() };
}

impl Stage {
    /// The stage of this thread; it goes with the thread.
    pub fn with<T>(act: impl FnOnce(&Self) -> T) -> T {
        STAGE.with(|stage| act(stage.get_or_init(|| Self::new().expect("a directory for the stage"))))
    }

    fn new() -> io::Result<Self> {
        let directory = tempfile::tempdir()?;
        let root = directory.path().canonicalize()?;
        for part in [".claude/plans", "project/.git", "project/.isdlc", "taskie/.taskie/plans"] {
            fs::create_dir_all(root.join(part))?;
        }
        Ok(Self { _directory: directory, root })
    }

    /// What a guard may see, in one of its directories.
    pub fn workspace(&self, start: &str) -> Workspace {
        let start = self.root.join(start);
        let places = Places {
            home: Some(self.root.clone()),
            config: None,
            state: Some(self.root.join("state")),
            managed: None,
        };
        Workspace::new(clients::DEFAULT, start.clone(), start, places, Config::default())
    }
}

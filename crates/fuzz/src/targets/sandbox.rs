//! A home directory, projects and Provost's state on disk, for targets that need files.

use std::cell::OnceCell;
use std::fs;
use std::io;
use std::path::PathBuf;

use provost::clients;
use provost::config::Config;
use provost::places::Places;
use provost::workspace::Workspace;

pub struct Sandbox {
    _directory: tempfile::TempDir,
    pub root: PathBuf,
}

thread_local! {
    static SANDBOX: OnceCell<Sandbox> = const { OnceCell::new() };
}

impl Sandbox {
    /// Calls `act` with the sandbox of this thread, which is deleted when the thread ends.
    pub fn with<T>(act: impl FnOnce(&Self) -> T) -> T {
        SANDBOX.with(|sandbox| act(sandbox.get_or_init(|| Self::new().expect("a temporary directory"))))
    }

    fn new() -> io::Result<Self> {
        let directory = tempfile::tempdir()?;
        let root = directory.path().canonicalize()?;
        for part in [".claude/plans", "project/.git", "project/.isdlc", "taskie/.taskie/plans"] {
            fs::create_dir_all(root.join(part))?;
        }
        Ok(Self { _directory: directory, root })
    }

    /// The workspace of a guard in one of the directories.
    pub fn workspace(&self, start: &str) -> Workspace {
        let start = self.root.join(start);
        let places = Places {
            home: Some(self.root.clone()),
            config: None,
            state: Some(self.root.join("state")),
            managed: None,
        };
        Workspace::new(&clients::DEFAULT_CLIENT.facts, start.clone(), start, places, Config::default())
    }
}

//! The directory of plans: the one place that a planner may write to.
//!
//! It counts where the project is and where the call happens, and by where a path really leads: a
//! `planning` that is itself a link to somewhere else is not it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::settings;
use crate::event::Event;
use crate::workspace::{Workspace, is_within};

/// Names by which dart, flutter and git know files that they obey; some look for them in every
/// directory below.
const ORDERS: &[&str] = &[
    ".dart_tool",
    ".packages",
    "analysis_options.yaml",
    "build.yaml",
    "dart_test.yaml",
    "package_config.json",
    "pubspec.lock",
    "pubspec.yaml",
    "pubspec_overrides.yaml",
];

pub(super) struct Planning {
    /// Its name below a project.
    pub(super) name: String,
    project: PathBuf,
    cwd: PathBuf,
}

impl Planning {
    pub(super) fn of(event: &Event, workspace: &Workspace) -> Self {
        Self {
            name: workspace.config.word(settings::PLANNER_DIRECTORY),
            project: workspace.resolve(&workspace.project),
            cwd: workspace.resolve(&event.cwd),
        }
    }

    /// Whether a path leads to something in the directory.
    pub(super) fn holds(&self, path: &Path, workspace: &Workspace) -> bool {
        let real = workspace.resolve(path);
        self.writable().any(|directory| is_within(&real, &directory) && real != directory)
            && !is_of_a_process(path, workspace)
    }

    /// Whether a path in the directory has a name that tells programs what to run.
    pub(super) fn is_order(&self, path: &Path, workspace: &Workspace) -> bool {
        let real = workspace.resolve(path);
        let is_order = |part: &OsStr| {
            let part = part.to_string_lossy().to_lowercase();
            ORDERS.contains(&&*part) || part.starts_with(".git") || part.starts_with(".fvm")
        };
        self.writable()
            .any(|directory| real.strip_prefix(directory).is_ok_and(|below| below.iter().any(is_order)))
    }

    /// Whether a path is the directory, or may lead to something in it.
    pub(super) fn is_at(&self, path: &Path, workspace: &Workspace) -> bool {
        let real = workspace.resolve(path);
        self.writable().any(|directory| is_within(&real, &directory)) || is_of_a_process(path, workspace)
    }

    fn writable(&self) -> impl Iterator<Item = PathBuf> {
        [&self.project, &self.cwd].into_iter().map(|base| base.join(&self.name))
    }

    /// The plan that was changed last, and how long ago: looked for from the event's directory
    /// upwards to the project.
    pub(super) fn newest_plan(&self, workspace: &Workspace) -> Option<(PathBuf, Duration)> {
        let inside = self.cwd.starts_with(&self.project);
        let upwards = self
            .cwd
            .ancestors()
            .take_while(|base| if inside { base.starts_with(&self.project) } else { *base == self.cwd });
        let bases = upwards.chain((!inside).then_some(self.project.as_path()));
        bases
            .filter_map(|base| workspace.newest_below(&base.join(&self.name), "md"))
            .min_by_key(|(_, age)| *age)
    }

    /// A path as a person would name it here.
    pub(super) fn shown(&self, path: &Path) -> String {
        let short = path.strip_prefix(&self.project).or_else(|_| path.strip_prefix(&self.cwd));
        short.unwrap_or(path).display().to_string()
    }
}

/// Whether a path goes through the files of a process, as `/proc/self/cwd` does: they lead elsewhere
/// for the one that will write than for the one that looks.
fn is_of_a_process(path: &Path, workspace: &Workspace) -> bool {
    let may_be = path.components().any(|part| ["proc", "dev"].iter().any(|name| part.as_os_str() == *name));
    may_be
        && path.ancestors().any(|place| {
            let place = workspace.resolve_parent(place);
            place.starts_with("/proc") || place.starts_with("/dev/fd")
        })
}

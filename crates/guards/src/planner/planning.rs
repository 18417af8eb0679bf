//! The directory of plans: the only place that a planner may write to.
//!
//! Both the project and the event's working directory can have one. Paths count by where they resolve
//! to: a `planning` that is a link to another place is not the directory of plans.

use crate::prelude::*;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use provost_core::config::settings;
use provost_core::event::Event;
use provost_core::places::is_within;
use provost_core::workspace::Workspace;

/// Files from which dart, flutter and git read what to run. Some look for them in every directory below.
const CONFIGURATION_FILES: &[&str] = &[
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

pub(super) struct PlanningDirectory<'w> {
    /// The directory's name, relative to the project.
    pub(super) name: String,
    project: PathBuf,
    cwd: PathBuf,
    workspace: &'w Workspace,
}

impl<'w> PlanningDirectory<'w> {
    pub(super) fn new(event: &Event, workspace: &'w Workspace) -> Self {
        Self {
            name: workspace.config.word(settings::PLANNER_DIRECTORY),
            project: workspace.resolve(&workspace.project),
            cwd: workspace.resolve(&event.cwd),
            workspace,
        }
    }

    /// Whether a path resolves to something below the directory.
    pub(super) fn holds(&self, path: &Path) -> bool {
        let real = self.workspace.resolve(path);
        self.writable().any(|directory| is_within(&real, &directory) && real != directory)
            && !is_process_path(path, self.workspace)
    }

    /// Whether a path below the directory is a file from which programs read what to run.
    pub(super) fn is_configuration(&self, path: &Path) -> bool {
        let real = self.workspace.resolve(path);
        let is_configuration = |part: &OsStr| {
            let part = part.to_string_lossy().to_lowercase();
            CONFIGURATION_FILES.contains(&&*part) || part.starts_with(".git") || part.starts_with(".fvm")
        };
        self.writable().any(|directory| {
            real.strip_prefix(directory).is_ok_and(|below| below.iter().any(is_configuration))
        })
    }

    /// Whether a path is the directory, or may resolve to something below it.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        let real = self.workspace.resolve(path);
        self.writable().any(|directory| is_within(&real, &directory)) || is_process_path(path, self.workspace)
    }

    fn writable(&self) -> impl Iterator<Item = PathBuf> {
        [&self.project, &self.cwd].into_iter().map(|base| base.join(&self.name))
    }

    /// The plan that was changed last, and how long ago. Searches from the event's directory up to the
    /// project.
    pub(super) fn find_newest_plan(&self) -> Option<(PathBuf, Duration)> {
        let inside = self.cwd.starts_with(&self.project);
        let upwards = self
            .cwd
            .ancestors()
            .take_while(|base| if inside { base.starts_with(&self.project) } else { *base == self.cwd });
        let bases = upwards.chain((!inside).then_some(self.project.as_path()));
        bases
            .filter_map(|base| self.workspace.find_newest_below(&base.join(&self.name), "md"))
            .min_by_key(|(_, age)| *age)
    }

    /// A path relative to the project or the working directory, if it is inside one of them.
    pub(super) fn shorten_path(&self, path: &Path) -> String {
        let short = path.strip_prefix(&self.project).or_else(|_| path.strip_prefix(&self.cwd));
        short.unwrap_or(path).display().to_string()
    }
}

/// Whether a path goes through the files of a process, such as `/proc/self/cwd`: it resolves to another
/// place for the process that will write than for this one.
fn is_process_path(path: &Path, workspace: &Workspace) -> bool {
    let may_be = path.components().any(|part| ["proc", "dev"].iter().any(|name| part.as_os_str() == *name));
    may_be
        && path.ancestors().any(|place| {
            let place = workspace.resolve_parent(place);
            place.starts_with("/proc") || place.starts_with("/dev/fd")
        })
}

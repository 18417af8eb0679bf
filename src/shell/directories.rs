//! The directories in which the next command of a line may run.

use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::{LONGEST_PATH, Work};

/// Shared, because every nested line keeps its own.
pub(super) type Directories = Rc<[Rc<Path>]>;

const MOST: usize = 16;

#[derive(Clone)]
pub(super) struct Whereabouts {
    pub(super) current: Directories,
    /// All directories that the line has named so far, the first one first.
    seen: Directories,
    /// The line went somewhere that is not known.
    pub(super) is_lost: bool,
    has_overflown: bool,
}

impl Whereabouts {
    pub(super) fn new(current: Directories) -> Self {
        Self { seen: current.clone(), current, is_lost: false, has_overflown: false }
    }

    /// The one directory in which the next command runs.
    pub(super) fn certain(&self) -> Option<String> {
        match &*self.current {
            [only] if !self.is_lost => only.to_str().map(str::to_owned),
            _ => None,
        }
    }

    /// Every directory of the line is possible again.
    pub(super) fn forget(&mut self) {
        self.current = self.seen.clone();
    }

    /// Goes to a directory as the shell's `cd` does: `..` takes the last name away, wherever that name
    /// may link to. Says what cannot be followed.
    pub(super) fn change_to(&mut self, directory: &str, work: &Work) -> Option<&'static str> {
        let lost = self.enter(directory, work);
        if directory.contains("..") {
            self.current = self.current.iter().map(|cwd| Rc::from(without_dots(cwd))).collect();
        }
        lost
    }

    /// Goes to a directory as programs do, seen from each current one. Says what cannot be followed.
    pub(super) fn enter(&mut self, directory: &str, work: &Work) -> Option<&'static str> {
        let is_absolute = Path::new(directory).is_absolute();
        let from = if is_absolute { &self.current[..1.min(self.current.len())] } else { &*self.current };
        let length = |cwd: &Path| directory.len() + if is_absolute { 0 } else { cwd.as_os_str().len() };
        if from.iter().any(|cwd| length(cwd) > LONGEST_PATH) {
            self.is_lost = true;
            return Some("a directory with a very long path");
        }
        if directory != "." && work.pay(from.iter().map(|cwd| length(cwd) + MOST).sum()) {
            self.current = from.iter().map(|cwd| Rc::from(cwd.join(directory))).collect();
        }
        None
    }

    /// Counts the current directories among those of the line. Where they are too many, the first
    /// one, in which the line started, and the newest stay.
    pub(super) fn remember(&mut self) {
        let is_new = |cwd: &&Rc<Path>| !self.seen.iter().any(|seen| seen.as_os_str() == cwd.as_os_str());
        let new: Vec<_> = self.current.iter().filter(is_new).cloned().collect();
        if new.is_empty() {
            return;
        }
        let mut seen: Vec<_> = self.seen.iter().cloned().chain(new).collect();
        if seen.len() > MOST {
            seen.drain(1..=seen.len() - MOST);
            self.has_overflown = true;
        }
        self.seen = seen.into();
    }

    /// Says once in a while that a directory was forgotten.
    pub(super) fn overflow(&mut self) -> Option<&'static str> {
        std::mem::take(&mut self.has_overflown).then_some("a line with very many directories")
    }
}

/// The path that is meant where names count, and not what they link to.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

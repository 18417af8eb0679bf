//! The directories in which the next command of a line may run.

use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::budget::{Budget, PARSING_COST};
use super::grammar::{ControlOperator, StructureEvent};
use super::report::most_directories;
use super::word::Word;
use super::{LONGEST_PATH, LineWalker};
use crate::effect::{Effect, FileChange};

/// Shared, because every nested text has its own.
pub(super) type DirectoryList = Rc<[Rc<Path>]>;

const MOST: usize = 16;

/// What an open loop found when it started.
pub(super) struct LoopStart {
    pub(super) effects: usize,
    pub(super) nested: usize,
    pub(super) subshells: usize,
}

#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the directory")]
pub(super) struct CurrentDirectory {
    pub(super) current: DirectoryList,
    /// All directories that the line has named so far, the first one first.
    seen: DirectoryList,
    /// The line entered an unknown directory.
    pub(super) is_lost: bool,
    has_overflown: bool,
    /// How many open constructs decide whether their commands run.
    pub(super) conditions: usize,
    /// The previous command decides whether the next one runs.
    pub(super) is_chained: bool,
    /// A condition decides whether the line changed its directory, or it changed only for a part of a pipeline.
    pub(super) is_conditional: bool,
    /// The directories that the line enters one after the other, if all of them exist.
    entered: DirectoryList,
}

impl CurrentDirectory {
    /// The only directory of a line that starts here.
    pub(super) fn at(cwd: &Path) -> Self {
        Self::new(DirectoryList::from([cwd.into()]), DirectoryList::default(), false)
    }

    /// Where a text starts that the current command runs.
    pub(super) fn nested(&self) -> Self {
        Self::new(self.current.clone(), self.entered(), self.is_lost)
    }

    fn new(current: DirectoryList, entered: DirectoryList, is_lost: bool) -> Self {
        Self {
            seen: current.clone(),
            is_lost,
            has_overflown: false,
            conditions: 0,
            is_chained: false,
            is_conditional: entered.is_empty() && current.len() > 1,
            current,
            entered,
        }
    }

    /// Whether the line may have left the directory in which it started.
    pub(super) fn has_moved(&self) -> bool {
        self.is_lost || self.seen.len() > 1 || !self.entered.is_empty()
    }

    /// The directories that were entered one after the other; empty if a condition decides on one of them.
    pub(super) fn entered(&self) -> DirectoryList {
        if self.is_conditional || self.is_lost { DirectoryList::default() } else { self.entered.clone() }
    }

    /// Leaves the directories that were entered for one command.
    pub(super) fn restore(&mut self, (current, entered): (DirectoryList, DirectoryList)) {
        (self.current, self.entered) = (current, entered);
    }

    pub(super) fn save(&self) -> (DirectoryList, DirectoryList) {
        (self.current.clone(), self.entered.clone())
    }

    /// Notes a directory that the line enters, relative to the one that it entered before.
    fn note_entered(&mut self, directory: &str) {
        let Some(from) = self.entered.last().or(self.seen.first()) else { return };
        if from.as_os_str().len() + directory.len() > LONGEST_PATH || self.entered.len() >= MOST {
            self.is_conditional = true;
            return;
        }
        let next = Rc::from(resolve_parent_names(&from.join(directory)));
        self.entered = self.entered.iter().cloned().chain([next]).collect();
    }

    /// The one directory in which the next command runs.
    pub(super) fn known_directory(&self) -> Option<String> {
        match &*self.current {
            [only] if !self.is_lost => only.to_str().map(str::to_owned),
            _ => None,
        }
    }

    /// The directories in which the next command may run; empty if it may run anywhere.
    pub(super) fn possible_directories(&self) -> Vec<PathBuf> {
        if self.is_lost { Vec::new() } else { self.current.iter().map(|path| path.to_path_buf()).collect() }
    }

    /// Makes every directory of the line possible again.
    pub(super) fn reset_to_seen(&mut self) {
        self.current = self.seen.clone();
    }

    /// Enters a directory as programs do. Returns what cannot be followed.
    pub(super) fn enter(&mut self, directory: &str, work: &Budget) -> Option<&'static str> {
        self.move_to(directory, work, Path::to_owned)
    }

    /// Enters a directory as `cd` does: `..` removes the last name, even if that is a link.
    fn change_to(&mut self, directory: &str, work: &Budget) -> Option<&'static str> {
        self.move_to(directory, work, resolve_parent_names)
    }

    fn move_to(
        &mut self,
        directory: &str,
        work: &Budget,
        named: impl Fn(&Path) -> PathBuf,
    ) -> Option<&'static str> {
        self.note_entered(directory);
        let is_absolute = Path::new(directory).is_absolute();
        let from = self.current.iter().take(most_directories(directory));
        let length = |cwd: &Path| directory.len() + if is_absolute { 0 } else { cwd.as_os_str().len() };
        if from.clone().any(|cwd| length(cwd) > LONGEST_PATH) {
            self.is_lost = true;
            return Some("a directory with a very long path");
        }
        if directory != "." && work.pay(from.clone().map(|cwd| length(cwd) + MOST).sum()) {
            self.current = from.map(|cwd| Rc::from(named(&cwd.join(directory)))).collect();
        }
        None
    }

    /// Adds the current directories to those of the line. If they are too many, the first one, in which the line
    /// started, and the newest remain.
    fn add_to_seen(&mut self) {
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

    /// Returns a message if a directory was dropped since the last call.
    fn take_overflow(&mut self) -> Option<&'static str> {
        std::mem::take(&mut self.has_overflown).then_some("a line with very many directories")
    }
}

/// Finds directory changes in a part of a pipeline or a background job, which do not count for the rest of the line.
#[derive(Default)]
pub(super) struct DirectoryChanges {
    /// How often the directory had changed when the current command and the current list began.
    current: (usize, usize),
    /// How often the directory had changed when each open construct began: its command and its list.
    outer: Vec<(usize, usize)>,
}

impl DirectoryChanges {
    pub(super) fn track_command(&mut self, place: &CurrentDirectory) {
        self.current.0 = place.entered.len();
    }

    pub(super) fn track_structure(&mut self, event: StructureEvent, place: &mut CurrentDirectory) {
        let changes = place.entered.len();
        match event {
            StructureEvent::Open(_) => {
                self.outer.push((changes, self.current.1));
                self.current = (changes, changes);
            }
            StructureEvent::Close(_) => self.current = self.outer.pop().unwrap_or_default(),
            StructureEvent::Part(_) => self.current.1 = changes,
            StructureEvent::Joined { behind, .. } => {
                let (command, list) = self.current;
                place.is_conditional |= match behind {
                    ControlOperator::Pipe => changes > command,
                    ControlOperator::Background => changes > list,
                    ControlOperator::And | ControlOperator::Or | ControlOperator::Next => false,
                };
                if matches!(behind, ControlOperator::Next | ControlOperator::Background) {
                    self.current.1 = changes;
                }
            }
            StructureEvent::Negated | StructureEvent::Function | StructureEvent::Restart => {}
        }
    }
}

impl LineWalker<'_> {
    /// `popd`, and `pushd` without a directory, return to a directory that the line was in before.
    pub(super) fn return_to_seen_directory(&mut self) {
        self.place.reset_to_seen();
        self.place.is_conditional = true;
    }

    pub(super) fn change_directory(&mut self, words: &[Word]) {
        let target = words.iter().find(|word| !word.is_option());
        let lost = match target.map(Word::text) {
            Some(Some("-") | None) => {
                self.place.is_lost = true;
                None
            }
            Some(Some(directory)) => self.place.change_to(directory, self.work),
            None => self.home.and_then(|home| self.place.change_to(home, self.work)),
        };
        // From then on, `..` follows links.
        self.place.is_lost |= words.iter().any(|word| word.has_letter(&['P']));
        self.place.is_conditional |= self.place.conditions > 0 || self.place.is_chained;
        self.place.add_to_seen();
        self.invalidate_loop_directories();
        if let Some(what) = lost.or(self.place.take_overflow()) {
            self.report_unparsed(what);
        }
    }

    /// After a directory change in a loop, the next round starts where this one ends, so the effects of the loop so far
    /// happen there as well.
    fn invalidate_loop_directories(&mut self) {
        let subshells = self.subshells.len();
        // A loop around a subshell does not see what changes inside.
        let Some(LoopStart { effects, nested, .. }) =
            self.loops.iter().find(|round| round.subshells == subshells)
        else {
            return;
        };
        self.place.is_lost = true;
        self.nested[*nested..].iter_mut().for_each(|nested| nested.place.is_lost = true);
        let places = self.place.seen.clone();
        let mut written = None;
        self.work.pay((self.effects.len() - *effects) * PARSING_COST);
        for effect in &mut self.effects[*effects..] {
            match effect {
                Effect::Run { directory, .. } => *directory = None,
                Effect::Write { path, .. } if places.iter().any(|place| path.starts_with(place)) => {
                    written = Some(path.display().to_string());
                }
                _ => {}
            }
        }
        if let Some(path) = written {
            self.report_unknown_target(
                format!("`{path}` in a loop that changes its directory"),
                FileChange::Write,
            );
        }
    }
}

/// Removes each `..` from a path, together with the name in front of it.
pub(super) fn resolve_parent_names(path: &Path) -> PathBuf {
    let mut named = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                named.pop();
            }
            part => named.push(part),
        }
    }
    named
}

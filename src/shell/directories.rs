//! The directories in which the next command of a line may run.

use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::grammar::{Join, Step};
use super::word::Word;
use super::{LONGEST_PATH, Line, READING, Work};
use crate::effect::{Deed, Effect};

/// Shared, because every nested line keeps its own.
pub(super) type Directories = Rc<[Rc<Path>]>;

const MOST: usize = 16;

/// An open loop, and what was there when it was opened.
pub(super) struct Round {
    pub(super) effects: usize,
    pub(super) nested: usize,
    pub(super) subshells: usize,
}

#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the directory")]
pub(super) struct Whereabouts {
    pub(super) current: Directories,
    /// All directories that the line has named so far, the first one first.
    seen: Directories,
    /// The line went somewhere that is not known.
    pub(super) is_lost: bool,
    has_overflown: bool,
    /// How many constructs are open that decide whether their commands run.
    pub(super) conditions: usize,
    /// The command in front decides whether the next one runs.
    pub(super) is_chained: bool,
    /// The line changed its directory only if something else was so, or only for a part of a pipeline.
    pub(super) is_conditional: bool,
    /// The directories that the line enters one after the other, if each of them is there.
    entered: Directories,
}

impl Whereabouts {
    /// `entered`: the directories that the line around this one has entered, as far as it surely did.
    pub(super) fn new(current: Directories, entered: Directories, is_lost: bool) -> Self {
        let seen = current.clone();
        Self {
            seen,
            is_lost,
            has_overflown: false,
            conditions: 0,
            is_chained: false,
            is_conditional: entered.is_empty() && current.len() > 1,
            current,
            entered,
        }
    }

    /// The directories that were entered one after the other; none if a condition decides on one of them.
    pub(super) fn entered(&self) -> Directories {
        if self.is_conditional || self.is_lost { Directories::default() } else { self.entered.clone() }
    }

    /// Leaves the directories that were entered for one command.
    pub(super) fn go_back(&mut self, (current, entered): (Directories, Directories)) {
        (self.current, self.entered) = (current, entered);
    }

    pub(super) fn keep(&self) -> (Directories, Directories) {
        (self.current.clone(), self.entered.clone())
    }

    /// Notes a directory that the line enters, seen from where it is if all went well so far.
    fn note_entered(&mut self, directory: &str) {
        let Some(from) = self.entered.last().or(self.seen.first()) else { return };
        if from.as_os_str().len() + directory.len() > LONGEST_PATH || self.entered.len() >= MOST {
            self.is_conditional = true;
            return;
        }
        let next = Rc::from(by_name(&from.join(directory)));
        self.entered = self.entered.iter().cloned().chain([next]).collect();
    }

    /// The one directory in which the next command runs.
    pub(super) fn certain(&self) -> Option<String> {
        match &*self.current {
            [only] if !self.is_lost => only.to_str().map(str::to_owned),
            _ => None,
        }
    }

    /// The directories in which the next command may run; none where it may run anywhere.
    pub(super) fn possible(&self) -> Vec<PathBuf> {
        if self.is_lost { Vec::new() } else { self.current.iter().map(|path| path.to_path_buf()).collect() }
    }

    /// Every directory of the line is possible again.
    pub(super) fn forget(&mut self) {
        self.current = self.seen.clone();
    }

    /// Goes to a directory as programs do. Says what cannot be followed.
    pub(super) fn enter(&mut self, directory: &str, work: &Work) -> Option<&'static str> {
        self.go(directory, work, Path::to_owned)
    }

    /// Goes to a directory as `cd` does: `..` takes away the last name, even if that is a link.
    pub(super) fn change(&mut self, directory: &str, work: &Work) -> Option<&'static str> {
        self.go(directory, work, by_name)
    }

    fn go(&mut self, directory: &str, work: &Work, named: impl Fn(&Path) -> PathBuf) -> Option<&'static str> {
        self.note_entered(directory);
        let is_absolute = Path::new(directory).is_absolute();
        let from = if is_absolute { &self.current[..1.min(self.current.len())] } else { &*self.current };
        let length = |cwd: &Path| directory.len() + if is_absolute { 0 } else { cwd.as_os_str().len() };
        if from.iter().any(|cwd| length(cwd) > LONGEST_PATH) {
            self.is_lost = true;
            return Some("a directory with a very long path");
        }
        if directory != "." && work.pay(from.iter().map(|cwd| length(cwd) + MOST).sum()) {
            self.current = from.iter().map(|cwd| Rc::from(named(&cwd.join(directory)))).collect();
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

/// Which part of a line is read: what a part of a pipeline or a background job does to its directory
/// counts for nobody else.
#[derive(Default)]
pub(super) struct Parts {
    /// How often the directory had changed when the current command and the current list began.
    current: (usize, usize),
    /// How often the directory had changed when each open construct began: its command and its list.
    outer: Vec<(usize, usize)>,
}

impl Parts {
    pub(super) fn follow(&mut self, step: &Step, place: &mut Whereabouts) {
        let changes = place.entered.len();
        match step {
            // The redirections of a construct stand behind it without a word.
            Step::Simple(command) if command.words.is_empty() => {}
            Step::Simple(_) => self.current.0 = changes,
            Step::Open(_) => {
                self.outer.push((changes, self.current.1));
                self.current = (changes, changes);
            }
            Step::Close(_) => self.current = self.outer.pop().unwrap_or_default(),
            Step::Turn(_) => self.current.1 = changes,
            Step::Joined { behind, .. } => {
                let (command, list) = self.current;
                place.is_conditional |= match behind {
                    Join::Pipe => changes > command,
                    Join::Background => changes > list,
                    Join::And | Join::Or | Join::Next => false,
                };
                if matches!(behind, Join::Next | Join::Background) {
                    self.current.1 = changes;
                }
            }
            _ => {}
        }
    }
}

impl Line<'_> {
    /// `popd`, and `pushd` without a directory, go back to one that the line was in before.
    pub(super) fn turn_back(&mut self) {
        self.place.forget();
        self.place.is_conditional = true;
    }

    pub(super) fn change_directory(&mut self, words: &[Word]) {
        let target = words.iter().find(|word| !word.is_option());
        let lost = match target.map(Word::known) {
            Some(Some("-") | None) => {
                self.place.is_lost = true;
                None
            }
            Some(Some(directory)) => self.place.change(directory, self.work),
            None => self.home.and_then(|home| self.place.change(home, self.work)),
        };
        // From then on, `..` is taken from where the links lead to.
        self.place.is_lost |= words.iter().any(|word| word.has_letter(&['P']));
        self.place.is_conditional |= self.place.conditions > 0 || self.place.is_chained;
        self.place.remember();
        self.spoil_rounds();
        if let Some(what) = lost.or(self.place.overflow()) {
            self.obscure(what);
        }
    }

    /// The directory has changed: in a loop, the next round starts where this one ends. What the
    /// loop has done so far is done there as well.
    fn spoil_rounds(&mut self) {
        let subshells = self.outside.len();
        // A loop around a subshell does not see what changes inside.
        let Some(Round { effects, nested, .. }) =
            self.loops.iter().find(|round| round.subshells == subshells)
        else {
            return;
        };
        self.place.is_lost = true;
        self.nested[*nested..].iter_mut().for_each(|nested| nested.is_lost = true);
        let places = self.place.seen.clone();
        let mut written = None;
        self.work.pay((self.effects.len() - *effects) * READING);
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
            self.somewhere(format!("`{path}` in a loop that changes its directory"), Deed::Write);
        }
    }
}

/// A path in which `..` takes away the name in front of it.
pub(super) fn by_name(path: &Path) -> PathBuf {
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

//! A workspace of the past: it judges what happened in a session that is over.
//!
//! It changes nothing: every method that would write, lock or start a program asks [`Workspace::permit_change`] first,
//! and is refused. It notes what a guard asks of the disk, because that may have changed since. And it can answer such
//! questions as if nothing were there, or everything: a judgement that stays the same follows from the call alone.
//! What the session itself has done is kept in memory, where the hook keeps it in a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Workspace;
use super::cache::TypedCache;
use crate::disk_use::DiskUse;
use crate::opinion::Fault;
use crate::rules::evidence::{ChangedPath, EvidenceRecord, SessionEvidence};

/// Which disk a workspace of the past sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastDisk {
    /// As it is today.
    Today,
    /// Nothing exists.
    Empty,
    /// Every path exists, and is a directory where that is asked for.
    Full,
}

/// What the record of an event says about the disk of then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedFacts {
    /// The content of one file. `None`: it did not exist.
    pub file: Option<(PathBuf, Option<String>)>,
    /// The branch that was checked out. Empty: there was no repository.
    pub branch: Option<String>,
}

pub(super) struct Past {
    disk: AtomicU8,
    disk_use: AtomicU8,
    was_refused: AtomicBool,
    unjudged: Mutex<Vec<String>>,
    evidence: Mutex<HashMap<String, Vec<EvidenceRecord>>>,
    facts: Mutex<RecordedFacts>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workspace {
    /// Makes this a workspace of the past.
    #[must_use]
    pub fn into_past(mut self) -> Self {
        self.past = Some(Box::new(Past {
            disk: AtomicU8::new(PastDisk::Today as u8),
            disk_use: AtomicU8::default(),
            was_refused: AtomicBool::default(),
            unjudged: Mutex::default(),
            evidence: Mutex::default(),
            facts: Mutex::default(),
        }));
        self
    }

    pub fn is_past(&self) -> bool {
        self.past.is_some()
    }

    /// Prepares for the next event: guards share nothing with the one before. `start` and `project` are those of its
    /// session.
    pub fn begin_past_event(&mut self, start: &Path, project: &Path, facts: RecordedFacts) {
        self.cache = TypedCache::default();
        start.clone_into(&mut self.start);
        project.clone_into(&mut self.project);
        if let Some(past) = &self.past {
            *lock(&past.facts) = facts;
        }
    }

    /// Forgets what a session has done, because it is judged to its end.
    pub fn forget_evidence(&self) {
        if let Some(past) = &self.past {
            lock(&past.evidence).clear();
        }
    }

    /// Prepares for a judgement on the given disk.
    pub fn begin_past_judgement(&mut self, disk: PastDisk) {
        // What is shared may come from another disk.
        self.cache = TypedCache::default();
        if let Some(past) = &self.past {
            past.disk.store(disk as u8, Ordering::Relaxed);
            past.was_refused.store(false, Ordering::Relaxed);
            lock(&past.unjudged).clear();
        }
        self.take_disk_use();
    }

    /// The one place where a workspace of the past refuses to change anything or to start a program.
    pub(crate) fn permit_change(&self) -> Result<(), Fault> {
        let Some(past) = &self.past else { return Ok(()) };
        past.was_refused.store(true, Ordering::Relaxed);
        Err(Fault::Error("the past cannot be changed".into()))
    }

    /// Whether the judgement wanted to change something. What it says then means nothing.
    pub fn was_change_refused(&self) -> bool {
        self.past.as_ref().is_some_and(|past| past.was_refused.load(Ordering::Relaxed))
    }

    /// Reports that a rule cannot be judged in the past.
    pub fn report_unjudged(&self, rule: String) {
        if let Some(past) = &self.past {
            lock(&past.unjudged).push(rule);
        }
    }

    /// The rules that could not be judged, since the last call.
    pub fn take_unjudged(&self) -> Vec<String> {
        self.past.as_ref().map(|past| std::mem::take(&mut *lock(&past.unjudged))).unwrap_or_default()
    }

    pub fn note_disk_use(&self, disk_use: DiskUse) {
        if let Some(past) = &self.past {
            past.disk_use.fetch_or(disk_use.bits(), Ordering::Relaxed);
        }
    }

    /// What was asked of the disk since the last call.
    pub fn take_disk_use(&self) -> DiskUse {
        self.past
            .as_ref()
            .map_or(DiskUse::default(), |past| DiskUse::from_bits(past.disk_use.swap(0, Ordering::Relaxed)))
    }

    /// Computes something that several judgements share, and returns what that asked of the disk. It counts for each of
    /// them.
    pub fn with_disk_use<T>(&self, compute: impl FnOnce() -> T) -> (T, DiskUse) {
        let before = self.take_disk_use();
        let value = compute();
        let disk_use = self.take_disk_use();
        self.note_disk_use(before);
        (value, disk_use)
    }

    /// Notes a question about the existence of files. A value answers it in the place of the disk.
    pub(crate) fn ask_existence(&self) -> Option<bool> {
        let past = self.past.as_ref()?;
        self.note_disk_use(DiskUse::EXISTENCE);
        past.disk().map(|disk| disk == PastDisk::Full)
    }

    /// Notes a question about contents. Returns whether to answer it as if there were nothing.
    pub(crate) fn ask_content(&self) -> bool {
        let Some(past) = &self.past else { return false };
        self.note_disk_use(DiskUse::CONTENT);
        past.disk().is_some()
    }

    /// Like [`Self::ask_existence`], for one path. The event may say whether it existed.
    pub(super) fn ask_path(&self, path: &Path) -> Option<bool> {
        let past = self.past.as_ref()?;
        past.find_known(path, self).map(|known| known.is_some()).or_else(|| self.ask_existence())
    }

    /// What a file held at the time of a past event, if the event says so.
    pub fn read_known_file(&self, path: &Path) -> Option<Option<String>> {
        self.past.as_ref()?.find_known(path, self)
    }

    /// The branch that was checked out at the time of a past event, if the record says so. Clients are slow to notice
    /// a switch, so it is only likely.
    pub fn find_recorded_branch(&self) -> Option<String> {
        let past = self.past.as_ref()?;
        self.note_disk_use(DiskUse::CONTENT);
        lock(&past.facts).branch.clone()
    }

    pub(super) fn read_past_evidence(&self, session: &str) -> Option<SessionEvidence> {
        let past = self.past.as_ref()?;
        self.note_disk_use(DiskUse::CONTENT);
        let evidence = lock(&past.evidence);
        Some(SessionEvidence::from_records(evidence.get(session).cloned().unwrap_or_default()))
    }

    /// Returns whether this is a workspace of the past.
    pub(super) fn append_past_evidence(&self, session: &str, records: &[EvidenceRecord]) -> bool {
        /// Beyond that, the older half becomes a change of any file.
        const MOST: usize = 20_000;
        let Some(past) = &self.past else { return false };
        if past.disk().is_none() {
            let mut evidence = lock(&past.evidence);
            let own = evidence.entry(session.to_owned()).or_default();
            own.extend_from_slice(records);
            if own.len() > MOST {
                own.drain(..MOST / 2);
                own.insert(0, EvidenceRecord::Changed { change: ChangedPath::Any, call: String::new() });
            }
        }
        true
    }
}

impl Past {
    /// `None`: the disk of today.
    fn disk(&self) -> Option<PastDisk> {
        match self.disk.load(Ordering::Relaxed) {
            disk if disk == PastDisk::Empty as u8 => Some(PastDisk::Empty),
            disk if disk == PastDisk::Full as u8 => Some(PastDisk::Full),
            _ => None,
        }
    }

    /// `Some(None)`: the file did not exist.
    #[allow(clippy::option_option)]
    fn find_known(&self, path: &Path, workspace: &Workspace) -> Option<Option<String>> {
        let facts = lock(&self.facts);
        let (known_path, content) = facts.file.as_ref()?;
        let is_same = known_path == path || workspace.resolve(known_path) == workspace.resolve(path);
        is_same.then(|| content.clone())
    }
}

#[cfg(test)]
mod tests;

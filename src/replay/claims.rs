//! Counts once what several files repeat.
//!
//! Forks and resumed sessions copy the history, so one call may stand in many files. It counts for the file whose first
//! record is the oldest; of two that began with the same record, for the one that is not known to be a fork. That is known
//! only when both are read, so all claims are kept until then.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

const SHARDS: usize = 32;

/// What is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClaimKind {
    /// A call of the tool with this number.
    Call {
        tool: u32,
        was_asked: bool,
        in_agent: bool,
    },
    Prompt,
    Notification,
    Stop,
    AgentStop,
}

/// Identifies what is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClaimKey(u64);

/// Which files have something, with what each says about it.
type Claims = Vec<(u32, ClaimKind)>;

#[derive(Default)]
pub struct ClaimTable {
    hasher: RandomState,
    shards: [Mutex<HashMap<u64, Claims>>; SHARDS],
    files: Mutex<HashMap<u32, FileRank>>,
}

/// What decides which of two files is the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileRank {
    /// When its first record was written. A file without times is younger than all others.
    pub began: Option<u64>,
    pub is_fork: bool,
}

impl ClaimTable {
    /// The key of what has an id. `what` keeps ids of different kinds apart.
    pub fn key(&self, what: &str, id: &str) -> ClaimKey {
        ClaimKey(self.hasher.hash_one((what, id)))
    }

    /// Claims something for a file. Returns whether this file had it before.
    pub fn claim(&self, key: ClaimKey, file: u32, kind: ClaimKind) -> bool {
        let shard = &self.shards[usize::try_from(key.0 >> 32).unwrap_or(0) % SHARDS];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let claims = shard.entry(key.0).or_default();
        let is_repeated = claims.iter().any(|(other, _)| *other == file);
        if !is_repeated {
            claims.push((file, kind));
        }
        is_repeated
    }

    pub fn rank_file(&self, file: u32, rank: FileRank) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(file, rank);
    }

    /// For each key, the file for which it counts, and what that file says.
    pub fn settle(self) -> HashMap<ClaimKey, (u32, ClaimKind)> {
        let ranks = self.files.into_inner().unwrap_or_else(PoisonError::into_inner);
        let rank = |file: u32| {
            let FileRank { began, is_fork } =
                ranks.get(&file).copied().unwrap_or(FileRank { began: None, is_fork: false });
            (began.unwrap_or(u64::MAX), is_fork, file)
        };
        let all = self
            .shards
            .into_iter()
            .flat_map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner));
        all.filter_map(|(key, claims)| {
            let first = claims.into_iter().min_by_key(|(file, _)| rank(*file))?;
            Some((ClaimKey(key), first))
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn winner(ranks: [FileRank; 2]) -> u32 {
        let table = ClaimTable::default();
        let key = table.key("call", "t1");
        assert!(!table.claim(key, 0, ClaimKind::Prompt) && table.claim(key, 0, ClaimKind::Prompt));
        assert!(!table.claim(key, 1, ClaimKind::Prompt));
        for (file, rank) in (0..).zip(ranks) {
            table.rank_file(file, rank);
        }
        assert_ne!(key, table.key("prompt", "t1"));
        table.settle()[&key].0
    }

    #[test]
    fn the_file_that_began_first_has_it() {
        let rank = |began, is_fork| FileRank { began, is_fork };
        assert_eq!(winner([rank(Some(2), false), rank(Some(1), true)]), 1);
        assert_eq!(winner([rank(Some(1), true), rank(Some(1), false)]), 1);
        assert_eq!(winner([rank(Some(1), false), rank(Some(1), false)]), 0);
        assert_eq!(winner([rank(None, false), rank(Some(1), false)]), 1);
    }
}

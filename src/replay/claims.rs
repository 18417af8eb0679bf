//! Counts once what several files repeat.
//!
//! Forks and resumed sessions copy the history, so one call may stand in many files. It counts for the file whose first
//! record is the oldest; of two that began with the same record, for the one that is not known to be a fork. That is known
//! only when both are read, so all claims are kept until then.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
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

/// A file, and what it says about what it has.
type Claim = (u32, ClaimKind);

/// What some keys are claimed for. Nearly always it is one file, so the others are kept apart.
#[derive(Default)]
struct Shard {
    first: HashMap<u64, Claim>,
    others: HashMap<u64, Vec<Claim>>,
}

#[derive(Default)]
pub struct ClaimTable {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
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
        let mut shard = self.shards[find_shard(key)].lock().unwrap_or_else(PoisonError::into_inner);
        let Shard { first, others } = &mut *shard;
        let first = match first.entry(key.0) {
            Entry::Vacant(entry) => {
                entry.insert((file, kind));
                return false;
            }
            Entry::Occupied(entry) => entry.into_mut(),
        };
        if first.0 == file {
            return true;
        }
        let others = others.entry(key.0).or_default();
        let is_repeated = others.iter().any(|(other, _)| *other == file);
        if !is_repeated {
            others.push((file, kind));
        }
        is_repeated
    }

    pub fn rank_file(&self, file: u32, rank: FileRank) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(file, rank);
    }

    /// Decides for which file each key counts.
    pub fn settle(self) -> SettledClaims {
        let ranks = self.files.into_inner().unwrap_or_else(PoisonError::into_inner);
        let rank = |file: u32| {
            let FileRank { began, is_fork } =
                ranks.get(&file).copied().unwrap_or(FileRank { began: None, is_fork: false });
            (began.unwrap_or(u64::MAX), is_fork, file)
        };
        let settle_shard = |shard: Mutex<Shard>| {
            let Shard { mut first, others } = shard.into_inner().unwrap_or_else(PoisonError::into_inner);
            for (key, others) in others {
                if let Some(first) = first.get_mut(&key) {
                    let all = others.into_iter().chain([*first]);
                    *first = all.min_by_key(|(file, _)| rank(*file)).unwrap_or(*first);
                }
            }
            first
        };
        SettledClaims(self.shards.map(settle_shard))
    }
}

/// For each key, the file for which it counts, and what that file says.
pub struct SettledClaims([HashMap<u64, Claim>; SHARDS]);

impl SettledClaims {
    /// Whether something counts for a file.
    pub fn is_owner(&self, key: ClaimKey, file: u32) -> bool {
        self.0[find_shard(key)].get(&key.0).is_some_and(|(owner, _)| *owner == file)
    }

    /// What counts, once each.
    pub fn kinds(&self) -> impl Iterator<Item = ClaimKind> {
        self.0.iter().flat_map(HashMap::values).map(|(_, kind)| *kind)
    }
}

fn find_shard(key: ClaimKey) -> usize {
    usize::try_from(key.0 >> 32).unwrap_or(0) % SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of two files that both have something counts.
    fn winner(ranks: [FileRank; 2]) -> u32 {
        let table = ClaimTable::default();
        let key = table.key("call", "t1");
        assert!(!table.claim(key, 0, ClaimKind::Prompt) && table.claim(key, 0, ClaimKind::Prompt));
        assert!(!table.claim(key, 1, ClaimKind::Prompt));
        for (file, rank) in (0..).zip(ranks) {
            table.rank_file(file, rank);
        }
        assert_ne!(key, table.key("prompt", "t1"));
        let settled = table.settle();
        assert_eq!(settled.kinds().count(), 1);
        (0..2).find(|file| settled.is_owner(key, *file)).unwrap()
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

//! The index of a git repository: which files are tracked, and their size and time when git saw them last.

use std::fs::Metadata;
use std::path::Path;

/// What git knows about a file of the work tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracking {
    Untracked,
    Unchanged,
    /// Changed or deleted since git saw the file last.
    Changed,
    /// The index has a form that is not known here.
    Unknown,
}

/// The fields of an index entry that are used here.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct IndexEntry {
    seconds: u32,
    nanoseconds: u32,
    size: u32,
    /// The file is not part of a sparse work tree.
    is_skipped: bool,
    /// Where the hash of its content begins in the index.
    hash_at: usize,
}

impl IndexEntry {
    /// Whether a file is as git saw it last. A file that was changed within the same nanosecond counts as unchanged.
    pub(super) fn is_unchanged(&self, current: Option<&Metadata>) -> bool {
        let is_exact = |current: &Metadata| {
            let modified = current.modified().ok();
            let modified = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            self.nanoseconds == 0 || modified.is_some_and(|time| time.subsec_nanos() == self.nanoseconds)
        };
        self.is_skipped || current.is_some_and(|current| is_same(self, current) && is_exact(current))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Lookup {
    Found(IndexEntry),
    Missing,
}

/// Looks a file up. `path` is relative to the top of the work tree, `hash` is the length of an object's hash in bytes,
/// and `current` describes the file as it is now.
pub fn look_up(index: &[u8], hash: usize, path: &Path, current: Option<&Metadata>) -> Tracking {
    let Some(path) = path.to_str() else { return Tracking::Unknown };
    match find_entry(index, hash, path.as_bytes()) {
        Some(Lookup::Found(entry))
            if entry.is_skipped || current.is_some_and(|current| is_same(&entry, current)) =>
        {
            Tracking::Unchanged
        }
        Some(Lookup::Found(_)) => Tracking::Changed,
        Some(Lookup::Missing) => Tracking::Untracked,
        None => Tracking::Unknown,
    }
}

/// Compares the lower bits, which is all that git keeps. A file that was changed to the same size within the same second
/// counts as unchanged.
fn is_same(entry: &IndexEntry, current: &Metadata) -> bool {
    let modified = current.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let low = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or(0);
    low(current.len()) == entry.size && modified.is_some_and(|time| low(time.as_secs()) == entry.seconds)
}

/// The entry of a path; `None` if the index has a form that is not known.
fn find_entry(index: &[u8], hash: usize, path: &[u8]) -> Option<Lookup> {
    let mut entries = IndexEntries::new(index, hash)?;
    while let Some(entry) = entries.next_entry()? {
        if entries.name == path {
            return Some(Lookup::Found(entry));
        }
    }
    Some(Lookup::Missing)
}

/// The entries of an index, one after the other.
pub(super) struct IndexEntries<'a> {
    index: &'a [u8],
    /// The length of an object's hash in bytes.
    hash: usize,
    version: u32,
    left: u32,
    at: usize,
    /// The path of the entry that was read last.
    pub(super) name: Vec<u8>,
}

impl<'a> IndexEntries<'a> {
    /// `None` if the index has a form that is not known.
    pub(super) fn new(index: &'a [u8], hash: usize) -> Option<Self> {
        let entries = Self { index, hash, version: 0, left: 0, at: 12, name: Vec::new() };
        let version =
            entries.number(4).filter(|version| index.starts_with(b"DIRC") && (2..=4).contains(version))?;
        Some(Self { version, left: entries.number(8)?, ..entries })
    }

    fn number(&self, at: usize) -> Option<u32> {
        Some(u32::from_be_bytes(self.index.get(at..at + 4)?.try_into().ok()?))
    }

    /// The next entry, or `Some(None)` at the end; `None` if the index has a form that is not known.
    #[expect(clippy::option_option, reason = "the end of the index is not a mistake in it")]
    pub(super) fn next_entry(&mut self) -> Option<Option<IndexEntry>> {
        let (index, at) = (self.index, self.at);
        if self.left == 0 {
            // A split index keeps the other entries in a shared file.
            let is_split = index.get(at..at + 4) == Some(b"link");
            return (!is_split).then_some(None);
        }
        self.left -= 1;
        let flags_at = at + 40 + self.hash;
        let flags = u16::from_be_bytes(index.get(flags_at..flags_at + 2)?.try_into().ok()?);
        let is_extended = flags & 0x4000 != 0;
        let extended = if is_extended { *index.get(flags_at + 2)? } else { 0 };
        let mut name_at = flags_at + if is_extended { 4 } else { 2 };
        if self.version == 4 {
            let (dropped, start) = read_offset(index, name_at)?;
            name_at = start;
            self.name.truncate(self.name.len().checked_sub(dropped)?);
        } else {
            self.name.clear();
        }
        let length = provost_files::byte_search::find_byte(index.get(name_at..)?, 0)?;
        self.name.extend_from_slice(&index[name_at..name_at + length]);
        let end = name_at + length;
        // Before version 4, entries are padded to a multiple of eight bytes.
        self.at = if self.version == 4 { end + 1 } else { at + (end - at + 8) / 8 * 8 };
        let entry = IndexEntry {
            seconds: self.number(at + 8)?,
            nanoseconds: self.number(at + 12)?,
            size: self.number(at + 36)?,
            is_skipped: extended & 0x40 != 0,
            hash_at: at + 40,
        };
        Some(Some(entry))
    }

    /// The hash of an entry's content.
    pub(super) fn content_hash(&self, entry: &IndexEntry) -> Option<&'a [u8]> {
        self.index.get(entry.hash_at..entry.hash_at + self.hash)
    }
}

/// A number in the encoding of offsets in git packs, and the position after it.
pub(super) fn read_offset(bytes: &[u8], start: usize) -> Option<(usize, usize)> {
    let mut at = start;
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some((value, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_index(version: u32, names: &[&str]) -> Vec<u8> {
        let mut index = b"DIRC".to_vec();
        index.extend(version.to_be_bytes());
        index.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
        let mut before = "";
        for name in names {
            let start = index.len();
            index.extend([0; 8]);
            index.extend(7_u32.to_be_bytes());
            index.extend([0; 24]);
            index.extend(u32::try_from(name.len()).unwrap().to_be_bytes());
            index.extend([0; 20]);
            index.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
            if version == 4 {
                let same = before.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
                index.push(u8::try_from(before.len() - same).unwrap());
                index.extend(name[same..].bytes());
                index.push(0);
                before = name;
            } else {
                index.extend(name.bytes());
                index.push(0);
                while !(index.len() - start).is_multiple_of(8) {
                    index.push(0);
                }
            }
        }
        index.extend(b"TREE");
        index
    }

    #[test]
    fn every_version_is_read() {
        for version in 2..=4 {
            let index = write_index(version, &[".config/settings.json", "a", "provost.toml", "src/main.rs"]);
            for name in [".config/settings.json", "a", "provost.toml", "src/main.rs"] {
                let size = u32::try_from(name.len()).unwrap();
                let Some(Lookup::Found(found)) = find_entry(&index, 20, name.as_bytes()) else {
                    panic!("{version} {name}")
                };
                assert_eq!(
                    (found.seconds, found.size, found.is_skipped),
                    (7, size, false),
                    "{version} {name}"
                );
            }
            for name in ["", "provost.tom", "main.rs", "src"] {
                assert_eq!(
                    find_entry(&index, 20, name.as_bytes()),
                    Some(Lookup::Missing),
                    "{version} {name}"
                );
            }
        }
    }

    #[test]
    fn a_broken_index_is_unknown() {
        let index = write_index(2, &["a", "b"]);
        for broken in [&index[..0], &index[..8], &index[..60], &index[..100], b"DIRC\0\0\0\x09\0\0\0\x01"] {
            assert_eq!(find_entry(broken, 20, b"x"), None);
        }
        let huge = b"DIRC\0\0\0\x02\xff\xff\xff\xff";
        assert_eq!(find_entry(huge, 20, b"x"), None);
    }
}

//! Reads commits and trees of a git repository, from loose objects and from packs.
//!
//! It answers what a discarding command asks: is a commit reachable from another reference, and which files does a
//! commit have? Everything is bounded. An object that cannot be read (an alternate store, a partial clone, a form that is
//! not known) makes the answer `None`, and the caller assumes that something would be lost.

use std::collections::{BinaryHeap, HashSet};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use provost_files as files;

/// The largest commit or tree that is read.
const LARGEST_OBJECT: usize = 1 << 20;
/// The largest index of a pack that is read.
const LARGEST_PACK_INDEX: u64 = 64 << 20;
/// How many commits are looked at for one answer.
const MOST_COMMITS: usize = 10_000;
/// How many files of a tree are listed.
const MOST_FILES: usize = 50_000;
const DEEPEST_DELTA: usize = 60;
/// Clocks differ between machines, so a parent may look younger than its child by this many seconds.
const CLOCK_SKEW: u64 = 86_400;

/// The objects of a repository.
pub(super) struct ObjectStore {
    directory: PathBuf,
    /// The length of a hash in bytes.
    hash_length: usize,
    /// The packs; `None` before the first is needed.
    packs: Option<Vec<Pack>>,
}

struct Pack {
    index: Vec<u8>,
    file: PathBuf,
    open: Option<File>,
}

/// What is used of a commit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) tree: String,
    pub(super) parents: Vec<String>,
    /// When it was made, in seconds.
    pub(super) time: u64,
}

/// A file of a tree.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct TreeFile {
    pub(super) path: Vec<u8>,
    pub(super) hash: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ObjectKind {
    Commit,
    Tree,
    Other,
}

impl ObjectStore {
    /// The store in the directory that all work trees of a repository share.
    pub(super) fn new(shared: &Path, hash_length: usize) -> Self {
        Self { directory: shared.join("objects"), hash_length, packs: None }
    }

    pub(super) fn read_commit(&mut self, hash: &str) -> Option<Commit> {
        let (kind, bytes) = self.read_object(&parse_hash(hash)?)?;
        if kind == ObjectKind::Commit { parse_commit(&bytes) } else { None }
    }

    /// Whether a commit is one of `tips` or an ancestor of one.
    pub(super) fn is_reachable(&mut self, wanted: &str, tips: &[String]) -> Option<bool> {
        if tips.iter().any(|tip| tip == wanted) {
            return Some(true);
        }
        let oldest = self.read_commit(wanted)?.time.saturating_sub(CLOCK_SKEW);
        let mut seen: HashSet<String> = HashSet::new();
        let mut open: BinaryHeap<(u64, String)> = BinaryHeap::new();
        let mut is_certain = true;
        let mut new: Vec<String> = tips.to_vec();
        loop {
            for hash in new.drain(..) {
                if hash == wanted {
                    return Some(true);
                }
                if !seen.insert(hash.clone()) {
                    continue;
                }
                if seen.len() > MOST_COMMITS {
                    return None;
                }
                match self.read_commit(&hash) {
                    Some(commit) if commit.time >= oldest => open.push((commit.time, hash)),
                    Some(_) => {}
                    None => is_certain = false,
                }
            }
            let Some((_, hash)) = open.pop() else { break };
            new = self.read_commit(&hash)?.parents;
        }
        is_certain.then_some(false)
    }

    /// All files of a tree.
    pub(super) fn list_files(&mut self, tree: &str) -> Option<Vec<TreeFile>> {
        let mut files = Vec::new();
        let mut open = vec![(Vec::new(), parse_hash(tree)?)];
        while let Some((prefix, hash)) = open.pop() {
            let (kind, bytes) = self.read_object(&hash)?;
            if kind != ObjectKind::Tree {
                return None;
            }
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let end = rest.iter().position(|byte| *byte == 0)?;
                let space = rest.iter().position(|byte| *byte == b' ').filter(|space| *space < end)?;
                let hash = rest.get(end + 1..end + 1 + self.hash_length)?.to_vec();
                let path = [&prefix[..], &rest[space + 1..end]].concat();
                if &rest[..space] == b"40000" {
                    open.push(([&path[..], b"/"].concat(), hash));
                } else {
                    files.push(TreeFile { path, hash });
                }
                rest = &rest[end + 1 + self.hash_length..];
                if files.len() + open.len() > MOST_FILES {
                    return None;
                }
            }
        }
        Some(files)
    }

    fn read_object(&mut self, hash: &[u8]) -> Option<(ObjectKind, Vec<u8>)> {
        self.read_object_at_depth(hash, 0)
    }

    fn read_object_at_depth(&mut self, hash: &[u8], depth: usize) -> Option<(ObjectKind, Vec<u8>)> {
        if hash.len() != self.hash_length {
            return None;
        }
        self.read_loose(hash).or_else(|| self.read_packed(hash, depth))
    }

    fn read_loose(&self, hash: &[u8]) -> Option<(ObjectKind, Vec<u8>)> {
        let name = format_hash(hash);
        let file = self.directory.join(&name[..2]).join(&name[2..]);
        let bytes = inflate(&files::read_file(&file, LARGEST_OBJECT as u64).ok()??, LARGEST_OBJECT)?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let kind = match bytes[..end].split(|byte| *byte == b' ').next()? {
            b"commit" => ObjectKind::Commit,
            b"tree" => ObjectKind::Tree,
            _ => ObjectKind::Other,
        };
        Some((kind, bytes[end + 1..].to_vec()))
    }

    fn read_packed(&mut self, hash: &[u8], depth: usize) -> Option<(ObjectKind, Vec<u8>)> {
        if self.packs.is_none() {
            self.packs = Some(list_packs(&self.directory.join("pack")));
        }
        let packs = self.packs.as_ref()?;
        let (pack, offset) =
            packs.iter().enumerate().find_map(|(at, pack)| Some((at, find_offset(&pack.index, hash)?)))?;
        self.read_packed_at(pack, offset, depth)
    }

    fn read_packed_at(&mut self, pack: usize, offset: u64, depth: usize) -> Option<(ObjectKind, Vec<u8>)> {
        if depth > DEEPEST_DELTA {
            return None;
        }
        let bytes = self.packs.as_mut()?[pack].read_at(offset, 16 << 10)?;
        let first = *bytes.first()?;
        let mut at = 1;
        let mut size = usize::from(first & 15);
        let mut more = first & 0x80 != 0;
        let mut shift = 4;
        while more {
            let byte = *bytes.get(at)?;
            size |= usize::from(byte & 0x7f).checked_shl(shift)?;
            more = byte & 0x80 != 0;
            shift += 7;
            at += 1;
        }
        if size > LARGEST_OBJECT {
            return None;
        }
        let base = match first >> 4 & 7 {
            1 => None,
            2 => None,
            3 | 4 => return Some((ObjectKind::Other, Vec::new())),
            6 => {
                let (back, next) = super::git_index::read_offset(&bytes, at)?;
                at = next;
                let back = u64::try_from(back).ok()?;
                Some(self.read_packed_at(pack, offset.checked_sub(back)?, depth + 1)?)
            }
            7 => {
                let hash = bytes.get(at..at + self.hash_length)?.to_vec();
                at += self.hash_length;
                Some(self.read_object_at_depth(&hash, depth + 1)?)
            }
            _ => return None,
        };
        let content = match inflate(bytes.get(at..)?, LARGEST_OBJECT) {
            Some(content) => content,
            None if bytes.len() == 16 << 10 => {
                let bytes = self.packs.as_mut()?[pack].read_at(offset, LARGEST_OBJECT)?;
                inflate(bytes.get(at..)?, LARGEST_OBJECT)?
            }
            None => return None,
        };
        match base {
            Some((kind, base)) => Some((kind, apply_delta(&base, &content)?)),
            None => Some((if first >> 4 & 7 == 1 { ObjectKind::Commit } else { ObjectKind::Tree }, content)),
        }
    }
}

impl Pack {
    fn read_at(&mut self, offset: u64, length: usize) -> Option<Vec<u8>> {
        if self.open.is_none() {
            self.open = File::open(&self.file).ok();
        }
        let file = self.open.as_mut()?;
        file.seek(SeekFrom::Start(offset)).ok()?;
        let mut bytes = Vec::new();
        file.take(length as u64).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

fn list_packs(directory: &Path) -> Vec<Pack> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let indices =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "idx"));
    indices
        .filter_map(|path| {
            let index = files::read_file(&path, LARGEST_PACK_INDEX).ok()??;
            Some(Pack { index, file: path.with_extension("pack"), open: None })
        })
        .collect()
}

/// Where an object starts in the pack, according to an index of version 2.
fn find_offset(index: &[u8], hash: &[u8]) -> Option<u64> {
    if !index.starts_with(b"\xfftOc\0\0\0\x02") {
        return None;
    }
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?) as usize);
    let fanout = |byte: usize| number(8 + byte * 4);
    let count = fanout(255)?;
    let first = usize::from(*hash.first()?);
    let (mut low, mut high) = (if first == 0 { 0 } else { fanout(first - 1)? }, fanout(first)?);
    let names = 8 + 256 * 4;
    while low < high {
        let middle = low.midpoint(high);
        let start = names + middle * hash.len();
        match index.get(start..start + hash.len())?.cmp(hash) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => {
                let offsets = names + count * (hash.len() + 4);
                let offset = number(offsets + middle * 4)?;
                if offset & 0x8000_0000 == 0 {
                    return Some(offset as u64);
                }
                let at = offsets + count * 4 + (offset & 0x7fff_ffff) * 8;
                return Some(u64::from_be_bytes(index.get(at..at + 8)?.try_into().ok()?));
            }
        }
    }
    None
}

/// The object that a delta makes of its base.
fn apply_delta(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut at = 0;
    let mut read_size = || {
        let (mut size, mut shift) = (0_usize, 0);
        loop {
            let byte = *delta.get(at)?;
            at += 1;
            size |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(size);
            }
        }
    };
    let (base_size, size) = (read_size()?, read_size()?);
    if base_size != base.len() || size > LARGEST_OBJECT {
        return None;
    }
    let mut output = Vec::with_capacity(size);
    while at < delta.len() {
        let sign = delta[at];
        at += 1;
        if sign & 0x80 == 0 {
            let end = at + usize::from(sign);
            output.extend_from_slice(delta.get(at..end).filter(|part| !part.is_empty())?);
            at = end;
        } else {
            let mut read_bytes = |from: u32, count: u32| {
                let mut value = 0_usize;
                for bit in 0..count {
                    if sign >> (from + bit) & 1 == 1 {
                        value |= usize::from(*delta.get(at)?) << (8 * bit);
                        at += 1;
                    }
                }
                Some(value)
            };
            let start = read_bytes(0, 4)?;
            let length = match read_bytes(4, 3)? {
                0 => 0x1_0000,
                length => length,
            };
            output.extend_from_slice(base.get(start..start + length)?);
        }
        if output.len() > size {
            return None;
        }
    }
    (output.len() == size).then_some(output)
}

fn parse_commit(bytes: &[u8]) -> Option<Commit> {
    let header = bytes.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    let (mut tree, mut parents, mut time) = (None, Vec::new(), 0);
    for line in header {
        let line = String::from_utf8_lossy(line);
        match line.split_once(' ') {
            Some(("tree", hash)) => tree = Some(hash.to_owned()),
            Some(("parent", hash)) => parents.push(hash.to_owned()),
            Some(("committer", who)) => time = who.rsplit(' ').nth(1)?.parse().ok()?,
            _ => {}
        }
    }
    Some(Commit { tree: tree?, parents, time })
}

fn parse_hash(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| matches!(digits.len(), 40 | 64))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn format_hash(hash: &[u8]) -> String {
    hash.iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// Decompresses an object. More bytes may follow its stream.
fn inflate(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, limit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_parsed() {
        let text =
            b"tree 01\nparent 02\nparent 03\nauthor A <a> 5 +0000\ncommitter B <b> 7 +0100\n\nparent 04\n";
        let wanted = Commit { tree: "01".into(), parents: vec!["02".into(), "03".into()], time: 7 };
        assert_eq!(parse_commit(text), Some(wanted));
        assert_eq!(parse_commit(b"author A"), None);
    }

    #[test]
    fn a_delta_copies_and_inserts() {
        // Base of 6 bytes, result of 5: copy 3 bytes from 1, insert `xy`.
        let delta = [6, 5, 0x91, 1, 3, 2, b'x', b'y'];
        assert_eq!(apply_delta(b"abcdef", &delta).as_deref(), Some(&b"bcdxy"[..]));
        assert_eq!(apply_delta(b"abc", &delta), None);
        assert_eq!(apply_delta(b"abcdef", &[6, 5, 0x91, 9, 9]), None);
    }

    #[test]
    fn a_hash_is_read_and_written() {
        let text = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(format_hash(&parse_hash(text).unwrap()), text);
        assert!(parse_hash("xyz").is_none() && parse_hash("0123").is_none());
    }
}

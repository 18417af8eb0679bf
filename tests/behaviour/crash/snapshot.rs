//! The files on the disk at one moment, and how two moments differ.
//!
//! Times, numbers of processes and what is made from them differ from run to run; they are made equal
//! before anything is compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Every file and directory below a place, by its path from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot(pub BTreeMap<String, Thing>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thing {
    pub mode: u32,
    /// `None`: a directory.
    pub bytes: Option<Vec<u8>>,
}

impl Snapshot {
    pub fn of(root: &Path) -> Self {
        let mut found = BTreeMap::new();
        let mut open = vec![root.to_owned()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                let metadata = path.symlink_metadata().unwrap();
                let mode = metadata.permissions().mode() & 0o7777;
                let bytes = (!metadata.is_dir()).then(|| fs::read(&path).unwrap());
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, Thing { mode, bytes });
                if metadata.is_dir() {
                    open.push(path);
                }
            }
        }
        Self(found)
    }

    /// Makes the disk what it was.
    pub fn restore(&self, root: &Path) {
        for entry in fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
        for (name, thing) in &self.0 {
            let path = root.join(name);
            match &thing.bytes {
                None => fs::create_dir(&path).unwrap(),
                Some(bytes) => fs::write(&path, bytes).unwrap(),
            }
            fs::set_permissions(&path, fs::Permissions::from_mode(thing.mode)).unwrap();
        }
    }

    pub fn text(&self, name: &str) -> Option<String> {
        let bytes = self.0.get(name)?.bytes.as_ref()?;
        if name.ends_with("/seal.key") {
            return Some(format!("{} random bytes", bytes.len()));
        }
        Some(steady(&String::from_utf8_lossy(bytes)))
    }

    pub fn files(&self) -> impl Iterator<Item = (&String, &Thing)> {
        self.0.iter().filter(|(_, thing)| thing.bytes.is_some())
    }

    /// What is compared when all is over: names, modes and texts, of which those that only grow are left out.
    pub fn end(&self) -> BTreeSet<String> {
        let line = |(name, thing): (&String, &Thing)| {
            let text = if grows(name) { None } else { self.text(name) };
            format!("{} {:o} {}", steady_name(name), thing.mode, text.unwrap_or_default())
        };
        self.0.iter().filter(|(name, _)| !is_shelf(name) && !is_archive(name)).map(line).collect()
    }
}

/// Where reviews are put aside, and what reviewers said: a review that was begun again has more of it. It goes
/// after 30 days. What is unfinished is not meant to lie there either.
/// Nor are the contents that were reviewed: where a stop has cut off a line of what the session has done, any file may
/// have changed, and more is reviewed.
fn is_shelf(name: &str) -> bool {
    if name.starts_with(".local/state/provost/changes/")
        && (name.contains("/objects") || name.ends_with("/reviewed.json"))
    {
        return true;
    }
    name.starts_with(".local/state/provost/reviews/") && !ends(name, "tmp") && !ends(name, "lock")
}

/// The archive of a journal. What was begun there counts as it is, and is completed when the journal is full again:
/// `report::archive` shows both.
fn is_archive(name: &str) -> bool {
    name.rsplit('/').next().unwrap_or(name).trim_start_matches('.').starts_with("journal.archive.")
}

/// Whether a name ends so.
pub fn ends(name: &str, ending: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| last == ending)
}

/// Files that are appended to: the journal, and the words of a reviewer while it speaks. Also the notes of what
/// was answered and of what a session has done: a line that is cut there means nothing.
pub fn grows(name: &str) -> bool {
    if ["answers/", "evidence/"]
        .iter()
        .any(|folder| name.starts_with(&format!(".local/state/provost/{folder}")))
    {
        return true;
    }
    // What git writes of a diff is only read by the reviewer that gets it.
    if name.contains("/changes/") && name.contains("/indexes/") || ends(name, "diff") {
        return true;
    }
    let name = name.rsplit('/').next().unwrap();
    (name.starts_with("journal.") && ends(name, "jsonl")) || ends(name, "out") || ends(name, "err")
}

/// A name without the time and the process that it begins with.
pub fn steady_name(name: &str) -> String {
    let (directory, last) = name.rsplit_once('/').unwrap_or(("", name));
    let parts: Vec<&str> = last.splitn(3, '-').collect();
    match parts[..] {
        [time, process, rest]
            if time.len() == 13 && (time.to_owned() + process).bytes().all(|b| b.is_ascii_digit()) =>
        {
            format!("{directory}/TIME-PROCESS-{rest}")
        }
        _ => name.to_owned(),
    }
}

/// A text in which what differs from run to run is the same.
pub fn steady(text: &str) -> String {
    let mut steady = String::new();
    let mut rest = text;
    'all: while !rest.is_empty() {
        if let Some(length) = time(rest) {
            steady += "TIME";
            rest = &rest[length..];
            continue;
        }
        // The digest of files contains their times.
        for (key, end) in [
            ("\"micros\":", ",}"),
            ("\"given\":", ",}"),
            ("\"files\":", ",}"),
            ("\"at\":", ",}"),
            ("\"id\":\"", "\""),
            ("\"signature\":\"", "\""),
        ] {
            if let Some(behind) = rest.strip_prefix(key) {
                steady += key;
                let until = behind.find(|c| end.contains(c)).unwrap_or(behind.len());
                rest = &behind[until..];
                continue 'all;
            }
        }
        let next = rest.chars().next().unwrap();
        steady.push(next);
        rest = &rest[next.len_utf8()..];
    }
    steady
}

/// How long the time is that a text begins with: `2026-11-15T20:29:28.123Z`.
fn time(text: &str) -> Option<usize> {
    let shape = b"0000-00-00T00:00:00";
    let bytes = text.as_bytes();
    let fits = |(byte, shape): (&u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    if bytes.len() <= shape.len() || !bytes.iter().zip(shape).all(fits) {
        return None;
    }
    let rest = &bytes[shape.len()..];
    let more = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
    (rest[more] == b'Z').then_some(shape.len() + more + 1)
}

//! Which records of past sessions are replayed.
//!
//! Only names, sizes and times decide, except where a project is asked for: a client's name of a directory cannot be
//! turned back into a path, so the first record of each file says where its session was.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Skipped;
use crate::clients::past::{FileOwner, PastSessions};
use crate::places::{Places, is_within, resolve_path};

/// No client nests directories deeper.
const DEEPEST: usize = 16;

const LINK: &str = "link that leads nowhere, or to what is replayed anyway";
const NOT_A_FILE: &str = "directory or device that is named like a record";
const EMPTY: &str = "empty file";
const OLD: &str = "file that was last changed before the asked time";
const TOO_DEEP: &str = "directory that is nested too deeply";
pub(super) const UNREADABLE: &str = "file or directory that cannot be read";

/// Which sessions are asked for.
#[derive(Debug, Clone)]
pub enum Scope {
    /// Those in this directory, and below it.
    Project(PathBuf),
    All,
    /// The one whose id begins so.
    Session(String),
    /// Everything below this directory, or this file.
    Place(PathBuf),
}

/// The records of some sessions.
#[derive(Debug, Default)]
pub struct Selection {
    pub sessions: Vec<SessionFiles>,
    pub files: usize,
    pub bytes: u64,
    pub skipped: Skipped,
}

/// The records of one session and of its agents.
#[derive(Debug, Default)]
pub struct SessionFiles {
    /// `None`: only the records themselves name it.
    pub id: Option<String>,
    pub main: Option<SelectedFile>,
    pub agents: Vec<SelectedFile>,
}

#[derive(Debug, Clone)]
pub struct SelectedFile {
    pub path: PathBuf,
    pub bytes: u64,
    /// Its place in the order of all paths.
    pub number: u32,
}

impl SessionFiles {
    pub fn bytes(&self) -> u64 {
        self.files().map(|file| file.bytes).sum()
    }

    /// Its files, the session's own first.
    pub fn files(&self) -> impl Iterator<Item = &SelectedFile> {
        self.main.iter().chain(&self.agents)
    }
}

/// Finds the records. `since`: files that were last changed before are left out unopened.
pub fn select(
    past: &PastSessions,
    places: &Places,
    scope: &Scope,
    since: Option<SystemTime>,
) -> io::Result<Selection> {
    let mut search = Search {
        past,
        since,
        root: PathBuf::new(),
        followed: HashSet::new(),
        found: Vec::new(),
        skipped: Skipped::new(),
    };
    match scope {
        Scope::Place(place) => {
            let metadata = fs::metadata(place)?;
            if metadata.is_dir() {
                search.root = resolve_path(place);
                search.visit_directory(place, 0);
            } else {
                search.add_file(place.clone(), &metadata);
            }
        }
        Scope::All | Scope::Session(_) | Scope::Project(_) => {
            let directory = (past.find_directory)(places);
            if let Some(directory) = directory.filter(|directory| directory.is_dir()) {
                search.root = resolve_path(&directory);
                search.visit_projects(&directory, scope);
            }
        }
    }
    let Search { mut found, skipped, .. } = search;
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let mut sessions = group(past, found);
    match scope {
        Scope::Session(id) => sessions.retain(|files| is_session(files, id, past)),
        Scope::Project(project) => sessions.retain(|files| is_in_project(files, project, past)),
        Scope::All | Scope::Place(_) => {}
    }
    let mut selection = Selection { skipped, ..Selection::default() };
    for files in &mut sessions {
        selection.bytes += files.bytes();
        for file in files.main.iter_mut().chain(&mut files.agents) {
            file.number = u32::try_from(selection.files).unwrap_or(u32::MAX);
            selection.files += 1;
        }
    }
    selection.sessions = sessions;
    Ok(selection)
}

struct Search<'a> {
    past: &'a PastSessions,
    since: Option<SystemTime>,
    /// What is searched, without links.
    root: PathBuf,
    /// Where links led.
    followed: HashSet<PathBuf>,
    found: Vec<SelectedFile>,
    skipped: Skipped,
}

impl Search<'_> {
    fn skip(&mut self, why: &'static str) {
        *self.skipped.entry(why).or_default() += 1;
    }

    fn visit_projects(&mut self, directory: &Path, scope: &Scope) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let may_hold = match scope {
                Scope::Project(project) => (self.past.may_hold)(&name.to_string_lossy(), project),
                _ => true,
            };
            if may_hold {
                self.visit_entry(&entry, 0);
            }
        }
    }

    fn visit_directory(&mut self, directory: &Path, depth: usize) {
        if depth > DEEPEST {
            return self.skip(TOO_DEEP);
        }
        let Ok(entries) = fs::read_dir(directory) else { return self.skip(UNREADABLE) };
        for entry in entries {
            match entry {
                Ok(entry) => self.visit_entry(&entry, depth),
                Err(_) => self.skip(UNREADABLE),
            }
        }
    }

    fn visit_entry(&mut self, entry: &fs::DirEntry, depth: usize) {
        let Ok(mut metadata) = entry.metadata() else { return self.skip(UNREADABLE) };
        let mut path = entry.path();
        let is_record = (self.past.identify_file)(&path).is_some();
        if metadata.is_symlink() {
            let target = fs::metadata(&path).ok();
            if !is_record && !target.as_ref().is_some_and(fs::Metadata::is_dir) {
                return;
            }
            let Some((target, real)) = target.zip(self.follow_link(&path)) else { return self.skip(LINK) };
            if target.is_file() {
                path = real;
            }
            metadata = target;
        }
        match () {
            () if is_record && !metadata.is_file() => self.skip(NOT_A_FILE),
            () if is_record => self.add_file(path, &metadata),
            () if metadata.is_dir() => self.visit_directory(&path, depth + 1),
            () => {}
        }
    }

    /// Where a link leads, unless that is searched anyway: a project's directory may be on another disk.
    fn follow_link(&mut self, link: &Path) -> Option<PathBuf> {
        let target = fs::canonicalize(link).ok()?;
        let is_searched = is_within(&target, &self.root) || is_within(&self.root, &target);
        (!is_searched && self.followed.insert(target.clone())).then_some(target)
    }

    fn add_file(&mut self, path: PathBuf, metadata: &fs::Metadata) {
        let is_old = |since| metadata.modified().is_ok_and(|changed| changed < since);
        if metadata.len() == 0 {
            self.skip(EMPTY);
        } else if self.since.is_some_and(is_old) {
            self.skip(OLD);
        } else {
            self.found.push(SelectedFile { path, bytes: metadata.len(), number: 0 });
        }
    }
}

/// Puts the files of agents to those of their session. `found` is sorted.
fn group(past: &PastSessions, found: Vec<SelectedFile>) -> Vec<SessionFiles> {
    let mut sessions: BTreeMap<(PathBuf, String), SessionFiles> = BTreeMap::new();
    let mut alone = Vec::new();
    for file in found {
        let directory = file.path.parent().unwrap_or(Path::new("")).to_owned();
        match (past.identify_file)(&file.path) {
            Some(FileOwner::Agent { session: Some(id), .. }) => {
                let own =
                    directory.ancestors().find(|above| above.file_name().is_some_and(|name| *name == *id));
                let beside = own.and_then(Path::parent).unwrap_or(&directory).to_owned();
                let files = sessions.entry((beside, id.clone())).or_default();
                files.id = Some(id);
                files.agents.push(file);
            }
            Some(FileOwner::Session(id)) => {
                let files = sessions.entry((directory, id.clone())).or_default();
                files.id = Some(id);
                files.main = Some(file);
            }
            // Only its records name its session.
            Some(FileOwner::Agent { session: None, .. }) => {
                alone.push(SessionFiles { id: None, main: None, agents: vec![file] });
            }
            // The user named it.
            None => alone.push(SessionFiles { id: None, main: Some(file), agents: Vec::new() }),
        }
    }
    sessions.into_values().chain(alone).collect()
}

fn is_session(files: &SessionFiles, id: &str, past: &PastSessions) -> bool {
    match &files.id {
        Some(own) => own.starts_with(id),
        None => read_start(files, past).session.is_some_and(|own| own.starts_with(id)),
    }
}

fn is_in_project(files: &SessionFiles, project: &Path, past: &PastSessions) -> bool {
    let cwd = read_start(files, past).cwd;
    cwd.is_some_and(|cwd| is_within(&cwd, project) || is_within(&resolve_path(&cwd), project))
}

fn read_start(files: &SessionFiles, past: &PastSessions) -> crate::clients::past::FileStart {
    let first = files.files().next();
    first.and_then(|file| (past.read_start)(&file.path).ok()).unwrap_or_default()
}

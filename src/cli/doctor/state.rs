//! Provost's own files: whether they can be written, whether others can read them, locks and the clock.
//!
//! Nothing is written to find out; the system is asked for the rights.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::report::{Finding, Group, Repair};
use super::subject::Subject;
use crate::{files, journal};

/// A lock is held for milliseconds, so this is long.
const LONG: Duration = Duration::from_secs(2);
/// Clocks of machines that share a disk differ by less.
const DRIFT: Duration = Duration::from_mins(2);

pub(super) fn check(subject: &Subject) -> Group {
    let name = "state";
    let Some(state) = &subject.places.state else {
        let finding = Finding::error(
            "state-unwritable",
            "nothing is kept: no journal, no seal, no override".into(),
            "the environment names no home directory".into(),
            "set `HOME` where the client is started".into(),
        );
        return Group {
            name,
            checked: "no state directory".into(),
            findings: vec![finding],
            is_skipped: false,
        };
    };
    let mut findings = Vec::new();
    findings.extend(unwritable(state, "state-unwritable", subject));
    findings.extend(open_to_others(state, subject));
    findings.extend(open_key(subject));
    if let Some(journal) = subject.state.as_ref().map(|state| journal::path(state)) {
        if findings.is_empty() && subject.config.journal_is_on() {
            findings.extend(unwritable(&journal, "journal-unwritable", subject));
        }
        findings.extend(clock_behind(&journal, subject));
    }
    findings.extend(held_locks(state, subject));
    let checked = format!("{}: rights, seal key, journal, locks, clock", subject.shown(state));
    Group { name, checked, findings, is_skipped: false }
}

/// Whether a directory, or a file, cannot be written or made.
fn unwritable(path: &Path, id: &'static str, subject: &Subject) -> Option<Finding> {
    let existing = path.ancestors().find(|place| place.symlink_metadata().is_ok())?;
    let is_journal = id == "journal-unwritable";
    let is_file = is_journal && existing == path;
    let why = match fs::metadata(existing) {
        Err(error) => Some(error.to_string()),
        Ok(metadata) if is_file && !metadata.is_file() => Some("it is no file".to_owned()),
        Ok(metadata) if !is_file && !metadata.is_dir() => Some("it is no directory".to_owned()),
        Ok(_) => refused(existing, is_file).map(|error| error.to_string()),
    }?;
    let (what, lost) = if is_journal {
        ("the journal cannot be written", "no decision can be explained afterwards")
    } else {
        ("the state directory cannot be written", "nothing is remembered: no journal, no seal, no override")
    };
    Some(Finding::error(
        id,
        what.into(),
        format!("{}: {why}, so {lost}", subject.shown(existing)),
        format!("make {} yours and writable, or move it away", subject.shown(existing)),
    ))
}

/// Why this person may not write here.
#[cfg(unix)]
fn refused(path: &Path, is_file: bool) -> Option<io::Error> {
    use rustix::fs::{Access, access};
    let rights = if is_file { Access::WRITE_OK } else { Access::WRITE_OK | Access::EXEC_OK };
    access(path, rights).err().map(io::Error::from)
}

#[cfg(not(unix))]
fn refused(path: &Path, _: bool) -> Option<io::Error> {
    let is_read_only = fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly());
    is_read_only.then(|| io::ErrorKind::PermissionDenied.into())
}

/// The rights of everybody but the owner.
#[cfg(unix)]
fn rights_of_others(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).ok().map(|metadata| metadata.permissions().mode() & 0o077)
}

#[cfg(not(unix))]
fn rights_of_others(_: &Path) -> Option<u32> {
    None
}

fn open_to_others(state: &Path, subject: &Subject) -> Option<Finding> {
    let rights = rights_of_others(state).filter(|rights| *rights != 0)?;
    let shown = subject.shown(state);
    let fix = format!("run `chmod 700 {shown}`");
    let mut finding = if rights & 0o022 == 0 {
        let why = format!("everybody on this machine can look into {shown}");
        Finding::warning("state-open", "others can read what is remembered".into(), why, fix)
    } else {
        let why = format!("everybody on this machine can write to {shown}");
        Finding::error("state-open", "others can forge overrides and seals".into(), why, fix)
    };
    finding.repair = Some(Repair::Private(state.to_owned()));
    Some(finding)
}

fn open_key(subject: &Subject) -> Option<Finding> {
    let key = subject.places.seal_key()?;
    let shown = subject.shown(&key);
    let metadata = key.symlink_metadata().ok()?;
    if !metadata.is_file() {
        let why = format!("{shown} is no file");
        let fix = format!("move {shown} away, and assess plans again");
        return Some(Finding::error("key-open", "no seal of a plan counts".into(), why, fix));
    }
    rights_of_others(&key).filter(|rights| *rights != 0)?;
    let mut finding = Finding::error(
        "key-open",
        "no seal of a plan counts".into(),
        format!("others can read the key {shown}"),
        format!(
            "run `chmod 600 {shown}`; if somebody else may have read it, take it away and assess plans again"
        ),
    );
    finding.repair = Some(Repair::Private(key));
    Some(finding)
}

/// Does what is safe for a finding, and says what it did.
pub(super) fn repair(finding: &mut Finding, subject: &Subject) {
    let Some(Repair::Private(path)) = finding.repair.clone() else { return };
    finding.repaired = Some(match made_private(&path) {
        Ok(()) => Ok(format!("only you can open {} now", subject.shown(&path))),
        Err(error) => Err(error.to_string()),
    });
}

#[cfg(unix)]
fn made_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() {
        return Err(io::Error::other("it is a link"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to somebody else"));
    }
    let mode = if metadata.is_dir() { 0o700 } else { 0o600 };
    files::set_mode(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn made_private(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Locks that somebody does not let go of.
fn held_locks(state: &Path, subject: &Subject) -> Option<Finding> {
    let locks = fs::read_dir(state.join("locks")).ok()?.flatten().map(|entry| entry.path());
    let locks: Vec<PathBuf> =
        locks.filter(|path| path.extension().is_some_and(|end| end == "lock")).take(200).collect();
    let is_held = |path: &Path| {
        path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) && files::is_locked(path)
    };
    let end = Instant::now() + LONG;
    let mut held: Vec<&PathBuf> = locks.iter().filter(|path| is_held(path)).collect();
    while !held.is_empty() && Instant::now() < end {
        thread::sleep(Duration::from_millis(50));
        held.retain(|path| is_held(path));
    }
    let first = held.first()?;
    Some(Finding::warning(
        "lock-held",
        "guards wait for a lock and then give up".into(),
        format!("a process has held {} for more than {} s", subject.shown(first), LONG.as_secs()),
        format!("find it with `fuser {}`, and end it if it hangs", first.display()),
    ))
}

/// Whether something was written later than now.
fn clock_behind(journal: &Path, subject: &Subject) -> Option<Finding> {
    let written = fs::metadata(journal).ok()?.modified().ok()?;
    let ahead = written.duration_since(SystemTime::now()).ok().filter(|ahead| *ahead > DRIFT)?;
    Some(Finding::warning(
        "clock-behind",
        "the clock went backwards".into(),
        format!(
            "{} was written {} min from now, so overrides and memories expire at the wrong time",
            subject.shown(journal),
            ahead.as_secs() / 60
        ),
        "set the clock of this machine".into(),
    ))
}

//! Provost's own files: whether they can be written, whether others can read them, locks and the clock.
//!
//! Nothing is written to find out; the system is asked for the permissions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::report::{CheckGroup, DoctorFinding};
use crate::cli::overview::Overview;
use crate::{files, journal};

/// A process holds a lock for milliseconds, so this is long.
const LONG: Duration = Duration::from_secs(2);
/// The clocks of machines that share a disk differ by less.
const DRIFT: Duration = Duration::from_mins(2);

pub(super) fn check(overview: &Overview) -> CheckGroup {
    let name = "state";
    let workspace = &overview.workspace;
    let Some(state) = &workspace.places.state else {
        let finding = DoctorFinding::error(
            "state-unwritable",
            "nothing is saved: no journal, no seal, no override",
            "the environment names no home directory",
            "set `HOME` where the client is started",
        );
        return CheckGroup::new(name, "no state directory".into(), vec![finding]);
    };
    let mut findings = Vec::new();
    findings.extend(find_unwritable(state, "state-unwritable", overview));
    findings.extend(find_open_state(state, overview));
    findings.extend(find_open_key(overview));
    if let Some(project) = workspace.places.project_state_directory(&workspace.project) {
        let journal = journal::journal_file(&project);
        if findings.is_empty() && workspace.config.is_journal_on() {
            findings.extend(find_unwritable(&journal, "journal-unwritable", overview));
        }
        findings.extend(find_wrong_clock(&journal, overview));
    }
    findings.extend(find_held_lock(state, overview));
    let checked = format!("{}: permissions, seal key, journal, locks, clock", overview.short_path(state));
    CheckGroup::new(name, checked, findings)
}

/// Whether the state directory or the journal cannot be written or created.
fn find_unwritable(path: &Path, id: &'static str, overview: &Overview) -> Option<DoctorFinding> {
    let existing = path.ancestors().find(|place| place.symlink_metadata().is_ok())?;
    let is_journal = id == "journal-unwritable";
    let is_file = is_journal && existing == path;
    let why = match fs::metadata(existing) {
        Err(error) => error.to_string(),
        Ok(metadata) if is_file && !metadata.is_file() => "not a file".to_owned(),
        Ok(metadata) if !is_file && !metadata.is_dir() => "not a directory".to_owned(),
        Ok(_) => check_writable(existing, is_file).err()?.to_string(),
    };
    let (what, lost) = if is_journal {
        ("the journal cannot be written", "no decision can be explained afterwards")
    } else {
        ("the state directory cannot be written", "nothing is saved: no journal, no seal, no override")
    };
    let place = overview.short_path(existing);
    let fix = format!("make {place} yours and writable, or move it away");
    Some(DoctorFinding::error(id, what, format!("{place}: {why}, so {lost}"), fix))
}

#[cfg(unix)]
fn check_writable(path: &Path, is_file: bool) -> io::Result<()> {
    use rustix::fs::{Access, access};
    let rights = if is_file { Access::WRITE_OK } else { Access::WRITE_OK | Access::EXEC_OK };
    Ok(access(path, rights)?)
}

#[cfg(not(unix))]
fn check_writable(path: &Path, _: bool) -> io::Result<()> {
    let is_read_only = fs::metadata(path)?.permissions().readonly();
    if is_read_only { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
}

/// The permissions of everybody but the owner; `None` if they have none.
#[cfg(unix)]
fn read_open_mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o077;
    (mode != 0).then_some(mode)
}

#[cfg(not(unix))]
fn read_open_mode(_: &Path) -> Option<u32> {
    None
}

fn find_open_state(state: &Path, overview: &Overview) -> Option<DoctorFinding> {
    let mode = read_open_mode(state)?;
    let place = overview.short_path(state);
    let fix = format!("run `chmod 700 {place}`");
    let finding = if mode & 0o022 == 0 {
        let why = format!("everybody on this machine can look into {place}");
        DoctorFinding::warning("state-open", "others can read what Provost saves", why, fix)
    } else {
        let why = format!("everybody on this machine can write to {place}");
        DoctorFinding::error("state-open", "others can forge overrides and seals", why, fix)
    };
    Some(DoctorFinding { can_close: Some(state.to_owned()), ..finding })
}

fn find_open_key(overview: &Overview) -> Option<DoctorFinding> {
    let key = overview.workspace.places.seal_key_file()?;
    let place = overview.short_path(&key);
    let what = "no seal of a plan counts";
    if !key.symlink_metadata().ok()?.is_file() {
        let fix = format!("move {place} away, and assess plans again");
        return Some(DoctorFinding::error("key-open", what, format!("{place} is not a file"), fix));
    }
    read_open_mode(&key)?;
    let why = format!("others can read the key {place}");
    let fix =
        format!("run `chmod 600 {place}`; if somebody may have read it, delete it and assess plans again");
    Some(DoctorFinding { can_close: Some(key), ..DoctorFinding::error("key-open", what, why, fix) })
}

/// Closes the file of a finding to other users, and records the result.
pub(super) fn repair(finding: &mut DoctorFinding, overview: &Overview) {
    let Some(path) = &finding.can_close else { return };
    finding.repaired = Some(match close_to_others(path) {
        Ok(()) => Ok(format!("only you can open {} now", overview.short_path(path))),
        Err(error) => Err(error.to_string()),
    });
}

#[cfg(unix)]
fn close_to_others(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() {
        return Err(io::Error::other("it is a link"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    let mode = if metadata.is_dir() { 0o700 } else { 0o600 };
    files::set_mode(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn close_to_others(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A lock that a process does not release.
fn find_held_lock(state: &Path, overview: &Overview) -> Option<DoctorFinding> {
    let files = fs::read_dir(state.join("locks")).ok()?.flatten().map(|entry| entry.path());
    let is_lock = |path: &PathBuf| path.extension().is_some_and(|end| end == "lock");
    let is_held = |path: &PathBuf| {
        path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) && files::is_locked(path)
    };
    let end = Instant::now() + LONG;
    let mut held: Vec<PathBuf> = files.filter(is_lock).take(200).filter(is_held).collect();
    while !held.is_empty() && Instant::now() < end {
        thread::sleep(Duration::from_millis(50));
        held.retain(is_held);
    }
    let first = held.first()?;
    Some(DoctorFinding::warning(
        "lock-held",
        "guards wait for a lock and then give up",
        format!("a process has held {} for more than {} s", overview.short_path(first), LONG.as_secs()),
        format!("find it with `fuser {}`, and end it if it hangs", first.display()),
    ))
}

/// Whether the journal was written later than now.
fn find_wrong_clock(journal: &Path, overview: &Overview) -> Option<DoctorFinding> {
    let written = fs::metadata(journal).ok()?.modified().ok()?;
    let ahead = written.duration_since(SystemTime::now()).ok().filter(|ahead| *ahead > DRIFT)?;
    let minutes = ahead.as_secs() / 60;
    let journal = overview.short_path(journal);
    Some(DoctorFinding::warning(
        "clock-behind",
        "the clock went backwards",
        format!("{journal} was written {minutes} min from now, so overrides expire at the wrong time"),
        "set the clock of this machine",
    ))
}

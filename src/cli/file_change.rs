//! Changes to the user's files: show the diff, ask, keep a backup, replace.
//!
//! Nothing is written before the user has seen the change and agreed, or passed `--yes`. A file is replaced
//! whole or not at all, and only if it still holds what was shown.

use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anstyle::Style;
use similar::TextDiff;

use super::screen::{BOLD, CYAN, GREEN, RED, paint, print_sentence};
use super::{CommandError, Exit};
use crate::text::{make_one_line, make_printable};
use crate::workspace::Workspace;
use provost_files as files;

/// The largest file that is read. Settings files are far smaller.
const LARGEST: u64 = 8 << 20;
/// After this time, the rest of a file is shown as one change.
const LONGEST_DIFF: Duration = Duration::from_secs(1);
/// The suffix of a backup's name.
const BACKUP_SUFFIX: &str = ".before-provost";

/// A planned change to one file.
pub(crate) struct SettingsFileEdit {
    /// The path that the user knows.
    pub(crate) shown_path: PathBuf,
    /// The path with its links resolved.
    pub(crate) real_path: PathBuf,
    /// The current text; `None`: there is no file.
    pub(crate) before: Option<String>,
    /// The new text; `None`: the file is deleted.
    pub(crate) after: Option<String>,
}

/// Reads the text of a file; `None`: there is no file. The error is the reason, without the path.
pub(crate) fn read_text(real: &Path) -> Result<Option<String>, String> {
    let bytes = files::read_file(real, LARGEST).map_err(|error| error.to_string())?;
    bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())).transpose()
}

/// Options that decide whether a change is written after it was shown.
#[derive(clap::Args)]
pub(crate) struct Confirmation {
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
}

impl Confirmation {
    pub(crate) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Whether the user has agreed to everything beforehand.
    pub(crate) fn is_agreed(&self) -> bool {
        self.yes
    }

    /// Asks the user where that is possible. `None`: the change is wanted; otherwise how the command ends.
    pub(crate) fn confirm(&self, out: &mut impl Write) -> Result<Option<Exit>, CommandError> {
        self.ask(out, "Write this?")
    }

    /// Asks the user a question where that is possible. `None`: the answer is yes; otherwise how the command ends.
    pub(crate) fn ask(&self, out: &mut impl Write, question: &str) -> Result<Option<Exit>, CommandError> {
        if self.yes {
            return Ok(None);
        }
        if self.dry_run {
            print_sentence(out, "Nothing was changed.")?;
            return Ok(Some(Exit::Done));
        }
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            print_sentence(
                out,
                "Nothing was changed: this is not a terminal, so nobody can confirm. To fix: run it in a terminal, or add `--yes`.",
            )?;
            return Ok(Some(Exit::Problem));
        }
        write!(out, "{question} [y/N] ")?;
        out.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            return Ok(None);
        }
        print_sentence(out, "Nothing was changed.")?;
        Ok(Some(Exit::Problem))
    }
}

impl SettingsFileEdit {
    /// Prints the change as `diff -u` does.
    pub(crate) fn print_diff(&self, out: &mut impl Write) -> io::Result<()> {
        let named = |text: &Option<String>| {
            if text.is_some() { printable_path(&self.shown_path) } else { "/dev/null".to_owned() }
        };
        writeln!(out, "{}", paint(BOLD, &format!("--- {}", named(&self.before))))?;
        writeln!(out, "{}", paint(BOLD, &format!("+++ {}", named(&self.after))))?;
        let [before, after] = [&self.before, &self.after]
            .map(|text| text.iter().flat_map(|text| text.lines()).collect::<Vec<_>>());
        let diff = TextDiff::configure().timeout(LONGEST_DIFF).diff_slices(&before, &after);
        for line in diff.unified_diff().to_string().lines() {
            let style = match line.as_bytes().first() {
                Some(b'-') => RED,
                Some(b'+') => GREEN,
                Some(b'@') => CYAN,
                _ => Style::new(),
            };
            writeln!(out, "{}", paint(style, &make_printable(line)))?;
        }
        writeln!(out)
    }

    /// Replaces the file. If `keep` says so, the old text is kept in a backup, and the answer is its path; the
    /// backup of a missing file is empty. `forget` is a backup that is no longer needed. Both belong to the
    /// change, because `uninstall` relies on backups that match the file.
    pub(crate) fn apply(
        &self,
        workspace: &Workspace,
        keep: impl FnOnce() -> bool,
        forget: Option<&Path>,
    ) -> Result<Option<PathBuf>, CommandError> {
        let fail = |why: String| {
            CommandError::Io(format!(
                "{} was not changed: {}",
                printable_path(&self.shown_path),
                make_one_line(&why)
            ))
        };
        let _lock = workspace.lock(&self.real_path).map_err(|fault| fail(fault.to_string()))?;
        // It looks at the directory, which is created only below.
        let wants_backup = keep();
        let created = self.create_directory().map_err(|error| fail(error.to_string()))?;
        let undo = |backup: Option<&PathBuf>| {
            backup.map(|backup| files::remove_file(backup));
            created.as_ref().map(|directory| files::remove_directory(directory));
        };
        // A run that was killed may have left the backup already.
        let newest = read_backups(&self.real_path).into_iter().next();
        let existing = newest.filter(|(_, text)| Some(text) == self.before.as_ref()).map(|(place, _)| place);
        let new = if wants_backup && existing.is_none() {
            Some(self.write_backup().map_err(|error| {
                undo(None);
                fail(format!("its backup cannot be written: {error}"))
            })?)
        } else {
            None
        };
        let replaced = self.replace(workspace).and_then(|is_replaced| {
            let why = "another program changed it in the meantime. To fix: run this again";
            is_replaced.then_some(()).ok_or_else(|| why.to_owned())
        });
        if let Err(why) = replaced {
            undo(new.as_ref());
            return Err(fail(why));
        }
        let forgotten = forget.map_or(Ok(()), |backup| workspace.remove_file(backup));
        forgotten.map_err(|fault| CommandError::Io(fault.to_string()))?;
        Ok(new.or_else(|| existing.filter(|_| wants_backup)))
    }

    /// Creates the directory of the file if it is missing, and returns it then.
    fn create_directory(&self) -> io::Result<Option<PathBuf>> {
        let Some(directory) = self.real_path.parent().filter(|directory| !directory.is_dir()) else {
            return Ok(None);
        };
        files::make_directory(directory)?;
        Ok(Some(directory.to_owned()))
    }

    /// Writes or deletes the file; `false`: its text was no longer `before`.
    fn replace(&self, workspace: &Workspace) -> Result<bool, String> {
        let before = self.before.as_ref().map(String::as_bytes);
        let Some(after) = &self.after else {
            let now = files::read_file(&self.real_path, LARGEST).map_err(|error| error.to_string())?;
            if now.as_deref() != before {
                return Ok(false);
            }
            return workspace.remove_file(&self.real_path).map(|()| true).map_err(|fault| fault.to_string());
        };
        let replaced = match before {
            None => workspace.create_file(&self.real_path, after.as_bytes(), self.new_permissions().as_ref()),
            before => workspace.replace_unless_changed(&self.real_path, before, after.as_bytes()),
        };
        replaced.map_err(|fault| fault.to_string())
    }

    /// The permissions of a new file: those of its directory, but never writable for everybody, because
    /// settings files name the programs that hooks run.
    fn new_permissions(&self) -> Option<fs::Permissions> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(self.real_path.parent()?).ok()?.permissions().mode() & 0o664;
            Some(fs::Permissions::from_mode(mode))
        }
        #[cfg(not(unix))]
        None
    }

    /// Writes a copy beside the file, under a new name, whole or not at all.
    // INVARIANT: the file's lock is held, so that no other process takes the name.
    fn write_backup(&self) -> io::Result<PathBuf> {
        let backup = backup_path(&self.real_path, backup_numbers(&self.real_path).last().unwrap_or(0) + 1);
        let mode = fs::metadata(&self.real_path).ok().map(|real| real.permissions());
        let text = self.before.as_deref().unwrap_or_default();
        let is_created = files::create_if_missing(
            &backup,
            text.as_bytes(),
            mode.or_else(|| self.new_permissions()).as_ref(),
        )?;
        is_created.then_some(backup).ok_or_else(|| io::ErrorKind::AlreadyExists.into())
    }
}

fn backup_path(real: &Path, number: usize) -> PathBuf {
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let suffix = if number == 1 { String::new() } else { format!("-{number}") };
    real.with_file_name(format!("{name}{BACKUP_SUFFIX}{suffix}"))
}

/// The backups of a file with their texts, the newest first. Unreadable ones are left out.
pub(crate) fn read_backups(real: &Path) -> Vec<(PathBuf, String)> {
    let places = backup_numbers(real).rev().map(|number| backup_path(real, number));
    places.filter_map(|place| Some((place.clone(), read_text(&place).ok()??))).collect()
}

/// Cleans up after a run that was killed, where the file itself needs no change: removes unfinished temporary
/// files and a backup that equals the file.
pub(crate) fn clean_up_interrupted_change(real: &Path, text: &str, workspace: &Workspace) {
    workspace.remove_leftovers(real);
    let newest = || read_backups(real).into_iter().next().filter(|(_, kept)| kept == text);
    if newest().is_some()
        && let Ok(_lock) = workspace.lock(real)
        // Checked again under the lock: another process that changes the file now needs its backup.
        && let Some((place, kept)) = newest()
        && read_text(real).is_ok_and(|now| now == Some(kept))
    {
        let _ = workspace.remove_file(&place);
    }
}

/// The numbers of a file's backups, the oldest first. A new backup takes a number above all others, so that the
/// highest number is the newest.
fn backup_numbers(real: &Path) -> impl DoubleEndedIterator<Item = usize> {
    const MOST: usize = 100;
    (1..=MOST).filter(|number| backup_path(real, *number).exists())
}

/// Standard output that ignores a closed pipe, because a reader that stops early must not stop a change.
pub(crate) struct PipeTolerantOutput<W>(pub(crate) W);

impl<W: Write> Write for PipeTolerantOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// A path as text that is safe to print.
pub(crate) fn printable_path(path: &Path) -> String {
    make_one_line(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_removed_only_if_it_equals_the_file() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::for_tests(root.path());
        let real = root.path().join("s.json");
        let backup = backup_path(&real, 1);
        fs::write(&backup, "{}").unwrap();
        // Another process has changed the file since it was read, and the backup is its own.
        fs::write(&real, "{\"hooks\": 1}").unwrap();
        clean_up_interrupted_change(&real, "{}", &workspace);
        assert!(backup.exists());
        fs::write(&real, "{}").unwrap();
        clean_up_interrupted_change(&real, "{}", &workspace);
        assert!(!backup.exists());
    }
}
